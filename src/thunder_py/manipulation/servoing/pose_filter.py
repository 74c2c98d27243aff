"""Filtering of measured poses: a constant-velocity Kalman filter with errors on the tangent of SO(3) x R^3."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import deque
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import stats

from ...checks import Array, finite, is_pose, nonnegative, positive, whole, within
from ...errors import ThunderError
from ...perception.pose_source import PoseMeasurement, PoseSource
from ...spatial.single import exp, interpolate, left_jacobian, log, make_pose
from ...values import Stateful, StrEnum


class PoseHistory(Stateful):
    """Recent poses, interpolated at times between them.

    Parameters
    ----------
    length : float
        Length of the history [s].
    """

    def __init__(self, length: float = 5.0) -> None:
        self._length = positive(length, "length", "s")
        self._times: deque[float] = deque()
        self._poses: deque[Array] = deque()

    def add(self, t: float, pose: Array) -> None:
        """Append a pose (4, 4) at a time [s] later than all others."""
        if self._times and finite(t, "t") <= self._times[-1]:
            raise ThunderError(f"t must be after the last time, {self._times[-1]:g} s, got {t:g} s")
        self._times.append(t)
        self._poses.append(pose)
        while self._times[0] < t - self._length:
            self._times.popleft()
            self._poses.popleft()

    def at(self, t: float) -> Array | None:
        """Return the pose (4, 4) at a time [s], or None before the first and after the last one."""
        if not self._times or not self._times[0] <= t <= self._times[-1]:
            return None
        k = bisect_right(self._times, t)
        if k == len(self._times):
            return self._poses[-1]
        part = (t - self._times[k - 1]) / (self._times[k] - self._times[k - 1])
        return interpolate(self._poses[k - 1], self._poses[k], part)


#: largest coordinate of a seen pose [m]; squares of larger numbers might overflow
_FARTHEST = 1e6


def poll(source: PoseSource, t: float) -> tuple[list[PoseMeasurement], Exception | None]:
    """Poll a source without raising, so that its errors do not stop a control loop.

    Parameters
    ----------
    source : PoseSource
        Source to poll.
    t : float
        Time [s].

    Returns
    -------
    list of PoseMeasurement
        Empty if the source failed.
    Exception or None
        Error of the source, or a TypeError if it returned anything but measurements.
    """
    try:
        measurements = list(source.poll(t))
        for entry in measurements:
            if not isinstance(entry, PoseMeasurement):
                raise TypeError(f"poll must return a list of PoseMeasurement, got a {type(entry).__name__} in it")
    except Exception as error:  # a source may be a network, a driver or any other code
        return [], error
    return measurements, None


def rigid(pose: Any) -> Array | None:
    """Return a seen pose as an array (4, 4), or None if it is not a rigid transform of finite numbers below 1e6."""
    if pose is None:
        return None
    T = np.asarray(pose, dtype=np.float64)
    if T.shape != (4, 4) or not np.abs(T).max() <= _FARTHEST or not is_pose(T):
        return None
    return T


class Verdict(StrEnum):
    """Verdict on a measurement."""

    first = "the first one"
    used = "used"
    outlier = "too far from what was expected"
    restarted = "one of several that agree on another pose: the filter started again there"
    late = "older than what the filter remembers"
    invalid = "no pose"

    @property
    def counts(self) -> bool:
        """True if the estimate uses it."""
        return self in (Verdict.first, Verdict.used, Verdict.restarted)


@dataclass(frozen=True, slots=True, eq=False)
class PoseEstimate:
    """Estimate of a pose and its twist.

    Attributes
    ----------
    time : float
        Time of the estimate [s].
    pose : (4, 4) array
        Filtered pose of the object.
    twist : (6,) array
        Linear, then angular velocity, world axes [m/s, rad/s].
    covariance : (12, 12) array
        Covariance of the errors of position, rotation (world axes, R = exp(error) R_estimate) and twist.
    """

    time: float
    pose: Array
    twist: Array
    covariance: Array


@dataclass(frozen=True, slots=True, eq=False)
class _State:
    """State of the filter at the time of a picture; immutable, so that older ones can be resumed."""

    time: float
    p: Array
    R: Array
    twist: Array
    P: Array
    rejected: tuple[Array, ...] = ()
    restarted: bool = False


class PoseFilter(Stateful):
    """Error-state Kalman filter of a pose and its twist, driven by white acceleration.

    Parameters
    ----------
    position_noise, rotation_noise : float
        Standard deviation of a measurement, per axis [m, rad].
    acceleration, angular_acceleration : float
        Root of the spectral density of the accelerations, per axis [m/s^2/sqrt(Hz), rad/s^2/sqrt(Hz)]: within a time T
        the velocity changes by about this times sqrt(T).
    speed, angular_speed : float
        Standard deviation of the initial twist, per axis [m/s, rad/s]; 0: at rest.
    persistence : float
        Time constant with which a twist decays without measurements [s]; infinity: constant velocity.
    gate : float
        Probability with which a good measurement passes the gate.
    readmit : int
        Number of consecutive rejected measurements, in agreement with each other, that restart the filter.
    memory : int
        Number of measurements in memory, for results that arrive out of order.

    Raises
    ------
    ThunderError
        If a number is out of range.

    Notes
    -----
    Position p' = v, orientation R' = [w]x R, v and w in world axes, v' = -v / persistence + white noise (a Singer
    model). With R = exp(phi) R_estimate the errors obey, over dt, phi+ = exp(w s) phi + J_l(w s) s dw, where s is dt
    or, with decay, (1 - exp(-dt / T)) T; the measurement's innovation is log(R_measured R_estimate'). After an
    update the errors are counted from the new estimate, which turns their covariance by J_l of the correction (Sola,
    Quaternion kinematics for the error-state Kalman filter, section 6.3).

    A measurement is filtered at the time of its picture. A late one is inserted at its time and all that follow are
    filtered again, so the order of arrival does not matter within the memory. `estimate` predicts to any later time,
    which compensates latency.

    Examples
    --------
    >>> from thunder_py.manipulation import PoseFilter
    >>> from thunder_py.spatial import pose_from_rpy
    >>> filter = PoseFilter(position_noise=0.003, rotation_noise=0.02, speed=0.5)
    >>> for k in (0, 1, 2, 4, 3):  # in the order of arrival
    ...     verdict = filter.add(0.1 * k, pose_from_rpy((0.5, 0.026 * k, 0.1)))
    >>> estimate = filter.estimate(0.6)
    >>> round(float(estimate.pose[1, 3]), 2), round(float(estimate.twist[1]), 2)
    (0.16, 0.26)
    >>> filter.add(0.5, pose_from_rpy((2.0, 0.0, 0.1))).name
    'outlier'
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
            nonnegative(acceleration, "acceleration"),
            nonnegative(angular_acceleration, "angular_acceleration"),
        )
        self._density = _squares(*density)
        self._twist = _squares(nonnegative(speed, "speed"), nonnegative(angular_speed, "angular_speed"))
        self._decay = 1.0 / positive(persistence, "persistence", "s") if persistence != np.inf else 0.0
        if not 0.0 < within(gate, "gate", 0.0, 1.0) < 1.0:
            raise ThunderError(f"gate must be between 0 and 1, got {gate!r}")
        self._gate = float(stats.chi2.ppf(gate, 6))
        self._readmit, self._memory = whole(readmit, "readmit", 2), whole(memory, "memory", 1)
        self.reset()

    def reset(self) -> None:
        """Discard all measurements."""
        self._times: list[float] = []  # of the measurements in memory
        self._poses: list[Array] = []
        self._states: list[_State] = []  # after each of them
        self._before: _State | None = None  # before the first of them
        self._forgotten = -np.inf

    @property
    def ready(self) -> bool:
        """True if there is a measurement."""
        return bool(self._states)

    def add(self, time: float, pose: npt.ArrayLike | None) -> Verdict:
        """Process a measurement.

        Parameters
        ----------
        time : float
            Time of the picture [s]; measurements may arrive in any order.
        pose : (4, 4) array_like or None
            Anything but a rigid transform of finite numbers gives `Verdict.invalid` and changes nothing.
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
            state, result = self._advance(state, self._times[j], self._poses[j])
            # a late measurement may complete a group of later ones that agree
            again = result is Verdict.restarted and state.time not in began_again
            verdict = result if j == k or again else verdict
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
            If there is no measurement yet (see `ready`).
        """
        if not self._states:
            raise ThunderError("nothing was seen yet: no pose to estimate")
        last = self._states[-1]
        at = self._predict(last, max(finite(t, "t"), last.time))
        return PoseEstimate(at.time, make_pose(at.R, at.p), at.twist, at.P)

    def _advance(self, state: _State | None, time: float, T: Array) -> tuple[_State, Verdict]:
        """Return the state after a measurement."""
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
        # exp(log(R)) is a rotation to rounding, unlike the measured matrix
        return _State(time, T[:3, 3].copy(), exp(log(T[:3, :3])), np.zeros(6), P)

    def _agree(self, poses: tuple[Array, ...]) -> bool:
        """Return whether the poses differ from the last of them by no more than two measurements do."""
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
        """Return the effective duration of a twist, its remaining fraction, and the integrals of the noise."""
        x = self._decay * dt
        if x < 1e-4:  # the next terms are x times as large
            return dt, 1.0 - x, (dt**3 / 3.0, dt**2 / 2.0, dt)
        keep, gone, a = math.exp(-x), -math.expm1(-x), self._decay
        position = (x - gone - 0.5 * gone**2) / a**3
        return gone / a, keep, (position, 0.5 * gone**2 / a**2, -0.5 * math.expm1(-2.0 * x) / a)


class LatestPose(Stateful):
    """The pose of the latest picture, at rest, with the covariance of one measurement; for comparison.

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
        """Discard the measurement."""
        self._last: tuple[float, Array] | None = None

    @property
    def ready(self) -> bool:
        """True if there is a measurement."""
        return self._last is not None

    def add(self, time: float, pose: npt.ArrayLike | None) -> Verdict:
        """Process a measurement as `PoseFilter.add` does, but with `Verdict.late` for pictures before the latest."""
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
        """Return the latest pose, independent of the time."""
        if self._last is None:
            raise ThunderError("nothing was seen yet: no pose to estimate")
        return PoseEstimate(finite(t, "t"), self._last[1], np.zeros(6), self._covariance)


def _squares(linear: float, angular: float) -> Array:
    return np.repeat((linear**2, angular**2), 3)


def _joseph(P: Array, K: Array, noise: Array) -> Array:
    """Return the covariance after an update, in the form that stays positive for any gain."""
    A: Array = np.eye(len(P))
    A[:, :6] -= K
    return A @ P @ A.T + (K * noise) @ K.T
