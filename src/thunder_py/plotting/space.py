"""Drawings in three dimensions: sticks, frames and surfaces on axes with equal scales."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..checks import Array
from ..geometry import Obstacle
from .shapes import Triangles, obstacle_surface, shaded
from .style import ARM, AXIS_COLORS

_OBSTACLE = "#B0B0B0"


def draw_sticks(
    axes: Any, points: Array, color: str = ARM, shades: Iterable[float] | None = None, **style: Any
) -> list[Any]:
    """Draw arms as lines through points, later ones darker, in 3-D or in the plane.

    Parameters
    ----------
    axes : Axes or Axes3D
        Axes to draw on.
    points : (k, m, 2) or (k, m, 3) array
        Points of k postures, from base to tip [m].
    color : str
        Color of the lines.
    shades : iterable of float, optional
        Opacity of each posture; default from 0.25 to 1.
    **style
        Arguments of ``Axes.plot``.

    Returns
    -------
    list of lines
    """
    opacity = np.linspace(1.0, 0.25, len(points))[::-1] if shades is None else np.asarray(list(shades))
    style = {"linewidth": 3.0, "marker": "o", "markersize": 4.5} | style
    return [
        axes.plot(*line.T, color=color, alpha=float(shade), **style)[0]
        for line, shade in zip(points, opacity, strict=True)
    ]


def draw_frame(axes: Any, T: Array, length: float, alpha: float = 1.0) -> list[Any]:
    """Draw a frame's axes x (red), y (green) and z (blue), and return the three lines.

    Parameters
    ----------
    axes : Axes3D
        Axes to draw on.
    T : (4, 4) array
        Pose of the frame.
    length : float
        Length of each axis [m].
    alpha : float
        Opacity.
    """
    lines = [axes.plot([], [], [], color=color, linewidth=1.8, alpha=alpha)[0] for color in AXIS_COLORS]
    move_frame(lines, T, length)
    return lines


def move_frame(lines: Sequence[Any], T: Array, length: float) -> None:
    """Move the three lines of `draw_frame` to another pose (4, 4)."""
    for line, axis in zip(lines, T[:3, :3].T, strict=True):
        line.set_data_3d(*np.stack([T[:3, 3], T[:3, 3] + length * axis]).T)


def draw_surface(axes: Any, surface: Triangles, colors: Any = ARM, alpha: float = 1.0, drawn: Any = None) -> Any:
    """Draw a surface with shades, or move a drawn one, and return it.

    Parameters
    ----------
    axes : Axes3D
        Axes to draw on.
    surface : Triangles
        Surface [m].
    colors : str or (f, 3) array
        Color of all faces, or red, green and blue of each, 0 to 1.
    alpha : float
        Opacity.
    drawn : Poly3DCollection, optional
        Result of an earlier call, which is changed.
    """
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection  # type: ignore[import-untyped]

    if drawn is None:
        drawn = Poly3DCollection([], linewidths=0.4)
        axes.add_collection3d(drawn, autolim=False)
    corners = surface.corners()
    drawn.set_verts(corners)
    shades = shaded(corners, colors, alpha)
    drawn.set_facecolor(shades)
    if alpha == 1.0:  # edges in the color of their faces close the gaps between them
        drawn.set_edgecolor(shades)
    return drawn


def draw_obstacles(axes: Any, obstacles: Iterable[Obstacle], margin: float = 0.0) -> list[Any]:
    """Draw obstacles, and their margin [m] with less opacity, and return the surfaces without margins."""
    drawn = []
    for obstacle in obstacles:
        drawn.append(draw_surface(axes, obstacle_surface(obstacle), _OBSTACLE, 0.6))
        if margin:
            draw_surface(axes, obstacle_surface(obstacle, margin), _OBSTACLE, 0.12)
    return drawn


def frame_box(axes: Any, points: Sequence[Array], margin: float = 0.08) -> None:
    """Set the limits of 3-D axes to contain points (..., 3), with equal scales; NaN is ignored."""
    from matplotlib.ticker import MaxNLocator

    every = np.concatenate([np.reshape(p, (-1, 3)) for p in points])
    every = every[np.isfinite(every).all(axis=1)]
    low, high = (every.min(axis=0), every.max(axis=0)) if len(every) else (np.zeros(3), np.ones(3))
    size = max(float((high - low).max()), 1e-3)
    # in a flat box the tick labels of its short sides would overlap
    half = np.maximum((high - low) / 2.0, 0.2 * size) + margin * size
    middle = (low + high) / 2.0
    for name, center, reach in zip("xyz", middle, half, strict=True):
        getattr(axes, f"set_{name}lim")(center - reach, center + reach)
        getattr(axes, f"set_{name}label")(f"{name} [m]")
        getattr(axes, f"{name}axis").set_major_locator(MaxNLocator(4))
    axes.set_aspect("equal")
