"""Figures of the SCARA project's second chapter."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .style import COLORS, TRUTH, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..experiments.scara_planning import ScaraPlanning
    from ..trajectory import Path

__all__ = ["draw_plan", "plot_path", "plot_profiles"]

_SAMPLES = 4001


def draw_plan(axes: Axes, path: Path) -> None:
    """Draw a path from above with the end of the arm's reach; hollow points are passed by."""
    p = path(np.linspace(0.0, path.duration, _SAMPLES)).p
    axes.plot(p[:, 1], p[:, 0], color=COLORS[0], linewidth=1.6)
    points, passed = path.key_points, path.over_flown
    axes.plot(points[~passed, 1], points[~passed, 0], "o", color=TRUTH, markersize=4, label="reached")
    axes.plot(
        points[passed, 1], points[passed, 0], "o", color="white", markeredgecolor=TRUTH, markersize=5, label="via point"
    )
    reach = np.linspace(-0.35, 0.35, 61)
    axes.plot(np.sin(reach), np.cos(reach), "--", color=TRUTH, linewidth=0.8, label="end of reach")
    axes.set(aspect="equal", xlabel="y [m]", ylabel="x [m], away from the arm", title="the path from above")
    axes.invert_xaxis()
    axes.legend(fontsize="small", loc="upper right", bbox_to_anchor=(1.0, 0.88))
    tidy(axes)


def plot_path(planning: ScaraPlanning) -> Figure:
    """Draw the path from above (Figure 2.1), its height, and the angle over time (Figure 2.2)."""
    from matplotlib.pyplot import figure as new_figure

    figure = new_figure(figsize=(11, 4.8), layout="constrained")
    panels = figure.subplot_mosaic([["plan", "angle"], ["plan", "z"]], width_ratios=(1.1, 1.0))
    draw_plan(panels["plan"], planning.path)
    t = np.linspace(0.0, planning.path.duration, _SAMPLES)
    panels["angle"].plot(t, planning.angle(t), color=COLORS[0])
    panels["angle"].set_yticks([0.0, np.pi / 2, np.pi], ["0", r"$\pi/2$", r"$\pi$"])
    panels["z"].plot(t, planning.path(t).p[:, 2], color=COLORS[0])
    for name, title in (("angle", r"angle $\varphi$ of the end effector"), ("z", "height z [m]")):
        panels[name].set(title=title, xlabel="time [s]", xlim=(0.0, t[-1]))
        tidy(panels[name])
    return figure


def plot_profiles(planning: ScaraPlanning) -> Figure:
    """Draw velocities (above) and accelerations of position and angle over time."""
    from matplotlib.pyplot import subplots

    figure, panels = subplots(2, 2, figsize=(12, 5.4), sharex=True, layout="constrained")
    t = np.linspace(0.0, planning.path.duration, _SAMPLES)
    at = planning.path(t)
    for line, rates, kind, units in (
        (panels[0], at.xi, "velocity", ("m/s", "rad/s")),
        (panels[1], at.xi_dot, "acceleration", ("m/s²", "rad/s²")),
    ):
        for axis, color, name in zip(rates[:, :3].T, COLORS, "xyz", strict=True):
            line[0].plot(t, axis, color=color, linewidth=1.0, label=name)
        line[1].plot(t, rates[:, 5], color=COLORS[0], linewidth=1.2)
        line[0].set_title(f"{kind} of position [{units[0]}]")
        line[1].set_title(f"{kind} of the angle [{units[1]}]")
    for panel in panels.flat:
        panel.set_xlim(0.0, t[-1])
        tidy(panel)
    for panel in panels[1]:
        panel.set_xlabel("time [s]")
    panels[0, 0].legend(ncols=3, fontsize="small")
    return figure
