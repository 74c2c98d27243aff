"""Segmentation of point clouds: downsampling, planes, clusters, principal axes of a surface."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...checks import Array, array, finite, numbers, positive, whole, within
from ...checks import points as vectors
from ...errors import ThunderError
from ...values import Value, set_fields


def find_clusters(
    points: npt.ArrayLike, *, eps: float, min_size: int = 10, min_samples: int = 4
) -> npt.NDArray[np.int64]:
    """Group points by DBSCAN (Ester et al. 1996), with the labels of scikit-learn's implementation.

    Parameters
    ----------
    points : (n, 3) array_like
        Finite points of uniform density (`voxel_downsample`) [m].
    eps : float
        Smallest distance between groups [m]; somewhat more than the distance of neighbors within a group.
    min_size : int
        Smallest size of a group; smaller ones are noise.
    min_samples : int
        Number of neighbors, including itself, of a core point.

    Returns
    -------
    (n,) int array
        Number of the group of every point, -1 for noise. Groups are sorted by size, the largest is 0; groups of equal
        size by their first point.

    Raises
    ------
    ThunderError
        If `points` has the wrong shape or a number is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.perception.clouds import find_clusters
    >>> line = np.outer(np.arange(5), [0.01, 0.0, 0.0])
    >>> points = np.concatenate([line[:4], line + [0.5, 0.0, 0.0], [[0.2, 0.0, 0.0]]])
    >>> find_clusters(points, eps=0.02, min_size=3, min_samples=2).tolist()
    [1, 1, 1, 1, 0, 0, 0, 0, 0, -1]
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components
    from scipy.spatial import cKDTree

    xyz, smallest = array(points, (None, 3), "points"), whole(min_size, "min_size", 1)
    n = len(xyz)
    i, j = cKDTree(xyz).query_pairs(positive(eps, "eps", "m"), output_type="ndarray").T
    core = 1 + np.bincount(i, minlength=n) + np.bincount(j, minlength=n) >= whole(min_samples, "min_samples", 1)
    both = core[i] & core[j]
    joined = coo_array((np.ones(int(both.sum()), dtype=np.int8), (i[both], j[both])), shape=(n, n))
    _, component = connected_components(joined, directed=False)
    groups = np.where(core, component, n)
    for a, b in ((i, j), (j, i)):  # points at the border belong to the first group that reaches them
        border = core[a] & ~core[b]
        np.minimum.at(groups, b[border], component[a[border]])
    return _by_size(np.where(groups < n, groups, -1), smallest)


#: directions in which gaps are looked for; height of the points, relative to the highest, between which they are
_DIRECTIONS, _HIGH = 60, 0.5
#: width of a gap relative to the third widest one, and smallest share of the points on either side
_WIDER, _SIDE = 3.0, 0.15


def split_at_gaps(
    points: npt.ArrayLike, groups: npt.NDArray[np.int64], up: npt.ArrayLike, *, width: float = 0.004, least: int = 80
) -> npt.NDArray[np.int64]:
    """Split groups of points at straight gaps that are visible from above.

    The upper half of a group is projected on 60 horizontal directions. If the widest interval without points is at
    least three times as wide as the third widest other one of the same direction, which tells the resolution of the
    cloud, the group is split there; its parts are split likewise.

    Parameters
    ----------
    points : (n, 3) array_like
        Points [m].
    groups : (n,) int array
        Groups as `find_clusters` returns them.
    up : (3,) array_like
        Upward direction.
    width : float
        Smallest width of a gap [m].
    least : int
        Smallest number of points of the upper half on either side of a gap.

    Returns
    -------
    (n,) int array
        Groups, sorted by size.

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.perception.clouds import split_at_gaps
    >>> x, y = (a.ravel() for a in np.meshgrid(np.arange(0.0, 0.1, 0.004), np.arange(0.0, 0.1, 0.004)))
    >>> square = np.stack([x, y, 0.1 + 0.0 * x], axis=1)
    >>> two = np.concatenate([square, square + [0.108, 0.0, 0.0]])  # a gap of 12 mm
    >>> groups = split_at_gaps(two, np.zeros(len(two), dtype=int), (0.0, 0.0, 1.0))
    >>> np.bincount(groups).tolist()
    [625, 625]
    """
    xyz, labels = array(points, (None, 3), "points"), groups.copy()
    least = max(whole(least, "least", 1), 2)
    positive(width, "width", "m")
    n = np.asarray(Plane(up, 0.0).normal)
    angles = np.pi * np.arange(_DIRECTIONS) / _DIRECTIONS
    along = upright_frame(n)[:, :2] @ [np.cos(angles), np.sin(angles)]
    number = 0
    while number <= labels.max(initial=-1):
        rows = np.flatnonzero(labels == number)
        heights = xyz[rows] @ n
        upper = xyz[rows[heights >= heights.max() + _HIGH * (heights.min() - heights.max())]]
        side = max(least, int(_SIDE * len(upper)))
        if len(upper) < 2 * side:
            number += 1
            continue
        at = np.sort(upper @ along, axis=0)
        gaps = np.diff(at, axis=0)
        widest = side - 1 + gaps[side - 1 : len(upper) - side].argmax(axis=0)
        wide = gaps[widest, np.arange(_DIRECTIONS)]
        wide[wide < _WIDER * np.partition(gaps, -4, axis=0)[-4]] = 0.0
        best = int(wide.argmax())
        if wide[best] < width:
            number += 1
            continue
        labels[rows[xyz[rows] @ along[:, best] > at[widest[best] : widest[best] + 2, best].mean()]] = labels.max() + 1
    return _by_size(labels)


def _by_size(labels: npt.NDArray[np.int64], smallest: int = 1) -> npt.NDArray[np.int64]:
    """Return labels that are sorted by the size of the groups, equal ones as before; -1 for smaller groups."""
    counts = np.bincount(labels[labels >= 0], minlength=1)
    order = np.argsort(-counts, kind="stable")
    rank = np.empty(len(counts) + 1, dtype=np.int64)
    rank[order] = np.where(counts[order] >= smallest, np.arange(len(counts)), -1)
    rank[-1] = -1
    return rank[labels]


def fills_outline(outline: Array, others: Array, distance: float, share: float) -> bool:
    """Return whether points (n, 2) fill their hull, up to a distance, and most others (k, 2) are in it.

    Others outside the hull by more than the distance may be up to a share; points on a line have no hull to fill.
    """
    from scipy.spatial import ConvexHull, QhullError, cKDTree

    try:
        sides = ConvexHull(outline).equations
    except (QhullError, ValueError):
        return True
    axes = [
        np.arange(low, high, distance / 4.0) for low, high in zip(*np.quantile(outline, (0, 1), axis=0), strict=True)
    ]
    places = np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, 2)
    inside, beside = ((xy @ sides[:, :2].T + sides[:, 2]).max(axis=1) for xy in (places, others))
    if (beside > distance).mean() > share:
        return False
    bays, _ = cKDTree(outline).query(places[inside <= 0.0], distance_upper_bound=np.nextafter(distance, np.inf))
    return bool(np.isfinite(bays).all())


def finite_points(cloud: npt.ArrayLike, what: str = "cloud") -> Array:
    """Return the points (n, 3) of a cloud (..., 3) that are finite in all coordinates."""
    points = vectors(cloud, what).reshape(-1, 3)
    known = np.isfinite(points)
    return points if known.all() else points[known.all(axis=1)]


def voxel_downsample(points: npt.ArrayLike, size: float) -> Array:
    """Return the mean of the points in every occupied cube of a grid.

    A camera measures more points on near surfaces and on those that face it. With one point for each cube, surfaces
    are weighted by their area instead, as principal components require.

    Parameters
    ----------
    points : (n, 3) array_like
        Points [m]; those that are not finite are left out.
    size : float
        Edge of the cubes, which are aligned with the origin [m].

    Returns
    -------
    (k, 3) array
        Means in the order of the cubes; independent of the order of the points except for rounding.

    Raises
    ------
    ThunderError
        If `size` is not positive.

    Examples
    --------
    >>> from thunder_py.perception.clouds import voxel_downsample
    >>> voxel_downsample([[0.1, 0.1, 0.1], [0.3, 0.1, 0.1], [1.5, 0.1, 0.1]], 1.0).round(3).tolist()
    [[0.2, 0.1, 0.1], [1.5, 0.1, 0.1]]
    """
    xyz = finite_points(points, "points")
    if not len(xyz):
        return xyz
    cubes = np.floor(xyz / positive(size, "size", "m"))
    cubes -= cubes.min(axis=0)
    counts = cubes.max(axis=0) + 1.0
    if np.prod(counts) < 2.0**62:
        keys = np.ravel_multi_index(tuple(cubes.astype(np.int64).T), tuple(counts.astype(np.int64)))
        _, cube, count = np.unique(keys, return_inverse=True, return_counts=True)
    else:  # far outliers: one number cannot distinguish all cubes
        _, cube, count = np.unique(cubes, axis=0, return_inverse=True, return_counts=True)
        cube = cube.reshape(-1)  # NumPy 2.0 gives a column
    sums = np.stack([np.bincount(cube, weights=column) for column in xyz.T], axis=1)
    return np.asarray(sums / count[:, None])


#: number of points that evaluate hypotheses
_JUDGES = 3000
#: iterations of the fit to the points near the plane
_FITS = 3


@dataclass(frozen=True, eq=False)
class Plane(Value):
    """The plane ``normal @ x = offset``.

    Attributes
    ----------
    normal : (3,) array
        Unit normal; points on its side have a positive distance.
    offset : float
        Distance from the origin along the normal [m].

    Raises
    ------
    ThunderError
        If `normal` is zero.

    Examples
    --------
    >>> from thunder_py.perception.clouds import Plane
    >>> plane = Plane((0.0, 0.0, 2.0), 0.2)
    >>> plane.offset, float(plane.distance([0.0, 0.0, 0.3]).round(3))
    (0.1, 0.2)
    >>> plane.towards((0.0, 0.0, -1.0)).offset
    -0.1
    """

    normal: npt.ArrayLike
    offset: float

    def __post_init__(self) -> None:
        """Check and normalize."""
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
    """Return the plane with the least sum of squared distances to points (n, 3); None if they do not determine it.

    Examples
    --------
    >>> from thunder_py.perception.clouds import fit_plane
    >>> plane = fit_plane([[0.0, 0.0, 0.1], [1.0, 0.0, 0.1], [0.0, 1.0, 0.1], [1.0, 1.0, 0.1]]).towards((0.0, 0.0, 1.0))
    >>> round(float(plane.normal[2]), 3), round(plane.offset, 3)
    (1.0, 0.1)
    """
    xyz = finite_points(points, "points")
    if len(xyz) < 3:
        return None
    middle = xyz.mean(axis=0)
    _, lengths, axes = np.linalg.svd(xyz - middle, full_matrices=False)
    if lengths[1] <= 1e-12 * max(lengths[0], 1e-300):
        return None
    return Plane(axes[2], float(axes[2] @ middle))


def find_plane(
    points: npt.ArrayLike,
    *,
    distance: float = 0.005,
    normal: npt.ArrayLike | None = None,
    angle: float = np.pi / 9.0,
    share: float = 0.1,
    hypotheses: int = 300,
    seed: int = 0,
) -> tuple[Plane, npt.NDArray[np.bool_]] | None:
    """Find the plane that most points of a cloud lie on.

    Of planes through three random points each, the one with the most points near it is fitted to those points (random
    sample consensus, Fischler and Bolles 1981). If a fraction w of the points is on a plane, 300 hypotheses miss it
    with probability ``(1 - w**3) ** 300``: 4e-4 for w = 0.3, 0.09 for w = 0.2.

    Parameters
    ----------
    points : (n, 3) array_like
        Points [m]; those that are not finite belong to no plane.
    distance : float
        Largest distance of points that belong to a plane [m].
    normal : (3,) array_like, optional
        Accept only planes whose normal is near this one, up to its sign; the result has its normal on the same side.
    angle : float
        Largest angle between the normals [rad].
    share : float
        Smallest fraction of the usable points on the plane.
    hypotheses : int
        Number of random planes.
    seed : int
        Seed of the random samples.

    Returns
    -------
    plane : Plane
    near : (n,) bool array
        Mask of the points that belong to it.
    None
        Instead of both, if no three points span an accepted plane, or it has too few points.

    Raises
    ------
    ThunderError
        If `points` has the wrong shape or a number is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.perception.clouds import find_plane
    >>> points = np.random.default_rng(0).uniform(size=(300, 3))
    >>> points[:200, 2] = 0.5  # two thirds on a plane
    >>> plane, near = find_plane(points, distance=0.005, normal=(0.0, 0.0, 1.0))
    >>> round(float(plane.normal[2]), 2), round(plane.offset, 2), bool(near[:200].all())
    (1.0, 0.5, True)
    """
    near_by, count = positive(distance, "distance", "m"), whole(hypotheses, "hypotheses", 1)
    # without a normal, every plane is within the angle
    axis, slope = (np.zeros(3), -1.0) if normal is None else (np.asarray(Plane(normal, 0.0).normal), np.cos(angle))
    positive(angle, "angle", "rad")
    cloud = numbers(points, "points", 2)
    usable = finite_points(cloud, "points")
    rng = np.random.default_rng(whole(seed, "seed", 0))
    if len(usable) < 3:
        return None
    a, b, c = usable[rng.integers(len(usable), size=(3, count))]
    normals = np.cross(b - a, c - a)
    lengths = np.linalg.norm(normals, axis=1)
    spans = lengths > 1e-9 * max(float(np.ptp(usable, axis=0).max()), 1e-300) ** 2
    normals, a = normals[spans] / lengths[spans, None], a[spans]
    allowed = np.abs(normals @ axis) >= slope
    normals, offsets = normals[allowed], (normals * a).sum(axis=1)[allowed]
    if not len(normals):
        return None
    judges = usable if len(usable) <= _JUDGES else usable[rng.choice(len(usable), _JUDGES, replace=False)]
    most = int((np.abs(judges @ normals.T - offsets) <= near_by).sum(axis=0).argmax())
    best = Plane(normals[most], float(offsets[most]))
    for _ in range(_FITS):
        better = fit_plane(usable[np.abs(best.distance(usable)) <= near_by])
        if better is None or abs(np.asarray(better.normal) @ axis) < slope:
            break
        best = better
    if (np.abs(best.distance(usable)) <= near_by).mean() < within(share, "share", 0.0, 1.0):
        return None
    best = best.towards(axis)
    with np.errstate(invalid="ignore"):
        return best, np.abs(best.distance(cloud)) <= near_by


class SurfaceAxes(NamedTuple):
    """Principal axes of points within a plane.

    Attributes
    ----------
    centroid : (3,) array
        Mean of the points [m].
    middle : (3,) array
        Middle of their bounding box along `axes` [m]. For a surface with a center of symmetry it does not depend on the
        density of the points.
    axes : (3, 3) array
        Columns: direction of the largest spread, direction across it, and normal; right-handed. The sign of the first
        is undetermined and chosen to make an angle of at most 90 degrees with that of `upright_frame`.
    size : (2,) array
        Extent along the first two axes [m].
    elongation : float
        Ratio of the standard deviations along the first two, 1 or more; near 1 their direction is undetermined.
    """

    centroid: Array
    middle: Array
    axes: Array
    size: Array
    elongation: float


def upright_frame(normal: npt.ArrayLike) -> Array:
    """Return a right-handed frame (3, 3) of a plane as columns: the direction of angle 0, that across it, the normal.

    The angle is 0 along the world's x, or along y if x is the normal.
    """
    n = np.asarray(Plane(normal, 0.0).normal)
    axis = np.eye(3)[0 if abs(n[0]) < 0.99 else 1]
    flat = axis - (axis @ n) * n
    x = flat / np.linalg.norm(flat)
    return np.stack([x, np.cross(n, x), n], axis=1)


def surface_axes(points: npt.ArrayLike, normal: npt.ArrayLike) -> SurfaceAxes:
    """Return the principal axes of points, projected along a normal.

    Parameters
    ----------
    points : (n, 3) array_like
        At least one point [m].
    normal : (3,) array_like
        Normal of any length.

    Returns
    -------
    SurfaceAxes
        For a single point, with the axes of `upright_frame`.

    Raises
    ------
    ThunderError
        If there are no points.

    Examples
    --------
    >>> from thunder_py.perception.clouds import surface_axes
    >>> axes = surface_axes([[0.0, 0.0, 0.1], [0.0, 0.4, 0.1], [0.1, 0.0, 0.1], [0.1, 0.4, 0.1]], (0.0, 0.0, 1.0))
    >>> axes.middle.round(3).tolist(), axes.size.round(3).tolist(), round(axes.elongation, 3)
    ([0.05, 0.2, 0.1], [0.4, 0.1], 4.0)
    """
    xyz = array(points, (None, 3), "points")
    if not len(xyz):
        raise ThunderError("points must be at least one, got none")
    n = np.asarray(Plane(normal, 0.0).normal)
    basis = upright_frame(n)[:, :2]
    centroid = xyz.mean(axis=0)
    flat = (xyz - centroid) @ basis
    spread, turns = np.linalg.eigh(flat.T @ flat / len(flat))
    main = turns[:, 1] if turns[0, 1] > 0.0 or (turns[0, 1] == 0.0 and turns[1, 1] > 0.0) else -turns[:, 1]
    if spread[1] <= spread[0] * (1.0 + 1e-12):
        main = np.array([1.0, 0.0])  # as long as wide: the direction is arbitrary
    x = basis @ main
    axes = np.stack([x, np.cross(n, x), n], axis=1)
    long, across = np.sqrt(np.maximum(spread[::-1], 0.0))
    elongation = float(long / across) if across > 0.0 else (np.inf if long > 0.0 else 1.0)
    along = (xyz - centroid) @ axes
    low, high = along.min(axis=0), along.max(axis=0)
    return SurfaceAxes(centroid, centroid + axes @ ((low + high) / 2.0), axes, (high - low)[:2], elongation)


def yaw_of(direction: npt.ArrayLike, normal: npt.ArrayLike) -> float:
    """Return the angle of a line about a normal, from the x axis of `upright_frame`, in (-pi/2, pi/2] [rad]."""
    x, y, _ = np.asarray(direction, dtype=float) @ upright_frame(normal)
    return float(np.pi / 2.0 - (np.pi / 2.0 - np.arctan2(y, x)) % np.pi)
