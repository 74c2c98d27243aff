"""Quantiles of durations in bounded memory, periodic wake-up, and a lock that can be pickled."""

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
    """Histogram of durations on a logarithmic scale: quantiles within 4.5 %, the largest one exact.

    There are sixteen bins per octave from 0.1 us to 13 s; shorter and longer durations count in the outermost bins.
    Memory is constant.

    Attributes
    ----------
    count : int
        Number of durations.
    worst : float
        The longest one [s]; 0 without any.

    Examples
    --------
    >>> from thunder_py.realtime import Quantiles
    >>> latency = Quantiles()
    >>> for seconds in (0.001, 0.001, 0.002, 0.05):
    ...     latency.add(seconds)
    >>> latency.count, latency.worst, 0.001 <= latency.quantile(0.5) <= 0.00105
    (4, 0.05, True)
    >>> list(latency.summary())
    ['count', 'mean', 'median', 'p99', 'worst']
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
        """Return a quantile of the durations, at most 4.5 % too large [s].

        Parameters
        ----------
        part : float
            Probability, 0 to 1.
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
    """Periodic wake-up on a grid without drift.

    Missed periods are skipped, so a loop that was delayed does not run faster afterwards.

    Parameters
    ----------
    period : float
        Period [s].

    Attributes
    ----------
    missed : int
        Number of missed periods.

    Raises
    ------
    ValueError
        If `period` is not positive or not below 1000 s.

    Examples
    --------
    >>> import time
    >>> from thunder_py.realtime import Pacer
    >>> start, pacer = time.monotonic(), Pacer(0.005)
    >>> for _ in range(4):
    ...     pacer.wait()
    >>> time.monotonic() - start >= 0.019
    True
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
    """A lock for ``with`` that is pickled and copied in the released state. Copies of its owners share the copy."""

    __slots__ = ("_lock",)

    def __init__(self) -> None:
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def __reduce__(self) -> tuple[type[Lock], tuple[()]]:
        return Lock, ()
