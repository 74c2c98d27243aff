"""Point-to-point reaches along minimum-jerk profiles."""

from __future__ import annotations

import numpy as np

from ..min_jerk import minimum_jerk
from ..motion_set import MotionSet
from ..scalars import at_least, positive, whole
from .recording import (
    bump,
    check_range,
    direction,
    generators,
    perpendicular,
    record,
    times,
)

__all__ = ["minimum_jerk_reaches"]


def minimum_jerk_reaches(
    n: int,
    seed: int = 0,
    *,
    n_subjects: int = 5,
    duration: tuple[float, float] = (0.6, 1.4),
    distance: tuple[float, float] = (0.15, 0.45),
    curvature: float = 0.05,
    boundary_velocity: float = 0.0,
    boundary_acceleration: float = 0.0,
    noise: float = 0.0,
    rate: float = 120.0,
) -> MotionSet:
    """Return reaches of the hand, straight minimum jerk plus a lateral bow.

    Parameters
    ----------
    n : int
        Trials, dealt to the subjects in turn.
    seed : int
        The same seed, the same motions.
    n_subjects : int
        Each has a pace (durations times a lognormal factor of 12 %), a preferred bow and a preferred plane.
    duration : (float, float)
        Range, s; uniform, before the subject's factor.
    distance : (float, float)
        Range between start and goal, m; uniform. Starts lie in a box in front of the chest, directions are any.
    curvature : float
        Standard deviation of the bow over the distance, of subjects and of trials about their subject alike.
        0 leaves the minimum-jerk motion itself.
    boundary_velocity, boundary_acceleration : float
        Standard deviation of each component at both ends, m/s and m/s^2.
    noise : float
        Standard deviation of white measurement noise, m.
    rate : float
        Samples per second, Hz.

    Returns
    -------
    MotionSet
        Trials with dofs x, y, z (forward, left, up), m, in the frame "chest".

    Notes
    -----
    The bow is h D 64 tau^3 (1 - tau)^3 across the path: it adds no velocity and no acceleration at the ends.
    Shapes are sums of two functions, so there are two functional components, and more only with boundary velocity,
    acceleration or noise; `sigma_lognormal_reaches` and `daily_living` vary in more. Ranges are our choice, of the
    order of reaches at a table.
    """
    n, n_subjects, rate = (
        whole(n, "n", 1),
        whole(n_subjects, "n_subjects", 1),
        positive(rate, "rate"),
    )
    (T_low, T_high), (D_low, D_high) = check_range(duration, "duration"), check_range(distance, "distance")
    curvature, noise = at_least(curvature, "curvature"), at_least(noise, "noise")
    spread = (
        at_least(boundary_velocity, "boundary_velocity"),
        at_least(boundary_acceleration, "boundary_acceleration"),
    )
    rng, of_noise = generators(seed)
    pace = np.exp(rng.normal(0.0, 0.12, n_subjects))
    bow, plane = rng.normal(0.0, curvature, n_subjects), rng.uniform(-np.pi, np.pi, n_subjects)
    trials = []
    for k in range(n):
        who = k % n_subjects
        T, D = rng.uniform(T_low, T_high) * pace[who], rng.uniform(D_low, D_high)
        start = rng.uniform([0.2, -0.35, -0.3], [0.45, 0.1, 0.0])
        way = D * direction(rng)
        t = times(T, rate)
        T = float(t[-1])
        ends = [s * rng.normal(size=3) for s in spread for _ in range(2)]
        law = minimum_jerk(
            start,
            start + way,
            T,
            start_velocity=ends[0],
            goal_velocity=ends[1],
            start_acceleration=ends[2],
            goal_acceleration=ends[3],
        )
        side = perpendicular(way, plane[who] + rng.normal(0.0, 0.3))
        height = (bow[who] + rng.normal(0.0, curvature)) * D
        x = law.position(t) + height * np.outer(bump(t / T), side)
        trials.append(record(t, x, of_noise, noise, rate=rate, subject=who, task="reach", name=f"reach {k}"))
    return MotionSet(trials)
