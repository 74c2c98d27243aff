"""Worker processes of this machine, each an executor of joblib's loky with one process.

An executor of several processes, as `joblib.Parallel` has one, ends all of them when one dies, with the runs in
progress, and does not tell whose run it was. Executors of one process keep the others running and name the batch.
"""

from __future__ import annotations

import os
import re
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from functools import cache
from typing import Any
from weakref import WeakSet

from .work import BATCH_LIMIT, THREADS, Entry, Outcome, Work, WorkerFailure

#: a process ends after this time without work [s]
_IDLE = 300.0
#: a process is killed this time after the longest batch: it may have to start and to import before it runs [s]
_LATE = 60.0
#: one thread in each process: more would compete for the same cores
_ONE_THREAD = dict.fromkeys(
    (THREADS, "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"
)

_idle: list[Any] = []  # executors that wait for another call
_open: WeakSet[Processes] = WeakSet()
_sharing = 0  # number of open contexts of `shared_workers`


@contextmanager
def shared_workers() -> Iterator[None]:
    """Keep worker processes between calls of `run_tasks` within the context: each takes a second to start.

    They do not see later changes of modules, so they end with the context.

    Examples
    --------
    >>> from thunder_py.parallel import map_seeds, shared_workers
    >>> with shared_workers():
    ...     map_seeds(abs, 3, workers=2), map_seeds(float, 2, workers=2)
    ([0, 1, 2], [0.0, 1.0])
    """
    global _sharing
    _sharing += 1
    try:
        yield
    finally:
        _sharing -= 1
        while not _sharing and _idle:
            _idle.pop().shutdown(wait=False)


class Processes:
    """Up to `slots` worker processes, started when they are needed, with one batch each."""

    deaths_are_shared = False

    def __init__(self, count: int, work: Work) -> None:
        work.packed  # noqa: B018  raises before any work
        self.slots, self.work = count, work
        self._longest = float("inf")
        if work.timeout is not None:
            self._longest = BATCH_LIMIT + (work.retries + 1) * work.timeout + _LATE
        self._busy: dict[Future[list[Outcome]], tuple[Any, float]] = {}
        self._free: list[Any] = []
        _open.add(self)

    def submit(self, batch: list[Entry]) -> Future[list[Outcome]]:
        """Give a batch to a process that has none."""
        executor = self._free.pop() if self._free else _idle.pop() if _idle else _started()
        try:
            future: Future[list[Outcome]] = executor.submit(self.work, batch)
        except RuntimeError:  # it died while it had no work
            executor = _started()
            future = executor.submit(self.work, batch)
        self._busy[future] = executor, time.monotonic()
        _end_with_program()
        return future

    def collect(self, future: Future[list[Outcome]]) -> list[Outcome] | WorkerFailure:
        """Return the outcomes of a batch; another process takes the place of one that died."""
        from joblib.externals.loky.process_executor import BrokenProcessPool, ShutdownExecutorError

        executor, _ = self._busy.pop(future)
        try:
            found = future.result()
        except (BrokenProcessPool, ShutdownExecutorError) as error:
            executor.shutdown(wait=False)
            return WorkerFailure(_death(error, self.work.timeout))
        except Exception as error:  # the batch could not be pickled
            self._free.append(executor)
            return WorkerFailure(error)
        self._free.append(executor)
        return found

    def check(self) -> None:
        """Kill processes that should have ended themselves by the time limit."""
        for future, (executor, since) in self._busy.items():
            if time.monotonic() - since > self._longest:
                _kill(executor, future)

    def close(self) -> None:
        """End processes that are running; keep the others within `shared_workers`."""
        for future, (executor, _) in self._busy.items():
            _kill(executor, future)
        if _sharing:
            _idle.extend(self._free)
        else:
            for executor in self._free:
                executor.shutdown(wait=False)
        self._busy, self._free = {}, []


def _started() -> Any:
    from joblib.externals.loky.process_executor import ProcessPoolExecutor

    return ProcessPoolExecutor(1, timeout=_IDLE, env=_ONE_THREAD, initializer=_start, initargs=(os.getpid(),))


def _kill(executor: Any, future: Future[list[Outcome]]) -> None:
    """Kill a process; loky's thread would fail if it had not sent the batch yet."""
    end = time.monotonic() + 1.0
    while not (future.running() or future.done()) and time.monotonic() < end:
        time.sleep(0.001)
    executor.shutdown(wait=False, kill_workers=True)


@cache
def _end_with_program() -> None:
    """End running processes with the program; called after loky's own registration, which waits for their runs."""
    threading._register_atexit(_end_all)  # type: ignore[attr-defined]


def _end_all() -> None:
    for engine in list(_open):
        engine.close()


def _death(error: BaseException, timeout: float | None) -> Exception:
    codes = re.search(r"exit codes of the workers are \{(.*)\}", str(error))
    if timeout is not None and (codes is None or "SIGALRM" in codes[1]):
        return TimeoutError(f"the run must end within timeout={timeout:g} s; its worker process was ended")
    if codes is None:
        return RuntimeError(f"the worker process failed: {error} {error.__cause__ or ''}".strip())
    return RuntimeError(f"the worker process died with the exit code {codes[1]}")


def _start(parent: int) -> None:
    """Prepare a worker process: interrupts are handled by its parent, without which it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)
