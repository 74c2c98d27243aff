"""Recorded and invented reaches, each a motion with derivatives that planners can be compared with."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..checks import Array
from ..errors import ThunderError
from ..motion import MotionSet
from ..motion.loaders import load_culm, load_kinesis
from ..motion.processing import fill_gaps, low_pass, resample, segment_by_speed
from ..motion.synthetic import sigma_lognormal_reaches
from ..motion.trial import Trial
from .human_like_reach_planners import Ends

if TYPE_CHECKING:
    from scipy.interpolate import BSpline

__all__ = [
    "CUTOFF",
    "STATES",
    "Fold",
    "Reach",
    "Reaches",
    "culm_reaches",
    "kinesis_reaches",
    "reaches_of",
    "synthetic_reaches",
]

CUTOFF = 10.0  # of recordings: second-order Butterworth, forwards and backwards [Hz]
THRESHOLD = 0.03  # where a reach begins and ends [m/s]
_GAP = 0.1  # longest that is filled [s]
_FEW = 60  # samples that are no trial any more
_FOLDS = 9

#: what planners are told of the ends besides positions: velocity and acceleration; "free" leaves the acceleration open
STATES = {
    "rest": ("zero", "zero"),
    "rest, acceleration free": ("zero", "free"),
    "true velocity": ("true", "free"),
    "true velocity and acceleration": ("true", "true"),
}


@dataclass(frozen=True, eq=False)
class Reach:
    """One reach, cut out of a recording.

    Attributes
    ----------
    trial : Trial
        Its samples, low-passed.
    splines : tuple of BSpline
        The quintic through all samples of the recording, so that derivatives at the ends of the reach know what is
        beyond, and its first three derivatives.
    """

    trial: Trial
    splines: tuple[BSpline, ...]

    @property
    def duration(self) -> float:
        """[s]."""
        return self.trial.duration

    @property
    def distance(self) -> float:
        """From start to goal [m]."""
        return float(np.linalg.norm(self.trial.x[-1] - self.trial.x[0]))

    def position(self, t: npt.ArrayLike, derivative: int = 0) -> Array:
        """Return positions (..., 3) or a time derivative of them at times (...) from the start of the reach [s]."""
        clipped = np.clip(np.asarray(t, dtype=np.float64), 0.0, self.duration)
        return np.asarray(self.splines[derivative](self.trial.t[0] + clipped), dtype=np.float64)

    @cached_property
    def _ends(self) -> tuple[Array, ...]:
        return tuple(self.position([0.0, self.duration], k) for k in range(3))

    def ends(self, state: str = "rest") -> Ends:
        """Return what a planner is told in one of `STATES`."""
        velocity, acceleration = STATES[state]
        x, v, a = self._ends
        rest = np.zeros((2, 3))
        told = {"zero": rest, "free": None, "true": a}[acceleration]
        return Ends(x=x, duration=self.duration, v=v if velocity == "true" else rest, a=told)

    @property
    def peak_time(self) -> float:
        """When it is fastest, as a part of its duration."""
        tau = np.linspace(0.0, 1.0, 501)
        return float(tau[np.argmax(np.linalg.norm(self.position(self.duration * tau, 1), axis=1))])


@dataclass(frozen=True)
class Fold:
    """Reaches to learn from, and where those are that were left out.

    Attributes
    ----------
    training : MotionSet
    held_out : tuple of int
        Indices of `Reaches.items`.
    """

    training: MotionSet
    held_out: tuple[int, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class Reaches:
    """Reaches of one source.

    Attributes
    ----------
    name : str
    items : tuple of Reach
    by_subject : bool
        Whether whole subjects are left out; else every ninth reach of the only one.
    recordings : MotionSet
        That they were cut from.
    least : float
        Length of the shortest [m].
    first : bool
        Whether only the first movement of a recording is one.
    whole : bool
        Whether movements that a recording begins or ends with are left out.
    """

    name: str
    items: tuple[Reach, ...]
    by_subject: bool
    recordings: MotionSet
    least: float
    first: bool
    whole: bool

    def __len__(self) -> int:
        return len(self.items)

    @property
    def subjects(self) -> npt.NDArray[np.str_]:
        """Subject of each reach, (n,)."""
        return np.array([reach.trial.subject for reach in self.items])

    @property
    def groups(self) -> npt.NDArray[np.str_]:
        """What is left out together, (n,): the subject, or the fold."""
        if self.by_subject:
            return self.subjects
        return np.array([f"fold {k % _FOLDS + 1}" for k in range(len(self))])

    def folds(self) -> Iterator[Fold]:
        """Iterate over all groups, left out one at a time."""
        groups, motions = self.groups, MotionSet(reach.trial for reach in self.items)
        for group in dict.fromkeys(groups.tolist()):
            out = groups == group
            yield Fold(motions[~out], tuple(np.flatnonzero(out).tolist()))

    def thinned(self, subjects: int, every: int) -> Reaches:
        """Return some: of each of the first subjects every so many reaches."""
        known = list(dict.fromkeys(self.subjects.tolist()))[:subjects]
        kept = [[reach for reach in self.items if reach.trial.subject == subject][::every] for subject in known]
        return replace(self, items=tuple(chain.from_iterable(kept)))

    def cut_at(self, threshold: float) -> Reaches:
        """Return the movements of the same recordings, cut where their speed is `threshold` [m/s]."""
        return replace(self, items=_cut(self.recordings, threshold, self.least, first=self.first, whole=self.whole))

    def sentence(self) -> str:
        """Return how many reaches of whom, how far and how long."""
        D = np.array([reach.distance for reach in self.items])
        T = np.array([reach.duration for reach in self.items])
        peak = np.median([reach.peak_time for reach in self.items])
        count = len(set(self.subjects.tolist()))
        left = "subject by subject" if self.by_subject else "a ninth of the reaches at a time, as there is one subject"
        return (
            f"{len(self)} reaches of {count} subject{'s' if count > 1 else ''}, left out {left}; {D.min():.2g} to "
            f"{D.max():.2g} m, {T.min():.2g} to {T.max():.2g} s (median {np.median(T):.2g} s), fastest at {peak:.2f} of"
            " the duration (median)."
        )


def culm_reaches(folder: str | Path) -> Reaches:
    """Return the reaches of CULM's task Planned01."""
    return _reaches("CULM", low_pass(load_culm(folder, "Planned01"), CUTOFF), by_subject=True)


def kinesis_reaches(file: str | Path, least: float = 0.3) -> Reaches:
    """Return the reaches of the index finger in kinesis: of each trial the first movement, if longer than `least` [m].

    A trial ends where more than `_GAP` is missing.
    """
    filled = fill_gaps(load_kinesis(file, drop_start=0.15), _GAP)
    whole = resample(filled.map(_before_gap), 85.0)
    return _reaches("kinesis", low_pass(whole, CUTOFF), by_subject=False, least=least, first=True)


def _before_gap(trial: Trial) -> Trial | None:
    samples = len(trial) if trial.valid.all() else int(np.argmin(trial.valid))
    return trial.slice(trial.t[0], trial.t[samples - 1]) if samples > _FEW else None


def synthetic_reaches(n: int, n_subjects: int = 6, seed: int = 0) -> Reaches:
    """Return reaches of the sigma-lognormal model, cut as recordings are; without noise, so without a filter."""
    motions = sigma_lognormal_reaches(n, seed, n_subjects=n_subjects)
    return _reaches("synthetic (sigma-lognormal)", motions, by_subject=True, first=True, whole=False)


def _reaches(
    name: str,
    recordings: MotionSet,
    *,
    by_subject: bool,
    least: float = 0.05,
    first: bool = False,
    whole: bool = True,
) -> Reaches:
    items = _cut(recordings, THRESHOLD, least, first=first, whole=whole)
    return Reaches(
        name=name, items=items, by_subject=by_subject, recordings=recordings, least=least, first=first, whole=whole
    )


def _cut(recordings: MotionSet, threshold: float, least: float, *, first: bool, whole: bool) -> tuple[Reach, ...]:
    from scipy.interpolate import make_interp_spline

    items: list[Reach] = []
    for recording in recordings:
        spline = make_interp_spline(recording.t, recording.x, k=5)
        splines = (spline, *(spline.derivative(k) for k in (1, 2, 3)))
        found = segment_by_speed(recording, threshold, least, cutoff=math.inf, whole=whole)
        items += [Reach(trial, splines) for trial in found][: 1 if first else None]
    if not items:
        raise ThunderError(f"data must hold reaches longer than {least:g} m, got none in {len(recordings)} recordings")
    return tuple(items)


def reaches_of(data: str | Path | None, quick: bool = False) -> list[Reaches]:
    """Return the reaches of a folder of recordings, or invented ones without any.

    Parameters
    ----------
    data : path-like, optional
        With `culm/` and `kinesis_rtg/`, or one of them.
    quick : bool
        Fewer.

    Raises
    ------
    ThunderError
        For a folder with neither.
    """
    if data is None:
        return [synthetic_reaches(30, 3) if quick else synthetic_reaches(240)]
    root = Path(data)
    makers: list[tuple[Path, Callable[[Path], Reaches]]] = [
        (root / "culm", culm_reaches),
        (root / "kinesis_rtg" / "rtgData.txt", kinesis_reaches),
    ]
    found = [make(path) for path, make in makers if path.exists()]
    if not found:
        raise ThunderError(f"data must be a folder with culm/ or kinesis_rtg/rtgData.txt, got {str(root)!r}")
    return [reaches.thinned(3, 4) if quick else reaches for reaches in found]
