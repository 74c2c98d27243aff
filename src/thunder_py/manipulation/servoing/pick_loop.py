"""What runs in every period of a pick: see, estimate, decide, servo; and a controller for the simulator around it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from ... import _core
from ...checks import Array, positive
from ...errors import ThunderError
from ...perception.pose_source import PoseSource, finite
from ...reference import JointReference
from ...values import Stateful
from .law import ServoStep, VisualServo
from .pick_machine import LONGEST_STEP, PickDecision, PickInput, PickMachine
from .pose_filter import PoseHistory, poll, rigid
from .tool_estimator import ToolVerdict
from .tracker import Repetition, TargetTracker, Track

__all__ = ["PickLoop", "PickStep", "PickingController", "ToolBelief"]


class ToolBelief(Protocol):
    """What makes estimates of pictures of the tool: `ToolEstimator`."""

    @property
    def pose(self) -> Array:
        """Of the tool in the hand."""

    @property
    def covariance(self) -> Array:
        """Of its error."""

    def reset(self) -> None:
        """Forget what was seen."""

    def observe(self, time: float, tool: npt.ArrayLike | None, hand: npt.ArrayLike) -> ToolVerdict:
        """Take in a picture."""


@dataclass(frozen=True, slots=True, eq=False)
class PickStep:
    """What a period of the loop came to.

    Attributes
    ----------
    dq : (n,) array
        Joint velocities to be followed [rad/s or m/s].
    decision : PickDecision
    servo : ServoStep or None
        None where nothing was to be followed.
    track : Track
        Of the target.
    tool : (4, 4) array
        Estimate of the tool's pose, in the world.
    """

    dq: Array
    decision: PickDecision
    servo: ServoStep | None
    track: Track
    tool: Array


class PickLoop(Stateful):
    """Sees, estimates, decides and servos; called once in every period, with the time.

    Parameters
    ----------
    servo : VisualServo
        Its tool is set in every period to the estimate.
    target : TargetTracker
        Of the pose that the tool shall have at contact.
    machine : PickMachine
    tool : ToolBelief, optional
        Estimate of how the tool lies in the hand; default the tool of the servo, which then is known.
    tool_source : PoseSource, optional
        Of pictures of the tool, in the world. Where it fails the estimate stays as it is; `tool_error` tells.
    tool_repeats : int or None
        So many equal pictures of the tool in a row are a frozen source, and from then on not used; None for sources
        without noise.
    tool_sure : float
        The tool counts as known once the deviation of its position is below this, per axis [m].
    acceleration : float
        Joint velocities change at most so fast [rad/s^2 or m/s^2], together, which keeps their direction.

    Attributes
    ----------
    tool_error : Exception or None
        The latest that the source of the tool raised.
    """

    def __init__(
        self,
        servo: VisualServo,
        target: TargetTracker,
        machine: PickMachine,
        *,
        tool: ToolBelief | None = None,
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
        self._taken: Array | None = None  # the estimate that the servo has
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
        """Return what to do from time `t` [s] on, at joint positions `q` (n,).

        Positions that are no numbers are no error: nothing is asked of the arm, and the machine gives up after a while.

        Raises
        ------
        ThunderError
            A time that is not finite or does not go on.
        """
        if self._time is not None and finite(t, "t") <= self._time:
            raise ThunderError(f"t must go on, from {self._time:g} s, got {t:g} s; reset() starts again")
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
        given = PickInput(t, track, now, self._last, self._tool_known(), slipped, holding)
        decision = self.machine.step(given)
        if decision.goal is None:
            self._last, wanted = None, np.zeros_like(self._dq)
        else:
            self._last = self.servo.step(q, decision.goal, decision.twist, decision.speed)
            wanted = self._last.dq
        return PickStep(self._ramp(dt, wanted), decision, self._last, track, now)

    def _look_at_tool(self, t: float) -> bool:
        """Take in pictures of the tool; whether it slipped."""
        if self.tool is None or self.tool_source is None:
            return False
        slipped = False
        pictures, error = poll(self.tool_source, t)
        self.tool_error = self.tool_error if error is None else error
        for seen in pictures:
            hand = self.hands.at(seen.time)
            if rigid(seen.pose) is not None and hand is not None and not self._repetition(seen.pose):
                slipped |= self.tool.observe(seen.time, seen.pose, hand) is ToolVerdict.slipped
        return slipped

    def _tool_known(self) -> bool:
        if self.tool is None or self.tool_source is None:
            return True
        return math.sqrt(float(np.max(np.diag(self.tool.covariance)[:3]))) < self._sure

    def _ramp(self, dt: float, wanted: Array) -> Array:
        change = wanted - self._dq
        allowed = self._acceleration * dt
        largest = float(np.abs(change).max())
        self._dq = self._dq + (change if largest <= allowed else (allowed / largest) * change)
        return self._dq


class PickingController(Stateful):
    """A pick for `thunder_py.simulation.simulate`: the loop at its period, a joint controller under it.

    Joint positions to follow are the integral of the loop's velocities. The loop sees the measured ones, so it makes up
    for errors that the joint controller leaves.

    Parameters
    ----------
    loop : PickLoop
    inner : Controller
        Of `thunder_py.control`, for a `JointReference`: `ComputedTorque`, for example.
    period : float
        Of the loop [s]; the control period of the simulation should divide it.
    holding : callable, optional
        Given the time and the loop's last step, tells what the gripper says.

    Attributes
    ----------
    start : float
        Time at which the simulation starts [s]; to be set where a pick is simulated in pieces.
    steps : list of (float, array, PickStep)
        Time, joint positions and step of the loop, for every period.
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
        """Joint positions (n,) that the arm is to be at; none before the first step."""
        return self._dq + np.nan if self._q is None else self._q

    @property
    def over(self) -> bool:
        """Whether the pick is done or failed."""
        return self.loop.machine.phase.over

    def step(self, t: float, q: Array, dq: Array, reference: Any = None, /) -> Array:
        """Return the torque, (n,)."""
        now = self.start + t
        if self._q is None:
            if not np.isfinite(q).all():  # nowhere to start from: the safe torque of the joint controller
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
