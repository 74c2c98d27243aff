"""Loops around a hand with a depth camera: grasping objects on a belt, and picking those on a table."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ... import _core
from ...checks import Array, finite, nonnegative, of_kind, pose
from ...errors import ThunderError
from ...motion import HumanLikePlanner
from ...perception.clouds import DepthCamera
from ...reference import TaskReference
from ...robot import Robot
from ...values import Stateful
from ..arm import arm_length, follower
from ..interception.conveyor import Belt
from ..interception.filter import ConstantVelocityFilter
from ..interception.interceptor import InterceptionOptions, Interceptor
from ..interception.outcome import InterceptionPhase
from ..servoing.law import VisualServo
from ..servoing.pick_loop import PickingController, PickLoop, PickStep
from ..servoing.pick_machine import PickMachine, PickSettings
from ..servoing.pose_filter import PoseFilter
from ..servoing.tracker import TargetTracker
from .approach import Approach
from .view import GraspView, HandUse, YawEstimate

#: height from which the hand descends [m], duration of the descent and its end after the arrival [s]
_ABOVE, _DESCENT, _LEVEL = 0.1, 0.35, 0.2
#: rate of the hand's turn [rad/s], and its peak over it; peak of a descent over its mean speed; share of the arm's
#: speeds that turn and descent may take: slower arms turn and descend more slowly
_TURNING, _PEAK, _STEEPEST, _SHARE = 4.5, 0.58, 1.875, 0.8
#: part of the belt before its reference, in widths of it, and height above it in which objects are looked for [m]
_BEFORE, _AFTER, _BESIDE, _HIGH = 1.2, 0.8, 0.2, 0.25


class GraspLoop(Stateful):
    """A controller that grasps an object from a belt: depth pictures in, torques and a closing hand out.

    It is a controller for `thunder_py.realtime.DriveLoop` and others with `step`. Everything that it knows comes by
    `see`, `feel` and `step`. A picture is searched for the object (`GraspView`), an `Interceptor` plans and plans
    anew, the hand descends when it moves with the object (`Approach`), a `follower` moves the arm, and the last link's
    parameters adapt to what the hand holds.

    Parameters
    ----------
    robot : Robot
        The arm as far as it is known, with the hand as its load; its end effector is the center of grasps.
    hand : HandUse
        The hand.
    camera : DepthCamera
        Lens and pose of the camera as calibrated.
    belt : Belt
        Where objects come from, and where the hand may be.
    q : (n,) array_like
        Joint positions at the start, where the hand waits [rad or m].
    planner : HumanLikePlanner
        Planner of the hand's path.
    options : InterceptionOptions, optional
        Strategy, limits and times; the hand's time to close is added.
    law : Controller, optional
        Controller of the hand's pose; default `follower` at the start.
    filter : ConstantVelocityFilter, optional
        Estimator of the object's motion.
    clock : float
        The camera's clock, with a latency that its stamps do not know, less that of the arm [s], see `CameraClock`.
    size : (3,) array_like, optional
        Size of the intended object among others, see `GraspView`.

    Attributes
    ----------
    grip : bool
        Whether the hand shall close now.
    desired : TaskReference
        Reference of the last step.
    points : list of (float, (3,) array)
        Time of each picture with an object, and the point of the grasp in it [m].

    Examples
    --------
    See `thunder_py.mujoco.WorldDrive` for a loop in a world with contact.

    >>> from thunder_py.manipulation import GraspLoop
    >>> GraspLoop.over.__doc__.splitlines()[0]
    'True once the hand has left with what it holds, or has given up.'
    """

    def __init__(
        self,
        robot: Robot,
        hand: HandUse,
        camera: DepthCamera,
        belt: Belt,
        q: npt.ArrayLike,
        planner: HumanLikePlanner,
        *,
        options: InterceptionOptions | None = None,
        law: _core.TaskController | None = None,
        filter: ConstantVelocityFilter | None = None,
        clock: float = 0.0,
        size: npt.ArrayLike | None = None,
    ) -> None:
        self.robot, self.n = of_kind(robot, Robot, "robot"), robot.n
        ahead, at = np.asarray(belt.direction), np.asarray(belt.reference)
        aside = np.abs(np.cross((0.0, 0.0, 1.0), ahead)) * _BESIDE
        ends = np.array([at - _BEFORE * ahead - aside, at - _BEFORE * ahead + aside, at + _AFTER * ahead - aside,
                         at + _AFTER * ahead + aside])  # fmt: skip
        low, high = ends.min(axis=0), ends.max(axis=0)
        low[2], high[2] = low[2] - 1.0, high[2] + _HIGH - hand.depth
        self.view = GraspView(robot, hand, camera, low, high, size=size)
        start = np.array(robot.forward_kinematics(q))
        start[2, 3] -= _ABOVE  # the approach adds it
        chosen = InterceptionOptions() if options is None else options
        self.options = replace(chosen, closing_time=_LEVEL + hand.close)
        self.interceptor = Interceptor(planner, belt, pose(start, "start"), filter=filter, options=self.options)
        self.law = follower(robot, q) if law is None else law
        turning = min(_TURNING, _SHARE * float(robot.limits.velocity[-1]) / _PEAK)
        descent = max(_DESCENT, _STEEPEST * _ABOVE / (_SHARE * self.options.velocity_limit))
        self._approach = Approach(_ABOVE, descent, _LEVEL, turning)
        self._limits, self._clock = robot.limits.effort, finite(clock, "clock")
        self._clear()

    def _clear(self) -> None:
        self.points: list[tuple[float, Array]] = []
        self.grip, self.desired = False, TaskReference(np.zeros(3), np.eye(3), np.zeros(6), np.zeros(6))
        self._yaw = YawEstimate()
        self._now: float | None = None
        self._closure, self._crowded = 0.0, False  # an object was seen last where the hand had no room

    def reset(self) -> None:
        """Start again."""
        for part in (self.view, self.interceptor, self._approach, self.law):
            part.reset()
        self._clear()

    @property
    def phase(self) -> InterceptionPhase:
        """Phase of the grasp."""
        return self.interceptor.phase

    @property
    def over(self) -> bool:
        """True once the hand has left with what it holds, or has given up."""
        return self.phase in (InterceptionPhase.finished, InterceptionPhase.missed, InterceptionPhase.aborted)

    @property
    def reason(self) -> str:
        """Reason why there was no grasp; empty if there was one."""
        if self.grip:
            return ""
        return f"no grasp: {'no room for the hand between the objects' if self._crowded else self.interceptor.reason}"

    def feel(self, closure: float) -> None:
        """Take the closure of the hand's motor, from 0 to 1, for the next steps."""
        self._closure = finite(closure, "closure")

    def see(self, taken: float, depth: npt.ArrayLike) -> None:
        """Take a depth picture when it is there; `taken` is its stamp on the camera's clock [s]."""
        taken -= self._clock
        found = self.view.see(taken, depth)
        if found.center is None or found.size is None or self._now is None:
            return
        point = self.view.use.grasp_point(found.center, found.size)
        self.points.append((taken, point))
        self._yaw.add(*self.view.turn(found, self._approach.goal))
        self._approach.aim(self._yaw)
        self._crowded = not (self.view.room or self.interceptor.plans)
        if not self._crowded:
            self.interceptor.measure(max(self._now, taken), taken, point)

    def step(self, t: float, q: Array, dq: Array, reference: Any = None, /) -> Array:
        """Return the torque (n,) for the period from a time on, within the arm's limits; no reference is needed."""
        self.view.feel(t, q, self._closure)
        dt, self._now = 0.0 if self._now is None else t - self._now, t
        plan = self.interceptor.reference(t)
        to_go = self.interceptor.arrival - t
        self._approach.step(dt, to_go)
        self.desired = self._approach.apply(plan)
        tau = self.law.step(t, q, dq, self.desired)
        self.grip = to_go < -_LEVEL and self.phase is not InterceptionPhase.aborted
        return np.clip(tau, -self._limits, self._limits)


class HandPick(PickingController):
    """A controller that picks an object from a table by visual servoing: depth pictures in, torques and a hand out.

    It is used as a `GraspLoop`; see there. The phases are those of a `PickMachine`.

    Parameters
    ----------
    robot : Robot
        The arm as far as it is known, with the hand as its load; its end effector is the center of grasps.
    hand : HandUse
        The hand.
    camera : DepthCamera
        Lens and pose of the camera as calibrated.
    low, high : (3,) array_like
        Corners of the region in which table and objects are looked for [m].
    inner : Controller
        Joint controller, such as `SlotineLi` with an adaptation of the last link.
    settings : PickSettings, optional
        Distances, times and tolerances; default those for an object that the hand hides from the camera at the end.
    place : (3,) array_like, optional
        As of a `PickMachine`, nearer than the stretched arm is long.
    closed : float
        Time after which the hand has closed or holds something, less than the `grip_time` of the settings [s].
    speed : float
        Usable fraction of the joint velocity limits.
    clock : float
        As of `GraspLoop`.

    Examples
    --------
    >>> from thunder_py.manipulation import HandPick, PickingController
    >>> issubclass(HandPick, PickingController)
    True
    """

    def __init__(
        self,
        robot: Robot,
        hand: HandUse,
        camera: DepthCamera,
        low: npt.ArrayLike,
        high: npt.ArrayLike,
        inner: _core.JointController,
        *,
        settings: PickSettings | None = None,
        place: npt.ArrayLike | None = None,
        closed: float = 0.85,
        speed: float = 0.5,
        clock: float = 0.0,
    ) -> None:
        self.view, self.robot, self.n = GraspView(robot, hand, camera, low, high), robot, robot.n
        if getattr(inner, "n", None) != robot.n:
            raise ThunderError(f"inner must be a controller of {robot.n} joints, got {inner!r}")
        # objects lie still most of the time; pushed ones stop soon
        belief = PoseFilter(
            0.005, 0.05, acceleration=0.02, angular_acceleration=0.05, speed=0.01, angular_speed=0.02, persistence=0.5
        )
        machine = PickMachine(_BLIND if settings is None else settings, place)
        if place is not None:
            slides = np.abs([robot.limits.lower, robot.limits.upper]).max(axis=0)[np.array([*robot.joint_types]) == "P"]
            reach = arm_length(robot) + float(slides.sum())
            if np.linalg.norm(np.asarray(place) - robot.description.base[:3, 3]) > reach:
                raise ThunderError(f"place must be within {reach:.3g} m of the base of {robot.name}, got {place}")
        loop = PickLoop(VisualServo(robot, 2.0, 2.0, speed=speed), TargetTracker(self.view, belief), machine)
        super().__init__(loop, inner, holding=self._holds)
        self._closed, self._limits, self._closure = nonnegative(closed, "closed", "s"), robot.limits.effort, 0.0
        if closed >= machine.settings.grip_time:
            raise ThunderError(f"closed must be less than grip_time {machine.settings.grip_time:g} s, got {closed:g}")
        self._clock = finite(clock, "clock")
        self._closing_since = math.inf

    @property
    def grip(self) -> bool:
        """Whether the hand shall be closed now."""
        return bool(self.steps) and self.steps[-1][2].decision.grip

    @property
    def reason(self) -> str:
        """Reason of a failure, empty without one."""
        reason = self.loop.machine.reason
        return "" if reason is None else reason.value

    def feel(self, closure: float) -> None:
        """Take the closure of the hand's motor, from 0 to 1, for the next steps."""
        self._closure = finite(closure, "closure")

    def see(self, taken: float, depth: npt.ArrayLike) -> None:
        """Take a depth picture when it is there; `taken` is its stamp on the camera's clock [s]."""
        self.view.see(taken - self._clock, depth)

    def step(self, t: float, q: Array, dq: Array, reference: Any = None, /) -> Array:
        """Return the torque (n,) for the period from a time on, within the arm's limits; no reference is needed."""
        self.view.feel(t, q, self._closure)
        return np.clip(super().step(t, q, dq), -self._limits, self._limits)

    def _holds(self, t: float, q: Array, last: PickStep | None) -> bool | None:
        """Return whether the closed hand holds something; None while it closes."""
        if last is None or not last.decision.grip:
            self._closing_since = math.inf
            return None
        self._closing_since = min(self._closing_since, t)
        return self._closure < self.view.use.empty if t - self._closing_since > self._closed else None


#: the descent goes on blindly where the hand hides the object
_BLIND = PickSettings(standoff=0.16, blind_distance=0.2, blind_time=3.0)
