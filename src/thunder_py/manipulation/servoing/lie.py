"""Single rotations and poses, fast enough for control loops; world axes.

`thunder_py.spatial` does the same for arrays of them, at ten times the price for a single one.
"""

from __future__ import annotations

import math

import numpy as np

from ...checks import Array

__all__ = ["angle_of", "cross", "exp", "interpolate", "inverse", "left_jacobian", "log", "make_pose", "pose_error"]

#: below this angle [rad] the series' two terms are exact to rounding
_SMALL = 1e-3


def cross(v: Array) -> Array:
    """Matrix (3, 3) of the cross product with `v`."""
    x, y, z = v.tolist()
    return np.array(((0.0, -z, y), (z, 0.0, -x), (-y, x, 0.0)))


def _coefficients(squared: float) -> tuple[float, float, float]:
    """Return sin(x)/x, (1 - cos x)/x^2 and (x - sin x)/x^3 for x^2."""
    x = math.sqrt(squared)
    if x < _SMALL:
        return 1.0 - squared / 6.0, 0.5 - squared / 24.0, 1.0 / 6.0 - squared / 120.0
    a = math.sin(x) / x
    half = math.sin(0.5 * x) / x
    # below a few hundredths x - sin(x) cancels to about 1e-16 / x^2 of its value: that is multiplied by x^2
    return a, 2.0 * half * half, (1.0 - a) / squared


def exp(phi: Array) -> Array:
    """Rotation matrix (3, 3) of a rotation vector (3,) [rad]."""
    a, b, _ = _coefficients(float(phi @ phi))
    S = cross(phi)
    return np.eye(3) + a * S + b * (S @ S)


def left_jacobian(phi: Array) -> Array:
    """J of w = J dphi/dt, angular velocity in world axes: exp(phi + J^-1 d) = exp(d) exp(phi) to first order."""
    _, b, c = _coefficients(float(phi @ phi))
    S = cross(phi)
    return np.eye(3) + b * S + c * (S @ S)


def _sine_vector(R: Array) -> Array:
    """Return r sin(theta) of a rotation by theta about r."""
    return 0.5 * np.array((R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]))


def angle_of(R: Array) -> float:
    """Angle [rad], from 0 to pi, of a rotation matrix (3, 3)."""
    e = _sine_vector(R)
    return math.atan2(math.sqrt(float(e @ e)), 0.5 * (float(np.trace(R)) - 1.0))


def log(R: Array) -> Array:
    """Rotation vector (3,) [rad] of a rotation matrix (3, 3); at half a turn one of the two."""
    e = _sine_vector(R)
    sine, cosine = math.sqrt(float(e @ e)), 0.5 * (float(np.trace(R)) - 1.0)
    theta = math.atan2(sine, cosine)
    if cosine > -0.9:
        return e if sine < 1e-9 else (theta / sine) * e
    # near half a turn the sine forgets the axis, but the symmetric part, (1 - cos) r r' + cos, does not
    A = 0.5 * (R + R.T) - cosine * np.eye(3)
    axis = A[:, int(np.argmax(np.diag(A)))]
    axis = axis / math.sqrt(float(axis @ axis))
    return theta * (axis if float(axis @ e) >= 0.0 else -axis)


def make_pose(R: Array, p: Array) -> Array:
    """Pose (4, 4) of an orientation and a position."""
    T = np.zeros((4, 4))
    T[:3, :3], T[:3, 3], T[3, 3] = R, p, 1.0
    return T


def inverse(T: Array) -> Array:
    """Inverse (4, 4) of a pose."""
    R = T[:3, :3].T
    return make_pose(R, -R @ T[:3, 3])


def pose_error(desired: Array, actual: Array) -> Array:
    """Desired minus actual (6,): positions, and the rotation vector from the actual orientation to the desired one."""
    return np.concatenate((desired[:3, 3] - actual[:3, 3], log(desired[:3, :3] @ actual[:3, :3].T)))


def interpolate(a: Array, b: Array, part: float) -> Array:
    """Pose (4, 4) between two, on a straight line and by one rotation at constant speed; past 1 it goes on."""
    turn = exp(part * log(b[:3, :3] @ a[:3, :3].T))
    return make_pose(turn @ a[:3, :3], a[:3, 3] + part * (b[:3, 3] - a[:3, 3]))
