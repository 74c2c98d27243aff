"""Initial value problems by SciPy's Dormand-Prince method of order 8; failures raise `IntegrationError`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .checks import Array
from .errors import ThunderError


class IntegrationError(ThunderError):
    """Failed integration: a right-hand side that is not finite, or a step size below the spacing of numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.integration import IntegrationError, integrate
    >>> try:
    ...     integrate(lambda t, x: np.full(1, np.nan), (0.0, 1.0), np.zeros(1), rtol=1e-6, atol=1e-9)
    ... except IntegrationError as error:
    ...     print(error)
    the rate of the state is not finite at t = 0 s
    """


def integrate(
    f: Callable[[float, Array], Array], span: tuple[float, float], x: Array, *, rtol: float, atol: float, **options: Any
) -> Any:
    """Integrate x' = f(t, x) by `scipy.integrate.solve_ivp` with the method DOP853.

    Parameters
    ----------
    f : callable
        Right-hand side.
    span : (float, float)
        Start and end time [s]; with a terminal event the end may be infinite.
    x : (m,) array
        Initial state.
    rtol, atol : float
        Relative and absolute tolerance of a step.
    **options
        Further options of `solve_ivp`.

    Returns
    -------
    object
        Result of `solve_ivp`.

    Raises
    ------
    IntegrationError
        If the solver fails before the end.

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.integration import integrate
    >>> solution = integrate(lambda t, x: -x, (0.0, 1.0), np.ones(1), rtol=1e-9, atol=1e-12)
    >>> round(float(solution.y[0, -1]), 6)
    0.367879
    """
    from scipy.integrate import solve_ivp

    if not np.isfinite(f(span[0], x)).all():  # the search for the first step would not end
        raise IntegrationError(f"the rate of the state is not finite at t = {span[0]:g} s")
    with np.errstate(over="ignore", invalid="ignore"):  # in steps that are too long and repeated
        solution: Any = solve_ivp(f, span, x, method="DOP853", rtol=rtol, atol=atol, **options)
    if not solution.success:
        raise IntegrationError(f"the integration ended at t = {solution.t[-1]:g} s: {solution.message}")
    return solution


def rk4_step(f: Callable[[float, Array], Array], t: float, x: Array, h: float) -> Array:
    """Advance x' = f(t, x) by a step h of the classical Runge-Kutta method of order 4.

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.integration import rk4_step
    >>> round(float(rk4_step(lambda t, x: -x, 0.0, np.ones(1), 0.1)[0]), 6)
    0.904838
    """
    k1 = f(t, x)
    k2 = f(t + 0.5 * h, x + 0.5 * h * k1)
    k3 = f(t + 0.5 * h, x + 0.5 * h * k2)
    k4 = f(t + h, x + h * k3)
    return np.asarray(x + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4))
