"""Single numbers and arrays at the doors of this package: what they may be, and what is said where they are not."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..checks import Array
from ..errors import ThunderError

__all__ = ["at_least", "is_number", "is_whole", "numbers", "points", "positive", "seed_of", "whole", "within"]


def is_number(value: object) -> bool:
    """Tell a real number from anything else, truth values included."""
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def is_whole(value: object) -> bool:
    """Tell an integer from anything else, truth values included."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def positive(value: Any, what: str, unit: str = "") -> float:
    """Return a number that is finite and above zero, or say what came."""
    if not is_number(value) or not np.isfinite(value) or value <= 0.0:
        raise ThunderError(f"{what} must be a positive number{unit and f' [{unit}]'}, got {value!r}")
    return float(value)


def at_least(value: Any, what: str, least: float = 0.0, unit: str = "") -> float:
    """Return a finite number that is not below `least`, or say what came."""
    if not is_number(value) or not least <= value < np.inf:
        raise ThunderError(f"{what} must be a number >= {least:g}{unit and f' {unit}'}, got {value!r}")
    return float(value)


def within(value: Any, what: str, low: float, high: float, *, ends: str = "[]") -> float:
    """Return a number from `low` to `high`, or say what came.

    Parameters
    ----------
    value : float
        The number.
    what : str
        Name used in messages.
    low, high : float
        Bounds.
    ends : str
        ``"[]"``, ``"[)"``, ``"(]"`` or ``"()"``: a round bracket leaves the bound out.
    """
    inside = is_number(value) and low <= value <= high
    if not inside or (ends[0] == "(" and value == low) or (ends[1] == ")" and value == high):
        raise ThunderError(f"{what} must be a number in {ends[0]}{low:g}, {high:g}{ends[1]}, got {value!r}")
    return float(value)


def whole(value: Any, what: str, least: int, most: int | None = None) -> int:
    """Return an integer that is not below `least` nor above `most`, or say what came."""
    if not is_whole(value) or value < least or (most is not None and value > most):
        bounds = f"of at least {least}" if most is None else f"from {least} to {most}"
        raise ThunderError(f"{what} must be a whole number {bounds}, got {value!r}")
    return int(value)


def seed_of(value: Any) -> int:
    """Return a seed: without one, what is drawn could not be drawn again."""
    return whole(value, "seed", 0)


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
        if given.dtype.kind in "USOcMmV" and (given.dtype.kind != "O" or any(isinstance(v, str) for v in given.flat)):
            raise TypeError(f"entries of type {given.dtype}")
        result = np.array(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ThunderError(f"{what} must be numbers, got {type(value).__name__}: {error}") from error
    if dimensions is not None and result.ndim != dimensions:
        raise ThunderError(f"{what} must have {dimensions} dimension(s), got shape {result.shape}")
    return result


def points(value: Any, what: str, tail: tuple[int, ...] = (3,)) -> Array:
    """Return a float64 copy of an array of shape (..., *tail), which may hold NaN and infinities, or say what came."""
    result = numbers(value, what)
    if result.shape[-len(tail) :] != tail:
        raise ThunderError(f"{what} must have shape (..., {', '.join(map(str, tail))}), got {result.shape}")
    return result
