"""Principal axes of points on a surface."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...checks import Array, array, numbers, positive, whole
from ...errors import ThunderError
from ...values import Value, set_fields
from ..optional import require
from ..pose_source import finite

__all__ = [
    "Plane",
    "SurfaceAxes",
    "choose_cluster",
    "find_clusters",
    "find_plane",
    "finite_points",
    "fit_plane",
    "reference_direction",
    "surface_axes",
    "voxel_downsample",
    "yaw_of",
]


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


#: of the points that hypotheses are judged by
_JUDGES = 3000
#: rounds of fitting to the points near the plane
_FITS = 3


@dataclass(frozen=True, eq=False)
class Plane(Value):
    """All x with ``normal @ x = offset``.

    Attributes
    ----------
    normal : (3,) array
        Of unit length; points on its side have a positive distance.
    offset : float
        [m].
    """

    normal: npt.ArrayLike
    offset: float

    def __post_init__(self) -> None:
        """Check and normalise."""
        n = array(self.normal, (3,), "normal")
        length = float(np.linalg.norm(n))
        if not length > 0.0:
            raise ThunderError("normal must not be zero")
        normal = n / length
        normal.setflags(write=False)
        set_fields(self, normal=normal, offset=finite(self.offset, "offset") / length)

    def distance(self, points: npt.ArrayLike) -> Array:
        """Return signed distances (...) of points (..., 3) [m]."""
        return np.asarray(np.asarray(points, dtype=float) @ np.asarray(self.normal) - self.offset)

    def towards(self, direction: npt.ArrayLike) -> Plane:
        """Return the same plane with the normal on the side of a direction (3,)."""
        n = np.asarray(self.normal)
        return self if n @ array(direction, (3,), "direction") >= 0.0 else Plane(-n, -self.offset)


def fit_plane(points: npt.ArrayLike) -> Plane | None:
    """Return the plane with the least sum of squared distances to points (n, 3); None if they leave it undetermined."""
    given = finite_points(points, "points")
    if len(given) < 3:
        return None
    middle = given.mean(axis=0)
    _, lengths, axes = np.linalg.svd(given - middle, full_matrices=False)
    if lengths[1] <= 1e-12 * max(lengths[0], 1e-300):
        return None
    return Plane(axes[2], float(axes[2] @ middle))


def find_plane(
    points: npt.ArrayLike,
    *,
    distance: float = 0.005,
    normal: npt.ArrayLike | None = None,
    angle: float = np.pi / 9.0,
    hypotheses: int = 300,
    seed: int = 0,
) -> tuple[Plane, npt.NDArray[np.bool_]] | None:
    """Find the plane that most points of a cloud lie on.

    Planes through three random points each are judged by how many points are near; the best is fitted to those
    (Fischler and Bolles 1981). With a share w of the points on a plane, 300 hypotheses miss it with probability
    ``(1 - w**3) ** 300``: 4e-4 for w = 0.3, 0.09 for w = 0.2.

    Parameters
    ----------
    points : (n, 3) array_like
        [m]; what is not finite counts for no plane.
    distance : float
        Of points that belong to a plane, at most [m].
    normal : (3,) array_like, optional
        Only planes whose normal is near to this one, up to its sign; the plane found has its normal on the same side.
    angle : float
        How near [rad].
    hypotheses : int
    seed : int

    Returns
    -------
    plane : Plane
    near : (n,) bool array
        Which points belong to it.
    None
        Instead of both, if no three points span a plane that is asked for.
    """
    near_by, count = positive(distance, "distance", "m"), whole(hypotheses, "hypotheses", 1)
    axis = None if normal is None else np.asarray(Plane(normal, 0.0).normal)
    slope = -1.0 if axis is None else float(np.cos(positive(angle, "angle", "rad")))
    given = numbers(points, "points", 2)
    usable = finite_points(given, "points")
    rng = np.random.default_rng(whole(seed, "seed", 0))
    best = _best_hypothesis(usable, near_by, axis, slope, count, rng)
    for _ in range(_FITS):
        if best is None:
            return None
        better = fit_plane(usable[np.abs(best.distance(usable)) <= near_by])
        if better is None or (axis is not None and abs(np.asarray(better.normal) @ axis) < slope):
            break
        best = better
    if best is None:
        return None
    best = best if axis is None else best.towards(axis)
    with np.errstate(invalid="ignore"):
        return best, np.abs(best.distance(given)) <= near_by


def _best_hypothesis(
    points: Array, distance: float, axis: Array | None, slope: float, count: int, rng: np.random.Generator
) -> Plane | None:
    if len(points) < 3:
        return None
    a, b, c = points[rng.integers(len(points), size=(3, count))]
    normals = np.cross(b - a, c - a)
    lengths = np.linalg.norm(normals, axis=1)
    spans = lengths > 1e-9 * max(float(np.ptp(points, axis=0).max()), 1e-300) ** 2
    normals = normals[spans] / lengths[spans, None]
    offsets = (normals * a[spans]).sum(axis=1)
    if axis is not None:
        allowed = np.abs(normals @ axis) >= slope
        normals, offsets = normals[allowed], offsets[allowed]
    if not len(normals):
        return None
    judges = points if len(points) <= _JUDGES else points[rng.choice(len(points), _JUDGES, replace=False)]
    votes = (np.abs(judges @ normals.T - offsets) <= distance).sum(axis=0)
    best = int(votes.argmax())
    return Plane(normals[best], float(offsets[best]))


class SurfaceAxes(NamedTuple):
    """Principal axes of points within a plane.

    Attributes
    ----------
    centroid : (3,) array
        Mean of the points [m].
    middle : (3,) array
        Middle of the smallest box along `axes` that holds them [m]: where points are denser does not matter to it.
    axes : (3, 3) array
        In columns: the direction in which the points spread most, across it, and the normal; right-handed. The first
        makes an angle of 90 degrees at most with `reference_direction`, since points know of no front and back.
    size : (2,) array
        From the first to the last point along the first two [m].
    elongation : float
        Ratio of the standard deviations along the first two, 1 or more; near 1 their direction means nothing.
    """

    centroid: Array
    middle: Array
    axes: Array
    size: Array
    elongation: float


def reference_direction(normal: npt.ArrayLike) -> Array:
    """Return the unit vector (3,) where angles about a normal begin: the world's x, or y if x is along the normal."""
    n = np.asarray(Plane(normal, 0.0).normal)
    x, y = np.eye(3)[:2]
    axis = x if abs(n @ x) < 0.99 else y
    flat = axis - (axis @ n) * n
    return np.asarray(flat / np.linalg.norm(flat))


def surface_axes(points: npt.ArrayLike, normal: npt.ArrayLike) -> SurfaceAxes:
    """Find the principal axes of points, seen along a normal.

    Parameters
    ----------
    points : (n, 3) array_like
        At least one [m].
    normal : (3,) array_like
        Of any length.

    Returns
    -------
    SurfaceAxes
        Of a single point the axes are those of the reference.
    """
    given = array(points, (None, 3), "points")
    if not len(given):
        raise ThunderError("points must be at least one, got none")
    n = np.asarray(Plane(normal, 0.0).normal)
    first = reference_direction(n)
    basis = np.stack([first, np.cross(n, first)], axis=1)
    centroid = given.mean(axis=0)
    flat = (given - centroid) @ basis
    spread, turns = np.linalg.eigh(flat.T @ flat / len(flat))
    main = turns[:, 1] if turns[0, 1] > 0.0 or (turns[0, 1] == 0.0 and turns[1, 1] > 0.0) else -turns[:, 1]
    if spread[1] <= spread[0] * (1.0 + 1e-12):
        main = np.array([1.0, 0.0])  # as long as wide: no direction is better than another
    x = basis @ main
    axes = np.stack([x, np.cross(n, x), n], axis=1)
    long, across = np.sqrt(np.maximum(spread[::-1], 0.0))
    elongation = float(long / across) if across > 0.0 else (np.inf if long > 0.0 else 1.0)
    along = (given - centroid) @ axes
    low, high = along.min(axis=0), along.max(axis=0)
    return SurfaceAxes(centroid, centroid + axes @ ((low + high) / 2.0), axes, (high - low)[:2], elongation)


def yaw_of(direction: npt.ArrayLike, normal: npt.ArrayLike) -> float:
    """Return the angle of a line about a normal, from the reference direction, in (-pi/2, pi/2] [rad]."""
    n = np.asarray(Plane(normal, 0.0).normal)
    x = reference_direction(n)
    d = np.asarray(direction, dtype=float)
    angle = float(np.arctan2(d @ np.cross(n, x), d @ x))
    if angle > np.pi / 2.0:
        return angle - np.pi
    return angle + np.pi if angle <= -np.pi / 2.0 else angle
