"""Normalised Gaussians over the phase, with their derivatives, and motions that are sums of them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..checks import Array
from ..errors import ThunderError
from ..values import Value
from .scalars import numbers, whole, within

__all__ = ["BasisMotion", "GaussianBasis"]


@dataclass(frozen=True)
class GaussianBasis:
    """Gaussians of the phase tau in [0, 1] that are divided by their sum.

    Attributes
    ----------
    n : int
        Number of functions, 2 or more; their centres are equally spaced from 0 to 1.
    overlap : float
        Between 0 and 1: height of a Gaussian half a step of 1/n beside its centre. Variance -1 / (8 n^2 ln overlap).
    """

    n: int
    overlap: float = 0.7

    def __post_init__(self) -> None:
        whole(self.n, "n_basis", 2)
        within(self.overlap, "overlap", 0.0, 1.0, ends="()")

    def evaluate(self, tau: npt.ArrayLike, derivative: int = 0) -> Array:
        """Return the functions, or a derivative by tau up to the third, at tau (...): an array (..., n).

        From S b = g for the sum S of the Gaussians g, by Leibniz' rule,
        S b^(k) = g^(k) - sum_j binom(k, j) S^(j) b^(k-j), j = 1 to k.
        """
        if derivative not in (0, 1, 2, 3):
            raise ThunderError(f"derivative must be 0, 1, 2 or 3, got {derivative!r}")
        variance = -1.0 / (8.0 * self.n**2 * math.log(self.overlap))
        u = (numbers(tau, "tau")[..., None] - np.linspace(0.0, 1.0, self.n)) / math.sqrt(variance)
        g0 = np.exp(-0.5 * u * u)
        # Hermite polynomials
        g = [g0, -u * g0, (u**2 - 1.0) * g0, (3.0 - u**2) * u * g0][: derivative + 1]
        S = [row.sum(axis=-1, keepdims=True) for row in g]
        b: list[Array] = []
        for k in range(derivative + 1):
            rest = sum((math.comb(k, j) * S[j] * b[k - j] for j in range(1, k + 1)), np.zeros_like(g0))
            b.append((g[k] - rest) / S[0])
        return np.asarray(b[derivative] / math.sqrt(variance) ** derivative, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class BasisMotion(Value):
    """A motion object: weights of a basis, run through in a duration.

    Attributes
    ----------
    basis : GaussianBasis
        Functions of tau = t / duration.
    weights : ndarray, shape (n, d)
        Unit of x.
    duration : float
        s.
    dofs : tuple of str
        Names of the columns, as far as they are known.
    """

    basis: GaussianBasis
    weights: Array
    duration: float
    dofs: tuple[str, ...] = ()

    def position(self, t: npt.ArrayLike, derivative: int = 0) -> Array:
        """Return x (..., d) or a time derivative of it, to the third, at t (...) in s; at rest before 0 and after T."""
        time = numbers(t, "t")
        values = self.basis.evaluate(np.clip(time / self.duration, 0.0, 1.0), derivative) @ self.weights
        outside = (time < 0.0) | (time > self.duration)
        scaled = values / self.duration**derivative
        return np.asarray(np.where(outside[..., None] & (derivative > 0), 0.0, scaled), dtype=np.float64)
