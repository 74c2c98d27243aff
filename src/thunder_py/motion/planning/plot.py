"""Figures of planned human-like motions (D4.2, Figures 31 and 32)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...checks import Array, array
from ...plotting.style import BLUE, GRAY, TRUTH, VERMILION

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .plan import HumanLikePlan

__all__ = ["plot_human_like_plan"]

_SAMPLES = 401
_START, _VIA, _GOAL = BLUE, TRUTH, VERMILION


def plot_human_like_plan(
    plan: HumanLikePlan, duration: float | None = None, *, axes: Mapping[str, Axes] | None = None
) -> dict[str, Axes]:
    """Draw the path in space, coordinates and speed; see `HumanLikePlan.plot`."""
    length = plan.duration if duration is None else float(array(duration, (), "duration"))
    if not length > 0.0:
        raise ValueError(f"duration must be positive, got {length:g}")
    t = plan.start_time + np.linspace(0.0, length, _SAMPLES)
    drawn = _new_axes(len(plan.dofs) == 6) if axes is None else dict(axes)
    x, v = plan.position(t), plan.position(t, 1)[:, :3]
    if "path" in drawn:
        _draw_path(drawn["path"], x[:, :3], plan.via_points)
    if "position" in drawn:
        _draw_coordinates(drawn["position"], t, x[:, :3], plan.dofs[:3], "position [m]")
        for time, point in zip(plan.via_times, plan.via_points, strict=True):
            drawn["position"].plot(np.full(3, time), point, "o", color=_VIA, markersize=4)
    if "rotation" in drawn:
        _draw_coordinates(drawn["rotation"], t, x[:, 3:], plan.dofs[3:], "rotation vector [rad]")
    if "speed" in drawn:
        drawn["speed"].plot(t, np.linalg.norm(v, axis=1), color=GRAY)
        drawn["speed"].set_ylabel("speed [m/s]")
        drawn["speed"].set_ylim(bottom=0.0)
        drawn["speed"].set_xlabel("time [s]")
    return drawn


def _new_axes(rotates: bool) -> dict[str, Axes]:
    from matplotlib.pyplot import figure

    names = ["position", *(["rotation"] if rotates else []), "speed"]
    canvas = figure(figsize=(10.0, 4.6 if len(names) == 2 else 6.0), layout="constrained")
    grid = canvas.add_gridspec(len(names), 2)
    drawn: dict[str, Any] = {"path": canvas.add_subplot(grid[:, 0], projection="3d")}
    for row, name in enumerate(names):
        drawn[name] = canvas.add_subplot(grid[row, 1], sharex=drawn.get("position"))
    return drawn


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


def _draw_coordinates(axis: Any, t: npt.NDArray[np.float64], x: Array, names: tuple[str, ...], label: str) -> None:
    for values, name in zip(x.T, names, strict=True):
        axis.plot(t, values, label=name)
    axis.set_ylabel(label)
    axis.legend()
