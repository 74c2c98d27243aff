"""The controller node: joint states and references in, effort commands out."""

from __future__ import annotations

import re
import threading
import time

import rospy
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import PoseStamped, TwistStamped
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import SetBool, SetBoolResponse, Trigger, TriggerResponse
from trajectory_msgs.msg import JointTrajectory

from thunder_py.realtime import ControlLoop, Mode
from thunder_py.realtime.plain_data import plain

from . import messages, node

#: how often late states are looked for, and one in how many of these looks reports [Hz]
WATCH_RATE, REPORT_EVERY = 100.0, 10
LEVELS = {Mode.waiting: DiagnosticStatus.WARN, Mode.hold: DiagnosticStatus.WARN,
          Mode.tracking: DiagnosticStatus.OK, Mode.fault: DiagnosticStatus.ERROR}  # fmt: skip
#: for the number that the timing message ends with
TIMING = "period, latency, computing [s], mode"


class ControllerNode:
    """Connects a `ControlLoop` to topics and services."""

    def __init__(self, configuration: dict) -> None:
        self.every = int(configuration.pop("publish_every", 1))
        self.loop, self.lock = ControlLoop(configuration), threading.Lock()
        self.names, self.count = list(self.loop.joint_names), 0
        self.effort = node.publisher("effort_commands", JointState)
        self.command = JointState(name=self.names)
        self.numbers = [
            (node.publisher(topic, Float64MultiArray), messages.numbers_message(label))
            for topic, label in (("tracking_error", "error"), ("estimates", "parameters"), ("timing", TIMING))
        ]
        self.diagnostics = node.publisher("/diagnostics", DiagnosticArray)
        self.offer_services()
        rospy.Subscriber("trajectory", JointTrajectory, self.on_trajectory, **node.NEWEST)
        rospy.Subscriber("pose", PoseStamped, self.on_pose, **node.NEWEST)
        rospy.Subscriber("twist", TwistStamped, self.on_twist, **node.NEWEST)
        rospy.Subscriber("joint_states", JointState, self.on_state, **node.NEWEST)

    def offer_services(self) -> None:
        """Offer ~reset, ~set_gains, ~adapt and ~adapt/LINK."""
        rospy.Service("~reset", Trigger, lambda _: self.answer(TriggerResponse, self.loop.reset))
        rospy.Service("~set_gains", Trigger, lambda _: self.answer(TriggerResponse, self.set_gains))
        rospy.Service("~adapt", SetBool, lambda call: self.answer(SetBoolResponse, self.loop.adapt, call.data))
        for link in self.loop.adapting_links:
            name = "~adapt/" + re.sub(r"\W", "_", link)
            rospy.Service(
                name, SetBool, lambda call, link=link: self.answer(SetBoolResponse, self.loop.adapt, call.data, link)
            )

    def answer(self, response: type, action, *arguments):
        """Return whether a request was carried out, and what was wrong with it."""
        try:
            action(*arguments)
        except ValueError as error:
            return response(False, str(error))
        return response(True, "")

    def set_gains(self) -> None:
        """Take the gains of the parameter ~gains, all of them or none."""
        gains = rospy.get_param("~gains", None)
        if not isinstance(gains, dict):
            raise ValueError(f"parameter {rospy.get_name()}/gains must be a mapping of gains, got {gains!r}")
        self.loop.set_gains(plain(gains))

    def on_state(self, message: JointState) -> None:
        """Answer a joint state."""
        stamp = message.header.stamp.to_nsec()
        self.send(self.loop.state(stamp, messages.now(), message.name, message.position, message.velocity))

    def send(self, command) -> None:
        """Publish a command, and what is known beside it."""
        if command is None:
            return
        with self.lock:  # states come in one thread, looks for late ones in another
            node.send(self.effort, messages.fill_command(self.command, command.stamp, command.tau))
            self.count += 1
            if self.count % self.every == 0:
                self.send_numbers(command)

    def send_numbers(self, command) -> None:
        """Publish what somebody listens to."""
        timing = [command.period, command.latency, command.computing, float(command.mode)]
        rows = (command.error.tolist(), command.parameters.tolist(), timing)
        for (publisher, message), values in zip(self.numbers, rows, strict=True):
            if publisher.get_num_connections():
                node.send(publisher, messages.fill_numbers(message, values))

    def on_trajectory(self, message: JointTrajectory) -> None:
        """Take a joint trajectory."""
        self.tell(self.loop.references.trajectory(**messages.read_trajectory(message)))

    def on_pose(self, message: PoseStamped) -> None:
        """Take a pose."""
        p, o, header = message.pose.position, message.pose.orientation, message.header
        stamp, turn = header.stamp.to_nsec(), (o.x, o.y, o.z, o.w)
        self.tell(self.loop.references.pose(stamp, (p.x, p.y, p.z), turn, header.frame_id))

    def on_twist(self, message: TwistStamped) -> None:
        """Take a twist."""
        v, w, header = message.twist.linear, message.twist.angular, message.header
        stamp, linear, angular = header.stamp.to_nsec(), (v.x, v.y, v.z), (w.x, w.y, w.z)
        self.tell(self.loop.references.twist(stamp, linear, angular, header.frame_id))

    def tell(self, why: str | None) -> None:
        """Warn of a reference that was refused, once in a second."""
        if why is not None:
            rospy.logwarn_throttle(1.0, f"reference refused: {why}")

    def run(self) -> None:
        """Look for states that stay away, and report, until the node ends."""
        looks = 0
        while not rospy.is_shutdown():
            self.send(self.loop.watch(messages.now()))
            if looks % REPORT_EVERY == 0:
                text = f"{self.loop.mode.name}: {self.loop.reason.value}"
                node.send(
                    self.diagnostics, messages.diagnostics_message(LEVELS[self.loop.mode], text, self.loop.report())
                )
            looks += 1
            time.sleep(1.0 / WATCH_RATE)


def main() -> None:
    """Run the node."""
    node.main("controller", ControllerNode)
