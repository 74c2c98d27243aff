"""Figures of the lectures on control."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from ...checks import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ...identification import AdaptationConvergence
    from .run import Study

__all__ = ["plot_excitation_study", "plot_mass_spring", "plot_study"]

_COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")
#: lower ends of the logarithmic axes of errors [rad] and of eigenvalues, relative to the largest, above rounding
_SMALLEST_ERROR, _SMALLEST_EIGENVALUE = 1e-8, 1e-14


def plot_mass_spring() -> Figure:
    """Draw motions of lecture 30's mass on a spring over the level sets of both candidates, and V along one motion."""
    from matplotlib.pyplot import subplots

    from .run import mass_spring_candidates, mass_spring_motion

    figure, axes = subplots(1, 3, figsize=(12.0, 3.8), layout="constrained")
    t = np.linspace(0.0, 10.0, 400)
    grid = np.stack(np.meshgrid(*[np.linspace(-1.3, 1.3, 101)] * 2), axis=-1)
    for axis, (name, candidate) in zip(axes, mass_spring_candidates().items(), strict=False):
        levels = np.einsum("abi,ij,abj->ab", grid, candidate.P, grid)
        axis.contour(grid[..., 0], grid[..., 1], levels, np.linspace(0.05, 1.0, 8) ** 2, colors="0.75", linewidths=0.8)
        for angle in np.linspace(0.0, 2 * np.pi, 6, endpoint=False):
            x = mass_spring_motion(np.array([np.cos(angle), np.sin(angle)]), t)
            axis.plot(x[:, 0], x[:, 1], color=_COLORS[0], linewidth=1.0)
        axis.set(title=f"level sets of V, {name}", xlabel="$x_1$", ylabel="$x_2$", aspect="equal")
        x = mass_spring_motion(np.array([1.0, 0.0]), t)
        axes[2].semilogy(t, np.einsum("ki,ij,kj->k", x, candidate.P, x), label=name)
    axes[2].set(title="V along a motion", xlabel="time [s]")
    axes[2].grid(visible=True, alpha=0.3)
    axes[2].legend()
    return figure


def plot_study(study: Study) -> Figure:
    """Draw the errors of all runs, and V and its derivative for the run of the proof."""
    from matplotlib.pyplot import subplots

    figure, axes = subplots(1, 2, figsize=(12.0, 3.6), layout="constrained")
    _draw_down_to(_SMALLEST_ERROR, axes[0], ((name, run.t, run.error_norm()) for name, run in study.runs.items()))
    axes[0].set(title="error norm [rad]", xlabel="time [s]")
    axes[0].grid(visible=True, alpha=0.3)
    axes[0].legend(fontsize="small")
    for name, lyapunov in study.lyapunov.items():
        lyapunov.plot(ax=axes[1])
        axes[1].set_title(f"Lyapunov function, {name}")
    return figure


def plot_excitation_study(runs: Mapping[str, AdaptationConvergence]) -> Figure:
    """Draw errors of tracking and of estimation, and the least eigenvalue of the excitation integral."""
    from matplotlib.pyplot import subplots

    figure, axes = subplots(1, 3, figsize=(12.0, 3.6), layout="constrained")
    for (name, run), color in zip(runs.items(), _COLORS, strict=False):
        axes[1].semilogy(run.result.t, run.parameter_error, color=color, linewidth=1.5, label=name)
    _draw_down_to(_SMALLEST_ERROR, axes[0], ((name, r.result.t, r.result.error_norm()) for name, r in runs.items()))
    _draw_down_to(
        _SMALLEST_EIGENVALUE * max(run.excitation.upper.max() for run in runs.values()),
        axes[2],
        ((name, run.excitation.t, run.excitation.lower) for name, run in runs.items()),
    )
    axes[0].set_title("tracking error [rad]")
    axes[1].set_title("error of the base parameters")
    axes[2].set_title(r"$\ell_1$: least eigenvalue of $\int Y^T Y$")
    for axis in axes:
        axis.set_xlabel("time [s]")
        axis.grid(visible=True, alpha=0.3)
    axes[1].legend(fontsize="small")
    return figure


def _draw_down_to(floor: float, axis: Axes, curves: Iterable[tuple[str, Array, Array]]) -> None:
    """Draw curves on a logarithmic axis that ends at `floor`; curves entirely below it are labeled as zero."""
    zero = []
    for (name, t, values), color in zip(curves, _COLORS, strict=False):
        axis.semilogy(t, np.where(values > 0.0, values, np.nan), color=color, linewidth=1.2, label=name)
        if not (values > floor).any():
            zero.append(name)
    axis.set_ylim(bottom=max(axis.get_ylim()[0], floor))
    for k, name in enumerate(zero):
        axis.text(0.02, 0.03 + 0.07 * k, f"{name}: zero", transform=axis.transAxes, fontsize="small")
