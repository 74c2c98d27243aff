"""A thread that acts once if it is not called in time, for drives without a watchdog."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

#: checks of the clock within the timeout
_CHECKS = 5


class Watchdog:
    """Call an action once if `kick` was not called for a time.

    The thread needs the GIL: a program that blocks inside a C function without releasing it blocks the watchdog too.

    Parameters
    ----------
    timeout : float
        Longest time between calls of `kick` [s].
    action : callable
        Called without arguments, from the watchdog's thread.

    Attributes
    ----------
    expired : bool
        Whether the action was called.
    """

    def __init__(self, timeout: float, action: Callable[[], object]) -> None:
        self._timeout, self._action = timeout, action
        self._ended = threading.Event()
        self.expired = False
        self._kicked = time.monotonic()
        self._thread = threading.Thread(target=self._watch, name="thunder_py watchdog", daemon=True)
        self._thread.start()

    def kick(self) -> None:
        """Begin the time anew."""
        self._kicked = time.monotonic()

    def stop(self) -> None:
        """End the thread without the action."""
        self._ended.set()
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def _watch(self) -> None:
        while not self._ended.wait(self._timeout / _CHECKS):
            if time.monotonic() - self._kicked > self._timeout:
                self.expired = True
                self._action()
                return
