"""Gains of laws for elastic joints that follow from the robot."""

from __future__ import annotations

import math

import numpy as np

from ..checks import Array
from ..robot import Robot
from .motion_states import typical_states

#: postures at which the gradient of gravity is sampled
_POSTURES = 200
#: stiffness of a hold over its damping [1/s], as in the core
_HOLD_RATE = 10.0


def critical_damping(robot: Robot) -> Array:
    """Return 2 sqrt(K Mm) (e,), with K the linear stiffness: the critical damping of motors on springs of a fixed link.

    Parameters
    ----------
    robot : Robot
        Robot with elastic joints.
    """
    return np.array([2.0 * math.sqrt(abs(drive.K[0] * drive.Mm)) for drive in robot.elastic])


def gravity_gradients(robot: Robot) -> tuple[Array, Array]:
    """Return typical postures (k, n) and dG/dq (k, n, n) there.

    Parameters
    ----------
    robot : Robot
        Any robot.
    """
    q = typical_states(robot, 0.0).q[:_POSTURES]
    still = np.zeros_like(q)
    return q, robot.inverse_dynamics_derivatives(q, still, still)[0]


def hold_damping(robot: Robot) -> Array:
    """Return damping (n,) with which a hold has twice the stiffness that gravity takes, 1 N m s/rad at least.

    Parameters
    ----------
    robot : Robot
        Robot with elastic joints.
    """
    steepest = np.linalg.norm(gravity_gradients(robot)[1], 2, axis=(1, 2)).max()
    return np.full(robot.n, max(1.0, 2.0 * steepest / _HOLD_RATE))
