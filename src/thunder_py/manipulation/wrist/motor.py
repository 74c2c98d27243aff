"""Motion of the wrist's motor in pieces of constant speed with jumps between them; simulation under it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ...checks import Array, array, finite, of_kind, positive, real
from ...errors import ThunderError
from ...reference import JointReference
from ...robot import Robot
from ...simulation import ControllerLike, simulate
from ...values import Value, set_fields
from .throw import WristThrow

#: largest number of steps of a run
_STEPS = 1e7


@dataclass(frozen=True, kw_only=True, eq=False)
class MotorMotion(Value):
    """Piecewise linear motor angle: ``theta = start[k] + slope[k] (t - breaks[k])`` from breaks[k] on.

    Attributes
    ----------
    breaks : (k + 1,) array
        Increasing times [s].
    start : (k,) array
        Angle at the start of each piece [rad].
    slope : (k,) array
        Speed in each piece [rad/s]; zero for a bang-bang control.

    Raises
    ------
    ThunderError
        If the times do not increase, or the lengths of the arrays differ.

    Examples
    --------
    >>> from thunder_py.manipulation.wrist import MotorMotion
    >>> motor = MotorMotion.still(-0.6, 0.0, 0.1).then(MotorMotion.through([0.1, 0.2], [0.4, 0.6]))
    >>> motor([0.05, 0.1, 0.15, 0.3]).round(3).tolist()
    [-0.6, 0.4, 0.5, 0.6]
    """

    breaks: Array
    start: Array
    slope: Array

    def __post_init__(self) -> None:
        """Check every field."""
        breaks = _increasing(self.breaks, "motor breaks")
        pieces = (breaks.size - 1,)
        start, slope = array(self.start, pieces, "motor start"), array(self.slope, pieces, "motor slope")
        set_fields(self, breaks=breaks, start=start, slope=slope)

    @classmethod
    def of_throw(cls, throw: WristThrow, *, from_time: float = 0.0) -> MotorMotion:
        """Return the motion of the motor in an optimal throw that begins at `from_time`."""
        of_kind(throw, WristThrow, "throw")
        inside = throw.switches[(throw.switches > 0.0) & (throw.switches < throw.T)]
        breaks = np.concatenate([[0.0], inside, [throw.T]])
        return cls(
            breaks=breaks + finite(from_time, "from_time"),
            start=throw.theta(breaks[:-1]),
            slope=np.zeros(breaks.size - 1),
        )

    @classmethod
    def still(cls, theta: float, begin: float, end: float) -> MotorMotion:
        """Return a constant motor angle."""
        return cls(
            breaks=np.array([finite(begin, "begin"), finite(end, "end")]),
            start=np.array([finite(theta, "theta")]),
            slope=np.zeros(1),
        )

    @classmethod
    def through(cls, t: npt.ArrayLike, theta: npt.ArrayLike, *, held: bool = False) -> MotorMotion:
        """Return the motion through angles (k,) at times (k,); with `held` (k - 1,) angles, each constant."""
        times = _increasing(t, "t")
        angles = array(theta, (times.size - 1 if held else times.size,), "theta")
        slope = np.zeros(times.size - 1) if held else np.diff(angles) / np.diff(times)
        start = angles if held else angles[:-1]
        jump = np.abs(start[1:] - start[:-1] - slope[:-1] * np.diff(times)[:-1]) > 1e-12
        keep = np.r_[True, jump | (np.abs(np.diff(slope)) > 1e-9)]
        return cls(breaks=np.r_[times[:-1][keep], times[-1]], start=start[keep], slope=slope[keep])

    def then(self, other: MotorMotion) -> MotorMotion:
        """Return this motion followed by another one that begins at its end time."""
        if abs(other.breaks[0] - self.breaks[-1]) > 1e-9:
            raise ThunderError(
                f"the next motion of the motor must begin at the end of this one, {self.breaks[-1]:g} s, got "
                f"{other.breaks[0]:g} s"
            )
        return MotorMotion(
            breaks=np.r_[self.breaks, other.breaks[1:]],
            start=np.r_[self.start, other.start],
            slope=np.r_[self.slope, other.slope],
        )

    def __call__(self, t: npt.ArrayLike) -> Array:
        """Return theta (...) [rad]; constant before the first and after the last break."""
        times = np.clip(real(t, "t", finite=False), self.breaks[0], self.breaks[-1])
        piece = np.clip(np.searchsorted(self.breaks, times, side="right") - 1, 0, self.start.size - 1)
        return np.asarray(self.start[piece] + self.slope[piece] * (times - self.breaks[piece]))


@dataclass(frozen=True, kw_only=True, eq=False)
class WristRun(Value):
    """Simulated motion of a robot whose last joint is the elastic wrist.

    Attributes
    ----------
    t : (N,) array
        Increasing times [s]; at a jump of the motor the values are those after the jump.
    q, dq : (N, n) array
        Joint positions and velocities, the wrist last.
    theta : (N,) array
        Motor angle of the wrist [rad].
    tau : (N, n) array
        Torques of the joints; that of the wrist is the torque of its spring.

    Examples
    --------
    >>> from thunder_py.manipulation.wrist import ElasticWrist, MotorMotion, inclined_wrist, run_with_motor
    >>> wrist = ElasticWrist(I=0.012, k=5.0, m=0.7, r_c=0.09)
    >>> run = run_with_motor(inclined_wrist(wrist), MotorMotion.still(0.6, 0.0, 0.1), q0=[0.2])
    >>> run.q.shape, bool(abs(run.tau[:, 0] - wrist.k * (run.theta - run.q[:, 0])).max() < 1e-9)
    ((201, 1), True)
    """

    t: Array
    q: Array
    dq: Array
    theta: Array
    tau: Array


class _ZeroTorque:
    """Controller with zero torques."""

    def __init__(self, n: int) -> None:
        self._tau = np.zeros(n)

    def step(self, t: float, q: Array, dq: Array, reference: object, /) -> Array:
        return self._tau


def run_with_motor(
    robot: Robot,
    motor: MotorMotion,
    *,
    q0: npt.ArrayLike,
    dq0: npt.ArrayLike | None = None,
    controller: ControllerLike | None = None,
    reference: Callable[[float], JointReference] | None = None,
    dt: float = 5e-4,
    **options: Any,
) -> WristRun:
    """Simulate a robot with elastic dynamics under a given motion of the wrist's motor.

    Parameters
    ----------
    robot : Robot
        Robot of `inclined_wrist`, `floating_wrist` or `with_wrist`, with the ideal motor.
    motor : MotorMotion
        Motion of the motor, which also defines start and end of the simulation.
    q0, dq0 : (n,) array_like
        Initial joint positions and velocities; default at rest.
    controller : ControllerLike, optional
        Controller of the other joints, stepped with the time of the motion; default zero torques.
    reference : callable, optional
        Reference of the controller, a function of the time of the motion.
    dt : float
        Longest step of the integrator (RK4) and of the controller [s].
    **options
        Options of `simulate`, such as sensors and friction; sensors start with another seed in each piece.

    Returns
    -------
    WristRun
        States, motor angle and torques at every step.

    Raises
    ------
    ThunderError
        If the robot does not have exactly one elastic joint, or `dt` needs over 1e7 steps.

    Notes
    -----
    The motor's inertia is so large that its speed is constant within a piece; the motor state is set anew for each
    piece. Each piece is a whole number of steps, so no step contains a jump.

    Examples
    --------
    >>> from thunder_py.manipulation.wrist import ElasticWrist, MotorMotion, inclined_wrist, one_switch, run_with_motor
    >>> wrist = ElasticWrist(I=0.012, k=5.0, m=0.7, r_c=0.09, c=0.03)
    >>> run = run_with_motor(inclined_wrist(wrist), MotorMotion.of_throw(one_switch(wrist, 0.15)), q0=[0.0])
    >>> round(float(run.q[-1, 0]), 3), round(float(run.dq[-1, 0]), 2)  # of (79) under the switch of (80)
    (0.027, 20.87)
    """
    longest = positive(dt, "dt", "s")
    of_kind(motor, MotorMotion, "motor")
    if of_kind(robot, Robot, "robot").e != 1:
        raise ThunderError(f"{robot.name} must have one elastic joint, the wrist, got {robot.e}")
    if float(motor.breaks[-1] - motor.breaks[0]) / longest > _STEPS:
        raise ThunderError(f"dt must divide the motion into at most {_STEPS:g} steps, got {dt!r}")
    at_rest = JointReference(*(np.zeros((3, robot.n))))
    q, dq = array(q0, (robot.n,), "q0"), array(np.zeros(robot.n) if dq0 is None else dq0, (robot.n,), "dq0")
    runs, sensors = list[tuple[Array, ...]](), options.get("sensors")
    for begin, end, start, slope in zip(motor.breaks, motor.breaks[1:], motor.start, motor.slope, strict=False):
        length = float(end - begin)
        if sensors is not None:
            options["sensors"] = replace(sensors, seed=sensors.seed + len(runs))
        run = simulate(
            robot,
            _ZeroTorque(robot.n) if controller is None else _Shifted(controller, float(begin)),
            _shifted(float(begin), reference, at_rest),
            length,
            length / math.ceil(length / longest * (1.0 - 1e-9)),
            q0=q,
            dq0=dq,
            x0=[start],
            dx0=[slope],
            **options,
        )
        q, dq = run.q[-1], run.dq[-1]
        rows = slice(None) if end == motor.breaks[-1] else slice(-1)  # the end of a piece is the start of the next
        runs.append(tuple(column[rows] for column in (run.t + begin, run.q, run.dq, run.x[:, 0], run.tau)))
    t, qs, dqs, theta, tau = (np.concatenate(column) for column in zip(*runs, strict=True))
    tau = tau.copy()
    tau[:, -1] = robot.elastic_torque(qs, theta[:, None])[:, -1]
    return WristRun(t=t, q=qs, dq=dqs, theta=theta, tau=tau)


def _increasing(value: npt.ArrayLike, what: str) -> Array:
    times = array(value, (None,), what)
    if times.size < 2 or not (np.diff(times) > 0.0).all():
        raise ThunderError(f"{what} must be at least two increasing times, got {times.tolist()}")
    return times


def _shifted(
    begin: float, reference: Callable[[float], JointReference] | None, default: JointReference
) -> Callable[[float], JointReference]:
    return lambda t: default if reference is None else reference(t + begin)


class _Shifted:
    """Controller stepped with the time of the whole motion."""

    def __init__(self, controller: ControllerLike, begin: float) -> None:
        self._controller, self._begin = controller, begin

    def step(self, t: float, q: Array, dq: Array, reference: object, /) -> npt.ArrayLike:
        return self._controller.step(t + self._begin, q, dq, reference)
