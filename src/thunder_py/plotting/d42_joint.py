"""Figures 14 and 15 of D4.2."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .article_gains import tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..experiments.d42_joint import D42Joint

__all__ = ["CONTROLLER_COLORS", "plot_joint"]

#: one colour for each controller, in all figures
CONTROLLER_COLORS = {"CT": "#D55E00", "ACT": "#E69F00", "AIRC": "#777777", "MACT": "#0072B2"}


def plot_joint(found: D42Joint) -> Figure:
    """Draw errors for two adaptive gains, AIRC's equivalent gains, and condition numbers."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 2, figsize=(11, 7), constrained_layout=True)
    fast, slow = found.etas[0], found.etas[-1]
    for ax, eta, title in ((axes[0, 0], fast, "fast"), (axes[0, 1], slow, "slow")):
        _draw_errors(ax, found, eta)
        ax.set_title(f"Figure 14: tracking, {title} adaptation ($\\eta$ = {eta:g})")
    _draw_gains(axes[1, 0], found, fast)
    _draw_condition(axes[1, 1], found, fast)
    return figure


def _draw_errors(axes: Axes, found: D42Joint, eta: float) -> None:
    for name, color in CONTROLLER_COLORS.items():
        run = found.results[name, eta][0]
        axes.semilogy(run.t[1:], run.error_norm()[1:], color=color, label=name, linewidth=1.0)
    axes.set(xlabel="time [s]", ylabel="|e| [rad]", xlim=(0.0, found.results["CT", eta][0].t[-1]))
    axes.set_ylim(1e-4, 20.0)
    axes.legend(ncols=4, loc="lower center", fontsize="small")
    tidy(axes)


def _draw_gains(axes: Axes, found: D42Joint, eta: float) -> None:
    from ..experiments.d42_setup import K_P

    t, stiffness, _ = found.equivalent_gains(eta)
    for joint, color in ((1, "#0072B2"), (3, "#009E73"), (5, "#CC79A7")):
        axes.plot(t, stiffness[:, joint], color=color, label=f"AIRC, joint {joint + 1}", linewidth=1.0)
        axes.axhline(K_P[joint], color=color, linestyle="--", linewidth=0.8)
    axes.set(xlabel="time [s]", ylabel="stiffness [N m/rad]", xlim=(t[0], t[-1]))
    axes.set_title("Figure 15a: equivalent stiffness of AIRC; dashed: $K_p$ of the others")
    axes.legend(fontsize="small")
    tidy(axes)


def _draw_condition(axes: Axes, found: D42Joint, eta: float) -> None:
    for name in ("ACT", "AIRC", "MACT"):
        t, condition = found.condition(name, eta)
        axes.semilogy(t, condition, color=CONTROLLER_COLORS[name], label=name, linewidth=1.0)
    axes.set(xlabel="time [s]", ylabel="condition number of $\\hat M$")
    axes.set_xlim(0.0, float(np.max(found.results["MACT", eta][0].t)))
    axes.set_title("Figure 15b: conditioning of the estimated mass matrix")
    axes.legend(fontsize="small")
    tidy(axes)
