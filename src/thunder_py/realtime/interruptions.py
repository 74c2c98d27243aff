"""Ctrl-C while a loop has an arm."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType


class Interruptions:
    """Delay Ctrl-C to the calls of `check`, so that no command and no stop is cut off in the middle.

    The second one is raised at once, because a drive may not return, unless interruptions are held. A context manager:
    what waits at its end is raised there. It acts in the main thread, and where Python's own handler of SIGINT is in
    place; elsewhere nothing changes.

    Parameters
    ----------
    held : bool
        Whether the second one waits too.

    Attributes
    ----------
    count : int
        Number of interruptions so far.
    """

    def __init__(self, held: bool = False) -> None:
        self.count = self._waiting = 0
        self._held, self._replaced = held, False

    def hold(self) -> None:
        """Raise nothing but in `check` from now on."""
        self._held = True

    def check(self) -> None:
        """Raise an interruption that waits."""
        if self._waiting:
            self._waiting -= 1
            raise KeyboardInterrupt

    def __enter__(self) -> Interruptions:
        """Replace the handler."""
        in_main = threading.current_thread() is threading.main_thread()
        if in_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            self._replaced = True
            signal.signal(signal.SIGINT, self._take)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Restore the handler."""
        if self._replaced:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        if kind is None:
            self.check()

    def _take(self, number: int, frame: FrameType | None) -> None:
        self.count += 1
        if self.count == 2 and not self._held:
            raise KeyboardInterrupt
        self._waiting += 1
