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

import numpy as np

from ..checks import Array
from ..errors import ThunderError
from .basis import SplineBasis
from .fpca_components import SplineSpace

__all__ = ["JerkPrior", "closed_form_shrinkage", "jerk_prior", "minimum_jerk_mean"]

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


def jerk_prior(
    basis: SplineBasis, space: SplineSpace, deviations: Array, mean: Array, shared: Sequence[Sequence[int]]
) -> JerkPrior:
    """Minimum-jerk covariance beside a set of motions.

    Parameters
    ----------
    basis, space
        Where the motions live.
    deviations : array (R, m, d)
        Coordinates of the motions about their mean.
    mean : array (m, d)
        Coordinates of the mean; how far it goes sets the scale where motions do not differ, as one alone does not.
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
    zeros = 3 if space.dimension == basis.n_functions else 2
    flat, curved, inverse = vectors[:, :zeros], vectors[:, zeros:], 1.0 / values[zeros:]
    scales, flat_variances = np.empty(mean.shape[1]), np.empty(mean.shape[1])
    for part in map(list, shared):
        moving = _variance(curved.T @ deviations[:, :, part])
        if moving <= _SAME * float((mean[:, part] ** 2).sum()):
            moving = float(((curved.T @ mean[:, part]) ** 2).sum())
        scales[part] = moving / (len(part) * inverse.sum())
        flat_variances[part] = _variance(flat.T @ deviations[:, :, part]) / (len(part) * zeros)
    if not scales.max() > 0.0:
        raise ThunderError("shrinkage needs motions that move, got constant ones")
    return JerkPrior(flat, curved, inverse, np.maximum(scales, _LEAST * scales.max()), flat_variances)


def _variance(deviations: Array) -> float:
    return float((deviations**2).sum()) / max(len(deviations) - 1, 1)


def closed_form_shrinkage(deviations: Array, prior: JerkPrior, joint: bool) -> float:
    """Share rho of the prior that has the least expected squared error in Frobenius' norm (Ledoit and Wolf, 2004).

    The expected error of the sample covariance S over its distance to the target T, both from the data:
    ``sum_r |z_r z_r' - S|^2 / R^2`` over ``|S - T|^2``, between 0 and 1. Per coordinate, both are sums over
    coordinates, each in units of its own variance. One motion has rho = 1.

    Parameters
    ----------
    deviations : array (R, m, d)
        Coordinates of the motions about their mean.
    prior : JerkPrior
        The target, with the data's variance of quadratics.
    joint : bool
        One covariance of all coordinates of motion, or one of each.
    """
    count, m, d = deviations.shape
    if count == 1:
        return 1.0
    roots = [prior.rows(k, float(prior.flat_variances[k])) for k in range(d)]
    targets = [root.T @ root for root in roots]
    if joint:
        whole = np.zeros((m, d, m, d))
        for k, target in enumerate(targets):
            whole[:, k, :, k] = target
        blocks = [(deviations.reshape(count, -1), whole.reshape(m * d, m * d))]
    else:
        blocks = [(deviations[:, :, k], target) for k, target in enumerate(targets)]
    error = distance = 0.0
    for rows, target in blocks:
        S = rows.T @ rows / count
        unit = max(float(np.trace(S)) ** 2, np.finfo(float).tiny)
        error += max(float(((rows**2).sum(axis=1) ** 2).sum() - count * (S**2).sum()), 0.0) / count**2 / unit
        distance += float(((S - target) ** 2).sum()) / unit
    return min(error / distance, 1.0) if distance > 0.0 else 1.0


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
