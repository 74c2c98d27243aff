"""Tables of metrics."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core import Status
from .metrics import Metrics
from .result import SimulationResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["DEFAULT_METRICS", "Comparison", "Metric", "Table", "compare_results", "metrics_table"]

Metric = Callable[[Any], object]

DEFAULT_METRICS = ("rmse", "steady_state_error", "peak", "rise_time", "torque_rms", "status")


@dataclass(frozen=True)
class Table:
    """Table of values by row and column; `str` and `print` give aligned text.

    Attributes
    ----------
    columns : tuple of str
        Names of the values.
    rows : dict of str to tuple
        Values of each row; a text for a row without values.

    Examples
    --------
    >>> from thunder_py.result import Table
    >>> print(Table(("rmse", "status"), {"MACT": (0.012, "ok")}).to_markdown())
    |  | rmse | status |
    |---|---|---|
    | MACT | 0.012 | ok |
    """

    columns: tuple[str, ...]
    rows: dict[str, tuple[Any, ...] | str]

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """Return the values by row and column; the text of a row without values is under ``"failure"``."""
        return {
            name: {"failure": row} if isinstance(row, str) else dict(zip(self.columns, row, strict=True))
            for name, row in self.rows.items()
        }

    def _cells(self) -> list[list[str]]:
        cells = [["", *self.columns]]
        for name, row in self.rows.items():
            values = [row, *[""] * (len(self.columns) - 1)] if isinstance(row, str) else [_text(value) for value in row]
            cells.append([name, *values])
        return cells

    def to_markdown(self) -> str:
        """Return the table in Markdown."""
        header, *rows = (f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in self._cells())
        return "\n".join([header, "|---" * (len(self.columns) + 1) + "|", *rows])

    def __str__(self) -> str:
        cells = self._cells()
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        aligned = (
            [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
            for row in cells
        )
        return "\n".join("  ".join(row).rstrip() for row in aligned)


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    numbers = np.asarray(value)
    if numbers.dtype.kind not in "iufb":
        return str(value)
    return f"{numbers:.4g}" if numbers.ndim == 0 else " ".join(f"{number:.3g}" for number in numbers.ravel())


def metrics_table(
    results: Mapping[str, Metrics | str], metrics: Sequence[str] | Mapping[str, Metric] = DEFAULT_METRICS
) -> Table:
    """Return a table of metrics with a row for each result.

    Parameters
    ----------
    results : mapping of str to Result or str
        Runs by name; a text, such as an error, for a run without a result.
    metrics : sequence of str, or mapping of str to callable
        See `Comparison.table`.

    Returns
    -------
    Table
        Metrics by run.

    Examples
    --------
    >>> import thunder_py as th
    >>> robot, rest = th.Robot.load("elbow"), th.reference.SetPoint([0.3, 0.2])
    >>> run = th.simulate(robot, th.PDGravity(robot, 80.0, 20.0), rest, 0.5)
    >>> th.result.metrics_table({"PD": run, "other": "not run"}, ["status"]).to_dict()
    {'PD': {'status': 'ok'}, 'other': {'failure': 'not run'}}
    """
    functions = _functions(metrics)
    rows: dict[str, tuple[Any, ...] | str] = {}
    for name, result in results.items():
        rows[name] = result if isinstance(result, str) else tuple(function(result) for function in functions.values())
    return Table(tuple(functions), rows)


def _functions(metrics: Sequence[str] | Mapping[str, Metric]) -> dict[str, Metric]:
    if isinstance(metrics, str):
        raise ValueError(f"metrics must be a sequence of names, got the text {metrics!r}")
    if isinstance(metrics, Mapping):
        return dict(metrics)
    return {name: _named(name) for name in metrics}


def _last_status(result: Any) -> str:
    return str(Status(int(result.status[-1])).name)


def _named(name: str) -> Metric:
    if name == "status":
        return _last_status
    available = [key for key, value in vars(Metrics).items() if callable(value) and key not in _WITH_ARGUMENTS]
    if name not in available:
        raise ValueError(f"metrics must be among {', '.join([*available, 'status'])}, or functions; got {name!r}")

    def metric(result: Any) -> object:
        try:
            return getattr(result, name)()
        except AttributeError:
            return float("nan")  # without a logged error

    return metric


#: methods that need arguments or return arrays over time
_WITH_ARGUMENTS = ("settling_time", "error_norm")


class Comparison(Mapping[str, SimulationResult]):
    """Results by name, with a table and a plot.

    Parameters
    ----------
    results : mapping of str to Result
        Runs by the names shown in tables and plots.

    Examples
    --------
    >>> import thunder_py as th
    >>> robot, rest = th.Robot.load("elbow"), th.reference.SetPoint([0.3, 0.2])
    >>> run = th.simulate(robot, th.PDGravity(robot, 80.0, 20.0), rest, 0.5, q0=[0.0, 0.2])
    >>> print(th.compare_results({"PD": run}).table({"RMSE": lambda r: round(r.rmse(), 3)}))
        RMSE
    PD  0.17
    """

    def __init__(self, results: Mapping[str, SimulationResult]) -> None:
        if not isinstance(results, Mapping):
            raise ValueError(
                f'results must map names to SimulationResult, {{"name": run}}, got {type(results).__name__}'
            )
        for name, result in results.items():
            if not isinstance(name, str) or not isinstance(result, SimulationResult):
                raise ValueError(f"results must map names to SimulationResult, got {name!r}: {type(result).__name__}")
        if not results:
            raise ValueError("results must hold at least one SimulationResult, got none")
        self._results = dict(results)

    def __getitem__(self, name: str) -> SimulationResult:
        return self._results[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._results)

    def __len__(self) -> int:
        return len(self._results)

    def table(self, metrics: Sequence[str] | Mapping[str, Metric] = DEFAULT_METRICS) -> Table:
        """Return a table of metrics with a row for each result.

        Parameters
        ----------
        metrics : sequence of str, or mapping of str to callable
            Names of methods of `SimulationResult` without required arguments, and ``"status"`` for the last status; or
            functions of a result by name: ``{"settling time": lambda r: r.settling_time(5e-3)}``.

        Returns
        -------
        Table
            Metrics by run.
        """
        return metrics_table(self._results, metrics)

    def plot(self, *, axes: Mapping[str, Axes] | None = None) -> dict[str, Axes]:
        """Overlay the error norms and the norms of the torques of the runs.

        Parameters
        ----------
        axes : mapping of str to Axes, optional
            Panels to draw, of ``"error"`` and ``"tau"``; default both, in a new figure.

        Returns
        -------
        dict of str to Axes
            The panels drawn.
        """
        from .plot import plot_comparison

        return plot_comparison(self._results, axes=axes)

    def __repr__(self) -> str:
        return f"<Comparison: {', '.join(self._results)}>"


def compare_results(results: Mapping[str, SimulationResult]) -> Comparison:
    """Compare runs in one table and one plot.

    Parameters
    ----------
    results : mapping of str to Result
        Runs by the names shown in tables and plots.

    Returns
    -------
    Comparison
        Mapping of the results, with `Comparison.table` and `Comparison.plot`.

    Examples
    --------
    >>> import thunder_py as th
    >>> robot, rest = th.Robot.load("elbow"), th.reference.SetPoint([0.3, 0.2])
    >>> laws = {"soft": th.PDGravity(robot, 50.0, 20.0), "stiff": th.PDGravity(robot, 80.0, 20.0)}
    >>> runs = {name: th.simulate(robot, law, rest, 1.0, q0=[0.0, 0.0]) for name, law in laws.items()}
    >>> comparison = th.compare_results(runs)
    >>> list(comparison), comparison.plot().shape
    (['soft', 'stiff'], (2,))
    """
    return Comparison(results)
