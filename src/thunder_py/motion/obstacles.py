"""Obstacles in the way of a motion, moving ones too, and clearances that are proofs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.interpolate import PPoly

from .. import _core
from ..checks import Array, array, real
from ..errors import ThunderError
from ..trajectory.obstacles import Obstacle
from ..values import Value, set_fields
from .planner_model import bernstein_points
from .scalars import positive

__all__ = ["Clearance", "MovingObstacle", "Obstacles", "as_sequence", "bezier_path", "clearance", "obstacle_set"]


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
