"""Figures of motions of the elastic wrist."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from ...plotting.panels import panels
from ...plotting.style import BLUE, GRAY, GREEN, ORANGE, PINK, TRUTH, VERMILION, figure_of, label, outside_legend

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .joint_plan import JointThrow
    from .motor_plan import MotorPlan
    from .throw import WristThrow


def plot_throw(throw: WristThrow, *, axes: Mapping[str, Axes] | None = None) -> dict[str, Axes]:
    """Draw an optimal motion of the motor; see `WristThrow.plot`."""
    draw = {"control": _draw_control, "motion": _draw_motion, "phase": _draw_phase}
    drawn = panels(axes, [list(draw)], (12.0, 4.2))
    for name, ax in drawn.items():
        draw[name](throw, ax)
    return _with_legend(drawn, axes)


def _with_legend(drawn: dict[str, Axes], axes: Mapping[str, Axes] | None) -> dict[str, Axes]:
    """Add a legend to a new figure; on existing axes it is left to the caller."""
    if axes is None:
        outside_legend(figure_of(next(iter(drawn.values()))), *drawn.values(), ncols=8)
    return drawn


def _draw_control(throw: WristThrow, ax: Axes) -> None:
    """Draw the motor angle and the scaled switching function."""
    t = throw.times()
    ax.step(t, throw.theta(t), where="post", color=GREEN, label="motor $\\theta$")
    offset = throw.oscillator.offset
    if offset:
        ax.axhline(offset, color=GRAY, linewidth=0.8, linestyle=":", label="$\\theta_g$, holds gravity")
    if math.isfinite(throw.nu):
        second = throw.costates(t)[:, 1]
        ax.plot(t, offset + 0.5 * second / np.abs(second).max(), color=ORANGE, label="$\\lambda_2$, scaled")
    for switch in throw.switches:
        ax.axvline(switch, color=GRAY, linewidth=0.6)
    title = "motor and switching function" if throw.agrees() else "not optimal: signs disagree"
    label(ax, title, "time [s]", "motor angle [rad]")


def _draw_motion(throw: WristThrow, ax: Axes) -> None:
    t = throw.times()
    q, dq = throw.state(t)
    ax.plot(t, q, color=BLUE, label="q")
    ax.plot(t, dq / throw.oscillator.omega0, color=VERMILION, label="dq / $\\omega_0$")
    label(ax, "motion", "time [s]", "q, dq / $\\omega_0$ [rad]")


def _draw_phase(throw: WristThrow, ax: Axes) -> None:
    """Draw the phase portrait, with dq / omega0; without losses it consists of circular arcs."""
    starts = np.append(throw.starts, throw.T)
    for k, u in enumerate(throw.values):
        color, name = (BLUE, "upper bound of u") if u > 0.0 else (PINK, "lower bound of u")
        q, dq = throw.state(np.linspace(starts[k], starts[k + 1], 120))
        ax.plot(q, dq / throw.oscillator.omega0, color=color, label=name)
        ax.plot(throw.oscillator.gain * u, 0.0, "+", color=color)
    q, dq = throw.state(throw.switches)
    ax.plot(q, dq / throw.oscillator.omega0, "o", color=TRUTH, markersize=4, label="switches")
    ax.plot(0.0, throw.speed / throw.oscillator.omega0, "*", color=VERMILION, markersize=9, label="release")
    ax.axvline(0.0, color=GRAY, linewidth=0.6)
    label(ax, "phase portrait", "q [rad]", "dq / $\\omega_0$ [rad]", aspect="equal")


def plot_base_and_motor(throw: JointThrow, *, axes: Mapping[str, Axes] | None = None) -> dict[str, Axes]:
    """Draw the joint optimum; see `JointThrow.plot`."""
    drawn = panels(axes, [["angle", "acceleration", "speed"]], (12.0, 4.2))
    t, (theta, ddx, ddz), states = throw.t, throw.controls.T, throw.states
    if ax := drawn.get("angle"):
        ax.plot(t, states[:, 0], color=BLUE, label="wrist q")
        ax.stairs(theta, t, baseline=None, color=GREEN, label="motor $\\theta$")
        label(ax, f"base and wrist together: {throw.speed:.2f} m/s", "time [s]", "angle [rad]")
    if ax := drawn.get("acceleration"):
        ax.stairs(ddx, t, baseline=None, color=PINK, label="base, x")
        ax.stairs(ddz, t, baseline=None, color=ORANGE, label="base, z")
        label(ax, "acceleration of the base", "time [s]", "acceleration [m/s²]")
    if ax := drawn.get("speed"):
        ax.plot(t, states[:, 3], color=PINK, label="base, x")
        ax.plot(t, states[:, 5], color=ORANGE, label="base, z")
        ax.plot(t, throw.tip * states[:, 1], "--", color=BLUE, label="tip relative to the base, tip dq")
        label(ax, "speeds", "time [s]", "speed [m/s]")
    return _with_legend(drawn, axes)


def plot_plan(plan: MotorPlan, *, axes: Mapping[str, Axes] | None = None) -> dict[str, Axes]:
    """Draw the motions of motor and wrist; see `MotorPlan.plot`."""
    drawn = panels(axes, [["position", "velocity"]], (11.0, 4.2))
    if ax := drawn.get("position"):
        fine = np.linspace(plan.t[0], plan.t[-1], 8 * plan.t.size)
        ax.plot(fine, plan.motor(fine), color=GREEN, label="motor $\\theta$")
        ax.plot(plan.t, plan.q, color=BLUE, label="wrist q")
        label(ax, "wrist and motor", "time [s]", "angle [rad]")
    if ax := drawn.get("velocity"):
        ax.plot(plan.t, plan.dq, color=BLUE, label="wrist q")
        label(ax, f"wrist: {plan.speed:.2f} rad/s at release", "time [s]", "dq [rad/s]")
    return _with_legend(drawn, axes)
