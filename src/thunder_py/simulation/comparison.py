"""Tables of metrics."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .._core import Status
from ..errors import ThunderError
from ..table import Table, Tabular
from .metrics import IN_ERROR_UNITS, Metrics
from .result import SimulationResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Metric = Callable[[Any], object]

#: methods that need arguments or return arrays over time
_WITH_ARGUMENTS = ("settling_time", "error_norm")
DEFAULT_METRICS = ("rmse", "steady_state_error", "peak", "rise_time", "torque_rms", "status")


def metrics_table(
    results: Mapping[str, Metrics | str], metrics: Sequence[str] | Mapping[str, Metric] = DEFAULT_METRICS
) -> Table:
    """Return a table of metrics with a row for each result.

    Parameters
    ----------
    results : mapping of str to SimulationResult or str
        Runs by name; a text, such as an error, for a run without a result.
    metrics : sequence of str, or mapping of str to callable
        See `Comparison.table`.

    Returns
    -------
    Table
        Metrics by run; where a run has no result its text is in the column ``failure``.

    Examples
    --------
    >>> import thunder_py as th
    >>> robot, rest = th.Robot.load("elbow"), th.reference.SetPoint([0.3, 0.2])
    >>> run = th.simulate(robot, th.PDGravity(robot, 80.0, 20.0), rest, 0.5)
    >>> th.simulation.metrics_table({"PD": run, "other": "not run"}, ["status"]).to_dict()
    {'PD': {'status': 'ok', 'failure': None}, 'other': {'status': None, 'failure': 'not run'}}
    """
    columns = evaluate((None if isinstance(result, str) else result for result in results.values()), metrics)
    failures = [result if isinstance(result, str) else None for result in results.values()]
    if any(failures):
        columns["failure"] = failures
    return Table(["", *columns], zip(results, *columns.values(), strict=True))


def evaluate(results: Iterable[Metrics | None], metrics: Sequence[str] | Mapping[str, Metric]) -> dict[str, list[Any]]:
    """Return metrics of runs, a value for each, None where there is no result; columns as of `split_by_unit`.

    Parameters
    ----------
    results : iterable of SimulationResult or None
        One is used after the other.
    metrics : sequence of str, or mapping of str to callable
        See `Comparison.table`.
    """
    functions, units = metric_functions(metrics), list[str | None]()
    columns: dict[str, list[Any]] = {name: [] for name in functions}
    for result in results:
        units.append(None if result is None or isinstance(metrics, Mapping) else result.error_unit)
        for name, function in functions.items():
            columns[name].append(None if result is None else function(result))
    return split_by_unit(columns, units)


def split_by_unit(columns: Mapping[str, list[Any]], units: Sequence[str | None]) -> dict[str, list[Any]]:
    """Return columns of metrics, those of the error apart for each unit, which their names have.

    Parameters
    ----------
    columns : mapping of str to list
        Metrics by name, a value for each run.
    units : sequence of str or None
        Unit of the error of each run; None where that is not known.

    Examples
    --------
    >>> from thunder_py.simulation.comparison import split_by_unit
    >>> split_by_unit({"rmse": [0.1, 0.2], "status": ["ok", "ok"]}, ["rad", "m"])
    {'rmse [rad]': [0.1, None], 'rmse [m]': [None, 0.2], 'status': ['ok', 'ok']}
    """
    known, found = dict.fromkeys(unit for unit in units if unit is not None), dict[str, list[Any]]()
    for name, values in columns.items():
        if name not in IN_ERROR_UNITS or not known:
            found[name] = values
            continue
        for unit in known:
            found[f"{name} [{unit}]"] = [x if y == unit else None for x, y in zip(values, units, strict=True)]
    return found


def metric_functions(metrics: Sequence[str] | Mapping[str, Metric]) -> dict[str, Metric]:
    """Return functions of a result by name; `metrics` as of `Comparison.table`.

    Raises
    ------
    ValueError
        If a name is unknown.

    Examples
    --------
    >>> from thunder_py.simulation.comparison import metric_functions
    >>> list(metric_functions(["rmse", "status"]))
    ['rmse', 'status']
    """
    if isinstance(metrics, str):
        raise ThunderError(f"metrics must be a sequence of names, got the text {metrics!r}")
    if isinstance(metrics, Mapping):
        return dict(metrics)
    return {name: _named(name) for name in metrics}


def _named(name: str) -> Metric:
    if name == "status":
        return lambda result: str(Status(int(result.status[-1])).name)
    available = [key for key, value in vars(Metrics).items() if callable(value) and key[0] != "_"]
    available = [key for key in available if key not in _WITH_ARGUMENTS]
    if name not in available:
        raise ThunderError(f"metrics must be among {', '.join([*available, 'status'])}, or functions; got {name!r}")

    def metric(result: Any) -> object:
        try:
            return getattr(result, name)()
        except AttributeError:
            return float("nan")  # without a logged error

    return metric


class Comparison(Mapping[str, SimulationResult], Tabular):
    """Results by name, with a table and a plot.

    Parameters
    ----------
    results : mapping of str to SimulationResult
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
            raise ThunderError(
                f'results must map names to SimulationResult, {{"name": run}}, got {type(results).__name__}'
            )
        for name, result in results.items():
            if not isinstance(name, str) or not isinstance(result, SimulationResult):
                raise ThunderError(f"results must map names to SimulationResult, got {name!r}: {type(result).__name__}")
        if not results:
            raise ThunderError("results must hold at least one SimulationResult, got none")
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
            Metrics by run; those of the error have a column for each unit: ``rmse [rad]``, ``rmse [m, rad]``.
        """
        return metrics_table(self._results, metrics)

    def to_columns(self) -> dict[str, Any]:
        """Return the columns of `table` with its default metrics; that of the names is called ``""``."""
        return self.table().to_columns()

    def plot(self, *, axes: Mapping[str, Axes] | None = None) -> dict[str, Axes]:
        """Overlay the error norms and the norms of the torques of the runs.

        Parameters
        ----------
        axes : mapping of str to Axes, optional
            Panels to draw, of ``"error"`` and ``"tau"``; default both, in a new figure. Where errors have several
            units, there are panels ``"error [rad]"``, ``"error [m, rad]"`` in place of ``"error"``.

        Returns
        -------
        dict of str to Axes
            The panels drawn.
        """
        from .figure import plot_comparison

        return plot_comparison(self._results, axes=axes)

    def __repr__(self) -> str:
        return f"<Comparison: {', '.join(self._results)}>"


def compare_results(results: Mapping[str, SimulationResult]) -> Comparison:
    """Compare runs in one table and one plot.

    Parameters
    ----------
    results : mapping of str to SimulationResult
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
    >>> list(comparison), list(comparison.plot())
    (['soft', 'stiff'], ['error', 'tau'])
    """
    return Comparison(results)
