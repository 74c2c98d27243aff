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
        message = self._kind(joint_names=self._names)
        output = self.ros.kinds.JointTrajectoryPoint(effort=messages.floats(command.tau))
        self._publisher.send(messages.fill_tracking(self.ros, message, stamp, reference, q, dq, output=output))
