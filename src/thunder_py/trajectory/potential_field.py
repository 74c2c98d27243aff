"""Planning with an artificial potential: the whole arm goes down it, around convex obstacles."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from .. import _core
from ..checks import Array, array
from ..geometry import Obstacle
from ..robot import Robot
from .joint import JointTrajectory, spline
from .timing import numbers, positive, positive_duration

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Plan", "PlanStatus", "PotentialField"]

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
        from .plot import plot_plan

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


_MOST_INTERIOR = 10_000


class PotentialField(_core.PotentialField):
    """Potential of a whole arm that shall go to `goal` among convex obstacles (Khatib, 1986; lectures 18 and 19).

    The arm is a polyline from the first joint through the origins of the link frames to the end effector, thick by
    `radius` all round. Each origin, and each of the `control_points`, has the energy ``c d^2 / 2`` of its distance d to
    where it is at the goal, which grows in proportion to d beyond `conic_distance`; and for every obstacle nearer than
    the influence rho_0 the energy ``eta (1 / rho - 1 / rho_0)^2 / 2``. Points between origins, `interior_points` of
    them, are repelled only. Turns that move no origin, such as that of a last joint about its own axis, see nothing of
    this, so ``posture |q - goal|^2 / 2`` is added.

    Forces reach the joints by the transpose of the Jacobian of the very point they act on. (Zeroing columns of the end
    effector's, as the lectures suggest, gives other numbers: errata N-7.)

    Parameters
    ----------
    robot : Robot
        The arm; its joint limits are kept.
    goal : (n,) array_like
        Where to go [rad or m].
    obstacles : sequence of Obstacle
        `Sphere`, `Box`, `Capsule`, `HalfSpace`, in world axes.
    attraction : float
        c [N/m].
    conic_distance : float
        [m].
    repulsion : float
        eta [N m^3].
    influence : float
        rho_0 [m].
    posture : float
        [N m/rad^2], zero for none.
    radius : float
        Of the links [m].
    interior_points : int
        Between two neighbouring origins.
    control_points : sequence of (link, offset)
        Further points: link 0 to n, and where in its frame, (3,) [m].

    Raises
    ------
    ValueError
        On anything out of range, and on a goal where the arm touches an obstacle or is beyond its limits.
    """

    def __init__(
        self,
        robot: Robot,
        goal: npt.ArrayLike,
        obstacles: Sequence[Obstacle],
        *,
        attraction: float = 1.0,
        conic_distance: float = 0.2,
        repulsion: float = 1e-4,
        influence: float = 0.15,
        posture: float = 0.1,
        radius: float = 0.0,
        interior_points: int = 2,
        control_points: Sequence[tuple[int, npt.ArrayLike]] = (),
    ) -> None:
        self.robot, self.goal, self.obstacles = robot, array(goal, (robot.n,), "goal"), tuple(obstacles)
        for obstacle in self.obstacles:
            if not isinstance(obstacle, Obstacle):
                raise ValueError(f"obstacles must be Sphere, Box, Capsule or HalfSpace, got {type(obstacle).__name__}")
        for value, name in ((posture, "posture"), (radius, "radius")):
            if numbers(**{name: value})[0] < 0.0:
                raise ValueError(f"{name} must not be negative, got {value:g}")
        if _whole(interior_points, "interior_points", 0) > _MOST_INTERIOR:
            raise ValueError(f"interior_points must be at most {_MOST_INTERIOR}, got {interior_points}")
        for link, _ in control_points:
            if not 0 <= _whole(link, "control_points: link", 0) <= robot.n:
                raise ValueError(f"control_points: link must be 0 to {robot.n}, got {link}")
        offsets = [array(offset, (3,), "control_points: offset") for _, offset in control_points]
        super().__init__(
            robot,
            list(self.obstacles),
            self.goal,
            [link for link, _ in control_points],
            np.array(offsets).reshape(-1, 3),
            positive(attraction, "attraction"),
            conic_distance if conic_distance == math.inf else positive(conic_distance, "conic_distance"),
            positive(repulsion, "repulsion"),
            positive(influence, "influence"),
            float(posture),
            float(radius),
            interior_points,
        )
        self._check_free(self.goal, "goal")

    def potential(self, q: npt.ArrayLike) -> float:
        """Return U(q), infinite where a point touches an obstacle."""
        return self._potential(array(q, (self.robot.n,), "q"))[0]

    def gradient(self, q: npt.ArrayLike) -> Array:
        """Return the gradient of U with respect to q, (n,)."""
        return self._potential(array(q, (self.robot.n,), "q"))[1]

    def clearance(self, q: npt.ArrayLike) -> Array:
        """Return the least distance between arm and obstacles at q (..., n) [m]; negative where they overlap."""
        at = np.asarray(q, dtype=np.float64)
        if at.ndim == 0 or at.shape[-1] != self.robot.n:
            raise ValueError(f"q must have shape (..., {self.robot.n}), got {at.shape}")
        rows = at.reshape(-1, self.robot.n)
        return np.array([self._clearance(row) for row in rows]).reshape(at.shape[:-1])

    def is_free(self, q0: npt.ArrayLike, q1: npt.ArrayLike, *, margin: float = 0.0) -> bool:
        """Tell whether the arm keeps a clearance of more than `margin` [m] all along the straight motion q0 to q1.

        This is no sampling: a motion is free if it is shorter than what clearances at its ends allow, or if both its
        halves are. One that grazes an obstacle may be called not free.
        """
        n = self.robot.n
        return self._free(array(q0, (n,), "q0"), array(q1, (n,), "q1"), numbers(margin=margin)[0])

    def plan(
        self,
        q0: npt.ArrayLike,
        *,
        step: float = 0.05,
        tolerance: float | None = None,
        margin: float = 0.0,
        max_iterations: int = 20000,
        walk_steps: int = 25,
        max_walks: int = 100,
        seed: int = 0,
    ) -> Plan:
        """Go down the potential from q0, and at random where it has a local minimum.

        A step goes along the negative gradient. It is halved until the potential falls and the motion is free. Where no
        step does, or many lead nowhere, it is a local minimum, and the arm walks at random for a while. Nobody promises
        that the goal is found: look at the status.

        Parameters
        ----------
        q0 : (n,) array_like
            Start [rad or m].
        step : float
            Longest step in joint space [rad or m].
        tolerance : float, optional
            Where the goal is this near and the straight way free, it is taken; default `step`.
        margin : float
            Clearance that is kept [m].
        max_iterations : int
            Steps down.
        walk_steps, max_walks : int
            Random steps of the first walk, of which the next ones have two to six times as many before it starts again;
            and walks, none for plain descent.
        seed : int
            Of the walks: the same seed, the same path.

        Raises
        ------
        ValueError
            If the start is not free or beyond limits, and on numbers out of range.
        """
        start = array(q0, (self.robot.n,), "q0")
        keep = numbers(margin=margin)[0]
        if keep < 0.0:
            raise ValueError(f"margin must not be negative, got {keep:g}")
        self._check_free(start, "q0", keep)
        self._check_free(self.goal, "goal", keep)
        longest = positive(step, "step")
        status, path, iterations, walks = self._plan(
            start,
            self.robot.limits.lower,
            self.robot.limits.upper,
            longest,
            longest if tolerance is None else positive(tolerance, "tolerance"),
            keep,
            _whole(max_iterations, "max_iterations", 1),
            _whole(walk_steps, "walk_steps", 1),
            _whole(max_walks, "max_walks", 0),
            _whole(seed, "seed", 0),
        )
        return Plan(self, status, path, iterations, walks, keep)

    def _check_free(self, q: Array, what: str, margin: float = 0.0) -> None:
        limits = self.robot.limits
        if (q < limits.lower).any() or (q > limits.upper).any():
            raise ValueError(f"{what} must be within the joint limits, got {q.tolist()}")
        clearance = float(self.clearance(q))
        if clearance <= margin:
            raise ValueError(f"{what} must keep more than {margin:g} m from obstacles, got {clearance:g} m")


def _whole(value: int, what: str, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise ValueError(f"{what} must be an integer of at least {least}, got {value!r}")
    return int(value)
