"""Figure 30 of D4.2: time and failures by the number of via points that are tried."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .style import tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..experiments.human_like_sampling import HumanLikeSampling

__all__ = ["plot_human_like_sampling"]

_SCENARIOS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7")
_LINES = {"paper mode": "-", "MAP": "--"}
_REPORT = "#222222"


def plot_human_like_sampling(found: HumanLikeSampling) -> Figure:
    """Draw mean time, share of failures and median of the mean jerk over the number of samples, by scenario."""
    import matplotlib.pyplot as plt

    figure, (time, failures, jerk) = plt.subplots(1, 3, figsize=(13, 4.2), constrained_layout=True)
    for name in found.searches:
        for family, color in zip(found.families, _SCENARIOS, strict=False):
            one = found.samples[name, family]
            line: dict[str, Any] = {"color": color, "linestyle": _LINES[name], "marker": "o", "markersize": 3.0}
            time.plot(found.counts, 1e3 * one.seconds.mean(axis=1), **line)
            failures.plot(found.counts, 100.0 * one.failures, **line)
            jerk.plot(found.counts, np.nanmedian(one.jerk, axis=1), **line)
    _draw_report(time, failures)
    time.set(ylabel="mean time of a plan [ms]", yscale="log", title="Figure 30: time")
    failures.set(ylabel="no path [%]", title="Figure 30: failures")
    jerk.set(ylabel="mean jerk, median [m/s$^3$]", title="jerk")
    jerk.set_ylim(bottom=0.0)
    for axes in (time, failures, jerk):
        axes.set(xscale="log", xlabel="number of via points tried")
        tidy(axes)
    _legend(jerk, found)
    return figure


def _draw_report(time: Axes, failures: Axes) -> None:
    from ..experiments.human_like_sampling import FIGURE_30

    counts, numbers = list(FIGURE_30), np.array(list(FIGURE_30.values()))
    style: dict[str, Any] = {
        "color": _REPORT,
        "linestyle": "",
        "marker": "x",
        "markersize": 7.0,
        "label": "report, all scenarios",
    }
    time.plot(counts, 1e3 * numbers[:, 0], **style)
    failures.plot(counts, 100.0 * numbers[:, 1], **style)
    for axes in (time, failures):
        axes.legend(fontsize="small")


def _legend(axes: Axes, found: HumanLikeSampling) -> None:
    for family, color in zip(found.families, _SCENARIOS, strict=False):
        axes.plot([], [], color=color, label=f"scenario {family}")
    for name in found.searches:
        axes.plot([], [], color="#888888", linestyle=_LINES[name], label=name)
    axes.legend(fontsize="small", ncols=2)
