"""Simulate many runs: on threads, in processes or on a cluster, with a store that survives."""

from __future__ import annotations

import copy
import functools
import threading
import time
import warnings
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..checks import positive
from ..errors import ThunderError
from ..parallel import Outcome, Workers, available_threads, run_tasks
from ..progress import progress_bar, reporting
from .columns import printable
from .comparison import Metric, metric_functions
from .divergence import divergence_recorded
from .fingerprint import fingerprints
from .provenance import worker
from .run_spec import RunRecord, RunSpec, parts_with_state, with_text
from .runs import Runs
from .store import RESERVED, RunStore, Sweep, opened

__all__ = ["simulate_many"]

MetricsLike = Sequence[str] | Mapping[str, Metric] | None


def simulate_many(
    runs: Sequence[RunSpec] | Callable[..., RunSpec],
    parameters: Sequence[Mapping[str, Any]] | None = None,
    *,
    workers: Workers | None = None,
    metrics: MetricsLike = None,
    store: str | Path | None = None,
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
        Runs, or a function that returns a `RunSpec` with a controller of its own for each set of parameters. The
        function is called by the workers, with copies of its arguments, and may be a lambda or a function of a
        notebook. In each process the first call is repeated, to see whether its objects with state are new.
        Every attempt simulates a copy of a given `RunSpec`, whose own objects stay as they are; one that cannot be
        copied has one attempt.
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
        only what is missing. The extra ``cluster`` is needed.
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
        If the store is in use or holds another sweep.

    Examples
    --------
    >>> import thunder_py as th
    >>> robot = th.Robot.load("elbow")
    >>> def make(K_p):
    ...     return th.RunSpec(robot, th.PDGravity(robot, K_p, 20.0), th.reference.SetPoint([0.3, 0.2]), 1.0, q0=[0, 0])
    >>> runs = th.simulate_many(make, th.samples.grid(K_p=[50.0, 80.0]))
    >>> print(runs.table(["rmse", "status"]))
              rmse  status
    K_p=50  0.1744      ok
    K_p=80  0.1441      ok
    """
    items, sweep = _read(runs, parameters, metrics, digest=store is not None)
    task = _Task(runs if callable(runs) else None, metrics)
    with ExitStack() as stack:
        keeper = None if store is None else stack.enter_context(opened(store, sweep))
        records: dict[int, RunRecord] = {} if keeper is None else keeper.records
        todo = [k for k in range(len(items)) if k not in records or (retry_failed and records[k].error is not None)]
        bar = progress_bar(len(items), unit="run", initial=len(items) - len(todo))
        report = stack.enter_context(reporting(progress, bar))
        if items and not todo:
            report(1.0)
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
    found = Runs(records, sweep.parameters, sweep.metrics, () if keeper is None else keeper.sessions)
    if found.failures:
        first = min(found.failures)
        warnings.warn(
            f"{len(found.failures)} of {len(found)} runs failed; the first is run {first}: {found.failures[first]}",
            RuntimeWarning,
            stacklevel=2,
        )
    return found


def _read(
    runs: Sequence[RunSpec] | Callable[..., RunSpec],
    parameters: Sequence[Mapping[str, Any]] | None,
    metrics: MetricsLike,
    *,
    digest: bool,
) -> tuple[Sequence[Any], Sweep]:
    """Check what is swept; return the items for the workers, and the sweep, with digests for a store."""
    names = None if metrics is None else tuple(metric_functions(metrics))
    sets: list[Mapping[str, Any]]
    if callable(runs):
        if parameters is None:
            raise ValueError("parameters must hold a mapping for each run where runs is a function, got None")
        items: Sequence[Any] = (sets := [dict(values) for values in parameters])
    else:
        if parameters is not None:
            raise ValueError("parameters must be None where runs is a sequence of RunSpec")
        items = _ready_made(runs)
        sets = [{} for _ in items]
    parameter_names = {name for values in sets for name in values}
    for what, given, others in (
        ("parameters", parameter_names, {*RESERVED}),
        ("metrics", {*(names or ())}, {*RESERVED} | parameter_names),
    ):
        if taken := given & others:
            end = " or a parameter" if what == "metrics" else ""
            raise ValueError(f"{what} must not be called {', '.join(sorted(taken))}, the name of a column{end}")
    begun = runs if callable(runs) or not digest else [_as_begun(run) for run in items]
    swept = {"runs": begun, "parameters": sets, "metrics": metrics} if digest else {}
    function = getattr(runs, "__qualname__", type(runs).__name__)
    return items, Sweep(function, sets, names, {name: fingerprints(value) for name, value in swept.items()})


def _as_begun(run: RunSpec) -> RunSpec:
    """Return a run whose controller, if it is written in Python, is as at the beginning, whatever ran before."""
    if not any(hasattr(run.controller, name) for name in ("reset", *_OUTPUTS)):
        return run
    try:
        controller = copy.deepcopy(run.controller)
        getattr(controller, "reset", lambda: None)()
        for name in _OUTPUTS:
            vars(controller).pop(name, None)
    except Exception:  # compared as it is
        return run
    return RunSpec(run.plant, controller, run.reference, *run.arguments, label=run.label, **run.options)


#: attributes in which a controller written in Python tells of its last step
_OUTPUTS = ("status", "signals")


def _ready_made(runs: Any) -> list[RunSpec]:
    """Return a sequence of runs; refuse an object with state in two of them: workers would mix its states."""
    if not isinstance(runs, Iterable):
        raise ValueError(f"runs must be a sequence of RunSpec or a function that makes them, got {runs!r}")
    items = list(runs)
    owners = _Owners()
    for k, run in enumerate(items):
        if not isinstance(run, RunSpec):
            raise ValueError(f"runs must be a sequence of RunSpec or a function that makes them, got {run!r} in it")
        owners.claim(run, f"{k}")
    return items


class _Owners:
    """The runs to which objects with state belong."""

    def __init__(self) -> None:
        self._owners: dict[int, tuple[weakref.ref[Any] | Any, str]] = {}

    def claim(self, run: RunSpec, name: str) -> None:
        """Note the objects of a run; refuse those that belong to another one."""
        for kind, part in parts_with_state(run):
            reference, owner = self._owners.get(id(part), (None, name))
            if owner != name and reference() is part:
                raise ValueError(f"runs {owner} and {name} share a {kind}, which has state: make one for each run")
            try:
                self._owners[id(part)] = weakref.ref(part), name
            except TypeError:  # a class with slots: kept, so that its id is not used again
                self._owners[id(part)] = functools.partial(_same, part), name


def _same(part: Any) -> Any:
    return part


class _Shared:
    """Check that a function makes objects with state for each run, as far as all kinds of workers see it alike.

    A worker process sees some of the runs only. So the first one is made twice: the same object in both is an error of
    all runs. Objects that only some runs share are an error of those that come after the first in the same process.
    """

    def __init__(self) -> None:
        self._owners, self._lock = _Owners(), threading.Lock()
        self._found: str | None = None  # kind of an object that two calls returned, empty if there is none

    def check(self, run: RunSpec, again: Callable[[], RunSpec], name: str) -> None:
        with self._lock:
            if self._found is None:
                parts = {id(part) for _, part in parts_with_state(run)}
                self._found = next((kind for kind, part in parts_with_state(again()) if id(part) in parts), "")
            if self._found:
                raise ValueError(
                    f"runs must make a {self._found} for each run, got the same one, which has state, twice"
                )
            self._owners.claim(run, name)


class _Task:
    """Work on one item: make the run, simulate it, keep its result or its metrics."""

    def __init__(self, make: Callable[..., RunSpec] | None, metrics: MetricsLike) -> None:
        self.make, self.metrics = make, metrics
        self.timeout: float | None = None
        self._stopped, self._shared = threading.Event(), _Shared()
        self._failed = weakref.WeakKeyDictionary[RunSpec, Exception]()  # runs that cannot be copied

    def __reduce__(self) -> tuple[Any, ...]:
        return _Task, (self.make, self.metrics)

    def stop(self) -> None:
        """End simulations of threads: Ctrl-C reaches the main thread only."""
        self._stopped.set()

    @functools.cached_property
    def _functions(self) -> dict[str, Metric] | None:
        return None if self.metrics is None else metric_functions(self.metrics)

    def __call__(self, item: Any) -> RunRecord:
        if self.make is not None:
            return self._record(self._made(item))
        try:
            run = copy.deepcopy(item)
        except Exception:
            return self._once(item)
        return self._record(run)

    def _once(self, run: RunSpec) -> RunRecord:
        """Simulate the run itself, or raise its error again: a failed attempt leaves the state of its objects."""
        if run in self._failed:
            raise self._failed[run]
        try:
            return self._record(run)
        except Exception as error:
            self._failed[run] = error
            raise

    def _record(self, run: RunSpec) -> RunRecord:
        with divergence_recorded():  # metrics and status show it
            result = run(self._watch(time.monotonic()))
        if self._functions is None:
            return RunRecord(result=result, label=run.label, worker=worker())
        values = {name: _kept(name, function(result)) for name, function in self._functions.items()}
        return RunRecord(metrics=values, label=run.label, worker=worker())

    def _made(self, values: Mapping[str, Any]) -> RunSpec:
        assert self.make is not None
        run = self._called(values)
        self._shared.check(run, lambda: self._called(values), f"{values}")
        return run

    def _called(self, values: Mapping[str, Any]) -> RunSpec:
        assert self.make is not None
        run = self.make(**_copied(values))
        if not isinstance(run, RunSpec):
            raise ValueError(f"runs must return a RunSpec, got {type(run).__name__}")
        return run

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
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, str):
        return str(value)
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
        record = RunRecord(error=with_text(outcome.error), trace=printable(outcome.trace))
    record = replace(record, attempts=outcome.attempts, seconds=outcome.seconds)
    records[run] = record if keeper is None else keeper.add(run, record)
