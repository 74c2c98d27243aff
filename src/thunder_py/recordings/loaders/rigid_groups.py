"""Recordings of single markers and poses of rigid groups of markers."""

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
from .lost import FARTHEST

#: relative distance to a line below which three markers have no orientation
_FLAT = 1e-3
#: extents of a group on a body [m]; others indicate another unit
_EXTENT = (0.01, 1.0)


@dataclass(frozen=True, eq=False)
class MarkerRecording:
    """Positions of markers, each visible at times.

    Attributes
    ----------
    t : (T,) array
        Times [s].
    positions : (T, m, 3) masked array
        Positions [m] in the laboratory; masked where a marker was not seen.
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
        """Return the positions (T, 3) of one marker."""
        if marker not in self.markers:
            raise UnknownNameError(f"no marker {marker!r} in {self.name or 'this recording'} among {self.markers}")
        return self.positions[:, self.markers.index(marker)]

    def group(self, markers: Sequence[Hashable]) -> Array:
        """Return the positions (T, k, 3) of some markers, NaN where not seen or unknown."""
        result = np.full((len(self.t), len(markers), 3), np.nan)
        for k, marker in enumerate(markers):
            if marker in self.markers:
                result[:, k] = self[marker].filled(np.nan)
        return result


def group_template(points: Array, what: str = "group") -> Array:
    """Return the shape (k, 3) of a rigid group, in a frame defined by its markers.

    The origin is the centroid. x points from the first marker to the second, z is normal to the plane of the first
    three. The shape is the median over all frames with every marker seen.

    Parameters
    ----------
    points : (F, k, 3) array
        Frames, NaN where a marker was not seen; k >= 3.
    what : str
        Name of the group, for messages.

    Raises
    ------
    ThunderError
        For fewer than three markers, no frame with all of them, or first three markers in line.
    """
    if points.ndim != 3 or points.shape[1] < 3:
        raise ThunderError(f"{what} must have three markers or more, got shape {points.shape}")
    complete = points[~np.isnan(points).any(axis=(1, 2))]
    if not len(complete):
        raise ThunderError(f"{what} must have a frame with all of its {points.shape[1]} markers seen, got none")
    along, across = complete[:, 1] - complete[:, 0], complete[:, 2] - complete[:, 0]
    normal = np.cross(along, across)
    area, sides = np.linalg.norm(normal, axis=1), np.linalg.norm(along, axis=1) * np.linalg.norm(across, axis=1)
    if not (area > _FLAT * sides).all():
        raise ThunderError(f"the first three markers of {what} must define a frame, got markers in line")
    x = along / np.linalg.norm(along, axis=1, keepdims=True)
    z = normal / area[:, None]
    axes = np.stack([x, np.cross(z, x), z], axis=1)  # rows: the axes of the group
    local = np.einsum("fij,fkj->fki", axes, complete - complete.mean(axis=1, keepdims=True))
    shape = np.median(local, axis=0)
    return np.asarray(shape - shape.mean(axis=0), dtype=np.float64)


def rigid_poses(points: Array, template: Array, *, most_residual: float = np.inf) -> tuple[Array, Array]:
    """Return the pose of a rigid group in every frame by a least-squares fit of its shape to the visible markers.

    Kabsch, Acta Crystallographica A32:922 (1976): R from the singular vectors of the covariance, with determinant +1.

    Parameters
    ----------
    points : (T, k, 3) array
        NaN where a marker was not seen.
    template : (k, 3) array
        Shape from `group_template`.
    most_residual : float
        Frames with a larger root mean square residual [m] become gaps: a marker is misplaced.

    Returns
    -------
    p : (T, 3) array
        Centroid of the complete group, hidden markers included.
    R : (T, 3, 3) array
        Axes in columns. Both are NaN in frames with fewer than three markers, or with all of them in line.
    """
    seen = np.asarray(~np.isnan(points).any(axis=2))
    weight = seen / np.maximum(seen.sum(axis=1, keepdims=True), 1)
    known = np.where(seen[..., None], points, 0.0)
    center = np.einsum("tk,tki->ti", weight, known)
    template_center = np.einsum("tk,ki->ti", weight, template)
    shape = template[None] - template_center[:, None]
    offset = np.where(seen[..., None], points - center[:, None], 0.0)
    U, s, Vt = np.linalg.svd(np.einsum("tk,tki,tkj->tij", weight, shape, offset))
    sign = np.ones((len(points), 3))
    sign[:, 2] = np.linalg.det(U) * np.linalg.det(Vt)
    R = np.einsum("tji,tj,tkj->tik", Vt, sign, U)
    p = center - np.einsum("tij,tj->ti", R, template_center)
    error = offset - np.einsum("tij,tkj->tki", R, shape)
    residual = np.sqrt(np.einsum("tk,tki,tki->t", weight, error, error))
    spread = np.einsum("tk,tki,tki->t", weight, shape, shape)
    bad = (seen.sum(axis=1) < 3) | (s[:, 1] <= _FLAT**2 * spread) | (residual > most_residual)
    p[bad], R[bad] = np.nan, np.nan
    return p, R


def relative_poses(p: Array, R: Array, p_ref: Array, R_ref: Array) -> tuple[Array, Array]:
    """Return poses (T, 3), (T, 3, 3) relative to a moving reference: R_ref^T (p - p_ref) and R_ref^T R."""
    return np.einsum("tji,tj->ti", R_ref, p - p_ref), np.einsum("tji,tjk->tik", R_ref, R)


def masked(points: npt.ArrayLike) -> np.ma.MaskedArray[tuple[int, ...], np.dtype[np.float64]]:
    """Return points (T, m, 3), masked if a coordinate is not finite, or no position of this world."""
    values = np.asarray(points, dtype=np.float64)
    hidden = np.repeat(~(np.abs(values) < FARTHEST).all(axis=2, keepdims=True), 3, axis=2)
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
    """Return poses of the limb group relative to the chest group, as trials in the frame ``"chest"``.

    Parameters
    ----------
    recordings : sequence of MarkerRecording
        Recordings of one subject with the same markers; shapes are estimated from all of them.
    limb, chest : sequence
        Markers of the groups.
    most_residual : float
        See `rigid_poses`.
    unit : str
        Original unit, for the message about an implausible extent.
    folder : Path
        Folder, for messages.
    """
    groups, shapes = {"limb": limb, "chest": chest}, {}
    for name, markers in groups.items():
        try:
            shape = group_template(np.concatenate([r.group(markers) for r in recordings]), f"the {name}")
        except ThunderError as error:
            raise FileFormatError(str(error), path=folder) from None
        extent = float(np.linalg.norm(shape[:, None] - shape[None], axis=2).max())
        if not _EXTENT[0] <= extent <= _EXTENT[1]:
            raise FileFormatError(
                f"unit must be {unit}, got an extent of {extent:.3g} m for the {name} in this unit", path=folder
            )
        shapes[name] = shape
    trials = []
    for r in recordings:
        poses = (rigid_poses(r.group(groups[g]), shapes[g], most_residual=most_residual) for g in ("limb", "chest"))
        limb_pose, chest_pose = poses
        p, R = relative_poses(*limb_pose, *chest_pose)
        labels: dict[str, Any] = {"frame": "chest", "subject": r.subject, "task": r.task, "name": r.name}
        trials.append(Trial.from_poses(r.t, p, matrix=R, rate=r.rate, **labels))
    return trials
