"""Bound on the acceleration of replanned motions, which detects a remaining time too short for the remaining way."""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import NamedTuple, NoReturn

import numpy as np

from ... import _core
from ...checks import Array
from ...errors import ThunderError
from ..fpca.fit import unit_groups
from .model import PlannerModel

#: largest acceleration of a minimum-jerk motion between two states at rest, for unit distance and duration
_MINIMUM_JERK = 10.0 / sqrt(3.0)
#: times at which accelerations are compared, as parts of a motion
_GRID = np.linspace(0.0, 1.0, 33)
#: number of doublings of the remaining time tried, and relative precision of the least one
_DOUBLINGS, _PRECISION = 40, 1e-3


class Pace(NamedTuple):
    """Scale of the accelerations of a motion as first planned, before any replanning.

    Attributes
    ----------
    start : (d,) array
        Coordinates at its start.
    duration : float
        [s].
    acceleration : (d,) array
        Largest acceleration of the coordinates of the same unit.
    """

    start: Array
    duration: float
    acceleration: Array


def _largest(path: _core.BezierPath) -> Array:
    start, end = path.start, path.end
    return np.asarray(np.maximum.reduce(np.abs(path.sample(start + (end - start) * _GRID, 2))))


def _shared(planner: PlannerModel, values: Array) -> Array:
    """Return the largest of the values (d,) of coordinates of the same unit."""
    shared = np.empty_like(values)
    for group in unit_groups(planner.fpca.units):
        shared[group] = values[group].max()
    return shared


def pace_of(planner: PlannerModel, path: _core.BezierPath) -> Pace:
    """Return the pace of a motion."""
    return Pace(path.sample(path.start, 0), path.end - path.start, _shared(planner, _largest(path)))


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
    largest = _largest(path)
    if (largest <= ratio * pace.acceleration).all():
        return
    way = np.abs(path.sample(path.end, 0) - pace.start)
    others = np.maximum(_MINIMUM_JERK * way, planner.training_acceleration) / pace.duration**2
    limit = ratio * np.maximum(pace.acceleration, _shared(planner, others))
    if not (largest <= limit).all():
        _refuse(planner, path, largest, limit, resumed)


def _refuse(
    planner: PlannerModel,
    path: _core.BezierPath,
    largest: Array,
    limit: Array,
    resumed: Callable[[float], _core.BezierPath] | None,
) -> NoReturn:
    least = None if resumed is None else _least_end(path, limit, resumed)
    bound = "later to pass the obstacles" if resumed is None else "later"
    bound = bound if least is None else f"at least {least:.6g} s for this goal"
    worst = int(np.argmax(largest / limit))
    raise ThunderError(
        f"end_time must be {bound}, got {path.end:g} s, which requires {largest[worst]:.3g} "
        f"{planner.fpca.units[worst]}/s^2, more than max_acceleration_ratio = {planner.max_acceleration_ratio:g} times "
        f"the acceleration of comparable motions, {limit[worst]:.3g} {planner.fpca.units[worst]}/s^2"
    )


def _least_end(path: _core.BezierPath, limit: Array, resumed: Callable[[float], _core.BezierPath]) -> float | None:
    """Return the least end time [s] within the limit by bisection; None if there is none."""
    now, short = path.start, path.end - path.start
    for _ in range(_DOUBLINGS):
        enough = 2.0 * short
        if (_largest(resumed(now + enough)) <= limit).all():
            break
        short = enough
    else:
        return None
    while enough - short > _PRECISION * enough:
        middle = 0.5 * (short + enough)
        if (_largest(resumed(now + middle)) <= limit).all():
            enough = middle
        else:
            short = middle
    return now + enough * (1.0 + _PRECISION)
