"""Figures 33 and 34 of D4.2, and the jerk behind its Tables 14 and 15."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from .arm import draw_sticks
from .shapes import draw_spheres
from .style import tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..checks import Array
    from ..experiments.human_like_arm import HumanLikeArm
    from ..experiments.human_like_run import ArmRun
    from ..robot import Robot

__all__ = ["METHOD_COLORS", "draw_arm", "draw_scene", "equal_scales", "log_scale", "plot_human_like_arm"]

METHOD_COLORS = {
    "paper mode": "#0072B2",
    "MAP": "#56B4E9",
    "minimum jerk": "#555555",
    "DMP mollifier": "#D55E00",
    "DMP Gaussian": "#E69F00",
    "ProMP": "#CC79A7",
}
_DESIRED, _VIA, _ARM = "#009E73", "#7B3294", "#222222"
_FIGURES = (("self-feeding", "Figure 33: self-feeding"), ("hitchhiking", "Figure 34: hitchhiking"))


def plot_human_like_arm(found: HumanLikeArm) -> Figure:
    """Draw the arm in the two scenes of the report, and the mean jerk of every method in every scene."""
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=(11, 9.5), constrained_layout=True)
    grid = figure.add_gridspec(2, 2, height_ratios=[1.6, 1.0])
    for k, (task, title) in enumerate(_FIGURES):
        axes = figure.add_subplot(grid[0, k], projection="3d")
        run = _shown(found, task)
        if run is None:
            axes.set_axis_off()
            continue
        method, kind = run
        draw_scene(axes, found.runs[task, kind, method])
        axes.set_title(f"{title}, {method}", fontsize="medium")
    for k, kind in enumerate(("translation [m/s$^3$]", "orientation [rad/s$^3$]")):
        axes = figure.add_subplot(grid[1, k])
        _draw_jerk(axes, found, k)
        axes.set_ylabel(f"mean jerk, {kind}")
    return figure


def draw_arm(axes: Any, robot: Robot, q: Array, times: Iterable[int], color: str = _ARM) -> None:
    """Draw a human arm as shoulder, elbow, wrist and hand, in several of its postures; later ones are darker.

    Parameters
    ----------
    axes : Axes3D
    robot : Robot
        ``human_arm``.
    q : (k, 7) array
        Postures over time [rad].
    times : iterable of int
        Which of them.
    color : str
    """
    from ..experiments.human_like_run import arm_points_at

    draw_sticks(axes, arm_points_at(robot, q[list(times)]), color, linewidth=2.0, markersize=3.5)


def draw_scene(axes: Any, run: ArmRun, postures: int = 6) -> None:
    """Draw one run: the arm at several times, its obstacles, the planned path in green, via points in purple."""
    rows = np.linspace(0, len(run.result.q) - 1, postures).round().astype(int)
    draw_arm(axes, run.robot, run.result.q, rows.tolist())
    draw_spheres(axes, run.scene.spheres)
    axes.plot(*run.plan.p.T, color=_DESIRED, linewidth=2.0, label="planned path of the hand")
    if len(run.plan.via_points):
        axes.plot(*run.plan.via_points.T, color=_VIA, linestyle="", marker="o", markersize=7, label="via point")
    axes.set(xlabel="x [m]", ylabel="y [m]", zlabel="z [m]")
    axes.zaxis.labelpad = 10.0
    equal_scales(axes, zoom=0.95)
    axes.view_init(elev=15.0, azim=-60.0)
    axes.legend(fontsize="small", loc="upper left")


def equal_scales(axes: Any, zoom: float = 1.0) -> None:
    """Let a metre be as long along all three axes, with a tick every 0.2 m."""
    from matplotlib.ticker import MultipleLocator

    for axis in (axes.xaxis, axes.yaxis, axes.zaxis):
        axis.set_major_locator(MultipleLocator(0.2))
    limits = (axes.get_xlim3d(), axes.get_ylim3d(), axes.get_zlim3d())
    axes.set_box_aspect([abs(high - low) for low, high in limits], zoom=zoom)


def log_scale(axes: Axes) -> None:
    """Make the vertical axis logarithmic, its ticks 1, 2, 5 and so on as plain numbers."""
    from matplotlib.ticker import LogLocator, NullLocator

    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter("{x:g}")


def _shown(found: HumanLikeArm, task: str) -> tuple[str, str] | None:
    """Return method and obstacles of the run to draw: paper mode among both obstacles, or what there is."""
    for method in ("paper mode", *found.methods):
        for kind in ("both", "hand", "elbow", "none"):
            if (task, kind, method) in found.runs:
                return method, kind
    return None


def _draw_jerk(axes: Axes, found: HumanLikeArm, column: int) -> None:
    """Draw a dot for every scene, plan and arm side by side, and their medians."""
    for k, name in enumerate(found.methods):
        for shift, real, marker in ((-0.17, False, "o"), (0.17, True, "^")):
            values = found.jerk(name, real)[:, column]
            if not values.size:
                continue
            spread = np.linspace(-0.09, 0.09, len(values))
            color = METHOD_COLORS[name]
            axes.plot(k + shift + spread, values, color=color, linestyle="", marker=marker, markersize=3.0, alpha=0.7)
            axes.plot([k + shift - 0.13, k + shift + 0.13], [np.median(values)] * 2, color="#222222", linewidth=1.6)
    log_scale(axes)
    axes.set_xticks(range(len(found.methods)), found.methods, rotation=20, fontsize="small")
    axes.plot([], [], color="#222222", linestyle="", marker="o", markersize=3.0, label="plan")
    axes.plot([], [], color="#222222", linestyle="", marker="^", markersize=3.0, label="arm")
    axes.legend(fontsize="small")
    tidy(axes)
