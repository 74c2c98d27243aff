"""Fewer points of a cloud, evenly spread."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...checks import Array
from ...errors import ThunderError
from ...motion.scalars import numbers, positive

__all__ = ["finite_points", "voxel_downsample"]


def finite_points(cloud: npt.ArrayLike, what: str = "cloud") -> Array:
    """Return the points (n, 3) of a cloud (..., 3) that are measured: finite in all coordinates."""
    points = numbers(cloud, what)
    if points.shape[-1:] != (3,):
        raise ThunderError(f"{what} must have shape (..., 3), got {points.shape}")
    points = points.reshape(-1, 3)
    return points[np.isfinite(points).all(axis=1)]


def voxel_downsample(points: npt.ArrayLike, size: float) -> Array:
    """Return the mean of the points in every occupied cube of a grid.

    A camera sees near surfaces, and those that face it, with more points than others. With one point for each cube,
    surfaces weigh by their area instead, as principal components should see them.

    Parameters
    ----------
    points : (n, 3) array_like
        [m]; what is not finite is left out.
    size : float
        Edge of the cubes, which are aligned with the origin [m].

    Returns
    -------
    (k, 3) array
        In the order of the cubes; it does not depend on the order of the points but for rounding.

    Raises
    ------
    ThunderError
        A size that is not positive.
    """
    given = finite_points(points, "points")
    if not len(given):
        return given
    cubes = np.floor(given / positive(size, "size", "m"))
    cubes -= cubes.min(axis=0)
    counts = cubes.max(axis=0) + 1.0
    if np.prod(counts) < 2.0**62:
        keys = np.ravel_multi_index(tuple(cubes.astype(np.int64).T), tuple(counts.astype(np.int64)))
        _, cube, count = np.unique(keys, return_inverse=True, return_counts=True)
    else:  # far outliers: one number does not tell all cubes apart
        _, cube, count = np.unique(cubes, axis=0, return_inverse=True, return_counts=True)
        cube = cube.reshape(-1)  # NumPy 2.0 gives a column
    sums = np.stack([np.bincount(cube, weights=column) for column in given.T], axis=1)
    return np.asarray(sums / count[:, None])
