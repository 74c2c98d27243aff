"""The reference integrator: SciPy's, far more accurate than any fixed step and far slower."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..checks import Array
from ..integration import IntegrationError, integrate

__all__ = ["advance"]

RELATIVE_TOLERANCE, ABSOLUTE_TOLERANCE = 1e-11, 1e-13


def advance(f: Callable[[float, Array], Array], x: Array, t: float, dt: float) -> Array:
    """Return the solution of x' = f(t, x) at t + dt by the method of Dormand and Prince of order 8.

    Parameters
    ----------
    f : callable
        Right-hand side.
    x : (m,) array
        State at t.
    t, dt : float
        [s].

    Returns
    -------
    (m,) array
        NaN where the state does not stay finite: the run has diverged.
    """
    try:
        end: Array = integrate(f, (t, t + dt), x, rtol=RELATIVE_TOLERANCE, atol=ABSOLUTE_TOLERANCE).y[:, -1]
    except IntegrationError:
        return np.full(len(x), np.nan)
    return end
