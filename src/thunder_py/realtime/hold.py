"""The safe torque: gravity of the nominal model, braking, and a spring to the rest position."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .. import _core
from ..checks import Array
from ..errors import ThunderError
from ..robot import Robot
from .plain_data import Table

#: largest product of rate and period: half of the value at which a delay of one period is unstable
_LARGEST_PRODUCT = 0.5


def braking_rate(period: float) -> float:
    """Return the rate of braking [1/s] for torques that are held for a period [s], ``min(150, 0.4 / period)``.

    If the torque is one period late, the velocity ``dv/dt = -rate v`` decays by 37 % in each period, and is stable up
    to 2.5 times the rate; if it is two periods late, up to 1.5 times. At most 150/s, because a loop over a network is
    late by milliseconds.
    """
    return _core.braking_rate(period)


def read_rate(table: Table, period: float) -> float:
    """Return the rate of a configuration; default `braking_rate`."""
    rate = table.positive("rate", braking_rate(period))
    if rate * period > _LARGEST_PRODUCT:
        raise ThunderError(
            f"configuration: hold: rate must be at most {_LARGEST_PRODUCT / period:g} 1/s for a period of {period:g} s,"
            f" got {rate:g}"
        )
    table.done()
    return rate


def safe_torque(
    robot: Robot, rate: float, torque_limits: Array, torque_rate: npt.ArrayLike = np.inf
) -> _core.SafeTorque:
    """Return the safe torque of a robot, within torque limits and rates (n,).

    ::

        tau = G(q) + C(q, dq) dq + lambda M(q) (-rate dy + k (y_h - y)),    0 <= lambda <= 1

    with the nominal model. All joints slow down by the same factor, along a straight line in joint space. lambda is
    the largest number within the torque limits; the rate is lower where the torque rate could not end the braking in
    time. y is the position of the joint, or of its motor if it is elastic, whose row of M is the motor's inertia:
    feedback of the link's velocity beyond a spring is unstable with all but small gains. While the arm moves, y_h =
    y, and there is no spring torque; y_h is set once all joints are slower than 0.05 rad/s, after 0.5 s at the
    latest. k is a quarter of the squared rate, at most 900/s^2. Elastic joints whose motors are not measured have no
    spring torque, and at most a quarter of the damping `elastic_damping` at the present position.
    """
    if any(drive.Mm <= 0.0 for drive in robot.elastic):
        raise ThunderError("hold needs motors of elastic joints that have inertia")
    return _core.SafeTorque(
        robot, rate, torque_limits, np.broadcast_to(np.asarray(torque_rate, np.float64), (robot.n,))
    )
