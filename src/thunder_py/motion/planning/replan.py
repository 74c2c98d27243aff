"""Replanning of the remaining motion (D4.2, eq. 115), and batches of plans."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...checks import Array, array, whole
from ...errors import ThunderError
from .model import Ends, PlannerModel, Rates, Stretch, goal_state, number
from .obstacle_plan import core_search, plan_with_obstacles
from .obstacles import FREE, obstacle_set
from .plan import HumanLikeJointPlan, HumanLikePlan, PlanDetails, make_plan

if TYPE_CHECKING:
    from ... import _core
    from .obstacles import Obstacles, ViaSearch

    Plan = HumanLikePlan | HumanLikeJointPlan
    Avoidance = tuple[Obstacles, float, ViaSearch | None]

__all__ = ["PlannedBatch", "plan_batch", "replan"]

#: remaining time [s] below which plans are kept even without freezing
_INSTANT = 1e-9


def replan(
    planner: PlannerModel,
    plan: Plan,
    t: float,
    goal: npt.ArrayLike,
    end_time: float | None,
    options: tuple[npt.ArrayLike | None, npt.ArrayLike | None, str | None],
    avoidance: Avoidance,
) -> Plan:
    """Return the remaining motion from time t on; see `HumanLikePlanner.replan`.

    `options` are velocity and acceleration at the goal and the continuity; `avoidance` obstacles, margin, search.
    """
    path, now, end = _times(planner, plan, t, end_time)
    order = _order(planner, options[2])
    if path.end - now <= max(planner.freeze_time, _INSTANT):
        return plan
    R = plan.reference_rotation if isinstance(plan, HumanLikePlan) else None
    to = goal_state(planner, goal, options[0], options[1], R)
    stretch = plan._details.stretch
    if stretch is None or now < stretch.start:
        return _new_motion(planner, path, now, end, to, R, avoidance)
    tau = min(stretch.tau + (now - stretch.start) / stretch.duration, 1.0 - 1e-12)
    origin = _origin(planner, path, stretch)
    rest, condition, hermite = planner._core.resume(
        path, now, end, tau, origin, *to, order, planner.max_condition_number
    )
    place = None if hermite else Stretch(now, tau, (end - now) / (1.0 - tau), order, origin)
    details = PlanDetails(place, condition, "hermite" if hermite else None)
    if avoidance[0]:
        obstacles = obstacle_set(avoidance[0])
        if not obstacles.free(rest, avoidance[1]):
            return _new_motion(planner, path, now, end, to, R, avoidance)
        _, proved, time, _ = obstacles.clearance(rest)
        details = details._replace(clearance=proved, clearance_time=time)
    return make_plan(rest, R, planner, details)


def _origin(planner: PlannerModel, path: _core.BezierPath, stretch: Stretch) -> Array | None:
    """Return the start of the whole motion for aligned models."""
    if stretch.origin is not None or planner.fpca.alignment != "path":
        return stretch.origin
    origin: Array = path.sample(stretch.start, 0)
    origin.setflags(write=False)
    return origin


def _times(
    planner: PlannerModel, plan: Plan, t: float, end_time: float | None
) -> tuple[_core.BezierPath, float, float]:
    """Return the path of the plan, the current time and the end time."""
    if not isinstance(plan, (HumanLikePlan, HumanLikeJointPlan)) or plan.dofs != planner.dofs:
        raise ThunderError(f"plan must be a plan of {', '.join(planner.dofs)}, got {plan!r}")
    path, now = plan.path, number(t, "t")
    last = path.end
    if not path.start <= now <= last:
        raise ThunderError(f"t must lie within the plan, {path.start:g} to {last:g} s, got {now:g}")
    if end_time is None:
        return path, now, last
    end = number(end_time, "end_time")
    if not end > now:
        raise ThunderError(f"end_time must come after t = {now:g} s, got {end:g}")
    return path, now, end


def _order(planner: PlannerModel, continuity: str | None) -> int:
    most = len(planner.constraints)
    if most < 2:
        raise ThunderError("constraints of the planner must include position and velocity for replan")
    if continuity is None:
        return most if planner.mode == "map" else 2
    if continuity not in ("velocity", "acceleration"):
        raise ThunderError(f'continuity must be "velocity" or "acceleration", got {continuity!r}')
    order = 2 if continuity == "velocity" else 3
    if order > most:
        raise ThunderError('constraints of the planner must include acceleration for continuity="acceleration"')
    return order


def _new_motion(
    planner: PlannerModel,
    path: _core.BezierPath,
    now: float,
    end: float,
    to: tuple[npt.ArrayLike, npt.ArrayLike | None, npt.ArrayLike | None],
    R: Array | None,
    avoidance: Avoidance,
) -> Plan:
    """Return a new motion from the current state of the plan."""
    x, v, a = (path.sample(now, derivative) for derivative in range(3))
    ends = Ends(x, to[0], v, to[1], a, to[2], R)
    if avoidance[0]:
        return plan_with_obstacles(planner, ends, end - now, *avoidance, now, fallback="plan")
    rest = planner._core.plan(ends.start, ends.goal, end - now, now, *ends.rates)
    stretch = Stretch(now, 0.0, end - now, len(planner.constraints))
    return make_plan(rest, R, planner, PlanDetails(stretch, planner.condition_number, "plan"))


_NAMES = ("start_velocities", "goal_velocities", "start_accelerations", "goal_accelerations")


@dataclass(frozen=True, eq=False)
class PlannedBatch:
    """Samples of N planned motions; `HumanLikePlanner.plan_many` returns them.

    Attributes
    ----------
    tau : (k,) array
        Normalized times of the samples.
    x : (N, k, d) array
        Coordinates or the requested derivative with respect to real time; NaN for motions without path.
    durations : (N,) array
        [s].
    status : (N,) array of str
        Values of `PathStatus`.
    clearance : (N,) array
        Proved distance to the obstacles [m]; infinite without obstacles, NaN for motions without path.

    Examples
    --------
    >>> from thunder_py.motion import FPCA, HumanLikePlanner
    >>> from thunder_py.recordings.synthetic import minimum_jerk_reaches
    >>> planner = HumanLikePlanner(FPCA(shrinkage=0.1).fit(minimum_jerk_reaches(20, seed=1)))
    >>> batch = planner.plan_many([[0.0, 0.0, 0.0], [0.1, 0.0, 0.0]], [0.3, 0.0, 0.1], 1.0, n=11)
    >>> batch.x.shape, batch.found.tolist()
    ((2, 11, 3), [True, True])
    """

    tau: Array
    x: Array
    durations: Array
    status: npt.NDArray[np.str_]
    clearance: Array

    @property
    def found(self) -> npt.NDArray[np.bool_]:
        """Mask (N,) of the motions with a path."""
        return np.isin(self.status, FREE)


def _table(value: npt.ArrayLike | None, count: int, d: int, what: str) -> Array:
    """Return one row per problem, repeating a single row; None is zero."""
    if value is None:
        return np.zeros((count, d))
    rows = array(value, (d,) if np.ndim(value) == 1 else (None, d), what)
    if rows.ndim == 2 and len(rows) != count:
        raise ThunderError(f"{what} must have shape ({count}, {d}), got {rows.shape}")
    return np.ascontiguousarray(np.broadcast_to(rows, (count, d)))


def _count(*values: npt.ArrayLike) -> int:
    """Return the number of problems, the largest length of the arguments with one row per problem."""
    lengths = [len(value) for value, axes in zip(map(np.asarray, values), (2, 2, 1), strict=True) if value.ndim == axes]
    return max(lengths, default=1)


def plan_batch(
    planner: PlannerModel,
    places: tuple[npt.ArrayLike, npt.ArrayLike],
    durations: npt.ArrayLike,
    rates: Rates,
    tau: Array,
    derivative: int,
    avoidance: tuple[Any, float, Any, int],
) -> PlannedBatch:
    """Plan and sample many motions; see `HumanLikePlanner.plan_many`."""
    derivative = whole(derivative, "derivative", 0)
    d, count = len(planner.dofs), _count(*places, durations)
    order = len(planner.constraints)
    for name, value, needed in zip(_NAMES, rates, (2, 2, 3, 3), strict=True):
        if value is not None and order < needed:
            have = ", ".join(planner.constraints)
            raise ThunderError(f"{name} must be None for a planner with constraints on {have} only")
    T = array(durations, () if np.ndim(durations) == 0 else (count,), "durations")
    T = np.ascontiguousarray(np.broadcast_to(T, (count,)))
    starts, goals = _table(places[0], count, d, "starts"), _table(places[1], count, d, "goals")
    v0, v1, a0, a1 = (_table(value, count, d, name) for name, value in zip(_NAMES, rates, strict=True))
    if avoidance[0]:
        a, b = np.stack([starts, v0, a0], axis=1), np.stack([goals, v1, a1], axis=1)
        return _avoiding(planner, a, b, T, tau, derivative, avoidance)
    x = planner._core.plan_many(starts, goals, T, v0, v1, a0, a1, tau, derivative)
    return PlannedBatch(tau, x, T, np.full(count, "direct"), np.full(count, np.inf))


def _avoiding(
    planner: PlannerModel,
    a: Array,
    b: Array,
    T: Array,
    tau: Array,
    derivative: int,
    avoidance: tuple[Any, float, Any, int],
) -> PlannedBatch:
    obstacles, margin, via, threads = avoidance
    search = core_search(planner, via)
    results = search.plan_many(
        a, b, np.zeros(len(T)), T, [obstacle_set(obstacles)], margin, whole(threads, "threads", 0)
    )
    x = np.full((len(T), len(tau), a.shape[2]), np.nan)
    clearance = np.full(len(T), np.nan)
    status = np.array([str(result[0]) for result in results])
    for k, result in enumerate(results):
        if status[k] in FREE:
            x[k], clearance[k] = result[1].sample(tau * T[k], derivative), result[4][1]
    return PlannedBatch(tau, x, T, status, clearance)
