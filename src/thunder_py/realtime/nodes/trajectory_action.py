"""The action FollowJointTrajectory of the controller node."""

from __future__ import annotations

import threading
from typing import Any

from ..control_loop import ControlLoop
from ..trajectory_goal import GoalCode, GoalResult, Tolerance, TrajectoryGoal
from . import middleware as messages
from .middleware import GoalHandle, Middleware


class TrajectoryAction:
    """Server of one goal at a time; a new one replaces the one before.

    Parameters
    ----------
    ros : Middleware
        The node.
    loop : ControlLoop
        A loop whose controller follows joint trajectories.
    """

    def __init__(self, ros: Middleware, loop: ControlLoop) -> None:
        self.ros, self.loop, self._lock = ros, loop, threading.Lock()
        self._kind = ros.kinds.FollowJointTrajectory
        self._goal: TrajectoryGoal | None = None
        self._handle: GoalHandle | None = None
        ros.action("follow_joint_trajectory", self._kind, self)

    def begin(self, request: Any) -> Any:
        """Begin a goal; return the result if it is refused."""
        trajectory = messages.read_trajectory(self.ros, request.trajectory)
        goal = TrajectoryGoal(
            self.loop,
            self.ros.now(),
            **trajectory,
            path_tolerance=_tolerances(request.path_tolerance),
            goal_tolerance=_tolerances(request.goal_tolerance),
            goal_time_tolerance=1e-9 * self.ros.nanoseconds(request.goal_time_tolerance),
        )
        if goal.result is not None:
            self.ros.warn(f"goal refused: {goal.result.text}")
            return self._message(goal.result)
        with self._lock:
            before, self._goal = self._goal, goal
            if before is not None:
                before.replaced()
                self._finish(before)
        return None

    def attach(self, handle: GoalHandle) -> None:
        """Take the handle of the goal that was begun last."""
        with self._lock:
            self._handle = handle

    def cancel(self) -> None:
        """Cancel the goal: the loop holds the arm."""
        goal = self._goal  # another thread may end it meanwhile
        if goal is not None:
            goal.cancel()

    def state(self) -> None:
        """Judge a joint state that the loop has answered."""
        goal = self._goal
        if goal is not None:
            goal.state()

    def report(self) -> None:
        """Publish feedback, or the result; call it some 20 times per second."""
        goal = self._goal
        if goal is None:
            return
        goal.watch()
        with self._lock:
            if goal is not self._goal or self._handle is None:
                return
            if goal.result is not None:
                self._goal = None
                self._finish(goal)
            elif goal.feedback is not None:
                self._handle.feedback(self._feedback(goal))

    def _finish(self, goal: TrajectoryGoal) -> None:
        handle, result, self._handle = self._handle, goal.result, None
        if handle is None or result is None:
            return
        done = result.code is GoalCode.successful
        handle.finish("succeeded" if done else "canceled" if result.canceled else "aborted", self._message(result))

    def _message(self, result: GoalResult) -> Any:
        return self._kind.Result(error_code=int(result.code), error_string=result.text)

    def _feedback(self, goal: TrajectoryGoal) -> Any:
        found = goal.feedback
        assert found is not None
        message = self._kind.Feedback(joint_names=list(self.loop.joint_names))
        return messages.fill_tracking(self.ros, message, *found)


def _tolerances(entries: Any) -> list[Tolerance]:
    return [Tolerance(e.name, e.position, e.velocity, e.acceleration) for e in entries]
