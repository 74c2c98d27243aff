"""Runs of a function within a worker: attempts, errors, time limits, and their way between processes."""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import cloudpickle
from threadpoolctl import threadpool_limits

from ..checks import whole
from ..errors import ThunderError
from .deadline import process_deadline

__all__ = [
    "BATCH_LIMIT",
    "Entry",
    "Lost",
    "Outcome",
    "RemoteWork",
    "Work",
    "available_cores",
    "available_threads",
    "one_thread",
    "process_name",
    "unpacked",
]

#: environment variable with the number of threads that ``threads=0`` means
THREADS = "THUNDER_THREADS"
#: one thread in each worker process: more would compete for the same cores
_LIBRARIES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
#: after so long, at the end of a run, a batch returns the outcomes that it has [s]
BATCH_LIMIT = 1.0


@dataclass(frozen=True)
class Outcome:
    """Outcome of one run of `run_tasks`.

    Attributes
    ----------
    index : int
        Number of the item, in order of the items.
    value : object
        Returned value, None if the run failed.
    error : Exception or None
        Error of the last attempt: what the function raised, `RuntimeError` if the worker process died, `TimeoutError`
        if it was ended because the run took too long.
    attempts : int
        Number of attempts that were counted.
    seconds : float
        Duration of the last attempt [s].
    trace : str
        Traceback of the error, empty without one.

    Examples
    --------
    >>> from thunder_py.parallel import run_tasks
    >>> for outcome in run_tasks(lambda x: 1 / x, [2, 0]):
    ...     print(outcome.index, outcome.value, repr(outcome.error), outcome.attempts)
    0 0.5 None 1
    1 None ZeroDivisionError('division by zero') 2
    """

    index: int
    value: Any
    error: Exception | None
    attempts: int
    seconds: float
    trace: str = ""


class Entry(NamedTuple):
    """Item to run, with its number, the attempts so far, and whether it runs while no other does."""

    number: int
    item: Any
    attempts: int = 0
    alone: bool = False


class Lost(NamedTuple):
    """Loss of a whole batch, with the error that its run gets if it is to blame, after so many attempts."""

    error: Exception
    attempts: int = 1  # 0: it is not to blame


def available_cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def available_threads() -> int:
    """Return the number of threads that ``threads=0`` means: ``THUNDER_THREADS``, or one for each available core.

    Raises
    ------
    ThunderError
        If the environment variable is not a whole number above 0.

    Examples
    --------
    >>> from thunder_py.parallel import available_threads
    >>> available_threads() >= 1
    True
    """
    text = os.environ.get(THREADS, "")
    if text:
        return whole(int(text) if text.isdecimal() else text, f"environment variable {THREADS}", 1)
    return available_cores()


def one_thread() -> dict[str, str]:
    """Return the environment of worker processes."""
    return dict.fromkeys((THREADS, *_LIBRARIES), "1")


@lru_cache(maxsize=1)
def _use_one_thread(process: str) -> None:
    """Use one thread in this worker process, unless the variables of its environment say otherwise."""
    os.environ.setdefault(THREADS, "1")
    if not os.environ.keys() & set(_LIBRARIES):
        os.environ.update(dict.fromkeys(_LIBRARIES, "1"))
        threadpool_limits(1)  # libraries that were loaded before


class Work:
    """Function with its number of retries and its time limit; called with entries, it returns their outcomes.

    Its pickle calls the function in another process: values are pickled one by one, so that one that cannot be sent is
    the error of its run, and a function that cannot be imported is an error of the runs instead of the worker.
    """

    def __init__(self, function: Callable[[Any], Any], retries: int, timeout: float | None, retry_errors: bool) -> None:
        self.function, self.retries, self.timeout, self.retry_errors = function, retries, timeout, retry_errors
        self.stopped = False  # by the end of the generator, for threads: no run and no attempt begins after it

    def __call__(self, batch: Sequence[Entry]) -> list[Outcome]:
        """Run the entries, or those for which there is time."""
        return [self.run(entry) for entry in _while_allowed(batch, lambda: self.stopped)]

    def run(self, entry: Entry, timeout: float | None = None) -> Outcome:
        """Run an entry until it succeeds or has no attempts left."""
        attempts = range(entry.attempts + 1, self.retries + 2)
        for attempt in attempts if self.retry_errors else attempts[:1]:
            start = time.perf_counter()
            try:
                with process_deadline(timeout):
                    value = self.function(entry.item)
                return Outcome(entry.number, value, None, attempt, time.perf_counter() - start)
            except BaseException as problem:
                if isinstance(problem, KeyboardInterrupt) and _may_be_interrupted():
                    raise
                seconds = time.perf_counter() - start
                failed = Outcome(entry.number, None, _error(problem), attempt, seconds, traceback.format_exc())
                if self.stopped:  # which may be why it failed
                    break
        return failed

    @property
    def longest_batch(self) -> float:
        """Longest duration of a batch whose runs keep the time limit, infinite without one [s]."""
        if self.timeout is None:
            return float("inf")
        return BATCH_LIMIT + (self.retries + 2) * self.timeout  # of the attempts of its last run, and of its pickling

    @cached_property
    def packed(self) -> bytes:
        """Pickle of the function and its options.

        Raises
        ------
        ThunderError
            If the function cannot be pickled.
        """
        try:
            packed: bytes = cloudpickle.dumps((self.function, self.retries, self.timeout, self.retry_errors))
        except Exception as error:
            raise ThunderError(
                f"the function must be picklable to be called in another process, got {self.function!r}: "
                f"{type(error).__name__}: {error}"
            ) from error
        return packed

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the function by value where it has no importable name."""
        return RemoteWork, (self.packed, process_name())


def _may_be_interrupted() -> bool:
    """Return True in the thread that Ctrl-C reaches; elsewhere the run itself raised its exception."""
    handled = signal.getsignal(signal.SIGINT) not in (signal.SIG_IGN, None)
    return handled and threading.current_thread() is threading.main_thread()


def _error(problem: BaseException) -> Exception:
    """Return the error of a run: exceptions that end threads and processes must not end other runs."""
    if isinstance(problem, Exception):
        return problem
    if isinstance(problem, SystemExit):
        return RuntimeError(f"the run called exit({problem})")
    return RuntimeError(f"the run raised {_said(problem)}")


def _said(problem: BaseException) -> str:
    """Return type and text of an exception, whose text may raise another one."""
    return traceback.format_exception_only(problem)[-1].strip()


class RemoteWork:
    """Pickled `Work` in a worker process."""

    def __init__(self, packed: bytes, origin: str) -> None:
        self.packed, self.origin = packed, origin

    def __reduce__(self) -> tuple[Any, ...]:
        return RemoteWork, (self.packed, self.origin)

    def __call__(self, batch: Sequence[Entry], stopped: Callable[[], bool] = lambda: False) -> list[Outcome]:
        """Run the entries, or those for which there is time; values and errors of the outcomes are pickled."""
        elsewhere = process_name() != self.origin
        if elsewhere:
            _use_one_thread(process_name())
        try:
            work = _loaded(self.packed)
        except (Exception, SystemExit) as error:
            missing = ThunderError(
                "a worker process cannot import the function or its data, which must be those of a module that it can "
                f"import, or of a notebook ({type(error).__name__}: {error}); workers=1 calls it here"
            )
            return [
                _packed(Outcome(e.number, None, missing, e.attempts + 1, 0.0, traceback.format_exc())) for e in batch
            ]
        # a process ends with its time limit, which must not be the one that waits for the outcomes
        limit = work.timeout if elsewhere else None
        return [_packed(work.run(entry, limit), limit) for entry in _while_allowed(batch, stopped)]


def _while_allowed(batch: Sequence[Entry], stopped: Callable[[], bool]) -> Iterator[Entry]:
    """Yield the entries until the batch is stopped or too long; at least one of a batch that is not stopped."""
    end = time.monotonic() + BATCH_LIMIT
    for k, entry in enumerate(batch):
        if stopped() or (k and time.monotonic() >= end):
            return
        yield entry


class _Pickled(bytes):
    """Pickled value or error."""


@lru_cache(maxsize=4)
def _loaded(packed: bytes) -> Work:
    return Work(*cloudpickle.loads(packed))


@lru_cache(maxsize=1)
def _name_of(pid: int) -> str:
    return f"{socket.gethostname()} {pid}"


def process_name() -> str:
    """Return a name of this process that no process of another machine has."""
    return _name_of(os.getpid())


def _packed(outcome: Outcome, timeout: float | None = None) -> Outcome:
    try:
        with process_deadline(timeout):
            if outcome.error is None:
                return replace(outcome, value=_Pickled(cloudpickle.dumps(outcome.value)))
            return replace(outcome, error=_pickled_error(outcome.error))
    except Exception as error:
        message = f"the returned {type(outcome.value).__name__} cannot be pickled: {_said(error)}"
        return replace(outcome, value=None, error=ThunderError(message), trace=traceback.format_exc())


def _pickled_error(error: Exception) -> Any:
    try:
        text = cloudpickle.dumps(error)
        if type(cloudpickle.loads(text)) is type(error):
            return _Pickled(text)
    except Exception:
        pass
    return RuntimeError(_said(error))


def unpacked(answer: Outcome) -> Outcome:
    """Return the outcome of an answer, in the process that asked."""
    try:
        if isinstance(answer.value, _Pickled):
            return replace(answer, value=cloudpickle.loads(answer.value))
        if isinstance(answer.error, _Pickled):
            return replace(answer, error=cloudpickle.loads(answer.error))
    except Exception as error:
        return replace(answer, value=None, error=error, trace=traceback.format_exc())
    return answer
