"""Gaps: closed by interpolation where they are short, cut out where they are not."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...checks import Array
from ...errors import ThunderError
from ..motion_set import MotionSet
from ..scalars import at_least, positive
from ..trial import Trial
from .over_sets import over_sets, splits_sets, who
from .rotation import about_mean, in_the_frame

__all__ = ["fill_gaps", "split_at_gaps"]

_METHODS = ("cubic", "pchip", "linear")
#: differences of times are not exact: a gap of 0.05 s is no longer than 0.05 s
_ROUNDING = 1e-9


@over_sets
def fill_gaps(trial: Trial, longest: float | None = None, method: str = "cubic") -> Trial:
    """Close gaps by interpolation between the samples around them.

    Every column is filled by itself, so a gap of one marker leaves the others as measured. Orientations are
    interpolated as rotation vectors about the trial's mean orientation. Gaps at the start or end of a trial have
    nothing on one side: they are cut off, not extrapolated.

    Parameters
    ----------
    trial : Trial or MotionSet
        With or without gaps.
    longest : float, optional
        Longest gap that is closed [s], from the last sample before it to the first one behind. Longer ones stay NaN,
        for `split_at_gaps`. By default all gaps are closed.
    method : str
        ``"cubic"``: spline through all samples, smooth, may overshoot in long gaps; ``"pchip"``: monotone where the
        data are; ``"linear"``.

    Returns
    -------
    Trial or MotionSet
        From the first to the last sample where every column has a value.

    Raises
    ------
    ThunderError
        If fewer than two samples are complete, `longest` is not positive or `method` is unknown.
    """
    if longest is not None:
        positive(longest, "longest", "s")
    if method not in _METHODS:
        raise ThunderError(f"method must be one of {', '.join(_METHODS)}, got {method!r}")
    if trial.valid.all():
        return trial
    start, end = _common_span(trial)
    values, mean = about_mean(trial)
    for column in range(values.shape[1]):
        _fill(trial.t, values[:, column], np.inf if longest is None else longest, method)
    filled = trial.with_values(in_the_frame(values, mean, trial))
    return filled.slice(trial.t[start], trial.t[end])


def _common_span(trial: Trial) -> tuple[int, int]:
    """Return the first and the last index between which no column lacks values on either side of a gap."""
    known = ~np.isnan(trial.x)
    if np.count_nonzero(trial.valid) < 2:
        raise ThunderError(f"fill_gaps needs two complete samples or more, {who(trial)} has fewer")
    start = int(np.argmax(known, axis=0).max())
    end = len(trial) - 1 - int(np.argmax(known[::-1], axis=0).max())
    return start, end


def _fill(t: Array, column: Array, longest: float, method: str) -> None:
    """Close the gaps of one column that have values on both sides, in place."""
    from scipy.interpolate import CubicSpline, PchipInterpolator

    known = np.flatnonzero(~np.isnan(column))
    behind = np.searchsorted(known, np.arange(len(column)))
    inside = np.isnan(column) & (behind > 0) & (behind < len(known))
    widths = t[known[np.clip(behind, 0, len(known) - 1)]] - t[known[np.clip(behind - 1, 0, None)]]
    wanted = inside & (widths <= longest * (1.0 + _ROUNDING))
    if not wanted.any():
        return
    if method == "linear":
        column[wanted] = np.interp(t[wanted], t[known], column[known])
    else:
        spline = CubicSpline if method == "cubic" else PchipInterpolator
        column[wanted] = spline(t[known], column[known])(t[wanted])


@splits_sets
def split_at_gaps(trial: Trial, least_duration: float = 0.0) -> MotionSet:
    """Return the stretches of complete samples between gaps as trials of their own.

    Parameters
    ----------
    trial : Trial or MotionSet
        With or without gaps.
    least_duration : float
        Shorter stretches [s] are dropped, and single samples always.

    Returns
    -------
    MotionSet
        Named ``<name>/1``, ``<name>/2``, ... where there are several; times as they were.
    """
    at_least(least_duration, "least_duration", unit="s")
    parts = [
        trial.slice(trial.t[first], trial.t[last])
        for first, last in stretches(trial.valid)
        if last > first and trial.t[last] - trial.t[first] >= least_duration
    ]
    if len(parts) == 1:
        return MotionSet(parts)
    return MotionSet(part.with_labels(name=f"{trial.name}/{k}") for k, part in enumerate(parts, start=1))


def stretches(mask: npt.NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return first and last index of every run of True."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]])))
    return [(int(first), int(behind) - 1) for first, behind in zip(edges[::2], edges[1::2], strict=True)]
