"""Plans that avoid obstacles."""

from __future__ import annotations

from ...checks import finite, of_kind
from ...errors import ThunderError
from .limits import Pace, excess_of
from .model import Ends, PlannerModel, Stretch
from .obstacles import Obstacles, PathStatus, Scene, ViaSearch, as_sequence, obstacle_set, via_path
from .plan import HumanLikeJointPlan, HumanLikePlan, PlanDetails, make_plan


def scene_of(planner: PlannerModel, obstacles: Obstacles, margin: float, via: ViaSearch | None) -> Scene | None:
    """Return the scene of obstacles, None without; `ThunderError` for components of joints."""
    shapes, distance = as_sequence(obstacles), finite(margin, "margin")
    if not shapes:
        return None
    if planner.kind == "joints":
        raise ThunderError("obstacles must be empty for components of joints, since they need positions x, y, z")
    settings = planner._via if via is None else of_kind(via, ViaSearch, "via")
    return Scene(shapes, obstacle_set(shapes), distance, settings)


def plan_with_obstacles(
    planner: PlannerModel,
    ends: Ends,
    duration: float,
    scene: Scene,
    start_time: float,
    fallback: str | None = None,
    pace: Pace | None = None,
) -> HumanLikePlan | HumanLikeJointPlan:
    """Return a plan that provably keeps the margin, or raise `NoPathError`."""
    problem = (ends.start, ends.goal, duration, scene.set, scene.margin, start_time, *ends.rates)
    evaluated, settings = 0, scene.via
    for widenings in range(scene.via.widenings + 1):
        settings = settings if widenings == 0 else settings.wider()
        found = via_path(planner._searches.of(settings), *problem)
        evaluated += found.evaluated
        if found.status != PathStatus.none:
            break
    path = found._replace(evaluated=evaluated).require(scene.obstacles, scene.margin).path
    begins, points = float(found.times[-1]) if len(found.times) else start_time, found.via_points[:, :3]
    for shared in (points, found.times):
        shared.setflags(write=False)
    scene = scene._replace(via=settings)
    details = PlanDetails(
        Stretch(begins, 0.0, path.end - begins),
        planner.condition_number,
        fallback,
        points,
        found.times,
        found.clearance.lower_bound,
        found.clearance.time,
        evaluated,
        widenings,
        planner._core.score_distance(path, found.times),
        segment=(path, begins),
        pace=pace,
        excess=excess_of(planner, path, scene),
        scene=scene,
    )
    return make_plan(path, ends.R, planner, details)
