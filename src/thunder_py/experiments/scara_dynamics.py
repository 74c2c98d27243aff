"""SCARA project, chapter 4: the printed inertia and Coriolis matrices, and the printed formula that gives another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..checks import Array
from ..robot import Robot
from .scara_clik import schemes, start
from .scara_controllers import PAYLOAD
from .scara_path import scara_path
from .text import markdown

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "ScaraDynamics",
    "coriolis_by_printed_formula",
    "printed_coriolis_matrix",
    "printed_mass_matrix",
    "run_dynamics",
]


def printed_mass_matrix(q: npt.ArrayLike) -> Array:
    """Return the report's B(q), (..., 4, 4)."""
    c2 = np.cos(np.asarray(q, dtype=np.float64)[..., 1])
    B = np.zeros((*c2.shape, 4, 4))
    B[..., 0, 0] = 10.0 * c2 + 10763 / 500
    B[..., 0, 1] = B[..., 1, 0] = 5.0 * c2 + 4383 / 500
    B[..., 1, 1] = 4383 / 500
    B[..., :2, 2] = B[..., 2, :2] = -1 / 4
    B[..., :2, 3] = B[..., 3, :2] = -51 / 50
    B[..., 2, 2], B[..., 3, 3] = 45 / 2, 7 / 5
    return B


def printed_coriolis_matrix(q: npt.ArrayLike, dq: npt.ArrayLike) -> Array:
    """Return the report's matrix C(q, dq), (..., 4, 4)."""
    s2 = np.sin(np.asarray(q, dtype=np.float64)[..., 1])
    v1, v2, *_ = np.moveaxis(np.asarray(dq, dtype=np.float64), -1, 0)
    C = np.zeros((*s2.shape, 4, 4))
    C[..., 0, 0], C[..., 0, 1], C[..., 1, 0] = -5.0 * v2 * s2, -5.0 * (v1 + v2) * s2, 5.0 * v1 * s2
    return C


def coriolis_by_printed_formula(robot: Robot, q: npt.ArrayLike, dq: npt.ArrayLike) -> Array:
    """Return C of the report's formula for Christoffel symbols, whose last sign is wrong (S-2), (..., 4, 4)."""
    D = robot.mass_matrix_derivative(q)
    symbols = 0.5 * (D + np.swapaxes(D, -1, -2) + np.moveaxis(D, -1, -3))
    C: Array = np.einsum("...ijk,...k->...ij", symbols, np.asarray(dq, dtype=np.float64))
    return C


@dataclass(frozen=True, kw_only=True, eq=False)
class ScaraDynamics:
    """The arm beside its printed dynamics.

    Attributes
    ----------
    robot : Robot
        The bundled SCARA.
    differences : dict of str to float
        Largest difference of matrices between report and package, at random states.
    t, torque, printed_torque : (k,), (k, 4), (k, 4) array
        Coriolis torque along the path by the matrix and by the printed formula [s, N m, N].
    """

    robot: Robot
    differences: Mapping[str, float]
    t: Array
    torque: Array
    printed_torque: Array

    def table(self) -> str:
        """Return the differences and gravity, as Markdown."""
        gravity = self.robot.gravity_vector(np.zeros(4))
        loaded = PAYLOAD.added_to(self.robot).gravity_vector(np.zeros(4))
        forces = [["g_3 without payload, with 5 kg [N]", f"{gravity[2]:.4g}, {loaded[2]:.5g}"]]
        return markdown(["report against package", "largest difference"], [*self.differences.items(), *forces], 2)

    def plot(self) -> Figure:
        """Draw the Coriolis torque of joint 2 along the path by the printed matrix and by the printed formula."""
        from ..plotting.scara_dynamics import plot_coriolis

        return plot_coriolis(self)


def run_dynamics(samples: int = 200) -> ScaraDynamics:
    """Compare the report's matrices with the package, at random states and along the path."""
    robot, path = Robot.load("scara"), scara_path()
    q, dq = np.random.default_rng(2).uniform(-2.0, 2.0, (2, samples, robot.n))
    C, formula, rate = (
        robot.coriolis_matrix(q, dq),
        coriolis_by_printed_formula(robot, q, dq),
        robot.mass_matrix_dot(q, dq),
    )
    skew = [rate - 2.0 * matrix for matrix in (C, formula)]
    pairs = {
        "B(q) (S-1)": robot.mass_matrix(q) - printed_mass_matrix(q),
        "C(q, dq), the matrix": C - printed_coriolis_matrix(q, dq),
        "C(q, dq), by the formula (S-2)": C - formula,
        "symmetric part of B_dot - 2 C": skew[0] + skew[0].swapaxes(-1, -2),
        "the same, C by the formula": skew[1] + skew[1].swapaxes(-1, -2),
    }
    motion = schemes(robot)["second order"].follow(path, start(path), path.duration, 1e-2, integrator="rk4")
    matrices = (robot.coriolis_matrix(motion.q, motion.dq), coriolis_by_printed_formula(robot, motion.q, motion.dq))
    torques = [np.einsum("kij,kj->ki", matrix, motion.dq) for matrix in matrices]
    return ScaraDynamics(
        robot=robot,
        differences={name: float(np.abs(value).max()) for name, value in pairs.items()},
        t=motion.t,
        torque=torques[0],
        printed_torque=torques[1],
    )
