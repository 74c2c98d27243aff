"""Figures of the picking experiment, and of one pick."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from ...plotting import style
from ...plotting.panels import new_panels
from ...plotting.style import label, label_time, outside_legend
from ..grasping.figure import draw_rates
from .physics import PhysicalPicking
from .run import REPORTED_RATE, Picking
from .scene import TASKS

_COLORS = {
    "servoing": style.BLUE,
    "eq. 124": style.VERMILION,
    "no tool estimate": style.GREEN,
    "no filter": style.ORANGE,
    "look, then move": style.PINK,
    "unbiased camera": style.SKY,
    "exact camera": style.GRAY,
}


def plot_picking(found: Picking) -> Figure:
    """Draw success rates with their intervals beside the report's, and errors at contact with what is forgiven."""
    figure, panels = new_panels([["rates", "hand", "tool"]], (12.0, 4.6), width_ratios=(1.1, 1.0, 1.0))
    _draw_rates(panels["rates"], found)
    for task in ("hand", "tool"):
        _draw_errors(panels[task], found, task)
    return outside_legend(figure, *panels.values(), ncols=8)


def _draw_rates(axes: Axes, found: Picking) -> None:

    for k, (task, variant) in enumerate(found.picks):
        rate, low, high = (100.0 * x for x in found.rate(task, variant))
        axes.barh(k, rate, color=_COLORS[variant], alpha=0.85)
        axes.plot([low, high], [k, k], color=style.TRUTH, linewidth=1.2)
    axes.axvline(100.0 * REPORTED_RATE, color=style.TRUTH, linestyle="--", linewidth=1.0, label="report")
    axes.set_yticks(range(len(found.picks)), [f"{task}: {variant}" for task, variant in found.picks])
    axes.invert_yaxis()
    label(axes, f"D4.2, Figures 44 and 45: success in {found.seeds} scenes", "picked [%], with 95 % interval", "")
    axes.set_xlim(0.0, 102.0)


def _draw_errors(axes: Axes, found: Picking, task: str) -> None:

    allowed = TASKS[task]
    for (name, variant), picks in found.picks.items():
        if name == task and variant != "eq. 124" and picks:
            errors = 1e3 * found.errors(task, variant)[:, :2]
            axes.loglog(*errors.T, ".", color=_COLORS[variant], alpha=0.8, label=variant)
    size = (1e3 * allowed.across, 1e3 * allowed.along)
    axes.add_patch(Rectangle((0.0, 0.0), *size, color=style.SHADE, zorder=0, label="tolerance"))
    label(axes, f"Not in D4.2: errors at contact, {task}", "error across [mm]", "error along [mm]")


def plot_pick(found: SimpleNamespace) -> Figure:
    """Draw one pick over time: distance and angle to the object, errors of the estimates, age of the last picture."""
    figure, panels = new_panels([["distance", "angle"], ["errors", "age"]], (12.0, 6.5))
    t = found.t
    panels["distance"].plot(t, np.linalg.norm(found.target - found.tip, axis=1), color=style.BLUE)
    label_time(panels["distance"], t, "Not in D4.2: one pick, from tool to object", "distance [m]")
    panels["angle"].plot(t, np.degrees(found.angle), color=style.BLUE)
    label_time(panels["angle"], t, "Not in D4.2: one pick, from tool to goal", "angle [deg]")
    seen = 1e3 * np.linalg.norm(found.estimated_target - found.target, axis=1)
    panels["errors"].semilogy(t, seen, color=style.GREEN, label="estimate of the object")
    panels["errors"].semilogy(t, 1e3 * found.tool_error, color=style.VERMILION, label="estimate of the tool")
    label_time(panels["errors"], t, "Not in D4.2: errors of the estimates", "position error [mm]")
    panels["age"].plot(t, found.age, color=style.PINK)
    label_time(panels["age"], t, "Not in D4.2: age of the last good picture of the object", "age [s]")
    for k, event in enumerate(found.events, start=1):
        for axes in panels.values():
            axes.axvline(event.t, color=style.GRAY, linewidth=style.THIN, linestyle=":")
            axes.text(event.t, 1.0, f" {k}", transform=axes.get_xaxis_transform(), fontsize=8, va="top")
    phases = ", ".join(f"{k} {event.after.value}" for k, event in enumerate(found.events, start=1))
    figure.suptitle(f"phases: {phases}", fontsize="medium")
    return outside_legend(figure, panels["errors"])


_PAPER, _LOG = _COLORS["eq. 124"], _COLORS["servoing"]


def plot_servoing_domain(gain: float = 2.0, duration: float = 3.0) -> Figure:
    """Draw the angle over time for both orientation errors, and the angular speed asked for over the angle.

    Parameters
    ----------
    gain : float
        K_o [1/s].
    duration : float
        [s].

    Notes
    -----
    Closed solutions with a target at rest: sin(theta) falls as exp(-K t) for r sin(theta), theta for r theta. Past a
    right angle the law without its guard would lead to half a turn.
    """
    figure, panels = new_panels([["course", "speed"]], (11.0, 4.6))
    course, speed = panels["course"], panels["speed"]
    t = np.linspace(0.0, duration, 300)
    for degrees in (20.0, 50.0, 80.0, 88.0, 100.0, 130.0, 160.0):
        fallen = np.degrees(np.arcsin(np.sin(np.radians(degrees)) * np.exp(-gain * t)))
        inside = degrees < 90.0
        course.plot(t, fallen if inside else 180.0 - fallen, color=_PAPER, linestyle="-" if inside else "--")
        course.plot(t, degrees * np.exp(-gain * t), color=_LOG, linewidth=0.9)
    course.plot([], [], color=_PAPER, label="eq. 124")
    course.plot([], [], color=_PAPER, linestyle="--", label="eq. 124 past its domain, unguarded")
    course.plot([], [], color=_LOG, label="logarithm")
    course.axhspan(90.0, 180.0, color=style.SHADE, zorder=0, label="outside the domain of eq. 124")
    title = f"D4.2, eq. 124 and the logarithm, K = {gain:g} 1/s"
    label(course, title, "time [s]", "angle to the target [deg]", ylim=(0.0, 180.0))
    angle = np.linspace(0.0, 89.9, 500)
    speed.plot(angle, np.degrees(gain * np.tan(np.radians(angle))), color=_PAPER)
    speed.plot([0.0, 180.0], [0.0, 180.0 * gain], color=_LOG)
    speed.axvspan(90.0, 180.0, color=style.SHADE, zorder=0)
    label(
        speed, "D4.2, eq. 124: K tan(angle); logarithm: K angle", "angle to the target [deg]",
        "commanded angular speed [deg/s]", xlim=(0.0, 180.0), ylim=(0.0, 600.0 * gain),
    )  # fmt: skip
    return outside_legend(figure, course)


def plot_physical_picking(found: PhysicalPicking) -> Figure:
    """Draw success rates with their intervals and the times of picks, by hand and object."""
    figure, panels = new_panels([["rates", "times"]], (11.0, 4.0), "D4.2, Figures 44 and 45, with contact")
    groups = list(dict.fromkeys((p.case.hand, p.case.shape) for p in found.trials))
    for k, (hand, shape) in enumerate(groups):
        chosen = found.of(hand=hand, shape=shape)
        color = {"gripper": style.BLUE, "compliant": style.GREEN}.get(hand, style.ORANGE)
        draw_rates(panels["rates"], np.array([k]), [[p.success for p in chosen]], color, hand)
        times = [p.picking for p in chosen if p.success]
        panels["times"].plot(np.full(len(times), k), times, "o", color=color, ms=4, alpha=0.6)
    panels["rates"].axhline(100.0 * REPORTED_RATE, color=style.TRUTH, ls="--", lw=style.THIN, label="report")
    for axes, text in ((panels["rates"], "success [%]"), (panels["times"], "time of a pick [s]")):
        axes.set_xticks(range(len(groups)), [shape for _, shape in groups])
        label(axes, "", "object", text)
    panels["rates"].set_ylim(-3.0, 105.0)
    return outside_legend(figure, panels["rates"])
