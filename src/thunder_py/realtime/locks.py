"""Locks of objects that can be pickled."""

from __future__ import annotations

import threading

__all__ = ["Lock"]


class Lock:
    """A lock for ``with``, pickled and copied as one that is free. Objects that share it share the new one."""

    __slots__ = ("_lock",)

    def __init__(self) -> None:
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def __reduce__(self) -> tuple[type[Lock], tuple[()]]:
        return Lock, ()
