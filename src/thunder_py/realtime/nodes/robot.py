"""The simulated robot node: effort commands in, joint states out, in real time."""

from __future__ import annotations

from typing import Any

from ..simulated_robot import SimulatedRobot
from . import middleware as messages
from .middleware import Middleware

#: rate of reports [Hz]
_REPORT_RATE = 10.0


class RobotNode:
    """Connect a `SimulatedRobot` to topics.

    Parameters
    ----------
    ros : Middleware
        The node.
    configuration : dict or SimulatedRobot
        See `SimulatedRobot`; or an arm, of any plant.

    Examples
    --------
    >>> from unittest.mock import MagicMock
    >>> from thunder_py.realtime.nodes import RobotNode
    >>> ros = MagicMock()  # stand-in for a ROS node
    >>> node = RobotNode(ros, {"robot": "elbow"})
    >>> ros.subscribe.call_args.args[0], [call.args[0] for call in ros.publisher.call_args_list]
    ('effort_commands', ['joint_states', '/diagnostics'])
    """

    def __init__(self, ros: Middleware, configuration: dict[str, Any] | SimulatedRobot) -> None:
        self.ros, kinds = ros, ros.kinds
        if not isinstance(configuration, SimulatedRobot):
            configuration = SimulatedRobot(configuration)
        self.robot = configuration
        self._message = kinds.JointState(name=list(self.robot.state_names))
        model = self.robot.robot
        self._driven = [*range(model.n), *model.motor_joints]
        self._states = ros.publisher("joint_states", kinds.JointState)
        self._diagnostics = ros.publisher("/diagnostics", kinds.DiagnosticArray)
        self._report_every = max(1, round(1.0 / (_REPORT_RATE * self.robot.facts.period)))
        self._count, self._last = 0, 0
        ros.subscribe("effort_commands", kinds.JointState, self._on_command)
        ros.every(self.robot.facts.period, self._step)

    def _on_command(self, message: Any) -> None:
        stamp, now = self.ros.nanoseconds(message.header.stamp), self.ros.now()
        self.robot.command(stamp, now, message.name, message.effort)

    def _step(self) -> None:
        """Publish the present state, and periodically a report."""
        state = self.robot.advance(self.ros.now())
        if state.stamp != self._last:  # after an early wake-up there is no new state
            self._states.send(messages.fill_state(self.ros, self._message, state, self._driven))
            self._last = state.stamp
        if self._count % self._report_every == 0:
            self._report()
        self._count += 1

    def _report(self) -> None:
        """Publish the source of the torque and the counts of commands."""
        report = self.robot.report()
        level = "ERROR" if self.robot.failed else "OK" if report["torque"] == "commanded" else "WARN"
        self._diagnostics.send(messages.diagnostics_message(self.ros, level, str(report["torque"]), report))
