"""SCARA project, chapter 3: four closed-loop inverse kinematics along the path, Euler's rule at 1 ms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..checks import Array
from ..kinematics import CLIK, CLIKResult, Manipulability
from ..reference import TaskReference
from ..robot import Robot
from ..trajectory import Path
from .scara_kinematics import inverse_kinematics
from .scara_path import scara_path
from .text import markdown

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["GAINS", "PRINTED_ORDER", "TASK", "ScaraClik", "Scheme", "run_clik", "schemes", "start"]

PERIOD = 1e-3  # [s]
TASK = ("x", "y", "z", "rz")
RELAXED = ("y", "z", "rz")
#: as printed, sections 3.1 to 3.4 [1/s], of second order [1/s^2] and [1/s]
GAINS: dict[str, tuple[float, ...]] = {
    "inverse": (500.0, 500.0, 700.0, 2.0),
    "transpose": (2000.0, 1300.0, 400.0, 350.0),
    "pseudo-inverse": (1000.0, 1500.0, 5.0),
    "K_P": (1000.0, 1000.0, 2000.0, 1.0),
    "K_D": (10.0, 10.0, 50.0, 1.0),
}
K_0 = 10.0  # of the gradient of w
#: section 3.2: order of magnitude of the error
PRINTED_ORDER = {"inverse": 1e-5, "transpose": 1e-3}


class Scheme(NamedTuple):
    """A scheme of chapter 3 and what came of it.

    Attributes
    ----------
    clik : CLIK
        The law.
    result : CLIKResult
        Its motion along the path.
    """

    clik: CLIK
    result: CLIKResult

    def position_error(self) -> Array:
        """Return the norm of the position error in the rows of the task over time, (k,) [m]."""
        rows = [k for k, name in enumerate(self.result.rows) if name in "xyz"]
        norm: Array = np.linalg.norm(self.result.error[:, rows], axis=1)
        return norm

    def angle_error(self) -> Array:
        """Return the error of the angle over time, (k,) [rad]."""
        return self.result.error[:, self.result.rows.index("rz")]


def schemes(robot: Robot) -> dict[str, CLIK]:
    """Return the report's schemes with the gains that it prints.

    The angle's error is the angle itself (``rotation_vector``), for which the analytical Jacobian is the geometric one,
    as the report says.
    """

    def law(name: str, rows: tuple[str, ...] = TASK, **options: object) -> CLIK:
        return CLIK(robot, GAINS[name], rows=rows, orientation="rotation_vector", **options)  # type: ignore[arg-type]

    return {
        "inverse": law("inverse", method="inverse"),
        "transpose": law("transpose", method="transpose"),
        "pseudo-inverse": law("pseudo-inverse", RELAXED),
        "pseudo-inverse, w": law("pseudo-inverse", RELAXED, null_space=Manipulability(K_0)),
        "second order": law("K_P", method="inverse", order=2, K_D=GAINS["K_D"]),
    }


def start(path: Path) -> Array:
    """Return where the joints start: on the path, the report's angle at zero, (4,)."""
    return inverse_kinematics(path.key_points[0], 0.0)


@dataclass(frozen=True, kw_only=True, eq=False)
class ScaraClik:
    """What the schemes do along the path.

    Attributes
    ----------
    robot : Robot
        The arm.
    path : Path
        What they follow.
    schemes : dict of str to Scheme
        By name; ``"pseudo-inverse, w"`` has the manipulability as its objective.
    """

    robot: Robot
    path: Path
    schemes: Mapping[str, Scheme]

    def table(self) -> str:
        """Return the errors, the report's order of magnitude beside ours, and manipulability, as Markdown."""
        return f"{self.errors()}\n\n{self.dexterity()}"

    def errors(self) -> str:
        """Return the largest errors of every scheme, as Markdown."""
        rows: list[list[object]] = []
        for name, scheme in self.schemes.items():
            order = f"{PRINTED_ORDER[name]:.0e}" if name in PRINTED_ORDER else ""
            norm = float(scheme.result.error_norm().max())
            parts = [float(scheme.position_error().max()), float(np.abs(scheme.angle_error()).max())]
            rows.append([name, order, norm, *parts, float(np.abs(scheme.result.dq).max())])
        header = ["largest", "error, report", "norm of e", "position [m]", "angle [rad]", "joint velocity [rad/s]"]
        return markdown(header, rows)

    def feedforward_share(self) -> float:
        """Return how much of the transpose's error the missing feedforward explains, least square over the path.

        Without it the error settles where ``J J' K e`` is the velocity that is asked for.
        """
        result = self.schemes["transpose"].result
        J = self.robot.jacobian(result.q)[:, [0, 1, 2, 5], :]
        xi = _sampled(self.path, result.t).xi[:, [0, 1, 2, 5]]
        expected = np.linalg.solve(J @ J.swapaxes(-1, -2) @ np.diag(GAINS["transpose"]), xi[..., None])[..., 0]
        return 1.0 - float(np.sum((result.error - expected) ** 2) / np.sum(result.error**2))

    def dexterity(self) -> str:
        """Return the manipulability of the relaxed task with and without the objective, as Markdown."""
        rows: list[list[object]] = []
        for name in ("pseudo-inverse", "pseudo-inverse, w"):
            w, x = self.schemes[name].result.manipulability, self.relaxed_error(name)
            rows.append([name, *(float(v) for v in (w.min(), w.mean(), w[-1])), float(np.abs(x).max())])
        return markdown(["relaxed x", "w: least", "mean", "at the end", "x leaves the path by [m]"], rows)

    def relaxed_error(self, name: str) -> Array:
        """Return x of the path less x of the arm over time, (k,) [m]."""
        result = self.schemes[name].result
        wanted: Array = _sampled(self.path, result.t).p[:, 0]
        return wanted - self.robot.forward_kinematics(result.q)[:, 0, 3]

    def plot(self) -> Figure:
        """Draw the errors of all schemes."""
        from ..plotting.scara_clik import plot_errors

        return plot_errors(self)

    def plot_velocities(self) -> Figure:
        """Draw the joint velocities of inverse and transpose."""
        from ..plotting.scara_clik import plot_velocities

        return plot_velocities(self)

    def plot_dexterity(self) -> Figure:
        """Draw manipulability, joints and the error of the relaxed task, with and without the objective."""
        from ..plotting.scara_clik import plot_dexterity

        return plot_dexterity(self)


def _sampled(path: Path, t: Array) -> TaskReference:
    return path(t)


def run_clik() -> ScaraClik:
    """Let every scheme of the report follow the path, from its first point.

    Notes
    -----
    The report does not print its key points, durations or the integrator of its second-order scheme; see `scara_path`.
    """
    robot, path = Robot.load("scara"), scara_path()
    q0 = start(path)
    runs = {name: Scheme(law, law.follow(path, q0, path.duration, PERIOD)) for name, law in schemes(robot).items()}
    return ScaraClik(robot=robot, path=path, schemes=runs)
