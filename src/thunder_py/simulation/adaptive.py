"""The reference integrator: SciPy's, far more accurate than any fixed step and far slower."""

from __future__ import annotations

from collections.abc import Callable

from ..checks import Array

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
    """
    from scipy.integrate import solve_ivp

    solution = solve_ivp(f, (t, t + dt), x, method="DOP853", rtol=RELATIVE_TOLERANCE, atol=ABSOLUTE_TOLERANCE)
    end: Array = solution.y[:, -1]
    return end
