"""Checks of controller arguments other than matrix gains."""

from __future__ import annotations

import numpy as np

from ..checks import Array, array
from ..errors import ModelError, UnknownNameError, nearest_hint

__all__ = ["number_or_row", "one_of", "per_joint", "positive"]


def one_of(value: object, options: tuple[str, ...], what: str) -> str:
    """Return `value` if it is one of `options`, or raise `UnknownNameError` naming `what`."""
    if value not in options:
        hint = nearest_hint(value, options) if isinstance(value, str) else ""
        raise UnknownNameError(f"{what} must be one of {options}, got {value!r}{hint}")
    return str(value)


def positive(value: object, what: str) -> float:
    """Return `value` as a float if it is a positive number, or raise `ModelError` naming `what`."""
    number = float(array(value, (), what))
    if number <= 0.0:
        raise ModelError(f"{what} must be positive, got {number:g}")
    return number


def number_or_row(value: object, what: str, *, finite: bool = True) -> Array:
    """Return `value` as an array if it is a number or a row of them, or raise `ModelError` naming `what`."""
    if value is None or isinstance(value, (str, bytes)):
        raise ModelError(f"{what} must be a number or a row of numbers, got {value!r}")
    return array(value, (None,) if np.iterable(value) else (), what, finite=finite)


def per_joint(value: object, n: int, what: str, *, finite: bool = True) -> Array:
    """Return `value` as n numbers, one per joint, or raise `ModelError` naming `what`."""
    row = number_or_row(value, what, finite=finite)
    if row.ndim == 1 and row.size != n:
        raise ModelError(f"{what} must be a number or {n} numbers, one per joint, got {row.size}")
    return np.full(n, row)
