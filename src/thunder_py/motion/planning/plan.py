"""Planned motions: references that know where they came from."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from ... import _core
from ...checks import Array, whole
from ...reference import _JointSource, _TaskSource
from .model import PlannerModel, Stretch, scores_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


__all__ = ["HumanLikeJointPlan", "HumanLikePlan", "PlanDetails", "make_plan"]

_NO_POINTS = np.empty((0, 3))
_NO_TIMES = np.empty(0)
for _shared in (_NO_POINTS, _NO_TIMES):
    _shared.setflags(write=False)


class PlanDetails(NamedTuple):
    """What a plan is asked about besides its path.

    Attributes
    ----------
    stretch : Stretch or None
        Of the last segment; None where it is no motion of components between two states.
    condition : float
        Of the linear system.
    fallback : str or None
        ``"hermite"`` where a polynomial took the place of badly conditioned components; ``"plan"`` where a motion with
        via points was planned anew instead of continued.
    via_points : (k, 3) array
        Positions passed on the way [m].
    via_times : (k,) array
        When [s].
    clearance : float or None
        Least distance to an obstacle, proved [m]; None without obstacles.
    clearance_time : float or None
        When it is met [s].
    candidates : int
        Via points that were looked at.
    scores : array or None
        Of the components, where they are known.
    """

    stretch: Stretch | None = None
    condition: float = float("nan")
    fallback: str | None = None
    via_points: Array = _NO_POINTS
    via_times: Array = _NO_TIMES
    clearance: float | None = None
    clearance_time: float | None = None
    candidates: int = 0
    scores: Array | None = None


class _Plan:
    """What plans of poses and of joints have in common."""

    path: _core.BezierPath
    _planner: PlannerModel
    _details: PlanDetails

    @property
    def dofs(self) -> tuple[str, ...]:
        """Names of the coordinates."""
        return self._planner.dofs

    @property
    def start_time(self) -> float:
        """When it begins [s]."""
        return float(self.path.start)

    @property
    def end_time(self) -> float:
        """When it ends [s]."""
        return float(self.path.end)

    @property
    def duration(self) -> float:
        """How long it takes [s]."""
        return float(self.path.end - self.path.start)

    @property
    def condition(self) -> float:
        """Condition number of the linear system that was solved, rows and columns equilibrated."""
        return self._details.condition

    @property
    def fallback(self) -> str | None:
        """What was used in place of continued components: None, ``"hermite"`` or ``"plan"``."""
        return self._details.fallback

    @property
    def via_points(self) -> Array:
        """Positions passed on the way, (k, 3) [m]."""
        return self._details.via_points

    @property
    def via_times(self) -> Array:
        """When they are passed, (k,) [s]."""
        return self._details.via_times

    @property
    def clearance(self) -> float | None:
        """Proved lower bound of the distance to the obstacles [m], within 1e-9 m of it; None without obstacles."""
        return self._details.clearance

    @property
    def clearance_time(self) -> float | None:
        """When that is [s]."""
        return self._details.clearance_time

    def position(self, t: npt.ArrayLike, derivative: int = 0) -> Array:
        """Coordinates or one of their derivatives with respect to time.

        Parameters
        ----------
        t : array_like, shape (...)
            Time [s], on the clock of `start_time`. Before and after, the motion stands where it begins and ends.
        derivative : int
            0 the coordinates, 1 their velocities, 2, 3 (jerk), ... Of rotation vectors these are derivatives of
            coordinates and no angular velocities; for those call the plan.

        Returns
        -------
        (..., d) array
            [m or rad, per s^derivative].
        """
        return np.asarray(self.path.sample(t, whole(derivative, "derivative", 0)))

    def mean_jerk(self, samples: int = 1000) -> float:
        """Return the mean over time of the norm of the jerk of the position, or of all joints [m/s^3 or rad/s^3].

        It goes with the inverse third power of the duration: 23.09 D / T^3 for a minimum-jerk reach over a distance D.

        Parameters
        ----------
        samples : int
            At the middles of so many equal parts of the duration.
        """
        n = whole(samples, "samples", 1)
        t = self.start_time + self.duration * (np.arange(n) + 0.5) / n
        jerk = self.position(t, 3)
        part = jerk if isinstance(self, HumanLikeJointPlan) else jerk[:, :3]
        return float(np.linalg.norm(part, axis=1).mean())

    @cached_property
    def scores(self) -> Array | None:
        """Scores alpha of the last segment's components, (n, d), joint (n,); None for a polynomial without any."""
        details = self._details
        if details.scores is not None or details.stretch is None:
            return details.scores
        return scores_of(self._planner, self.path, details.stretch)


class HumanLikePlan(_Plan, _TaskSource, _core.RotationVectorPath):
    """A planned motion in task space, which controllers and `simulate` follow as any reference.

    Made by `HumanLikePlanner`. ``plan(t)`` is the `TaskReference` at a time or at times.
    """

    def __init__(self, path: _core.BezierPath, R: npt.ArrayLike, planner: PlannerModel, details: PlanDetails) -> None:
        super().__init__(path, R)
        self._planner, self._details = planner, details

    def plot(self, duration: float | None = None, *, axes: Mapping[str, Axes] | None = None) -> dict[str, Axes]:
        """Draw the path in space, coordinates and speed over time; start blue, goal red, via points black.

        Parameters
        ----------
        duration : float, optional
            From the start on [s]; default the plan's own.
        axes : mapping of str to Axes, optional
            To draw on: ``"path"`` (three-dimensional), ``"position"``, ``"speed"`` and, for poses, ``"rotation"``;
            default a new figure. What is not in the mapping is not drawn.

        Returns
        -------
        dict of str to Axes
            One per panel.
        """
        from .plot import plot_human_like_plan

        return plot_human_like_plan(self, duration, axes=axes)


class HumanLikeJointPlan(_Plan, _JointSource, _core.JointBezierPath):
    """A planned motion of joints, which controllers and `simulate` follow as any reference.

    Made by `HumanLikePlanner` from components of joints. ``plan(t)`` is the `JointReference` at a time or at times.
    """

    def __init__(self, path: _core.BezierPath, planner: PlannerModel, details: PlanDetails) -> None:
        super().__init__(path)
        self._planner, self._details = planner, details


def make_plan(
    path: _core.BezierPath, R: Array | None, planner: PlannerModel, details: PlanDetails
) -> HumanLikePlan | HumanLikeJointPlan:
    """Return a path as a plan: of joints where there is no rotation `R`, else in task space."""
    if R is None:
        return HumanLikeJointPlan(path, planner, details)
    return HumanLikePlan(path, R, planner, details)
