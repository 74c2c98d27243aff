"""Rotations, rotation vectors, poses and Denavit-Hartenberg transforms."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from .checks import ROTATION_TOLERANCE, Array, numbers, points
from .errors import ModelError, ThunderError, nearest_hint

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation

__all__ = [
    "DH_CONVENTIONS",
    "EULER_SEQUENCES",
    "angular_acceleration",
    "angular_jerk",
    "angular_velocity",
    "axis_angle_from_rotation",
    "continuous",
    "cos_sin",
    "dh_chain",
    "dh_transform",
    "euler_from_rotation",
    "euler_jacobian",
    "exp",
    "from_reference",
    "karcher_mean",
    "left_jacobian",
    "log",
    "pose_from_rpy",
    "quaternion_from_rotation",
    "quaternion_jacobian",
    "right_jacobian",
    "rotation_about",
    "rotation_from_axis_angle",
    "rotation_from_euler",
    "rotation_from_quaternion",
    "rpy_from_rotation",
    "to_reference",
]

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
    i = "xyz".index(axis)
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
    roll, pitch, yaw = np.asarray(rpy, dtype=np.float64)
    T = np.eye(4)
    T[:3, :3] = rotation_about("z", yaw) @ rotation_about("y", pitch) @ rotation_about("x", roll) + 0.0
    T[:3, 3] = translation
    return T


def rpy_from_rotation(R: Array) -> Array:
    """Return roll, pitch, yaw of a rotation matrix; at a pitch of a quarter turn (singularity) roll is zero.

    Parameters
    ----------
    R : (3, 3) array
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
    ModelError
        If the convention is unknown.

    Examples
    --------
    >>> from thunder_py.spatial import dh_transform
    >>> dh_transform([0.5, 0, 0.2, 0])[:3, 3].tolist()
    [0.5, 0.0, 0.2]
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
    rows = np.asarray(dh, dtype=np.float64)
    constant = np.array([dh_transform(row, convention) for row in rows]).reshape(-1, 4, 4)
    identity = np.tile(np.eye(4), (len(rows), 1, 1))
    axes = np.tile((0.0, 0.0, 1.0), (len(rows), 1))
    return (constant, axes, identity) if convention == "modified" else (identity, axes, constant)


#: sequences of Euler angles: rotations about moving axes, one after the other
EULER_SEQUENCES = ("ZYZ", "ZYX")


def _sequence(sequence: str) -> Literal["ZYZ", "ZYX"]:
    if sequence not in EULER_SEQUENCES:
        raise ModelError(f"sequence must be one of {', '.join(EULER_SEQUENCES)}, got {sequence!r}")
    return "ZYZ" if sequence == "ZYZ" else "ZYX"


def _rotations(R: npt.ArrayLike) -> Rotation:
    from scipy.spatial.transform import Rotation

    matrices = points(R, "R", (3, 3))
    if (
        not np.isfinite(matrices).all()
        or np.abs(matrices @ matrices.swapaxes(-1, -2) - np.eye(3)).max(initial=0.0) > 1e-6
    ):
        raise ModelError(f"R must hold orthonormal rotation matrices (to {ROTATION_TOLERANCE:g})")
    if (np.linalg.det(matrices) < 0.0).any():
        raise ModelError("R must hold rotations, got a reflection")
    return Rotation.from_matrix(matrices.reshape(-1, 3, 3))


def _finite_points(value: npt.ArrayLike, what: str, tail: tuple[int, ...]) -> Array:
    result = points(value, what, tail)
    if not np.isfinite(result).all():
        raise ModelError(f"{what} must be finite, got {result.tolist()!r:.80}")
    return result


def rotation_from_euler(angles: npt.ArrayLike, sequence: str = "ZYX") -> Array:
    """Convert Euler angles to rotation matrices.

    Parameters
    ----------
    angles : (..., 3) array_like
        Angles phi, theta, psi in the order of the sequence [rad].
    sequence : {"ZYX", "ZYZ"}
        Rotations about the moving axes: ``R = Rz(phi) Ry(theta) Rx(psi)``, whose angles are yaw, pitch and roll, or
        ``R = Rz(phi) Ry(theta) Rz(psi)``.

    Returns
    -------
    (..., 3, 3) ndarray
        Rotation matrices.

    Raises
    ------
    ModelError
        For another sequence, and for angles that are not finite.

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.spatial import rotation_from_euler
    >>> np.round(rotation_from_euler([np.pi / 2, 0.0, 0.0]), 12).tolist()
    [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    """
    from scipy.spatial.transform import Rotation

    a = _finite_points(angles, "angles", (3,))
    R: Array = Rotation.from_euler(_sequence(sequence), a.reshape(-1, 3)).as_matrix()
    return R.reshape(*a.shape[:-1], 3, 3)


def euler_from_rotation(R: npt.ArrayLike, sequence: str = "ZYX") -> Array:
    """Convert rotation matrices to Euler angles.

    Parameters
    ----------
    R : (..., 3, 3) array_like
        Rotation matrices.
    sequence : {"ZYX", "ZYZ"}
        See `rotation_from_euler`.

    Returns
    -------
    (..., 3) ndarray
        phi, theta, psi [rad]; theta in [-pi/2, pi/2] (ZYX) or [0, pi] (ZYZ), the others in (-pi, pi]. At the
        singularities of the sequence only the sum or difference of phi and psi is defined, and psi is zero.

    Raises
    ------
    ModelError
        For another sequence, and for matrices that are no rotations.

    Examples
    --------
    >>> from thunder_py.spatial import euler_from_rotation, rotation_from_euler
    >>> [round(float(angle), 3) for angle in euler_from_rotation(rotation_from_euler([0.3, -0.2, 0.1]))]
    [0.3, -0.2, 0.1]
    """
    rotations = _rotations(R)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Gimbal lock", UserWarning)
        angles: Array = rotations.as_euler(_sequence(sequence))
    return angles.reshape(np.shape(R)[:-1])


def euler_jacobian(angles: npt.ArrayLike, sequence: str = "ZYX") -> Array:
    """Return T with omega = T d(angles)/dt, the angular velocity in the fixed frame.

    Parameters
    ----------
    angles : (..., 3) array_like
        phi, theta, psi [rad], see `rotation_from_euler`.
    sequence : {"ZYX", "ZYZ"}
        Sequence of the angles.

    Returns
    -------
    (..., 3, 3) ndarray
        Columns are the axes of the three rotations. Singular at cos(theta) = 0 (ZYX) and sin(theta) = 0 (ZYZ).

    Raises
    ------
    ModelError
        For another sequence, and for angles that are not finite.

    Notes
    -----
    With the geometric Jacobian ``J = [J_p; J_o]`` the analytic one is ``[J_p; T^-1 J_o]`` (Siciliano et al., Robotics,
    section 3.6).

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.spatial import euler_jacobian
    >>> np.round(euler_jacobian([0.0, 0.0, 0.0], "ZYZ"), 12).tolist()
    [[0.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 0.0, 1.0]]
    """
    _sequence(sequence)
    a = _finite_points(angles, "angles", (3,))
    (s1, s2), (c1, c2) = np.sin(np.moveaxis(a, -1, 0))[:2], np.cos(np.moveaxis(a, -1, 0))[:2]
    zero, one = np.zeros_like(s1), np.ones_like(s1)
    third = (c1 * s2, s1 * s2, c2) if sequence == "ZYZ" else (c1 * c2, s1 * c2, -s2)
    return np.stack([np.stack(column, -1) for column in ((zero, zero, one), (-s1, c1, zero), third)], -1) + 0.0


def rotation_from_axis_angle(axis: npt.ArrayLike, angle: npt.ArrayLike) -> Array:
    """Convert unit axes and angles to rotation matrices.

    Parameters
    ----------
    axis : (..., 3) array_like
        Unit vectors.
    angle : (...) array_like
        Angles [rad].

    Returns
    -------
    (..., 3, 3) ndarray
        Rotation matrices; angular velocity and rates of ``angle * axis`` are related by `left_jacobian`.

    Raises
    ------
    ModelError
        For axes that are not of unit length (to 1e-6).

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.spatial import rotation_from_axis_angle
    >>> np.round(rotation_from_axis_angle([1.0, 0.0, 0.0], np.pi / 2), 12).tolist()
    [[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]]
    """
    u, theta = _finite_points(axis, "axis", (3,)), numbers(angle, "angle")
    if np.abs(np.linalg.norm(u, axis=-1) - 1.0).max(initial=0.0) > ROTATION_TOLERANCE:
        raise ModelError(f"axis must have unit length, got {np.asarray(axis).tolist()!r:.80}")
    return exp(theta[..., None] * u)


def axis_angle_from_rotation(R: npt.ArrayLike) -> tuple[Array, Array]:
    """Convert rotation matrices to unit axes and angles.

    Parameters
    ----------
    R : (..., 3, 3) array_like
        Rotation matrices.

    Returns
    -------
    axis : (..., 3) ndarray
        Unit vectors; z where the angle is zero.
    angle : (...) ndarray
        Angles in [0, pi] [rad].

    Raises
    ------
    ModelError
        For matrices that are no rotations.

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.spatial import axis_angle_from_rotation, rotation_from_axis_angle
    >>> axis, angle = axis_angle_from_rotation(rotation_from_axis_angle([0.0, 0.6, 0.8], 2.0))
    >>> np.round(axis, 6).tolist(), round(float(angle), 6)
    ([0.0, 0.6, 0.8], 2.0)
    """
    phi = _rotations(R).as_rotvec().reshape(np.shape(R)[:-1])
    angle = np.linalg.norm(phi, axis=-1)
    still = angle == 0.0
    axis = np.where(still[..., None], (0.0, 0.0, 1.0), phi / np.where(still, 1.0, angle)[..., None])
    return axis, np.asarray(angle)


def _scalar_last(q: Array, scalar_first: bool) -> Array:
    return np.roll(q, -1, axis=-1) if scalar_first else q


def rotation_from_quaternion(quaternion: npt.ArrayLike, *, scalar_first: bool) -> Array:
    """Convert unit quaternions to rotation matrices.

    Parameters
    ----------
    quaternion : (..., 4) array_like
        Unit quaternions (to 1e-6).
    scalar_first : bool
        Whether the order is [w, x, y, z] or [x, y, z, w]; there is no default, as both are in use.

    Returns
    -------
    (..., 3, 3) ndarray
        Rotation matrices.

    Raises
    ------
    ModelError
        For quaternions that are not of unit length.

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.spatial import rotation_from_quaternion
    >>> np.round(rotation_from_quaternion([0.0, 0.0, 0.0, 1.0], scalar_first=False), 12).tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    from scipy.spatial.transform import Rotation

    q = _finite_points(quaternion, "quaternion", (4,))
    if np.abs(np.linalg.norm(q, axis=-1) - 1.0).max(initial=0.0) > ROTATION_TOLERANCE:
        raise ModelError(f"quaternion must have unit length, got {q.tolist()!r:.80}")
    R: Array = Rotation.from_quat(_scalar_last(q, scalar_first).reshape(-1, 4)).as_matrix()
    return R.reshape(*q.shape[:-1], 3, 3)


def quaternion_from_rotation(R: npt.ArrayLike, *, scalar_first: bool) -> Array:
    """Convert rotation matrices to unit quaternions with a scalar part that is not negative.

    Parameters
    ----------
    R : (..., 3, 3) array_like
        Rotation matrices.
    scalar_first : bool
        Whether the order is [w, x, y, z] or [x, y, z, w].

    Returns
    -------
    (..., 4) ndarray
        Unit quaternions.

    Raises
    ------
    ModelError
        For matrices that are no rotations.

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.spatial import quaternion_from_rotation
    >>> np.round(quaternion_from_rotation(np.diag([1.0, -1.0, -1.0]), scalar_first=True), 12).tolist()
    [0.0, 1.0, 0.0, 0.0]
    """
    q: Array = _rotations(R).as_quat(canonical=True).reshape(*np.shape(R)[:-2], 4)
    return np.roll(q, 1, axis=-1) if scalar_first else q


def quaternion_jacobian(quaternion: npt.ArrayLike, *, scalar_first: bool) -> Array:
    """Return E with d(quaternion)/dt = E omega, the angular velocity in the fixed frame.

    Parameters
    ----------
    quaternion : (..., 4) array_like
        Unit quaternions.
    scalar_first : bool
        Whether the order is [w, x, y, z] or [x, y, z, w].

    Returns
    -------
    (..., 4, 3) ndarray
        ``4 E' E`` is the identity, so that ``omega = 4 E' d(quaternion)/dt``.

    Raises
    ------
    ModelError
        For numbers that are not finite.

    Examples
    --------
    >>> from thunder_py.spatial import quaternion_jacobian
    >>> quaternion_jacobian([1.0, 0.0, 0.0, 0.0], scalar_first=True).tolist()
    [[0.0, 0.0, 0.0], [0.5, 0.0, 0.0], [0.0, 0.5, 0.0], [0.0, 0.0, 0.5]]
    """
    q = _finite_points(quaternion, "quaternion", (4,))
    x, y, z, w = np.moveaxis(_scalar_last(q, scalar_first), -1, 0)
    rows = [(w, z, -y), (-z, w, x), (y, -x, w), (-x, -y, -z)]
    E = 0.5 * np.stack([np.stack(row, -1) for row in rows], -2) + 0.0  # no negative zeros
    return np.roll(E, 1, axis=-2) if scalar_first else E


#: terms of the series, used below u = 1: the first neglected term is 1/26!
_TERMS = 12
#: largest deviation from orthonormality: matrices may be rounded to a few digits
_TOLERANCE = 1e-3


def exp(phi: npt.ArrayLike) -> Array:
    """Return rotation matrices of rotation vectors; NaN gives NaN.

    Parameters
    ----------
    phi : (..., 3) array_like
        Rotation vectors, axis times angle [rad].

    Returns
    -------
    (..., 3, 3) array

    Examples
    --------
    >>> from thunder_py.spatial import exp
    >>> exp([0.1, -0.2, 0.3]).round(3).tolist()
    [[0.936, -0.303, -0.181], [0.283, 0.951, -0.127], [0.21, 0.068, 0.975]]
    """
    from scipy.spatial.transform import Rotation

    vectors = points(phi, "phi")
    return Rotation.from_rotvec(vectors.reshape(-1, 3)).as_matrix().reshape(*vectors.shape, 3)


def log(R: npt.ArrayLike) -> Array:
    """Return rotation vectors of rotation matrices; NaN gives NaN.

    Parameters
    ----------
    R : (..., 3, 3) array_like
        Rotation matrices, orthonormal to 1e-3.

    Returns
    -------
    (..., 3) array
        Rotation vectors [rad] of length pi at most.

    Raises
    ------
    ThunderError
        If a matrix is not a rotation.

    Examples
    --------
    >>> from thunder_py.spatial import exp, log
    >>> log(exp([0.1, -0.2, 0.3])).round(6).tolist()
    [0.1, -0.2, 0.3]
    """
    from scipy.spatial.transform import Rotation

    matrices = points(R, "R", (3, 3))
    flat = matrices.reshape(-1, 3, 3)
    known = ~np.isnan(flat).any(axis=(1, 2))
    if np.isinf(flat).any() or (np.abs(flat[known]) > 2.0).any():  # before products overflow
        raise ThunderError("R must hold rotations, got entries far from [-1, 1]")
    off = np.abs(np.swapaxes(flat[known], 1, 2) @ flat[known] - np.eye(3)).max(axis=(1, 2), initial=0.0)
    wrong = (off > _TOLERANCE) | (np.linalg.det(flat[known]) < 0.0)
    if wrong.any():
        raise ThunderError(f"R must hold rotations (to {_TOLERANCE:g}), got {flat[known][np.argmax(wrong)].tolist()}")
    result = np.full((len(flat), 3), np.nan)
    if known.any():  # SciPy refuses empty arrays
        result[known] = Rotation.from_matrix(flat[known]).as_rotvec()
    return result.reshape(matrices.shape[:-1])


def left_jacobian(phi: npt.ArrayLike) -> Array:
    """Return the left Jacobian J_l of SO(3): angular velocity in world axes is J_l dphi/dt.

    Parameters
    ----------
    phi : (..., 3) array_like
        Rotation vectors [rad].

    Returns
    -------
    (..., 3, 3) array

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.spatial import angular_velocity, left_jacobian
    >>> phi, dphi = np.array([[0.4, -0.3, 0.2], [1.0, 0.5, -0.1]])
    >>> np.allclose(left_jacobian(phi) @ dphi, angular_velocity(phi, dphi))
    True
    """
    return _jacobian(points(phi, "phi"), 1.0)


def right_jacobian(phi: npt.ArrayLike) -> Array:
    """Return the right Jacobian J_r of SO(3): angular velocity in body axes is J_r dphi/dt.

    Parameters
    ----------
    phi : (..., 3) array_like
        Rotation vectors [rad].

    Returns
    -------
    (..., 3, 3) array

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.spatial import exp, left_jacobian, right_jacobian
    >>> phi = [0.4, -0.3, 0.2]
    >>> np.allclose(exp(phi) @ right_jacobian(phi), left_jacobian(phi))
    True
    """
    return _jacobian(points(phi, "phi"), -1.0)


def angular_velocity(phi: npt.ArrayLike, dphi: npt.ArrayLike, *, frame: str = "world") -> Array:
    """Return the angular velocity of a rotation vector and its time derivative.

    Parameters
    ----------
    phi, dphi : (..., 3) array_like
        Rotation vector [rad] and its time derivative [rad/s].
    frame : {"world", "body"}
        Axes of the result.

    Returns
    -------
    (..., 3) array
        Angular velocity [rad/s].

    Examples
    --------
    >>> from thunder_py.spatial import angular_velocity
    >>> angular_velocity([0, 0, 0.5], [0.1, 0, 0.2]).round(4).tolist()
    [0.0959, 0.0245, 0.2]
    >>> angular_velocity([0, 0, 0.5], [0.1, 0, 0.2], frame="body").round(4).tolist()
    [0.0959, -0.0245, 0.2]
    """
    p, dp = _together(phi=phi, dphi=dphi)
    (a, *_), (b, *_) = _stumpff(p)
    cross = np.cross(p, dp)
    return np.asarray(dp + _sign(frame) * a * cross + b * np.cross(p, cross))


def angular_acceleration(
    phi: npt.ArrayLike, dphi: npt.ArrayLike, ddphi: npt.ArrayLike, *, frame: str = "world"
) -> Array:
    """Return the angular acceleration, the time derivative of `angular_velocity` in the same axes.

    Parameters
    ----------
    phi, dphi, ddphi : (..., 3) array_like
        Rotation vector [rad] and its time derivatives [rad/s, rad/s^2].
    frame : {"world", "body"}
        Axes of the result.

    Returns
    -------
    (..., 3) array
        Angular acceleration [rad/s^2].

    Examples
    --------
    >>> from thunder_py.spatial import angular_acceleration
    >>> angular_acceleration([0, 0, 0.5], [0, 0, 0.2], [0, 0, 1.0]).round(4).tolist()
    [0.0, 0.0, 1.0]
    """
    p, dp, ddp = _together(phi=phi, dphi=dphi, ddphi=ddphi)
    (a, a_u, _), (b, b_u, _) = _stumpff(p)
    du = 2.0 * _dot(p, dp)
    e, de = np.cross(p, dp), np.cross(p, ddp)
    f, df = np.cross(p, e), np.cross(dp, e) + np.cross(p, de)
    return np.asarray(ddp + _sign(frame) * (a_u * du * e + a * de) + b_u * du * f + b * df)


def angular_jerk(
    phi: npt.ArrayLike, dphi: npt.ArrayLike, ddphi: npt.ArrayLike, d3phi: npt.ArrayLike, *, frame: str = "world"
) -> Array:
    """Return the angular jerk, the second time derivative of `angular_velocity` in the same axes.

    Parameters
    ----------
    phi, dphi, ddphi, d3phi : (..., 3) array_like
        Rotation vector [rad] and its time derivatives [rad/s, rad/s^2, rad/s^3].
    frame : {"world", "body"}
        Axes of the result.

    Returns
    -------
    (..., 3) array
        Angular jerk [rad/s^3].

    Examples
    --------
    >>> from thunder_py.spatial import angular_jerk
    >>> angular_jerk([0, 0, 0.5], [0, 0, 0.2], [0, 0, 1.0], [0, 0, 3.0]).round(4).tolist()
    [0.0, 0.0, 3.0]
    """
    p, dp, ddp, d3p = _together(phi=phi, dphi=dphi, ddphi=ddphi, d3phi=d3phi)
    (a, a_u, a_uu), (b, b_u, b_uu) = _stumpff(p)
    du, ddu = 2.0 * _dot(p, dp), 2.0 * (_dot(dp, dp) + _dot(p, ddp))
    da, dda = a_u * du, a_uu * du**2 + a_u * ddu
    db, ddb = b_u * du, b_uu * du**2 + b_u * ddu
    e, de, dde = np.cross(p, dp), np.cross(p, ddp), np.cross(dp, ddp) + np.cross(p, d3p)
    f, df = np.cross(p, e), np.cross(dp, e) + np.cross(p, de)
    ddf = np.cross(ddp, e) + 2.0 * np.cross(dp, de) + np.cross(p, dde)
    first = dda * e + 2.0 * da * de + a * dde
    return np.asarray(d3p + _sign(frame) * first + ddb * f + 2.0 * db * df + b * ddf)


def karcher_mean(phi: npt.ArrayLike, weights: npt.ArrayLike | None = None) -> Array:
    """Return the Karcher mean of rotations: the rotation with the least sum of squared angles to them.

    Parameters
    ----------
    phi : (N, 3) array_like
        Rotation vectors [rad].
    weights : (N,) array_like, optional
        Weights, not negative; default equal.

    Returns
    -------
    (3,) array
        Rotation vector of the mean [rad].

    Raises
    ------
    ThunderError
        If the rotations are too far apart for convergence. Within pi/2 of one rotation there is exactly one mean.

    Examples
    --------
    >>> from thunder_py.spatial import karcher_mean
    >>> karcher_mean([[0, 0, 0.1], [0, 0, 0.5]], weights=[3, 1])[2].round(6).item()
    0.2
    """
    from scipy.spatial.transform import Rotation

    vectors = points(phi, "phi")
    if vectors.ndim != 2 or not len(vectors):
        raise ThunderError(f"phi must have shape (N, 3), N >= 1, got {vectors.shape}")
    if not np.isfinite(vectors).all():
        raise ThunderError("phi must be finite: leave gaps out before taking a mean")
    w = np.ones(len(vectors)) if weights is None else numbers(weights, "weights")
    if w.shape != (len(vectors),) or (w < 0.0).any() or not w.sum() > 0.0:
        raise ThunderError(f"weights must be {len(vectors)} numbers that are not negative, got {weights!r}")
    rotations = Rotation.from_rotvec(vectors)
    mean = rotations.mean(w)  # initial value: the chordal mean
    for _ in range(50):
        step = (w @ (mean.inv() * rotations).as_rotvec()) / w.sum()
        mean = mean * Rotation.from_rotvec(step)
        if np.abs(step).max() < 1e-14:
            break
    else:
        if np.abs(step).max() > 1e-9:
            raise ThunderError("phi must hold rotations within pi/2 of one rotation, got no convergence to a mean")
    return np.asarray(mean.as_rotvec())


def to_reference(phi: npt.ArrayLike, reference: npt.ArrayLike) -> Array:
    """Return rotation vectors log(R_ref' R) of motions relative to a reference, without jumps.

    With the mean or the start of a motion as reference the angles stay far from pi, where rotation vectors jump.

    Parameters
    ----------
    phi : (..., T, 3) array_like
        Rotation vectors of motions [rad]; rows with NaN (gaps) stay NaN.
    reference : (3,) array_like
        Rotation vector of the reference [rad].

    Returns
    -------
    (..., T, 3) array

    Examples
    --------
    >>> from thunder_py.spatial import from_reference, to_reference
    >>> motion, start = [[0, 0, 0.4], [0, 0, 0.6]], [0, 0, 0.1]
    >>> relative = to_reference(motion, start)
    >>> relative[:, 2].round(6).tolist(), from_reference(relative, start)[:, 2].round(6).tolist()
    ([0.3, 0.5], [0.4, 0.6])
    """
    from scipy.spatial.transform import Rotation

    vectors, start = points(phi, "phi"), points(reference, "reference")
    if start.shape != (3,) or not np.isfinite(start).all():
        raise ThunderError(f"reference must be one finite rotation vector (3,), got {start.tolist()}")
    flat, relative = vectors.reshape(-1, 3), np.full((vectors.size // 3, 3), np.nan)
    known = np.isfinite(flat).all(axis=1)
    if known.any():  # SciPy refuses empty arrays
        relative[known] = (Rotation.from_rotvec(start).inv() * Rotation.from_rotvec(flat[known])).as_rotvec()
    return continuous(relative.reshape(vectors.shape))


def from_reference(phi: npt.ArrayLike, reference: npt.ArrayLike) -> Array:
    """Return log(R_ref R), the inverse of `to_reference`, without jumps.

    Parameters
    ----------
    phi : (..., T, 3) array_like
        Rotation vectors relative to the reference [rad].
    reference : (3,) array_like
        Rotation vector of the reference [rad].

    Returns
    -------
    (..., T, 3) array

    Examples
    --------
    >>> from thunder_py.spatial import from_reference
    >>> from_reference([[0, 0, 0.1], [0, 0, 0.2]], [0, 0, 0.4])[:, 2].round(6).tolist()
    [0.5, 0.6]
    """
    return to_reference(phi, -points(reference, "reference"))


def continuous(phi: npt.ArrayLike) -> Array:
    """Return rotation vectors of the same rotations without jumps over T.

    phi and phi (1 + 2 pi k / |phi|) are the same rotation; every vector is replaced by the one nearest to its
    predecessor. The first stays. NaN rows stay; the next row is compared with the last one before the gap.

    Parameters
    ----------
    phi : (..., T, 3) array_like
        Rotation vectors [rad].

    Returns
    -------
    (..., T, 3) array

    Examples
    --------
    >>> from thunder_py.spatial import continuous
    >>> continuous([[0, 0, 3.1], [0, 0, -3.1]])[:, 2].round(4).tolist()
    [3.1, 3.1832]
    """
    vectors = points(phi, "phi")
    if vectors.ndim < 2:
        raise ThunderError(f"phi must have shape (..., T, 3), got {vectors.shape}")
    motions = vectors.reshape(-1, *vectors.shape[-2:]) if vectors.size else vectors[:0]
    for motion in motions:
        valid = np.isfinite(motion).all(axis=-1)
        steps = np.diff(motion[valid], axis=0)
        if (np.linalg.norm(steps, axis=-1) > 0.5 * np.pi).any():  # otherwise every vector is the nearest already
            motion[valid] = _branch(motion[valid])
    return vectors


def _branch(motion: Array) -> Array:
    for i in range(1, len(motion)):
        before, angle = motion[i - 1], float(np.linalg.norm(motion[i]))
        if angle > 1e-9:
            axis = motion[i] / angle
        elif (far := float(np.linalg.norm(before))) > np.pi:  # the identity: zero or whole turns about the last axis
            axis = before / far
        else:
            continue
        motion[i] = motion[i] + 2.0 * np.pi * np.round((before @ axis - motion[i] @ axis) / (2.0 * np.pi)) * axis
    return motion


def _together(**arguments: npt.ArrayLike) -> tuple[Array, ...]:
    """Return vectors (..., 3) if their shapes broadcast."""
    vectors = [points(value, what) for what, value in arguments.items()]
    try:
        np.broadcast_shapes(*(vector.shape for vector in vectors))
    except ValueError:
        shapes = ", ".join(str(vector.shape) for vector in vectors)
        raise ThunderError(f"{', '.join(arguments)} must have one shape, got {shapes}") from None
    return tuple(vectors)


def _sign(frame: str) -> float:
    if frame not in ("world", "body"):
        raise ThunderError(f'frame must be "world" or "body", got {frame!r}')
    return 1.0 if frame == "world" else -1.0


def _dot(a: Array, b: Array) -> Array:
    return np.asarray((a * b).sum(axis=-1, keepdims=True))


def _jacobian(p: Array, sign: float) -> Array:
    (a, *_), (b, *_) = _stumpff(p)
    X = np.cross(p[..., None, :], np.eye(3)).swapaxes(-1, -2)
    return np.asarray(np.eye(3) + sign * a[..., None] * X + b[..., None] * (X @ X))


def _stumpff(p: Array) -> tuple[tuple[Array, Array, Array], tuple[Array, Array, Array]]:
    """Return the Stumpff functions c_2 and c_3 of u = |p|^2 with two derivatives by u, each (..., 1)."""
    u = _dot(p, p)
    small = u < 1.0
    near, far = np.where(small, u, 0.0), np.where(small, 1.0, u)
    series = [[_series(near, k, order) for order in range(3)] for k in (2, 3)]
    root = np.sqrt(far)
    # dc_k/du = (c_(k-1) - k c_k) / (2 u)
    c = [np.cos(root), np.sin(root) / root, (1.0 - np.cos(root)) / far, (root - np.sin(root)) / (far * root)]
    d1 = [np.zeros_like(u)] + [(c[k - 1] - k * c[k]) / (2.0 * far) for k in (1, 2, 3)]
    d2 = [(d1[k - 1] - (k + 2) * d1[k]) / (2.0 * far) for k in (2, 3)]
    a, b = (
        tuple(np.where(small, s, closed) for s, closed in zip(series[i], (c[i + 2], d1[i + 2], d2[i]), strict=True))
        for i in (0, 1)
    )
    return (a[0], a[1], a[2]), (b[0], b[1], b[2])


def _series(u: Array, k: int, order: int) -> Array:
    """Evaluate the series c_k(u) = sum_j (-u)^j / (k + 2j)!, differentiated `order` times."""
    result = np.zeros_like(u)
    for j in range(_TERMS + order, order - 1, -1):
        result = result * u + (-1.0) ** j * math.perm(j, order) / math.factorial(k + 2 * j)
    return result
