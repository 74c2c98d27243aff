"""Replanning of the remaining motion (D4.2, eq. 115), and batches of plans."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...checks import Array, array, whole
from ...errors import ThunderError
from .model import (
    Ends,
    PlannerModel,
    Rates,
    Stretch,
    distance_bound,
    distance_of,
    goal_state,
    number,
    refuse_rates,
    scores_in,
    warn_beyond,
    warn_travel,
)
from .obstacle_plan import core_search, plan_with_obstacles, segments_distance
from .obstacles import FREE, PathStatus, obstacle_set
from .pace import require_time
from .plan import HumanLikeJointPlan, HumanLikePlan, PlanDetails, make_plan
from .travel import extra_way

if TYPE_CHECKING:
    from ... import _core
    from .obstacles import Obstacles, ViaSearch

    Plan = HumanLikePlan | HumanLikeJointPlan
    Avoidance = tuple[Obstacles, float, ViaSearch | None]

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
    stretch = _clock(planner, plan, now)
    tau = min(stretch.tau + (now - stretch.start) / stretch.duration, 1.0 - 1e-12)
    limits = planner.max_condition_number, planner.max_deviation_ratio

    def resumed(until: float) -> tuple[_core.BezierPath, float, bool, Array]:
        return planner._core.resume(path, now, until, tau, stretch.frame, *to, order, *limits)

    rest, condition, hermite, change = resumed(end)
    pace = plan._pace
    details = PlanDetails(Stretch(now, tau, (end - now) / (1.0 - tau), stretch.frame), condition, pace=pace)
    details = details._replace(fallback="hermite") if hermite else _with_scores(details, planner, plan, now, change)
    if avoidance[0]:
        obstacles = obstacle_set(avoidance[0])
        if not obstacles.free(rest, avoidance[1]):
            x, v, a = (path.sample(now, derivative) for derivative in range(3))
            ends = Ends(x, to[0], (v, to[1], a, to[2]), R)
            around = plan_with_obstacles(planner, ends, end - now, *avoidance, now, fallback="plan", pace=pace)
            require_time(planner, pace, around.path)
            warn_beyond(planner, around.mahalanobis_distance, detour=around._details.detour)
            warn_travel(planner, around._details.far, "the replanned motion")
            return around
        _, proved, time, _ = obstacles.clearance(rest)
        details = details._replace(clearance=proved, clearance_time=time)
    require_time(planner, pace, rest, lambda until: resumed(until)[0])
    # the limits allow for the present speed, which may already be that of a far motion
    far = plan._details.far or planner._core.exceeds_travel(rest)
    result = make_plan(rest, R, planner, details._replace(far=far))
    _warn_beyond(planner, result)
    warn_travel(planner, far, "the replanned motion")
    return result


def _warn_beyond(planner: PlannerModel, plan: Plan) -> None:
    """Warn of a replanned motion far beyond the span of the training data."""
    before, correction, detour = plan._details.distance, plan._details.correction, plan._details.detour
    if correction is None:
        return
    most, added = distance_bound(planner, detour), distance_of(planner, correction)
    # the triangle inequality decides most cases without the scores of the motion so far
    if before is None or added - before <= most < added + before:
        added = plan.mahalanobis_distance or 0.0
    warn_beyond(planner, added, "the replanned motion", detour=detour)


def _clock(planner: PlannerModel, plan: Plan, now: float) -> Stretch:
    """Return the time of the components in which a plan continues: before its last segment, of the whole plan."""
    stretch, path = plan._details.stretch, plan.path
    if now < stretch.start:
        stretch = Stretch(float(path.start), 0.0, float(path.end - path.start))
    if stretch.frame is not None or planner.fpca.alignment_ != "path":
        return stretch
    frame = np.array([path.sample(stretch.start, 0), path.sample(path.end, 0)])
    frame.setflags(write=False)
    return stretch._replace(frame=frame)


def _with_scores(details: PlanDetails, planner: PlannerModel, plan: Plan, now: float, change: Array) -> PlanDetails:
    """Add the scores of the motion so far and of its correction, where the motion has components of the planner."""
    before = plan._details
    if plan._planner is not planner or now < before.stretch.start:
        return details
    added = scores_in(planner, change)
    if before.correction is not None:
        added = added + before.correction
    return details._replace(scores=before.scores, segment=before.segment, correction=added, distance=before.distance)


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
    status : (N,) array of PathStatus
        Outcome of each plan.
    clearance : (N,) array
        Proved distance to the obstacles [m]; infinite without obstacles, NaN for motions without path.
    mahalanobis_distance : (N,) array
        As `HumanLikePlan.mahalanobis_distance`; NaN for motions without path.
    widenings : (N,) array of int
        Number of wider searches tried.

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
    status: npt.NDArray[np.object_]
    clearance: Array
    mahalanobis_distance: Array
    widenings: npt.NDArray[np.intp]

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
    refuse_rates(planner, *rates, names=_NAMES)
    T = array(durations, () if np.ndim(durations) == 0 else (count,), "durations")
    T = np.ascontiguousarray(np.broadcast_to(T, (count,)))
    starts, goals = _table(places[0], count, d, "starts"), _table(places[1], count, d, "goals")
    v0, v1, a0, a1 = (_table(value, count, d, name) for name, value in zip(_NAMES, rates, strict=True))
    if avoidance[0]:
        a, b = np.stack([starts, v0, a0], axis=1), np.stack([goals, v1, a1], axis=1)
        batch = _avoiding(planner, a, b, T, tau, derivative, avoidance)
    else:
        x, sizes, far = planner._core.plan_many(starts, goals, T, v0, v1, a0, a1, tau, derivative)
        straight, no_obstacles = np.full(count, PathStatus.direct.value), np.full(count, np.inf)
        batch = PlannedBatch(tau, x, T, straight, no_obstacles, sizes, np.zeros(count, dtype=np.intp))
        warn_travel(planner, far, "a plan")
    for detour in (False, True):
        sizes = batch.mahalanobis_distance[(batch.status == PathStatus.via) == detour]
        warn_beyond(planner, float(np.fmax.reduce(sizes, initial=0.0)), "the farthest plan", detour=detour)
    return batch


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
    count, settings = whole(threads, "threads", 0), planner._searches.settings(via)
    x = np.full((len(T), len(tau), a.shape[2]), np.nan)
    clearance, distance = np.full((2, len(T)), np.nan)
    status = np.array([PathStatus.none] * len(T), dtype=np.object_)  # np.full would make plain texts
    widenings = np.zeros(len(T), dtype=np.intp)
    left, far = np.arange(len(T)), False
    for attempt in range(settings.widenings + 1):
        search = core_search(planner, via if attempt == 0 else settings)
        widenings[left] = attempt
        results = search.plan_many(
            a[left], b[left], np.zeros(len(left)), T[left], [obstacle_set(obstacles)], margin, count
        )
        for k, result in zip(left, results, strict=True):
            status[k] = PathStatus(result[0])
            if status[k] in FREE:
                x[k], clearance[k] = result[1].sample(tau * T[k], derivative), result[4][1]
                distance[k] = segments_distance(planner, result[1], result[2])
                far = far or planner._core.exceeds_travel(result[1], extra_way(result[1], result[3][:, 0, :3]))
        left = left[status[left] == PathStatus.none]
        settings = settings.wider()
        if not len(left):
            break
    warn_travel(planner, far, "a plan")
    return PlannedBatch(tau, x, T, status, clearance, distance, widenings)
