"""Warnings about recordings that can hardly be right: units of length, angle and time, long gaps."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..checks import Array
from ..errors import outer_level
from .trial import ROTATION, Trial


class Range(NamedTuple):
    """Plausible values of a quantity, ends excluded.

    Attributes
    ----------
    lowest, highest : float
        Ends of the range.
    reason : str
        Why nothing human, and hardly any robot, lies beyond them.
    """

    lowest: float
    highest: float
    reason: str


#: plausible values of movements of people and arms; of ``size`` and ``speed`` both must be low to be too low
PLAUSIBLE: dict[str, Range] = {
    "step": Range(2e-4, 0.5, "cameras and inertial sensors measure at 5 Hz to 2 kHz"),
    "size": Range(0.03, 20.0, "strokes of a pen have centimeters, laboratories less than 20 m"),
    "speed": Range(0.05, 12.0, "hands reach at 0.1 to 5 m/s; sprinters run at 12 m/s; throws are faster, but briefly"),
    "angle": Range(np.pi * np.pi / 180.0, 4.0 * np.pi, "joints turn less than two turns, and more than pi degrees"),
    "turn": Range(0.0, 40.0, "wrists turn at up to 30 rad/s; throwing arms are faster, but briefly"),
    "bare": Range(0.0, 20.0, "as meters and as radians"),
}
#: ratio that separates trials of different units: 57 from degrees to radians, less natural differences
_UNLIKE = 30.0
#: longest gap, as a fraction of the duration
_LONGEST_GAP = 0.3
#: samples from which speeds and gaps are judged, and the part of the samples that is not faster than "the" speed
_FEWEST, _PART = 10, 0.9
_MOST_NAMED = 3
#: remedies by problem: with an argument of the loader, for trials of unknown origin, and for files with a unit
_REMEDIES = {
    "time_unit": ("pass time_unit='{}'", "pass times in seconds, or time_unit='{}' to load_table", "scale the times"),
    "unit": (
        "pass unit={}",
        "pass unit={} to load_table or Trial.from_positions, or scale the values",
        "the unit is that of the file; scale the positions",
    ),
    "angle_unit": (
        "pass the unit {}",
        "pass the unit {} to load_table, or scale the values",
        "the unit is that of the file; scale the angles",
    ),
}
_BARE = "scale arrays to meters and radians"


class RecordingWarning(UserWarning):
    """Warning about implausible recordings.

    Examples
    --------
    >>> import warnings
    >>> from thunder_py.recordings import RecordingWarning
    >>> warnings.simplefilter("error", RecordingWarning)  # to stop at the first one
    >>> warnings.resetwarnings()
    """


@dataclass(frozen=True, eq=False)
class Samples:
    """Samples for `check_plausible` that are no `Trial`.

    Attributes
    ----------
    x : (T, d) array
        Values.
    t : (T,) array, optional
        Times [s]; None if the samples have no times.
    units : tuple of str
        Units of the columns; empty if unknown. Three columns are then positions.
    name : str
        For messages.
    """

    x: Array
    t: Array | None = None
    units: tuple[str, ...] = ()
    name: str = ""


def check_plausible(trials: Sequence[Trial | Samples], arguments: Collection[str] | None = None) -> None:
    """Warn about units and gaps of trials that can hardly be right.

    All loaders and the methods `fit` of `FPCA`, `ProMP`, `DMP` and `QuaternionDMP` call it, for arrays as well.

    Parameters
    ----------
    trials : sequence of Trial
        Trials of one recording or set, or other objects with their `t`, `x` and `units`.
    arguments : collection of str, optional
        Arguments of the loader among ``"unit"``, ``"time_unit"``, ``"angle_unit"``, which messages then propose; by
        default those of `load_table`, by its name.

    Warns
    -----
    RecordingWarning
        With the name of the trial and the remedy, for values outside `PLAUSIBLE`:

        - median time steps of 0.2 ms or less, or 0.5 s or more;
        - positions over 20 m or more, or so far from the origin; a speed of 12 m/s that 10 % of the samples exceed;
        - positions of all trials within 3 cm of the origin, no faster than 5 cm/s;
        - angles of two turns or more, or 40 rad/s that 10 % of the samples exceed; joint angles of all trials below
          0.055 rad (pi degrees);
        - values or time steps that are 30 times larger or smaller than those of most trials, with none between;
        - a gap between measured samples over more than 30 % of the duration.

    Examples
    --------
    >>> import warnings
    >>> from thunder_py.recordings import Trial, check_plausible
    >>> trial = Trial.from_positions([0.0, 0.01, 0.02], [[0, 0, 500], [90, 0, 500], [300, 0, 501]], name="reach")
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     check_plausible([trial])
    >>> print(str(caught[0].message).partition("; ")[0])
    trial 'reach': positions over 300 m, up to 584 m from the origin, can hardly be right
    """
    motions = [_motion(trial, index) for index, trial in enumerate(trials)]
    with np.errstate(over="ignore", invalid="ignore"):  # numbers of damaged files
        problems = [_Problem(motion.name, *found) for motion in motions for found in _alone(motion)]
        problems += _too_small(motions)
        named = {(problem.name, problem.kind) for problem in problems}
        problems += [problem for problem in _unlike(motions) if (problem.name, problem.kind) not in named]
    remedies: dict[str, list[str]] = {}
    for problem in problems:
        remedies.setdefault(problem.remedy, []).append(f"{problem.name}: {problem.text}")
    for remedy, texts in remedies.items():
        if (about := remedy.partition("=")[0]) in _REMEDIES:  # such as unit='mm'
            with_it, unknown, without = _REMEDIES[about]
            form = unknown if arguments is None else with_it if about in arguments else f"{without} (Trial.with_values)"
            remedy = form.format(remedy.partition("=")[2])
        more = f" (and {len(texts) - _MOST_NAMED} more)" if len(texts) > _MOST_NAMED else ""
        message = ", ".join(texts[:_MOST_NAMED]) + f"{more}; {remedy}"
        warnings.warn(message, RecordingWarning, stacklevel=outer_level())


class _Problem(NamedTuple):
    name: str
    kind: str  # unit, "s" or "gap"
    text: str
    remedy: str


class _Motion(NamedTuple):
    """The parts of a trial, or of other samples, that are judged."""

    name: str
    t: Array  # (T,), from 0 to 1 without times
    x: Array  # (T, d)
    units: tuple[str, ...]  # "?" where unknown
    joints: tuple[int, ...]  # columns of joint angles
    timed: bool
    bare: bool

    def columns(self, unit: str) -> list[int]:
        return [k for k, of in enumerate(self.units) if of == unit]

    @property
    def step(self) -> float:
        return float(np.median(np.diff(self.t)))

    def extent(self, columns: Sequence[int]) -> float:
        """Return the diagonal of the box of the measured samples."""
        x = _measured(self.x[:, columns])
        return float(np.linalg.norm(np.ptp(x, axis=0))) if x.size else 0.0

    def radius(self, columns: Sequence[int]) -> float:
        """Return the largest distance from the origin."""
        x = _measured(self.x[:, columns])
        return float(np.linalg.norm(x, axis=1).max()) if x.size else 0.0

    def largest(self, columns: Sequence[int]) -> float:
        """Return the largest magnitude of a value."""
        x = _measured(self.x[:, columns])
        return float(np.abs(x).max()) if x.size else 0.0

    def speed(self, columns: Sequence[int]) -> float:
        """Return the speed that one sample in ten exceeds; NaN where it is unknown."""
        if not self.timed or len(self.t) < _FEWEST or not _plausible("step", self.step):
            return np.nan
        steps = np.linalg.norm(np.diff(self.x[:, columns], axis=0), axis=1) / np.diff(self.t)
        steps = steps[np.isfinite(steps)]
        return float(np.quantile(steps, _PART)) if len(columns) and steps.size else np.nan


def _measured(x: Array) -> Array:
    return x[~np.isnan(x).any(axis=1)]


def _plausible(quantity: str, value: float) -> bool:
    return PLAUSIBLE[quantity].lowest < value < PLAUSIBLE[quantity].highest


def _motion(trial: Trial | Samples, index: int) -> _Motion:
    x = np.asarray(trial.x, dtype=np.float64)
    timed = trial.t is not None
    t = np.asarray(trial.t, dtype=np.float64) if timed else np.linspace(0.0, 1.0, len(x))
    units = tuple(trial.units) or (("m",) if x.shape[1] == 3 else ("?",)) * x.shape[1]
    dofs = getattr(trial, "dofs", ())
    joints = tuple(k for k, dof in enumerate(dofs) if units[k] == "rad" and dof not in ROTATION)
    name = f"trial {trial.name!r}" if getattr(trial, "name", "") else f"trial {index}"
    return _Motion(name, t, x, units, joints, timed, isinstance(trial, Samples))


def _alone(motion: _Motion) -> Iterator[tuple[str, str, str]]:
    """Yield kind, problem and remedy of one trial."""
    hardly = "can hardly be right"
    if motion.timed and not _plausible("step", motion.step):
        long = motion.step >= PLAUSIBLE["step"].highest
        yield "s", f"time steps of {motion.step:.3g} s {hardly}", f"time_unit={'ms' if long else 's'}"
    place, turns = motion.columns("m"), motion.columns("rad")
    extent, radius, speed = motion.extent(place), motion.radius(place), motion.speed(place)
    if max(extent, radius) >= PLAUSIBLE["size"].highest:
        text = f"positions over {extent:.3g} m, up to {radius:.3g} m from the origin, {hardly}"
        yield "m", text, _BARE if motion.bare else "unit='mm' or 'cm'"
    elif speed >= PLAUSIBLE["speed"].highest:
        kind, remedy = _of_speed(motion)
        yield kind, f"a speed of {speed:.3g} m/s {hardly}", remedy
    angle, rate = motion.largest(turns), motion.speed(turns)
    if angle >= PLAUSIBLE["angle"].highest:
        yield (
            "rad",
            f"angles up to {angle:.3g} rad {hardly}",
            _BARE if motion.bare else "angle_unit='deg'",
        )
    elif rate >= PLAUSIBLE["turn"].highest:
        yield "rad", f"angles that turn at {rate:.3g} rad/s {hardly}", "angle_unit='deg'"
    bare = motion.largest(motion.columns("?"))
    if bare >= PLAUSIBLE["bare"].highest:
        yield "?", f"values up to {bare:.3g} {hardly}, as meters or radians", _BARE
    yield from _gap(motion)


def _of_speed(motion: _Motion) -> tuple[str, str]:
    """Return kind and remedy of a high speed over a plausible distance."""
    if _plausible("step", 1e3 * motion.step):
        return "s", "time_unit=s"
    return "m", _BARE if motion.bare else "unit='mm' or 'cm'"


def _too_small(motions: Sequence[_Motion]) -> Iterator[_Problem]:
    """Yield the trials if all of them are too small; one that is, among others, may be at rest."""
    # with wrong times the speed is unknown
    judged = [motion for motion in motions if not motion.timed or _plausible("step", motion.step)]
    places = [(motion, motion.columns("m")) for motion in judged if motion.columns("m")]
    radius = max((motion.radius(columns) for motion, columns in places), default=0.0)
    speed = np.nanmax([0.0, *(motion.speed(columns) for motion, columns in places)])
    if 0.0 < radius <= PLAUSIBLE["size"].lowest and speed <= PLAUSIBLE["speed"].lowest:
        for motion, columns in places:
            text = f"positions within {motion.radius(columns):.3g} m of the origin can hardly be right"
            yield _Problem(motion.name, "m", text, _BARE if motion.bare else "unit='m'")
    jointed = [motion for motion in motions if motion.joints]
    if 0.0 < max((motion.largest(motion.joints) for motion in jointed), default=0.0) <= PLAUSIBLE["angle"].lowest:
        for motion in jointed:
            text = f"joint angles within {motion.largest(motion.joints):.3g} rad can hardly be right"
            yield _Problem(motion.name, "rad", text, "angle_unit='rad'")


def _gap(motion: _Motion) -> Iterator[tuple[str, str, str]]:
    """Yield the longest gap between measured samples if it is too long."""
    measured = np.flatnonzero(~np.isnan(motion.x).any(axis=1))
    if len(motion.t) < _FEWEST or len(measured) < 2:
        return
    lengths = np.where(np.diff(measured) > 1, np.diff(motion.t[measured]), 0.0)
    k = int(np.argmax(lengths))
    part = lengths[k] / float(motion.t[-1] - motion.t[0])
    if part > _LONGEST_GAP:
        start, end = motion.t[measured[k : k + 2]]
        yield (
            "gap",
            f"nothing measured from {start:.3g} to {end:.3g}{' s' if motion.timed else ''}, {part:.0%} of the duration",
            "leave such trials out (MotionSet.filter) or keep the parts around the gap (processing.split_at_gaps)",
        )


def _unlike(motions: Sequence[_Motion]) -> Iterator[_Problem]:
    """Yield the trials that differ from most others by orders of magnitude."""
    timed = [motion for motion in motions if motion.timed]
    steps = np.array([motion.step for motion in timed])
    for k, others in _odd(steps):
        text = f"time steps of {steps[k]:.3g} s, but {others:.3g} s in the others"
        yield _Problem(timed[k].name, "s", text, "check the unit of time")
    for unit in ("m", "rad", "?"):
        having = [(motion, motion.columns(unit)) for motion in motions if motion.columns(unit)]
        extents = np.array([motion.extent(columns) for motion, columns in having])
        sizes = np.array([motion.largest(columns) for motion, columns in having])
        moving = {k for k, _ in _odd(extents)}
        for k, others in _odd(sizes):
            if k in moving:  # a hand at rest moves little, but in the same place
                shown = "" if unit == "?" else f" {unit}"
                text = f"values up to {sizes[k]:.3g}{shown}, but {others:.3g}{shown} in the others"
                yield _Problem(having[k][0].name, unit, text, "check the unit of this trial")


def _odd(values: Array) -> list[tuple[int, float]]:
    """Return the indices of values outside the largest group, and its median; wide gaps separate the groups.

    Of groups of one size that of the smallest values counts as the largest.
    """
    order = np.argsort(values)
    order = order[values[order] > 0.0]
    if not len(order):
        return []
    ordered = values[order]
    groups = np.split(order, np.flatnonzero(ordered[1:] > _UNLIKE * ordered[:-1]) + 1)
    most = max(groups, key=len)
    return [(int(k), float(np.median(values[most]))) for group in groups if group is not most for k in group]
