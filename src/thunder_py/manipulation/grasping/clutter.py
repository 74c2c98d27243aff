"""Objects side by side, seen from above: the intended one among them, and the turns in which a hand fits around it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ...checks import Array
from ...perception.clouds import CloudPipeline, Detection, Plane, find_clusters
from ...perception.clouds.segmentation import upright_frame

Mask = npt.NDArray[np.bool_]
#: depth of the layer below the highest point of an object that tells its outline, and distance of points of the same
#: layer [m]
_LAYER, _NEAR = 0.012, 0.012
#: sides of an object are within this distance of the outline of its top [m], and fewest points of a top
_BESIDE, _FEWEST = 0.007, 6
#: part of the margin of a hand's mask that is not needed around it [m]
_MARGIN = 0.012
#: a distance of 1 m from the last place is as unlikely as such a difference of logarithms
_AWAY = 2.0
#: what cameras miss of small sizes [m]
_COARSE = 0.03
#: of logarithms of the ratios of three sizes to those of the intended object: largest difference, largest one of the
#: heights, and mean that does not count
_ALIKE, _HEIGHTS, _SCALE = 0.25, 0.16, 0.1


def objects_by_height(points: Array, table: Plane) -> Iterator[Mask]:
    """Return the points (k,) of each object above a table, the highest first.

    The highest layer of what is left is the top of an object, and all points below it, or closely beside it, are the
    object's: objects that touch each other are separated where their heights differ, or their tops do not touch.

    Parameters
    ----------
    points : (k, 3) array
        Points above the table [m].
    table : Plane
        The table, its normal up.

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.manipulation.grasping.clutter import objects_by_height
    >>> from thunder_py.perception.clouds import Plane
    >>> x, y = (a.ravel() for a in np.meshgrid(np.arange(0.0, 0.1, 0.005), np.arange(0.0, 0.05, 0.005)))
    >>> steps = np.stack([x, y, np.where(x < 0.05, 0.06, 0.1)], axis=1)  # a box of 6 cm beside one of 10 cm
    >>> [int(mask.sum()) for mask in objects_by_height(steps, Plane((0.0, 0.0, 1.0), 0.0))]
    [110, 90]
    """
    from scipy.spatial import cKDTree

    heights, flat = table.distance(points), points @ upright_frame(table.normal)[:, :2]
    left = np.ones(len(points), dtype=np.bool_)
    while left.sum() >= _FEWEST:
        rows = np.flatnonzero(left)
        top = rows[heights[rows] > np.partition(heights[rows], -_FEWEST)[-_FEWEST] - _LAYER]
        groups = find_clusters(points[top], eps=_NEAR, min_size=_FEWEST)
        if groups.max(initial=-1) < 0:
            left[top] = False  # stray points
            continue
        outline = cKDTree(flat[top[groups == 0]])
        mask = left.copy()
        mask[rows] = outline.query(flat[rows], distance_upper_bound=_BESIDE)[0] < _BESIDE
        left &= ~mask
        yield mask


def intended(
    points: Array, table: Plane, size: Array, pipeline: CloudPipeline, last: Array | None
) -> tuple[Detection, Mask]:
    """Return the object whose size is most like an intended one's, and the mask (k,) of its points.

    Parameters
    ----------
    points, table
        As of `objects_by_height`.
    size : (3,) array
        Length, width and height of the intended object [m].
    pipeline : CloudPipeline
        Describes one object.
    last : (3,) array or None
        Where it was in the last picture [m], which tells it from others that are alike.
    """
    nothing = np.zeros(len(points), dtype=np.bool_)
    one_object = replace(pipeline, least=_FEWEST)
    best, found, own = _ALIKE, pipeline(points[nothing]), nothing
    for mask in objects_by_height(points, table):
        height = float(table.distance(points[mask]).max())
        if abs(math.log(height / size[2])) > _HEIGHTS:
            continue
        one = one_object(points[mask])
        if one.size is None or one.center is None:
            continue
        ratios = np.log((one.size + _COARSE) / (size + _COARSE))
        unlike = float(np.ptp(ratios)) + max(abs(float(ratios.mean())) - _SCALE, 0.0)
        if last is not None:
            unlike += _AWAY * float(np.linalg.norm(one.center - last))
        if unlike < best:
            best, found, own = unlike, one, mask
    return found, own


def free_turn(
    others: Array, own: Array, point: Array, turns: Sequence[float], covers: Callable[[Array, float], Mask], last: float
) -> tuple[float, bool]:
    """Return the turn in which an open hand meets the fewest points, the nearest to the last, and whether it has room.

    Parameters
    ----------
    others, own : (k, 3) array
        Points of other objects and of the object itself [m].
    point : (3,) array
        Center of the grasp [m].
    turns : sequence of float
        Turns in which the object can be grasped [rad]; the hand is the same after half a turn.
    covers : callable
        As of `HandUse`.
    last : float
        Turn before [rad].
    """
    # above the center there is no finger, and below the palm is the object
    below, away = own[own[:, 2] < point[2] + _LAYER], others - point

    def met(turn: float) -> int:
        c, s = math.cos(turn), math.sin(turn)
        local = np.concatenate([below - point, away]) @ np.array([[c, s, 0.0], [s, -c, 0.0], [0.0, 0.0, -1.0]])
        # the mask is wider than the hand
        local[:, 0] += np.copysign(_MARGIN, local[:, 0])
        local[len(below) :, 1] += np.copysign(_MARGIN, local[len(below) :, 1])
        local[:, 2] += _MARGIN
        return int(covers(local, 0.0).sum())

    counts = {turn: met(turn) for turn in turns}
    best = min(turns, key=lambda turn: (counts[turn] // _FEWEST, abs(math.remainder(turn - last, math.pi))))
    return best, counts[best] < 2 * _FEWEST
