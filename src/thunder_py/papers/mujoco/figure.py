"""Figure of closed loops on MuJoCo's plant and on ours."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ...plotting import style
from ...plotting.panels import new_panels
from ...plotting.style import draw_truth, label, label_time, outside_legend, positive
from .run import MujocoPlants

#: group of cases -> title of its panel
_TITLES = {
    "article": "Thunder article, as Figure 10",
    "D4.2 joints": "D4.2, as Figure 14",
    "D4.2 hand's pose": "D4.2, as Figure 17",
}
_LAWS = {"adaptive": "backstepping", "fixed": "not adaptive"}


def plot_mujoco_plants(found: MujocoPlants) -> Figure:
    """Draw errors of all loops (lines: our plant, dots: MuJoCo), the estimated mass, torques, and the time step."""
    title = "Closed loops of the Thunder article and of D4.2; lines: our plant, dots: MuJoCo"
    figure, panels = new_panels([[*_TITLES], ["mass", "torque", "step"]], title=title)
    for group in _TITLES:
        _draw_errors(panels[group], found, group)
    _draw_mass(panels["mass"], found)
    _draw_torques(panels["torque"], found)
    _draw_steps(panels["step"], found)
    return outside_legend(figure, *(panels[name] for name in (*_TITLES, "mass")), ncols=8)


def _draw_both(axes: Axes, ours: tuple[Any, Any], theirs: tuple[Any, Any], law: str) -> None:
    """Draw a line for our plant, and dots at some times for MuJoCo's."""
    some = slice(1, None, max(1, len(theirs[0]) // 25))
    axes.plot(*(x[1:] for x in ours), color=style.LAW_COLORS[law], linewidth=style.LINE, label=law)
    axes.plot(*(x[some] for x in theirs), ".", color=style.LAW_COLORS[law], markersize=5)


def _draw_errors(axes: Axes, found: MujocoPlants, group: str) -> None:
    cases = [(case, results) for case, results in zip(found.cases, found.results, strict=True) if case.group == group]
    for case, results in cases:
        ours, theirs = (results[plant] for plant in (found.plants[0], found.plants[-1]))
        law = _LAWS.get(case.name, case.name)
        _draw_both(axes, (ours.t, case.error(ours)), (theirs.t, case.error(theirs)), law)
    unit = cases[0][0].unit if cases else ""
    label(axes, _TITLES[group], "time [s]", f"tracking error [{unit}]", xlim=(0.0, found.duration), yscale="log")


def _draw_mass(axes: Axes, found: MujocoPlants) -> None:
    """Draw the estimated mass of link 7 in the article's run."""
    robot = found.cases[0].robot
    k = robot.parameter_names.index("link7.m")
    ours, theirs = (found.results[0][plant] for plant in (found.plants[0], found.plants[-1]))
    _draw_both(axes, (ours.t, ours.parameters[:, k]), (theirs.t, theirs.parameters[:, k]), "backstepping")
    draw_truth(axes, robot.parameters[k])
    label_time(axes, ours.t, "Thunder article, as Figure 7: mass of link 7", "$m$ [kg]")


def _draw_torques(axes: Axes, found: MujocoPlants) -> None:
    """Draw the difference of torques of the article's adaptive run between our plant and others."""
    ours = found.results[0][found.plants[0]]
    for plant, color in zip(
        found.plants[1:], (style.PINK, style.SKY, style.BROWN)[4 - len(found.plants) :], strict=True
    ):
        apart = np.linalg.norm(found.results[0][plant].tau - ours.tau, axis=1)
        axes.semilogy(ours.t, positive(apart), color=color, linewidth=style.THIN, label=plant)
    label_time(axes, ours.t, "backstepping: difference from our plant", "norm of the torque's difference [N m]")
    axes.set_ylim(top=30.0 * axes.get_ylim()[1])  # room for the legend
    axes.legend(fontsize="small", loc="upper right")


def _draw_steps(axes: Axes, found: MujocoPlants) -> None:
    h = 1e3 * found.timesteps
    for (name, distances), mark in zip(found.distances.items(), ("o", "s"), strict=False):
        for column, color, plant in ((0, style.PURPLE, "our RK4"), (1, style.BROWN, "implicitfast")):
            line = f"{_LAWS.get(name.rpartition(', ')[2], 'MACT')}: {plant}"
            axes.loglog(h, distances[:, column], f"{mark}-", color=color, label=line, linewidth=style.LINE)
    label(axes, "error of both integrators", "time step [ms]", "RMS error of $q$ [rad]")
    axes.set_xticks(h, [f"{x:g}" for x in h], minor=False)
    axes.set_xticks([], minor=True)
    axes.set_ylim(top=3e5 * axes.get_ylim()[1])
    axes.legend(fontsize="small", loc="upper left")
