"""A node of ROS 2 as `thunder_py.realtime.nodes` knows it."""

from __future__ import annotations

import faulthandler
import sys
import threading
import traceback
from array import array
from collections.abc import Callable
from contextlib import contextmanager
from functools import partial
from typing import Any

import rclpy
import yaml
from builtin_interfaces.msg import Duration, Time
from rclpy.event_handler import PublisherEventCallbacks, SubscriptionEventCallbacks
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import HistoryPolicy, QoSProfile, ReliabilityPolicy
from std_srvs.srv import SetBool, Trigger

from thunder_py.realtime.nodes.middleware import SWITCH_INTERVAL, answer, configuration, merged, message_kinds, repeat

SERVICES = {"Trigger": Trigger, "SetBool": SetBool}
#: What is published may be listened to with either reliability. Streams are taken as they come: a state that would have
#: to be sent again is older than the next one. A trajectory may come alone, so it is asked for until it is here.
OFFERED = QoSProfile(depth=1, history=HistoryPolicy.KEEP_LAST, reliability=ReliabilityPolicy.RELIABLE)
STREAM = QoSProfile(depth=1, history=HistoryPolicy.KEEP_LAST, reliability=ReliabilityPolicy.BEST_EFFORT)
#: Events of topics, such as a warning where qualities do not match, would be looked at whenever the executor wakes.
SILENT_PUBLISHER = PublisherEventCallbacks(use_default_callbacks=False)
SILENT_SUBSCRIPTION = SubscriptionEventCallbacks(use_default_callbacks=False)
#: parameters that every node has
ROS_PARAMETERS = ("use_sim_time", "start_type_description_service", "qos_overrides")
#: a node that ends waits so long for each of its threads [s]
LAST_PERIOD = 2.0
#: a node that was told to end ends, even where threads of the middleware wait for each other for ever [s]
LAST_WORD = 8.0


class RosPublisher:
    """Sends messages of one topic."""

    def __init__(self, publisher) -> None:
        self.publisher = publisher

    def send(self, message) -> None:
        """Publish; topics of a node that ends close while messages are on their way."""
        with unless_ending():
            self.publisher.publish(message)

    @property
    def wanted(self) -> bool:
        """Whether anybody listens."""
        with unless_ending():
            return self.publisher.get_subscription_count() > 0
        return False


@contextmanager
def unless_ending():
    """Let errors pass only while the node is meant to run; rclpy raises them of several classes."""
    try:
        yield
    except Exception:
        if rclpy.ok():
            raise


class RosNode:
    """The `Middleware` of ROS 2."""

    def __init__(self, name: str) -> None:
        self.kinds = message_kinds()
        self.node = Node(name, allow_undeclared_parameters=True, automatically_declare_parameters_from_overrides=True)
        self.name = self.node.get_fully_qualified_name()
        self.clock, self.threads, self.failed = self.node.get_clock(), [], False

    def now(self) -> int:
        """Return the time of ROS."""
        return self.clock.now().nanoseconds

    def to_time(self, nanoseconds: int) -> Time:
        """Return a stamp."""
        seconds, rest = divmod(int(nanoseconds), 1_000_000_000)
        return Time(sec=seconds, nanosec=rest)

    def to_duration(self, nanoseconds: int) -> Duration:
        """Return a duration."""
        seconds, rest = divmod(int(nanoseconds), 1_000_000_000)
        return Duration(sec=seconds, nanosec=rest)

    def nanoseconds(self, time) -> int:
        """Return what a stamp or a duration says."""
        return 1_000_000_000 * time.sec + time.nanosec

    def publisher(self, topic: str, kind: type) -> RosPublisher:
        """Return what sends messages of a topic."""
        return RosPublisher(self.node.create_publisher(kind, topic, OFFERED, event_callbacks=SILENT_PUBLISHER))

    def subscribe(self, topic: str, kind: type, callback: Callable[[Any], None], *, stream: bool = True):
        """Call back with the newest message."""
        quality = STREAM if stream else OFFERED
        return self.node.create_subscription(kind, topic, callback, quality, event_callbacks=SILENT_SUBSCRIPTION)

    def unsubscribe(self, subscription) -> None:
        """Call back no more."""
        self.node.destroy_subscription(subscription)

    def service(self, name: str, kind: str, action: Callable[[Any], None]) -> None:
        """Offer a private service."""
        self.node.create_service(
            SERVICES[kind], f"~/{name}", lambda request, response: answer(response, action, request)
        )

    def every(self, period: float, action: Callable[[], None]) -> None:
        """Do something in every period, in a thread of its own: a timer would wake the executor, 0.1 ms each time."""
        thread = threading.Thread(target=self.guarded, args=(partial(repeat, period, action, rclpy.ok),), daemon=True)
        self.threads.append(thread)
        thread.start()

    def guarded(self, loop: Callable[[], None]) -> None:
        """Run a loop; a node whose loop has failed must not stay."""
        try:
            loop()
        except Exception:
            if rclpy.ok():
                self.failed = True
                self.node.get_logger().fatal(traceback.format_exc())
                rclpy.try_shutdown()

    def parameters(self) -> dict:
        """Return all parameters of the node, mapping by mapping."""
        names = self.node.list_parameters([], 0).names
        own = [name for name in sorted(names) if name.split(".")[0] not in ROS_PARAMETERS]
        result: dict = {}
        for parameter in self.node.get_parameters(own):
            *path, last = parameter.name.split(".")
            place = {last: as_plain(parameter.value)}
            for key in reversed(path):
                place = {key: place}
            result = merged(result, place)
        return result

    def parameter(self, name: str):
        """Return a parameter, None where there is none."""
        return self.parameters().get(name)

    def warn(self, text: str) -> None:
        """Say something, once in a second at most."""
        self.node.get_logger().warning(text, throttle_duration_sec=1.0)

    def spin(self) -> None:
        """Take messages and requests, one after the other, until the node ends."""
        executor = SingleThreadedExecutor()
        executor.add_node(self.node)
        try:
            executor.spin()
        except (KeyboardInterrupt, ExternalShutdownException):
            pass
        finally:
            # says where it hangs, and needs no Python thread to run
            faulthandler.dump_traceback_later(LAST_WORD, exit=True)
            rclpy.try_shutdown()
            for thread in self.threads:
                thread.join(LAST_PERIOD)


def as_plain(value):
    """Return a parameter's value; a text in braces or brackets is read as YAML: parameters are no lists of lists."""
    if isinstance(value, array):
        return value.tolist()
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return yaml.safe_load(value)
        except yaml.YAMLError:
            return value
    return value


def main(name: str, kind: Callable[[RosNode, dict], Any]) -> None:
    """Start a node, make what it is of its configuration, and run that until the node ends."""
    rclpy.init(args=sys.argv)
    sys.setswitchinterval(SWITCH_INTERVAL)
    ros = RosNode(name)
    try:
        made = kind(ros, configuration(ros.parameters()))
    except (ValueError, OSError) as error:
        ros.node.get_logger().fatal(str(error))
        sys.exit(2)
    ros.spin()
    del made
    sys.exit(1 if ros.failed else 0)
