"""Fit of functional components: from splines of motions to mean, components and variances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...checks import Array
from ...errors import ThunderError
from ...parallel import Workers, map_items
from .splines import SplineBasis

#: relative difference below which two extremes count as equal: the first of them decides the sign
_TIE = 1e-6


class SplineSpace:
    """Splines of a basis, or their subspace of zero mean over tau, in orthonormal coordinates.

    With the Gram matrix G = L L', a spline with coefficients c has the coordinates L' c. Scalar products of coordinates
    are integrals of products of splines. Splines of zero mean are the orthogonal complement of the constant.

    Attributes
    ----------
    dimension : int
        K, or K - 1 for zero mean.
    zero_mean : bool
        Restrict to splines of zero mean.
    L : array (K, K)
        Cholesky factor of the Gram matrix.
    integrals : array (K,)
        Integrals of the basis functions over tau.
    """

    def __init__(self, basis: SplineBasis, zero_mean: bool) -> None:
        self.L = np.linalg.cholesky(basis.gram())
        self.integrals = basis.integrals()
        self.zero_mean = zero_mean
        if zero_mean:
            constant = self.L.T @ np.ones(basis.n_functions)
            self.axes = np.linalg.qr(constant[:, None], mode="complete")[0][:, 1:]
        else:
            self.axes = np.eye(basis.n_functions)
        # NumPy's solver: SciPy's triangular one starts all threads for 15 x 15 numbers
        self.inverse = np.linalg.solve(self.L.T, self.axes)

    @property
    def dimension(self) -> int:
        """Number of coordinates."""
        return int(self.axes.shape[1])

    def coordinates(self, coefficients: Array) -> Array:
        """Return the orthonormal coordinates (..., dimension, d) of coefficients (..., K, d)."""
        return np.asarray((self.L @ self.axes).T @ coefficients)

    def coefficients(self, coordinates: Array) -> Array:
        """Return the coefficients (..., K, d) of coordinates (..., dimension, d)."""
        return np.asarray(self.inverse @ coordinates)

    def penalty(self, gram: Array) -> Array:
        """Transform a quadratic form of coefficients (K, K), such as `SplineBasis.gram(3)`, to coordinates."""
        form = self.inverse.T @ gram @ self.inverse
        return np.asarray(0.5 * (form + form.T))


def decompose(rows: Array, count: int) -> tuple[Array, Array, float]:
    """Return eigenvectors of rows' rows by singular values of the rows, which keeps the digits of small variances.

    Parameters
    ----------
    rows : array (N, m)
        Root of a covariance.
    count : int
        Number of eigenvectors.

    Returns
    -------
    vectors : array (count, m)
        Orthonormal eigenvectors.
    variances : array (count,)
        Eigenvalues in descending order.
    total : float
        Sum of all variances.
    """
    if len(rows) > 4 * rows.shape[1]:
        rows = np.linalg.qr(rows)[1]  # the same covariance
    if len(rows) < count:  # fewer motions than components: the remaining ones have zero variance
        rows = np.vstack([rows, np.zeros((count - len(rows), rows.shape[1]))])
    _, sigma, Vt = np.linalg.svd(rows, full_matrices=False)
    return Vt[:count], sigma[:count] ** 2, float((sigma**2).sum())


def fixed_signs(values: Array) -> Array:
    """Return signs (n,) that make the largest of |values| (n, m) positive, the first one among equals."""
    size = np.abs(values)
    first = np.argmax(size >= (1.0 - _TIE) * size.max(axis=1, keepdims=True), axis=1)
    return np.where(np.take_along_axis(values, first[:, None], axis=1)[:, 0] < 0.0, -1.0, 1.0)


#: largest variance of quadratics, relative to the largest variance of a direction with jerk
_LARGE = 1e8
#: least scale of a coordinate, relative to the most variable one
_LEAST = 1e-6
#: part of the mean's square, with x_bar, below which motions count as equal up to rounding
_SAME = 1e-18


@dataclass(frozen=True)
class JerkPrior:
    """Minimum-jerk covariance, scaled to a set of motions.

    Attributes
    ----------
    flat : array (m, 2 or 3)
        Orthonormal quadratics, without the constant for splines of zero mean.
    curved : array (m, ...)
        Orthogonal complement of the quadratics, in eigenvectors of the jerk's Gram matrix.
    inverse : array (...)
        Reciprocal eigenvalues.
    scales : array (d,)
        Scale s of each coordinate.
    flat_variances : array (d,)
        Variance q_data of the quadratics in the data, per direction.
    """

    flat: Array
    curved: Array
    inverse: Array
    scales: Array
    flat_variances: Array

    def bound(self) -> Array:
        """Return the variance (d,) that represents an unlimited one."""
        return np.asarray(_LARGE * self.scales * self.inverse.max())

    def spread(self, variances: Array, rho: float) -> Array:
        """Return variances (d,) over 1 - rho, with the limit `bound` at rho = 1."""
        if rho >= 1.0:
            return self.bound()
        return np.asarray(np.minimum(variances / (1.0 - rho), self.bound()))

    def rows(self, dof: int, flat_variance: float) -> Array:
        """Return the root F (m, m) of one coordinate's prior covariance F' F."""
        curved = np.sqrt(self.scales[dof] * self.inverse)[:, None] * self.curved.T
        return np.vstack([np.sqrt(flat_variance) * self.flat.T, curved])


def jerk_prior(basis: SplineBasis, space: SplineSpace, data: Blend, shared: Sequence[Sequence[int]]) -> JerkPrior:
    """Return the minimum-jerk covariance in the scale of a set of motions.

    Parameters
    ----------
    basis, space
        Splines of the motions.
    data : Blend
        Mean and covariance of the motions; the extent of the mean sets the scale of identical motions.
    shared : sequence of index lists
        Groups of coordinates with a common scale.

    Raises
    ------
    ThunderError
        For splines without jerk, and for motions without jerk.
    """
    if basis.degree < 3:
        raise ThunderError(f"degree of the basis must be at least 3 with shrinkage, got {basis.degree}")
    values, vectors = np.linalg.eigh(space.penalty(basis.gram(3)))
    zeros = 2 if space.zero_mean else 3
    flat, curved, inverse = vectors[:, :zeros], vectors[:, zeros:], 1.0 / values[zeros:]
    mean, rows = space.coordinates(data.mean), data.rows
    scales, flat_variances = np.empty(mean.shape[1]), np.empty(mean.shape[1])
    no_jerk = True
    for part in map(list, shared):
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
    return JerkPrior(flat, curved, inverse, np.maximum(scales, _LEAST * scales.max()), flat_variances)


class Sample(NamedTuple):
    """Motions from which a covariance is estimated."""

    offsets: Array  # (R, d), x_bar
    centered: Array  # (R, K, d), coefficients without it


class Blend(NamedTuple):
    """Mean and covariance, the covariance as a root: C = rows' rows, (N, m, d) of the data and one (m, m) per dof."""

    mean: Array  # (K, d)
    offset_mean: Array  # (d,)
    offset_covariance: Array  # (d, d)
    rows: Array
    extra: list[Array]


def plain(space: SplineSpace, sample: Sample) -> Blend:
    """Return sample mean and covariance of the motions."""
    count = max(len(sample.offsets) - 1, 1)
    mean, offset_mean = sample.centered.mean(axis=0), sample.offsets.mean(axis=0)
    rows = space.coordinates(sample.centered - mean) / np.sqrt(count)
    spread = (sample.offsets - offset_mean) / np.sqrt(count)
    no_rows = np.zeros((0, space.dimension))
    return Blend(mean, offset_mean, spread.T @ spread, rows, [no_rows] * len(offset_mean))


def blended(space: SplineSpace, data: Blend, prior: JerkPrior, rho: float, ideal: Array | None) -> Blend:
    """Shrink the covariance and, with `ideal` (K, d), the mean towards minimum jerk.

    Identical motions get the covariance of the prior.
    """
    mean, offset_mean, covariance, rows, _ = data
    if ideal is not None:
        middle = space.integrals @ ideal if space.zero_mean else np.zeros_like(offset_mean)
        mean = (1.0 - rho) * mean + rho * (ideal - middle)
        offset_mean = (1.0 - rho) * offset_mean + rho * middle
    size = float((data.mean**2).sum() + (data.offset_mean**2).sum())
    share = 1.0 if float((rows**2).sum()) <= _SAME * size else rho
    flat = prior.spread(prior.flat_variances, share)
    extra = [np.sqrt(share) * prior.rows(k, float(flat[k])) for k in range(len(offset_mean))]
    if space.zero_mean:
        free = prior.spread(np.diag(covariance), share)
        covariance = (1.0 - share) * covariance + share * np.diag(free)
    return Blend(mean, offset_mean, covariance, np.sqrt(1.0 - share) * rows, extra)


def minimum_jerk_mean(basis: SplineBasis, coefficients: Array) -> Array:
    """Return the rest-to-rest minimum-jerk motion between the ends of a mean, both as coefficients (K, d).

    The quintic from degree 5 on; below, the spline of least jerk.
    """
    if basis.degree < 2 or basis.n_functions < 6:
        raise ThunderError(f"basis must have at least 6 functions of degree 2 for a minimum-jerk mean, got {basis}")
    ends = np.array([0.0, 1.0])
    A = np.vstack([basis.evaluate(ends, order) for order in range(3)])
    b = np.vstack([coefficients[[0, -1]], np.zeros((4, coefficients.shape[1]))])
    # particular solution of the constraints, and their null space
    Q, R = np.linalg.qr(A.T, mode="complete")
    particular = Q[:, :6] @ np.linalg.solve(R[:6].T, b)
    null = Q[:, 6:]
    if not null.size:
        return np.asarray(particular)
    P = basis.gram(3)
    return np.asarray(particular - null @ np.linalg.solve(null.T @ P @ null, null.T @ P @ particular))


#: candidate shares
_SHARES = (0.001, 0.003, 0.01, 0.03, 0.1, 0.2, 0.3, 0.5, 0.7, 0.85, 0.95, 0.99, 1.0)
_FOLDS = 10
_SINGULAR = 1e-12
#: what is known of left-out motions: the order of derivatives at the ends below which they are given, and whether they
#: are those of the motion or zero
_KNOWN = ((2, True), (2, False), (3, True), (3, False))
#: most probable share, and inverse variance of its logit, before any motion was seen
_USUAL, _CERTAINTY = 0.3, 0.3


class Setting(NamedTuple):
    """Splines of the motions and options of the blend; groups of coordinates of one scale, and of one unit."""

    basis: SplineBasis
    space: SplineSpace
    joint: bool
    ideal_mean: bool
    shared: Sequence[Sequence[int]]
    units: Sequence[Sequence[int]]


def cross_validated_shrinkage(setting: Setting, sample: Sample, workers: Workers = 1) -> float:
    """Return the share of minimum jerk from cross-validation; 1 for fewer than three motions, or with jerk in few."""
    count = len(sample.offsets)
    if count < 3:
        return 1.0
    try:
        return likely_share(cross_validated_errors(setting, sample, _KNOWN, workers), count)
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


def cross_validated_errors(
    setting: Setting, sample: Sample, known: Sequence[tuple[int, bool]], workers: Workers = 1
) -> Array:
    """Return the mean errors of left-out motions, by share and kind of ends.

    A tenth of the motions at a time (one at a time below ten) is left out and predicted by the most probable motion of
    the rest, with x_bar free, from the kinds of ends `known`: its own velocities or rest, with and without
    accelerations. The error e of a motion is the root of its squared difference, L2 over tau, relative to the variance
    of the coordinates.
    """
    count = len(sample.offsets)
    whole = sample.centered + sample.offsets[:, None]
    variances = (setting.space.coordinates(sample.centered - sample.centered.mean(axis=0)) ** 2).sum(axis=(0, 1))
    weights = np.zeros(len(variances))
    for part in map(list, setting.units):
        weights[part] = 1.0 / max(float(variances[part].sum()), np.finfo(float).tiny)
    folds = np.arange(count) % min(count, _FOLDS)
    errors = partial(_errors, setting, sample, whole, weights, known)
    parts = map_items(errors, [folds == fold for fold in range(folds.max() + 1)], workers=workers)
    return sum(parts, start=np.zeros((len(_SHARES), len(known)))) / count


def _errors(
    setting: Setting,
    sample: Sample,
    whole: Array,
    weights: Array,
    known: Sequence[tuple[int, bool]],
    fold: npt.NDArray[np.bool_],
) -> Array:
    """Return the sums of errors of the motions of a fold, which the others predict, by share and kind of ends."""
    rest, left_out = Sample(sample.offsets[~fold], sample.centered[~fold]), whole[fold]
    basis, space = setting.basis, setting.space
    data = plain(space, rest)
    prior = jerk_prior(basis, space, data, setting.shared)
    data = data._replace(rows=_compressed(data.rows, setting.joint))
    ideal = minimum_jerk_mean(basis, data.mean + data.offset_mean) if setting.ideal_mean else None
    errors = np.empty((len(_SHARES), len(known)))
    for i, rho in enumerate(_SHARES):
        blend = blended(space, data, prior, rho, ideal)
        for k, (orders, moving) in enumerate(known):
            left = left_out - predicted(setting, blend, left_out, orders, moving)
            errors[i, k] = np.sqrt((weights * (space.L.T @ left) ** 2).sum(axis=(1, 2))).sum()
    return errors


def _compressed(rows: Array, joint: bool) -> Array:
    """Reduce rows to fewer ones with the same covariance, of all coordinates or of each."""
    N, m, d = rows.shape
    if joint:
        return np.linalg.qr(rows.reshape(N, m * d))[1].reshape(-1, m, d) if m * d < N else rows
    return np.stack([np.linalg.qr(rows[:, :, k])[1] for k in range(d)], axis=-1) if m < N else rows


def predicted(setting: Setting, blend: Blend, motions: Array, orders: int, moving: bool) -> Array:
    """Return the most probable coefficients (R, K, d) of motions (R, K, d) from their ends.

    `orders` is 2 for position and velocity at each end, 3 with acceleration; unless `moving`, derivatives are zero.
    """
    basis, space = setting.basis, setting.space
    ends = np.vstack([basis.evaluate([0.0, 1.0], order) for order in range(orders)])
    # the constant is free, so one difference of positions remains
    rows = np.vstack([ends[1] - ends[0], ends[2:]])
    rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    known = rows @ motions
    if not moving:
        known[:, 1:] = 0.0
    known -= rows @ blend.mean
    axes = space.inverse
    step = np.empty_like(motions)
    d = motions.shape[2]
    if setting.joint:
        root = np.vstack([blend.rows.reshape(len(blend.rows), -1), *_blocks(blend.extra)])
        coefficients = axes @ root.reshape(len(root), -1, d)
        G = (rows @ coefficients).reshape(len(root), -1).T
        scores = np.linalg.pinv(G, _SINGULAR) @ known.reshape(len(known), -1).T
        step[:] = (scores.T @ coefficients.reshape(len(root), -1)).reshape(motions.shape)
    else:
        for k in range(d):
            coefficients = axes @ np.vstack([blend.rows[:, :, k], blend.extra[k]]).T
            G = rows @ coefficients
            step[:, :, k] = (coefficients @ (np.linalg.pinv(G, _SINGULAR) @ known[:, :, k].T)).T
    result = blend.mean + step
    return np.asarray(result + (motions[:, :1] - result[:, :1]))


def _blocks(extra: list[Array]) -> list[Array]:
    d = len(extra)
    blocks = []
    for k, root in enumerate(extra):
        block = np.zeros((*root.shape, d))
        block[:, :, k] = root
        blocks.append(block.reshape(len(root), root.shape[1] * d))
    return blocks


class Components(NamedTuple):
    """Result of `fit_components` for d coordinates, K basis functions, n components."""

    mean: Array  # (K, d)
    components: Array  # (n, K, d)
    variances: Array  # (n, d), joint (n,)
    total_variance: Array  # (d,), joint ()
    offset_mean: Array  # (d,)
    offset_covariance: Array  # (d, d)
    shrinkage: float


def unit_groups(units: Sequence[str]) -> list[list[int]]:
    """Return groups of coordinates of one unit, which rotations mix."""
    return [[k for k, unit in enumerate(units) if unit == shared] for shared in dict.fromkeys(units)]


def fit_components(
    setting: Setting,
    coefficients: Array,
    *,
    count: int | float | None,
    shrinkage: float | str,
    workers: Workers = 1,
) -> Components:
    """Return mean, components and variances of motions (R, K, d); see `FPCA`."""
    basis, space, joint = setting.basis, setting.space, setting.joint
    R, _, d = coefficients.shape
    sample = _sample(setting, coefficients)
    moments = plain(space, sample)
    deviations = moments.rows
    rho = 0.0
    if shrinkage != 0.0:
        rho = cross_validated_shrinkage(setting, sample, workers) if isinstance(shrinkage, str) else float(shrinkage)
        prior = jerk_prior(basis, space, moments, setting.shared)
        ideal = minimum_jerk_mean(basis, moments.mean + moments.offset_mean) if setting.ideal_mean else None
        moments = blended(space, moments, prior, rho, ideal)
    available = _available(R, space.dimension, d, joint, shrinkage != 0.0)
    number = _number(count, available, R)
    decomposed = _joint if joint else _each
    vectors, variances, total = _cut(decomposed(moments.rows, moments.extra, number), count, joint)
    components = space.coefficients(vectors)
    components = components * _signs(basis, deviations, vectors, components, joint)
    return Components(moments.mean, components, variances, total, moments.offset_mean, moments.offset_covariance, rho)


#: largest difference of a Gram matrix to the identity for components that count as orthonormal
_ORTHONORMAL = 1e-9


def project(space: SplineSpace, components: Array, centered: Array, joint: bool) -> Array:
    """Return the scores (R, n, d), joint (R, n), of motions about the mean (R, K, d) on components (n, K, d).

    By least squares; components that others published need not be orthonormal.
    """
    x, S = space.coordinates(centered), space.coordinates(components)
    if joint:
        x, S = x.reshape(len(x), -1, 1), S.reshape(len(S), S.shape[1] * S.shape[2], 1)
    scores = np.einsum("rmk,nmk->rnk", x, S, optimize=True)
    gram = np.einsum("nmk,imk->kni", S, S, optimize=True)
    if np.abs(gram - np.eye(len(S))).max(initial=0.0) > _ORTHONORMAL:
        scores = np.einsum("kni,rik->rnk", np.linalg.pinv(gram, hermitian=True), scores)
    return np.asarray(scores[..., 0] if joint else scores)


def _sample(setting: Setting, coefficients: Array) -> Sample:
    """Subtract x_bar for spaces of zero mean."""
    offsets = np.zeros((coefficients.shape[0], coefficients.shape[2]))
    if setting.space.zero_mean:
        offsets = np.einsum("k,rkd->rd", setting.space.integrals, coefficients)
    return Sample(offsets, coefficients - offsets[:, None])


def _available(R: int, dimension: int, d: int, joint: bool, shrunk: bool) -> int:
    most = dimension * d if joint else dimension
    return most if shrunk else min(R - 1, most)


def _number(count: int | float | None, available: int, R: int) -> int:
    if R == 1 and available == 0 and count != 0:
        raise ThunderError(
            "motions must be at least two without shrinkage, since one demonstration has no variance, got one: use "
            'shrinkage (a number in (0, 1] or "auto"), more demonstrations, or n_components=0 for the mean alone'
        )
    if count is None or isinstance(count, float):
        return available
    if count > available:
        raise ThunderError(f"n_components must be at most {available} for {R} motions and this basis, got {count}")
    return count


def _each(rows: Array, extra: list[Array], number: int) -> tuple[Array, Array, Array]:
    """Return components coordinate by coordinate: vectors (n, m, d), variances (n, d), totals (d,)."""
    results = [decompose(np.vstack([rows[:, :, k], extra[k]]), number) for k in range(rows.shape[2])]
    vectors = np.stack([vector for vector, _, _ in results], axis=-1)
    variances = np.stack([variance for _, variance, _ in results], axis=-1)
    return vectors, variances, np.array([total for _, _, total in results])


def _joint(rows: Array, extra: list[Array], number: int) -> tuple[Array, Array, Array]:
    """Return components of all coordinates at once: vectors (n, m, d), variances (n,), total ()."""
    _, m, d = rows.shape
    vectors, variances, total = decompose(np.vstack([rows.reshape(-1, m * d), *_blocks(extra)]), number)
    return vectors.reshape(number, m, d), variances, np.array(total)


def _cut(parts: tuple[Array, Array, Array], count: int | float | None, joint: bool) -> tuple[Array, Array, Array]:
    """Keep as many components as explain the requested part of the variance in every coordinate."""
    vectors, variances, total = parts
    if not isinstance(count, float):
        return parts
    explained = np.cumsum(variances, axis=0) / np.where(total > 0.0, total, 1.0)
    enough = (explained >= count * (1.0 - 1e-12)) | (total <= 0.0)
    number = int(np.argmax(enough if joint else enough.all(axis=1))) + 1
    return vectors[:number], variances[:number], total


def _signs(basis: SplineBasis, deviations: Array, vectors: Array, components: Array, joint: bool) -> Array:
    """Return the signs (n, 1, d) or (n, 1, 1) of the components."""
    n, _, d = components.shape
    if not n:
        return np.ones((0, 1, 1))
    if not joint:
        values = np.einsum("tk,nkd->ndt", basis.evaluate(np.linspace(0.0, 1.0, 201)), components)
        return fixed_signs(values.reshape(n * d, -1)).reshape(n, 1, d)
    # rotating the motions rotates components, while scores are invariant and can fix the sign
    scores = np.einsum("rmk,nmk->nr", deviations, vectors)
    flat = np.abs(scores).max(axis=1) <= 1e-12 * np.abs(scores).max(initial=0.0)
    by_scores = fixed_signs(scores)
    by_values = fixed_signs(components.reshape(n, -1))
    return np.where(flat | ~scores.any(axis=1), by_values, by_scores)[:, None, None]
