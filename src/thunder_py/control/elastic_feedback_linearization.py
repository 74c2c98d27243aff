"""Feedback linearization of elastic joints."""

from __future__ import annotations

import numpy.typing as npt

from .. import _core
from ..checks import of_kind, positive
from ..robot import Robot
from .elastic_gains import hold_damping


class ElasticFeedbackLinearization(_core.ElasticFeedbackLinearization):
    """Feedback linearization of elastic joints by static state feedback; follows references with four derivatives.

    The torque makes the link's fourth derivative equal to

    ::

        v = d4q_d + K_3 (d3q_d - d3q) + K_2 (ddq_d - ddq) + K_1 (dq_d - dq) + K_0 (q_d - q)

    where ddq and d3q are computed from q, dq and the motors' x and dx, without a measurement of accelerations.

    Parameters
    ----------
    robot : Robot
        The model: all joints elastic, springs without damping D.
    K_0, K_1, K_2, K_3 : float, (n,) or (n, n) array_like
        [1/s^4, 1/s^3, 1/s^2, 1/s]; see `with_bandwidth`.
    K_d : float, (n,) or (n, n) array_like, optional
        Damping of the motors where the law gives no torque and they are held [N m s/rad], with the stiffness 10 K_d;
        default twice what gravity takes.

    Raises
    ------
    ValueError
        If a gain is not positive definite, a joint is rigid, a spring is damped, or another argument is invalid.

    Notes
    -----
    Spong (1987); De Luca and Book, Springer Handbook of Robotics (2016), section 11.1. With the true model
    ``e'''' + K_3 e''' + K_2 e'' + K_1 e' + K_0 e = 0``. The derivatives of the inverse dynamics are exact
    (`Robot.inverse_dynamics_dot`, `Robot.inverse_dynamics_ddot`), nonlinear springs and friction included. Torques
    that are constant over a period T leave an error in proportion to ``T K / (M Mm K_0)``. Where `step` is called by
    hand, the reference is ``motion.smooth(t)``, a `SmoothJointReference`. The status is ``singular`` where a nonlinear
    spring has no stiffness.

    Signals: ``error`` (q_d - q), ``ddq``, ``d3q`` (of the links, from the state).

    Examples
    --------
    >>> import thunder_py as th
    >>> drives = [th.robot.Elastic(joint=j, K=(400.0,), Mm=0.1) for j in (1, 2)]
    >>> robot = th.Robot.load("elbow").replace(elastic=drives)
    >>> law = th.control.ElasticFeedbackLinearization.with_bandwidth(robot, 20.0)
    >>> motion = th.reference.Sinusoid([0.8, 0.6], [0.5, 0.8])
    >>> run = th.simulate(robot, law, motion, 4.0, 2.5e-4)
    >>> bool(run.error_norm()[-1000:].max() < 1e-3)
    True
    """

    def __init__(
        self,
        robot: Robot,
        K_0: npt.ArrayLike,
        K_1: npt.ArrayLike,
        K_2: npt.ArrayLike,
        K_3: npt.ArrayLike,
        *,
        K_d: npt.ArrayLike | None = None,
    ) -> None:
        of_kind(robot, Robot, "robot")
        super().__init__(robot, K_0, K_1, K_2, K_3, hold_damping(robot) if K_d is None else K_d)

    @classmethod
    def with_bandwidth(
        cls, robot: Robot, bandwidth: float, *, K_d: npt.ArrayLike | None = None
    ) -> ElasticFeedbackLinearization:
        """Return the law with four poles at ``-bandwidth``.

        Parameters
        ----------
        robot : Robot
            See the class.
        bandwidth : float
            [rad/s].
        K_d : float, (n,) or (n, n) array_like, optional
            See the class.
        """
        w = positive(bandwidth, "bandwidth")
        return cls(robot, w**4, 4.0 * w**3, 6.0 * w**2, 4.0 * w, K_d=K_d)
