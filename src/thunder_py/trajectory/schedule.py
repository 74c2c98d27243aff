"""When the parts of a path begin: one after the other, or each a little before the one before it has ended."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from .. import _core
from ..checks import Array, array
from .timing import TimingLaw, min_jerk

__all__ = ["Timing", "as_law", "as_laws", "placed", "start_times"]

#: a law, or the duration [s] of a minimum-jerk law
Timing = TimingLaw | float


def as_law(timing: Timing, what: str = "timing") -> TimingLaw:
    """Return a law from 0 to 1: the given one rescaled, or a minimum-jerk law of the given duration [s]."""
    if isinstance(timing, TimingLaw):
        return timing.rescaled(0.0, 1.0)
    if isinstance(timing, bool) or np.ndim(timing) != 0:
        raise ValueError(f"{what} must be a TimingLaw or a duration, got {timing!r}")
    return min_jerk(float(array(timing, (), what)))


def as_laws(timings: Timing | Sequence[Timing], count: int) -> list[TimingLaw]:
    """Return `count` laws from 0 to 1: one for all, or one for each."""
    if isinstance(timings, TimingLaw) or not isinstance(timings, Iterable) or isinstance(timings, str):
        return [as_law(timings, "timing")] * count
    given = list(timings)
    if len(given) != count:
        raise ValueError(f"timing must be one, or {count} of them, got {len(given)}")
    return [as_law(timing, f"timing {i}") for i, timing in enumerate(given)]


def start_times(laws: Sequence[TimingLaw], anticipation: float | npt.ArrayLike) -> tuple[Array, Array]:
    """Return when each of the laws starts, and by how much each but the first is early.

    Parameters
    ----------
    laws : sequence of TimingLaw
        One after the other.
    anticipation : float or (m - 1,) array_like
        How long before the end of the one before it each starts [s].

    Raises
    ------
    ValueError
        On an anticipation that is negative, or longer than one of the two that overlap.
    """
    T = np.array([law.duration for law in laws])
    inner = max(T.size - 1, 0)
    early = (
        np.full(inner, array(anticipation, (), "anticipation"))
        if np.ndim(anticipation) == 0
        else array(anticipation, (inner,), "anticipation")
    )
    longest = np.minimum(T[:-1], T[1:])
    for k, (value, limit) in enumerate(zip(early, longest, strict=True)):
        if not 0.0 <= value <= limit:
            raise ValueError(
                f"anticipation of part {k + 1} must be 0 to {limit:g} s, the shorter of its two, got {value:g}"
            )
    return np.concatenate([[0.0], np.cumsum(T[:-1] - early)])[: T.size], early


def placed(law: TimingLaw, start: float) -> _core.PiecewisePolynomial:
    """Return a law that begins at another time than 0."""
    return _core.PiecewisePolynomial(law.breaks + start, law.coefficients[:, :, None])
