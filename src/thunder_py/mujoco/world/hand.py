"""Hands: commands, measurements, drives and motors."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from ...checks import Array, nonnegative, positive, within
from ...errors import ThunderError
from ...values import Value, set_fields

#: name of the tendon and of the actuator of a hand
MOTOR = "hand"


@dataclass(frozen=True)
class HandCommand(Value):
    """Command to a hand.

    Parameters
    ----------
    closure : float
        Position of the motor, 0 (open) to 1 (closed).
    effort : float, optional
        Largest force of the motor [N]; default the hand's. The force of each pad of a `ParallelGripper`, the tension
        of the tendon of a `CompliantHand`, the force of the vacuum of a `SuctionTool`.
    speed : float, optional
        Speed of the motor [1/s], in closures; default the hand's.

    Raises
    ------
    ThunderError
        If a number is out of range.

    Examples
    --------
    >>> from thunder_py.mujoco import HandCommand
    >>> HandCommand(1.0, effort=30.0).effort
    30.0
    """

    closure: float
    effort: float | None = None
    speed: float | None = None

    def __post_init__(self) -> None:
        """Check everything."""
        set_fields(self, closure=within(self.closure, "closure", 0.0, 1.0))
        for name in ("effort", "speed"):
            if getattr(self, name) is not None:
                set_fields(self, **{name: positive(getattr(self, name), name)})


class HandState(NamedTuple):
    """Measurements of a hand's motor; of a `SuctionTool` the flow of air as closure, and the force of the vacuum.

    Attributes
    ----------
    closure : float
        Position, 0 (open) to 1 (closed).
    rate : float
        Velocity [1/s].
    effort : float
        Force of the motor [N], positive while closing.

    Examples
    --------
    >>> from thunder_py.mujoco import HandState
    >>> state = HandState(closure=0.4, rate=0.0, effort=30.0)  # it does not move and presses: it holds something
    >>> state.closure < 0.9 and state.effort > 20.0
    True
    """

    closure: float
    rate: float
    effort: float


class MotorData(NamedTuple):
    """Numbers of a hand's motor.

    Attributes
    ----------
    stroke : float
        Motion of the tendon from open to closed [m].
    effort : float
        Largest force [N].
    speed : float
        Speed [1/s], in closures.
    delay : float
        Time from a command to the motor's reaction [s].
    stiffness, damping : float
        Gains of its position loop [N/m], [N s/m].
    pushes : bool
        Whether it pushes as well; False for tendons.
    """

    stroke: float
    effort: float
    speed: float
    delay: float
    stiffness: float
    damping: float
    pushes: bool


class Hand(Protocol):
    """A hand that closes and opens.

    Examples
    --------
    >>> from thunder_py.mujoco import CompliantHand, Hand, ParallelGripper, SuctionTool
    >>> hands: list[Hand] = [ParallelGripper(), CompliantHand(), SuctionTool()]
    >>> [hand.grasp_point[2] for hand in hands]
    [0.1, 0.085, 0.12]
    """

    @property
    def effort(self) -> float:
        """Largest force [N]."""
        ...

    @property
    def grasp_point(self) -> tuple[float, float, float]:
        """Center of a grasp in the frame of the hand, whose z axis points out of the palm [m]."""
        ...

    def covers(self, points: Array, closure: float) -> npt.NDArray[np.bool_]:
        """Return the mask (k,) of points (k, 3) in the frame of a grasp that are on the hand at a closure, or near."""
        ...

    def add_to(self, spec: Any, body: Any, mujoco: Any) -> None:
        """Add palm, fingers and motor to a body of a MuJoCo specification."""
        ...

    def drive(self, model: Any, data: Any) -> HandDrive:
        """Return what moves it in a simulation."""
        ...


class HandDrive:
    """Drive of a hand: commands have effect after a delay.

    Parameters
    ----------
    delay : float
        Time from a command to its effect [s].
    """

    def __init__(self, delay: float) -> None:
        self._delay = delay
        self.reset(0.0)

    def reset(self, closure: float) -> None:
        """Stop at a closure without pending commands."""
        self._pending: deque[tuple[float, HandCommand]] = deque()

    @property
    def state(self) -> HandState:
        """Measurements at the last step."""
        raise NotImplementedError

    def command(self, t: float, command: HandCommand) -> None:
        """Receive a command at time t [s]."""
        self._pending.append((t + self._delay, command))

    def step(self, t: float, dt: float) -> None:
        """Act for the step from t to t + dt [s]."""
        while self._pending and self._pending[0][0] <= t + 1e-9:
            self._begin(self._pending.popleft()[1])

    def _begin(self, command: HandCommand) -> None:
        raise NotImplementedError


def check_numbers(hand: Any, *lengths: str, least_mass: float) -> None:
    """Check what every hand has, and lengths, and set them as floats."""
    for name in (*lengths, "effort", "speed", "friction", "mass"):
        set_fields(hand, **{name: positive(getattr(hand, name), name)})
    for name in ("torsion", "delay"):
        set_fields(hand, **{name: nonnegative(getattr(hand, name), name)})
    if hand.mass < least_mass:
        raise ThunderError(f"mass must be at least {least_mass:g} kg, got {hand.mass:g}")


def add_motor(spec: Any, motor: MotorData, mujoco: Any) -> None:
    """Add the motor of a hand to a specification: a position loop with limited force on its tendon."""
    spec.add_actuator(
        name=MOTOR, target=MOTOR, trntype=mujoco.mjtTrn.mjTRN_TENDON,
        gaintype=mujoco.mjtGain.mjGAIN_FIXED, gainprm=[motor.stiffness] + [0.0] * 9,
        biastype=mujoco.mjtBias.mjBIAS_AFFINE, biasprm=[0.0, -motor.stiffness, -motor.damping] + [0.0] * 7,
        forcelimited=True, forcerange=[-motor.effort, motor.effort], ctrllimited=False,
    )  # fmt: skip


class HandMotor(HandDrive):
    """Motor of a hand: after a delay its set point moves at the commanded speed, and its force is limited.

    Parameters
    ----------
    motor : MotorData
        Its numbers.
    model, data : mujoco.MjModel, mujoco.MjData
        The simulation.
    """

    def __init__(self, motor: MotorData, model: Any, data: Any) -> None:
        self._numbers, self._model, self._data = motor, model, data
        self._tendon, self._actuator = model.tendon(MOTOR).id, model.actuator(MOTOR).id
        super().__init__(motor.delay)

    def reset(self, closure: float) -> None:
        """Stop at a closure without pending commands."""
        super().reset(closure)
        self._point = self._goal = closure * self._numbers.stroke
        self._rate, self._effort = self._numbers.speed * self._numbers.stroke, self._numbers.effort

    @property
    def state(self) -> HandState:
        """Measurements at the last step."""
        data, stroke = self._data, self._numbers.stroke
        return HandState(
            float(data.ten_length[self._tendon]) / stroke,
            float(data.ten_velocity[self._tendon]) / stroke,
            float(data.actuator_force[self._actuator]),
        )

    def step(self, t: float, dt: float) -> None:
        """Set the control for the step from t to t + dt [s]."""
        super().step(t, dt)
        self._point += min(max(self._goal - self._point, -self._rate * dt), self._rate * dt)
        self._data.ctrl[self._actuator] = self._point
        pushing = self._effort if self._numbers.pushes else 0.0
        self._model.actuator_forcerange[self._actuator] = (-pushing, self._effort)

    def _begin(self, command: HandCommand) -> None:
        motor = self._numbers
        self._effort = motor.effort if command.effort is None else min(command.effort, motor.effort)
        self._rate = (motor.speed if command.speed is None else min(command.speed, motor.speed)) * motor.stroke
        # a closed hand presses with its whole force, whatever the size of the object
        squeeze = self._effort / motor.stiffness if command.closure >= 1.0 else 0.0
        self._goal = command.closure * motor.stroke + squeeze
        length = float(self._data.ten_length[self._tendon])
        if (self._goal - length) * (self._point - length) < 0.0:
            self._point = length  # a reversal starts where the hand is
