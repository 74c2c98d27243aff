"""Affine registration: a shift and a stretch of time, from a grid."""

from __future__ import annotations

import numpy as np

from ...checks import Array
from ...errors import ThunderError
from ..motion_set import MotionSet
from ..scalars import numbers, whole
from ..trial import Trial
from .resampling import at_times

__all__ = ["affine_fit", "affine_registration"]

#: samples at which movements are compared
_SAMPLES = 256


def affine_registration(
    motions: MotionSet,
    reference: int,
    grid: tuple[int, int],
    shifts: tuple[float, float],
    stretches: tuple[float, float],
    n: int | None,
) -> MotionSet:
    """Register every trial to one of them; see `register`."""
    whole(reference, "reference", -len(motions), len(motions) - 1)
    _ = motions.dofs  # raises where they differ
    pairs = _pairs(grid, shifts, stretches)
    tau = np.linspace(0.0, 1.0, _SAMPLES)
    index = int(reference) % len(motions)
    wanted = _standard(_over_tau(motions[index], tau))
    results: list[Trial] = []
    for k, trial in enumerate(motions):
        shift, stretch = (0.0, 1.0) if k == index else affine_fit(_over_tau(trial, tau), wanted, pairs)
        results.append(_moved(trial, shift, stretch, n))
    return MotionSet(results)


def _pairs(grid: tuple[int, int], shifts: tuple[float, float], stretches: tuple[float, float]) -> Array:
    """Return all (shift, stretch), shape (m, 2)."""
    if np.shape(grid) != (2,):
        raise ThunderError(f"grid must be two numbers of steps, got {grid!r}")
    for steps in grid:
        whole(steps, "grid: a number of steps", 1)
    for what, value in (("shifts", shifts), ("stretches", stretches)):
        if numbers(value, what).shape != (2,) or not np.isfinite(value).all() or value[0] > value[1]:
            raise ThunderError(f"{what} must be a smallest and a largest number, got {value!r}")
    if not stretches[0] > 0.0:
        raise ThunderError(f"stretches must be > 0, got {stretches!r}")
    a, b = np.meshgrid(np.linspace(*shifts, grid[0]), np.linspace(*stretches, grid[1]), indexing="ij")
    return np.column_stack([a.ravel(), b.ravel()])


def _over_tau(trial: Trial, tau: Array) -> Array:
    return at_times(trial, trial.t[0] + tau * trial.duration)


def _standard(values: Array) -> Array:
    """Return columns of mean 0 and length 1; a column that does not move becomes 0, and correlates with nothing."""
    centred = values - values.mean(axis=-2, keepdims=True)
    lengths = np.linalg.norm(centred, axis=-2, keepdims=True)
    still = lengths <= 1e-12 * (1.0 + np.abs(values).max())
    return np.asarray(np.where(still, 0.0, centred / np.where(still, 1.0, lengths)), dtype=np.float64)


def affine_fit(values: Array, wanted: Array, pairs: Array) -> tuple[float, float]:
    """Return the (shift, stretch) among `pairs` whose movement has the largest correlation with `wanted` in one dof.

    Parameters
    ----------
    values : (S, d) array
        At S equal steps of tau, linear in between.
    wanted : (S, d) array
        Columns of mean 0 and length 1.
    pairs : (m, 2) array
        Shifts and stretches.
    """
    tau = np.linspace(0.0, 1.0, len(values))
    place = np.clip((tau - pairs[:, :1]) / pairs[:, 1:], 0.0, 1.0) * (len(values) - 1)  # (m, S)
    left = np.minimum(place.astype(np.intp), len(values) - 2)
    part = (place - left)[..., None]
    moved = (1.0 - part) * values[left] + part * values[left + 1]  # (m, S, d)
    correlation = np.einsum("msd,sd->md", _standard(moved), wanted)
    shift, stretch = pairs[int(np.argmax(correlation.max(axis=1)))]
    return float(shift), float(stretch)


def _moved(trial: Trial, shift: float, stretch: float, n: int | None) -> Trial:
    """Return x((tau - shift) / stretch), ends held, over a duration that keeps speeds as they were."""
    count = len(trial) if n is None else whole(n, "n", 2)
    tau = np.linspace(0.0, 1.0, count)
    values = at_times(trial, trial.t[0] + np.clip((tau - shift) / stretch, 0.0, 1.0) * trial.duration)
    duration = trial.duration / stretch
    return trial.with_values(values, trial.t[0] + tau * duration, rate=(count - 1) / duration)
