"""Composite control of elastic joints."""

from __future__ import annotations

import numpy.typing as npt

from .. import _core
from ..checks import of_kind
from ..errors import ThunderError
from ..robot import Robot
from .elastic_gains import critical_damping, hold_damping


class CompositeControl(_core.CompositeControl):
    """Composite control of elastic joints: a law of rigid joints and damping of springs; follows a `JointReference`.

    ::

        tau = tau_slow(t, q, dq) - K_v (dx - dq)

    Parameters
    ----------
    robot : Robot
        The robot with elastic joints.
    slow : JointController
        Any law of this package in joint space, adaptive ones included, of a model with rigid joints, such as
        `Robot.rigid`. The controller works with a copy.
    K_v : float, (e,) or (e, e) array_like, optional
        Damping of the springs by the motors [N m s/rad]; default ``2 sqrt(K Mm)``, which damps each motor critically on
        its spring.
    K_d : float, (n,) or (n, n) array_like, optional
        Damping of the motors where the law gives no torque and they are held [N m s/rad], with the stiffness 10 K_d;
        default twice what gravity takes.

    Raises
    ------
    ValueError
        If a gain is not positive definite, `slow` is not a law of rigid joints, or another argument is invalid.

    Notes
    -----
    Spong, Khorasani and Kokotovic (1987); with an adaptive law Spong (1989). For springs much stiffer than the law is
    fast, the motion separates: that of the springs, ``Mm d'' + (K_v + D + Dm) d' + K d = 0`` beside heavy links, decays
    fast, and the rest is the rigid arm under `slow`, with errors in proportion to K_v / K.

    Signals: those of `slow`. Limits of torques are those of this controller; where they clip, `slow` neither adapts nor
    integrates. A `slow` with limits keeps its own too.

    Examples
    --------
    >>> import thunder_py as th
    >>> drives = [th.robot.Elastic(joint=j, K=(4000.0,), Mm=0.1) for j in (1, 2)]
    >>> robot = th.Robot.load("elbow").replace(elastic=drives)
    >>> law = th.control.CompositeControl(robot, th.ComputedTorque(robot.rigid(), 100.0, 20.0), K_v=20.0)
    >>> motion = th.reference.Sinusoid([0.8, 0.6], [0.5, 0.8])
    >>> bool(th.simulate(robot, law, motion, 4.0).error_norm()[-1000:].max() < 0.01)
    True
    """

    def __init__(
        self,
        robot: Robot,
        slow: _core.JointController,
        K_v: npt.ArrayLike | None = None,
        *,
        K_d: npt.ArrayLike | None = None,
    ) -> None:
        of_kind(robot, Robot, "robot")
        if not isinstance(slow, _core.JointController) or type(slow).step is not _core.JointController.step:
            raise ThunderError(f"slow must be a joint-space controller of this package, got {type(slow).__name__}")
        super().__init__(
            robot,
            slow,
            critical_damping(robot) if K_v is None else K_v,
            hold_damping(robot) if K_d is None else K_d,
        )
