"""The rest of a motion, planned anew while it runs (D4.2, eq. 115)."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

import numpy.typing as npt

from ..checks import Array, array
from ..errors import ThunderError
from .plan import HumanLikeJointPlan, HumanLikePlan, PlanDetails, Stretch
from .planner_states import Ends, goal_state

if TYPE_CHECKING:
    from .. import _core
    from .planner import HumanLikePlanner, Obstacles
    from .via_search import ViaSearch

    Plan = HumanLikePlan | HumanLikeJointPlan

__all__ = ["replan"]


def replan(
    planner: HumanLikePlanner,
    plan: Plan,
    t: float,
    goal: npt.ArrayLike,
    end_time: float | None,
    options: tuple[npt.ArrayLike | None, npt.ArrayLike | None, str | None],
    obstacles: Obstacles,
    margin: float,
    via: ViaSearch | None,
) -> Plan:
    """Return the rest of `plan` from time t on; see `HumanLikePlanner.replan`."""
    now, end = _times(planner, plan, t, end_time)
    order = _order(planner, options[2])
    R = plan.reference_rotation if isinstance(plan, HumanLikePlan) else None
    if plan.path.end - now <= planner.freeze:
        return plan
    to = goal_state(planner, goal, options[0], options[1], R)
    stretch = plan._details.stretch
    if stretch is None or now < stretch.start:
        return _anew(planner, plan, now, end, to, R, obstacles, margin, via)
    tau = min(stretch.tau + (now - stretch.start) / stretch.duration, 1.0 - 1e-12)
    origin = _origin(plan.path, stretch)
    path, condition, hermite = planner._core.resume(
        plan.path, now, end, tau, origin, *to, order, planner.worst_condition
    )
    clearance = None
    if obstacles:
        from .obstacles import obstacle_set

        around = obstacle_set(obstacles)
        if not around.free(path, float(array(margin, (), "margin"))):
            return _anew(planner, plan, now, end, to, R, obstacles, margin, via)
        clearance = around.clearance(path)
    rest = None if hermite else Stretch(now, tau, (end - now) / (1.0 - tau), order, origin)
    details = PlanDetails(rest, condition, "hermite" if hermite else None)
    if clearance is not None:
        details = details._replace(clearance=clearance[1], clearance_time=clearance[2])
    return planner._made(path, R, details)


def _origin(path: _core.BezierPath, stretch: Stretch) -> Array:
    return path.sample(stretch.start, 0) if stretch.origin is None else stretch.origin


def _times(planner: HumanLikePlanner, plan: Plan, t: float, end_time: float | None) -> tuple[float, float]:
    if not isinstance(plan, (HumanLikePlan, HumanLikeJointPlan)) or plan.dofs != planner.dofs:
        raise ThunderError(f"plan must be one of this planner, of {', '.join(planner.dofs)}")
    now = t if type(t) is float and isfinite(t) else float(array(t, (), "t"))
    first, last = plan.path.start, plan.path.end
    if not first <= now <= last:
        raise ThunderError(f"t must lie within the plan, {first:g} to {last:g} s, got {now:g}")
    end = last if end_time is None else float(array(end_time, (), "end_time"))
    if end_time is not None and not end > now:
        raise ThunderError(f"end_time must come after t = {now:g} s, got {end:g}")
    return now, end


def _order(planner: HumanLikePlanner, continuity: str | None) -> int:
    most = len(planner.constraints)
    if most < 2:
        raise ThunderError("replan needs a planner with constraints on position and velocity at least")
    if continuity is None:
        return most if planner.mode == "map" else 2
    if continuity not in ("velocity", "acceleration"):
        raise ThunderError(f'continuity must be "velocity" or "acceleration", got {continuity!r}')
    order = 2 if continuity == "velocity" else 3
    if order > most:
        raise ThunderError("continuity of the acceleration needs a planner with a constraint on it")
    return order


def _anew(
    planner: HumanLikePlanner,
    plan: Plan,
    now: float,
    end: float,
    to: tuple[npt.ArrayLike, npt.ArrayLike | None, npt.ArrayLike | None],
    R: Array | None,
    obstacles: Obstacles,
    margin: float,
    via: ViaSearch | None,
) -> Plan:
    """Return a motion of its own from where the plan is now."""
    x, v, a = (plan.path.sample(now, derivative) for derivative in range(3))
    ends = Ends(x, to[0], v, to[1], a, to[2], R)
    if obstacles:
        from .obstacle_plan import plan_around

        return plan_around(planner, ends, end - now, obstacles, margin, via, now, fallback="plan")
    path = planner._core.plan(ends.start, ends.goal, end - now, now, *ends.rates)
    stretch = Stretch(now, 0.0, end - now, len(planner.constraints))
    return planner._made(path, R, PlanDetails(stretch, planner.condition_number, "plan"))
