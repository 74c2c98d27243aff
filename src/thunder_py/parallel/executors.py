"""Batches given to any `concurrent.futures.Executor`."""

from __future__ import annotations

import os
from collections.abc import Iterable
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor

from .work import Entry, Lost, Outcome, Work

__all__ = ["AnyExecutor"]


class AnyExecutor:
    """Executor of the caller, which is neither shut down nor replaced."""

    exact = True

    def __init__(self, executor: Executor, work: Work) -> None:
        if not isinstance(executor, ThreadPoolExecutor):
            work.packed  # noqa: B018  raises before any work
        self.size: int = getattr(executor, "_max_workers", None) or os.cpu_count() or 1
        self.executor, self.work = executor, work
        self._running = 0

    def room(self, seconds: float | None) -> bool:
        """Return True while there are less than two batches for each worker."""
        return self._running < 2 * self.size

    def submit(self, batch: list[Entry]) -> Future[list[Outcome]]:
        """Give a batch to the executor."""
        try:
            future = self.executor.submit(self.work, batch)
        except BrokenExecutor as error:
            raise _broken(error) from error
        self._running += 1
        return future

    def collect(self, future: Future[list[Outcome]]) -> list[Outcome] | Lost:
        """Return the outcomes of a batch."""
        self._running -= 1
        try:
            return future.result()
        except BrokenExecutor as error:
            raise _broken(error) from error
        except Exception as error:
            return Lost(error)

    def check(self) -> None:
        """Do nothing: executors set their futures when they break."""

    def close(self, running: Iterable[Future[list[Outcome]]]) -> None:
        """Cancel batches that wait; threads stop after the run in progress."""
        self.work.stopped = True
        for future in running:
            future.cancel()


def _broken(error: BrokenExecutor) -> RuntimeError:
    return RuntimeError(
        "the executor given as workers broke, and only its owner can replace it (workers=N starts processes that are "
        f"replaced): {error}"
    )
