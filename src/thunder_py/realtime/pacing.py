"""A loop that keeps its period on the wall clock."""

from __future__ import annotations

import time

__all__ = ["Pacer"]


class Pacer:
    """Wakes up once in every period, on a grid that does not drift.

    Periods that were missed are skipped: a loop that was held up does not run fast afterwards.

    Parameters
    ----------
    period : float
        [s].

    Attributes
    ----------
    missed : int
        Periods that passed without waking up.
    """

    def __init__(self, period: float) -> None:
        if not 0.0 < period < 1e3:
            raise ValueError(f"period must be positive and less than 1000 s, got {period!r}")
        self._period = round(1e9 * period)
        self._next = time.monotonic_ns() + self._period
        self.missed = 0

    def wait(self) -> None:
        """Sleep until the next instant of the grid."""
        left = self._next - time.monotonic_ns()
        if left > 0:
            time.sleep(1e-9 * left)
        late = max(0, (time.monotonic_ns() - self._next) // self._period)
        self.missed += late
        self._next += (late + 1) * self._period
