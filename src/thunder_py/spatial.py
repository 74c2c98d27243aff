"""Rigid transforms out of angles, lengths and Denavit-Hartenberg rows."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from scipy.spatial.transform import Rotation

from .checks import Array, numbers, points
from .errors import ModelError, ThunderError, nearest_hint

__all__ = [
    "DH_CONVENTIONS",
    "angular_acceleration",
    "angular_jerk",
    "angular_velocity",
    "continuous",
    "cos_sin",
    "dh_chain",
    "dh_transform",
    "exp",
    "from_reference",
    "karcher_mean",
    "left_jacobian",
    "log",
    "pose_from_rpy",
    "right_jacobian",
    "rotation_about",
    "rpy_from_rotation",
    "to_reference",
]

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


#: terms of the series, which is used below u = 1: the first left out is 1/26!
_TERMS = 12
#: matrices may be rounded to a few digits
_TOLERANCE = 1e-3


def exp(phi: npt.ArrayLike) -> Array:
    """Rotation matrices (..., 3, 3) of rotation vectors (..., 3) [rad]; NaN where a vector has one."""
    vectors = points(phi, "phi")
    return Rotation.from_rotvec(vectors.reshape(-1, 3)).as_matrix().reshape(*vectors.shape, 3)


def log(R: npt.ArrayLike) -> Array:
    """Rotation vectors (..., 3) [rad], of length pi at most, of rotation matrices (..., 3, 3); NaN for NaN."""
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
    if known.any():  # SciPy wants one or more
        result[known] = Rotation.from_matrix(flat[known]).as_rotvec()
    return result.reshape(matrices.shape[:-1])


def left_jacobian(phi: npt.ArrayLike) -> Array:
    """J_l (..., 3, 3): angular velocity in world axes is J_l dphi/dt."""
    return _jacobian(points(phi, "phi"), 1.0)


def right_jacobian(phi: npt.ArrayLike) -> Array:
    """J_r (..., 3, 3): angular velocity in body axes is J_r dphi/dt."""
    return _jacobian(points(phi, "phi"), -1.0)


def angular_velocity(phi: npt.ArrayLike, dphi: npt.ArrayLike, *, frame: str = "world") -> Array:
    """Angular velocity (..., 3) [rad/s].

    Parameters
    ----------
    phi, dphi : array_like (..., 3)
        Rotation vector [rad] and its time derivative.
    frame : "world" or "body"
        In whose axes.
    """
    p, dp = _together(phi=phi, dphi=dphi)
    (a, *_), (b, *_) = _stumpff(p)
    cross = np.cross(p, dp)
    return np.asarray(dp + _sign(frame) * a * cross + b * np.cross(p, cross))


def angular_acceleration(
    phi: npt.ArrayLike, dphi: npt.ArrayLike, ddphi: npt.ArrayLike, *, frame: str = "world"
) -> Array:
    """Angular acceleration (..., 3) [rad/s^2], the time derivative of `angular_velocity` in the same frame."""
    p, dp, ddp = _together(phi=phi, dphi=dphi, ddphi=ddphi)
    (a, a_u, _), (b, b_u, _) = _stumpff(p)
    du = 2.0 * _dot(p, dp)
    e, de = np.cross(p, dp), np.cross(p, ddp)
    f, df = np.cross(p, e), np.cross(dp, e) + np.cross(p, de)
    return np.asarray(ddp + _sign(frame) * (a_u * du * e + a * de) + b_u * du * f + b * df)


def angular_jerk(
    phi: npt.ArrayLike, dphi: npt.ArrayLike, ddphi: npt.ArrayLike, d3phi: npt.ArrayLike, *, frame: str = "world"
) -> Array:
    """Second time derivative (..., 3) [rad/s^3] of `angular_velocity` in the same frame."""
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
    """Rotation vector (3,) of the rotation with the least sum of squared angles to others.

    Parameters
    ----------
    phi : array_like (N, 3)
        Rotation vectors [rad].
    weights : array_like (N,), optional
        Not negative.

    Raises
    ------
    ThunderError
        For rotations so far apart that the iteration finds no mean; within pi/2 of one rotation there is exactly one.
    """
    vectors = points(phi, "phi")
    if vectors.ndim != 2 or not len(vectors):
        raise ThunderError(f"phi must have shape (N, 3), N >= 1, got {vectors.shape}")
    if not np.isfinite(vectors).all():
        raise ThunderError("phi must be finite: leave gaps out before taking a mean")
    w = np.ones(len(vectors)) if weights is None else numbers(weights, "weights")
    if w.shape != (len(vectors),) or (w < 0.0).any() or not w.sum() > 0.0:
        raise ThunderError(f"weights must be {len(vectors)} numbers that are not negative, got {weights!r}")
    rotations = Rotation.from_rotvec(vectors)
    mean = rotations.mean(w)  # the chordal mean is near
    for _ in range(50):
        step = (w @ (mean.inv() * rotations).as_rotvec()) / w.sum()
        mean = mean * Rotation.from_rotvec(step)
        if np.abs(step).max() < 1e-14:
            break
    else:
        if np.abs(step).max() > 1e-9:
            raise ThunderError("rotations have no definite mean: they are too far apart")
    return np.asarray(mean.as_rotvec())


def to_reference(phi: npt.ArrayLike, reference: npt.ArrayLike) -> Array:
    """Rotation vectors log(R_ref' R) (..., 3) of motions (..., T, 3), seen from a reference (3,), on one branch.

    With the mean or the start of a motion as reference they stay far from the angle pi, where rotation vectors jump.
    Rows with NaN stay gaps.
    """
    vectors, start = points(phi, "phi"), points(reference, "reference")
    if start.shape != (3,) or not np.isfinite(start).all():
        raise ThunderError(f"reference must be one finite rotation vector (3,), got {start.tolist()}")
    flat, relative = vectors.reshape(-1, 3), np.full((vectors.size // 3, 3), np.nan)
    known = np.isfinite(flat).all(axis=1)
    if known.any():  # SciPy wants one or more
        relative[known] = (Rotation.from_rotvec(start).inv() * Rotation.from_rotvec(flat[known])).as_rotvec()
    return continuous(relative.reshape(vectors.shape))


def from_reference(phi: npt.ArrayLike, reference: npt.ArrayLike) -> Array:
    """Undo `to_reference`: log(R_ref R) (..., T, 3), on one branch."""
    return to_reference(phi, -points(reference, "reference"))


def continuous(phi: npt.ArrayLike) -> Array:
    """Rotation vectors (..., T, 3) of the same rotations without jumps over T.

    phi and phi (1 + 2 pi k / |phi|) are one rotation; every vector is replaced by that nearest to the one before. The
    first stays. NaN rows stay too, and the next is compared with the last before the gap.
    """
    vectors = points(phi, "phi")
    if vectors.ndim < 2:
        raise ThunderError(f"phi must have shape (..., T, 3), got {vectors.shape}")
    motions = vectors.reshape(-1, *vectors.shape[-2:]) if vectors.size else vectors[:0]
    for motion in motions:
        valid = np.isfinite(motion).all(axis=-1)
        steps = np.diff(motion[valid], axis=0)
        if (np.linalg.norm(steps, axis=-1) > 0.5 * np.pi).any():  # else nothing is nearer
            motion[valid] = _branch(motion[valid])
    return vectors


def _branch(motion: Array) -> Array:
    for i in range(1, len(motion)):
        before, angle = motion[i - 1], float(np.linalg.norm(motion[i]))
        if angle > 1e-9:
            axis = motion[i] / angle
        elif (far := float(np.linalg.norm(before))) > np.pi:  # no turn at all, or whole turns about the last axis
            axis = before / far
        else:
            continue
        motion[i] = motion[i] + 2.0 * np.pi * np.round((before @ axis - motion[i] @ axis) / (2.0 * np.pi)) * axis
    return motion


def _together(**given: npt.ArrayLike) -> tuple[Array, ...]:
    """Return vectors (..., 3) of shapes that go together."""
    vectors = [points(value, what) for what, value in given.items()]
    try:
        np.broadcast_shapes(*(vector.shape for vector in vectors))
    except ValueError:
        shapes = ", ".join(str(vector.shape) for vector in vectors)
        raise ThunderError(f"{', '.join(given)} must have one shape, got {shapes}") from None
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
    """c_2 and c_3 of u = |p|^2 with two derivatives by u, each (..., 1)."""
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
    """Series of c_k(u) = sum_j (-u)^j / (k + 2j)!, derived `order` times."""
    result = np.zeros_like(u)
    for j in range(_TERMS + order, order - 1, -1):
        result = result * u + (-1.0) ** j * math.perm(j, order) / math.factorial(k + 2 * j)
    return result
