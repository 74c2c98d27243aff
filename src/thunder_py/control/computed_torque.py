"""Computed torque control (feedback linearization)."""

from __future__ import annotations

from typing import Literal

import numpy.typing as npt

from .. import _core
from ..checks import one_of
from ..kinematics.task_rows import require_robot
from ..robot import Robot

__all__ = ["ComputedTorque"]


class ComputedTorque(_core.ComputedTorque):
    """Computed torque control (feedback linearization); follows a `JointReference`.

    ::

        craig      tau = M (ddq_d + K_v de + K_p e) + C dq + friction(dq) + G
        impedance  tau = M ddq_d + C dq + friction(dq) + G + K_v de + K_p e

    with ``e = q_d - q``. With the true model, the error of Craig's form obeys ``dde + K_v de + K_p e = 0``, a linear
    equation with constant coefficients, and converges to zero exponentially.

    Parameters
    ----------
    robot : Robot
        The model, its friction included.
    K_p : float, (n,) or (n, n) array_like
        [1/s^2] in Craig's form, [N m/rad] in the impedance form.
    K_v : float, (n,) or (n, n) array_like
        [1/s] in Craig's form, where ``2 sqrt(K_p)`` is critical damping; [N m s/rad] in the impedance form.
    form : {"craig", "impedance"}
        Law, see above.

    Raises
    ------
    ValueError
        If a gain is not positive definite, or another argument is invalid.

    Warnings
    --------
    The impedance form, equation 53 of D4.2, sets a stiffness in N m/rad. Its error obeys
    ``M(q(t)) dde + K_v de + K_p e = 0`` with a varying M. Contrary to the paper, this is **not** stable in general:
    some motions make the error grow (docs/errata.md, D-5). Use it for slow motions with ample damping only.

    Notes
    -----
    Lecture notes, lecture 28; DARKO D4.2, eqs. 53 to 55. Model errors cause tracking errors: an unknown payload at
    rest, a constant one.

    Signals: ``error`` (q_d - q). The safe torque of Craig's form is damped by k M(q), k the smallest eigenvalue of K_v.

    Examples
    --------
    >>> import thunder_py as th
    >>> robot = th.Robot.load("elbow")
    >>> controller = th.ComputedTorque(robot, K_p=100.0, K_v=20.0)
    >>> target = th.reference.SetPoint([0.5, 0.8])
    >>> result = th.simulate(robot, controller, target, 2.0, q0=[0.0, 0.5])
    >>> result.error_norm()[[0, -1]].round(3).tolist(), controller.status.name
    ([0.583, 0.0], 'ok')
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
