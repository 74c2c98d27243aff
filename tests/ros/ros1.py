"""A ROS master on loopback, and a listener of ROS 1."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path
from typing import Any

import numpy as np

from .network import EXAMPLES, PATIENCE, Listener, Network, wait_until


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


class Ros1Network(Network):
    """A master of its own."""

    def __init__(self, folder: Path) -> None:
        port = free_port()
        environment = {
            "ROS_MASTER_URI": f"http://localhost:{port}",
            "ROS_IP": "127.0.0.1",
            "ROS_HOSTNAME": "localhost",
            "ROS_PACKAGE_PATH": str(EXAMPLES),
            # roslaunch runs scripts by their first line
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        }
        super().__init__(folder, environment)
        self.run("roscore", ["roscore", "-p", str(port)])
        wait_until(lambda: self.master_answers(port), f"roscore ({self.words('roscore')})")

    @staticmethod
    def master_answers(port: int) -> bool:
        with socket.socket() as s:
            return s.connect_ex(("127.0.0.1", port)) == 0

    def node(self, name: str, config: str, **parameters: str) -> None:
        given = {"config": str(EXAMPLES / "config" / config), **parameters}
        script = EXAMPLES / f"ros1/scripts/{name}_node.py"
        self.run(name, [sys.executable, str(script), *(f"_{key}:={value}" for key, value in given.items())])


class Sender:
    def __init__(self, topic: str, kind: type) -> None:
        import rospy

        self.publisher = rospy.Publisher(topic, kind, queue_size=10)
        wait_until(self.publisher.get_num_connections, f"somebody listens to {topic}")
        self.send, self.close = self.publisher.publish, self.publisher.unregister


class Ros1Listener(Listener):
    def __init__(self) -> None:
        import rospy
        from diagnostic_msgs.msg import DiagnosticArray
        from sensor_msgs.msg import JointState
        from std_msgs.msg import Float64MultiArray

        super().__init__()
        rospy.init_node("listener", disable_signals=True)
        kinds = {"JointState": JointState, "Float64MultiArray": Float64MultiArray}
        for topic, kind in self.TOPICS.items():
            rospy.Subscriber(topic, kinds[kind], self.keep, callback_args=topic, tcp_nodelay=True, queue_size=1000)
        rospy.Subscriber("/diagnostics", DiagnosticArray, self.report)
        self.sender = Sender  # type: ignore[method-assign]

    def stamp(self) -> Any:
        import rospy

        return rospy.Time.now()

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
