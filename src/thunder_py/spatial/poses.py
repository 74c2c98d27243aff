"""Rotations about coordinate axes, poses, Denavit-Hartenberg transforms."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from ..checks import Array, array, finite, one_of, rotation

DH_CONVENTIONS = ("modified", "standard")
_SNAP = 1e-11


def cos_sin(angle: float) -> tuple[float, float]:
    """Return cosine and sine, exact at multiples of a quarter turn.

    ``cos(pi / 2)`` is 6e-17 in floating point; with an exact zero the symbolic model drops whole terms. Angles within
    1e-11 rad of a quarter turn (pi written to eleven decimals) are treated as one.

    Parameters
    ----------
    angle : float
        Angle [rad].

    Returns
    -------
    cosine, sine : float

    Examples
    --------
    >>> import math
    >>> from thunder_py.spatial import cos_sin
    >>> cos_sin(math.pi / 2)
    (0.0, 1.0)
    """
    angle = finite(angle, "angle")
    quarter = round(angle / (math.pi / 2))
    if abs(angle - quarter * (math.pi / 2)) <= _SNAP * max(1.0, abs(quarter)):
        return ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))[quarter % 4]
    return math.cos(angle), math.sin(angle)


def rotation_about(axis: str, angle: float) -> Array:
    """Return the rotation matrix about a coordinate axis.

    Parameters
    ----------
    axis : {"x", "y", "z"}
        Axis of rotation.
    angle : float
        Angle [rad].

    Returns
    -------
    (3, 3) array

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.spatial import rotation_about
    >>> rotation_about("z", np.pi / 2).tolist()
    [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    """
    c, s = cos_sin(angle)
    i = "xyz".index(one_of(axis, ("x", "y", "z"), "axis"))
    j, k = (i + 1) % 3, (i + 2) % 3
    R = np.eye(3)
    R[j, j] = R[k, k] = c
    R[j, k], R[k, j] = -s, s
    return R + 0.0  # no negative zeros in files


def pose_from_rpy(translation: npt.ArrayLike, rpy: npt.ArrayLike = (0.0, 0.0, 0.0)) -> Array:
    """Return the pose of a translation and roll, pitch, yaw: ``R = Rz(yaw) Ry(pitch) Rx(roll)``.

    Parameters
    ----------
    translation : (3,) array_like
        Position of the origin [m].
    rpy : (3,) array_like
        Roll, pitch, yaw [rad].

    Returns
    -------
    (4, 4) array

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.spatial import pose_from_rpy
    >>> pose_from_rpy([0.1, 0.2, 0.3], [0, 0, np.pi / 2]).tolist()
    [[0.0, -1.0, 0.0, 0.1], [1.0, 0.0, 0.0, 0.2], [0.0, 0.0, 1.0, 0.3], [0.0, 0.0, 0.0, 1.0]]
    """
    roll, pitch, yaw = array(rpy, (3,), "rpy")
    T = np.eye(4)
    T[:3, :3] = rotation_about("z", yaw) @ rotation_about("y", pitch) @ rotation_about("x", roll) + 0.0
    T[:3, 3] = array(translation, (3,), "translation")
    return T


def rpy_from_rotation(R: npt.ArrayLike) -> Array:
    """Return roll, pitch, yaw of a rotation matrix; at a pitch of a quarter turn (singularity) roll is zero.

    Parameters
    ----------
    R : (3, 3) array_like
        Rotation matrix.

    Returns
    -------
    (3,) array
        Roll, pitch, yaw [rad].

    Examples
    --------
    >>> from thunder_py.spatial import pose_from_rpy, rpy_from_rotation
    >>> rpy_from_rotation(pose_from_rpy([0, 0, 0], [0.1, 0.2, 0.3])[:3, :3]).round(6).tolist()
    [0.1, 0.2, 0.3]
    """
    R = rotation(R, "R")
    if abs(R[2, 0]) > 1.0 - 1e-15:
        return np.array([0.0, np.arcsin(-R[2, 0]), np.arctan2(-R[0, 1], R[1, 1])])
    return np.array([np.arctan2(R[2, 1], R[2, 2]), np.arcsin(-R[2, 0]), np.arctan2(R[1, 0], R[0, 0])])


def _screw(axis: str, length: float, angle: float) -> Array:
    """Return the transform of a translation along and a rotation about one axis."""
    T = np.eye(4)
    T[:3, :3] = rotation_about(axis, angle)
    T["xyz".index(axis), 3] = length
    return T


def dh_transform(row: npt.ArrayLike, convention: str = "modified") -> Array:
    """Return the link transform of one Denavit-Hartenberg row with the joint at zero.

    Parameters
    ----------
    row : (4,) array_like
        ``[a, alpha, d, theta]`` [m, rad].
    convention : {"modified", "standard"}
        ``modified`` (Craig): ``Tr_x(a) Rot_x(alpha) Tr_z(d) Rot_z(theta)``; ``standard`` (distal):
        ``Rot_z(theta) Tr_z(d) Tr_x(a) Rot_x(alpha)``.

    Returns
    -------
    (4, 4) array

    Raises
    ------
    ThunderError
        If the convention is unknown.

    Examples
    --------
    >>> from thunder_py.spatial import dh_transform
    >>> dh_transform([0.5, 0, 0.2, 0])[:3, 3].tolist()
    [0.5, 0.0, 0.2]
    """
    a, alpha, d, theta = array(row, (4,), "row")
    one_of(convention, DH_CONVENTIONS, "DH convention")
    along_x, along_z = _screw("x", a, alpha), _screw("z", d, theta)
    if convention == "modified":
        return along_x @ along_z + 0.0
    return along_z @ along_x + 0.0


def dh_chain(dh: npt.ArrayLike, convention: str = "modified") -> tuple[Array, Array, Array]:
    """Return placements, axes and offsets of a DH table.

    Every joint moves along or about the z axis of the frame at the start (``standard``) or end (``modified``) of its
    row. The constant transform is after or before the motion, respectively, because ``Rot_z`` and ``Tr_z`` commute.

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

    Examples
    --------
    >>> from thunder_py.spatial import dh_chain
    >>> placements, axes, offsets = dh_chain([[0, 0, 0.3, 0], [0.5, 0, 0, 0]])
    >>> placements[:, :3, 3].tolist(), axes.tolist()
    ([[0.0, 0.0, 0.3], [0.5, 0.0, 0.0]], [[0.0, 0.0, 1.0], [0.0, 0.0, 1.0]])
    """
    rows = array(dh, (None, 4), "dh")
    constant = np.array([dh_transform(row, convention) for row in rows]).reshape(-1, 4, 4)
    identity = np.tile(np.eye(4), (len(rows), 1, 1))
    axes = np.tile((0.0, 0.0, 1.0), (len(rows), 1))
    return (constant, axes, identity) if convention == "modified" else (identity, axes, constant)
