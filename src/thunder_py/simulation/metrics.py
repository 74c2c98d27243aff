"""Metrics of a run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .._core import Status
from ..checks import Array, nonnegative
from ..errors import ThunderError
from ..values import Value

#: metrics in the unit of the error
IN_ERROR_UNITS = ("rmse", "steady_state_error", "peak", "component_rmse")


class Metrics(Value):
    """Metrics of time, error and torque of a `SimulationResult`.

    For a run that `diverged` all metrics of the error are infinite, because a run that ended early does not measure
    tracking.
    """

    t: Array
    tau: Array
    status: npt.NDArray[np.int64]

    @property
    def diverged(self) -> bool:
        """True if the last status is ``diverged``: the state or an estimate left its bound."""
        return int(self.status[-1]) == int(Status.diverged)

    @property
    def error(self) -> Array:
        """Tracking error as the controller defines it, (k, m)."""
        raise NotImplementedError

    @property
    def error_unit(self) -> str | None:
        """Unit of the error; None where it was not logged."""
        raise NotImplementedError

    def error_norm(self, components: slice | Sequence[int] | None = None) -> Array:
        """Return the Euclidean norm of the error over time, (k,).

        Parameters
        ----------
        components : slice or sequence of int, optional
            Entries of the error, such as ``slice(0, 3)`` for a position in meters; default all.
        """
        e = self.error if components is None else self.error[:, components]
        return np.asarray(np.linalg.norm(e, axis=1))

    def rmse(self, components: slice | Sequence[int] | None = None) -> float:
        """Return the root of the mean over the logged instants of the squared error norm; infinite after divergence.

        Parameters
        ----------
        components : slice or sequence of int, optional
            See `error_norm`.
        """
        return self._or_infinite(np.sqrt(np.mean(self.error_norm(components) ** 2)))

    def steady_state_error(self, window: float = 0.2, components: slice | Sequence[int] | None = None) -> float:
        """Return the mean error norm over the end of the run; infinite after divergence.

        Parameters
        ----------
        window : float
            Fraction of the run's duration, more than 0 and at most 1.
        components : slice or sequence of int, optional
            See `error_norm`.
        """
        if not 0.0 < window <= 1.0:
            raise ThunderError(f"window must be more than 0 and at most 1, got {window:g}")
        start = self.t[-1] - window * (self.t[-1] - self.t[0])
        return self._or_infinite(np.mean(self.error_norm(components)[self.t >= start]))

    def rise_time(
        self, fraction: float = 0.1, window: float = 0.2, components: slice | Sequence[int] | None = None
    ) -> float:
        """Return the time after which the error norm stays near its steady state [s].

        With the steady state S of `steady_state_error` and the peak P of the error norm, it is the time from the start
        of the run to the last logged instant at which the norm is above ``S + fraction (P - S)``; infinite after
        divergence.

        Parameters
        ----------
        fraction : float
            Remaining fraction of P - S, at least 0 and less than 1.
        window : float
            See `steady_state_error`.
        components : slice or sequence of int, optional
            See `error_norm`.
        """
        if not 0.0 <= fraction < 1.0:
            raise ThunderError(f"fraction must be at least 0 and less than 1, got {fraction:g}")
        norm = self.error_norm(components)
        steady = self.steady_state_error(window, components)
        if self.diverged:
            return math.inf
        above = np.flatnonzero(norm > steady + fraction * (norm.max() - steady))
        return float(self.t[above[-1]] - self.t[0]) if above.size else 0.0

    def settling_time(self, tolerance: float, components: slice | Sequence[int] | None = None) -> float:
        """Return the time after which the error norm stays within a tolerance [s].

        Infinite if the run ends outside the tolerance or diverged.

        Parameters
        ----------
        tolerance : float
            Tolerance in units of the error, at least 0.
        components : slice or sequence of int, optional
            See `error_norm`.
        """
        bound = nonnegative(tolerance, "tolerance")
        outside = np.flatnonzero(self.error_norm(components) > bound)
        if self.diverged:
            return math.inf
        if not outside.size:
            return 0.0
        last = int(outside[-1])
        return math.inf if last == len(self.t) - 1 else float(self.t[last + 1] - self.t[0])

    def overshoot(self) -> Array:
        """Return the overshoot of each error beyond zero, relative to its initial value, (m,).

        0.1 is an overshoot of 10 percent, 0 an error that never changes its sign, NaN one that starts at zero. Infinite
        after divergence.
        """
        start = self.error[0]
        beyond = np.maximum(0.0, (-np.sign(start) * self.error).max(axis=0))
        if self.diverged:
            beyond = np.full_like(start, math.inf)
        return np.where(start == 0.0, np.nan, beyond / np.where(start == 0.0, 1.0, np.abs(start)))

    def component_rmse(self) -> Array:
        """Return the root mean square of each component of the error, (m,).

        Infinite after divergence.
        """
        rms: Array = np.sqrt(np.mean(self.error**2, axis=0))
        return np.full_like(rms, math.inf) if self.diverged else rms

    def peak(self, components: slice | Sequence[int] | None = None) -> float:
        """Return the largest error norm; infinite after divergence.

        Parameters
        ----------
        components : slice or sequence of int, optional
            See `error_norm`.
        """
        return self._or_infinite(self.error_norm(components).max())

    def _or_infinite(self, value: float | np.floating[Any]) -> float:
        return math.inf if self.diverged else float(value)

    def torque_rms(self) -> float:
        """Return the root of the mean over the logged instants of the squared norm of tau, up to any divergence."""
        return float(np.sqrt(np.mean(np.sum(self.tau**2, axis=1))))

    def torque_peak(self) -> Array:
        """Return the largest absolute torque of each joint, (n,), up to any divergence."""
        return np.asarray(np.abs(self.tau).max(axis=0))
