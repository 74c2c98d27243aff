"""Length and speed of planned motions in physical units, compared with training motions and with minimum jerk."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ... import _core
from ...checks import Array
from ...recordings.trial import POSITION
from ..alignment import from_canonical, has_path, returning
from ..fpca.fit import unit_groups

if TYPE_CHECKING:
    from ..fpca.fpca import FPCA

#: ratio to the training motions, relative to the ratio to minimum jerk. Alignment enlarges a motion by its extent over
#: its displacement, at most twice for motions that do not return (`alignment.returning`)
TRAINING_SHARE = 0.5
#: extent below which a training motion has no shape, relative to the largest one
_SHAPELESS = 0.1
#: normalized times at which training motions are compared
_GRID = np.linspace(0.0, 1.0, 101)


def training_motions(fpca: FPCA, derivative: int = 0) -> Array:
    """Return the training motions or a derivative over tau at 101 times, (R, 101, d); without motions, the mean."""
    basis = fpca.basis_.evaluate(_GRID, derivative)
    mean = basis @ fpca.mean_coefficients_
    if not len(fpca.scores_):
        return np.asarray(mean[None])
    subscripts = "rn,nkd->rkd" if fpca.joint else "rnd,nkd->rkd"
    motions = mean + basis @ np.einsum(subscripts, fpca.scores_, fpca.component_coefficients_, optimize=True)
    if fpca.frames_ is not None:
        motions = from_canonical(motions, fpca.dofs, fpca.frames_, derivative)
    return np.asarray(motions)


def limit_travel(core: _core.FunctionalPlanner, fpca: FPCA, ratio: float) -> int:
    """Set the core's limits of length and peak speed, `ratio` times minimum jerk, and none if it is infinite.

    Returns the number of training motions that return toward their start.
    """
    if ratio == np.inf:
        return 0
    groups = unit_groups(fpca.units)
    group_of = [next(g for g, group in enumerate(groups) if k in group) for k in range(len(fpca.dofs))]
    rows, returns = np.zeros((len(groups), 5)), 0
    if len(fpca.scores_):
        x, dx = training_motions(fpca), training_motions(fpca, 1)
        if has_path(fpca.dofs):
            returns = int(returning(x[:, :, [fpca.dofs.index(name) for name in POSITION]]).sum())
        for row, group in zip(rows, groups, strict=True):
            scaled = fpca.alignment_ == "path" and fpca.dofs[group[0]] in POSITION
            row[:] = _travel(x[:, :, group], dx[:, :, group], scaled)
    core.limit_travel(group_of, rows, TRAINING_SHARE * ratio, ratio)
    return returns


def _travel(x: Array, dx: Array, scaled: bool) -> tuple[float, float, float, float, float]:
    """Return the largest length, length / extent, speed, speed / extent and displacement of motions (R, T, d)."""
    way = x - x[:, :1]
    displacement, extent = np.linalg.norm(way[:, -1], axis=1), np.linalg.norm(way, axis=2).max(axis=1)
    length = np.linalg.norm(np.diff(x, axis=1), axis=2).sum(axis=1)
    speed = np.linalg.norm(dx, axis=2).max(axis=1)
    shaped = (extent > _SHAPELESS * extent.max(initial=0.0)) & (extent > 0.0)
    relative = [float((size[shaped] / extent[shaped]).max(initial=0.0)) for size in (length, speed)]
    most = [0.0, 0.0] if scaled else [float(length.max()), float(speed.max())]
    return most[0], relative[0], most[1], relative[1], 0.0 if scaled else float(displacement.max())


def extra_way(path: _core.BezierPath, via_points: Array) -> float:
    """Return the length of the polyline from start to goal through via points (k, 3), minus the distance [m]."""
    if not len(via_points):
        return 0.0
    ends = path.sample([path.start, path.end])[:, :3]
    corners = np.concatenate([ends[:1], via_points, ends[1:]])
    return float(np.linalg.norm(np.diff(corners, axis=0), axis=1).sum() - np.linalg.norm(ends[1] - ends[0]))
