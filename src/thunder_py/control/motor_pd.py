"""PD control of the motors of elastic joints."""

from __future__ import annotations

import warnings
from typing import Literal

import numpy as np
import numpy.typing as npt

from .. import _core
from ..checks import Array
from ..robot import Robot, require_robot
from .lyapunov_functions import gain
from .motion_states import typical_states

__all__ = ["MotorPD"]

#: postures at which the gradient of gravity is sampled
_POSTURES = 200


class MotorPD(_core.MotorPD):
    """PD control of the motors of elastic joints with gravity compensation; follows a `JointReference`.

    ::

        tau = K_p (theta_d - theta) + K_d (dq_d - dtheta) + G      theta_d = q_d + d, with spring torques G(q_d) at d

    where theta is the position of the motors, and of the links at rigid joints. G is constant, G(q_d), or on-line,
    G(theta - d). Only motors are fed back, so no stiffness makes the law unstable.

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
        If a gain is not positive definite, the robot has no elastic joints, or another argument is invalid.

    Warns
    -----
    RuntimeWarning
        If K_p and the springs are too weak for the stability of every set point, see Notes.

    Notes
    -----
    Tomei (1991) proves the stability of set points with G(q_d), De Luca, Siciliano and Zollo (2005) with G(theta - d),
    both for ``lambda_min([[K, -K], [-K, K + K_p]]) > alpha`` with ``alpha = max ||dG/dq||``, here sampled within the joint
    limits. Moving references are followed with an error. The status is ``singular`` where a nonlinear spring cannot carry
    G(q_d).

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
        require_robot(robot)
        if gravity not in ("constant", "online"):
            raise ValueError(f"gravity must be 'constant' or 'online', got {gravity!r}")
        super().__init__(robot, K_p, K_d, gravity == "online")
        self.gravity = gravity
        _warn_of_weak_gains(robot, gain(K_p, robot.n))


def _warn_of_weak_gains(robot: Robot, K_p: Array) -> None:
    """Warn if the condition of stability does not hold: K_p and springs against the gradient of gravity."""
    least, alpha = _least_stiffness(robot, K_p), _gravity_gradient(robot)
    if least <= alpha:
        warnings.warn(
            f"K_p and the springs of {robot.name} have a least stiffness of {least:.3g}, not above the largest gradient "
            f"of gravity, {alpha:.3g}: set points may be unstable; raise K_p",
            RuntimeWarning,
            stacklevel=4,
        )


def _least_stiffness(robot: Robot, K_p: Array) -> float:
    """Return the least eigenvalue of [[K, -K], [-K, K + K_p]]; rigid joints have K_p alone."""
    elastic = [drive.joint - 1 for drive in robot.elastic]
    K = np.array([drive.K[0] for drive in robot.elastic])
    n = robot.n
    S = np.zeros((2 * n, 2 * n))
    S[elastic, elastic] = K
    S[elastic, n + np.array(elastic)] = S[n + np.array(elastic), elastic] = -K
    S[n:, n:] = K_p + np.diag(S.diagonal()[:n])
    rigid = np.setdiff1d(np.arange(n), elastic)
    keep = np.setdiff1d(np.arange(2 * n), rigid)  # q of rigid joints is theta
    return float(np.linalg.eigvalsh(S[np.ix_(keep, keep)])[0])


def _gravity_gradient(robot: Robot) -> float:
    """Return the largest norm of dG/dq over typical postures."""
    q = typical_states(robot, 0.0).q[:_POSTURES]
    still = np.zeros_like(q)
    return float(np.linalg.norm(robot.inverse_dynamics_derivatives(q, still, still)[0], 2, axis=(1, 2)).max())
