"""Figures of throws."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from ...plotting.panels import panels
from ...plotting.style import LINE, THIN, TRUTH, figure_of, label, outside_legend

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .motion import ThrowMotion


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
    drawn = panels(axes, [["position", "velocity"], ["acceleration", "torque"]], (10.0, 6.5))
    for name, ax in drawn.items():
        for joint, values in zip(motion.robot.joint_names, parts[name].T, strict=True):
            ax.plot(t, values, linewidth=LINE, label=joint)
        for edge in (-1.0, 1.0):
            ax.axhline(edge, color=TRUTH, linestyle="--", linewidth=THIN, label="limit")
        ax.axvline(motion.release_time, color=TRUTH, linestyle=":", linewidth=1.0, label="release")
        label(ax, name, "time [s]", f"{name} [fraction of its limit]")
    if axes is None:
        outside_legend(figure_of(next(iter(drawn.values()))), *drawn.values(), ncols=9)
    return drawn
