"""Figures of the SCARA project's fourth chapter."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .style import COLORS, TRUTH, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..experiments.scara_control import Loaded, ScaraControl
    from ..experiments.scara_sampling import ScaraSampling

__all__ = ["draw_mass", "draw_z_errors", "plot_choices", "plot_control", "plot_sampling"]

_FOUR = (*COLORS, "#009E73")
_THREE = {"robust": "robust", "adaptive": "adaptive", "integral": "operational space, integral"}
_PANELS = {
    "unit vector": ("computed torque", "robust", "robust, Q for z"),
    "adaptation": ("not adaptive", "adaptive"),
    "integral": ("no integral", "integral", "integral, 15 times"),
}


def _draw_z(axes: Axes, run: Loaded, label: str, color: str, style: str = "-") -> None:
    size = np.abs(run.error[:, 2])
    values = np.where(size > 0.0, size, np.nan)
    axes.semilogy(run.result.t, values, style, color=color, linewidth=1.0 if style == "-" else 2.0, label=label)


def _finish(axes: Axes, end: float, title: str) -> None:
    axes.set(xlim=(0.0, end), xlabel="time [s]", title=title)
    tidy(axes)


def draw_z_errors(axes: Axes, experiment: ScaraControl) -> None:
    """Draw the error along z of the report's three controllers on a logarithmic axis."""
    for color, (name, label) in zip(COLORS, _THREE.items(), strict=True):
        _draw_z(axes, experiment.runs[name], label, color)
    axes.set_ylim(1e-8, 1e-1)
    axes.legend(fontsize="small", ncols=3)
    _finish(axes, experiment.path.duration, "error along z with the payload [m]")


def draw_mass(axes: Axes, experiment: ScaraControl) -> None:
    """Draw the estimated mass of link 3, and link and payload together (Figure 4.4)."""
    axes.plot(experiment.runs["adaptive"].result.t, experiment.estimated_mass(), color=COLORS[1], linewidth=1.1)
    axes.axhline(15.0, color=TRUTH, linestyle="--", linewidth=1.0)
    _finish(axes, experiment.path.duration, "estimated mass of link 3 [kg]")


def plot_control(experiment: ScaraControl) -> Figure:
    """Draw errors along z and in the plane, the estimated mass, and the forces along z."""
    from matplotlib.pyplot import figure as new_figure

    figure = new_figure(figsize=(12, 6.5), layout="constrained")
    panels = figure.subplot_mosaic([["z", "mass"], ["plane", "force"]])
    draw_z_errors(panels["z"], experiment)
    draw_mass(panels["mass"], experiment)
    for color, name in zip(COLORS, _THREE, strict=True):
        run = experiment.runs[name]
        plane = np.linalg.norm(run.error[:, :2], axis=1)
        panels["plane"].semilogy(run.result.t, np.where(plane > 0.0, plane, np.nan), color=color, linewidth=0.9)
        panels["force"].plot(run.result.t, run.result.tau[:, 2], color=color, linewidth=0.9)
    panels["plane"].set_ylim(1e-8, 1e-2)
    # in the first instants the payload is caught, with forces that would hide what follows
    late = experiment.runs["adaptive"].result
    steady = late.tau[late.t > 1.0, 2]
    panels["force"].set_ylim(steady.min() - 15.0, steady.max() + 15.0)
    _finish(panels["plane"], experiment.path.duration, "error in the plane [m]")
    _finish(panels["force"], experiment.path.duration, "force of joint 3 [N]")
    return figure


def plot_choices(experiment: ScaraControl) -> Figure:
    """Draw the error along z with and without the unit vector, adaptation and integral; dotted, what theory leaves."""
    from matplotlib.pyplot import subplots

    from ..experiments.scara_control import CLAIMS

    figure, panels = subplots(1, 3, figsize=(13, 4), sharey=True, layout="constrained")
    for panel, (title, names) in zip(panels, _PANELS.items(), strict=True):
        for color, name in zip(COLORS, names, strict=False):
            _draw_z(panel, experiment.runs[name], name, color, "--" if name == "robust" else "-")
            if CLAIMS[name].theory:
                panel.axhline(CLAIMS[name].theory, color=color, linestyle=":", linewidth=2.0)
        panel.legend(fontsize="small", loc="lower left")
        _finish(panel, experiment.path.duration, f"error along z [m]: {title}")
    panels[0].set_ylim(1e-9, 1e-2)
    return figure


def plot_sampling(experiment: ScaraSampling) -> Figure:
    """Draw the spectral radius over Lambda_3, and the error along z of the runs."""
    from matplotlib.pyplot import subplots

    from ..experiments.scara_sampling import spectral_radius

    figure, (radius, time) = subplots(1, 2, figsize=(12, 4), layout="constrained")
    values = np.geomspace(100.0, 20000.0, 200)
    radius.loglog(values, [spectral_radius(float(value)) for value in values], color=TRUTH)
    radius.axhline(1.0, color=TRUTH, linestyle="--", linewidth=1.0)
    for color, (value, result) in zip(_FOUR, experiment.runs.items(), strict=True):
        radius.plot(value, spectral_radius(value), "o", color=color)
        size = np.abs(result.error[:, 2])
        label = rf"$\Lambda_3$ = {value:g}"
        time.loglog(result.t[1:], np.where(size > 0.0, size, np.nan)[1:], color=color, linewidth=1.1, label=label)
    radius.set(xlabel=r"$\Lambda_3$ [1/s]", title="spectral radius along z at 1 ms")
    time.set(xlabel="time [s]", title="error along z [m]", ylim=(1e-9, 10.0))
    time.legend(fontsize="small")
    for axes in (radius, time):
        tidy(axes)
    return figure
