"""Covariances of few demonstrations, drawn towards that of minimum-jerk motion.

A Gaussian prior whose inverse covariance is the integrated squared jerk has minimum-jerk motions as its most probable
ones under any constraints. The blend with what the demonstrations say is

    C = (1 - rho) C_data + rho (s C_jerk + q(rho) C_quadratic)

C_jerk is the pseudo-inverse of the jerk's Gram matrix, and its scale s gives it the data's variance outside the
quadratic polynomials. Quadratics, which have no jerk, get q(rho) = q_data / (1 - rho), bounded by a large number: at
small rho the data say how start, end and shape belong together, at rho = 1 the prior is minimum jerk alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..checks import Array
from ..errors import ThunderError
from .basis import SplineBasis
from .fpca_components import SplineSpace

__all__ = ["Blend", "JerkPrior", "Sample", "blended", "jerk_prior", "minimum_jerk_mean", "plain"]

#: bound of the variance of quadratics, in the variance of the most variable direction that has jerk
_LARGE = 1e8
#: least scale of a coordinate in which nothing varies, in that of the most variable coordinate
_LEAST = 1e-6
#: part of the mean's square below which motions are the same but for rounding
_SAME = 1e-20


@dataclass(frozen=True)
class JerkPrior:
    """Minimum-jerk covariance, scaled to a set of motions.

    Attributes
    ----------
    flat : array (m, 2 or 3)
        Orthonormal quadratics; the constant is not among them where splines have zero mean.
    curved : array (m, ...)
        What is orthogonal to them, in eigenvectors of the jerk's Gram matrix.
    inverse : array (...)
        Reciprocal eigenvalues.
    scales : array (d,)
        s of each coordinate of motion.
    flat_variances : array (d,)
        Variance q_data of the quadratics in the data, per direction.
    """

    flat: Array
    curved: Array
    inverse: Array
    scales: Array
    flat_variances: Array

    def bound(self) -> Array:
        """Variance (d,) that stands for an unlimited one."""
        return np.asarray(_LARGE * self.scales * self.inverse.max())

    def spread(self, variances: Array, rho: float) -> Array:
        """Variances (d,) over 1 - rho, bounded: what is left free at rho = 1."""
        if rho >= 1.0:
            return self.bound()
        return np.asarray(np.minimum(variances / (1.0 - rho), self.bound()))

    def rows(self, dof: int, flat_variance: float) -> Array:
        """Root F (m, m) of one coordinate's prior covariance F' F."""
        curved = np.sqrt(self.scales[dof] * self.inverse)[:, None] * self.curved.T
        return np.vstack([np.sqrt(flat_variance) * self.flat.T, curved])


def jerk_prior(basis: SplineBasis, space: SplineSpace, data: Blend, shared: Sequence[Sequence[int]]) -> JerkPrior:
    """Minimum-jerk covariance beside a set of motions.

    Parameters
    ----------
    basis, space
        Where the motions live.
    data : Blend
        Mean and covariance of the motions; how far the mean goes sets the scale where they do not differ.
    shared : sequence of index lists
        Coordinates of motion that have one scale in common.

    Raises
    ------
    ThunderError
        For splines without jerk, and motions that are constant.
    """
    if basis.degree < 3:
        raise ThunderError(f"shrinkage needs splines with a jerk, of degree 3 at least, got {basis.degree}")
    values, vectors = np.linalg.eigh(space.penalty(basis.gram(3)))
    zeros = 2 if space.zero_mean else 3
    flat, curved, inverse = vectors[:, :zeros], vectors[:, zeros:], 1.0 / values[zeros:]
    mean, rows = space.coordinates(data.mean), data.rows
    scales, flat_variances = np.empty(mean.shape[1]), np.empty(mean.shape[1])
    for part in map(list, shared):
        moving = float(((curved.T @ rows[:, :, part]) ** 2).sum())
        if moving <= _SAME * float((mean[:, part] ** 2).sum()):
            moving = float(((curved.T @ mean[:, part]) ** 2).sum())
        scales[part] = moving / (len(part) * inverse.sum())
        flat_variances[part] = float(((flat.T @ rows[:, :, part]) ** 2).sum()) / (len(part) * zeros)
    size = float((data.mean**2).sum() + (data.offset_mean**2).sum())
    if float(scales.max() * inverse.sum()) <= _SAME * size:
        raise ThunderError("shrinkage needs motions that move, got constant ones")
    return JerkPrior(flat, curved, inverse, np.maximum(scales, _LEAST * scales.max()), flat_variances)


class Sample(NamedTuple):
    """Motions that a covariance is taken of."""

    offsets: Array  # (R, d), x_bar
    centred: Array  # (R, K, d), coefficients without it


class Blend(NamedTuple):
    """Mean and covariance, the covariance as a root: C = rows' rows, (N, m, d) of the data and one (m, m) per dof."""

    mean: Array  # (K, d)
    offset_mean: Array  # (d,)
    offset_covariance: Array  # (d, d)
    rows: Array
    extra: list[Array]


def plain(space: SplineSpace, sample: Sample) -> Blend:
    """Mean and covariance as the motions have them."""
    count = max(len(sample.offsets) - 1, 1)
    mean, offset_mean = sample.centred.mean(axis=0), sample.offsets.mean(axis=0)
    rows = space.coordinates(sample.centred - mean) / np.sqrt(count)
    spread = (sample.offsets - offset_mean) / np.sqrt(count)
    none = np.zeros((0, space.dimension))
    return Blend(mean, offset_mean, spread.T @ spread, rows, [none] * len(offset_mean))


def blended(space: SplineSpace, data: Blend, prior: JerkPrior, rho: float, ideal: Array | None) -> Blend:
    """Draw covariance and, if `ideal` (K, d) is given, mean towards minimum jerk.

    Motions that differ in nothing have the prior's covariance.
    """
    mean, offset_mean, covariance, rows, _ = data
    if ideal is not None:
        middle = space.integrals @ ideal if space.zero_mean else np.zeros_like(offset_mean)
        mean = (1.0 - rho) * mean + rho * (ideal - middle)
        offset_mean = (1.0 - rho) * offset_mean + rho * middle
    share = 1.0 if float((rows**2).sum()) <= _SAME * float((data.mean**2).sum()) else rho
    flat = prior.spread(prior.flat_variances, share)
    extra = [np.sqrt(share) * prior.rows(k, float(flat[k])) for k in range(len(offset_mean))]
    if space.zero_mean:
        free = prior.spread(np.diag(covariance), share)
        covariance = (1.0 - share) * covariance + share * np.diag(free)
    return Blend(mean, offset_mean, covariance, np.sqrt(1.0 - share) * rows, extra)


def minimum_jerk_mean(basis: SplineBasis, coefficients: Array) -> Array:
    """Rest-to-rest minimum-jerk motion between the ends of a mean, (K, d) from and to coefficients (K, d).

    Within the splines: the quintic from degree 5 on, and what comes nearest to it below.
    """
    if basis.degree < 2 or basis.n_functions < 6:
        raise ThunderError(f"a minimum-jerk mean needs 6 functions of degree 2 at least, got {basis}")
    ends = np.array([0.0, 1.0])
    A = np.vstack([basis.evaluate(ends, order) for order in range(3)])
    b = np.vstack([coefficients[[0, -1]], np.zeros((4, coefficients.shape[1]))])
    # what satisfies the constraints, and what may be added to it
    Q, R = np.linalg.qr(A.T, mode="complete")
    particular = Q[:, :6] @ np.linalg.solve(R[:6].T, b)
    null = Q[:, 6:]
    if not null.size:
        return np.asarray(particular)
    P = basis.gram(3)
    return np.asarray(particular - null @ np.linalg.solve(null.T @ P @ null, null.T @ P @ particular))
