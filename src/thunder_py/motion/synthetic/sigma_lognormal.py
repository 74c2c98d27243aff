"""Reaches as vector sums of strokes with lognormal speed along circular arcs (Plamondon's sigma-lognormal model)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from ...checks import Array, array
from ...errors import ThunderError
from ...values import Value, set_fields
from ..min_jerk import duration_of
from ..motion_set import MotionSet
from ..scalars import at_least, numbers, positive, whole
from .recording import check_range, direction, generators, perpendicular, record, times

__all__ = ["SigmaLognormal", "sigma_lognormal_reaches"]

#: standard deviations of ln t between the start of a record and its first stroke's middle, and after the last one's
_TAIL = 3.5


@dataclass(frozen=True, eq=False)
class SigmaLognormal(Value):
    """A motion object: strokes with lognormal speeds along arcs, in a plane of space.

    Stroke i starts at t0 and runs along an arc of length D whose direction turns from theta_s to theta_e (angles in the
    plane, from its first axis towards its second); its speed is D Lambda(t), Lambda the lognormal density of t - t0
    with mu and sigma. Velocities of all strokes add up (Plamondon 1995; O'Reilly and Plamondon 2009).

    Attributes
    ----------
    strokes : ndarray, shape (m, 6)
        Rows [t0 (s), D (m), mu, sigma, theta_s (rad), theta_e (rad)].
    start : ndarray, shape (3,)
        m.
    plane : ndarray, shape (2, 3)
        Orthonormal axes.
    duration : float
        s.
    """

    strokes: Array
    start: Array
    plane: Array
    duration: float

    def __post_init__(self) -> None:
        strokes = array(self.strokes, (None, 6), "strokes")
        if not (strokes[:, 3] > 0.0).all():
            raise ThunderError(f"sigma of every stroke must be > 0, got {strokes[:, 3].tolist()}")
        plane = array(self.plane, (2, 3), "plane")
        if np.abs(plane @ plane.T - np.eye(2)).max() > 1e-9:
            raise ThunderError(f"plane must hold two orthonormal axes, got {plane.tolist()}")
        start, duration = array(self.start, (3,), "start"), duration_of(self.duration)
        set_fields(self, strokes=strokes, start=start, plane=plane, duration=duration)

    def position(self, t: npt.ArrayLike, derivative: int = 0) -> Array:
        """Return x [m] or one of its first three time derivatives at t (...), shape (..., 3).

        Position needs no quadrature: the integral of Lambda is the normal distribution function of (ln(t - t0) - mu) /
        sigma, the fraction s of the arc that is behind; and an arc from 0 to s is its chord, D s sinc(turn s / 2) along
        the direction theta_s + turn s / 2.
        """
        if derivative not in (0, 1, 2, 3):
            raise ThunderError(f"derivative must be 0, 1, 2 or 3, got {derivative!r}")
        time = numbers(t, "t")
        xy = np.zeros((*time.shape, 2))
        for stroke in self.strokes:
            xy += _stroke(stroke, time, derivative)
        x = xy @ self.plane
        return np.asarray(self.start + x if derivative == 0 else x, dtype=np.float64)


def _stroke(stroke: Array, t: Array, derivative: int) -> Array:
    """Return a derivative (..., 2) of the displacement of one stroke."""
    t0, D, mu, sigma, theta_s, theta_e = stroke
    turn = theta_e - theta_s
    s, ds, d2s, d3s = _progress(t - t0, mu, sigma)
    if derivative == 0:
        half = 0.5 * turn * s
        return np.asarray(D * (s * np.sinc(half / np.pi))[..., None] * _unit(theta_s + half), dtype=np.float64)
    e = _unit(theta_s + turn * s)
    n = np.stack([-e[..., 1], e[..., 0]], axis=-1)
    along, across = {
        1: (ds, np.zeros_like(s)),
        2: (d2s, turn * ds**2),
        3: (d3s - turn**2 * ds**3, 3.0 * turn * ds * d2s),
    }[derivative]
    return np.asarray(D * (along[..., None] * e + across[..., None] * n), dtype=np.float64)


def _progress(x: Array, mu: float, sigma: float) -> tuple[Array, Array, Array, Array]:
    """Return the lognormal distribution function of x, its density, and two derivatives of that; zero for x <= 0."""
    behind = x > 0.0
    y = np.where(behind, x, 1.0)
    u = (np.log(y) - mu) / sigma
    density = np.where(behind, np.exp(-0.5 * u * u) / (y * sigma * np.sqrt(2.0 * np.pi)), 0.0)
    # logarithmic derivative of the density, and its derivative
    g = -(1.0 + u / sigma) / y
    dg = (1.0 + u / sigma - 1.0 / sigma**2) / y**2
    return np.where(behind, ndtr(u), 0.0), density, density * g, density * (g * g + dg)


def _unit(angle: Array) -> Array:
    return np.stack([np.cos(angle), np.sin(angle)], axis=-1)


def sigma_lognormal_reaches(
    n: int,
    seed: int = 0,
    *,
    n_subjects: int = 5,
    n_strokes: int = 3,
    duration: tuple[float, float] = (0.7, 1.6),
    distance: tuple[float, float] = (0.15, 0.45),
    curvature: float = 0.3,
    noise: float = 0.0,
    rate: float = 120.0,
) -> MotionSet:
    """Return reaches made of one large and some corrective strokes, with skewed speeds as people have.

    Parameters
    ----------
    n, seed, duration, distance, noise, rate
        As for `minimum_jerk_reaches`. Starts and ends are met to a thousandth of the distance: lognormals have tails.
    n_subjects : int
        Each has a pace (12 %), a skewness (sigma of its lognormals) and a preferred turn.
    n_strokes : int
        At most so many strokes in each reach, at least one. Strokes after the first have 5 to 25 % of its length, and
        start while it runs.
    curvature : float
        Standard deviation of the turn of a stroke, theta_e - theta_s, rad; of subjects and of trials alike.

    Returns
    -------
    MotionSet
        Trials with dofs x, y, z, m, in the frame "chest".
    """
    motions = _motions(n, seed, n_subjects, n_strokes, duration, distance, curvature)
    noise, rate = at_least(noise, "noise"), positive(rate, "rate")
    _, of_noise = generators(seed)
    trials = []
    for k, motion in enumerate(motions):
        t = times(motion.duration, rate)
        x = motion.position(t)
        trials.append(record(t, x, of_noise, noise, rate=rate, subject=k % n_subjects, task="reach", name=f"reach {k}"))
    return MotionSet(trials)


def _motions(
    n: int,
    seed: int,
    n_subjects: int,
    n_strokes: int,
    duration: tuple[float, float],
    distance: tuple[float, float],
    curvature: float,
) -> list[SigmaLognormal]:
    n, n_subjects, most = (
        whole(n, "n", 1),
        whole(n_subjects, "n_subjects", 1),
        whole(n_strokes, "n_strokes", 1),
    )
    (T_low, T_high), (D_low, D_high) = check_range(duration, "duration"), check_range(distance, "distance")
    curvature = at_least(curvature, "curvature")
    rng, _ = generators(seed)
    pace, sigma = np.exp(rng.normal(0.0, 0.12, n_subjects)), rng.uniform(0.2, 0.4, n_subjects)
    turn, plane = rng.normal(0.0, curvature, n_subjects), rng.uniform(-np.pi, np.pi, n_subjects)
    motions = []
    for k in range(n):
        who = k % n_subjects
        m = int(rng.integers(1, most + 1))
        strokes = np.column_stack(
            [
                np.append(0.0, np.sort(rng.uniform(0.2, 0.7, m - 1))),
                np.append(1.0, rng.uniform(0.05, 0.25, m - 1)),
                np.append(-0.5, rng.uniform(-1.2, -0.9, m - 1)),
                sigma[who] * np.exp(rng.normal(0.0, 0.1, m)),
                rng.normal(0.0, 0.1, m),
                np.zeros(m),
            ]
        )
        strokes[:, 5] = strokes[:, 4] + turn[who] + rng.normal(0.0, curvature, m)
        T, way = rng.uniform(T_low, T_high) * pace[who], rng.uniform(D_low, D_high) * direction(rng)
        start = rng.uniform([0.2, -0.35, -0.3], [0.45, 0.1, 0.0])
        motions.append(_fitted(strokes, start, way, perpendicular(way, plane[who] + rng.normal(0.0, 0.3)), T))
    return motions


def _fitted(strokes: Array, start: Array, way: Array, side: Array, duration: float) -> SigmaLognormal:
    """Scale, turn and shift strokes so that they lead along `way` in `duration`."""
    t0, _, mu, sigma = strokes[:, 0], strokes[:, 1], strokes[:, 2], strokes[:, 3]
    begin, end = np.min(t0 + np.exp(mu - _TAIL * sigma)), np.max(t0 + np.exp(mu + _TAIL * sigma))
    factor = duration / (end - begin)
    # what all strokes add up to: their chords
    half = 0.5 * (strokes[:, 5] - strokes[:, 4])
    total = (strokes[:, 1] * np.sinc(half / np.pi)) @ _unit(strokes[:, 4] + half)
    scaled = strokes.copy()
    scaled[:, 0] = factor * (t0 - begin)
    scaled[:, 1] *= np.linalg.norm(way) / np.linalg.norm(total)
    scaled[:, 2] += np.log(factor)
    scaled[:, 4:] -= np.arctan2(total[1], total[0])
    return SigmaLognormal(scaled, start, np.stack([way / np.linalg.norm(way), side]), duration)
