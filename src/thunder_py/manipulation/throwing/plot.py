"""Figures of throws."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from ...plotting.panels import panels
from ...plotting.style import TRUTH, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .motion import ThrowMotion

__all__ = ["plot_motion"]


def plot_motion(motion: ThrowMotion, *, axes: Mapping[str, Axes] | None = None) -> dict[str, Axes]:
    """Draw positions, velocities, accelerations and torques of one cycle; see `ThrowMotion.plot`."""
    t = np.linspace(0.0, motion.cycle, 600)
    q, dq, ddq = motion.joints(t, 1)
    limits = motion.limits
    parts = {
        "position": (q - limits.center) / limits.half_range,
        "velocity": dq / limits.velocity,
        "acceleration": ddq / limits.acceleration,
        "torque": motion.robot.inverse_dynamics(q, dq, ddq) / limits.effort,
    }
    layout = [["position", "velocity"], ["acceleration", "torque"]]
    drawn = panels(axes, layout, (10.0, 6.0), sharex=True)
    for name, ax in drawn.items():
        lines = ax.plot(t, parts[name], linewidth=1.1)
        for edge in (-1.0, 1.0):
            ax.axhline(edge, color=TRUTH, linestyle="--", linewidth=0.8)
        release = ax.axvline(motion.release_time, color=TRUTH, linestyle=":", linewidth=1.0)
        ax.set_ylabel(f"{name}, part of its limit")
        if name == "position":
            ax.legend([*lines, release], [*motion.robot.joint_names, "release"], fontsize="x-small", ncols=2)
        if name in layout[1]:
            ax.set_xlabel("time [s]")
        tidy(ax)
    return drawn
