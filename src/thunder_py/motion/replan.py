"""The rest of a motion, planned anew while it runs (D4.2, eq. 115)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy.typing as npt

from ..checks import Array
from ..errors import ThunderError
from .obstacle_plan import plan_around
from .obstacles import obstacle_set
from .plan import HumanLikeJointPlan, HumanLikePlan, PlanDetails, Stretch
from .planner_states import Ends, goal_state, number

if TYPE_CHECKING:
    from .. import _core
    from .obstacles import Obstacles
    from .planner import HumanLikePlanner
    from .via_search import ViaSearch

    Plan = HumanLikePlan | HumanLikeJointPlan
    Around = tuple[Obstacles, float, ViaSearch | None]

__all__ = ["replan"]

#: [s] before the end, where there is nothing left to plan even if nothing is frozen
_INSTANT = 1e-9


def replan(
    planner: HumanLikePlanner,
    plan: Plan,
    t: float,
    goal: npt.ArrayLike,
    end_time: float | None,
    options: tuple[npt.ArrayLike | None, npt.ArrayLike | None, str | None],
    around: Around,
) -> Plan:
    """Return the rest of `plan` from time t on; see `HumanLikePlanner.replan`.

    `options` are velocity and acceleration at the goal and what continues; `around` obstacles, margin, search.
    """
    path, now, end = _times(planner, plan, t, end_time)
    order = _order(planner, options[2])
    if path.end - now <= max(planner.freeze, _INSTANT):
        return plan
    R = plan.reference_rotation if isinstance(plan, HumanLikePlan) else None
    to = goal_state(planner, goal, options[0], options[1], R)
    stretch = plan._details.stretch
    if stretch is None or now < stretch.start:
        return _anew(planner, path, now, end, to, R, around)
    tau = min(stretch.tau + (now - stretch.start) / stretch.duration, 1.0 - 1e-12)
    origin = _origin(planner, path, stretch)
    rest, condition, hermite = planner._core.resume(path, now, end, tau, origin, *to, order, planner.worst_condition)
    place = None if hermite else Stretch(now, tau, (end - now) / (1.0 - tau), order, origin)
    details = PlanDetails(place, condition, "hermite" if hermite else None)
    if around[0]:
        obstacles = obstacle_set(around[0])
        if not obstacles.free(rest, around[1]):
            return _anew(planner, path, now, end, to, R, around)
        _, proved, time, _ = obstacles.clearance(rest)
        details = details._replace(clearance=proved, clearance_time=time)
    return planner._made(rest, R, details)


def _origin(planner: HumanLikePlanner, path: _core.BezierPath, stretch: Stretch) -> Array | None:
    """Return where the whole motion began, which aligned models need to know."""
    if stretch.origin is not None or planner.fpca.alignment != "path":
        return stretch.origin
    origin: Array = path.sample(stretch.start, 0)
    origin.setflags(write=False)
    return origin


def _times(
    planner: HumanLikePlanner, plan: Plan, t: float, end_time: float | None
) -> tuple[_core.BezierPath, float, float]:
    """Path of the plan, now, and when to be there."""
    if not isinstance(plan, (HumanLikePlan, HumanLikeJointPlan)) or plan.dofs != planner.dofs:
        raise ThunderError(f"plan must be one of this planner, of {', '.join(planner.dofs)}")
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
    path: _core.BezierPath,
    now: float,
    end: float,
    to: tuple[npt.ArrayLike, npt.ArrayLike | None, npt.ArrayLike | None],
    R: Array | None,
    around: Around,
) -> Plan:
    """Return a motion of its own from where the plan is now."""
    x, v, a = (path.sample(now, derivative) for derivative in range(3))
    ends = Ends(x, to[0], v, to[1], a, to[2], R)
    if around[0]:
        return plan_around(planner, ends, end - now, *around, now, fallback="plan")
    made = planner._core.plan(ends.start, ends.goal, end - now, now, *ends.rates)
    stretch = Stretch(now, 0.0, end - now, len(planner.constraints))
    return planner._made(made, R, PlanDetails(stretch, planner.condition_number, "plan"))
