"""Closed curves traced with a power law between speed and curvature."""

from __future__ import annotations

import numpy as np

from ...checks import Array, positive, within
from ..motion_set import MotionSet
from .recording import check_range, direction, people, perpendicular, record, times

#: intervals of the table that inverts time, per lap
_GRID = 2048


def power_law_curves(
    n: int,
    seed: int = 0,
    *,
    exponent: float = -1.0 / 3.0,
    n_subjects: int = 5,
    laps: float = 2.0,
    lap_duration: tuple[float, float] = (1.0, 2.0),
    size: tuple[float, float] = (0.05, 0.15),
    eccentricity: float = 0.8,
    noise: float = 0.0,
    rate: float = 120.0,
) -> MotionSet:
    """Return convex closed curves with speed proportional to curvature^exponent, in random planes.

    Parameters
    ----------
    n, seed, noise, rate
        As for `minimum_jerk_reaches`.
    exponent : float
        Exponent of the curvature, above -1; -1/3 is the two-thirds law, 0 a constant speed.
    n_subjects : int
        Subjects; each has a pace (12 %) and a preferred size (10 %).
    laps : float
        Laps per trial, > 0.
    lap_duration : (float, float)
        Range of the time for one lap, s.
    size : (float, float)
        Range of the mean radius, m.
    eccentricity : float
        Largest relative variation of the radius of curvature about its mean, 0 (circles) to below 1.

    Returns
    -------
    MotionSet
        Trials with dofs x, y, z, m, in the frame "chest". Tasks are named by the number of lobes, 2 (ovals) to 4.

    Raises
    ------
    ThunderError
        For arguments out of range.

    Notes
    -----
    Curves are given by their support function over the angle psi of the tangent, h = r (1 - e cos(m psi) / (m^2 - 1)).
    The radius of curvature is h + h'' = r (1 + e cos(m psi)), positive for e < 1, and dt is proportional to
    (h + h'')^(1 + exponent) dpsi. The curvature is exact; time is inverted by a table and Newton's method.

    Examples
    --------
    >>> from thunder_py.recordings.synthetic import power_law_curves
    >>> curves = power_law_curves(4, seed=0, n_subjects=2)
    >>> curves, set(curves.tasks) <= {"2 lobes", "3 lobes", "4 lobes"}
    (<MotionSet of 4 trials, 2 subjects, 2 tasks>, True)
    """
    (T_low, T_high), (r_low, r_high) = check_range(lap_duration, "lap_duration"), check_range(size, "size")
    laps = positive(laps, "laps")
    within(eccentricity, "eccentricity", 0.0, 1.0, ends="[)")
    within(exponent, "exponent", -1.0, 10.0, ends="()")
    rng, n_subjects = people(seed, n_subjects)
    pace, scale = np.exp(rng.normal(0.0, 0.12, n_subjects)), np.exp(rng.normal(0.0, 0.1, n_subjects))

    def perform(k: int, subject: int) -> tuple[Array, Array, str, str]:
        lobes = int(rng.integers(2, 5))
        T, r = rng.uniform(T_low, T_high) * pace[subject], rng.uniform(r_low, r_high) * scale[subject]
        e = eccentricity * rng.uniform(0.6, 1.0)
        t = times(laps * T, rate)
        xy = _oval(t / T, lobes, e, exponent, rng.uniform(0.0, 1.0))
        normal = direction(rng)
        first = perpendicular(normal, rng.uniform(-np.pi, np.pi))
        center = rng.uniform([0.25, -0.25, -0.2], [0.45, 0.1, 0.1])
        return t, center + r * xy @ np.stack([first, np.cross(normal, first)]), f"{lobes} lobes", f"curve {k}"

    return record(n, n_subjects, perform, seed=seed, rate=rate, noise=noise)


def _oval(lap: Array, m: int, e: float, exponent: float, phase: float) -> Array:
    """Return points (T, 2) of a curve of mean radius 1 after `lap` laps."""
    from scipy.interpolate import CubicSpline

    psi = np.linspace(0.0, 2.0 * np.pi, _GRID + 1)
    slowness = (1.0 + e * np.cos(m * psi)) ** (1.0 + exponent)
    slowness[-1] = slowness[0]
    time = CubicSpline(psi, slowness, bc_type="periodic").antiderivative()
    total = float(time(psi[-1]))
    part = np.mod(lap + phase, 1.0)
    # Newton steps from the value of the table
    angle = np.interp(part * total, time(psi), psi)
    for _ in range(3):
        angle -= (time(angle) - part * total) / (1.0 + e * np.cos(m * angle)) ** (1.0 + exponent)
    h = 1.0 - e * np.cos(m * angle) / (m * m - 1.0)
    dh = e * m * np.sin(m * angle) / (m * m - 1.0)
    c, s = np.cos(angle), np.sin(angle)
    return np.stack([h * c - dh * s, h * s + dh * c], axis=-1)
