"""The figure of a sweep: our result over an unprinted quantity, its band, and the paper's number."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ...plotting.panels import new_panels
from ...plotting.style import BLUE, LINE, ORANGE, SHADE, SKY, draw_truth, label, outside_legend
from .sweep import Sweep, Sweeps

#: most panels of a figure, and the ratio of the largest to the least value from which an axis is logarithmic
_MOST, _WIDE = 6, 20.0


def plot_sweep(swept: Sweep, results: list[str], quantities: list[str]) -> Figure:
    """Draw one panel for each pair of result and quantity, up to six."""
    pairs = _pairs(swept, results, quantities)
    columns = len(quantities) if 0 < len(quantities) <= 3 else min(3, len(pairs))
    rows = [list(range(k, min(k + columns, len(pairs)))) for k in range(0, len(pairs), columns)]
    mosaic = [[*map(str, row), *["."] * (columns - len(row))] for row in rows]
    figure, panels = new_panels(mosaic, (4.0 * max(columns, 2), 0.6 + 2.9 * len(rows)), swept.title)
    for k, (name, quantity) in enumerate(pairs):
        draw_sweep(swept, name, quantity, panels[str(k)])
    return outside_legend(figure, *panels.values())


def _pairs(swept: Sweep, results: list[str], quantities: list[str]) -> list[tuple[str, str]]:
    """Return the pairs asked for, or those with the largest influence."""
    given = [(name, quantity) for name in results or swept.values for quantity in quantities or _names(swept)]
    if len(given) <= _MOST or (results and quantities):
        return given[:_MOST]

    def influence(pair: tuple[str, str]) -> float:
        least, most = swept.moved_by(pair[0]).get(pair[1], (0.0, 0.0))
        return most / least if least > 0.0 else most - least

    chosen = sorted(given, key=influence, reverse=True)[:_MOST]
    return [pair for pair in given if pair in chosen]


def _names(swept: Sweep) -> list[str]:
    return [quantity.name for quantity in swept.quantities]


def draw_sweep(swept: Sweep, name: str, quantity: str, ax: Axes) -> None:
    """Draw one result over one quantity: median and spread over the draws, the sweep's band, the paper's number."""
    known = {entry.name: entry for entry in swept.quantities}[quantity]
    values, results = swept.over(name, quantity)
    finite = np.where(np.isfinite(results), results, np.nan)
    x = np.array(values, dtype=np.float64) if known.numeric else np.arange(len(values), dtype=np.float64)
    least, most = (end if np.isfinite(end) else np.nan for end in swept.range(name))
    if np.isfinite(least + most):
        ax.axhspan(least, most, color=SHADE, label="band of the whole sweep")
    if results.shape[1] > 1:
        ax.fill_between(x, finite.min(axis=1), finite.max(axis=1), color=SKY, alpha=0.4, label="ours, least to most")
    median = np.median(finite, axis=1)
    ax.plot(x, median, "o-", color=BLUE, linewidth=LINE, markersize=4, label="ours, median")
    at = values.index(known.nominal)
    ax.plot(x[at], median[at], "D", color=ORANGE, markersize=7, label="nominal choice")
    paper = swept.printed.get(name, np.nan)
    if np.isfinite(paper):
        draw_truth(ax, paper, "paper")
    label(ax, "", known.label, name)
    if not known.numeric:
        ax.set_xticks(x, [str(value) for value in values])
    elif x.min() > 0.0 and x.max() > _WIDE * x.min():
        ax.set_xscale("log")
    shown = np.concatenate([finite.ravel(), [least, most, paper]])
    shown = shown[np.isfinite(shown)]
    if shown.size and shown.min() > 0.0 and shown.max() > _WIDE * shown.min():
        ax.set_yscale("log")


def plot_sweeps(found: Sweeps) -> Figure:
    """Draw the panels that several sweeps show, three in a row, with the titles of their parts."""
    swept = {name: _names(part) for name, part in found.parts.items()}
    shown = [panel for panel in found.shown if panel[2] in swept.get(panel[0], ())][:_MOST]
    keys = [str(k) for k in range(len(shown))]
    mosaic = [[*keys[k : k + 3], *["."] * (3 - len(keys[k : k + 3]))] for k in range(0, len(keys), 3)]
    figure, panels = new_panels(mosaic, (12.0, 0.6 + 3.2 * len(mosaic)))
    for key, (part, name, quantity) in zip(keys, shown, strict=True):
        draw_sweep(found.parts[part], name, quantity, panels[key])
        panels[key].set_title(found.parts[part].title, fontsize="medium")
    return outside_legend(figure, *panels.values())
