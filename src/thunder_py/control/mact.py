"""Modified adaptive computed torque in joint space."""

from __future__ import annotations

from typing import Literal

import numpy.typing as npt

from .. import _core
from ..robot import Robot
from .adaptation import AdaptationLike
from .lyapunov_functions import AdaptiveLyapunov


class MACT(AdaptiveLyapunov, _core.MACT):
    """Modified adaptive computed torque in joint space; follows a `JointReference`.

    ::

        e    = q_d - q
        tau  = Y_r(q, dq, dq_d, ddq_d) pihat + K_d e' + K_p e
        pihat' = Gamma^-1 (Y_u' e' + gamma W_u' R_t (y - W pihat))

    where Y_r pihat is M ddq_d + C(q, dq) dq_d + G + friction(dq), and y = W pi the low-passed torque and its regressor.
    The mass matrix is not inverted, no acceleration is measured, and stiffness and damping are exactly K_p and K_d.

    Parameters
    ----------
    robot : Robot
        The nominal model; the estimate starts at its parameters.
    K_p : float, (n,) or (n, n) array_like
        Stiffness [N m/rad].
    K_d : float, (n,) or (n, n) array_like
        Damping [N m s/rad]. When sampled, it must stay well below inertia over period for each joint.
    adaptation : GradientAdaptation, NaturalAdaptation, float or array_like, or None
        Adaptation law and unknown parameters. A number or an array is short for ``GradientAdaptation(Gamma)`` with all
        parameters unknown; a larger Gamma adapts more slowly. None keeps the initial estimate.
    gamma : float
        Weight of the prediction error. With the default of `R_t` it is a ratio: 1 adapts as fast as `SlotineLi` with
        the same `K_d` and Gamma. With 0, e need not converge to zero at a set point.
    R_t : float, (n,) or (n, n) array_like, optional
        Weight of the joints in the prediction error; gamma R_t has the unit of 1 / K_d, rad/(N m s). Default K_d^-1.
    route : {"regressor", "acceleration"}
        Computation of W without measured accelerations: integration by parts, from positions and velocities (D4.2,
        section 3.2.3), or the classical regressor at filtered differences of the velocity.
    cutoff : float
        Cutoff of the low-pass filter of torque and regressor [Hz].

    Attributes
    ----------
    adaptation : GradientAdaptation, NaturalAdaptation or None
        Adaptation law; None for a fixed estimate.
    unknown : UnknownParameters
        Parameters to adapt; all for a fixed estimate.

    Raises
    ------
    ValueError
        If a gain is not positive definite, or another argument is invalid.

    Notes
    -----
    D4.2, eqs. (63) and (64), where Gamma^-1 is R_p and K_d is K_v, with the filtered regressor of section 3.2.3 as
    corrected in docs/errata.md (D-13). With ``V = 1/2 (e' K_p e + e'' M e' + pitilde' Gamma pitilde)`` one has ``V' =
    -e'' K_d e' - gamma (W pitilde)' R_t (W pitilde)``, where e'' is the transpose of e'. The estimate is integrated
    over each control step by Euler's rule; a step that would overshoot because of gamma R_t / Gamma is shortened. The
    law assumes that the last returned torque was applied: if the drive clips torques, set `torque_limits`.

    Signals: ``error`` (e), ``s`` (its derivative), ``prediction_error`` (y - W pihat), ``parameters``.

    Examples
    --------
    >>> import thunder_py as th
    >>> robot = th.Robot.load("elbow")
    >>> guess = robot.with_parameters(0.5 * robot.parameters)
    >>> controller = th.MACT(guess, K_p=30.0, K_d=8.0, adaptation=2.0, gamma=1.0)
    >>> result = th.simulate(robot, controller, th.reference.SetPoint([0.3, 0.8]), 10.0, q0=[0.0, 0.5], dt=0.002)
    >>> result.error_norm()[[0, -1]].round(2).tolist()
    [0.42, 0.0]
    """

    def __init__(
        self,
        robot: Robot,
        K_p: npt.ArrayLike,
        K_d: npt.ArrayLike,
        *,
        adaptation: AdaptationLike,
        gamma: float = 1.0,
        R_t: npt.ArrayLike | None = None,
        route: Literal["regressor", "acceleration"] = "regressor",
        cutoff: float = 5.0,
    ) -> None:
        self.K_p, self.K_d = K_p, K_d
        law, mask = self._adapt(robot, adaptation)
        super().__init__(robot, K_p, K_d, law, mask, self._prediction(route, cutoff, gamma, R_t, K_d))
