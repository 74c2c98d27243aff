"""Feedback gains of the laws from a bandwidth and the inertia and damping of the joints."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from .. import _core
from ..checks import Array
from .act import ACT
from .backstepping import Backstepping
from .cartesian_computed_torque import CartesianComputedTorque
from .cartesian_mact import CartesianMACT
from .computed_torque import ComputedTorque
from .impedance import Impedance
from .mact import MACT
from .operational_space import OperationalSpace
from .passivity_based import PassivityBased
from .pd_gravity import PDGravity
from .slotine_li import SlotineLi

#: steps of the search for dampings, its aim below the bound, and the share of postures
_STEPS, _BELOW, _QUANTILE = 200, 0.99, 0.95


class Feedback(NamedTuple):
    """Parameters of the feedback of all laws.

    A joint of the inertia m follows ``(p + w) (m p + k) e = 0``, p = d/dt: stiffness w k, damping w m + k.

    Attributes
    ----------
    w : (n,) array
        Bandwidth of the joints [rad/s]; equal for laws in task space.
    m, k : (n,) array
        Inertia and damping of the joints [kg m^2, N m s/rad].
    rows : (m,) array
        Inertia of the rows of the task, for laws in task space [kg, kg m^2].
    """

    w: Array
    m: Array
    k: Array
    rows: Array


def _accelerations(f: Feedback) -> dict[str, Any]:
    return {"K_0": f.w * f.k / f.m, "K_1": f.w + f.k / f.m}


def _torques(f: Feedback) -> dict[str, Any]:
    return {"K_p": f.w * f.k, "K_d": f.w * f.m + f.k}


def _filtered(f: Feedback) -> dict[str, Any]:
    """Tau = M (ddq_d + w de) + ... + k (de + w e)."""
    return {"Lambda": f.w, "K_d": f.k}


def _act(f: Feedback) -> dict[str, Any]:
    """Q with B' P x = m (de + w e)."""
    gains = _accelerations(f)
    return {**gains, "Q": np.concatenate([2.0 * f.w * f.m * gains["K_0"], 2.0 * f.k])}


def _task_accelerations(f: Feedback) -> dict[str, Any]:
    return {"K_0": f.w.min() ** 2, "K_1": 2.0 * f.w.min(), "K_d": f.w * f.m + f.k}


#: law -> its gains
FEEDBACK: Mapping[type[_core.Controller], Callable[[Feedback], dict[str, Any]]] = {
    PDGravity: _torques,
    ComputedTorque: _accelerations,
    PassivityBased: _filtered,
    SlotineLi: _filtered,
    ACT: _act,
    MACT: _torques,
    OperationalSpace: _task_accelerations,
    CartesianComputedTorque: _task_accelerations,
    Impedance: lambda f: {"K": f.w.min() ** 2 * f.rows, "D": 2.0 * f.w.min() * f.rows, "K_d": f.w * f.m + f.k},
    Backstepping: lambda f: {"Lambda": f.w.min(), "K_d": f.k, "K_p": f.w.min() ** 2 * f.rows},
    CartesianMACT: lambda f: {"K_p": f.w.min() ** 2 * f.rows, "K_d": f.w * f.m + f.k},
}


def coupled_damping(mobility: Array, wanted: Array, largest: float) -> Array:
    """Return the damping (n,) of the joints, reduced from `wanted` where joints are fast together.

    Parameters
    ----------
    mobility : (k, n, n) array
        M^-1 in some postures.
    wanted : (n,) array
        Damping [N m s/rad].
    largest : float
        Largest eigenvalue of M^-1 diag(damping) [1/s] in 95 % of the postures; in others M can be near singular.
    """
    k = wanted.copy()
    for _ in range(_STEPS):
        root = np.sqrt(k)
        rates, modes = np.linalg.eigh(root[:, None] * mobility * root)
        worst = int(np.argsort(rates[:, -1])[int(_QUANTILE * len(rates))])
        if rates[worst, -1] <= largest:
            return k
        k *= (_BELOW * largest / rates[worst, -1]) ** (modes[worst, :, -1] ** 2)  # by their shares in the fastest mode
    return np.asarray(k * largest / rates[worst, -1])
