"""Warnings about recordings that can hardly be right: units of length, angle and time, long gaps."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ..checks import Array
from .trial import Trial

__all__ = ["RecordingWarning", "check_plausible"]

#: largest extent [m], speed [m/s] and range of angles [rad] of a movement; thrown balls reach 50 m/s
_LARGEST_EXTENT, _LARGEST_SPEED, _LARGEST_ANGLE = 20.0, 60.0, 4.0 * np.pi
#: longest median time step [s]
_LONGEST_STEP = 1.0
#: ratio to the other trials from which units differ; the smallest one between common units is 10 (cm and mm)
_UNLIKE = 50.0
#: longest gap, as a fraction of the duration
_LONGEST_GAP = 0.3
#: samples from which speeds and gaps are judged
_FEWEST = 10
_MOST_NAMED = 3
_REMEDY = {
    "m": "pass unit='mm' to the loader or Trial.from_positions",
    "rad": "pass the unit 'deg' to the loader",
}


class RecordingWarning(UserWarning):
    """Warning about implausible recordings.

    Examples
    --------
    >>> import warnings
    >>> from thunder_py.recordings import RecordingWarning
    >>> warnings.simplefilter("error", RecordingWarning)  # to stop at the first one
    >>> warnings.resetwarnings()
    """


def check_plausible(trials: Sequence[Trial], stacklevel: int = 2) -> None:
    """Warn about units and gaps of trials that can hardly be right; all loaders of tables and `FPCA.fit` call it.

    Parameters
    ----------
    trials : sequence of Trial
        Trials of one recording or set, or other objects with their `t`, `x` and `units`.
    stacklevel : int
        As in `warnings.warn`.

    Warns
    -----
    RecordingWarning
        With the name of the trial and the remedy, for

        - a median time step above 1 s;
        - positions over more than 20 m, or a median speed above 60 m/s;
        - angles over more than two turns;
        - values or time steps 50 times larger or smaller than those of the other trials, three of them or more;
        - a gap between measured samples over more than 30 % of the duration.

    Examples
    --------
    >>> import warnings
    >>> from thunder_py.recordings import Trial, check_plausible
    >>> trial = Trial.from_positions([0.0, 0.01, 0.02], [[0, 0, 500], [90, 0, 500], [300, 0, 501]], name="reach")
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     check_plausible([trial])
    >>> print(caught[0].message)
    trial 'reach': positions over 300 m can hardly be right; pass unit='mm' to the loader or Trial.from_positions
    """
    motions = [_motion(trial, index) for index, trial in enumerate(trials)]
    found: dict[str, list[str]] = {}
    for motion in motions:
        for text in _alone(motion):
            found.setdefault(text.partition("; ")[2], []).append(f"{motion.name}: {text.partition('; ')[0]}")
    for remedy, texts in (found or _unlike(motions)).items():
        more = f" (and {len(texts) - _MOST_NAMED} more)" if len(texts) > _MOST_NAMED else ""
        message = ", ".join(texts[:_MOST_NAMED]) + f"{more}; {remedy}"
        warnings.warn(message, RecordingWarning, stacklevel=stacklevel + 1)


class _Motion(NamedTuple):
    """The parts of a trial, or of another object with the same attributes, that are judged."""

    name: str
    t: Array  # (T,)
    x: Array  # (T, d)
    units: tuple[str, ...]

    @property
    def duration(self) -> float:
        return float(self.t[-1] - self.t[0])


def _motion(trial: Trial, index: int) -> _Motion:
    label = getattr(trial, "name", "")
    t, x = (np.asarray(part, dtype=np.float64) for part in (trial.t, trial.x))
    return _Motion(f"trial {label!r}" if label else f"trial {index}", t, x, tuple(trial.units))


def _alone(trial: _Motion) -> Iterator[str]:
    """Yield "problem; remedy" for one trial."""
    step = float(np.median(np.diff(trial.t)))
    if step > _LONGEST_STEP:
        yield f"time steps of {step:g} s can hardly be right; pass times in seconds, or time_unit='ms' to the loader"
    place = [k for k, unit in enumerate(trial.units) if unit == "m"]
    extent = _extent(trial.x[:, place])
    if extent > _LARGEST_EXTENT:
        yield f"positions over {extent:.3g} m can hardly be right; {_REMEDY['m']}"
    elif len(trial.t) >= _FEWEST and (speed := _speed(trial, place)) > _LARGEST_SPEED:
        yield f"speed of {speed:.3g} m/s can hardly be right; {_REMEDY['m']}"
    angle = max((_extent(trial.x[:, [k]]) for k, unit in enumerate(trial.units) if unit == "rad"), default=0.0)
    if angle > _LARGEST_ANGLE:
        yield f"angles over {angle:.3g} rad can hardly be right; {_REMEDY['rad']}"
    if gap := _gap(trial):
        start, end = gap
        yield (
            f"nothing measured from {start:.3g} to {end:.3g} s, {(end - start) / trial.duration:.0%} of the duration; "
            "leave such trials out (MotionSet.filter) or keep the parts around the gap (processing.split_at_gaps)"
        )


def _extent(x: Array) -> float:
    """Return the diagonal of the box of the measured samples."""
    x = x[~np.isnan(x).any(axis=1)]
    return float(np.linalg.norm(np.ptp(x, axis=0))) if x.size else 0.0


def _speed(trial: _Motion, columns: list[int]) -> float:
    steps = np.linalg.norm(np.diff(trial.x[:, columns], axis=0), axis=1) / np.diff(trial.t)
    steps = steps[np.isfinite(steps)]
    return float(np.median(steps)) if columns and steps.size else 0.0


def _gap(trial: _Motion) -> tuple[float, float] | None:
    """Return the longest gap between measured samples if it is too long."""
    measured = np.flatnonzero(~np.isnan(trial.x).any(axis=1))
    if len(trial.t) < _FEWEST or len(measured) < 2:
        return None
    lengths = np.where(np.diff(measured) > 1, np.diff(trial.t[measured]), 0.0)
    k = int(np.argmax(lengths))
    start, end = trial.t[measured[k : k + 2]]
    return (float(start), float(end)) if lengths[k] > _LONGEST_GAP * trial.duration else None


def _unlike(trials: Sequence[_Motion]) -> dict[str, list[str]]:
    """Return {remedy: problems} of trials that differ from the others by orders of magnitude."""
    if len(trials) < 4:
        return {}
    found: dict[str, list[str]] = {}
    steps = np.array([np.median(np.diff(trial.t)) for trial in trials])
    for k in _outlying(steps):
        problem = f"{trials[k].name}: time steps of {steps[k]:.3g} s, but {np.median(steps):.3g} s in the others"
        found.setdefault("check the unit of time", []).append(problem)
    for unit in sorted({unit for trial in trials for unit in trial.units} - {"1"}):
        columns = [[k for k, of in enumerate(trial.units) if of == unit] for trial in trials]
        parts = [trial.x[:, c] for trial, c in zip(trials, columns, strict=True)]
        extents = np.array([_extent(x) for x in parts])
        sizes = np.array([float(np.nanmax(np.abs(x), initial=0.0)) if x.size else 0.0 for x in parts])
        # a hand at rest moves little, but in the same place
        for k in sorted(set(_outlying(extents)) & set(_outlying(sizes))):
            problem = (
                f"{trials[k].name}: values up to {sizes[k]:.3g} {unit}, but {np.median(sizes):.3g} {unit} in the others"
            )
            found.setdefault("check the unit of this trial", []).append(problem)
    return found


def _outlying(values: Array) -> list[int]:
    """Return the indices of values far from the median of all, in either direction."""
    middle = float(np.median(values))
    if middle <= 0.0:
        return []
    far = (values > _UNLIKE * middle) | ((values > 0.0) & (values < middle / _UNLIKE))
    return [int(k) for k in np.flatnonzero(far)]
