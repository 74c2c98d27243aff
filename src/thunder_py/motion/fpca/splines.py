"""B-splines on [0, 1]: values, exact inner products, polynomials piece by piece, and the fit of motions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import factorial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.interpolate import BSpline, PPoly
from scipy.optimize import minimize_scalar

from ...checks import Array, numbers, whole
from ...errors import ThunderError
from ...values import Value, set_fields
from .curves import Curves

#: distance that rounding may put tau outside [0, 1]
_ROUNDING = 1e-9
#: reciprocal condition of B's triangle below which samples alone do not determine the spline
_SINGULAR = 1e-8
#: part of a direction that samples must determine for it to count
_UNSEEN = 1e-10
#: residual degrees of freedom that cross-validation needs, as part of the samples
_SPARE = 1e-3
_GRID = 81
#: part of the duration that may be missing at either end, where splines extrapolate
_LONGEST_END_GAP = 0.1


@dataclass(frozen=True, eq=False, init=False, repr=False)
class SplineBasis(Value):
    """B-spline basis on [0, 1] with clamped ends: only the first function is nonzero at 0, only the last at 1.

    The functions sum to one, so a constant has equal coefficients, and coefficients transform like points.

    Parameters
    ----------
    n_functions : int, optional
        Number K of functions, at least ``degree + 1``; knots are uniform. 15 unless `knots` are given.
    degree : int
        Degree of the polynomials (order minus one). From 5 on the jerk has a continuous derivative.
    knots : array_like (K + degree + 1,), optional
        Complete knot vector instead: 0 and 1, each repeated ``degree + 1`` times, with increasing numbers between.

    Raises
    ------
    ThunderError
        For a degree, a number of functions or knots that define no such basis.

    Examples
    --------
    >>> from thunder_py.motion import SplineBasis
    >>> basis = SplineBasis(8, degree=3)
    >>> values = basis.evaluate([0.0, 0.5, 1.0])
    >>> values.shape, values.sum(axis=1).round(12).tolist()
    ((3, 8), [1.0, 1.0, 1.0])
    >>> basis.breaks.round(3).tolist()
    [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    """

    degree: int
    knots: Array

    def __init__(self, n_functions: int | None = None, degree: int = 5, *, knots: npt.ArrayLike | None = None) -> None:
        p = whole(degree, "degree", 1)
        count = 15 if n_functions is None and knots is None else n_functions
        if knots is None:
            t = _clamped(np.linspace(0.0, 1.0, whole(count, "n_functions", p + 1) - p + 1), p)
        else:
            t = _checked_knots(knots, p)
        t.setflags(write=False)
        set_fields(self, degree=p, knots=t)
        if count not in (None, self.n_functions):
            raise ThunderError(f"n_functions must be {self.n_functions} with these knots and degree {p}, got {count}")

    @property
    def n_functions(self) -> int:
        """Number K of functions."""
        return len(self.knots) - self.degree - 1

    @property
    def breaks(self) -> Array:
        """Boundaries of the polynomial pieces, 0 and 1 included."""
        return np.unique(self.knots)

    def evaluate(self, tau: npt.ArrayLike, derivative: int = 0) -> Array:
        """Return the values of all functions or of one of their derivatives.

        Parameters
        ----------
        tau : array_like (T,)
            Normalized times in [0, 1].
        derivative : int
            Order of the derivative with respect to tau.

        Returns
        -------
        array (T, K)

        Raises
        ------
        ThunderError
            For tau outside [0, 1], NaN, or a negative derivative.
        """
        return np.asarray(self.spline(np.eye(self.n_functions), derivative)(_unit_interval(tau)), dtype=np.float64)

    def spline(self, coefficients: npt.ArrayLike, derivative: int = 0) -> BSpline:
        """Return the spline with coefficients (K, ...), or a derivative of it, as a `scipy.interpolate.BSpline`."""
        derivative = whole(derivative, "derivative", 0)
        c = numbers(coefficients, "coefficients")
        if c.ndim < 1 or c.shape[0] != self.n_functions:
            raise ThunderError(f"coefficients must have shape ({self.n_functions}, ...), got {c.shape}")
        spline = BSpline(self.knots, c if derivative <= self.degree else np.zeros_like(c), self.degree)
        return spline.derivative(derivative) if 0 < derivative <= self.degree else spline

    def gram(self, derivative: int = 0) -> Array:
        """Return the inner products of the functions' derivatives over [0, 1], shape (K, K).

        Gauss-Legendre quadrature with ``degree + 1`` nodes in every piece, which is exact for products of two splines.
        """
        nodes, weights = self.quadrature()
        values = np.sqrt(weights)[:, None] * self.evaluate(nodes, derivative)
        return np.asarray(values.T @ values)

    def quadrature(self) -> tuple[Array, Array]:
        """Return nodes (N,) and weights (N,) that integrate products of two splines exactly."""
        nodes, weights = np.polynomial.legendre.leggauss(self.degree + 1)
        breaks = self.breaks
        half = 0.5 * np.diff(breaks)[:, None]
        return (breaks[:-1, None] + half * (nodes + 1.0)).ravel(), (half * weights).ravel()

    def integrals(self) -> Array:
        """Return the integrals of the functions over [0, 1], shape (K,)."""
        k = self.degree
        return np.asarray((self.knots[k + 1 :] - self.knots[: -k - 1]) / (k + 1.0))

    def to_ppoly(self, coefficients: npt.ArrayLike) -> PPoly[np.float64]:
        """Return the spline with coefficients (K, ...) as a `scipy.interpolate.PPoly` over `breaks`."""
        # Taylor coefficients at the left end of each piece; breaks skip the empty pieces of repeated knots
        orders = range(self.degree, -1, -1)
        terms = [self.spline(coefficients, k)(self.breaks[:-1]) / factorial(k) for k in orders]
        return PPoly(np.ascontiguousarray(terms), self.breaks)

    def __hash__(self) -> int:  # type: ignore[override]
        return hash((self.degree, self.knots.tobytes()))

    def __repr__(self) -> str:
        uniform = self == SplineBasis(self.n_functions, self.degree)
        breaks = "" if uniform else f", breaks={self.breaks.round(4).tolist()}"
        return f"SplineBasis({self.n_functions}, degree={self.degree}{breaks})"


def _clamped(breaks: Array, degree: int) -> Array:
    return np.concatenate([np.zeros(degree), breaks, np.ones(degree)])


def _checked_knots(knots: npt.ArrayLike, degree: int) -> Array:
    t = numbers(knots, "knots", 1)
    if len(t) < 2 * degree + 2 or not np.array_equal(t, _clamped(np.unique(t), degree)):
        raise ThunderError(
            f"knots must be 0 and 1, each {degree + 1} times, with increasing numbers between, got {t.tolist()}"
        )
    return t


def _unit_interval(tau: npt.ArrayLike) -> Array:
    values = numbers(np.atleast_1d(tau), "tau", 1)
    inside = (values >= -_ROUNDING) & (values <= 1.0 + _ROUNDING)
    if not inside.all():
        raise ThunderError(f"tau must lie in [0, 1], got {values[~inside][0]}")
    return np.asarray(values.clip(0.0, 1.0))


class _Group:
    """Columns (motion, coordinate) of data with samples at the same tau, and their decomposition."""

    def __init__(
        self, columns: list[tuple[int, int, Array]], tau: Array, name: str, basis: SplineBasis, D: Array
    ) -> None:
        """Decompose, and project the data (motion, coordinate, samples); D (K, K) is the root of the penalty."""
        self.tau, self.name = tau, name
        self.trials, self.dofs = (np.array([column[k] for column in columns]) for k in (0, 1))
        y = np.stack([samples for _, _, samples in columns], axis=1)
        self.mu, Q, self._R = _triangle(basis.evaluate(tau), D)
        # NumPy's solver: SciPy's triangular one starts all threads for 15 x 15 numbers
        E = np.linalg.solve(self._R.T, D.T).T
        _, sigma, Ut = np.linalg.svd(E)
        self.s = sigma**2
        # part of each direction that the samples determine without the penalty mu
        self.seen = np.where(1.0 - self.mu * self.s > _UNSEEN, 1.0 - self.mu * self.s, 0.0)
        V = Q @ Ut.T
        self.z = (V.T @ y) * (self.seen > 0.0)[:, None]
        inverse = np.divide(1.0, self.seen, out=np.zeros_like(self.seen), where=self.seen > 0.0)
        self.energy = inverse[:, None] * self.z**2
        self.outside = ((y - V @ (inverse[:, None] * self.z)) ** 2).sum(axis=0)
        self._U = Ut.T

    def coefficients(self, weights: Array) -> Array:
        """Return the coefficients of all columns (K, columns) for their weights lambda."""
        if self.mu > 0.0 and (weights == 0.0).any():
            raise ThunderError(f"samples of {self.name} must determine all basis functions, got a gap: use smoothing")
        scaled = self.z / (1.0 + (weights - self.mu) * self.s[:, None])
        return np.asarray(np.linalg.solve(self._R, self._U @ scaled))

    def residuals(self, weights: Array) -> Array:
        """Return the sums of squared differences to the samples (columns,)."""
        left = weights * self.s[:, None] / (1.0 + (weights - self.mu) * self.s[:, None])
        return np.asarray(self.outside + (self.energy * left**2).sum(axis=0))


def _triangle(B: Array, D: Array) -> tuple[float, Array, Array]:
    """Return mu, the rows of Q that belong to B, and R."""
    T, K = B.shape
    if T >= K:
        Q, R = np.linalg.qr(B)
        diagonal = np.abs(np.diag(R))
        if diagonal.min() > _SINGULAR * diagonal.max():
            return 0.0, Q, R
    mu = 1e-6 * float((B**2).sum() / (D**2).sum())
    Q, R = np.linalg.qr(np.vstack([B, np.sqrt(mu) * D]))
    return mu, Q[:T], R


def _cross_validated(groups: list[_Group], dofs: list[int]) -> float:
    """Return the weight of the penalty that minimizes generalized cross-validation over some coordinates."""
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

    # from a penalty without effect to one that leaves only its null space
    ranks = np.sort(s, axis=1)
    least = ranks[ranks > 1e-12 * ranks.max(axis=1, keepdims=True)].min()
    grid = np.linspace(np.log10(1e-6 / ranks.max()), np.log10(1e6 / least), _GRID)
    values = np.array([score(x) for x in grid])
    best = int(np.argmin(values))
    if best in (0, _GRID - 1) or not np.isfinite(values[best - 1]):
        return float(10.0 ** grid[best])
    result = minimize_scalar(score, bounds=(grid[best - 1], grid[best + 1]), method="bounded", options={"xatol": 1e-6})
    return float(10.0**result.x)


class Smoothed(NamedTuple):
    """Motions as splines.

    Attributes
    ----------
    coefficients : array (R, K, d)
        Spline coefficients of each motion and coordinate.
    smoothing : array (d,)
        Weight lambda of each coordinate, in tau; 0 without penalty.
    residual : array (d,)
        RMS difference to the samples, in the coordinate's unit.
    """

    coefficients: Array
    smoothing: Array
    residual: Array


def smooth(
    curves: Curves, basis: SplineBasis, smoothing: Any = "gcv", shared: Sequence[Sequence[int]] = ()
) -> Smoothed:
    """Fit splines to motions by least squares, penalized by the third derivative, or the highest of lower splines.

    Parameters
    ----------
    curves : Curves
        Motions, from `read_curves`.
    basis : SplineBasis
        Basis of K functions.
    smoothing : "gcv", float, array (d,) or None
        Weight lambda >= 0, one for all coordinates or one for each. None is 0: plain least squares.
    shared : sequence of index lists
        Groups of all coordinates with a common lambda from cross-validation; by default each coordinate has its own.
        Results transform with rotations of the motions only if the rotated coordinates have a common lambda.

    Raises
    ------
    ThunderError
        For too few samples in a motion, named in the message.
    """
    d, chosen = len(curves.dofs), isinstance(smoothing, str)
    weights = np.full(d, np.nan) if chosen else np.zeros(d) + (0.0 if smoothing is None else smoothing)
    groups = _grouped(curves, basis, bool((weights == 0.0).any()))
    for part in (shared or np.arange(d)[:, None]) if chosen else ():
        weights[list(part)] = _cross_validated(groups, list(part))
    coefficients = np.empty((len(curves), basis.n_functions, d))
    squares, samples = np.zeros(d), np.zeros(d)
    for group in groups:
        coefficients[group.trials, :, group.dofs] = group.coefficients(weights[group.dofs]).T
        np.add.at(squares, group.dofs, group.residuals(weights[group.dofs]))
        np.add.at(samples, group.dofs, len(group.tau))
    return Smoothed(coefficients, weights, np.sqrt(squares / samples))


def _grouped(curves: Curves, basis: SplineBasis, unpenalized: bool) -> list[_Group]:
    """Group columns with samples at the same tau, which share all matrices."""
    columns: dict[bytes, list[tuple[int, int, Array]]] = {}
    sampled: dict[bytes, tuple[Array, str]] = {}
    for r, (trial, name) in enumerate(zip(curves.trials, curves.names, strict=True)):
        tau, x = (trial.t - trial.t[0]) / trial.duration, trial.x
        grid = tau.round(12).tobytes()
        for k, valid in enumerate(~np.isnan(x.T)):
            key = grid + b"|" + valid.tobytes()
            if key not in sampled:
                _check_samples(tau[valid], basis, unpenalized, name)
                sampled[key], columns[key] = (tau[valid], name), []
            columns[key].append((r, k, x[valid, k]))
    nodes, measure = basis.quadrature()
    D = np.linalg.qr(np.sqrt(measure)[:, None] * basis.evaluate(nodes, min(3, basis.degree)))[1]
    return [_Group(columns[key], *sampled[key], basis, D) for key in columns]


def _check_samples(tau: Array, basis: SplineBasis, unpenalized: bool, name: str) -> None:
    least = basis.n_functions if unpenalized else basis.degree + 1
    if len(tau) < least:
        raise ThunderError(
            f"motions must have at least {least} samples ({basis.n_functions} functions of degree {basis.degree}, "
            f"with{'out' if unpenalized else ''} smoothing), got {len(tau)} in {name}"
        )
    if tau[0] > _LONGEST_END_GAP or tau[-1] < 1.0 - _LONGEST_END_GAP:
        raise ThunderError(
            f"gaps at the ends of a motion must be shorter than {_LONGEST_END_GAP:.0%} of it, got samples of {name} "
            f"from tau = {tau[0]:.2f} to {tau[-1]:.2f}: cut the motion there, or fill the gap"
        )
