"""A pose source and a filter, and what is wrong with the source when something is."""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from ...checks import Array, is_number, whole
from ...errors import ThunderError
from ...perception.pose_source import PoseMeasurement, PoseSource, finite
from ...values import Stateful
from .pose_filter import PoseEstimate, Verdict, poll, rigid

__all__ = ["PoseBelief", "Repetition", "TargetTracker", "Track", "Trouble"]


class PoseBelief(Protocol):
    """What makes estimates out of measurements: `PoseFilter`, `LatestPose`."""

    @property
    def ready(self) -> bool:
        """Whether anything was seen."""

    def reset(self) -> None:
        """Forget everything."""

    def add(self, time: float, pose: npt.ArrayLike | None) -> Verdict:
        """Take in a measurement."""

    def estimate(self, t: float) -> PoseEstimate:
        """Tell pose, twist and covariance for time `t`."""


class Trouble(enum.Enum):
    """Why the last measurement is of no use, or that it is."""

    none = "none"
    silent = "the source sends nothing"
    unseen = "the source sees nothing"
    frozen = "the source sends the same pose again and again"
    invalid = "the source sends what is no pose"
    outliers = "the source sends poses far from what is expected"
    late = "the source sends what is too old, or comes from the future"
    failed = "the source raises errors"


@dataclass(frozen=True, slots=True, eq=False)
class Track:
    """What is known of the target.

    Attributes
    ----------
    time : float
        [s].
    estimate : PoseEstimate or None
        None until something was seen.
    age : float
        Time since the latest picture that the estimate rests on was taken [s]; infinity without any.
    trouble : Trouble
        With the latest measurement; after `silence`, that there is none.
    restarted : bool
        Whether the filter started again since the last update: the target jumped.
    """

    time: float
    estimate: PoseEstimate | None
    age: float
    trouble: Trouble
    restarted: bool = False


class Repetition:
    """Tells a source that sends the same numbers again under new times: a camera that hangs.

    Parameters
    ----------
    repeats : int or None
        From so many equal poses in a row on; None never, for sources without noise.
    """

    def __init__(self, repeats: int | None) -> None:
        self._repeats = None if repeats is None else whole(repeats, "repeats", 2)
        self.reset()

    def reset(self) -> None:
        """Forget what was seen."""
        self._last: Array | None = None
        self._count = 0

    def __call__(self, pose: Array | None) -> bool:
        """Whether this pose is one too many."""
        if self._repeats is None or pose is None:
            return False
        same = self._last is not None and np.array_equal(self._last, pose)
        self._count = self._count + 1 if same else 1
        self._last = pose
        return self._count >= self._repeats


class TargetTracker(Stateful):
    """Polls a source, filters what is usable and keeps an account of the rest.

    Parameters
    ----------
    source : PoseSource
        Of the target, in the world.
    belief : PoseFilter or LatestPose
        Makes estimates of measurements.
    repeats : int or None
        So many equal poses in a row are a frozen source, and from then on not used; None switches this off, for
        sources without noise.
    silence : float
        After so long without a message the source is silent [s].

    Attributes
    ----------
    error : Exception or None
        The latest that `poll` of the source raised.
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
        self._trouble = Trouble.silent
        self.error: Exception | None = None

    def reset(self) -> None:
        """Start again."""
        self.source.reset()
        self.belief.reset()
        self._repetition.reset()
        self._clear()

    def update(self, t: float) -> Track:
        """Take in what became available up to time `t` [s].

        A source that raises an error is no error here: the track says `Trouble.failed`.

        Raises
        ------
        ThunderError
            A time that is not finite or goes back.
        """
        if finite(t, "t") < self._now:
            raise ThunderError(f"t must not go back, from {self._now:g} s to {t:g} s; reset() starts again")
        self._now, restarted = t, False
        measurements, error = poll(self.source, t)
        for measurement in measurements:
            self._heard = t
            verdict = self._take(measurement, t)
            restarted |= verdict is Verdict.restarted
        if error is not None:
            self.error, self._trouble = error, Trouble.failed
        elif t - self._heard > self._silence:
            self._trouble = Trouble.silent
        estimate = self.belief.estimate(t) if self.belief.ready else None
        return Track(t, estimate, t - self._rests_on, self._trouble, restarted)

    def _take(self, measurement: PoseMeasurement, t: float) -> Verdict | None:
        frozen = self._repetition(measurement.pose)
        if measurement.pose is None:
            self._trouble = Trouble.unseen
        elif rigid(measurement.pose) is None:
            self._trouble = Trouble.invalid
        elif frozen:
            self._trouble = Trouble.frozen
        elif measurement.time > t:
            self._trouble = Trouble.late
        else:
            verdict = self.belief.add(measurement.time, measurement.pose)
            if verdict.counts:
                self._rests_on = max(self._rests_on, measurement.time)
            self._trouble = _TROUBLES.get(verdict, Trouble.none)
            return verdict
        return None


_TROUBLES = {Verdict.outlier: Trouble.outliers, Verdict.late: Trouble.late, Verdict.invalid: Trouble.invalid}
