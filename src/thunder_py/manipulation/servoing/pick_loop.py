"""Periodic loop of a pick (measure, estimate, decide, servo), and a controller for the simulator that runs it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from ... import _core
from ...checks import Array, finite, positive
from ...errors import ThunderError
from ...perception.pose_source import PoseSource
from ...reference import JointReference
from ...values import Stateful
from .law import ServoStep, VisualServo
from .pick_machine import LONGEST_STEP, PickDecision, PickInput, PickMachine
from .pose_filter import PoseHistory, poll, rigid
from .tool_estimator import ToolVerdict
from .tracker import Repetition, TargetTracker, Track


class ToolPoseEstimator(Protocol):
    """Estimator of the tool's pose from pictures, such as `ToolEstimator`."""

    @property
    def pose(self) -> Array:
        """Pose of the tool in the hand."""

    @property
    def covariance(self) -> Array:
        """Covariance of its error."""

    def reset(self) -> None:
        """Discard all measurements."""

    def observe(self, time: float, tool: npt.ArrayLike | None, hand: npt.ArrayLike) -> ToolVerdict:
        """Process a picture."""


@dataclass(frozen=True, slots=True, eq=False)
class PickStep:
    """Result of a period of the loop.

    Attributes
    ----------
    dq : (n,) array
        Joint velocities to follow [rad/s or m/s].
    decision : PickDecision
        Decision of the pick machine in this period.
    servo : ServoStep or None
        None if the decision has no goal.
    track : Track
        State of the target.
    tool : (4, 4) array
        Estimate of the tool's pose, in the world.
    """

    dq: Array
    decision: PickDecision
    servo: ServoStep | None
    track: Track
    tool: Array


class PickLoop(Stateful):
    """Measure, estimate, decide and servo; call `update` once in every period, with the time.

    Parameters
    ----------
    servo : VisualServo
        Law; its tool is set to the estimate in every period.
    target : TargetTracker
        Tracker of the pose that the tool shall have at contact.
    machine : PickMachine
        State machine of the pick.
    tool : ToolPoseEstimator, optional
        Estimator of the tool's pose in the hand; default the tool of the servo, which then is known.
    tool_source : PoseSource, optional
        Source of poses of the tool in the world. If it fails, the estimate stays and `tool_error` holds the error.
    tool_repeats : int or None
        Number of consecutive equal poses of the tool after which its source counts as frozen and is ignored; None for
        sources without noise.
    tool_sure : float
        The tool counts as known once the standard deviation of its position is below this, per axis [m].
    acceleration : float
        Largest joint acceleration [rad/s^2 or m/s^2]; all changes are scaled together, which keeps their direction.

    Attributes
    ----------
    tool_error : Exception or None
        Latest error of the tool's source.

    Examples
    --------
    >>> import numpy as np
    >>> import thunder_py as th
    >>> from thunder_py.manipulation import PickLoop, PickMachine, PoseFilter, TargetTracker, VisualServo
    >>> from thunder_py.perception import SimulatedPoseSource
    >>> panda, q = th.Robot.load("panda"), np.array([0.0, -0.5, 0.0, -2.0, 0.0, 1.6, 0.8])
    >>> goal = panda.forward_kinematics(q + 0.1)
    >>> tracker = TargetTracker(SimulatedPoseSource(lambda t: goal), PoseFilter(0.003, 0.02), repeats=None)
    >>> loop, phases = PickLoop(VisualServo(panda), tracker, PickMachine()), []
    >>> for k in range(700):  # 100 Hz
    ...     step = loop.update(0.01 * k, q, holding=True)
    ...     q, phases = q + 0.01 * step.dq, [*phases, step.decision.phase.name]
    >>> list(dict.fromkeys(phases))
    ['search', 'approach', 'descend', 'grip', 'retreat', 'done']
    """

    def __init__(
        self,
        servo: VisualServo,
        target: TargetTracker,
        machine: PickMachine,
        *,
        tool: ToolPoseEstimator | None = None,
        tool_source: PoseSource | None = None,
        tool_repeats: int | None = 3,
        tool_sure: float = 0.004,
        acceleration: float = 10.0,
    ) -> None:
        if tool_source is not None and tool is None:
            raise ThunderError("tool must be given where there is a tool_source, got None")
        if tool_source is not None and not isinstance(tool_source, PoseSource):
            raise ThunderError(f"tool_source must have poll and reset, got {type(tool_source).__name__}")
        self.servo, self.target, self.machine = servo, target, machine
        self.tool, self.tool_source = tool, tool_source
        self._sure = positive(tool_sure, "tool_sure", "m")
        self._acceleration = positive(acceleration, "acceleration")
        self._repetition = Repetition(tool_repeats)
        self._clear()

    def _clear(self) -> None:
        self.hands = PoseHistory()
        self.tool_error: Exception | None = None
        self._dq = np.zeros(self.servo.robot.n)
        self._time: float | None = None
        self._last: ServoStep | None = None
        self._taken: Array | None = None  # present estimate of the servo
        self._hand: Array = np.eye(4)

    def reset(self) -> None:
        """Start again, from rest: sources, estimates and the machine too."""
        if self.tool_source is not None:
            self.tool_source.reset()
        if self.tool is not None:
            self.tool.reset()
        self.target.reset()
        self.machine.reset()
        self._repetition.reset()
        self._clear()

    def update(self, t: float, q: Array, holding: bool | None = None) -> PickStep:
        """Return the step from time `t` [s] on, at joint positions `q` (n,).

        With NaN in `q` the joint velocities are zero, and the machine gives up after a while.

        Raises
        ------
        ThunderError
            If `t` is not finite or not later than the last one.
        """
        if self._time is not None and finite(t, "t") <= self._time:
            raise ThunderError(f"t must be after the last time, {self._time:g} s, got {t:g} s; reset() starts again")
        dt = 0.0 if self._time is None else min(t - self._time, LONGEST_STEP)
        self._time = finite(t, "t")
        if np.isfinite(q).all():
            self._hand = self.servo.robot.forward_kinematics(q, frame=self.servo.frame)
            self.hands.add(t, self._hand)
        slipped = self._look_at_tool(t)
        if self.tool is not None and self.tool.pose is not self._taken:
            self.servo.tool = self._taken = self.tool.pose
        now = self._hand @ self.servo.tool
        track = self.target.update(t)
        decision = self.machine.step(PickInput(t, track, now, self._last, self._tool_known(), slipped, holding))
        if decision.goal is None:
            self._last, desired = None, np.zeros_like(self._dq)
        else:
            self._last = self.servo.step(q, decision.goal, decision.twist, decision.speed)
            desired = self._last.dq
        return PickStep(self._ramp(dt, desired), decision, self._last, track, now)

    def _look_at_tool(self, t: float) -> bool:
        """Process pictures of the tool; return whether it slipped."""
        if self.tool is None or self.tool_source is None:
            return False
        slipped = False
        pictures, error = poll(self.tool_source, t)
        self.tool_error = self.tool_error if error is None else error
        for measurement in pictures:
            hand = self.hands.at(measurement.time)
            if rigid(measurement.pose) is not None and hand is not None and not self._repetition(measurement.pose):
                slipped |= self.tool.observe(measurement.time, measurement.pose, hand) is ToolVerdict.slipped
        return slipped

    def _tool_known(self) -> bool:
        if self.tool is None or self.tool_source is None:
            return True
        return math.sqrt(float(np.max(np.diag(self.tool.covariance)[:3]))) < self._sure

    def _ramp(self, dt: float, desired: Array) -> Array:
        change = desired - self._dq
        allowed = self._acceleration * dt
        largest = float(np.abs(change).max())
        self._dq = self._dq + (change if largest <= allowed else (allowed / largest) * change)
        return self._dq


class PickingController(Stateful):
    """A pick for `thunder_py.simulation.simulate`: the loop at its period, and a joint controller that follows it.

    The joint controller follows the integral of the loop's velocities. The loop uses the measured positions, so it
    compensates errors that the joint controller leaves.

    Parameters
    ----------
    loop : PickLoop
        Loop that the controller steps.
    inner : Controller
        Joint controller of `thunder_py.control`, such as `ComputedTorque`.
    period : float
        Period of the loop [s]; the control period of the simulation should divide it.
    holding : callable, optional
        Returns the state of the gripper from time, joint positions and the loop's last step.

    Attributes
    ----------
    start : float
        Time at which the simulation starts [s]; set it where a pick is simulated in pieces.
    steps : list of (float, array, PickStep)
        Time, joint positions and step of the loop, for every period.

    Examples
    --------
    >>> import numpy as np
    >>> import thunder_py as th
    >>> from thunder_py.manipulation import (
    ...     PickingController, PickLoop, PickMachine, PoseFilter, TargetTracker, VisualServo)
    >>> from thunder_py.perception import SimulatedPoseSource
    >>> panda, q = th.Robot.load("panda"), np.array([0.0, -0.5, 0.0, -2.0, 0.0, 1.6, 0.8])
    >>> goal = panda.forward_kinematics(q + 0.1)
    >>> tracker = TargetTracker(SimulatedPoseSource(lambda t: goal), PoseFilter(0.003, 0.02), repeats=None)
    >>> loop = PickLoop(VisualServo(panda), tracker, PickMachine())
    >>> arm = PickingController(loop, th.ComputedTorque(panda, 900.0, 60.0), holding=lambda t, q, step: True)
    >>> run = th.simulate(panda, arm, th.reference.SetPoint(q), 1.0, q0=q)
    >>> len(arm.steps), arm.loop.machine.phase.name, arm.over
    (101, 'approach', False)
    """

    def __init__(
        self,
        loop: PickLoop,
        inner: _core.JointController,
        *,
        period: float = 0.01,
        holding: Callable[[float, Array, PickStep | None], bool | None] | None = None,
    ) -> None:
        self.loop, self.inner = loop, inner
        self._period = positive(period, "period", "s")
        self._holding = holding
        self.start = 0.0
        self.steps: list[tuple[float, Array, PickStep]] = []
        self._q: Array | None = None  # followed
        self._dq, self._none = np.zeros((2, loop.servo.robot.n))
        self._next, self._before = 0.0, 0.0

    @property
    def followed(self) -> Array:
        """Desired joint positions (n,); NaN before the first step."""
        return self._dq + np.nan if self._q is None else self._q

    @property
    def over(self) -> bool:
        """True if the pick is done or failed."""
        return self.loop.machine.phase.over

    def step(self, t: float, q: Array, dq: Array, reference: Any = None, /) -> Array:
        """Return the torque, (n,)."""
        now = self.start + t
        if self._q is None:
            if not np.isfinite(q).all():  # no start: the safe torque of the joint controller
                return self.inner.step(t, q, dq, JointReference(*np.zeros((3, len(q)))))
            self._q, self._next, self._before = q.copy(), now, now
        self._q = self._q + (now - self._before) * self._dq
        self._before = now
        if now >= self._next - 1e-9:
            last = self.steps[-1][2] if self.steps else None
            holding = None if self._holding is None else self._holding(now, q, last)
            step = self.loop.update(now, q, holding)
            self.steps.append((now, q.copy(), step))
            self._dq = step.dq
            self._next += self._period
        return self.inner.step(t, q, dq, JointReference(self._q, self._dq, self._none))
