"""What the three nodes have in common."""

from __future__ import annotations

import sys
import threading
import traceback
from collections.abc import Callable
from typing import Any

import rospy

from thunder_py.realtime.plain_data import read_plain

#: a thread that waits for the interpreter gets it after so long [s]; Python's default, 5 ms, is five control periods
SWITCH_INTERVAL = 1e-4
#: of every subscriber: the newest message, at once
NEWEST = {"queue_size": 1, "tcp_nodelay": True}


def configuration() -> dict:
    """Return the file ``~config``, if given, and the node's private parameters over it."""
    given = rospy.get_param("~", {})
    path = given.pop("config", None)
    return merged(read_plain(path) if path else {}, given)


def merged(base: dict, over: dict) -> dict:
    """Return a mapping with the entries of another one put over it, mapping by mapping."""
    result = dict(base)
    for key, value in over.items():
        both = isinstance(value, dict) and isinstance(result.get(key), dict)
        result[key] = merged(result[key], value) if both else value
    return result


def publisher(name: str, kind: type, **options) -> rospy.Publisher:
    """Return a publisher that never blocks: what cannot be sent is dropped for what is newer."""
    return rospy.Publisher(name, kind, queue_size=1, tcp_nodelay=True, **options)


def send(publisher: rospy.Publisher, message) -> None:
    """Publish, unless the node is ending: topics then close while messages are on their way."""
    try:
        publisher.publish(message)
    except rospy.ROSSerializationException:
        raise
    except rospy.ROSException:
        pass


def run(loop: Callable[[], None]) -> None:
    """Run a node's loop until the node ends.

    It must not publish from the main thread. There rospy's handler of SIGTERM closes connections, and if the signal
    comes while a message is handed to one, it waits for a lock that its own thread holds: the node never ends.
    """
    threading.Thread(target=guarded, args=(loop,), daemon=True).start()
    rospy.spin()


def guarded(loop: Callable[[], None]) -> None:
    """Run a loop; a node whose loop has failed must not stay."""
    try:
        loop()
    except rospy.ROSInterruptException:
        pass
    except Exception:
        if not rospy.is_shutdown():
            rospy.logfatal(traceback.format_exc())
            rospy.signal_shutdown("its loop failed")


def main(name: str, kind: Callable[[dict], Any]) -> None:
    """Start a node, make what it is of its configuration, and run that until the node ends."""
    rospy.init_node(name)
    sys.setswitchinterval(SWITCH_INTERVAL)
    try:
        made = kind(configuration())
    except (ValueError, OSError) as error:
        rospy.logfatal(str(error))
        sys.exit(2)
    run(made.run)
