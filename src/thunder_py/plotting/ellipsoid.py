"""Figures of manipulability ellipsoids."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..checks import array

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

    from ..robot import Ellipsoid

__all__ = ["plot_ellipsoid"]


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
    directions = array(ellipsoid.axes, (2, 2), "ellipsoid.axes")
    lengths = array(ellipsoid.lengths, (2,), "ellipsoid.lengths")
    middle, size = array(centre, (2,), "centre"), float(array(scale, (), "scale"))
    angle = np.linspace(0.0, 2.0 * np.pi, 181)
    outline = middle[:, None] + size * (directions * lengths) @ np.array([np.cos(angle), np.sin(angle)])
    if axes is None:
        from matplotlib.pyplot import gca

        axes = gca()
    axes.set_aspect("equal", adjustable="datalim")
    return axes.plot(*outline, **style)[0]
