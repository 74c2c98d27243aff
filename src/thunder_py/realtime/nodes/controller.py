"""The controller node: joint states and references in, effort commands out."""

from __future__ import annotations

import re
import threading
from array import array
from functools import partial
from typing import Any

from ...errors import ThunderError
from ..command import Command, Mode
from ..control_loop import ControlLoop
from ..plain_data import Table, plain
from . import middleware as messages
from .controller_state import ControllerState
from .middleware import Middleware
from .trajectory_action import TrajectoryAction

__all__ = ["ControllerNode"]

#: rate of the check for late states [Hz], and number of checks per report
_WATCH_RATE, _REPORT_EVERY = 100.0, 10
#: number of checks per publication of the state, and per feedback of a goal
_STATE_EVERY, _FEEDBACK_EVERY = 2, 5
_LEVELS = {Mode.starting: "STALE", Mode.tracking: "OK", Mode.fault: "ERROR"}
#: label of the timing message
_TIMING = "period, latency, computing [s], mode"


class ControllerNode:
    """Connect a `ControlLoop` to topics and services.

    Parameters
    ----------
    ros : Middleware
        The node.
    configuration : dict
        Configuration of the loop, see `LoopOptions.read`, and ``publish_every``, the number of commands per
        publication of error, estimate and timing (1).

    Examples
    --------
    >>> from unittest.mock import MagicMock
    >>> from thunder_py.realtime.nodes import ControllerNode
    >>> ros, law = MagicMock(), {"name": "PDGravity", "K_p": 50, "K_d": 10}  # stand-in for a ROS node
    >>> node = ControllerNode(ros, {"robot": "elbow", "controller": law})
    >>> [call.args[0] for call in ros.subscribe.call_args_list]
    ['trajectory', 'pose', 'twist', 'joint_states']
    >>> [call.args[0] for call in ros.service.call_args_list]
    ['reset', 'set_gains', 'adapt']
    """

    def __init__(self, ros: Middleware, configuration: dict[str, Any]) -> None:
        self.ros, kinds = ros, ros.kinds
        self._every = Table(configuration, "configuration").whole("publish_every", 1)
        configuration.pop("publish_every", None)
        self.loop, self._lock, self._count, self._looks = ControlLoop(configuration), threading.Lock(), 0, 0
        self._missed = self._reported = 0
        self._effort = ros.publisher("effort_commands", kinds.JointState)
        self._command = kinds.JointState(name=list(self.loop.joint_names))
        self._numbers = [
            (ros.publisher(topic, kinds.Float64MultiArray), messages.numbers_message(ros, label))
            for topic, label in (("tracking_error", "error"), ("estimates", "parameters"), ("timing", _TIMING))
        ]
        self._diagnostics = ros.publisher("/diagnostics", kinds.DiagnosticArray)
        joints = not self.loop.follows_poses
        self._action = TrajectoryAction(ros, self.loop) if joints and kinds.FollowJointTrajectory else None
        self._state = ControllerState(ros, self.loop) if joints and kinds.JointTrajectoryControllerState else None
        self._offer_services()
        self._offer_gains()
        ros.subscribe("trajectory", kinds.JointTrajectory, self._on_trajectory, stream=False)
        ros.subscribe("pose", kinds.PoseStamped, self._on_pose)
        ros.subscribe("twist", kinds.TwistStamped, self._on_twist)
        ros.subscribe("joint_states", kinds.JointState, self._on_state)
        ros.every(1.0 / _WATCH_RATE, self._look)

    def _offer_services(self) -> None:
        """Offer reset, set_gains, adapt and adapt/LINK."""
        self.ros.service("reset", "Trigger", lambda _: self.loop.reset())
        self.ros.service("set_gains", "Trigger", lambda _: self._set_gains())
        self.ros.service("adapt", "SetBool", lambda request: self.loop.adapt(request.data))
        for link in self.loop.adapting_links:
            self.ros.service("adapt/" + re.sub(r"\W", "_", link), "SetBool", partial(self._adapt, link))

    def _offer_gains(self) -> None:
        """Offer the gains that are numbers as parameters."""
        gains = {name: value for name, value in self.loop.gains.items() if _is_numeric(value)}
        self.ros.gains(gains, self.loop.set_gains)

    def _adapt(self, link: str, request: Any) -> None:
        self.loop.adapt(request.data, link)

    def _set_gains(self) -> None:
        """Set the gains of the parameter ``gains``, all of them or none."""
        gains = self.ros.parameter("gains")
        if not isinstance(gains, dict):
            raise ThunderError(f"parameter gains of {self.ros.name} must be a mapping of gains, got {gains!r}")
        self.loop.set_gains(plain(gains))
        self._offer_gains()

    def _on_state(self, message: Any) -> None:
        """Answer a joint state."""
        stamp, now = self.ros.nanoseconds(message.header.stamp), self.ros.now()
        command = self.loop.state(stamp, now, message.name, message.position, message.velocity)
        self._send(command)
        if command is None:
            return
        self._missed += max(0, round(command.period / self.loop.options.period) - 1)
        if self._state is not None:
            self._state.take(command)
        if self._action is not None:
            self._action.state()

    def _send(self, command: Command | None) -> None:
        """Publish a command with its error, estimate and timing."""
        if command is None:
            return
        with self._lock:  # states and the check for late ones are in different threads
            self._effort.send(messages.fill_command(self.ros, self._command, command.stamp, command.tau))
            self._count += 1
            if self._count % self._every == 0:
                self._send_numbers(command)

    def _send_numbers(self, command: Command) -> None:
        """Publish error, estimate and timing on topics with subscribers."""
        timing = array("d", (command.period, command.latency, command.computing, float(command.mode)))
        rows = (messages.floats(command.error), messages.floats(command.parameters), timing)
        for (publisher, message), values in zip(self._numbers, rows, strict=True):
            if publisher.wanted:
                publisher.send(messages.fill_numbers(message, values))

    def _on_trajectory(self, message: Any) -> None:
        self._tell(self.loop.references.trajectory(**messages.read_trajectory(self.ros, message)))

    def _on_pose(self, message: Any) -> None:
        p, o, header = message.pose.position, message.pose.orientation, message.header
        stamp, turn = self.ros.nanoseconds(header.stamp), (o.x, o.y, o.z, o.w)
        self._tell(self.loop.references.pose(stamp, (p.x, p.y, p.z), turn, header.frame_id))

    def _on_twist(self, message: Any) -> None:
        v, w, header = message.twist.linear, message.twist.angular, message.header
        stamp, linear, angular = self.ros.nanoseconds(header.stamp), (v.x, v.y, v.z), (w.x, w.y, w.z)
        self._tell(self.loop.references.twist(stamp, linear, angular, header.frame_id))

    def _tell(self, why: str | None) -> None:
        if why is not None:
            self.ros.warn(f"reference refused: {why}")

    def _look(self) -> None:
        """Check for late states, and report periodically."""
        self._send(self.loop.watch(self.ros.now()))
        if self._state is not None and self._looks % _STATE_EVERY == 0:
            self._state.publish()
        if self._action is not None and self._looks % _FEEDBACK_EVERY == 0:
            self._action.report()
        if self._looks % _REPORT_EVERY == 0:
            self._report()
        self._looks += 1

    def _report(self) -> None:
        """Publish mode, reason, counts and times."""
        mode, reset = self.loop.mode, "; call reset" if self.loop.mode is Mode.fault else ""
        count, rate = self._count, (self._count - self._reported) * _WATCH_RATE / _REPORT_EVERY
        report = {**self.loop.report(), "commands per second": rate, "missed cycles": self._missed}
        text = f"{mode.name}: {self.loop.reason.value}{reset}"
        self._diagnostics.send(messages.diagnostics_message(self.ros, _LEVELS.get(mode, "WARN"), text, report))
        self._reported = count


def _is_numeric(value: Any) -> bool:
    """Return whether a gain is a number or a list of numbers, which parameters of ROS can be."""
    entries = value if isinstance(value, (list, tuple)) else [value]
    return all(isinstance(x, (int, float)) and not isinstance(x, bool) for x in entries)
