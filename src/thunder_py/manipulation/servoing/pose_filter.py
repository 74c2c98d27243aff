"""Filtering of seen poses: a constant-velocity Kalman filter whose errors live on the tangent of SO(3) x R^3."""

from __future__ import annotations

import enum
import math
from bisect import bisect_right
from collections import deque
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import stats

from ...checks import Array, positive, whole
from ...errors import ThunderError
from ...perception.pose_source import PoseMeasurement, PoseSource, finite, is_pose, not_negative, probability
from ...values import Stateful
from .lie import exp, interpolate, left_jacobian, log, make_pose

__all__ = ["LatestPose", "PoseEstimate", "PoseFilter", "PoseHistory", "Verdict", "poll", "rigid"]


class PoseHistory(Stateful):
    """Poses of the last while, asked at times between them.

    Parameters
    ----------
    length : float
        How far back it reaches [s].
    """

    def __init__(self, length: float = 5.0) -> None:
        self._length = positive(length, "length", "s")
        self._times: deque[float] = deque()
        self._poses: deque[Array] = deque()

    def add(self, t: float, pose: Array) -> None:
        """Take in a pose (4, 4) at a time [s] after all others."""
        if self._times and finite(t, "t") <= self._times[-1]:
            raise ThunderError(f"t must go on, from {self._times[-1]:g} s, got {t:g} s")
        self._times.append(t)
        self._poses.append(pose)
        while self._times[0] < t - self._length:
            self._times.popleft()
            self._poses.popleft()

    def at(self, t: float) -> Array | None:
        """Return the pose (4, 4) at a time, or None where that is before the first or after the last one."""
        if not self._times or not self._times[0] <= t <= self._times[-1]:
            return None
        k = bisect_right(self._times, t)
        if k == len(self._times):
            return self._poses[-1]
        part = (t - self._times[k - 1]) / (self._times[k] - self._times[k - 1])
        return interpolate(self._poses[k - 1], self._poses[k], part)


#: farther away [m] nothing is seen, and squares of such numbers overflow
_FARTHEST = 1e6


def poll(source: PoseSource, t: float) -> tuple[list[PoseMeasurement], Exception | None]:
    """Ask a source; a control loop goes on where it raises an error, or answers with anything but measurements.

    Parameters
    ----------
    source : PoseSource
    t : float
        [s].

    Returns
    -------
    list of PoseMeasurement
        Empty where the source failed.
    Exception or None
        What went wrong.
    """
    try:
        found = list(source.poll(t))
        for one in found:
            if not isinstance(one, PoseMeasurement):
                raise TypeError(f"poll must return a list of PoseMeasurement, got a {type(one).__name__} in it")
    except Exception as error:  # a source may be a network, a driver, anybody's code
        return [], error
    return found, None


def rigid(pose: Any) -> Array | None:
    """Return a seen pose as an array (4, 4), or None where it is no rigid transform of sensible numbers."""
    if pose is None:
        return None
    T = np.asarray(pose, dtype=np.float64)
    if T.shape != (4, 4) or not np.abs(T).max() <= _FARTHEST or not is_pose(T):
        return None
    return T


class Verdict(enum.Enum):
    """What became of a measurement."""

    first = "the first one"
    used = "used"
    outlier = "too far from what was expected"
    restarted = "one of several that agree on another pose: the filter started again there"
    late = "older than what the filter remembers"
    invalid = "no pose"

    @property
    def counts(self) -> bool:
        """Whether the estimate rests on it."""
        return self in (Verdict.first, Verdict.used, Verdict.restarted)


@dataclass(frozen=True, slots=True, eq=False)
class PoseEstimate:
    """Where something is and how it moves.

    Attributes
    ----------
    time : float
        That it is told for [s].
    pose : (4, 4) array
    twist : (6,) array
        Linear, then angular velocity, world axes [m/s, rad/s].
    covariance : (12, 12) array
        Of the errors of position, rotation (world axes, R = exp(error) R_estimate) and twist.
    """

    time: float
    pose: Array
    twist: Array
    covariance: Array


@dataclass(frozen=True, slots=True, eq=False)
class _State:
    """A belief at the time of a picture; never changed, so that older ones can be taken up again."""

    time: float
    p: Array
    R: Array
    twist: Array
    P: Array
    rejected: tuple[Array, ...] = ()
    restarted: bool = False


class PoseFilter(Stateful):
    """Error-state Kalman filter of a pose and its twist, on an acceleration that is white noise.

    Parameters
    ----------
    position_noise, rotation_noise : float
        Standard deviation of a measurement, per axis [m, rad].
    acceleration, angular_acceleration : float
        Root of the spectral density of the accelerations, per axis [m/s^2/sqrt(Hz), rad/s^2/sqrt(Hz)]: within a time T
        the velocity changes by about this times sqrt(T).
    speed, angular_speed : float
        Standard deviation of the twist before anything is known, per axis [m/s, rad/s]; 0: at rest.
    persistence : float
        Time in which a twist decays to 1/e on its own [s]: where nothing is seen for long, things are expected to stop.
        Infinity: constant velocity.
    gate : float
        Probability with which a good measurement passes.
    readmit : int
        So many rejected measurements in a row that agree with each other start the filter again.
    memory : int
        So many measurements are remembered, for results that overtake each other.

    Notes
    -----
    Position p' = v, orientation R' = [w]x R, v and w in world axes, v' = -v / persistence + white noise (a Singer
    model). With R = exp(phi) R_estimate the errors obey, over dt, phi+ = exp(w s) phi + J_l(w s) s dw, where s is dt
    or, with decay, (1 - exp(-dt / T)) T; the measurement's innovation is log(R_measured R_estimate'). After an
    update the errors are counted from the new estimate, which turns their covariance by J_l of the correction (Sola,
    Quaternion kinematics for the error-state Kalman filter, section 6.3).

    A measurement is filtered at the time its picture was taken. One that comes late is put where it belongs and all
    that follow are filtered again, so the order of arrival does not matter within the memory. `estimate` predicts to
    any later time, which makes up for latency.
    """

    def __init__(
        self,
        position_noise: float,
        rotation_noise: float,
        *,
        acceleration: float = 0.1,
        angular_acceleration: float = 0.3,
        speed: float = 0.05,
        angular_speed: float = 0.1,
        persistence: float = np.inf,
        gate: float = 0.999,
        readmit: int = 4,
        memory: int = 16,
    ) -> None:
        noise = (positive(position_noise, "position_noise", "m"), positive(rotation_noise, "rotation_noise", "rad"))
        self._noise = _squares(*noise)
        density = (
            not_negative(acceleration, "acceleration"),
            not_negative(angular_acceleration, "angular_acceleration"),
        )
        self._density = _squares(*density)
        self._twist = _squares(not_negative(speed, "speed"), not_negative(angular_speed, "angular_speed"))
        self._decay = 1.0 / positive(persistence, "persistence", "s") if persistence != np.inf else 0.0
        if not 0.0 < probability(gate, "gate") < 1.0:
            raise ThunderError(f"gate must be between 0 and 1, got {gate!r}")
        self._gate = float(stats.chi2.ppf(gate, 6))
        self._readmit, self._memory = whole(readmit, "readmit", 2), whole(memory, "memory", 1)
        self.reset()

    def reset(self) -> None:
        """Forget everything."""
        self._times: list[float] = []  # of the measurements remembered
        self._poses: list[Array] = []
        self._states: list[_State] = []  # behind each of them
        self._before: _State | None = None  # in front of the first remembered
        self._forgotten = -np.inf

    @property
    def ready(self) -> bool:
        """Whether anything was seen."""
        return bool(self._states)

    def add(self, time: float, pose: npt.ArrayLike | None) -> Verdict:
        """Take in a measurement.

        Parameters
        ----------
        time : float
            When the picture was taken [s]; measurements may come in any order.
        pose : (4, 4) array_like or None
            What is no rigid transform of finite numbers is `Verdict.invalid` and changes nothing.
        """
        taken = finite(time, "time")
        T = rigid(pose)
        if T is None:
            return Verdict.invalid
        if taken < self._forgotten:
            return Verdict.late
        k = bisect_right(self._times, taken)
        self._times.insert(k, taken)
        self._poses.insert(k, T.copy())
        began_again = {state.time for state in self._states[k:] if state.restarted}
        del self._states[k:]
        state = self._states[k - 1] if k else self._before
        verdict = Verdict.invalid
        for j in range(k, len(self._times)):
            state, found = self._advance(state, self._times[j], self._poses[j])
            # what comes late may be what later ones lacked to agree
            again = found is Verdict.restarted and state.time not in began_again
            verdict = found if j == k or again else verdict
            self._states.append(state)
        if len(self._times) > self._memory:
            self._forgotten, self._before = self._times.pop(0), self._states.pop(0)
            self._poses.pop(0)
        return verdict

    def estimate(self, t: float) -> PoseEstimate:
        """Predict pose, twist and covariance at time `t` [s].

        Raises
        ------
        ThunderError
            Nothing was seen yet (ask `ready`).
        """
        if not self._states:
            raise ThunderError("nothing was seen yet: no pose to estimate")
        last = self._states[-1]
        at = self._predict(last, max(finite(t, "t"), last.time))
        return PoseEstimate(at.time, make_pose(at.R, at.p), at.twist, at.P)

    def _advance(self, state: _State | None, time: float, T: Array) -> tuple[_State, Verdict]:
        """Return the state behind a measurement."""
        if state is None:
            return self._start(time, T), Verdict.first
        at = self._predict(state, time)
        y = np.concatenate((T[:3, 3] - at.p, log(T[:3, :3] @ at.R.T)))
        S = at.P[:6, :6] + np.diag(self._noise)
        gain = np.linalg.solve(S, np.column_stack((at.P[:6], y)))
        if not float(y @ gain[:, -1]) <= self._gate:
            rejected = (*at.rejected, T)[-self._readmit :]
            if len(rejected) == self._readmit and self._agree(rejected):
                return replace(self._start(time, T), restarted=True), Verdict.restarted
            return _State(time, at.p, at.R, at.twist, at.P, rejected), Verdict.outlier
        K: Array = np.asarray(gain[:, :-1].T, dtype=np.float64)
        step = K @ y
        P = _joseph(at.P, K, self._noise)
        G = np.eye(12)
        G[3:6, 3:6] = left_jacobian(step[3:6])
        R = exp(step[3:6]) @ at.R
        return _State(time, at.p + step[:3], R, at.twist + step[6:], G @ P @ G.T), Verdict.used

    def _start(self, time: float, T: Array) -> _State:
        P = np.diag(np.concatenate((self._noise, self._twist)))
        # a rotation to rounding, however it was sent
        return _State(time, T[:3, 3].copy(), exp(log(T[:3, :3])), np.zeros(6), P)

    def _agree(self, poses: tuple[Array, ...]) -> bool:
        """Whether poses differ from the last of them by no more than two measurements do."""
        last = poses[-1]
        for T in poses[:-1]:
            y = np.concatenate((T[:3, 3] - last[:3, 3], log(T[:3, :3] @ last[:3, :3].T)))
            if float(y @ (y / (2.0 * self._noise))) > self._gate:
                return False
        return True

    def _predict(self, s: _State, time: float) -> _State:
        dt = time - s.time
        if dt <= 0.0:
            return s
        span, keep, noise = self._decayed(dt)
        turn = span * s.twist[3:]
        R_step, F = exp(turn), keep * np.eye(12)
        F[:3, :3], F[:3, 6:9] = np.eye(3), span * np.eye(3)
        F[3:6, 3:6], F[3:6, 9:] = R_step, span * left_jacobian(turn)
        P = F @ s.P @ F.T
        # the turn within dt is neglected in the noise alone
        diagonal, S = np.arange(6), self._density
        P[diagonal, diagonal] += noise[0] * S
        P[diagonal, diagonal + 6] += noise[1] * S
        P[diagonal + 6, diagonal] += noise[1] * S
        P[diagonal + 6, diagonal + 6] += noise[2] * S
        return _State(time, s.p + span * s.twist[:3], R_step @ s.R, keep * s.twist, P, s.rejected)

    def _decayed(self, dt: float) -> tuple[float, float, tuple[float, float, float]]:
        """Return what a twist is multiplied by for the motion, what is left of it, and the integrals of the noise."""
        x = self._decay * dt
        if x < 1e-4:  # the next terms are x times as large
            return dt, 1.0 - x, (dt**3 / 3.0, dt**2 / 2.0, dt)
        keep, gone, a = math.exp(-x), -math.expm1(-x), self._decay
        position = (x - gone - 0.5 * gone**2) / a**3
        return gone / a, keep, (position, 0.5 * gone**2 / a**2, -0.5 * math.expm1(-2.0 * x) / a)


class LatestPose(Stateful):
    """No filter: the pose of the latest picture, at rest, as sure as one measurement; for comparison.

    Parameters
    ----------
    position_noise, rotation_noise : float
        Standard deviation of a measurement, per axis [m, rad].
    """

    def __init__(self, position_noise: float, rotation_noise: float) -> None:
        noise = (positive(position_noise, "position_noise", "m"), positive(rotation_noise, "rotation_noise", "rad"))
        self._covariance = np.diag(np.concatenate((_squares(*noise), np.zeros(6))))
        self.reset()

    def reset(self) -> None:
        """Forget everything."""
        self._last: tuple[float, Array] | None = None

    @property
    def ready(self) -> bool:
        """Whether anything was seen."""
        return self._last is not None

    def add(self, time: float, pose: npt.ArrayLike | None) -> Verdict:
        """Take in a measurement: as `PoseFilter.add`, but older pictures than the latest are `Verdict.late`."""
        taken = finite(time, "time")
        T = rigid(pose)
        if T is None:
            return Verdict.invalid
        if self._last is None:
            self._last = (taken, T.copy())
            return Verdict.first
        if taken < self._last[0]:
            return Verdict.late
        self._last = (taken, T.copy())
        return Verdict.used

    def estimate(self, t: float) -> PoseEstimate:
        """Return the latest pose, whatever the time."""
        if self._last is None:
            raise ThunderError("nothing was seen yet: no pose to estimate")
        return PoseEstimate(finite(t, "t"), self._last[1], np.zeros(6), self._covariance)


def _squares(linear: float, angular: float) -> Array:
    return np.repeat((linear**2, angular**2), 3)


def _joseph(P: Array, K: Array, noise: Array) -> Array:
    """Covariance behind an update, in the form that stays positive for any gain."""
    A: Array = np.eye(len(P))
    A[:, :6] -= K
    return A @ P @ A.T + (K * noise) @ K.T
