"""Times against nominal rates."""

from __future__ import annotations

import numpy as np

from ...checks import Array
from ...errors import FileFormatError

__all__ = ["check_rate", "positive_rate", "rate_of"]

#: how far a time column may be from a nominal rate, relative; clocks and printed digits are not exact
TOLERANCE = 0.01


def positive_rate(rate: object, what: str = "rate") -> float:
    """Return `rate` [Hz] if it is a positive number."""
    value = float(rate) if isinstance(rate, (int, float, np.number)) and not isinstance(rate, bool) else np.nan
    if not (np.isfinite(value) and value > 0.0):
        raise FileFormatError(f"{what} must be a positive number [Hz], got {rate!r}")
    return value


def check_rate(t: Array, rate: float, path: object) -> None:
    """Raise unless the times fit a nominal rate to 1 %, by their mean step or by their median step.

    One of the two is enough: dropped frames lengthen the mean step, and few printed digits shift the median one.
    """
    steps = np.diff(t)
    mean, median = 1.0 / float(steps.mean()), 1.0 / float(np.median(steps))
    if min(abs(mean / rate - 1.0), abs(median / rate - 1.0)) > TOLERANCE:
        raise FileFormatError(
            f"rate must fit the times to {TOLERANCE:.0%}, got {rate:g} Hz where mean and median steps mean "
            f"{mean:.6g} and {median:.6g} Hz",
            path=str(path),
        )


def rate_of(t: Array) -> float | None:
    """Return the rate [Hz] of times whose steps are all equal to 1 %, otherwise None."""
    steps = np.diff(t)
    mean = float(steps.mean())
    return 1.0 / mean if float(np.abs(steps - mean).max()) <= TOLERANCE * mean else None
