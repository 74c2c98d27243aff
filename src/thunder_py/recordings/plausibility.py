"""Warnings about recordings that can hardly be right: units of length, angle and time, long gaps."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

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
#: units from the largest, by the argument that has them, and what else can be scaled
_SCALES = {"unit": ("m", "cm", "mm"), "time_unit": ("s", "ms", "us"), "angle_unit": ("rad", "deg")}
_SCALED = {"unit": "positions", "time_unit": "times", "angle_unit": "angles"}


class RecordingWarning(UserWarning):
    """Warning about implausible recordings.

    Examples
    --------
    >>> import warnings
    >>> from thunder_py.recordings import RecordingWarning
    >>> warnings.simplefilter("error", RecordingWarning)  # to stop at the first one
    >>> warnings.resetwarnings()
    """


def listed(texts: Sequence[str], most: int = 5) -> str:
    """Return the first of some texts for a message, and how many there are more."""
    return ", ".join(texts[:most]) + (f" (and {len(texts) - most} more)" if len(texts) > most else "")


def warn_about(path: object, text: str) -> None:
    """Warn of what is doubtful in a file."""
    warnings.warn(f"{path}: {text}", RecordingWarning, stacklevel=outer_level())


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


def check_plausible(
    trials: Sequence[Trial | Samples], arguments: Collection[str] | Mapping[str, str] | None = None
) -> None:
    """Warn about units and gaps of trials that can hardly be right.

    All loaders and the methods `fit` of `FPCA`, `ProMP`, `DMP` and `QuaternionDMP` call it, for arrays as well.

    Parameters
    ----------
    trials : sequence of Trial
        Trials of one recording or set, or other objects with their `t`, `x` and `units`.
    arguments : collection of str or mapping, optional
        Arguments of the loader among ``"unit"``, ``"time_unit"``, ``"angle_unit"``, ``"rate"``, or {argument: unit in
        use}; messages propose others. By default those of other loaders.

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
    motions = [_Motion(trial, index) for index, trial in enumerate(trials)]
    with np.errstate(over="ignore", invalid="ignore"):  # numbers of damaged files
        problems = [_Problem(motion.name, *found) for motion in motions for found in _alone(motion)]
        problems += _too_small(motions)
        named = {problem[:2] for problem in problems}
        problems += [problem for problem in _unlike(motions) if problem[:2] not in named]
    remedies: dict[str, list[str]] = {}
    for name, _, text, remedy in problems:
        advice = remedy if isinstance(remedy, str) else _advice(*remedy, arguments)
        remedies.setdefault(advice, []).append(f"{name}: {text}")
    for advice, texts in remedies.items():
        warnings.warn(f"{listed(texts, 3)}; {advice}", RecordingWarning, stacklevel=outer_level())


def _advice(what: str, large: bool, arguments: Collection[str] | Mapping[str, str] | None) -> str:
    """Return what to do about values that are too large, or too small, for the unit of the argument `what`."""
    scale, units = f"scale the {_SCALED[what]} (Trial.with_values)", _SCALES[what]
    present = arguments.get(what) if isinstance(arguments, Mapping) else None
    k = units.index(present or units[0 if large else -1])
    others = " or ".join(map(repr, units[k + 1 :] if large else units[:k][:1]))
    passing = f"pass {'the unit ' if what == 'angle_unit' else what + '='}{others}"
    if arguments is None:
        return f"{passing} where they are read, or {scale}"
    if what == "time_unit" and "rate" in arguments:
        return "pass the right rate="
    return passing if what in arguments and others else scale


class _Problem(NamedTuple):
    name: str
    kind: str  # unit, "s" or "gap"
    text: str
    remedy: str | tuple[str, bool]  # or argument, and whether values are too large


class _Motion:
    """The parts of a trial, or of other samples, that are judged; times from 0 to 1 if there are none."""

    def __init__(self, trial: Trial | Samples, index: int) -> None:
        self.name = f"trial {trial.name!r}" if getattr(trial, "name", "") else f"trial {index}"
        self.x: Array = np.asarray(trial.x, dtype=np.float64)
        self.timed, self.bare = trial.t is not None, isinstance(trial, Samples)
        self.t: Array = np.asarray(trial.t if self.timed else np.linspace(0.0, 1.0, len(self.x)), dtype=np.float64)
        self.units = tuple(trial.units) or (("m",) if self.x.shape[1] == 3 else ("?",)) * self.x.shape[1]
        dofs = enumerate(getattr(trial, "dofs", ()))
        self.joints = [k for k, dof in dofs if self.units[k] == "rad" and dof not in ROTATION]
        self.step = float(np.median(np.diff(self.t)))

    def columns(self, unit: str) -> list[int]:
        return [k for k, of in enumerate(self.units) if of == unit]

    def over(self, of: Callable[[Array], Any], columns: Sequence[int]) -> float:
        """Return a size of the measured samples, 0 if there are none."""
        x = self.x[:, columns]
        x = x[~np.isnan(x).any(axis=1)]
        return float(of(x)) if x.size else 0.0

    def speed(self, columns: Sequence[int]) -> float:
        """Return the speed that one sample in ten exceeds; NaN where it is unknown."""
        if not self.timed or len(self.t) < _FEWEST or not _plausible("step", self.step):
            return np.nan
        steps = np.linalg.norm(np.diff(self.x[:, columns], axis=0), axis=1) / np.diff(self.t)
        steps = steps[np.isfinite(steps)]
        return float(np.quantile(steps, _PART)) if len(columns) and steps.size else np.nan

    def other(self, what: str, large: bool) -> str | tuple[str, bool]:
        """Return the remedy of another unit."""
        return "scale arrays to meters and radians" if self.bare else (what, large)


def _extent(x: Array) -> float:
    """Return the diagonal of the box around points."""
    return float(np.linalg.norm(np.ptp(x, axis=0)))


def _radius(x: Array) -> float:
    """Return the largest distance from the origin."""
    return float(np.linalg.norm(x, axis=1).max())


def _largest(x: Array) -> float:
    return float(np.abs(x).max())


def _plausible(quantity: str, value: float) -> bool:
    return PLAUSIBLE[quantity].lowest < value < PLAUSIBLE[quantity].highest


_HARDLY = "can hardly be right"


def _alone(motion: _Motion) -> Iterator[tuple[str, str, str | tuple[str, bool]]]:
    """Yield kind, problem and remedy of one trial."""
    if motion.timed and not _plausible("step", motion.step):
        large = motion.step >= PLAUSIBLE["step"].highest
        yield "s", f"time steps of {motion.step:.3g} s {_HARDLY}", ("time_unit", large)
    place, turns = motion.columns("m"), motion.columns("rad")
    extent, radius, speed = motion.over(_extent, place), motion.over(_radius, place), motion.speed(place)
    if max(extent, radius) >= PLAUSIBLE["size"].highest:
        text = f"positions over {extent:.3g} m, up to {radius:.3g} m from the origin, {_HARDLY}"
        yield "m", text, motion.other("unit", True)
    elif speed >= PLAUSIBLE["speed"].highest:
        text = f"a speed of {speed:.3g} m/s {_HARDLY}"
        times = _plausible("step", 1e3 * motion.step)
        yield ("s", text, ("time_unit", False)) if times else ("m", text, motion.other("unit", True))
    angle, rate = motion.over(_largest, turns), motion.speed(turns)
    if angle >= PLAUSIBLE["angle"].highest:
        yield "rad", f"angles up to {angle:.3g} rad {_HARDLY}", motion.other("angle_unit", True)
    elif rate >= PLAUSIBLE["turn"].highest:
        yield "rad", f"angles that turn at {rate:.3g} rad/s {_HARDLY}", ("angle_unit", True)
    bare = motion.over(_largest, motion.columns("?"))
    if bare >= PLAUSIBLE["bare"].highest:
        yield "?", f"values up to {bare:.3g} {_HARDLY}, as meters or radians", motion.other("unit", True)
    yield from _gap(motion)


def _too_small(motions: Sequence[_Motion]) -> Iterator[_Problem]:
    """Yield the trials if all of them are too small; one that is, among others, may be at rest."""
    # with wrong times the speed is unknown
    judged = [motion for motion in motions if not motion.timed or _plausible("step", motion.step)]
    places = [motion for motion in judged if motion.columns("m")]
    radii = [motion.over(_radius, motion.columns("m")) for motion in places]
    speed = np.nanmax([0.0, *(motion.speed(motion.columns("m")) for motion in places)])
    if 0.0 < max(radii, default=0.0) <= PLAUSIBLE["size"].lowest and speed <= PLAUSIBLE["speed"].lowest:
        for motion, radius in zip(places, radii, strict=True):
            text = f"positions within {radius:.3g} m of the origin {_HARDLY}"
            yield _Problem(motion.name, "m", text, motion.other("unit", False))
    jointed = [(motion, motion.over(_largest, motion.joints)) for motion in motions if motion.joints]
    if 0.0 < max((angle for _, angle in jointed), default=0.0) <= PLAUSIBLE["angle"].lowest:
        for motion, angle in jointed:
            yield _Problem(motion.name, "rad", f"joint angles within {angle:.3g} rad {_HARDLY}", ("angle_unit", False))


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
        text = (
            f"nothing measured from {start:.3g} to {end:.3g}{' s' if motion.timed else ''}, {part:.0%} of the duration"
        )
        remedy = "leave such trials out (MotionSet.filter) or keep the parts around the gap (processing.split_at_gaps)"
        yield "gap", text, remedy


def _unlike(motions: Sequence[_Motion]) -> Iterator[_Problem]:
    """Yield the trials that differ from most others by orders of magnitude."""
    timed = [motion for motion in motions if motion.timed]
    steps = [motion.step for motion in timed]
    for k, others in _odd(steps):
        text = f"time steps of {steps[k]:.3g} s, but {others:.3g} s in the others"
        yield _Problem(timed[k].name, "s", text, "check the unit of time")
    for unit in ("m", "rad", "?"):
        having = [motion for motion in motions if motion.columns(unit)]
        extents, sizes = ([each.over(of, each.columns(unit)) for each in having] for of in (_extent, _largest))
        moving = {k for k, _ in _odd(extents)}
        for k, others in _odd(sizes):
            if k in moving:  # a hand at rest moves little, but in the same place
                shown = "" if unit == "?" else f" {unit}"
                text = f"values up to {sizes[k]:.3g}{shown}, but {others:.3g}{shown} in the others"
                yield _Problem(having[k].name, unit, text, "check the unit of this trial")


def _odd(sizes: Sequence[float]) -> list[tuple[int, float]]:
    """Return the indices of values outside the largest group, and its median; wide gaps separate the groups.

    Of groups of one size that of the smallest values counts as the largest.
    """
    values = np.array(sizes)
    order = np.argsort(values)
    order = order[values[order] > 0.0]
    jumps = np.flatnonzero(values[order[1:]] > _UNLIKE * values[order[:-1]]) + 1
    groups = np.split(order, jumps) if len(order) else []
    most = max(groups, key=len, default=order)
    return [(int(k), float(np.median(values[most]))) for group in groups if group is not most for k in group]
