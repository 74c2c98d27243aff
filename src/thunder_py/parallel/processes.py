"""Worker processes of this machine: one loky pool for each, so that a process that dies costs its own runs only."""

from __future__ import annotations

import itertools
import os
import re
import signal
import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from itertools import islice
from typing import TypeAlias
from weakref import WeakSet

from loky.process_executor import ProcessPoolExecutor

from .work import Entry, Lost, Outcome, Work, one_thread

__all__ = ["Processes", "shared_workers"]

#: a process waits so long for work before it ends [s]
_IDLE = 300.0
#: a process that may be used again has so long to end its batch [s]
_GRACE = 0.2
#: runs shorter than this wait in the queue of a process, which then never waits for this one [s]
_SHORT = 0.05
#: a process is killed so long after the longest batch: it may have to start and to import before it runs [s]
_LATE = 60.0

_Future: TypeAlias = Future[list[Outcome]]


class _Process:
    """Worker process with the batches that it runs in order."""

    def __init__(self) -> None:
        self.waiting: deque[_Future] = deque()
        self.innocent: set[_Future] = set()  # futures that were lost with the first one
        self.since = 0.0  # the first of the batches was not running before this time
        self._start()

    def _start(self) -> None:
        self.started = self.late = False
        self.has: int | None = None  # number of the function that was sent to it
        self.pool = ProcessPoolExecutor(1, timeout=_IDLE, env=one_thread(), initializer=_start, initargs=(os.getpid(),))

    def submit(self, batch: list[Entry], number: int, work: Work) -> _Future:
        try:
            future = self._send(batch, number, work)
        except RuntimeError:  # it died a moment ago
            self.replace()
            future = self._send(batch, number, work)
        if not self.waiting:
            self.since = time.monotonic()
        self.waiting.append(future)
        if not self.started:  # after loky, which waits for the runs: what was registered last is called first
            threading._register_atexit(_end_all)  # type: ignore[attr-defined]
            self.started = True
        return future

    def _send(self, batch: list[Entry], number: int, work: Work) -> _Future:
        """Send a batch, the first one with its function."""
        future: _Future = self.pool.submit(_run, batch, number, None if number == self.has else work)
        self.has = number
        return future

    def finish(self, future: _Future) -> None:
        """Remove a batch; the next one is running, or already has."""
        if future in self.waiting:
            self.waiting.remove(future)
            self.since = time.monotonic()

    def kill_after(self, seconds: float) -> None:
        """Kill the process if the first of its batches is running for so long."""
        if self.waiting and not self.waiting[0].done() and time.monotonic() - self.since > seconds:
            self.late = True
            for pid in list(self.pool._processes):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    def replace(self) -> None:
        self.innocent.update(islice(self.waiting, 1, None))
        self.waiting.clear()
        self.pool.shutdown(wait=False)
        self._start()


_numbers = itertools.count()  # of functions
_idle: list[_Process] = []
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
        if _sharing == 0:
            while _idle:
                _idle.pop().pool.shutdown(wait=False)


class Processes:
    """Up to `count` worker processes, started when they are needed."""

    exact = True  # the run that a process died in is known

    def __init__(self, count: int, work: Work) -> None:
        work.packed  # noqa: B018  raises before any work
        self.size, self.work, self.number = count, work, next(_numbers)
        self.processes: list[_Process] = []
        _open.add(self)
        self._of: dict[_Future, tuple[_Process, ProcessPoolExecutor]] = {}

    def room(self, seconds: float | None) -> bool:
        """Return True if a process can take a batch of runs of this duration."""
        depth = 2 if seconds is not None and seconds < _SHORT else 1
        return len(self.processes) < self.size or any(len(p.waiting) < depth for p in self.processes)

    def submit(self, batch: list[Entry]) -> _Future:
        """Give a batch to the process with the fewest."""
        process = min(self.processes, key=lambda p: len(p.waiting), default=None)
        if process is None or (process.waiting and len(self.processes) < self.size):
            process = _idle.pop() if _idle else _Process()
            self.processes.append(process)
        future = process.submit(batch, self.number, self.work)
        self._of[future] = process, process.pool
        return future

    def collect(self, future: _Future) -> list[Outcome] | Lost:
        """Return the outcomes of a batch; a process that died is replaced."""
        process, pool = self._of.pop(future)
        try:
            return future.result()
        except BrokenProcessPool as error:
            late = process.late
            if pool is process.pool:
                process.replace()
            if future in process.innocent:
                process.innocent.discard(future)
                return Lost(error, attempts=0)
            return Lost(_death(error, self.work.timeout, late))
        except _NoWork as error:
            process.has = None
            return Lost(error, attempts=0)
        except Exception as error:
            return Lost(error)
        finally:
            process.finish(future)

    def check(self) -> None:
        """Kill processes that should have ended themselves by the time limit."""
        for process in self.processes:
            process.kill_after(self.work.longest_batch + _LATE)

    def close(self, running: Iterable[_Future]) -> None:
        """End processes that are running; keep the others within `shared_workers`."""
        done = wait(running, timeout=_GRACE if _sharing else 0.0).done
        for process in self.processes:
            if not done.issuperset(process.waiting):
                process.pool.shutdown(kill_workers=True)
            elif _sharing:
                process.waiting.clear()
                _idle.append(process)
            else:
                process.pool.shutdown(wait=False)
        self.processes.clear()


def _end_all() -> None:
    """End running processes when the program ends, which would wait for them."""
    for engine in list(_open):
        engine.close(())


def _death(error: BaseException, timeout: float | None, late: bool) -> Exception:
    text = str(error)
    codes = re.search(r"exit codes of the workers are \{(.*)\}", text)
    if codes is None:
        return RuntimeError(f"the worker process failed: {text} {error.__cause__ or ''}".strip())
    if timeout is not None and (late or "SIGALRM" in codes[1]):
        return TimeoutError(f"the run must end within timeout={timeout:g} s; its worker process was ended")
    return RuntimeError(f"the worker process died with the exit code {codes[1]}")


class _NoWork(Exception):
    """The process lacks a function: its batch was not pickled, or loky has replaced a process that held much memory."""


_works: dict[int, Work] = {}  # the last function that this worker process got, by its number


def _run(batch: list[Entry], number: int, work: Work | None) -> list[Outcome]:
    """Run a batch in a worker process, with the function that came with a former one if none comes with it."""
    if work is not None:
        _works.clear()
        _works[number] = work
    if number not in _works:
        raise _NoWork
    return _works[number](batch)


def _start(parent: int) -> None:
    """Prepare a worker process: interrupts are handled by its parent, without which it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)
