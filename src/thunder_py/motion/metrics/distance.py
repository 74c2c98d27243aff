"""Root mean square distance between two motions, with the pairing of their points named."""

from __future__ import annotations

import numpy as np

from ...checks import Array
from ...errors import ThunderError
from ..scalars import whole
from .path import path_points
from .sampling import MotionLike, choose_part, dofs_of

__all__ = ["rms_distance"]

PAIRINGS = ("tau", "arc_length", "nearest")


def rms_distance(a: MotionLike, b: MotionLike, pairing: str = "tau", *, part: str | None = None, n: int = 256) -> float:
    """Return the root mean square distance of two motions, whose durations may differ.

    Parameters
    ----------
    a, b : Trial, motion object or (t, x)
        With the same dofs in the part that is compared.
    pairing : {"tau", "arc_length", "nearest"}
        Which point of b belongs to a point of a.

        - "tau": the one at the same fraction of the duration, so differences in timing count;
        - "arc_length": the one at the same fraction of the path's length, for the shape alone;
        - "nearest": the nearest on b, wherever it is. It is never larger than the other two by more than what
          sampling does, ignores order, and is not symmetric: a part of b that a does not visit costs nothing.
    part : {"translation", "orientation", "joints"}, optional
        By default the translation if there is one, else the joints. Orientations are compared by the angle between
        them, and paired by "tau" only.
    n : int
        Points on either motion at equal steps of time ("tau", "nearest") or of path length.

    Returns
    -------
    float
        m for translation, rad for orientation and joints.

    Raises
    ------
    ThunderError
        For an unknown pairing, dofs that differ, gaps, or paths of no length paired by arc length.
    """
    if pairing not in PAIRINGS:
        raise ThunderError(f"pairing must be one of {', '.join(PAIRINGS)}, got {pairing!r}")
    n = whole(n, "n", 2)
    dofs_a, dofs_b = dofs_of(a), dofs_of(b)
    part, columns_a = choose_part(dofs_a, part)
    _, columns_b = choose_part(dofs_b, part)
    if [dofs_a[k] for k in columns_a] != [dofs_b[k] for k in columns_b]:
        raise ThunderError(f"a and b must have the same dofs, got {', '.join(dofs_a)} and {', '.join(dofs_b)}")
    if part == "orientation":
        return _angles(path_points(a, part, columns_a, n), path_points(b, part, columns_b, n), pairing)
    # finer than n where a path is measured: a straight line between samples is shorter than the arc
    fine = n if pairing == "tau" else max(8 * n, 2048)
    x, y = path_points(a, part, columns_a, fine), path_points(b, part, columns_b, fine)
    if pairing == "arc_length":
        x, y = _by_length(x, n), _by_length(y, n)
    if pairing == "nearest":
        squared = _to_polyline(path_points(a, part, columns_a, n), y)
    else:
        squared = np.sum((x - y) ** 2, axis=1)
    return float(np.sqrt(squared.mean()))


def _angles(phi_a: Array, phi_b: Array, pairing: str) -> float:
    from scipy.spatial.transform import Rotation

    if pairing != "tau":
        raise ThunderError(f"orientations are paired by 'tau' only, got {pairing!r}")
    angles = (Rotation.from_rotvec(phi_a).inv() * Rotation.from_rotvec(phi_b)).magnitude()
    return float(np.sqrt(np.mean(angles**2)))


def _by_length(x: Array, n: int) -> Array:
    """Return n points at equal steps of the length of a polyline."""
    s = np.append(0.0, np.cumsum(np.linalg.norm(np.diff(x, axis=0), axis=1)))
    if not s[-1] > 0.0:
        raise ThunderError("pairing by arc length needs motions that move, one of these rests")
    return np.stack([np.interp(np.linspace(0.0, s[-1], n), s, column) for column in x.T], axis=1)


def _to_polyline(points: Array, line: Array) -> Array:
    """Return the squared distance (n,) of each point to the nearest of a polyline, segments included."""
    from scipy.spatial import cKDTree

    # the segments at the four nearest corners; another one can be nearer by less than its own length
    corners = cKDTree(line).query(points, k=min(4, len(line)))[1]
    segments = np.clip(np.concatenate([corners - 1, corners], axis=1), 0, len(line) - 2)
    start, step = line[segments], line[segments + 1] - line[segments]
    offset = points[:, None] - start
    length = np.maximum(np.sum(step**2, axis=2), np.finfo(float).tiny)
    along = np.clip(np.sum(offset * step, axis=2) / length, 0.0, 1.0)
    return np.asarray(np.sum((offset - along[..., None] * step) ** 2, axis=2).min(axis=1), dtype=np.float64)
