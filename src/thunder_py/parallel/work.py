"""A function of one item as workers call it: attempts, errors, the time limit, pickles of values."""

from __future__ import annotations

import faulthandler
import os
import pickle
import signal
import socket
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from typing import Any, NamedTuple

from ..checks import whole
from ..errors import ThunderError

#: environment variable with the number of threads that ``threads=0`` means
THREADS = "THUNDER_THREADS"
#: a batch returns the outcomes that it has at the end of the run in progress after this time [s]
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
    """Item with its number, the attempts so far, and whether it must run while no other does."""

    number: int
    item: Any
    attempts: int = 0
    alone: bool = False


class WorkerFailure(NamedTuple):
    """Loss of a whole batch: the error of its run, if it had one only, and the number of attempts that it cost."""

    error: Exception
    attempts: int = 1


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


def one_blas_thread() -> AbstractContextManager[object]:
    """Return a context with one thread of linear algebra where threadpoolctl is installed (extra ``logs``).

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.parallel import one_blas_thread
    >>> with one_blas_thread():
    ...     float(np.linalg.norm(np.eye(4)))
    2.0
    """
    try:
        from threadpoolctl import threadpool_limits
    except ImportError:
        return nullcontext()
    limits: AbstractContextManager[object] = threadpool_limits(1, user_api="blas")
    return limits


class Work:
    """Function with its number of retries and its time limit; called with a batch, it returns the outcomes.

    In another process values and errors are pickled one by one: one that cannot be sent is the error of its run.
    """

    def __init__(self, function: Callable[[Any], Any], retries: int, timeout: float | None, retry_errors: bool) -> None:
        self.function, self.retries, self.timeout, self.retry_errors = function, retries, timeout, retry_errors
        self.stopped = False  # for threads: no run and no attempt begins after the end of the generator
        self.origin = _process()
        self.remote = False  # whether this is a copy in another process

    def __call__(self, batch: Sequence[Entry]) -> list[Outcome]:
        """Run the entries, or at least one and those for which there is time."""
        end, found = time.monotonic() + BATCH_LIMIT, list[Outcome]()
        for entry in batch:
            if self.stopped or (found and time.monotonic() >= end):
                break
            found.append(self.run(entry))
        return found

    def run(self, entry: Entry) -> Outcome:
        """Run an entry until it succeeds or has no attempts left."""
        last = self.retries + 1 if self.retry_errors else entry.attempts + 1
        for attempt in range(entry.attempts + 1, last + 1):
            start = time.perf_counter()
            try:
                with process_deadline(self.timeout if self.remote else None):
                    value = self.function(entry.item)
                    value = _sent(value) if self.remote else value
                return Outcome(entry.number, value, None, attempt, time.perf_counter() - start)
            except BaseException as problem:
                if isinstance(problem, KeyboardInterrupt) and _may_be_interrupted():
                    raise
                error = _as_error(problem)
                trace = traceback.format_exc()
            seconds = time.perf_counter() - start
            if self.stopped:  # which may be why it failed
                break
        return Outcome(entry.number, None, _sent_error(error) if self.remote else error, attempt, seconds, trace)

    @cached_property
    def packed(self) -> bytes:
        """Pickle of the function and its options.

        Raises
        ------
        ThunderError
            If the function cannot be pickled.
        """
        try:
            return pickled((self.function, self.retries, self.timeout, self.retry_errors))
        except Exception as error:
            raise ThunderError(
                f"the function must be picklable to be called in another process, got {self.function!r}: "
                f"{type(error).__name__}: {error}"
            ) from error

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the function by value where it has no importable name."""
        return _unpacked, (self.packed, self.origin)


@lru_cache(maxsize=4)
def _unpacked(packed: bytes, origin: str) -> Work:
    """Return the work in a worker; a function that it cannot import is an error of every run."""
    try:
        work = Work(*pickle.loads(packed))
    except (Exception, SystemExit) as problem:
        error = ThunderError(
            "a worker process cannot import the function or its data, which must be those of a module that it can "
            f"import, or of a notebook ({type(problem).__name__}: {problem}); workers=1 calls it here"
        )
        work = Work(partial(_refuse, error), 0, None, False)
    work.packed, work.origin, work.remote = packed, origin, _process() != origin
    if work.remote:
        os.environ.setdefault(THREADS, "1")
    return work


def _refuse(error: Exception, item: Any) -> None:
    raise error


def _process() -> str:
    """Return a name of this process that no process of another machine has."""
    return f"{socket.gethostname()} {os.getpid()}"


def _may_be_interrupted() -> bool:
    """Return True in the thread that Ctrl-C reaches; elsewhere the run itself raised its exception."""
    handled = signal.getsignal(signal.SIGINT) not in (signal.SIG_IGN, None)
    return handled and threading.current_thread() is threading.main_thread()


def _as_error(problem: BaseException) -> Exception:
    """Return the error of a run: exceptions that end threads and processes must not end other runs."""
    return problem if isinstance(problem, Exception) else RuntimeError(f"the run raised {_text(problem)}")


def _text(problem: BaseException) -> str:
    """Return type and text of an exception, whose text may raise another one."""
    return traceback.format_exception_only(problem)[-1].strip()


class _Sent(bytes):
    """Pickled value or error."""


def pickled(value: Any) -> bytes:
    """Return the pickle of a value, by cloudpickle: with functions of notebooks."""
    from joblib.externals.loky.backend.reduction import dumps

    return bytes(dumps(value))


def _sent(value: Any) -> _Sent:
    try:
        return _Sent(pickle.dumps(value))  # many times faster
    except Exception:
        pass
    try:
        return _Sent(pickled(value))
    except Exception as error:
        raise ThunderError(f"the returned {type(value).__name__} cannot be pickled: {_text(error)}") from error


def _sent_error(error: Exception) -> Any:
    try:
        sent = _sent(error)
        if type(pickle.loads(sent)) is type(error):
            return sent
    except Exception:
        pass
    return RuntimeError(_text(error))


def received(outcome: Outcome) -> Outcome:
    """Return the outcome of a worker with its value and error, in the process that asked."""
    try:
        if isinstance(outcome.value, _Sent):
            return replace(outcome, value=pickle.loads(outcome.value))
        if isinstance(outcome.error, _Sent):
            return replace(outcome, error=pickle.loads(outcome.error))
    except Exception as error:
        return replace(outcome, value=None, error=error, trace=traceback.format_exc())
    return outcome


_deadlines: dict[int, float] = {}  # of each thread: a Dask worker may have several
_lock = threading.Lock()
_LONGEST = 1e9  # of the timer [s]


@contextmanager
def process_deadline(seconds: float | None) -> Iterator[None]:
    """End this process by SIGALRM, even if a run holds the interpreter's lock, unless the context ends in time."""
    if seconds is None:
        yield
        return
    if sys.__stderr__ is not None:  # a traceback tells where it was
        faulthandler.register(signal.SIGALRM, file=sys.__stderr__, chain=True)
    try:
        _set_deadline({threading.get_ident(): time.monotonic() + seconds})
        yield
    finally:
        _set_deadline({})


def _set_deadline(mine: dict[int, float]) -> None:
    with _lock:
        _deadlines.pop(threading.get_ident(), None)
        _deadlines.update(mine)
        left = min(_deadlines.values()) - time.monotonic() if _deadlines else 0.0
        signal.setitimer(signal.ITIMER_REAL, min(max(left, 1e-6), _LONGEST) if _deadlines else 0.0)
