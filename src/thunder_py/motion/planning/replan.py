"""Replanning of the remaining motion (D4.2, eq. 115), and batches of plans."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...checks import Array, array, whole
from ...errors import ThunderError
from ...table import Tabular
from .limits import distance_bound, excess_of, require_time, warn
from .model import Ends, PlannerModel, Rates, Stretch, distance_of, number, read_state, refuse_rates, scores_in
from .obstacle_plan import plan_with_obstacles
from .obstacles import FREE, PathStatus, Scene, ViaPath
from .plan import HumanLikeJointPlan, HumanLikePlan, PlanDetails, make_plan

if TYPE_CHECKING:
    from ... import _core

    Plan = HumanLikePlan | HumanLikeJointPlan

#: remaining time [s] below which plans are kept even without freezing
_INSTANT = 1e-9


def replan(
    planner: PlannerModel,
    plan: Plan,
    t: float,
    goal: npt.ArrayLike,
    end_time: float | None,
    options: tuple[npt.ArrayLike | None, npt.ArrayLike | None, str | None],
    scene: Scene | None,
) -> Plan:
    """Return the remaining motion from time t on; see `HumanLikePlanner.replan`.

    `options` are velocity and acceleration at the goal and the continuity.
    """
    path, now, end = _times(planner, plan, t, end_time)
    order = _order(planner, options[2])
    if path.end - now <= max(planner.freeze_time, _INSTANT):
        return plan
    R = plan.reference_rotation if isinstance(plan, HumanLikePlan) else None
    refuse_rates(planner, None, options[0], None, options[1])
    to = read_state(planner, goal, options[0], options[1], R, "goal")
    stretch = _clock(planner, plan, now)
    tau = min(stretch.tau + (now - stretch.start) / stretch.duration, 1.0 - 1e-12)
    limits = planner.max_condition_number, planner.max_deviation_ratio

    def resumed(until: float) -> tuple[_core.BezierPath, float, bool, Array]:
        return planner._core.resume(path, now, until, tau, stretch.frame, *to, order, *limits)

    rest, condition, hermite, change = resumed(end)
    pace = plan._pace
    details = PlanDetails(Stretch(now, tau, (end - now) / (1.0 - tau), stretch.frame), condition, pace=pace)
    details = details._replace(fallback="hermite") if hermite else _with_scores(details, planner, plan, now, change)
    if scene is not None:
        if not scene.set.free(rest, scene.margin):
            x, v, a = (path.sample(now, derivative) for derivative in range(3))
            ends = Ends(x, to[0], (v, to[1], a, to[2]), R)
            around = plan_with_obstacles(planner, ends, end - now, scene, now, fallback="plan", pace=pace)
            require_time(planner, pace, around.path)
            distance, detour = around.mahalanobis_distance, around._details.detour
            warn(planner, distance, bool(around.excess), "the replanned motion", detour=detour)
            return around
        _, proved, time, _ = scene.set.clearance(rest)
        details = details._replace(clearance=proved, clearance_time=time)
    require_time(planner, pace, rest, lambda until: resumed(until)[0])
    scene = scene or plan._details.scene
    excess = excess_of(planner, rest, scene) or plan.excess
    result = make_plan(rest, R, planner, details._replace(excess=excess, scene=scene))
    warn(planner, _distance(planner, result), bool(excess), "the replanned motion", detour=details.detour)
    return result


def _distance(planner: PlannerModel, plan: Plan) -> float | None:
    """Return the Mahalanobis distance of a replanned motion, or a bound that decides whether it is too large."""
    before, correction = plan._details.distance, plan._details.correction
    if correction is None:
        return None
    most, added = distance_bound(planner, plan._details.detour), distance_of(planner, correction)
    # the triangle inequality decides most cases without the scores of the motion so far
    return plan.mahalanobis_distance if before is None or added - before <= most < added + before else added


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
class PlannedBatch(Tabular):
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
    exceeds : (N,) array of bool
        Whether path length, peak speed or peak acceleration exceed the limits; see `HumanLikePlan.excess`.

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
    exceeds: npt.NDArray[np.bool_]

    @property
    def found(self) -> npt.NDArray[np.bool_]:
        """Mask (N,) of the motions with a path."""
        return np.isin(self.status, FREE)

    def to_columns(self) -> dict[str, Any]:
        """Return what is known of each motion besides its samples, (N,) each."""
        names = ("status", "clearance", "mahalanobis_distance", "widenings", "exceeds")
        return {"duration": self.durations, **{name: getattr(self, name) for name in names}}


def plan_batch(
    planner: PlannerModel,
    places: tuple[npt.ArrayLike, npt.ArrayLike],
    durations: npt.ArrayLike,
    rates: Rates,
    tau: Array,
    derivative: int,
    scene: Scene | None,
    threads: int,
) -> PlannedBatch:
    """Plan and sample many motions; see `HumanLikePlanner.plan_many`."""
    derivative, threads, d = whole(derivative, "derivative", 0), whole(threads, "threads", 0), len(planner.dofs)
    refuse_rates(planner, *rates, names=_NAMES)
    tables: dict[str, Any] = dict(zip(("starts", "goals", *_NAMES), (*places, *rates), strict=True))
    given = {
        name: array(np.zeros(d) if value is None else value, (d,) if np.ndim(value) < 2 else (None, d), name)
        for name, value in tables.items()
    }
    given["durations"] = array(durations, () if np.ndim(durations) == 0 else (None,), "durations")
    axes = {name: value.shape[: value.ndim - (name != "durations")] for name, value in given.items()}
    count = max((shape[0] for shape in axes.values() if shape), default=1)
    for name, shape in axes.items():
        if shape not in ((), (count,)):
            raise ThunderError(f"{name} must have one row or {count}, got {shape[0]}")
    starts, goals, v0, v1, a0, a1, T = (
        np.ascontiguousarray(np.broadcast_to(value, (count,) if name == "durations" else (count, d)))
        for name, value in given.items()
    )
    if scene is None:
        x, sizes, far = planner._core.plan_many(starts, goals, T, v0, v1, a0, a1, tau, derivative)
        straight, no_obstacles = np.full(count, PathStatus.direct.value), np.full(count, np.inf)
        batch = PlannedBatch(tau, x, T, straight, no_obstacles, sizes, np.zeros(count, dtype=np.intp), far)
    else:
        a, b = np.stack([starts, v0, a0], axis=1), np.stack([goals, v1, a1], axis=1)
        batch = _avoiding(planner, a, b, T, tau, derivative, scene, threads)
    for detour in (False, True):
        alike = (batch.status == PathStatus.via) == detour
        farthest = float(np.fmax.reduce(batch.mahalanobis_distance[alike], initial=0.0))
        warn(planner, farthest, bool(batch.exceeds[alike].any()), "the farthest plan", detour=detour)
    return batch


def _avoiding(
    planner: PlannerModel,
    a: Array,
    b: Array,
    T: Array,
    tau: Array,
    derivative: int,
    scene: Scene,
    threads: int,
) -> PlannedBatch:
    count = len(T)
    x, (clearance, distance) = np.full((count, len(tau), a.shape[2]), np.nan), np.full((2, count), np.nan)
    status = np.array([PathStatus.none] * count, dtype=np.object_)  # np.full would make plain texts
    widenings, far, left = np.zeros(count, dtype=np.intp), np.zeros(count, dtype=bool), np.arange(count)
    for attempt in range(scene.via.widenings + 1):
        scene = scene if attempt == 0 else scene._replace(via=scene.via.wider())
        widenings[left] = attempt
        results = planner._searches.of(scene.via).plan_many(
            a[left], b[left], np.zeros(len(left)), T[left], [scene.set], scene.margin, threads
        )
        for k, result in zip(left, map(ViaPath.of, results), strict=True):
            status[k] = result.status
            if result.found:
                x[k], clearance[k] = result.path.sample(tau * T[k], derivative), result.clearance.lower_bound
                distance[k] = planner._core.score_distance(result.path, result.times)
                far[k] = bool(excess_of(planner, result.path, scene))
        left = left[status[left] == PathStatus.none]
        if not len(left):
            break
    return PlannedBatch(tau, x, T, status, clearance, distance, widenings, far)
