"""Basis functions of the phase for forcing terms, discrete and periodic, and fits of their weights."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ... import _core
from ...checks import Array, array, numbers, one_of, positive, whole, within
from ...errors import ThunderError
from ...trajectory.hermite import duration_of
from ...values import Value

#: names of basis functions
BASES: dict[str, _core.BasisKind] = {
    "gaussian": _core.BasisKind.gaussian,
    "mollifier": _core.BasisKind.mollifier,
    "wendland_c2": _core.BasisKind.wendland_c2,
    "wendland_c4": _core.BasisKind.wendland_c4,
}
FITS = ("ls", "lwr")
#: largest number of functions of a basis
_MOST = 10_000
#: least diagonal entry of a triangle, relative to the largest one, below which the functions are dependent
_SINGULAR = 1e-12


class PhaseBasis:
    """Basis functions in the core, common to discrete and periodic ones.

    Attributes
    ----------
    n_basis : int
        Number n of functions.
    kind : str
        Their name.
    core : _core.DmpBasis
        The functions.
    """

    n_basis: int
    kind: str
    core: _core.DmpBasis

    @property
    def centers(self) -> Array:
        """Phases c_i, (n,)."""
        return self.core.centers

    @property
    def widths(self) -> Array:
        """Factors a_i, (n,)."""
        return self.core.widths

    def phase(self, t: npt.ArrayLike, duration: float) -> Array:
        """Return phases (...) at times t (...) [s] of a motion of a duration, or of a period [s]."""
        raise NotImplementedError

    def gain(self, x: Array) -> Array:
        """Return the factor (k,) of the normalized functions in the forcing term at phases (k,)."""
        raise NotImplementedError

    def evaluate(self, x: npt.ArrayLike) -> Array:
        """Return the functions (k, n) at phases x (k,)."""
        return self.core.evaluate(array(x, (None,), "x"))

    def design(self, x: npt.ArrayLike) -> Array:
        """Return the design matrix ``gain(x) Phi_i(x) / sum_j Phi_j(x)``, (k, n), of the forcing term.

        Rows are zero at phases without a nonzero function.
        """
        phases = array(x, (None,), "x")
        values = self.evaluate(phases)
        total = np.maximum(values.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)
        result: Array = values / total * self.gain(phases)[:, None]
        return result

    def forcing(self, weights: npt.ArrayLike, x: npt.ArrayLike) -> Array:
        """Return f(x) (k, d), (105), for weights (n, d) at phases x (k,)."""
        return self.core.forcing(array(weights, (self.n_basis, None), "weights"), array(x, (None,), "x"))


class DMPBasis(PhaseBasis):
    """Basis of n functions of the phase x, with centers evenly spaced in time.

    Centers are ``c_i = exp(-alpha i / (n - 1))``, widths ``a_i = 1 / (overlap |c_{i+1} - c_i|)``, and with
    ``r = |a_i (x - c_i)|`` the functions are

    ============= ================================================== =========================
    gaussian      exp(-r^2)                                          positive everywhere
    mollifier     exp(-1 / (1 - r^2)), D4.2 (106)                    r < 1, smooth
    wendland_c2   (1 - r)^4 (4 r + 1), Wendland (1995)               r < 1, twice differentiable
    wendland_c4   (1 - r)^6 (35 r^2 + 18 r + 3) / 3, Wendland (1995) r < 1, four times
    ============= ================================================== =========================

    Parameters
    ----------
    n_basis : int
        Number n of functions, at least 2. The paper's 21 are N = 20 of Ginesi et al. (2021), who count from zero.
    kind : str
        One of the names above.
    alpha : float
        Decay rate of the canonical system tau x' = -alpha x.
    overlap : float
        1 as in Ginesi et al., with at most two functions of compact support nonzero at a phase. 1.5 to 2.5 makes the
        forcing term of these functions much smoother.

    Raises
    ------
    ThunderError
        For numbers out of range; `UnknownNameError` for another kind.
    """

    def __init__(self, n_basis: int = 21, kind: str = "gaussian", *, alpha: float = 4.0, overlap: float = 1.0) -> None:
        self.n_basis = whole(n_basis, "n_basis", 2, _MOST)
        self.kind = one_of(kind, tuple(BASES), "basis")
        self.alpha, self.overlap = positive(alpha, "alpha"), positive(overlap, "overlap")
        self.core = _core.DmpBasis(BASES[kind], self.n_basis, self.alpha, self.overlap)
        if not np.isfinite(self.core.widths).all() or not (self.core.centers > 0.0).all():
            raise ThunderError(
                f"alpha, n_basis and overlap must give distinct centers, got {alpha:g}, {n_basis} and {overlap:g}"
            )

    def phase(self, t: npt.ArrayLike, duration: float) -> Array:
        """Return x (...) = exp(-alpha t / duration) at times t (...) [s]."""
        x: Array = np.exp(-self.alpha * numbers(t, "t") / duration_of(duration))
        return x

    def gain(self, x: Array) -> Array:
        """Return the phase itself, with which the forcing term decays."""
        return x


class PeriodicBasis(PhaseBasis):
    """Basis of n von Mises functions of an angle, with centers evenly spaced on the circle.

    With ``c_i = 2 pi i / n`` the functions are ``exp(a (cos(x - c_i) - 1))``, and ``1 / a = overlap^2 (1 - cos(2 pi /
    n))``.

    Parameters
    ----------
    n_basis : int
        Number n of functions, at least 2.
    overlap : float
        At the center of its neighbor a function has the value exp(-1 / overlap^2), as a Gaussian of `DMPBasis`.

    Raises
    ------
    ThunderError
        For numbers out of range.
    """

    kind = "von Mises"

    def __init__(self, n_basis: int = 25, *, overlap: float = 1.0) -> None:
        self.n_basis = whole(n_basis, "n_basis", 2, _MOST)
        self.overlap = positive(overlap, "overlap")
        self.core = _core.DmpBasis(_core.BasisKind.von_mises, self.n_basis, 1.0, self.overlap)

    def phase(self, t: npt.ArrayLike, duration: float) -> Array:
        """Return angles (...) = 2 pi t / duration at times t (...) [s] of a motion with this period [s]."""
        x: Array = 2.0 * math.pi * numbers(t, "t") / duration_of(duration)
        return x

    def gain(self, x: Array) -> Array:
        """Return ones: the forcing term does not decay."""
        return np.ones_like(x)


class Fit:
    """Regression of weights (n, d) such that ``factor * f(x)`` approximates targets.

    Parameters
    ----------
    basis : PhaseBasis
        Basis functions.
    x : (k,) array
        Phases of the samples.
    share : (k,) array
        Part of time that each sample represents: samples are weighted by time, not by number.
    method : str
        ``"ls"``: least squares of all weights together, by QR. ``"lwr"``: locally weighted regression of each function
        (Schaal and Atkeson 1998), which smooths where functions overlap.

    Raises
    ------
    ThunderError
        For fewer samples than functions, or a function without a sample in its support.
    """

    def __init__(self, basis: PhaseBasis, x: Array, share: Array, method: str) -> None:
        self.method = one_of(method, FITS, "fit")
        if len(x) < basis.n_basis:
            raise ThunderError(f"demonstrations must have at least n_basis = {basis.n_basis} samples, got {len(x)}")
        self.gain, self.share = basis.gain(x), share
        self.functions, self.design = basis.evaluate(x), basis.design(x)
        empty = np.flatnonzero(self.functions.max(axis=0) < np.finfo(np.float64).tiny)
        if len(empty):
            raise ThunderError(
                f"demonstrations must have samples in the support of every basis function, got none for number "
                f"{empty[0]}: use a higher sampling rate, fewer functions or a larger overlap"
            )
        #: condition number of the weighted design matrix, last DoF fitted; NaN for lwr
        self.condition = np.nan

    def weights(self, target: Array, factor: Array) -> Array:
        """Return weights (n, d) for targets and factors (k, d)."""
        one = self._ls if self.method == "ls" else self._lwr
        if (factor == factor[:, :1]).all():
            return one(target, factor[:, 0])
        return np.hstack([one(target[:, [k]], factor[:, k]) for k in range(target.shape[1])])

    def _ls(self, target: Array, factor: Array) -> Array:
        root = np.sqrt(self.share)[:, None]
        if not np.isfinite(target).all():
            raise ThunderError("demonstrations must have finite forces, got an overflow: check their units")
        A = root * factor[:, None] * self.design
        scale = np.linalg.norm(A, axis=0)
        Q, R = np.linalg.qr(A / np.where(scale > 0.0, scale, 1.0))
        diagonal = np.abs(np.diag(R))
        if diagonal.min() < _SINGULAR * diagonal.max():
            raise ThunderError(
                "demonstrations must determine the weights, got a singular design matrix: use fewer functions, a "
                "smaller overlap, or more samples"
            )
        self.condition = float(np.linalg.cond(R))
        weights: Array = np.linalg.solve(R, Q.T @ (root * target)) / scale[:, None]
        return weights

    def _lwr(self, target: Array, factor: Array) -> Array:
        s = factor * self.gain
        local = self.functions * self.share[:, None]
        weights: Array = (local.T @ (s[:, None] * target)) / (local.T @ s**2)[:, None]
        return weights


@dataclass(frozen=True)
class GaussianBasis:
    """Normalized Gaussians of the phase tau in [0, 1].

    Attributes
    ----------
    n : int
        Number of functions, at least 2, with centers equally spaced from 0 to 1.
    overlap : float
        Height of a Gaussian at distance 1 / (2 n) from its center, in (0, 1). The variance is -1 / (8 n^2 ln overlap).
    """

    n: int
    overlap: float = 0.7

    def __post_init__(self) -> None:
        whole(self.n, "n_basis", 2)
        within(self.overlap, "overlap", 0.0, 1.0, ends="()")

    def evaluate(self, tau: npt.ArrayLike, derivative: int = 0) -> Array:
        """Return the functions, or a derivative with respect to tau up to the third, at tau (...): an array (..., n).

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
    """Motion of given duration as a weighted sum of basis functions.

    Attributes
    ----------
    basis : GaussianBasis
        Functions of tau = t / duration.
    weights : ndarray, shape (n, d)
        Weights in the unit of x.
    duration : float
        [s].
    dofs : tuple of str
        Names of the columns; empty if unknown.
    """

    basis: GaussianBasis
    weights: Array
    duration: float
    dofs: tuple[str, ...] = ()

    def position(self, t: npt.ArrayLike, derivative: int = 0) -> Array:
        """Return x (..., d) or a time derivative up to the third at t (...) [s]; at rest before 0 and after T."""
        time = numbers(t, "t")
        values = self.basis.evaluate(np.clip(time / self.duration, 0.0, 1.0), derivative) @ self.weights
        outside = (time < 0.0) | (time > self.duration)
        scaled = values / self.duration**derivative
        return np.asarray(np.where(outside[..., None] & (derivative > 0), 0.0, scaled), dtype=np.float64)
