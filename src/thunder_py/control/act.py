"""Adaptive computed torque in joint space."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from .. import _core
from ..checks import Array
from ..errors import ThunderError
from ..robot import Robot
from ..robot.robot import UnknownParameters
from .adaptation import GradientAdaptation, LawLike, cutoff_frequency, resolve_unknown
from .lyapunov_functions import adaptive_law, check_parameters, gain, half_form

if TYPE_CHECKING:
    from ..result import SimulationResult

__all__ = ["ACT"]

FORMS = ("craig", "impedance")


class ACT(_core.ACT):
    """Adaptive computed torque in joint space; follows a `JointReference`.

    ::

        e    = q_d - q      x = [e; e']
        tau  = Mhat (ddq_d + K_v e' + K_p e) + Chat dq + Ghat + friction        form="craig"
        tau  = Mhat ddq_d + K_v e' + K_p e + Chat dq + Ghat + friction          form="impedance", D4.2 (53)
        pihat' = Gamma^-1 W_u' Mhat^-1 B' P x      A' P + P A = -Q

    with ``A = [0, 1; -K_p, -K_v]``, ``B = [0; 1]`` and W the regressor. W needs the joint acceleration and is therefore
    filtered, see `MACT`.

    Parameters
    ----------
    robot : Robot
        The nominal model; the estimate starts at its parameters.
    K_p, K_v : float, (n,) or (n, n) array_like
        [1/s², 1/s], or stiffness and damping [N m/rad, N m s/rad] for ``form="impedance"``.
    Gamma : float, (u,) or (u, u) array_like, optional
        Adaptation gain of the u unknown parameters; a larger one adapts more slowly (the paper's R).
        Excludes ``law``; ignored for ``adaptive=False``.
    unknown : str, sequence of str, (p,) bool array or UnknownParameters, optional
        Parameters to adapt, see `Robot.unknown`; default all.
    adaptive : bool
        False keeps the initial estimate.
    law : Gradient or Natural, optional
        Adaptation law, in place of `Gamma`.
    form : {"craig", "impedance"}
        Law, see above. P and the stability proof need constant error dynamics, which only Craig's form has
        (docs/errata.md, D-5); the other form is printed in D4.2.
    Q : float, (2n,) or (2n, 2n) array_like
        Right-hand side of the Lyapunov equation.
    route : {"acceleration", "regressor"}
        See `MACT`.
    cutoff : float
        Cutoff of the low-pass filter of the regressor [Hz].

    Attributes
    ----------
    unknown : UnknownParameters
        Parameters to adapt.
    law : Gradient, Natural or None
        Adaptation law; None without adaptation.

    Raises
    ------
    ValueError
        If a gain is not positive definite, or another argument is invalid.

    Notes
    -----
    Craig, Hsu and Sastry (1987); D4.2, eq. (56). The law inverts the estimated mass matrix: adaptation becomes fast and
    inaccurate as the matrix nears singularity, the paper's objection to the law. Once the matrix is no longer positive
    definite, the status is ``diverged`` until `reset` and the torque is a safe one. `Natural` keeps it positive
    definite. The proof holds for the regressor of the true acceleration; W is filtered, the error is not.

    Signals: ``error`` (e), ``s`` (its derivative), ``parameters``. `lyapunov` is ``x' P x + pitilde' Gamma pitilde``.

    Examples
    --------
    >>> import thunder_py as th
    >>> robot = th.Robot.load("elbow")
    >>> motion = th.reference.Sinusoid([0.5, 0.5], 0.5)
    >>> guess = robot.with_parameters(0.9 * robot.parameters)
    >>> laws = th.ACT(guess, 100.0, 20.0, Gamma=0.1), th.ACT(guess, 100.0, 20.0, adaptive=False)
    >>> errors = [th.simulate(robot, law, motion, 4.0, dq0=motion(0.0).dq).rmse() for law in laws]
    >>> bool(errors[0] < 0.5 * errors[1]), laws[0].status.name
    (True, 'ok')
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
        form: Literal["craig", "impedance"] = "craig",
        Q: npt.ArrayLike = 1.0,
        route: Literal["regressor", "acceleration"] = "acceleration",
        cutoff: float = 20.0,
    ) -> None:
        if form not in FORMS:
            raise ValueError(f"form must be one of {FORMS}, got {form!r}")
        self.law, self.K_p, self.K_v, self.Q = adaptive_law(Gamma, adaptive, law), K_p, K_v, Q
        self.unknown, adaptation = resolve_unknown(robot, unknown, Gamma, adaptive, law)
        frequency = cutoff_frequency(route, cutoff)
        damping = safe_damping(robot, K_v) if form == "craig" else K_v
        super().__init__(
            robot, K_p, K_v, Q, damping, adaptation, self.unknown.mask.tolist(), form == "craig", route, frequency
        )

    def lyapunov(self, robot: Robot, result: SimulationResult) -> Array:
        """Return V at each logged instant, (k,), for the gradient law.

        In Craig's form and with the regressor of the true acceleration, its derivative is -x' Q x.

        Parameters
        ----------
        robot : Robot
            The plant, payload included.
        result : Result
            A run of this controller with the signals ``error``, ``s`` and ``parameters``.

        Raises
        ------
        ThunderError
            For another law than `GradientAdaptation`, or an estimate of other parameters than the plant's.
        """
        if self.law is not None and not isinstance(self.law, GradientAdaptation):
            raise ThunderError(
                f"law must be GradientAdaptation for the Lyapunov function of ACT, got {type(self.law).__name__}"
            )
        from scipy.linalg import solve_continuous_lyapunov

        n = robot.n
        A = np.block([[np.zeros((n, n)), np.eye(n)], [-gain(self.K_p, n), -gain(self.K_v, n)]])
        P = solve_continuous_lyapunov(A.T, -gain(self.Q, 2 * n))
        V: Array = 2.0 * half_form(np.hstack([result.error, result.s]), P)
        if self.law is not None:
            check_parameters(robot, result)
            wrong = (robot.parameters - result.parameters)[:, self.unknown.mask]
            V += 2.0 * half_form(wrong, gain(self.law.Gamma, wrong.shape[1]))
        return V


def safe_damping(robot: Robot, K_v: npt.ArrayLike) -> npt.ArrayLike:
    """Return a damping [N m s/rad] for the safe torque: |K_v| [1/s] times the diagonal of M at q = 0."""
    rates = np.asarray(K_v, dtype=np.float64)
    if rates.ndim == 2:
        rates = rates.diagonal()
    return np.abs(rates) * robot.mass_matrix(np.zeros(robot.n)).diagonal()
