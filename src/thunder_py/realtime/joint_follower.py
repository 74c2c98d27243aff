"""The reference that a joint-space controller gets: trajectories one after the other, joined without jumps."""

from __future__ import annotations

import numpy as np

from ..checks import Array
from ..errors import ThunderError
from ..reference import JointReference
from ..robot import Robot
from .command import Reason
from .joint_motion import JointMotion, check_limits, lead_in, offset

__all__ = ["JointFollower"]

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
    (`thunder_py.realtime.joint_motion.offset`). One that ends at rest is held at its end; one that ends while it moves
    is lost there.

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
