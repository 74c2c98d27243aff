"""Simulate many runs: on threads, in processes or on a cluster, with a store that survives."""

from __future__ import annotations

import copy
import functools
import logging
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ...checks import positive
from ...errors import ThunderError, outer_level
from ...parallel import Outcome, Workers, available_threads, run_tasks
from ...progress import progress_bar, reporting
from ..comparison import Metric, metric_functions
from ..divergence import outcome_recorded
from .encoding import digest, printable
from .provenance import worker
from .runs import Runs
from .spec import RunRecord, RunSpec, parts_with_state, with_text
from .store import RESERVED, Plan, RunStore, open_store

_LOG = logging.getLogger(__name__)

MetricsLike = Sequence[str] | Mapping[str, Metric] | None


def simulate_many(
    runs: Sequence[RunSpec] | Callable[..., RunSpec],
    parameters: Sequence[Mapping[str, Any]] | None = None,
    *,
    workers: Workers | None = None,
    metrics: MetricsLike = None,
    store: str | Path | None = None,
    label: str | None = None,
    retry_failed: bool = False,
    retries: int = 1,
    timeout: float | None = None,
    progress: bool | Callable[[float], object] = False,
) -> Runs:
    """Simulate many runs: on the threads of this process, in worker processes or on a cluster.

    A failed run does not stop the others: a warning counts the failures, and `Runs.failures` has their errors. Results
    depend neither on the workers nor on the order in which runs end, nor on restarts.

    Parameters
    ----------
    runs : sequence of RunSpec, or callable
        Runs, or a function that returns a `RunSpec` for each set of parameters. The function is called by the workers,
        with copies of its arguments, and may be a lambda or a function of a notebook. Every attempt simulates a copy
        of the `RunSpec`, whose own objects stay as they are; a given one that cannot be copied has one attempt.
    parameters : sequence of mapping, optional
        Keyword arguments of that function, such as ``[{"K_d": 5.0, "seed": 1}, ...]``; see `thunder_py.samples`. Names
        of columns, such as ``seconds``, are refused.
    workers : int, map-like callable, concurrent.futures.Executor or dask.distributed.Client, optional
        See `thunder_py.parallel.run_tasks`. Default one thread for each core: runs with plant, controller and reference
        of this package compute without the GIL, and nothing is pickled.
    metrics : sequence of str, or mapping of str to callable, optional
        Metrics to evaluate by the workers, as of `Comparison.table`; only their values are kept, which are numbers,
        texts, or arrays of numbers. Default whole results.
    store : path-like, optional
        Folder to which results are written as they come. The same call goes on where a former one ended, and simulates
        only what is missing. A sweep is recognized by its parameters, the names of its function and metrics, and its
        label; ready-made runs by their labels and a digest of their arguments. Changed code is not noticed.
    label : str, optional
        Label of the sweep in its store, such as a version of the code: a store with another one is refused.
    retry_failed : bool
        Simulate again the runs that failed in former calls with the store.
    retries : int
        Number of further attempts for a run that raises an error or whose worker dies.
    timeout : float, optional
        Largest duration of a run [s]. Worker processes of runs that take longer are ended; threads end a simulation at
        its next report of progress, and so not within a call of Python code that hangs.
    progress : bool or callable
        True shows a bar on terminals and in notebooks; a callable gets the completed fraction of the runs.

    Returns
    -------
    Runs
        Results in the order of the runs; those of a store are read when they are used.

    Raises
    ------
    ValueError
        If an argument is of the wrong kind, or two runs share a controller or a plant with state.
    ThunderError
        If the store is in use or holds another sweep, or a run whose arguments cannot be pickled has no label.

    Examples
    --------
    >>> import thunder_py as th
    >>> robot = th.Robot.load("elbow")
    >>> def make(K_p):
    ...     return th.RunSpec(robot, th.PDGravity(robot, K_p, 20.0), th.reference.SetPoint([0.3, 0.2]), 1.0, q0=[0, 0])
    >>> runs = th.simulate_many(make, th.samples.grid(K_p=[50.0, 80.0]))
    >>> print(runs.table(["rmse", "status"]))
            rmse [rad]  status
    K_p=50      0.1744      ok
    K_p=80      0.1441      ok
    """
    items, plan = _read(runs, parameters, metrics, label)
    task = _Task(runs if callable(runs) else None, metrics)
    with ExitStack() as stack:
        if store is not None and not callable(runs):
            plan = replace(plan, runs=[_identity(k, run) for k, run in enumerate(items)])
        elif store is not None and label is None:
            _require_known(plan.parameters)
        keeper = None if store is None else stack.enter_context(open_store(store, plan))
        records: dict[int, RunRecord] = {} if keeper is None else keeper.records
        todo = [k for k in range(len(items)) if k not in records or (retry_failed and records[k].error is not None)]
        bar = progress_bar(len(items), unit="run", initial=len(items) - len(todo))
        report = stack.enter_context(reporting(progress, bar))
        if items and not todo:
            report(1.0)
        if keeper is not None:
            _LOG.info("%s: %d of %d runs are there, %d to do", store, len(items) - len(todo), len(items), len(todo))
        if todo and keeper is not None:
            keeper.begin_session()
        if workers is None:
            workers = stack.enter_context(ThreadPoolExecutor(max(1, min(available_threads(), len(todo)))))
            task.timeout, timeout = None if timeout is None else positive(timeout, "timeout"), None
        outcomes = run_tasks(task, [items[k] for k in todo], workers=workers, retries=retries, timeout=timeout)
        stack.enter_context(closing(outcomes))
        stack.callback(task.stop)  # before the others: threads end when they see it
        for done, outcome in enumerate(outcomes, start=len(items) - len(todo) + 1):
            _keep(todo[outcome.index], outcome, records, keeper)
            report(done / len(items))
    found = Runs(records, plan.parameters, plan.metrics, () if keeper is None else keeper.sessions)
    if found.failures:
        first = min(found.failures)
        warnings.warn(
            f"{len(found.failures)} of {len(found)} runs failed; the first is run {first}: {found.failures[first]}",
            RuntimeWarning,
            stacklevel=outer_level(),
        )
    return found


def _read(
    runs: Sequence[RunSpec] | Callable[..., RunSpec],
    parameters: Sequence[Mapping[str, Any]] | None,
    metrics: MetricsLike,
    label: str | None,
) -> tuple[Sequence[Any], Plan]:
    """Check what is swept; return the items for the workers, and the plan."""
    if label is not None and not isinstance(label, str):
        raise ThunderError(f"label must be a text, got {label!r}")
    names = None if metrics is None else tuple(metric_functions(metrics))
    sets: list[Mapping[str, Any]]
    if callable(runs):
        if parameters is None:
            raise ThunderError("parameters must hold a mapping for each run where runs is a function, got None")
        items: Sequence[Any] = (sets := [dict(values) for values in parameters])
    else:
        if parameters is not None:
            raise ThunderError("parameters must be None where runs is a sequence of RunSpec")
        items = _ready_made(runs)
        sets = [{} for _ in items]
    parameter_names = {name for values in sets for name in values}
    if taken := parameter_names & {*RESERVED}:
        raise ThunderError(f"parameters must not be called {', '.join(sorted(taken))}, the name of a column")
    if taken := {*(names or ())} & ({*RESERVED} | parameter_names):
        raise ThunderError(
            f"metrics must not be called {', '.join(sorted(taken))}, the name of a column or a parameter"
        )
    return items, Plan(getattr(runs, "__qualname__", type(runs).__name__), label, names, sets)


def _ready_made(runs: Any) -> list[RunSpec]:
    """Return a sequence of runs; refuse an object with state in two of them: workers would mix its states."""
    if not isinstance(runs, Iterable):
        raise ThunderError(f"runs must be a sequence of RunSpec or a function that makes them, got {runs!r}")
    items = list(runs)
    owners: dict[int, int] = {}
    for k, run in enumerate(items):
        if not isinstance(run, RunSpec):
            raise ThunderError(f"runs must be a sequence of RunSpec or a function that makes them, got {run!r} in it")
        for kind, part in parts_with_state(run):
            owner = owners.setdefault(id(part), k)
            if owner != k:
                raise ThunderError(f"runs {owner} and {k} share a {kind}, which has state: make one for each run")
    return items


def _is_plain(value: Any) -> bool:
    """Return True for numbers and texts, which a store compares as they are: digests of many would take seconds."""
    return value is None or isinstance(value, (bool, int, float, str, np.number))


def _require_known(parameters: Sequence[Mapping[str, Any]]) -> None:
    """Refuse parameters that a store cannot tell apart: neither data nor a name, and no digest."""
    for k, values in enumerate(parameters):
        for name, value in values.items():
            if not (_is_plain(value) or callable(value)) and digest(value) is None:
                raise ThunderError(
                    f"parameter {name!r} of run {k} must be an object that can be pickled, or the sweep have a label, "
                    f"to be kept in a store, got {printable(value):.80}"
                )


def _identity(k: int, run: RunSpec) -> tuple[str | None, str | None]:
    """Return label and digest by which a store recognizes a ready-made run."""
    found = digest((run.plant, run.controller, run.reference, run.arguments, run.options))
    if found is None and run.label is None:
        raise ThunderError(
            f"run {k} must have a label to be kept in a store, since its arguments cannot be pickled; or give a "
            "function that makes it, and parameters"
        )
    return None if run.label is None else printable(run.label), found


class _Task:
    """Work on one item: make the run, simulate it, keep its result or its metrics."""

    def __init__(self, make: Callable[..., RunSpec] | None, metrics: MetricsLike) -> None:
        self.make, self.metrics = make, metrics
        self.timeout: float | None = None
        self._stopped = threading.Event()
        self._failed: dict[int, Exception] = {}  # of given runs that cannot be copied, by their id

    def __reduce__(self) -> tuple[Any, ...]:
        return _Task, (self.make, self.metrics)

    def stop(self) -> None:
        """End simulations of threads: Ctrl-C reaches the main thread only."""
        self._stopped.set()

    @functools.cached_property
    def _functions(self) -> dict[str, Metric] | None:
        return None if self.metrics is None else metric_functions(self.metrics)

    def __call__(self, item: Any) -> RunRecord:
        run = item if self.make is None else self.make(**_copied(item))
        if not isinstance(run, RunSpec):
            raise ThunderError(f"runs must return a RunSpec, got {type(run).__name__}")
        try:
            run = copy.deepcopy(run)
        except Exception:
            if self.make is None:
                return self._once(item)
        return self._record(run)

    def _once(self, run: RunSpec) -> RunRecord:
        """Simulate the run itself, or raise its error again: a failed attempt leaves the state of its objects."""
        if id(run) in self._failed:
            raise self._failed[id(run)]
        try:
            return self._record(run)
        except Exception as error:
            self._failed[id(run)] = error
            raise

    def _record(self, run: RunSpec) -> RunRecord:
        with outcome_recorded():  # metrics and status show it
            result = run(self._watch(time.monotonic()))
        if self._functions is None:
            return RunRecord(result=result, label=run.label, **worker())
        values = {name: _kept(name, function(result)) for name, function in self._functions.items()}
        unit = None if isinstance(self.metrics, Mapping) else result.error_unit
        return RunRecord(metrics=values, error_unit=unit, label=run.label, **worker())

    def _watch(self, start: float) -> Callable[[float], None]:
        def watch(done: float) -> None:
            if self._stopped.is_set():
                raise InterruptedError("stopped")
            if self.timeout is not None and time.monotonic() - start > self.timeout:
                raise TimeoutError(f"the run took longer than {self.timeout:g} s")

        return watch


def _copied(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments of one attempt, which the function may change; what cannot be copied, as a lock, is shared."""
    found, memo = dict(values), dict[int, Any]()
    for name, value in values.items():
        with suppress(Exception):
            found[name] = copy.deepcopy(value, memo)
    return found


def _kept(name: str, value: Any) -> Any:
    """Return a metric as a number or text of Python or as an array, whose floats have 64 bits."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, float, str)):
        return str(value) if isinstance(value, str) else value
    try:
        array = np.asarray(value)
    except ValueError:
        array = np.empty(0, dtype=object)
    if array.dtype.kind in "biuf":
        array = array.astype(np.float64) if array.dtype.kind == "f" else array
        return array if array.ndim else array.item()
    raise ThunderError(f"metric {name!r} must be a number, a text or an array of numbers, got {type(value).__name__}")


def _keep(run: int, outcome: Outcome, records: dict[int, RunRecord], keeper: RunStore | None) -> None:
    """Note what a run left, in the store where there is one."""
    if outcome.error is None:
        record = replace(outcome.value, label=None if outcome.value.label is None else printable(outcome.value.label))
    else:
        record = RunRecord(error=with_text(outcome.error), traceback=printable(outcome.trace))
    record = replace(record, attempts=outcome.attempts, seconds=outcome.seconds)
    records[run] = record if keeper is None else keeper.add(run, record)
