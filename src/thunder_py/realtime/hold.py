"""The safe torque: gravity of the nominal model, damping, and a spring to the rest position."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..checks import Array
from ..control import PDGravity
from ..control.stability import elastic_damping
from ..errors import ThunderError
from ..reference import JointReference
from ..robot import Robot
from .joint_states import MeasuredState
from .plain_data import Table

__all__ = ["Hold", "HoldGains", "least_inertia"]

#: deflection at which the spring has the largest torque of a joint [rad or m]
_DEFLECTION = 0.2
#: largest natural frequency of a held joint [rad/s], because a loop over a network is late by milliseconds
_FREQUENCY = 30.0
#: ratio of damping to inertia of a held joint [1/s]
_DAMPING_RATE = 150.0
#: speed [rad/s or m/s] below which, and time [s] after which, the spring is set
_AT_REST, _LONGEST_BRAKING = 0.05, 0.5
_SAMPLES, _SEED = 200, 0
#: fraction of the stable damping of an elastic joint whose motor is not measured
_ELASTIC_SHARE = 0.25


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


def least_inertia(robot: Robot) -> Array:
    """Return the least inertia (n,) that each joint moves with over random positions, the others free; 0 for none."""
    limits = robot.limits
    low, high = np.maximum(limits.lower, -np.pi), np.minimum(limits.upper, np.pi)
    M = robot.mass_matrix(np.random.default_rng(_SEED).uniform(low, high, (_SAMPLES, robot.n)))
    if not (np.linalg.eigvalsh(M) > 0.0).all():
        return np.zeros(robot.n)
    least: Array = (1.0 / np.diagonal(np.linalg.inv(M), axis1=1, axis2=2)).min(axis=0)
    return least


class Hold:
    """Brake the arm, then hold its position.

    ::

        tau = G(q) - D dy + K (y_h - y)

    with G of the nominal model, clipped to the torque limits. y is the position of the joint, or of its motor if it is
    elastic: feedback of the link's velocity beyond a spring is unstable with all but small gains. While the arm moves,
    y_h = y, so the spring has no torque; y_h is set once all joints are slower than 0.05 rad/s, after 0.5 s at the
    latest. Elastic joints whose motors are not measured have no spring torque, and at most a quarter of the damping
    `elastic_damping` at the present position.

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
        self._robot, self._damping = robot, gains.damping
        self._elastic = list(robot.motor_joints)
        self._still, self._nan = np.zeros(robot.n), np.full(robot.n, np.nan)
        self._started: float | None = None
        self._point: Array | None = None
        self._sees_motors = False

    def leave(self) -> None:
        """Discard the held position."""
        self._started = self._point = None

    def torque(self, t: float, state: MeasuredState) -> Array:
        """Return the safe torque, (n,)."""
        sees_motors = state.x is not None
        if sees_motors != self._sees_motors:
            self.leave()
            self._sees_motors = sees_motors
        y, dy = self._feedback(state)
        if self._started is None:
            self._started = t
        if self._point is None and (abs(state.dq).max() < _AT_REST or t - self._started > _LONGEST_BRAKING):
            self._point = y.copy()
        error = self._still if self._point is None else self._point - y
        if self._elastic and not sees_motors:
            error[self._elastic] = 0.0
        return self._law.step(t, state.q, dy, JointReference(state.q + error, self._still, self._still))

    def _feedback(self, state: MeasuredState) -> tuple[Array, Array]:
        """Return the positions and velocities that gains act on, (n,) each."""
        q, dq, x, dx = state
        if not self._elastic:
            return q, dq
        y, dy = q.copy(), dq.copy()
        if x is not None and dx is not None:
            y[self._elastic], dy[self._elastic] = x, dx
        else:
            dy *= np.minimum(1.0, _ELASTIC_SHARE * elastic_damping(self._robot, q) / self._damping)
        return y, dy

    def blind(self, q: Array) -> Array:
        """Return the gravity torque at the last known position, (n,), for times without a state."""
        return self._law.step(0.0, q, self._nan, JointReference(q, self._still, self._still))
