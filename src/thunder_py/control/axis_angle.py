"""Task error with the axis-angle orientation error, from a measured pose (Thunder article, eqs. 27, 28)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..checks import Array
from ..reference import TaskReference
from ..spatial.single import cross


class TaskError(NamedTuple):
    """Error of m rows, e' = f - L xi, with the derivatives of e, L and f."""

    e: Array
    e_dot: Array
    L: Array
    L_dot: Array
    f: Array
    f_dot: Array
    p: Array  # measured position, (3,)
    cosine: float  # of the angle of the orientation error


def task_error(desired: TaskReference, p: Array, R: Array, xi: Array, rows: int) -> TaskError:
    """Return the error of position p, orientation R and twist xi; with 3 rows that of the position only."""
    e, L, L_dot, cosine = np.zeros(6), np.eye(6), np.zeros((6, 6)), 1.0
    e[:3] = desired.p - p
    if rows == 6:
        turn = desired.R @ R.T
        e[3:] = 0.5 * np.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]])
        L[3:, 3:] = _half_trace_minus_transpose(turn)
        L_dot[3:, 3:] = _half_trace_minus_transpose(cross(desired.xi[3:]) @ turn - turn @ cross(xi[3:]))
        cosine = 0.5 * (float(np.trace(turn)) - 1.0)
    f = L.T @ desired.xi
    f_dot = L_dot.T @ desired.xi + L.T @ desired.xi_dot
    e_dot = f - L @ xi
    m = rows
    return TaskError(e[:m], e_dot[:m], L[:m, :m], L_dot[:m, :m], f[:m], f_dot[:m], p, cosine)


def _half_trace_minus_transpose(A: Array) -> Array:
    return np.asarray(0.5 * (np.trace(A) * np.eye(3) - A.T))
