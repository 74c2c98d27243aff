"""Basis functions of the phase for forcing terms, discrete and periodic, and fits of their weights."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ... import _core
from ...checks import Array, numbers, one_of, positive, whole, within
from ...errors import ThunderError

#: names of basis functions of discrete primitives, and of rhythmic ones
BASES, PERIODIC = ("gaussian", "mollifier", "wendland_c2", "wendland_c4"), "von_mises"
REGRESSIONS = ("ls", "lwr")
#: largest number of functions of a basis
_MOST = 10_000
#: least singular value, relative to the largest one, below which the functions are dependent
_SINGULAR = 1e-12


class DMPBasis(_core.DmpBasis):
    """Basis of n functions of the phase x, discrete or periodic, with centers evenly spaced in time.

    Centers are ``c_i = exp(-alpha i / (n - 1))``, widths ``a_i = 1 / (overlap |c_{i+1} - c_i|)``, and with
    ``r = |a_i (x - c_i)|`` the functions are

    ============= ================================================== =========================
    gaussian      exp(-r^2)                                          positive everywhere
    mollifier     exp(-1 / (1 - r^2)), D4.2 (106)                    r < 1, smooth
    wendland_c2   (1 - r)^4 (4 r + 1), Wendland (1995)               r < 1, twice differentiable
    wendland_c4   (1 - r)^6 (35 r^2 + 18 r + 3) / 3, Wendland (1995) r < 1, four times
    von_mises     exp(a (cos(x - c_i) - 1)), periodic                positive everywhere
    ============= ================================================== =========================

    The phase of periodic functions is an angle, ``c_i = 2 pi i / n``, and ``1 / a = overlap^2 (1 - cos(2 pi / n))``: at
    the center of its neighbor a function has the value exp(-1 / overlap^2), as a Gaussian has.

    Parameters
    ----------
    n_basis : int
        Number n of functions, at least 2. The paper's 21 are N = 20 of Ginesi et al. (2021), who count from zero.
    kind : str
        One of the names above.
    alpha : float
        Decay rate of the canonical system tau x' = -alpha x; unused if periodic.
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
        self.kind, self.alpha = one_of(kind, (*BASES, PERIODIC), "basis"), positive(alpha, "alpha")
        super().__init__(_core.BasisKind[kind], self.n_basis, self.alpha, positive(overlap, "overlap"))
        if not np.isfinite(self.widths).all() or not (np.abs(np.diff(self.centers)) > 0.0).all():
            raise ThunderError(
                f"alpha, n_basis and overlap must give distinct centers, got {alpha:g}, {n_basis} and {overlap:g}"
            )

    def phase(self, part: Array) -> Array:
        """Return phases (...) at times (...) relative to the duration, or to the period."""
        return np.asarray(2.0 * math.pi * part if self.kind == PERIODIC else np.exp(-self.alpha * part))

    def gain(self, x: Array) -> Array:
        """Return the factor (k,) of the normalized functions in the forcing term at phases x (k,)."""
        return np.ones_like(x) if self.kind == PERIODIC else x

    def design(self, x: npt.ArrayLike) -> Array:
        """Return the design matrix ``gain(x) Phi_i(x) / sum_j Phi_j(x)``, (k, n), of the forcing term.

        Rows are zero at phases without a nonzero function.
        """
        return self.forcing(np.eye(self.n_basis), x)


def fit_weights(
    basis: DMPBasis, x: Array, share: Array, target: Array, factor: Array, regression: str
) -> tuple[Array, float]:
    """Return weights such that ``factor * f(x)`` approximates targets.

    Parameters
    ----------
    basis : DMPBasis
        Basis functions.
    x : (k,) array
        Phases of the samples.
    share : (k,) array
        Part of time that each sample represents: samples are weighted by time, not by number.
    target, factor : (k, d) array
        Targets and the factors of the forcing term.
    regression : str
        ``"ls"``: least squares of all weights together. ``"lwr"``: locally weighted regression of each function
        (Schaal and Atkeson 1998), which smooths where functions overlap.

    Returns
    -------
    weights : (n, d) array
        Weights.
    condition : float
        Condition number of the weighted design matrix of the last column; NaN for lwr.

    Raises
    ------
    ThunderError
        For fewer samples than functions, a function without a sample in its support, or infinite targets.
    """
    if len(x) < basis.n_basis:
        raise ThunderError(f"demonstrations must have at least n_basis = {basis.n_basis} samples, got {len(x)}")
    functions, root = basis.evaluate(x), np.sqrt(share)[:, None]
    empty = np.flatnonzero(functions.max(axis=0) < np.finfo(np.float64).tiny)
    if len(empty):
        raise ThunderError(
            f"demonstrations must have samples in the support of every basis function, got none for number "
            f"{empty[0]}: use a higher sampling rate, fewer functions or a larger overlap"
        )
    if not np.isfinite(target).all():
        raise ThunderError("demonstrations must have finite forces, got an overflow: check their units")
    if one_of(regression, REGRESSIONS, "regression") == "lwr":
        local, s = functions * share[:, None], factor * basis.gain(x)[:, None]
        return np.asarray((local.T @ (s * target)) / (local.T @ s**2)), math.nan
    design, weights = root * basis.design(x), np.empty((basis.n_basis, target.shape[1]))
    together = bool((factor == factor[:, :1]).all())
    for columns in [slice(None)] if together else [slice(k, k + 1) for k in range(target.shape[1])]:
        A = factor[:, columns][:, :1] * design
        scale = np.linalg.norm(A, axis=0)
        scale[scale == 0.0] = 1.0
        solution, _, _, sizes = np.linalg.lstsq(A / scale, root * target[:, columns], rcond=_SINGULAR)
        if sizes[-1] < _SINGULAR * sizes[0]:
            raise ThunderError(
                "demonstrations must determine the weights, got a singular design matrix: use fewer functions, a "
                "smaller overlap, or more samples"
            )
        weights[:, columns] = solution / scale[:, None]
    return weights, float(sizes[0] / sizes[-1])


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
