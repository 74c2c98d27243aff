"""D4.2, 6.2.3 and Figure 38: moving objects of several kinds, grasped from point clouds of a depth camera."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ...checks import Array
from ...manipulation.interception.conveyor import BeltObject, Conveyor, Feed, GraspTolerance
from ...manipulation.interception.interceptor import InterceptionOptions, TimeAugmentation
from ...manipulation.interception.runs import Scenario, default_belt, run_conveyor
from ...parallel import Workers, map_seeds
from ...perception.clouds import Ball, CloudPipeline, Cuboid, Cylinder
from ...perception.clouds.scenes import Shape
from ...perception.pose_source import measurement_times
from ...spatial import pose_from_rpy
from ..belt_camera import belt_camera
from ..results import drawing, listed, titled, wilson_interval
from .run import SPEEDS, TABLE_16

#: success over all trials of the report, Figure 38
TOTAL = 0.76
#: trials of the report
TRIALS = 117
#: opening of the hand, as in `GraspTolerance` [m]
OPENING = 0.10
#: the wrist turns to the measured yaw until this long before the arrival [s]
WRIST = 0.3
#: replanning
STRATEGY = InterceptionOptions(strategy=TimeAugmentation())


class Kind(NamedTuple):
    """A kind of object.

    Attributes
    ----------
    box : bool
        Whether Figure 38 counts it as box-like.
    height : float
        Height above the belt [m].
    shape : callable
        The shape for the position of its middle (3,) and its yaw.
    length, width : float
        Horizontal size [m]; equal for round objects.
    symmetry : float
        Angle about the vertical after which the object is the same [rad]; 0 for round objects.
    """

    box: bool
    height: float
    shape: Callable[[Array, float], Shape]
    length: float
    width: float
    symmetry: float

    def extent(self, turned: float) -> float:
        """Return the width between the fingers of a hand that is turned from the object's short side [m]."""
        if self.symmetry == 0.0:
            return self.width
        return float(self.length * abs(np.sin(turned)) + self.width * abs(np.cos(turned)))


def _cuboid(size: tuple[float, float, float]) -> Callable[[Array, float], Shape]:
    return lambda p, yaw: Cuboid(size, pose_from_rpy(p, (0.0, 0.0, yaw)))


def _cylinder(radius: float, length: float, pitch: float) -> Callable[[Array, float], Shape]:
    return lambda p, yaw: Cylinder(radius, length, pose_from_rpy(p, (0.0, pitch, yaw)))


#: sizes that a hand with an opening of 10 cm grasps from above
KINDS: Mapping[str, Kind] = {
    "carton, 16 x 6 x 6 cm": Kind(True, 0.06, _cuboid((0.16, 0.06, 0.06)), 0.16, 0.06, np.pi),
    "tall box, 8 x 5 x 12 cm": Kind(True, 0.12, _cuboid((0.08, 0.05, 0.12)), 0.08, 0.05, np.pi),
    "cube, 6 cm": Kind(True, 0.06, _cuboid((0.06, 0.06, 0.06)), 0.06, 0.06, np.pi / 2.0),
    "standing can, 6.6 x 12 cm": Kind(False, 0.12, _cylinder(0.033, 0.12, 0.0), 0.066, 0.066, 0.0),
    "lying bottle, 6 x 20 cm": Kind(False, 0.06, _cylinder(0.03, 0.20, np.pi / 2.0), 0.20, 0.06, np.pi),
    "ball, 7 cm": Kind(False, 0.07, lambda p, _: Ball(0.035, p), 0.07, 0.07, 0.0),
}

#: the horizontal distance is compared with the play between fingers and object, which depends on the object
_ANY_PLACE = GraspTolerance(horizontal=1.0)
#: height of the belt: a tenth of a meter below the middle of the band that `Belt` allows for objects [m]
_SURFACE = 0.04
_BELT = Cuboid((0.4, 3.0, 0.02), pose_from_rpy((0.5, 0.0, _SURFACE - 0.01)))
_RATE, _LATENCY, _JITTER, _CALIBRATION = 15.0, 0.08, 0.03, 0.003  # as `MeasurementModel`


_CAMERA = belt_camera((1.2, -0.2, 0.75), (0.5, -0.2, 0.1))


@dataclass(frozen=True)
class _Watched(Scenario):
    """A scenario whose object and measurements are given."""

    target: BeltObject | None = None
    feed: Feed | None = None

    def world(self, seed: int) -> tuple[BeltObject, Feed]:
        assert self.target is not None
        assert self.feed is not None
        return self.target, self.feed


class CloudTrial(NamedTuple):
    """Result of one trial.

    Attributes
    ----------
    kind : str
        A key of `KINDS`.
    speed : float
        Nominal speed of the belt [m/s].
    success : bool
        Whether the object was between the fingers, at their height and at their speed while the hand closed.
    outcome : str
        As `ConveyorRun.outcome`; ``"turned"`` if the object was wider than the hand's opening at its orientation.
    pictures, detections : int
        Number of pictures taken, and of those in which an object was found.
    bias, error : float
        Norm of the mean error of the measured positions, and their root mean square error [m].
    yaw_error : float
        Angle between the hand's closing direction and the object's [rad]; NaN for round objects.
    plans : int
        Number of plans.
    """

    kind: str
    speed: float
    success: bool
    outcome: str
    pictures: int
    detections: int
    bias: float
    error: float
    yaw_error: float
    plans: int


def _watch(target: BeltObject, kind: Kind, yaw: float, duration: float, rng: np.random.Generator) -> tuple[Feed, Array]:
    """Return the positions that the pipeline finds in the pictures, and the yaws, NaN where it gives none."""
    taken, available = measurement_times(duration, _RATE, latency=_LATENCY, jitter=_JITTER, rng=rng)
    offset, pipeline = _CALIBRATION * rng.standard_normal(3), CloudPipeline(region=((0.3, -1.2, 0.0), (0.7, 0.8, 0.4)))
    rows: list[tuple[float, float, Array, float]] = []
    last: Array | None = None
    for at, ready, p in zip(taken, available, target.position(taken), strict=True):
        seen = pipeline(_CAMERA.see([_BELT, kind.shape(p, yaw)], rng).cloud, near=last)
        if seen.center is not None:
            last = seen.center + offset
            rows.append((at, ready, last, np.nan if seen.yaw is None else seen.yaw))
    times, ready, found, yaws = zip(*rows, strict=True) if rows else ((), (), np.zeros((0, 3)), ())
    return Feed(np.array(times), np.array(ready), np.reshape(found, (-1, 3))), np.array(yaws, dtype=np.float64)


def run_trial(seed: int, options: InterceptionOptions = STRATEGY, *, arm: bool = True) -> CloudTrial:
    """Run one trial: its number decides kind and speed, which take turns, and seeds everything drawn.

    Parameters
    ----------
    seed : int
        Seed of scene and noise.
    options : InterceptionOptions
        Strategy and limits.
    arm : bool
        Whether the Panda follows the plan; otherwise the hand is at the planned point.
    """
    rng = np.random.default_rng([38, seed])
    speed, name = SPEEDS[(seed + seed // len(KINDS)) % 3], tuple(KINDS)[seed % len(KINDS)]
    kind, conveyor = KINDS[name], Conveyor(speed)
    belt = default_belt()
    height = _SURFACE + kind.height / 2.0 - float((np.asarray(belt.reference) - np.asarray(belt.offset))[2])
    target = replace(conveyor.draw(belt, rng), height=height)
    yaw = rng.uniform(-np.pi / 2.0, np.pi / 2.0)
    feed, yaws = _watch(target, kind, yaw, conveyor.duration, rng)
    error = feed.positions - target.position(feed.taken)
    scenario = _Watched(conveyor, options=options, arm=arm, target=target, feed=feed, tolerance=_ANY_PLACE)
    run = run_conveyor(seed, scenario)
    turned = _turned(yaws[feed.available < run.arrival - WRIST], yaw, kind.symmetry)
    play = (OPENING - kind.extent(turned)) / 2.0
    outcome = str(run.outcome)
    if run.grasp is not None and (play <= 0.0 or run.grasp.horizontal > play):
        outcome = "turned" if play <= 0.0 else "beside"
    pictures = int(conveyor.duration * _RATE) + 1
    bias, rms = float(np.linalg.norm(error.mean(axis=0))), float(np.sqrt((error**2).sum(axis=1).mean()))
    counts = (pictures, len(feed.taken))
    return CloudTrial(name, speed, outcome == "grasped", outcome, *counts, bias, rms, turned, len(run.plans))


def _turned(yaws: Array, truth: float, symmetry: float) -> float:
    """Return the angle between the last known yaw (0 without one) and the true one, up to the object's symmetry."""
    if symmetry == 0.0:
        return float("nan")
    known = yaws[np.isfinite(yaws)]
    measured = float(known[-1]) if len(known) else 0.0
    return abs((measured - truth + symmetry / 2.0) % symmetry - symmetry / 2.0)


@dataclass(frozen=True, kw_only=True, eq=False)
class MovingObjectClouds:
    """Results of the experiment.

    Attributes
    ----------
    trials : tuple of CloudTrial
        All trials.
    """

    trials: tuple[CloudTrial, ...]

    def groups(self) -> dict[str, list[CloudTrial]]:
        """Return the trials of Figure 38: all, box-like and other objects, then each kind; without empty groups."""
        chosen: dict[str, list[CloudTrial]] = {"all": list(self.trials)}
        for name, box in (("box-like", True), ("others", False)):
            chosen[name] = [trial for trial in self.trials if KINDS[trial.kind].box == box]
        chosen |= {kind: [trial for trial in self.trials if trial.kind == kind] for kind in KINDS}
        return {name: trials for name, trials in chosen.items() if trials}

    def at(self, speed: float) -> list[CloudTrial]:
        """Return the trials at one speed [m/s]."""
        return [trial for trial in self.trials if trial.speed == speed]

    def table(self) -> str:
        """Return success by kind and by speed beside the report's, and the errors of the clouds, as Markdown."""
        header = ["", "trials", "success", "95 %", "report", "ended"]
        rows: list[list[object]] = []
        errors: list[list[object]] = []
        for name, trials in self.groups().items():
            ended = listed((trial.outcome for trial in trials), " ")
            rows.append([name, len(trials), *_success(trials), TOTAL if name == "all" else None, ended])
            if name in KINDS:
                bias, error, yaw = np.array([(x.bias, x.error, x.yaw_error) for x in trials]).T
                found = sum(x.detections for x in trials) / sum(x.pictures for x in trials)
                turned = float(np.degrees(np.nanmedian(yaw))) if np.isfinite(yaw).any() else None
                errors.append([name, f"{found:.0%}", 1e3 * float(bias.mean()), 1e3 * float(error.mean()), turned])
        speeds = [
            [f"{speed:g} m/s", len(self.at(speed)), *_success(self.at(speed)), printed]
            for speed, printed in zip(SPEEDS, TABLE_16["replan"], strict=True)
            if self.at(speed)
        ]
        columns = ["", "found", "bias [mm]", "RMS [mm]", "closing direction, median [degree]"]
        parts = (
            titled(f"Figure 38: from point clouds to a grasp, {len(self.trials)} trials", header, rows),
            titled("Figure 39, with clouds", header[:-1], speeds),
            titled("Errors of the measured middle of an object", columns, errors),
        )
        return "\n\n".join(parts)

    plot = drawing("plot_clouds")

    def to_dict(self) -> dict[str, Any]:
        """Return all trials, and success by group and speed."""
        groups = self.groups() | {f"{speed:g} m/s": self.at(speed) for speed in SPEEDS if self.at(speed)}
        success = {name: {"trials": len(x), "rate": rate(x), "wilson_95": interval(x)} for name, x in groups.items()}
        return {"report_total": TOTAL, "success": success, "trials": [trial._asdict() for trial in self.trials]}


def rate(trials: list[CloudTrial]) -> float:
    """Return the share of successes."""
    return float(np.mean([trial.success for trial in trials]))


def interval(trials: list[CloudTrial]) -> tuple[float, float]:
    """Return Wilson's interval of the share of successes, at 95 %."""
    return wilson_interval([trial.success for trial in trials])


def _success(trials: list[CloudTrial]) -> tuple[str, str]:
    low, high = interval(trials)
    return f"{rate(trials):.0%}", f"{low:.0%} to {high:.0%}"


def run(quick: bool = False, *, seeds: int | None = None, workers: Workers = 1) -> MovingObjectClouds:
    """Run the experiment of the registry: 117 trials with the Panda as in the report, or 6 without; `seeds` trials."""
    count, work = (6 if quick else TRIALS) if seeds is None else seeds, partial(run_trial, arm=not quick)
    found = map_seeds(work, count, workers=workers, progress=not quick, description="clouds")
    return MovingObjectClouds(trials=tuple(found))
