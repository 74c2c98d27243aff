"""Planes in clouds, found by random sample consensus: vertical ones as well as others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...checks import Array, array
from ...errors import ThunderError
from ...motion.scalars import numbers, positive, whole
from ...values import Value, set_fields
from ..options import finite
from .voxels import finite_points

__all__ = ["Plane", "find_plane", "fit_plane"]

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
