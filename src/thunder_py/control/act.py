"""Adaptive computed torque in joint space."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from .. import _core
from ..checks import Array, given_group, real
from ..errors import ThunderError
from ..robot import Robot
from .adaptation import AdaptationLike, AdaptiveController, GradientAdaptation
from .lyapunov_functions import LoggedRun, check_parameters, gain, half_form


class ACT(AdaptiveController, _core.ACT):
    """Adaptive computed torque in joint space; follows a `JointReference`.

    ::

        e    = q_d - q      x = [e; e']
        tau  = Mhat (ddq_d + K_1 e' + K_0 e) + Chat dq + Ghat + friction        with K_0 and K_1
        tau  = Mhat ddq_d + K_d e' + K_p e + Chat dq + Ghat + friction          with K_p and K_d, D4.2 (53)
        pihat' = Gamma^-1 W_u' Mhat^-1 B' P x      A' P + P A = -Q

    with ``A = [0, 1; -K_0, -K_1]`` (or K_p and K_d), ``B = [0; 1]`` and W the regressor. W needs the joint acceleration
    and is therefore filtered, see `MACT`.

    Parameters
    ----------
    robot : Robot
        The nominal model; the estimate starts at its parameters.
    K_0, K_1 : float, (n,) or (n, n) array_like, optional
        [1/s^2], [1/s].
    adaptation : GradientAdaptation, NaturalAdaptation, float or array_like, or None
        Adaptation law and unknown parameters. A number or an array is short for ``GradientAdaptation(Gamma)`` with all
        parameters unknown; a larger Gamma adapts more slowly. None keeps the initial estimate.
    K_p, K_d : float, (n,) or (n, n) array_like, optional
        Stiffness [N m/rad] and damping [N m s/rad], in place of `K_0` and `K_1`: the form printed in D4.2. P and the
        stability proof need constant error dynamics, which only the other form has (docs/errata.md, D-5).
    Q : float, (2n,) or (2n, 2n) array_like
        Right-hand side of the Lyapunov equation.
    route : {"acceleration", "regressor"}
        See `MACT`.
    cutoff : float
        Cutoff of the low-pass filter of the regressor [Hz].

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
    Craig, Hsu and Sastry (1987); D4.2, eq. (56), where Gamma is R. The law inverts the estimated mass matrix:
    adaptation becomes fast and inaccurate as the matrix nears singularity, the paper's objection to the law. Once the
    matrix is no longer positive definite, the status is ``diverged`` until `reset`, and the arm is held.
    `NaturalAdaptation` keeps it positive definite. The proof holds for the regressor of the true acceleration; W is
    filtered, the error is not.

    Signals: ``error`` (e), ``s`` (its derivative), ``parameters``. `lyapunov` is ``x' P x + pitilde' Gamma pitilde``.

    Examples
    --------
    >>> import thunder_py as th
    >>> robot = th.Robot.load("elbow")
    >>> motion = th.reference.Sinusoid([0.5, 0.5], 0.5)
    >>> guess = robot.with_parameters(0.9 * robot.parameters)
    >>> laws = th.ACT(guess, 100.0, 20.0, adaptation=0.1), th.ACT(guess, 100.0, 20.0, adaptation=None)
    >>> errors = [th.simulate(robot, law, motion, 4.0, dq0=motion(0.0).dq).rmse() for law in laws]
    >>> bool(errors[0] < 0.5 * errors[1]), laws[0].status.name
    (True, 'ok')
    """

    def __init__(
        self,
        robot: Robot,
        K_0: npt.ArrayLike | None = None,
        K_1: npt.ArrayLike | None = None,
        *,
        adaptation: AdaptationLike,
        K_p: npt.ArrayLike | None = None,
        K_d: npt.ArrayLike | None = None,
        Q: npt.ArrayLike = 1.0,
        route: Literal["regressor", "acceleration"] = "acceleration",
        cutoff: float = 20.0,
    ) -> None:
        gains = given_group("gains", {"K_0": K_0, "K_1": K_1}, {"K_p": K_p, "K_d": K_d})
        position, velocity = gains.values()
        self.position_gain, self.velocity_gain, self.Q = position, velocity, Q
        law, mask = self._adapt(robot, adaptation)
        damping = safe_damping(robot, velocity) if "K_0" in gains else velocity
        filtered = self._filtered(route, cutoff)
        super().__init__(robot, position, velocity, Q, damping, law, mask, "K_0" in gains, *filtered)

    def lyapunov(self, robot: Robot, result: LoggedRun) -> Array:
        """Return V at each logged instant, (k,), for the gradient law.

        With `K_0` and `K_1` and with the regressor of the true acceleration, its derivative is -x' Q x.

        Parameters
        ----------
        robot : Robot
            The plant, payload included.
        result : SimulationResult
            A run of this controller with the signals ``error``, ``s`` and ``parameters``.

        Raises
        ------
        ThunderError
            For another law than `GradientAdaptation`, or an estimate of other parameters than the plant's.
        """
        if self.adaptation is not None and not isinstance(self.adaptation, GradientAdaptation):
            kind = type(self.adaptation).__name__
            raise ThunderError(f"adaptation must be a GradientAdaptation for the Lyapunov function of ACT, got {kind}")
        from scipy.linalg import solve_continuous_lyapunov

        n = robot.n
        A = np.block([[np.zeros((n, n)), np.eye(n)], [-gain(self.position_gain, n), -gain(self.velocity_gain, n)]])
        P = solve_continuous_lyapunov(A.T, -gain(self.Q, 2 * n))
        V: Array = 2.0 * half_form(np.hstack([result.error, result.s]), P)
        if self.adaptation is not None:
            check_parameters(robot, result)
            wrong = (robot.parameters - result.parameters)[:, self.unknown.mask]
            V += 2.0 * half_form(wrong, gain(self.adaptation.Gamma, wrong.shape[1]))
        return V


def safe_damping(robot: Robot, K_1: npt.ArrayLike) -> npt.ArrayLike:
    """Return a damping [N m s/rad] for hold and safe torque: |K_1| [1/s] times the diagonal of M at q = 0."""
    rates = real(K_1, "K_1", finite=False)
    if rates.ndim == 2:
        rates = rates.diagonal()
    if rates.shape not in ((), (robot.n,)):
        return K_1  # which the core refuses
    return np.abs(rates) * robot.mass_matrix(np.zeros(robot.n)).diagonal()
