"""Rigid transforms out of angles, lengths and Denavit-Hartenberg rows."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from .errors import ModelError, nearest_hint

__all__ = [
    "DH_CONVENTIONS",
    "cos_sin",
    "dh_chain",
    "dh_transform",
    "pose_from_rpy",
    "rotation_about",
    "rpy_from_rotation",
]

Array = npt.NDArray[np.float64]
DH_CONVENTIONS = ("modified", "standard")
_SNAP = 1e-11


def cos_sin(angle: float) -> tuple[float, float]:
    """Cosine and sine, exact at multiples of a quarter turn.

    ``cos(pi / 2)`` is 6e-17 in floating point. An exact zero there lets the symbolic model drop whole terms, so
    angles within 1e-11 rad of a quarter turn (pi written to eleven decimals) count as one.
    """
    quarter = round(angle / (math.pi / 2))
    if abs(angle - quarter * (math.pi / 2)) <= _SNAP * max(1.0, abs(quarter)):
        return ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))[quarter % 4]
    return math.cos(angle), math.sin(angle)


def rotation_about(axis: str, angle: float) -> Array:
    """Rotation matrix (3, 3) about ``"x"``, ``"y"`` or ``"z"`` by `angle` [rad]."""
    c, s = cos_sin(angle)
    i = "xyz".index(axis)
    j, k = (i + 1) % 3, (i + 2) % 3
    R = np.eye(3)
    R[j, j] = R[k, k] = c
    R[j, k], R[k, j] = -s, s
    return R + 0.0  # no negative zeros in files


def pose_from_rpy(translation: npt.ArrayLike, rpy: npt.ArrayLike = (0.0, 0.0, 0.0)) -> Array:
    """Pose (4, 4) from a translation [m] and roll, pitch, yaw [rad]: ``R = Rz(yaw) Ry(pitch) Rx(roll)``."""
    roll, pitch, yaw = np.asarray(rpy, dtype=np.float64)
    T = np.eye(4)
    T[:3, :3] = rotation_about("z", yaw) @ rotation_about("y", pitch) @ rotation_about("x", roll) + 0.0
    T[:3, 3] = translation
    return T


def rpy_from_rotation(R: Array) -> Array:
    """Roll, pitch, yaw [rad] of a rotation matrix; roll is zero where pitch is a quarter turn and leaves it free."""
    if abs(R[2, 0]) > 1.0 - 1e-15:
        return np.array([0.0, np.arcsin(-R[2, 0]), np.arctan2(-R[0, 1], R[1, 1])])
    return np.array([np.arctan2(R[2, 1], R[2, 2]), np.arcsin(-R[2, 0]), np.arctan2(R[1, 0], R[0, 0])])


def _screw(axis: str, length: float, angle: float) -> Array:
    """Slide along and turn about one axis; the two commute."""
    T = np.eye(4)
    T[:3, :3] = rotation_about(axis, angle)
    T["xyz".index(axis), 3] = length
    return T


def dh_transform(row: npt.ArrayLike, convention: str = "modified") -> Array:
    """Link transform (4, 4) of one row ``[a, alpha, d, theta]`` with the joint at zero.

    Parameters
    ----------
    row : (4,) array_like
        ``[a, alpha, d, theta]`` [m, rad].
    convention : {"modified", "standard"}
        ``modified`` (Craig): ``Tr_x(a) Rot_x(alpha) Tr_z(d) Rot_z(theta)``; ``standard`` (distal):
        ``Rot_z(theta) Tr_z(d) Tr_x(a) Rot_x(alpha)``.
    """
    a, alpha, d, theta = np.asarray(row, dtype=np.float64)
    along_x, along_z = _screw("x", a, alpha), _screw("z", d, theta)
    if convention == "modified":
        return along_x @ along_z + 0.0
    if convention == "standard":
        return along_z @ along_x + 0.0
    raise ModelError(
        f"DH convention must be one of {', '.join(DH_CONVENTIONS)}, got {convention!r}"
        + nearest_hint(str(convention), DH_CONVENTIONS)
    )


def dh_chain(dh: npt.ArrayLike, convention: str = "modified") -> tuple[Array, Array, Array]:
    """Placements, axes and offsets of a DH table.

    Every joint moves along or about the z axis of the frame its row starts from (``standard``) or ends in
    (``modified``), so the constant transform stands wholly behind or wholly before the motion: ``Rot_z`` and ``Tr_z``
    commute.

    Parameters
    ----------
    dh : (n, 4) array_like
        Rows ``[a, alpha, d, theta]``.
    convention : {"modified", "standard"}
        See `dh_transform`.

    Returns
    -------
    placements : (n, 4, 4) array
        Constant transforms before the joint's motion.
    axes : (n, 3) array
        Joint axes, all z.
    offsets : (n, 4, 4) array
        Constant transforms after the joint's motion.
    """
    rows = np.asarray(dh, dtype=np.float64)
    constant = np.array([dh_transform(row, convention) for row in rows]).reshape(-1, 4, 4)
    identity = np.tile(np.eye(4), (len(rows), 1, 1))
    axes = np.tile((0.0, 0.0, 1.0), (len(rows), 1))
    return (constant, axes, identity) if convention == "modified" else (identity, axes, constant)
