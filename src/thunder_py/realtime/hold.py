"""The safe torque: gravity of the nominal model, damping, and a spring to the rest position."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..checks import Array
from ..control import PDGravity
from ..errors import ThunderError
from ..reference import JointReference
from ..robot import Robot
from .plain_data import Table

__all__ = ["Hold", "HoldGains"]

#: deflection at which the spring has the largest torque of a joint [rad or m]
_DEFLECTION = 0.2
#: largest natural frequency of a held joint [rad/s], because a loop over a network is late by milliseconds
_FREQUENCY = 30.0
#: ratio of damping to inertia of a held joint [1/s]
_DAMPING_RATE = 150.0
#: speed [rad/s or m/s] below which, and time [s] after which, the spring is set
_AT_REST, _LONGEST_BRAKING = 0.05, 0.5
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
        is late by a few milliseconds is stable with them.
        """
        limits = robot.limits
        low, high = np.maximum(limits.lower, -np.pi), np.minimum(limits.upper, np.pi)
        M = robot.mass_matrix(np.random.default_rng(_SEED).uniform(low, high, (_SAMPLES, robot.n)))
        if not (np.linalg.eigvalsh(M) > 0.0).all():
            raise ThunderError("hold needs stiffness and damping: the robot has joints that move no mass")
        least = (1.0 / np.diagonal(np.linalg.inv(M), axis1=1, axis2=2)).min(axis=0)
        return cls(np.minimum(torques / _DEFLECTION, _FREQUENCY**2 * least), _DAMPING_RATE * least)


class Hold:
    """Brake the arm, then hold its position.

    ::

        tau = G(q) - D dq + K (q_h - q)

    with G of the nominal model, clipped to the torque limits. While the arm moves, q_h = q, so the spring has no
    torque; q_h is set once all joints are slower than 0.05 rad/s, after 0.5 s at the latest.

    Parameters
    ----------
    robot : Robot
        The nominal model.
    gains : HoldGains
        K and D.
    torque_limits : (n,) array
        [N m or N].
    """

    def __init__(self, robot: Robot, gains: HoldGains, torque_limits: Array) -> None:
        self._law = PDGravity(robot, gains.stiffness, gains.damping)
        self._law.torque_limits = torque_limits
        self._still, self._nan = np.zeros(robot.n), np.full(robot.n, np.nan)
        self._started: float | None = None
        self._point: JointReference | None = None

    def leave(self) -> None:
        """Discard the held position."""
        self._started = self._point = None

    def torque(self, t: float, q: Array, dq: Array) -> Array:
        """Return the safe torque, (n,)."""
        if self._started is None:
            self._started = t
        point = self._point
        if point is None:
            point = JointReference(q, self._still, self._still)
            if abs(dq).max() < _AT_REST or t - self._started > _LONGEST_BRAKING:
                self._point = JointReference(q.copy(), self._still, self._still)
        return self._law.step(t, q, dq, point)

    def blind(self, q: Array) -> Array:
        """Return the gravity torque at the last known position, (n,), for times without a state."""
        return self._law.step(0.0, q, self._nan, JointReference(q, self._still, self._still))
