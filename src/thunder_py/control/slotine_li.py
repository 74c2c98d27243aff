"""Slotine-Li adaptive control in joint space."""

from __future__ import annotations

from collections.abc import Sequence

import numpy.typing as npt

from .. import _core
from ..robot import Robot
from ..robot.robot import UnknownParameters
from .adaptation import LawLike, resolve_unknown
from .lyapunov_functions import AdaptiveLyapunov, adaptive_law

__all__ = ["SlotineLi"]


class SlotineLi(AdaptiveLyapunov, _core.SlotineLi):
    """Slotine-Li adaptive control: follows a `JointReference`.

    ::

        dq_r = dq_d + Lambda (q_d - q)      ddq_r = ddq_d + Lambda (dq_d - dq)      s = dq_r - dq
        tau  = Y_r(q, dq, dq_r, ddq_r) pihat + K_d s
        pihat' = Gamma^-1 Y_u' s

    where Y_u are the columns of the unknown parameters. Every gain is a number, one number per row or a symmetric
    positive definite matrix.

    Parameters
    ----------
    robot : Robot
        The nominal model; the estimate starts at its parameters.
    Lambda : float, (n,) or (n, n) array_like
        [1/s].
    K_d : float, (n,) or (n, n) array_like
        [N m s/rad].
        Sampled, it must stay well below inertia over period, joint by joint: 10 is unstable for the Panda's last
        joint at 1 kHz.
    Gamma : float, (u,) or (u, u) array_like, optional
        For the u unknown parameters; large adapts slowly. Not with ``law``, nor with ``adaptive=False``.
    unknown : str, sequence of str, (p,) bool array or UnknownParameters, optional
        What adapts, see `Robot.unknown`; default everything.
    adaptive : bool
        False keeps the estimate where it starts.
    law : Gradient or Natural, optional
        In place of Gamma: how the estimate moves.

    Attributes
    ----------
    unknown : UnknownParameters
        What adapts.
    law : Gradient, Natural or None
        How, None where nothing adapts.

    Notes
    -----
    Slotine and Li (1987); Thunder article, Appendix C, of which docs/errata.md lists the misprints. The estimate is
    integrated over each control step by Euler's rule, over 0.1 s at most.

    Signals: ``error`` (q_d - q), ``s``, ``parameters`` (the estimate). Status ``diverged`` once an estimate passes
    1e6, until `reset`.
    """

    def __init__(
        self,
        robot: Robot,
        Lambda: npt.ArrayLike,
        K_d: npt.ArrayLike,
        Gamma: npt.ArrayLike | None = None,
        *,
        unknown: str | Sequence[str] | npt.ArrayLike | UnknownParameters | None = None,
        adaptive: bool = True,
        law: LawLike | None = None,
    ) -> None:
        self.law = adaptive_law(Gamma, adaptive, law)
        self.Lambda, self.K_d = Lambda, K_d
        self.unknown, adaptation = resolve_unknown(robot, unknown, Gamma, adaptive, law)
        super().__init__(robot, Lambda, K_d, adaptation, self.unknown.mask.tolist())
