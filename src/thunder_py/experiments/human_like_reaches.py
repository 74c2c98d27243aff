"""Recorded and invented reaches, each a motion with derivatives that planners can be compared with."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
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
    spline : BSpline
        Quintic, through all samples of the recording, so that derivatives at the ends of the reach know what is beyond.
    """

    trial: Trial
    spline: BSpline

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
        return np.asarray(self.spline(self.trial.t[0] + clipped, nu=derivative), dtype=np.float64)

    def ends(self, state: str = "rest") -> Ends:
        """Return what a planner is told in one of `STATES`."""
        velocity, acceleration = STATES[state]
        x, v, a = (self.position([0.0, self.duration], k) for k in range(3))
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


@dataclass(frozen=True, eq=False)
class Reaches:
    """Reaches of one source.

    Attributes
    ----------
    name : str
    items : tuple of Reach
    by_subject : bool
        Whether whole subjects are left out; else every ninth reach of the only one.
    """

    name: str
    items: tuple[Reach, ...]
    by_subject: bool

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
        """Return some: of the first subjects (all folds otherwise), every so many reaches."""
        known = list(dict.fromkeys(self.subjects.tolist()))[:subjects]
        kept = [reach for reach in self.items if reach.trial.subject in known][::every]
        return Reaches(self.name, tuple(kept), self.by_subject)

    def sentence(self) -> str:
        """Return how many reaches of whom, how far and how long."""
        D, T, peak = (
            np.array([value(reach) for reach in self.items])
            for value in (lambda r: r.distance, lambda r: r.duration, lambda r: r.peak_time)
        )
        left = "subject by subject" if self.by_subject else f"a {_ordinal(_FOLDS)} of the reaches at a time"
        return (
            f"{len(self)} reaches of {len(set(self.subjects.tolist()))} subject(s), left out {left}; "
            f"{D.min():.2g} to {D.max():.2g} m, {T.min():.2g} to {T.max():.2g} s (median {np.median(T):.2g} s), fastest at "
            f"{np.median(peak):.2f} of the duration (median)."
        )


def _ordinal(n: int) -> str:
    return {9: "ninth"}[n]


def culm_reaches(folder: str | Path) -> Reaches:
    """Return the reaches of CULM's task Planned01."""
    recordings = low_pass(load_culm(folder, "Planned01"), CUTOFF)
    return _cut("CULM", recordings, by_subject=True)


def kinesis_reaches(file: str | Path, least: float = 0.3) -> Reaches:
    """Return the reaches of the index finger in kinesis: of each trial the first movement, if longer than `least` [m].

    What lacks more than `_GAP` in that movement is left out.
    """
    filled = fill_gaps(load_kinesis(file, drop_start=0.15), _GAP)
    whole = filled.map(lambda trial: trial if trial.valid.all() else _before_gap(trial))
    even = resample(whole, 85.0).filter(lambda trial: len(trial) > 60)
    return _cut("kinesis", low_pass(even, CUTOFF), by_subject=False, least=least, first=True)


def _before_gap(trial: Trial) -> Trial | None:
    end = int(np.argmin(trial.valid))
    return trial.slice(trial.t[0], trial.t[end - 1]) if end > 1 else None


def synthetic_reaches(n: int, n_subjects: int = 6, seed: int = 0) -> Reaches:
    """Return reaches of the sigma-lognormal model, cut as recordings are; without noise, so without a filter."""
    motions = sigma_lognormal_reaches(n, seed, n_subjects=n_subjects)
    return _cut("synthetic (sigma-lognormal)", motions, by_subject=True, first=True)


def _cut(name: str, recordings: MotionSet, *, by_subject: bool, least: float = 0.05, first: bool = False) -> Reaches:
    from scipy.interpolate import make_interp_spline

    items: list[Reach] = []
    for recording in recordings:
        spline = make_interp_spline(recording.t, recording.x, k=5)
        found = segment_by_speed(recording, THRESHOLD, least, cutoff=None, whole=True)
        items += [Reach(trial, spline) for trial in found][: 1 if first else None]
    if not items:
        raise ThunderError(f"no reach longer than {least:g} m was found in {name}")
    return Reaches(name, tuple(items), by_subject)


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
        return [synthetic_reaches(48, 4) if quick else synthetic_reaches(240)]
    root = Path(data)
    makers: list[tuple[Path, Callable[[Path], Reaches]]] = [
        (root / "culm", culm_reaches),
        (root / "kinesis_rtg" / "rtgData.txt", kinesis_reaches),
    ]
    found = [make(path) for path, make in makers if path.exists()]
    if not found:
        raise ThunderError(f"data must be a folder with culm/ or kinesis_rtg/rtgData.txt, got {str(root)!r}")
    return [reaches.thinned(4, 4) if quick else reaches for reaches in found]
