"""What the wrist's motor does: pieces of constant speed with jumps between them; and runs of a robot under it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...checks import Array, array, of_kind, positive
from ...errors import ThunderError
from ...reference import JointReference
from ...robot import Robot
from ...simulation import ControllerLike, simulate
from ...values import Value, set_fields
from .model import finite
from .throw import WristThrow

__all__ = ["MotorMotion", "WristRun", "run_with_motor"]

#: most steps of a run
_STEPS = 1e7


@dataclass(frozen=True, kw_only=True, eq=False)
class MotorMotion(Value):
    """Motor angle in pieces: ``theta = start[k] + slope[k] (t - breaks[k])`` from breaks[k] on.

    Attributes
    ----------
    breaks : (k + 1,) array
        Increasing times [s].
    start : (k,) array
        Angle at the beginning of each piece [rad].
    slope : (k,) array
        Speed [rad/s]; zero for a bang-bang control.

    Raises
    ------
    ThunderError
        On times that do not increase, or numbers that do not fit them.
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
        """Return the motor's motion of an optimal throw that begins at `from_time`."""
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
        """Return a motor that stands still."""
        return cls(
            breaks=np.array([finite(begin, "begin"), finite(end, "end")]),
            start=np.array([finite(theta, "theta")]),
            slope=np.zeros(1),
        )

    @classmethod
    def through(cls, t: npt.ArrayLike, theta: npt.ArrayLike, *, held: bool = False) -> MotorMotion:
        """Return the motion through angles (k,) at times (k,); `held`: each angle stays until the next (k - 1)."""
        times = _increasing(t, "t")
        angles = array(theta, (times.size - 1 if held else times.size,), "theta")
        slope = np.zeros(times.size - 1) if held else np.diff(angles) / np.diff(times)
        start = angles if held else angles[:-1]
        jump = np.abs(start[1:] - start[:-1] - slope[:-1] * np.diff(times)[:-1]) > 1e-12
        keep = np.r_[True, jump | (np.abs(np.diff(slope)) > 1e-9)]
        return cls(breaks=np.r_[times[:-1][keep], times[-1]], start=start[keep], slope=slope[keep])

    def then(self, other: MotorMotion) -> MotorMotion:
        """Return this motion followed by one that begins where it ends."""
        if abs(other.breaks[0] - self.breaks[-1]) > 1e-9:
            raise ThunderError(
                f"motions of the motor must follow each other: one ends at {self.breaks[-1]:g} s, the next begins at "
                f"{other.breaks[0]:g} s"
            )
        return MotorMotion(
            breaks=np.r_[self.breaks, other.breaks[1:]],
            start=np.r_[self.start, other.start],
            slope=np.r_[self.slope, other.slope],
        )

    def __call__(self, t: npt.ArrayLike) -> Array:
        """Return theta (...) [rad]; before and after, as at the ends."""
        times = np.clip(np.asarray(t, dtype=np.float64), self.breaks[0], self.breaks[-1])
        piece = np.clip(np.searchsorted(self.breaks, times, side="right") - 1, 0, self.start.size - 1)
        return np.asarray(self.start[piece] + self.slope[piece] * (times - self.breaks[piece]))


@dataclass(frozen=True, kw_only=True, eq=False)
class WristRun(Value):
    """A simulated motion of a robot whose last joint is the elastic wrist.

    Attributes
    ----------
    t : (N,) array
        Ascending [s]; where the motor jumps, as after the jump.
    q, dq : (N, n) array
        Joints, the wrist last.
    theta : (N,) array
        Motor of the wrist [rad].
    tau : (N, n) array
        Torques of the joints; the wrist's own is what its spring gives.
    """

    t: Array
    q: Array
    dq: Array
    theta: Array
    tau: Array


class _Nothing:
    """No torques."""

    def __init__(self, n: int) -> None:
        self._none = np.zeros(n)

    def step(self, t: float, q: Array, dq: Array, reference: object, /) -> Array:
        return self._none


def run_with_motor(
    robot: Robot,
    motor: MotorMotion,
    *,
    q0: npt.ArrayLike,
    dq0: npt.ArrayLike | None = None,
    controller: ControllerLike | None = None,
    reference: Callable[[float], JointReference] | None = None,
    dt: float = 5e-4,
) -> WristRun:
    """Simulate a robot whose wrist's motor makes a given motion, with the package's elastic dynamics.

    Parameters
    ----------
    robot : Robot
        Of `on_a_slope`, `floating_wrist` or `with_wrist`, with the ideal motor.
    motor : MotorMotion
        Also says from when to when.
    q0, dq0 : (n,) array_like
        Start; default at rest.
    controller : ControllerLike, optional
        Of the other joints; default no torques. It gets the time of the motion.
    reference : callable, optional
        What the controller follows, of the time of the motion.
    dt : float
        Longest step of the integrator (RK4) and of the controller [s].

    Notes
    -----
    The motor's inertia is so great that its speed does not change within a piece; it is given anew at the next. Each
    piece is a whole number of steps, so that no step sees a jump.
    """
    longest = positive(dt, "dt", "s")
    of_kind(motor, MotorMotion, "motor")
    if of_kind(robot, Robot, "robot").e != 1:
        raise ThunderError(f"{robot.name} must have one elastic joint, the wrist, got {robot.e}")
    if float(motor.breaks[-1] - motor.breaks[0]) / longest > _STEPS:
        raise ThunderError(f"dt must leave at most {_STEPS:g} steps of the motion, got {dt!r}")
    at_rest = JointReference(*(np.zeros((3, robot.n))))
    q, dq = array(q0, (robot.n,), "q0"), array(np.zeros(robot.n) if dq0 is None else dq0, (robot.n,), "dq0")
    runs = []
    for begin, end, start, slope in zip(motor.breaks, motor.breaks[1:], motor.start, motor.slope, strict=False):
        length = float(end - begin)
        run = simulate(
            robot,
            _Nothing(robot.n) if controller is None else _Later(controller, float(begin)),
            _from(float(begin), reference, at_rest),
            length,
            length / math.ceil(length / longest * (1.0 - 1e-9)),
            q0=q,
            dq0=dq,
            x0=[start],
            dx0=[slope],
        )
        q, dq = run.q[-1], run.dq[-1]
        kept = slice(None) if end == motor.breaks[-1] else slice(-1)  # where a piece ends the next one begins
        runs.append(tuple(column[kept] for column in (run.t + begin, run.q, run.dq, run.x[:, 0], run.tau)))
    t, qs, dqs, theta, tau = (np.concatenate(column) for column in zip(*runs, strict=True))
    tau = tau.copy()
    tau[:, -1] = robot.elastic_torque(qs, theta[:, None])[:, -1]
    return WristRun(t=t, q=qs, dq=dqs, theta=theta, tau=tau)


def _increasing(value: npt.ArrayLike, what: str) -> Array:
    times = array(value, (None,), what)
    if times.size < 2 or not (np.diff(times) > 0.0).all():
        raise ThunderError(f"{what} must be at least two increasing times, got {times.tolist()}")
    return times


def _from(
    begin: float, reference: Callable[[float], JointReference] | None, otherwise: JointReference
) -> Callable[[float], JointReference]:
    return lambda t: otherwise if reference is None else reference(t + begin)


class _Later:
    """A controller that is told the time of the whole motion."""

    def __init__(self, controller: ControllerLike, begin: float) -> None:
        self._controller, self._begin = controller, begin

    def step(self, t: float, q: Array, dq: Array, reference: object, /) -> npt.ArrayLike:
        return self._controller.step(t + self._begin, q, dq, reference)
