"""What objects may be at the doors of throwing and wrist, and what is said where they are not."""

from __future__ import annotations

from typing import TypeVar

from ..errors import ThunderError

__all__ = ["of_kind"]

T = TypeVar("T")


def of_kind(value: object, kind: type[T], what: str) -> T:
    """Return an object if it is of a kind, or say what came.

    Parameters
    ----------
    value : object
        Anything.
    kind : type
        What it must be.
    what : str
        Name used in messages.

    Raises
    ------
    ThunderError
        If it is not.
    """
    if not isinstance(value, kind):
        name = f"an {kind.__name__}" if kind.__name__[0] in "AEIOU" else f"a {kind.__name__}"
        raise ThunderError(f"{what} must be {name}, got {type(value).__name__}: {value!r:.80}")
    return value
