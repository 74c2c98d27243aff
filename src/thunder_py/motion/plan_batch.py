"""Many motions planned in one call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..checks import Array, array
from ..errors import ThunderError
from .obstacle_plan import core_search
from .obstacles import obstacle_set
from .planner_states import Rates
from .scalars import whole
from .via_search import FREE

if TYPE_CHECKING:
    from .planner import HumanLikePlanner

__all__ = ["PlannedBatch", "plan_batch"]

_NAMES = ("start_velocities", "goal_velocities", "start_accelerations", "goal_accelerations")


@dataclass(frozen=True, eq=False)
class PlannedBatch:
    """N motions, sampled.

    Attributes
    ----------
    tau : (k,) array
        Normalised times of the samples.
    x : (N, k, d) array
        Coordinates or the derivative asked for, with respect to real time; NaN where there is no path.
    durations : (N,) array
        [s].
    status : (N,) array of str
        ``"direct"``, ``"via"``, ``"none"``, ``"start_blocked"`` or ``"goal_blocked"``.
    clearance : (N,) array
        Proved distance to the obstacles [m]; infinite without, NaN where there is no path.
    """

    tau: Array
    x: Array
    durations: Array
    status: npt.NDArray[np.str_]
    clearance: Array

    @property
    def found(self) -> npt.NDArray[np.bool_]:
        """Where there is a path, (N,)."""
        return np.isin(self.status, FREE)


def _table(value: npt.ArrayLike | None, count: int, d: int, what: str) -> Array:
    """Return rows for every problem, of one row for all too; None is zero."""
    if value is None:
        return np.zeros((count, d))
    given = array(value, (d,) if np.ndim(value) == 1 else (None, d), what)
    if given.ndim == 2 and len(given) != count:
        raise ThunderError(f"{what} must have shape ({count}, {d}), got {given.shape}")
    return np.ascontiguousarray(np.broadcast_to(given, (count, d)))


def _count(*values: npt.ArrayLike) -> int:
    """Return the number of problems: the longest of what is not the same for all."""
    lengths = [len(value) for value, axes in zip(map(np.asarray, values), (2, 2, 1), strict=True) if value.ndim == axes]
    return max(lengths, default=1)


def plan_batch(
    planner: HumanLikePlanner,
    places: tuple[npt.ArrayLike, npt.ArrayLike],
    durations: npt.ArrayLike,
    rates: Rates,
    tau: Array,
    derivative: int,
    around: tuple[Any, float, Any, int],
) -> PlannedBatch:
    """Return what `HumanLikePlanner.plan_many` describes."""
    derivative = whole(derivative, "derivative", 0)
    d, count = len(planner.dofs), _count(*places, durations)
    order = len(planner.constraints)
    for name, value, needed in zip(_NAMES, rates, (2, 2, 3, 3), strict=True):
        if value is not None and order < needed:
            raise ThunderError(f"{name} are no constraints of this planner, which has {', '.join(planner.constraints)}")
    T = array(durations, () if np.ndim(durations) == 0 else (count,), "durations")
    T = np.ascontiguousarray(np.broadcast_to(T, (count,)))
    starts, goals = _table(places[0], count, d, "starts"), _table(places[1], count, d, "goals")
    v0, v1, a0, a1 = (_table(value, count, d, name) for name, value in zip(_NAMES, rates, strict=True))
    if around[0]:
        a, b = np.stack([starts, v0, a0], axis=1), np.stack([goals, v1, a1], axis=1)
        return _around(planner, a, b, T, tau, derivative, around)
    x = planner._core.plan_many(starts, goals, T, v0, v1, a0, a1, tau, derivative)
    return PlannedBatch(tau, x, T, np.full(count, "direct"), np.full(count, np.inf))


def _around(
    planner: HumanLikePlanner,
    a: Array,
    b: Array,
    T: Array,
    tau: Array,
    derivative: int,
    around: tuple[Any, float, Any, int],
) -> PlannedBatch:
    obstacles, margin, via, threads = around
    search = core_search(planner, via)
    found = search.plan_many(a, b, np.zeros(len(T)), T, [obstacle_set(obstacles)], margin, whole(threads, "threads", 0))
    x = np.full((len(T), len(tau), a.shape[2]), np.nan)
    clearance = np.full(len(T), np.nan)
    status = np.array([str(one[0]) for one in found])
    for k, one in enumerate(found):
        if status[k] in FREE:
            x[k], clearance[k] = one[1].sample(tau * T[k], derivative), one[4][1]
    return PlannedBatch(tau, x, T, status, clearance)
