"""B-splines on [0, 1]: values, exact inner products, conversion to polynomials piece by piece."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.interpolate import BSpline, PPoly

from ..checks import Array
from ..errors import ThunderError
from .scalars import numbers, whole

__all__ = ["SplineBasis"]

#: how far tau may lie outside [0, 1] by rounding
_ROUNDING = 1e-9


class SplineBasis:
    """B-splines on [0, 1] with clamped ends: the first function alone is not zero at 0, the last alone at 1.

    The functions sum to one everywhere, so a constant has equal coefficients, and coefficients turn as points do.

    Parameters
    ----------
    n_functions : int, optional
        Number K of functions, at least ``degree + 1``; knots are uniform. 15 unless `knots` are given.
    degree : int
        Degree of the polynomials (order minus one). From 5 on the jerk has a continuous derivative.
    knots : array_like (K + degree + 1,), optional
        Whole knot vector instead: 0 and 1 repeated ``degree + 1`` times around increasing numbers.

    Raises
    ------
    ThunderError
        On numbers and knots that make no such basis.
    """

    def __init__(self, n_functions: int | None = None, degree: int = 5, *, knots: npt.ArrayLike | None = None) -> None:
        self._degree = whole(degree, "degree", 1)
        if knots is None:
            count = whole(15 if n_functions is None else n_functions, "n_functions", self._degree + 1)
            self._knots = _clamped(np.linspace(0.0, 1.0, count - self._degree + 1), self._degree)
        else:
            self._knots = _checked_knots(knots, self._degree)
            if n_functions is not None and n_functions != self.n_functions:
                raise ThunderError(
                    f"n_functions must agree with knots, which make {self.n_functions} functions of degree "
                    f"{self._degree}, got {n_functions}"
                )
        self._knots.setflags(write=False)

    @property
    def knots(self) -> Array:
        """Whole knot vector, shape (K + degree + 1,)."""
        return self._knots

    @property
    def degree(self) -> int:
        """Degree of the polynomials."""
        return self._degree

    @property
    def n_functions(self) -> int:
        """Number K of functions."""
        return len(self._knots) - self._degree - 1

    @property
    def breaks(self) -> Array:
        """Where one polynomial ends and the next begins, 0 and 1 included."""
        return np.unique(self._knots)

    def evaluate(self, tau: npt.ArrayLike, derivative: int = 0) -> Array:
        """Values of all functions or of one of their derivatives.

        Parameters
        ----------
        tau : array_like (T,)
            Places in [0, 1].
        derivative : int
            Order of the derivative with respect to tau.

        Returns
        -------
        array (T, K)

        Raises
        ------
        ThunderError
            Outside [0, 1], on NaN, or for a negative derivative.
        """
        return np.asarray(self.spline(np.eye(self.n_functions), derivative)(_unit_interval(tau)), dtype=np.float64)

    def spline(self, coefficients: npt.ArrayLike, derivative: int = 0) -> BSpline:
        """Spline with the given coefficients (K, ...), or its derivative, as a `scipy.interpolate.BSpline`."""
        derivative = whole(derivative, "derivative", 0)
        c = numbers(coefficients, "coefficients")
        if c.ndim < 1 or c.shape[0] != self.n_functions:
            raise ThunderError(f"coefficients must have shape ({self.n_functions}, ...), got {c.shape}")
        if derivative > self._degree:
            return BSpline(self._knots, np.zeros_like(c), self._degree)
        spline = BSpline(self._knots, c, self._degree)
        return spline.derivative(derivative) if derivative else spline

    def gram(self, derivative: int = 0) -> Array:
        """Inner products of the functions' derivatives over [0, 1], shape (K, K).

        Gauss-Legendre with ``degree + 1`` nodes in every piece, which is exact for products of two splines.
        """
        nodes, weights = self.quadrature()
        values = np.sqrt(weights)[:, None] * self.evaluate(nodes, derivative)
        gram = values.T @ values
        return np.asarray(0.5 * (gram + gram.T))

    def quadrature(self) -> tuple[Array, Array]:
        """Nodes and weights that integrate products of two splines exactly, shapes (N,) and (N,)."""
        nodes, weights = np.polynomial.legendre.leggauss(self._degree + 1)
        breaks = self.breaks
        half = 0.5 * np.diff(breaks)[:, None]
        return (breaks[:-1, None] + half * (nodes + 1.0)).ravel(), (half * weights).ravel()

    def integrals(self) -> Array:
        """Integrals of the functions over [0, 1], shape (K,)."""
        k = self._degree
        return np.asarray((self._knots[k + 1 :] - self._knots[: -k - 1]) / (k + 1.0))

    def to_ppoly(self, coefficients: npt.ArrayLike) -> PPoly[np.float64]:
        """Polynomials piece by piece: a `scipy.interpolate.PPoly` over `breaks`, from coefficients (K, ...)."""
        spline = self.spline(coefficients)
        breaks = self.breaks
        # Taylor coefficients at the left end of each piece; repeated knots leave no empty pieces
        terms, factorial = [], 1.0
        for order in range(self._degree + 1):
            factorial *= max(order, 1)
            terms.append(self.spline(spline.c, order)(breaks[:-1]) / factorial)
        return PPoly(np.ascontiguousarray(terms[::-1]), breaks)

    def __eq__(self, other: object) -> bool:
        """Tell whether degree and knots are the same."""
        if not isinstance(other, SplineBasis):
            return NotImplemented
        return self._degree == other._degree and np.array_equal(self._knots, other._knots)

    def __hash__(self) -> int:
        return hash((self._degree, self._knots.tobytes()))

    def __repr__(self) -> str:
        uniform = _clamped(np.linspace(0.0, 1.0, self.n_functions - self._degree + 1), self._degree)
        if np.array_equal(self._knots, uniform):
            return f"SplineBasis({self.n_functions}, degree={self._degree})"
        return f"SplineBasis({self.n_functions}, degree={self._degree}, breaks={self.breaks.round(4).tolist()})"


def _clamped(breaks: Array, degree: int) -> Array:
    return np.concatenate([np.zeros(degree), breaks, np.ones(degree)])


def _checked_knots(knots: npt.ArrayLike, degree: int) -> Array:
    t = numbers(knots, "knots")
    if t.ndim != 1 or len(t) < 2 * degree + 2:
        raise ThunderError(f"knots must be at least {2 * degree + 2} numbers for degree {degree}, got shape {t.shape}")
    inner = t[degree : len(t) - degree]
    ends = np.array_equal(t[: degree + 1], np.zeros(degree + 1)) and np.array_equal(
        t[-degree - 1 :], np.ones(degree + 1)
    )
    if not (ends and np.all(np.diff(inner) > 0.0)):
        raise ThunderError(
            f"knots must be 0 and 1 repeated {degree + 1} times around increasing numbers, got {t.tolist()}"
        )
    return t


def _unit_interval(tau: npt.ArrayLike) -> Array:
    values = np.atleast_1d(numbers(tau, "tau"))
    if values.ndim != 1:
        raise ThunderError(f"tau must have shape (T,), got {values.shape}")
    inside = (values >= -_ROUNDING) & (values <= 1.0 + _ROUNDING)
    if not inside.all():
        raise ThunderError(f"tau must lie in [0, 1], got {values[~inside][0]}")
    return np.asarray(values.clip(0.0, 1.0))
