"""Weighted least squares for the parameters that torques can tell apart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..checks import Array
from ..parameters import BaseParameters

__all__ = ["Data", "Fit", "compress", "excited", "fit", "fit_reweighted", "residual_rms", "spread"]

#: iterations of reweighting, and the relative change of weights at which it ends
_ITERATIONS, _SETTLED = 50, 1e-6
#: of the torque's own size: noise cannot be told from rounding below
_SMALLEST_NOISE = 1e-9
#: relative size of a singular value (columns scaled to unit length) that counts as zero
_RANK_TOLERANCE = 1e-10


@dataclass(frozen=True)
class Data:
    """What is fitted: torque left by the prior, as deviations of the base parameters would explain it.

    Attributes
    ----------
    factors : (n, b + 1, b + 1) array
        Triangular factor of ``[W_j | tau_j]`` for each joint j, W_j the base columns of its rows of the regressor:
        all that least squares need to know.
    count : int
        Instants.
    scale : (n,) array
        Root mean square of the measured torque of each joint, at least a small part of the largest.
    """

    factors: Array
    count: int
    scale: Array


def compress(W: Array, tau: Array, scale: Array) -> Data:
    """Reduce columns (k, n, b) and torques (k, n) to triangular factors."""
    count, n, b = W.shape
    factors = np.zeros((n, b + 1, b + 1))
    for j in range(n):
        R = np.linalg.qr(np.column_stack([W[:, j], tau[:, j]]), mode="r")
        factors[j, : len(R)] = R
    return Data(factors, count, scale)


@dataclass(frozen=True)
class Fit:
    """A weighted least-squares solution.

    Attributes
    ----------
    deviation : (b,) array
        Of the base parameters from the prior.
    covariance : (b, b) array
        Of the deviation, for residuals that are white with the standard deviations `noise`.
    noise : (n,) array
        Standard deviations of the torque, one over the weights.
    rank : int
        Base parameters that the motion excites; along the rest nothing deviates.
    condition : float
        Of the weighted columns, scaled to unit length.
    """

    deviation: Array
    covariance: Array
    noise: Array
    rank: int
    condition: float


def residual_rms(data: Data, deviation: Array) -> Array:
    """Root mean square of what is left at each joint, (n,)."""
    left = data.factors @ np.append(deviation, -1.0)
    rms: Array = np.linalg.norm(left, axis=1) / np.sqrt(data.count)
    return rms


def fit(data: Data, noise: Array) -> Fit:
    """Solve once; columns are scaled so that the rank does not depend on units."""
    weighted = data.factors / noise[:, None, None]
    weighted = weighted.reshape(-1, weighted.shape[-1])
    U, s, Vt, lengths = _scaled_svd(weighted[:, :-1])
    kept = s > _RANK_TOLERANCE * s[0] if s[0] > 0.0 else np.zeros(s.size, dtype=bool)
    rank = int(kept.sum())
    inverse = Vt[kept].T / s[kept] / lengths[:, None]
    condition = float(s[0] / s[-1]) if rank == s.size else np.inf
    return Fit(inverse @ (U[:, kept].T @ weighted[:, -1]), inverse @ inverse.T, noise, rank, condition)


def excited(data: Data) -> npt.NDArray[np.bool_]:
    """Which base parameters take no part in any combination that the motion leaves out, (b,)."""
    rows = data.factors.reshape(-1, data.factors.shape[-1])
    _, s, Vt, _ = _scaled_svd(rows[:, :-1])
    return np.asarray((np.abs(Vt[s <= _RANK_TOLERANCE * s[0]]) < 1e-6).all(axis=0))


def _scaled_svd(W: Array) -> tuple[Array, Array, Array, Array]:
    """Singular value decomposition with columns scaled to unit length, and their lengths."""
    lengths = np.linalg.norm(W, axis=0)
    lengths[lengths == 0.0] = 1.0
    U, s, Vt = np.linalg.svd(W / lengths, full_matrices=False)
    return U, s, Vt, lengths


def fit_reweighted(data: Data) -> Fit:
    """Solve with weights and residuals that agree: the noise of each joint is the root mean square of its residual."""
    k, n = data.count, len(data.factors)
    floor = _SMALLEST_NOISE * data.scale
    noise = data.scale.copy()
    for _ in range(_ITERATIONS):
        found = fit(data, noise)
        # the fit takes rank / n degrees of freedom from each joint, if from all alike
        freedom = max(k - found.rank / n, 1.0) / k
        fresh = np.maximum(residual_rms(data, found.deviation) / np.sqrt(freedom), floor)
        settled = np.abs(fresh - noise).max() <= _SETTLED * noise.max() and (np.abs(fresh / noise - 1.0) < 1e-3).all()
        noise = fresh
        if settled:
            break
    return fit(data, noise)


def spread(base: BaseParameters, mask: npt.NDArray[np.bool_], deviation: Array) -> Array:
    """Smallest change of the unknown parameters that changes the base parameters so, (p,)."""
    change = np.zeros(mask.size)
    change[mask] = np.linalg.lstsq(base.mapping[:, mask], deviation, rcond=None)[0]
    return change
