"""Single rotations and poses for control loops, in world axes.

`thunder_py.spatial` does the same for arrays of them, and takes ten times as long for a single one.
"""

from __future__ import annotations

import math

import numpy as np

from ...checks import Array

__all__ = ["angle_of", "cross", "exp", "interpolate", "inverse", "left_jacobian", "log", "make_pose", "pose_error"]

#: below this angle [rad] two terms of the series are exact to rounding
_SMALL = 1e-3


def cross(v: Array) -> Array:
    """Return the matrix (3, 3) of the cross product with `v`."""
    x, y, z = v.tolist()
    return np.array(((0.0, -z, y), (z, 0.0, -x), (-y, x, 0.0)))


def _coefficients(squared: float) -> tuple[float, float, float]:
    """Return sin(x)/x, (1 - cos x)/x^2 and (x - sin x)/x^3 for x^2."""
    x = math.sqrt(squared)
    if x < _SMALL:
        return 1.0 - squared / 6.0, 0.5 - squared / 24.0, 1.0 / 6.0 - squared / 120.0
    a = math.sin(x) / x
    half = math.sin(0.5 * x) / x
    # below a few hundredths x - sin(x) has a relative error of about 1e-16 / x^2, which is multiplied by x^2
    return a, 2.0 * half * half, (1.0 - a) / squared


def exp(phi: Array) -> Array:
    """Return the rotation matrix (3, 3) of a rotation vector (3,) [rad]."""
    a, b, _ = _coefficients(float(phi @ phi))
    S = cross(phi)
    return np.eye(3) + a * S + b * (S @ S)


def left_jacobian(phi: Array) -> Array:
    """Return J of w = J dphi/dt, w in world axes: exp(phi + J^-1 d) = exp(d) exp(phi) to first order."""
    _, b, c = _coefficients(float(phi @ phi))
    S = cross(phi)
    return np.eye(3) + b * S + c * (S @ S)


def _sine_vector(R: Array) -> Array:
    """Return r sin(theta) of a rotation by theta about r."""
    return 0.5 * np.array((R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]))


def angle_of(R: Array) -> float:
    """Return the angle [rad], from 0 to pi, of a rotation matrix (3, 3)."""
    e = _sine_vector(R)
    return math.atan2(math.sqrt(float(e @ e)), 0.5 * (float(np.trace(R)) - 1.0))


def log(R: Array) -> Array:
    """Return the rotation vector (3,) [rad] of a rotation matrix (3, 3); at half a turn, one of the two."""
    e = _sine_vector(R)
    sine, cosine = math.sqrt(float(e @ e)), 0.5 * (float(np.trace(R)) - 1.0)
    theta = math.atan2(sine, cosine)
    if cosine > -0.9:
        return e if sine < 1e-9 else (theta / sine) * e
    # near half a turn the sine loses the axis; the symmetric part, (1 - cos) r r' + cos, keeps it
    A = 0.5 * (R + R.T) - cosine * np.eye(3)
    axis = A[:, int(np.argmax(np.diag(A)))]
    axis = axis / math.sqrt(float(axis @ axis))
    return theta * (axis if float(axis @ e) >= 0.0 else -axis)


def make_pose(R: Array, p: Array) -> Array:
    """Return the pose (4, 4) of an orientation and a position."""
    T = np.zeros((4, 4))
    T[:3, :3], T[:3, 3], T[3, 3] = R, p, 1.0
    return T


def inverse(T: Array) -> Array:
    """Return the inverse (4, 4) of a pose."""
    R = T[:3, :3].T
    return make_pose(R, -R @ T[:3, 3])


def pose_error(desired: Array, actual: Array) -> Array:
    """Return the error (6,): difference of positions, and rotation vector from actual to desired orientation."""
    return np.concatenate((desired[:3, 3] - actual[:3, 3], log(desired[:3, :3] @ actual[:3, :3].T)))


def interpolate(a: Array, b: Array, part: float) -> Array:
    """Return the pose (4, 4) at `part` of a straight line and a constant rotation from a to b; past 1, extrapolate."""
    turn = exp(part * log(b[:3, :3] @ a[:3, :3].T))
    return make_pose(turn @ a[:3, :3], a[:3, 3] + part * (b[:3, 3] - a[:3, 3]))
