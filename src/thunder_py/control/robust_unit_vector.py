"""Robust control with a unit vector and a boundary layer."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .. import _core
from ..checks import of_kind, positive
from ..robot import Robot


class RobustUnitVector(_core.RobustUnitVector):
    """Robust control: computed torque with a unit-vector term; follows a `JointReference`.

    ::

        tau = M (ddq_d + K_1 de + K_0 e + w) + C dq + friction(dq) + G          e = q_d - q
        z   = [0 1] P [e; de]        H' P + P H = -Q        H = [0 1; -K_0 -K_1]
        w   = rho z / |z| where |z| >= epsilon, else rho z / epsilon

    Parameters
    ----------
    robot : Robot
        The nominal model, its friction included.
    K_0, K_1 : float, (n,) or (n, n) array_like
        [1/s^2], [1/s]; the report's K_P and K_D.
    rho : float
        Magnitude of w, an acceleration [rad/s^2]. It must bound the acceleration error of the model, ``M^-1`` times the
        torque error.
    epsilon : float
        Width of the boundary layer, in the units of z. It prevents chattering; a wider layer gives a smoother torque
        and a larger remaining error.
    Q : float, (2n,) or (2n, 2n) array_like
        Right-hand side of the Lyapunov equation. Scaling Q scales z, and `epsilon` relative to it.

    Attributes
    ----------
    lyapunov_matrix : (2n, 2n) array
        P, called Q in the report.

    Raises
    ------
    ValueError
        If a gain is not positive definite, or another argument is invalid.

    Notes
    -----
    SCARA report, section 4.1, with errata S-5. With rho large enough, ``V = xi' P xi`` with ``xi = [e; de]`` decreases
    wherever ``|z| >= epsilon``, and the error converges to a neighborhood of zero that shrinks with epsilon. Inside
    the layer w is a PD term with gains ``rho / epsilon`` times blocks of P: when sampled, ``K_1 + rho P_vv / epsilon``
    must stay well below 1 over period.

    Signals: ``error`` (q_d - q), ``z``, ``w``. Hold and safe torque are damped by k M(q), k the least
    eigenvalue of K_1.

    Examples
    --------
    >>> import thunder_py as th
    >>> robot = th.Robot.load("elbow")
    >>> motion = th.reference.Sinusoid([0.5, 0.5], 0.5)
    >>> nominal = robot.with_parameters(0.8 * robot.parameters)
    >>> laws = [th.ComputedTorque(nominal, 100.0, 20.0)]
    >>> laws += [th.RobustUnitVector(nominal, 100.0, 20.0, rho=100.0, epsilon=width) for width in (0.05, 0.02, 0.005)]
    >>> runs = [th.simulate(robot, law, motion, 2.0, dq0=motion(0.0).dq) for law in laws]
    >>> [round(run.rmse() / runs[0].rmse(), 2) for run in runs]  # the error shrinks with the layer
    [1.0, 0.72, 0.48, 0.18]
    """

    def __init__(
        self,
        robot: Robot,
        K_0: npt.ArrayLike,
        K_1: npt.ArrayLike,
        rho: float,
        epsilon: float,
        *,
        Q: npt.ArrayLike = 1.0,
    ) -> None:
        of_kind(robot, Robot, "robot")
        rho, epsilon = positive(rho, "rho"), positive(epsilon, "epsilon")
        super().__init__(robot, K_0, K_1, rho, epsilon, np.asarray(Q))
