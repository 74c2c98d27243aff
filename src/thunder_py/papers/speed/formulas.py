"""Formulae of the Thunder article in CasADi, as in its tool, for run times and operation counts.

Needs CasADi (extra ``symbolic``). ``notebooks/thunder_article_speed.ipynb`` uses them; for computations use
`Robot.symbolic`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...optional import require
from ...robot import Robot

#: elements of the inertia tensor, in the order of REG parameters
_TENSOR = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))


def panda_of(n: int) -> Robot:
    """Return an arm of n joints of the Panda: its first n, and from the eighth on its joints 2 to 7 repeated.

    Parameters
    ----------
    n : int
        Number of joints, at least 1.
    """
    d = Robot.load("panda").description
    assert d.dh is not None
    rows = [i if i < 7 else 1 + (i - 1) % 6 for i in range(n)]
    return Robot.from_dh(d.dh[rows], name=f"panda{n}", convention="modified").with_parameters(d.inertial[rows].ravel())


@dataclass
class Link:
    """Expressions of a link: rotation (3, 3), Jacobians of its frame's origin (3, n), position of the origin (3,)."""

    R: Any
    J_v: Any
    J_w: Any
    position: Any


class ArticleFormulas:
    """Mass matrix, Coriolis matrices and Slotine-Li regressor of a robot in modified DH form, all joints revolute.

    Every method returns a casadi.SX of the symbols ``q, dq, dq_r, ddq_r`` and ``par_REG``; see T, sections 3.2 and 3.3.

    Parameters
    ----------
    robot : Robot
        Robot, of which only DH table, gravity and number of joints are used.
    """

    def __init__(self, robot: Robot) -> None:
        self._ca = require("casadi", "symbolic")
        assert robot.description.dh is not None
        assert set(robot.joint_types) == {"R"}
        self.n = robot.n
        self.gravity = robot.description.gravity
        SX = self._ca.SX
        self.q, self.dq, self.dq_r, self.ddq_r = (SX.sym(name, self.n) for name in ("q", "dq", "dq_r", "ddq_r"))
        self.par_REG = SX.sym("par_REG", 10 * self.n)
        self.links = self._links(robot.description.dh)

    def _links(self, table: Any) -> list[Link]:
        """Return frames by eq. (2), and Jacobians of their origins column by column."""
        ca, T, frames = self._ca, self._ca.SX.eye(4), []
        for i, (a, alpha, d, theta) in enumerate(table):
            # exact at quarter turns: otherwise 6e-17 would enter every product
            ck, sk = (float(np.round(f(alpha), 15)) for f in (np.cos, np.sin))
            c, s = ca.cos(self.q[i] + theta), ca.sin(self.q[i] + theta)
            step = [[c, -s, 0, a], [s * ck, c * ck, -sk, -sk * d], [s * sk, c * sk, ck, ck * d], [0, 0, 0, 1]]
            T = T @ ca.vertcat(*(ca.horzcat(*row) for row in step))
            frames.append(T)
        axes, origins = [T[:3, 2] for T in frames], [T[:3, 3] for T in frames]
        links = []
        for i, T in enumerate(frames):
            pad = ca.SX(3, self.n - i - 1)
            linear = [ca.cross(axes[j], origins[i] - origins[j]) for j in range(i + 1)]
            links.append(Link(T[:3, :3], ca.horzcat(*linear, pad), ca.horzcat(*axes[: i + 1], pad), origins[i]))
        return links

    # --- eq. 12 and 14 to 16 ------------------------------------------------------------------------------------------

    def _mass_blocks(self, link: Link) -> list[Any]:
        """Return the factors of m, m d_x, ..., I_zz of a link in its mass matrix."""
        ca, E3 = self._ca, np.eye(3)
        blocks = [link.J_v.T @ link.J_v]
        for h in range(3):
            half = link.J_w.T @ (link.R @ ca.skew(ca.SX(E3[h])) @ link.R.T) @ link.J_v
            blocks.append(half + half.T)  # the second product of eq. 15, with its minus, is the transpose
        for row, column in _TENSOR:
            E = np.zeros((3, 3))
            E[row, column] = E[column, row] = 1.0
            blocks.append(link.J_w.T @ (link.R @ ca.SX(E) @ link.R.T) @ link.J_w)
        return blocks

    def mass_matrix(self) -> Any:
        """Return B of eq. 12, (n, n)."""
        ca, M = self._ca, self._ca.SX.zeros(self.n, self.n)
        for i, link in enumerate(self.links):
            m, h, tensor = self.par_REG[10 * i], self.par_REG[10 * i + 1 : 10 * i + 4], ca.SX(3, 3)
            for k, (row, column) in enumerate(_TENSOR):
                tensor[row, column] = tensor[column, row] = self.par_REG[10 * i + 4 + k]
            half = link.J_w.T @ (link.R @ ca.skew(h) @ link.R.T) @ link.J_v
            M += m * (link.J_v.T @ link.J_v) + half + half.T
            M += link.J_w.T @ (link.R @ tensor @ link.R.T) @ link.J_w
        return M

    # --- eq. 8 and 11 -------------------------------------------------------------------------------------------------

    def coriolis_std(self, M: Any) -> Any:
        """Return C_std by eq. 8, element by element, each derivative computed anew, (n, n)."""
        ca, n, q = self._ca, self.n, self.q
        C = ca.SX.zeros(n, n)
        for i, j, k in np.ndindex(n, n, n):
            terms = ca.jacobian(M[i, j], q[k]) + ca.jacobian(M[i, k], q[j]) - ca.jacobian(M[j, k], q[i])
            C[i, j] += 0.5 * terms * self.dq[k]
        return C

    def coriolis_std_once(self, M: Any) -> Any:
        """Return C_std from one matrix of all derivatives, as for eq. 11, (n, n)."""
        ca, n = self._ca, self.n
        D, C = ca.jacobian(ca.vec(M), self.q), self._ca.SX.zeros(n, n)
        for i, j, k in np.ndindex(n, n, n):
            C[i, j] += 0.5 * (D[i + j * n, k] + D[i + k * n, j] - D[j + k * n, i]) * self.dq[k]
        return C

    def coriolis(self, M: Any) -> Any:
        """Return C by the matrix algebra of eq. 11, (n, n)."""
        ca, n = self._ca, self.n
        D = ca.jacobian(ca.vec(M), self.q)
        second = ca.kron(self.dq.T, ca.SX.eye(n)) @ D
        return 0.5 * (ca.reshape(D @ self.dq, n, n) + second - second.T)

    # --- eq. 18 to 27 -------------------------------------------------------------------------------------------------

    def regressor(self, coriolis: Callable[[Any], Any] | None = None) -> Any:
        """Return Y_r from one Coriolis matrix for each of the ten parameters of every link, (n, 10 n)."""
        ca, by = self._ca, coriolis or self.coriolis
        columns = []
        for link in self.links:
            potential = -ca.dot(ca.SX(self.gravity), link.position)  # for unit mass
            lever = -(ca.SX(self.gravity).T @ link.R)  # for unit first moments
            energies = [potential, *(lever[h] for h in range(3))]
            for k, B in enumerate(self._mass_blocks(link)):
                column = B @ self.ddq_r + by(B) @ self.dq_r
                columns.append(column + ca.gradient(energies[k], self.q) if k < 4 else column)
        return ca.horzcat(*columns)

    # --- as functions -------------------------------------------------------------------------------------------------

    def functions(self, names: tuple[str, ...] = ("M", "C", "C_std", "Y")) -> dict[str, Any]:
        """Return casadi.Functions ``M(q, par_REG)``, ``C(q, dq, par_REG)`` and variants, ``Y(q, dq, dq_r, ddq_r)``."""
        make: dict[str, Callable[[], Any]] = {
            "M": self.mass_matrix,
            "C": lambda: self.coriolis(self.mass_matrix()),
            "C_std": lambda: self.coriolis_std(self.mass_matrix()),
            "C_std_once": lambda: self.coriolis_std_once(self.mass_matrix()),
            "Y": self.regressor,
        }
        symbols = {"M": ("q", "par_REG"), "C": ("q", "dq", "par_REG"), "Y": ("q", "dq", "dq_r", "ddq_r")}
        symbols["C_std"] = symbols["C_std_once"] = symbols["C"]
        inputs = {name: [getattr(self, symbol) for symbol in symbols[name]] for name in names}
        return {
            name: self._ca.Function(name, inputs[name], [make[name]()], list(symbols[name]), ["out"]) for name in names
        }
