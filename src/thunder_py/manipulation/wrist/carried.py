"""The wrist on a base that moves: its own dynamics for a given motion of the base, and control of that base."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from ...checks import Array, positive
from ...errors import ThunderError
from ...reference import JointReference
from ...robot import Robot
from .motor import MotorMotion

__all__ = ["CarriedWrist", "CarrierControl"]


class CarriedWrist:
    """The last joint of a robot, whose other joints make a given motion: the last row of D4.2 (78).

    What carries the wrist does not matter in it, only how it moves; that the base has no inertia, as (79) is
    introduced, need not be assumed.

    Parameters
    ----------
    robot : Robot
        Whose last joint is elastic, such as of `with_wrist`.
    motion : callable
        ``motion(t)`` gives the `JointReference` of the n - 1 joints before, at one time or several.
    """

    def __init__(self, robot: Robot, motion: Callable[[npt.ArrayLike], JointReference]) -> None:
        if not robot.elastic or robot.elastic[-1].joint != robot.n or robot.e != 1:
            raise ThunderError(f"the last joint of {robot.name} must be elastic, and no other")
        self._robot, self._motion = robot, motion
        self._inertia = float(robot.mass_matrix(np.zeros(robot.n))[-1, -1])

    def acceleration(self, t: npt.ArrayLike, q: npt.ArrayLike, dq: npt.ArrayLike, theta: npt.ArrayLike) -> Array:
        """Return ddq (...) of the wrist [rad/s^2].

        Parameters
        ----------
        t, q, dq, theta : (...) array_like
            Time [s], wrist and its rate, motor [rad].
        """
        base = self._motion(t)
        joints = np.concatenate([base.q, np.asarray(q)[..., None]], axis=-1)
        rates = np.concatenate([base.dq, np.asarray(dq)[..., None]], axis=-1)
        still = np.concatenate([base.ddq, np.zeros_like(base.ddq[..., :1])], axis=-1)
        spring = self._robot.elastic_torque(joints, np.asarray(theta)[..., None])[..., -1]
        needed = self._robot.inverse_dynamics(joints, rates, still)[..., -1]
        return np.asarray((spring - needed) / self._inertia)

    def resting_motor(self, t: float) -> float:
        """Where the motor holds the hand at q = 0 while the base moves as it does at t [rad]."""
        force = -float(self.acceleration(t, 0.0, 0.0, 0.0)) * self._inertia
        return force / self._robot.elastic[0].K[0]


class CarrierControl:
    """Computed torque of the joints that carry the wrist; what the wrist will do to them is fed forward.

    The wrist's acceleration follows from its spring, so the torques of the other joints that give them the wanted
    acceleration follow from inverse dynamics. It knows the motor's motion.

    Parameters
    ----------
    robot : Robot
        Of `with_wrist`, as the controller knows it.
    motor : MotorMotion
        Of the wrist.
    stiffness : float
        Of the error, natural frequency squared [1/s^2]; damped critically.
    feedforward : bool
        False leaves the wrist's spring out, as if the hand were fixed: for comparison.
    limited : bool
        Clip the torques at the robot's limits.
    """

    def __init__(
        self,
        robot: Robot,
        motor: MotorMotion,
        *,
        stiffness: float = 400.0,
        feedforward: bool = True,
        limited: bool = False,
    ) -> None:
        self._robot, self._motor, self._feedforward = robot, motor, feedforward
        self._most = robot.limits.effort if limited else np.full(robot.n, np.inf)
        self._kp = positive(stiffness, "stiffness", "1/s^2")
        self._kd = 2.0 * math.sqrt(self._kp)
        self._inertia = float(robot.mass_matrix(np.zeros(robot.n))[-1, -1])

    def step(self, t: float, q: Array, dq: Array, reference: JointReference, /) -> Array:
        """Return the torques, (n,); the wrist's own is zero, its motor goes where it goes."""
        wanted = reference.ddq + self._kd * (reference.dq - dq[:-1]) + self._kp * (reference.q - q[:-1])
        ddq = np.append(wanted, 0.0)
        if self._feedforward:
            spring = self._robot.elastic_torque(q, self._motor(t)[None])[-1]
            ddq[-1] = (spring - self._robot.inverse_dynamics(q, dq, ddq)[-1]) / self._inertia
        tau = self._robot.inverse_dynamics(q, dq, ddq)
        tau[-1] = 0.0
        return np.clip(tau, -self._most, self._most)
