"""Where something was a moment ago: pictures are older than what the joints say."""

from __future__ import annotations

from bisect import bisect_right
from collections import deque

from ...checks import Array
from ...errors import ThunderError
from ...motion.scalars import positive
from ...perception.options import finite
from ...values import Stateful
from .lie import interpolate

__all__ = ["PoseHistory"]


class PoseHistory(Stateful):
    """Poses of the last while, asked at times between them.

    Parameters
    ----------
    length : float
        How far back it reaches [s].
    """

    def __init__(self, length: float = 5.0) -> None:
        self._length = positive(length, "length", "s")
        self._times: deque[float] = deque()
        self._poses: deque[Array] = deque()

    def add(self, t: float, pose: Array) -> None:
        """Take in a pose (4, 4) at a time [s] after all others."""
        if self._times and finite(t, "t") <= self._times[-1]:
            raise ThunderError(f"t must go on, from {self._times[-1]:g} s, got {t:g} s")
        self._times.append(t)
        self._poses.append(pose)
        while self._times[0] < t - self._length:
            self._times.popleft()
            self._poses.popleft()

    def at(self, t: float) -> Array | None:
        """Return the pose (4, 4) at a time, or None where that is before the first or after the last one."""
        if not self._times or not self._times[0] <= t <= self._times[-1]:
            return None
        k = bisect_right(self._times, t)
        if k == len(self._times):
            return self._poses[-1]
        part = (t - self._times[k - 1]) / (self._times[k] - self._times[k - 1])
        return interpolate(self._poses[k - 1], self._poses[k], part)
