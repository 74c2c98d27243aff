"""Unit quaternions (x, y, z, w) as plain numbers, which are faster than arrays for single orientations."""

from __future__ import annotations

import math

import numpy as np

from ..checks import Array

__all__ = ["Quaternion", "from_matrix", "multiply", "rotation_vector", "to_matrix", "turned"]

Quaternion = tuple[float, float, float, float]


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


def to_matrix(q: Quaternion) -> Array:
    """Return the rotation matrix, (3, 3)."""
    x, y, z, w = q
    return np.array(
        (
            (1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)),
            (2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)),
            (2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)),
        )
    )


def from_matrix(R: Array) -> Quaternion:
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
