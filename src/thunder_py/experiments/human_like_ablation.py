"""What of MAP does the work: the frame from start to goal, the mean in it, or the covariance about the mean."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..checks import Array
from ..motion import MotionSet
from ..motion.alignment import path_frame
from ..motion.fpca import FPCA
from ..motion.fpca_shrinkage import minimum_jerk_mean
from .human_like_reach_planners import Ends, Functional, Planner

__all__ = ["VARIANTS", "variants"]

#: in the order of the table
VARIANTS = (
    "minimum jerk",
    "straight, in the mean's time law",
    "mean",
    "MAP, mean replaced by minimum jerk",
    "MAP, covariance replaced by minimum jerk's",
    "MAP, coordinate by coordinate",
    "MAP, not aligned",
    "MAP",
    "MAP, positions alone",
)


@dataclass(frozen=True, eq=False)
class _Mean:
    """The mean of aligned reaches, moved to other ends; asked only for positions."""

    fpca: FPCA
    ends: Ends
    straight: bool

    @property
    def duration(self) -> float:
        return self.ends.duration

    def position(self, t: npt.ArrayLike, derivative: int = 0) -> Array:
        tau = np.clip(np.asarray(t, dtype=np.float64) / self.duration, 0.0, 1.0)
        x0, x1 = self.ends.x
        D, R = path_frame(x0, x1)
        start = self.fpca.mean(np.zeros(1))
        x = self.fpca.mean(tau.ravel(), derivative) - (start if derivative == 0 else 0.0)
        if self.straight:
            x = x * np.array([1.0, 0.0, 0.0])
        moved = np.asarray(D) * x @ R.T / self.duration**derivative
        return np.asarray((moved + (x0 if derivative == 0 else 0.0)).reshape(*tau.shape, 3), dtype=np.float64)


def variants(motions: MotionSet, fpca: FPCA) -> dict[str, Planner]:
    """Return planners with parts of MAP taken away, by the names of `VARIANTS` (without MAP and minimum jerk).

    Parameters
    ----------
    motions : MotionSet
        To learn from.
    fpca : FPCA
        Components of MAP, from the same. What else is fitted takes its share of minimum jerk, where it has any.
    """
    share = fpca.shrinkage_
    positions = Functional(fpca).planner(1)
    return {
        "straight, in the mean's time law": lambda ends: _Mean(fpca, ends, straight=True),
        "mean": lambda ends: _Mean(fpca, ends, straight=False),
        "MAP, mean replaced by minimum jerk": Functional(
            _with_mean(fpca, minimum_jerk_mean(fpca.basis, fpca.mean_coefficients_))
        ),
        "MAP, covariance replaced by minimum jerk's": Functional(
            _with_mean(
                FPCA(joint=True, alignment="path", shrinkage=1.0, smoothing=float(fpca.smoothing_[0])).fit(motions),
                fpca.mean_coefficients_,
            )
        ),
        "MAP, coordinate by coordinate": Functional(FPCA(alignment="path", shrinkage=share).fit(motions)),
        "MAP, not aligned": Functional(FPCA(joint=True, shrinkage=share).fit(motions)),
        "MAP, positions alone": lambda ends: positions.plan(ends.x[0], ends.x[1], ends.duration),
    }


def _with_mean(fpca: FPCA, mean: Array) -> FPCA:
    """Return components about another S_0 (K, 3); x_bar is free in plans, so that its own mean does not matter."""
    other = copy(fpca)
    other.mean_coefficients_ = mean
    return other
