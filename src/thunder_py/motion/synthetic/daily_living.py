"""Activities of daily living, invented: poses of a hand that goes somewhere, does something and comes back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...checks import Array
from ..motion_set import MotionSet
from ..scalars import at_least, positive, whole
from .recording import bump, direction, generators, perpendicular, record, step, times

__all__ = ["daily_living"]

#: of the thirty tasks, the same whatever the seed of the trials
_TASKS = 30
_CLASSES = ("intransitive", "transitive", "tool")
_REST = np.array([0.25, -0.25, -0.35, 0.2, 0.1, -0.3])


@dataclass(frozen=True)
class _Task:
    """What all trials of a task share: via poses (m, 6), times of legs and stays (2 m + 1,) s, stirring, bows."""

    name: str
    poses: Array
    legs: Array
    stays: Array
    stir: Array
    frequency: float
    bows: Array


def daily_living(
    n: int,
    seed: int = 0,
    *,
    n_subjects: int = 6,
    variability: float = 1.0,
    noise: float = 0.0,
    angle_noise: float = 0.0,
    rate: float = 100.0,
) -> MotionSet:
    """Return 6-DoF motions of a hand that go out and return, in thirty kinds; a stand-in where there is no recording.

    The numbers are our own choice. Nothing was fitted to people, and no result about people follows from them.

    Parameters
    ----------
    n : int
        Trials: the first subject's first task, the second subject's first task, ..., all subjects' second task, ...
        30 n_subjects trials have every task of every subject once; after that they are repeated.
    seed : int
        Of subjects and trials. The tasks are always the same.
    n_subjects : int
        Each has a size (lengths times a factor of 7 %), a pace (15 %) and a rest pose (20 mm, 0.1 rad).
    variability : float
        Factor on all differences between trials of a task: 20 mm and 0.08 rad at every via pose, 10 % in each
        time, 30 % in each bow.
    noise, angle_noise : float
        Standard deviations of white measurement noise, m and rad.
    rate : float
        Samples per second, Hz.

    Returns
    -------
    MotionSet
        Trials with dofs x, y, z, rx, ry, rz (forward, left, up; rotation vector), m and rad, in the frame "chest".

    Notes
    -----
    A task has a rest pose near the hip, one or two via poses within 0.55 m of it in front of the body (orientation up
    to 1.3 rad away), legs of 0.6 to 1.4 s and stays of 0.1 to 1.2 s. A leg between poses a and b is
    a + (b - a)(s + k h) + bow h with the minimum-jerk step s, h = 64 tau^3 (1 - tau)^3, a skew k of about 0.08 towards
    its beginning, and a bow of 10 % of its length, mostly upward. So velocity and acceleration vanish at both ends.
    Tasks are by turns intransitive (one via pose), transitive (two) and with a tool (two, and at the first an
    oscillation of 10 to 40 mm at 1 to 2 Hz under the window h).
    """
    n, n_subjects = whole(n, "n", 1), whole(n_subjects, "n_subjects", 1)
    variability, rate = at_least(variability, "variability"), positive(rate, "rate")
    noise, angle_noise = at_least(noise, "noise"), at_least(angle_noise, "angle_noise")
    rng, of_noise = generators(seed)
    tasks = _tasks()
    size, pace = np.exp(rng.normal(0.0, 0.07, n_subjects)), np.exp(rng.normal(0.0, 0.15, n_subjects))
    rest = _REST + rng.normal(size=(n_subjects, 6)) * np.repeat([0.02, 0.1], 3)
    trials = []
    for k in range(n):
        who, task = k % n_subjects, tasks[(k // n_subjects) % _TASKS]
        t, x = _perform(task, rest[who], size[who], pace[who], variability, rate, rng)
        repetition = k // (n_subjects * _TASKS) + 1
        name = f"{task.name} {repetition}"
        trials.append(
            record(t, x, of_noise, noise, angle_noise=angle_noise, rate=rate, subject=who, task=task.name, name=name)
        )
    return MotionSet(trials)


def _tasks() -> list[_Task]:
    rng = np.random.default_rng(30)
    tasks = []
    for k in range(_TASKS):
        kind = _CLASSES[k % 3]
        m = 1 if kind == "intransitive" else 2
        position = rng.uniform([0.15, -0.3, -0.2], [0.5, 0.15, 0.25], (m, 3))
        away = position - _REST[:3]
        reach = np.linalg.norm(away, axis=1, keepdims=True)
        position = _REST[:3] + away * np.minimum(1.0, 0.55 / reach)
        turn = np.stack([rng.uniform(0.3, 1.3) * direction(rng) for _ in range(m)])
        tasks.append(
            _Task(
                name=f"{kind} {k // 3 + 1}",
                poses=np.hstack([position, _REST[3:] + turn]),
                legs=rng.uniform(0.6, 1.4, m + 1),
                stays=rng.uniform(0.1, 1.2, m),
                stir=rng.uniform(0.01, 0.04) * direction(rng) * (kind == "tool"),
                frequency=float(rng.uniform(1.0, 2.0)),
                bows=np.stack([rng.normal(0.1, 0.05, m + 1), rng.normal(0.0, 0.7, m + 1)]),
            )
        )
    return tasks


def _perform(
    task: _Task, rest: Array, size: float, pace: float, variability: float, rate: float, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Return times (T,) and poses (T, 6) of one trial."""
    m = len(task.poses)

    def spread(shape: tuple[int, ...], deviation: float) -> Array:
        return np.asarray(np.exp(variability * rng.normal(0.0, deviation, shape)), dtype=np.float64)

    poses = np.vstack([rest, task.poses, rest])
    poses[:, :3] = rest[:3] + size * (poses[:, :3] - rest[:3])
    poses += variability * rng.normal(size=poses.shape) * np.repeat([0.02, 0.08], 3)
    legs, stays = pace * task.legs * spread((m + 1,), 0.1), pace * task.stays * spread((m,), 0.1)
    begin = np.append(0.0, np.cumsum(legs[:-1] + stays))
    t = times(float(begin[-1] + legs[-1]), rate)
    stretch = t[-1] / (begin[-1] + legs[-1])  # to a whole number of steps
    x = np.tile(poses[0], (len(t), 1))
    for leg in range(m + 1):
        tau = (t / stretch - begin[leg]) / legs[leg]
        way, h = poses[leg + 1] - poses[leg], bump(tau)
        x += np.outer(step(tau) + (0.08 + variability * rng.normal(0.0, 0.03)) * h, way)
        height = task.bows[0, leg] * spread((), 0.3) * np.linalg.norm(way[:3])
        x[:, :3] += np.outer(h, float(height) * perpendicular(way[:3], task.bows[1, leg]))
    if task.stir.any():
        arrived = begin[0] + legs[0]
        window = bump((t / stretch - arrived) / max(float(begin[1] - arrived), 0.3))
        x[:, :3] += np.outer(window * np.sin(2.0 * np.pi * task.frequency * (t - arrived)), task.stir)
    return t, x
