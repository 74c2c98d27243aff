"""Gains of the adaptation of unknown lengths from a time constant and the information of a motion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..checks import Array
from ..reference import JointReference
from ..robot import Robot
from .adaptation_gains import Drive, gradient_gain
from .length_adaptation import LengthAdaptation, LengthModel
from .lyapunov_functions import gain

#: every how many states are evaluated
_EVERY = 5


def length_adaptation(
    robot: Robot,
    unknown: str | Sequence[str],
    gains: Mapping[str, Any],
    along: JointReference,
    typical: JointReference,
    time_constant: float,
) -> LengthAdaptation:
    """Return the adaptation law of these lengths for the gains of `Backstepping`.

    Parameters
    ----------
    robot : Robot
        The nominal model.
    unknown : str or sequence of str
        Unknown lengths, see `LengthAdaptation`.
    gains : mapping
        Lambda, K_p, K_d and task.
    along, typical : JointReference
        States along the reference, and typical ones, (k, n).
    time_constant : float
        Of the fastest combination of lengths [s].

    Notes
    -----
    Derivation: docs/theory/adaptive_control.md. gamma is K_p Lambda, averaged over the rows of the position.
    """
    m = 3 if gains.get("task") == "position" else 6
    K_p, Lambda = (gain(gains[name], m) for name in ("K_p", "Lambda"))
    gamma = float(np.diag(K_p @ Lambda)[:3].mean())
    model = LengthModel(robot, LengthAdaptation(1.0, unknown=unknown, Gamma_torque=1.0), np.zeros(robot.p, dtype=bool))
    feedback = K_p, Lambda, gain(gains["K_d"], robot.n)
    moved, twisted = zip(*(_drives(model, states, *feedback, gamma) for states in (along, typical)), strict=True)
    w = float(np.diag(Lambda).min())
    Gamma = gradient_gain(_drive(*moved), time_constant, w)
    torque = gradient_gain(_drive(*twisted), time_constant, w).item() if model.in_torques else None
    return LengthAdaptation(Gamma, unknown=model.names, gamma=gamma, Gamma_torque=torque)


def _drive(along: Array, typical: Array) -> Drive:
    return Drive(along, typical, np.zeros(along.shape[-1], dtype=bool))


def _drives(
    model: LengthModel, states: JointReference, K_p: Array, Lambda: Array, K_d: Array, gamma: float
) -> tuple[Array, Array]:
    """Return Z (s, m + 3, k) of the kinematics and Z (s, n a, 1) of the torques: errors decay as Gamma^-1 Z' Z.

    Wrong lengths cause e = (Lambda + A K_p)^-1 W ltilde with A = J K_d^-1 J', and e drives them by W' K_p e. All terms
    of the torques have one gain; the trace of their Z' Z bounds the rate.
    """
    kinematic, dynamic, m = [], [], len(K_p)
    root = np.linalg.cholesky(K_d)
    for q, dq, ddq in zip(*(x[::_EVERY] for x in (states.q, states.dq, states.ddq)), strict=True):
        terms = model.kinematics(q, dq, model.nominal)
        J, W = terms["J"][:m], (terms["dJ"] @ dq).T[:m]
        compliance = np.linalg.solve(K_p, Lambda) + J @ np.linalg.solve(K_d, J.T)
        tracking = np.linalg.solve(np.linalg.cholesky(compliance), W)
        kinematic.append(np.vstack([tracking, np.sqrt(gamma) * terms["P"]]))
        dynamic.append(np.linalg.solve(root, model.regressor(q, dq, dq, ddq)[:, 1:, 0]).reshape(-1, 1))
    return np.array(kinematic), np.array(dynamic)
