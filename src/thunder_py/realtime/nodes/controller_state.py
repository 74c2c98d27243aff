"""The state of a controller in joint space, as controllers of ros_control publish it."""

from __future__ import annotations

from typing import Any

from ..command import Command
from ..control_loop import ControlLoop
from . import middleware as messages
from .middleware import Middleware

__all__ = ["ControllerState"]


class ControllerState:
    """Publish ``state``: reference, measured positions and velocities, their difference, and efforts.

    Parameters
    ----------
    ros : Middleware
        The node.
    loop : ControlLoop
        A loop whose controller follows joint trajectories.
    """

    def __init__(self, ros: Middleware, loop: ControlLoop) -> None:
        self.ros, self._loop, self._names = ros, loop, list(loop.joint_names)
        self._kind = ros.kinds.JointTrajectoryControllerState
        self._publisher = ros.publisher("state", self._kind)
        self._last: tuple[Any, ...] | None = None

    def take(self, command: Command) -> None:
        """Remember the last joint state and the command that answers it, if one is to be published."""
        if self._last is None and self._publisher.wanted:
            self._last = command, self._loop.measured, self._loop.reference

    def publish(self) -> None:
        """Publish the state that was taken since the last time, if anybody listens."""
        if self._last is None:
            return
        (command, (stamp, q, dq), reference), self._last = self._last, None
        point = self.ros.kinds.JointTrajectoryPoint
        actual = point(**messages.named(q, dq))
        message = self._kind(joint_names=self._names)
        message.header.stamp = self.ros.to_time(stamp)
        parts = {"actual": actual, "feedback": actual, "output": point(effort=messages.floats(command.tau))}
        if reference is not None:
            desired = point(**messages.named(*reference))
            error = point(**messages.named(reference.q - q, reference.dq - dq))
            parts |= {"desired": desired, "reference": desired, "error": error}
        for name, part in parts.items():
            if hasattr(message, name):  # desired and actual in ROS 1, reference and feedback in ROS 2
                setattr(message, name, part)
        self._publisher.send(message)
