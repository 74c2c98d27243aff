"""The reference generator node: publishes a reference that starts at the position of the arm."""

from __future__ import annotations

from typing import Any

from ..reference_generator import ReferenceGenerator
from . import middleware as messages
from .middleware import Middleware


class ReferenceNode:
    """Connect a `ReferenceGenerator` to topics.

    Parameters
    ----------
    ros : Middleware
        The node.
    configuration : dict
        See `ReferenceGenerator`; and ``frame``, the frame in the header of poses and twists (``world``).

    Examples
    --------
    >>> from unittest.mock import MagicMock
    >>> from thunder_py.realtime.nodes import ReferenceNode
    >>> ros = MagicMock()  # stand-in for a ROS node
    >>> node = ReferenceNode(ros, {"robot": "panda", "reference": {"kind": "lissajous"}})
    >>> [call.args[0] for call in ros.publisher.call_args_list]
    ['pose', 'twist']
    """

    def __init__(self, ros: Middleware, configuration: dict[str, Any]) -> None:
        self.ros, kinds = ros, ros.kinds
        self._frame = str(configuration.pop("frame", "world"))
        self.generator = ReferenceGenerator(configuration)
        if self.generator.task:
            self._poses = ros.publisher("pose", kinds.PoseStamped)
            self._twists = ros.publisher("twist", kinds.TwistStamped)
        else:
            self._trajectories = ros.publisher("trajectory", kinds.JointTrajectory)
        self._state: Any = None
        self._begun = False
        self._states = ros.subscribe("joint_states", kinds.JointState, self._on_state)
        ros.every(1.0 / self.generator.rate, self._tick)

    def _on_state(self, message: Any) -> None:
        # in the thread of messages: to end a subscription from another one is a race in middlewares
        if self._begun:
            self.ros.unsubscribe(self._states)
        self._state = message

    def _tick(self) -> None:
        """Publish the next sample, after the first joint state."""
        if not self.generator.running and not self._begin():
            return
        now = self.ros.now()
        if self.generator.task:
            pose, twist = messages.pose_messages(self.ros, self.generator.pose(now), self._frame)
            self._twists.send(twist)
            self._poses.send(pose)
        else:
            names, sample = self.generator.joint_names, self.generator.joints(now)
            self._trajectories.send(messages.trajectory_message(self.ros, names, sample))

    def _begin(self) -> bool:
        state = self._state
        if state is None:
            self.ros.warn("waiting for a joint state")
            return False
        why = self.generator.begin(self.ros.now(), state.name, state.position)
        if why is not None:
            self._state = None
            self.ros.warn(why)
            return False
        self._begun = True
        return True
