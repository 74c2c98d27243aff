"""Inverse dynamics in task space with integral action."""

from __future__ import annotations

from collections.abc import Sequence

import numpy.typing as npt

from .. import _core
from ..kinematics.task_rows import require_robot, resolve_rows
from ..robot import Robot

__all__ = ["OperationalSpace"]


class OperationalSpace(_core.OperationalSpace):
    """Inverse dynamics in task space with integral action: follows a `TaskReference`.

    ::

        y   = J^+ (xi_dot_d + K_v e' + K_p e + K_i (integral of e) - J_dot dq)
        tau = M y + C dq + G + friction + P (K_posture (posture - q) - K_d dq)

    P lets through what does not accelerate the task. With the true model the error is exactly linear,
    ``e'' + K_v e' + K_p e + K_i (integral of e) = 0``, in every row: where there is an orientation error
    ``e_o = r sin(theta)``, J stands for L J and xi_d for L' xi_d, derivatives included. Every gain is a number, one
    number per row or a symmetric positive definite matrix.

    Parameters
    ----------
    robot : Robot
        The model; what it does not know, such as a payload, is left to the integral.
    K_p, K_v : float, (m,) or (m, m) array_like
        [1/s^2], [1/s], for the m rows of the task.
    K_d : float, (n,) or (n, n) array_like
        [N m s/rad].
        Damps the joints where the task leaves them free, and the safe torque.
    K_i : float, (m,) or (m, m) array_like, optional
        [1/s^3]; stable for K_v K_p > K_i, row by row. Default no integral action.
    integral_limit : float or (m,) array_like, optional
        The integral of e is clipped to plus and minus this [m s, rad s].
    rows : sequence of int or str, optional
        What is controlled, of ``x y z rx ry rz`` (or 0 to 5); default everything. A SCARA has
        ``("x", "y", "z", "rz")``.
    frame : int or str, optional
        Controlled frame, default the end effector.
    posture : (n,) array_like, optional
        What a redundant arm leans to, with `K_posture`.
    K_posture : float, (n,) or (n, n) array_like, optional
        [N m/rad].

    Notes
    -----
    SCARA report, section 4.3; the report's J_A is J for a SCARA, whose angle is yaw. Anti-windup: the integral holds
    while the controller's own ``torque_limits`` clip, and where the law is singular. Near singularities, 88.9 degrees
    of orientation error or a condition number of J (Frobenius norms) past 200, the status is ``singular`` and the
    torque G minus ``K_d dq``.

    Signals: ``error`` (e), ``integral`` (of e).
    """

    def __init__(
        self,
        robot: Robot,
        K_p: npt.ArrayLike,
        K_v: npt.ArrayLike,
        K_d: npt.ArrayLike,
        K_i: npt.ArrayLike | None = None,
        *,
        integral_limit: npt.ArrayLike | None = None,
        rows: Sequence[int | str] | None = None,
        frame: int | str | None = None,
        posture: npt.ArrayLike | None = None,
        K_posture: npt.ArrayLike | None = None,
    ) -> None:
        require_robot(robot)
        chosen = resolve_rows(rows)
        super().__init__(robot, K_p, K_v, K_d, K_i, integral_limit, chosen, frame, posture, K_posture)
