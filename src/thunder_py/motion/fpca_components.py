"""Principal components of splines: an ordinary decomposition in coordinates where the L2 norm is the Euclidean one."""

from __future__ import annotations

import numpy as np

from ..checks import Array
from .basis import SplineBasis

__all__ = ["SplineSpace", "decompose", "fixed_signs"]

#: relative difference below which two extremes are one: the first of them then decides the sign
_TIE = 1e-6


class SplineSpace:
    """Splines of a basis, or those of them whose mean over tau is zero, in orthonormal coordinates.

    With the Gram matrix G = L L', a spline with coefficients c has the coordinates L' c, whose scalar products are the
    integrals of products of splines. Splines of zero mean are the complement of one direction, the constant's.

    Attributes
    ----------
    dimension : int
        K, or K - 1 for zero mean.
    zero_mean : bool
        Which of the two.
    L : array (K, K)
        Root of the Gram matrix.
    integrals : array (K,)
        Of the basis functions over tau.
    """

    def __init__(self, basis: SplineBasis, zero_mean: bool) -> None:
        self.L = np.linalg.cholesky(basis.gram())
        self.integrals = basis.integrals()
        self.zero_mean = zero_mean
        if zero_mean:
            constant = self.L.T @ np.ones(basis.n_functions)
            self.axes = np.linalg.qr(constant[:, None], mode="complete")[0][:, 1:]
        else:
            self.axes = np.eye(basis.n_functions)
        # numpy's solver: SciPy's triangular one wakes all threads for 15 x 15 numbers
        self.inverse = np.linalg.solve(self.L.T, self.axes)

    @property
    def dimension(self) -> int:
        """Number of coordinates."""
        return int(self.axes.shape[1])

    def coordinates(self, coefficients: Array) -> Array:
        """Orthonormal coordinates (..., dimension, d) of coefficients (..., K, d)."""
        return np.asarray((self.L @ self.axes).T @ coefficients)

    def coefficients(self, coordinates: Array) -> Array:
        """Coefficients (..., K, d) of coordinates (..., dimension, d)."""
        return np.asarray(self.inverse @ coordinates)

    def penalty(self, gram: Array) -> Array:
        """Quadratic form of coefficients (K, K), such as `SplineBasis.gram(3)`, in coordinates."""
        form = self.inverse.T @ gram @ self.inverse
        return np.asarray(0.5 * (form + form.T))


def decompose(rows: Array, count: int) -> tuple[Array, Array, float]:
    """Eigenvectors of rows' rows, by the singular values of the rows: small variances keep their digits.

    Parameters
    ----------
    rows : array (N, m)
        Root of a covariance.
    count : int
        How many.

    Returns
    -------
    vectors : array (count, m)
        Orthonormal.
    variances : array (count,)
        Descending.
    total : float
        Sum of all variances.
    """
    if len(rows) > 4 * rows.shape[1]:
        rows = np.linalg.qr(rows)[1]  # the same covariance
    if len(rows) < count:  # fewer motions than components: the rest has no variance
        rows = np.vstack([rows, np.zeros((count - len(rows), rows.shape[1]))])
    _, sigma, Vt = np.linalg.svd(rows, full_matrices=False)
    return Vt[:count], sigma[:count] ** 2, float((sigma**2).sum())


def fixed_signs(values: Array) -> Array:
    """Signs (n,) that make the largest of |values| (n, m) positive; the first of them where there are several."""
    size = np.abs(values)
    first = np.argmax(size >= (1.0 - _TIE) * size.max(axis=1, keepdims=True), axis=1)
    return np.where(np.take_along_axis(values, first[:, None], axis=1)[:, 0] < 0.0, -1.0, 1.0)
