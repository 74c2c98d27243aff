"""D4.2, Figures 19 and 20: estimation of a hand unknown to the controller along a joint-space curve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...checks import Array
from ...result import SimulationResult
from ...robot import Robot
from ...simulation import Payload, simulate
from ..softhand.run import HAND_COM, HAND_MASS, merged
from ..tables import markdown
from .setup import joint_controllers, joint_curve, panda

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["REPORT", "D42Estimation", "run", "run_d42_estimation"]

#: the report's final distances of mass [kg], first moments [kg m] and inertia [kg m2] from the merged body's, and RMSE
REPORT = {"mass": 0.0340, "first moments": 0.0284, "inertia": 0.0282, "RMSE": 0.741, "RMSE from 100 s": 0.655}
_PARTS = {"mass": slice(0, 1), "first moments": slice(1, 4), "inertia": slice(4, 10)}
_SETTLED = 100.0  # [s]
_LINK_7 = slice(60, 70)


@dataclass(frozen=True, kw_only=True, eq=False)
class D42Estimation:
    """Results of the experiment.

    Attributes
    ----------
    robot : Robot
        The Panda without the hand.
    truth : (10,) array
        REG of link 7 with the hand.
    result : Result
        Run of MACT with unknown link 7.
    """

    robot: Robot
    truth: Array
    result: SimulationResult

    @property
    def estimate(self) -> Array:
        """REG of link 7 over time, (k, 10)."""
        return np.asarray(self.result.parameters[:, _LINK_7])

    def distances(self, row: int) -> dict[str, float]:
        """Return the distances of the estimate from the truth at an instant."""
        error = self.estimate[row] - self.truth
        return {name: float(np.linalg.norm(error[part])) for name, part in _PARTS.items()}

    def table(self) -> str:
        """Return the report's numbers and ours, as Markdown."""
        first, last, run = self.distances(0), self.distances(-1), self.result
        units = ("kg", "kg m", "kg m2")
        rows: list[list[object]] = [
            [f"{name} [{unit}]", REPORT[name], last[name], first[name]]
            for name, unit in zip(_PARTS, units, strict=True)
        ]
        late = run.error_norm()[run.t >= min(_SETTLED, 0.5 * run.t[-1])]
        rows += [["RMSE [rad]", REPORT["RMSE"], run.rmse(), None]]
        rows += [["RMSE, from 100 s [rad]", REPORT["RMSE from 100 s"], float(np.sqrt(np.mean(late**2))), None]]
        return "Distance from the truth at the end\n\n" + markdown(["", "report", "ours", "ours, at first"], rows)

    def plot(self) -> Figure:
        """Draw Figures 19 and 20b."""
        from .figure import plot_estimation

        return plot_estimation(self)


def run_d42_estimation(duration: float = 200.0, progress: bool = False) -> D42Estimation:
    """Follow the joint-space curve under MACT, with a hand at the flange and unknown link 7.

    Parameters
    ----------
    duration : float
        Duration of the run [s].
    progress : bool
        Show a progress bar.
    """
    robot, curve, hand = panda(), joint_curve(), Payload(HAND_MASS, HAND_COM)
    controller = joint_controllers(robot, unknown="link7")["MACT"]
    result = simulate(
        robot, controller, curve, duration, q0=curve(0.0).q, payloads=[hand], log_every=20, progress=progress
    )
    return D42Estimation(robot=robot, truth=merged(robot, hand), result=result)


def run(quick: bool = False) -> D42Estimation:
    """Run the experiment."""
    return run_d42_estimation(20.0) if quick else run_d42_estimation(progress=True)
