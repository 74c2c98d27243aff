"""From messages to numbers and back, for messages that have the fields of ROS.

Messages that go out in every period are made once and filled: publishers write them to bytes before they return.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any

from ...checks import Array
from ..reference_generator import JointSample, PoseSample
from ..simulated_robot import JointState
from .middleware import Middleware

__all__ = [
    "diagnostics_message",
    "fill_command",
    "fill_numbers",
    "fill_state",
    "floats",
    "numbers_message",
    "pose_messages",
    "read_trajectory",
    "trajectory_message",
]


def floats(values: Array) -> array[float]:
    """Return what all middlewares take for a list of doubles; ROS 2 looks at each entry of any other sequence."""
    return array("d", values.tobytes())


def fill_command(ros: Middleware, message: Any, stamp: int, tau: Array) -> Any:
    """Return a command: a stamp and names go with its efforts, so that late and mixed-up ones can be told."""
    message.header.stamp, message.effort = ros.to_time(stamp), floats(tau)
    return message


def fill_state(ros: Middleware, message: Any, state: JointState) -> Any:
    """Return a joint state."""
    message.header.stamp = ros.to_time(state.stamp)
    message.position, message.velocity, message.effort = floats(state.q), floats(state.dq), floats(state.tau)
    return message


def numbers_message(ros: Middleware, label: str) -> Any:
    """Return a message for numbers, with a label that says what they are."""
    message = ros.kinds.Float64MultiArray()
    message.layout.dim = [ros.kinds.MultiArrayDimension(label=label)]
    return message


def fill_numbers(message: Any, values: array[float]) -> Any:
    """Return the numbers."""
    message.data = values
    message.layout.dim[0].size = message.layout.dim[0].stride = len(values)
    return message


def trajectory_message(ros: Middleware, names: Sequence[str], sample: JointSample) -> Any:
    """Return a stretch of a trajectory."""
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
    """Return the arguments of `References.trajectory`; derivatives only where every point has them."""
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
    """Return a report; the level is OK, WARN or ERROR."""
    kinds = ros.kinds
    values = [kinds.KeyValue(key=key, value=str(value)) for key, value in report.items()]
    number = getattr(kinds.DiagnosticStatus, level)
    message = kinds.DiagnosticArray(
        status=[kinds.DiagnosticStatus(level=number, name=ros.name, message=text, values=values)]
    )
    message.header.stamp = ros.to_time(ros.now())
    return message
