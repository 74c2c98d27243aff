"""What the potential-field planner leaves behind, and the way from there to a trajectory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from ..checks import Array, array
from .joint import JointTrajectory, spline
from .timing import positive_duration

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .potential_field import PotentialField

__all__ = ["Plan", "PlanStatus"]

PlanStatus = Literal["reached", "local_minimum", "max_iterations"]


@dataclass(frozen=True, eq=False)
class Plan:
    """A path in joint space, and how it ended.

    Attributes
    ----------
    field : PotentialField
        What was planned in.
    status : {"reached", "local_minimum", "max_iterations"}
        ``"local_minimum"`` after the last walk that was allowed.
    path : (k, n) array
        From the start; to the goal, if it was reached.
    iterations, walks : int
        Steps down, random walks.
    margin : float
        Clearance that was asked for [m].
    """

    field: PotentialField
    status: str
    path: Array
    iterations: int
    walks: int
    margin: float = 0.0

    @property
    def reached(self) -> bool:
        """Whether the path ends at the goal."""
        return self.status == "reached"

    @property
    def clearance(self) -> Array:
        """Distance between arm and obstacles along the path, (k,) [m]."""
        return self.field.clearance(self.path)

    def shortened(self) -> Array:
        """Return the points of the path that are left when detours are cut where the straight motion is free."""
        kept, at = [0], 0
        while at < len(self.path) - 1:
            further = len(self.path) - 1
            while further > at + 1 and not self.field.is_free(self.path[at], self.path[further], margin=self.margin):
                further = at + 1 + (further - at - 1) // 2  # rather a point less than a search through all
            kept.append(further)
            at = further
        return self.path[kept]

    def to_trajectory(
        self, duration: float | None = None, *, v_max: npt.ArrayLike | None = None, shorten: bool = True
    ) -> JointTrajectory:
        """Return a spline from rest to rest along the path.

        It goes through as few points of the shortened path as keep it free: 4 of them, 8, 16, ... Points are passed at
        equal distances in equal times, but for the first and last piece, which take longer.

        Parameters
        ----------
        duration : float, optional
            [s].
        v_max : float or (n,) array_like, optional
            Instead of a duration: the largest speeds [rad/s or m/s], of which one is reached.
        shorten : bool
            Cut detours first.

        Raises
        ------
        ValueError
            If the goal was not reached, if there is a duration and limits or neither, or if even the spline through
            all the points would touch something.
        """
        if not self.reached:
            raise ValueError(f"the goal was not reached ({self.status}): no trajectory leads there")
        if (duration is None) == (v_max is None):
            raise ValueError("to_trajectory needs either a duration or v_max")
        unit = self._smooth(self.shortened() if shorten else self.path)
        if v_max is None:
            T = positive_duration(duration)  # type: ignore[arg-type]
        else:
            n = self.path.shape[1]
            limit = np.full(n, array(v_max, (), "v_max")) if np.ndim(v_max) == 0 else array(v_max, (n,), "v_max")
            if not (limit > 0.0).all():
                raise ValueError(f"v_max must be positive, got {limit.tolist()}")
            T = float((np.abs(unit(np.linspace(0.0, 1.0, 2001)).dq).max(axis=0) / limit).max())
        order = len(unit.coefficients)
        return JointTrajectory(T * unit.breaks, unit.coefficients / T ** np.arange(order - 1, -1, -1)[:, None, None])

    def plot(self, *, axes: Mapping[str, Axes] | None = None) -> dict[str, Axes]:
        """Draw joint positions and the clearance along the path, over the part of its length in joint space.

        Parameters
        ----------
        axes : mapping of str to Axes, optional
            To draw on: ``"q"``, ``"clearance"``; default a new figure. What is not in the mapping is not drawn.

        Returns
        -------
        dict of str to Axes
            One per panel.
        """
        from ..plotting.trajectory import plot_plan

        return plot_plan(self, axes=axes)

    def _smooth(self, points: Array) -> JointTrajectory:
        """Free spline over one second."""
        lengths = np.linalg.norm(np.diff(points, axis=0), axis=1)
        moved = np.concatenate([[True], lengths > 0.0])
        way, corners = np.concatenate([[0.0], np.cumsum(lengths[lengths > 0.0])]), points[moved]
        if len(corners) < 2:
            raise ValueError("start and goal are the same: there is nothing to follow")
        count = 4
        while count <= max(16 * len(corners), 256):
            at = np.linspace(0.0, way[-1], count + 1)
            through = np.stack([np.interp(at, way, column) for column in corners.T], axis=1)
            times = np.concatenate([[0.0], np.arange(count - 1) + 1.5, [count + 1.0]])
            candidate = spline(times / times[-1], through)
            if self._is_free(candidate, 8 * count):
                return candidate
            count *= 2
        raise ValueError("no spline along this path keeps clear of the obstacles: plan with a margin")

    def _is_free(self, candidate: JointTrajectory, pieces: int) -> bool:
        q = candidate(np.linspace(0.0, 1.0, pieces + 1)).q
        return all(self.field.is_free(a, b) for a, b in pairwise(q))
