"""Reference of a joint-space controller: successive trajectories, joined without jumps."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..checks import Array
from ..errors import ThunderError
from ..reference import JointReference
from ..robot import Robot
from ..trajectory.joint import JointTrajectory, increasing, spline
from ..trajectory.timing import quintic_coefficients
from .command import Reason

__all__ = ["REST", "JointFollower", "JointMotion", "check_limits", "lead_in", "make_motion", "offset"]

#: largest final speed of a trajectory that ends at rest [rad/s or m/s]
REST = 1e-3
#: samples of each piece at which limits are checked
_PER_PIECE = 8
_SLACK = 1.001


class JointMotion(NamedTuple):
    """A trajectory on the loop's clock.

    Attributes
    ----------
    start, end : float
        Times [s].
    trajectory : JointTrajectory or None
        None for a single point.
    first, last : JointReference
        References at its start and end.
    """

    start: float
    end: float
    trajectory: JointTrajectory | None
    first: JointReference
    last: JointReference

    @property
    def rests(self) -> bool:
        """True if it ends at rest."""
        return bool(np.abs(self.last.dq).max() < REST)

    def at(self, t: float) -> JointReference:
        """Return the reference at time t [s]; after the end, the last position at rest."""
        if self.trajectory is not None and t < self.end:
            return JointReference(*self.trajectory.at(t))
        still = np.zeros_like(self.last.q)
        return JointReference(self.last.q, still, still)

    def positions(self, times: Array) -> Array:
        """Return the positions at times (m,) from its start on, (m, n)."""
        if self.trajectory is None:
            return np.broadcast_to(self.last.q, (times.size, self.last.q.size))
        return self.trajectory(np.minimum(times, self.end)).q


def make_motion(start: float, times: Array, q: Array, dq: Array | None, ddq: Array | None) -> JointMotion:
    """Return the motion through points.

    Positions alone are joined by a cubic spline from rest to rest, positions and velocities by cubics, with
    accelerations by quintics.

    Parameters
    ----------
    start : float
        Start on the loop's clock [s].
    times : (m,) array
        Times after the start [s], increasing, the first one not negative.
    q : (m, n) array
        Positions [rad or m].
    dq, ddq : (m, n) array, optional
        Their derivatives.
    """
    at = increasing(times, "times", 1)
    if at[0] < 0.0:
        raise ThunderError(f"times must not be negative, got {at[0]:g}")
    if not np.isfinite(q).all() or any(x is not None and not np.isfinite(x).all() for x in (dq, ddq)):
        raise ThunderError("points must be finite")
    from scipy.interpolate import CubicHermiteSpline

    m, still = at.size, np.zeros_like(q[0])
    v, a = (np.zeros_like(q) if x is None else x for x in (dq, ddq))
    trajectory = None
    if m > 1 and dq is None:
        trajectory = JointTrajectory(start + at, spline(at, q).coefficients)
    elif m > 1 and ddq is None:
        trajectory = JointTrajectory(start + at, CubicHermiteSpline(at, q, v).c)
    elif m > 1:
        T = np.diff(at)[:, None]
        pieces = quintic_coefficients(T, q[:-1], v[:-1], a[:-1], q[1:], v[1:], a[1:])
        trajectory = JointTrajectory(start + at, pieces)
    first = JointReference(q[0], v[0], a[0]) if trajectory is None else JointReference(*trajectory.at(start + at[0]))
    last = JointReference(q[-1], still if dq is None else v[-1], a[-1])
    return JointMotion(start + float(at[0]), start + float(at[-1]), trajectory, first, last)


def lead_in(motion: JointMotion, t: float, now: JointReference) -> JointMotion:
    """Return the motion with a quintic before it, from the reference `now` at t to its first point."""
    first = motion.first
    T = np.array([[motion.start - t]])
    ends = [x[None] for x in (now.q, now.dq, now.ddq, first.q, first.dq, first.ddq)]
    lead = quintic_coefficients(T, *ends)
    breaks, pieces = [t, motion.start], lead
    if motion.trajectory is not None:
        rest = motion.trajectory.coefficients
        padded = np.concatenate([np.zeros((6 - rest.shape[0], *rest.shape[1:])), rest])
        pieces = np.concatenate([lead, padded], axis=1)
        breaks = [t, *motion.trajectory.breaks]
    return JointMotion(t, motion.end, JointTrajectory(breaks, pieces), now, motion.last)


def offset(t: float, gap: JointReference, speed: Array, shortest: float) -> JointMotion:
    """Return the offset that joins a new reference to the old one: `gap` at first, zero in the end.

    A difference of positions fades with at most the given speed. One of velocities and accelerations fades over the
    shortest time, because it would lead far away otherwise. Both follow quintics: the sum is continuous up to
    acceleration.

    Parameters
    ----------
    t : float
        Start [s].
    gap : JointReference
        Old reference less the new one.
    speed : (n,) array
        Largest speed [rad/s or m/s].
    shortest : float
        Shortest duration [s].
    """
    none = np.zeros_like(gap.q)
    # 15/8: peak speed of the quintic from rest to rest over its mean
    longest = max(shortest, 1.875 * float((np.abs(gap.q) / speed).max()))
    place = quintic_coefficients(longest, gap.q, none, none, none, none, none)
    rates = quintic_coefficients(shortest, none, gap.dq, gap.ddq, none, none, none)
    if longest == shortest:
        trajectory = JointTrajectory([t, t + shortest], (place + rates)[:, None])
    else:
        breaks = [t, t + shortest, t + longest]
        trajectory = JointTrajectory(breaks, np.stack([place + rates, _shifted(place, shortest)], axis=1))
    still = JointReference(none, none, none)
    return JointMotion(t, t + longest, trajectory, gap, still)


def _shifted(coefficients: Array, by: float) -> Array:
    """Return the coefficients (6, n) of p(t + by) from those of p(t)."""
    from numpy.polynomial.polynomial import polyval

    rising = coefficients[::-1]
    shifted, factor = [], 1.0
    for k in range(6):
        shifted.append(polyval(by, rising) / factor)
        rising = rising[1:] * np.arange(1, 6 - k)[:, None]
        factor *= k + 1.0
    return np.array(shifted[::-1])


def check_limits(robot: Robot, motion: JointMotion) -> None:
    """Raise `ThunderError` if the motion leaves the robot's limits of position or speed."""
    limits = robot.limits
    q, dq = motion.first.q[None], motion.first.dq[None]
    if motion.trajectory is not None:
        breaks = motion.trajectory.breaks
        part = np.arange(_PER_PIECE) / _PER_PIECE
        times = np.append((breaks[:-1, None] + np.diff(breaks)[:, None] * part).ravel(), breaks[-1])
        q, dq, _ = motion.trajectory(times)
    for j, name in enumerate(robot.joint_names):
        low, high = q[:, j].min(), q[:, j].max()
        if low < limits.lower[j] or high > limits.upper[j]:
            raise ThunderError(f"{name} must stay within {limits.lower[j]:g} and {limits.upper[j]:g}, "
                               f"got {low:g} to {high:g}")  # fmt: skip
        if np.abs(dq[:, j]).max() > _SLACK * limits.velocity[j]:
            raise ThunderError(
                f"{name} must not pass {limits.velocity[j]:g}, got {np.abs(dq[:, j]).max():g} per second"
            )


#: time over which a difference of velocities fades; the shortest one for positions [s]
_JOINING = 0.25
#: largest initial acceleration of a fading difference, in speeds per that time: its speed stays below the limit
_STEEPEST = 15.0
#: smallest difference that is joined [rad or m, and per second]
_NO_JUMP = 1e-9
#: smallest difference whose path is checked [rad or m, and per second], and number of samples of the check
_SMALL_JUMP, _INSTANTS = 1e-2, 40


class JointFollower:
    """Follow the newest trajectory.

    A trajectory starts with the next state. If its first point is in the future, a quintic leads there from the
    reference, or from the measured state without one; if it has begun, the difference fades
    (`thunder_py.realtime.joint_follower.offset`). A trajectory that ends at rest is held at its end; the reference is
    lost at the end of one that does not.

    Parameters
    ----------
    robot : Robot
        Robot with its limits.
    speed : (n,) array
        Speed with which a jump is removed [rad/s or m/s].

    Attributes
    ----------
    why : Reason
        Reason for the lack of a reference.
    refused : int
        Number of trajectories that could not be joined within the limits.
    """

    def __init__(self, robot: Robot, speed: Array) -> None:
        self._robot, self._speed = robot, speed
        self._zero = np.zeros(robot.n)
        self.refused = 0
        self.drop(Reason.no_reference)

    def drop(self, why: Reason) -> None:
        """Drop the reference."""
        self.why = why
        self._pending: JointMotion | None = None
        self._motion: JointMotion | None = None
        self._offset: JointMotion | None = None
        self._last: JointReference | None = None

    def rejoin(self) -> None:
        """Continue from the measured state, because the arm did not follow the reference."""
        self._last = None

    def take(self, motion: JointMotion) -> None:
        """Follow this motion from the next state on; it replaces one that has not started."""
        self._pending = motion

    def at(self, t: float, q: Array, dq: Array) -> JointReference | None:
        """Return the reference at time t of an arm at q, dq, or None; `why` has the reason."""
        pending = self._pending
        if pending is not None:
            self._pending = None
            self._begin(pending, t, q, dq)
        motion = self._motion
        if motion is None:
            return None
        if t > motion.end and not motion.rests:
            self.drop(Reason.reference_ended)
            return None
        new = motion.at(t)
        if self._last is None and not self._join(motion, t, JointReference(q, dq, new.ddq)):
            self.drop(Reason.reference_ended)
            return None
        if self._offset is not None:
            if t < self._offset.end:
                new = JointReference(*(a + b for a, b in zip(new, self._offset.at(t), strict=True)))
            else:
                self._offset = None
        self._last = new
        return new

    def _begin(self, motion: JointMotion, t: float, q: Array, dq: Array) -> None:
        """Start a motion in place of the present one."""
        now = self._now(t, q, dq)
        if motion.start <= t:
            if self._join(motion, t, now):
                self._motion = motion
            return
        led = lead_in(motion, t, now)
        try:
            check_limits(self._robot, led)
        except ThunderError:
            self.refused += 1
            return
        self._motion, self._offset, self._last = led, None, now

    def _now(self, t: float, q: Array, dq: Array) -> JointReference:
        """Return the reference at t, or the measured state without one."""
        if self._motion is None or self._last is None:
            return JointReference(q, dq, self._zero)
        parts = self._motion.at(t)
        if self._offset is not None and t < self._offset.end:
            parts = JointReference(*(a + b for a, b in zip(parts, self._offset.at(t), strict=True)))
        return parts

    def _join(self, motion: JointMotion, t: float, was: JointReference) -> bool:
        """Join a motion to the old reference with a fading difference; return whether that is within the limits."""
        gap = JointReference(*(a - b for a, b in zip(was, motion.at(t), strict=True)))
        # a larger one would lead far away before it fades, so the acceleration jumps instead
        steepest = _STEEPEST * self._speed / _JOINING
        gap = gap._replace(ddq=np.clip(gap.ddq, -steepest, steepest))
        most = max(np.abs(gap.q).max(), np.abs(gap.dq).max())
        fading = offset(t, gap, self._speed, _JOINING) if most > _NO_JUMP else None
        if fading is not None and most > _SMALL_JUMP and not self._fits(motion, fading, t, was.q):
            self.refused += 1
            return False
        self._last, self._offset = was, fading
        return True

    def _fits(self, motion: JointMotion, fading: JointMotion, t: float, q: Array) -> bool:
        """Return whether the sum is within the position limits, or not further beyond them than at its start."""
        times = np.linspace(t, fading.end, _INSTANTS)
        way, limits = motion.positions(times) + fading.positions(times), self._robot.limits
        low, high = np.minimum(limits.lower, q) - _SMALL_JUMP, np.maximum(limits.upper, q) + _SMALL_JUMP
        return bool(((way >= low) & (way <= high)).all())
