"""Figures of the picking experiment, and of one pick."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...plotting.style import tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .run import Picking, PickTrace

__all__ = ["plot_pick", "plot_picking", "plot_servoing_domain"]

_COLORS = {
    "servoing": "#0072B2",
    "eq. 124": "#009E73",
    "no tool estimate": "#D55E00",
    "no filter": "#E69F00",
    "look, then move": "#CC79A7",
    "unbiased camera": "#56B4E9",
    "exact camera": "#999999",
}
_REPORT = "#222222"


def plot_picking(found: Picking) -> Figure:
    """Draw success rates with their intervals beside the report's, and errors at contact with what is forgiven."""
    import matplotlib.pyplot as plt

    figure, (rates, *errors) = plt.subplots(
        1, 3, figsize=(13, 4.2), constrained_layout=True, width_ratios=(1.15, 1.0, 1.0)
    )
    _draw_rates(rates, found)
    for axes, task in zip(errors, ("hand", "tool"), strict=True):
        _draw_errors(axes, found, task)
    return figure


def _draw_rates(axes: Axes, found: Picking) -> None:
    from .run import REPORTED_RATE

    labels = []
    for k, (task, variant) in enumerate(found.picks):
        rate, low, high = (100.0 * x for x in found.rate(task, variant))
        axes.barh(k, rate, color=_COLORS[variant], alpha=0.85)
        axes.plot([low, high], [k, k], color=_REPORT, linewidth=1.2)
        labels.append(f"{task}: {variant}")
    axes.axvline(100.0 * REPORTED_RATE, color=_REPORT, linestyle="--", linewidth=1.0)
    axes.text(100.0 * REPORTED_RATE, -0.65, "report ", ha="right", va="bottom", fontsize="small")
    axes.set_yticks(range(len(labels)), labels)
    axes.invert_yaxis()
    axes.set(xlabel="picked [%], 95 % interval", xlim=(0.0, 102.0), title=f"{found.seeds} scenes each")
    tidy(axes)


def _draw_errors(axes: Axes, found: Picking, task: str) -> None:
    from matplotlib.patches import Rectangle

    from .scene import TASKS

    allowed = TASKS[task]
    size = (1e3 * allowed.across, 1e3 * allowed.along)
    axes.add_patch(Rectangle((0.0, 0.0), *size, facecolor="#DDDDDD", edgecolor="none", zorder=0, label="forgiven"))
    shown, beyond = 3.0 * np.array(size), 0
    for (name, variant), picks in found.picks.items():
        if name != task or variant == "eq. 124" or not picks:
            continue
        errors = 1e3 * found.errors(task, variant)[:, :2]
        axes.plot(*errors.T, ".", color=_COLORS[variant], alpha=0.8, label=variant)
        beyond += int(np.count_nonzero((errors > shown).any(axis=1)))
    more = f" ({beyond} beyond)" if beyond else ""
    axes.set(xlabel="error across [mm]", ylabel="error along [mm]", title=f"at contact, {task}{more}")
    axes.set(xlim=(0.0, shown[0]), ylim=(0.0, shown[1]))
    axes.legend(fontsize="small")
    tidy(axes)


def plot_pick(found: PickTrace) -> Figure:
    """Draw one pick over time: distances to the object, errors of the estimates, age of what is seen; its phases."""
    import matplotlib.pyplot as plt

    figure, (distance, errors, age) = plt.subplots(3, 1, figsize=(9, 7), sharex=True, constrained_layout=True)
    t = found.t
    distance.plot(t, np.linalg.norm(found.target - found.tip, axis=1), color="#0072B2", label="tool to object [m]")
    distance.plot(t, found.angle, color="#E69F00", label="angle to the goal [rad]")
    distance.set(ylabel="[m], [rad]")
    seen = 1e3 * np.linalg.norm(found.estimated_target - found.target, axis=1)
    errors.plot(t, seen, color="#009E73", label="of the object")
    errors.plot(t, 1e3 * found.tool_error, color="#D55E00", label="of the tool")
    errors.set(ylabel="errors of the estimates [mm]", yscale="log")
    age.plot(t, np.minimum(found.age, 10.0), color="#CC79A7", label="of the latest good picture of the object")
    age.set(
        ylabel="age [s]", xlabel="time [s]", ylim=(0.0, 1.1 * max(1.0, float(found.age[np.isfinite(found.age)].max())))
    )
    for axes in (distance, errors, age):
        tidy(axes)
        axes.legend(fontsize="small", loc="upper right")
        for event in found.events:
            axes.axvline(event.t, color="#888888", linewidth=0.8, linestyle=":")
    for event in found.events:
        distance.text(event.t, 1.01, f" {event.after.value}", transform=distance.get_xaxis_transform(), fontsize=8)
    return figure


_PAPER, _LOG = "#D55E00", "#0072B2"


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
    import matplotlib.pyplot as plt

    figure, (course, speed) = plt.subplots(1, 2, figsize=(11, 4.2), constrained_layout=True)
    t = np.linspace(0.0, duration, 300)
    for degrees in (20.0, 50.0, 80.0, 88.0, 100.0, 130.0, 160.0):
        fallen = np.degrees(np.arcsin(np.sin(np.radians(degrees)) * np.exp(-gain * t)))
        inside = degrees < 90.0
        course.plot(t, fallen if inside else 180.0 - fallen, color=_PAPER, linestyle="-" if inside else "--")
        course.plot(t, degrees * np.exp(-gain * t), color=_LOG, linewidth=0.9)
    for color, line, label in (
        (_PAPER, "-", "eq. 124"),
        (_PAPER, "--", "eq. 124 past its domain, unguarded"),
        (_LOG, "-", "logarithm"),
    ):
        course.plot([], [], color=color, linestyle=line, label=label)
    course.axhspan(90.0, 180.0, color="#EEEEEE", zorder=0)
    course.set(xlabel="time [s]", ylabel="angle to the target [deg]", ylim=(0.0, 180.0), title=f"K = {gain:g} 1/s")
    angle = np.linspace(0.0, 89.9, 500)
    speed.plot(angle, gain * np.tan(np.radians(angle)), color=_PAPER, label="eq. 124: K tan(theta)")
    whole = np.linspace(0.0, 180.0, 100)
    speed.plot(whole, gain * np.radians(whole), color=_LOG, label="logarithm: K theta")
    speed.axvspan(90.0, 180.0, color="#EEEEEE", zorder=0)
    speed.set(xlabel="angle to the target [deg]", ylabel="angular speed asked for [rad/s]", ylim=(0.0, 20.0))
    speed.set(xlim=(0.0, 180.0), title="outside the domain: gray")
    for axes in (course, speed):
        axes.legend(fontsize="small")
        tidy(axes)
    return figure
