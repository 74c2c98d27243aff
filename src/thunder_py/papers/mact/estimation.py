"""D4.2, Figures 19 and 20: estimation of a hand unknown to the controller along a joint-space curve."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ...checks import Array
from ...parallel import Workers
from ...robot import Robot
from ...simulation import Payload, SimulationResult, simulate
from ..results import Varied, drawing, over_draws, titled
from ..softhand.setup import DRAWN, HAND_MASS, draw_com, merged
from .setup import REPORT, UNITS, distances, estimation_errors, joint_controllers, joint_curve, panda, with_units
from .sweeps import judge_estimation


@dataclass(frozen=True, kw_only=True, eq=False)
class D42Estimation(Varied):
    """Results of the experiment.

    Attributes
    ----------
    robot : Robot
        The Panda without the hand.
    truth : (10,) array
        REG of link 7 with the hand.
    result : SimulationResult
        Run of MACT with unknown link 7.
    """

    robot: Robot
    truth: Array
    result: SimulationResult

    @property
    def estimate(self) -> Array:
        """REG of link 7 over time, (k, 10)."""
        return np.asarray(self.result.parameters[:, 60:70])

    def table(self) -> str:
        """Return the report's numbers and ours, as Markdown."""
        first = distances(self.result, self.truth, 0)
        rows = ([f"{x} [{UNITS[x]}]", REPORT[x], value, first.get(x)] for x, value in self.figures().items())
        return self.join(
            titled("Distance from the truth at the end, and errors", ["", "report", "ours", "ours, at first"], rows)
        )

    def figures(self) -> dict[str, float]:
        """Return the figures of merit by the names of `REPORT`."""
        return estimation_errors(self.result, self.truth)

    def to_dict(self) -> dict[str, Any]:
        """Return the report's figures of merit and ours, and REG of link 7; ``units`` names the units."""
        first, bodies = (
            distances(self.result, self.truth, 0),
            {"truth_REG": self.truth, "estimate_REG": self.estimate[-1]},
        )
        return {"units": UNITS, "report": REPORT, "ours": self.figures(), "first": first, **bodies, **self.variations()}

    plot = drawing("plot_estimation")


def run_d42_estimation(duration: float = 200.0, progress: bool = False, *, seed: int = 0) -> D42Estimation:
    """Follow the joint-space curve under MACT, with a hand at the flange and unknown link 7.

    Parameters
    ----------
    duration : float
        Duration of the run [s].
    progress : bool
        Show a progress bar.
    seed : int
        Mounting of the hand; see `papers.softhand.setup.draw_com`.
    """
    robot, curve, hand = panda(), joint_curve(), Payload(HAND_MASS, draw_com(seed))
    controller = joint_controllers(robot, unknown="link7")["MACT"]
    result = simulate(
        robot, controller, curve, duration, q0=curve(0.0).q, payloads=[hand], log_every=20, progress=progress
    )
    return D42Estimation(robot=robot, truth=merged(robot, hand), result=result)


def _figures_of_seed(duration: float, seed: int) -> dict[str, float]:
    return with_units(run_d42_estimation(duration, seed=seed).figures())


def run(quick: bool = False, *, seeds: int | None = None, workers: Workers = 1) -> D42Estimation:
    """Run the experiment of the registry: 200 s, or 20 s; `seeds` mountings of the hand."""
    duration, count = (20.0, 2) if quick else (200.0, 5)
    first = run_d42_estimation(duration, progress=not quick)
    work, count = partial(_figures_of_seed, duration), count if seeds is None else seeds
    draws = over_draws(DRAWN, with_units(first.figures()), work, count, workers)
    return replace(first, draws=draws, judgment=judge_estimation(quick, workers))
