"""Minimum-jerk pieces of a throw: a swing to a velocity, a stop, a way back."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...checks import Array
from ...trajectory.timing import quintic_coefficients

__all__ = ["Piece", "evaluate", "free_stop", "free_swing", "rest", "swing_from", "way_back"]

_ORDER = 6  # coefficients of a quintic, highest power first


class Piece(NamedTuple):
    """A polynomial over a time.

    Attributes
    ----------
    duration : float
        [s].
    coefficients : (6, k) array
        Highest power first, of the time since its beginning.
    """

    duration: float
    coefficients: Array


def free_swing(T: float, x: Array, v: Array, a: Array) -> Piece:
    """Return the motion from rest to (x, v, a) in a time T whose start is where jerk is least.

    The start of a minimum-jerk motion is free where its fifth derivative vanishes: a quartic. With a = 0 it covers
    v T / 2.
    """
    c3 = (3.0 * v - a * T) / (3.0 * T**2)
    c4 = (a * T - 2.0 * v) / (4.0 * T**3)
    start = x - c3 * T**3 - c4 * T**4
    zero = np.zeros_like(start)
    return Piece(T, np.array([zero, c4, c3, zero, zero, start]))


def free_stop(T: float, x: Array, v: Array, a: Array) -> Piece:
    """Return the motion from (x, v, a) to rest in a time T whose end is where jerk is least: `free_swing` backwards."""
    # time reversed, v changes its sign: x(T - t) of the swing that ends at (x, -v, a)
    backwards = free_swing(T, x, -v, a).coefficients
    end = backwards[-1]
    c3, c4 = backwards[2], backwards[1]
    zero = np.zeros_like(end)
    return Piece(
        T, np.array([zero, c4, -c3 - 4.0 * c4 * T, 0.5 * a, v, x])
    )  # of c3 (T - t)^3 + c4 (T - t)^4, written in t with the known values at t = 0


def swing_from(T: float, start: Array, x: Array, v: Array, a: Array) -> Piece:
    """Return the minimum-jerk motion from rest at a given start to (x, v, a): a quintic."""
    zero = np.zeros_like(x)
    return Piece(T, quintic_coefficients(T, start, zero, zero, x, v, a))


def way_back(T: float, start: Array, end: Array) -> Piece:
    """Return the minimum-jerk motion between two rests."""
    zero = np.zeros_like(start)
    return Piece(T, quintic_coefficients(T, start, zero, zero, end, zero, zero))


def rest(T: float, x: Array) -> Piece:
    """Return a pause."""
    zero = np.zeros_like(x)
    return Piece(T, np.array([zero] * (_ORDER - 1) + [x]))


def evaluate(piece: Piece, t: Array) -> tuple[Array, Array, Array]:
    """Return value, velocity and acceleration at times (m,) since the beginning, (m, k) each."""
    c, s = piece.coefficients, t[:, None]
    x, v, a = (np.zeros((t.size, c.shape[1])) for _ in range(3))
    for row in c:  # Horner's rule for a polynomial and two derivatives
        a = a * s + 2.0 * v
        v = v * s + x
        x = x * s + row
    return x, v, a
