"""Adaptive control learns what its reference shows: errors of estimates beside excitation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ..checks import Array
from ..control import SlotineLi
from ..reference import JointReference
from ..result import Result
from ..robot import Robot
from ..simulation import simulate
from .measures import PersistentExcitation, persistent_excitation

__all__ = ["AdaptationConvergence", "adaptation_convergence"]


@dataclass(frozen=True, kw_only=True, eq=False)
class AdaptationConvergence:
    """A run of adaptive control and how near its estimate came.

    Attributes
    ----------
    result : Result
        The run.
    parameter_error : (k,) array
        Distance of the estimated from the true base parameters, relative to its start; what torques cannot tell does
        not count.
    excitation : PersistentExcitation
        Of the desired motion.
    """

    result: Result
    parameter_error: Array
    excitation: PersistentExcitation = field(repr=False)


def adaptation_convergence(
    plant: Robot,
    nominal: Robot,
    reference: Callable[[float], JointReference],
    duration: float,
    window: float,
    *,
    Lambda: npt.ArrayLike = 5.0,
    K_d: npt.ArrayLike = 10.0,
    Gamma: npt.ArrayLike = 0.1,
    dt: float = 1e-3,
    log_every: int = 10,
) -> AdaptationConvergence:
    """Run Slotine-Li control from a wrong model and compare its estimate with the truth.

    Errors of tracking vanish with any reference; errors of estimation need one that is persistently exciting (lecture
    34; D4.2, section 3.2.3).

    Parameters
    ----------
    plant, nominal : Robot
        The truth, and the model the controller starts from.
    reference : callable
        Gives a `JointReference`, from which the plant starts.
    duration, window : float
        Of the run, and of the window in which excitation is measured [s].
    Lambda, K_d, Gamma : array_like
        Gains of `SlotineLi`.
    dt : float
        Control period and integration step [s].
    log_every : int
        Control periods between logged instants.
    """
    controller = SlotineLi(nominal, Lambda, K_d, Gamma)
    result = simulate(plant, controller, reference, duration, dt, log_every=log_every)
    K = plant.base_parameters().mapping
    error = np.linalg.norm((result.parameters - plant.parameters) @ K.T, axis=1)
    desired = [reference(float(t)) for t in result.t]
    q, dq, ddq = (np.stack([getattr(point, name) for point in desired]) for name in ("q", "dq", "ddq"))
    measured = persistent_excitation(plant, q, dq, ddq, result.t, window)
    return AdaptationConvergence(result=result, parameter_error=error / error[0], excitation=measured)
