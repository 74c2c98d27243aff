"""Independent joint control."""

from __future__ import annotations

from typing import Any, Literal

import numpy.typing as npt

from .. import _core
from ..kinematics.task_rows import require_robot
from ..robot import Robot
from .options import one_of, per_joint, positive

__all__ = ["IndependentJoint"]


class IndependentJoint(_core.IndependentJoint):
    """Independent joint control: a PD or PID loop for every joint. Follows a `JointReference`.

    ::

        tau = J ddq_d + B dq_d + K_p e + K_d de + K_i int e       e = q_d - q

    Every joint is taken for a motor, ``J ddq + B dq = tau - load``; gravity and the other joints are its load, which
    is a disturbance. With no load the error obeys ``J dde + (B + K_d) de + K_p e = 0`` (K_i = 0), whose poles
    `with_poles` places.

    Parameters
    ----------
    robot : Robot
        Where the safe torque's gravity comes from, and the feedforward with ``feedforward="model"``.
    K_p : float or (n,) array_like
        [N m/rad].
    K_d : float or (n,) array_like
        [N m s/rad].
    inertia : float or (n,) array_like
        J, of the motor seen at the joint (`DCMotor.joint_inertia`) [kg m^2]. Adding a mean of what the joint moves is
        common practice.
    damping : float or (n,) array_like
        B, seen at the joint [N m s/rad].
    K_i : float or (n,) array_like, optional
        [N m/(rad s)]; default no integral. A loop without load is stable for ``J K_i < (B + K_d) K_p``.
    integral_limit : float or (n,) array_like, optional
        Bound of the integral's torque [N m].
    feedforward : {"motor", "model"}
        "motor" is ``J ddq_d + B dq_d``. "model" puts in its place the torque that `robot` needs along the reference,
        ``M(q_d) ddq_d + C(q_d, dq_d) dq_d + G(q_d) + friction(dq_d)``, and so cancels the disturbances that can be
        computed in advance; the motor then is part of the robot (rotor, armature, viscous friction).

    Notes
    -----
    Lecture notes, lecture 20; docs/errata.md, N-8. On an arm with gravity the error does not vanish: it settles where
    ``K_p e`` holds the load, unless K_i takes it over or the model does.

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
        inertia: npt.ArrayLike,
        damping: npt.ArrayLike = 0.0,
        K_i: npt.ArrayLike | None = None,
        integral_limit: npt.ArrayLike | None = None,
        feedforward: Literal["motor", "model"] = "motor",
    ) -> None:
        require_robot(robot)
        model = one_of(feedforward, ("motor", "model"), "feedforward") == "model"
        super().__init__(robot, K_p, K_d, inertia, damping, K_i, integral_limit, model)

    @classmethod
    def with_poles(
        cls,
        robot: Robot,
        frequency: float,
        damping_ratio: float = 1.0,
        *,
        inertia: npt.ArrayLike,
        damping: npt.ArrayLike = 0.0,
        **options: Any,
    ) -> IndependentJoint:
        """Return the controller whose loops without load are ``dde + 2 zeta omega de + omega^2 e = 0``.

        Parameters
        ----------
        robot : Robot
            As for the class.
        frequency : float
            omega, of the undamped loop [rad/s].
        damping_ratio : float
            zeta; 1 does not overshoot.
        inertia, damping : float or (n,) array_like
            As for the class.
        **options
            Further arguments of the class.

        Raises
        ------
        ValueError
            Where the motor's own damping is more than that already: K_d would not be positive.
        """
        require_robot(robot)
        omega, zeta = positive(frequency, "frequency"), positive(damping_ratio, "damping_ratio")
        J = per_joint(inertia, robot.n, "inertia")
        K_d = 2.0 * zeta * omega * J - per_joint(damping, robot.n, "damping")
        return cls(robot, omega**2 * J, K_d, inertia=inertia, damping=damping, **options)
