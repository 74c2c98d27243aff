"""The planar elbow of Gabiccini et al. (2009): the arm and its torques."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Arc

from ...checks import Array
from ...model.model import RobotModel
from ...plotting.panels import new_panels
from ...plotting.space import draw_sticks
from ...plotting.style import BLUE, GREEN, LINE, SKY, TRUTH, VERMILION, label, label_time, outside_legend
from ...robot.frames import arm_frames
from .run import Elbow2009, motion

_LINKS = (BLUE, GREEN)
_GHOSTS = 7


def plot_elbow(experiment: Elbow2009) -> Figure:
    """Draw the arm along a motion on the left, torques of both joints on the right."""
    title = "Gabiccini et al. (2009), section 5: the planar elbow"
    figure, panels = new_panels([["arm", "0"], ["arm", "1"]], (12, 5.5), title, width_ratios=(1.0, 1.4))
    _draw_arm(panels["arm"], experiment.model.robot, motion(np.linspace(0.05, 1.6, _GHOSTS))[0])
    t = np.linspace(0.0, 2.0 * np.pi, 400)
    torques = experiment.torques(t)
    for joint in range(2):
        axes = panels[str(joint)]
        axes.plot(t, torques["printed"][:, joint], color=VERMILION, label="as printed", linewidth=LINE)
        axes.plot(t, torques["kernel"][:, joint], color=SKY, linewidth=4.0, alpha=0.6, label="this package")
        corrected = "as printed, errata G-1 and G-2 corrected"
        axes.plot(t, torques["corrected"][:, joint], "--", color=TRUTH, linewidth=1.0, label=corrected)
        label_time(axes, t, f"$Y_r \\pi$ along a motion, joint {joint + 1}", "torque [N m]")
    return outside_legend(figure, panels["0"])


def _points(robot: RobotModel, q: Array) -> tuple[Array, Array]:
    """Return base and frame origins (3, 2), and the centers of mass (2, 2), in the plane."""
    frames = arm_frames(robot, q)[:3]
    bodies = robot.inertial
    centers = [T @ np.append(body[1:4] / body[0], 1.0) for T, body in zip(frames[1:], bodies, strict=True)]
    return frames[:, :2, 3], np.array(centers)[:, :2]


def _draw_arm(axes: Axes, robot: RobotModel, configurations: Array) -> None:
    shown = int(np.argmax(configurations[:, 1]))
    for k, q in enumerate(configurations):
        front = k == shown
        origins, centers = _points(robot, q)
        for link in range(2):
            style: dict[str, Any] = {"linewidth": 6.0, "marker": "", "solid_capstyle": "round"}
            draw_sticks(axes, origins[None, link : link + 2], _LINKS[link], (1.0 if front else 0.15,), **style)
        if front:
            axes.plot(*origins[:2].T, "o", color="white", markeredgecolor=TRUTH, markersize=9)
            axes.plot(*centers.T, "x", color=TRUTH, markersize=8, markeredgewidth=2)
            _annotate(axes, q, origins, centers)
    label(axes, "Figure 2, with a motion; frames at the links' ends", "x [m]", "y [m]", aspect="equal")


def _annotate(axes: Axes, q: Array, origins: Array, centers: Array) -> None:

    angles = np.degrees(np.concatenate([[0.0], np.cumsum(q)]))
    for joint in range(2):
        start, end = sorted((angles[joint], angles[joint + 1]))
        direction = np.radians(angles[joint])
        reach = 0.26 * np.array([np.cos(direction), np.sin(direction)])
        axes.plot(*np.transpose([origins[joint], origins[joint] + reach]), ":", color=TRUTH, linewidth=1.0)
        axes.add_patch(Arc(tuple(origins[joint]), 0.36, 0.36, theta1=start, theta2=end, color=TRUTH))
        middle = np.radians((start + end) / 2)
        position = origins[joint] + 0.24 * np.array([np.cos(middle), np.sin(middle)])
        axes.text(position[0], position[1], f"$q_{joint + 1}$", ha="center", va="center")
        axes.annotate(
            f"$G_{joint + 1}$", centers[joint], xytext=((8, -12), (-4, -20))[joint], textcoords="offset points"
        )
        axes.annotate(
            f"$O_{joint + 1}$", origins[joint + 1], xytext=((8, 4), (-6, -18))[joint], textcoords="offset points"
        )
    arrow = {"arrowstyle": "->"}
    axes.annotate("g", (0.05, 0.72), (0.05, 0.9), xycoords="axes fraction", arrowprops=arrow, ha="center")
