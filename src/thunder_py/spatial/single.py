"""Single rotations and poses for control loops, in world axes; unit quaternions as plain numbers (x, y, z, w).

Functions of `thunder_py.spatial` for arrays check their arguments and take about ten times as long for one rotation.
"""

from __future__ import annotations

import math

import numpy as np

from ..checks import Array

Quaternion = tuple[float, float, float, float]
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


def interpolate(a: Array, b: Array, part: float) -> Array:
    """Return the pose (4, 4) at `part` of a straight line and a constant rotation from a to b; past 1, extrapolate."""
    turn = exp(part * log(b[:3, :3] @ a[:3, :3].T))
    return make_pose(turn @ a[:3, :3], a[:3, 3] + part * (b[:3, 3] - a[:3, 3]))


def multiply(a: Quaternion, b: Quaternion) -> Quaternion:
    """Return the product a b, the rotation by b and then by a."""
    ax, ay, az, aw = a
    bx, by, bz, bw = b
    return (
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    )


def turned(q: Quaternion, x: float, y: float, z: float) -> Quaternion:
    """Return q rotated by the rotation vector (x, y, z) [rad] in world axes, normalized."""
    angle = math.sqrt(x * x + y * y + z * z)
    s = 0.5 if angle < 1e-8 else math.sin(0.5 * angle) / angle
    a, b, c, d = multiply((s * x, s * y, s * z, math.cos(0.5 * angle)), q)
    length = math.sqrt(a * a + b * b + c * c + d * d)
    return a / length, b / length, c / length, d / length


def rotation_vector(goal: Quaternion, q: Quaternion) -> tuple[float, float, float]:
    """Return the shortest rotation vector from q to the goal, in world axes [rad]."""
    x, y, z, w = multiply(goal, (-q[0], -q[1], -q[2], q[3]))
    if w < 0.0:
        x, y, z, w = -x, -y, -z, -w
    s = math.sqrt(x * x + y * y + z * z)
    k = 2.0 if s < 1e-8 else 2.0 * math.atan2(s, w) / s
    return k * x, k * y, k * z


def matrix_of(q: Quaternion) -> Array:
    """Return the rotation matrix, (3, 3)."""
    x, y, z, w = q
    return np.array(
        (
            (1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)),
            (2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)),
            (2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)),
        )
    )


def quaternion_of(R: Array) -> Quaternion:
    """Return the quaternion of a rotation matrix with w >= 0, by Shepperd's method."""
    (a, b, c), (d, e, f), (g, h, i) = (tuple(float(x) for x in row) for row in R)
    squares = (1.0 + a - e - i, 1.0 - a + e - i, 1.0 - a - e + i, 1.0 + a + e + i)
    k = max(range(4), key=squares.__getitem__)
    rows = (
        (squares[0], b + d, c + g, h - f),
        (b + d, squares[1], f + h, c - g),
        (c + g, f + h, squares[2], d - b),
        (h - f, c - g, d - b, squares[3]),
    )
    scale = 0.5 / math.sqrt(squares[k])
    x, y, z, w = (scale * entry for entry in rows[k])
    return (x, y, z, w) if w >= 0.0 else (-x, -y, -z, -w)
