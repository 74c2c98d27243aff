"""Input of references in joint or task space; invalid messages are refused, counted and reported."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..checks import Array
from ..errors import ThunderError
from ..reference import JointReference, TaskReference
from .command import Reason
from .configuration import LoopOptions
from .joint_follower import JointFollower, check_limits, make_motion
from .joint_states import JointOrder
from .task_follower import TaskFollower
from .timing import Lock

__all__ = ["References"]

#: largest number of points of a trajectory; reading more would delay states
_MOST_POINTS = 5000


class References:
    """Convert joint trajectories, or poses and twists, to one reference for each state.

    Every method that processes a message returns None, or the reason for its refusal.

    Parameters
    ----------
    options : LoopOptions
        Options of the loop.
    task : bool
        Whether the controller follows poses.
    lock : Lock
        Lock that the loop holds while it calls `at`; messages wait for it.

    Attributes
    ----------
    task : bool
        Whether the controller follows poses.
    counts : dict of str to int
        Numbers of messages that were taken, refused, and not joined.
    last_refusal : str
        Reason of the last refusal.
    """

    def __init__(self, options: LoopOptions, task: bool, lock: Lock) -> None:
        self._options, self.task, self._lock = options, task, lock
        self._order = JointOrder(options.robot.joint_names)
        self._frame = options.law.arguments.get("frame")
        self._joints = JointFollower(options.robot, options.joining_speed)
        self._poses = TaskFollower(options.task, options.reference_timeout)
        self._follower: JointFollower | TaskFollower = self._poses if task else self._joints
        self.reset()

    def reset(self) -> None:
        """Reset clock, counts and reference."""
        self._origin: int | None = None
        self._t = self._resumed = 0.0
        self._taken = self._refused = 0
        self.last_refusal = ""
        self._joints.refused = 0
        self._follower.drop(Reason.no_reference)

    @property
    def counts(self) -> dict[str, int]:
        """Numbers of messages taken and refused, and of trajectories that could not be joined within the limits."""
        return {"taken": self._taken, "refused": self._refused, "not joined": self._joints.refused}

    @property
    def why(self) -> Reason:
        """Reason for the lack of a reference."""
        return self._follower.why

    @property
    def blank(self) -> TaskReference | JointReference:
        """A placeholder of the right kind of reference."""
        if self.task:
            return TaskReference(np.zeros(3), np.eye(3), np.zeros(6), np.zeros(6))
        return JointReference(*(np.zeros(self._options.robot.n) for _ in range(3)))

    def clock(self, stamp: int) -> float:
        """Return a stamp on the loop's clock [s], which starts with the first state and never decreases."""
        if self._origin is None:
            self._origin = stamp - round(1e9 * self._resumed)
        return 1e-9 * (stamp - self._origin)

    def clock_set_back(self, t: float) -> None:
        """Map the next stamp to the time t of the loop's clock, because stamps were set back."""
        self._origin, self._resumed = None, t

    def at(self, t: float, q: Array, dq: Array) -> JointReference | TaskReference | None:
        """Return the reference for a state at time t."""
        self._t = t
        if not self.task:
            return self._joints.at(t, q, dq)
        robot, frame = self._options.robot, self._frame
        return self._poses.at(t, lambda: (robot.forward_kinematics(q, frame), robot.jacobian(q, frame) @ dq))

    def drop(self, why: Reason) -> None:
        """Drop the reference."""
        self._follower.drop(why)

    def cancel(self) -> None:
        """Drop the reference of a goal that has ended; the loop holds the arm."""
        with self._lock:
            self.drop(Reason.goal_ended)

    def rejoin(self) -> None:
        """Continue from the measured state."""
        self._follower.rejoin()

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
            Points [rad or m], and their derivatives if known, in the order of the names.
        """
        if self.task:
            return self._answer("the controller follows poses, not joint trajectories")
        origin = self._origin
        if origin is None:
            return self._answer("there is no joint state yet")
        places = self._order.places(names)
        if places is None:
            return self._answer("names must be the robot's joints, all of them, once each")
        start = self._t if stamp == 0 else 1e-9 * (stamp - origin)
        try:
            at = np.asarray(times, dtype=np.float64)
            if at.size > _MOST_POINTS:
                raise ThunderError(f"a trajectory must have at most {_MOST_POINTS} points, got {at.size}")
            parts = [None if x is None else _points(x, at.size, len(names))[:, places] for x in (q, dq, ddq)]
            if parts[0] is None:
                raise ThunderError("points need positions")
            motion = make_motion(start, at, parts[0], parts[1], parts[2])
            check_limits(self._options.robot, motion)
        except (ValueError, TypeError, OverflowError) as error:
            return self._answer(str(error))
        if motion.end < self._t and not (stamp == 0 and motion.start == motion.end):
            return self._answer(f"it ended {self._t - motion.end:.3g} s ago")
        with self._lock:
            if self._origin != origin:
                return self._answer("the loop's clock restarted meanwhile")
            self._joints.take(motion)
        return self._answer(None)

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
        return self._stream(stamp, frame, self._poses.take_pose, position, quaternion)

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
        return self._stream(stamp, frame, self._poses.take_twist, linear, angular)

    def _stream(self, stamp: int, frame: str, take: Any, first: Sequence[float], second: Sequence[float]) -> str | None:
        if not self.task:
            return self._answer("the controller follows joint trajectories, not poses")
        if self._origin is None:
            return self._answer("there is no joint state yet")
        if self._options.frame and frame != self._options.frame:
            return self._answer(f"frame must be {self._options.frame!r}, got {frame!r}")
        t = self._t if stamp == 0 else self.clock(stamp)
        if abs(t - self._t) > self._options.reference_timeout:
            return self._answer(f"its stamp is {self._t - t:.3g} s old")
        try:
            with self._lock:
                why = take(t, first, second)
        except (TypeError, ValueError) as error:
            why = str(error)
        return self._answer(why)

    def _answer(self, why: str | None) -> str | None:
        if why is None:
            self._taken += 1
        else:
            self._refused += 1
            self.last_refusal = why
        return why


def _points(values: npt.ArrayLike, rows: int, columns: int) -> Array:
    points = np.asarray(values, dtype=np.float64)
    if points.shape != (rows, columns):
        raise ThunderError(f"points must have shape ({rows}, {columns}), got {points.shape}")
    return points
