"""Quantiles of durations in bounded memory, periodic wake-up, and a lock that can be pickled."""

from __future__ import annotations

import threading
import time

from .. import _core
from ..errors import ThunderError


class Quantiles(_core.Quantiles):
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

    @classmethod
    def _of(cls, counted: _core.Quantiles) -> Quantiles:
        """Return those of the core as of this class."""
        quantiles = cls.__new__(cls)
        quantiles.__setstate__(counted.__getstate__())
        return quantiles


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
            raise ThunderError(f"period must be positive and less than 1000 s, got {period!r}")
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
    """Reentrant lock for ``with``, pickled and copied in the released state. Copies of its owners share the copy."""

    __slots__ = ("_lock",)

    def __init__(self) -> None:
        self._lock = threading.RLock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def __reduce__(self) -> tuple[type[Lock], tuple[()]]:
        return Lock, ()
