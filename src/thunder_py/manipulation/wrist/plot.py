"""Figures of motions of the elastic wrist."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ...plotting.style import BLUE, GRAY, GREEN, ORANGE, PINK, TRUTH, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .collocation import JointThrow
    from .motor_plan import MotorPlan
    from .throw import WristThrow

__all__ = ["draw_control", "draw_phase", "draw_together", "plot_plan", "plot_throw", "plot_together"]


def plot_throw(throw: WristThrow) -> Figure:
    """Draw an optimal motion of the motor: control and switching function, motion, phase portrait.

    Parameters
    ----------
    throw : WristThrow
        Result of `one_switch` or `free_switching`.
    """
    import matplotlib.pyplot as plt

    figure, (control, motion, phase) = plt.subplots(1, 3, figsize=(13, 3.8), layout="constrained")
    draw_control(throw, control)
    t = throw.times()
    q, dq = throw.state(t)
    motion.plot(t, q, color=BLUE, label="q [rad]")
    motion.plot(t, dq / throw.oscillator.omega0, color=ORANGE, label="dq / $\\omega_0$ [rad]")
    motion.set(xlabel="time [s]", title="motion")
    motion.legend(fontsize="small")
    draw_phase(throw, phase)
    for axes in (control, motion, phase):
        tidy(axes)
    return figure


def draw_control(throw: WristThrow, axes: Axes) -> None:
    """Draw the motor angle and the scaled switching function.

    Parameters
    ----------
    throw : WristThrow
    axes : Axes
    """
    t = throw.times()
    axes.step(t, throw.theta(t), where="post", color=BLUE, label="motor $\\theta$ [rad]")
    offset = throw.oscillator.offset
    if offset:
        axes.axhline(offset, color=GRAY, linewidth=0.8, linestyle=":", label="$\\theta_g$, holds gravity")
    if math.isfinite(throw.nu):
        second = throw.costates(t)[:, 1]
        axes.plot(t, offset + 0.5 * second / np.abs(second).max(), color=ORANGE, label="$\\lambda_2$, scaled")
    for switch in throw.switches:
        axes.axvline(switch, color=GRAY, linewidth=0.6)
    axes.set(
        xlabel="time [s]", title="motor and switching function" if throw.agrees() else "not optimal: signs disagree"
    )
    low, high = axes.get_ylim()
    axes.set_ylim(low, high + 0.3 * (high - low))  # room for the legend above the switches
    axes.legend(fontsize="small", loc="upper center", ncols=2)


def draw_phase(throw: WristThrow, axes: Axes) -> None:
    """Draw the phase portrait, with dq / omega0; without losses it consists of circular arcs.

    Parameters
    ----------
    throw : WristThrow
    axes : Axes
    """
    starts = np.append(throw.starts, throw.T)
    for k, u in enumerate(throw.values):
        color = BLUE if u > 0.0 else PINK
        q, dq = throw.state(np.linspace(starts[k], starts[k + 1], 120))
        axes.plot(q, dq / throw.oscillator.omega0, color=color)
        axes.plot(throw.oscillator.gain * u, 0.0, "+", color=color)
    q, dq = throw.state(throw.switches)
    axes.plot(q, dq / throw.oscillator.omega0, "o", color=TRUTH, markersize=4, label="switches")
    axes.plot(0.0, throw.speed / throw.oscillator.omega0, "*", color=ORANGE, markersize=9, label="release")
    axes.axvline(0.0, color=GRAY, linewidth=0.6)
    axes.set(xlabel="q [rad]", ylabel="dq / $\\omega_0$ [rad]", title="phase portrait", aspect="equal")
    axes.legend(fontsize="small")


def draw_together(throw: JointThrow, axes: Axes) -> None:
    """Draw the motions of wrist, motor and base in the joint optimum.

    Parameters
    ----------
    throw : JointThrow
    axes : Axes
    """
    t, (theta, ddx, ddz) = throw.t, throw.controls.T
    most = float(np.abs(throw.controls[:, 1:]).max())
    axes.plot(t, throw.states[:, 0], color=BLUE, label="wrist q [rad]")
    axes.stairs(theta, t, baseline=None, color=GREEN, label="motor $\\theta$ [rad]")
    for values, color, name in ((ddx, PINK, "x"), (ddz, ORANGE, "z")):
        axes.stairs(values / most, t, baseline=None, color=color, label=f"base, dd{name} / {most:g} m/s$^2$")
    axes.set(xlabel="time [s]", title=f"base and wrist together: {throw.speed:.2f} m/s")
    axes.legend(fontsize="small", loc="lower left")


def plot_together(throw: JointThrow) -> Figure:
    """Draw controls and wrist of the joint optimum, and the speeds of base and tip.

    Parameters
    ----------
    throw : JointThrow
    """
    import matplotlib.pyplot as plt

    figure, (controls, base) = plt.subplots(1, 2, figsize=(11, 3.8), layout="constrained")
    draw_together(throw, controls)
    base.plot(throw.t, throw.states[:, 3], color=PINK, label="base, dx")
    base.plot(throw.t, throw.states[:, 5], color=ORANGE, label="base, dz")
    base.plot(throw.t, throw.tip * throw.states[:, 1], color=BLUE, label="tip dq")
    base.set(xlabel="time [s]", ylabel="[m/s]", title="speeds")
    base.legend(fontsize="small")
    for axes in (controls, base):
        tidy(axes)
    return figure


def plot_plan(plan: MotorPlan) -> Figure:
    """Draw the motions of motor and wrist.

    Parameters
    ----------
    plan : MotorPlan
    """
    import matplotlib.pyplot as plt

    figure, (angle, rate) = plt.subplots(1, 2, figsize=(11, 3.8), layout="constrained")
    fine = np.linspace(plan.t[0], plan.t[-1], 8 * plan.t.size)
    angle.plot(fine, plan.motor(fine), color=GREEN, label="motor $\\theta$")
    angle.plot(plan.t, plan.q, color=BLUE, label="wrist q")
    angle.set(xlabel="time [s]", ylabel="[rad]", title="wrist and motor")
    angle.legend(fontsize="small")
    rate.plot(plan.t, plan.dq, color=BLUE)
    rate.set(xlabel="time [s]", ylabel="dq [rad/s]", title=f"wrist: {plan.speed:.2f} rad/s at release")
    for axes in (angle, rate):
        tidy(axes)
    return figure
