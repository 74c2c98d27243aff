"""Figures 14 and 15 of D4.2."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .style import tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..experiments.d42_joint import D42Joint

__all__ = ["CONTROLLER_COLORS", "plot_joint"]

#: one colour for each controller, in all figures
CONTROLLER_COLORS = {"CT": "#D55E00", "ACT": "#E69F00", "AIRC": "#777777", "MACT": "#0072B2"}


def plot_joint(found: D42Joint) -> Figure:
    """Draw errors and condition numbers for two adaptive gains, and AIRC's equivalent gains; the first draw."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 3, figsize=(14, 7), constrained_layout=True)
    for column, eta in enumerate(found.etas[-2:]):
        _draw_errors(axes[0, column], found, eta)
        axes[0, column].set_title(f"Figure 14, $\\eta$ = {eta:g}")
        _draw_condition(axes[1, column], found, eta)
        axes[1, column].set_title(f"Figure 15b, $\\eta$ = {eta:g}")
    _draw_gains(axes[0, 2], axes[1, 2], found, found.etas[0])
    figure.suptitle("First draw of the parameter error")
    return figure


def _draw_errors(axes: Axes, found: D42Joint, eta: float) -> None:
    for name, color in CONTROLLER_COLORS.items():
        run = found.results[name, eta][0]
        axes.semilogy(run.t[1:], run.error_norm()[1:], color=color, label=name, linewidth=1.0)
    axes.set(xlabel="time [s]", ylabel="|e| [rad]", xlim=(0.0, found.results["CT", eta][0].t[-1]))
    axes.set_ylim(1e-4, 20.0)
    axes.legend(ncols=4, loc="lower center", fontsize="small")
    tidy(axes)


def _draw_gains(stiff: Axes, damped: Axes, found: D42Joint, eta: float) -> None:
    from ..experiments.d42_setup import K_P, K_V

    t, stiffness, damping = found.equivalent_gains(eta)
    for axes, values, gain, what in ((stiff, stiffness, K_P, "stiffness"), (damped, damping, K_V, "damping")):
        for joint, color in ((0, "#009E73"), (1, "#0072B2"), (5, "#CC79A7")):
            axes.plot(t, values[:, joint], color=color, label=f"joint {joint + 1}", linewidth=1.0)
            axes.axhline(gain[joint], color=color, linestyle="--", linewidth=0.8)
        unit = "N m/rad" if axes is stiff else "N m s/rad"
        axes.set(xlabel="time [s]", ylabel=f"{what} [{unit}]", xlim=(t[0], t[-1]))
        axes.set_title(f"Figure 15a: {what} of AIRC; dashed: as set")
        axes.legend(fontsize="small")
        tidy(axes)


def _draw_condition(axes: Axes, found: D42Joint, eta: float) -> None:
    for name in ("ACT", "AIRC", "MACT"):
        t, condition = found.condition(name, eta)
        axes.semilogy(t, condition, color=CONTROLLER_COLORS[name], label=name, linewidth=1.0)
    axes.set(xlabel="time [s]", ylabel="condition number of $\\hat M$")
    axes.set_xlim(0.0, float(np.max(found.results["MACT", eta][0].t)))
    axes.legend(fontsize="small")
    tidy(axes)
