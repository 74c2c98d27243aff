"""D4.2, section 6, closed: moving objects grasped from rendered pictures, with contact, in MuJoCo."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from ...parallel import Workers, map_seeds
from ...robot import Robot
from ..moving_objects.run import SPEEDS, TABLE_16
from ..results import drawing, listed
from ..tables import markdown
from .setup import FIRST_SEED, SHAPES, HandTrials, Station, rate_text
from .trial import STRATEGIES, Case, GraspTrial, belt_station, run_trial

_SEEDS, _QUICK_SEEDS = 10, 1
#: hands, strategies and scenes; other arms than the report's have those of one strategy
_BEST = "time augmentation"
_VARIANTS = (
    *(("gripper", strategy, "alone") for strategy in STRATEGIES),
    ("gripper", _BEST, "among others"),
    ("compliant", _BEST, "alone"),
)
_COLUMNS = ["hand", "strategy", "scene"]


class Grasping(HandTrials):
    """Results of the experiment."""

    @property
    def variants(self) -> list[tuple[str, str, str]]:
        """Hands, strategies, and whether objects are alone."""
        return list(dict.fromkeys((t.case.hand, t.case.strategy, t.case.scene) for t in self.trials))

    def _groups(self) -> list[tuple[list[object], list[GraspTrial]]]:
        """Return the names and the trials of each variant."""
        groups = (dict(zip(_COLUMNS, variant, strict=True)) for variant in self.variants)
        return [(list(group.values()), self.of(**group)) for group in groups]

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
        for names, every in self._groups():
            cells = [rate_text([t for t in every if t.case.speed == speed]) for speed in SPEEDS]
            rows.append([*names, len(every), *cells, rate_text(every)])
        for name in ("replan", "no replan"):
            printed = [f"{100.0 * x:g}" for x in TABLE_16[name]]
            rows.append(["SoftHand", f"report, {name}", "alone", "", *printed, ""])
        return markdown([*_COLUMNS, "trials", *(f"{speed:g} m/s" for speed in SPEEDS), "all"], rows)

    def _shapes(self) -> str:
        rows: list[list[object]] = []
        for names, every in self._groups():
            for shape in SHAPES:  # not of several strategies together, whose scenes are the same
                chosen = [t for t in every if t.case.shape == shape]
                cells = [rate_text([t for t in chosen if t.case.speed == speed]) for speed in SPEEDS]
                rows.append([*names, shape, len(chosen), *cells, rate_text(chosen)])
        return markdown([*_COLUMNS, "object", "trials", *(f"{speed:g} m/s" for speed in SPEEDS), "all"], rows)

    def _failures(self) -> str:
        rows: list[list[object]] = [
            [*names, sum(bool(t.met) for t in every), listed(t.outcome for t in every if not t.success)]
            for names, every in self._groups()
        ]
        return markdown([*_COLUMNS, "contacts of the arm's links", "failures"], rows)

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

        return film_world(path, self.shown(run_trial, strategy=_BEST))


def _rms(values: Iterable[float]) -> float:
    known = np.array(list(values))
    known = known[np.isfinite(known)]
    return float(np.sqrt(np.mean(known**2))) if len(known) else math.nan


def _trials_of(
    stations: Mapping[str, Station],
    variants: Sequence[tuple[str, str, str]],
    quick: bool,
    clock: float | None,
    seed: int,
) -> list[GraspTrial]:
    """Run all variants, speeds and shapes in the scenes of a seed, or each shape at one speed and one among others."""
    some = 1 + seed % 4
    cases = [
        Case(shape, speed, strategy, seed, hand, some if scene == "among others" else 0)
        for hand, strategy, scene in variants for speed in SPEEDS for shape in SHAPES
    ]  # fmt: skip
    if quick:
        cases = [Case(shape, speed, _BEST, seed) for shape, speed in zip(SHAPES, (*SPEEDS, SPEEDS[0]), strict=True)]
        cases.append(cases[1]._replace(others=some))
    return [run_trial(case, at=stations[case.hand], clock=clock) for case in cases]


def run(
    quick: bool = False,
    *,
    seeds: int | None = None,
    workers: Workers = 1,
    robot: Robot | None = None,
    clock: float | None = None,
) -> Grasping:
    """Run the experiment of the registry: the gripper with every strategy and among one to four other objects.

    The compliant hand has one strategy.

    Parameters
    ----------
    quick : bool
        Only replanning by time augmentation with the gripper, each shape at one speed, and one shape among others.
    seeds : int, optional
        Number of scenes of each shape and speed, of the seeds from `FIRST_SEED` on.
    workers : Workers
        Where the runs are made, see `run_tasks`.
    robot : Robot, optional
        Another arm than the report's Panda, with one strategy.
    clock : float, optional
        The camera's clock less that of the arm [s]: unknown to the loop, which measures it by moving the hand before
        each trial. Default 0, which it knows.
    """
    count = _QUICK_SEEDS if quick else _SEEDS
    scenes = range(FIRST_SEED, FIRST_SEED + (count if seeds is None else seeds))
    variants = [each for each in _VARIANTS if robot is None or each[1] == _BEST]
    stations = {hand: belt_station(hand, robot) for hand in dict.fromkeys(hand for hand, *_ in variants)}
    trials = partial(_trials_of, stations, variants, quick, clock)
    found = map_seeds(trials, scenes, workers=workers, progress=not quick, description="grasping")
    return Grasping(stations=stations, trials=tuple(trial for some in found for trial in some))
