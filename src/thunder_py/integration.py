"""Initial value problems by SciPy's Dormand-Prince method of order 8, whose failures are errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .checks import Array
from .errors import ThunderError

__all__ = ["IntegrationError", "integrate"]


class IntegrationError(ThunderError):
    """A right-hand side that is not finite, or a step size below the spacing of the numbers."""


def integrate(
    f: Callable[[float, Array], Array], span: tuple[float, float], x: Array, *, rtol: float, atol: float, **options: Any
) -> Any:
    """Return `scipy.integrate.solve_ivp` of x' = f(t, x) by DOP853.

    Parameters
    ----------
    f : callable
        Right-hand side.
    span : (float, float)
        From where to where; with a terminal event the end may be infinite.
    x : (m,) array
        State at the start.
    rtol, atol : float
        Tolerances of a step.
    **options
        Of `solve_ivp`.

    Raises
    ------
    IntegrationError
        If the solver does not reach its end.
    """
    from scipy.integrate import solve_ivp

    if not np.isfinite(f(span[0], x)).all():  # the solver would look for its first step for ever
        raise IntegrationError(f"the rate of the state is not finite at t = {span[0]:g} s")
    with np.errstate(over="ignore", invalid="ignore"):  # of a step that is too long: it is tried again
        solution: Any = solve_ivp(f, span, x, method="DOP853", rtol=rtol, atol=atol, **options)
    if not solution.success:
        raise IntegrationError(f"the integration ended at t = {solution.t[-1]:g} s: {solution.message}")
    return solution
