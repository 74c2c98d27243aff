"""Interface between nodes and a middleware, and conversion of messages."""

from __future__ import annotations

import importlib
import os
from array import array
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from types import SimpleNamespace
from typing import Any, Literal, Protocol

from ...checks import Array
from ...errors import ThunderError
from ..plain_data import read_plain
from ..reference_generator import JointSample, PoseSample
from ..simulated_robot import JointState
from ..timing import Pacer

#: switch interval of the interpreter's threads [s]; Python's default, 5 ms, is five control periods
SWITCH_INTERVAL = 1e-4
#: modules and classes of messages, in ROS 1 and in ROS 2
MESSAGES = {
    "diagnostic_msgs.msg": ("DiagnosticArray", "DiagnosticStatus", "KeyValue"),
    "geometry_msgs.msg": ("PoseStamped", "PoseWithCovarianceStamped", "TwistStamped"),
    "sensor_msgs.msg": ("CameraInfo", "Image", "JointState"),
    "std_msgs.msg": ("Bool", "Float64MultiArray", "MultiArrayDimension"),
    "trajectory_msgs.msg": ("JointTrajectory", "JointTrajectoryPoint"),
}


#: of a package that a ROS may lack; the action and the state topic need them
CONTROL_MSGS = ("control_msgs.action", "control_msgs.msg")
ACTION_PARTS = ("Action", "Goal", "Result", "Feedback")


class Publisher(Protocol):
    """Publisher of one topic; newer messages replace those that cannot be sent.

    Examples
    --------
    >>> from thunder_py.realtime.nodes import Publisher
    >>> class Printer:
    ...     wanted = True
    ...     def send(self, message):
    ...         print(message)
    >>> publisher: Publisher = Printer()
    >>> publisher.send("a message")
    a message
    """

    def send(self, message: Any) -> None:
        """Send, or do nothing while the node ends. The message object may be reused afterwards."""

    @property
    def wanted(self) -> bool:
        """True if the topic has subscribers."""


class GoalHandle(Protocol):
    """A client's goal of an action."""

    def feedback(self, message: Any) -> None:
        """Publish feedback."""

    def finish(self, status: Literal["succeeded", "aborted", "canceled"], result: Any) -> None:
        """End the goal."""


class ActionServer(Protocol):
    """Goals of an action, one at a time."""

    def begin(self, request: Any) -> Any:
        """Begin a goal and return None, or refuse it and return the result."""

    def attach(self, handle: GoalHandle) -> None:
        """Take the handle of the goal that was begun last."""

    def cancel(self) -> None:
        """Cancel the goal."""


class Middleware(Protocol):
    """Interface of a node of ROS 1 or ROS 2. Times are integer nanoseconds.

    Attributes
    ----------
    kinds : Any
        Namespace of the message classes: ``kinds.JointState``.
    name : str
        Name of the node, with its namespace.

    Examples
    --------
    >>> from unittest.mock import MagicMock
    >>> from thunder_py.realtime.nodes import Middleware, ReferenceNode
    >>> ros = MagicMock(spec=Middleware)  # stand-in for a ROS node
    >>> ros.kinds = MagicMock()
    >>> node = ReferenceNode(ros, {"robot": "elbow", "rate": 50, "reference": {"kind": "sinusoid"}})
    >>> ros.publisher.call_args.args[0], ros.every.call_args.args[0]
    ('trajectory', 0.02)
    """

    kinds: Any
    name: str

    def now(self) -> int:
        """Return the time."""

    def to_time(self, nanoseconds: int) -> Any:
        """Return a stamp of the middleware."""

    def to_duration(self, nanoseconds: int) -> Any:
        """Return a duration of the middleware."""

    def nanoseconds(self, time: Any) -> int:
        """Return a stamp or a duration in nanoseconds."""

    def publisher(self, topic: str, kind: type) -> Publisher:
        """Return a publisher of a topic."""

    def subscribe(self, topic: str, kind: type, callback: Callable[[Any], None], *, stream: bool = True) -> Any:
        """Call back with the newest message; messages of a stream may be lost."""

    def unsubscribe(self, subscription: Any) -> None:
        """End a subscription."""

    def service(self, name: str, kind: str, action: Callable[[Any], None]) -> None:
        """Offer a private service, ``Trigger`` or ``SetBool``, that answers with the `ValueError` of the action."""

    def action(self, name: str, kind: Any, server: ActionServer) -> None:
        """Offer a private action; `kind` has the classes of its messages."""

    def every(self, period: float, action: Callable[[], None]) -> None:
        """Run an action in every period [s] of the wall clock until the node ends; end the node if it fails."""

    def parameter(self, name: str) -> Any:
        """Return a private parameter of the node as plain data, by default None."""

    def gains(self, values: Mapping[str, Any], action: Callable[[dict[str, Any]], None]) -> None:
        """Show numeric gains as parameters. Where a parameter can be refused, setting one runs the action."""

    def warn(self, text: str) -> None:
        """Log a warning, at most once per second."""


def repeat(period: float, action: Callable[[], None], going: Callable[[], bool]) -> None:
    """Run an action in every period [s] of the wall clock."""
    pacer = Pacer(period)
    while going():
        action()
        pacer.wait()


def prioritized(options: dict[str, Any]) -> dict[str, Any]:
    """Return a configuration without ``priority``, after all threads were given this real-time priority, if any."""
    priority = options.pop("priority", 0)
    if not priority:
        return options
    if isinstance(priority, bool) or not isinstance(priority, int) or not 1 <= priority <= 99:
        raise ThunderError(f"priority must be a whole number from 1 to 99, got {priority!r}")
    try:
        for thread in os.listdir("/proc/self/task"):  # later ones inherit it
            with suppress(ProcessLookupError):  # it has ended meanwhile
                os.sched_setscheduler(int(thread), os.SCHED_FIFO, os.sched_param(priority))
    except PermissionError as error:
        raise ThunderError(f"priority {priority} must be permitted, by CAP_SYS_NICE or the limit rtprio") from error
    return options


def answer(response: Any, action: Callable[[Any], None], request: Any) -> Any:
    """Execute a request and return the response with its success or error."""
    response.success, response.message = True, ""
    try:
        action(request)
    except ValueError as error:
        response.success, response.message = False, str(error)
    return response


def message_kinds() -> SimpleNamespace:
    """Return the message classes of the installed ROS by their names."""
    kinds = SimpleNamespace()
    for module, names in MESSAGES.items():
        for name in names:
            setattr(kinds, name, getattr(importlib.import_module(module), name))
    kinds.FollowJointTrajectory = kinds.JointTrajectoryControllerState = None
    for module in CONTROL_MSGS:
        with suppress(ImportError):
            control = importlib.import_module(module)
            for name in ("FollowJointTrajectory", "JointTrajectoryControllerState"):
                setattr(kinds, name, getattr(control, name, getattr(kinds, name)))
            if hasattr(control, "FollowJointTrajectoryAction"):  # ROS 1: a class for each part
                parts = {part: getattr(control, f"FollowJointTrajectory{part}") for part in ACTION_PARTS}
                kinds.FollowJointTrajectory = SimpleNamespace(**parts)
    return kinds


def configuration(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the configuration of a node: the file ``config``, if any, overridden by the other parameters."""
    own = dict(parameters)
    own.pop("gains", None)  # of the service set_gains
    path = own.pop("config", None)
    return merged(read_plain(path) if path else {}, own)


def merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Return a mapping with entries overridden by those of another one, recursively."""
    result = dict(base)
    for key, value in over.items():
        both = isinstance(value, Mapping) and isinstance(result.get(key), Mapping)
        result[key] = merged(result[key], value) if both else value
    return result


def floats(values: Array) -> array[float]:
    """Return values as an array of doubles; ROS 2 checks each entry of any other sequence."""
    return array("d", values.tobytes())


def fill_tracking(
    ros: Middleware, message: Any, stamp: int, reference: Sequence[Array] | None, q: Array, dq: Array, **others: Any
) -> Any:
    """Return a message with its stamp, desired and actual motion, their difference, and other points."""
    message.header.stamp = ros.to_time(stamp)

    def point(*rows: Array) -> Any:
        names = ("positions", "velocities", "accelerations")
        fields = {name: floats(row) for name, row in zip(names, rows, strict=False)}
        return ros.kinds.JointTrajectoryPoint(**fields)

    actual = point(q, dq)
    points = {"actual": actual, "feedback": actual, **others}
    if reference is not None:
        desired = point(*reference)
        points |= {"desired": desired, "reference": desired, "error": point(reference[0] - q, reference[1] - dq)}
    for field, value in points.items():
        if hasattr(message, field):  # desired and actual in ROS 1, reference and feedback in ROS 2
            setattr(message, field, value)
    return message


def fill_command(ros: Middleware, message: Any, stamp: int, tau: Array) -> Any:
    """Return a command with stamp and names, by which late and reordered ones are detected."""
    message.header.stamp, message.effort = ros.to_time(stamp), floats(tau)
    return message


def fill_state(ros: Middleware, message: Any, state: JointState, driven: Sequence[int]) -> Any:
    """Return a joint state; `driven` are the joints whose torques drive the joints and motors."""
    message.header.stamp = ros.to_time(state.stamp)
    message.position, message.velocity = floats(state.positions), floats(state.velocities)
    message.effort = floats(state.tau[driven])
    return message


def numbers_message(ros: Middleware, label: str) -> Any:
    """Return a message for numbers with a label."""
    message = ros.kinds.Float64MultiArray()
    message.layout.dim = [ros.kinds.MultiArrayDimension(label=label)]
    return message


def fill_numbers(message: Any, values: array[float]) -> Any:
    """Return the message with numbers."""
    message.data = values
    message.layout.dim[0].size = message.layout.dim[0].stride = len(values)
    return message


def trajectory_message(ros: Middleware, names: Sequence[str], sample: JointSample) -> Any:
    """Return a segment of a trajectory."""
    message = ros.kinds.JointTrajectory(joint_names=list(names))
    message.header.stamp = ros.to_time(sample.stamp)
    message.points = [
        ros.kinds.JointTrajectoryPoint(
            positions=floats(q), velocities=floats(dq), accelerations=floats(ddq),
            time_from_start=ros.to_duration(round(1e9 * t)),
        )
        for t, q, dq, ddq in zip(sample.times.tolist(), sample.q, sample.dq, sample.ddq, strict=True)
    ]  # fmt: skip
    return message


def read_trajectory(ros: Middleware, message: Any) -> dict[str, Any]:
    """Return the arguments of `References.trajectory`; derivatives only if every point has them."""
    points = message.points
    return {
        "stamp": ros.nanoseconds(message.header.stamp),
        "names": message.joint_names,
        "times": [1e-9 * ros.nanoseconds(point.time_from_start) for point in points],
        "q": [point.positions for point in points],
        "dq": [point.velocities for point in points] if all(len(p.velocities) for p in points) else None,
        "ddq": [point.accelerations for point in points] if all(len(p.accelerations) for p in points) else None,
    }


def pose_messages(ros: Middleware, sample: PoseSample, frame: str) -> tuple[Any, Any]:
    """Return a pose and its twist."""
    pose, twist = ros.kinds.PoseStamped(), ros.kinds.TwistStamped()
    for message in (pose, twist):
        message.header.stamp, message.header.frame_id = ros.to_time(sample.stamp), frame
    at, turn = pose.pose.position, pose.pose.orientation
    at.x, at.y, at.z = sample.position.tolist()
    turn.x, turn.y, turn.z, turn.w = sample.quaternion
    v, w = twist.twist.linear, twist.twist.angular
    v.x, v.y, v.z = sample.linear.tolist()
    w.x, w.y, w.z = sample.angular.tolist()
    return pose, twist


def diagnostics_message(ros: Middleware, level: str, text: str, report: dict[str, str | int | float]) -> Any:
    """Return a report; the level is OK, WARN, ERROR or STALE."""
    kinds = ros.kinds
    values = [kinds.KeyValue(key=key, value=str(value)) for key, value in report.items()]
    number = getattr(kinds.DiagnosticStatus, level)
    message = kinds.DiagnosticArray(
        status=[kinds.DiagnosticStatus(level=number, name=ros.name, message=text, values=values)]
    )
    message.header.stamp = ros.to_time(ros.now())
    return message
