"""Largest velocity feedback of a sampled controller, and the warning beyond it."""

from __future__ import annotations

import copy
import math
import warnings
from typing import Any

import numpy as np

from .. import _core
from .._core import Status
from ..checks import Array
from ..robot import Robot

__all__ = ["damping_rate", "stable_rate", "warn_of_high_gains"]

#: step of differences of velocities [rad/s or m/s]
_STEP = 1e-4
#: gains of velocities by law; K_d of all others
_GAINS = {
    _core.OperationalSpace: "K_1",
    _core.CartesianComputedTorque: "K_1",
    _core.RobustUnitVector: "K_1 or rho / epsilon",
    _core.ComputedTorque: "K_1 or K_d",
    _core.ACT: "K_1 or K_d",
    _core.Impedance: "D or K_d",
    _core.SlotineLi: "K_d or Lambda",
    _core.PassivityBased: "K_d or Lambda",
    _core.Backstepping: "K_d or Lambda",
}


def stable_rate(period: float, delay: float = 0.0) -> float:
    """Return the ratio of damping to inertia [1/s] beyond which a sampled loop oscillates with growing amplitude.

    Parameters
    ----------
    period : float
        Control period, over which the torque is constant [s].
    delay : float
        Further delay of the loop [s].

    Notes
    -----
    2 sin(pi / (4 N + 2)) / period for a delay of N periods, derived in docs/theory/adaptive_control.md.

    Examples
    --------
    >>> from thunder_py.control import stable_rate
    >>> round(stable_rate(1e-3)), round(stable_rate(1e-3, delay=1e-3)), round(stable_rate(1e-3, delay=4e-3))
    (2000, 1000, 347)
    """
    return 2.0 * math.sin(math.pi / (4.0 * delay / period + 2.0)) / period


def _model(law: _core.Controller) -> Robot | None:
    """Return the model of a controller of this package."""
    arguments: Any = getattr(law, "_core_arguments", ((None,), {}))
    first = arguments[0][0] if arguments[0] else None
    return first if isinstance(first, Robot) else None


def velocity_feedback(law: _core.Controller, q: Array, reference: Any) -> Array | None:
    """Return -d tau / d dq (n, n) of a controller at rest without its compensation of friction; None without a solution."""
    twin: Any = copy.copy(law)
    twin.reset()
    twin.torque_limits = None
    model, n = _model(law), len(q)
    D = np.empty((n, n))
    for j, step in enumerate(_STEP * np.eye(n)):
        difference = np.subtract(twin.step(0.0, q, step, reference), twin.step(0.0, q, -step, reference))
        if twin.status != Status.ok:
            return None
        if model is not None:
            difference -= model.friction_torque(step) - model.friction_torque(-step)
        D[:, j] = -difference / (2.0 * _STEP)
    return D


def damping_rate(law: _core.Controller, M: Array, q: Array, reference: Any) -> tuple[float, int, float]:
    """Return the largest eigenvalue of M^-1 D [1/s], the joint that it damps most, and the damping of that joint.

    Parameters
    ----------
    law : Controller
        Controller of the package; its state does not change.
    M : (n, n) array
        Mass matrix of the plant.
    q : (n,) array
        Position.
    reference : JointReference or TaskReference
        Reference of the controller.
    """
    D = velocity_feedback(law, q, reference)
    if D is None:
        return 0.0, 0, 0.0
    rates, modes = np.linalg.eig(np.linalg.solve(M, D))
    k = int(np.argmax(rates.real))
    j = int(np.argmax(np.abs(modes[:, k] * (D @ modes[:, k]))))
    return float(rates[k].real), j, float(D[j, j])


def warn_of_high_gains(
    law: object, plant: Robot | None, q: Array, reference: Any, period: float, delay: float = 0.0
) -> None:
    """Warn if a controller's velocity feedback is unstable in a sampled loop around a position.

    Parameters
    ----------
    law : object
        Only controllers of the package are checked.
    plant : Robot, optional
        Default the controller's model.
    q : (n,) array
        Position.
    reference : JointReference or TaskReference
        Reference of the controller.
    period, delay : float
        See `stable_rate`.
    """
    robot = plant if plant is not None or not isinstance(law, _core.Controller) else _model(law)
    if robot is None or not isinstance(law, _core.Controller):
        return
    M = robot.mass_matrix(q)
    if not np.linalg.eigvalsh(M)[0] > 0.0:
        return
    rate, j, damping = damping_rate(law, M, q, reference)
    share = rate / stable_rate(period, delay)
    if share > 1.0:
        gain = next((name for kind, name in _GAINS.items() if isinstance(law, kind)), "K_d")
        warnings.warn(
            f"{gain} of {type(law).__name__} is too high for a control period of {period:g} s and a delay of {delay:g} s: "
            f"the damping {damping:.4g} of {robot.joint_names[j]!r} is unstable beyond {damping / share:.4g}; "
            f"multiply the gain by at most {1.0 / share:.2g} or shorten the period",
            RuntimeWarning,
            stacklevel=3,
        )
