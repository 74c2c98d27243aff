"""A domain of ROS 2 on this machine alone, and a listener in it."""

import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

from .network import EXAMPLES, PATIENCE, Goal, Listener, Network, wait_until

#: how often the listener empties its queues [s], which hold some seconds
EMPTY_EVERY, QUEUE = 0.02, 5000


class Ros2Network(Network):
    """A domain of its own: nodes of other domains are not seen."""

    def __init__(self, folder: Path) -> None:
        environment = {
            "ROS_DOMAIN_ID": str(1 + os.getpid() % 100),
            "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
            # Fast DDS by shared memory, its default, took a fifth more of the processors for each state
            "FASTDDS_BUILTIN_TRANSPORTS": "UDPv4",
            "PYTHONPATH": os.pathsep.join(filter(None, (str(EXAMPLES / "ros2"), os.environ.get("PYTHONPATH")))),
        }
        super().__init__(folder, environment)

    def node(self, name: str, config: str, **parameters: str) -> None:
        given = {"config": str(EXAMPLES / "config" / config), **parameters}
        pairs = [word for key, value in given.items() for word in ("-p", f"{key.replace('/', '.')}:={value}")]
        program, *words = self.program(name)
        self.run(name, [sys.executable, "-m", f"thunder_ros.{program}", *words, "--ros-args", *pairs])


class Sender:
    """Messages to a topic that at least one other node listens to."""

    def __init__(self, node: Any, topic: str, kind: type, listeners: int) -> None:
        self.publisher = node.create_publisher(kind, topic, 10)
        wait_until(lambda: self.publisher.get_subscription_count() > listeners, f"somebody listens to {topic}")
        self.send, self.close = self.publisher.publish, lambda: node.destroy_publisher(self.publisher)


class Ros2Goal(Goal):
    def __init__(self, node: Any, trajectory: Any, path: dict[str, float], end: dict[str, float]) -> None:
        from builtin_interfaces.msg import Duration
        from control_msgs.action import FollowJointTrajectory
        from control_msgs.msg import JointTolerance
        from rclpy.action import ActionClient

        super().__init__()
        self.client = ActionClient(node, FollowJointTrajectory, "/controller/follow_joint_trajectory")
        wait_until(self.client.server_is_ready, "the action is offered")
        tolerances = [[JointTolerance(name=n, position=x) for n, x in part.items()] for part in (path, end)]
        goal = FollowJointTrajectory.Goal(
            trajectory=trajectory,
            path_tolerance=tolerances[0],
            goal_tolerance=tolerances[1],
            goal_time_tolerance=Duration(sec=2),
        )
        sent = self.client.send_goal_async(goal, feedback_callback=lambda m: self.feedback.append(m.feedback))
        wait_until(sent.done, "the goal is answered")
        self.handle = sent.result()
        if not self.handle.accepted:
            self.status = "rejected"
            return
        self.handle.get_result_async().add_done_callback(self.end)

    def end(self, future: Any) -> None:
        from action_msgs.msg import GoalStatus

        ends = {"SUCCEEDED": "succeeded", "ABORTED": "aborted", "CANCELED": "canceled"}
        names = {getattr(GoalStatus, f"STATUS_{name}"): text for name, text in ends.items()}
        self.result = future.result().result
        self.status = names[future.result().status]

    def cancel(self) -> None:
        self.handle.cancel_goal_async()


class Ros2Listener(Listener):
    """Takes what has come from the queues, now and then: an executor would need more than a processor for 5 kHz."""

    def __init__(self) -> None:
        import rclpy
        from diagnostic_msgs.msg import DiagnosticArray
        from rclpy.executors import SingleThreadedExecutor
        from rclpy.signals import SignalHandlerOptions

        super().__init__()
        rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
        # two nodes: the executor must not see the subscriptions whose queues are emptied here
        self.node, self.silent = rclpy.create_node("listener"), rclpy.create_node("silent_listener")
        self.node.create_subscription(DiagnosticArray, "/diagnostics", self.report, 10)
        self.kinds = {topic: self.kind(topic) for topic in self.TOPICS}
        self.subscriptions = {
            topic: self.silent.create_subscription(kind, topic, lambda _: None, QUEUE, raw=True)
            for topic, kind in self.kinds.items()
        }
        self.executor = SingleThreadedExecutor()
        self.executor.add_node(self.node)
        self.going = True
        self.threads = [threading.Thread(target=f, daemon=True) for f in (self.executor.spin, self.empty)]
        for thread in self.threads:
            thread.start()

    def empty(self) -> None:
        while self.going:
            for topic, subscription in self.subscriptions.items():
                with subscription.handle:
                    while (taken := subscription.handle.take_message(self.kinds[topic], True)) is not None:
                        self.keep(taken[0], topic)
            time.sleep(EMPTY_EVERY)

    def since(self, topic: str, count: int) -> list[Any]:
        from rclpy.serialization import deserialize_message

        return [deserialize_message(raw, self.kinds[topic]) for raw in super().since(topic, count)]

    def stamp(self) -> Any:
        return self.node.get_clock().now().to_msg()

    def duration(self, seconds: int) -> Any:
        from builtin_interfaces.msg import Duration

        return Duration(sec=seconds)

    def stamps(self, messages: list[Any]) -> np.ndarray:
        return np.array([1_000_000_000 * m.header.stamp.sec + m.header.stamp.nanosec for m in messages])

    def ask(self, kind: type, name: str, request: Any) -> Any:
        client = self.node.create_client(kind, name)
        wait_until(client.service_is_ready, f"service {name}")
        future = client.call_async(request)
        wait_until(future.done, f"an answer of {name}")
        self.node.destroy_client(client)
        return future.result()

    def call(self, service: str, data: bool | None = None) -> Any:
        from std_srvs.srv import SetBool, Trigger

        if data is None:
            return self.ask(Trigger, service, Trigger.Request())
        return self.ask(SetBool, service, SetBool.Request(data=data))

    def set_parameter(self, node: str, name: str, value: Any) -> None:
        """Set a parameter; a mapping goes as YAML, in a text."""
        from rcl_interfaces.srv import SetParameters
        from rclpy.parameter import Parameter

        given = Parameter(name, value=str(value)).to_parameter_msg()
        answer = self.ask(SetParameters, f"{node}/set_parameters", SetParameters.Request(parameters=[given]))
        assert answer.results[0].successful, answer

    def gain(self, name: str) -> Any:
        from rcl_interfaces.srv import GetParameters

        request = GetParameters.Request(names=[f"controller.{name}"])
        return self.ask(GetParameters, "/controller/get_parameters", request).values[0].double_value

    def refusal_of_gain(self, name: str, value: float) -> str:
        from rcl_interfaces.srv import SetParameters
        from rclpy.parameter import Parameter

        given = Parameter(f"controller.{name}", value=value).to_parameter_msg()
        request = SetParameters.Request(parameters=[given])
        return str(self.ask(SetParameters, "/controller/set_parameters", request).results[0].reason)

    def goal(self, trajectory: Any, path: dict[str, float], end: dict[str, float]) -> Goal:
        return Ros2Goal(self.node, trajectory, path, end)

    def record(self, folder: Path, part: slice) -> Path:
        from rosbags.rosbag2 import Writer
        from rosbags.typesys import Stores, get_typestore

        name, store = "sensor_msgs/msg/JointState", get_typestore(Stores.LATEST)
        with Writer(folder / "run", version=9) as bag:
            connection = bag.add_connection("/joint_states", name, typestore=store)
            for k, raw in enumerate(Listener.since(self, "joint_states", 0)[part]):
                bag.write(connection, k, raw)
        return folder / "run"

    def sender(self, topic: str, kind: type) -> Sender:
        return Sender(self.node, topic, kind, int(topic in self.TOPICS))

    def close(self) -> None:
        import rclpy

        self.going = False
        self.executor.shutdown()
        for thread in self.threads:
            thread.join(PATIENCE)
        rclpy.try_shutdown()
