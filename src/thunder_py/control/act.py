"""Adaptive computed torque in joint space."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from .. import _core
from ..parameters import UnknownParameters
from ..robot import Robot
from .adaptation import LawLike
from .prediction import cutoff_frequency
from .unknown import resolve_unknown

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

    Notes
    -----
    Craig, Hsu and Sastry (1987); D4.2, eq. (56). The law divides by the estimated mass matrix: an estimate that comes
    near a singular one makes it fast and useless, which is what the paper holds against it. `Natural` keeps the mass
    matrix positive definite.

    Signals: ``error`` (e), ``parameters``.
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
        self.unknown, adaptation = resolve_unknown(robot, unknown, Gamma, adaptive, law)
        frequency = cutoff_frequency(route, cutoff)
        damping = safe_damping(robot, K_v) if form == "craig" else K_v
        super().__init__(
            robot, K_p, K_v, Q, damping, adaptation, self.unknown.mask.tolist(), form == "craig", route, frequency
        )


def safe_damping(robot: Robot, K_v: npt.ArrayLike) -> npt.ArrayLike:
    """Return a damping [N m s/rad] for the safe torque of a law whose gains are [1/s]: K_v times inertias at rest."""
    rates = np.asarray(K_v, dtype=np.float64)
    if rates.ndim == 2:
        rates = rates.diagonal()
    return np.abs(rates) * robot.mass_matrix(np.zeros(robot.n)).diagonal()
