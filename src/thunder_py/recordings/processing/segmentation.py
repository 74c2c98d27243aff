"""Segmentation of recordings into reaches by speed and direction."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from ...checks import Array, nonnegative, one_of, within
from ...errors import ThunderError
from ..motion_set import MotionSet
from ..trial import POSITION, Trial, require_no_gaps, stretches, trial_label
from .filtering import low_pass
from .over_sets import has_motion, numbered, over_sets


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


#: a turn has a speed below this part of the smaller peak beside it
_SLOW = 0.85
#: a reach is at least this straight: distance from start to end by the length of the path
_STRAIGHT = 0.5


@over_sets
def split_reaches(
    trial: Trial,
    threshold: float = 0.03,
    least_length: float = 0.05,
    least_duration: float = 0.2,
    *,
    turn: float = 0.5 * math.pi,
    length: str = "distance",
    cutoff: float = 10.0,
    order: int = 2,
    dofs: Sequence[str] = POSITION,
    whole: bool = False,
) -> MotionSet:
    """Split a recording into reaches: at pauses, and at turns without a pause.

    A pause has a speed below a threshold. A turn is a minimum of the speed, below 0.85 of the smaller peak beside it,
    between two movements longer than `least_length` in directions that differ by more than `turn`. Shallower and
    smaller minima belong to a reach: corrections, tremor, points passed on the way. Speeds and lengths are those of a
    low-passed copy; the reaches hold the original values.

    What still returns or winds is no reach and left out: loops that are fast all the way round, and every movement
    whose ends are less than half of its path apart.

    Parameters
    ----------
    trial : Trial or MotionSet
        No gaps; equal time steps unless `cutoff` is infinite.
    threshold : float
        Speed [m/s] (rad/s for angles) of a pause.
    least_length : float
        A reach is longer than this [m].
    least_duration : float
        A reach takes longer than this [s].
    turn : float
        Least change of direction at a turn [rad]; `math.inf` to split at pauses only.
    length : str
        ``"distance"`` from the first to the last point, or ``"path"``, which also keeps movements that return or wind.
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
    >>> from thunder_py.recordings import Trial, split_reaches
    >>> t = np.arange(401) / 100.0
    >>> x = 0.15 * (1.0 - np.cos(0.5 * np.pi * t))  # out and back, without a pause
    >>> trial = Trial.from_positions(t, np.column_stack([x, 0 * x, 0 * x]), name="a")
    >>> [(part.name, *part.position[[0, -1], 0].round(1).tolist()) for part in split_reaches(trial)]
    [('a/1', 0.0, 0.3), ('a/2', 0.3, 0.0)]
    """
    limits = {"threshold": threshold, "least_length": least_length, "least_duration": least_duration, "turn": turn}
    for what, value in limits.items():
        if not (what == "turn" and value == math.inf):
            nonnegative(value, what)
    one_of(length, ("distance", "path"), "length")
    smooth = _smooth(trial, cutoff, order, dofs)
    v, points = _speed(smooth), smooth.x
    reaches: list[Trial] = []
    for start, end in stretches(v > threshold):
        for first, last in pairwise(_turns(points, v, start, end, turn, least_length)):
            # relative tolerance of differences of times
            lasting = trial.t[last] - trial.t[first] > least_duration * (1.0 + 1e-9)
            cut_off = whole and (first == 0 or last == len(trial) - 1)
            if lasting and not cut_off and _length(points[first : last + 1], length) > least_length:
                reaches.append(trial.slice(trial.t[first], trial.t[last]))
    return numbered(reaches)


def _turns(points: Array, v: Array, start: int, end: int, turn: float, least: float) -> list[int]:
    """Return the indices of start, turns and end of one movement.

    Of all minima of the speed, the shallowest that is no turn is removed, until every one left is a turn.
    """
    from scipy.signal import find_peaks

    inner = find_peaks(-v[start : end + 1])[0] + start if turn < math.pi else ()
    cuts = np.array([start, *inner, end])
    while len(cuts) > 2:
        chords = np.diff(points[cuts], axis=0)
        sizes = np.linalg.norm(chords, axis=1)
        peaks = np.maximum.reduceat(v[: end + 1], cuts[:-1])
        depths = v[cuts[1:-1]] / np.minimum(peaks[:-1], peaks[1:])
        ahead = np.sum(chords[:-1] * chords[1:], axis=1) > np.cos(turn) * sizes[:-1] * sizes[1:]
        fails = (depths > _SLOW) | ahead | (np.minimum(sizes[:-1], sizes[1:]) <= least)
        if not fails.any():
            break
        cuts = np.delete(cuts, 1 + np.argmax(np.where(fails, depths, -1.0)))
    return [int(k) for k in cuts]


def _length(points: Array, kind: str) -> float:
    path = float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())
    distance = float(np.linalg.norm(points[-1] - points[0]))
    return path if kind == "path" else distance * (distance > _STRAIGHT * path)


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
