"""Input of references in joint or task space; invalid messages are refused, counted and reported."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from .. import _core
from ..checks import Array
from ..errors import ThunderError, UnknownNameError
from .command import Mode
from .configuration import LoopOptions
from .joint_motion import JointMotion, check_limits, make_motion, nearest_turn, read_points, wrong_names
from .joint_states import JointOrder
from .timing import Lock

_FAULT = "the loop is in a fault: call reset first"
#: refusals of the core by number, and sizes of the second part of a message
_REFUSALS = (None, "reordered", "not_finite", "no_rotation", "too_large", _FAULT)
_SIZES = {"take_pose": 4, "take_twist": 3}
#: what messages raise that make no sense
_INVALID = (ValueError, TypeError, OverflowError)
#: largest final speed of a motion that ends at rest [rad/s or m/s]
_REST = 1e-3


class OutdatedError(ThunderError):
    """A trajectory has ended before it came."""


class References:
    """Pass joint trajectories, or poses and twists, to the loop.

    Every method that processes a message returns None, or the reason for its refusal.

    Parameters
    ----------
    options : LoopOptions
        Options of the loop.
    core : _core.ControlLoop
        The loop that follows them.
    lock : Lock
        Lock of the loop.

    Attributes
    ----------
    core : _core.ControlLoop
        The loop that follows them.
    last_refusal : str
        Reason of the last refusal.
    """

    def __init__(self, options: LoopOptions, core: _core.ControlLoop, lock: Lock) -> None:
        self._options, self.core, self._lock = options, core, lock
        self._order = JointOrder(options.robot.joint_names)
        self.reset()

    def reset(self) -> None:
        """Reset counts."""
        self._taken = self._refused = 0
        self.last_refusal = ""

    @property
    def counts(self) -> dict[str, int]:
        """Numbers of messages taken and refused, and of trajectories that could not be joined within the limits."""
        with self._lock:
            return {"taken": self._taken, "refused": self._refused, "not joined": self.core.motions_refused}

    def clock(self, stamp: int) -> float:
        """Return a stamp on the loop's clock [s], which starts with the first state and never decreases."""
        with self._lock:
            return self.core.time_of(stamp)

    def cancel(self, taken: int | None = None) -> None:
        """Drop the reference: the arm is held.

        Parameters
        ----------
        taken : int, optional
            Number of messages taken (`counts`) with that of the reference; nothing is done if there were others since.
        """
        with self._lock:
            if taken is None or taken == self._taken:
                self.core.cancel()

    def place(self) -> Array:
        """Return where a trajectory begins: the reference in joint space, else the last measured positions, (n,)."""
        with self._lock:
            followed = None if self.core.task else self.core.reference
            return self.core.q if followed is None else followed[0]

    # --- messages -------------------------------------------------------------------------------------------------

    def trajectory(
        self,
        stamp: int,
        names: Sequence[str],
        times: npt.ArrayLike,
        q: npt.ArrayLike,
        dq: npt.ArrayLike | None = None,
        ddq: npt.ArrayLike | None = None,
    ) -> str | None:
        """Accept a joint trajectory, which replaces the one before at the next state.

        Parameters
        ----------
        stamp : int
            Start [ns]; 0 for now.
        names : sequence of str
            Names of all joints, in any order.
        times : (m,) array_like
            Times after the start [s], increasing.
        q, dq, ddq : (m, n) array_like
            Points [rad or m], and their derivatives if known, in the order of the names. To a revolute joint without
            limits whole turns are added, so that the first point is nearest to where the arm is.
        """
        try:
            self.take(stamp, names, times, q, dq, ddq, at_once=stamp == 0)
        except _INVALID as error:
            return str(error)
        return None

    def take(
        self,
        stamp: int,
        names: Sequence[str],
        *points: npt.ArrayLike | None,
        at_once: bool = False,
        at_rest: bool = False,
    ) -> tuple[JointMotion, dict[str, int]]:
        """Accept a joint trajectory as `trajectory` does; return its motion, with the counts right after it.

        Parameters
        ----------
        stamp, names, *points
            As for `trajectory`.
        at_once : bool
            Its sender asked for a start at reception: a single point is accepted although later states have come.
        at_rest : bool
            Whether it must end at rest.

        Raises
        ------
        OutdatedError
            If it has ended.
        UnknownNameError
            If the names are not those of the joints.
        ValueError
            If it is refused for another reason.
        """
        robot = self._options.robot
        try:
            with self._lock:
                self._require_open(task=False)
                origin, now, near = self.core.origin, self.core.t, self.place()
            places = self._order.places(names)
            if places is None:
                raise UnknownNameError(wrong_names(names, robot.joint_names))
            start = now if stamp == 0 else self.clock(stamp)
            at, q, *derivatives = read_points(places, *points)
            motion = make_motion(start, at, nearest_turn(robot, q, near), *derivatives)
            check_limits(robot, motion)
            if at_rest and np.abs(motion.last.dq).max() >= _REST:
                k = int(np.argmax(np.abs(motion.last.dq)))
                speed = f"a velocity of {motion.last.dq[k]:g} of {robot.joint_names[k]}"
                raise ThunderError(f"the last point must be at rest, got {speed}")
            if motion.end < now and not (at_once and motion.start == motion.end):
                raise OutdatedError(f"it ended {now - motion.end:.3g} s ago")
            with self._lock:
                if self.core.origin != origin:
                    raise ThunderError("the loop's clock restarted meanwhile")
                self._require_open(task=False)
                self.core.follow(*motion)
                self._count(None)
                return motion, self.counts
        except _INVALID as error:
            self._count(error)
            raise

    def pose(self, stamp: int, position: Sequence[float], quaternion: Sequence[float], frame: str = "") -> str | None:
        """Accept a pose of the controller's frame in the world.

        Parameters
        ----------
        stamp : int
            Time of the pose [ns]; 0 for now.
        position : (3,) sequence
            Position [m].
        quaternion : (4,) sequence
            Orientation x, y, z, w, of unit length.
        frame : str
            Frame of its coordinates, see `LoopOptions.frame`.
        """
        return self._stream(stamp, frame, "take_pose", position, quaternion)

    def twist(self, stamp: int, linear: Sequence[float], angular: Sequence[float], frame: str = "") -> str | None:
        """Accept a twist of the controller's frame in the world: the derivative of poses, or a velocity command.

        Parameters
        ----------
        stamp : int
            Time of the twist [ns]; 0 for now.
        linear, angular : (3,) sequence
            Velocity of the frame's origin [m/s], angular velocity [rad/s], world axes.
        frame : str
            See `pose`.
        """
        return self._stream(stamp, frame, "take_twist", linear, angular)

    def _stream(self, stamp: int, frame: str, take: str, first: Sequence[float], second: Sequence[float]) -> str | None:
        try:
            if self._options.frame and frame != self._options.frame:
                raise ThunderError(f"frame must be {self._options.frame!r}, got {frame!r}")
            linear, angular = [float(x) for x in first], [float(x) for x in second]
            if len(linear) != 3 or len(angular) != _SIZES[take]:
                raise ThunderError("size")
            with self._lock:  # one clock from the time of the stamp to its use
                self._require_open(task=True)
                now = self.core.t
                t = now if stamp == 0 else self.core.time_of(stamp)
                if abs(t - now) > self._options.reference_timeout:
                    raise ThunderError(f"its stamp is {now - t:.3g} s old")
                refusal = _REFUSALS[getattr(self.core, take)(t, linear, angular)]
                if refusal is not None:
                    raise ThunderError(refusal)
                return self._count(None)
        except _INVALID as error:
            return self._count(error)

    def _require_open(self, *, task: bool) -> None:
        """Raise the reason why references of this kind are refused at present."""
        if self.core.task != task:
            kinds = ("joint trajectories", "poses")
            raise ThunderError(f"the controller follows {kinds[not task]}, not {kinds[task]}")
        if self.core.mode == Mode.fault:
            raise ThunderError(_FAULT)
        if self.core.origin is None:
            raise ThunderError("there is no joint state yet")

    def _count(self, error: Exception | None) -> str | None:
        """Count a message; return the answer to it."""
        with self._lock:
            if error is None:
                self._taken += 1
                return None
            self._refused += 1
            self.last_refusal = str(error)
            return self.last_refusal
