"""The reference integrator: SciPy's, far more accurate than any fixed step and far slower."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..checks import Array

__all__ = ["advance"]

RELATIVE_TOLERANCE, ABSOLUTE_TOLERANCE = 1e-11, 1e-13
#: beyond it the closed loop says that a state has diverged; steps become ever shorter on the way to where numbers end
STATE_BOUND = 1e8
#: within dt, after which the motion is too fast to be followed: forces of 1e300 N make an arm swing at 1e150 rad/s
MOST_STEPS = 20_000


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
        NaN where the solver fails, needs too many steps, or the state leaves its bound: the run has diverged.
    """
    from scipy.integrate import DOP853

    diverged = np.full(len(x), np.nan)
    if not np.isfinite(f(t, x)).all():  # the solver would look for its first step for ever
        return diverged
    with np.errstate(over="ignore", invalid="ignore"):  # of a step that is too long: it is tried again
        solver = DOP853(f, t, x, t + dt, rtol=RELATIVE_TOLERANCE, atol=ABSOLUTE_TOLERANCE)
        for _ in range(MOST_STEPS):
            solver.step()
            if solver.status != "running" or not np.abs(solver.y).max() < STATE_BOUND:
                break
    if solver.status != "finished" or not np.isfinite(solver.y).all():
        return diverged
    end: Array = solver.y
    return end
