"""Metrics of many runs over their parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..checks import Array
from ..errors import ThunderError
from ..plotting.panels import panel
from ..plotting.style import BLUE, LINE, figure_of, positive, tidy
from .dataset import axis_of, filled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_metric"]

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
    if len(axes) == 1:
        _line(ax, numbers, *axes[0], log)
        ax.set(ylabel=name, yscale="log" if log else "linear")
    else:
        _map(ax, numbers, axes, name, log)
    for parameter, (different, _), setting in zip(over, axes, (ax.xaxis, ax.yaxis), strict=False):
        setting.set_label_text(parameter)
        if not _numeric(different):
            setting.set_ticks(range(len(different)), labels=different)
    ax.set_title(_missing(metric), fontsize="medium")
    tidy(ax)
    return ax


def _missing(metric: npt.NDArray[Any]) -> str:
    """Return how many runs are not drawn."""
    lost = int(np.sum(~np.isfinite(metric)))
    return f"{lost} of {len(metric)} runs without a finite value" if lost else ""


def _numeric(different: Sequence[Any]) -> bool:
    return all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in different)


def _positions(different: Sequence[Any]) -> Array:
    """Return the places of values on an axis: numbers at their value, others in their order."""
    return np.array(different if _numeric(different) else range(len(different)), dtype=np.float64)


def _line(ax: Axes, metric: Array, different: Sequence[Any], places: npt.NDArray[np.int64], log: bool) -> None:
    x = _positions(different)
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
    if max(len(columns), len(rows)) > _VALUES or 2 * len(columns) * len(rows) > 3 * len(metric) + 8:
        drawn: Any = ax.scatter(_positions(columns)[column], _positions(rows)[row], c=metric, norm=norm, s=18)
    else:
        cells = np.full((len(rows), len(columns)), np.nan)
        for i, j in {*zip(row.tolist(), column.tolist(), strict=True)}:
            inside = metric[(row == i) & (column == j)]
            cells[i, j] = np.median(inside[np.isfinite(inside)]) if np.isfinite(inside).any() else np.nan
        drawn = ax.pcolormesh(_edges(_positions(columns)), _edges(_positions(rows)), cells, norm=norm)
    figure_of(ax).colorbar(drawn, ax=ax, label=name)


def _edges(centers: Array) -> Array:
    """Return edges of cells about centers."""
    if len(centers) == 1:
        return np.array([centers[0] - 0.5, centers[0] + 0.5])
    between = 0.5 * (centers[1:] + centers[:-1])
    return np.concatenate([[2 * centers[0] - between[0]], between, [2 * centers[-1] - between[-1]]])
