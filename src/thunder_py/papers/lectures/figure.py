"""Figures of the lectures on control."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ...checks import Array
from ...plotting.panels import new_panels
from ...plotting.style import COLORS, FAINT, LAW_COLORS, LINE, label, label_time, outside_legend, positive
from .run import Convergence, Study, mass_spring_candidates, mass_spring_motion

#: lower ends of the logarithmic axes of errors [rad] and of eigenvalues, relative to the largest, above rounding
_SMALLEST_ERROR, _SMALLEST_EIGENVALUE = 1e-8, 1e-14


def plot_mass_spring() -> Figure:
    """Draw motions of lecture 30's mass on a spring over the level sets of both candidates, and V along one motion."""
    candidates = mass_spring_candidates()
    figure, panels = new_panels([[*candidates, "V"]], (12, 4.5), "Lecture 30: mass on a spring, candidates for V")
    t = np.linspace(0.0, 10.0, 400)
    grid = np.stack(np.meshgrid(*[np.linspace(-1.3, 1.3, 101)] * 2), axis=-1)
    for color, (name, candidate) in zip(COLORS, candidates.items(), strict=False):
        levels = np.einsum("abi,ij,abj->ab", grid, candidate.P, grid)
        steps = np.linspace(0.05, 1.0, 8) ** 2
        panels[name].contour(grid[..., 0], grid[..., 1], levels, steps, colors=FAINT, linewidths=LINE)
        for angle in np.linspace(0.0, 2 * np.pi, 6, endpoint=False):
            x = mass_spring_motion(np.array([np.cos(angle), np.sin(angle)]), t)
            panels[name].plot(x[:, 0], x[:, 1], color=COLORS[0], linewidth=LINE)
        label(panels[name], f"level sets of V, {name}", "$x_1$ [m]", "$x_2$ [m/s]", aspect="equal")
        x = mass_spring_motion(np.array([1.0, 0.0]), t)
        V = np.einsum("ki,ij,kj->k", x, candidate.P, x)
        panels["V"].semilogy(t, V, color=color, linewidth=LINE, label=name)
    label_time(panels["V"], t, "V along a motion", "V [J]")
    panels["V"].legend(loc="lower left", fontsize="small")
    return figure


def plot_study(study: Study) -> Figure:
    """Draw the errors of all runs, and V and its derivative for the run of the proof."""
    figure, panels = new_panels([["error", "V", "rate"]], (12, 4.5), study.title)
    curves = ((name, run.t, run.error_norm()) for name, run in study.runs.items())
    _draw_down_to(_SMALLEST_ERROR, panels["error"], curves)
    run = next(iter(study.runs.values()))
    label_time(panels["error"], run.t, "tracking error", "norm of $e$ [rad]")
    for name, lyapunov in study.lyapunov.items():
        style: dict[str, Any] = {"color": LAW_COLORS.get(name, COLORS[0]), "linewidth": LINE}
        panels["V"].semilogy(lyapunov.t, positive(lyapunov.V), **style)
        panels["rate"].plot(lyapunov.t, lyapunov.V_dot, **style)
        label_time(panels["V"], lyapunov.t, f"Lyapunov function, {name}", "$V$ [J]")
        label_time(panels["rate"], lyapunov.t, "its derivative", r"$\dot V$ [W]")
    return outside_legend(figure, panels["error"])


def plot_excitation_study(runs: Mapping[str, Convergence]) -> Figure:
    """Draw errors of tracking and of estimation, and the least eigenvalue of the excitation integral."""
    title = "Lecture 34: Slotine-Li and persistence of excitation"
    figure, panels = new_panels([["error", "parameters", "excitation"]], (12, 4.5), title)
    for (name, run), color in zip(runs.items(), COLORS, strict=False):
        panels["parameters"].semilogy(run.result.t, run.parameter_error, color=color, linewidth=LINE, label=name)
    errors = ((name, run.result.t, run.result.error_norm()) for name, run in runs.items())
    _draw_down_to(_SMALLEST_ERROR, panels["error"], errors)
    floor = _SMALLEST_EIGENVALUE * max(run.excitation.upper.max() for run in runs.values())
    least = ((name, run.excitation.t, run.excitation.lower) for name, run in runs.items())
    _draw_down_to(floor, panels["excitation"], least)
    run = next(iter(runs.values()))
    label_time(panels["error"], run.result.t, "tracking error", "norm of $e$ [rad]")
    label_time(panels["parameters"], run.result.t, "base parameters", "norm of their error [SI units]")
    title = r"excitation integral $\int Y^T Y$"
    label_time(panels["excitation"], run.excitation.t, title, "least eigenvalue [SI units]")
    return outside_legend(figure, panels["parameters"])


def _draw_down_to(floor: float, axes: Axes, curves: Iterable[tuple[str, Array, Array]]) -> None:
    """Draw curves on a logarithmic axis that ends at `floor`; curves entirely below it are labeled as zero."""
    zero = []
    for (name, t, values), color in zip(curves, COLORS, strict=False):
        law, _, model = name.partition(",")
        style: dict[str, Any] = {"color": LAW_COLORS.get(law, color), "linestyle": "--" if model else "-"}
        axes.semilogy(t, positive(values), linewidth=LINE, label=name, **style)
        if not (values > floor).any():
            zero.append(name)
    axes.set_ylim(bottom=max(axes.get_ylim()[0], floor))
    for k, name in enumerate(zero):
        axes.text(0.02, 0.03 + 0.07 * k, f"{name}: zero", transform=axes.transAxes, fontsize="small")
