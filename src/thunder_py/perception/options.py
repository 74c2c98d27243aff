"""Numbers that describe sensors, checked."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..checks import ROTATION_TOLERANCE, Array
from ..errors import ThunderError
from ..motion.scalars import is_number

__all__ = ["finite", "is_pose", "not_negative", "probability", "soon"]

#: pictures in one poll; more is a mistake in the time, and would take for ever
_MOST_PICTURES = 100_000


def finite(value: Any, what: str) -> float:
    """Return a finite number, or say what came."""
    if not is_number(value) or not np.isfinite(value):
        raise ThunderError(f"{what} must be a finite number, got {value!r}")
    return float(value)


def not_negative(value: Any, what: str, unit: str = "") -> float:
    """Return a finite number that is not negative, or say what came."""
    if not is_number(value) or not 0.0 <= value < np.inf:
        raise ThunderError(f"{what} must be a finite number >= 0{unit and f' [{unit}]'}, got {value!r}")
    return float(value)


def probability(value: Any, what: str) -> float:
    """Return a number from 0 to 1, or say what came."""
    if not is_number(value) or not 0.0 <= value <= 1.0:
        raise ThunderError(f"{what} must be a probability from 0 to 1, got {value!r}")
    return float(value)


def soon(t: Any, last: float, rate: float) -> float:
    """Return a finite time that is not very many pictures after the last one, or say what came."""
    now = finite(t, "t")
    if (now - last) * rate > _MOST_PICTURES:
        raise ThunderError(
            f"t must not be more than {_MOST_PICTURES} pictures after the last one at {last:g} s, got {now:g} s; "
            "clocks that do not begin near 0 need start="
        )
    return now


def is_pose(T: Array) -> bool:
    """Tell whether a (4, 4) matrix, finite or not, is a rigid transform."""
    R = T[:3, :3]
    return bool(
        np.isfinite(T).all()
        and np.array_equal(T[3], (0.0, 0.0, 0.0, 1.0))
        and np.abs(R.T @ R - np.eye(3)).max() <= ROTATION_TOLERANCE
        and np.linalg.det(R) > 0.0
    )
