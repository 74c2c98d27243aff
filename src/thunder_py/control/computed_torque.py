"""Computed torque control, or feedback linearisation."""

from __future__ import annotations

from typing import Literal

import numpy.typing as npt

from .. import _core
from ..kinematics.task_rows import require_robot
from ..robot import Robot
from .options import one_of

__all__ = ["ComputedTorque"]


class ComputedTorque(_core.ComputedTorque):
    """Computed torque control, or feedback linearisation. Follows a `JointReference`.

    ::

        craig      tau = M (ddq_d + K_v de + K_p e) + C dq + friction(dq) + G
        impedance  tau = M ddq_d + C dq + friction(dq) + G + K_v de + K_p e

    with ``e = q_d - q``. If the model is true, the error of Craig's form obeys ``dde + K_v de + K_p e = 0``, a linear
    equation with constant coefficients, and vanishes exponentially.

    Parameters
    ----------
    robot : Robot
        The model, its friction included.
    K_p : float, (n,) or (n, n) array_like
        [1/s^2] in Craig's form, [N m/rad] in the other.
    K_v : float, (n,) or (n, n) array_like
        [1/s] in Craig's form, [N m s/rad] in the other. ``K_v = 2 sqrt(K_p)`` is critical damping in Craig's form.
    form : {"craig", "impedance"}
        Where the gains act.

    Warnings
    --------
    The impedance form, which is D4.2's equation 53, gives the arm a stiffness in N m/rad, but its error obeys
    ``M(q(t)) dde + K_v de + K_p e = 0`` with an M that varies, and this need **not** be stable, whatever the paper
    says: motion can pump the error up (docs/errata.md, D-5). Take it for slow motions and with ample damping, or
    take Craig's form.

    Notes
    -----
    Lecture notes, lecture 28; DARKO D4.2, eqs. 53 to 55. Whatever is wrong in the model leaves an error: for a
    payload at rest, a constant one.

    Signals: ``error`` (q_d - q). The safe torque of Craig's form is damped by k M(q), k the smallest eigenvalue of K_v.
    """

    def __init__(
        self,
        robot: Robot,
        K_p: npt.ArrayLike,
        K_v: npt.ArrayLike,
        *,
        form: Literal["craig", "impedance"] = "craig",
    ) -> None:
        require_robot(robot)
        super().__init__(robot, K_p, K_v, one_of(form, ("craig", "impedance"), "form") == "impedance")
