"""Points that were not measured but look like positions: lost markers at the origin, positions held."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ...checks import Array
from ..plausibility import listed, warn_about
from ..trial import stretches

#: steps of a movement that reaches the origin, relative to the step that 5 % of its steps exceed
_JUMP, _PART = 3.0, 0.95
#: frames of a position that is held; its step before or after is not less than half the median step, five times the
#: resolution, and a millimeter: some programs repeat the position of a marker that hardly moves
_LONG, _MEDIAN, _RESOLUTION, _LEAST = 5, 0.5, 5.0, 1e-3
#: no position [m]
FARTHEST = 1e20
#: samples from which one that is elsewhere is the right one; and frames of a gap, at most, in which a marker goes on
_FEWEST = 10

_FAR, _LOST = "was lost and written as a number above 1e20", "was lost and written as 0, 0, 0"
_RESTING, _HELD = "is at 0, 0, 0 whenever it is measured", "repeats a position exactly"
_NEVER = f"{_RESTING}, as if never seen,"
_REMEDIES = {
    _FAR: "these samples are gaps (NaN)",
    _LOST: "these samples are gaps (NaN)",
    _NEVER: "these samples became gaps (NaN); for a marker at the origin, set them to 0 (Trial.with_values)",
    _RESTING: "leave it out if it was never seen",
    _HELD: "if it was lost then, make these samples NaN (Trial.with_values)",
}

Mask = npt.NDArray[np.bool_]


def without_lost(points: Array, names: Sequence[str], path: object, shown: Sequence[int] | None = None) -> Array:
    """Return points (T, m, 3) with gaps (NaN) where a marker was lost, and warn.

    Many programs write a lost marker as exactly 0, 0, 0. Such a sample becomes a gap if the marker jumps there: its
    distance to the next other sample, per frame (of ten at most), is three times its usual step or more. A movement
    that starts, ends or passes at the origin is kept. A marker that never leaves the origin is a gap throughout if
    another marker of the file does; alone, it is kept and told. Numbers above 1e20, as NDI writes lost markers, are
    gaps too.

    A position repeated exactly in five frames or more, between steps that are too long for a marker coming to rest, is
    told and kept.

    Parameters
    ----------
    points : (T, m, 3) array
        Positions [m], NaN where not measured.
    names : sequence of str
        Names of the m markers.
    path : path-like
        The file, for messages.
    shown : sequence of int, optional
        Markers whose problems are told; all by default.
    """
    told = set(range(len(names)) if shown is None else shown)
    far = np.asarray((np.abs(points) > FARTHEST).any(axis=2))
    result = np.where(far[..., None], np.nan, points)
    zero = np.asarray((result == 0.0).all(axis=2))
    measured = np.logical_not(np.isnan(result).any(axis=2))
    moving = np.asarray((measured & ~zero).any(axis=0))
    found: dict[str, dict[str, Mask]] = {what: {} for what in _REMEDIES}
    for k, name in enumerate(names):
        masks: dict[str, Mask] = {_FAR: far[:, k], _LOST if moving[k] else _NEVER: zero[:, k]}
        if moving[k]:
            masks[_LOST] = _gone(result[:, k], measured[:, k], zero[:, k])
            result[masks[_LOST], k] = np.nan
            masks[_HELD] = _repeated(result[:, k])
        elif moving.any():
            result[zero[:, k], k] = np.nan
        else:
            masks[_RESTING] = masks.pop(_NEVER)
        for what in (what for what, mask in masks.items() if k in told and mask.any()):
            found[what][name] = masks[what]
    for what, markers in found.items():
        texts = []
        for name, mask in markers.items():
            frames = np.flatnonzero(mask) + 1
            texts.append(f"{name!r} {what} in {len(frames)} of {len(mask)} frames ({frames[0]} to {frames[-1]})")
        if markers:
            warn_about(path, f"{listed(texts)}; {_REMEDIES[what]}")
    return result


def _gone(p: Array, measured: Mask, zero: Mask) -> Mask:
    """Return the samples at the origin to which the marker jumps."""
    gone: Mask = np.zeros(len(p), dtype=bool)
    seen, at_zero = np.flatnonzero(measured & ~zero), np.flatnonzero(zero)
    steps = np.linalg.norm(np.diff(p[seen], axis=0), axis=1) / np.diff(seen)
    if not len(steps) and len(p) < _FEWEST:
        return gone  # nothing tells which of two places is right
    moves = steps[steps > 0.0]
    reach = _JUMP * float(np.quantile(moves, _PART)) if len(moves) else 0.0
    after = np.searchsorted(seen, at_zero)  # samples at the origin between the same neighbors are one run
    for k in np.unique(after):
        run = at_zero[after == k]
        # after a long gap a marker may be elsewhere, but not anywhere
        jumps = [np.linalg.norm(p[seen[k - 1]]) / min(run[0] - seen[k - 1], _FEWEST)] if k > 0 else []
        jumps += [np.linalg.norm(p[seen[k]]) / min(seen[k] - run[-1], _FEWEST)] if k < len(seen) else []
        gone[run] = max(jumps) > reach
    return gone


def _repeated(p: Array) -> Mask:
    """Return the samples of positions that are held, except for the first of each."""
    changes = np.abs(np.diff(p, axis=0))
    steps = np.linalg.norm(changes, axis=1)
    moves = steps[steps > 0.0]  # NaN is no step
    repeated = np.zeros(len(p), dtype=bool)
    if not len(moves):
        return repeated
    least = max(_MEDIAN * float(np.median(moves)), _RESOLUTION * float(changes[changes > 0.0].min()), _LEAST)
    for first, last in stretches(steps == 0.0):
        around = np.append(steps, 0.0)[[first - 1, last + 1]]  # before and after; none at the ends
        if last - first + 2 >= _LONG and np.nanmax([0.0, *around]) >= least:
            repeated[first + 1 : last + 2] = True
    return repeated
