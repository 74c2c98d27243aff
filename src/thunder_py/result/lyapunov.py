"""Lyapunov functions along a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..checks import Array, array
from ..errors import ThunderError
from ..values import Value
from .phases import plant_phases

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .run import Result

__all__ = ["Lyapunov", "lyapunov_function"]


@dataclass(frozen=True, eq=False)
class Lyapunov(Value):
    """A Lyapunov function over time.

    Attributes
    ----------
    t : (k,) array
        Time [s].
    V, V_dot : (k,) array
        Function and derivative.
    analytic : bool
        Whether V_dot is the expression of the law; otherwise it is central differences of V.
    """

    t: Array
    V: Array
    V_dot: Array
    analytic: bool

    def plot(self, *, axes: Axes | None = None) -> Axes:
        """Draw V and V_dot, see `thunder_py.plotting.plot_lyapunov`."""
        from ..plotting.runs import plot_lyapunov

        return plot_lyapunov(self, axes=axes)


def lyapunov_function(result: Result, controller: object) -> Lyapunov:
    """Return V and V_dot, phase by phase of what the plant carries; V jumps where a payload comes."""
    function, derivative = getattr(controller, "lyapunov", None), getattr(controller, "lyapunov_dot", None)
    if not callable(function):
        raise ThunderError(
            f"{type(controller).__name__} defines no Lyapunov function: no method lyapunov(robot, result)"
        )
    rows = len(result.t)
    V, V_dot, analytic = np.zeros(rows), np.zeros(rows), True
    for robot, first, last in plant_phases(result, "lyapunov"):
        if first == last:
            continue
        now = slice(first, last)
        V[now] = array(function(robot, result), (rows,), "result of controller.lyapunov")[now]
        known = derivative(robot, result) if callable(derivative) else None
        if known is not None:
            V_dot[now] = array(known, (rows,), "result of controller.lyapunov_dot")[now]
        else:
            analytic = False
            V_dot[now] = np.gradient(V[now], result.t[now]) if last - first > 1 else 0.0
    return Lyapunov(result.t, V, V_dot, analytic)
