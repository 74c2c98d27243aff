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


def _rows(values: npt.ArrayLike, tail: tuple[int, ...], what: str) -> Array:
    """Return an array (T, *tail) of numbers, NaN in gaps."""
    rows = numbers(values, what)
    if rows.ndim != 1 + len(tail) or rows.shape[1:] != tail:
        raise ThunderError(f"{what} must have shape (T, {', '.join(map(str, tail))}), got {rows.shape}")
    for row, *place in np.argwhere(np.abs(rows) > _LARGEST):
        value = rows[(row, *place)]
        raise ThunderError(f"{what} must be finite (at most {_LARGEST:g}), or NaN in a gap, got {value:g} in row {row}")
    return rows


def _vectors(rows: Array, make: Callable[[Array], Rotation]) -> Array:
    """Return the vectors (T, 3) of the rotations that `make` returns for rows without NaN; SciPy needs at least one."""
    known = ~np.isnan(rows).reshape(len(rows), -1).any(axis=1)
    vectors = np.full((len(rows), 3), np.nan)
    if known.any():
        vectors[known] = continuous_rotation_vectors(make(rows[known]))
    return vectors


def from_quaternions(quaternion: npt.ArrayLike, *, scalar_first: bool | None) -> Array:
    """Return continuous rotation vectors (T, 3) [rad] of unit quaternions (T, 4), NaN where one has a NaN."""
    from scipy.spatial.transform import Rotation

    if not isinstance(scalar_first, (bool, np.bool_)):
        raise ThunderError(
            f"scalar_first must be True for quaternions [w, x, y, z] or False for [x, y, z, w], got {scalar_first!r}"
        )
    rows = _rows(quaternion, (4,), "quaternion")
    lengths = np.linalg.norm(rows, axis=1)
    for k in np.flatnonzero(np.abs(lengths - 1.0) > _TOLERANCE):
        raise ThunderError(
            f"quaternion must have unit length (to {_TOLERANCE:g}), got length {lengths[k]:g} in row {k}"
        )
    return _vectors(np.roll(rows, -1, axis=1) if scalar_first else rows, Rotation.from_quat)


def from_euler(euler: npt.ArrayLike, sequence: object) -> Array:
    """Return continuous rotation vectors (T, 3) [rad] of Euler angles (T, 3) [rad], NaN where one is NaN."""
    from scipy.spatial.transform import Rotation

    name: Any = check_sequence(sequence)
    rows = _rows(euler, (3,), "euler")
    largest = float(np.abs(rows).max(initial=0.0, where=~np.isnan(rows)))
    if largest > _MOST_TURNS * _TURN:
        raise ThunderError(
            f"euler must be angles within {_MOST_TURNS} turns, got {largest:g} rad; pass angle_unit='deg' for degrees"
        )
    return _vectors(rows, lambda known: Rotation.from_euler(name, known))


def from_matrices(matrix: npt.ArrayLike) -> Array:
    """Return continuous rotation vectors (T, 3) [rad] of rotation matrices (T, 3, 3), NaN where one has a NaN."""
    from scipy.spatial.transform import Rotation

    rows = _rows(matrix, (3, 3), "matrix")
    error = np.abs(np.swapaxes(rows, 1, 2) @ rows - np.eye(3)).max(axis=(1, 2), initial=0.0)
    with np.errstate(invalid="ignore"):  # NaN in gaps
        mirrored = np.linalg.det(rows) < 0.0
    for k in np.flatnonzero((error > _TOLERANCE) | mirrored):
        raise ThunderError(f"matrix must hold rotations (to {_TOLERANCE:g}), got {rows[k].tolist()} in row {k}")
    return _vectors(rows, Rotation.from_matrix)


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
