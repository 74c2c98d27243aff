"""Static and moving obstacles, proved clearances of paths, and the search for via points."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.interpolate import BPoly, PPoly

from ... import _core
from ...checks import Array, array, positive, real, whole
from ...errors import NoPathError, ThunderError
from ...geometry import Obstacle
from ...values import StrEnum, Value, set_fields


@dataclass(frozen=True, eq=False)
class MovingObstacle(Value):
    """Obstacle that translates at constant velocity.

    Attributes
    ----------
    obstacle : Obstacle
        Obstacle at time 0.
    velocity : (3,) ndarray
        Velocity in world axes [m/s].

    Examples
    --------
    >>> from thunder_py.geometry import Sphere
    >>> from thunder_py.motion import MovingObstacle
    >>> ball = MovingObstacle(Sphere([0.0, 0.0, 0.0], 0.1), velocity=[0.5, 0.0, 0.0])
    >>> ball.distance([1.0, 0.0, 0.0], [0.0, 1.0]).round(3).tolist()
    [0.9, 0.4]
    """

    obstacle: Obstacle
    velocity: Array

    def __post_init__(self) -> None:
        """Check obstacle and velocity."""
        if not isinstance(self.obstacle, Obstacle):
            raise ThunderError(
                f"obstacle must be Sphere, Box, Capsule or HalfSpace, got {type(self.obstacle).__name__}"
            )
        set_fields(self, velocity=array(self.velocity, (3,), "velocity"))

    def distance(self, points: npt.ArrayLike, t: npt.ArrayLike) -> Array:
        """Return signed distances of points (..., 3) at times (...) to the surface [m], negative inside."""
        moved = real(t, "t")[..., None] * self.velocity
        return self.obstacle.distance(real(points, "points") - moved)


_AT_REST = np.zeros(3)
#: obstacles of planners
Obstacles: TypeAlias = Sequence[Obstacle | MovingObstacle]


class Clearance(NamedTuple):
    """Least signed distance of a path to obstacles, between `lower_bound` and `distance`.

    Attributes
    ----------
    distance : float
        Distance at `time` [m]; negative inside an obstacle, infinite without obstacles.
    lower_bound : float
        Proved lower bound of the distance over the whole path [m].
    time : float
        Time of `distance` [s].
    obstacle : int
        Index of the nearest obstacle, -1 without obstacles.

    Examples
    --------
    >>> from scipy.interpolate import BPoly, PPoly
    >>> from thunder_py.geometry import Sphere
    >>> from thunder_py.motion import clearance
    >>> path = PPoly([[[1.0, 0.0, 0.0]], [[0.0, 0.0, 0.0]]], [0.0, 1.0])  # (t, 0, 0)
    >>> nearest = clearance(path, [Sphere([0.5, 0.4, 0.0], 0.1)])
    >>> round(nearest.distance, 3), round(nearest.time, 3), nearest.obstacle
    (0.3, 0.5, 0)
    """

    distance: float
    lower_bound: float
    time: float
    obstacle: int


def as_sequence(obstacles: Obstacles) -> Obstacles:
    """Return an iterable of obstacles as a sequence, or raise `ThunderError` for a single obstacle."""
    if isinstance(obstacles, (list, tuple)):
        return obstacles
    try:
        return tuple(obstacles)
    except TypeError:
        raise ThunderError(f"obstacles must be a sequence of obstacles, got {type(obstacles).__name__}") from None


def obstacle_set(obstacles: Obstacles) -> _core.ObstacleSet:
    """Return the core's set of obstacles, or raise `ThunderError` for other objects."""
    for obstacle in obstacles:
        if not isinstance(obstacle, (Obstacle, MovingObstacle)):
            kinds = "Sphere, Box, Capsule, HalfSpace or MovingObstacle"
            raise ThunderError(f"obstacles must be {kinds}, got {type(obstacle).__name__}")
    bodies = [each.obstacle if isinstance(each, MovingObstacle) else each for each in obstacles]
    rates = [each.velocity if isinstance(each, MovingObstacle) else _AT_REST for each in obstacles]
    return _core.ObstacleSet(bodies, None if all(rate is _AT_REST for rate in rates) else rates)


def bezier_path(path: PPoly) -> _core.BezierPath:
    """Convert a piecewise polynomial of SciPy to Bernstein form.

    Parameters
    ----------
    path : scipy.interpolate.PPoly
        Vectors (d,) over time [s], of degree 9 at most, with increasing breakpoints.

    Raises
    ------
    ThunderError
        For any other argument.
    """
    if not isinstance(path, PPoly) or path.c.ndim != 3:
        shape = f" with coefficients {path.c.shape}" if isinstance(path, PPoly) else ""
        raise ThunderError(f"path must be a PPoly with coefficients (order, m, d), got {type(path).__name__}{shape}")
    return _core.BezierPath(path.x, np.swapaxes(BPoly.from_power_basis(path).c, 0, 1))


def clearance(path: _core.BezierPath | PPoly, obstacles: Obstacles, *, tolerance: float = 1e-9) -> Clearance:
    """Return the least distance of a path to obstacles, with a proved lower bound.

    Parameters
    ----------
    path : BezierPath or scipy.interpolate.PPoly
        The ``path`` of a plan, or any piecewise polynomial with a position [m] in its first three coordinates.
    obstacles : sequence of Obstacle or MovingObstacle
        Obstacles, considered within the time of the path.
    tolerance : float
        Largest gap between `distance` and `lower_bound` [m].

    Returns
    -------
    Clearance
        Distance, lower bound, time and index of the nearest obstacle.

    Raises
    ------
    ThunderError
        For a wrong path or obstacle, and a tolerance that is not positive.

    Notes
    -----
    The signed distance to a convex set is convex, so it lies above each of its tangent planes. A piece of the path lies
    in the convex hull of its control points, which bounds the piece's distance to those planes. Pieces are halved until
    the bound is within the tolerance of an attained distance. The control points are relative to moving obstacles.

    Examples
    --------
    >>> from thunder_py.geometry import Sphere
    >>> from thunder_py.motion import FPCA, HumanLikePlanner, clearance
    >>> from thunder_py.recordings.synthetic import minimum_jerk_reaches
    >>> planner = HumanLikePlanner(FPCA(shrinkage=0.1).fit(minimum_jerk_reaches(20, seed=1)))
    >>> ball = Sphere([0.2, 0.0, 0.0], 0.05)
    >>> plan = planner.plan([0.0, 0.0, 0.0], [0.4, 0.0, 0.0], 1.0, obstacles=[ball], margin=0.02)
    >>> nearest = clearance(plan.path, [ball])
    >>> nearest.lower_bound >= 0.02, nearest.distance - nearest.lower_bound < 1e-9
    (True, True)
    """
    gap = positive(tolerance, "tolerance", "m")
    core = path if isinstance(path, _core.BezierPath) else bezier_path(path)
    return Clearance(*obstacle_set(as_sequence(obstacles)).clearance(core, gap))


class PathStatus(StrEnum):
    """Status of a search for a path around obstacles.

    Examples
    --------
    >>> from thunder_py.motion import PathStatus
    >>> [status.value for status in PathStatus]
    ['direct', 'via', 'none', 'start_blocked', 'goal_blocked']
    """

    direct = "direct"
    via = "via"
    none = "none"
    start_blocked = "start_blocked"
    goal_blocked = "goal_blocked"


#: statuses of free paths
FREE = (PathStatus.direct, PathStatus.via)
_MOST = 4
_LARGEST = 10_000_000
_WIDENINGS = 4


@dataclass(frozen=True)
class ViaSearch:
    """Options of the search for via points (D4.2, section 5.1.2).

    Candidates are evaluated in order of the length of the polyline start - candidate - goal. The result is the first
    one with a path that provably keeps the margin, which is the feasible candidate with the shortest polyline.

    Attributes
    ----------
    count : int
        Number of candidates.
    seed : int
        Seed of the candidates, which are the same on every platform.
    method : str
        ``"ellipsoid"``: low-discrepancy points on ellipsoids with start and goal as foci. ``"uniform"``: pseudo-random
        points, uniform in a cube about the midpoint of start and goal.
    half_width : float
        Largest distance of the ellipsoids from the straight line at its midpoint; half the cube's edges [m].
    state : str
        Velocity and acceleration at the via point. ``"optimal"``: least integral of squared jerk of the whole path, in
        closed form. ``"paper"``: ``(goal - start) / duration`` and zero.
    most : int
        Largest number of via points, at most 4. Chains of several points are tried if no single candidate is feasible,
        by a heuristic beam search along lines of sight.
    straight_first : bool
        Use the path without via points if it keeps the margin.
    widenings : int
        Number of searches, each `wider` than the last, that planners try if no path is found. Each takes about ten
        times as long.

    Raises
    ------
    ThunderError
        For a setting out of range.

    Examples
    --------
    >>> from thunder_py.geometry import Sphere
    >>> from thunder_py.motion import FPCA, HumanLikePlanner, ViaSearch
    >>> from thunder_py.recordings.synthetic import minimum_jerk_reaches
    >>> planner = HumanLikePlanner(FPCA(shrinkage=0.1).fit(minimum_jerk_reaches(20, seed=1)))
    >>> search = ViaSearch(count=200, seed=3)
    >>> ball = Sphere([0.2, 0.0, 0.0], 0.05)
    >>> plan = planner.plan([0.0, 0.0, 0.0], [0.4, 0.0, 0.0], 1.0, obstacles=[ball], margin=0.02, via=search)
    >>> len(plan.via_points), plan.clearance > 0.02 - 1e-9
    (1, True)
    """

    count: int = 1000
    seed: int = 0
    method: str = "ellipsoid"
    half_width: float = 0.6
    state: str = "optimal"
    most: int = 2
    straight_first: bool = True
    widenings: int = 1

    def __post_init__(self) -> None:
        """Check every setting."""
        bounds = {"count": (1, _LARGEST), "seed": (0, 2**64 - 1), "most": (1, _MOST), "widenings": (0, _WIDENINGS)}
        for name, (least, largest) in bounds.items():
            whole(getattr(self, name), name, least, largest)
        for name, known in (("method", ("ellipsoid", "uniform")), ("state", ("optimal", "paper"))):
            if getattr(self, name) not in known:
                raise ThunderError(f"{name} must be {known[0]!r} or {known[1]!r}, got {getattr(self, name)!r}")
        positive(self.half_width, "half_width", "m")
        if not isinstance(self.straight_first, bool):
            raise ThunderError(f"straight_first must be True or False, got {self.straight_first!r}")

    @classmethod
    def paper(cls, count: int = 1000, seed: int = 0) -> ViaSearch:
        """Return the search of D4.2: always one via point out of `count` uniform ones, passed at the mean velocity.

        The report gives neither size nor center of the region of candidates. The size, 0.6 m each way, is from the
        authors' released code; the center, the midpoint of start and goal, is a choice of this package. There is no
        widening.
        """
        return cls(count, seed, "uniform", 0.6, "paper", most=1, straight_first=False, widenings=0)

    def wider(self) -> ViaSearch:
        """Return a search with ten times the candidates, 5/3 of the region and chains of one more point."""
        return replace(
            self,
            count=min(10 * self.count, _LARGEST),
            half_width=self.half_width * 5.0 / 3.0,
            most=min(self.most + 1, _MOST),
        )

    def core(self, planner: _core.FunctionalPlanner) -> _core.ViaSearch:
        """Return the core's search for a planner, with allocated candidates and scratch memory."""
        settings = vars(self).copy()
        del settings["widenings"]
        return _core.ViaSearch(planner, **settings)


class ViaPath(NamedTuple):
    """Result of a search for via points.

    Attributes
    ----------
    status : PathStatus
        Outcome of the search.
    path : BezierPath
        Path that provably keeps the margin for the first two statuses; the last attempt otherwise.
    times : (k,) ndarray
        Times of the via points [s].
    states : (k, 3, d) ndarray
        Positions, velocities and accelerations at the via points.
    clearance : Clearance
        Clearance of the path.
    evaluated : int
        Number of candidates evaluated.
    obstacle : int
        Index of the obstacle that blocks start or goal, otherwise -1.
    """

    status: PathStatus
    path: _core.BezierPath
    times: Array
    states: Array
    clearance: Clearance
    evaluated: int
    obstacle: int

    @classmethod
    def of(cls, found: tuple[Any, ...]) -> ViaPath:
        """Return the result of the core's search."""
        status, path, times, states, clearance, evaluated, obstacle = found
        return cls(PathStatus(status), path, times, states, Clearance(*clearance), evaluated, obstacle)

    @property
    def via_points(self) -> Array:
        """Positions of all degrees of freedom at the via points, (k, d)."""
        return np.asarray(self.states[:, 0])

    @property
    def found(self) -> bool:
        """True if there is a path."""
        return self.status in FREE

    def require(self, obstacles: Obstacles, margin: float) -> ViaPath:
        """Return self, or raise `NoPathError` with the reason."""
        if self.found:
            return self
        if self.status is PathStatus.none:
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


def via_path(search: _core.ViaSearch, *problem: Any, **options: Any) -> ViaPath:
    """Search a path that provably keeps the margin.

    Parameters
    ----------
    search : _core.ViaSearch
        Search from `ViaSearch.core`.
    *problem, **options
        Start and goal (d,), coordinates of which the first three are a position [m]; duration [s]; the obstacles of
        `obstacle_set`; margin [m]; ``start_time`` [s]; ``start_velocity``, ``goal_velocity``, ``start_acceleration``
        and ``goal_acceleration`` (d,).

    Returns
    -------
    ViaPath
        Path with its status.
    """
    return ViaPath.of(search.plan(*problem, **options))


class Searches:
    """Cache of the searches of one planner, by thread and settings; candidates of each may take megabytes.

    Parameters
    ----------
    planner : _core.FunctionalPlanner
        Planner of the paths.
    """

    _LARGEST_CACHE = 8

    def __init__(self, planner: _core.FunctionalPlanner) -> None:
        self._planner = planner
        self._cache: dict[tuple[int, ViaSearch], _core.ViaSearch] = {}

    def of(self, settings: ViaSearch) -> _core.ViaSearch:
        """Return the search with these settings."""
        key = threading.get_ident(), settings
        search = self._cache.pop(key, None) or settings.core(self._planner)
        self._cache[key] = search
        if len(self._cache) > self._LARGEST_CACHE:
            self._cache.pop(next(iter(self._cache)), None)
        return search


class Scene(NamedTuple):
    """What a path has to avoid, and how it is searched.

    Attributes
    ----------
    obstacles : sequence of Obstacle or MovingObstacle
        Obstacles at time 0.
    set : _core.ObstacleSet
        The same for the core.
    margin : float
        Distance to keep [m].
    via : ViaSearch
        Search of via points.
    """

    obstacles: Obstacles
    set: _core.ObstacleSet
    margin: float
    via: ViaSearch
