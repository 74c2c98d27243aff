"""Figures of a CLIK's motion."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..plotting.panels import draw_curves, label_column, panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from . import CLIKResult


def plot_clik(result: CLIKResult, *, axes: Mapping[str, Axes] | None = None) -> dict[str, Axes]:
    """Draw joint positions and velocities, task error and manipulability over time; see `CLIKResult.plot`."""
    curves = {
        "q": (result.q, "q [rad, m]", result.joint_names),
        "dq": (result.dq, "dq [rad/s, m/s]", result.joint_names),
        "error": (result.error, "error [m, rad]", result.rows),
        "manipulability": (result.manipulability, "manipulability", ()),
    }
    drawn = panels(axes, list(curves), (8.0, 9.0), sharex=True)
    for name, ax in drawn.items():
        draw_curves(ax, result.t, *curves[name])
    label_column(drawn)
    return drawn
