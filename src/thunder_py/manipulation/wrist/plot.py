"""Figures of motions of the elastic wrist."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ...plotting.style import BLUE, GRAY, GREEN, ORANGE, PINK, TRUTH, VERMILION, label, outside_legend

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .collocation import JointThrow
    from .motor_plan import MotorPlan
    from .throw import WristThrow

__all__ = ["draw_control", "draw_phase", "plot_plan", "plot_throw", "plot_together"]


def plot_throw(throw: WristThrow) -> Figure:
    """Draw an optimal motion of the motor: control and switching function, motion, phase portrait.

    Parameters
    ----------
    throw : WristThrow
        Result of `one_switch` or `free_switching`.
    """
    import matplotlib.pyplot as plt

    figure, (control, motion, phase) = plt.subplots(1, 3, figsize=(12, 4.2), layout="constrained")
    draw_control(throw, control)
    t = throw.times()
    q, dq = throw.state(t)
    motion.plot(t, q, color=BLUE, label="q")
    motion.plot(t, dq / throw.oscillator.omega0, color=VERMILION, label="dq / $\\omega_0$")
    label(motion, "motion", "time [s]", "q, dq / $\\omega_0$ [rad]")
    draw_phase(throw, phase)
    outside_legend(figure, control, motion, phase, ncols=8)
    return figure


def draw_control(throw: WristThrow, axes: Axes) -> None:
    """Draw the motor angle and the scaled switching function, without a legend.

    Parameters
    ----------
    throw : WristThrow
    axes : Axes
    """
    t = throw.times()
    axes.step(t, throw.theta(t), where="post", color=GREEN, label="motor $\\theta$")
    offset = throw.oscillator.offset
    if offset:
        axes.axhline(offset, color=GRAY, linewidth=0.8, linestyle=":", label="$\\theta_g$, holds gravity")
    if math.isfinite(throw.nu):
        second = throw.costates(t)[:, 1]
        axes.plot(t, offset + 0.5 * second / np.abs(second).max(), color=ORANGE, label="$\\lambda_2$, scaled")
    for switch in throw.switches:
        axes.axvline(switch, color=GRAY, linewidth=0.6)
    title = "motor and switching function" if throw.agrees() else "not optimal: signs disagree"
    label(axes, title, "time [s]", "motor angle [rad]")


def draw_phase(throw: WristThrow, axes: Axes) -> None:
    """Draw the phase portrait, with dq / omega0; without losses it consists of circular arcs. It has no legend.

    Parameters
    ----------
    throw : WristThrow
    axes : Axes
    """
    starts = np.append(throw.starts, throw.T)
    for k, u in enumerate(throw.values):
        color, name = (BLUE, "upper bound of u") if u > 0.0 else (PINK, "lower bound of u")
        q, dq = throw.state(np.linspace(starts[k], starts[k + 1], 120))
        axes.plot(q, dq / throw.oscillator.omega0, color=color, label=name)
        axes.plot(throw.oscillator.gain * u, 0.0, "+", color=color)
    q, dq = throw.state(throw.switches)
    axes.plot(q, dq / throw.oscillator.omega0, "o", color=TRUTH, markersize=4, label="switches")
    axes.plot(0.0, throw.speed / throw.oscillator.omega0, "*", color=VERMILION, markersize=9, label="release")
    axes.axvline(0.0, color=GRAY, linewidth=0.6)
    label(axes, "phase portrait", "q [rad]", "dq / $\\omega_0$ [rad]", aspect="equal")


def plot_together(throw: JointThrow) -> Figure:
    """Draw angles, accelerations of the base, and speeds of base and tip in the joint optimum.

    Parameters
    ----------
    throw : JointThrow
    """
    import matplotlib.pyplot as plt

    figure, (angles, base, speeds) = plt.subplots(1, 3, figsize=(12, 4.2), layout="constrained")
    t, (theta, ddx, ddz) = throw.t, throw.controls.T
    angles.plot(t, throw.states[:, 0], color=BLUE, label="wrist q")
    angles.stairs(theta, t, baseline=None, color=GREEN, label="motor $\\theta$")
    base.stairs(ddx, t, baseline=None, color=PINK, label="base, x")
    base.stairs(ddz, t, baseline=None, color=ORANGE, label="base, z")
    speeds.plot(t, throw.states[:, 3], color=PINK)
    speeds.plot(t, throw.states[:, 5], color=ORANGE)
    speeds.plot(t, throw.tip * throw.states[:, 1], color=BLUE, linestyle="--", label="tip relative to the base, tip dq")
    label(angles, f"base and wrist together: {throw.speed:.2f} m/s", "time [s]", "angle [rad]")
    label(base, "acceleration of the base", "time [s]", "acceleration [m/s²]")
    label(speeds, "speeds", "time [s]", "speed [m/s]")
    outside_legend(figure, angles, base, speeds)
    return figure


def plot_plan(plan: MotorPlan) -> Figure:
    """Draw the motions of motor and wrist.

    Parameters
    ----------
    plan : MotorPlan
    """
    import matplotlib.pyplot as plt

    figure, (angle, rate) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
    fine = np.linspace(plan.t[0], plan.t[-1], 8 * plan.t.size)
    angle.plot(fine, plan.motor(fine), color=GREEN, label="motor $\\theta$")
    angle.plot(plan.t, plan.q, color=BLUE, label="wrist q")
    rate.plot(plan.t, plan.dq, color=BLUE)
    label(angle, "wrist and motor", "time [s]", "angle [rad]")
    label(rate, f"wrist: {plan.speed:.2f} rad/s at release", "time [s]", "dq [rad/s]")
    outside_legend(figure, angle)
    return figure
