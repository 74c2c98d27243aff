"""`run_tasks`: a function of many items on any kind of workers."""

from __future__ import annotations

import queue
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence, Sized
from concurrent.futures import Executor
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import Any, Protocol, TypeAlias, cast

from ..checks import is_whole, positive, whole
from ..errors import ThunderError
from ..progress import progress_bar, reporting
from .cluster import Cluster, is_client
from .executors import AnyExecutor
from .processes import Processes
from .work import Entry, Lost, Outcome, Work, available_cores, unpacked

__all__ = ["Workers", "check_workers", "run_tasks"]


class Client(Protocol):
    """Client of `dask.distributed`."""

    def nthreads(self, workers: Any = None) -> Any:
        """Return the number of threads of each worker."""


#: number of processes, a function like `map`, an executor or a Dask client
Workers: TypeAlias = int | Callable[..., Iterable[Any]] | Executor | Client

#: duration of a batch [s]: a hundred times the effort of sending it
_BATCH = 0.5
_MOST = 1000
#: batches for each core in one call of a function like `map`
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
    batches = _Batches(items if isinstance(items, Sized) or not progress else list(items))
    outcomes = _outcomes(work, batches, workers)
    return _reported(outcomes, batches.total, progress, {"desc": description or None, "unit": unit})


def _outcomes(work: Work, batches: _Batches, workers: Workers) -> Generator[Outcome, None, None]:
    if is_client(check_workers(workers)):
        return _scheduled(partial(Cluster, workers, work), batches, work.retries)
    if isinstance(workers, Executor) or callable(workers):
        if work.timeout is not None:
            raise ThunderError(
                "timeout must be None unless workers is a number or a Dask client, whose processes can be replaced, "
                f"got {work.timeout:g}"
            )
        if isinstance(workers, Executor):
            return _scheduled(partial(AnyExecutor, workers, work), batches, work.retries)
        return _mapped(workers, work, batches)
    if workers == 1 and work.timeout is None:
        return _here(work, batches)
    count = available_cores() if workers == -1 else cast(int, workers)
    return _scheduled(partial(Processes, count, work), batches, work.retries)


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


class _Batches:
    """Items in batches whose size follows the measured duration of the runs."""

    def __init__(self, items: Iterable[Any]) -> None:
        self.total = len(items) if isinstance(items, Sized) else None
        self._entries: Iterator[Entry] = (Entry(k, item) for k, item in enumerate(items))
        self._returned: deque[Entry] = deque()
        self._again: deque[list[Entry]] = deque()
        self._alone: deque[Entry] = deque()
        self._taken, self._size = 0, 1
        self.seconds: float | None = None  # of a run, the larger of the mean and that of the last batch

    def take(self, workers: int, running: int) -> list[Entry]:
        """Return the next batch; empty if there is none, or none that may run with others."""
        if self._again:
            return self._again.popleft()
        if self.seconds is not None:
            self._size = min(2 * self._size, _MOST, max(1, int(_BATCH / max(self.seconds, 1e-9))))
        left = self._size if self.total is None else (self.total - self._taken) // (2 * workers)
        count = max(1, min(self._size, left))
        batch = [self._returned.popleft() for _ in range(min(count, len(self._returned)))]
        batch.extend(islice(self._entries, count - len(batch)))
        self._taken += len(batch)
        if not batch and not running and self._alone:
            return [self._alone.popleft()]
        return batch

    def learn(self, answers: Sequence[Outcome]) -> None:
        """Use the durations of a batch for the size of the next ones."""
        if answers:
            last = sum(answer.seconds for answer in answers) / len(answers)
            self.seconds = last if self.seconds is None else max(last, 0.5 * (last + self.seconds))

    def give_back(self, rest: Iterable[Entry]) -> None:
        """Return these entries of a batch that was too long in the next ones."""
        before = len(self._returned)
        self._returned.extend(rest)
        self._taken -= len(self._returned) - before

    def repeat(self, batch: list[Entry]) -> None:
        """Return this batch as the next one, or, of one entry that runs alone, when nothing else is left."""
        if batch[0].alone:
            self._alone.extend(batch)
        else:
            self._again.append(batch)

    def repeat_alone(self, entry: Entry) -> None:
        """Return this entry when nothing else is left."""
        self._alone.append(entry._replace(alone=True))


def _here(work: Work, batches: _Batches) -> Generator[Outcome, None, None]:
    while batch := batches.take(1, 0):
        for entry in batch:
            yield work.run(entry)


def _mapped(workers: Callable[..., Iterable[Any]], work: Work, batches: _Batches) -> Generator[Outcome, None, None]:
    """Call a function like `map` with a bounded number of batches at a time."""
    cores = available_cores()
    calls = cores
    try:
        while part := [batch for batch in (batches.take(cores, 0) for _ in range(calls)) if batch]:
            waiting = {entry.number: entry for batch in part for entry in batch}
            for answers in workers(work, part):
                batches.learn(answers)
                for answer in answers:
                    del waiting[answer.index]
                    yield unpacked(answer)
            batches.give_back(waiting.values())
            calls = _CALLS * cores
    finally:
        work.stopped = True  # of a pool of threads


class _Engine(Protocol):
    """Kind of workers behind futures."""

    exact: bool

    @property
    def size(self) -> int: ...
    def room(self, seconds: float | None) -> bool: ...
    def submit(self, batch: list[Entry]) -> Any: ...
    def collect(self, future: Any) -> list[Outcome] | Lost: ...
    def check(self) -> None: ...
    def close(self, running: Iterable[Any]) -> None: ...


def _scheduled(start: Callable[[], _Engine], batches: _Batches, retries: int) -> Generator[Outcome, None, None]:
    """Keep the workers of an engine busy with batches."""
    engine = start()
    running: dict[Any, list[Entry]] = {}
    done: queue.SimpleQueue[Any] = queue.SimpleQueue()
    outcomes: Iterable[Outcome] = ()
    try:
        while True:
            while engine.room(batches.seconds) and (batch := batches.take(engine.size, len(running))):
                future = engine.submit(batch)
                running[future] = batch
                future.add_done_callback(done.put)
            yield from outcomes  # while the workers are busy
            if not running:
                return
            future = _finished(done, engine)
            batch = running.pop(future)
            outcomes = _received(engine, engine.collect(future), batch, batches, retries)
    finally:
        engine.close(running)


def _finished(done: queue.SimpleQueue[Any], engine: _Engine) -> Any:
    """Wait for a future."""
    while True:
        engine.check()
        with suppress(queue.Empty):
            return done.get(timeout=1.0)


def _received(
    engine: _Engine, found: list[Outcome] | Lost, batch: list[Entry], batches: _Batches, retries: int
) -> list[Outcome]:
    """Return the outcomes of a batch; a lost one is tried again, run by run if one of them is to blame."""
    if not isinstance(found, Lost):
        batches.learn(found)
        done = {outcome.index for outcome in found}
        batches.give_back(entry for entry in batch if entry.number not in done)
        return [unpacked(outcome) for outcome in found]
    if found.attempts == 0:
        batches.repeat(batch)
    elif len(batch) > 1:
        for entry in batch:
            batches.repeat([entry])
    elif not (engine.exact or batch[0].alone):
        batches.repeat_alone(batch[0])
    elif (attempts := batch[0].attempts + found.attempts) <= retries:
        batches.repeat([batch[0]._replace(attempts=attempts)])
    else:
        return [Outcome(batch[0].number, None, found.error, attempts, float("nan"))]
    return []


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
