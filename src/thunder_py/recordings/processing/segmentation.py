"""Movements cut out of recordings by their speed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...checks import Array, at_least, within
from ...errors import ThunderError
from ..motion_set import MotionSet
from ..trial import POSITION, Trial
from .filtering import low_pass, stretches
from .over_sets import moves, over_sets, refuse_gaps, splits_sets, who

__all__ = ["crop_to_movement", "segment_by_speed", "speed"]


def speed(trial: Trial, *, cutoff: float = 10.0, order: int = 2, dofs: Sequence[str] = POSITION) -> Array:
    """Return the norm (T,) of the velocity of `dofs`, by central differences of the filtered values.

    Parameters
    ----------
    trial : Trial
        No gaps; equal time steps if there is a filter.
    cutoff : float
        Of `low_pass` [Hz]; `math.inf` takes the values as they are.
    order : int
        Of `low_pass`.
    dofs : sequence of str
        Of one unit; by default the position.

    Returns
    -------
    array
        [m/s] or [rad/s].
    """
    return _speed(_smooth(trial, cutoff, order, dofs))


def _smooth(trial: Trial, cutoff: float, order: int, dofs: Sequence[str]) -> Trial:
    chosen = trial.select(dofs)
    if len(set(chosen.units)) > 1:
        raise ThunderError(f"dofs must share one unit, or there is no speed, got {', '.join(chosen.units)}")
    refuse_gaps(chosen, "a speed")
    return low_pass(chosen, cutoff, order)


def _speed(trial: Trial) -> Array:
    return np.asarray(np.linalg.norm(np.gradient(trial.x, trial.t, axis=0), axis=1), dtype=np.float64)


@splits_sets
def segment_by_speed(
    trial: Trial,
    threshold: float = 0.03,
    least_length: float = 0.05,
    least_duration: float = 0.2,
    *,
    length: str = "distance",
    cutoff: float = 10.0,
    order: int = 2,
    dofs: Sequence[str] = POSITION,
    whole: bool = False,
) -> MotionSet:
    """Cut a recording into its movements: the stretches where the speed is above a threshold.

    Speeds and lengths are those of a low-passed copy; the movements returned hold the values as given.

    Parameters
    ----------
    trial : Trial or MotionSet
        No gaps; equal time steps if there is a filter.
    threshold : float
        Speed [m/s] (rad/s for angles).
    least_length : float
        A movement is longer than this [m].
    least_duration : float
        A movement takes longer than this [s].
    length : str
        ``"distance"`` from the first to the last point, so that movements to and fro do not count, or ``"path"``.
    cutoff, order, dofs
        See `speed`.
    whole : bool
        Drop movements that are under way when the recording starts or ends.

    Returns
    -------
    MotionSet
        Named ``<name>/1``, ``<name>/2``, ...; times as in the recording.

    Raises
    ------
    ThunderError
        For gaps, unequal time steps, and limits that are not numbers >= 0.
    """
    limits = {"threshold": threshold, "least_length": least_length, "least_duration": least_duration}
    for what, value in limits.items():
        at_least(value, what)
    if length not in ("distance", "path"):
        raise ThunderError(f"length must be 'distance' or 'path', got {length!r}")
    smooth = _smooth(trial, cutoff, order, dofs)
    found: list[Trial] = []
    for first, last in stretches(_speed(smooth) > threshold):
        cut = whole and (first == 0 or last == len(trial) - 1)
        # differences of times are not exact: what takes least_duration to nine digits takes no longer
        if cut or not trial.t[last] - trial.t[first] > least_duration * (1.0 + 1e-9):
            continue
        if last > first and _length(smooth.x[first : last + 1], length) > least_length:
            found.append(trial.slice(trial.t[first], trial.t[last]))
    return MotionSet(part.with_labels(name=f"{trial.name}/{k}") for k, part in enumerate(found, start=1))


def _length(points: Array, kind: str) -> float:
    if kind == "distance":
        return float(np.linalg.norm(points[-1] - points[0]))
    return float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())


@over_sets
def crop_to_movement(
    trial: Trial,
    fraction: float = 0.05,
    *,
    cutoff: float = 10.0,
    order: int = 2,
    dofs: Sequence[str] = POSITION,
    pauses: bool = False,
) -> Trial:
    """Cut off the rest before and behind a movement.

    What remains is the stretch around the peak of the speed in which the speed is at least `fraction` of that peak.

    Parameters
    ----------
    trial : Trial or MotionSet
        One movement each; no gaps, equal time steps if there is a filter.
    fraction : float
        Of the peak speed, 0 to 1.
    cutoff, order, dofs
        See `speed`.
    pauses : bool
        Keep everything from the first to the last sample at this speed, slower ones between them included.

    Raises
    ------
    ThunderError
        For gaps, unequal time steps, a fraction out of range, or a trial that does not move.
    """
    within(fraction, "fraction", 0.0, 1.0, ends="[)")
    smooth = _smooth(trial, cutoff, order, dofs)
    v = _speed(smooth)
    if not moves(smooth):
        raise ThunderError(f"{who(trial)} has no movement to crop to: its peak speed is {v.max():.3g}")
    peak = int(np.argmax(v))
    moving = v >= fraction * v[peak]
    parts = stretches(moving)
    first, last = next((a, b) for a, b in parts if a <= peak <= b)
    if pauses:
        first, last = parts[0][0], parts[-1][1]
    if first == last:
        raise ThunderError(
            f"{who(trial)} has no movement to crop to: one sample alone is as fast as {fraction:g} of its peak"
        )
    return trial.slice(trial.t[first], trial.t[last])
