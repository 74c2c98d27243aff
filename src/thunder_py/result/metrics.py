"""Figures of merit of a run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .._core import Status
from ..checks import Array, array
from ..values import Value

__all__ = ["Metrics"]


class Metrics(Value):
    """What a `Result` computes of time, error and torque.

    Of a run that `diverged` all figures of the error are infinite: it ended early, and what there is of it says nothing
    of how well the reference was followed.
    """

    t: Array
    tau: Array
    status: npt.NDArray[np.int64]

    @property
    def diverged(self) -> bool:
        """Whether the last status is ``diverged``: the state, or an estimate, left its bound."""
        return int(self.status[-1]) == int(Status.diverged)

    @property
    def error(self) -> Array:
        """Tracking error as the controller defines it, (k, m)."""
        raise NotImplementedError

    def error_norm(self, components: slice | Sequence[int] | None = None) -> Array:
        """Return the Euclidean norm of the error over time, (k,).

        Parameters
        ----------
        components : slice or sequence of int, optional
            Entries of the error, such as ``slice(0, 3)`` for a position in metres; default all.
        """
        e = self.error if components is None else self.error[:, components]
        norm: Array = np.linalg.norm(e, axis=1)
        return norm

    def rmse(self, components: slice | Sequence[int] | None = None) -> float:
        """Return the root of the mean over the logged instants of the squared error norm; infinite after divergence.

        Parameters
        ----------
        components : slice or sequence of int, optional
            See `error_norm`.
        """
        return self._or_infinite(np.sqrt(np.mean(self.error_norm(components) ** 2)))

    def steady_state_error(self, window: float = 0.2, components: slice | Sequence[int] | None = None) -> float:
        """Return the mean error norm over the last part of the run; infinite after divergence.

        Parameters
        ----------
        window : float
            Part of the run's duration, more than 0 to 1.
        components : slice or sequence of int, optional
            See `error_norm`.
        """
        if not 0.0 < window <= 1.0:
            raise ValueError(f"window must be more than 0 and at most 1, got {window:g}")
        start = self.t[-1] - window * (self.t[-1] - self.t[0])
        return self._or_infinite(np.mean(self.error_norm(components)[self.t >= start]))

    def rise_time(
        self, fraction: float = 0.1, window: float = 0.2, components: slice | Sequence[int] | None = None
    ) -> float:
        """Return when the error norm has come down to its steady state for good [s].

        With the steady state S of `steady_state_error` and the peak P of the error norm, it is the time from the start
        of the run to the last logged instant at which the norm is above ``S + fraction (P - S)``; infinite after
        divergence.

        Parameters
        ----------
        fraction : float
            Part of the way down that may remain, 0 to 1.
        window : float
            See `steady_state_error`.
        components : slice or sequence of int, optional
            See `error_norm`.
        """
        if not 0.0 <= fraction < 1.0:
            raise ValueError(f"fraction must be at least 0 and less than 1, got {fraction:g}")
        norm = self.error_norm(components)
        steady = self.steady_state_error(window, components)
        if self.diverged:
            return math.inf
        above = np.flatnonzero(norm > steady + fraction * (norm.max() - steady))
        return float(self.t[above[-1]] - self.t[0]) if above.size else 0.0

    def settling_time(self, tolerance: float, components: slice | Sequence[int] | None = None) -> float:
        """Return when the error norm comes within a tolerance for good [s], infinity if it ends outside or diverged.

        Parameters
        ----------
        tolerance : float
            In units of the error, not negative.
        components : slice or sequence of int, optional
            See `error_norm`.
        """
        bound = float(array(tolerance, (), "tolerance"))
        if bound < 0.0:
            raise ValueError(f"tolerance must not be negative, got {bound:g}")
        outside = np.flatnonzero(self.error_norm(components) > bound)
        if self.diverged:
            return math.inf
        if not outside.size:
            return 0.0
        last = int(outside[-1])
        return math.inf if last == len(self.t) - 1 else float(self.t[last + 1] - self.t[0])

    def overshoot(self) -> Array:
        """Return how far each error went past zero, as a part of where it started, (m,).

        0.1 is an overshoot of 10 percent; 0 says that the error never changed its sign, NaN that it started at zero.
        Infinite after divergence.
        """
        start = self.error[0]
        beyond = np.maximum(0.0, (-np.sign(start) * self.error).max(axis=0))
        if self.diverged:
            beyond = np.full_like(start, math.inf)
        return np.where(start == 0.0, np.nan, beyond / np.where(start == 0.0, 1.0, np.abs(start)))

    def component_rmse(self) -> Array:
        """Return the root mean square of each error, joint by joint for a controller in joint space, (m,).

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
        peak: Array = np.abs(self.tau).max(axis=0)
        return peak
