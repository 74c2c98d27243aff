"""Figures 19 and 20 of D4.2."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .style import tidy

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..experiments.d42_estimation import D42Estimation

__all__ = ["plot_estimation"]

_COLORS = ("#0072B2", "#009E73", "#D55E00")


def plot_estimation(found: D42Estimation) -> Figure:
    """Draw the estimated mass and first moments beside the truth, and the error of the joints."""
    import matplotlib.pyplot as plt

    run = found.result
    figure, (mass, moments, error) = plt.subplots(1, 3, figsize=(13, 3.6), constrained_layout=True)
    mass.plot(run.t, found.estimate[:, 0], color=_COLORS[0], label="estimate")
    mass.axhline(found.truth[0], color="#222222", linestyle="--", label="link 7 with the hand")
    mass.set(title="Figure 19a: mass", ylabel="[kg]")
    for k, (axis, color) in enumerate(zip("xyz", _COLORS, strict=True), start=1):
        moments.plot(run.t, found.estimate[:, k], color=color, label=f"$m c_{axis}$")
        moments.axhline(found.truth[k], color=color, linestyle="--", linewidth=0.8)
    moments.set(title="Figure 19b: first moments; dashed: truth", ylabel="[kg m]")
    error.plot(run.t, run.error_norm(), color=_COLORS[0], linewidth=0.8)
    error.set(title="Figure 20b: |e| of the joints", ylabel="[rad]")
    for axes in (mass, moments, error):
        axes.set(xlabel="time [s]", xlim=(0.0, run.t[-1]))
        tidy(axes)
    for axes in (mass, moments):
        axes.legend(fontsize="small")
    return figure
