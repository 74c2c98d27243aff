"""Judge of a grasp: an object is lifted, and held by the hand alone."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from ...checks import finite, positive
from ...values import Stateful, StrEnum

#: name of the hand among the contacts of an object
HAND = "hand"
#: time without contact after which an object is no longer held [s]
_GAP = 0.02


class GraspFailure(StrEnum):
    """Reason why an object was not grasped.

    Examples
    --------
    >>> from thunder_py.manipulation import GraspFailure
    >>> f"failed: {GraspFailure.dropped}"
    'failed: the object was lifted and lost'
    """

    missed = "the hand never touched the object"
    not_lifted = "the object was touched and not lifted"
    too_low = "the object was lifted too little"
    dropped = "the object was lifted and lost"
    too_short = "the object was not held for long enough until the end"
    elsewhere = "the object was lifted and did not come to rest in its place"


class GraspVerdict(NamedTuple):
    """Result of a grasp.

    Attributes
    ----------
    success : bool
        Whether the object was held at the height for the whole time.
    failure : GraspFailure or None
        Reason if it was not.
    lift : float
        Largest height above the surface while the hand alone touched the object [m].
    held : float
        Longest time at the height, with the hand alone [s].
    time : float
        End of the successful hold [s]; NaN without success.

    Examples
    --------
    >>> from thunder_py.manipulation import GraspJudge
    >>> judge = GraspJudge(surface=0.0)
    >>> judge.update(0.0, 0.0, {"belt"})
    >>> judge.verdict.failure.name
    'missed'
    """

    success: bool
    failure: GraspFailure | None
    lift: float
    held: float
    time: float


class GraspJudge(Stateful):
    """Judge of a grasp from the object's height and contacts over time.

    Parameters
    ----------
    surface : float
        Height of the surface from which the object is lifted [m].
    lift : float
        Distance of the object's lowest point from the surface that counts as lifted [m].
    hold : float
        Time for which it must be held there, touched by the hand alone [s].

    Raises
    ------
    ThunderError
        If a number is invalid.

    Notes
    -----
    Gaps between contacts of at most 0.02 s do not interrupt a hold: a hard object vibrates in hard fingers.

    Examples
    --------
    >>> from thunder_py.manipulation import GraspJudge
    >>> judge = GraspJudge(surface=0.0)
    >>> for k in range(200):
    ...     judge.update(0.01 * k, 0.12, {"hand"})
    >>> judge.verdict.success
    True
    """

    def __init__(self, surface: float, *, lift: float = 0.1, hold: float = 1.0) -> None:
        self.surface = finite(surface, "surface")
        self.lift, self.hold = positive(lift, "lift", "m"), positive(hold, "hold", "s")
        self._touched = self._was_up = False
        self._highest = self._longest = 0.0
        self._begin: float | None = None
        self._last: float | None = None
        self._success = float("nan")
        self._lost = False

    def update(self, t: float, lowest: float, touching: Collection[str]) -> None:
        """Take the state at a time.

        Parameters
        ----------
        t : float
            Time [s], ascending.
        lowest : float
            Height of the object's lowest point [m].
        touching : collection of str
            Names of what touches the object, the hand's being ``"hand"``.
        """
        height, by_hand = lowest - self.surface, HAND in touching
        alone = by_hand and len(touching) == 1
        self._touched |= by_hand
        if by_hand:
            self._last = t
        carried = alone or (not touching and self._last is not None and t - self._last <= _GAP)
        if alone:
            self._highest = max(self._highest, height)
        if carried and height >= self.lift:
            self._begin = t if self._begin is None else self._begin
            self._longest = max(self._longest, t - self._begin)
            if self._longest >= self.hold - 1e-9 and self._success != self._success:
                self._success = t
            self._lost = False
        else:
            self._lost |= self._begin is not None
            self._begin = None

    @property
    def verdict(self) -> GraspVerdict:
        """Verdict on everything so far."""
        success = self._success == self._success
        return GraspVerdict(success, None if success else self._failure(), self._highest, self._longest, self._success)

    def _failure(self) -> GraspFailure:
        if not self._touched:
            return GraspFailure.missed
        if self._lost:
            return GraspFailure.dropped
        if self._begin is not None:
            return GraspFailure.too_short
        return GraspFailure.not_lifted if self._highest < 0.01 else GraspFailure.too_low
