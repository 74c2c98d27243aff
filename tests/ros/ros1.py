"""A ROS master on loopback, and a listener of ROS 1."""

import os
import shutil
import socket
import sys
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from .network import EXAMPLES, PATIENCE, Goal, Listener, Network, wait_until


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


class Ros1Network(Network):
    """A master of its own."""

    def __init__(self, folder: Path) -> None:
        port, tools = free_port(), str(Path(shutil.which("roscore") or "").parent)
        environment = {
            "ROS_MASTER_URI": f"http://localhost:{port}",
            "ROS_IP": "127.0.0.1",
            "ROS_HOSTNAME": "localhost",
            "ROS_PACKAGE_PATH": str(EXAMPLES),
            # roslaunch runs scripts by their first line, and programs of its own: not those of rospkg from elsewhere,
            # which do not find its packages
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), tools, os.environ["PATH"]]),
        }
        super().__init__(folder, environment)
        self.run("roscore", ["roscore", "-p", str(port)])
        wait_until(lambda: self.master_answers(port), "roscore", else_tell=lambda: self.words("roscore"))

    @staticmethod
    def master_answers(port: int) -> bool:
        with socket.socket() as s:
            return s.connect_ex(("127.0.0.1", port)) == 0

    def node(self, name: str, config: str, **parameters: str) -> None:
        given = {"config": str(EXAMPLES / "config" / config), **parameters}
        program, *words = self.program(name)
        script = EXAMPLES / f"ros1/scripts/{program}.py"
        self.run(name, [sys.executable, str(script), *words, *(f"_{key}:={value}" for key, value in given.items())])


class Sender:
    def __init__(self, topic: str, kind: type) -> None:
        import rospy

        self.publisher = rospy.Publisher(topic, kind, queue_size=10)
        wait_until(self.publisher.get_num_connections, f"somebody listens to {topic}")
        self.send, self.close = self.publisher.publish, self.publisher.unregister


class Ros1Goal(Goal):
    def __init__(self, trajectory: Any, path: dict[str, float], end: dict[str, float]) -> None:
        import actionlib
        import rospy
        from control_msgs.msg import FollowJointTrajectoryAction, FollowJointTrajectoryGoal, JointTolerance

        super().__init__()
        self.names = {value: name.lower() for name, value in vars(actionlib.TerminalState).items() if name.isupper()}
        client = actionlib.ActionClient("/controller/follow_joint_trajectory", FollowJointTrajectoryAction)
        assert client.wait_for_server(rospy.Duration(PATIENCE))
        tolerances = [[JointTolerance(name=n, position=x) for n, x in part.items()] for part in (path, end)]
        goal = FollowJointTrajectoryGoal(trajectory, *tolerances, rospy.Duration(2))
        self.handle = client.send_goal(goal, self.change, lambda _, message: self.feedback.append(message))
        self.client = client

    def change(self, handle: Any) -> None:
        from actionlib import CommState

        if handle.get_comm_state() == CommState.DONE:
            self.result = handle.get_result()
            status = self.names[handle.get_terminal_state()]
            self.status = "canceled" if status == "preempted" else status

    def cancel(self) -> None:
        self.handle.cancel()


class Ros1Listener(Listener):
    def __init__(self) -> None:
        import rospy
        from diagnostic_msgs.msg import DiagnosticArray

        super().__init__()
        rospy.init_node("listener", disable_signals=True)
        for topic in self.TOPICS:
            rospy.Subscriber(topic, self.kind(topic), self.keep, callback_args=topic, tcp_nodelay=True, queue_size=1000)
        rospy.Subscriber("/diagnostics", DiagnosticArray, self.report)
        self.sender = Sender  # type: ignore[method-assign]

    def stamp(self) -> Any:
        import rospy

        return rospy.Time.now()

    def duration(self, seconds: int) -> Any:
        import rospy

        return rospy.Duration(seconds)

    def stamps(self, messages: list[Any]) -> np.ndarray:
        return np.array([m.header.stamp.to_nsec() for m in messages])

    def call(self, service: str, data: bool | None = None) -> Any:
        import rospy
        from std_srvs.srv import SetBool, Trigger

        rospy.wait_for_service(service, PATIENCE)
        return rospy.ServiceProxy(service, Trigger)() if data is None else rospy.ServiceProxy(service, SetBool)(data)

    def set_parameter(self, node: str, name: str, value: Any) -> None:
        import rospy

        rospy.set_param(f"{node}/{name}", value)

    def gain(self, name: str) -> Any:
        import rospy

        return rospy.get_param(f"/controller/gains/{name}")

    def refusal_of_gain(self, name: str, value: float) -> str:
        self.set_parameter("/controller", "gains", {name: value})
        return str(self.call("/controller/set_gains").message)

    def goal(self, trajectory: Any, path: dict[str, float], end: dict[str, float]) -> Goal:
        return Ros1Goal(trajectory, path, end)

    def record(self, folder: Path, part: slice) -> Path:
        from rosbags.rosbag1 import Writer
        from rosbags.typesys import Stores, get_typestore

        name, store = "sensor_msgs/msg/JointState", get_typestore(Stores.ROS1_NOETIC)
        with Writer(folder / "run.bag") as bag:
            connection = bag.add_connection("/joint_states", name, typestore=store)
            for message in self.since("joint_states", 0)[part]:
                raw = BytesIO()
                message.serialize(raw)
                bag.write(connection, message.header.stamp.to_nsec(), raw.getvalue())
        return folder / "run.bag"
