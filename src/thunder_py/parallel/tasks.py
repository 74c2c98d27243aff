"""`run_tasks`: a function of many items on any kind of workers."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence, Sized
from concurrent.futures import FIRST_COMPLETED, Executor, wait
from itertools import islice
from typing import Any, Protocol, TypeAlias, cast

from ..checks import is_whole, positive, whole
from ..errors import ThunderError
from ..progress import progress_bar, reporting
from .executors import AnyExecutor, Cluster, is_client
from .processes import Processes
from .work import Entry, Outcome, Work, WorkerFailure, available_cores, received


class Client(Protocol):
    """Client of `dask.distributed`."""

    def nthreads(self, workers: Any = None) -> Any:
        """Return the number of threads of each worker."""


#: number of processes, a function like `map`, an executor or a Dask client
Workers: TypeAlias = int | Callable[..., Iterable[Any]] | Executor | Client

#: duration of a batch [s]: a hundred times the effort of sending it
_BATCH = 0.5
_MOST = 1000
#: items for each core in one call of a function like `map`
_CALLS = 16


def run_tasks(
    function: Callable[[Any], Any],
    items: Iterable[Any],
    *,
    workers: Workers = 1,
    retries: int = 1,
    retry_errors: bool = True,
    timeout: float | None = None,
    progress: bool | Callable[[float], object] = False,
    description: str = "",
    unit: str = "run",
) -> Generator[Outcome, None, None]:
    """Call a function with every item and yield the outcomes as they come.

    Parameters
    ----------
    function : callable
        Function of one item. It may be a lambda or a function of a notebook.
    items : iterable
        Items; a bounded number of them is in flight.
    workers : int, map-like callable, concurrent.futures.Executor or dask.distributed.Client
        1 calls the function in this process, in order; another number starts so many worker processes, -1 one for each
        core. A callable gets a function and an iterable, as `map`. Executors and clients are not closed; workers of
        executors and callables that die are not replaced.
    retries : int
        Number of further attempts for a run that raises an error or whose worker dies.
    retry_errors : bool
        If False, runs that raise an error are not tried again, only those whose worker dies.
    timeout : float, optional
        Largest duration of a run [s], and of the pickling of its value. The process of a run that takes longer is ended
        and replaced. This needs worker processes, so `workers` must be a number or a Dask client of other processes; 1
        is then one worker process. One that does not end itself, because it is stopped or the run handles the signal
        SIGALRM, is killed a minute after the time of all attempts.
    progress : bool or callable
        True shows a bar with the time left; a callable gets the completed fraction.
    description : str
        Label of the bar.
    unit : str
        Name of an item in the bar.

    Yields
    ------
    Outcome
        Outcome of each item, in order of completion. Closing the generator, by an exception or Ctrl-C in its loop too,
        ends the work: worker processes are ended, a Dask worker and a thread finish the run in progress.

    Raises
    ------
    ThunderError
        If an argument is invalid or the function cannot be pickled for another process.
    RuntimeError
        If an executor broke or the Dask scheduler was lost.

    Notes
    -----
    Items are sent in batches of about half a second, according to the measured duration of the runs; a batch that takes
    longer than a second returns what it has, and the rest is given out again. A worker process that dies costs the
    batch it ran, which is tried again item by item until the culprit is alone. The outcomes depend neither on the kind
    of workers nor on batches if the function depends on its item only. Worker processes have one thread of linear
    algebra, and ``threads=0`` means one thread in them (environment variable ``THUNDER_THREADS``); in those of
    executors, maps and clients the variables of their environment, such as ``OMP_NUM_THREADS``, come first.

    Examples
    --------
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> from thunder_py.parallel import run_tasks
    >>> with ThreadPoolExecutor(2) as pool:
    ...     found = {outcome.index: outcome.value for outcome in run_tasks(abs, [-1, -2, 3], workers=pool)}
    >>> sorted(found.items())
    [(0, 1), (1, 2), (2, 3)]
    """
    limit = None if timeout is None else positive(timeout, "timeout")
    work = Work(function, whole(retries, "retries", 0), limit, retry_errors)
    queue = _Queue(items if isinstance(items, Sized) or not progress else list(items))
    outcomes = _outcomes(work, queue, workers)
    return _reported(outcomes, queue.total, progress, {"desc": description or None, "unit": unit})


def _outcomes(work: Work, queue: _Queue, workers: Workers) -> Generator[Outcome, None, None]:
    if is_client(check_workers(workers)):
        return _scheduled(lambda: Cluster(workers, work), queue, work.retries)
    if isinstance(workers, Executor) or callable(workers):
        if work.timeout is not None:
            raise ThunderError(
                "timeout must be None unless workers is a number or a Dask client, whose processes can be replaced, "
                f"got {work.timeout:g}"
            )
        if isinstance(workers, Executor):
            return _scheduled(lambda: AnyExecutor(workers, work), queue, work.retries)
        return _mapped(workers, work, queue)
    if workers == 1 and work.timeout is None:
        return (work.run(entry) for entry in queue.entries)
    count = available_cores() if workers == -1 else cast(int, workers)
    return _scheduled(lambda: Processes(count, work), queue, work.retries)


def check_workers(workers: Any) -> Workers:
    """Return workers of a kind that `run_tasks` takes.

    Raises
    ------
    ThunderError
        If they are of another kind.
    """
    number = is_whole(workers) and (workers >= 1 or workers == -1)
    called = callable(workers) and (workers is map or not isinstance(workers, type))
    if not (number or called or isinstance(workers, Executor) or is_client(workers)):
        raise ThunderError(
            "workers must be a whole number of at least 1, -1 (one for each core), a function like map, an Executor or "
            f"a Dask client, got {workers!r}"
        )
    return cast(Workers, workers)


class _Queue:
    """Entries that wait, taken in batches whose size follows the measured duration of the runs."""

    def __init__(self, items: Iterable[Any]) -> None:
        self.total = len(items) if isinstance(items, Sized) else None
        self.entries: Iterator[Entry] = (Entry(k, item) for k, item in enumerate(items))
        self.returned: deque[Entry] = deque()  # by batches that took too long
        self.again: deque[list[Entry]] = deque()  # to be repeated as they are
        self.alone: deque[Entry] = deque()  # to be repeated while no other is running
        self._taken, self._size = 0, 1

    def take(self, slots: int, running: int) -> list[Entry]:
        """Return the next batch; empty if there is none, or none that may run with others."""
        if self.again:
            return self.again.popleft()
        left = self._size if self.total is None else (self.total - self._taken + len(self.returned)) // (2 * slots)
        count = max(1, min(self._size, left))
        batch = [self.returned.popleft() for _ in range(min(count, len(self.returned)))]
        new = list(islice(self.entries, count - len(batch)))
        self._taken += len(new)
        if not (batch or new or running) and self.alone:
            return [self.alone.popleft()]
        return batch + new

    def learn(self, batch: Sequence[Entry], outcomes: Sequence[Outcome]) -> None:
        """Take back the entries without an outcome, and the durations for the size of the next batches."""
        done = {outcome.index for outcome in outcomes}
        self.returned.extend(entry for entry in batch if entry.number not in done)
        if outcomes:
            mean = sum(outcome.seconds for outcome in outcomes) / len(outcomes)
            self._size = max(1, min(2 * self._size, _MOST, int(_BATCH / max(mean, 1e-9))))

    def repeat(self, batch: Sequence[Entry], failure: WorkerFailure, retries: int, shared: bool) -> list[Outcome]:
        """Repeat a batch that was lost, run by run until the one to blame is alone; return its outcome at the end."""
        if len(batch) > 1:
            self.again.extend([entry] for entry in batch)
            return []
        entry = batch[0]
        if shared and not entry.alone:
            self.alone.append(entry._replace(alone=True))
            return []
        attempts = entry.attempts + failure.attempts
        if attempts > retries:
            return [Outcome(entry.number, None, failure.error, attempts, float("nan"))]
        again = entry._replace(attempts=attempts)
        if entry.alone:
            self.alone.append(again)
        else:
            self.again.append([again])
        return []


def _mapped(workers: Callable[..., Iterable[Any]], work: Work, queue: _Queue) -> Generator[Outcome, None, None]:
    """Call a function like `map` with a bounded number of items at a time."""
    try:
        while part := [[entry] for entry in islice(queue.entries, _CALLS * available_cores())]:
            for outcomes in workers(work, part):
                yield from map(received, outcomes)
    finally:
        work.stopped = True  # of a pool of threads


class _Engine(Protocol):
    """Kind of workers behind futures."""

    slots: int  # number of batches at a time
    deaths_are_shared: bool  # whether other runs than that to blame are lost when a worker dies

    def submit(self, batch: list[Entry]) -> Any: ...
    def collect(self, future: Any) -> list[Outcome] | WorkerFailure: ...
    def check(self) -> None: ...
    def close(self) -> None: ...


def _scheduled(start: Callable[[], _Engine], queue: _Queue, retries: int) -> Generator[Outcome, None, None]:
    """Keep the workers of an engine busy with batches."""
    engine = start()
    running: dict[Any, list[Entry]] = {}
    outcomes: list[Outcome] = []
    try:
        while True:
            while len(running) < engine.slots and (batch := queue.take(engine.slots, len(running))):
                running[engine.submit(batch)] = batch
            yield from map(received, outcomes)  # while the workers are busy
            if not running:
                return
            engine.check()
            outcomes = []
            for future in wait(running, timeout=1.0, return_when=FIRST_COMPLETED).done:
                batch = running.pop(future)
                answer = engine.collect(future)
                if isinstance(answer, WorkerFailure):
                    outcomes += queue.repeat(batch, answer, retries, engine.deaths_are_shared)
                else:
                    queue.learn(batch, answer)
                    outcomes += answer
    finally:
        engine.close()


def _reported(
    outcomes: Generator[Outcome, None, None],
    total: int | None,
    progress: bool | Callable[[float], object],
    options: dict[str, Any],
) -> Generator[Outcome, None, None]:
    try:
        with reporting(progress, progress_bar(total or 0, **options)) as report:
            for done, outcome in enumerate(outcomes, start=1):
                if total:
                    report(done / total)
                yield outcome
    finally:
        outcomes.close()
