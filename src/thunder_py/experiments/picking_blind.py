"""What picks are compared with: loops that look once, and the latest picture in place of a filter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ..checks import Array
from ..manipulation.servoing.lie import inverse
from ..manipulation.servoing.tool_estimator import ToolVerdict
from ..manipulation.servoing.tracker import TargetTracker, Track, Trouble
from ..perception.pose_source import PoseMeasurement, PoseSource

__all__ = ["FrozenTracker", "LatestTool", "StoppedSource"]


class FrozenTracker(TargetTracker):
    """Looks until it is told to stop, and then believes that nothing changes any more.

    Attributes
    ----------
    frozen : callable
        Whether it has been told.
    """

    frozen: Callable[[], bool] = staticmethod(lambda: False)
    _kept: Track | None = None

    def update(self, t: float) -> Track:
        """Return the target, as seen at first."""
        if not self.frozen() or self._kept is None:
            self._kept = super().update(t)
            return self._kept
        seen = self._kept.estimate
        still = None if seen is None else replace(seen, twist=np.zeros(6))  # or the law would wait for it to move
        return Track(t, still, 0.0, Trouble.none)


class StoppedSource:
    """Another source until it is told to stop, and then silence.

    Parameters
    ----------
    source : PoseSource
    stopped : callable
        Whether it has been told.
    """

    def __init__(self, source: PoseSource, stopped: Callable[[], bool]) -> None:
        self._source, self._stopped = source, stopped

    def reset(self) -> None:
        """Start again."""
        self._source.reset()

    def poll(self, t: float) -> list[PoseMeasurement]:
        """Return what became available."""
        return [] if self._stopped() else self._source.poll(t)


class LatestTool:
    """The tool in the hand as the latest picture has it.

    Parameters
    ----------
    nominal : (4, 4) array
        Before the first picture.
    position_noise, rotation_noise : float
        Standard deviation of a measurement, per axis [m, rad].
    """

    def __init__(self, nominal: Array, position_noise: float, rotation_noise: float) -> None:
        self._nominal = nominal
        self._noise = np.diag(np.repeat(np.square((position_noise, rotation_noise)), 3))
        self.reset()

    def reset(self) -> None:
        """Return to the nominal pose."""
        self.pose, self.covariance, self._time = self._nominal, np.eye(6), -np.inf

    def observe(self, time: float, tool: npt.ArrayLike | None, hand: npt.ArrayLike) -> ToolVerdict:
        """Take in a picture."""
        if tool is None:
            return ToolVerdict.invalid
        if time > self._time:
            self.pose, self.covariance, self._time = inverse(np.asarray(hand)) @ np.asarray(tool), self._noise, time
        return ToolVerdict.used
