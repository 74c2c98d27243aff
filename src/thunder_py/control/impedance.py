"""Impedance control in task space."""

from __future__ import annotations

from collections.abc import Sequence

import numpy.typing as npt

from .. import _core
from ..robot import Robot
from .null_space import PostureLike, task_arguments


class Impedance(_core.Impedance):
    """Impedance control in task space: mass, spring and damper about a `TaskReference`.

    Without `inertia` the arm keeps its own inertia Lambda = (J M^-1 J')^-1, and the law needs no wrench measurement::

        tau = J' (K e + D e' + mu e' + Lambda (xi_dot_d - J_dot dq)) + C dq + G + friction + P (-K_d dq + ...)
        Lambda e'' + mu e' + D e' + K e = -F

    F is the wrench of the environment. Lambda_dot - 2 mu is skew-symmetric, so V = 1/2 e' K e + 1/2 e'' Lambda e' (with
    e' transposed) has V' = -e' D e' - e' F: the arm is passive. Under a constant wrench it rests at K e = -F. With
    `inertia` (M_d) the law needs the attribute `wrench`, a measurement of F, and gives M_d e'' + D e' + K e = -F.

    With an orientation error ``e_o = r sin(theta)``, J stands for L J: the torque is J' L' K e. Every gain is a number,
    one number per row or a symmetric positive definite matrix.

    Parameters
    ----------
    robot : Robot
        The model.
    K, D : float, (m,) or (m, m) array_like
        Stiffness [N/m, N m] and damping [N s/m, N m s], for the m rows of the task.
    K_d : float, (n,) or (n, n) array_like
        Damping [N m s/rad] of the null space and, in addition, of a held arm.
    inertia : float, (m,) or (m, m) array_like, optional
        Desired inertia [kg, kg m^2]; default the arm's own.
    rows : sequence of int or str, optional
        Controlled rows, of ``x y z rx ry rz`` (or 0 to 5); default all. The others are free.
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
    Hogan (1985); Ott, Cartesian Impedance Control of Redundant and Flexible-Joint Robots (2008). For an arm without
    redundancy at a fixed pose the first form is J' (K e + D e') + G + friction: C dq is not compensated.

    If the orientation error has no Jacobian, or the condition number of J (Frobenius norms) exceeds 200, the status is
    ``singular``, and the arm is held where it is, with its load (docs/controllers.md). Signals: ``error`` (e).

    Examples
    --------
    >>> import thunder_py as th
    >>> robot, q0 = th.Robot.load("panda"), [0.0, -0.3, 0.0, -2.0, 0.0, 1.8, 0.7]
    >>> target = robot.forward_kinematics(q0)
    >>> target[:3, 3] += 0.02
    >>> controller = th.Impedance(robot, K=[400] * 3 + [40] * 3, D=[60] * 3 + [2, 2, 1], K_d=2.0)
    >>> result = th.simulate(robot, controller, th.reference.SetPose(target), 2.0, q0=q0)
    >>> result.error_norm()[[0, -1]].round(3).tolist()
    [0.035, 0.0]
    """

    def __init__(
        self,
        robot: Robot,
        K: npt.ArrayLike,
        D: npt.ArrayLike,
        K_d: npt.ArrayLike,
        *,
        inertia: npt.ArrayLike | None = None,
        rows: Sequence[int | str] | None = None,
        frame: int | str | None = None,
        orientation: str = "axis_angle",
        posture: PostureLike = "middle",
        K_posture: npt.ArrayLike | None = None,
    ) -> None:
        self._frame, self._orientation = frame, orientation
        task = task_arguments(robot, rows, frame, orientation, posture, K_posture, "K_posture")
        super().__init__(robot, K, D, K_d, inertia, *task)
