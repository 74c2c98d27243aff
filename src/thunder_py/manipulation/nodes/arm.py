"""The nodes of tasks of an arm: interception of a moving object, picking by visual servoing, throwing."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ...checks import Array, array
from ...errors import ThunderError
from ...motion import FPCA, HumanLikePlanner
from ...perception import PoseMeasurement
from ...realtime.joint_states import JointOrder
from ...realtime.nodes.middleware import Middleware, pose_messages, trajectory_message
from ...realtime.plain_data import Table
from ...realtime.reference_generator import JointSample, PoseSample
from ...recordings.synthetic import sigma_lognormal_reaches
from ...robot import Robot
from ...spatial.single import quaternion_of
from ...trajectory import point_to_point
from ..interception import Belt, InterceptionOptions, Interceptor
from ..servoing.law import VisualServo
from ..servoing.pick_loop import PickLoop
from ..servoing.pick_machine import PickMachine, PickPhase, PickSettings
from ..servoing.pose_filter import PoseFilter
from ..servoing.tracker import TargetTracker
from ..throwing import ThrowMotion, plan_throw
from .parts import MeasurementQueue, TaskNode, configured_pose, made, read_pose

#: deceleration of a stop, as a part of the velocity limits per second, and where a joint has none [rad/s^2 or m/s^2]
_STOP, _STOP_DEFAULT = 4.0, 4.0
#: horizon of the segments of a pick [s], of which each replaces the one before
_HORIZON = 0.2
#: largest distance of a pick's reference from the arm [rad or m]
_LEASH = 0.1
#: distance of points of a throw, time from the service to the start, margin of the way to the start [s, s, -]
_SPACING, _DELAY, _APPROACH = 0.01, 0.1, 0.15


class ArmNode(TaskNode):
    """Base: joint states, services ``start`` and ``stop``, the topic ``gripper`` (closed or not), reports.

    Parameters
    ----------
    ros : Middleware
        The node.
    table : Table
        Configuration with ``robot`` and ``rate``.
    rate : float
        Default rate [Hz].
    """

    def __init__(self, ros: Middleware, table: Table, rate: float) -> None:
        super().__init__(ros)
        self.robot, self._rate = Robot.load(table.text("robot")), table.positive("rate", rate)
        self._order = JointOrder(self.robot.joint_names, others_allowed=True)
        self._q: Array | None = None
        self._dq: Array | None = None
        self._closed: bool | None = None
        self.running, self.text = False, "stopped"
        self._gripper = ros.publisher("gripper", ros.kinds.Bool)

    def _connect(self) -> None:
        """Offer the services and begin, once the subclass is ready."""
        self.ros.service("start", "Trigger", self._start)
        self.ros.service("stop", "Trigger", self._stop)
        self.ros.subscribe("joint_states", self.ros.kinds.JointState, self._on_state)
        self.ros.every(1.0 / self._rate, self._tick)
        self._tell_periodically()

    def _on_state(self, message: Any) -> None:
        places = self._order.places(message.name)
        if places is None:
            return
        q, dq = (np.asarray(row, dtype=np.float64) for row in (message.position, message.velocity))
        if q.shape == dq.shape == (len(message.name),) and np.isfinite([q, dq]).all():
            with self._lock:
                self._q, self._dq = q[places], dq[places]

    def _start(self, _: Any) -> None:
        with self._lock:
            if self._q is None:
                raise ThunderError("no joint state yet: start the robot's node first, then call start again")
            self._prepare(self._q)
            self.running, self.text = True, "started"

    def _stop(self, _: Any) -> None:
        with self._lock:
            was, self.running, self.text = self.running, False, "stopped"
            if was:
                self._brake()

    def _tick(self) -> None:
        with self._lock:
            if self.running:
                self._step(self.ros.now())

    def _end(self, text: str) -> None:
        self.running, self.text = False, text

    def _grip(self, closed: bool) -> None:
        if closed is not self._closed:
            self._closed = closed
            self._gripper.send(self.ros.kinds.Bool(data=closed))

    def _prepare(self, q: Array) -> None:
        raise NotImplementedError

    def _brake(self) -> None:
        raise NotImplementedError

    def _step(self, now: int) -> None:
        raise NotImplementedError

    def _report(self) -> tuple[str, str, dict[str, Any]]:
        return "OK" if self.running or self._done() else "WARN", self.text, {"running": self.running}

    def _done(self) -> bool:
        return self.text in ("done", "finished")


class JointsNode(ArmNode):
    """Base of the nodes whose controller follows joint trajectories."""

    def _connect(self) -> None:
        self._trajectories = self.ros.publisher("trajectory", self.ros.kinds.JointTrajectory)
        super()._connect()

    def _send(self, stamp: int, times: Array, q: Array, dq: Array, ddq: Array) -> None:
        sample = JointSample(stamp, times, q, dq, ddq)
        self._trajectories.send(trajectory_message(self.ros, self.robot.joint_names, sample))

    def _brake(self) -> None:
        """Replace what the controller follows by a stop at constant deceleration."""
        if self._q is None or self._dq is None:
            return
        limits = self.robot.limits
        most = np.where(np.isfinite(limits.velocity), _STOP * limits.velocity, _STOP_DEFAULT)
        T = max(0.1, float(np.max(np.abs(self._dq) / most)))
        t = np.linspace(0.0, T, 6)[:, None]
        q = np.clip(self._q + self._dq * t * (1.0 - 0.5 * t / T), limits.lower, limits.upper)
        dq, ddq = self._dq * (1.0 - t / T), np.tile(-self._dq / T, (6, 1))
        self._send(self.ros.now(), t[:, 0], q, dq, ddq)


class InterceptionNode(ArmNode):
    """Grasp a moving object: poses of the object in, poses and twists for a controller in task space out.

    Parameters
    ----------
    ros : Middleware
        The node.
    configuration : dict
        ``robot``, ``belt`` (arguments of `Belt`), ``options`` (of `InterceptionOptions`), ``model``, a saved `FPCA`,
        without which components are those of synthetic reaches, ``frame`` of the hand, ``world`` (frame of the
        messages), ``rate`` (100 Hz).

    Examples
    --------
    >>> from unittest.mock import MagicMock
    >>> from thunder_py.manipulation.nodes import InterceptionNode
    >>> ros = MagicMock()  # stand-in for a ROS node
    >>> belt = {"reference": [0.5, 0, 0.25], "low": [0.4, -0.25, 0.15], "high": [0.6, 0.3, 0.35]}
    >>> node = InterceptionNode(ros, {"robot": "panda", "belt": belt})
    >>> [call.args[0] for call in ros.service.call_args_list]
    ['start', 'stop']
    """

    def __init__(self, ros: Middleware, configuration: dict[str, Any]) -> None:
        table = Table(configuration, "configuration")
        super().__init__(ros, table, 100.0)
        self._belt = made(Belt, table, "belt")
        self._options = made(InterceptionOptions, table, "options")
        model, self._frame, self._world = table.get("model"), table.get("frame"), table.text("world", "world")
        table.done()
        reaches = FPCA(alignment="path", shrinkage=0.2)
        fpca = reaches.fit(sigma_lognormal_reaches(10, seed=1)) if model is None else FPCA.load(model)
        self._planner = HumanLikePlanner(fpca)
        self.interceptor: Interceptor | None = None
        self._pose = ros.publisher("pose", ros.kinds.PoseStamped)
        self._twist = ros.publisher("twist", ros.kinds.TwistStamped)
        ros.subscribe("object_pose", ros.kinds.PoseWithCovarianceStamped, self._on_pose)
        self._connect()

    def _prepare(self, q: Array) -> None:
        start = self.robot.forward_kinematics(q, self._frame)
        self.interceptor = Interceptor(self._planner, self._belt, start, options=self._options)
        self._grip(False)

    def _on_pose(self, message: Any) -> None:
        with self._lock:
            if self.running and self.interceptor is not None:
                taken, now = self.ros.nanoseconds(message.header.stamp), self.ros.now()
                position = read_pose(message.pose.pose)[:3, 3]
                self.interceptor.measure(self._seconds(now), self._seconds(taken), position)

    def _step(self, now: int) -> None:
        assert self.interceptor is not None
        reference = self.interceptor.reference(self._seconds(now))
        phase, reason = self.interceptor.phase, self.interceptor.reason
        self.text = phase.value if reason.value == "none" else f"{phase.value}: {reason.value}"
        self._grip(phase.value not in ("waiting", "reaching", "aborted"))
        R, xi = reference.R, reference.xi
        sample = PoseSample(now, reference.p, quaternion_of(R), xi[:3], xi[3:])
        pose, twist = pose_messages(self.ros, sample, self._world)
        self._twist.send(twist)
        self._pose.send(pose)

    def _brake(self) -> None:
        """Send nothing more: the controller brakes when a stream of poses ends."""


class PickingNode(JointsNode):
    """Pick an object by visual servoing: its poses in, a joint trajectory and the gripper out.

    Parameters
    ----------
    ros : Middleware
        The node.
    configuration : dict
        ``robot``, ``grasp`` (pose of the tool at contact in the object's frame), ``tool`` (pose of the tool in the
        hand), ``settings`` (of `PickSettings`), ``position_noise`` (0.003 m), ``rotation_noise`` (0.03 rad),
        ``repeats`` (none; see `TargetTracker`), ``gripper_answers`` (true: the topic ``holding`` says whether it holds
        something; false: it holds when it is closed), ``rate`` (50 Hz).

    Examples
    --------
    >>> from unittest.mock import MagicMock
    >>> from thunder_py.manipulation.nodes import PickingNode
    >>> ros = MagicMock()  # stand-in for a ROS node
    >>> node = PickingNode(ros, {"robot": "panda"})
    >>> [call.args[0] for call in ros.publisher.call_args_list]
    ['/diagnostics', 'gripper', 'trajectory']
    """

    def __init__(self, ros: Middleware, configuration: dict[str, Any]) -> None:
        table = Table(configuration, "configuration")
        super().__init__(ros, table, 50.0)
        self._grasp = configured_pose(table.get("grasp"), "grasp")
        servo = VisualServo(self.robot)
        servo.tool = configured_pose(table.get("tool"), "tool")
        noise = table.positive("position_noise", 0.003), table.positive("rotation_noise", 0.03)
        self._source, repeats = MeasurementQueue(), table.get("repeats")
        tracker = TargetTracker(self._source, PoseFilter(*noise), repeats=repeats)
        self.loop = PickLoop(servo, tracker, PickMachine(made(PickSettings, table, "settings")))
        self._answers = table.flag("gripper_answers", True)
        table.done()
        self._holding: bool | None = None
        self._at, self._before = np.zeros(self.robot.n), -1.0
        ros.subscribe("object_pose", ros.kinds.PoseWithCovarianceStamped, self._on_pose)
        ros.subscribe("holding", ros.kinds.Bool, self._on_holding)
        self._connect()

    def _prepare(self, q: Array) -> None:
        self.loop.reset()
        self._at, self._before, self._holding = q.copy(), -1.0, None
        self._grip(False)

    def _on_pose(self, message: Any) -> None:
        with self._lock:
            taken, now = self._seconds(self.ros.nanoseconds(message.header.stamp)), self._seconds(self.ros.now())
            seen = read_pose(message.pose.pose)
            if self.running and taken <= now:
                self._source.add(PoseMeasurement(taken, now, seen @ self._grasp))

    def _on_holding(self, message: Any) -> None:
        self._holding = bool(message.data)

    def _step(self, now: int) -> None:
        assert self._q is not None
        t = self._seconds(now)
        if t <= self._before:
            return
        dt, self._before = 0.0 if self._before < 0.0 else min(t - self._before, _HORIZON), t
        holding = self._holding if self._answers else self._closed
        step = self.loop.update(t, self._q, holding)
        # an arm that is held does not follow: the reference must not run away from it, nor into a limit
        self._at = self._q + np.clip(self._at + dt * step.dq - self._q, -_LEASH, _LEASH)
        phase, reason = step.decision.phase, step.decision.reason
        self._grip(step.decision.grip)
        self._follow(now, step.dq)
        self.text = phase.name if reason is None else f"{phase.name}: {reason.value}"
        if phase.over:
            self._end("done" if phase is PickPhase.done else self.text)

    def _follow(self, now: int, dq: Array) -> None:
        """Send the velocity for a horizon, then a stop: without this node the arm comes to rest."""
        t, way = _HORIZON * np.array([0.0, 1.0, 2.0]), _HORIZON * np.array([[0.0], [1.0], [1.5]])
        low, high = self.robot.limits.lower, self.robot.limits.upper
        self._at = np.clip(self._at, low, high)
        dq = np.clip(dq, (low - self._at) / way[-1], (high - self._at) / way[-1])
        q = np.clip(self._at + dq * way, low, high)
        velocity = dq * np.array([[1.0], [1.0], [0.0]])
        self._send(now, t, q, velocity, np.zeros_like(q))


class ThrowingNode(JointsNode):
    """Throw at a target: a joint trajectory out, and the gripper opens so that the object is free at the release.

    Parameters
    ----------
    ros : Middleware
        The node.
    configuration : dict
        ``robot``, ``target`` (landing point [m]), ``opening_delay`` of the gripper [s] (0), ``options`` of
        `plan_throw`, ``rate`` (200 Hz). The throw is planned when the node starts.

    Examples
    --------
    >>> from unittest.mock import MagicMock
    >>> from thunder_py.manipulation.nodes import ThrowingNode
    >>> ros = MagicMock()  # stand-in for a ROS node
    >>> options = {"objective": "limits", "starts": 4}
    >>> node = ThrowingNode(ros, {"robot": "panda", "target": [1.1, 0.1, -0.4], "options": options})
    >>> node.motion.swing.duration < 0.5
    True
    """

    def __init__(self, ros: Middleware, configuration: dict[str, Any]) -> None:
        table = Table(configuration, "configuration")
        super().__init__(ros, table, 200.0)
        target = array(table.get("target"), (3,), "configuration: target")
        self._early = float(table.get("opening_delay", 0.0))
        self.motion: ThrowMotion = made(partial(plan_throw, self.robot, target), table, "options")
        table.done()
        self._opens = self._ends = 0
        self._connect()

    def _prepare(self, q: Array) -> None:
        """Send the way to the start and the throw."""
        velocity = self.robot.limits.velocity
        v = np.where(np.isfinite(velocity), _APPROACH * velocity, _APPROACH)
        way = point_to_point(q, self.motion.q_start, v_max=v, a_max=4.0 * v)
        whole = way.duration + self.motion.duration()
        t = np.linspace(0.0, whole, 1 + int(np.ceil(whole / _SPACING)))
        approach, later = way(np.minimum(t, way.duration)), t > way.duration
        rows = [np.array(row) for row in (approach.q, approach.dq, approach.ddq)]
        for row, thrown in zip(rows, self.motion.joints(t[later] - way.duration), strict=True):
            row[later] = thrown
        begin = self.ros.now() + round(1e9 * _DELAY)
        self._opens = begin + round(1e9 * (way.duration + self.motion.release_time - self._early))
        self._ends = begin + round(1e9 * whole)
        self._grip(True)
        self._send(begin, t, *rows)

    def _step(self, now: int) -> None:
        self.text = "throwing"
        if now >= self._opens:
            self._grip(False)
        if now >= self._ends:
            self._end("done")
