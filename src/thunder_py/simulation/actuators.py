"""What makes torques of commands."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..checks import Array, array
from ..control.motor import DCMotor
from ..control.options import number_or_row, per_joint
from .sensors import not_negative, whole_periods

__all__ = ["Actuators"]

#: longest step, in time constants of a drive, with which each integrator follows it
_STABLE = {"rk4": 2.5, "semi_implicit_euler": 1.9}


@dataclass(frozen=True, kw_only=True, eq=False)
class Actuators:
    """From the controller's torque to the joints': delay, limits (`simulate`'s and of the rate), drives.

    Parameters
    ----------
    delay : float
        [s], whole control periods; until then the first command holds.
    rate_limits : float or (n,) array_like, optional
        Most that a torque changes in a second [N m/s, N/s]; infinity is no limit.
    lag : float or (n,) array_like
        Time constants of torques that follow commands as ``T tau' = u - tau`` [s]; 0 for none.
    motor : DCMotor, optional
        DC motors at all joints under a voltage; their `inertia` and `damping` are no part of the drive but of the
        plant, as ``armature`` (or ``rotor``) and viscous friction of the robot.
    inductance : float or (n,) array_like
        L of the motors [H]; 0 neglects it.
    voltage_limit : float or (n,) array_like
        u_max of the motors [V].
    compensate_back_emf : bool
        Whether the voltage makes up for the back EMF, with dq as the controller sees it; where that is missing, with
        the last one that was there.

    Notes
    -----
    With the commanded torque tau_c, gear ratio r and the constants of `DCMotor`::

        L di/dt = u - R i - k_b r dq        tau = r k_m i        u = R tau_c / (r k_m) [+ k_b r dq],  |u| <= u_max

    so the torque follows with the time constant L / R and loses ``r^2 k_m k_b / R dq`` to the back EMF. At the start
    the drives are at rest with the first command. dq is the motor's velocity where a joint is elastic.
    Where a controller written in Python commands NaN, the drive keeps the command before, and the status is
    ``saturated``.
    """

    delay: float = 0.0
    rate_limits: npt.ArrayLike | None = None
    lag: npt.ArrayLike = 0.0
    motor: DCMotor | None = None
    inductance: npt.ArrayLike = 0.0
    voltage_limit: npt.ArrayLike = math.inf
    compensate_back_emf: bool = False

    def __post_init__(self) -> None:
        """Check what needs no robot."""
        if self.motor is not None and not isinstance(self.motor, DCMotor):
            raise ValueError(f"actuators motor must be a DCMotor or None, got {self.motor!r}")
        lags = not_negative(self.lag, "actuators lag").any()
        electrical = not_negative(self.inductance, "actuators inductance").any()
        not_negative(array(self.delay, (), "actuators delay"), "actuators delay")
        if self.rate_limits is not None:
            _positive(self.rate_limits, "actuators rate_limits")
        if not isinstance(self.compensate_back_emf, (bool, np.bool_)):
            raise ValueError(f"actuators compensate_back_emf must be True or False, got {self.compensate_back_emf!r}")
        if self.motor is not None and lags:
            raise ValueError("actuators: a motor's lag is its inductance, leave lag out")
        limited = (_positive(self.voltage_limit, "actuators voltage_limit") != math.inf).any()
        if self.motor is None and (electrical or limited or self.compensate_back_emf):
            raise ValueError("actuators: inductance, voltage_limit and compensate_back_emf need a motor")

    def _drives(self, n: int) -> tuple[Array, Array]:
        """Return time constants and dampings, (n,) each."""
        if self.motor is None:
            return per_joint(self.lag, n, "actuators lag"), np.zeros(n)
        for name, value in vars(self.motor).items():
            per_joint(value, n, f"actuators motor {name}")
        damping = per_joint(self.motor.joint_back_emf, n, "actuators motor")
        return per_joint(self.inductance, n, "actuators inductance") / self.motor.resistance, damping

    def _holds(self, n: int) -> bool:
        """Whether torques are constant over a control period."""
        return not np.any(self._drives(n))

    def _stall(self, n: int) -> Array | None:
        """Return the torques that full voltage gives at rest; None if there is no limit."""
        limits = per_joint(self.voltage_limit, n, "actuators voltage_limit", finite=False)
        if self.motor is None or not np.isfinite(limits).any():
            return None
        ratio = self.motor.gear_ratio * self.motor.torque_constant / self.motor.resistance
        stall: Array = np.broadcast_to(ratio * limits, (n,))
        return stall

    def _options(self, n: int, period: float, dt: float, integrator: str, limits: Array) -> dict[str, Any]:
        """Return what the core takes."""
        T, d = self._drives(n)
        shortest = float(T[T > 0.0].min(initial=math.inf))
        factor = _STABLE.get(integrator, math.inf)
        if dt > factor * shortest:
            raise ValueError(
                f"dt must be at most {factor:g} times the shortest time constant {shortest:.3g} of a drive for "
                f"{integrator}, got {dt:g}; control_period= may stay longer, or neglect the lag"
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


def _positive(limits: object, name: str) -> Array:
    """Return a number or a row of them, all positive, infinity among them."""
    given = number_or_row(limits, name, finite=False)
    if not (given > 0.0).all():
        raise ValueError(f"{name} must be positive, got {given.tolist()}")
    return given
