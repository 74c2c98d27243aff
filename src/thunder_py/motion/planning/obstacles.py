"""Obstacles in the way of a motion, moving ones too, and clearances that are proofs."""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.interpolate import PPoly

from ... import _core
from ...checks import Array, array, positive, real
from ...errors import NoPathError, ThunderError
from ...geometry import Obstacle
from ...values import Value, set_fields
from ..fpca.splines import bernstein_points

__all__ = [
    "FREE",
    "Clearance",
    "MovingObstacle",
    "Obstacles",
    "ViaPath",
    "ViaSearch",
    "as_sequence",
    "bezier_path",
    "clearance",
    "obstacle_set",
    "via_path",
]


@dataclass(frozen=True, eq=False)
class MovingObstacle(Value):
    """An obstacle that moves at constant velocity and does not turn.

    Attributes
    ----------
    obstacle : Obstacle
        As it stands at time 0.
    velocity : (3,) ndarray
        [m/s].
    """

    obstacle: Obstacle
    velocity: Array

    def __post_init__(self) -> None:
        """Check both."""
        if not isinstance(self.obstacle, Obstacle):
            raise ThunderError(
                f"obstacle must be Sphere, Box, Capsule or HalfSpace, got {type(self.obstacle).__name__}"
            )
        set_fields(self, velocity=array(self.velocity, (3,), "velocity"))

    def distance(self, points: npt.ArrayLike, t: npt.ArrayLike) -> Array:
        """Return signed distances of points (..., 3) at times (...) to the surface [m], negative inside."""
        moved = real(t, "t")[..., None] * self.velocity
        return self.obstacle.distance(real(points, "points") - moved)


#: what planners take
Obstacles: TypeAlias = Sequence[Obstacle | MovingObstacle]


class Clearance(NamedTuple):
    """The least signed distance of a path to obstacles; the true one lies between the first two numbers.

    Attributes
    ----------
    distance : float
        Met at `time` [m]; negative inside an obstacle, infinite without obstacles.
    lower_bound : float
        Proved: the path is nowhere nearer [m].
    time : float
        [s].
    obstacle : int
        Index of the nearest one, -1 without obstacles.
    """

    distance: float
    lower_bound: float
    time: float
    obstacle: int


def as_sequence(obstacles: Obstacles) -> Obstacles:
    """Return obstacles as a sequence, whatever they came in, or raise `ThunderError` on one that came alone."""
    if isinstance(obstacles, (list, tuple)):
        return obstacles
    try:
        return tuple(obstacles)
    except TypeError:
        raise ThunderError(f"obstacles must be a sequence of obstacles, got {type(obstacles).__name__}") from None


def obstacle_set(obstacles: Obstacles) -> _core.ObstacleSet:
    """Return the obstacles sorted out for queries, or raise `ThunderError` on what is none."""
    shapes: list[_core.Obstacle] = []
    moves = False
    for obstacle in obstacles:
        if isinstance(obstacle, Obstacle):
            shapes.append(obstacle)
        elif isinstance(obstacle, MovingObstacle):
            shapes.append(obstacle.obstacle)
            moves = True
        else:
            kinds = "Sphere, Box, Capsule, HalfSpace or MovingObstacle"
            raise ThunderError(f"obstacles must be {kinds}, got {type(obstacle).__name__}")
    if not moves:
        return _core.ObstacleSet(shapes)
    still = np.zeros(3)
    return _core.ObstacleSet(shapes, [o.velocity if isinstance(o, MovingObstacle) else still for o in obstacles])


def bezier_path(path: PPoly) -> _core.BezierPath:
    """Return a piecewise polynomial of SciPy in Bernstein form.

    Parameters
    ----------
    path : scipy.interpolate.PPoly
        Times [s] to (d,), of degree 9 at most, its breakpoints increasing.

    Raises
    ------
    ThunderError
        On anything else.
    """
    if not isinstance(path, PPoly) or path.c.ndim != 3:
        shape = f" with coefficients {path.c.shape}" if isinstance(path, PPoly) else ""
        raise ThunderError(
            f"path must be a PPoly of vectors, coefficients (order, m, d), got {type(path).__name__}{shape}"
        )
    return _core.BezierPath(path.x, bernstein_points(path.c, path.x))


def clearance(path: _core.BezierPath | PPoly, obstacles: Obstacles, *, tolerance: float = 1e-9) -> Clearance:
    """Return how near a path comes to obstacles, when, and to which: proved, not sampled.

    The signed distance to a convex set is convex, so it lies above each of its tangent planes. A piece of the path lies
    in the hull of its control points, which bounds what those planes say of it; pieces are halved until the bound is
    within the tolerance of a distance that is met. An obstacle's motion is subtracted from the control points.

    Parameters
    ----------
    path : BezierPath or scipy.interpolate.PPoly
        A plan's ``path``, or any piecewise polynomial whose first three numbers are a position [m].
    obstacles : sequence of Obstacle or MovingObstacle
        Not looked at before or after the path's times.
    tolerance : float
        Between `distance` and `lower_bound` [m].

    Raises
    ------
    ThunderError
        On a path or an obstacle that is none, or a tolerance that is not positive.
    """
    gap = positive(tolerance, "tolerance", "m")
    core = path if isinstance(path, _core.BezierPath) else bezier_path(path)
    return Clearance(*obstacle_set(as_sequence(obstacles)).clearance(core, gap))


#: statuses of paths that are free
FREE = ("direct", "via")
_MOST = 4
_LARGEST = 10_000_000


@dataclass(frozen=True)
class ViaSearch:
    """Where via points are looked for and in which state they are passed (D4.2, section 5.1.2).

    Candidates are tried in the order of the polyline from start over the candidate to goal, and the first one whose
    path is proved to keep the margin is taken: of all candidates it is the feasible one with the shortest polyline. It
    is passed at the share of its part of the polyline in the duration.

    Attributes
    ----------
    count : int
        Candidates.
    seed : int
        Of the candidates, which are the same on every platform.
    method : str
        ``"ellipsoid"``: on ellipsoids with start and goal as foci, low-discrepancy points. ``"uniform"``:
        pseudo-random, uniform in a cube about the middle of start and goal.
    half_width : float
        How far from the straight way the ellipsoids reach at its middle; half the cube's edges [m].
    state : str
        Velocity and acceleration at the via point. ``"optimal"``: those that minimise the integral of squared jerk of
        the whole path, in closed form. ``"paper"``: ``(goal - start) / duration`` and zero.
    most : int
        Where no single candidate will do, chains of up to so many via points are tried, at most 4. Which chains is a
        heuristic, a beam search along lines of sight.
    straight_first : bool
        Take the path without via points if it keeps the margin.

    Raises
    ------
    ThunderError
        On a setting out of range.
    """

    count: int = 1000
    seed: int = 0
    method: str = "ellipsoid"
    half_width: float = 0.6
    state: str = "optimal"
    most: int = 2
    straight_first: bool = True

    def __post_init__(self) -> None:
        """Check every setting."""
        for name, least, largest in (("count", 1, _LARGEST), ("seed", 0, 2**64 - 1), ("most", 1, _MOST)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not least <= value <= largest:
                raise ThunderError(f"{name} must be an integer from {least} to {largest}, got {value!r}")
        for name, known in (("method", ("ellipsoid", "uniform")), ("state", ("optimal", "paper"))):
            if getattr(self, name) not in known:
                raise ThunderError(f"{name} must be {known[0]!r} or {known[1]!r}, got {getattr(self, name)!r}")
        width = self.half_width
        if isinstance(width, bool) or not isinstance(width, Real) or not 0.0 < width < math.inf:
            raise ThunderError(f"half_width must be a positive number [m], got {width!r}")
        if not isinstance(self.straight_first, bool):
            raise ThunderError(f"straight_first must be True or False, got {self.straight_first!r}")

    @classmethod
    def paper(cls, count: int = 1000, seed: int = 0) -> ViaSearch:
        """Return the search of D4.2: one via point of `count` uniform ones, always, passed at the mean velocity.

        The report says neither how wide the candidates lie nor about what; 0.6 m each way is from the authors' released
        code, the middle of start and goal is chosen here.
        """
        return cls(count, seed, "uniform", 0.6, "paper", most=1, straight_first=False)

    def core(self, planner: _core.FunctionalPlanner) -> _core.ViaSearch:
        """Return the search for this planner, candidates and scratch made: worth keeping."""
        return _core.ViaSearch(
            planner,
            self.method,
            int(self.count),
            int(self.seed),
            float(self.half_width),
            self.state,
            int(self.most),
            self.straight_first,
        )


class ViaPath(NamedTuple):
    """What a search found.

    Attributes
    ----------
    status : str
        ``"direct"``, ``"via"``; where there is no path ``"none"``, ``"start_blocked"`` or ``"goal_blocked"``.
    path : BezierPath
        Proved to keep the margin where the status is one of the first two; the last attempt else.
    times : (k,) ndarray
        When the via points are passed [s].
    states : (k, 3, d) ndarray
        Their positions, velocities and accelerations.
    clearance : Clearance
        Of the path.
    evaluated : int
        Candidates looked at.
    obstacle : int
        The one that blocks start or goal, else -1.
    """

    status: str
    path: _core.BezierPath
    times: Array
    states: Array
    clearance: Clearance
    evaluated: int
    obstacle: int

    @property
    def via_points(self) -> Array:
        """Positions of all degrees of freedom at the via points, (k, d)."""
        points: Array = self.states[:, 0]
        return points

    @property
    def found(self) -> bool:
        """Whether there is a path."""
        return self.status in FREE

    def require(self, obstacles: Obstacles, margin: float) -> ViaPath:
        """Return self, or raise `NoPathError` that says why there is no path."""
        if self.found:
            return self
        if self.status == "none":
            count = f"{self.evaluated} candidates tried"
            raise NoPathError(
                f"no path keeps {margin:g} m from the obstacles, {count}: more candidates, a wider region, more via "
                "points (ViaSearch count, half_width, most) or a smaller margin may help"
            )
        where = self.status.split("_")[0]
        blocking = obstacles[self.obstacle]
        shape = blocking.obstacle if isinstance(blocking, MovingObstacle) else blocking
        raise NoPathError(
            f"{where} must keep the margin of {margin:g} m from every obstacle, obstacle {self.obstacle} "
            f"({type(shape).__name__}) is nearer or contains it"
        )


def via_path(
    search: _core.ViaSearch,
    start: npt.ArrayLike,
    goal: npt.ArrayLike,
    duration: float,
    obstacles: _core.ObstacleSet,
    margin: float = 0.0,
    *,
    start_time: float = 0.0,
    start_velocity: npt.ArrayLike | None = None,
    goal_velocity: npt.ArrayLike | None = None,
    start_acceleration: npt.ArrayLike | None = None,
    goal_acceleration: npt.ArrayLike | None = None,
) -> ViaPath:
    """Return a path that is proved to keep the margin, or why there is none.

    Parameters
    ----------
    search : _core.ViaSearch
        From `ViaSearch.core`.
    start, goal : (d,) array_like
        In the planner's degrees of freedom, the first three a position [m].
    duration : float
        [s].
    obstacles : _core.ObstacleSet
        From `obstacle_set`. Those that move stand at time 0 as they were given.
    margin : float
        [m].
    start_time : float
        [s].
    start_velocity, goal_velocity, start_acceleration, goal_acceleration : (d,) array_like, optional
        Zero by default.
    """
    status, path, times, states, clearance, evaluated, obstacle = search.plan(
        start,
        goal,
        duration,
        obstacles,
        margin,
        start_time,
        start_velocity,
        goal_velocity,
        start_acceleration,
        goal_acceleration,
    )
    return ViaPath(status, path, times, states, Clearance(*clearance), evaluated, obstacle)


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
