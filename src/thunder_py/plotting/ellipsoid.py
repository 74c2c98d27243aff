"""Figures of manipulability ellipsoids, in the plane and in space."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..checks import Array, array
from ..errors import ThunderError
from .shapes import sphere_grid

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

    from ..robot import Ellipsoid

__all__ = ["draw_ellipsoid", "ellipsoid_outline", "ellipsoid_surface", "plot_ellipsoid"]

ELLIPSOID_COLORS = {"velocity": "#0072B2", "force": "#D55E00"}


def ellipsoid_outline(ellipsoid: Ellipsoid, scale: float = 1.0, points: int = 181) -> Array:
    """Return the closed outline of an ellipsoid of two rows about the origin, (2, points)."""
    directions = array(ellipsoid.axes, (2, 2), "ellipsoid.axes")
    lengths = array(ellipsoid.lengths, (2,), "ellipsoid.lengths")
    angle = np.linspace(0.0, 2.0 * np.pi, points)
    outline: Array = scale * (directions * lengths) @ np.array([np.cos(angle), np.sin(angle)])
    return outline


def ellipsoid_surface(ellipsoid: Ellipsoid, scale: float = 1.0) -> Array:
    """Return points on an ellipsoid of three rows about the origin, on a grid (3, 13, 25).

    Parameters
    ----------
    ellipsoid : Ellipsoid
        Of one state and three rows, such as ``robot.velocity_ellipsoid(q)``.
    scale : float
        Metres for a unit of velocity or force.

    Raises
    ------
    ThunderError
        An axis without end: forces in singular postures.
    """
    directions = array(ellipsoid.axes, (3, 3), "ellipsoid.axes")
    lengths = array(ellipsoid.lengths, (3,), "ellipsoid.lengths", finite=False)
    if not np.isfinite(lengths).all():
        raise ThunderError("ellipsoid: in a singular posture it has an axis without end; draw another posture")
    surface: Array = np.einsum("ij,jkl->ikl", scale * directions * lengths, sphere_grid())
    return surface


def plot_ellipsoid(
    ellipsoid: Ellipsoid,
    centre: npt.ArrayLike = (0.0, 0.0),
    *,
    scale: float = 1.0,
    axes: Axes | None = None,
    **style: Any,
) -> Line2D:
    """Draw the outline of an ellipsoid of two rows: the velocities or forces that unit joint vectors give.

    Parameters
    ----------
    ellipsoid : Ellipsoid
        Of one state and two rows, such as ``robot.velocity_ellipsoid(q, rows=(0, 1))``.
    centre : (2,) array_like
        Where to draw it, such as the end effector's position.
    scale : float
        Metres for a unit of velocity or force.
    axes : Axes, optional
        Default the current ones.
    **style
        As for ``Axes.plot``.

    Returns
    -------
    Line2D
        The outline.
    """
    middle, size = array(centre, (2,), "centre"), float(array(scale, (), "scale"))
    outline = middle[:, None] + ellipsoid_outline(ellipsoid, size)
    if axes is None:
        from matplotlib.pyplot import gca

        axes = gca()
    axes.set_aspect("equal", adjustable="datalim")
    return axes.plot(*outline, **style)[0]


def draw_ellipsoid(
    axes: Any, ellipsoid: Ellipsoid, centre: npt.ArrayLike, *, scale: float = 1.0, color: str | None = None
) -> Array:
    """Draw an ellipsoid of three rows in space.

    Parameters
    ----------
    axes : Axes3D
        To draw on.
    ellipsoid : Ellipsoid
        Of one state and three rows, such as ``robot.velocity_ellipsoid(q)``.
    centre : (3,) array_like
        Where to draw it, such as the end effector's position [m].
    scale : float
        Metres for a unit of velocity or force.
    color : str, optional
        Of the surface.

    Returns
    -------
    (3, 13, 25) array
        The points drawn [m].

    Raises
    ------
    ThunderError
        An axis without end: forces in singular postures.
    """
    middle = array(centre, (3,), "centre")
    surface = middle[:, None, None] + ellipsoid_surface(ellipsoid, float(array(scale, (), "scale")))
    shade = color or ELLIPSOID_COLORS["velocity"]
    axes.plot_surface(*surface, color=shade, alpha=0.3, linewidth=0.0, shade=True)
    return surface
