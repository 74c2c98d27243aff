"""Figures 31 and 32 of D4.2, and what is behind its Tables 12 and 13: jerk and clearance of every method."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .human_like_arm import METHOD_COLORS, equal_scales, log_scale
from .shapes import draw_spheres
from .style import tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..experiments.human_like_obstacles import HumanLikeObstacles
    from ..experiments.human_like_scenarios import Scenario
    from ..motion.metrics import Motion

__all__ = ["draw_setting", "draw_spheres", "plot_human_like_obstacles"]

_COLORS = {**METHOD_COLORS, "minimum jerk, via": "#999999", "DMP (104)": "#A0522D", "ProMP, via": "#8E5EA2"}
_START, _VIA, _GOAL = "tab:blue", "black", "tab:red"
_AXES = ("#D55E00", "#009E73", "#0072B2")
_SHOWN = ("paper mode", "MAP", "minimum jerk, via", "DMP mollifier", "DMP Gaussian")


def plot_human_like_obstacles(found: HumanLikeObstacles) -> Figure:
    """Draw one setting with several methods, coordinates and speed over time, jerk and clearances of all settings."""
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=(12, 10), constrained_layout=True)
    grid = figure.add_gridspec(3, 2, height_ratios=[1.0, 1.0, 1.2])
    scene, motions = found.example
    shown = {name: motions[name] for name in _SHOWN if name in motions}
    space = figure.add_subplot(grid[:2, 0], projection="3d")
    draw_setting(space, scene, shown)
    space.set_title("Figure 31: a setting of scenario 4", fontsize="medium")
    first = next(iter(shown), None)
    position, speed = figure.add_subplot(grid[0, 1]), figure.add_subplot(grid[1, 1])
    if first is not None:
        _draw_position(position, scene, shown[first], first)
    _draw_speed(speed, scene, shown)
    _draw_jerk(figure.add_subplot(grid[2, 0]), found)
    _draw_clearance(figure.add_subplot(grid[2, 1]), found)
    return figure


def draw_setting(axes: Any, scene: Scenario, motions: dict[str, Motion]) -> None:
    """Draw obstacles and paths of several methods; start blue, goal red, via points black."""
    draw_spheres(axes, scene.spheres, scene.margin)
    t = np.linspace(0.0, scene.duration, 301)
    for name, motion in motions.items():
        style = "--" if name == "DMP mollifier" else "-"  # where it hides another
        axes.plot(*motion.position(t)[:, :3].T, color=_COLORS[name], linestyle=style, label=name, zorder=_front(name))
        for point in getattr(motion, "via_points", ()):
            axes.plot(*np.reshape(point, (3, 1)), color=_VIA, marker="o", markersize=5.0)
    for point, color in ((scene.start, _START), (scene.goal, _GOAL)):
        axes.plot(*np.reshape(point, (3, 1)), color=color, marker="o", markersize=7.0)
    axes.set(xlabel="x [m]", ylabel="y [m]", zlabel="z [m]")
    equal_scales(axes, zoom=1.05)
    axes.view_init(*_view(scene))
    axes.legend(fontsize="small", loc="upper left")


def _front(name: str) -> float:
    return 3.0 if name == "DMP mollifier" else 2.0


def _view(scene: Scenario) -> tuple[float, float]:
    """Look across the way from start to goal, a little from above and aside."""
    way = scene.goal - scene.start
    across = np.cross(way, [0.0, 0.0, 1.0])
    return 25.0, float(np.degrees(np.arctan2(across[1], across[0]))) + 15.0


def _draw_position(axes: Axes, scene: Scenario, motion: Motion, name: str) -> None:
    t = np.linspace(0.0, scene.duration, 301)
    x = motion.position(t)
    for k, (label, color) in enumerate(zip("xyz", _AXES, strict=True)):
        axes.plot(t, x[:, k], color=color, label=label)
        axes.plot([0.0], [scene.start[k]], color=_START, marker="o", markersize=5.0)
        axes.plot([scene.duration], [scene.goal[k]], color=_GOAL, marker="o", markersize=5.0)
    for time, point in zip(getattr(motion, "via_times", ()), getattr(motion, "via_points", ()), strict=True):
        axes.plot([time] * 3, point, color=_VIA, linestyle="", marker="o", markersize=5.0)
    axes.set(ylabel="position [m]", title=f"Figure 32: {name}, via point black")
    axes.legend(fontsize="small", loc="lower left")
    tidy(axes)


def _draw_speed(axes: Axes, scene: Scenario, motions: dict[str, Motion]) -> None:
    t = np.linspace(0.0, scene.duration, 601)
    for name, motion in motions.items():
        style = "--" if name == "DMP mollifier" else "-"
        speed = np.linalg.norm(motion.position(t, 1), axis=1)
        axes.plot(t, speed, color=_COLORS[name], linestyle=style, label=name, linewidth=1.4, zorder=_front(name))
    axes.set(xlabel="time [s]", ylabel="speed [m/s]")
    axes.set_ylim(bottom=0.0)
    axes.legend(fontsize="small", loc="lower center")
    tidy(axes)


def _tabled(found: HumanLikeObstacles) -> list[str]:
    return [name for name in found.methods if name in _COLORS]


def _draw_jerk(axes: Axes, found: HumanLikeObstacles) -> None:
    """Boxes from the quartiles, whiskers to 5 and 95 %, and the report's medians of the four scenarios."""
    from ..experiments.human_like_obstacles import TABLE_13

    names = _tabled(found)
    values = [found.values(name)[:, 1] for name in names]
    boxes = axes.boxplot(
        [x[np.isfinite(x)] for x in values], positions=range(len(names)), whis=(5, 95), showfliers=False,
        patch_artist=True, medianprops={"color": "black"},
    )  # fmt: skip
    for box, name in zip(boxes["boxes"], names, strict=True):
        box.set(facecolor=_COLORS[name], alpha=0.7)
    for name, printed in TABLE_13.items():
        if name in names:
            axes.plot([names.index(name)] * 4, printed, color="black", linestyle="", marker="x", label="report")
    log_scale(axes)
    axes.set(ylabel="mean jerk [m/s$^3$]", title="Table 13: 5, 25, 50, 75, 95 %")
    _name(axes, names)
    handles, labels = axes.get_legend_handles_labels()
    axes.legend(handles[:1], labels[:1], fontsize="small")


def _draw_clearance(axes: Axes, found: HumanLikeObstacles) -> None:
    from ..experiments.human_like_scenarios import MARGIN

    names = _tabled(found)
    for k, name in enumerate(names):
        room = found.values(name)[:, 2]
        room = room[np.isfinite(room)]
        spread = np.linspace(-0.3, 0.3, len(room))
        axes.plot(k + spread, room, color=_COLORS[name], linestyle="", marker=".", markersize=2.0)
    for height, label in ((MARGIN, "margin"), (0.0, "surface")):
        axes.axhline(height, color="black", linewidth=0.8, linestyle="--" if height else "-", label=label)
    axes.set(ylabel="least distance [m]", title="distance from the spheres in every setting")
    _name(axes, names)
    axes.legend(fontsize="small")


def _name(axes: Axes, names: list[str]) -> None:
    axes.set_xticks(range(len(names)), names, rotation=25, ha="right", fontsize="small")
    tidy(axes)
