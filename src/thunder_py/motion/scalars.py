"""Single numbers and arrays at the doors of this package: what they may be, and what is said where they are not."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..checks import Array
from ..errors import ThunderError

__all__ = ["at_least", "is_number", "numbers", "positive", "whole"]


def is_number(value: object) -> bool:
    """Tell a real number from anything else, truth values included."""
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def positive(value: Any, what: str, unit: str = "") -> float:
    """Return a number that is finite and above zero, or say what came."""
    if not is_number(value) or not np.isfinite(value) or value <= 0.0:
        raise ThunderError(f"{what} must be a positive number{unit and f' [{unit}]'}, got {value!r}")
    return float(value)


def at_least(value: Any, what: str, least: float = 0.0) -> float:
    """Return a number that is not below `least`, or say what came."""
    if not is_number(value) or not value >= least:
        raise ThunderError(f"{what} must be >= {least:g}, got {value!r}")
    return float(value)


def whole(value: Any, what: str, least: int) -> int:
    """Return an integer that is not below `least`, or say what came."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise ThunderError(f"{what} must be a whole number of at least {least}, got {value!r}")
    return int(value)


def numbers(value: Any, what: str, dimensions: int | None = None) -> Array:
    """Return a float64 copy of an array, which may hold NaN and infinities, or say what came.

    Parameters
    ----------
    value : array_like
        Numbers; texts that look like numbers are none.
    what : str
        Name used in messages.
    dimensions : int, optional
        How many it must have.
    """
    try:
        given = np.asarray(value)
        if given.dtype.kind in "USOcMm" and (given.dtype.kind != "O" or any(isinstance(v, str) for v in given.flat)):
            raise TypeError(f"entries of type {given.dtype}")
        result = np.array(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ThunderError(f"{what} must be numbers, got {type(value).__name__}: {error}") from error
    if dimensions is not None and result.ndim != dimensions:
        raise ThunderError(f"{what} must have {dimensions} dimension(s), got shape {result.shape}")
    return result
