"""Plans that avoid obstacles."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...checks import Array
from ...errors import ThunderError
from .model import Ends, PlannerModel, Stretch
from .obstacles import FREE, Clearance, Obstacles, PathStatus, ViaPath, ViaSearch, obstacle_set
from .pace import Pace
from .plan import HumanLikeJointPlan, HumanLikePlan, PlanDetails, make_plan
from .travel import extra_way

if TYPE_CHECKING:
    from ... import _core


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
    pace: Pace | None = None,
) -> HumanLikePlan | HumanLikeJointPlan:
    """Return a plan that provably keeps the margin, or raise `NoPathError`."""
    shapes = obstacle_set(obstacles)
    problem = (ends.start, ends.goal, duration, shapes, margin, start_time, *ends.rates)
    status, path, times, states, clearance, evaluated, blocking = core_search(planner, via).plan(*problem)
    settings, widenings = planner._searches.settings(via), 0
    while status == PathStatus.none and widenings < settings.widenings:
        widenings += 1
        via = planner._searches.settings(via).wider()
        status, path, times, states, clearance, more, blocking = core_search(planner, via).plan(*problem)
        evaluated += more
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
        Stretch(begins, 0.0, path.end - begins),
        planner.condition_number,
        fallback,
        points,
        times,
        clearance[1],
        clearance[2],
        evaluated,
        widenings,
        segments_distance(planner, path, times),
        segment=(path, begins),
        pace=pace,
        far=planner._core.exceeds_travel(path, extra_way(path, points)),
    )
    return make_plan(path, ends.R, planner, details)


def segments_distance(planner: PlannerModel, path: _core.BezierPath, times: Array) -> float:
    """Return the largest Mahalanobis distance of the scores of a path's segments between via points at these times."""
    at = [float(path.start), *times.tolist(), float(path.end)]
    # at a time the piece that begins there: accelerations are continuous unless the planner leaves them free
    states = [np.array([path.sample(t, derivative) for derivative in range(3)]) for t in at]
    distances = [planner._core.score_distance(states[k], states[k + 1], at[k + 1] - at[k]) for k in range(len(at) - 1)]
    return max(distances)
