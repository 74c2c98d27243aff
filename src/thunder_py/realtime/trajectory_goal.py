"""A goal of the action FollowJointTrajectory: tolerances of a trajectory that a control loop follows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from enum import IntEnum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..checks import Array, apart, is_number, nonnegative, of_kind
from ..errors import ThunderError, UnknownNameError, nearest_hint
from ..reference import JointReference
from .command import Mode, Reason
from .control_loop import ControlLoop
from .references import OutdatedError
from .timing import Lock

#: default tolerance of the end of a goal, by type of joint [rad, m]
_CLOSE = {"R": 0.05, "P": 0.01}
#: difference from the trajectory below which the loop has joined it [rad or m, and per second]
_JOINED = 1e-6
#: modes of a loop without a reference
_HELD = (Mode.holding, Mode.braking)


class GoalCode(IntEnum):
    """Result of a goal, with the numbers of ``control_msgs/FollowJointTrajectory``.

    Examples
    --------
    >>> from thunder_py.realtime import GoalCode
    >>> GoalCode(-4).name
    'path_tolerance_violated'
    """

    successful = 0
    #: also of a goal that was canceled, replaced, or ended by a fault
    invalid_goal = -1
    invalid_joints = -2
    old_header_timestamp = -3
    path_tolerance_violated = -4
    goal_tolerance_violated = -5


#: results of goals that are refused, by the error
_CODES = {UnknownNameError: GoalCode.invalid_joints, OutdatedError: GoalCode.old_header_timestamp}


class GoalResult(NamedTuple):
    """End of a goal.

    Attributes
    ----------
    code : GoalCode
        Result.
    text : str
        Reason; empty after success.
    canceled : bool
        Whether `TrajectoryGoal.cancel` ended it.

    Examples
    --------
    >>> from thunder_py.realtime import GoalCode, GoalResult
    >>> GoalResult(GoalCode.successful, "").canceled
    False
    """

    code: GoalCode
    text: str
    canceled: bool = False


class Tolerance(NamedTuple):
    """Tolerance of a joint; -1 is unlimited, and 0 the default.

    The default is 0.05 rad or 0.01 m for positions at the end of a goal, and unlimited for all others.

    Attributes
    ----------
    name : str
        Name of the joint.
    position, velocity : float
        Largest deviation [rad or m, and per second].
    acceleration : float
        Must not be positive: accelerations are not measured.

    Examples
    --------
    >>> from thunder_py.realtime import Tolerance
    >>> Tolerance("joint1", position=0.05).velocity
    0.0
    """

    name: str
    position: float = 0.0
    velocity: float = 0.0
    acceleration: float = 0.0


class GoalFeedback(NamedTuple):
    """Progress of a goal.

    Attributes
    ----------
    stamp : int
        Stamp of the state [ns].
    desired : JointReference
        The goal's trajectory at this time.
    q, dq : (n,) array
        Measured positions and velocities [rad or m, and per second].

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.realtime import GoalFeedback
    >>> from thunder_py.reference import JointReference
    >>> one = np.ones(2)
    >>> GoalFeedback(0, JointReference(one, one, one), 0.5 * one, one).error.q
    array([0.5, 0.5])
    """

    stamp: int
    desired: JointReference
    q: Array
    dq: Array

    @property
    def error(self) -> JointReference:
        """Desired minus measured; NaN for accelerations."""
        desired = self.desired
        return JointReference(desired.q - self.q, desired.dq - self.dq, np.full_like(self.q, math.nan))


class TrajectoryGoal:
    """Hand a trajectory to a control loop and judge how the arm follows it, state by state.

    Deviations are those from the trajectory of the goal: also while the loop still joins it, because the arm was
    elsewhere. The goal succeeds at the end of the trajectory, or within the time after it, once all joints are within
    the tolerances of the goal; if the loop joins the trajectory after its end, once it has, or within the time after
    that. It ends without success if a tolerance is violated, the loop leaves the trajectory (a
    fault, a hold, another trajectory), or on `cancel`; the loop then holds the arm. Late states alone, after which the
    loop goes on by itself, do not end it. All methods may be called from several threads.

    Parameters
    ----------
    loop : ControlLoop
        A loop whose controller follows joint trajectories.
    now, stamp : int
        Present time, and start of the trajectory, 0 for the present time [ns].
    names, times, q, dq, ddq
        The trajectory, see `References.trajectory`. It must end at rest.
    path_tolerance, goal_tolerance : sequence of Tolerance
        Tolerances along the trajectory, and at its end; joints that are not listed have the default.
    goal_time_tolerance : float
        Time after the end of the trajectory in which the tolerances of the goal must be reached [s]; with 0 the first
        state after the end decides.

    Attributes
    ----------
    result : GoalResult or None
        End of the goal, at once if it is refused; None while it lasts.
    feedback : GoalFeedback or None
        Progress at the last state.

    Examples
    --------
    >>> from thunder_py.realtime import ControlLoop, SimulatedRobot, Tolerance, TrajectoryGoal
    >>> law = {"name": "SlotineLi", "Lambda": 20, "K_d": [4, 50, 5.5, 14, 1.2, 0.9, 0.23], "adaptation": None}
    >>> loop = ControlLoop({"robot": "panda", "controller": law})
    >>> robot, now = SimulatedRobot({"robot": "panda", "q0": [0, -0.3, 0, -2, 0, 1.8, 0.7]}), 10**18
    >>> names, goal = robot.joint_names, None
    >>> for k in range(700):
    ...     state = robot.advance(now + k * 10**6)
    ...     command = loop.state(state.stamp, state.stamp, names, state.q, state.dq)
    ...     refused = robot.command(command.stamp, state.stamp, names, command.tau)
    ...     if goal is None:
    ...         points, close = [state.q, state.q + 0.05], [Tolerance(name, position=0.01) for name in names]
    ...         goal = TrajectoryGoal(loop, state.stamp, 0, names, [0.0, 0.5], points, goal_tolerance=close)
    ...     goal.state()
    >>> goal.result.code.name, bool(abs(goal.feedback.error.q).max() < 0.01)
    ('successful', True)
    """

    def __init__(
        self,
        loop: ControlLoop,
        now: int,
        stamp: int,
        names: Sequence[str],
        times: npt.ArrayLike,
        q: npt.ArrayLike,
        dq: npt.ArrayLike | None = None,
        ddq: npt.ArrayLike | None = None,
        *,
        path_tolerance: Iterable[Tolerance] = (),
        goal_tolerance: Iterable[Tolerance] = (),
        goal_time_tolerance: float = 0.0,
    ) -> None:
        self._loop, self._lock = loop, Lock()
        self.result: GoalResult | None = None
        self.feedback: GoalFeedback | None = None
        self._seen = 0
        n, types = len(loop.joint_names), loop.options.robot.joint_types
        try:
            self._path = _bounds(path_tolerance, loop.joint_names, np.full(n, np.inf))
            self._goal = _bounds(goal_tolerance, loop.joint_names, np.array([_CLOSE[kind] for kind in types]))
            self._allowed_after = nonnegative(goal_time_tolerance, "goal_time_tolerance")
            if loop.mode in (Mode.starting, Mode.fault):
                raise ThunderError(loop.reason.value)
            self._motion, self._counts = loop.references.take(
                stamp or now, names, times, q, dq, ddq, at_once=stamp == 0, at_rest=True
            )
            self._arrived = self._motion.end  # or later, while the loop joins the trajectory
        except (ValueError, TypeError, OverflowError) as error:
            code = next((code for kind, code in _CODES.items() if isinstance(error, kind)), GoalCode.invalid_goal)
            self.result = GoalResult(code, str(error))

    def state(self) -> None:
        """Judge the last state of the loop; call it after the loop's method of the same name."""
        with self._lock:
            if self.result is not None:
                return
            self._seen += 1
            self.watch()
            stamp, q, dq = self._loop.measured
            t = self._loop.references.clock(stamp)
            self.feedback = GoalFeedback(stamp, self._motion.at(max(t, self._motion.start)), q, dq)
            if self.result is None and t >= self._motion.start:
                self._judge(t, self.feedback.error)

    def watch(self) -> None:
        """End the goal if the loop has left its trajectory; call it regularly, states may have ended."""
        with self._lock:
            if self.result is None:
                self._watch()

    def _watch(self) -> None:
        loop, counts = self._loop, self._loop.references.counts
        if counts["taken"] != self._counts["taken"]:
            self.replaced()
        elif counts["not joined"] != self._counts["not joined"]:
            self._stop(GoalCode.invalid_goal, "the motion from the arm to the trajectory would leave the limits")
        elif loop.mode is Mode.tracking or loop.reason is Reason.state_late:
            return
        elif self._seen > 1 or loop.mode not in _HELD:  # the first state may have been answered before
            self._stop(GoalCode.invalid_goal, f"{loop.mode.name}: {loop.reason.value}")

    def cancel(self) -> None:
        """End the goal; the loop holds the arm."""
        with self._lock:
            if self.result is None:
                self._stop(GoalCode.invalid_goal, "the goal was canceled", canceled=True)

    def replaced(self) -> None:
        """End the goal, because the loop follows another trajectory."""
        with self._lock:
            if self.result is not None:
                return
            self.result = GoalResult(GoalCode.invalid_goal, "another trajectory replaced that of the goal")

    def _judge(self, t: float, error: JointReference) -> None:
        """Compare deviations with the tolerances of the path or of the goal."""
        end = self._motion.end
        if t <= end:
            beyond = self._path.beyond(error)
            if beyond is not None:
                self._stop(
                    GoalCode.path_tolerance_violated, f"{beyond}, {t - self._motion.start:.3g} s after the start"
                )
            return
        if self._joins():
            self._arrived = t
            return
        beyond = self._goal.beyond(error)
        if beyond is None:
            self.result = GoalResult(GoalCode.successful, "")
        elif t > self._arrived + self._allowed_after:
            self._stop(GoalCode.goal_tolerance_violated, f"{beyond}, {t - end:.3g} s after the end")

    def _joins(self) -> bool:
        """Return whether the loop is not yet at the end of the trajectory: a difference to it still fades."""
        followed, last = self._loop.reference, self._motion.last
        if not isinstance(followed, JointReference):
            return True
        return bool(max(np.abs(followed.q - last.q).max(), np.abs(followed.dq).max()) > _JOINED)

    def _stop(self, code: GoalCode, text: str, *, canceled: bool = False) -> None:
        """End the goal and hold the arm, unless another trajectory has come meanwhile."""
        self.result = GoalResult(code, text, canceled)
        self._loop.references.cancel(int(self._counts["taken"]))


class _Bounds(NamedTuple):
    """Largest deviations of all joints, infinite where there is no tolerance."""

    names: tuple[str, ...]
    q: Array
    dq: Array

    def beyond(self, error: JointReference) -> str | None:
        """Return which joint deviates too far, in words; None if none does."""
        for what, values, allowed in (("position", error.q, self.q), ("velocity", error.dq, self.dq)):
            excess = np.abs(values) - allowed
            k = int(np.argmax(excess))
            if not excess[k] <= 0.0:
                deviation, most = apart(float(abs(values[k])), float(allowed[k]))
                return f"{what} of {self.names[k]} deviates by {deviation}, allowed are {most}"
        return None


def _bounds(tolerances: Iterable[Tolerance], names: tuple[str, ...], positions: Array) -> _Bounds:
    """Return the tolerances of all joints; `positions` are the defaults."""
    bounds, unmeasured = _Bounds(names, positions, np.full(len(names), np.inf)), np.zeros(len(names))
    if not isinstance(tolerances, Iterable):
        raise ThunderError(f"tolerances must be a sequence of Tolerance, got {tolerances!r}")
    for tolerance in tolerances:
        of_kind(tolerance, Tolerance, "tolerance")
        if tolerance.name not in names:
            hint = nearest_hint(str(tolerance.name), names)
            raise UnknownNameError(f"tolerances must be of the robot's joints, got {tolerance.name!r}{hint}")
        k = names.index(tolerance.name)
        for what, row in (("position", bounds.q), ("velocity", bounds.dq), ("acceleration", unmeasured)):
            value = getattr(tolerance, what)
            if not is_number(value) or not (value >= 0.0 or value == -1.0):
                text = f"{what} must be positive, 0 or -1, got {value!r}"
                raise ThunderError(f"tolerance of {tolerance.name}: {text}")
            row[k] = np.inf if value == -1.0 else value or row[k]
        if tolerance.acceleration > 0.0:
            text = f"acceleration must be 0 or -1, because it is not measured, got {tolerance.acceleration:g}"
            raise ThunderError(f"tolerance of {tolerance.name}: {text}")
    return bounds
