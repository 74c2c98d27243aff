"""A node of ROS 2 as `thunder_py.realtime.nodes` knows it."""

from __future__ import annotations

import faulthandler
import os
import signal
import sys
import threading
import traceback
from array import array
from collections.abc import Callable
from functools import partial
from typing import Any

import rclpy
from builtin_interfaces.msg import Duration, Time
from rcl_interfaces.msg import ParameterDescriptor, SetParametersResult
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.event_handler import PublisherEventCallbacks, SubscriptionEventCallbacks
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import HistoryPolicy, QoSProfile, ReliabilityPolicy
from rclpy.signals import SignalHandlerOptions
from rclpy.task import Future
from std_srvs.srv import SetBool, Trigger

from thunder_py.io.yaml_text import plain_yaml
from thunder_py.realtime.nodes.middleware import (
    SWITCH_INTERVAL,
    answer,
    configuration,
    merged,
    message_kinds,
    prioritized,
    repeat,
)

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
#: of parameters that are gains: what the configuration calls them
GAIN = "controller."
#: signals that end a node
ENDING = (signal.SIGINT, signal.SIGTERM)
#: a node whose threads have not ended after this time writes where they are, and ends [s]
LAST_WORD = 8.0


class RosPublisher:
    """Sends messages of one topic."""

    def __init__(self, publisher) -> None:
        self.publisher = publisher

    def send(self, message) -> None:
        """Publish."""
        self.publisher.publish(message)

    @property
    def wanted(self) -> bool:
        """Whether anybody listens."""
        return self.publisher.get_subscription_count() > 0


class RosGoal:
    """A client's goal. It is accepted until it ends: a coroutine that executes it would keep the executor busy."""

    def __init__(self, handle) -> None:
        self.handle = handle

    def feedback(self, message) -> None:
        """Publish feedback."""
        self.handle.publish_feedback(message)

    def finish(self, status: str, result) -> None:
        """End the goal, in the thread of the executor."""

        def end(handle):
            canceled = status == "canceled" and handle.is_cancel_requested
            {"succeeded": handle.succeed}.get(status, handle.canceled if canceled else handle.abort)()
            return result

        self.handle.execute(end)


class RosNode:
    """The `Middleware` of ROS 2.

    It ends in order: a signal wakes the main thread, the other threads end, and then the context is shut down. The
    handlers of rclpy shut it down at once in a thread of their own. Calls of other threads then fail wherever they are,
    and an executor waits for ever if it was woken before the context was shut down and found nothing to do.
    """

    def __init__(self, name: str) -> None:
        self.kinds = message_kinds()
        self.node = Node(name, allow_undeclared_parameters=True, automatically_declare_parameters_from_overrides=True)
        self.name = self.node.get_fully_qualified_name()
        self.executor = SingleThreadedExecutor()
        self.executor.add_node(self.node)
        self.actions, self.showing, self.offered = [], False, False
        self.clock, self.ending, self.threads, self.failed = self.node.get_clock(), Future(), [], False

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

    def action(self, name: str, kind, server) -> None:
        """Offer a private action."""

        def begin(request):
            return GoalResponse.ACCEPT if server.begin(request) is None else GoalResponse.REJECT

        def cancel(_):
            server.cancel()
            return CancelResponse.ACCEPT

        self.actions.append(
            ActionServer(
                self.node,
                kind,
                f"~/{name}",
                execute_callback=lambda _: kind.Result(),
                goal_callback=begin,
                handle_accepted_callback=lambda handle: server.attach(RosGoal(handle)),
                cancel_callback=cancel,
            )
        )

    def every(self, period: float, action: Callable[[], None]) -> None:
        """Do something in every period, in a thread of its own: a timer would wake the executor, 0.1 ms each time."""
        self.start(partial(repeat, period, action, lambda: not self.ending.done()))

    def start(self, loop: Callable[[], None]) -> None:
        """Run a loop in a thread; a node whose loop has failed must not stay."""
        thread = threading.Thread(target=self.guarded, args=(loop,), daemon=True)
        self.threads.append(thread)
        thread.start()

    def guarded(self, loop: Callable[[], None]) -> None:
        """Run a loop; its error ends the node."""
        try:
            loop()
        except Exception:
            self.failed = True
            self.node.get_logger().fatal(traceback.format_exc())
            os.kill(os.getpid(), signal.SIGTERM)

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

    def gains(self, values: dict, action: Callable[[dict], None]) -> None:
        """Show gains as parameters ``controller.NAME``; setting them sets gains, or is refused with the reason."""
        dynamic = ParameterDescriptor(dynamic_typing=True)
        self.showing = True
        try:
            for name, value in values.items():
                shown = [float(x) for x in value] if isinstance(value, (list, tuple)) else value
                if not self.node.has_parameter(GAIN + name):
                    self.node.declare_parameter(GAIN + name, shown, dynamic)
                self.node.set_parameters([Parameter(GAIN + name, value=shown)])
        finally:
            self.showing = False  # else gains would be taken, and not set
        if not self.offered:
            self.offered = True
            self.node.add_on_set_parameters_callback(partial(self.set_gains, action))

    def set_gains(self, action: Callable[[dict], None], parameters: list) -> SetParametersResult:
        """Set those of the parameters that are gains, all or none."""
        try:
            gains = {p.name.removeprefix(GAIN): as_plain(p.value) for p in parameters if p.name.startswith(GAIN)}
            if gains and not self.showing:
                action(gains)
        except ValueError as error:
            return SetParametersResult(successful=False, reason=str(error))
        return SetParametersResult(successful=True)

    def warn(self, text: str) -> None:
        """Say something, once in a second at most."""
        self.node.get_logger().warning(text, throttle_duration_sec=1.0)

    def run(self) -> None:
        """Take messages and requests, one after the other, until a signal or an error ends the node."""
        self.start(partial(self.executor.spin_until_future_complete, self.ending))
        signal.sigwait(ENDING)

    def close(self) -> None:
        """End the threads, then what they use."""
        faulthandler.dump_traceback_later(LAST_WORD, exit=True)  # needs no Python thread to run
        self.ending.set_result(None)
        for thread in self.threads:
            thread.join()
        self.executor.shutdown()
        self.node.destroy_node()
        rclpy.shutdown()


def as_plain(value):
    """Return a parameter's value; a text in braces or brackets is read as YAML: parameters are no lists of lists."""
    if isinstance(value, array):
        return value.tolist()
    if isinstance(value, str) and value[:1] in ("{", "["):
        return plain_yaml(value)
    return value


def main(name: str, kind: Callable[[RosNode, dict], Any]) -> None:
    """Start a node, make what it is of its configuration, and run that until the node ends."""
    # blocked in threads too, which inherit it: only the main thread takes them, when it waits for them
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    rclpy.init(args=sys.argv, signal_handler_options=SignalHandlerOptions.NO)
    sys.setswitchinterval(SWITCH_INTERVAL)
    ros, code = RosNode(name), 0
    try:
        made = kind(ros, prioritized(configuration(ros.parameters())))
        ros.run()
        del made
    except (ValueError, OSError) as error:
        ros.node.get_logger().fatal(str(error))
        code = 2
    finally:
        ros.close()
    sys.exit(1 if ros.failed else code)
