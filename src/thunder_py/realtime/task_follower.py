"""Reference of a task-space controller: a stream of poses and twists, followed with bounded speed."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from ..checks import Array
from ..reference import TaskReference
from ..spatial.single import Quaternion, matrix_of, quaternion_of, rotation_vector, turned
from .command import Reason
from .configuration import TaskLimits

__all__ = ["TaskFollower"]

Triple = tuple[float, float, float]
#: longest step of the clock that is integrated [s]
_LONGEST_STEP = 0.02
#: tolerance on the length of a quaternion
_UNIT = 1e-3
#: largest distance or speed [m, m/s, rad/s]; its square is finite
_LARGEST = 1e6
#: fraction of the largest acceleration that braking uses
_BRAKING = 0.8
#: bandwidth of the acceleration's first-order lag, in bandwidths: the approach then has a damping ratio of 0.8
_SMOOTHING = 5.0


class TaskFollower:
    """Follow the newest pose and twist along a motion that is continuous up to acceleration.

    The reference is the state of a virtual rigid body. It approaches the goal, which is the last pose moved on by the
    last twist, with damping, bounded speed and acceleration (`TaskLimits`), and continuous acceleration. A jump of the
    messages thus causes no jump of the torque. A twist without poses moves the goal. The stream is lost after a time
    without both.

    Parameters
    ----------
    limits : TaskLimits
        Limits of speed and acceleration.
    timeout : float
        Time without a message after which the stream is lost [s].

    Attributes
    ----------
    why : Reason
        Reason for the lack of a reference.
    """

    def __init__(self, limits: TaskLimits, timeout: float) -> None:
        self._limits, self._timeout = limits, timeout
        self.drop(Reason.no_reference)

    def drop(self, why: Reason) -> None:
        """Drop the reference."""
        self.why = why
        self._t: float | None = None
        self._goal: tuple[Triple, Quaternion] | None = None
        self._goal_time = self._pose_time = self._twist_time = -math.inf
        self._twist: tuple[Triple, Triple] = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))

    def rejoin(self) -> None:
        """Continue from the measured pose, because the arm did not follow the reference."""
        self._t = None

    def take_pose(self, t: float, p: Sequence[float], quaternion: Sequence[float]) -> str | None:
        """Accept a pose of time t; return None, or the reason for a refusal."""
        if t <= self._pose_time:
            return "reordered"
        position, turn = _triple(p), tuple(float(x) for x in quaternion)
        if position is None or len(turn) != 4 or not math.isfinite(sum(turn)):
            return "not_finite"
        length = math.sqrt(sum(x * x for x in turn))
        if abs(length - 1.0) > _UNIT:
            return "no_rotation"
        if _length(position) > _LARGEST:
            return "too_large"
        x, y, z, w = (entry / length for entry in turn)
        self._goal, self._goal_time, self._pose_time = (position, (x, y, z, w)), t, t
        return None

    def take_twist(self, t: float, linear: Sequence[float], angular: Sequence[float]) -> str | None:
        """Accept a twist of time t; return None, or the reason for a refusal."""
        if t <= self._twist_time:
            return "reordered"
        v, w = _triple(linear), _triple(angular)
        if v is None or w is None:
            return "not_finite"
        if max(_length(v), _length(w)) > _LARGEST:
            return "too_large"
        # bounded, because a goal that runs ahead would still be followed after the twist has become zero
        v, w = _bounded(v, self._limits.speed), _bounded(w, self._limits.turning)
        if self._goal is not None and t > self._goal_time:
            self._goal, self._goal_time = self._goal_at(t), t
        self._twist, self._twist_time = (v, w), t
        return None

    def at(self, t: float, measured: Callable[[], tuple[Array, Array]]) -> TaskReference | None:
        """Return the reference at time t, or None; `why` has the reason.

        Parameters
        ----------
        t : float
            Time [s].
        measured : callable
            Returns pose (4, 4) and twist (6,) of the frame; called when the stream is joined.
        """
        if max(self._pose_time, self._twist_time) < t - self._timeout:
            if self._goal is not None or self._twist_time > -math.inf:
                self.drop(Reason.reference_ended)
            return None
        if self._t is None:
            self._start(t, *measured())
        dt = min(max(t - self._t, 0.0), _LONGEST_STEP)  # type: ignore[operator]
        self._t = t
        return self._step(t, dt)

    def _start(self, t: float, T: Array, xi: Array) -> None:
        x, y, z = (float(entry) for entry in T[:3, 3])
        self._p, self._R = (x, y, z), quaternion_of(T[:3, :3])
        self._v: Triple = tuple(float(entry) for entry in xi[:3])  # type: ignore[assignment]
        self._w: Triple = tuple(float(entry) for entry in xi[3:])  # type: ignore[assignment]
        self._a: Triple = (0.0, 0.0, 0.0)
        self._b: Triple = (0.0, 0.0, 0.0)
        self._t = t
        if self._goal is None or self._pose_time < t - self._timeout:
            self._goal, self._goal_time = (self._p, self._R), t

    def _goal_at(self, t: float) -> tuple[Triple, Quaternion]:
        """Return the goal at time t, moved on by the twist."""
        assert self._goal is not None
        (x, y, z), R = self._goal
        dt = t - self._goal_time
        if self._twist_time < t - self._timeout or dt == 0.0:
            return self._goal
        v, w = self._twist
        return (x + dt * v[0], y + dt * v[1], z + dt * v[2]), turned(R, dt * w[0], dt * w[1], dt * w[2])

    def _step(self, t: float, dt: float) -> TaskReference:
        limits, (goal, turn) = self._limits, self._goal_at(t)
        still = (0.0, 0.0, 0.0)
        v, w = self._twist if self._twist_time >= t - self._timeout else (still, still)
        away = (goal[0] - self._p[0], goal[1] - self._p[1], goal[2] - self._p[2])
        a = _approach(away, v, self._v, limits.bandwidth, limits.speed, limits.acceleration, dt)
        b = _approach(
            rotation_vector(turn, self._R),
            w,
            self._w,
            limits.bandwidth,
            limits.turning,
            limits.angular_acceleration,
            dt,
        )
        part = 1.0 - math.exp(-_SMOOTHING * limits.bandwidth * dt)
        a, b = _between(self._a, a, part), _between(self._b, b, part)
        self._a, self._b = a, b
        self._v, self._w = _moved(self._v, a, dt), _moved(self._w, b, dt)
        self._p = _moved(self._p, self._v, dt)
        self._R = turned(self._R, dt * self._w[0], dt * self._w[1], dt * self._w[2])
        return TaskReference(np.array(self._p), matrix_of(self._R), np.array(self._v + self._w), np.array(a + b))


def _triple(values: Sequence[float]) -> Triple | None:
    """Return three finite numbers, or None."""
    numbers = tuple(float(x) for x in values)
    return numbers if len(numbers) == 3 and math.isfinite(sum(numbers)) else None


def _bounded(x: Triple, most: float) -> Triple:
    large = _length(x)
    return x if large <= most else (x[0] * most / large, x[1] * most / large, x[2] * most / large)


def _moved(x: Triple, v: Triple, dt: float) -> Triple:
    return x[0] + dt * v[0], x[1] + dt * v[1], x[2] + dt * v[2]


def _between(x: Triple, y: Triple, part: float) -> Triple:
    return x[0] + part * (y[0] - x[0]), x[1] + part * (y[1] - x[1]), x[2] + part * (y[2] - x[2])


def _length(x: Triple) -> float:
    return math.sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2])


def _approach(e: Triple, v_d: Triple, v: Triple, bandwidth: float, speed: float, most: float, dt: float) -> Triple:
    """Return the acceleration that reduces e: critically damped at small distance, with braking at large distance."""
    distance = _length(e)
    rate = 0.5 * bandwidth  # 1/s, with a gain of 2 bandwidth on the velocity: critical damping
    if rate * distance > math.sqrt(2.0 * _BRAKING * most * distance):
        rate = math.sqrt(2.0 * _BRAKING * most / distance)
    desired = (v_d[0] + rate * e[0], v_d[1] + rate * e[1], v_d[2] + rate * e[2])
    fast = _length(desired)
    scale = speed / fast if fast > speed else 1.0
    gain = min(2.0 * bandwidth, 1.0 / dt if dt > 0.0 else 0.0)
    a = (
        gain * (scale * desired[0] - v[0]),
        gain * (scale * desired[1] - v[1]),
        gain * (scale * desired[2] - v[2]),
    )
    return _bounded(a, most)
