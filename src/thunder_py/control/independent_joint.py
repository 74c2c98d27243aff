"""Independent joint control."""

from __future__ import annotations

from typing import Any, Literal

import numpy.typing as npt

from .. import _core
from ..checks import of_kind, one_of, per_joint, positive
from ..robot import Robot


class IndependentJoint(_core.IndependentJoint):
    """Independent joint control, a PD or PID loop for each joint; follows a `JointReference`.

    ::

        tau = J ddq_d + B dq_d + K_p e + K_d de + K_i int e       e = q_d - q

    Each joint is modeled as a motor, ``J ddq + B dq = tau - load``; gravity and the other joints are the load, a
    disturbance. Without load and with K_i = 0 the error obeys ``J dde + (B + K_d) de + K_p e = 0``; `with_poles` places
    its poles.

    Parameters
    ----------
    robot : Robot
        Model for the hold, the gravity of the safe torque, and ``feedforward="model"``.
    K_p : float or (n,) array_like
        [N m/rad].
    K_d : float or (n,) array_like
        [N m s/rad].
    inertia : float or (n,) array_like
        J, motor inertia reflected to the joint (`DCMotor.joint_inertia`) [kg m^2]; often the mean inertia of the moved
        links is added.
    damping : float or (n,) array_like
        B, motor damping reflected to the joint [N m s/rad].
    K_i : float or (n,) array_like, optional
        [N m/(rad s)]; default no integral. A loop without load is stable for ``J K_i < (B + K_d) K_p``.
    integral_limit : float or (n,) array_like, optional
        Bound of the integral's torque [N m].
    feedforward : {"motor", "model"}
        "motor" is ``J ddq_d + B dq_d``. "model" replaces it by the inverse dynamics of `robot` along the reference,
        ``M(q_d) ddq_d + C(q_d, dq_d) dq_d + G(q_d) + friction(dq_d)``, which cancels the predictable disturbances; the
        robot must then include the motor (rotor, armature, viscous friction).

    Raises
    ------
    ValueError
        If a gain is not positive definite, or another argument is invalid.

    Notes
    -----
    Lecture notes, lecture 20; docs/errata.md, N-8. With gravity the error converges to the value at which ``K_p e``
    holds the load, unless the integral or the model compensates it.

    Anti-windup: while a joint's torque is at one of `torque_limits`, its integral can only move away from that limit.
    Steps without a valid torque hold the integral.

    Signals: ``error`` (q_d - q) and, with K_i, ``integral``, its torque.

    Examples
    --------
    >>> import thunder_py as th
    >>> robot = th.Robot.load("elbow")
    >>> controller = th.IndependentJoint(robot, K_p=100.0, K_d=20.0, K_i=200.0, inertia=0.1)
    >>> target = th.reference.SetPoint([0.5, 0.8])
    >>> result = th.simulate(robot, controller, target, 6.0, q0=[0.0, 0.5])
    >>> result.error_norm()[[0, -1]].round(3).tolist(), controller.status.name
    ([0.583, 0.0], 'ok')
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
        of_kind(robot, Robot, "robot")
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
        """Return a controller with the error dynamics ``dde + 2 zeta omega de + omega^2 e = 0`` without load.

        Parameters
        ----------
        robot : Robot
            As for the class.
        frequency : float
            omega, natural frequency [rad/s].
        damping_ratio : float
            zeta; 1 is critical damping.
        inertia, damping : float or (n,) array_like
            As for the class.
        **options
            Further arguments of the class.

        Raises
        ------
        ValueError
            If the motor's own damping exceeds the requested one: K_d would not be positive.

        Examples
        --------
        >>> import thunder_py as th
        >>> robot = th.Robot.load("elbow")
        >>> controller = th.IndependentJoint.with_poles(robot, 20.0, inertia=0.1, damping=0.5)
        >>> controller.step(0.0, [0.0, 0.5], [0.0, 0.0], th.reference.SetPoint([0.1, 0.5])(0.0)).round(3).tolist()
        [4.0, 0.0]
        """
        of_kind(robot, Robot, "robot")
        omega, zeta = positive(frequency, "frequency"), positive(damping_ratio, "damping_ratio")
        J = per_joint(inertia, robot.n, "inertia")
        K_d = 2.0 * zeta * omega * J - per_joint(damping, robot.n, "damping")
        return cls(robot, omega**2 * J, K_d, inertia=inertia, damping=damping, **options)
