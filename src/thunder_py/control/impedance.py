"""Impedance control in task space."""

from __future__ import annotations

from collections.abc import Sequence

import numpy.typing as npt

from .. import _core
from ..kinematics.task_rows import require_robot, resolve_rows
from ..robot import Robot

__all__ = ["Impedance"]


class Impedance(_core.Impedance):
    """Impedance control: the controlled frame is a mass on spring and damper at a `TaskReference`.

    Without `inertia` the arm keeps its own, Lambda = (J M^-1 J')^-1, and no wrench needs to be measured::

        tau = J' (K e + D e' + mu e' + Lambda (xi_dot_d - J_dot dq)) + C dq + G + friction + P (-K_d dq + ...)
        Lambda e'' + mu e' + D e' + K e = -F

    F is the wrench of the environment. Lambda_dot - 2 mu is skew, so V = 1/2 e' K e + 1/2 e'' Lambda e' (with e'
    transposed) falls as V' = -e' D e' - e' F: the arm is passive. Held by a constant wrench it rests where K e = -F.
    With `inertia` (M_d) the law needs `wrench`, what a sensor says of F, and gives M_d e'' + D e' + K e = -F.

    Where there is an orientation error ``e_o = r sin(theta)``, J stands for L J: its torque is J' L' K e. Every gain is
    a number, one number per row or a symmetric positive definite matrix.

    Parameters
    ----------
    robot : Robot
        The model.
    K, D : float, (m,) or (m, m) array_like
        Stiffness [N/m, N m] and damping [N s/m, N m s], for the m rows of the task.
    K_d : float, (n,) or (n, n) array_like
        [N m s/rad].
        Damps the joints where the task leaves them free, and the safe torque.
    inertia : float, (m,) or (m, m) array_like, optional
        Desired, [kg, kg m^2]; default the arm's own.
    rows : sequence of int or str, optional
        What is controlled, of ``x y z rx ry rz`` (or 0 to 5); default everything. The rest is free.
    frame : int or str, optional
        Controlled frame, default the end effector.
    posture : (n,) array_like, optional
        What a redundant arm leans to, with `K_posture`.
    K_posture : float, (n,) or (n, n) array_like, optional
        [N m/rad].

    Notes
    -----
    Hogan (1985); Ott, Cartesian Impedance Control of Redundant and Flexible-Joint Robots (2008). For an arm without
    redundancy at a fixed pose the first form is J' (K e + D e') + G + friction: C dq is left to the arm.

    Near singularities, 88.9 degrees of orientation error or a condition number of J (Frobenius norms) past 200, the
    status is ``singular`` and the torque G minus ``K_d dq``. Signals: ``error`` (e).
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
        posture: npt.ArrayLike | None = None,
        K_posture: npt.ArrayLike | None = None,
    ) -> None:
        require_robot(robot)
        super().__init__(robot, K, D, K_d, inertia, resolve_rows(rows), frame, posture, K_posture)
