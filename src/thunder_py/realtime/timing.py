"""Quantiles of a stream of durations in bounded memory."""

from __future__ import annotations

import math
import threading
import time

from ..values import Stateful

__all__ = ["Lock", "Pacer", "Quantiles"]

_PER_OCTAVE = 16
_OCTAVES = 27
_SMALLEST = 1e-7
_LARGEST = 1e300


class Quantiles(Stateful):
    """Counts of durations on a logarithmic scale: median and p99 to 4.5 %, the worst one exactly.

    Sixteen bins to an octave from 0.1 us to 13 s; what is shorter or longer counts in the outermost bins. Memory does
    not grow.

    Attributes
    ----------
    count : int
        Durations so far.
    worst : float
        The longest one [s]; 0 without any.
    """

    def __init__(self) -> None:
        self._bins = [0] * (_PER_OCTAVE * _OCTAVES)
        self.count = 0
        self.worst = 0.0
        self._sum = 0.0

    def add(self, seconds: float) -> None:
        """Count a duration [s]; NaN is ignored, negative ones count as zero."""
        if not -_LARGEST < seconds < _LARGEST:
            return
        k = int(_PER_OCTAVE * math.log2(seconds / _SMALLEST)) if seconds > _SMALLEST else 0
        self._bins[min(k, len(self._bins) - 1)] += 1
        self.count += 1
        self._sum += max(seconds, 0.0)
        self.worst = max(self.worst, seconds)

    @property
    def mean(self) -> float:
        """Mean [s]; 0 without any."""
        return self._sum / self.count if self.count else 0.0

    def quantile(self, part: float) -> float:
        """Return a duration that at least this part of all does not exceed, by 4.5 % too long at most [s].

        Parameters
        ----------
        part : float
            0 to 1.
        """
        if not 0.0 <= part <= 1.0:
            raise ValueError(f"part must be from 0 to 1, got {part!r}")
        wanted, seen = part * self.count, 0
        for k, count in enumerate(self._bins):
            seen += count
            if count and seen >= wanted:
                return min(_SMALLEST * float(2.0 ** ((k + 1) / _PER_OCTAVE)), self.worst)
        return 0.0

    def summary(self) -> dict[str, float]:
        """Return count, mean, median, p99 and worst; times in seconds."""
        quantiles = {"median": self.quantile(0.5), "p99": self.quantile(0.99)}
        return {"count": self.count, "mean": self.mean, **quantiles, "worst": self.worst}


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
