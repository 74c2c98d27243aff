"""Modified adaptive computed torque in joint space."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy.typing as npt

from .. import _core
from ..robot import Robot
from ..robot.robot import UnknownParameters
from .adaptation import LawLike, prediction_arguments, prediction_weight, resolve_unknown
from .lyapunov_functions import AdaptiveLyapunov, adaptive_law

__all__ = ["MACT"]


class MACT(AdaptiveLyapunov, _core.MACT):
    """Modified adaptive computed torque: stiffness and damping as you set them, follows a `JointReference`.

    ::

        e    = q_d - q
        tau  = Y_r(q, dq, dq_d, ddq_d) pihat + K_v e' + K_p e
        pihat' = Gamma^-1 (Y_u' e' + gamma W_u' R_t (y - W pihat))

    where Y_r pihat is M ddq_d + C(q, dq) dq_d + G + friction(dq), and y = W pi the low-passed torque and its regressor.
    The mass matrix is not inverted, and no acceleration is measured.

    Parameters
    ----------
    robot : Robot
        The nominal model; the estimate starts at its parameters.
    K_p : float, (n,) or (n, n) array_like
        Stiffness [N m/rad].
    K_v : float, (n,) or (n, n) array_like
        Damping [N m s/rad]. Sampled, it must stay well below inertia over period, joint by joint.
    Gamma : float, (u,) or (u, u) array_like, optional
        For the u unknown parameters; large adapts slowly (the paper's R_p is its inverse). Not with ``law``, nor with
        ``adaptive=False``.
    unknown : str, sequence of str, (p,) bool array or UnknownParameters, optional
        What adapts, see `Robot.unknown`; default everything.
    adaptive : bool
        False keeps the estimate where it starts.
    law : Gradient or Natural, optional
        In place of Gamma: how the estimate moves.
    gamma : float
        Weight of the prediction error; 0 leaves it out, and then e need not vanish at a set point.
    R_t : float, (n,) or (n, n) array_like
        Weight of the joints in the prediction error [1/(N m)²].
    route : {"regressor", "acceleration"}
        How W comes without measured accelerations: integrated by parts, from positions and velocities (D4.2, section
        3.2.3), or the classical regressor at filtered differences of the velocity.
    cutoff : float
        Of the low-pass filter of torque and regressor [Hz].

    Attributes
    ----------
    unknown : UnknownParameters
        What adapts.
    law : Gradient, Natural or None
        How, None where nothing adapts.

    Notes
    -----
    D4.2, eqs. (63) and (64), with the filtered regressor of section 3.2.3 as corrected in docs/errata.md (D-13). With
    ``V = 1/2 (e' K_p e + e'' M e' + pitilde' Gamma pitilde)`` one has ``V' = -e'' K_v e' - gamma (W pitilde)' R_t (W
    pitilde)``, where e'' stands for the transpose of e'. The estimate is integrated over each control step by Euler's
    rule; a step that gamma R_t / Gamma would make overshoot is shortened. The torque that was applied is taken to be
    the last one returned; where the drive clips torques, set `torque_limits`.

    Signals: ``error`` (e), ``s`` (its derivative), ``prediction_error`` (y - W pihat), ``parameters``.
    """

    def __init__(
        self,
        robot: Robot,
        K_p: npt.ArrayLike,
        K_v: npt.ArrayLike,
        Gamma: npt.ArrayLike | None = None,
        *,
        unknown: str | Sequence[str] | npt.ArrayLike | UnknownParameters | None = None,
        adaptive: bool = True,
        law: LawLike | None = None,
        gamma: float = 0.0,
        R_t: npt.ArrayLike = 1.0,
        route: Literal["regressor", "acceleration"] = "regressor",
        cutoff: float = 5.0,
    ) -> None:
        self.law = adaptive_law(Gamma, adaptive, law)
        self.K_p, self.K_d, self.Lambda = K_p, K_v, 0.0  # as `lyapunov` calls them
        self.unknown, adaptation = resolve_unknown(robot, unknown, Gamma, adaptive, law)
        prediction = prediction_arguments(route, cutoff, gamma, R_t, adaptive)
        self.prediction_weight, self.route = prediction_weight(prediction), route
        super().__init__(robot, K_p, K_v, adaptation, self.unknown.mask.tolist(), prediction)
