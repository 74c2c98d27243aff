"""Analytic Jacobians: rates of the position and of Euler angles of a frame."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..checks import Array, of_kind
from ..errors import ThunderError
from ..robot import Robot
from ..spatial import euler_from_rotation, euler_jacobian, euler_jacobian_dot

#: least sine (ZYZ) or cosine (ZYX) of the second angle, as in a CLIK
_REGULAR = 0.02


def euler_pose(robot: Robot, q: npt.ArrayLike, sequence: str = "ZYZ", frame: int | str | None = None) -> Array:
    """Return position and Euler angles of a frame, ``x = [p; phi, theta, psi]``.

    Parameters
    ----------
    robot : Robot
        The arm.
    q : (..., n) array_like
        Joint positions [rad or m].
    sequence : {"ZYZ", "ZYX"}
        Sequence of the angles, see `spatial.rotation_from_euler`.
    frame : int or str, optional
        Default the end effector.

    Returns
    -------
    (..., 6) array
        [m, rad].

    Raises
    ------
    ThunderError
        If an argument is invalid.

    Examples
    --------
    >>> import thunder_py as th
    >>> from thunder_py.kinematics import euler_pose
    >>> euler_pose(th.Robot.load("panda"), [0.1, -0.3, 0.3, -1.8, 0.7, 1.2, 0.9]).round(3).tolist()
    [0.343, 0.263, 0.657, 2.498, 2.469, -0.272]
    """
    of_kind(robot, Robot, "robot")
    T = robot.forward_kinematics(q, frame)
    return np.concatenate([T[..., :3, 3], euler_from_rotation(T[..., :3, :3], sequence)], axis=-1)


def analytic_jacobian(robot: Robot, q: npt.ArrayLike, sequence: str = "ZYZ", frame: int | str | None = None) -> Array:
    """Return the analytic Jacobian J_a of a frame: ``x' = J_a dq`` with x of `euler_pose`.

    Parameters
    ----------
    robot, q, sequence, frame
        As in `euler_pose`.

    Returns
    -------
    (..., 6, n) array
        ``[J_p; T^-1 J_o]`` with T of `spatial.euler_jacobian`.

    Raises
    ------
    ThunderError
        If an argument is invalid, or the second angle is within about 1 degree of a singularity of the angles: 0 or 180
        degrees for ZYZ, -90 or 90 degrees for ZYX.

    Notes
    -----
    Lecture 16; SCARA project, chapter 3; Siciliano et al., Robotics, section 3.6. ``CLIK(orientation="zyz")`` and
    ``"zyx"`` use it for control.

    Examples
    --------
    >>> import numpy as np
    >>> import thunder_py as th
    >>> from thunder_py.kinematics import analytic_jacobian, euler_pose
    >>> robot, q, dq = th.Robot.load("panda"), np.array([0.1, -0.3, 0.3, -1.8, 0.7, 1.2, 0.9]), np.full(7, 1e-5)
    >>> change = euler_pose(robot, q + dq) - euler_pose(robot, q - dq)
    >>> bool(abs(change / 2 - analytic_jacobian(robot, q) @ dq).max() < 1e-9)
    True
    """
    J, T, _ = _parts(robot, q, sequence, frame)
    J[..., 3:, :] = np.linalg.solve(T, J[..., 3:, :])
    return J


def analytic_jacobian_dot(
    robot: Robot, q: npt.ArrayLike, dq: npt.ArrayLike, sequence: str = "ZYZ", frame: int | str | None = None
) -> Array:
    """Return the derivative of the analytic Jacobian with respect to time: ``x'' = J_a ddq + J_a' dq``.

    Parameters
    ----------
    robot, q, sequence, frame
        As in `euler_pose`.
    dq : (..., n) array_like
        Joint velocities [rad/s or m/s].

    Returns
    -------
    (..., 6, n) array
        ``[J_p'; T^-1 (J_o' - T' T^-1 J_o)]``.

    Raises
    ------
    ThunderError
        As in `analytic_jacobian`.

    Examples
    --------
    >>> import numpy as np
    >>> import thunder_py as th
    >>> from thunder_py.kinematics import analytic_jacobian, analytic_jacobian_dot
    >>> robot, q, dq = th.Robot.load("panda"), np.array([0.1, -0.3, 0.3, -1.8, 0.7, 1.2, 0.9]), np.full(7, 0.5)
    >>> h = 1e-6
    >>> change = analytic_jacobian(robot, q + h * dq) - analytic_jacobian(robot, q - h * dq)
    >>> bool(abs(change / (2 * h) - analytic_jacobian_dot(robot, q, dq)).max() < 1e-8)
    True
    """
    J, T, angles = _parts(robot, q, sequence, frame)
    J_dot = robot.jacobian_dot(q, dq, frame)
    J_angles = np.linalg.solve(T, J[..., 3:, :])
    rates = np.einsum("...ij,...j->...i", J_angles, np.asarray(dq, dtype=np.float64))
    T_dot = euler_jacobian_dot(angles, rates, sequence)
    J_dot[..., 3:, :] = np.linalg.solve(T, J_dot[..., 3:, :] - T_dot @ J_angles)
    return J_dot


def _parts(robot: Robot, q: npt.ArrayLike, sequence: str, frame: int | str | None) -> tuple[Array, Array, Array]:
    """Return the geometric Jacobian, T and the angles."""
    angles = euler_pose(robot, q, sequence, frame)[..., 3:]
    T = euler_jacobian(angles, sequence)
    regularity = np.abs(np.linalg.det(T))
    if not (regularity >= _REGULAR).all():
        second = np.degrees(angles[..., 1].flat[int(np.argmin(regularity))])
        bad = "0 or 180" if sequence == "ZYZ" else "-90 or 90"
        raise ThunderError(
            f"q must keep the second {sequence} angle away from {bad} deg, where the angles are singular, "
            f"got {second:.3g} deg"
        )
    return robot.jacobian(q, frame), T, angles
