"""Euler angles, axis and angle, unit quaternions: conversions and Jacobians."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from ..checks import REPAIRED_TOLERANCE, ROTATION_TOLERANCE, Array, no_rotation, one_of, points, real
from ..errors import ThunderError
from .rotation_vectors import exp

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation

#: sequences of Euler angles: rotations about moving axes, one after the other
EULER_SEQUENCES = ("ZYZ", "ZYX")


def _sequence(sequence: str) -> Literal["ZYZ", "ZYX"]:
    one_of(sequence, EULER_SEQUENCES, "sequence")
    return "ZYZ" if sequence == "ZYZ" else "ZYX"


def _rotations(R: npt.ArrayLike) -> Rotation:
    from scipy.spatial.transform import Rotation

    matrices = points(R, "R", (3, 3))
    flat = matrices.reshape(-1, 3, 3)
    if not np.isfinite(flat).all():
        raise ThunderError("R must hold finite rotation matrices")
    off = np.abs(flat.swapaxes(-1, -2) @ flat - np.eye(3)).max(axis=(-2, -1), initial=0.0)
    wrong = (off > ROTATION_TOLERANCE) | (np.linalg.det(flat) < 0.0)
    if wrong.any():
        raise ThunderError(f"R must hold {no_rotation(flat[int(np.argmax(wrong))])}")
    return Rotation.from_matrix(flat)


def nearest_rotation(R: npt.ArrayLike) -> Array:
    """Return the rotation matrices that are nearest to given matrices, such as rounded ones.

    Parameters
    ----------
    R : (..., 3, 3) array_like
        Matrices; R^T R deviates from the identity by at most 0.1.

    Returns
    -------
    (..., 3, 3) array
        Of the least Frobenius norm of the difference.

    Raises
    ------
    ThunderError
        If a matrix is not finite, a reflection, or further from a rotation than rounding makes it.

    Notes
    -----
    ``U V^T`` of the singular value decomposition ``R = U S V^T`` (Higham 1988).

    Examples
    --------
    >>> from thunder_py.spatial import nearest_rotation, rotation_from_euler
    >>> R = rotation_from_euler([0.3, -0.2, 0.5]).round(3)
    >>> repaired = nearest_rotation(R)
    >>> bool(abs(repaired @ repaired.T @ R - R).max() < 1e-12), bool(abs(repaired - R).max() < 1e-3)
    (True, True)
    """
    flat = points(R, "R", (3, 3)).reshape(-1, 3, 3)
    if not np.isfinite(flat).all():
        raise ThunderError("R must hold finite matrices")
    for matrix in flat:
        wrong = no_rotation(matrix, REPAIRED_TOLERANCE)
        if wrong is not None:
            raise ThunderError(f"R must hold {wrong}")
    U, _, V = np.linalg.svd(flat)
    return np.asarray((U @ V).reshape(np.shape(R)))


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
    ThunderError
        For another sequence, and for angles that are not finite.

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.spatial import rotation_from_euler
    >>> np.round(rotation_from_euler([np.pi / 2, 0.0, 0.0]), 12).tolist()
    [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    """
    from scipy.spatial.transform import Rotation

    a = points(real(angles, "angles"), "angles")
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
    ThunderError
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
    ThunderError
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
    a = points(real(angles, "angles"), "angles")
    (s1, s2), (c1, c2) = np.sin(np.moveaxis(a, -1, 0))[:2], np.cos(np.moveaxis(a, -1, 0))[:2]
    zero, one = np.zeros_like(s1), np.ones_like(s1)
    third = (c1 * s2, s1 * s2, c2) if sequence == "ZYZ" else (c1 * c2, s1 * c2, -s2)
    return np.stack([np.stack(column, -1) for column in ((zero, zero, one), (-s1, c1, zero), third)], -1) + 0.0


def euler_jacobian_dot(angles: npt.ArrayLike, rates: npt.ArrayLike, sequence: str = "ZYX") -> Array:
    """Return the derivative of `euler_jacobian` with respect to time, for the angular acceleration.

    Parameters
    ----------
    angles, rates : (..., 3) array_like
        Angles [rad] and their derivatives [rad/s].
    sequence : {"ZYX", "ZYZ"}
        Sequence of the angles.

    Returns
    -------
    (..., 3, 3) ndarray
        T' in ``omega' = T angles'' + T' angles'``.

    Raises
    ------
    ThunderError
        For another sequence, for numbers that are not finite, and for shapes that do not broadcast.

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.spatial import euler_jacobian, euler_jacobian_dot
    >>> angles, rates, h = np.array([0.3, 0.5, -0.2]), np.array([1.0, -2.0, 0.5]), 1e-6
    >>> change = euler_jacobian(angles + h * rates, "ZYZ") - euler_jacobian(angles - h * rates, "ZYZ")
    >>> bool(abs(change / (2 * h) - euler_jacobian_dot(angles, rates, "ZYZ")).max() < 1e-9)
    True
    """
    _sequence(sequence)
    a, r = points(real(angles, "angles"), "angles"), points(real(rates, "rates"), "rates")
    try:
        a, r = np.broadcast_arrays(a, r)
    except ValueError as error:
        raise ThunderError(f"angles and rates must have shapes that broadcast, got {a.shape} and {r.shape}") from error
    (d1, d2, _), (s1, s2, _), (c1, c2, _) = (np.moveaxis(x, -1, 0) for x in (r, np.sin(a), np.cos(a)))
    zero = np.zeros_like(s1)
    side, up = (s2, c2) if sequence == "ZYZ" else (c2, -s2)  # of the third axis, (c1 side, s1 side, up)
    third = (-s1 * d1 * side + c1 * up * d2, c1 * d1 * side + s1 * up * d2, -side * d2)
    return np.stack([np.stack(column, -1) for column in ((zero, zero, zero), (-c1 * d1, -s1 * d1, zero), third)], -1)


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
    ThunderError
        For axes that are not of unit length (to 1e-6), and for angles that are not finite.

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.spatial import rotation_from_axis_angle
    >>> np.round(rotation_from_axis_angle([1.0, 0.0, 0.0], np.pi / 2), 12).tolist()
    [[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]]
    """
    u, theta = points(real(axis, "axis"), "axis"), real(angle, "angle")
    if np.abs(np.linalg.norm(u, axis=-1) - 1.0).max(initial=0.0) > ROTATION_TOLERANCE:
        raise ThunderError(f"axis must have unit length, got {np.asarray(axis).tolist()!r:.80}")
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
    ThunderError
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
    ThunderError
        For quaternions that are not of unit length.

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.spatial import rotation_from_quaternion
    >>> np.round(rotation_from_quaternion([0.0, 0.0, 0.0, 1.0], scalar_first=False), 12).tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    from scipy.spatial.transform import Rotation

    q = points(real(quaternion, "quaternion"), "quaternion", (4,))
    if np.abs(np.linalg.norm(q, axis=-1) - 1.0).max(initial=0.0) > ROTATION_TOLERANCE:
        raise ThunderError(f"quaternion must have unit length, got {q.tolist()!r:.80}")
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
    ThunderError
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
    ThunderError
        For numbers that are not finite.

    Examples
    --------
    >>> from thunder_py.spatial import quaternion_jacobian
    >>> quaternion_jacobian([1.0, 0.0, 0.0, 0.0], scalar_first=True).tolist()
    [[0.0, 0.0, 0.0], [0.5, 0.0, 0.0], [0.0, 0.5, 0.0], [0.0, 0.0, 0.5]]
    """
    q = points(real(quaternion, "quaternion"), "quaternion", (4,))
    x, y, z, w = np.moveaxis(_scalar_last(q, scalar_first), -1, 0)
    rows = [(w, z, -y), (-z, w, x), (y, -x, w), (-x, -y, -z)]
    E = 0.5 * np.stack([np.stack(row, -1) for row in rows], -2) + 0.0  # no negative zeros
    return np.roll(E, 1, axis=-2) if scalar_first else E
