"""D4.2, section 6, closed: moving objects grasped from rendered pictures, with contact, in MuJoCo."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path

import numpy as np

from ...parallel import Workers, map_seeds
from ...robot import Robot
from ..moving_objects.run import SPEEDS, TABLE_16
from ..results import drawing, listed
from ..tables import markdown
from .setup import SHAPES, HandTrials, Station, rate_text
from .trial import STRATEGIES, Case, GraspTrial, belt_station, run_trial

#: scenes of lower seeds were looked at while the loop was made
FIRST_SEED = 2000
_SEEDS, _QUICK_SEEDS = 10, 1
#: hands and strategies
_VARIANTS = (*(("gripper", strategy) for strategy in STRATEGIES), ("compliant", "time augmentation"))


class Grasping(HandTrials):
    """Results of the experiment."""

    @property
    def variants(self) -> list[tuple[str, str]]:
        """Hands and strategies."""
        return list(dict.fromkeys((t.case.hand, t.case.strategy) for t in self.trials))

    def table(self) -> str:
        """Return success by speed, shape and strategy beside the report's, and reasons of failures, as Markdown."""
        return "\n\n".join(
            [
                f"Lifted by 10 cm and held for a second, of {len(self.trials)} trials with {self.arm} [%]\n\n"
                f"{self._rates()}",
                f"By shape and speed [%]\n\n{self._shapes()}",
                f"Reasons of failures\n\n{self._failures()}",
                f"The loop\n\n{self._loop()}",
            ]
        )

    def _rates(self) -> str:
        rows: list[list[object]] = []
        for hand, strategy in self.variants:
            cells = [rate_text(self.of(hand=hand, strategy=strategy, speed=speed)) for speed in SPEEDS]
            every = self.of(hand=hand, strategy=strategy)
            rows.append([hand, strategy, len(every), *cells, rate_text(every)])
        for name in ("replan", "no replan"):
            printed = [f"{100.0 * x:g}" for x in TABLE_16[name]]
            rows.append(["SoftHand", f"report, {name}", "", *printed, ""])
        return markdown(["hand", "strategy", "trials", *(f"{speed:g} m/s" for speed in SPEEDS), "all"], rows)

    def _shapes(self) -> str:
        rows: list[list[object]] = []
        for hand, strategy in self.variants:
            for shape in SHAPES:  # not of several strategies together, whose scenes are the same
                chosen = self.of(hand=hand, strategy=strategy, shape=shape)
                cells = [rate_text([t for t in chosen if t.case.speed == speed]) for speed in SPEEDS]
                rows.append([hand, strategy, shape, len(chosen), *cells, rate_text(chosen)])
        return markdown(["hand", "strategy", "object", "trials", *(f"{speed:g} m/s" for speed in SPEEDS), "all"], rows)

    def _failures(self) -> str:
        rows = [
            [hand, strategy, listed(t.outcome for t in self.of(hand=hand, strategy=strategy) if not t.success)]
            for hand, strategy in self.variants
        ]
        return markdown(["hand", "strategy", "failures"], rows)

    def _loop(self) -> str:
        rows: list[list[object]] = []
        for shape in SHAPES:
            chosen = self.of(shape=shape)
            seen = sum(t.detections for t in chosen) / max(sum(t.pictures for t in chosen), 1)
            # of all strategies but the one that does not correct its plan
            corrected = [t for t in chosen if t.case.strategy != "no replan"]
            away = _rms(math.hypot(t.along, t.across) for t in corrected)
            factor = sum(t.duration for t in chosen) / max(sum(t.computing for t in chosen), 1e-9)
            rows.append([shape, f"{100 * seen:.0f}", 1e3 * _rms(t.error for t in chosen), 1e3 * away, factor])
        header = ["object", "pictures with a measurement [%]", "RMS of a measured position [mm]"]
        return markdown([*header, "RMS of hand to object [mm]", "simulated over computing time"], rows)

    plot = drawing("plot_grasping")

    def film(self, path: str | Path) -> int:
        """Write a film of one grasp of each shape and return its number of pictures."""
        from .film import film_world

        return film_world(path, self.shown(run_trial, strategy="time augmentation"))


def _rms(values: Iterable[float]) -> float:
    known = np.array(list(values))
    known = known[np.isfinite(known)]
    return float(np.sqrt(np.mean(known**2))) if len(known) else math.nan


def _trials_of(stations: Mapping[str, Station], quick: bool, clock: float | None, seed: int) -> list[GraspTrial]:
    """Run all hands, strategies, speeds and shapes in the scenes of a seed, or each shape at a speed of its own."""
    cases = [Case(o, v, strategy, seed, hand) for hand, strategy in _VARIANTS for v in SPEEDS for o in SHAPES]
    if quick:
        cases = [Case(*pair, "time augmentation", seed) for pair in zip(SHAPES, SPEEDS, strict=True)]
    return [run_trial(case, at=stations[case.hand], clock=clock) for case in cases]


def run(
    quick: bool = False,
    *,
    seeds: int | None = None,
    workers: Workers = 1,
    robot: Robot | None = None,
    clock: float | None = None,
) -> Grasping:
    """Run the experiment of the registry: the gripper with every strategy, and the compliant hand with one.

    Parameters
    ----------
    quick : bool
        Only replanning by time augmentation with the gripper, and each shape at one speed.
    seeds : int, optional
        Number of scenes of each shape and speed, of the seeds from `FIRST_SEED` on.
    workers : Workers
        Where the runs are made, see `run_tasks`.
    robot : Robot, optional
        Another arm than the report's Panda.
    clock : float, optional
        The camera's clock less that of the arm [s]: unknown to the loop, which measures it by moving the hand before
        each trial. Default 0, which it knows.
    """
    count = _QUICK_SEEDS if quick else _SEEDS
    scenes = range(FIRST_SEED, FIRST_SEED + (count if seeds is None else seeds))
    stations = {hand: belt_station(hand, robot) for hand in dict.fromkeys(hand for hand, _ in _VARIANTS)}
    trials = partial(_trials_of, stations, quick, clock)
    found = map_seeds(trials, scenes, workers=workers, progress=not quick, description="grasping")
    return Grasping(stations=stations, trials=tuple(trial for some in found for trial in some))
