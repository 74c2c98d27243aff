"""Figure of closed loops on MuJoCo's plant and on ours."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...plotting.style import tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .run import MujocoPlants

__all__ = ["plot_mujoco_plants"]

_OURS, _MUJOCO, _TRUTH = "#0072B2", "#D55E00", "#222222"  # told apart by color-blind readers as well


def plot_mujoco_plants(found: MujocoPlants) -> Figure:
    """Draw errors of all loops (lines: our plant, dots: MuJoCo), the estimated mass, torques, and the time step."""
    import matplotlib.pyplot as plt

    groups = list(dict.fromkeys(case.group for case in found.cases))
    figure, axes = plt.subplots(2, 3, figsize=(14, 7), constrained_layout=True)
    panels = list(axes.flat)
    for group, panel in zip(groups[:3], panels, strict=False):
        _draw_errors(panel, found, group)
    _draw_mass(panels[3], found)
    _draw_torques(panels[4], found)
    _draw_steps(panels[5], found)
    for panel in panels[len(groups) : 3]:
        panel.set_visible(False)
    return figure


def _draw_errors(axes: Axes, found: MujocoPlants, group: str) -> None:
    colors = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")
    cases = [(k, case) for k, case in enumerate(found.cases) if case.group == group]
    for (k, case), color in zip(cases, colors, strict=False):
        ours, theirs = (found.results[k][plant] for plant in (found.plants[0], found.plants[-1]))
        axes.semilogy(ours.t[1:], case.error(ours)[1:], color=color, linewidth=1.0, label=case.name)
        some = slice(1, None, max(1, len(theirs.t) // 25))
        axes.semilogy(theirs.t[some], case.error(theirs)[some], ".", color=color, markersize=5)
    axes.set(title=f"{group}: lines ours, dots MuJoCo", xlabel="time [s]", ylabel=f"error [{cases[0][1].unit}]")
    axes.set_xlim(0.0, found.duration)
    axes.legend(fontsize="small", ncols=2, loc="lower left")
    tidy(axes)


def _draw_mass(axes: Axes, found: MujocoPlants) -> None:
    """Draw the estimated mass of link 7 in the article's run."""
    robot = found.cases[0].robot
    k = robot.parameter_names.index("link7.m")
    ours, theirs = (found.results[0][plant] for plant in (found.plants[0], found.plants[-1]))
    some = slice(None, None, max(1, len(theirs.t) // 25))
    axes.plot(ours.t, ours.parameters[:, k], color=_OURS, label="our plant")
    axes.plot(theirs.t[some], theirs.parameters[some, k], ".", color=_MUJOCO, label="MuJoCo, implicitfast")
    axes.axhline(robot.parameters[k], color=_TRUTH, linestyle="--", linewidth=1.0, label="truth")
    axes.set(title="article: estimated mass of link 7", xlabel="time [s]", ylabel="mass [kg]")
    axes.set_xlim(0.0, found.duration)
    axes.legend(fontsize="small")
    tidy(axes)


def _draw_torques(axes: Axes, found: MujocoPlants) -> None:
    """Draw how far torques of the article's adaptive run are apart, by plant."""
    ours = found.results[0][found.plants[0]]
    for plant, color in zip(found.plants[1:], ("#009E73", "#E69F00", _MUJOCO)[4 - len(found.plants) :], strict=True):
        apart = np.linalg.norm(found.results[0][plant].tau - ours.tau, axis=1)
        axes.semilogy(ours.t[1:], np.maximum(apart[1:], 1e-16), color=color, linewidth=0.8, label=plant)
    axes.set(title="article, adaptive: torque less that on ours", xlabel="time [s]", ylabel="N m")
    axes.set_xlim(0.0, found.duration)
    axes.legend(fontsize="small")
    tidy(axes)


def _draw_steps(axes: Axes, found: MujocoPlants) -> None:
    h = 1e3 * found.timesteps
    for (name, distances), mark in zip(found.distances.items(), ("o", "s"), strict=False):
        for column, color, plant in ((0, _OURS, "our RK4"), (1, _MUJOCO, "implicitfast")):
            axes.loglog(h, distances[:, column], f"{mark}-", color=color, label=f"{name}: {plant}", linewidth=1.0)
    axes.set(title="error of q by time step, both plants", xlabel="time step [ms]", ylabel="rad (RMS)")
    axes.set_xticks(h, [f"{x:g}" for x in h], minor=False)
    axes.set_xticks([], minor=True)
    axes.legend(fontsize="small")
    tidy(axes)
