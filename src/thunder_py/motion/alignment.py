"""Canonical frame of a motion: x from its start to its goal, one unit long, the second axis horizontal.

Motions in this frame differ in shape only, and models learned from them rotate with start and goal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .. import spatial
from ..checks import Array, points
from ..errors import ThunderError
from ..recordings.processing.over_sets import over_sets
from ..recordings.trial import POSITION, ROTATION, Trial

#: sine of the angle between path and vertical below which the path counts as vertical
_VERTICAL = 1e-6
#: part of a motion's extent below which start and goal coincide: noise would choose the direction
_CLOSED = 0.01
#: least displacement of a motion that does not return, relative to its extent
_CLEAR_WAY = 0.5
#: part of the peaks beside it below which a minimum of the speed is a turn, and part of the peak that these exceed
_SLOW, _PEAK = 0.7, 0.2
#: path from which a motion winds, relative to its displacement; reaches of `split_reaches` have up to 2
_LONG_WAY = 3.2
#: kind of these motions
WINDING = "several reaches, or winding"
#: extent of a motion that hardly moves, relative to the median one
_STILL = 0.02
#: rounding error of a resting motion, relative to its coordinates
_ROUNDING = 1e-10
#: bound below which sums of squares do not overflow
_LARGEST = 1e100


@dataclass(frozen=True)
class PathFrames:
    """Canonical frames of motions, in the original coordinates.

    Attributes
    ----------
    start : array (R, 3)
        First positions [m].
    scale : array (R,)
        Distances D from start to goal [m].
    rotation : array (R, 3, 3)
        Axes of the canonical frames, in columns.
    """

    start: Array
    scale: Array
    rotation: Array

    def __len__(self) -> int:
        return len(self.scale)


def path_frame(start: npt.ArrayLike, goal: npt.ArrayLike) -> tuple[Array | float, Array]:
    """Return distance and axes of the frame along start -> goal.

    The second axis is horizontal, z x first axis; for a vertical path it is the part of y perpendicular to the path.

    Parameters
    ----------
    start, goal : array_like (..., 3)
        Positions [m].

    Returns
    -------
    D : float or array (...)
        Distance [m].
    R : array (..., 3, 3)
        Rotation whose first column points along start -> goal.

    Raises
    ------
    ThunderError
        If start and goal coincide, and for wrong shapes.
    """
    a, b = points(start, "start"), points(goal, "goal")
    for what, value in (("start", a), ("goal", b)):
        if not (np.abs(value) < _LARGEST).all():
            raise ThunderError(f"{what} must be finite (below {_LARGEST:g}), got {value.tolist()}")
    if a.shape != b.shape and 1 not in (a.ndim, b.ndim):
        raise ThunderError(f"start and goal must have the same number of points, got {a.shape} and {b.shape}")
    way = b - a
    distance = np.linalg.norm(way, axis=-1)
    if (distance <= 1e-12 * (1.0 + np.abs(a).max(initial=0.0))).any():
        raise ThunderError("start and goal must differ, got a path of zero length")
    first = way / distance[..., None]
    _, y, z = np.eye(3)
    level = np.cross(z, first)
    steep = np.linalg.norm(level, axis=-1, keepdims=True) < _VERTICAL
    second = np.where(steep, y - (first @ y)[..., None] * first, level)
    second = second / np.linalg.norm(second, axis=-1, keepdims=True)
    R = np.stack([first, second, np.cross(first, second)], axis=-1)
    return (float(distance) if distance.ndim == 0 else distance), R


def has_path(dofs: Sequence[str]) -> bool:
    """Return True for coordinates with a frame along the path: x, y, z, and all or none of rx, ry, rz."""
    turns = [name in dofs for name in ROTATION]
    return set(POSITION) <= set(dofs) and (all(turns) or not any(turns))


def returning(x: Array) -> npt.NDArray[np.bool_]:
    """Return True (R,) for motions (R, T, d) of one unit that end nearer to their start than half their extent.

    Then the displacement says little about direction and size.
    """
    way = np.linalg.norm(x - x[:, :1], axis=2)
    extent = np.maximum(way.max(axis=1), _ROUNDING * np.abs(x[:, 0]).max(axis=1))
    return np.asarray(way[:, -1] <= _CLEAR_WAY * extent)


def odd_motions(x: Array) -> dict[str, npt.NDArray[np.bool_]]:
    """Return motions (R, T, d) of one unit at equal times without a clear way from start to goal, (R,) by kind.

    Those that return go out and back if they slow down on their way, as at a turn; the others are loops, fast all the
    way round. Those that do not return, on a path of 3.2 times their displacement or more, hold several
    reaches, or wind.
    """
    way = np.linalg.norm(x - x[:, :1], axis=2)
    extent = way.max(axis=1)
    speed = np.linalg.norm(np.diff(x, axis=1), axis=2)
    peak = np.minimum(np.maximum.accumulate(speed, axis=1), np.maximum.accumulate(speed[:, ::-1], axis=1)[:, ::-1])
    turns = ((speed < _SLOW * peak) & (peak > _PEAK * speed.max(axis=1, keepdims=True))).any(axis=1)
    still = extent < _STILL * np.median(extent)
    returns = returning(x) & ~still
    winds = (speed.sum(axis=1) >= _LONG_WAY * way[:, -1]) & ~returns & ~still
    kinds = {"out and back": returns & turns, "loops": returns & ~turns}
    return kinds | {WINDING: winds, "hardly moving": still}


def aligned(
    coefficients: Array, dofs: Sequence[str], names: Sequence[str], alignment: str
) -> tuple[Array, PathFrames | None]:
    """Return coefficients (R, K, d) of clamped splines in the canonical frames, and these; as they are for "none"."""
    if alignment == "none":
        return coefficients, None
    position, _ = path_columns(dofs)
    start, goal = coefficients[:, 0, position], coefficients[:, -1, position]
    extents = np.abs(coefficients[:, :, position] - start[:, None]).max(axis=(1, 2))
    extents = np.maximum(extents, _ROUNDING * np.abs(start).max(axis=1))
    for distance, extent, name in zip(np.linalg.norm(goal - start, axis=1), extents, names, strict=True):
        if distance <= _CLOSED * extent:
            raise ThunderError(
                f"start and goal must differ by more than {_CLOSED:.0%} of the extent of the motion with "
                f'alignment="path", got {distance:.3g} of {extent:.3g} in {name}: split motions out and back '
                "(recordings.split_reaches), leave others out"
            )
    scale, rotation = path_frame(start, goal)
    frames = PathFrames(start, np.asarray(scale), rotation)
    return to_canonical(coefficients, dofs, frames), frames


def to_canonical(values: Array, dofs: Sequence[str], frames: PathFrames) -> Array:
    """Transform motions to their canonical frames.

    Parameters
    ----------
    values : array (R, T, d)
        Samples or spline coefficients. Positions become R' (p - start) / D, rotation vectors R' r.
    dofs : sequence of str
        Names of the d coordinates, including x, y, z.
    frames : PathFrames
        One frame for each motion.

    Returns
    -------
    array (R, T, d)
    """
    result, (position, orientation) = values.copy(), path_columns(dofs)
    result[..., position] = (values[..., position] - frames.start[:, None]) / frames.scale[:, None, None]
    for part in filter(None, (position, orientation)):
        result[..., part] = result[..., part] @ frames.rotation
    return result


def from_canonical(values: Array, dofs: Sequence[str], frames: PathFrames, derivative: int = 0) -> Array:
    """Transform motions (R, T, d), or derivatives of them, from their canonical frames; see `to_canonical`."""
    result, (position, orientation) = values.copy(), path_columns(dofs)
    for part in filter(None, (position, orientation)):
        result[..., part] = values[..., part] @ np.swapaxes(frames.rotation, -1, -2)
    result[..., position] *= frames.scale[:, None, None]
    if derivative == 0:
        result[..., position] += frames.start[:, None]
    return result


def path_columns(dofs: Sequence[str]) -> tuple[list[int], list[int]]:
    """Return the indices of x, y, z and of rx, ry, rz, if there are any, or raise `ThunderError`."""
    position, orientation = (
        [list(dofs).index(name) for name in names if name in dofs] for names in (POSITION, ROTATION)
    )
    if not has_path(dofs):
        raise ThunderError(
            'dofs must include x, y and z, and all of rx, ry and rz or none with alignment="path", got '
            f"{', '.join(dofs)}"
        )
    return position, orientation


@over_sets
def turns_from_start(trial: Trial) -> Trial:
    """Replace rotation vectors of R(t) by those of ``R(t) R(0)'``, on one branch.

    `HumanLikePlanner` expects components of these coordinates. A rotation about one axis is a straight line in them for
    any orientation at the start, and they transform with the world frame like positions.

    Parameters
    ----------
    trial : Trial or MotionSet
        Motions with coordinates rx, ry, rz.

    Returns
    -------
    Trial or MotionSet
        Motions with the other coordinates and gaps unchanged; R(0) is the first sample without gap.

    Raises
    ------
    ThunderError
        For motions without rotation vectors, or with gaps alone.

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.motion import turns_from_start
    >>> from thunder_py.recordings.synthetic import daily_living
    >>> motions = turns_from_start(daily_living(2, seed=1))
    >>> bool(np.abs(motions[0].rotation_vectors[0]).max() < 1e-12)
    True
    """
    if not set(ROTATION) <= set(trial.dofs):
        raise ThunderError(f"motions must have coordinates {', '.join(ROTATION)}, got {', '.join(trial.dofs)}")
    phi = np.array(trial.rotation_vectors)
    known = np.isfinite(phi).all(axis=1)
    if not known.any():
        raise ThunderError(f"motions must have samples with orientation, got only gaps in {trial.name or 'a trial'}")
    first = phi[known][0]
    phi[known] = spatial.to_reference(phi[known], first) @ spatial.exp(first).T
    x = np.array(trial.x)
    x[:, [trial.dofs.index(name) for name in ROTATION]] = phi
    return trial.with_values(x)
