"""Replanning of the remaining motion (D4.2, eq. 115)."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from ...checks import Array, finite, one_of
from ...errors import ThunderError
from .limits import distance_bound
from .model import PlannerModel, Stretch, distance_of, scores_in
from .plan import HumanLikeJointPlan, HumanLikePlan, PlanDetails

if TYPE_CHECKING:
    from ... import _core

Plan: TypeAlias = HumanLikePlan | HumanLikeJointPlan

#: remaining time [s] below which plans are kept even without freezing
INSTANT = 1e-9


def distance_of_replanned(planner: PlannerModel, plan: Plan) -> float | None:
    """Return the Mahalanobis distance of a replanned motion, or a bound that decides whether it is too large."""
    before, correction = plan._details.distance, plan._details.correction
    if correction is None:
        return None
    most, added = distance_bound(planner, plan._details.detour), distance_of(planner, correction)
    # the triangle inequality decides most cases without the scores of the motion so far
    return plan.mahalanobis_distance if before is None or added - before <= most < added + before else added


def clock_of(planner: PlannerModel, plan: Plan, now: float) -> Stretch:
    """Return the time of the components in which a plan continues: before its last segment, of the whole plan."""
    stretch, path = plan._details.stretch, plan.path
    if now < stretch.start:
        stretch = Stretch(float(path.start), 0.0, float(path.end - path.start))
    if stretch.frame is not None or planner.fpca.alignment_ != "path":
        return stretch
    frame = np.array([path.sample(stretch.start, 0), path.sample(path.end, 0)])
    frame.setflags(write=False)
    return stretch._replace(frame=frame)


def with_scores(details: PlanDetails, planner: PlannerModel, plan: Plan, now: float, change: Array) -> PlanDetails:
    """Add the scores of the motion so far and of its correction, where the motion has components of the planner."""
    before = plan._details
    if plan._planner is not planner or now < before.stretch.start:
        return details
    added = scores_in(planner, change)
    if before.correction is not None:
        added = added + before.correction
    return details._replace(scores=before.scores, segment=before.segment, correction=added, distance=before.distance)


def times_of(
    planner: PlannerModel, plan: Plan, t: float, end_time: float | None
) -> tuple[_core.BezierPath, float, float]:
    """Return the path of the plan, the current time and the end time."""
    if not isinstance(plan, (HumanLikePlan, HumanLikeJointPlan)) or plan.dofs != planner.dofs:
        raise ThunderError(f"plan must be a plan of {', '.join(planner.dofs)}, got {plan!r}")
    path, now = plan.path, finite(t, "t")
    end = float(path.end) if end_time is None else finite(end_time, "end_time")
    if not path.start <= now <= path.end:
        raise ThunderError(f"t must lie within the plan, {path.start:g} to {path.end:g} s, got {now:g}")
    if end_time is not None and not end > now:
        raise ThunderError(f"end_time must come after t = {now:g} s, got {end:g}")
    return path, now, end


def order_of(planner: PlannerModel, continuity: str | None) -> int:
    """Return the number of quantities that stay continuous; see `HumanLikePlanner.replan`."""
    most, orders = len(planner.constraints), {"velocity": 2, "acceleration": 3}
    default = most if planner.mode == "map" else 2
    order = default if continuity is None else orders[one_of(continuity, orders, "continuity")]
    if not 2 <= order <= most:
        missing = "position and velocity for replan" if most < 2 else 'acceleration for continuity="acceleration"'
        raise ThunderError(f"constraints of the planner must include {missing}")
    return order
