"""Statics: wrenches at a frame and joint torques."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..checks import Array, of_kind, points, positive, real
from ..errors import ThunderError
from ..robot import Robot
from .task_rows import resolve_rows

#: relative tolerance below which singular values of the Jacobian are zero
_RANK_TOLERANCE = 1e-12


def _vectors(value: npt.ArrayLike, size: int, what: str) -> Array:
    return points(real(value, what, expected=f"numbers of shape (..., {size})"), what, (size,))


def _jacobian(robot: Robot, q: npt.ArrayLike, frame: int | str | None, vectors: Array, what: str) -> Array:
    J = robot.jacobian(q, frame)
    try:
        np.broadcast_shapes(J.shape[:-2], vectors.shape[:-1])
    except ValueError as error:
        raise ThunderError(
            f"q and {what} must have batch axes that broadcast, got shapes {np.shape(q)} and {vectors.shape}"
        ) from error
    return J


def joint_torque(robot: Robot, q: npt.ArrayLike, wrench: npt.ArrayLike, frame: int | str | None = None) -> Array:
    """Return the joint torques that exert a wrench, ``tau = J' F``, without gravity.

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

    Raises
    ------
    ThunderError
        If shapes do not fit or values are not finite.

    Notes
    -----
    Statics are dual to velocities: tau' dq = F' xi for every dq (lectures 16 and 17).

    Examples
    --------
    >>> import thunder_py as th
    >>> robot = th.Robot.load("elbow")
    >>> tau = th.kinematics.joint_torque(robot, [0.0, 0.5], [0.0, 10.0, 0.0, 0.0, 0.0, 0.0])
    >>> tau.round(3).tolist()
    [8.51, 3.51]
    """
    of_kind(robot, Robot, "robot")
    F = _vectors(wrench, 6, "wrench")
    J = _jacobian(robot, q, frame, F, "wrench")
    return np.asarray(np.einsum("...ij,...i->...j", J, F))


def wrench_from_torque(robot: Robot, q: npt.ArrayLike, tau: npt.ArrayLike, frame: int | str | None = None) -> Array:
    """Return the wrench exerted by joint torques: the minimum-norm least-squares solution of J' F = tau.

    Parameters
    ----------
    robot : Robot
        The arm.
    q : (..., n) array_like
        Joint positions.
    tau : (..., n) array_like
        Joint torques without those that compensate gravity [N m or N].
    frame : int or str, optional
        Default the end effector.

    Returns
    -------
    (..., 6) array
        Force [N], then moment [N m]. Components in the null space of J', carried by the structure, are zero.

    Raises
    ------
    ThunderError
        If shapes do not fit or values are not finite.

    Notes
    -----
    Near a singular posture a component of the wrench grows as one over the smallest singular value. Components with a
    singular value below 1e-12 of the largest are zero.

    Examples
    --------
    >>> import thunder_py as th
    >>> robot = th.Robot.load("panda")
    >>> q = [0.0, -0.3, 0.0, -2.0, 0.0, 1.8, 0.7]
    >>> tau = th.kinematics.joint_torque(robot, q, [5.0, 0.0, -10.0, 0.0, 1.0, 0.0])
    >>> (th.kinematics.wrench_from_torque(robot, q, tau).round(3) + 0.0).tolist()
    [5.0, 0.0, -10.0, 0.0, 1.0, 0.0]
    """
    of_kind(robot, Robot, "robot")
    torque = _vectors(tau, robot.n, "tau")
    J = _jacobian(robot, q, frame, torque, "tau")
    inverse = np.linalg.pinv(np.swapaxes(J, -1, -2), rcond=_RANK_TOLERANCE)
    return np.asarray(np.einsum("...ij,...j->...i", inverse, torque))


class WrenchEstimate(NamedTuple):
    """External wrench at a frame, with what it depends on.

    Attributes
    ----------
    wrench : (..., 6) array
        Force [N], then moment [N m], that the environment exerts on the arm, at the frame's origin in world axes. Zero
        in the rows that were not estimated; NaN where the posture does not determine the wrench.
    condition : (...) array
        Largest over smallest singular value of the rows of the Jacobian, in meters and radians together: errors of the
        torque grow by up to this factor. Infinite at a singularity.
    unexplained : (..., n) array
        Torques minus those of the wrench [N m or N]; large where the contact is at another point of the arm. NaN where
        the wrench is.

    Examples
    --------
    >>> import thunder_py as th
    >>> robot = th.Robot.load("elbow")
    >>> straight = th.kinematics.estimate_wrench(robot, [0.3, 0.0], [1.0, 0.5], rows=["x", "y"])
    >>> bool(straight.condition > 1e6), straight.wrench[:2].tolist()
    (True, [nan, nan])
    """

    wrench: Array
    condition: Array
    unexplained: Array


def estimate_wrench(
    robot: Robot,
    q: npt.ArrayLike,
    torque: npt.ArrayLike,
    frame: int | str | None = None,
    *,
    rows: Sequence[int | str] | None = None,
    max_condition: float = 100.0,
) -> WrenchEstimate:
    """Return the wrench of the environment on the arm from external joint torques: least squares of ``J' F = torque``.

    Parameters
    ----------
    robot : Robot
        The arm.
    q : (..., n) array_like
        Joint positions.
    torque : (..., n) array_like
        External torques [N m or N], such as a log of `thunder_py.control.MomentumObserver`.
    frame : int or str, optional
        Frame of the contact; default the end effector.
    rows : sequence of int or str, optional
        Components to estimate, of ``x y z rx ry rz`` or 0 to 5; the others are assumed to be zero. Default all six; a
        contact at a point exerts a force only, ``["x", "y", "z"]``.
    max_condition : float
        Condition number of the rows above which the wrench is NaN, at least 1.

    Returns
    -------
    WrenchEstimate
        Wrench, condition number and unexplained torques.

    Raises
    ------
    ValueError
        If there are more rows than joints, which leave the wrench undetermined, or another argument is invalid.

    See Also
    --------
    wrench_from_torque : The solution of minimum norm in all postures.

    Examples
    --------
    >>> import thunder_py as th
    >>> robot = th.Robot.load("panda")
    >>> q = [0.0, -0.3, 0.0, -2.0, 0.0, 1.8, 0.7]
    >>> push = th.kinematics.joint_torque(robot, q, [5.0, 0.0, -10.0, 0.0, 0.0, 0.0])
    >>> estimate = th.kinematics.estimate_wrench(robot, q, push, rows=["x", "y", "z"])
    >>> (estimate.wrench.round(3) + 0.0).tolist(), round(float(estimate.condition), 1)
    ([5.0, 0.0, -10.0, 0.0, 0.0, 0.0], 2.8)
    """
    of_kind(robot, Robot, "robot")
    kept = resolve_rows(rows)
    if len(kept) > robot.n:
        raise ThunderError(f"rows must be at most the arm's {robot.n} joints, got {len(kept)}")
    most = positive(max_condition, "max_condition", finite=False)
    tau = _vectors(torque, robot.n, "torque")
    J = _jacobian(robot, q, frame, tau, "torque")[..., kept, :]
    U, s, V = np.linalg.svd(np.swapaxes(J, -1, -2), full_matrices=False)
    least = np.abs(s[..., -1])  # LAPACK may return -0.0, and a quotient of -inf
    condition = np.divide(s[..., 0], least, out=np.full(least.shape, np.inf), where=least > 0.0)
    undetermined = ~(condition <= most)
    inverse = 1.0 / np.where(undetermined[..., None], np.nan, s)
    F = np.einsum("...ji,...j->...i", V, inverse * np.einsum("...kj,...k->...j", U, tau))
    wrench = np.zeros((*F.shape[:-1], 6))
    wrench[..., kept] = F
    return WrenchEstimate(wrench, condition, tau - np.einsum("...ij,...i->...j", J, F))
