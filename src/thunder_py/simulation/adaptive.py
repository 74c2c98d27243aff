"""Reference integrator: SciPy's DOP853, far more accurate and far slower than fixed steps."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..checks import Array

RELATIVE_TOLERANCE, ABSOLUTE_TOLERANCE = 1e-11, 1e-13
#: size of a state beyond which the closed loop reports divergence
STATE_BOUND = 1e8
#: solver steps within dt; more means a motion too fast to resolve, such as under forces of 1e300 N
MOST_STEPS = 20_000


def advance(f: Callable[[float, Array], Array], x: Array, t: float, dt: float) -> Array:
    """Integrate x' = f(t, x) from t to t + dt by the method of Dormand and Prince of order 8.

    Parameters
    ----------
    f : callable
        Right-hand side.
    x : (m,) array
        State at t.
    t, dt : float
        Time and step [s].

    Returns
    -------
    (m,) array
        State at t + dt; NaN where the solver fails, needs too many steps, or the state leaves its bound.
    """
    from scipy.integrate import DOP853

    diverged = np.full(len(x), np.nan)
    if not np.isfinite(f(t, x)).all():  # the solver would never find its first step
        return diverged
    with np.errstate(over="ignore", invalid="ignore"):  # steps that are too long are repeated
        solver = DOP853(f, t, x, t + dt, rtol=RELATIVE_TOLERANCE, atol=ABSOLUTE_TOLERANCE)
        for _ in range(MOST_STEPS):
            solver.step()
            if solver.status != "running" or not np.abs(solver.y).max() < STATE_BOUND:
                break
    if solver.status != "finished" or not np.isfinite(solver.y).all():
        return diverged
    return np.asarray(solver.y)
