"""Sensors, actuators and external forces between controller and plant."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ..checks import Array, all_nonnegative, all_positive, array, nonnegative, number_or_row, per_joint
from ..control.estimation import DerivativeEstimator
from ..control.motor import DCMotor
from ..errors import ThunderError
from ..robot import Robot
from ..robot.payload import one_or_several
from ..sampled_loop import Channel
from ..values import Value, set_fields

_PER_JOINT = ("position_noise", "velocity_noise", "position_resolution", "velocity_resolution")


#: control periods of a delay, each of which is kept
_MOST_DELAYED = 10**6


def whole_periods(delay: float, period: float, name: str) -> int:
    """Return a delay in control periods."""
    seconds = float(delay)
    if seconds / period > _MOST_DELAYED:
        raise ThunderError(f"{name} must be at most {_MOST_DELAYED} control periods of {period:g} s, got {seconds:g} s")
    count = round(seconds / period)
    if abs(seconds / period - count) > 1e-6:
        raise ThunderError(f"{name} must be a whole multiple of the control period {period:g}, got {seconds:g}")
    return count


@dataclass(frozen=True, kw_only=True, eq=False)
class Sensors:
    """Joint sensors with delay, noise, quantization and dropout, read once per control period.

    A value is delayed, then normal noise is added, then it is rounded to the resolution. Before the run it equals its
    initial value.

    Parameters
    ----------
    position_noise, velocity_noise : float or (n,) array_like
        Standard deviations [rad or m; rad/s or m/s].
    position_resolution, velocity_resolution : float or (n,) array_like
        Steps of quantization [rad or m; rad/s or m/s], 0 for none; an encoder of N counts has ``2 pi / N``.
    dropout : float
        Probability of a missing reading, at least 0 and less than 1: the controller then sees NaN. Estimated velocities
        keep their last value; at the next reading the estimator interpolates the gap linearly.
    delay : float
        Delay [s], a whole number of control periods.
    velocity : "measured" or DerivativeEstimator
        Source of velocities: sensors of their own, or an estimator of `thunder_py.control` applied to the measured
        positions, starting at rest.
    seed : int
        Seed of the noise; the same seed gives the same noise on every platform.

    Examples
    --------
    >>> import numpy as np
    >>> import thunder_py as th
    >>> robot = th.Robot.load("elbow")
    >>> encoder = th.Sensors(position_resolution=2 * np.pi / 2**12, velocity=th.control.ButterworthDerivative(60.0))
    >>> law, motion = th.PDGravity(robot, 40.0, 10.0), th.reference.SetPoint([0.3, 0.2])
    >>> run = th.simulate(robot, law, motion, 1.0, q0=[0.0, 0.0], sensors=encoder)
    >>> round(float(np.abs(run.signals["q_measured"] - run.q).max() / encoder.position_resolution), 2)
    0.5
    """

    position_noise: npt.ArrayLike = 0.0
    velocity_noise: npt.ArrayLike = 0.0
    position_resolution: npt.ArrayLike = 0.0
    velocity_resolution: npt.ArrayLike = 0.0
    dropout: float = 0.0
    delay: float = 0.0
    velocity: Literal["measured"] | DerivativeEstimator = "measured"
    seed: int = 0

    def __post_init__(self) -> None:
        """Check everything that does not depend on a robot."""
        if isinstance(self.seed, bool) or not isinstance(self.seed, (int, np.integer)) or not 0 <= self.seed < 2**64:
            raise ThunderError(f"seed must be an integer from 0 to 2**64 - 1, got {self.seed!r}")
        for name in _PER_JOINT:
            all_nonnegative(number_or_row(getattr(self, name), f"sensors {name}"), f"sensors {name}")
        nonnegative(self.delay, "sensors delay")
        if not 0.0 <= float(array(self.dropout, (), "sensors dropout")) < 1.0:
            raise ThunderError(f"sensors dropout must be at least 0 and less than 1, got {self.dropout:g}")
        if isinstance(self.velocity, str) and self.velocity == "measured":
            return
        if not isinstance(self.velocity, DerivativeEstimator):
            raise ThunderError(f"velocity must be 'measured' or a DerivativeEstimator, got {self.velocity!r}")
        if np.any(np.asarray(self.velocity_noise) != 0.0) or np.any(np.asarray(self.velocity_resolution) != 0.0):
            raise ThunderError("velocity_noise and velocity_resolution must be 0 unless velocity is 'measured'")

    def _options(self, n: int, period: float) -> dict[str, Any]:
        """Return the options of the core."""
        return {
            **{name: per_joint(getattr(self, name), n, f"sensors {name}") for name in _PER_JOINT},
            "dropout": float(self.dropout),
            "delay": whole_periods(self.delay, period, "sensors delay"),
            "seed": int(self.seed),
            "velocity": None if isinstance(self.velocity, str) else self.velocity,
        }


#: longest stable step of each integrator, in time constants of a drive, for plants written in Python
_STABLE = {"rk4": 2.5, "semi_implicit_euler": 1.9}


@dataclass(frozen=True, kw_only=True, eq=False)
class Actuators:
    """Actuators between controller and joints: delay, torque and rate limits, lag or DC motors.

    The torque limits are those of `simulate`.

    Parameters
    ----------
    delay : float
        Delay [s], a whole number of control periods; until then the first command holds.
    rate_limits : float or (n,) array_like, optional
        Largest rates of change of the torques [N m/s or N/s]; infinity is no limit.
    lag : float or (n,) array_like
        Time constants T of the lag ``T tau' = u - tau`` [s]; 0 for none.
    motor : DCMotor, optional
        DC motors under a voltage at all joints. Their `inertia` and `damping` belong to the plant, as ``armature`` (or
        ``rotor``) and viscous friction of the robot, and have no effect here.
    inductance : float or (n,) array_like
        Inductance L of the motors [H]; 0 neglects it.
    voltage_limit : float or (n,) array_like
        Largest voltage u_max of the motors [V].
    compensate_back_emf : bool
        Whether the voltage compensates the back EMF, computed from the measured dq; a missing reading is replaced by
        the last one.

    Notes
    -----
    With the commanded torque tau_c, gear ratio r and the constants of `DCMotor`::

        L di/dt = u - R i - k_b r dq        tau = r k_m i        u = R tau_c / (r k_m) [+ k_b r dq],  |u| <= u_max

    so the torque follows with the time constant L / R and loses ``r^2 k_m k_b / R dq`` to the back EMF. At the start
    the drives are in equilibrium with the first command. At an elastic joint dq is the motor's velocity.
    Where a controller written in Python commands NaN, the drive keeps the previous command, and the status is
    ``saturated``.

    Examples
    --------
    >>> import thunder_py as th
    >>> robot = th.Robot.load("elbow")
    >>> slow = th.Actuators(delay=2e-3, lag=0.02, rate_limits=500.0)
    >>> law, motion = th.PDGravity(robot, 40.0, 10.0), th.reference.SetPoint([0.3, 0.2])
    >>> run = th.simulate(robot, law, motion, 1.0, q0=[0.0, 0.0], actuators=slow)
    >>> bool((run.tau != run.signals["tau_commanded"]).any())
    True
    """

    delay: float = 0.0
    rate_limits: npt.ArrayLike | None = None
    lag: npt.ArrayLike = 0.0
    motor: DCMotor | None = None
    inductance: npt.ArrayLike = 0.0
    voltage_limit: npt.ArrayLike = math.inf
    compensate_back_emf: bool = False

    def __post_init__(self) -> None:
        """Check everything that does not depend on a robot."""
        if self.motor is not None and not isinstance(self.motor, DCMotor):
            raise ThunderError(f"actuators motor must be a DCMotor or None, got {self.motor!r}")
        lags, electrical = (
            all_nonnegative(number_or_row(getattr(self, name), f"actuators {name}"), f"actuators {name}").any()
            for name in ("lag", "inductance")
        )
        nonnegative(self.delay, "actuators delay")
        if self.rate_limits is not None:
            _positive(self.rate_limits, "actuators rate_limits")
        if not isinstance(self.compensate_back_emf, (bool, np.bool_)):
            raise ThunderError(f"actuators compensate_back_emf must be True or False, got {self.compensate_back_emf!r}")
        if self.motor is not None and lags:
            raise ThunderError("actuators lag must be 0 with a motor, whose lag follows from its inductance")
        limited = (_positive(self.voltage_limit, "actuators voltage_limit") != math.inf).any()
        if self.motor is None and (electrical or limited or self.compensate_back_emf):
            raise ThunderError(
                "actuators motor must be given with inductance, voltage_limit or compensate_back_emf, got None"
            )

    def _drives(self, n: int) -> tuple[Array, Array]:
        """Return time constants and dampings, (n,) each."""
        if self.motor is None:
            return per_joint(self.lag, n, "actuators lag"), np.zeros(n)
        for name, value in vars(self.motor).items():
            per_joint(value, n, f"actuators motor {name}")
        damping = per_joint(self.motor.joint_back_emf, n, "actuators motor")
        return per_joint(self.inductance, n, "actuators inductance") / self.motor.resistance, damping

    def _holds(self, n: int) -> bool:
        """Return whether torques are constant over a control period."""
        return not np.any(self._drives(n))

    def _stall(self, n: int) -> Array | None:
        """Return the stall torques at full voltage; None without a limit."""
        limits = per_joint(self.voltage_limit, n, "actuators voltage_limit", finite=False)
        if self.motor is None or not np.isfinite(limits).any():
            return None
        ratio = self.motor.gear_ratio * self.motor.torque_constant / self.motor.resistance
        return np.asarray(np.broadcast_to(ratio * limits, (n,)))

    def _options(self, n: int, period: float, dt: float, explicit: str | None, limits: Array) -> dict[str, Any]:
        """Return the options of the core; `explicit` is the integrator of a plant written in Python."""
        T, d = self._drives(n)
        shortest = float(T[T > 0.0].min(initial=math.inf))
        factor = _STABLE.get(explicit or "", math.inf)
        if dt > factor * shortest:
            raise ThunderError(
                f"dt must be at most {factor:g} times the shortest time constant {shortest:.3g} of a drive for "
                f"{explicit}, got {dt:g}; control_period= may stay longer, or neglect the lag"
            )
        rates = math.inf if self.rate_limits is None else self.rate_limits
        return {
            "delay": whole_periods(self.delay, period, "actuators delay"),
            "torque_limits": limits if len(limits) else None,
            "rate_limits": per_joint(rates, n, "actuators rate_limits", finite=False),
            "feedforward": d if self.compensate_back_emf else None,
            "stall": self._stall(n),
            "time_constants": T,
            "damping": d,
        }


#: longest filter of velocities whose loop is checked [samples]
_LONGEST_FILTER = 50


def channel(sensors: Sensors | None, actuators: Actuators | None, n: int, period: float) -> Channel | None:
    """Return what lies between state and torque, for the check of gains; None for filters that are too long."""
    parts = [part for part in (sensors, actuators) if part is not None]
    lag, damping = (0.0, 0.0) if actuators is None else actuators._drives(n)
    velocity = "measured" if sensors is None else sensors.velocity
    known = None if isinstance(velocity, str) else velocity._recursion(period)
    if known is not None and len(known[0]) > _LONGEST_FILTER:
        return None
    compensated = actuators is not None and bool(actuators.compensate_back_emf)
    return Channel(period, sum(part.delay for part in parts), lag, damping, compensated, known)


def _positive(limits: object, name: str) -> Array:
    """Return a positive number or a row of positive numbers; infinity is allowed."""
    return all_positive(number_or_row(limits, name, finite=False), name)


def _interval(start: float, stop: float, what: str) -> tuple[float, float]:
    first, last = float(array(start, (), f"{what} start")), float(array(stop, (), f"{what} stop", finite=False))
    if not first < last:
        raise ThunderError(f"{what} stop must be after start = {first:g}, got {last:g}")
    return first, last


@dataclass(frozen=True, eq=False)
class ExternalWrench(Value):
    """Constant wrench on a frame of the plant during an interval of time, unknown to the controller.

    Parameters
    ----------
    wrench : (6,) array_like
        Force and moment about the frame's origin, in world axes [N, N m].
    frame : int or str, optional
        Frame that the wrench acts on; default the end effector.
    start, stop : float
        Interval [s]: from the first integration step that starts at `start` to the last one before `stop`.

    Examples
    --------
    >>> import thunder_py as th
    >>> robot = th.Robot.load("elbow")
    >>> push = th.ExternalWrench([5.0, 0, 0, 0, 0, 0], start=0.5)
    >>> law, rest = th.PDGravity(robot, 80.0, 20.0), th.reference.SetPoint([0.3, 0.2])
    >>> run = th.simulate(robot, law, rest, 1.0, external=push)
    >>> round(float(run.error_norm()[run.t < 0.5].max()), 6), round(run.peak(), 2)
    (0.0, 0.02)
    """

    wrench: npt.ArrayLike
    frame: int | str | None = None
    start: float = 0.0
    stop: float = math.inf

    def __post_init__(self) -> None:
        """Check everything."""
        start, stop = _interval(self.start, self.stop, "wrench")
        set_fields(self, wrench=array(self.wrench, (6,), "wrench"), start=start, stop=stop)


@dataclass(frozen=True, eq=False)
class ExternalTorque(Value):
    """Constant torques on the links at their joints during an interval of time, unknown to the controller.

    Parameters
    ----------
    torque : (n,) array_like
        Joint torques [N m or N].
    start, stop : float
        Interval [s], see `ExternalWrench`.

    Examples
    --------
    >>> import thunder_py as th
    >>> robot = th.Robot.load("elbow")
    >>> push = th.simulation.ExternalTorque([1.0, 0.0], start=0.5, stop=0.6)
    >>> law, rest = th.PDGravity(robot, 80.0, 20.0), th.reference.SetPoint([0.3, 0.2])
    >>> run = th.simulate(robot, law, rest, 1.0, external=push)
    >>> int((run.signals["external"][:, 0] == 1.0).sum())
    100
    """

    torque: npt.ArrayLike
    start: float = 0.0
    stop: float = math.inf

    def __post_init__(self) -> None:
        """Check everything."""
        start, stop = _interval(self.start, self.stop, "torque")
        set_fields(self, torque=array(self.torque, (None,), "external torque"), start=start, stop=stop)


def read_external(
    external: ExternalWrench | ExternalTorque | Sequence[ExternalWrench | ExternalTorque], plant: object, native: bool
) -> list[tuple[Any, ...]]:
    """Return tuples for the core: start, stop, frame (False for joints) and values."""
    kinds = (ExternalWrench, ExternalTorque)
    items = one_or_several(external, kinds, "external must be a sequence of ExternalWrench and ExternalTorque")
    if items and not (native and isinstance(plant, Robot)):
        raise ThunderError(
            "external must be empty unless plant is a Robot; a plant written in Python applies its own forces"
        )
    actions: list[tuple[Any, ...]] = []
    for action in items:
        if isinstance(action, ExternalWrench):
            values, frame = action.wrench, action.frame
            if isinstance(frame, bool):
                raise ThunderError(f"frame must be a link index or the name of a frame, got {frame!r}")
        else:
            values, frame = array(action.torque, (plant.n,), "external torque"), False  # type: ignore[attr-defined]
        actions.append((action.start, action.stop, frame, np.asarray(values).tolist()))
    return actions
