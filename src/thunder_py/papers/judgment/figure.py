"""Panels of a judgment: our result over an unprinted quantity, at the best choice, and the paper's number."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ...plotting.panels import new_panels
from ...plotting.style import BLUE, GREEN, LINE, ORANGE, SKY, draw_truth, label, outside_legend
from .judge import Judgment

#: most panels of a figure, and the ratio of the largest to the least value from which an axis is logarithmic
_MOST, _WIDE = 6, 20.0


def plot_panels(shown: Sequence[tuple[Judgment, str, str]], title: str = "") -> Figure:
    """Draw up to six panels, three in a row, each of a judgment, a result and a quantity."""
    shown = shown[:_MOST]
    columns = min(3, len(shown))
    keys = [str(k) for k in range(len(shown))]
    rows = [
        [*keys[k : k + columns], *["."] * (columns - len(keys[k : k + columns]))] for k in range(0, len(keys), columns)
    ]
    figure, panels = new_panels(rows, (4.0 * max(columns, 2), 0.6 + 3.0 * len(rows)), title)
    for key, (judgment, name, quantity) in zip(keys, shown, strict=True):
        draw_panel(judgment, name, quantity, panels[key], "" if title else judgment.title)
    return outside_legend(figure, *panels.values())


def draw_panel(found: Judgment, name: str, quantity: str, ax: Axes, title: str = "") -> None:
    """Draw one result over one quantity alone: median and spread over draws, the best choice, the paper's number."""
    known = {entry.name: entry for entry in found.quantities}[quantity]
    values, results = found.over(name, quantity)
    finite = np.where(np.isfinite(results), results, np.nan)
    x = np.array(values, dtype=np.float64) if known.numeric else np.arange(len(values), dtype=np.float64)
    if results.shape[1] > 1:
        ax.fill_between(x, finite.min(axis=1), finite.max(axis=1), color=SKY, alpha=0.4, label="ours, least to most")
    median = np.median(finite, axis=1)
    ax.plot(x, median, "o-", color=BLUE, linewidth=LINE, markersize=4, label="ours, median")
    at = values.index(known.nominal)
    ax.plot(x[at], median[at], "D", color=ORANGE, markersize=7, label="nominal choice")
    paper, best = found.printed.get(name, np.nan), np.nan
    if np.isfinite(paper):
        draw_truth(ax, paper, "paper")
        value, best = found.choice[quantity], float(found.medians(name)[found.best])
        ax.plot(
            value if known.numeric else values.index(value), best, "*", color=GREEN, markersize=10, label="best choice"
        )
    label(ax, title, known.label, name)
    if not known.numeric:
        ax.set_xticks(x, [str(value) for value in values])
    elif x.min() > 0.0 and x.max() > _WIDE * x.min():
        ax.set_xscale("log")
    shown = np.concatenate([finite.ravel(), [best, paper]])
    shown = shown[np.isfinite(shown)]
    if shown.size and shown.min() > 0.0 and shown.max() > _WIDE * shown.min():
        ax.set_yscale("log")
