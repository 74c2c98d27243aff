"""Rotation vectors: exponential, logarithm, their derivatives, means."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from ..checks import Array, no_rotation, numbers, points
from ..errors import ThunderError

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
        raise ThunderError(f"R must hold rotations: {no_rotation(flat[known][np.argmax(wrong)], _TOLERANCE)}")
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
