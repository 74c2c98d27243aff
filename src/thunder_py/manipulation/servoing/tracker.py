"""Tracking of a target by a pose source and a filter, with diagnosis of the source."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from ...checks import Array, finite, is_number, whole
from ...errors import ThunderError
from ...perception.pose_source import PoseMeasurement, PoseSource
from ...values import Stateful, StrEnum
from .pose_filter import PoseEstimate, Verdict, poll, rigid


class PoseBelief(Protocol):
    """Estimator of a pose from measurements, such as `PoseFilter` and `LatestPose`."""

    @property
    def ready(self) -> bool:
        """True if there is a measurement."""

    def reset(self) -> None:
        """Discard all measurements."""

    def add(self, time: float, pose: npt.ArrayLike | None) -> Verdict:
        """Process a measurement."""

    def estimate(self, t: float) -> PoseEstimate:
        """Return pose, twist and covariance at time `t` [s]."""


class SourceFault(StrEnum):
    """Problem with the last measurement."""

    none = "none"
    silent = "the source sends nothing"
    unseen = "the source sees nothing"
    frozen = "the source sends the same pose again and again"
    invalid = "the source sends invalid poses"
    outliers = "the source sends poses far from what is expected"
    late = "the source sends measurements that are too old or from the future"
    failed = "the source raises errors"


@dataclass(frozen=True, slots=True, eq=False)
class Track:
    """State of the target.

    Attributes
    ----------
    time : float
        Time [s].
    estimate : PoseEstimate or None
        None before the first measurement.
    age : float
        Time since the latest picture that the estimate uses [s]; infinity without any.
    trouble : SourceFault
        Problem with the latest measurement; `SourceFault.silent` after a time without any.
    restarted : bool
        Whether the filter restarted since the last update because the target jumped.
    """

    time: float
    estimate: PoseEstimate | None
    age: float
    trouble: SourceFault
    restarted: bool = False


class Repetition:
    """Detector of a frozen source, which sends the same numbers with new times.

    Parameters
    ----------
    repeats : int or None
        Number of consecutive equal poses that count as frozen; None for never, for sources without noise.
    """

    def __init__(self, repeats: int | None) -> None:
        self._repeats = None if repeats is None else whole(repeats, "repeats", 2)
        self.reset()

    def reset(self) -> None:
        """Discard all poses."""
        self._last: Array | None = None
        self._count = 0

    def __call__(self, pose: Array | None) -> bool:
        """Return whether the source is frozen with this pose."""
        if self._repeats is None or pose is None:
            return False
        same = self._last is not None and np.array_equal(self._last, pose)
        self._count = self._count + 1 if same else 1
        self._last = pose
        return self._count >= self._repeats


class TargetTracker(Stateful):
    """Poll a source, filter its usable measurements and diagnose the others.

    Parameters
    ----------
    source : PoseSource
        Source of poses of the target in the world.
    belief : PoseFilter or LatestPose
        Estimator.
    repeats : int or None
        Number of consecutive equal poses after which the source counts as frozen and is ignored; None for sources
        without noise.
    silence : float
        Time without a message after which the source counts as silent [s].

    Attributes
    ----------
    error : Exception or None
        Latest error of the source.

    Raises
    ------
    ThunderError
        If `source` is not a source, or `silence` is not positive.

    Examples
    --------
    >>> from thunder_py.manipulation import PoseFilter, TargetTracker
    >>> from thunder_py.perception import PoseFault, SimulatedPoseSource
    >>> from thunder_py.spatial import pose_from_rpy
    >>> source = SimulatedPoseSource(
    ...     lambda t: pose_from_rpy((0.5, 0.1 * t, 0.1)), position_noise=0.001, faults=[PoseFault("freeze", 1.0)])
    >>> tracker = TargetTracker(source, PoseFilter(0.003, 0.02))
    >>> for t in (0.5, 1.5):
    ...     track = tracker.update(t)
    ...     print(track.trouble.name, round(track.age, 1))
    none 0.0
    frozen 0.5
    """

    def __init__(
        self, source: PoseSource, belief: PoseBelief, *, repeats: int | None = 3, silence: float = 0.5
    ) -> None:
        if not isinstance(source, PoseSource):
            raise ThunderError(f"source must have poll and reset, got {type(source).__name__}")
        if not is_number(silence) or not silence > 0.0:
            raise ThunderError(f"silence must be above 0 s, got {silence!r}")
        self.source, self.belief = source, belief
        self._repetition, self._silence = Repetition(repeats), float(silence)
        self._clear()

    def _clear(self) -> None:
        self._rests_on = -math.inf  # time of the latest picture that counts
        self._heard = self._now = -math.inf
        self._trouble = SourceFault.silent
        self.error: Exception | None = None

    def reset(self) -> None:
        """Start again."""
        self.source.reset()
        self.belief.reset()
        self._repetition.reset()
        self._clear()

    def update(self, t: float) -> Track:
        """Process the measurements that are available at time `t` [s].

        An error of the source is reported as `SourceFault.failed` instead of raising.

        Raises
        ------
        ThunderError
            If `t` is not finite or decreases.
        """
        if finite(t, "t") < self._now:
            raise ThunderError(
                f"t must not be before the last time, {self._now:g} s, got {t:g} s; reset() starts again"
            )
        self._now, restarted = t, False
        measurements, error = poll(self.source, t)
        for measurement in measurements:
            self._heard = t
            verdict = self._take(measurement, t)
            restarted |= verdict is Verdict.restarted
        if error is not None:
            self.error, self._trouble = error, SourceFault.failed
        elif t - self._heard > self._silence:
            self._trouble = SourceFault.silent
        estimate = self.belief.estimate(t) if self.belief.ready else None
        return Track(t, estimate, t - self._rests_on, self._trouble, restarted)

    def _take(self, measurement: PoseMeasurement, t: float) -> Verdict | None:
        frozen = self._repetition(measurement.pose)
        if measurement.pose is None:
            self._trouble = SourceFault.unseen
        elif rigid(measurement.pose) is None:
            self._trouble = SourceFault.invalid
        elif frozen:
            self._trouble = SourceFault.frozen
        elif measurement.time > t:
            self._trouble = SourceFault.late
        else:
            verdict = self.belief.add(measurement.time, measurement.pose)
            if verdict.counts:
                self._rests_on = max(self._rests_on, measurement.time)
            self._trouble = _TROUBLES.get(verdict, SourceFault.none)
            return verdict
        return None


_TROUBLES = {
    Verdict.outlier: SourceFault.outliers,
    Verdict.late: SourceFault.late,
    Verdict.invalid: SourceFault.invalid,
}
