"""Plans that avoid obstacles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import ThunderError
from .model import Ends, PlannerModel, Stretch
from .obstacles import FREE, Clearance, Obstacles, PathStatus, ViaPath, ViaSearch, obstacle_set
from .plan import HumanLikeJointPlan, HumanLikePlan, PlanDetails, make_plan

if TYPE_CHECKING:
    from ... import _core

__all__ = ["core_search", "plan_with_obstacles"]


def core_search(planner: PlannerModel, via: ViaSearch | None) -> _core.ViaSearch:
    """Return the planner's search with these settings, or raise `ThunderError` for components of joints."""
    if planner.kind == "joints":
        raise ThunderError("obstacles must be empty for components of joints, since they need positions x, y, z")
    return planner._searches.of(via)


def plan_with_obstacles(
    planner: PlannerModel,
    ends: Ends,
    duration: float,
    obstacles: Obstacles,
    margin: float,
    via: ViaSearch | None,
    start_time: float,
    fallback: str | None = None,
) -> HumanLikePlan | HumanLikeJointPlan:
    """Return a plan that provably keeps the margin, or raise `NoPathError`."""
    status, path, times, states, clearance, evaluated, blocking = core_search(planner, via).plan(
        ends.start, ends.goal, duration, obstacle_set(obstacles), margin, start_time, *ends.rates
    )
    if status not in FREE:
        ViaPath(PathStatus(status), path, times, states, Clearance(*clearance), evaluated, blocking).require(
            obstacles, margin
        )
    begins, points = start_time, states[:, 0, :3]
    if evaluated:
        begins = float(times[-1])
        points.setflags(write=False)
        times.setflags(write=False)
    details = PlanDetails(
        Stretch(begins, 0.0, path.end - begins, len(planner.constraints)),
        planner.condition_number,
        fallback,
        points,
        times,
        clearance[1],
        clearance[2],
        evaluated,
    )
    return make_plan(path, ends.R, planner, details)
