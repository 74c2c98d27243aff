"""PD control of the motors of elastic joints."""

from __future__ import annotations

import warnings
from typing import Literal

import numpy as np
import numpy.typing as npt

from .. import _core
from ..checks import Array, of_kind, one_of
from ..errors import outer_level
from ..model.elastic import spring_slopes
from ..robot import Robot
from .elastic_gains import gravity_gradients
from .lyapunov_functions import gain


class MotorPD(_core.MotorPD):
    """PD control of the motors of elastic joints with gravity compensation; follows a `JointReference`.

    ::

        tau = K_p (theta_d - theta) + K_d (dq_d - dtheta) + G      theta_d = q_d + d, with spring torques G(q_d) at d

    where theta is the position of the motors, and of the links at rigid joints. G is constant, G(q_d), or on-line,
    G(theta - d). Only motors are fed back, where the torques act.

    Parameters
    ----------
    robot : Robot
        The model, with elastic joints.
    K_p, K_d : float, (n,) or (n, n) array_like
        [N m/rad, N m s/rad].
    gravity : {"constant", "online"}
        What compensates gravity.

    Raises
    ------
    ValueError
        If a gain is not positive definite, the robot has no elastic joints, a spring softens, or another argument is
        invalid.

    Warns
    -----
    RuntimeWarning
        If K_p and the springs are too weak for the stability of every set point, see Notes.

    Notes
    -----
    Tomei (1991) proves the stability of set points with G(q_d), De Luca, Siciliano and Zollo (2005) with G(theta - d).
    The proofs need a potential energy with one minimum; the warning samples its Hessian
    ``[[K + dG/dq, -K], [-K, K + K_p]]`` (on-line less dG/dq at theta - d in the last block) at 200 postures within the
    joint limits, with the slopes K of the springs where they carry G. Moving references are followed with an error.
    Springs that soften, with a negative coefficient K, are refused.

    Signals: ``error`` (q_d - q).

    Examples
    --------
    >>> import thunder_py as th
    >>> drives = [th.robot.Elastic(joint=j, K=(400.0,), Mm=0.1) for j in (1, 2)]
    >>> robot = th.Robot.load("elbow").replace(elastic=drives)
    >>> law = th.control.MotorPD(robot, K_p=100.0, K_d=20.0, gravity="online")
    >>> run = th.simulate(robot, law, th.reference.SetPoint([0.5, 0.8]), 6.0, q0=[0.0, 0.5])
    >>> run.error_norm()[[0, -1]].round(3).tolist()
    [0.583, 0.0]
    """

    def __init__(
        self,
        robot: Robot,
        K_p: npt.ArrayLike,
        K_d: npt.ArrayLike,
        *,
        gravity: Literal["constant", "online"] = "constant",
    ) -> None:
        of_kind(robot, Robot, "robot")
        online = one_of(gravity, ("constant", "online"), "gravity") == "online"
        super().__init__(robot, K_p, K_d, online)
        self.gravity = gravity
        _warn_of_weak_gains(robot, gain(K_p, robot.n), online)


def _warn_of_weak_gains(robot: Robot, K_p: Array, online: bool) -> None:
    """Warn if the potential energy of arm, springs and K_p is not convex at every sampled posture."""
    least = _least_curvature(robot, K_p, online)
    if least <= 0.0:
        warnings.warn(
            f"K_p and the springs of {robot.name} are too weak against gravity: the least curvature of the potential "
            f"energy is {least:.3g}, so set points may be unstable; raise K_p",
            RuntimeWarning,
            stacklevel=outer_level(),
        )


def _least_curvature(robot: Robot, K_p: Array, online: bool) -> float:
    """Return the least eigenvalue of [[K + dG/dq, -K], [-K, K + K_p]], on-line less dG/dq of another posture.

    K are the slopes of the springs where they carry G(q).
    """
    n, elastic = robot.n, list(robot.motor_joints)
    q, gradient = gravity_gradients(robot)
    slopes = np.zeros((len(q), n))
    slopes[:, elastic] = spring_slopes(robot.elastic, robot.elastic_equilibrium(q) - q[:, elastic])
    K = slopes[:, :, None] * np.eye(n)
    H = np.block([[K + gradient, -K], [-K, K + K_p - (np.roll(gradient, 1, axis=0) if online else 0.0)]])
    joined = np.eye(2 * n)[:, [*elastic, *range(n, 2 * n)]]  # links of rigid joints move as their motors
    for j in set(range(n)) - set(elastic):
        joined[j, len(elastic) + j] = 1.0
    return float(np.linalg.eigvalsh(joined.T @ H @ joined).min())
