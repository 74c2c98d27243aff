"""Convex obstacles, with exact distances."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from . import _core
from .checks import Array, array, positive, real, rotation

__all__ = ["Box", "Capsule", "HalfSpace", "Obstacle", "Sphere"]


class Obstacle(_core.Obstacle):
    """A convex set; `Sphere`, `Box`, `Capsule` and `HalfSpace` are there."""

    def distance(self, points: npt.ArrayLike) -> Array:
        """Return signed distances of points (..., 3) to the surface [m], negative inside."""
        p = real(points, "points")
        return self._nearest(p)[0].reshape(p.shape[:-1])

    def nearest_point(self, points: npt.ArrayLike) -> Array:
        """Return the points of the surface nearest to points (..., 3) [m]; of several, one."""
        p = real(points, "points")
        distance, normal = self._nearest(p)
        nearest: Array = p - (distance[:, None] * normal).reshape(p.shape)
        return nearest

    def _nearest(self, p: Array) -> tuple[Array, Array]:
        if p.ndim == 0 or p.shape[-1] != 3:
            raise ValueError(f"points must have shape (..., 3), got {p.shape}")
        return self.nearest(p.reshape(-1, 3))


class Sphere(Obstacle, _core.Sphere):
    """A ball.

    Parameters
    ----------
    centre : (3,) array_like
        [m].
    radius : float
        [m].
    """

    def __init__(self, centre: npt.ArrayLike, radius: float) -> None:
        self.centre, self.radius = array(centre, (3,), "centre"), positive(radius, "radius")
        _core.Sphere.__init__(self, self.centre, self.radius)


class Box(Obstacle, _core.Box):
    """A box in any orientation.

    Parameters
    ----------
    centre : (3,) array_like
        [m].
    size : (3,) array_like
        Lengths of the edges [m].
    orientation : (3, 3) array_like, optional
        Its columns are the directions of the edges; default the axes of the world.
    """

    def __init__(self, centre: npt.ArrayLike, size: npt.ArrayLike, orientation: npt.ArrayLike | None = None) -> None:
        self.centre, self.size = array(centre, (3,), "centre"), array(size, (3,), "size")
        if not (self.size > 0.0).all():
            raise ValueError(f"size must be positive, got {self.size.tolist()}")
        self.orientation = rotation(np.eye(3) if orientation is None else orientation, "orientation")
        _core.Box.__init__(self, self.centre, self.orientation, 0.5 * self.size)


class Capsule(Obstacle, _core.Capsule):
    """All points within a radius of a segment.

    Parameters
    ----------
    a, b : (3,) array_like
        Ends of the segment [m].
    radius : float
        [m].
    """

    def __init__(self, a: npt.ArrayLike, b: npt.ArrayLike, radius: float) -> None:
        self.a, self.b = array(a, (3,), "a"), array(b, (3,), "b")
        self.radius = positive(radius, "radius")
        _core.Capsule.__init__(self, self.a, self.b, self.radius)


class HalfSpace(Obstacle, _core.HalfSpace):
    """Everything behind a plane, such as a floor.

    Parameters
    ----------
    point : (3,) array_like
        On the plane [m].
    normal : (3,) array_like
        Points out of the obstacle; of any length but zero.
    """

    def __init__(self, point: npt.ArrayLike, normal: npt.ArrayLike) -> None:
        self.point, given = array(point, (3,), "point"), array(normal, (3,), "normal")
        length = float(np.linalg.norm(given))
        if length == 0.0:
            raise ValueError("normal must not be zero")
        self.normal: Array = given / length
        _core.HalfSpace.__init__(self, self.point, self.normal)
