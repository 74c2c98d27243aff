"""Gains of the safe torque: gravity of the nominal model, damping, and a spring to the rest position."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .. import _core
from ..checks import Array
from ..errors import ThunderError
from ..robot import Robot
from .plain_data import Table

__all__ = ["HoldGains", "least_inertia"]

#: deflection at which the spring has the largest torque of a joint [rad or m]
_DEFLECTION = 0.2
#: largest natural frequency of a held joint [rad/s], because a loop over a network is late by milliseconds
_FREQUENCY = 30.0
#: ratio of damping to inertia of a held joint [1/s]
_DAMPING_RATE = 150.0
_SAMPLES, _SEED = 200, 0


@dataclass(frozen=True)
class HoldGains:
    """Stiffness and damping of each joint.

    Attributes
    ----------
    stiffness, damping : (n,) array
        Gains [N m/rad, N m s/rad], or [N/m, N s/m].
    """

    stiffness: Array
    damping: Array

    @classmethod
    def read(cls, table: Table, robot: Robot, torques: Array) -> HoldGains:
        """Return the gains of a configuration; defaults are those of `usual`."""
        usual = cls.usual(robot, torques)
        gains = cls(
            table.positives("stiffness", robot.n, usual.stiffness),
            table.positives("damping", robot.n, usual.damping),
        )
        table.done()
        return gains

    @classmethod
    def usual(cls, robot: Robot, torques: Array) -> HoldGains:
        """Return gains from the robot's inertia and torque limits.

        With m the least inertia that a joint moves with over random positions, the other joints free, the stiffness is
        the torque limit divided by 0.2 rad but at most ``(30 rad/s)^2 m``, and the damping is ``150/s m``. A loop that
        is late by a few milliseconds is stable with them. That of an elastic joint, whose gains act on its motor, is at
        most the motor's inertia.
        """
        least = least_inertia(robot)
        for drive in robot.elastic:
            least[drive.joint - 1] = min(least[drive.joint - 1], drive.Mm)
        if least.min() <= 0.0:
            raise ThunderError("hold needs stiffness and damping: the robot has joints or motors that move no mass")
        return cls(np.minimum(torques / _DEFLECTION, _FREQUENCY**2 * least), _DAMPING_RATE * least)

    def safe_torque(self, robot: Robot, torque_limits: Array) -> _core.SafeTorque:
        """Return the safe torque of a robot, within torque limits (n,).

        ::

            tau = G(q) - D dy + K (y_h - y)

        with G of the nominal model. y is the position of the joint, or of its motor if it is elastic: feedback of the
        link's velocity beyond a spring is unstable with all but small gains. While the arm moves, y_h = y, so the
        spring has no torque; y_h is set once all joints are slower than 0.05 rad/s, after 0.5 s at the latest. Elastic
        joints whose motors are not measured have no spring torque, and at most a quarter of the damping
        `elastic_damping` at the present position.
        """
        return _core.SafeTorque(robot, self.stiffness, self.damping, torque_limits)


def least_inertia(robot: Robot) -> Array:
    """Return the least inertia (n,) that each joint moves with over random positions, the others free; 0 for none."""
    limits = robot.limits
    low, high = np.maximum(limits.lower, -np.pi), np.minimum(limits.upper, np.pi)
    M = robot.mass_matrix(np.random.default_rng(_SEED).uniform(low, high, (_SAMPLES, robot.n)))
    if not (np.linalg.eigvalsh(M) > 0.0).all():
        return np.zeros(robot.n)
    least: Array = (1.0 / np.diagonal(np.linalg.inv(M), axis1=1, axis2=2)).min(axis=0)
    return least
