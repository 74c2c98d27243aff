"""The simulated robot node: effort commands in, joint states out, in real time."""

from __future__ import annotations

import rospy
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from sensor_msgs.msg import JointState

from thunder_py.realtime import Pacer, SimulatedRobot

from . import messages, node

#: reports in a second [Hz]
REPORT_RATE = 10.0


class RobotNode:
    """Connects a `SimulatedRobot` to topics."""

    def __init__(self, configuration: dict) -> None:
        self.robot = SimulatedRobot(configuration)
        self.message = JointState(name=list(self.robot.joint_names))
        self.states = node.publisher("joint_states", JointState)
        self.diagnostics = node.publisher("/diagnostics", DiagnosticArray)
        rospy.Subscriber("effort_commands", JointState, self.on_command, **node.NEWEST)

    def on_command(self, message: JointState) -> None:
        """Take a command."""
        stamp = message.header.stamp.to_nsec()
        self.robot.command(stamp, messages.now(), message.name, message.effort)

    def report(self) -> None:
        """Say which torque acts, and what became of the commands."""
        report = self.robot.report()
        level = DiagnosticStatus.OK if report["torque"] == "commanded" else DiagnosticStatus.WARN
        node.send(self.diagnostics, messages.diagnostics_message(level, str(report["torque"]), report))

    def run(self) -> None:
        """Publish states until the node ends."""
        pacer, every, count = Pacer(self.robot.period), max(1, round(1.0 / (REPORT_RATE * self.robot.period))), 0
        last = 0
        while not rospy.is_shutdown():
            state = self.robot.advance(messages.now())
            if state.stamp > last:  # woken a little early, there is no new one yet
                node.send(self.states, messages.fill_state(self.message, state.stamp, state.q, state.dq, state.tau))
                last = state.stamp
            if count % every == 0:
                self.report()
            count += 1
            pacer.wait()


def main() -> None:
    """Run the node."""
    node.main("robot", RobotNode)
