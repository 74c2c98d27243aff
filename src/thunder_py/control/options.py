"""Checks of what a controller is told besides its gains."""

from __future__ import annotations

from ..checks import array
from ..errors import ModelError, UnknownNameError, nearest_hint

__all__ = ["one_of", "positive"]


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
