"""Recordings of single markers, and the poses of the rigid groups they form."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ...checks import Array
from ...errors import FileFormatError, ThunderError, UnknownNameError
from ..trial import Trial

__all__ = ["MarkerRecording", "group_template", "masked", "relative_poses", "relative_trials", "rigid_poses"]

#: three markers this close to a line, relative to their distances, have no orientation
_FLAT = 1e-3
#: extents that a group on a body may have [m]; others mean that the unit is not the one assumed
_EXTENT = (0.01, 1.0)


@dataclass(frozen=True, eq=False)
class MarkerRecording:
    """Markers that come and go.

    Attributes
    ----------
    t : (T,) array
        Times [s].
    positions : (T, m, 3) masked array
        Places [m] in the laboratory; masked where a marker was not seen.
    markers : tuple
        The m ids or names.
    rate : float
        Nominal sampling rate [Hz].
    subject, task, name : str
        As in a `Trial`.
    """

    t: Array
    positions: np.ma.MaskedArray[tuple[int, ...], np.dtype[np.float64]]
    markers: tuple[Hashable, ...]
    rate: float
    subject: str = ""
    task: str = ""
    name: str = ""

    def __getitem__(self, marker: Hashable) -> np.ma.MaskedArray[tuple[int, ...], np.dtype[np.float64]]:
        """Return the places (T, 3) of one marker."""
        if marker not in self.markers:
            raise UnknownNameError(f"no marker {marker!r} in {self.name or 'this recording'}: {self.markers}")
        return self.positions[:, self.markers.index(marker)]

    def group(self, markers: Sequence[Hashable]) -> Array:
        """Return the places (T, k, 3) of some markers, NaN where not seen; a marker that never was is all NaN."""
        result = np.full((len(self.t), len(markers), 3), np.nan)
        for k, marker in enumerate(markers):
            if marker in self.markers:
                result[:, k] = self[marker].filled(np.nan)
        return result


def group_template(points: Array, what: str = "group") -> Array:
    """Return the shape (k, 3) of a rigid group, in a frame that its markers define.

    The origin is the centroid. x points from the first marker to the second, z is normal to the plane of the first
    three. The shape is the median over all frames in which every marker was seen, each in its own such frame.

    Parameters
    ----------
    points : (F, k, 3) array
        Frames, NaN where a marker was not seen; k >= 3.
    what : str
        Name of the group, for messages.

    Raises
    ------
    ThunderError
        If there are fewer than three markers, the group is whole in no frame, or its first three markers are in line.
    """
    if points.ndim != 3 or points.shape[1] < 3:
        raise ThunderError(f"{what} must have three markers or more, got shape {points.shape}")
    whole = points[~np.isnan(points).any(axis=(1, 2))]
    if not len(whole):
        raise ThunderError(f"{what} has no frame in which all of its {points.shape[1]} markers were seen")
    along, across = whole[:, 1] - whole[:, 0], whole[:, 2] - whole[:, 0]
    normal = np.cross(along, across)
    area, sides = np.linalg.norm(normal, axis=1), np.linalg.norm(along, axis=1) * np.linalg.norm(across, axis=1)
    if not (area > _FLAT * sides).all():
        raise ThunderError(f"the first three markers of {what} are in line, so they define no frame")
    x = along / np.linalg.norm(along, axis=1, keepdims=True)
    z = normal / area[:, None]
    axes = np.stack([x, np.cross(z, x), z], axis=1)  # rows: the axes of the group
    local = np.einsum("fij,fkj->fki", axes, whole - whole.mean(axis=1, keepdims=True))
    shape = np.median(local, axis=0)
    return np.asarray(shape - shape.mean(axis=0), dtype=np.float64)


def rigid_poses(points: Array, template: Array, *, most_residual: float = np.inf) -> tuple[Array, Array]:
    """Return the pose of a rigid group in every frame: the least-squares fit of its shape to the markers seen.

    Kabsch, Acta Crystallographica A32:922 (1976): R from the singular vectors of the covariance, with determinant +1.

    Parameters
    ----------
    points : (T, k, 3) array
        NaN where a marker was not seen.
    template : (k, 3) array
        Of `group_template`.
    most_residual : float
        Frames whose root mean square residual is larger [m] become gaps: a marker is in the wrong place.

    Returns
    -------
    p : (T, 3) array
        The group's centroid, wherever the markers not seen must have been.
    R : (T, 3, 3) array
        Its axes in columns. Both are NaN in frames with fewer than three markers, or with all of them in line.
    """
    seen = np.asarray(~np.isnan(points).any(axis=2))
    weight = seen / np.maximum(seen.sum(axis=1, keepdims=True), 1)
    known = np.where(seen[..., None], points, 0.0)
    centre = np.einsum("tk,tki->ti", weight, known)
    middle = np.einsum("tk,ki->ti", weight, template)
    shape = template[None] - middle[:, None]
    place = np.where(seen[..., None], points - centre[:, None], 0.0)
    U, s, Vt = np.linalg.svd(np.einsum("tk,tki,tkj->tij", weight, shape, place))
    sign = np.ones((len(points), 3))
    sign[:, 2] = np.linalg.det(U) * np.linalg.det(Vt)
    R = np.einsum("tji,tj,tkj->tik", Vt, sign, U)
    p = centre - np.einsum("tij,tj->ti", R, middle)
    error = place - np.einsum("tij,tkj->tki", R, shape)
    residual = np.sqrt(np.einsum("tk,tki,tki->t", weight, error, error))
    spread = np.einsum("tk,tki,tki->t", weight, shape, shape)
    bad = (seen.sum(axis=1) < 3) | (s[:, 1] <= _FLAT**2 * spread) | (residual > most_residual)
    p[bad], R[bad] = np.nan, np.nan
    return p, R


def relative_poses(p: Array, R: Array, p_ref: Array, R_ref: Array) -> tuple[Array, Array]:
    """Return poses (T, 3), (T, 3, 3) seen from a moving reference: R_ref^T (p - p_ref) and R_ref^T R."""
    return np.einsum("tji,tj->ti", R_ref, p - p_ref), np.einsum("tji,tjk->tik", R_ref, R)


def masked(points: npt.ArrayLike) -> np.ma.MaskedArray[tuple[int, ...], np.dtype[np.float64]]:
    """Return points (T, m, 3) with every marker masked that has a coordinate which is no number."""
    values = np.asarray(points, dtype=np.float64)
    hidden = np.repeat(~np.isfinite(values).all(axis=2, keepdims=True), 3, axis=2)
    return np.ma.MaskedArray(np.where(hidden, 0.0, values), mask=hidden)


def relative_trials(
    recordings: Sequence[MarkerRecording],
    limb: Sequence[Hashable],
    chest: Sequence[Hashable],
    *,
    most_residual: float,
    unit: str,
    folder: Path,
) -> list[Trial]:
    """Return poses of the limb's group in the frame of the chest's, as trials in the frame ``"chest"``.

    Parameters
    ----------
    recordings : sequence of MarkerRecording
        Of one subject, who wears the same markers in all of them: shapes are learnt over them together.
    limb, chest : sequence
        Markers of the groups.
    most_residual : float
        See `rigid_poses`.
    unit : str
        Which the recordings were in, for the message where a group is larger or smaller than a body.
    folder : Path
        For messages.
    """
    groups, shapes = {"limb": limb, "chest": chest}, {}
    for name, markers in groups.items():
        try:
            shape = group_template(np.concatenate([r.group(markers) for r in recordings]), f"the {name}")
        except ThunderError as error:
            raise FileFormatError(str(error), path=folder) from None
        extent = float(np.linalg.norm(shape[:, None] - shape[None], axis=2).max())
        if not _EXTENT[0] <= extent <= _EXTENT[1]:
            raise FileFormatError(f"expected {unit}, but the {name} would be {extent:.3g} m across", path=folder)
        shapes[name] = shape
    trials = []
    for r in recordings:
        poses = (rigid_poses(r.group(groups[g]), shapes[g], most_residual=most_residual) for g in ("limb", "chest"))
        limb_pose, chest_pose = poses
        p, R = relative_poses(*limb_pose, *chest_pose)
        labels: dict[str, Any] = {"frame": "chest", "subject": r.subject, "task": r.task, "name": r.name}
        trials.append(Trial.from_poses(r.t, p, matrix=R, rate=r.rate, **labels))
    return trials
