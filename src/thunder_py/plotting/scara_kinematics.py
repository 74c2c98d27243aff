"""Figures of the SCARA project's first chapter: ellipsoids."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..checks import Array
from .arm import arm_points, draw_sticks
from .ellipsoid import ellipsoid_outline
from .style import COLORS, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..experiments.scara_kinematics import ScaraKinematics
    from ..robot import Ellipsoid, Robot

__all__ = ["draw_arm", "plot_postures", "plot_workspace"]

_ARM = "#444444"
_REACH = 1.0
#: metres in the picture for 1 m/s and 1 N; a long axis is cut off by the frame, not by us
_SCALES = {"velocity": 0.35, "force": 0.08}
_SMALLER = {"velocity": 0.25, "force": 0.15}  # than in the figure of single postures


def draw_arm(axes: Axes, robot: Robot, q: npt.ArrayLike) -> None:
    """Draw the two links seen from above."""
    draw_sticks(axes, arm_points(robot, q)[None, :3, :2])


def _draw(axes: Axes, centre: Array, ellipsoid: Ellipsoid, scale: float, color: str) -> None:
    x, y = centre[:, None] + ellipsoid_outline(ellipsoid, scale, points=121)
    axes.plot(x, y, color=color, linewidth=1.2)
    axes.fill(x, y, color=color, alpha=0.15)


def plot_postures(kinematics: ScaraKinematics) -> Figure:
    """Draw velocity (above) and force ellipsoids (below) in q1, q2 and q3."""
    from matplotlib.pyplot import subplots

    from ..experiments.scara_kinematics import POSTURES

    figure, panels = subplots(2, len(POSTURES), figsize=(11, 6.5), layout="constrained")
    for line, (kind, color) in zip(panels, (("velocity", COLORS[0]), ("force", COLORS[1])), strict=True):
        for panel, (name, q) in zip(line, POSTURES.items(), strict=True):
            tip = kinematics.robot.forward_kinematics(q)[:2, 3]
            ellipsoid = getattr(kinematics, kind)(q)
            draw_arm(panel, kinematics.robot, q)
            _draw(panel, tip, ellipsoid, _SCALES[kind], color)
            longest, shortest = ellipsoid.lengths
            unit = "m/s" if kind == "velocity" else "N"
            panel.set_title(f"{kind}, {name[0]}$_{name[1]}$: {longest:.3g} by {shortest:.3g} {unit}", fontsize="medium")
            _frame(panel, (-0.6, 1.6), (-0.4, 1.4))
    return figure


def plot_workspace(kinematics: ScaraKinematics) -> Figure:
    """Draw both ellipsoids at many places of the workspace; by symmetry their shape depends on the radius alone."""
    from matplotlib.pyplot import subplots

    from ..experiments.scara_kinematics import inverse_kinematics

    figure, panels = subplots(1, 2, figsize=(11, 5.6), layout="constrained")
    for panel, (kind, color) in zip(panels, (("velocity", COLORS[0]), ("force", COLORS[1])), strict=True):
        for radius in (0.25, 0.4, 0.55, 0.7, 0.85, 0.97):
            for azimuth in np.arange(-150.0, 181.0, 30.0):
                tip = radius * np.array([np.cos(np.radians(azimuth)), np.sin(np.radians(azimuth)), 0.0])
                q = inverse_kinematics(tip, 0.0)
                _draw(panel, tip[:2], getattr(kinematics, kind)(q), _SMALLER[kind] * _SCALES[kind], color)
        panel.add_patch(_circle())
        panel.set_title(f"{kind} ellipsoids, elbow to the right")
        _frame(panel, (-1.15, 1.15), (-1.15, 1.15))
    return figure


def _circle() -> object:
    from matplotlib.patches import Circle

    return Circle((0.0, 0.0), _REACH, fill=False, linestyle="--", color=_ARM)


def _frame(axes: Axes, x: tuple[float, float], y: tuple[float, float]) -> None:
    axes.set(xlim=x, ylim=y, aspect="equal", xlabel="x [m]", ylabel="y [m]")
    tidy(axes)
