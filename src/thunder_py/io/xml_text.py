"""Pieces of XML text with numbers that read back to the last bit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from xml.sax.saxutils import quoteattr

import numpy as np

from ..checks import Array

__all__ = ["comment", "number", "numbers", "opened", "quaternion", "tag"]


def number(value: float) -> str:
    """Return the shortest text that reads back as this number."""
    return repr(float(value) + 0.0).removesuffix(".0")  # the sum makes of a negative zero a positive one


def numbers(values: Iterable[float]) -> str:
    """Return numbers with blanks between."""
    return " ".join(number(value) for value in values)


def tag(element: str, /, **attributes: str | None) -> str:
    """Return an element without content; attributes that are None are left out."""
    return f"<{_inside(element, attributes)}/>"


def opened(element: str, /, **attributes: str | None) -> str:
    """Return the beginning of an element; attributes that are None are left out."""
    return f"<{_inside(element, attributes)}>"


def _inside(element: str, attributes: Mapping[str, str | None]) -> str:
    return element + "".join(f" {key}={quoteattr(text)}" for key, text in attributes.items() if text is not None)


def comment(text: str) -> str:
    """Return a comment; XML allows no two hyphens in a row within."""
    safe = " ".join(text.split()).replace("--", "- -")
    return f"<!-- {safe}{' ' if safe.endswith('-') else ''} -->"


def quaternion(R: Array) -> Array:
    """Return the unit quaternion [w, x, y, z] of a rotation matrix (3, 3), with w >= 0."""
    from scipy.spatial.transform import Rotation

    x, y, z, w = Rotation.from_matrix(R).as_quat()
    q = np.array([w, x, y, z])
    return -q if w < 0.0 else q
