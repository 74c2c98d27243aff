"""Robust control with a unit vector and a boundary layer."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .. import _core
from ..kinematics.task_rows import require_robot
from ..robot import Robot
from .options import positive

__all__ = ["RobustUnitVector"]


class RobustUnitVector(_core.RobustUnitVector):
    """Robust control: computed torque and a unit vector that outweighs the model's faults. Follows a `JointReference`.

    ::

        tau = M (ddq_d + K_v de + K_p e + w) + C dq + friction(dq) + G          e = q_d - q
        z   = [0 1] P [e; de]        H' P + P H = -Q        H = [0 1; -K_p -K_v]
        w   = rho z / |z| where |z| >= epsilon, else rho z / epsilon

    Parameters
    ----------
    robot : Robot
        The nominal model, its friction included.
    K_p : float, (n,) or (n, n) array_like
        [1/s^2].
    K_v : float, (n,) or (n, n) array_like
        [1/s]; the report's K_D.
    rho : float
        Size of w, an acceleration [rad/s^2]. It must be at least what the model's faults amount to, ``M^-1`` times
        the torque error.
    epsilon : float
        Width of the boundary layer, in the units of z. Without one the torque would chatter; the wider, the smoother
        and the larger the error that remains.
    Q : float, (2n,) or (2n, 2n) array_like
        Right side of the Lyapunov equation. Scaling it scales z, and so what epsilon means.

    Attributes
    ----------
    lyapunov_matrix : (2n, 2n) array
        P; the report calls it Q.

    Notes
    -----
    SCARA report, section 4.1, with errata S-5. With rho large enough, ``V = xi' P xi`` with ``xi = [e; de]`` falls
    wherever ``|z| >= epsilon``, and the error ends in a neighbourhood of zero that shrinks with epsilon. Inside the
    layer w is a PD term with gains ``rho / epsilon`` times blocks of P: sampled, ``K_v + rho P_vv / epsilon`` must stay
    well below 1 over period.

    Signals: ``error`` (q_d - q), ``z``, ``w``. The safe torque is damped by k M(q), k the smallest eigenvalue of K_v.
    """

    def __init__(
        self,
        robot: Robot,
        K_p: npt.ArrayLike,
        K_v: npt.ArrayLike,
        rho: float,
        epsilon: float,
        *,
        Q: npt.ArrayLike = 1.0,
    ) -> None:
        require_robot(robot)
        super().__init__(robot, K_p, K_v, positive(rho, "rho"), positive(epsilon, "epsilon"), np.asarray(Q))
