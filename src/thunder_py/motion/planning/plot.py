"""Figures of planned human-like motions (D4.2, Figures 31 and 32)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...checks import Array, array
from ...errors import ThunderError
from ...geometry import HalfSpace
from ...plotting.animation import animate_figure, film_times
from ...plotting.panels import draw_curves, panel, panels
from ...plotting.shapes import obstacle_surface
from ...plotting.space import draw_obstacles, frame_box
from ...plotting.style import BLUE, GRAY, TRUTH, VERMILION
from .obstacles import MovingObstacle, Obstacles

if TYPE_CHECKING:
    from matplotlib.animation import FuncAnimation
    from matplotlib.axes import Axes

    from .plan import HumanLikePlan

_SAMPLES = 401
_START, _VIA, _GOAL = BLUE, TRUTH, VERMILION


def plot_human_like_plan(
    plan: HumanLikePlan, duration: float | None = None, *, axes: Mapping[str, Axes] | None = None
) -> dict[str, Axes]:
    """Draw the path in space, coordinates and speed; see `HumanLikePlan.plot`."""
    length = plan.duration if duration is None else float(array(duration, (), "duration"))
    if not length > 0.0:
        raise ThunderError(f"duration must be positive, got {length:g}")
    t = plan.start_time + np.linspace(0.0, length, _SAMPLES)
    names = ["position", *(["rotation"] if len(plan.dofs) == 6 else []), "speed"]
    size = (10.0, 4.6 if len(names) == 2 else 6.0)
    drawn = panels(axes, [["path", name] for name in names], size, spatial=["path"])
    x, speed = plan.position(t), np.linalg.norm(plan.position(t, 1)[:, :3], axis=1)
    for name, ax in drawn.items():
        if name == "path":
            _draw_path(ax, x[:, :3], plan.via_points)
        elif name == "position":
            draw_curves(ax, t, x[:, :3], "position [m]", plan.dofs[:3])
            for time, point in zip(plan.via_times, plan.via_points, strict=True):
                ax.plot(np.full(3, time), point, "o", color=_VIA, markersize=4)
        elif name == "rotation":
            draw_curves(ax, t, x[:, 3:], "rotation vector [rad]", plan.dofs[3:])
        else:
            draw_curves(ax, t, speed, "speed [m/s]")
            ax.set_ylim(bottom=0.0)
            ax.set_xlabel("time [s]")
    return drawn


def animate_human_like_plan(
    plan: HumanLikePlan,
    path: str | Path | None,
    obstacles: Obstacles,
    *,
    playback_speed: float,
    fps: float,
    dpi: float,
) -> FuncAnimation:
    """Animate the position along the path, with obstacles; see `HumanLikePlan.animate`."""
    ends = np.array([plan.start_time, plan.end_time])
    t = film_times(ends, playback_speed, fps)
    p, line = plan.position(t)[:, :3], plan.position(np.linspace(plan.start_time, plan.end_time, _SAMPLES))[:, :3]
    ax = panel(None, (5.5, 5.0), projection="3d")
    _draw_path(ax, line, plan.via_points)
    bodies = [one.obstacle if isinstance(one, MovingObstacle) else one for one in obstacles]
    rates = [one.velocity if isinstance(one, MovingObstacle) else np.zeros(3) for one in obstacles]
    drawn, corners = draw_obstacles(ax, bodies), [obstacle_surface(body).corners() for body in bodies]
    solid = [k for k, body in enumerate(bodies) if not isinstance(body, HalfSpace)]
    frame_box(ax, [line, *(corners[k] + rates[k] * time for k in solid for time in ends)])
    hand = ax.plot([], [], [], "o", color="black", markersize=7)[0]
    clock = ax.text2D(0.02, 0.96, "", transform=ax.transAxes)

    def show(k: int) -> None:
        hand.set_data_3d(*p[k : k + 1].T)
        clock.set_text(f"{t[k]:.2f} s")
        for surface, still, rate in zip(drawn, corners, rates, strict=True):
            surface.set_verts(still + rate * t[k])

    return animate_figure(ax.figure, show, len(t), fps=fps, path=path, dpi=dpi)


def _draw_path(axis: Any, p: Array, vias: Array) -> None:
    from matplotlib.ticker import MaxNLocator

    axis.plot(*p.T, color=GRAY)
    for point, color, label in ((p[0], _START, "start"), (p[-1], _GOAL, "goal")):
        axis.scatter(*point, color=color, label=label)
    for k, point in enumerate(vias):
        axis.scatter(*point, color=_VIA, label="via point" if k == 0 else None)
    for one in (axis.xaxis, axis.yaxis, axis.zaxis):
        one.set_major_locator(MaxNLocator(4))
    axis.set_xlabel("x [m]")
    axis.set_ylabel("y [m]")
    axis.set_zlabel("z [m]")
    axis.legend()
    spread = np.maximum(np.ptp(p, axis=0), 0.2 * max(float(np.ptp(p, axis=0).max()), 1e-3))
    axis.set_box_aspect(spread, zoom=0.85)  # or the last label is cut off
