"""Forces and moments at a frame, and the joint torques that hold them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..checks import Array
from ..errors import ThunderError
from ..robot import Robot, require_robot

__all__ = ["joint_torque", "wrench_from_torque"]

#: singular values of the Jacobian that are smaller than this part of the largest count as zero
_RANK_TOLERANCE = 1e-12


def _vectors(value: npt.ArrayLike, size: int, what: str) -> Array:
    try:
        result = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ThunderError(f"{what} must be numbers of shape (..., {size}), got {value!r}") from error
    if result.ndim < 1 or result.shape[-1] != size:
        raise ThunderError(f"{what} must have shape (..., {size}), got {result.shape}")
    if not np.isfinite(result).all():
        raise ThunderError(f"{what} must be finite")
    return result


def _jacobian(robot: Robot, q: npt.ArrayLike, frame: int | str | None, vectors: Array, what: str) -> Array:
    J = robot.jacobian(q, frame)
    try:
        np.broadcast_shapes(J.shape[:-2], vectors.shape[:-1])
    except ValueError as error:
        raise ThunderError(
            f"q and {what} must have batches that go together, got shapes {np.shape(q)} and {vectors.shape}"
        ) from error
    return J


def joint_torque(robot: Robot, q: npt.ArrayLike, wrench: npt.ArrayLike, frame: int | str | None = None) -> Array:
    """Return the joint torques that exert a wrench, ``tau = J' F``; gravity is not in it.

    Parameters
    ----------
    robot : Robot
        The arm.
    q : (..., n) array_like
        Joint positions.
    wrench : (..., 6) array_like
        Force [N], then moment [N m], at the frame's origin in world axes, that the arm exerts on its surroundings.
    frame : int or str, optional
        Default the end effector.

    Returns
    -------
    (..., n) array
        [N m or N].

    Notes
    -----
    Statics are dual to velocities: tau' dq = F' xi for every dq (lectures 16 and 17).
    """
    require_robot(robot)
    F = _vectors(wrench, 6, "wrench")
    J = _jacobian(robot, q, frame, F, "wrench")
    tau: Array = np.einsum("...ij,...i->...j", J, F)
    return tau


def wrench_from_torque(robot: Robot, q: npt.ArrayLike, tau: npt.ArrayLike, frame: int | str | None = None) -> Array:
    """Return the wrench at a frame that joint torques hold, the smallest of the least-squares solutions of J' F = tau.

    Parameters
    ----------
    robot : Robot
        The arm.
    q : (..., n) array_like
        Joint positions.
    tau : (..., n) array_like
        Joint torques, without those that gravity takes [N m or N].
    frame : int or str, optional
        Default the end effector.

    Returns
    -------
    (..., 6) array
        Force [N], then moment [N m]. Parts that the structure carries by itself, in the null space of J', are zero.

    Notes
    -----
    Near a singular posture the wrench along what the arm can hardly resist grows without bound, as one over the
    singular value; at it, where that is below 1e-12 of the largest, that part is zero.
    """
    require_robot(robot)
    torque = _vectors(tau, robot.n, "tau")
    J = _jacobian(robot, q, frame, torque, "tau")
    inverse = np.linalg.pinv(np.swapaxes(J, -1, -2), rcond=_RANK_TOLERANCE)
    F: Array = np.einsum("...ij,...j->...i", inverse, torque)
    return F
