"""The lectures' two modelling examples by hand, in SymPy, and by this package (lectures 24 to 27)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..robot import Robot
from ..symbolic.optional import require

__all__ = [
    "LectureModel",
    "cart_pendulum_by_hand",
    "cart_pendulum_by_package",
    "difference",
    "euler_lagrange",
    "kinetic_energy_matrix",
    "pendulum_frame",
    "planar_arm_by_hand",
    "planar_arm_by_package",
    "printed_cart_pendulum_gravity",
]


@dataclass(frozen=True)
class LectureModel:
    """``D(q) ddq + C(q, dq) dq + G(q) = tau`` in the lectures' letters.

    Attributes
    ----------
    D, C, G : sympy.Matrix
        Mass matrix, Coriolis matrix by Christoffel symbols, gravity.
    q, dq : tuple of sympy.Symbol
        Positions and velocities.
    """

    D: Any
    C: Any
    G: Any
    q: tuple[Any, ...]
    dq: tuple[Any, ...]

    def latex(self, which: str) -> str:
        """Return one of the three as LaTeX, ``M = ...``."""
        sp = require("sympy")

        return f"{which} = {sp.latex(getattr(self, which))}"


def _short(expression: Any) -> Any:
    """Multiply out, apply what is known of sine and cosine, collect: quicker than simplify, and enough here."""
    sp = require("sympy")

    return sp.factor_terms(sp.trigsimp(sp.expand(expression)))


def euler_lagrange(kinetic: Any, potential: Any, q: Sequence[Any], dq: Sequence[Any]) -> LectureModel:
    """Derive D, C and G from energies, as lecture 25 does.

    ``d_ij = d2 T / d dq_i d dq_j``, ``c_ijk = (d d_kj/d q_i + d d_ki/d q_j - d d_ij/d q_k) / 2``,
    ``C_kj = sum_i c_ijk dq_i``, ``g_k = d U / d q_k``.
    """
    sp = require("sympy")

    n = len(q)
    D = sp.Matrix(n, n, lambda i, j: _short(sp.diff(kinetic, dq[i], dq[j])))

    def c(i: int, j: int, k: int) -> Any:
        return (sp.diff(D[k, j], q[i]) + sp.diff(D[k, i], q[j]) - sp.diff(D[i, j], q[k])) / 2

    C = sp.Matrix(n, n, lambda k, j: _short(sum(c(i, j, k) * dq[i] for i in range(n))))
    return LectureModel(D, C, sp.Matrix([sp.diff(potential, x) for x in q]), tuple(q), tuple(dq))


def cart_pendulum_by_hand() -> LectureModel:
    """Lecture 26: a cart m_1 at x, a pendulum m_2 whose centre is l from the pivot, phi from the upright."""
    sp = require("sympy")

    x, phi, dx, dphi = sp.symbols("x phi xdot phidot", real=True)
    m1, m2, length, inertia, g = sp.symbols("m_1 m_2 l I_zz g", positive=True)
    vertical, along = length * sp.cos(phi), x - length * sp.sin(phi)
    velocity = [sp.diff(r, x) * dx + sp.diff(r, phi) * dphi for r in (vertical, along)]
    kinetic = m1 * dx**2 / 2 + m2 * (velocity[0] ** 2 + velocity[1] ** 2) / 2 + inertia * dphi**2 / 2
    return euler_lagrange(kinetic, m2 * g * vertical, (x, phi), (dx, dphi))


def cart_pendulum_by_package() -> LectureModel:
    """Return the bundled ``cart_pendulum``, recorded and written in the lecture's letters."""
    sp = require("sympy")

    hand = cart_pendulum_by_hand()
    model = Robot.load("cart_pendulum").symbolic(
        inertial=True, inertial_as="DYN", gravity=[0, 0, 1], dh=[0, 0, 0, 0, 1, 0, 0, 0]
    )
    m1, m2, length, inertia, g = sp.symbols("m_1 m_2 l I_zz g", positive=True)
    letters = {"m1": m1, "m2": m2, "c_x2": length - sp.Symbol("a2", real=True), "c_y2": 0, "Ic_zz2": inertia, "g_z": -g}
    return _in_letters(model, letters, hand)


def printed_cart_pendulum_gravity() -> Any:
    """Return G as lecture 26 prints it, with the cosine (errata N-1)."""
    sp = require("sympy")

    hand = cart_pendulum_by_hand()
    m2, length, g = sp.symbols("m_2 l g", positive=True)
    return sp.Matrix([0, -m2 * length * g * sp.cos(hand.q[1])])


def pendulum_frame(lecture: int) -> Any:
    """Return R_2^0 of the pendulum as lecture 26 or 27 prints it: the first is a reflection (errata N-1)."""
    sp = require("sympy")

    phi = cart_pendulum_by_hand().q[1]
    c, s = sp.cos(phi), sp.sin(phi)
    return sp.Matrix([[c, -s, 0], [0, 0, 1], [s, c, 0] if lecture == 26 else [-s, -c, 0]])


def planar_arm_by_hand() -> LectureModel:
    """Lecture 27: the planar arm of two revolute joints, centres of mass l_c1 and l_c2 from the joints."""
    sp = require("sympy")

    q, dq = sp.symbols("q_1 q_2", real=True), sp.symbols("qdot_1 qdot_2", real=True)
    m, inertia = sp.symbols("m_1 m_2", positive=True), sp.symbols("I_z1 I_z2", positive=True)
    l1, g = sp.symbols("l_1 g", positive=True)
    centre = sp.symbols("l_c1 l_c2", positive=True)
    first = sp.Matrix([sp.cos(q[0]), sp.sin(q[0])])
    second = sp.Matrix([sp.cos(q[0] + q[1]), sp.sin(q[0] + q[1])])
    positions = (centre[0] * first, l1 * first + centre[1] * second)
    rates = (dq[0], dq[0] + dq[1])
    kinetic = sum(
        m[i] * (r.jacobian(sp.Matrix(q)) * sp.Matrix(dq)).dot(r.jacobian(sp.Matrix(q)) * sp.Matrix(dq)) / 2
        + inertia[i] * rates[i] ** 2 / 2
        for i, r in enumerate(positions)
    )
    potential = sum(m[i] * g * r[1] for i, r in enumerate(positions))
    return euler_lagrange(kinetic, potential, q, dq)


def planar_arm_by_package() -> LectureModel:
    """Return the bundled ``elbow``, recorded and written in the lecture's letters."""
    sp = require("sympy")

    model = Robot.load("elbow").symbolic(inertial=True, inertial_as="DYN", gravity=[0, 1, 0], dh=[1, 0, 0, 0] * 2)
    m, inertia = sp.symbols("m_1 m_2", positive=True), sp.symbols("I_z1 I_z2", positive=True)
    centre, (l1, g) = sp.symbols("l_c1 l_c2", positive=True), sp.symbols("l_1 g", positive=True)
    a = sp.symbols("a1 a2", real=True)
    letters = {"g_y": -g, "a1": l1}
    for i in range(2):
        # frames stand at the far ends of the links, centres of mass are counted from the near ones
        letters |= {f"m{i + 1}": m[i], f"c_x{i + 1}": centre[i] - a[i], f"c_y{i + 1}": 0, f"Ic_zz{i + 1}": inertia[i]}
    return _in_letters(model, letters, planar_arm_by_hand())


def _in_letters(model: Any, letters: Mapping[str, Any], hand: LectureModel) -> LectureModel:
    """Replace names in the package's three matrices, those of the centres first: they bring lengths along."""
    sp = require("sympy")

    joints = {f"q{i + 1}": q for i, q in enumerate(hand.q)} | {f"dq{i + 1}": v for i, v in enumerate(hand.dq)}
    parts = []
    for expression in (model.mass_matrix(), model.coriolis_matrix(), model.gravity_vector()):
        matrix = sp.Matrix(model.to_sympy(expression))
        for names in ({k: v for k, v in letters.items() if k != "a1"}, letters, joints):
            named = {symbol: names[symbol.name] for symbol in matrix.free_symbols if symbol.name in names}
            matrix = matrix.subs(named)
        parts.append(matrix.applyfunc(_short))
    D, C, G = parts
    return LectureModel(D, C, G, hand.q, hand.dq)


def difference(one: LectureModel, other: LectureModel) -> dict[str, Any]:
    """Return D, C and G of one minus those of the other, simplified: zero where they agree."""
    return {name: (getattr(one, name) - getattr(other, name)).applyfunc(_short) for name in ("D", "C", "G")}


def kinetic_energy_matrix(robot: Robot, q: Any, *, printed: bool = False) -> Any:
    """Mass matrix from the Jacobians of centres of mass, ``sum_i m_i J_v' J_v + J_w' R I R' J_w`` (lecture 25).

    Parameters
    ----------
    robot : Robot
        Any.
    q : (n,) array_like
        State.
    printed : bool
        With J_w' as the last factor, as lecture 25 and its summary print it (errata N-2).

    Raises
    ------
    ValueError
        If printed, for all but three joints: the factors do not fit.
    """
    from ..inertia import dyn_from_reg

    q = np.asarray(q, dtype=np.float64)
    D = np.zeros((robot.n, robot.n))
    for link, (m, *rest) in enumerate(dyn_from_reg(robot.inertial), 1):
        T, J = robot.forward_kinematics(q, link), robot.jacobian(q, link)
        R, arm = T[:3, :3], T[:3, :3] @ np.array(rest[:3])
        J_w = J[3:]
        J_v = J[:3] + np.cross(J_w.T, arm).T
        about_centre = np.empty((3, 3))
        about_centre[np.triu_indices(3)] = rest[3:]
        about_centre.T[np.triu_indices(3)] = rest[3:]
        D += m * J_v.T @ J_v + J_w.T @ R @ about_centre @ R.T @ (J_w.T if printed else J_w)
    return D
