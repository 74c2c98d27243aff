"""Penalised least squares for many weights of the penalty: one decomposition for each set of sample times.

With B the basis at the samples and P = D'D the penalty, the triangle R of [B; sqrt(mu) D] = Q R and the singular values
of D R^-1 = . diag(sqrt(s)) U' bring B'B + lambda P to the diagonal form R' U (1 + (lambda - mu) s) U' R, in which every
lambda costs K operations (Demmler and Reinsch, 1975). mu = 0 unless the samples alone do not determine the spline.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize_scalar

from ..checks import Array
from ..errors import ThunderError
from .basis import SplineBasis

__all__ = ["Group", "cross_validated", "solve_groups"]

Indices = npt.NDArray[np.intp]

#: reciprocal condition of B's triangle below which samples alone do not determine the spline
_SINGULAR = 1e-8
#: part of a direction that samples must hold to count as seen by them
_UNSEEN = 1e-10
#: part of the samples that must be left over for cross-validation to judge by
_SPARE = 1e-3
_GRID = 81


class Group:
    """Columns of data with samples at the same tau, and their decomposition."""

    def __init__(self, tau: Array, name: str) -> None:
        self.tau = tau
        self.name = name
        self._trials: list[Indices] = []
        self._dofs: list[Indices] = []
        self._values: list[Array] = []

    def add(self, trial: int, dofs: Indices, values: Array) -> None:
        """Take the columns (T, len(dofs)) of a motion in."""
        self._trials.append(np.full(len(dofs), trial))
        self._dofs.append(dofs)
        self._values.append(values)

    def solve(self, B: Array, D: Array) -> None:
        """Decompose, and project the data; B (T, K) basis at the samples, D (K, K) root of the penalty."""
        self.trials, self.dofs = np.concatenate(self._trials), np.concatenate(self._dofs)
        y = np.concatenate(self._values, axis=1)
        del self._values
        self.mu, Q, self._R = _triangle(B, D)
        # numpy's solver: SciPy's triangular one wakes all threads for 15 x 15 numbers
        E = np.linalg.solve(self._R.T, D.T).T
        _, sigma, Ut = np.linalg.svd(E)
        self.s = sigma**2
        # part of each direction that is in the samples and not in mu's help
        self.seen = np.where(1.0 - self.mu * self.s > _UNSEEN, 1.0 - self.mu * self.s, 0.0)
        V = Q @ Ut.T
        self.z = (V.T @ y) * (self.seen > 0.0)[:, None]
        inverse = np.divide(1.0, self.seen, out=np.zeros_like(self.seen), where=self.seen > 0.0)
        self.energy = inverse[:, None] * self.z**2
        self.outside = ((y - V @ (inverse[:, None] * self.z)) ** 2).sum(axis=0)
        self._U = Ut.T

    def coefficients(self, weights: Array) -> Array:
        """Coefficients of all columns (K, columns), given lambda of each."""
        if self.mu > 0.0 and (weights == 0.0).any():
            raise ThunderError(f"samples of {self.name} leave some basis functions undetermined; use smoothing")
        scaled = self.z / (1.0 + (weights - self.mu) * self.s[:, None])
        return np.asarray(np.linalg.solve(self._R, self._U @ scaled))

    def traces(self, weights: Array) -> Array:
        """Traces of the hat matrices (columns,)."""
        return np.asarray((self.seen[:, None] / (1.0 + (weights - self.mu) * self.s[:, None])).sum(axis=0))

    def residuals(self, weights: Array) -> Array:
        """Squared differences to the samples, summed (columns,)."""
        left = weights * self.s[:, None] / (1.0 + (weights - self.mu) * self.s[:, None])
        return np.asarray(self.outside + (self.energy * left**2).sum(axis=0))


def solve_groups(groups: list[Group], basis: SplineBasis, penalty: int) -> None:
    """Decompose all groups."""
    nodes, weights = basis.quadrature()
    _, D = _qr(np.sqrt(weights)[:, None] * basis.evaluate(nodes, penalty))
    B = basis.evaluate(np.concatenate([group.tau for group in groups]))
    ends = np.cumsum([len(group.tau) for group in groups])
    for group, rows in zip(groups, np.split(B, ends[:-1]), strict=True):
        group.solve(rows, D)


def _qr(A: Array) -> tuple[Array, Array]:
    Q, R = np.linalg.qr(A)
    return Q, R


def _triangle(B: Array, D: Array) -> tuple[float, Array, Array]:
    """Return mu, the rows of Q that belong to B, and R."""
    T, K = B.shape
    if T >= K:
        Q, R = _qr(B)
        diagonal = np.abs(np.diag(R))
        if diagonal.min() > _SINGULAR * diagonal.max():
            return 0.0, Q, R
    mu = 1e-6 * float((B**2).sum() / (D**2).sum())
    Q, R = _qr(np.vstack([B, np.sqrt(mu) * D]))
    return mu, Q[:T], R


def cross_validated(groups: list[Group], dofs: list[int]) -> float:
    """Weight of the penalty that minimises generalised cross-validation over the columns of some coordinates."""
    masks = [np.isin(group.dofs, dofs) for group in groups]
    used = [(group, mask) for group, mask in zip(groups, masks, strict=True) if mask.any()]
    columns = np.array([mask.sum() for _, mask in used])
    samples = float(sum(n * len(group.tau) for n, (group, _) in zip(columns, used, strict=True)))
    s = np.array([group.s for group, _ in used])
    mu = np.array([[group.mu] for group, _ in used])
    seen = columns[:, None] * np.array([group.seen for group, _ in used])
    energy = np.array([group.energy[:, mask].sum(axis=1) for group, mask in used])
    outside = float(sum(group.outside[mask].sum() for group, mask in used))

    def score(logarithm: float) -> float:
        weight = 10.0**logarithm
        denominator = 1.0 + (weight - mu) * s
        residual = outside + float((energy * (weight * s / denominator) ** 2).sum())
        left = samples - float((seen / denominator).sum())
        return samples * residual / left**2 if left > _SPARE * samples else np.inf

    # from where the penalty changes nothing to where only its null space is left
    ranks = np.sort(s, axis=1)
    least = ranks[ranks > 1e-12 * ranks.max(axis=1, keepdims=True)].min()
    grid = np.linspace(np.log10(1e-6 / ranks.max()), np.log10(1e6 / least), _GRID)
    values = np.array([score(x) for x in grid])
    best = int(np.argmin(values))
    if best in (0, _GRID - 1) or not np.isfinite(values[best - 1]):
        return float(10.0 ** grid[best])
    found = minimize_scalar(score, bounds=(grid[best - 1], grid[best + 1]), method="bounded", options={"xatol": 1e-6})
    return float(10.0**found.x)
