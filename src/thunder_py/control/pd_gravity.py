"""PD control with gravity compensation."""

from __future__ import annotations

from typing import Literal

import numpy.typing as npt

from .. import _core
from ..checks import of_kind, one_of
from ..robot import Robot


class PDGravity(_core.PDGravity):
    """PD control with gravity compensation, for set points; follows a `JointReference`.

    ::

        tau = K_p e + K_d de + G(q) + K_i int e       e = q_d - q

    Parameters
    ----------
    robot : Robot
        The model; only its gravity is used.
    K_p : float, (n,) or (n, n) array_like
        [N m/rad].
    K_d : float, (n,) or (n, n) array_like
        [N m s/rad].
    K_i : float, (n,) or (n, n) array_like, optional
        [N m/(rad s)]; default no integral. It removes the error of a wrong gravity model, but stability is then local:
        use small gains.
    integral_limit : float or (n,) array_like, optional
        Bound of the integral's torque [N m].
    gravity : {"actual", "desired"}
        Compensation of G(q), or of G(q_d), which needs no measurement.

    Raises
    ------
    ValueError
        If a gain is not positive definite, or another argument is invalid.

    Notes
    -----
    Lecture notes, lecture 31, with errata N-8. At a set point and with the true gravity,
    ``V = 1/2 dq' M dq + 1/2 e' K_p e`` has the derivative ``-dq' (K_d dq + friction(dq))``, and by LaSalle's principle
    every motion converges to e = 0. With ``gravity="desired"`` this holds if the smallest eigenvalue of K_p exceeds
    ``|dG/dq|`` everywhere. A moving reference is followed with an error.

    Anti-windup: while a joint's torque is at one of `torque_limits`, its integral can only move away from that limit.
    Steps without a valid torque hold the integral.

    Signals: ``error`` (q_d - q) and, with K_i, ``integral``, its torque.

    Examples
    --------
    >>> import thunder_py as th
    >>> robot = th.Robot.load("elbow")
    >>> controller = th.PDGravity(robot, K_p=100.0, K_d=30.0)
    >>> target = th.reference.SetPoint([0.5, 0.8])
    >>> result = th.simulate(robot, controller, target, 3.0, q0=[0.0, 0.5])
    >>> result.error_norm()[[0, -1]].round(3).tolist(), controller.status.name
    ([0.583, 0.0], 'ok')
    """

    def __init__(
        self,
        robot: Robot,
        K_p: npt.ArrayLike,
        K_d: npt.ArrayLike,
        *,
        K_i: npt.ArrayLike | None = None,
        integral_limit: npt.ArrayLike | None = None,
        gravity: Literal["actual", "desired"] = "actual",
    ) -> None:
        of_kind(robot, Robot, "robot")
        desired = one_of(gravity, ("actual", "desired"), "gravity") == "desired"
        super().__init__(robot, K_p, K_d, K_i, integral_limit, desired)
