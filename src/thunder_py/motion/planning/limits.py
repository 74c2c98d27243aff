"""Limits of plans: distance from the training data, travel in physical units, time for the remaining way."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from math import sqrt
from typing import NamedTuple

import numpy as np
from scipy.optimize import bisect

from ... import _core
from ...checks import Array
from ...errors import ThunderError, ThunderWarning, outer_level
from ..travel import TRAINING_RATIOS, Excess, excesses
from .model import PlannerModel
from .obstacles import Scene, ViaPath, via_path

#: largest acceleration of a minimum-jerk motion between two states at rest, for unit distance and duration
_MINIMUM_JERK = 10.0 / sqrt(3.0)
#: number of doublings of the remaining time tried, and relative precision of the least one
_DOUBLINGS, _PRECISION = 40, 1e-3
#: bound of the segments of a detour, relative to that of other plans: they begin or end amid a reach, where training
#: motions have no ends
_DETOUR = 2.5


def distance_bound(planner: PlannerModel, detour: bool) -> float:
    """Return the Mahalanobis distance beyond which a plan, or a segment of a detour, is far from the training data."""
    return planner.max_distance_ratio * planner._training.span * (_DETOUR if detour else 1.0)


def warn(
    planner: PlannerModel, distance: float | None, far: bool, what: str = "the plan", detour: bool = False
) -> None:
    """Warn of a motion far beyond the training data, by its scores or by its travel.

    The texts are the same for all plans of a planner, so that Python's default filter shows them once for each line of
    code that plans, and not in every turn of a loop.

    Parameters
    ----------
    planner : PlannerModel
        Its planner.
    distance : float or None
        Mahalanobis distance of its scores, if it has some.
    far : bool
        Whether its travel exceeds the limits.
    what : str
        Its name.
    detour : bool
        True for scores of the segments of a path through via points.
    """
    training, fpca, reasons, most = planner._training, planner.fpca, [], distance_bound(planner, detour)
    if distance is not None and distance > most:
        remedies = ['mode="map"'] if planner.mode != "map" else []
        remedies += ["shrinkage"] if fpca.shrinkage_ == 0.0 else []
        reasons.append(
            f"{what} is more than {most:.3g} standard deviations (Mahalanobis distance) from the mean of the "
            f"components, training data span {training.span:.3g}: it may be useless. Check the end states and the "
            "duration" + (f", or use {' or '.join([*remedies, 'demonstrations like it'])}" if len(fpca.scores_) else "")
        )
    if far:
        limits = ", ".join(f"{ratio:g}" for ratio in planner.max_travel_ratio)
        reasons.append(
            f"{what} is longer, faster or more accelerated than {limits} times (max_travel_ratio) a minimum-jerk "
            f"motion between the same states, or than {TRAINING_RATIOS[0]:g} times the training motions; its `excess` "
            "tells by how much"
            + (
                f". {training.returning} of {len(fpca.offsets_)} training motions return toward their start: fit the "
                "components to their parts (recordings.split_reaches)"
                if training.returning
                else ". Check the ends and the duration, or use a larger shrinkage or demonstrations like the plan"
            )
        )
    for reason in reasons:
        warnings.warn(reason, ThunderWarning, stacklevel=outer_level())


def excess_of(planner: PlannerModel, path: _core.BezierPath, scene: Scene | None = None) -> tuple[Excess, ...]:
    """Return what of a path exceeds the limits of travel; in a scene minimum jerk avoids the same obstacles."""
    compare, training, name = planner._core.compare_travel, planner._training, "minimum jerk between the same states"
    found = compare(path)
    if found is not None and found[2] and scene is not None:  # perhaps the obstacles make it longer
        among = minimum_jerk_path(planner, path, scene)
        if among.found:
            found, name = compare(path, among.path), "minimum jerk among the same obstacles"
    if found is None:
        return ()
    size, reference, _ = found
    return (
        *excesses(size, reference, training.units, name, planner.max_travel_ratio),
        *excesses(size, training.largest, training.units, "the training motions", TRAINING_RATIOS),
    )


def minimum_jerk_path(planner: PlannerModel, path: _core.BezierPath, scene: Scene) -> ViaPath:
    """Search a minimum-jerk path between the states at the ends of a path among the same obstacles."""
    order = len(planner.constraints)
    ends = [path.sample(t, k) if k < order else None for k in range(3) for t in (path.start, path.end)]
    problem = (path.end - path.start, scene.set, scene.margin, path.start)
    return via_path(planner._quintics.of(scene.via), *ends[:2], *problem, *ends[2:])


class Pace(NamedTuple):
    """Scale of the accelerations of a motion as first planned, before any replanning.

    Attributes
    ----------
    start : (d,) array
        Coordinates at its start.
    duration : float
        [s].
    acceleration : (G,) array
        Peak acceleration of the coordinates of each unit.
    """

    start: Array
    duration: float
    acceleration: Array


def pace_of(planner: PlannerModel, path: _core.BezierPath) -> Pace:
    """Return the pace of a motion."""
    return Pace(path.sample(path.start, 0), path.end - path.start, planner._core.travel(path)[2])


def require_time(
    planner: PlannerModel,
    pace: Pace,
    path: _core.BezierPath,
    resumed: Callable[[float], _core.BezierPath] | None = None,
) -> None:
    """Raise `ThunderError` if a remaining motion accelerates beyond `max_acceleration_ratio`.

    Parameters
    ----------
    planner : PlannerModel
        Planner with the bound.
    pace : Pace
        Pace of the motion as first planned.
    path : BezierPath
        Remaining motion.
    resumed : callable, optional
        Remaining motion for another end time [s], from which the error names the least end time.

    Notes
    -----
    The bound is the ratio times the largest of three accelerations: that of the motion as first planned, that of a
    minimum-jerk motion from its start to the goal in its duration, and that of the training motions in its duration.
    """
    ratio = planner.max_acceleration_ratio
    if (planner._core.travel(path, True)[2] <= ratio * pace.acceleration).all():
        return
    largest = planner._core.travel(path)[2]
    change = path.sample(path.end, 0) - pace.start
    way = np.array([np.linalg.norm(change[group]) for group in planner._training.groups])
    others = np.maximum(_MINIMUM_JERK * way, planner._training.acceleration) / pace.duration**2
    limit = ratio * np.maximum(pace.acceleration, others)
    if (largest <= limit).all():
        return
    now, least = path.start, "later to pass the obstacles"
    if resumed is not None:

        def lack(left: float) -> float:
            return -0.5 if (planner._core.travel(resumed(now + left))[2] <= limit).all() else 0.5

        left = path.end - now
        enough = next((left * 2.0**k for k in range(1, _DOUBLINGS + 1) if lack(left * 2.0**k) < 0.0), None)
        least = "later"
        if enough is not None:
            shortest = bisect(lack, 0.5 * enough, enough, xtol=0.5 * _PRECISION * left, rtol=_PRECISION)
            least = f"at least {now + shortest * (1.0 + 2.0 * _PRECISION):.6g} s for this goal"
    worst = int(np.argmax(largest / limit))
    unit = planner._training.units[worst]
    raise ThunderError(
        f"end_time must be {least}, got {path.end:g} s, which requires {largest[worst]:.3g} {unit}/s^2, more than "
        f"max_acceleration_ratio = {ratio:g} times the acceleration of comparable motions, {limit[worst]:.3g} "
        f"{unit}/s^2"
    )
