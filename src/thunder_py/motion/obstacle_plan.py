"""Plans that keep clear of obstacles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..checks import array
from ..errors import ThunderError
from .obstacles import obstacle_set
from .plan import HumanLikeJointPlan, HumanLikePlan, PlanDetails, Stretch
from .planner_states import Ends
from .via_search import ViaSearch, via_path

if TYPE_CHECKING:
    from .. import _core
    from .planner import HumanLikePlanner, Obstacles

__all__ = ["core_search", "plan_around"]


def core_search(planner: HumanLikePlanner, via: ViaSearch | None) -> _core.ViaSearch:
    """Return the planner's search with these settings, made once."""
    if planner.kind == "joints":
        raise ThunderError("obstacles need components of positions x, y, z; these are of joints")
    settings = via
    if settings is None:
        settings = ViaSearch.paper() if planner.mode == "paper" else ViaSearch()
    elif not isinstance(settings, ViaSearch):
        raise ThunderError(f"via must be a ViaSearch, got {type(settings).__name__}")
    if settings not in planner._searches:
        planner._searches[settings] = settings.core(planner._core)
    return planner._searches[settings]


def plan_around(
    planner: HumanLikePlanner,
    ends: Ends,
    duration: float,
    obstacles: Obstacles,
    margin: float,
    via: ViaSearch | None,
    start_time: float,
    fallback: str | None = None,
) -> HumanLikePlan | HumanLikeJointPlan:
    """Return a plan that is proved to keep the margin, or raise `NoPathError`."""
    kept = margin if type(margin) is float else float(array(margin, (), "margin"))  # the core looks for NaN
    found = via_path(
        core_search(planner, via),
        ends.start,
        ends.goal,
        duration,
        obstacle_set(obstacles),
        kept,
        start_time=start_time,
        start_velocity=ends.v_start,
        goal_velocity=ends.v_goal,
        start_acceleration=ends.a_start,
        goal_acceleration=ends.a_goal,
    ).require(obstacles, kept)
    begins = float(found.times[-1]) if len(found.times) else start_time
    details = PlanDetails(
        Stretch(begins, 0.0, found.path.end - begins, len(planner.constraints)),
        planner.condition_number,
        fallback,
        found.via_points[:, :3],
        found.times,
        found.clearance.lower_bound,
        found.clearance.time,
        found.evaluated,
    )
    return planner._made(found.path, ends.R, details)
