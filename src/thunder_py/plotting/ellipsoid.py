"""Drawings of manipulability ellipsoids in the plane and in 3-D."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..checks import Array, array
from ..errors import ThunderError
from .panels import panel
from .shapes import sphere_grid
from .style import BLUE, VERMILION

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ELLIPSOID_COLORS = {"velocity": BLUE, "force": VERMILION}


def ellipsoid_points(ellipsoid: tuple[Array, Array], scale: float = 1.0, points: int = 181) -> Array:
    """Return the closed outline (2, points) of a planar ellipsoid about the origin, or the surface (3, 13, 25).

    Parameters
    ----------
    ellipsoid : Ellipsoid
        Directions (r, r) as columns and lengths (r,) of the half axes, r = 2 or 3.
    scale : float
        Meters per unit of velocity or force.
    points : int
        Number of points of an outline.

    Raises
    ------
    ThunderError
        If an axis is infinite (force ellipsoids of singular postures), or `ax` is plane and the ellipsoid is not.
    """
    rows = 3 if np.shape(ellipsoid[1]) == (3,) else 2
    directions = array(ellipsoid[0], (rows, rows), "ellipsoid.axes")
    lengths = array(ellipsoid[1], (rows,), "ellipsoid.lengths", finite=False)
    if not np.isfinite(lengths).all():
        raise ThunderError(
            "ellipsoid must have finite axes; the force ellipsoid of a singular posture has an infinite one"
        )
    angle = np.linspace(0.0, 2.0 * np.pi, points)
    unit = sphere_grid() if rows == 3 else np.array([np.cos(angle), np.sin(angle)])
    return np.asarray(np.einsum("ij,j...->i...", scale * directions * lengths, unit))


def plot_ellipsoid(
    ellipsoid: tuple[Array, Array],
    center: npt.ArrayLike | None = None,
    *,
    scale: float = 1.0,
    ax: Axes | None = None,
    **style: Any,
) -> Axes:
    """Draw the velocities or forces of unit joint vectors: an outline in the plane or a surface in 3-D.

    Parameters
    ----------
    ellipsoid : Ellipsoid
        Ellipsoid of one state and two or three rows, such as ``robot.velocity_ellipsoid(q, rows=(0, 1))``.
    center : (2,) or (3,) array_like, optional
        Center [m], such as the end effector's position; default the origin.
    scale : float
        Meters per unit of velocity or force.
    ax : Axes, optional
        Axes, with three dimensions for three rows; default a new figure.
    **style
        Arguments of ``Axes.plot`` or ``Axes3D.plot_surface``.

    Returns
    -------
    Axes
        The panel drawn.

    Raises
    ------
    ThunderError
        If an axis is infinite (force ellipsoids of singular postures), or `ax` is plane and the ellipsoid is not.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import thunder_py as th
    >>> robot, q = th.Robot.load("elbow"), [0.5, 1.0]
    >>> ax = th.plotting.plot_ellipsoid(robot.velocity_ellipsoid(q, rows=(0, 1)), scale=0.1)
    >>> ax.lines[0].get_xydata().shape
    (181, 2)
    >>> panda, q = th.Robot.load("panda"), [0.3, -0.5, 0, -2.1, 0, 1.7, 0.8]
    >>> ax, position = panda.plot(q), panda.forward_kinematics(q)[:3, 3]
    >>> th.plotting.plot_ellipsoid(panda.force_ellipsoid(q), position, scale=0.1, ax=ax) is ax
    True
    >>> plt.close("all")
    """
    points = ellipsoid_points(ellipsoid, float(array(scale, (), "scale")))
    rows = len(points)
    middle = np.zeros(rows) if center is None else array(center, (rows,), "center")
    surface = middle.reshape(rows, *[1] * (points.ndim - 1)) + points
    drawn = panel(ax, (5.0, 5.0), projection="3d" if rows == 3 else None)
    if rows == 3:
        if getattr(drawn, "name", None) != "3d":
            raise ThunderError(f"ax must be 3-D axes, of add_subplot(projection='3d'), got {drawn!r:.80}")
        style = {"color": ELLIPSOID_COLORS["velocity"], "alpha": 0.3, "linewidth": 0.0} | style
        drawn.plot_surface(*surface, **style)
    else:
        drawn.set_aspect("equal", adjustable="datalim")
        drawn.plot(*surface, **style)
    return drawn  # type: ignore[no-any-return]
