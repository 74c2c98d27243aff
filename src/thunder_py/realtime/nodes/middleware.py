"""What a node needs of a middleware, and what is the same in each of them."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any, Protocol

from ..pacing import Pacer
from ..plain_data import read_plain

__all__ = ["SWITCH_INTERVAL", "Middleware", "Publisher", "answer", "configuration", "merged", "message_kinds", "repeat"]

#: a thread that waits for the interpreter gets it after so long [s]; Python's default, 5 ms, is five control periods
SWITCH_INTERVAL = 1e-4
#: where the messages of the nodes are, in ROS 1 as in ROS 2
MESSAGES = {
    "diagnostic_msgs.msg": ("DiagnosticArray", "DiagnosticStatus", "KeyValue"),
    "geometry_msgs.msg": ("PoseStamped", "TwistStamped"),
    "sensor_msgs.msg": ("JointState",),
    "std_msgs.msg": ("Float64MultiArray", "MultiArrayDimension"),
    "trajectory_msgs.msg": ("JointTrajectory", "JointTrajectoryPoint"),
}


class Publisher(Protocol):
    """Sends messages of one topic; what cannot be sent is dropped for what is newer."""

    def send(self, message: Any) -> None:
        """Send, or do nothing where the node is ending. The message may be filled anew afterwards."""

    @property
    def wanted(self) -> bool:
        """Whether anybody listens."""


class Middleware(Protocol):
    """A node of ROS 1 or ROS 2, as far as this package knows it. Times are whole nanoseconds.

    Attributes
    ----------
    kinds : Any
        Holds the classes of messages by their names: ``kinds.JointState``.
    name : str
        Of the node, with its namespace.
    """

    kinds: Any
    name: str

    def now(self) -> int:
        """Return the time."""

    def to_time(self, nanoseconds: int) -> Any:
        """Return a stamp."""

    def to_duration(self, nanoseconds: int) -> Any:
        """Return a duration."""

    def nanoseconds(self, time: Any) -> int:
        """Return what a stamp or a duration says."""

    def publisher(self, topic: str, kind: type) -> Publisher:
        """Return what sends messages of a topic."""

    def subscribe(self, topic: str, kind: type, callback: Callable[[Any], None], *, stream: bool = True) -> Any:
        """Call back with the newest message; of a stream one may be lost, as the next one is on its way."""

    def unsubscribe(self, subscription: Any) -> None:
        """Call back no more."""

    def service(self, name: str, kind: str, action: Callable[[Any], None]) -> None:
        """Offer a private service, ``Trigger`` or ``SetBool``, that answers with the `ValueError` of the action."""

    def every(self, period: float, action: Callable[[], None]) -> None:
        """Do something once in every period [s] of the wall clock until the node ends; end the node if it fails."""

    def parameter(self, name: str) -> Any:
        """Return a private parameter of the node as plain data, None where there is none."""

    def warn(self, text: str) -> None:
        """Say something, once in a second at most."""


def repeat(period: float, action: Callable[[], None], going: Callable[[], bool]) -> None:
    """Do something once in every period [s] of the wall clock."""
    pacer = Pacer(period)
    while going():
        action()
        pacer.wait()


def answer(response: Any, action: Callable[[Any], None], request: Any) -> Any:
    """Carry out a request and return the response: whether it was, and what was wrong with it."""
    response.success, response.message = True, ""
    try:
        action(request)
    except ValueError as error:
        response.success, response.message = False, str(error)
    return response


def message_kinds() -> SimpleNamespace:
    """Return the classes of messages of whichever ROS this Python has, by their names."""
    kinds = SimpleNamespace()
    for module, names in MESSAGES.items():
        for name in names:
            setattr(kinds, name, getattr(importlib.import_module(module), name))
    return kinds


def configuration(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a node's parameters say: the file ``config``, if it is named, and the others over it."""
    own = dict(given)
    own.pop("gains", None)  # of the service set_gains
    path = own.pop("config", None)
    return merged(read_plain(path) if path else {}, own)


def merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Return a mapping with the entries of another one put over it, mapping by mapping."""
    result = dict(base)
    for key, value in over.items():
        both = isinstance(value, Mapping) and isinstance(result.get(key), Mapping)
        result[key] = merged(result[key], value) if both else value
    return result
