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
from .adaptation import Gradient, LawLike, cutoff_frequency, resolve_unknown
from .lyapunov_functions import adaptive_law, check_parameters, gain, half_form

if TYPE_CHECKING:
    from ..result import Result

__all__ = ["ACT"]

FORMS = ("craig", "impedance")


class ACT(_core.ACT):
    """Adaptive computed torque: follows a `JointReference`.

    ::

        e    = q_d - q      x = [e; e']
        tau  = Mhat (ddq_d + K_v e' + K_p e) + Chat dq + Ghat + friction        form="craig"
        tau  = Mhat ddq_d + K_v e' + K_p e + Chat dq + Ghat + friction          form="impedance", D4.2 (53)
        pihat' = Gamma^-1 W_u' Mhat^-1 B' P x      A' P + P A = -Q

    with ``A = [0, 1; -K_p, -K_v]``, ``B = [0; 1]`` and W the regressor, which needs the joint acceleration: it comes
    filtered, see `MACT`.

    Parameters
    ----------
    robot : Robot
        The nominal model; the estimate starts at its parameters.
    K_p, K_v : float, (n,) or (n, n) array_like
        [1/s², 1/s], or stiffness and damping [N m/rad, N m s/rad] for ``form="impedance"``.
    Gamma : float, (u,) or (u, u) array_like, optional
        For the u unknown parameters; large adapts slowly (the paper's R). Not with ``law``, nor with
        ``adaptive=False``.
    unknown : str, sequence of str, (p,) bool array or UnknownParameters, optional
        What adapts, see `Robot.unknown`; default everything.
    adaptive : bool
        False keeps the estimate where it starts.
    law : Gradient or Natural, optional
        In place of Gamma: how the estimate moves.
    form : {"craig", "impedance"}
        Only Craig's has constant error dynamics, which P and the proof of stability need (docs/errata.md, D-5); the
        other is what D4.2 prints.
    Q : float, (2n,) or (2n, 2n) array_like
        Right-hand side of the Lyapunov equation.
    route : {"acceleration", "regressor"}
        See `MACT`.
    cutoff : float
        Of the low-pass filter of the regressor [Hz].

    Attributes
    ----------
    unknown : UnknownParameters
        What adapts.
    law : Gradient, Natural or None
        How, None where nothing adapts.

    Notes
    -----
    Craig, Hsu and Sastry (1987); D4.2, eq. (56). The law divides by the estimated mass matrix: an estimate that comes
    near a singular one makes it fast and useless, which is what the paper holds against it. Once the matrix is not
    positive definite any more the status is ``diverged`` until `reset`, and the torque a safe one.
    `Natural` keeps it positive definite. The proof is for the regressor of the true acceleration; W is filtered, the
    error is not.

    Signals: ``error`` (e), ``s`` (its derivative), ``parameters``. `lyapunov` is ``x' P x + pitilde' Gamma pitilde``.
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

    def lyapunov(self, robot: Robot, result: Result) -> Array:
        """Return V at each logged instant, (k,), for the gradient law.

        It falls as -x' Q x in Craig's form, with the regressor of the true acceleration in place of the filtered one.

        Parameters
        ----------
        robot : Robot
            The plant, with what it carries.
        result : Result
            A run of this controller with the signals ``error``, ``s`` and ``parameters``.
        """
        if self.law is not None and not isinstance(self.law, Gradient):
            raise ThunderError(f"no Lyapunov function is known for the adaptation law {type(self.law).__name__}")
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
    """Return a damping [N m s/rad] for the safe torque of a law whose gains are [1/s]: K_v times inertias at rest."""
    rates = np.asarray(K_v, dtype=np.float64)
    if rates.ndim == 2:
        rates = rates.diagonal()
    return np.abs(rates) * robot.mass_matrix(np.zeros(robot.n)).diagonal()
