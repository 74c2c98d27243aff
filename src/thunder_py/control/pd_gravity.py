"""PD control with gravity compensation."""

from __future__ import annotations

from typing import Literal

import numpy.typing as npt

from .. import _core
from ..kinematics.task_rows import require_robot
from ..robot import Robot
from .options import one_of

__all__ = ["PDGravity"]


class PDGravity(_core.PDGravity):
    """PD control with gravity compensation, for set points. Follows a `JointReference`.

    ::

        tau = K_p e + K_d de + G(q) + K_i int e       e = q_d - q

    Parameters
    ----------
    robot : Robot
        Of which only gravity is used.
    K_p : float, (n,) or (n, n) array_like
        [N m/rad].
    K_d : float, (n,) or (n, n) array_like
        [N m s/rad].
    K_i : float, (n,) or (n, n) array_like, optional
        [N m/(rad s)]; default no integral. It removes what a wrong gravity leaves, at the price of the global promise:
        small gains only.
    integral_limit : float or (n,) array_like, optional
        Bound of the integral's torque [N m].
    gravity : {"actual", "desired"}
        Compensate G(q), or G(q_d), which needs no measurement.

    Notes
    -----
    Lecture notes, lecture 31, with errata N-8. At a set point and with the true gravity,
    ``V = 1/2 dq' M dq + 1/2 e' K_p e`` falls as ``-dq' (K_d dq + friction(dq))``, and by LaSalle's principle every
    motion ends at e = 0. With ``gravity="desired"`` that holds where the smallest eigenvalue of K_p is larger than
    ``|dG/dq|`` anywhere. A reference that moves is followed with an error.

    Integrals do not wind up: while a joint's torque stands at one of `torque_limits`, its integral moves away from that
    limit only. It is held over steps that gave no torque.

    Signals: ``error`` (q_d - q) and, with K_i, ``integral``, its torque.
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
        require_robot(robot)
        desired = one_of(gravity, ("actual", "desired"), "gravity") == "desired"
        super().__init__(robot, K_p, K_d, K_i, integral_limit, desired)
