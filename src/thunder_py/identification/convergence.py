"""Convergence of adaptive estimates compared with the excitation of the reference."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ..checks import Array
from ..control import SlotineLi
from ..control.adaptation import AdaptationLike
from ..reference import JointReference
from ..robot import Robot
from ..simulation import SimulationResult, simulate
from .measures import PersistentExcitation, persistent_excitation


@dataclass(frozen=True, kw_only=True, eq=False)
class AdaptationConvergence:
    """Run of adaptive control with its parameter error and excitation.

    Attributes
    ----------
    result : SimulationResult
        The run.
    parameter_error : (k,) array
        Distance of the estimated from the true base parameters, relative to its initial value.
    excitation : PersistentExcitation
        Excitation of the desired motion.

    Examples
    --------
    >>> import thunder_py as th
    >>> robot, motion = th.Robot.load("elbow"), th.reference.Sinusoid([0.8, 0.6], [0.5, 0.8])
    >>> nominal = robot.with_parameters(0.7 * robot.parameters)
    >>> run = th.identification.adaptation_convergence(robot, nominal, motion, 2.0, window=1.0)
    >>> run.parameter_error.shape == run.result.t.shape, float(run.parameter_error[0])
    (True, 1.0)
    """

    result: SimulationResult
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
    adaptation: AdaptationLike = 0.1,
    dt: float = 1e-3,
    log_every: int = 10,
) -> AdaptationConvergence:
    """Simulate Slotine-Li control with a wrong model and compare its estimate with the true parameters.

    Tracking errors vanish for any reference; estimation errors vanish only if the reference is persistently exciting
    (lecture 34; D4.2, section 3.2.3).

    Parameters
    ----------
    plant, nominal : Robot
        Robot with the true parameters, and the initial model of the controller.
    reference : callable
        ``reference(t)`` returns a `JointReference`; the plant starts on it.
    duration, window : float
        Length of the run, and of the window in which excitation is measured [s].
    Lambda, K_d, adaptation
        Arguments of `SlotineLi`.
    dt : float
        Control period and integration step [s].
    log_every : int
        Control periods between logged instants.

    Returns
    -------
    AdaptationConvergence
        Run, parameter error and excitation.

    Examples
    --------
    >>> import thunder_py as th
    >>> from thunder_py.identification import adaptation_convergence
    >>> robot, motion = th.Robot.load("elbow"), th.reference.Sinusoid([0.8, 0.6], [0.5, 0.8])
    >>> nominal = robot.with_parameters(0.7 * robot.parameters)
    >>> run = adaptation_convergence(robot, nominal, motion, 10.0, window=2.0, adaptation=10.0)
    >>> bool(run.excitation.l1 > 0.0), bool(run.parameter_error[-1] < 0.4)
    (True, True)
    """
    controller = SlotineLi(nominal, Lambda, K_d, adaptation=adaptation)
    result = simulate(plant, controller, reference, duration, dt, log_every=log_every)
    K = plant.base_parameters().mapping
    error = np.linalg.norm((result.parameters - plant.parameters) @ K.T, axis=1)
    desired = [reference(float(t)) for t in result.t]
    q, dq, ddq = (np.stack([getattr(point, name) for point in desired]) for name in ("q", "dq", "ddq"))
    measured = persistent_excitation(plant, q, dq, ddq, result.t, window)
    return AdaptationConvergence(result=result, parameter_error=error / error[0], excitation=measured)
