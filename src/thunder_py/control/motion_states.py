"""States for which gains are computed, and the inertia with which an arm moves in them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .._core import Status
from ..checks import Array, array
from ..errors import ThunderError
from ..kinematics import CLIK
from ..kinematics.task_rows import ROW_NAMES
from ..reference import JointReference
from ..robot import Robot

#: random states, and their seed
_COUNT, _SEED = 500, 0
#: speed of typical states as a share of the velocity limits, and without limits [rad/s or m/s]
_SHARE, _SPEED = 0.25, 0.5
#: instants of a reference, and steps of the inverse kinematics between them
_INSTANTS, _STEPS = 201, 10
#: singular values that count, in units of the largest one
_RANK = 1e-6


def typical_states(robot: Robot, acceleration: npt.ArrayLike) -> JointReference:
    """Return random states: positions within the limits or half a turn, a quarter of the velocity limits.

    Parameters
    ----------
    robot : Robot
        The arm.
    acceleration : float or (n,) array_like
        Largest acceleration [rad/s^2 or m/s^2].
    """
    low, high = np.maximum(robot.limits.lower, -np.pi), np.minimum(robot.limits.upper, np.pi)
    random = np.random.default_rng(_SEED)
    q = random.uniform(low, high, (_COUNT, robot.n))
    limits = robot.limits.velocity
    speed = np.where(np.isfinite(limits) & (limits > 0.0), _SHARE * limits, _SPEED)
    rates = random.uniform(-1.0, 1.0, (2, _COUNT, robot.n))
    return JointReference(q, speed * rates[0], np.asarray(acceleration) * rates[1])


def states_along(
    robot: Robot,
    reference: Callable[[float], Any],
    duration: float,
    q0: npt.ArrayLike | None = None,
    frame: int | str | None = None,
    rows: Sequence[int | str] | None = None,
) -> JointReference:
    """Return the states along a reference, by inverse kinematics from `q0` if it is one of poses.

    Raises
    ------
    ThunderError
        If `q0` is missing, or a pose is invalid or leads to a singular posture.
    """
    if hasattr(reference(0.0), "q"):
        points = [reference(float(t)) for t in np.linspace(0.0, duration, _INSTANTS)]
        return JointReference(*(np.array([getattr(point, name) for point in points]) for name in ("q", "dq", "ddq")))
    if q0 is None:
        raise ThunderError("q0 must be given unless the reference is a joint-space reference, got None")
    dt = duration / (_STEPS * (_INSTANTS - 1))
    clik = CLIK(robot, Lambda=0.2 / dt, frame=frame, rows=rows)
    path = clik.follow(reference, array(q0, (robot.n,), "q0"), duration, dt)
    if (path.status > int(Status.saturated)).any():  # where limits slow it down it is a motion nevertheless
        raise ThunderError("reference must be a path that the arm can follow from q0, got a singular posture on it")
    return JointReference(path.q[::_STEPS], path.dq[::_STEPS], path.ddq[::_STEPS])


def joint_inertias(robot: Robot, q: Array) -> Array:
    """Return the inertia (k, n) with which each joint moves if all others are free, 1 / (M^-1)_jj.

    Raises
    ------
    ThunderError
        If M is not positive definite.
    """
    M = robot.mass_matrix(q)
    if not (np.linalg.eigvalsh(M) > 0.0).all():
        raise ThunderError("robot must have a positive definite mass matrix, got joints that move no mass")
    return np.asarray(1.0 / np.diagonal(np.linalg.inv(M), axis1=1, axis2=2))


def task_inertia(robot: Robot, q: Array, frame: int | str | None, rows: Sequence[int]) -> Array:
    """Return the median inertia (m,) of a frame along each row if all others are free, 1 / (J M^-1 J')_rr.

    Raises
    ------
    ThunderError
        If the arm cannot move the frame along all rows independently in most of the postures.
    """
    J = robot.jacobian(q, frame)[:, list(rows)]
    singular = np.linalg.svd(J, compute_uv=False)
    rank = int(np.median((singular > _RANK * singular[:, :1]).sum(axis=1)))
    if rank < len(rows):
        names = ", ".join(ROW_NAMES[row] for row in rows)
        raise ThunderError(
            f"robot must move its frame along {names} independently, got {rank} directions; choose a smaller task"
        )
    return np.asarray(1.0 / np.median(np.einsum("kri,kij,krj->kr", J, np.linalg.inv(robot.mass_matrix(q)), J), axis=0))
