"""Figures of throws."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...plotting.style import TRUTH, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .motion import ThrowMotion

__all__ = ["plot_motion"]


def plot_motion(motion: ThrowMotion) -> Figure:
    """Draw positions, velocities, accelerations and torques of one cycle as fractions of their limits."""
    import matplotlib.pyplot as plt

    t = np.linspace(0.0, motion.cycle, 600)
    q, dq, ddq = motion.joints(t, 1)
    limits = motion.limits
    parts = {
        "position": (q - limits.center) / limits.half_range,
        "velocity": dq / limits.velocity,
        "acceleration": ddq / limits.acceleration,
        "torque": motion.robot.inverse_dynamics(q, dq, ddq) / limits.effort,
    }
    figure, axes = plt.subplots(2, 2, figsize=(10, 6), sharex=True, constrained_layout=True)
    for ax, (name, values) in zip(axes.flat, parts.items(), strict=True):
        for joint, row in zip(motion.robot.joint_names, values.T, strict=True):
            ax.plot(t, row, label=joint, linewidth=1.1)
        for edge in (-1.0, 1.0):
            ax.axhline(edge, color=TRUTH, linestyle="--", linewidth=0.8)
        _mark_release(ax, motion)
        ax.set_ylabel(f"{name}, part of its limit")
        tidy(ax)
    for ax in axes[1]:
        ax.set_xlabel("time [s]")
    axes[0, 0].legend(fontsize="x-small", ncols=2)
    figure.suptitle("Swing, stop and way back; dotted: release")
    return figure


def _mark_release(axes: Axes, motion: ThrowMotion) -> None:
    axes.axvline(motion.release_time, color=TRUTH, linestyle=":", linewidth=1.0)
