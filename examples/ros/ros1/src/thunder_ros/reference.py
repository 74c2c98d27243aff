"""The reference generator node: plays a reference from where the arm is."""

from __future__ import annotations

import rospy
from geometry_msgs.msg import PoseStamped, TwistStamped
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from thunder_py.realtime import Pacer, ReferenceGenerator

from . import messages, node


class ReferenceNode:
    """Connects a `ReferenceGenerator` to topics."""

    def __init__(self, configuration: dict) -> None:
        self.frame = str(configuration.pop("frame", "world"))
        self.generator = ReferenceGenerator(configuration)
        self.names = list(self.generator.joint_names)
        if self.generator.task:
            self.poses = node.publisher("pose", PoseStamped)
            self.twists = node.publisher("twist", TwistStamped)
        else:
            self.trajectories = node.publisher("trajectory", JointTrajectory)

    def begin(self) -> None:
        """Wait for a joint state, and begin there."""
        while not rospy.is_shutdown() and not self.generator.running:
            try:
                state = rospy.wait_for_message("joint_states", JointState, timeout=1.0)
            except rospy.ROSException:
                rospy.loginfo_throttle(5.0, "waiting for a joint state")
                continue
            why = self.generator.begin(messages.now(), state.name, state.position)
            if why is not None:
                rospy.logwarn_throttle(1.0, why)

    def send(self) -> None:
        """Publish what comes next."""
        now = messages.now()
        if self.generator.task:
            pose, twist = messages.pose_messages(self.generator.pose(now), self.frame)
            node.send(self.twists, twist)
            node.send(self.poses, pose)
        else:
            sample = self.generator.joints(now)
            node.send(self.trajectories, messages.trajectory_message(now, self.names, sample))

    def run(self) -> None:
        """Play until the node ends."""
        self.begin()
        pacer = Pacer(1.0 / self.generator.rate)
        while not rospy.is_shutdown():
            self.send()
            pacer.wait()


def main() -> None:
    """Run the node."""
    node.main("reference", ReferenceNode)
