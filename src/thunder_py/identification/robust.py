"""Weights of residuals that count outliers less, found by repeated passes over the logs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..checks import Array
from .signals import NORMAL_MEDIAN

#: residuals in standard deviations beyond which weights fall, for an efficiency of 95 % with normal residuals
_HUBER, _BISQUARE = 1.345, 4.685
#: bins of absolute residuals for each power of ten, and the powers; 1 % wide
_PER_DECADE, _DECADES = 250, (-10.0, 10.0)
_BINS = int(_PER_DECADE * (_DECADES[1] - _DECADES[0]))


@dataclass(frozen=True)
class Outliers:
    """Residuals relative to a solution.

    Attributes
    ----------
    solution : tuple of (c,) array
        For each row the coefficients of its columns, and -1 for its torque.
    scale : (r,) array
        Standard deviations of residuals that are no outliers.
    redescending : bool
        Whether the weights are Tukey's, which ignore outliers, instead of Huber's, which limit them. Those of Huber
        lead to one solution from any start.
    """

    solution: tuple[Array, ...]
    scale: Array
    redescending: bool

    def weighted(self, pieces: Sequence[Array]) -> tuple[list[Array], Array]:
        """Return the rows times the roots of their weights, and sums for `spread_of`, (r, 3 + bins)."""
        rows, sums = [], np.zeros((len(pieces), 3 + _BINS))
        for row, (piece, solution) in enumerate(zip(pieces, self.solution, strict=True)):
            u = piece @ solution / self.scale[row]
            w, slope = _bisquare(u) if self.redescending else _huber(u)
            sums[row, :3] = np.sum(w), np.sum((w * u) ** 2), np.sum(slope)
            sums[row, 3:] = histogram(np.abs(u))
            rows.append(np.sqrt(w)[:, None] * piece)
        return rows, sums


def _huber(u: Array) -> tuple[Array, Array]:
    """Return weights, and the derivative of u times its weight."""
    size = np.abs(u)
    return np.minimum(1.0, _HUBER / np.maximum(size, _HUBER)), (size < _HUBER).astype(np.float64)


def _bisquare(u: Array) -> tuple[Array, Array]:
    square = (u / _BISQUARE) ** 2
    inside = np.maximum(1.0 - square, 0.0)
    return inside**2, inside * (1.0 - 5.0 * square) * (square < 1.0)


def histogram(size: Array) -> Array:
    """Return the numbers of absolute residuals in logarithmic bins, which add up over parts of logs."""
    place = _PER_DECADE * (np.log10(np.maximum(size, 1e-300)) - _DECADES[0])
    return np.bincount(np.clip(place, 0, _BINS - 1).astype(np.intp), minlength=_BINS).astype(np.float64)


@dataclass(frozen=True)
class Spread:
    """Spread of the residuals of each row, (r,) each.

    Attributes
    ----------
    scale : array
        Median absolute residual, as the standard deviation of a normal variable.
    noise : array
        Standard deviation that leads to the covariance of the weighted solution.
    weight : array
        Mean weight.
    influence : array
        Mean weight relative to the mean slope of residuals times their weight.
    """

    scale: Array
    noise: Array
    weight: Array
    influence: Array


def spread_of(sums: Array, outliers: Outliers, count: float) -> Spread:
    """Return the spread of residuals from the sums of `Outliers.weighted`.

    The covariance of an M-estimate is that of least squares with the variance mean(psi^2) / mean(psi')^2 (Huber and
    Ronchetti, Robust statistics, 2009, section 7.6).
    """
    weight, square, slope = (sums[:, :3] / count).T
    slope = np.maximum(slope, 1e-3)
    scale, noise = outliers.scale * normal_scale(sums[:, 3:], count), outliers.scale * np.sqrt(square) / slope
    return Spread(scale, noise, weight, weight / slope)


def normal_scale(histograms: Array, count: float) -> Array:
    """Return median absolute residuals, (r,), as standard deviations of normal variables, from `histogram`s."""
    below = np.cumsum(histograms, axis=1) / count
    return np.array([_quantile(row) for row in below]) / NORMAL_MEDIAN


def _quantile(below: Array) -> float:
    """Return the median from the cumulative shares of bins."""
    k = int(np.searchsorted(below, 0.5))
    before = below[k - 1] if k else 0.0
    part = (0.5 - before) / max(below[k] - before, 1e-300)
    return float(10.0 ** (_DECADES[0] + (k + part) / _PER_DECADE))
