"""Segmentation of recordings into movements by their speed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...checks import Array, nonnegative, within
from ...errors import ThunderError
from ..motion_set import MotionSet
from ..trial import POSITION, Trial
from .filtering import low_pass, stretches
from .over_sets import has_motion, over_sets, require_no_gaps, splits_sets, trial_label


def speed(trial: Trial, *, cutoff: float = 10.0, order: int = 2, dofs: Sequence[str] = POSITION) -> Array:
    """Return the norm (T,) of the velocity of `dofs`, by central differences of the filtered values.

    Parameters
    ----------
    trial : Trial
        No gaps; equal time steps unless `cutoff` is infinite.
    cutoff : float
        Cut-off of `low_pass` [Hz]; `math.inf` for no filter.
    order : int
        Order of `low_pass`.
    dofs : sequence of str
        Dofs of one unit; by default the position.

    Returns
    -------
    array
        Speed [m/s] or [rad/s].

    Raises
    ------
    ThunderError
        For gaps, unequal time steps under a filter, or dofs of different units.

    Examples
    --------
    >>> import math
    >>> from thunder_py.recordings import Trial
    >>> from thunder_py.recordings.processing import speed
    >>> trial = Trial.from_positions([0.0, 1.0, 2.0], [[0, 0, 0], [0.3, 0.4, 0], [0.6, 0.8, 0]])
    >>> speed(trial, cutoff=math.inf).round(6).tolist()
    [0.5, 0.5, 0.5]
    """
    return _speed(_smooth(trial, cutoff, order, dofs))


def _smooth(trial: Trial, cutoff: float, order: int, dofs: Sequence[str]) -> Trial:
    part = trial.select(dofs)
    if len(set(part.units)) > 1:
        raise ThunderError(f"dofs must share one unit to have a speed, got {', '.join(part.units)}")
    require_no_gaps(part, "a speed")
    return low_pass(part, cutoff, order)


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
    """Split a recording into its movements, the intervals with a speed above a threshold.

    Speeds and lengths are those of a low-passed copy; the returned movements hold the original values.

    Parameters
    ----------
    trial : Trial or MotionSet
        No gaps; equal time steps unless `cutoff` is infinite.
    threshold : float
        Speed [m/s] (rad/s for angles).
    least_length : float
        A movement is longer than this [m].
    least_duration : float
        A movement takes longer than this [s].
    length : str
        ``"distance"`` from the first to the last point, which is small for movements to and fro, or ``"path"``.
    cutoff, order, dofs
        See `speed`.
    whole : bool
        Drop movements in progress at the start or end of the recording.

    Returns
    -------
    MotionSet
        Trials named ``<name>/1``, ``<name>/2``, ...; times are those of the recording.

    Raises
    ------
    ThunderError
        For gaps, unequal time steps under a filter, and limits that are not numbers >= 0.

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.recordings import Trial
    >>> from thunder_py.recordings.processing import segment_by_speed
    >>> t = np.arange(401) / 100.0
    >>> x = 0.3 * (np.clip(t - 0.5, 0.0, 1.0) - np.clip(t - 2.5, 0.0, 1.0))  # out and back
    >>> trial = Trial.from_positions(t, np.column_stack([x, 0 * x, 0 * x]), name="a")
    >>> [(part.name, round(part.duration, 1)) for part in segment_by_speed(trial)]
    [('a/1', 1.0), ('a/2', 1.0)]
    """
    limits = {"threshold": threshold, "least_length": least_length, "least_duration": least_duration}
    for what, value in limits.items():
        nonnegative(value, what)
    if length not in ("distance", "path"):
        raise ThunderError(f"length must be 'distance' or 'path', got {length!r}")
    smooth = _smooth(trial, cutoff, order, dofs)
    movements: list[Trial] = []
    for first, last in stretches(_speed(smooth) > threshold):
        cut = whole and (first == 0 or last == len(trial) - 1)
        # relative tolerance of differences of times
        if cut or not trial.t[last] - trial.t[first] > least_duration * (1.0 + 1e-9):
            continue
        if last > first and _length(smooth.x[first : last + 1], length) > least_length:
            movements.append(trial.slice(trial.t[first], trial.t[last]))
    return MotionSet(part.with_labels(name=f"{trial.name}/{k}") for k, part in enumerate(movements, start=1))


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
    """Crop a trial to its movement: remove the rest before and after it.

    The result is the interval about the peak of the speed where the speed is at least `fraction` of that peak.

    Parameters
    ----------
    trial : Trial or MotionSet
        One movement each; no gaps, equal time steps unless `cutoff` is infinite.
    fraction : float
        Fraction of the peak speed, 0 to 1.
    cutoff, order, dofs
        See `speed`.
    pauses : bool
        Keep everything from the first to the last sample at this speed, including slower samples in between.

    Returns
    -------
    Trial or MotionSet
        The movement, with original values and times.

    Raises
    ------
    ThunderError
        For gaps, unequal time steps under a filter, a fraction out of range, or a trial at rest.

    Examples
    --------
    >>> from thunder_py.recordings.processing import crop_to_movement
    >>> from thunder_py.recordings.synthetic import minimum_jerk_reaches
    >>> trial = minimum_jerk_reaches(1, seed=0, duration=(1.0, 1.0))[0]
    >>> round(trial.duration, 2), round(crop_to_movement(trial, 0.1).duration, 2)
    (1.02, 0.83)
    """
    within(fraction, "fraction", 0.0, 1.0, ends="[)")
    smooth = _smooth(trial, cutoff, order, dofs)
    v = _speed(smooth)
    if not has_motion(smooth):
        raise ThunderError(f"{trial_label(trial)} must move, got no movement: its peak speed is {v.max():.3g}")
    peak = int(np.argmax(v))
    moving = v >= fraction * v[peak]
    parts = stretches(moving)
    first, last = next((a, b) for a, b in parts if a <= peak <= b)
    if pauses:
        first, last = parts[0][0], parts[-1][1]
    if first == last:
        raise ThunderError(
            f"{trial_label(trial)} must have two samples or more at {fraction:g} of its peak speed, "
            "got one: no movement"
        )
    return trial.slice(trial.t[first], trial.t[last])
