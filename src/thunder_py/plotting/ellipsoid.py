"""Drawings of manipulability ellipsoids in the plane and in 3-D."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..checks import Array, array
from ..errors import ThunderError
from .shapes import sphere_grid
from .style import BLUE, VERMILION

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

    from ..robot import Ellipsoid

__all__ = ["draw_ellipsoid", "ellipsoid_outline", "ellipsoid_surface", "plot_ellipsoid"]

ELLIPSOID_COLORS = {"velocity": BLUE, "force": VERMILION}


def ellipsoid_outline(ellipsoid: Ellipsoid, scale: float = 1.0, points: int = 181) -> Array:
    """Return the closed outline of a planar ellipsoid about the origin, (2, points)."""
    directions = array(ellipsoid.axes, (2, 2), "ellipsoid.axes")
    lengths = array(ellipsoid.lengths, (2,), "ellipsoid.lengths")
    angle = np.linspace(0.0, 2.0 * np.pi, points)
    outline: Array = scale * (directions * lengths) @ np.array([np.cos(angle), np.sin(angle)])
    return outline


def ellipsoid_surface(ellipsoid: Ellipsoid, scale: float = 1.0) -> Array:
    """Return points of a three-dimensional ellipsoid about the origin, on a grid (3, 13, 25).

    Parameters
    ----------
    ellipsoid : Ellipsoid
        Ellipsoid of one state and three rows, such as ``robot.velocity_ellipsoid(q)``.
    scale : float
        Meters per unit of velocity or force.

    Raises
    ------
    ThunderError
        If an axis is infinite: force ellipsoids of singular postures.
    """
    directions = array(ellipsoid.axes, (3, 3), "ellipsoid.axes")
    lengths = array(ellipsoid.lengths, (3,), "ellipsoid.lengths", finite=False)
    if not np.isfinite(lengths).all():
        raise ThunderError(
            "ellipsoid must have finite axes; the force ellipsoid of a singular posture has an infinite one"
        )
    surface: Array = np.einsum("ij,jkl->ikl", scale * directions * lengths, sphere_grid())
    return surface


def plot_ellipsoid(
    ellipsoid: Ellipsoid,
    center: npt.ArrayLike = (0.0, 0.0),
    *,
    scale: float = 1.0,
    axes: Axes | None = None,
    **style: Any,
) -> Line2D:
    """Draw the outline of a planar ellipsoid: velocities or forces of unit joint vectors.

    Parameters
    ----------
    ellipsoid : Ellipsoid
        Ellipsoid of one state and two rows, such as ``robot.velocity_ellipsoid(q, rows=(0, 1))``.
    center : (2,) array_like
        Center [m], such as the end effector's position.
    scale : float
        Meters per unit of velocity or force.
    axes : Axes, optional
        Default the current axes.
    **style
        Arguments of ``Axes.plot``.

    Returns
    -------
    Line2D
        The outline.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import thunder_py as th
    >>> robot, q = th.Robot.load("elbow"), [0.5, 1.0]
    >>> line = th.plotting.plot_ellipsoid(robot.velocity_ellipsoid(q, rows=(0, 1)), scale=0.1)
    >>> line.get_xydata().shape
    (181, 2)
    >>> plt.close()
    """
    middle, size = array(center, (2,), "center"), float(array(scale, (), "scale"))
    outline = middle[:, None] + ellipsoid_outline(ellipsoid, size)
    if axes is None:
        from matplotlib.pyplot import gca

        axes = gca()
    axes.set_aspect("equal", adjustable="datalim")
    return axes.plot(*outline, **style)[0]


def draw_ellipsoid(
    axes: Any, ellipsoid: Ellipsoid, center: npt.ArrayLike, *, scale: float = 1.0, color: str | None = None
) -> Array:
    """Draw an ellipsoid in 3-D.

    Parameters
    ----------
    axes : Axes3D
        Axes to draw on.
    ellipsoid : Ellipsoid
        Ellipsoid of one state and three rows, such as ``robot.velocity_ellipsoid(q)``.
    center : (3,) array_like
        Center [m], such as the end effector's position.
    scale : float
        Meters per unit of velocity or force.
    color : str, optional
        Color of the surface.

    Returns
    -------
    (3, 13, 25) array
        Points of the surface [m].

    Raises
    ------
    ThunderError
        If an axis is infinite: force ellipsoids of singular postures.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import thunder_py as th
    >>> robot, q = th.Robot.load("panda"), [0.3, -0.5, 0, -2.1, 0, 1.7, 0.8]
    >>> axes = robot.plot(q)
    >>> position = robot.forward_kinematics(q)[:3, 3]
    >>> th.plotting.draw_ellipsoid(axes, robot.force_ellipsoid(q), position, scale=0.1).shape
    (3, 13, 25)
    >>> plt.close()
    """
    middle = array(center, (3,), "center")
    surface = middle[:, None, None] + ellipsoid_surface(ellipsoid, float(array(scale, (), "scale")))
    shade = color or ELLIPSOID_COLORS["velocity"]
    axes.plot_surface(*surface, color=shade, alpha=0.3, linewidth=0.0, shade=True)
    return surface
