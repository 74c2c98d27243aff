"""Fit of functional components: from splines of motions to mean, components and variances."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..checks import Array
from ..errors import ThunderError
from .basis import SplineBasis
from .fpca_choice import Setting, cross_validated_shrinkage
from .fpca_components import SplineSpace, decompose, fixed_signs
from .fpca_shrinkage import Sample, blended, jerk_prior, minimum_jerk_mean, plain

__all__ = ["Components", "fit_components", "project", "unit_groups"]


class Components(NamedTuple):
    """What `fit_components` returns; d coordinates, K basis functions, n components."""

    mean: Array  # (K, d)
    components: Array  # (n, K, d)
    variances: Array  # (n, d), joint (n,)
    total_variance: Array  # (d,), joint ()
    offset_mean: Array  # (d,)
    offset_covariance: Array  # (d, d)
    shrinkage: float


def unit_groups(units: Sequence[str]) -> list[list[int]]:
    """Coordinates of one unit together: those that turn into each other."""
    return [[k for k, unit in enumerate(units) if unit == one] for one in dict.fromkeys(units)]


def fit_components(
    setting: Setting,
    coefficients: Array,
    *,
    count: int | float | None,
    shrinkage: float | str,
) -> Components:
    """Mean, components and variances of motions (R, K, d); see `FPCA`."""
    basis, space, joint = setting.basis, setting.space, setting.joint
    R, _, d = coefficients.shape
    sample = _sample(setting, coefficients)
    found = plain(space, sample)
    deviations = found.rows
    rho = 0.0
    if shrinkage != 0.0:
        rho = cross_validated_shrinkage(setting, sample) if isinstance(shrinkage, str) else float(shrinkage)
        prior = jerk_prior(basis, space, found, setting.shared)
        ideal = minimum_jerk_mean(basis, found.mean + found.offset_mean) if setting.ideal_mean else None
        found = blended(space, found, prior, rho, ideal)
    available = _available(R, space.dimension, d, joint, shrinkage != 0.0)
    number = _number(count, available, R)
    decomposed = _joint if joint else _each
    vectors, variances, total = _cut(decomposed(found.rows, found.extra, number), count, joint)
    components = space.coefficients(vectors)
    components = components * _signs(basis, deviations, vectors, components, joint)
    return Components(found.mean, components, variances, total, found.offset_mean, found.offset_covariance, rho)


def project(space: SplineSpace, components: Array, centred: Array, joint: bool) -> Array:
    """Scores of motions about the mean (R, K, d) on components (n, K, d): (R, n, d), joint (R, n)."""
    what = "rmk,nmk->rn" if joint else "rmk,nmk->rnk"
    return np.asarray(np.einsum(what, space.coordinates(centred), space.coordinates(components), optimize=True))


def _sample(setting: Setting, coefficients: Array) -> Sample:
    """Take x_bar off where splines of the space have zero mean."""
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
            "one demonstration has no variance to take components from; use shrinkage (a number in (0, 1] or "
            '"auto"), more demonstrations, or n_components=0 for the mean alone'
        )
    if count is None or isinstance(count, float):
        return available
    if count > available:
        raise ThunderError(f"n_components must be at most {available} for {R} motions and this basis, got {count}")
    return count


def _each(rows: Array, extra: list[Array], number: int) -> tuple[Array, Array, Array]:
    """Components coordinate by coordinate: vectors (n, m, d), variances (n, d), totals (d,)."""
    results = [decompose(np.vstack([rows[:, :, k], extra[k]]), number) for k in range(rows.shape[2])]
    vectors = np.stack([vector for vector, _, _ in results], axis=-1)
    variances = np.stack([variance for _, variance, _ in results], axis=-1)
    return vectors, variances, np.array([total for _, _, total in results])


def _joint(rows: Array, extra: list[Array], number: int) -> tuple[Array, Array, Array]:
    """Components of all coordinates at once: vectors (n, m, d), variances (n,), total ()."""
    _, m, d = rows.shape
    blocks = [rows.reshape(-1, m * d)]
    for k, root in enumerate(extra):
        block = np.zeros((len(root), m, d))
        block[:, :, k] = root
        blocks.append(block.reshape(-1, m * d))
    vectors, variances, total = decompose(np.vstack(blocks), number)
    return vectors.reshape(number, m, d), variances, np.array(total)


def _cut(parts: tuple[Array, Array, Array], count: int | float | None, joint: bool) -> tuple[Array, Array, Array]:
    """Keep as many components as explain the asked part of the variance, in every coordinate."""
    vectors, variances, total = parts
    if not isinstance(count, float):
        return parts
    explained = np.cumsum(variances, axis=0) / np.where(total > 0.0, total, 1.0)
    enough = (explained >= count * (1.0 - 1e-12)) | (total <= 0.0)
    number = int(np.argmax(enough if joint else enough.all(axis=1))) + 1
    return vectors[:number], variances[:number], total


def _signs(basis: SplineBasis, deviations: Array, vectors: Array, components: Array, joint: bool) -> Array:
    """Signs (n, 1, d) or (n, 1, 1) of the components."""
    n, _, d = components.shape
    if not n:
        return np.ones((0, 1, 1))
    if not joint:
        values = np.einsum("tk,nkd->ndt", basis.evaluate(np.linspace(0.0, 1.0, 201)), components)
        return fixed_signs(values.reshape(n * d, -1)).reshape(n, 1, d)
    # turning the motions turns components: only scores tell what does not turn
    scores = np.einsum("rmk,nmk->nr", deviations, vectors)
    flat = np.abs(scores).max(axis=1) <= 1e-12 * np.abs(scores).max(initial=0.0)
    by_scores = fixed_signs(scores)
    by_values = fixed_signs(components.reshape(n, -1))
    return np.where(flat | ~scores.any(axis=1), by_values, by_scores)[:, None, None]
