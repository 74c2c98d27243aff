"""Fit of functional components: from splines of motions to mean, components and variances.

Covariances are products rows' rows of rows (N, M, P). Coordinate by coordinate P = d sets of components are decomposed,
in M orthonormal coordinates of splines; joint components are one set, P = 1, in the M = m d coordinates of all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from ...checks import Array
from ...errors import ThunderError
from ...parallel import Workers, map_items
from .splines import SplineBasis

#: relative difference below which two extremes count as equal: the first of them decides the sign
_TIE = 1e-6
#: largest variance of quadratics, relative to the largest variance of a direction with jerk
_LARGE = 1e8
#: least scale of a coordinate, relative to the most variable one
_LEAST = 1e-6
#: part of the mean's square, with x_bar, below which motions count as equal up to rounding
_SAME = 1e-18
#: candidate shares of minimum jerk
_SHARES = (0.001, 0.003, 0.01, 0.03, 0.1, 0.2, 0.3, 0.5, 0.7, 0.85, 0.95, 0.99, 1.0)
_FOLDS = 10
_SINGULAR = 1e-12
#: what is known of left-out motions: the order of derivatives at the ends below which they are given, and whether they
#: are those of the motion or zero
_KNOWN = ((2, True), (2, False), (3, True), (3, False))
#: most probable share, and inverse variance of its logit, before any motion was seen
_USUAL, _CERTAINTY = 0.3, 0.3
Ends: TypeAlias = Sequence[tuple[int, bool]]
#: largest difference of a Gram matrix to the identity for components that count as orthonormal
_ORTHONORMAL = 1e-9


class SplineSpace:
    """Splines of a basis, or their subspace of zero mean over tau, in orthonormal coordinates.

    With the Gram matrix G = L L', a spline with coefficients c has the coordinates L' c. Scalar products of coordinates
    are integrals of products of splines. Splines of zero mean are the orthogonal complement of the constant.

    Attributes
    ----------
    dimension : int
        K, or K - 1 for zero mean.
    L : array (K, K)
        Cholesky factor of the Gram matrix.
    integrals : array (K,)
        Integrals of the basis functions over tau; zero unless means are subtracted.
    ends : array (6, K)
        Values, first and second derivatives of the basis functions at 0 and 1.
    """

    def __init__(self, basis: SplineBasis, zero_mean: bool) -> None:
        self.L = np.linalg.cholesky(basis.gram())
        self.zero_mean = zero_mean
        self.integrals, axes = np.zeros(basis.n_functions), np.eye(basis.n_functions)
        if zero_mean:
            self.integrals = basis.integrals()
            axes = np.linalg.qr((self.L.T @ np.ones(len(axes)))[:, None], mode="complete")[0][:, 1:]
        self.dimension = axes.shape[1]
        self.ends = np.vstack([basis.evaluate([0.0, 1.0], order) for order in range(3)])
        self._to = (self.L @ axes).T
        # NumPy's solver: SciPy's triangular one starts all threads for 15 x 15 numbers
        self.inverse = np.linalg.solve(self.L.T, axes)

    def coordinates(self, coefficients: Array, joint: bool = False) -> Array:
        """Return the orthonormal coordinates (..., m, d) of coefficients (..., K, d), joint (..., m d, 1)."""
        result = self._to @ coefficients
        return np.asarray(result.reshape(len(result), -1, 1) if joint else result)

    def means(self, coefficients: Array) -> Array:
        """Return x_bar (R, d) of motions (R, K, d)."""
        return np.asarray(np.einsum("k,rkd->rd", self.integrals, coefficients))


class Setting(NamedTuple):
    """Splines of the motions and options of the blend; groups of coordinates of one unit, which rotations mix."""

    basis: SplineBasis
    space: SplineSpace
    joint: bool
    ideal_mean: bool
    units: list[list[int]]


class Blend(NamedTuple):
    """Mean and covariance, as a root: rows' rows."""

    mean: Array  # (K, d)
    offset_mean: Array  # (d,)
    offset_covariance: Array  # (d, d)
    rows: Array  # (N, M, P)


def unit_groups(units: Sequence[str]) -> list[list[int]]:
    """Return groups of coordinates of one unit, which rotations mix."""
    return [[k for k, unit in enumerate(units) if unit == shared] for shared in dict.fromkeys(units)]


def moments(setting: Setting, coefficients: Array) -> Blend:
    """Return sample mean and covariance of motions (R, K, d)."""
    space, root = setting.space, np.sqrt(max(len(coefficients) - 1, 1))
    offsets = space.means(coefficients)
    centered = coefficients - offsets[:, None]
    mean, offset_mean = centered.mean(axis=0), offsets.mean(axis=0)
    spread = (offsets - offset_mean) / root
    rows = space.coordinates(centered - mean, setting.joint) / root
    return Blend(mean, offset_mean, spread.T @ spread, rows)


def _jerk_prior(setting: Setting, data: Blend) -> tuple[Array, Array, Array, Array]:
    """Return the minimum-jerk covariance in the scale of a set of motions.

    The extent of the mean sets the scale of identical motions.

    Returns
    -------
    flat : array (m, 2 or 3)
        Orthonormal quadratics, without the constant for splines of zero mean.
    curved : array (d, ..., m)
        Root of the covariance of each coordinate in the orthogonal complement of the quadratics.
    flat_variances : array (d,)
        Variance of the quadratics in the data, per direction.
    bound : array (d,)
        Variance that represents an unlimited one.

    Raises
    ------
    ThunderError
        For splines without jerk, and for motions without jerk.
    """
    basis, space = setting.basis, setting.space
    if basis.degree < 3:
        raise ThunderError(f"degree of the basis must be at least 3 with shrinkage, got {basis.degree}")
    jerk = space.inverse.T @ basis.gram(3) @ space.inverse
    values, vectors = np.linalg.eigh(0.5 * (jerk + jerk.T))
    zeros = 2 if space.zero_mean else 3
    flat, curved, inverse = vectors[:, :zeros], vectors[:, zeros:], 1.0 / values[zeros:]
    mean = space.coordinates(data.mean)
    rows, d = data.rows.reshape(-1, *mean.shape), mean.shape[1]
    scales, flat_variances, no_jerk = np.empty(d), np.empty(d), True
    # one scale for coordinates that rotations mix
    for part in setting.units if setting.joint else np.arange(d)[:, None]:
        moving = float(((curved.T @ rows[:, :, part]) ** 2).sum())
        same = _SAME * float((mean[:, part] ** 2).sum() + (data.offset_mean[part] ** 2).sum())
        if moving <= same:
            moving = float(((curved.T @ mean[:, part]) ** 2).sum())
        no_jerk &= moving <= same
        scales[part] = moving / (len(part) * inverse.sum())
        flat_variances[part] = float(((flat.T @ rows[:, :, part]) ** 2).sum()) / (len(part) * zeros)
    if no_jerk:
        raise ThunderError(
            "motions must have jerk with shrinkage, got motions that are constant, linear or quadratic over time: add "
            "motions that speed up and slow down, or use shrinkage=0"
        )
    scales = np.maximum(scales, _LEAST * scales.max())
    roots = np.sqrt(scales[:, None] * inverse)[:, :, None] * curved.T
    return flat, roots, flat_variances, _LARGE * scales * inverse.max()


def blends(setting: Setting, data: Blend) -> Callable[[float], Blend]:
    """Return the function from a share rho to the moments of motions blended with those of minimum jerk.

    The mean is blended for `ideal_mean`. Identical motions have the covariance of the prior.
    """
    space, (flat, curved, flat_variances, bound) = setting.space, _jerk_prior(setting, data)
    d, m = len(bound), len(flat)
    size = float((data.mean**2).sum() + (data.offset_mean**2).sum())
    identical = float((data.rows**2).sum()) <= _SAME * size
    ideal = minimum_jerk_mean(setting.basis, data.mean + data.offset_mean) if setting.ideal_mean else None

    def spread(variances: Array, share: float) -> Array:
        return np.asarray(bound if share >= 1.0 else np.minimum(variances / (1.0 - share), bound))

    def prior(share: float) -> Array:
        rows = np.zeros((d, m, m, d))
        for k, variance in enumerate(spread(flat_variances, share)):
            rows[k, :, :, k] = np.vstack([np.sqrt(variance) * flat.T, curved[k]])
        return rows.reshape(d * m, m * d, 1) if setting.joint else np.einsum("kijk->ijk", rows)

    def blended(rho: float) -> Blend:
        mean, offset_mean, covariance, _ = data
        if ideal is not None:
            middle = space.integrals @ ideal
            mean = (1.0 - rho) * mean + rho * (ideal - middle)
            offset_mean = (1.0 - rho) * offset_mean + rho * middle
        share = 1.0 if identical else rho
        if space.zero_mean:
            covariance = (1.0 - share) * covariance + share * np.diag(spread(np.diag(covariance), share))
        rows = np.concatenate([np.sqrt(1.0 - share) * data.rows, np.sqrt(share) * prior(share)])
        return Blend(mean, offset_mean, covariance, rows)

    return blended


def minimum_jerk_mean(basis: SplineBasis, coefficients: Array) -> Array:
    """Return the rest-to-rest minimum-jerk motion between the ends of a mean, both as coefficients (K, d).

    The quintic from degree 5 on; below, the spline of least jerk.
    """
    if basis.degree < 2 or basis.n_functions < 6:
        raise ThunderError(f"basis must have at least 6 functions of degree 2 for a minimum-jerk mean, got {basis}")
    A = np.vstack([basis.evaluate([0.0, 1.0], order) for order in range(3)])
    b = np.vstack([coefficients[[0, -1]], np.zeros((4, coefficients.shape[1]))])
    # particular solution of the constraints, and their null space
    Q, R = np.linalg.qr(A.T, mode="complete")
    particular = Q[:, :6] @ np.linalg.solve(R[:6].T, b)
    null = Q[:, 6:]
    P = basis.gram(3)
    return np.asarray(particular - null @ np.linalg.solve(null.T @ P @ null, null.T @ P @ particular))


def cross_validated_shrinkage(setting: Setting, coefficients: Array, workers: Workers = 1) -> float:
    """Return the share of minimum jerk from cross-validation; 1 for fewer than three motions, or with jerk in few."""
    count = len(coefficients)
    if count < 3:
        return 1.0
    try:
        return likely_share(cross_validated_errors(setting, coefficients, _KNOWN, workers), count)
    except ThunderError:  # no prior without those left out; that of all motions raises again
        return 1.0


def likely_share(errors: Array, count: int) -> float:
    """Return the share from errors (shares, kinds of ends) of `count` left-out motions.

    It minimizes R sum_kinds log(mean e) + w (logit rho - logit 0.3)^2 / 2, w = 0.3, over R motions. Logarithms give all
    kinds the same say, also where noisy accelerations have far larger errors; the last term decides where few motions
    do not.
    """
    evidence = count * np.log(np.maximum(errors, np.finfo(float).tiny)).sum(axis=1)
    shares = np.clip(_SHARES, None, 0.999)
    surprise = 0.5 * _CERTAINTY * (np.log(shares / (1.0 - shares)) - np.log(_USUAL / (1.0 - _USUAL))) ** 2
    return _SHARES[int(np.argmin(evidence + surprise))]


def cross_validated_errors(setting: Setting, coefficients: Array, known: Ends, workers: Workers = 1) -> Array:
    """Return the mean errors of left-out motions, by share and kind of ends.

    A tenth of the motions at a time (one at a time below ten) is left out and predicted by the most probable motion of
    the rest, with x_bar free, from the kinds of ends `known`: its own velocities or rest, with and without
    accelerations. The error e of a motion is the root of its squared difference, L2 over tau, relative to the variance
    of the coordinates.
    """
    count, space = len(coefficients), setting.space
    centered = coefficients - space.means(coefficients)[:, None]
    variances = (space.coordinates(centered - centered.mean(axis=0)) ** 2).sum(axis=(0, 1))
    weights = np.zeros(len(variances))
    for part in setting.units:
        weights[part] = 1.0 / max(float(variances[part].sum()), np.finfo(float).tiny)
    folds = np.arange(count) % min(count, _FOLDS)
    errors = partial(_errors, setting, coefficients, weights, known)
    parts = map_items(errors, [folds == fold for fold in range(folds.max() + 1)], workers=workers)
    return sum(parts, start=np.zeros((len(_SHARES), len(known)))) / count


def _errors(setting: Setting, coefficients: Array, weights: Array, known: Ends, fold: npt.NDArray[np.bool_]) -> Array:
    """Return the sums of errors of the motions of a fold, which the others predict, by share and kind of ends."""
    data, left_out = moments(setting, coefficients[~fold]), coefficients[fold]
    fewer = np.moveaxis(np.linalg.qr(np.moveaxis(data.rows, 2, 0))[1], 0, 2)  # with the same covariance
    blended = blends(setting, data._replace(rows=fewer))
    errors = np.empty((len(_SHARES), len(known)))
    for i, rho in enumerate(_SHARES):
        blend = blended(rho)
        for k, (orders, moving) in enumerate(known):
            left = left_out - predicted(setting, blend, left_out, orders, moving)
            errors[i, k] = np.sqrt((weights * (setting.space.L.T @ left) ** 2).sum(axis=(1, 2))).sum()
    return errors


def predicted(setting: Setting, blend: Blend, motions: Array, orders: int, moving: bool) -> Array:
    """Return the most probable coefficients (R, K, d) of motions (R, K, d) from their ends.

    `orders` is 2 for position and velocity at each end, 3 with acceleration; unless `moving`, derivatives are zero.
    """
    ends = setting.space.ends[: 2 * orders]
    # the constant is free, so one difference of positions remains
    rows = np.vstack([ends[1] - ends[0], ends[2:]])
    rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    known = rows @ motions
    if not moving:
        known[:, 1:] = 0.0
    known -= rows @ blend.mean
    step, axes = np.empty_like(motions), setting.space.inverse
    for k, part in enumerate([slice(None)] if setting.joint else [slice(k, k + 1) for k in range(motions.shape[2])]):
        root = blend.rows[:, :, k].reshape(len(blend.rows), axes.shape[1], -1)
        curves = np.tensordot(axes, root, (1, 1))  # (K, N, dofs)
        G = np.tensordot(rows, curves, (1, 0)).swapaxes(1, 2).reshape(-1, len(root))
        scores = np.linalg.pinv(G, _SINGULAR) @ known[:, :, part].reshape(len(known), -1).T
        step[:, :, part] = np.tensordot(scores.T, curves, (1, 1))
    result = blend.mean + step
    return np.asarray(result + (motions[:, :1] - result[:, :1]))


class Components(NamedTuple):
    """Result of `fit_components` for d coordinates, K basis functions, n components."""

    mean_coefficients: Array  # (K, d)
    component_coefficients: Array  # (n, K, d)
    explained_variance: Array  # (n, d), joint (n,)
    total_variance: Array  # (d,), joint ()
    offset_mean: Array  # (d,)
    offset_covariance: Array  # (d, d)
    shrinkage: float
    scores: Array  # (R, n, d), joint (R, n)
    offsets: Array  # (R, d)


def fit_components(
    setting: Setting, coefficients: Array, count: int | float | None, shrinkage: float | str, workers: Workers = 1
) -> Components:
    """Return mean, components and variances of motions (R, K, d); see `FPCA`."""
    space, joint, d = setting.space, setting.joint, coefficients.shape[2]
    blend = data = moments(setting, coefficients)
    rho = 0.0
    if shrinkage != 0.0:
        rho = cross_validated_shrinkage(setting, coefficients, workers) if isinstance(shrinkage, str) else shrinkage
        blend = blends(setting, data)(rho)
    number = _number(count, data.rows.shape[1], len(coefficients), shrinkage != 0.0)
    rows = np.moveaxis(blend.rows, 2, 0)
    if rows.shape[1] > 4 * rows.shape[2]:
        rows = np.linalg.qr(rows)[1]  # the same covariance
    # fewer motions than components: the remaining ones have zero variance
    rows = np.pad(rows, ((0, 0), (0, max(number - rows.shape[1], 0)), (0, 0)))
    # of the rows, not of the covariance, which keeps the digits of small variances
    _, sigma, axes = np.linalg.svd(rows, full_matrices=False)
    vectors, variances, total = np.moveaxis(axes[:, :number], 0, 2), sigma[:, :number].T ** 2, (sigma**2).sum(axis=1)
    if isinstance(count, float):  # as many as explain this part of the variance in every coordinate
        explained = np.cumsum(variances, axis=0) / np.where(total > 0.0, total, 1.0)
        enough = (explained >= count * (1.0 - 1e-12)) | (total <= 0.0)
        number = int(np.argmax(enough.all(axis=1))) + 1
        vectors, variances = vectors[:number], variances[:number]
    components = space.inverse @ vectors.reshape(number, space.dimension, d)
    components = components * _signs(setting, data.rows, vectors, components)
    if joint:
        variances, total = variances[:, 0], total[0]
    projected = project(space, blend.mean, components, coefficients, joint)
    return Components(blend.mean, components, variances, total, *blend[1:3], rho, *projected)


def project(
    space: SplineSpace, mean: Array, components: Array, coefficients: Array, joint: bool
) -> tuple[Array, Array]:
    """Return the scores (R, n, d), joint (R, n), and offsets (R, d) of motions (R, K, d) on components (n, K, d).

    By least squares; components that others published need not be orthonormal, nor have zero mean.
    """
    offsets = space.means(coefficients)
    x = space.coordinates(coefficients - offsets[:, None] - mean, joint)
    S = space.coordinates(components, joint)
    scores = np.einsum("rmk,nmk->rnk", x, S, optimize=True)
    gram = np.einsum("nmk,imk->kni", S, S, optimize=True)
    if np.abs(gram - np.eye(len(S))).max(initial=0.0) > _ORTHONORMAL:
        scores = np.einsum("kni,rik->rnk", np.linalg.pinv(gram, hermitian=True), scores)
    scores = scores[..., 0] if joint else scores
    offsets -= space.integrals @ mean + np.einsum("rn...,n...->r...", scores, space.means(components))
    return scores, offsets


def _number(count: int | float | None, most: int, R: int, shrunk: bool) -> int:
    available = most if shrunk else min(R - 1, most)
    if available == 0 and count != 0:
        raise ThunderError(
            "motions must be at least two without shrinkage, since one demonstration has no variance, got one: use "
            'shrinkage (a number in (0, 1] or "auto"), more demonstrations, or n_components=0 for the mean alone'
        )
    if count is None or isinstance(count, float):
        return available
    if count > available:
        raise ThunderError(f"n_components must be at most {available} for {R} motions and this basis, got {count}")
    return count


def _signs(setting: Setting, deviations: Array, vectors: Array, components: Array) -> Array:
    """Return the signs (n, 1, d) or (n, 1, 1) of the components."""
    n, _, d = components.shape
    if not n:
        return np.ones((0, 1, 1))
    if not setting.joint:
        values = np.einsum("tk,nkd->ndt", setting.basis.evaluate(np.linspace(0.0, 1.0, 201)), components)
        return _fixed_signs(values.reshape(n * d, -1)).reshape(n, 1, d)
    # rotating the motions rotates components, while scores are invariant and can fix the sign
    scores = np.einsum("rmk,nmk->nr", deviations, vectors)
    flat = np.abs(scores).max(axis=1) <= 1e-12 * np.abs(scores).max(initial=0.0)
    by_scores, by_values = _fixed_signs(scores), _fixed_signs(components.reshape(n, -1))
    return np.where(flat | ~scores.any(axis=1), by_values, by_scores)[:, None, None]


def _fixed_signs(values: Array) -> Array:
    """Return signs (n,) that make the largest of |values| (n, m) positive, the first one among equals."""
    size = np.abs(values)
    first = np.argmax(size >= (1.0 - _TIE) * size.max(axis=1, keepdims=True), axis=1)
    return np.where(np.take_along_axis(values, first[:, None], axis=1)[:, 0] < 0.0, -1.0, 1.0)
