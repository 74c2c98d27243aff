"""Wrist on a moving base: dynamics of the wrist for a given motion of the base, and control of the base."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ...checks import Array, positive
from ...errors import ThunderError
from ...reference import JointReference
from ...robot import Robot
from .motor import MotorMotion, WristRun, run_with_motor


class CarriedWrist:
    """Dynamics of the wrist, the last joint of a robot, for a given motion of the other joints: last row of D4.2 (78).

    It depends on the motion of the base only; the assumption of (79), a base without inertia, is not needed.

    Parameters
    ----------
    robot : Robot
        Robot of `with_wrist`, or another one with the last joint elastic and no other.
    motion : callable
        ``motion(t)`` returns the `JointReference` of the first n - 1 joints, at one time or several.

    Raises
    ------
    ThunderError
        If the last joint is not elastic, or another one is.

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.manipulation.wrist import CarriedWrist, ElasticWrist, floating_wrist
    >>> from thunder_py.reference import JointReference
    >>> wrist = ElasticWrist(I=0.012, k=5.0, m=0.7, r_c=0.09)
    >>> at_rest = lambda t: JointReference(*np.zeros((3, *np.shape(t), 6)))
    >>> carried = CarriedWrist(floating_wrist(wrist), at_rest)
    >>> round(float(carried.acceleration(0.0, 0.1, 0.0, 0.3)), 3), round(carried.resting_motor(0.0), 4)
    (32.088, 0.1236)
    >>> round(float(wrist.acceleration(0.1, 0.0, 0.3)), 3), round(wrist.theta_g, 4)  # the same, a base at rest
    (32.088, 0.1236)
    """

    def __init__(self, robot: Robot, motion: Callable[[npt.ArrayLike], JointReference]) -> None:
        if not robot.elastic or robot.elastic[-1].joint != robot.n or robot.e != 1:
            raise ThunderError(f"{robot.name} must have its last joint elastic and no other, got {robot.e} elastic")
        self._robot, self._motion = robot, motion
        self._inertia = float(robot.mass_matrix(np.zeros(robot.n))[-1, -1])

    def acceleration(self, t: npt.ArrayLike, q: npt.ArrayLike, dq: npt.ArrayLike, theta: npt.ArrayLike) -> Array:
        """Return ddq (...) of the wrist [rad/s^2].

        Parameters
        ----------
        t, q, dq, theta : (...) array_like
            Time [s], angle and rate of the wrist [rad, rad/s], motor angle [rad].
        """
        base = self._motion(t)
        joints = np.concatenate([base.q, np.asarray(q)[..., None]], axis=-1)
        rates = np.concatenate([base.dq, np.asarray(dq)[..., None]], axis=-1)
        ddq = np.concatenate([base.ddq, np.zeros_like(base.ddq[..., :1])], axis=-1)
        spring = self._robot.elastic_torque(joints, np.asarray(theta)[..., None])[..., -1]
        bias = self._robot.inverse_dynamics(joints, rates, ddq)[..., -1]
        return np.asarray((spring - bias) / self._inertia)

    def resting_motor(self, t: float) -> float:
        """Return the motor angle that holds the hand at q = 0 under the motion of the base at t [rad]."""
        force = -float(self.acceleration(t, 0.0, 0.0, 0.0)) * self._inertia
        return force / self._robot.elastic[0].K[0]


class CarrierControl:
    """Computed torque of the joints that carry the wrist, with feedforward of the wrist's spring.

    The wrist's acceleration follows from its spring and the known motion of its motor. The torques of the other joints
    for their commanded acceleration then follow from inverse dynamics.

    Parameters
    ----------
    robot : Robot
        Robot of `with_wrist`, the model of the controller.
    motor : MotorMotion
        Motion of the wrist's motor.
    stiffness : float
        Natural frequency squared of the error [1/s^2]; damping is critical.
    feedforward : bool
        False leaves out the wrist's spring, as if the hand were fixed, for comparison.
    limited : bool
        If True, clip the torques at the robot's limits.

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.manipulation.wrist import CarrierControl, ElasticWrist, MotorMotion, floating_wrist
    >>> from thunder_py.reference import JointReference
    >>> wrist = ElasticWrist(I=0.012, k=5.0, m=0.7, r_c=0.09)
    >>> robot = floating_wrist(wrist, base_mass=3.0)
    >>> control = CarrierControl(robot, MotorMotion.still(wrist.theta_g, 0.0, 1.0))
    >>> reference = JointReference(*np.zeros((3, 6)))
    >>> tau = control.step(0.0, np.zeros(7), np.zeros(7), reference)
    >>> round(float(tau[2]), 3), float(tau[-1])  # the weight of base and hand; no torque of the wrist
    (36.297, 0.0)
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
        """Return the torques, (n,); that of the wrist is zero, because the motion of its motor is given."""
        command = reference.ddq + self._kd * (reference.dq - dq[:-1]) + self._kp * (reference.q - q[:-1])
        ddq = np.append(command, 0.0)
        if self._feedforward:
            spring = self._robot.elastic_torque(q, self._motor(t)[None])[-1]
            ddq[-1] = (spring - self._robot.inverse_dynamics(q, dq, ddq)[-1]) / self._inertia
        tau = self._robot.inverse_dynamics(q, dq, ddq)
        tau[-1] = 0.0
        return np.clip(tau, -self._most, self._most)


def run_carried(
    model: Robot,
    trajectory: Callable[[Any], JointReference],
    motor: MotorMotion,
    *,
    stiffness: float,
    dt: float,
    plant: Robot | None = None,
    spring_error: float = 0.0,
    feedforward: bool = True,
    limited: bool = False,
    **options: Any,
) -> WristRun:
    """Simulate joints that carry the wrist along a trajectory under `CarrierControl`, from its state at the first time.

    Parameters
    ----------
    model : Robot
        Robot of `with_wrist`, the model of the controller.
    trajectory : callable
        Reference of the first n - 1 joints.
    motor : MotorMotion
        Motion of the wrist's motor, which defines start and end.
    stiffness, feedforward, limited
        As in `CarrierControl`.
    dt : float
        Longest step of the integrator and of the controller [s].
    plant : Robot, optional
        Robot that moves; default the model.
    spring_error : float
        True minus assumed angle of the relaxed spring at motor angle zero [rad].
    **options
        Options of `simulate`.
    """
    first = trajectory(float(motor.breaks[0]))
    return run_with_motor(
        model if plant is None else plant, replace(motor, start=motor.start + spring_error),
        q0=np.append(first.q, 0.0), dq0=np.append(first.dq, 0.0), dt=dt, reference=trajectory,
        controller=CarrierControl(model, motor, stiffness=stiffness, feedforward=feedforward, limited=limited),
        **options,
    )  # fmt: skip
