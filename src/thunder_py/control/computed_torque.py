"""Computed torque control (feedback linearization)."""

from __future__ import annotations

import numpy.typing as npt

from .. import _core
from ..checks import given_group, of_kind
from ..robot import Robot


class ComputedTorque(_core.ComputedTorque):
    """Computed torque control (feedback linearization); follows a `JointReference`.

    ::

        tau = M (ddq_d + K_1 de + K_0 e) + C dq + friction(dq) + G      with K_0 and K_1
        tau = M ddq_d + C dq + friction(dq) + G + K_d de + K_p e        with K_p and K_d, the impedance form

    with ``e = q_d - q``. With the true model, the error of the first form obeys ``dde + K_1 de + K_0 e = 0``, a linear
    equation with constant coefficients, and converges to zero exponentially.

    Parameters
    ----------
    robot : Robot
        The model, its friction included.
    K_0, K_1 : float, (n,) or (n, n) array_like, optional
        [1/s^2], [1/s]; ``K_1 = 2 sqrt(K_0)`` is critical damping.
    K_p, K_d : float, (n,) or (n, n) array_like, optional
        Stiffness [N m/rad] and damping [N m s/rad] of the impedance form, in place of `K_0` and `K_1`.

    Raises
    ------
    ValueError
        If a gain is not positive definite, or another argument is invalid.

    Warnings
    --------
    The impedance form, equation 53 of D4.2, sets a stiffness in N m/rad. Its error obeys
    ``M(q(t)) dde + K_d de + K_p e = 0`` with a varying M. Contrary to the paper, this is **not** stable in general:
    some motions make the error grow (docs/errata.md, D-5). Use it for slow motions with ample damping only.

    Notes
    -----
    Lecture notes, lecture 28; DARKO D4.2, eqs. 53 to 55. K_0 and K_1 are the letters of Spong, Hutchinson and
    Vidyasagar (2006); Craig writes K_p and K_v. Model errors cause tracking errors: an unknown payload at rest, a
    constant one.

    Signals: ``error`` (q_d - q). With K_1 hold and safe torque are damped by k M(q), k the least eigenvalue of K_1.

    Examples
    --------
    >>> import thunder_py as th
    >>> robot = th.Robot.load("elbow")
    >>> controller = th.ComputedTorque(robot, K_0=100.0, K_1=20.0)
    >>> target = th.reference.SetPoint([0.5, 0.8])
    >>> result = th.simulate(robot, controller, target, 2.0, q0=[0.0, 0.5])
    >>> result.error_norm()[[0, -1]].round(3).tolist(), controller.status.name
    ([0.583, 0.0], 'ok')
    """

    def __init__(
        self,
        robot: Robot,
        K_0: npt.ArrayLike | None = None,
        K_1: npt.ArrayLike | None = None,
        *,
        K_p: npt.ArrayLike | None = None,
        K_d: npt.ArrayLike | None = None,
    ) -> None:
        of_kind(robot, Robot, "robot")
        gains = given_group("gains", {"K_0": K_0, "K_1": K_1}, {"K_p": K_p, "K_d": K_d})
        position, velocity = gains.values()
        super().__init__(robot, position, velocity, "K_p" in gains)
