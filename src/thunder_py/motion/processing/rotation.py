"""Orientations in coordinates in which they can be filtered and interpolated: rotation vectors about their mean."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ...checks import Array
from ...errors import ThunderError
from ..orientation import continuous_rotation_vectors
from ..trial import ROTATION, Trial
from .over_sets import who

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation

__all__ = ["about_mean", "in_the_frame", "through_mean"]

#: the coordinates are singular a whole turn away from the mean
_MARGIN = 0.2


def rotation_columns(trial: Trial) -> npt.NDArray[np.intp]:
    """Return the columns rx, ry, rz, or none."""
    there = set(ROTATION) <= set(trial.dofs)
    return np.array([trial.dofs.index(name) for name in ROTATION] if there else [], dtype=np.intp)


def about_mean(trial: Trial) -> tuple[Array, Rotation | None]:
    """Return the values with phi = log(R_mean^T R) in place of the rotation vector, and R_mean.

    R_mean is the rotation with the least sum of squared chordal distances to the samples. phi is continuous. Near
    the mean it is as good as a vector: filters and splines act on it as on positions, and turning the frame turns
    nothing but R_mean, so that results do not depend on the frame.

    Returns
    -------
    values : (T, d) array
        NaN in gaps as before.
    mean : Rotation or None
        None for a trial without orientation, or without one valid sample.

    Raises
    ------
    ThunderError
        If the trial turns so far from its mean (almost a whole turn) that the coordinates are singular.
    """
    from scipy.spatial.transform import Rotation

    values, columns = np.array(trial.x), rotation_columns(trial)
    rows = np.flatnonzero(~np.isnan(values[:, columns]).any(axis=1))
    if not len(columns) or not len(rows):
        return values, None
    rotations = Rotation.from_rotvec(values[np.ix_(rows, columns)])
    mean = rotations.mean()
    phi = continuous_rotation_vectors(mean.inv() * rotations)
    largest = float(np.linalg.norm(phi, axis=1).max())
    if largest > 2.0 * np.pi - _MARGIN:
        raise ThunderError(
            f"{who(trial)} turns {largest:.2f} rad from its mean orientation, where rotation vectors are singular "
            f"(a whole turn is {2.0 * np.pi:.2f} rad): slice it into shorter pieces"
        )
    values[:, columns] = np.nan
    values[np.ix_(rows, columns)] = phi
    return values, mean


def in_the_frame(values: Array, mean: Rotation | None, trial: Trial) -> Array:
    """Undo `about_mean`: rotation vectors of R_mean exp(phi) in the trial's frame, continuous, in the same columns."""
    from scipy.spatial.transform import Rotation

    if mean is None:
        return values
    result, columns = np.array(values), rotation_columns(trial)
    rows = np.flatnonzero(~np.isnan(result[:, columns]).any(axis=1))
    turned = mean * Rotation.from_rotvec(result[np.ix_(rows, columns)])
    result[:, columns] = np.nan
    result[np.ix_(rows, columns)] = continuous_rotation_vectors(turned)
    return result


def through_mean(trial: Trial, function: Callable[[Array], Array]) -> Array:
    """Apply `function` to the values of a trial, orientations as rotation vectors about their mean."""
    values, mean = about_mean(trial)
    return in_the_frame(function(values), mean, trial)
