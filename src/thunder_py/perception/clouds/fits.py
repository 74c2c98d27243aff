"""Fits of simple shapes on a table to the visible part of an object: rectangle, disk, ball and lying cylinder."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import least_squares

from ...checks import Array
from .segmentation import Plane, upright_frame

#: a disk fills pi / 4 = 0.79 of its bounding square, a rectangle all of it
_FULL = 0.85
#: fill ratio means nothing for long shapes, which are no disks
_SQUARE = 1.3
_ITERATIONS = 25
#: part of the top of a round object that may be hidden [m]: few points also fit much larger ones
_UNSEEN = 0.02
#: residuals beyond this count linearly [m]: stray points and hidden edges
_LINEAR = 0.004


class ShapeFit(NamedTuple):
    """A shape on a table.

    Attributes
    ----------
    shape : str
        ``"box"``, ``"disk"`` (an upright cylinder), ``"ball"`` or ``"cylinder"`` (a lying one).
    center : (3,) array
        Middle of the fitted surface (of the upper face of boxes and disks) [m].
    direction : (3,) array
        Horizontal principal axis; arbitrary for disks and balls.
    size : (2,) array
        Extent along it and across [m].
    residual : float
        Root mean square distance of the points from the surface [m]; NaN for boxes and disks, whose border is fitted.
    """

    shape: str
    center: Array
    direction: Array
    size: Array
    residual: float


def fit_rectangle(points: npt.ArrayLike) -> tuple[Array, float, Array, float]:
    """Return the bounding rectangle of least area of points in a plane.

    One of its edges contains an edge of the convex hull (Freeman and Shapira 1975).

    Parameters
    ----------
    points : (n, 2) array_like
        At least three points that are not on a line [m].

    Returns
    -------
    middle : (2,) array
        Middle of the rectangle [m].
    angle : float
        Angle of its longer side, in (-pi/2, pi/2] [rad].
    size : (2,) array
        Longer and shorter side [m].
    fill : float
        Area of the hull divided by that of the rectangle; pi / 4 for a disk.

    Examples
    --------
    >>> from thunder_py.perception.clouds.fits import fit_rectangle
    >>> middle, angle, size, fill = fit_rectangle([[0.0, 0.0], [0.2, 0.2], [0.1, 0.3], [-0.1, 0.1]])
    >>> middle.round(3).tolist(), round(angle, 3), size.round(3).tolist(), round(fill, 3)
    ([0.05, 0.15], 0.785, [0.283, 0.141], 1.0)
    """
    from scipy.spatial import ConvexHull

    xy = np.asarray(points, dtype=np.float64)
    hull = ConvexHull(xy)
    corners = xy[hull.vertices]
    edges = np.roll(corners, -1, axis=0) - corners
    angles = np.arctan2(edges[:, 1], edges[:, 0])
    c, s = np.cos(angles), np.sin(angles)
    turned = np.einsum("kij,nj->kni", np.stack([np.stack([c, s], -1), np.stack([-s, c], -1)], axis=1), corners)
    low, high = turned.min(axis=1), turned.max(axis=1)
    areas = np.prod(high - low, axis=1)
    best = int(np.argmin(areas))
    size, angle = (high - low)[best], float(angles[best])
    middle = np.array([[c[best], -s[best]], [s[best], c[best]]]) @ ((low + high)[best] / 2.0)
    if size[1] > size[0]:
        size, angle = size[::-1], angle + np.pi / 2.0
    angle -= np.pi * float(np.ceil(angle / np.pi - 0.5))
    return middle, angle, size, float(hull.volume / areas[best])


def fit_upper_surface(points: Array, up: Array) -> ShapeFit | None:
    """Return the box or disk whose upper face contains points (n, 3); None if they are on a line."""
    from scipy.spatial import QhullError

    basis = upright_frame(up)
    try:
        middle, angle, size, fill = fit_rectangle(points @ basis[:, :2])
    except (QhullError, ValueError):
        return None
    height = float(np.median(points @ up))
    disk = fill < _FULL and size[0] < _SQUARE * size[1]
    direction = basis[:, :2] @ np.array([np.cos(angle), np.sin(angle)])
    return ShapeFit("disk" if disk else "box", basis @ [*middle, height], direction, size, np.nan)


def fit_round(points: Array, table: Plane) -> ShapeFit | None:
    """Return the ball or the lying cylinder on a table that fits points (n, 3) better; None if neither converges.

    The table determines the height of the center, which is the radius. So the far side, which no camera sees, need not
    be guessed.
    """
    basis = upright_frame(table.normal)
    local = points @ basis - [0.0, 0.0, table.offset]
    best = min(_ball(local), _cylinder(local), key=lambda fit: fit.residual)
    if not np.isfinite(best.residual) or best.size[1] > local[:, 2].max() + _UNSEEN:
        return None
    return best._replace(center=basis @ best.center + table.offset * basis[:, 2], direction=basis @ best.direction)


def _ball(p: Array) -> ShapeFit:
    """Fit x, y and r of a ball that touches z = 0."""

    def off(a: Array) -> Array:
        return np.asarray(np.linalg.norm(p - a, axis=1) - a[2])

    def slope(a: Array) -> Array:
        away = p - a
        return np.asarray(-away / np.linalg.norm(away, axis=1)[:, None] - [0.0, 0.0, 1.0])

    center, residual = _solve(off, slope, np.array([*p[:, :2].mean(axis=0), p[:, 2].max() / 2.0]))
    return ShapeFit("ball", center, np.array([1.0, 0.0, 0.0]), np.full(2, 2.0 * center[2]), residual)


def _cylinder(p: Array) -> ShapeFit:
    """Fit the axis and radius of a cylinder that lies on z = 0: distance from the middle, angle, r."""
    middle = p[:, :2].mean(axis=0)
    flat = p[:, :2] - middle
    main = np.linalg.eigh(flat.T @ flat)[1][:, 1]

    def off(a: Array) -> Array:
        return np.asarray(np.hypot(flat @ [-np.sin(a[1]), np.cos(a[1])] - a[0], p[:, 2] - a[2]) - a[2])

    def slope(a: Array) -> Array:
        along, aside = flat @ [np.cos(a[1]), np.sin(a[1])], flat @ [-np.sin(a[1]), np.cos(a[1])] - a[0]
        away = np.hypot(aside, p[:, 2] - a[2])
        slopes = np.stack([-aside, -along * aside, -(p[:, 2] - a[2])], axis=1) / away[:, None]
        return np.asarray(slopes - [0.0, 0.0, 1.0])

    (shift, angle, r), residual = _solve(off, slope, np.array([0.0, np.arctan2(main[1], main[0]), p[:, 2].max() / 2.0]))
    direction = np.array([np.cos(angle), np.sin(angle), 0.0])
    along = flat @ direction[:2]
    low, high = along.min(), along.max()
    if high - low < 2.0 * r:
        residual = np.inf  # shorter than thick: seen from its end, or no cylinder
    side = np.array([-direction[1], direction[0], 0.0])
    center = np.array([*middle, r]) + (low + high) / 2.0 * direction + shift * side
    return ShapeFit("cylinder", center, direction, np.array([high - low, 2.0 * r]), residual)


def _solve(off: Callable[[Array], Array], slope: Callable[[Array], Array], start: Array) -> tuple[Array, float]:
    """Return parameters of least robust squares, the last one a radius, and their residual, infinite for a bad one."""
    settings: dict[str, Any] = {"loss": "huber", "f_scale": _LINEAR, "x_scale": [0.1, 0.1, 0.1]}
    fit = least_squares(off, start, slope, max_nfev=_ITERATIONS, **settings)
    residual = float(np.sqrt(np.mean(np.minimum(fit.fun**2, (3.0 * _LINEAR) ** 2))))
    return fit.x, residual if 1e-3 < fit.x[-1] < 10.0 * start[-1] + 1e-3 else np.inf
