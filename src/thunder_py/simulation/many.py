"""Simulate many runs in parallel, one per thread."""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, overload

from ..checks import whole
from ..errors import ThunderError
from ..progress import progress_bar
from ..result import DEFAULT_METRICS, Metric, SimulationResult, metrics_table
from ..table import Table
from ..values import Stateful
from .loop import simulate
from .observers import named_observers

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["RunSpec", "Runs", "simulate_many"]


class RunSpec(Stateful):
    """Store the arguments of a call of `simulate`, made by ``run()``.

    Parameters
    ----------
    plant, controller, reference, *arguments, **options
        Arguments of `simulate`. Runs may share objects without state; controllers, and plants with ``begin_step`` or
        ``advance`` such as `MujocoPlant`, must not be shared.
    label : str, optional
        Name of the run in tables and plots; default its parameters in `simulate_many`, or its number.

    Examples
    --------
    >>> import thunder_py as th
    >>> robot = th.Robot.load("elbow")
    >>> run = th.RunSpec(robot, th.PDGravity(robot, 80.0, 20.0), th.reference.SetPoint([0.3, 0.2]), 1.0, label="PD")
    >>> run.label, run().status.shape
    ('PD', (1001,))
    """

    def __init__(
        self, plant: Any, controller: Any, reference: Any, *arguments: Any, label: str | None = None, **options: Any
    ) -> None:
        self.plant, self.controller, self.reference = plant, controller, reference
        self.arguments, self.options, self.label = arguments, options, label

    def __call__(self, progress: bool | Callable[[float], object] = False) -> SimulationResult:
        """Simulate and return the result."""
        return simulate(
            self.plant, self.controller, self.reference, *self.arguments, **{**self.options, "progress": progress}
        )


class Runs(Sequence[SimulationResult]):
    """Results of `simulate_many`, in the order of the runs.

    ``runs[k]`` is the result of run k; for a failed run it raises `ThunderError` from the run's own error.

    Attributes
    ----------
    parameters : tuple of mapping
        Parameters of each run; empty mappings where `simulate_many` got a sequence of runs.
    labels : tuple of str
        Name of each run.
    failures : dict of int to Exception
        Errors of the failed runs, by number.

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
        results: Sequence[SimulationResult | None],
        failures: Mapping[int, Exception],
        labels: Sequence[str],
        parameters: Sequence[Mapping[str, Any]],
    ) -> None:
        self._results, self.failures = tuple(results), dict(failures)
        self.labels, self.parameters = tuple(labels), tuple(parameters)

    def __len__(self) -> int:
        return len(self._results)

    @overload
    def __getitem__(self, index: int) -> SimulationResult: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[SimulationResult]: ...
    def __getitem__(self, index: int | slice) -> SimulationResult | Sequence[SimulationResult]:
        """Return a result."""
        if isinstance(index, slice):
            return [self[k] for k in range(len(self))[index]]
        k = range(len(self))[index]
        result = self._results[k]
        if result is None:
            raise ThunderError(f"run {k} ({self.labels[k]}) failed: {self.failures[k]}") from self.failures[k]
        return result

    @property
    def succeeded(self) -> dict[str, SimulationResult]:
        """Results of the runs that did not fail, by label."""
        pairs = zip(self.labels, self._results, strict=True)
        return {label: result for label, result in pairs if result is not None}

    def __iter__(self) -> Iterator[SimulationResult]:
        """Iterate over the results; a failed run raises `ThunderError`."""
        return (self[k] for k in range(len(self)))

    def table(self, metrics: Sequence[str] | Mapping[str, Metric] = DEFAULT_METRICS) -> Table:
        """Return a table of metrics with a row for each run; errors of failed runs are in the column ``failure``.

        Parameters
        ----------
        metrics : sequence of str, or mapping of str to callable
            See `Comparison.table`.
        """
        failed = {self.labels[k]: f"{type(error).__name__}: {error}" for k, error in self.failures.items()}
        rows: dict[str, SimulationResult | str] = {label: failed.get(label, "") for label in self.labels}
        return metrics_table({**rows, **self.succeeded}, metrics)

    def plot(self, *, axes: Mapping[str, Axes] | None = None) -> dict[str, Axes]:
        """Overlay error norms and torques of the runs that did not fail; see `Comparison.plot`."""
        from ..result.plot import plot_comparison

        return plot_comparison(self.succeeded, axes=axes)

    def __repr__(self) -> str:
        return f"<Runs: {len(self)}, {len(self.failures)} failed>"


def simulate_many(
    runs: Sequence[RunSpec] | Callable[..., RunSpec],
    parameters: Sequence[Mapping[str, Any]] | None = None,
    *,
    threads: int = 0,
    progress: bool | Callable[[float], object] = False,
) -> Runs:
    """Simulate many runs in parallel.

    Runs with plant, controller and reference of this package run without the GIL and scale with the threads; others
    share the interpreter. A failed run does not stop the others: a warning counts the failures, and `Runs.failures`
    has their errors.

    Parameters
    ----------
    runs : sequence of Run, or callable
        Runs, or a function that returns a `RunSpec` with a controller of its own for each set of parameters.
    parameters : sequence of mapping, optional
        Keyword arguments of that function, such as ``[{"K_d": 5.0, "seed": 1}, ...]``.
    threads : int
        Number of threads; 0 for one per core.
    progress : bool or callable
        True shows a bar on terminals and in notebooks; a callable gets the completed fraction of the runs.

    Returns
    -------
    Runs
        Results in the order of the runs.

    Raises
    ------
    ValueError
        If an argument is of the wrong kind, or two runs share a controller or a plant with state.

    Examples
    --------
    >>> import thunder_py as th
    >>> robot = th.Robot.load("elbow")
    >>> def make(K_p):
    ...     return th.RunSpec(robot, th.PDGravity(robot, K_p, 20.0), th.reference.SetPoint([0.3, 0.2]), 1.0, q0=[0, 0])
    >>> runs = th.simulate_many(make, [{"K_p": 50.0}, {"K_p": 80.0}])
    >>> print(runs.table(["rmse", "status"]))
              rmse  status
    K_p=50  0.1744      ok
    K_p=80  0.1441      ok
    """
    whole(threads, "threads", 0)
    batch, failures, sets = _make_runs(runs, parameters)
    _refuse_shared(batch)
    results: list[SimulationResult | None] = [None] * len(batch)
    with ExitStack() as stack:
        report = _progress(progress, len(batch), stack)
        _run_all(batch, results, failures, int(threads) or os.cpu_count() or 1, report)
    if failures:
        first = min(failures)
        warnings.warn(
            f"{len(failures)} of {len(batch)} runs failed; the first is run {first}: {failures[first]}",
            RuntimeWarning,
            stacklevel=2,
        )
    return Runs(results, failures, _labels(batch, sets), sets)


def _make_runs(
    runs: Sequence[RunSpec] | Callable[..., RunSpec], parameters: Sequence[Mapping[str, Any]] | None
) -> tuple[list[RunSpec | None], dict[int, Exception], list[Mapping[str, Any]]]:
    """Return the runs (None where construction failed), the errors by number, and the sets of parameters."""
    if not callable(runs):
        if parameters is not None:
            raise ValueError("parameters must be None where runs is a sequence of Run")
        if not isinstance(runs, Iterable):
            raise ValueError(f"runs must be a sequence of RunSpec or a function that makes them, got {runs!r}")
        items = list(runs)
        for run in items:
            if not isinstance(run, RunSpec):
                raise ValueError(f"runs must be a sequence of RunSpec or a function that makes them, got {run!r} in it")
        return [*items], {}, [{} for _ in items]
    if parameters is None:
        raise ValueError("parameters must hold a mapping for each run where runs is a function, got None")
    batch: list[RunSpec | None] = []
    failures: dict[int, Exception] = {}
    sets = [dict(values) for values in parameters]
    for k, values in enumerate(sets):
        try:
            run = runs(**values)
            if not isinstance(run, RunSpec):
                raise ValueError(f"runs must return a Run, got {type(run).__name__}")
            batch.append(run)
        except Exception as error:
            failures[k] = error
            batch.append(None)
    return batch, failures, [*sets]


def _refuse_shared(runs: Sequence[RunSpec | None]) -> None:
    """Refuse an object with state in two runs: threads would mix its states."""
    owners: dict[int, int] = {}
    for k, run in enumerate(runs):
        if run is None:
            continue
        parts: dict[str, object] = {"controller": run.controller}
        if hasattr(run.plant, "begin_step") or hasattr(run.plant, "advance"):
            parts["plant"] = run.plant
        parts |= {f"observer {names[0]}": one for names, one in named_observers(run.options.get("observers")).items()}
        for name, part in parts.items():
            first = owners.setdefault(id(part), k)
            if first != k:
                raise ValueError(f"runs {first} and {k} share a {name}, which has state: make one for each run")


def _run_all(
    runs: Sequence[RunSpec | None],
    results: list[SimulationResult | None],
    failures: dict[int, Exception],
    threads: int,
    report: Callable[[float], object],
) -> None:
    stop = threading.Event()

    def watch(_: float) -> None:
        if stop.is_set():  # Ctrl-C reaches the main thread only
            raise InterruptedError("stopped")

    with ThreadPoolExecutor(max_workers=max(1, min(threads, len(runs)))) as pool:
        futures: dict[Future[SimulationResult], int] = {}
        try:
            futures = {pool.submit(run, watch): k for k, run in enumerate(runs) if run is not None}
            for done, future in enumerate(as_completed(futures), start=len(failures) + 1):
                error = future.exception()
                if isinstance(error, Exception):
                    failures[futures[future]] = error
                elif error is not None:
                    raise error
                else:
                    results[futures[future]] = future.result()
                report(done / len(runs))
        finally:
            stop.set()
            for future in futures:
                future.cancel()


def _labels(runs: Sequence[RunSpec | None], sets: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a name for each run, with its number where names would be equal."""
    labels = []
    for k, (run, values) in enumerate(zip(runs, sets, strict=True)):
        text = ", ".join(f"{key}={_short(value)}" for key, value in values.items())
        labels.append((run.label if run is not None else None) or text or str(k))
    return [f"{label} #{k}" if labels.count(label) > 1 else label for k, label in enumerate(labels)]


def _short(value: Any) -> str:
    text = f"{value:g}" if isinstance(value, float) else " ".join(str(value).split())
    return text if len(text) <= 24 else f"{text[:21]}..."


def _progress(progress: bool | Callable[[float], object], count: int, stack: ExitStack) -> Callable[[float], object]:
    if callable(progress):
        return progress
    if not progress:
        return lambda done: None
    return stack.enter_context(progress_bar(count, unit="run"))
