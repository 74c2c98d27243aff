"""Inverse dynamics control in task space with integral action."""

from __future__ import annotations

from collections.abc import Sequence

import numpy.typing as npt

from .. import _core
from ..robot import Robot
from .null_space import PostureLike, task_arguments


class OperationalSpace(_core.OperationalSpace):
    """Inverse dynamics control in task space with integral action; follows a `TaskReference`.

    ::

        y   = J^+ (xi_dot_d + K_1 e' + K_0 e + K_integral (integral of e) - J_dot dq)
        tau = M y + C dq + G + friction + P (K_posture (posture - q) - K_d dq)

    P projects on torques that do not accelerate the task. With the true model the error is exactly linear in every row,
    ``e'' + K_1 e' + K_0 e + K_integral (integral of e) = 0``: with an orientation error ``e_o = r sin(theta)``, J
    stands for L J and xi_d for L' xi_d, derivatives included. Every gain is a number, one number per row or a symmetric
    positive definite matrix.

    Parameters
    ----------
    robot : Robot
        The model; the integral compensates unmodeled loads, such as a payload.
    K_0, K_1 : float, (m,) or (m, m) array_like
        [1/s^2], [1/s], for the m rows of the task.
    K_d : float, (n,) or (n, n) array_like
        Damping [N m s/rad] of the null space and, in addition, of a held arm.
    K_integral : float, (m,) or (m, m) array_like, optional
        [1/s^3]; stable for K_1 K_0 > K_integral, row by row. Default no integral action.
    integral_limit : float or (m,) array_like, optional
        Bound of the magnitude of the integral of e [m s, rad s].
    rows : sequence of int or str, optional
        Controlled rows, of ``x y z rx ry rz`` (or 0 to 5); default all. A SCARA has
        ``("x", "y", "z", "rz")``.
    frame : int or str, optional
        Controlled frame, default the end effector.
    orientation : str
        Error of the orientation, as of `CLIK` and in docs/controllers.md. The default, r sin(theta) with its own
        Jacobian, is singular from 88.9 degrees; ``rotation_vector`` and ``quaternion`` reach goals beyond.
    posture : (n,) array_like, "middle" or None
        Posture that attracts a redundant arm in the null space of the task; default the middle of the joint limits,
        where joints without limits are free. None only damps the null space.
    K_posture : float, (n,) or (n, n) array_like, optional
        Stiffness of this attraction [N m/rad]; default ``K_d`` times 1/s.

    Raises
    ------
    ValueError
        If a gain is not positive definite, or another argument is invalid.

    Notes
    -----
    SCARA report, section 4.3; its J_A is that of ``orientation="rotation_vector"``, or of ``"zyx"``, whose row rx is
    the yaw. Anti-windup: the integral is held while ``torque_limits`` clip and while the law is singular. If the
    orientation error has no Jacobian, or the condition number of J (Frobenius norms) exceeds 200, the status is
    ``singular``, and the arm is held where it is, with its load (docs/controllers.md).

    Signals: ``error`` (e), ``integral`` (of e).

    Examples
    --------
    >>> import thunder_py as th
    >>> robot, q0 = th.Robot.load("scara"), [-0.2, 1.5, 0.1, 0.2]
    >>> target = robot.forward_kinematics(q0)
    >>> target[:3, 3] += 0.02
    >>> controller = th.OperationalSpace(robot, K_0=100.0, K_1=20.0, K_d=2.0, rows=("x", "y", "z", "rz"))
    >>> result = th.simulate(robot, controller, th.reference.SetPose(target), 2.0, q0=q0)
    >>> result.error_norm()[[0, -1]].round(3).tolist()
    [0.035, 0.0]
    """

    def __init__(
        self,
        robot: Robot,
        K_0: npt.ArrayLike,
        K_1: npt.ArrayLike,
        K_d: npt.ArrayLike,
        K_integral: npt.ArrayLike | None = None,
        *,
        integral_limit: npt.ArrayLike | None = None,
        rows: Sequence[int | str] | None = None,
        frame: int | str | None = None,
        orientation: str = "axis_angle",
        posture: PostureLike = "middle",
        K_posture: npt.ArrayLike | None = None,
    ) -> None:
        self._frame, self._orientation = frame, orientation
        task = task_arguments(robot, rows, frame, orientation, posture, K_posture, "K_posture")
        super().__init__(robot, K_0, K_1, K_d, K_integral, integral_limit, *task)
