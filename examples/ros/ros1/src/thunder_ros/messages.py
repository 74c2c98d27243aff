"""From messages to numbers and back."""

from __future__ import annotations

import rospy
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from geometry_msgs.msg import PoseStamped, TwistStamped
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, MultiArrayDimension
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint


def to_stamp(nanoseconds: int) -> rospy.Time:
    """Return a stamp; `rospy.Time` itself takes seconds to bring a large number of nanoseconds into form."""
    return rospy.Time(*divmod(int(nanoseconds), 1_000_000_000))


def now() -> int:
    """Return the time of ROS [ns]."""
    return rospy.Time.now().to_nsec()


# Messages that go out in every period are made once and filled: rospy writes them to bytes before it returns.


def fill_command(message: JointState, stamp: int, tau) -> JointState:
    """Return a command: a stamp and names go with its efforts, so that late and mixed-up ones can be told."""
    message.header.stamp, message.effort = to_stamp(stamp), tau.tolist()
    return message


def fill_state(message: JointState, stamp: int, q, dq, tau) -> JointState:
    """Return a joint state."""
    message.header.stamp = to_stamp(stamp)
    message.position, message.velocity, message.effort = q.tolist(), dq.tolist(), tau.tolist()
    return message


def numbers_message(label: str) -> Float64MultiArray:
    """Return a message for numbers, with a label that says what they are."""
    message = Float64MultiArray()
    message.layout.dim = [MultiArrayDimension(label=label)]
    return message


def fill_numbers(message: Float64MultiArray, values: list[float]) -> Float64MultiArray:
    """Return the numbers."""
    message.data = values
    message.layout.dim[0].size = message.layout.dim[0].stride = len(values)
    return message


def trajectory_message(stamp: int, names, sample) -> JointTrajectory:
    """Return a stretch of a trajectory."""
    message = JointTrajectory(joint_names=names)
    message.header.stamp = to_stamp(stamp)
    rows = zip(sample.times.tolist(), sample.q.tolist(), sample.dq.tolist(), sample.ddq.tolist(), strict=True)
    message.points = [
        JointTrajectoryPoint(positions=q, velocities=dq, accelerations=ddq, time_from_start=rospy.Duration.from_sec(t))
        for t, q, dq, ddq in rows
    ]
    return message


def read_trajectory(message: JointTrajectory) -> dict:
    """Return the arguments of `References.trajectory`; velocities and accelerations only where every point has them."""
    points = message.points
    return {
        "stamp": message.header.stamp.to_nsec(),
        "names": message.joint_names,
        "times": [point.time_from_start.to_sec() for point in points],
        "q": [point.positions for point in points],
        "dq": [point.velocities for point in points] if all(p.velocities for p in points) else None,
        "ddq": [point.accelerations for point in points] if all(p.accelerations for p in points) else None,
    }


def pose_messages(sample, frame: str) -> tuple[PoseStamped, TwistStamped]:
    """Return a pose and its twist."""
    pose, twist = PoseStamped(), TwistStamped()
    for message in (pose, twist):
        message.header.stamp, message.header.frame_id = to_stamp(sample.stamp), frame
    at, turn = pose.pose.position, pose.pose.orientation
    at.x, at.y, at.z = sample.position.tolist()
    turn.x, turn.y, turn.z, turn.w = sample.quaternion
    v, w = twist.twist.linear, twist.twist.angular
    v.x, v.y, v.z = sample.linear.tolist()
    w.x, w.y, w.z = sample.angular.tolist()
    return pose, twist


def diagnostics_message(level: int, text: str, report: dict) -> DiagnosticArray:
    """Return a report for /diagnostics."""
    values = [KeyValue(key=key, value=str(value)) for key, value in report.items()]
    status = DiagnosticStatus(level=level, name=rospy.get_name(), message=text, values=values)
    message = DiagnosticArray(status=[status])
    message.header.stamp = rospy.Time.now()
    return message
