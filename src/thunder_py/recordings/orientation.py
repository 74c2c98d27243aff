"""Continuous rotation vectors and their conversion from quaternions, Euler angles and matrices."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..checks import Array, numbers
from ..errors import ThunderError

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation

#: recorded quaternions and matrices are rounded to a few digits
_TOLERANCE = 1e-3
#: bound of the entries whose square is still finite
_LARGEST = 1e100
_SEQUENCE = re.compile(r"[xyz]{3}|[XYZ]{3}")
_TURN = 2.0 * np.pi
#: angles of more turns are taken for degrees passed as radians
_MOST_TURNS = 2


def check_sequence(sequence: object) -> str:
    """Return an Euler sequence in SciPy's spelling: ``"XYZ"`` about moving axes, ``"xyz"`` about fixed ones."""
    if not isinstance(sequence, str) or not _SEQUENCE.fullmatch(sequence) or sequence[1] in (sequence[0], sequence[2]):
        raise ThunderError(
            "sequence must name three axes, neighbors different, in capital letters for moving axes and small letters "
            f"for fixed axes, as 'ZYX' or 'xyz', got {sequence!r}"
        )
    return sequence


def _rows(values: npt.ArrayLike, tail: tuple[int, ...], what: str) -> tuple[Array, npt.NDArray[np.bool_]]:
    """Return an array (T, *tail) and the mask of its rows without NaN; a row with one NaN is a gap."""
    rows = numbers(values, what)
    if rows.ndim != 1 + len(tail) or rows.shape[1:] != tail:
        raise ThunderError(f"{what} must have shape (T, {', '.join(map(str, tail))}), got {rows.shape}")
    if np.isinf(rows).any():
        raise ThunderError(f"{what} must be finite, or NaN in a gap, got infinity in row {_first_inf(rows)}")
    if (np.abs(rows) > _LARGEST).any():
        raise ThunderError(f"{what} must be at most {_LARGEST:g}, got {float(np.nanmax(np.abs(rows))):g}")
    known: npt.NDArray[np.bool_] = np.logical_not(np.isnan(rows).reshape(len(rows), -1).any(axis=1))
    return rows, known


def _first_inf(rows: Array) -> int:
    return int(np.argmax(np.isinf(rows).reshape(len(rows), -1).any(axis=1)))


def _spread(known: npt.NDArray[np.bool_], make: Callable[[], Rotation]) -> Array:
    """Return the vectors (T, 3) of the rotations that `make` returns for the known rows; SciPy needs at least one."""
    vectors = np.full((len(known), 3), np.nan)
    if known.any():
        vectors[known] = continuous_rotation_vectors(make())
    return vectors


def from_quaternions(quaternion: npt.ArrayLike, *, scalar_first: bool | None) -> Array:
    """Return continuous rotation vectors (T, 3) [rad] of unit quaternions (T, 4), NaN where one has a NaN."""
    from scipy.spatial.transform import Rotation

    if not isinstance(scalar_first, (bool, np.bool_)):
        raise ThunderError(
            f"scalar_first must be True for quaternions [w, x, y, z] or False for [x, y, z, w], got {scalar_first!r}"
        )
    rows, known = _rows(quaternion, (4,), "quaternion")
    lengths = np.linalg.norm(rows[known], axis=1)
    wrong = np.abs(lengths - 1.0) > _TOLERANCE
    if wrong.any():
        k = int(np.argmax(wrong))
        raise ThunderError(
            f"quaternion must have unit length (to {_TOLERANCE:g}), got length {lengths[k]:g} in row "
            f"{int(np.flatnonzero(known)[k])}"
        )
    valid = rows[known]
    return _spread(known, lambda: Rotation.from_quat(np.roll(valid, -1, axis=1) if scalar_first else valid))


def from_euler(euler: npt.ArrayLike, sequence: object) -> Array:
    """Return continuous rotation vectors (T, 3) [rad] of Euler angles (T, 3) [rad], NaN where one is NaN."""
    from scipy.spatial.transform import Rotation

    name: Any = check_sequence(sequence)
    rows, known = _rows(euler, (3,), "euler")
    largest = float(np.abs(rows[known]).max(initial=0.0))
    if largest > _MOST_TURNS * _TURN:
        raise ThunderError(
            f"euler must be angles within {_MOST_TURNS} turns, got {largest:g} rad; pass angle_unit='deg' for degrees"
        )
    return _spread(known, lambda: Rotation.from_euler(name, rows[known]))


def from_matrices(matrix: npt.ArrayLike) -> Array:
    """Return continuous rotation vectors (T, 3) [rad] of rotation matrices (T, 3, 3), NaN where one has a NaN."""
    from scipy.spatial.transform import Rotation

    rows, known = _rows(matrix, (3, 3), "matrix")
    valid = rows[known]
    error = np.abs(np.swapaxes(valid, 1, 2) @ valid - np.eye(3)).max(axis=(1, 2), initial=0.0)
    wrong = (error > _TOLERANCE) | (np.linalg.det(valid) < 0.0)
    if wrong.any():
        k = int(np.flatnonzero(known)[np.argmax(wrong)])
        raise ThunderError(f"matrix must hold rotations (to {_TOLERANCE:g}), got {rows[k].tolist()} in row {k}")
    return _spread(known, lambda: Rotation.from_matrix(valid))


def continuous_rotation_vectors(rotations: Rotation) -> Array:
    """Return rotation vectors (T, 3) [rad], each on the branch nearest to its predecessor.

    ``log R`` has length at most pi and jumps from ``pi n`` to ``-pi n`` where a motion passes half a turn. The same
    rotation is ``(theta + 2 pi k) n`` for any integer k; k minimizes the distance to the predecessor. The first
    vector has length at most pi.

    Notes
    -----
    The coordinates are singular at a whole turn, where the Jacobian of the exponential map loses rank. They change
    fast along a motion that passes close to a whole turn, as any three coordinates of rotations do at a singularity.
    """
    from ..spatial import continuous

    return continuous(rotations.as_rotvec().reshape(-1, 3))
