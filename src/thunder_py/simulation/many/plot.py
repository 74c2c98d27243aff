"""Metrics of many runs over their parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...checks import Array
from ...errors import ThunderError
from ...plotting.panels import panel
from ...plotting.style import BLUE, LINE, MOST_IN_LEGEND, figure_of, positive, tidy
from .dataset import axis_of, filled, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

#: most different values of a parameter for a line or a cell; with more there is a point for each run
_VALUES = 50


def plot_metric(
    values: Sequence[Any], name: str, over: Mapping[str, list[Any]], log: bool, ax: Axes | None = None
) -> Axes:
    """Plot values of runs over one parameter or two; see `Runs.plot_metric`."""
    metric = filled(values, name)
    if metric.ndim != 1 or metric.dtype.kind not in "biuf":
        raise ThunderError(f"metric {name!r} must be one number for each run, got {values[0]!r:.80}")
    numbers = np.where(np.isfinite(metric), metric, np.nan).astype(np.float64)
    numbers = positive(numbers) if log else numbers
    ax = panel(ax, (6.0, 4.0))
    axes = [axis_of(column) for column in over.values()]
    tidy(ax)
    if len(axes) == 1:
        _line(ax, numbers, *axes[0])
        ax.set(ylabel=name, yscale="log" if log else "linear")
    else:
        _map(ax, numbers, axes, name, log)
    for parameter, setting in zip(over, (ax.xaxis, ax.yaxis), strict=False):
        setting.set_label_text(parameter)
    ax.set_title(_missing(metric), fontsize="medium")
    return ax


def _missing(metric: npt.NDArray[Any]) -> str:
    """Return how many runs are not drawn."""
    lost = int(np.sum(~np.isfinite(metric)))
    return f"{lost} of {len(metric)} runs without a finite value" if lost else ""


def _positions(different: Sequence[Any], axis: Axis) -> Array:
    """Return the places of values on an axis: numbers at their value, others in their order, with their names."""
    if all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in different):
        return np.array(different, dtype=np.float64)
    return _named(different, axis)


def _named(different: Sequence[Any], axis: Axis) -> Array:
    """Name the values on an axis in their order, at equal distances, and return their places."""
    step = -(-len(different) // MOST_IN_LEGEND)
    labels = [short(value) for value in different[::step]]
    axis.set_ticks(range(0, len(different), step), labels=labels)
    return np.arange(len(different), dtype=np.float64)


def _line(ax: Axes, metric: Array, different: Sequence[Any], places: npt.NDArray[np.int64]) -> None:
    x = _positions(different, ax.xaxis)
    if len(different) > _VALUES:
        ax.plot(x[places], metric, ".", color=BLUE, markersize=4)
        return
    groups = [metric[(places == k) & np.isfinite(metric)] for k in range(len(different))]
    low, middle, high = (
        np.array([function(group) if group.size else np.nan for group in groups])
        for function in (np.min, np.median, np.max)
    )
    ax.plot(x, middle, "o-", color=BLUE, linewidth=LINE, markersize=4, label="median")
    if max(map(len, groups), default=0) > 1:
        ax.fill_between(x, low, high, color=BLUE, alpha=0.2, linewidth=0, label="range")
        ax.legend(fontsize="small")


def _map(ax: Axes, metric: Array, axes: Sequence[tuple[Sequence[Any], Any]], name: str, log: bool) -> None:
    from matplotlib.colors import LogNorm

    (columns, column), (rows, row) = axes
    norm = LogNorm() if log else None
    if max(len(columns), len(rows)) > _VALUES or len(columns) * len(rows) > 2 * len(metric):
        x, y = _positions(columns, ax.xaxis)[column], _positions(rows, ax.yaxis)[row]
        drawn: Any = ax.scatter(x, y, c=metric, norm=norm, s=18)
    else:
        cells = np.full((len(rows), len(columns)), np.nan)
        for i, j in {*zip(row.tolist(), column.tolist(), strict=True)}:
            inside = metric[(row == i) & (column == j)]
            cells[i, j] = np.median(inside[np.isfinite(inside)]) if np.isfinite(inside).any() else np.nan
        drawn = ax.pcolormesh(_named(columns, ax.xaxis), _named(rows, ax.yaxis), cells, norm=norm)
        ax.grid(visible=False)
    figure_of(ax).colorbar(drawn, ax=ax, label=name)
