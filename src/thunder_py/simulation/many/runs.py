"""Results of many runs: by number, as tables, data frames and datasets, over their parameters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from ...errors import ThunderError, UnknownNameError, nearest_hint
from ...optional import require
from ...table import Table, Tabular
from ..comparison import DEFAULT_METRICS, Metric, evaluate, split_by_unit
from ..result import SimulationResult
from .dataset import short
from .spec import RunRecord, describe
from .store import RESERVED, RunStore

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_PENDING = RunRecord(attempts=0, seconds=None, host=None)
Names = Sequence[str] | Mapping[str, Metric] | None


class Runs(Sequence[SimulationResult], Tabular):
    """Results of `simulate_many`, in the order of the runs.

    ``runs[k]`` is the result of run k. It raises `ThunderError` for a run that failed, was not simulated yet, or whose
    metrics alone were kept.

    Attributes
    ----------
    parameters : tuple of mapping
        Parameters of each run; empty mappings where `simulate_many` got a sequence of runs.
    labels : tuple of str
        Name of each run.
    failures : dict of int to Exception
        Errors of the failed runs, by number.
    pending : tuple of int
        Runs without a result in a store whose sweep has not ended.
    provenance : tuple of dict
        For a store, what its results depend on besides their arguments, for each session that wrote to it: versions,
        commit, machine, instruction set, time.

    Examples
    --------
    >>> import thunder_py as th
    >>> robot = th.Robot.load("elbow")
    >>> target = th.reference.SetPoint([0.3, 0.2])
    >>> runs = th.simulate_many([th.RunSpec(robot, th.PDGravity(robot, K, 20.0), target, 1.0) for K in (50.0, 80.0)])
    >>> len(runs), runs.labels, runs.failures
    (2, ('0', '1'), {})
    """

    def __init__(
        self,
        records: Mapping[int, RunRecord],
        parameters: Sequence[Mapping[str, Any]],
        metrics: Sequence[str] | None = None,
        provenance: Sequence[dict[str, Any]] = (),
    ) -> None:
        self._records = dict(sorted(records.items()))
        self._metrics = None if metrics is None else tuple(metrics)
        self.parameters, self.provenance = tuple(parameters), tuple(provenance)
        self.labels = _labels(self._records, self.parameters)
        self.failures = {k: record.error for k, record in self._records.items() if record.error is not None}
        self.pending = tuple(k for k in range(len(self.parameters)) if k not in self._records)

    @classmethod
    def load(cls, path: str | Path) -> Runs:
        """Read a store of `simulate_many`, also while it is being written; results are read when they are used.

        Parameters
        ----------
        path : path-like
            Folder of the store.

        Raises
        ------
        FileFormatError
            If it is no store.
        """
        store = RunStore(path)
        return cls(store.records, store.plan.parameters, store.plan.metrics, store.sessions)

    def __len__(self) -> int:
        return len(self.parameters)

    @overload
    def __getitem__(self, index: int) -> SimulationResult: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[SimulationResult]: ...
    def __getitem__(self, index: int | slice) -> SimulationResult | Sequence[SimulationResult]:
        """Return a result."""
        if isinstance(index, slice):
            return [self[k] for k in range(len(self))[index]]
        k = range(len(self))[index]
        record = self._records.get(k)
        if record is None:
            raise ThunderError(f"run {k} ({self.labels[k]}) was not simulated yet")
        if record.error is not None:
            raise ThunderError(f"run {k} ({self.labels[k]}) failed: {record.error}") from record.error
        if record.result is None:
            raise ThunderError(f"run {k} ({self.labels[k]}) has no result: simulate_many kept its metrics only")
        return SimulationResult.load(record.result) if isinstance(record.result, Path) else record.result

    @property
    def succeeded(self) -> dict[str, SimulationResult]:
        """Results of the runs that did not fail, by label."""
        return {self.labels[k]: self[k] for k, record in self._records.items() if record.result is not None}

    def __iter__(self) -> Iterator[SimulationResult]:
        """Iterate over the results; a run without one raises `ThunderError`."""
        return (self[k] for k in range(len(self)))

    def columns(self, metrics: Names = None) -> dict[str, list[Any]]:
        """Return metrics by name, a value for each run; None for runs without a result.

        Metrics of the error have a column for each unit, such as ``rmse [rad]`` and ``rmse [m, rad]``.

        Parameters
        ----------
        metrics : sequence of str, or mapping of str to callable, optional
            See `Comparison.table`. Where only metrics were kept, names of these. Default all that were kept, or
            `DEFAULT_METRICS`.

        Raises
        ------
        UnknownNameError
            If only other metrics were kept.
        """
        if self._metrics is None:
            return evaluate(map(self._result, range(len(self))), DEFAULT_METRICS if metrics is None else metrics)
        for name in metrics or ():
            if name not in self._metrics or isinstance(metrics, Mapping):
                kept = ", ".join(self._metrics)
                raise UnknownNameError(f"metrics must be among {kept}, got {name!r}{nearest_hint(name, self._metrics)}")
        records = [self._records.get(k, _PENDING) for k in range(len(self))]
        names = metrics or self._metrics
        values = {name: [None if one.metrics is None else one.metrics[name] for one in records] for name in names}
        return split_by_unit(values, [one.error_unit for one in records])

    def _failure(self, k: int) -> str | None:
        if k in self.failures:
            return describe(self.failures[k])
        return "not simulated yet" if k not in self._records else None

    def table(self, metrics: Names = None) -> Table:
        """Return a table of metrics with a row for each run; errors of failed runs are in the column ``failure``.

        Parameters
        ----------
        metrics : sequence of str, or mapping of str to callable, optional
            See `columns`.
        """
        columns = self.columns(metrics)
        failures = [self._failure(k) for k in range(len(self))]
        if any(failures):
            columns["failure"] = failures
        return Table(["", *columns], zip(self.labels, *columns.values(), strict=True))

    def to_pandas(self, metrics: Names = None) -> Any:
        """Return a `pandas.DataFrame` with a row for each run.

        Parameters
        ----------
        metrics : sequence of str, or mapping of str to callable, optional
            See `columns`.

        Returns
        -------
        pandas.DataFrame
            Parameters, metrics, ``failure`` (None for a run with a result), ``attempts``, ``seconds`` and ``host``; the
            index is the number of the run.

        Raises
        ------
        ThunderError
            If a metric has the name of a parameter or of one of the other columns.
        MissingExtraError
            If pandas is not installed (extra ``cluster``).

        Examples
        --------
        >>> import thunder_py as th
        >>> robot, rest = th.Robot.load("elbow"), th.reference.SetPoint([0.3, 0.2])
        >>> def make(K_p):
        ...     return th.RunSpec(robot, th.PDGravity(robot, K_p, 20.0), rest, 1.0, q0=[0, 0])
        >>> frame = th.simulate_many(make, th.samples.grid(K_p=[50.0, 80.0])).to_pandas(["peak"])
        >>> frame[["K_p", "peak [rad]"]].round(3).values.tolist()
        [[50.0, 0.361], [80.0, 0.361]]
        """
        pandas = require("pandas", "cluster")
        return pandas.DataFrame(self.to_columns(metrics), index=pandas.RangeIndex(len(self), name="run"))

    def to_columns(self, metrics: Names = None) -> dict[str, Any]:
        """Return the columns of `to_pandas`, a value for each run; `metrics` as there."""
        values = self.columns(metrics)
        columns = {**self._parameters(values), **values}
        columns["failure"] = [self._failure(k) for k in range(len(self))]
        done = [self._records.get(k, _PENDING) for k in range(len(self))]
        return columns | {name: [getattr(one, name) for one in done] for name in ("attempts", "seconds", "host")}

    def _parameters(self, columns: Mapping[str, Any]) -> dict[str, list[Any]]:
        """Return the parameters by name, a value for each run; refuse those called as one of the columns."""
        names = list(dict.fromkeys(name for values in self.parameters for name in values))
        double = set(columns) & {*names, *RESERVED}
        if double:
            listed = ", ".join(sorted(double))
            raise ThunderError(f"metrics must not be called as parameters or columns of the table: {listed}")
        return {name: [values.get(name) for values in self.parameters] for name in names}

    def _result(self, k: int) -> SimulationResult | None:
        record = self._records.get(k)
        return self[k] if record is not None and record.result is not None else None

    def to_xarray(self, metrics: Names = None, signals: Sequence[str] = ()) -> Any:
        """Return an `xarray.Dataset` of metrics, and of trajectories, over the parameters.

        Parameters
        ----------
        metrics : sequence of str, or mapping of str to callable, optional
            See `columns`.
        signals : sequence of str
            Arrays over time of the results, such as ``["q", "error"]``, where these were kept.

        Returns
        -------
        xarray.Dataset
            If the parameters are a grid, each that varies is a dimension; otherwise there is the dimension ``run`` and
            the parameters are its coordinates. Signals have the dimension ``time`` too; after the end of a run, and for
            failed runs, they are NaN. A missing parameter is NaN, or an empty text; numbers and texts in one parameter
            are texts.

        Raises
        ------
        ThunderError
            If a metric has the name of a parameter or of a column of `to_pandas`, or a signal was not kept.
        MissingExtraError
            If xarray is not installed (extra ``cluster``).

        Examples
        --------
        >>> import thunder_py as th
        >>> robot, rest = th.Robot.load("elbow"), th.reference.SetPoint([0.3, 0.2])
        >>> def make(K_p, K_d):
        ...     return th.RunSpec(robot, th.PDGravity(robot, K_p, K_d), rest, 1.0, q0=[0, 0])
        >>> runs = th.simulate_many(make, th.samples.grid(K_p=[50.0, 80.0], K_d=[10.0, 20.0, 30.0]))
        >>> dict(runs.to_xarray(["rmse"], signals=["q"]).sizes)
        {'K_p': 2, 'K_d': 3, 'time': 1001, 'joint': 2}
        """
        from .dataset import dataset_of

        columns = self.columns(metrics)
        results = [self._result(k) if signals else None for k in range(len(self))]
        return dataset_of(self._parameters(columns), columns, results, signals)

    def plot(self, *, axes: Mapping[str, Axes] | None = None) -> dict[str, Axes]:
        """Overlay error norms and torques of the runs that did not fail; see `Comparison.plot`."""
        from ..figure import plot_comparison

        return plot_comparison(self.succeeded, axes=axes)

    def plot_metric(
        self, metric: str | Metric, x: str, y: str | None = None, *, log: bool = False, ax: Axes | None = None
    ) -> Axes:
        """Plot a metric over one parameter or two.

        Over one parameter with few values: the median of the runs with each value, and their range; otherwise a point
        for each run. Over two that make a grid: the median of each cell in colors; otherwise a colored point for each
        run.

        Parameters
        ----------
        metric : str or callable
            Metric with one number for each run; see `columns`.
        x, y : str
            Names of parameters.
        log : bool
            Draw the metric on a logarithmic scale.
        ax : Axes, optional
            Default a new figure.

        Returns
        -------
        Axes
            The panel drawn.

        Raises
        ------
        ThunderError
            If a name is unknown, or the metric is not a number.
        """
        from .plot import plot_metric

        name = metric if isinstance(metric, str) else getattr(metric, "__name__", "metric")
        columns = self.columns([metric] if isinstance(metric, str) else {name: metric})
        known = self._parameters(columns)
        for axis in (x,) if y is None else (x, y):
            if axis not in known:
                hint = nearest_hint(axis, known)
                raise UnknownNameError(f"x and y must be among {', '.join(known) or 'none'}, got {axis!r}{hint}")
        over = {axis: known[axis] for axis in ((x,) if y is None else (x, y))}
        if len(columns) > 1:
            raise ThunderError(f"metric must have one unit in all runs, got {', '.join(columns)}")
        ((name, values),) = columns.items()
        return plot_metric(values, name, over, log, ax)

    def __repr__(self) -> str:
        pending = f", {len(self.pending)} pending" if self.pending else ""
        return f"<Runs: {len(self)}, {len(self.failures)} failed{pending}>"


def _labels(records: Mapping[int, RunRecord], sets: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """Return a name for each run, with its number where names would be equal."""
    labels = []
    for k, values in enumerate(sets):
        text = ", ".join(f"{key}={short(value)}" for key, value in values.items())
        labels.append((records[k].label if k in records else None) or text or str(k))
    count = Counter(labels)
    return tuple(f"{label} #{k}" if count[label] > 1 else label for k, label in enumerate(labels))
