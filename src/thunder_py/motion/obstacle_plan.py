"""Plans that keep clear of obstacles."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from ..errors import ThunderError
from .obstacles import Clearance, Obstacles, obstacle_set
from .plan import HumanLikeJointPlan, HumanLikePlan, PlanDetails, Stretch
from .planner_states import Ends
from .via_search import FREE, ViaPath, ViaSearch

if TYPE_CHECKING:
    from .. import _core
    from .planner import HumanLikePlanner

__all__ = ["Searches", "core_search", "plan_around"]


class Searches:
    """The searches of one planner, made when they are asked for, for each thread its own; the last few are kept.

    Parameters
    ----------
    planner : _core.FunctionalPlanner
        Whose paths they look at.
    usual : ViaSearch
        Settings where none are given.
    """

    _KEPT = 8  # candidates of each may take megabytes

    def __init__(self, planner: _core.FunctionalPlanner, usual: ViaSearch) -> None:
        self._planner, self._usual = planner, usual
        self._made: dict[tuple[int, ViaSearch], _core.ViaSearch] = {}
        self._last: tuple[int, ViaSearch | None, _core.ViaSearch | None] = (0, None, None)

    def of(self, via: ViaSearch | None) -> _core.ViaSearch:
        """Return the search with these settings."""
        settings = self._usual if via is None else via
        thread = threading.get_ident()
        owner, last, search = self._last
        if owner == thread and last is settings and search is not None:
            return search
        if not isinstance(settings, ViaSearch):
            raise ThunderError(f"via must be a ViaSearch, got {type(settings).__name__}")
        search = self._made.pop((thread, settings), None) or settings.core(self._planner)
        self._made[thread, settings] = search
        if len(self._made) > self._KEPT:
            self._made.pop(next(iter(self._made)), None)
        self._last = thread, settings, search
        return search


def core_search(planner: HumanLikePlanner, via: ViaSearch | None) -> _core.ViaSearch:
    """Return the planner's search with these settings, or raise `ThunderError` where it has none."""
    if planner.kind == "joints":
        raise ThunderError("obstacles need components of positions x, y, z; these are of joints")
    return planner._searches.of(via)


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
    status, path, times, states, clearance, evaluated, blocking = core_search(planner, via).plan(
        ends.start, ends.goal, duration, obstacle_set(obstacles), margin, start_time, *ends.rates
    )
    if status not in FREE:
        ViaPath(status, path, times, states, Clearance(*clearance), evaluated, blocking).require(obstacles, margin)
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
    return planner._made(path, ends.R, details)
