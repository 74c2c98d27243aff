"""Checks at the boundary: what passes is finite, of the right shape, and a copy nobody else can change."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import numpy.typing as npt

from .errors import ModelError

__all__ = ["Array", "array", "check_label", "check_name", "pose", "real", "rotation", "unit_axis"]

Array = npt.NDArray[np.float64]

#: how far a given rotation matrix or axis may be from an exact one
ROTATION_TOLERANCE = 1e-6
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,62}")
_LABEL = re.compile(r"[A-Za-z_][A-Za-z0-9_./:-]{0,62}")


def check_name(name: object, what: str = "robot name") -> str:
    """Return `name` if it is an identifier: it ends in file names and in C identifiers."""
    if not isinstance(name, str) or not _IDENTIFIER.fullmatch(name):
        raise ModelError(
            f"{what} must be an identifier (letters, digits, underscores, at most 63, no leading digit), got {name!r}"
        )
    return str(name)  # numpy's strings too


def check_label(name: object, what: str) -> str:
    """Return `name` if it may name a joint, link or frame: an identifier where URDF's ``- . / :`` may stand too."""
    if not isinstance(name, str) or not _LABEL.fullmatch(name):
        raise ModelError(
            f"{what} must start with a letter or underscore and hold letters, digits and '_-./:' "
            f"(at most 63), got {name!r}"
        )
    return str(name)  # numpy's strings too


def _short(value: Any) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= 200 else f"{text[:200]} ..."


def array(value: Any, shape: tuple[int | None, ...], what: str, *, finite: bool = True) -> Array:
    """Return `value` as a read-only float64 copy of exactly `shape`.

    Parameters
    ----------
    value : array_like
        Numbers.
    shape : tuple
        Expected shape; ``None`` stands for any length.
    what : str
        Name used in messages.
    finite : bool
        Refuse infinities too (NaN never passes).

    Raises
    ------
    ModelError
        On anything else, naming `what`, the expected shape and what came.
    """
    expected = str(shape).replace("None", "n")
    if isinstance(value, np.ndarray) and value.dtype.kind not in "fiu":
        raise ModelError(f"{what} must be real numbers of shape {expected}, got dtype {value.dtype}")
    try:
        result = np.array(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ModelError(f"{what} must be numbers of shape {expected}, got {_short(value)}") from error
    if len(shape) != result.ndim or any(s not in (None, r) for s, r in zip(shape, result.shape, strict=True)):
        raise ModelError(f"{what} must have shape {expected}, got {result.shape}")
    if np.isnan(result).any() or (finite and np.isinf(result).any()):
        raise ModelError(f"{what} must be {'finite' if finite else 'without NaN'}, got {_short(value)}")
    result.setflags(write=False)
    return result


def real(value: Any, what: str, *, finite: bool = True, expected: str = "real numbers") -> Array:
    """Return numbers of any shape as float64, the same array if it is one; complex numbers are none.

    Parameters
    ----------
    value : array_like
        Numbers.
    what : str
        Name used in messages.
    finite : bool
        Refuse NaN and infinities.
    expected : str
        What messages say that the value must be.

    Raises
    ------
    ModelError
        On anything else, naming `what` and what came.
    """
    try:
        given = np.asarray(value)
        if given.dtype.kind not in "fiubO":
            raise TypeError(f"entries of type {given.dtype}")
        result = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ModelError(f"{what} must be {expected}, got {_short(value)}") from error
    if finite and not np.isfinite(result).all():
        raise ModelError(f"{what} must be finite, got {_short(value)}")
    return result


def pose(value: Any, what: str) -> Array:
    """Return `value` as a read-only (4, 4) rigid transform, or raise `ModelError` naming `what`."""
    T = array(value, (4, 4), what)
    R = T[:3, :3]
    if not np.array_equal(T[3], (0.0, 0.0, 0.0, 1.0)):
        raise ModelError(f"{what} must have the last row [0, 0, 0, 1], got {T[3].tolist()}")
    if np.abs(R.T @ R - np.eye(3)).max() > ROTATION_TOLERANCE:
        raise ModelError(
            f"{what} must hold an orthonormal rotation matrix (to {ROTATION_TOLERANCE:g}), got {R.tolist()}"
        )
    if np.linalg.det(R) < 0.0:
        raise ModelError(f"{what} must hold a rotation, got a reflection (determinant -1): {R.tolist()}")
    return T


def rotation(value: Any, what: str) -> Array:
    """Return `value` as a read-only (3, 3) rotation matrix, or raise `ModelError` naming `what`."""
    T = np.eye(4)
    T[:3, :3] = array(value, (3, 3), what)
    return pose(T, what)[:3, :3]


def unit_axis(value: Any, what: str) -> Array:
    """Return `value` as a read-only (3,) unit vector, or raise `ModelError` naming `what`."""
    axis = array(value, (3,), what)
    if abs(np.linalg.norm(axis) - 1.0) > ROTATION_TOLERANCE:
        raise ModelError(f"{what} must have unit length, got {axis.tolist()} of length {np.linalg.norm(axis):g}")
    return axis
