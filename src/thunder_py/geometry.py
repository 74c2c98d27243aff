"""Convex obstacles with exact distances."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from . import _core
from .checks import Array, all_positive, array, nonnegative, positive, real, rotation
from .errors import ThunderError
from .public import publish

__all__ = ["Box", "Capsule", "HalfSpace", "Obstacle", "Sphere"]


class Obstacle(_core.Obstacle):
    """Base class of the convex obstacles `Sphere`, `Box`, `Capsule` and `HalfSpace`.

    Examples
    --------
    >>> import thunder_py as th
    >>> floor = th.geometry.HalfSpace([0, 0, 0], [0, 0, 1])
    >>> isinstance(floor, th.geometry.Obstacle), floor.nearest_point([0.2, 0.1, 0.4]).tolist()
    (True, [0.2, 0.1, 0.0])
    """

    def distance(self, points: npt.ArrayLike) -> Array:
        """Return signed distances of points (..., 3) to the surface [m], negative inside."""
        p = real(points, "points")
        return self._nearest(p)[0].reshape(p.shape[:-1])

    def nearest_point(self, points: npt.ArrayLike) -> Array:
        """Return the surface points nearest to points (..., 3) [m]; if not unique, one of them."""
        p = real(points, "points")
        distance, normal = self._nearest(p)
        return np.asarray(p - (distance[:, None] * normal).reshape(p.shape))

    def _nearest(self, p: Array) -> tuple[Array, Array]:
        if p.ndim == 0 or p.shape[-1] != 3:
            raise ThunderError(f"points must have shape (..., 3), got {p.shape}")
        return self.nearest(p.reshape(-1, 3))


class Sphere(Obstacle, _core.Sphere):
    """Solid sphere.

    Parameters
    ----------
    center : (3,) array_like
        [m].
    radius : float
        [m]; 0 is a point.

    Raises
    ------
    ValueError
        If `radius` is negative, or a value is not finite.

    Examples
    --------
    >>> import thunder_py as th
    >>> th.geometry.Sphere([0, 0, 1], radius=0.5).distance([[0, 0, 2], [0, 0, 1]]).tolist()
    [0.5, -0.5]
    """

    def __init__(self, center: npt.ArrayLike, radius: float) -> None:
        self.center, self.radius = array(center, (3,), "center"), nonnegative(radius, "radius")
        _core.Sphere.__init__(self, self.center, self.radius)


class Box(Obstacle, _core.Box):
    """Solid box with any orientation.

    Parameters
    ----------
    center : (3,) array_like
        [m].
    size : (3,) array_like
        Lengths of the edges [m].
    orientation : (3, 3) array_like, optional
        Directions of the edges as columns; default the world axes.

    Raises
    ------
    ValueError
        If an edge is not positive, or `orientation` is not a rotation.

    Examples
    --------
    >>> import thunder_py as th
    >>> th.geometry.Box([0, 0, 0], size=[2, 2, 1]).distance([0, 0, 2]).tolist()
    1.5
    """

    def __init__(self, center: npt.ArrayLike, size: npt.ArrayLike, orientation: npt.ArrayLike | None = None) -> None:
        self.center, self.size = array(center, (3,), "center"), array(size, (3,), "size")
        all_positive(self.size, "size")
        self.orientation = rotation(np.eye(3) if orientation is None else orientation, "orientation")
        _core.Box.__init__(self, self.center, self.orientation, 0.5 * self.size)


class Capsule(Obstacle, _core.Capsule):
    """Capsule: all points within a radius of a line segment.

    Parameters
    ----------
    a, b : (3,) array_like
        Ends of the segment [m].
    radius : float
        [m].

    Raises
    ------
    ValueError
        If `radius` is not positive, or a value is not finite.

    Examples
    --------
    >>> import thunder_py as th
    >>> th.geometry.Capsule([0, 0, 0], [0, 0, 1], radius=0.25).distance([[1, 0, 0.5], [0, 0, 2]]).tolist()
    [0.75, 0.75]
    """

    def __init__(self, a: npt.ArrayLike, b: npt.ArrayLike, radius: float) -> None:
        self.a, self.b = array(a, (3,), "a"), array(b, (3,), "b")
        self.radius = positive(radius, "radius")
        _core.Capsule.__init__(self, self.a, self.b, self.radius)


class HalfSpace(Obstacle, _core.HalfSpace):
    """Half-space behind a plane, such as a floor.

    Parameters
    ----------
    point : (3,) array_like
        A point on the plane [m].
    normal : (3,) array_like
        Direction out of the obstacle, of any nonzero length.

    Raises
    ------
    ValueError
        If `normal` is zero.

    Examples
    --------
    >>> import thunder_py as th
    >>> th.geometry.HalfSpace([0, 0, -0.5], [0, 0, 1]).distance([[0, 0, 0], [0, 0, -1]]).tolist()
    [0.5, -0.5]
    """

    def __init__(self, point: npt.ArrayLike, normal: npt.ArrayLike) -> None:
        self.point, direction = array(point, (3,), "point"), array(normal, (3,), "normal")
        length = float(np.linalg.norm(direction))
        if length == 0.0:
            raise ThunderError("normal must not be zero")
        self.normal: Array = direction / length
        _core.HalfSpace.__init__(self, self.point, self.normal)


publish(__name__)
