"""Time limit of a run, which ends its process even if it holds the interpreter's lock."""

from __future__ import annotations

import faulthandler
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

__all__ = ["process_deadline"]

_deadlines: dict[int, float] = {}  # of each thread: a Dask worker may have several
_lock = threading.Lock()
_MOST = 1e9  # that the timer takes [s]


@contextmanager
def process_deadline(seconds: float | None) -> Iterator[None]:
    """End this process by SIGALRM, with a traceback on stderr, unless the context ends in time; None is no limit."""
    if seconds is None:
        yield
        return
    thread = threading.get_ident()
    _set(thread, time.monotonic() + seconds)
    try:
        yield
    finally:
        _set(thread, None)


def _set(thread: int, deadline: float | None) -> None:
    with _lock:
        if deadline is None:
            _deadlines.pop(thread, None)
        else:
            _show_traceback()
            _deadlines[thread] = deadline
        left = min(_deadlines.values()) - time.monotonic() if _deadlines else 0.0
        signal.setitimer(signal.ITIMER_REAL, min(max(left, 1e-6), _MOST) if _deadlines else 0.0)


@cache
def _show_traceback() -> None:
    """Print where the process was when the signal came; the signal then ends it."""
    if sys.__stderr__ is not None:
        faulthandler.register(signal.SIGALRM, file=sys.__stderr__, chain=True)
