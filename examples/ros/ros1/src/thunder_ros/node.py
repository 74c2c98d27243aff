"""A node of ROS 1 as `thunder_py.realtime.nodes` knows it."""

from __future__ import annotations

import sys
import threading
import traceback
from collections.abc import Callable
from typing import Any

import actionlib
import rospy
from std_srvs.srv import SetBool, SetBoolResponse, Trigger, TriggerResponse

from thunder_py.realtime.nodes.middleware import (
    SWITCH_INTERVAL,
    answer,
    configuration,
    message_kinds,
    prioritized,
    repeat,
)

SERVICES = {"Trigger": (Trigger, TriggerResponse), "SetBool": (SetBool, SetBoolResponse)}


class RosPublisher:
    """Sends messages of one topic, from a thread of the connection: a listener that hangs does not block the loop."""

    def __init__(self, topic: str, kind: type) -> None:
        self.publisher = rospy.Publisher(topic, kind, queue_size=1, tcp_nodelay=True)

    def send(self, message) -> None:
        """Publish, unless the node is ending: topics then close while messages are on their way."""
        try:
            self.publisher.publish(message)
        except rospy.ROSSerializationException:
            raise
        except rospy.ROSException:
            pass

    @property
    def wanted(self) -> bool:
        """Whether anybody listens."""
        return self.publisher.get_num_connections() > 0


class RosGoal:
    """A client's goal."""

    def __init__(self, handle) -> None:
        self.handle = handle

    def feedback(self, message) -> None:
        """Publish feedback."""
        self.handle.publish_feedback(message)

    def finish(self, status: str, result) -> None:
        """End the goal."""
        ends = {"succeeded": "set_succeeded", "aborted": "set_aborted", "canceled": "set_canceled"}
        getattr(self.handle, ends[status])(result, result.error_string)


class RosNode:
    """The `Middleware` of ROS 1."""

    def __init__(self, name: str) -> None:
        rospy.init_node(name)
        self.kinds = message_kinds()
        self.name, self.failed = rospy.get_name(), False

    def now(self) -> int:
        """Return the time of ROS."""
        return rospy.Time.now().to_nsec()

    def to_time(self, nanoseconds: int) -> rospy.Time:
        """Return a stamp; `rospy.Time` itself takes seconds to bring a large number of nanoseconds into form."""
        return rospy.Time(*divmod(int(nanoseconds), 1_000_000_000))

    def to_duration(self, nanoseconds: int) -> rospy.Duration:
        """Return a duration."""
        return rospy.Duration(*divmod(int(nanoseconds), 1_000_000_000))

    def nanoseconds(self, time) -> int:
        """Return what a stamp or a duration says."""
        return time.to_nsec()

    def publisher(self, topic: str, kind: type) -> RosPublisher:
        """Return what sends messages of a topic."""
        return RosPublisher(topic, kind)

    def subscribe(self, topic: str, kind: type, callback: Callable[[Any], None], *, stream: bool = True):
        """Call back with the newest message."""
        return rospy.Subscriber(topic, kind, callback, queue_size=1 if stream else 10, tcp_nodelay=True)

    def unsubscribe(self, subscription) -> None:
        """Call back no more."""
        subscription.unregister()

    def service(self, name: str, kind: str, action: Callable[[Any], None]) -> None:
        """Offer a private service."""
        service, response = SERVICES[kind]
        rospy.Service(f"~{name}", service, lambda request: answer(response(), action, request))

    def action(self, name: str, kind, server) -> None:
        """Offer a private action."""

        def begin(handle) -> None:
            refused = server.begin(handle.get_goal())
            if refused is not None:
                handle.set_rejected(refused, refused.error_string)
                return
            handle.set_accepted()
            server.attach(RosGoal(handle))

        actionlib.ActionServer(f"~{name}", kind.Action, begin, lambda _: server.cancel(), auto_start=False).start()

    def every(self, period: float, action: Callable[[], None]) -> None:
        """Do something in every period, in a thread of its own.

        It must not be the main one. There rospy's handler of SIGTERM closes connections, and if the signal comes while
        a message is handed to one, it waits for a lock that its own thread holds: the node never ends.
        """
        threading.Thread(target=self.guarded, args=(period, action), daemon=True).start()

    def guarded(self, period: float, action: Callable[[], None]) -> None:
        """Run a loop; a node whose loop has failed must not stay."""
        try:
            repeat(period, action, lambda: not rospy.is_shutdown())
        except Exception:
            if not rospy.is_shutdown():
                self.failed = True
                rospy.logfatal(traceback.format_exc())
                rospy.signal_shutdown("its loop failed")

    def parameter(self, name: str):
        """Return a private parameter, None where there is none."""
        return rospy.get_param(f"~{name}", None)

    def gains(self, values: dict, action: Callable[[dict], None]) -> None:
        """Show gains as ~gains; the parameter server refuses nothing, so the service set_gains sets them."""
        rospy.set_param("~gains", values)

    def warn(self, text: str) -> None:
        """Say something, once in a second at most."""
        rospy.logwarn_throttle(1.0, text)


def main(name: str, kind: Callable[[RosNode, dict], Any]) -> None:
    """Start a node, make what it is of its configuration, and run that until the node ends."""
    sys.setswitchinterval(SWITCH_INTERVAL)
    ros = RosNode(name)
    try:
        made = kind(ros, prioritized(configuration(rospy.get_param("~", {}))))
    except (ValueError, OSError) as error:
        rospy.logfatal(str(error))
        sys.exit(2)
    rospy.spin()
    del made
    sys.exit(1 if ros.failed else 0)
