"""Slotine-Li adaptive control in joint space."""

from __future__ import annotations

import numpy.typing as npt

from .. import _core
from ..robot import Robot
from .adaptation import AdaptationLike
from .lyapunov_functions import AdaptiveLyapunov


class SlotineLi(AdaptiveLyapunov, _core.SlotineLi):
    """Slotine-Li adaptive control in joint space; follows a `JointReference`.

    ::

        dq_r = dq_d + Lambda (q_d - q)      ddq_r = ddq_d + Lambda (dq_d - dq)      s = dq_r - dq
        tau  = Y_r(q, dq, dq_r, ddq_r) pihat + K_d s
        pihat' = Gamma^-1 Y_u' s

    with Y_u the columns of Y_r of the unknown parameters. Every gain is a number, one number per row or a symmetric
    positive definite matrix.

    Parameters
    ----------
    robot : Robot
        The nominal model; the estimate starts at its parameters.
    Lambda : float, (n,) or (n, n) array_like
        [1/s].
    K_d : float, (n,) or (n, n) array_like
        [N m s/rad]. When sampled, it must stay well below inertia over period for each joint: 10 is unstable for the
        Panda's last joint at 1 kHz.
    adaptation : GradientAdaptation, NaturalAdaptation, float or array_like, or None
        Adaptation law and unknown parameters. A number or an array is short for ``GradientAdaptation(Gamma)`` with all
        parameters unknown; a larger Gamma adapts more slowly. None keeps the initial estimate.

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
    Slotine and Li (1987); Thunder article, Appendix C, with the misprints listed in docs/errata.md. The estimate is
    integrated over each control step by Euler's rule, over at most 0.1 s.

    Signals: ``error`` (q_d - q), ``s``, ``parameters`` (the estimate). Status ``diverged`` once an estimate exceeds
    1e6, until `reset`.

    Examples
    --------
    >>> import thunder_py as th
    >>> robot = th.Robot.load("elbow")
    >>> motion = th.reference.Sinusoid([0.5, 0.5], 0.5)
    >>> guess = robot.with_parameters(0.5 * robot.parameters)
    >>> controller = th.SlotineLi(guess, Lambda=5.0, K_d=8.0, adaptation=0.5)
    >>> result = th.simulate(robot, controller, motion, 4.0, dq0=motion(0.0).dq)
    >>> errors = result.error_norm()
    >>> bool(errors[-1000:].max() < 0.5 * errors[:1000].max()), controller.status.name
    (True, 'ok')
    """

    def __init__(
        self,
        robot: Robot,
        Lambda: npt.ArrayLike,
        K_d: npt.ArrayLike,
        *,
        adaptation: AdaptationLike,
    ) -> None:
        self.Lambda, self.K_d = Lambda, K_d
        super().__init__(robot, Lambda, K_d, *self._adapt(robot, adaptation))
