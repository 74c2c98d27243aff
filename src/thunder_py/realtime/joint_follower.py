"""The reference that a joint-space controller gets: trajectories one after the other, joined without jumps."""

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

__all__ = ["JointFollower", "JointMotion", "check_limits", "lead_in", "make_motion", "offset"]

#: largest speed with which a trajectory may end and still counts as ended at rest [rad/s or m/s]
_REST = 1e-3
#: instants of each piece at which limits are checked
_PER_PIECE = 8
_SLACK = 1.001


class JointMotion(NamedTuple):
    """A trajectory on the loop's clock.

    Attributes
    ----------
    start, end : float
        [s].
    trajectory : JointTrajectory or None
        None where there is one point only.
    first, last : JointReference
        At its start and end.
    """

    start: float
    end: float
    trajectory: JointTrajectory | None
    first: JointReference
    last: JointReference

    @property
    def rests(self) -> bool:
        """Whether it ends at rest, so that its end may be held."""
        return bool(np.abs(self.last.dq).max() < _REST)

    def at(self, t: float) -> JointReference:
        """Return the reference at time t; from the end on, the last position at rest."""
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
        On the loop's clock [s].
    times : (m,) array
        From the start [s], increasing, the first one not negative.
    q : (m, n) array
        [rad or m].
    dq, ddq : (m, n) array, optional
        Their derivatives.
    """
    at = increasing(times, "times", 1)
    if at[0] < 0.0:
        raise ThunderError(f"times must not be negative, got {at[0]:g}")
    if not np.isfinite(q).all() or any(x is not None and not np.isfinite(x).all() for x in (dq, ddq)):
        raise ThunderError("points must be finite")
    m, still = at.size, np.zeros_like(q[0])
    v, a = (np.zeros_like(q) if x is None else x for x in (dq, ddq))
    trajectory = None
    if m > 1 and dq is None:
        made = spline(at, q)
        trajectory = JointTrajectory(start + at, made.coefficients)
    elif m > 1 and ddq is None:
        trajectory = JointTrajectory(start + at, _hermite(np.diff(at)[:, None], q, v))
    elif m > 1:
        T = np.diff(at)[:, None]
        pieces = quintic_coefficients(T, q[:-1], v[:-1], a[:-1], q[1:], v[1:], a[1:])
        trajectory = JointTrajectory(start + at, pieces)
    first = JointReference(q[0], v[0], a[0]) if trajectory is None else JointReference(*trajectory.at(start + at[0]))
    last = JointReference(q[-1], still if dq is None else v[-1], a[-1])
    return JointMotion(start + float(at[0]), start + float(at[-1]), trajectory, first, last)


def _hermite(T: Array, q: Array, v: Array) -> Array:
    """Coefficients of the cubics with these values and slopes at their ends."""
    slope = np.diff(q, axis=0) / T
    c3 = (v[:-1] + v[1:] - 2.0 * slope) / T**2
    c2 = (3.0 * slope - 2.0 * v[:-1] - v[1:]) / T
    return np.stack([c3, c2, v[:-1], q[:-1]])


def lead_in(motion: JointMotion, t: float, now: JointReference) -> JointMotion:
    """Return the motion that starts with one quintic from the reference `now` at t to its first point."""
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
    """Return what to add to a reference so that it starts `gap` beside itself and is itself in the end.

    A difference of positions fades with at most the given speed, one of velocities and accelerations over the shortest
    time: fading slowly, it would lead far away. Both along quintics, so that the sum is continuous up to acceleration.

    Parameters
    ----------
    t : float
        When it begins [s].
    gap : JointReference
        The reference that was, less the one that comes.
    speed : (n,) array
        [rad/s or m/s].
    shortest : float
        [s].
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
    """Return the coefficients of p(t + by), (6, n) as those of p(t)."""
    from numpy.polynomial.polynomial import polyval

    rising = coefficients[::-1]
    shifted, factor = [], 1.0
    for k in range(6):
        shifted.append(polyval(by, rising) / factor)
        rising = rising[1:] * np.arange(1, 6 - k)[:, None]
        factor *= k + 1.0
    return np.array(shifted[::-1])


def check_limits(robot: Robot, motion: JointMotion) -> None:
    """Raise `ThunderError` where the motion leaves the robot's limits of position or speed."""
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


#: over which a difference of velocities fades, and of positions at least [s]
_JOINING = 0.25
#: of the acceleration that a fading difference may begin with: so many speeds over that time lead to that speed at most
_STEEPEST = 15.0
#: differences below this [rad or m, and per second] are no jumps
_NO_JUMP = 1e-9
#: from which on it matters where they lead [rad or m, and per second], and at how many instants that is looked at
_SMALL_JUMP, _INSTANTS = 1e-2, 40


class JointFollower:
    """Follows the newest trajectory.

    A trajectory takes over with the next state. If its first point is ahead, a quintic leads there from the
    reference, or from the measured state where there was none; if it has begun, the difference fades
    (`thunder_py.realtime.joint_follower.offset`). One that ends at rest is held at its end; one that ends while it
    moves is lost there.

    Parameters
    ----------
    robot : Robot
        Its limits are kept.
    speed : (n,) array
        With which a jump is made up for.

    Attributes
    ----------
    why : Reason
        Why there is no reference.
    refused : int
        Trajectories that could not be joined within the limits.
    """

    def __init__(self, robot: Robot, speed: Array) -> None:
        self._robot, self._speed = robot, speed
        self._zero = np.zeros(robot.n)
        self.refused = 0
        self.drop(Reason.no_reference)

    def drop(self, why: Reason) -> None:
        """Follow nothing."""
        self.why = why
        self._pending: JointMotion | None = None
        self._motion: JointMotion | None = None
        self._offset: JointMotion | None = None
        self._last: JointReference | None = None

    def rejoin(self) -> None:
        """Go on from the measured state: the arm was led by something else."""
        self._last = None

    def take(self, motion: JointMotion) -> None:
        """Follow this motion from the next state on, in place of the one that waits for that."""
        self._pending = motion

    def at(self, t: float, q: Array, dq: Array) -> JointReference | None:
        """Return the reference at time t of an arm at q, dq; None, with `why`, where there is none."""
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
        """Change from the motion that is to the one that comes."""
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
        """Return the reference that would be at t, or the measured state."""
        if self._motion is None or self._last is None:
            return JointReference(q, dq, self._zero)
        parts = self._motion.at(t)
        if self._offset is not None and t < self._offset.end:
            parts = JointReference(*(a + b for a, b in zip(parts, self._offset.at(t), strict=True)))
        return parts

    def _join(self, motion: JointMotion, t: float, was: JointReference) -> bool:
        """Let the difference between a motion and what was fade; return whether that stays within the limits."""
        gap = JointReference(*(a - b for a, b in zip(was, motion.at(t), strict=True)))
        # a steeper one would lead far away before it fades: a jump of the acceleration is the lesser evil
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
        """Whether the sum of both is within the limits of position, or not further beyond them than where it begins."""
        times = np.linspace(t, fading.end, _INSTANTS)
        way, limits = motion.positions(times) + fading.positions(times), self._robot.limits
        low, high = np.minimum(limits.lower, q) - _SMALL_JUMP, np.maximum(limits.upper, q) + _SMALL_JUMP
        return bool(((way >= low) & (way <= high)).all())
