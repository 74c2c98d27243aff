"""SCARA project, section 3.2: where the printed gains of the Jacobian transpose are stable at 1 ms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..checks import Array
from ..kinematics import CLIK, CLIKResult
from ..reference import SetPose
from ..robot import Robot
from .scara_clik import GAINS, PERIOD, TASK, start
from .scara_kinematics import POSTURES, ROWS, inverse_kinematics
from .scara_path import scara_path
from .text import markdown

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["FOLDED", "HALF", "ScaraTranspose", "run_transpose", "stability_number"]

#: part of the printed gains that is stable wherever the arm is
HALF = 0.5
#: a posture in which the printed gains are stable
FOLDED = np.array([0.0, 2.4, 0.1, 0.0])
OFFSET = 0.01  # how far each joint starts from the set point [rad, m]
DURATION = 3.0  # of a run to a set point [s]


def stability_number(
    robot: Robot, q: npt.ArrayLike, K: npt.ArrayLike = GAINS["transpose"], dt: float = PERIOD
) -> Array:
    """Return dt times the largest eigenvalue of J J' K, (...,): Euler's rule is stable below 2.

    Parameters
    ----------
    robot : Robot
        The SCARA.
    q : (..., 4) array_like
        Joint positions [rad, m].
    K : (4,) array_like
        Diagonal gains, positive.
    dt : float
        [s].

    Notes
    -----
    About a set point the error obeys ``e[k+1] = (I - dt J J' K) e[k]``.
    """
    root = np.sqrt(np.asarray(K, dtype=np.float64))
    J = root[:, None] * robot.jacobian(q)[..., ROWS, :]  # root J J' root has the eigenvalues of J J' K
    largest: Array = np.linalg.norm(J, 2, axis=(-2, -1)) ** 2
    return dt * largest


@dataclass(frozen=True, kw_only=True, eq=False)
class ScaraTranspose:
    """Runs with the Jacobian transpose.

    Attributes
    ----------
    robot : Robot
        The arm.
    set_points : dict of str to dict of str to CLIKResult
        Runs to set points by posture, then by ``"printed"`` and ``"half"``.
    on_path : dict of str to CLIKResult
        Along the path, by the same.
    """

    robot: Robot
    set_points: Mapping[str, Mapping[str, CLIKResult]]
    on_path: Mapping[str, CLIKResult]

    def worst_on_path(self, gains: str = "printed") -> float:
        """Return the largest stability number along the path."""
        return _scale(gains) * float(stability_number(self.robot, self.on_path[gains].q).max())

    def worst_anywhere(self, gains: str = "printed") -> float:
        """Return the largest stability number over all postures."""
        angles = np.linspace(0.0, np.pi, 73)
        t1, t2 = np.meshgrid(angles, angles)
        q = np.stack([t1, t2, 0.0 * t1, 0.0 * t1], axis=-1)
        return _scale(gains) * float(stability_number(self.robot, q).max())

    def table(self) -> str:
        """Return stability numbers and the errors that are left, as Markdown."""
        rows: list[list[object]] = []
        for name, runs in self.set_points.items():
            q = _postures()[name]
            number = float(stability_number(self.robot, q))
            left = [float(runs[gains].error_norm()[-1]) for gains in ("printed", "half")]
            rows.append([name, float(np.degrees(q[1])), number, left[0], _scale("half") * number, left[1]])
        errors = {gains: float(result.error_norm().max()) for gains, result in self.on_path.items()}
        row: list[object] = [
            "path, worst",
            None,
            self.worst_on_path(),
            errors["printed"],
            self.worst_on_path("half"),
            errors["half"],
        ]
        rows += [row, ["anywhere", None, self.worst_anywhere(), None, self.worst_anywhere("half"), None]]
        header = ["", "theta_2 [deg]", "K_tr: dt lambda_max", "norm of e", "K_tr / 2: dt lambda_max", "norm of e"]
        return markdown(header, rows)

    def plot(self) -> Figure:
        """Draw the stability number over the workspace with the path in it, and the runs to set points."""
        from ..plotting.scara_clik import plot_transpose

        return plot_transpose(self)

    def map(self, x: Array, y: Array) -> Array:
        """Return the stability number with the tip at x, y, of the same shape, NaN out of reach."""
        reachable = np.hypot(x, y) < 1.0
        q = [inverse_kinematics([*place, 0.0], 0.0) for place in zip(x[reachable], y[reachable], strict=True)]
        number = np.full(x.shape, np.nan)
        number[reachable] = stability_number(self.robot, q)
        return number


def _scale(gains: str) -> float:
    return HALF if gains == "half" else 1.0


def _postures() -> dict[str, Array]:
    return {**POSTURES, "folded": FOLDED}


def run_transpose() -> ScaraTranspose:
    """Let the Jacobian transpose go to the report's postures and along the path, with the printed gains and with half.

    Every run to a set point starts one hundredth from it, joint by joint: close enough for the linearised error.
    """
    robot, path = Robot.load("scara"), scara_path()
    laws = {
        gains: CLIK(
            robot,
            _scale(gains) * np.array(GAINS["transpose"]),
            method="transpose",
            rows=TASK,
            orientation="rotation_vector",
        )
        for gains in ("printed", "half")
    }
    set_points = {
        name: {
            gains: law.follow(SetPose(robot.forward_kinematics(q + OFFSET)), q, DURATION, PERIOD)
            for gains, law in laws.items()
        }
        for name, q in _postures().items()
    }
    on_path = {gains: law.follow(path, start(path), path.duration, PERIOD) for gains, law in laws.items()}
    return ScaraTranspose(robot=robot, set_points=set_points, on_path=on_path)
