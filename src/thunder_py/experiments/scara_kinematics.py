"""SCARA project, chapter 1: direct kinematics, Jacobian, singularities and manipulability ellipsoids."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..checks import Array
from ..robot import Ellipsoid, Robot
from .text import markdown

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "POSTURES",
    "ROWS",
    "ScaraKinematics",
    "inverse_kinematics",
    "printed_direct_kinematics",
    "printed_jacobian",
    "run_kinematics",
]

#: rows of the geometric Jacobian that a SCARA can move in: x, y, z and the angle about z
ROWS = (0, 1, 2, 5)
#: the report's three postures [rad, m]
POSTURES: dict[str, Array] = {
    "q1": np.array([0.0, np.pi / 2, 0.0, 0.0]),
    "q2": np.array([np.pi / 4, np.pi / 4, 0.1, np.pi / 18]),
    "q3": np.array([0.0, np.radians(5.0), 0.0, 0.0]),
}
_PLANE = (0, 1)


def printed_direct_kinematics(q: npt.ArrayLike) -> Array:
    """Return the report's x_e = k(q): x, y, z [m] and the angle of the y axis of the end effector [rad], (..., 4)."""
    t1, t2, d3, t4 = np.moveaxis(np.asarray(q, dtype=np.float64), -1, 0)
    x, y = (np.cos(t1 + t2) + np.cos(t1)) / 2, (np.sin(t1 + t2) + np.sin(t1)) / 2
    return np.stack([x, y, 0.5 - d3, t1 + t2 - t4], axis=-1)


def printed_jacobian(q: npt.ArrayLike) -> Array:
    """Return the Jacobian of section 1.2 without its rows of zeros, (..., 4, 4)."""
    t1, t2, *_ = np.moveaxis(np.asarray(q, dtype=np.float64), -1, 0)
    J = np.zeros((*t1.shape, 4, 4))
    J[..., 0, 1], J[..., 1, 1] = -np.sin(t1 + t2) / 2, np.cos(t1 + t2) / 2
    J[..., 0, 0], J[..., 1, 0] = J[..., 0, 1] - np.sin(t1) / 2, J[..., 1, 1] + np.cos(t1) / 2
    J[..., 2, 2] = -1.0
    J[..., 3, :] = 1.0, 1.0, 0.0, -1.0
    return J


def inverse_kinematics(p: npt.ArrayLike, phi: float, *, elbow: int = 1) -> Array:
    """Return the joint positions at a place and angle of the end effector.

    Parameters
    ----------
    p : (3,) array_like
        Position [m].
    phi : float
        The report's angle, ``q1 + q2 - q4`` [rad].
    elbow : {1, -1}
        Sign of q2; the report's postures have it positive.

    Raises
    ------
    ValueError
        Out of reach.
    """
    x, y, z = (float(value) for value in np.asarray(p, dtype=np.float64))
    cosine = 2.0 * (x * x + y * y) - 1.0
    if not abs(cosine) <= 1.0:
        raise ValueError(f"p must be within 1 m of the axis of the first joint, got {[x, y, z]}")
    t2 = float(np.copysign(np.arccos(cosine), elbow))
    t1 = float(np.arctan2(y, x)) - 0.5 * t2  # equal links: the arm is an isosceles triangle
    return np.array([t1, t2, 0.5 - z, t1 + t2 - phi])


@dataclass(frozen=True, kw_only=True, eq=False)
class ScaraKinematics:
    """The arm beside its printed kinematics.

    Attributes
    ----------
    robot : Robot
        The bundled SCARA.
    differences : dict of str to float
        Largest difference between printed formulae and the package, at random states.
    """

    robot: Robot
    differences: Mapping[str, float]

    def velocity(self, q: npt.ArrayLike) -> Ellipsoid:
        """Return the velocity ellipsoid in the horizontal plane [m/s for unit joint velocities]."""
        return self.robot.velocity_ellipsoid(q, rows=_PLANE)

    def force(self, q: npt.ArrayLike) -> Ellipsoid:
        """Return the force ellipsoid in the horizontal plane [N for unit joint torques]."""
        return self.robot.force_ellipsoid(q, rows=_PLANE)

    def table(self) -> str:
        """Return the checks and the ellipsoids, as Markdown."""
        checks = markdown(["printed formula", "largest difference"], self.differences.items(), 2)
        return f"{checks}\n\n{self.ellipsoids()}"

    def ellipsoids(self) -> str:
        """Return manipulability and half axes in the report's postures, as Markdown."""
        rows: list[list[object]] = []
        for name, q in POSTURES.items():
            w = float(self.robot.manipulability(q, rows=ROWS))
            axes = [f"{a:.3g}, {b:.3g}" for a, b in (self.velocity(q).lengths, self.force(q).lengths)]
            rows.append([name, float(np.degrees(q[1])), abs(float(np.sin(q[1]))) / 4, w, *axes])
        header = ["", "theta_2 [deg]", "w, report", "w", "velocity: half axes [m/s]", "force: half axes [N]"]
        return markdown(header, rows, 4)

    def plot(self) -> Figure:
        """Draw velocity and force ellipsoids in the three postures."""
        from ..plotting.scara_kinematics import plot_postures

        return plot_postures(self)

    def plot_workspace(self) -> Figure:
        """Draw both ellipsoids over the workspace."""
        from ..plotting.scara_kinematics import plot_workspace

        return plot_workspace(self)


def run_kinematics(samples: int = 200) -> ScaraKinematics:
    """Compare the report's formulae with the package, at random states."""
    robot = Robot.load("scara")
    q = np.random.default_rng(1).uniform(-np.pi, np.pi, (samples, robot.n))
    T, J = robot.forward_kinematics(q), robot.jacobian(q)[:, ROWS, :]
    k = printed_direct_kinematics(q)
    y_axis = np.stack([np.cos(k[:, 3]), np.sin(k[:, 3]), np.zeros(samples)], axis=-1)
    inverse = np.array(
        [inverse_kinematics(x[:3], x[3], elbow=int(np.sign(np.sin(s[1])))) for x, s in zip(k, q, strict=True)]
    )
    pairs = {
        "position": (T[:, :3, 3], k[:, :3]),
        "angle, as direction of the y axis": (T[:, :3, 1], y_axis),
        "Jacobian": (J, printed_jacobian(q)),
        "det J = sin(theta_2) / 4": (np.linalg.det(J), np.sin(q[:, 1]) / 4),
        "w = abs(sin(theta_2)) / 4": (robot.manipulability(q, rows=ROWS), np.abs(np.sin(q[:, 1])) / 4),
        "(inverse kinematics, not printed)": (robot.forward_kinematics(inverse), T),
    }
    return ScaraKinematics(
        robot=robot, differences={name: float(np.abs(a - b).max()) for name, (a, b) in pairs.items()}
    )
