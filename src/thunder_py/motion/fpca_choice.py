"""How much minimum jerk: the share with which motions left out are predicted best from their own ends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..checks import Array
from .basis import SplineBasis
from .fpca_components import SplineSpace
from .fpca_shrinkage import Blend, Sample, blended, jerk_prior, minimum_jerk_mean, plain

__all__ = ["Setting", "cross_validated_shrinkage"]

#: shares that are tried
_SHARES = (0.001, 0.003, 0.01, 0.03, 0.1, 0.2, 0.3, 0.5, 0.7, 0.85, 0.95, 0.99, 1.0)
_FOLDS = 10
_SINGULAR = 1e-12


class Setting(NamedTuple):
    """Where motions live and how they are blended; lists of coordinates with one scale, and of one unit."""

    basis: SplineBasis
    space: SplineSpace
    joint: bool
    ideal_mean: bool
    shared: Sequence[Sequence[int]]
    units: Sequence[Sequence[int]]


def cross_validated_shrinkage(setting: Setting, sample: Sample) -> float:
    """Share of minimum jerk, by cross-validation.

    Motions are left out, a tenth of them at a time (one at a time below ten), and predicted by the most probable motion
    of the rest, x_bar free, once from position, velocity and acceleration at their ends and once without acceleration.
    Errors are squared, L2 over tau, in units of how much coordinates vary, and added up. Of all shares whose error
    exceeds the least by no more than the standard error of this difference, the largest is taken. One and two motions
    leave nothing to compare, and have 1.
    """
    count = len(sample.offsets)
    if count < 3:
        return 1.0
    whole = sample.centred + sample.offsets[:, None]
    variances = (setting.space.coordinates(sample.centred - sample.centred.mean(axis=0)) ** 2).sum(axis=(0, 1))
    weights = np.zeros(len(variances))
    for part in map(list, setting.units):
        weights[part] = 1.0 / max(float(variances[part].sum()), np.finfo(float).tiny)
    errors = []
    folds = np.arange(count) % min(count, _FOLDS)
    for fold in range(folds.max() + 1):
        rest = Sample(sample.offsets[folds != fold], sample.centred[folds != fold])
        errors.append(_errors(setting, rest, whole[folds == fold], weights))
    excess = np.array(errors) - np.array(errors)[:, [int(np.argmin(np.sum(errors, axis=0)))]]
    close = excess.sum(axis=0) <= np.sqrt(len(excess)) * excess.std(axis=0, ddof=1)
    return _SHARES[int(np.flatnonzero(close)[-1])]


def _errors(setting: Setting, rest: Sample, left_out: Array, weights: Array) -> Array:
    basis, space = setting.basis, setting.space
    data = plain(space, rest)
    prior = jerk_prior(basis, space, data, setting.shared)
    data = data._replace(rows=_compressed(data.rows, setting.joint))
    ideal = minimum_jerk_mean(basis, data.mean + data.offset_mean) if setting.ideal_mean else None
    errors = []
    for rho in _SHARES:
        blend = blended(space, data, prior, rho, ideal)
        both = [left_out - predicted(setting, blend, left_out, orders) for orders in (2, 3)]
        errors.append(sum(float((weights * (space.L.T @ error) ** 2).sum()) for error in both))
    return np.array(errors)


def _compressed(rows: Array, joint: bool) -> Array:
    """Fewer rows with the same covariance, of all coordinates or of each."""
    N, m, d = rows.shape
    if joint:
        return np.linalg.qr(rows.reshape(N, m * d))[1].reshape(-1, m, d) if m * d < N else rows
    return np.stack([np.linalg.qr(rows[:, :, k])[1] for k in range(d)], axis=-1) if m < N else rows


def predicted(setting: Setting, blend: Blend, motions: Array, orders: int) -> Array:
    """Most probable coefficients (R, K, d) of motions (R, K, d) of which only both ends are known.

    `orders` of each end: 2 for position and velocity, 3 with acceleration.
    """
    basis, space = setting.basis, setting.space
    ends = np.vstack([basis.evaluate([0.0, 1.0], order) for order in range(orders)])
    # the constant is free: one difference of positions remains to be met
    rows = np.vstack([ends[1] - ends[0], ends[2:]])
    rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    left = motions - blend.mean
    axes = space.inverse
    step = np.empty_like(left)
    d = motions.shape[2]
    if setting.joint:
        root = np.vstack([blend.rows.reshape(len(blend.rows), -1), *_blocks(blend.extra)])
        coefficients = axes @ root.reshape(len(root), -1, d)
        G = (rows @ coefficients).reshape(len(root), -1).T
        known = (rows @ left).reshape(len(left), -1).T
        scores = np.linalg.pinv(G, _SINGULAR) @ known
        step[:] = (scores.T @ coefficients.reshape(len(root), -1)).reshape(left.shape)
    else:
        for k in range(d):
            coefficients = axes @ np.vstack([blend.rows[:, :, k], blend.extra[k]]).T
            G = rows @ coefficients
            step[:, :, k] = (coefficients @ (np.linalg.pinv(G, _SINGULAR) @ (rows @ left[:, :, k].T))).T
    result = blend.mean + step
    return np.asarray(result + (motions[:, :1] - result[:, :1]))


def _blocks(extra: list[Array]) -> list[Array]:
    d = len(extra)
    blocks = []
    for k, root in enumerate(extra):
        block = np.zeros((*root.shape, d))
        block[:, :, k] = root
        blocks.append(block.reshape(len(root), -1))
    return blocks
