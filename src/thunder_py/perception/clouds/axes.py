"""Principal axes of points on a surface."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...checks import Array, array
from ...errors import ThunderError
from .planes import Plane

__all__ = ["SurfaceAxes", "reference_direction", "surface_axes", "yaw_of"]


class SurfaceAxes(NamedTuple):
    """Principal axes of points within a plane.

    Attributes
    ----------
    centroid : (3,) array
        Mean of the points [m].
    middle : (3,) array
        Middle of the smallest box along `axes` that holds them [m]: where points are denser does not matter to it.
    axes : (3, 3) array
        In columns: the direction in which the points spread most, across it, and the normal; right-handed. The first
        makes an angle of 90 degrees at most with `reference_direction`, since points know of no front and back.
    size : (2,) array
        From the first to the last point along the first two [m].
    elongation : float
        Ratio of the standard deviations along the first two, 1 or more; near 1 their direction means nothing.
    """

    centroid: Array
    middle: Array
    axes: Array
    size: Array
    elongation: float


def reference_direction(normal: npt.ArrayLike) -> Array:
    """Return the unit vector (3,) where angles about a normal begin: the world's x, or y if x is along the normal."""
    n = np.asarray(Plane(normal, 0.0).normal)
    x, y = np.eye(3)[:2]
    axis = x if abs(n @ x) < 0.99 else y
    flat = axis - (axis @ n) * n
    return np.asarray(flat / np.linalg.norm(flat))


def surface_axes(points: npt.ArrayLike, normal: npt.ArrayLike) -> SurfaceAxes:
    """Find the principal axes of points, seen along a normal.

    Parameters
    ----------
    points : (n, 3) array_like
        At least one [m].
    normal : (3,) array_like
        Of any length.

    Returns
    -------
    SurfaceAxes
        Of a single point the axes are those of the reference.
    """
    given = array(points, (None, 3), "points")
    if not len(given):
        raise ThunderError("points must be at least one, got none")
    n = np.asarray(Plane(normal, 0.0).normal)
    first = reference_direction(n)
    basis = np.stack([first, np.cross(n, first)], axis=1)
    centroid = given.mean(axis=0)
    flat = (given - centroid) @ basis
    spread, turns = np.linalg.eigh(flat.T @ flat / len(flat))
    main = turns[:, 1] if turns[0, 1] > 0.0 or (turns[0, 1] == 0.0 and turns[1, 1] > 0.0) else -turns[:, 1]
    if spread[1] <= spread[0] * (1.0 + 1e-12):
        main = np.array([1.0, 0.0])  # as long as wide: no direction is better than another
    x = basis @ main
    axes = np.stack([x, np.cross(n, x), n], axis=1)
    long, across = np.sqrt(np.maximum(spread[::-1], 0.0))
    elongation = float(long / across) if across > 0.0 else (np.inf if long > 0.0 else 1.0)
    along = (given - centroid) @ axes
    low, high = along.min(axis=0), along.max(axis=0)
    return SurfaceAxes(centroid, centroid + axes @ ((low + high) / 2.0), axes, (high - low)[:2], elongation)


def yaw_of(direction: npt.ArrayLike, normal: npt.ArrayLike) -> float:
    """Return the angle of a line about a normal, from the reference direction, in (-pi/2, pi/2] [rad]."""
    n = np.asarray(Plane(normal, 0.0).normal)
    x = reference_direction(n)
    d = np.asarray(direction, dtype=float)
    angle = float(np.arctan2(d @ np.cross(n, x), d @ x))
    if angle > np.pi / 2.0:
        return angle - np.pi
    return angle + np.pi if angle <= -np.pi / 2.0 else angle
