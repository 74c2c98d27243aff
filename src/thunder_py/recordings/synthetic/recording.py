"""Parts shared by all generators: random directions, time steps, and noisy recordings of a motion."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...checks import Array, nonnegative, positive, seed_of, whole
from ...errors import ThunderError
from ...trajectory.hermite import minimum_jerk
from ..motion_set import MotionSet
from ..trial import POSITION, ROTATION, Trial


def step(tau: Array) -> Array:
    """Return the minimum-jerk step, 0 before tau = 0 and 1 after tau = 1."""
    return minimum_jerk([0.0], [1.0], 1.0).position(tau)[..., 0]


def bump(tau: Array) -> Array:
    """Return 64 tau^3 (1 - tau)^3 in [0, 1], 0 outside: height 1, zero velocity and acceleration at the ends."""
    u = np.clip(tau, 0.0, 1.0)
    return np.asarray(64.0 * (u * (1.0 - u)) ** 3, dtype=np.float64)


def direction(rng: np.random.Generator) -> Array:
    """Return a unit vector (3,) of uniformly distributed direction."""
    v = rng.normal(size=3)
    return np.asarray(v / np.linalg.norm(v), dtype=np.float64)


def perpendicular(axis: Array, angle: float) -> Array:
    """Return the unit vector (3,) orthogonal to `axis` at `angle` about it from the most upward one."""
    axis = axis / np.linalg.norm(axis)
    up = np.array([0.0, 0.0, 1.0]) - axis[2] * axis
    if np.linalg.norm(up) < 1e-6:
        up = np.array([1.0, 0.0, 0.0]) - axis[0] * axis
    up = up / np.linalg.norm(up)
    return np.asarray(np.cos(angle) * up + np.sin(angle) * np.cross(axis, up), dtype=np.float64)


def people(seed: int, n_subjects: int) -> tuple[np.random.Generator, int]:
    """Return the generator of motions, and the number of subjects, checked."""
    return np.random.default_rng(seed_of(seed)), whole(n_subjects, "n_subjects", 1)


def times(duration: float, rate: float) -> Array:
    """Return times at steps of 1 / rate from 0 to the multiple nearest to `duration`."""
    return np.arange(max(round(duration * rate), 7) + 1) / rate


def record(
    n: int,
    n_subjects: int,
    perform: Callable[[int, int], tuple[Array, Array, str, str]],
    *,
    seed: int,
    rate: float,
    noise: float,
    angle_noise: float = 0.0,
) -> MotionSet:
    """Return recordings with white Gaussian noise [m, rad] on every sample; subjects take turns.

    `perform` returns times, (T, 3) positions or (T, 6) poses, task and name, from the numbers of trial and subject.
    Motions are the same with and without noise, which has a generator of its own.
    """
    positive(rate, "rate")
    deviation = np.repeat([nonnegative(noise, "noise"), nonnegative(angle_noise, "angle_noise")], 3)
    rng, trials = np.random.default_rng([seed_of(seed), 1]), []
    for k in range(whole(n, "n", 1)):
        t, x, task, name = perform(k, k % n_subjects)
        if deviation[: x.shape[1]].any():
            x = x + deviation[: x.shape[1]] * rng.normal(size=x.shape)
        labels: dict[str, Any] = {"subject": f"S{k % n_subjects + 1:02d}", "task": task, "name": name}
        trials.append(Trial(t, x, (POSITION + ROTATION)[: x.shape[1]], rate=rate, frame="chest", **labels))
    return MotionSet(trials)


def check_range(value: Any, what: str) -> tuple[float, float]:
    """Return (least, largest), both positive."""
    if np.shape(value) != (2,):
        raise ThunderError(f"{what} must be (least, largest), got {value!r}")
    low, high = (positive(v, what) for v in value)
    if low > high:
        raise ThunderError(f"{what} must be (least, largest), got {value!r}")
    return low, high
