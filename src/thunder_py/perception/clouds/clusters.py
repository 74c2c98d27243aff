"""Groups of points that stand apart."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...checks import Array, array
from ...motion.scalars import positive, whole
from ..optional import require

__all__ = ["choose_cluster", "find_clusters"]


def find_clusters(points: npt.ArrayLike, *, gap: float, least: int = 10, core: int = 4) -> npt.NDArray[np.int64]:
    """Group points by DBSCAN (Ester et al. 1996, scikit-learn's).

    Parameters
    ----------
    points : (n, 3) array_like
        Finite [m], evenly spread (`voxel_downsample`).
    gap : float
        Groups are farther apart than this [m]; somewhat more than the distance of neighbours within a group.
    least : int
        Smaller groups are noise.
    core : int
        Neighbours, itself counted, that make a point part of the inside of a group.

    Returns
    -------
    (n,) int array
        Number of the group of every point, -1 for noise. Groups are in the order of their size, the largest is 0;
        among equal ones the one whose first point comes first.
    """
    given = array(points, (None, 3), "points")
    apart, smallest = positive(gap, "gap", "m"), whole(least, "least", 1)
    neighbours = whole(core, "core", 1)
    if not len(given):
        return np.zeros(0, dtype=np.int64)
    found = require("sklearn.cluster").DBSCAN(eps=apart, min_samples=neighbours).fit(given).labels_
    labels, counts = np.unique(found[found >= 0], return_counts=True)
    kept = [label for label, size in zip(labels, counts, strict=True) if size >= smallest]
    kept.sort(key=lambda label: (-int(counts[labels == label][0]), int(label)))
    groups = np.full(len(given), -1, dtype=np.int64)
    for number, label in enumerate(kept):
        groups[found == label] = number
    return groups


def choose_cluster(points: Array, groups: npt.NDArray[np.int64], near: npt.ArrayLike | None = None) -> int | None:
    """Return the group that is meant: the largest, or that whose centroid is nearest to a point; None without any.

    Parameters
    ----------
    points : (n, 3) array
    groups : (n,) int array
        As `find_clusters` returns them.
    near : (3,) array_like, optional
        Where the object is expected [m]: of two equal objects the size says nothing.
    """
    count = int(groups.max(initial=-1)) + 1
    if count == 0:
        return None
    if near is None:
        return 0
    place = array(near, (3,), "near")
    given = array(points, (None, 3), "points")
    distances = [float(np.linalg.norm(given[groups == k].mean(axis=0) - place)) for k in range(count)]
    return int(np.argmin(distances))
