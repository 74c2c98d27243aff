"""Figures of motions of the elastic wrist."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from ...plotting.panels import panels
from ...plotting.style import tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .collocation import JointThrow
    from .motor_plan import MotorPlan
    from .throw import WristThrow

__all__ = ["plot_plan", "plot_throw", "plot_together"]

_BLUE, _ORANGE, _GREEN, _PINK, _GRAY = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#888888"


def plot_throw(throw: WristThrow, *, axes: Mapping[str, Axes] | None = None) -> dict[str, Axes]:
    """Draw an optimal motion of the motor; see `WristThrow.plot`."""
    draw = {"control": _draw_control, "motion": _draw_motion, "phase": _draw_phase}
    drawn = panels(axes, [list(draw)], (13.0, 3.8))
    for name, ax in drawn.items():
        draw[name](throw, ax)
        tidy(ax)
    return drawn


def _draw_control(throw: WristThrow, axes: Axes) -> None:
    """Draw the motor angle and the scaled switching function."""
    t = throw.times()
    axes.step(t, throw.theta(t), where="post", color=_BLUE, label="motor $\\theta$ [rad]")
    offset = throw.oscillator.offset
    if offset:
        axes.axhline(offset, color=_GRAY, linewidth=0.8, linestyle=":", label="$\\theta_g$, holds gravity")
    if math.isfinite(throw.nu):
        second = throw.costates(t)[:, 1]
        axes.plot(t, offset + 0.5 * second / np.abs(second).max(), color=_ORANGE, label="$\\lambda_2$, scaled")
    for switch in throw.switches:
        axes.axvline(switch, color=_GRAY, linewidth=0.6)
    axes.set(
        xlabel="time [s]", title="motor and switching function" if throw.agrees() else "not optimal: signs disagree"
    )
    low, high = axes.get_ylim()
    axes.set_ylim(low, high + 0.3 * (high - low))  # room for the legend above the switches
    axes.legend(fontsize="small", loc="upper center", ncols=2)


def _draw_motion(throw: WristThrow, axes: Axes) -> None:
    t = throw.times()
    q, dq = throw.state(t)
    axes.plot(t, q, color=_BLUE, label="q [rad]")
    axes.plot(t, dq / throw.oscillator.omega0, color=_ORANGE, label="dq / $\\omega_0$ [rad]")
    axes.set(xlabel="time [s]", title="motion")
    axes.legend(fontsize="small")


def _draw_phase(throw: WristThrow, axes: Axes) -> None:
    """Draw the phase portrait, with dq / omega0; without losses it consists of circular arcs."""
    starts = np.append(throw.starts, throw.T)
    for k, u in enumerate(throw.values):
        color = _BLUE if u > 0.0 else _PINK
        q, dq = throw.state(np.linspace(starts[k], starts[k + 1], 120))
        axes.plot(q, dq / throw.oscillator.omega0, color=color)
        axes.plot(throw.oscillator.gain * u, 0.0, "+", color=color)
    q, dq = throw.state(throw.switches)
    axes.plot(q, dq / throw.oscillator.omega0, "o", color="black", markersize=4, label="switches")
    axes.plot(0.0, throw.speed / throw.oscillator.omega0, "*", color=_ORANGE, markersize=9, label="release")
    axes.axvline(0.0, color=_GRAY, linewidth=0.6)
    axes.set(xlabel="q [rad]", ylabel="dq / $\\omega_0$ [rad]", title="phase portrait", aspect="equal")
    axes.legend(fontsize="small")


def plot_together(throw: JointThrow, *, axes: Mapping[str, Axes] | None = None) -> dict[str, Axes]:
    """Draw controls and wrist of the joint optimum, and the speeds of base and tip; see `JointThrow.plot`."""
    drawn = panels(axes, [["control", "speed"]], (11.0, 3.8))
    for name, ax in drawn.items():
        if name == "control":
            _draw_together(throw, ax)
        else:
            ax.plot(throw.t, throw.states[:, 3], color=_PINK, label="base, dx")
            ax.plot(throw.t, throw.states[:, 5], color=_ORANGE, label="base, dz")
            ax.plot(throw.t, throw.tip * throw.states[:, 1], color=_BLUE, label="tip dq")
            ax.set(xlabel="time [s]", ylabel="[m/s]", title="speeds")
            ax.legend(fontsize="small")
        tidy(ax)
    return drawn


def _draw_together(throw: JointThrow, axes: Axes) -> None:
    """Draw the motions of wrist, motor and base in the joint optimum."""
    t, (theta, ddx, ddz) = throw.t, throw.controls.T
    most = float(np.abs(throw.controls[:, 1:]).max())
    axes.plot(t, throw.states[:, 0], color=_BLUE, label="wrist q [rad]")
    axes.stairs(theta, t, baseline=None, color=_GREEN, label="motor $\\theta$ [rad]")
    for values, color, name in ((ddx, _PINK, "x"), (ddz, _ORANGE, "z")):
        axes.stairs(values / most, t, baseline=None, color=color, label=f"base, dd{name} / {most:g} m/s$^2$")
    axes.set(xlabel="time [s]", title=f"base and wrist together: {throw.speed:.2f} m/s")
    axes.legend(fontsize="small", loc="lower left")


def plot_plan(plan: MotorPlan, *, axes: Mapping[str, Axes] | None = None) -> dict[str, Axes]:
    """Draw the motions of motor and wrist; see `MotorPlan.plot`."""
    drawn = panels(axes, [["position", "velocity"]], (11.0, 3.8))
    for name, ax in drawn.items():
        if name == "position":
            fine = np.linspace(plan.t[0], plan.t[-1], 8 * plan.t.size)
            ax.plot(fine, plan.motor(fine), color=_GREEN, label="motor $\\theta$")
            ax.plot(plan.t, plan.q, color=_BLUE, label="wrist q")
            ax.set(xlabel="time [s]", ylabel="[rad]", title="wrist and motor")
            ax.legend(fontsize="small")
        else:
            ax.plot(plan.t, plan.dq, color=_BLUE)
            ax.set(xlabel="time [s]", ylabel="dq [rad/s]", title=f"wrist: {plan.speed:.2f} rad/s at release")
        tidy(ax)
    return drawn
