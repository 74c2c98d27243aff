"""Triangular factors of rows that arrive in blocks."""

from __future__ import annotations

import numpy as np

from ..checks import Array

#: size of what is added to the metric, relative to its columns, so that it has an inverse
_LEAST = 1e-7
#: growth of the squares of the rows, in the metric of those before, that leaves them accurate
_GROWTH = 1e6


def r_factor(A: Array) -> Array:
    """Return the square triangular factor R with R'R = A'A."""
    R = np.linalg.qr(A, mode="r")
    missing = A.shape[1] - len(R)
    return np.asarray(np.vstack([R, np.zeros((missing, A.shape[1]))]) if missing else R)


class Triangle:
    """Triangular factor R of rows A that arrive in blocks, R'R = A'A, as accurate as by orthogonal transformations.

    Rows are measured by M, a factor of the first blocks: the squares of A M^-1 are about one in all directions that
    these excite, so that they lose nothing in their sum S, and R is a factor of M'SM (Yamamoto et al., Roundoff error
    analysis of the CholeskyQR2 algorithm, ETNA 44, 2015). That takes two products of matrices for a block in place of a
    factorization. Blocks much larger than those before give a new M.
    """

    def __init__(self, columns: int) -> None:
        self._metric: Array = np.eye(columns)
        self._inverse: Array = np.eye(columns)
        self._squares: Array = np.zeros((columns, columns))
        self._begun = False

    def add(self, block: Array) -> None:
        """Append rows (k, m)."""
        if self._begun:
            measured = block @ self._inverse
            squares = self._squares + measured.T @ measured
            if squares.diagonal().max(initial=0.0) <= _GROWTH:
                self._squares = squares
                return
        R = r_factor(np.vstack([self.factor(), block]))
        size = np.linalg.norm(R, axis=0)
        self._metric = r_factor(np.vstack([R, np.diag(np.where(size > 0.0, _LEAST * size, 1.0))]))
        self._inverse = np.asarray(np.linalg.inv(self._metric))
        first = R @ self._inverse
        self._squares, self._begun = first.T @ first, True

    def factor(self) -> Array:
        """Return the factor (m, m) of all rows."""
        values, vectors = np.linalg.eigh(self._squares)
        seen = self._metric * (self._squares.diagonal() > 0.0)  # columns of zeros stay so
        return r_factor((np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T) @ seen)
