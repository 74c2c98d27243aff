"""Reaches along minimum-jerk profiles or lognormal strokes, and motions of daily living."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from ...checks import Array, array, nonnegative, numbers, whole
from ...errors import ThunderError
from ...trajectory.hermite import duration_of, minimum_jerk
from ...values import Value, set_fields
from ..motion_set import MotionSet
from .recording import bump, check_range, direction, people, perpendicular, record, step, times


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
        Trials, assigned to the subjects in turn.
    seed : int
        Seed of subjects, motions and noise.
    n_subjects : int
        Subjects; each has a pace (a lognormal factor of 12 % on durations), a preferred bow and a preferred plane.
    duration : (float, float)
        Range, s; uniform, before the subject's factor.
    distance : (float, float)
        Range between start and goal, m; uniform. Starts lie in a box in front of the chest; directions are isotropic.
    curvature : float
        Standard deviation of the bow divided by the distance, of subjects and of trials about their subject.
        0 yields minimum jerk without bow.
    boundary_velocity, boundary_acceleration : float
        Standard deviation of each component at both ends, m/s and m/s^2.
    noise : float
        Standard deviation of white measurement noise, m.
    rate : float
        Sampling rate, Hz.

    Returns
    -------
    MotionSet
        Trials with dofs x, y, z (forward, left, up), m, in the frame "chest".

    Raises
    ------
    ThunderError
        For arguments out of range.

    Notes
    -----
    The bow is h D 64 tau^3 (1 - tau)^3 across the path: it adds no velocity and no acceleration at the ends.
    Shapes are sums of two functions, so there are two functional components; boundary velocity, acceleration or noise
    add more. `sigma_lognormal_reaches` and `daily_living` have more components. The ranges are our choice, of the
    order of reaches at a table.

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.recordings.synthetic import minimum_jerk_reaches
    >>> reaches = minimum_jerk_reaches(10, seed=0)
    >>> reaches, reaches.dofs, reaches[0].rate
    (<MotionSet of 10 trials, 5 subjects, 1 tasks>, ('x', 'y', 'z'), 120.0)
    >>> noisy = minimum_jerk_reaches(10, seed=0, noise=1e-3)  # the same motions
    >>> round(1e3 * float(np.std(noisy[0].x - reaches[0].x)))
    1
    """
    (T_low, T_high), (D_low, D_high) = check_range(duration, "duration"), check_range(distance, "distance")
    curvature = nonnegative(curvature, "curvature")
    spread = {"boundary_velocity": boundary_velocity, "boundary_acceleration": boundary_acceleration}
    deviations = [nonnegative(value, what) for what, value in spread.items()]
    rng, n_subjects = people(seed, n_subjects)
    pace = np.exp(rng.normal(0.0, 0.12, n_subjects))
    bow, plane = rng.normal(0.0, curvature, n_subjects), rng.uniform(-np.pi, np.pi, n_subjects)

    def perform(k: int, subject: int) -> tuple[Array, Array, str, str]:
        T, D = rng.uniform(T_low, T_high) * pace[subject], rng.uniform(D_low, D_high)
        start = rng.uniform([0.2, -0.35, -0.3], [0.45, 0.1, 0.0])
        displacement = D * direction(rng)
        t = times(T, rate)
        T = float(t[-1])
        names = ("start_velocity", "goal_velocity", "start_acceleration", "goal_acceleration")
        ends = {name: deviations[i // 2] * rng.normal(size=3) for i, name in enumerate(names)}
        law = minimum_jerk(start, start + displacement, T, **ends)
        side = perpendicular(displacement, plane[subject] + rng.normal(0.0, 0.3))
        height = (bow[subject] + rng.normal(0.0, curvature)) * D
        return t, law.position(t) + height * np.outer(bump(t / T), side), "reach", f"reach {k}"

    return record(n, n_subjects, perform, seed=seed, rate=rate, noise=noise)


#: standard deviations of ln t from the median of the first stroke back to the start, and of the last one to the end
_TAIL = 3.5


@dataclass(frozen=True, eq=False)
class SigmaLognormal(Value):
    """A motion object of strokes with lognormal speeds along arcs, in a plane of space.

    Attributes
    ----------
    strokes : ndarray, shape (m, 6)
        Rows [t0 (s), D (m), mu, sigma, theta_s (rad), theta_e (rad)].
    start : ndarray, shape (3,)
        Start, m.
    plane : ndarray, shape (2, 3)
        Orthonormal axes of the plane.
    duration : float
        Duration, s.

    Raises
    ------
    ThunderError
        For sigma <= 0 or axes that are not orthonormal.

    Notes
    -----
    A stroke starts at t0 and follows an arc of length D with direction from theta_s to theta_e, angles from the first
    axis of the plane towards the second. Its speed is D Lambda(t), with Lambda the lognormal density of t - t0 with mu
    and sigma. The velocity is the sum over all strokes (Plamondon 1995; O'Reilly and Plamondon 2009).

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.recordings.synthetic import SigmaLognormal
    >>> strokes = [[0.0, 0.3, -1.0, 0.3, 0.0, 0.5]]
    >>> motion = SigmaLognormal(strokes, start=[0, 0, 0], plane=[[1, 0, 0], [0, 1, 0]], duration=1.5)
    >>> np.round(motion.position([0.0, 0.4, 1.5]), 3).tolist()
    [[0.0, 0.0, 0.0], [0.18, 0.028, 0.0], [0.288, 0.073, 0.0]]
    >>> motion.position(np.linspace(0.0, 1.5, 50), derivative=3).shape
    (50, 3)
    """

    strokes: Array
    start: Array
    plane: Array
    duration: float

    def __post_init__(self) -> None:
        strokes = array(self.strokes, (None, 6), "strokes")
        if not (strokes[:, 3] > 0.0).all():
            raise ThunderError(f"sigma of every stroke must be positive, got {strokes[:, 3].tolist()}")
        plane = array(self.plane, (2, 3), "plane")
        if np.abs(plane @ plane.T - np.eye(2)).max() > 1e-9:
            raise ThunderError(f"plane must hold two orthonormal axes, got {plane.tolist()}")
        start, duration = array(self.start, (3,), "start"), duration_of(self.duration)
        set_fields(self, strokes=strokes, start=start, plane=plane, duration=duration)

    def position(self, t: npt.ArrayLike, derivative: int = 0) -> Array:
        """Return x [m] or one of its first three time derivatives at t (...), shape (..., 3).

        Position is in closed form. The integral of Lambda is the normal distribution function of (ln(t - t0) - mu) /
        sigma, the completed fraction s of the arc. The displacement is the chord of length D s sinc(turn s / 2) in the
        direction theta_s + turn s / 2.
        """
        if derivative not in (0, 1, 2, 3):
            raise ThunderError(f"derivative must be 0, 1, 2 or 3, got {derivative!r}")
        time = numbers(t, "t")
        x = sum((_stroke(stroke, time, derivative) for stroke in self.strokes), np.zeros(2)) @ self.plane
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
    """Return the lognormal distribution function of x, its density and two derivatives of it; zero for x <= 0."""
    started = x > 0.0
    y = np.where(started, x, 1.0)
    u = (np.log(y) - mu) / sigma
    density = np.where(started, np.exp(-0.5 * u * u) / (y * sigma * np.sqrt(2.0 * np.pi)), 0.0)
    # logarithmic derivative of the density, and its derivative
    g = -(1.0 + u / sigma) / y
    dg = (1.0 + u / sigma - 1.0 / sigma**2) / y**2
    return np.where(started, ndtr(u), 0.0), density, density * g, density * (g * g + dg)


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
    """Return reaches of one large and some corrective strokes, with skewed speed profiles like those of people.

    Parameters
    ----------
    n, seed, duration, distance, noise, rate
        As for `minimum_jerk_reaches`. Starts and ends are reached to a thousandth of the distance, because lognormals
        have tails.
    n_subjects : int
        Subjects; each has a pace (12 %), a skewness (sigma of its lognormals) and a preferred turn.
    n_strokes : int
        Largest number of strokes in a reach. Strokes after the first have 5 to 25 % of its length and start before its
        end.
    curvature : float
        Standard deviation of the turn of a stroke, theta_e - theta_s, rad; of subjects and of trials.

    Returns
    -------
    MotionSet
        Trials with dofs x, y, z, m, in the frame "chest".

    Raises
    ------
    ThunderError
        For arguments out of range.

    Examples
    --------
    >>> from thunder_py.recordings.synthetic import sigma_lognormal_reaches
    >>> reaches = sigma_lognormal_reaches(6, seed=0, n_subjects=3)
    >>> reaches, reaches[0].frame, reaches.subjects
    (<MotionSet of 6 trials, 3 subjects, 1 tasks>, 'chest', ('S01', 'S02', 'S03'))
    """
    (T_low, T_high), (D_low, D_high) = check_range(duration, "duration"), check_range(distance, "distance")
    curvature = nonnegative(curvature, "curvature")
    most = whole(n_strokes, "n_strokes", 1)
    rng, n_subjects = people(seed, n_subjects)
    pace, sigma = np.exp(rng.normal(0.0, 0.12, n_subjects)), rng.uniform(0.2, 0.4, n_subjects)
    turn, plane = rng.normal(0.0, curvature, n_subjects), rng.uniform(-np.pi, np.pi, n_subjects)

    def perform(k: int, subject: int) -> tuple[Array, Array, str, str]:
        m = int(rng.integers(1, most + 1))
        strokes = np.column_stack(
            [
                np.append(0.0, np.sort(rng.uniform(0.2, 0.7, m - 1))),
                np.append(1.0, rng.uniform(0.05, 0.25, m - 1)),
                np.append(-0.5, rng.uniform(-1.2, -0.9, m - 1)),
                sigma[subject] * np.exp(rng.normal(0.0, 0.1, m)),
                rng.normal(0.0, 0.1, m),
                np.zeros(m),
            ]
        )
        strokes[:, 5] = strokes[:, 4] + turn[subject] + rng.normal(0.0, curvature, m)
        T, chord = rng.uniform(T_low, T_high) * pace[subject], rng.uniform(D_low, D_high) * direction(rng)
        start = rng.uniform([0.2, -0.35, -0.3], [0.45, 0.1, 0.0])
        motion = _fit(strokes, start, chord, perpendicular(chord, plane[subject] + rng.normal(0.0, 0.3)), T)
        t = times(motion.duration, rate)
        return t, motion.position(t), "reach", f"reach {k}"

    return record(n, n_subjects, perform, seed=seed, rate=rate, noise=noise)


def _fit(strokes: Array, start: Array, chord: Array, side: Array, duration: float) -> SigmaLognormal:
    """Scale, rotate and shift strokes to a total displacement `chord` in `duration`."""
    t0, _, mu, sigma = strokes[:, 0], strokes[:, 1], strokes[:, 2], strokes[:, 3]
    begin, end = np.min(t0 + np.exp(mu - _TAIL * sigma)), np.max(t0 + np.exp(mu + _TAIL * sigma))
    factor = duration / (end - begin)
    # total displacement: sum of the chords
    half = 0.5 * (strokes[:, 5] - strokes[:, 4])
    total = (strokes[:, 1] * np.sinc(half / np.pi)) @ _unit(strokes[:, 4] + half)
    scaled = strokes.copy()
    scaled[:, 0] = factor * (t0 - begin)
    scaled[:, 1] *= np.linalg.norm(chord) / np.linalg.norm(total)
    scaled[:, 2] += np.log(factor)
    scaled[:, 4:] -= np.arctan2(total[1], total[0])
    return SigmaLognormal(scaled, start, np.stack([chord / np.linalg.norm(chord), side]), duration)


#: number of tasks, and seed of their parameters
_TASKS = 30
_CLASSES = ("intransitive", "transitive", "tool")
_REST = np.array([0.25, -0.25, -0.35, 0.2, 0.1, -0.3])


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
    """Return 6-DoF motions of a hand that go out and return, in thirty tasks; a substitute for recordings.

    The parameters are our choice and not fitted to people; no result about people follows from them.

    Parameters
    ----------
    n : int
        Trials: the first task of every subject, then the second task of every subject, and so on. 30 n_subjects trials
        contain every task of every subject once; further trials repeat them.
    seed : int
        Seed of subjects and trials. The tasks do not depend on it.
    n_subjects : int
        Subjects; each has a size (a factor of 7 % on lengths), a pace (15 %) and a rest pose (20 mm, 0.1 rad).
    variability : float
        Factor on all differences between trials of a task: 20 mm and 0.08 rad at every via pose, 10 % in each
        time, 30 % in each bow.
    noise, angle_noise : float
        Standard deviations of white measurement noise, m and rad.
    rate : float
        Sampling rate, Hz.

    Returns
    -------
    MotionSet
        Trials with dofs x, y, z, rx, ry, rz (forward, left, up; rotation vector), m and rad, in the frame "chest".

    Raises
    ------
    ThunderError
        For arguments out of range.

    Notes
    -----
    A task has a rest pose near the hip, one or two via poses within 0.55 m of it in front of the body (orientation up
    to 1.3 rad away), legs of 0.6 to 1.4 s and stays of 0.1 to 1.2 s. A leg between poses a and b is
    a + (b - a)(s + k h) + bow h with the minimum-jerk step s, h = 64 tau^3 (1 - tau)^3, a skew k of about 0.08 towards
    its beginning, and a bow of 10 % of its length, mostly upward. Velocity and acceleration vanish at both ends.
    Tasks are in turn intransitive (one via pose), transitive (two) and with a tool (two, and at the first an
    oscillation of 10 to 40 mm at 1 to 2 Hz under the window h).

    Examples
    --------
    >>> from thunder_py.recordings.synthetic import daily_living
    >>> motions = daily_living(12, seed=0, n_subjects=4)
    >>> motions, motions.dofs
    (<MotionSet of 12 trials, 4 subjects, 3 tasks>, ('x', 'y', 'z', 'rx', 'ry', 'rz'))
    >>> motions.tasks
    ('intransitive 1', 'transitive 1', 'tool 1')
    """
    variability = nonnegative(variability, "variability")
    rng, n_subjects = people(seed, n_subjects)
    tasks = _tasks()
    size, pace = np.exp(rng.normal(0.0, 0.07, n_subjects)), np.exp(rng.normal(0.0, 0.15, n_subjects))
    rest = _REST + rng.normal(size=(n_subjects, 6)) * np.repeat([0.02, 0.1], 3)

    def spread(shape: tuple[int, ...], deviation: float) -> Array:
        return np.asarray(np.exp(variability * rng.normal(0.0, deviation, shape)), dtype=np.float64)

    def perform(k: int, subject: int) -> tuple[Array, Array, str, str]:
        task = tasks[(k // n_subjects) % _TASKS]
        m = len(task.poses)
        poses = np.vstack([rest[subject], task.poses, rest[subject]])
        poses[:, :3] = rest[subject, :3] + size[subject] * (poses[:, :3] - rest[subject, :3])
        poses += variability * rng.normal(size=poses.shape) * np.repeat([0.02, 0.08], 3)
        legs, stays = pace[subject] * task.legs * spread((m + 1,), 0.1), pace[subject] * task.stays * spread((m,), 0.1)
        begin = np.append(0.0, np.cumsum(legs[:-1] + stays))
        t = times(float(begin[-1] + legs[-1]), rate)
        stretch = t[-1] / (begin[-1] + legs[-1])  # the duration is a whole number of steps
        x = np.tile(poses[0], (len(t), 1))
        for leg in range(m + 1):
            tau = (t / stretch - begin[leg]) / legs[leg]
            change, h = poses[leg + 1] - poses[leg], bump(tau)
            x += np.outer(step(tau) + (0.08 + variability * rng.normal(0.0, 0.03)) * h, change)
            height = task.bows[0, leg] * spread((), 0.3) * np.linalg.norm(change[:3])
            x[:, :3] += np.outer(h, float(height) * perpendicular(change[:3], task.bows[1, leg]))
        if task.stir.any():
            arrival = begin[0] + legs[0]
            window = bump((t / stretch - arrival) / max(float(begin[1] - arrival), 0.3))
            x[:, :3] += np.outer(window * np.sin(2.0 * np.pi * task.frequency * (t - arrival)), task.stir)
        return t, x, task.name, f"{task.name} {k // (n_subjects * _TASKS) + 1}"

    return record(n, n_subjects, perform, seed=seed, rate=rate, noise=noise, angle_noise=angle_noise)


def _tasks() -> list[SimpleNamespace]:
    """Return what all trials of a task share: via poses (m, 6), times of legs and stays [s], stirring, bows."""
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
            SimpleNamespace(
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
