"""Recorded and synthetic reaches, each a motion with derivatives that planners can be compared with."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np
import numpy.typing as npt
from scipy.interpolate import BSpline

from ...checks import Array
from ...errors import ThunderError
from ...motion.alignment import path_frame
from ...motion.constraint import Constraint
from ...motion.fpca.fit import minimum_jerk_mean
from ...motion.fpca.fpca import FPCA
from ...motion.planning.planner import HumanLikePlanner
from ...motion.primitives.dmp import DMP
from ...motion.primitives.promp import ProMP
from ...recordings import MotionSet, split_reaches
from ...recordings.loaders import load_culm, load_kinesis
from ...recordings.metrics import Motion
from ...recordings.processing import fill_gaps, low_pass, resample
from ...recordings.synthetic import daily_living, sigma_lognormal_reaches
from ...recordings.trial import Trial
from ...trajectory.hermite import MinimumJerk, minimum_jerk
from .planners import ANYWHERE, METHODS, map_components

_ORDERS = ("position", "velocity", "acceleration")


_REST = np.zeros((2, 3))


@dataclass(frozen=True, kw_only=True, eq=False)
class Ends:
    """Information given to a planner.

    Attributes
    ----------
    x : (2, 3) array
        Start and goal [m].
    duration : float
        [s].
    v : (2, 3) array
        Velocities there [m/s]; rest by default.
    a : (2, 3) array or None
        Accelerations there [m/s^2], zero by default; None leaves them to the planner.
    """

    x: Array
    duration: float
    v: Array = field(default_factory=lambda: _REST)
    a: Array | None = field(default_factory=lambda: _REST)

    def rates(self) -> dict[str, Array]:
        """Return the velocities and, if they are known, the accelerations at the ends, (2, 3) each."""
        return {"velocity": self.v} | ({} if self.a is None else {"acceleration": self.a})


#: from what is known of the ends to a motion object
Planner: TypeAlias = Callable[[Ends], Motion]


def planners(motions: MotionSet, names: Iterable[str] = METHODS) -> dict[str, Planner]:
    """Return planners by name, taught with reaches.

    Parameters
    ----------
    motions : MotionSet
        Positions, low-passed already: movement primitives take derivatives of them.
    names : iterable of str
        Some of `METHODS`, or "DMP of all".

    Returns
    -------
    dict of str to Planner
        - paper mode: (102), corrected; 15 splines of order 5 coordinate by coordinate, demeaned, neither turned nor
          stretched; as many components as there are conditions at the ends, less one.
        - MAP: the most likely motion under the components of `map_components`.
        - minimum jerk: see `least_jerk`.
        - DMPs: 21 functions, one `demonstration`, Hoffmann's form with rotodilatation; "DMP (104)" is that equation as
          printed, with mollifiers; "DMP of all" is fitted to all reaches. They know the velocity at the start and no
          other derivative.
        - ProMP: 15 Gaussians for each coordinate, positions seen from the start.
    """

    @cache
    def shown() -> Trial:
        return demonstration(motions)

    makers: dict[str, Callable[[], Planner]] = {
        "paper mode": lambda: Functional(FPCA.paper(motions), "paper"),
        "MAP": lambda: Functional(map_components(motions)),
        "minimum jerk": lambda: least_jerk,
        "DMP mollifier": lambda: _Primitive(shown(), "mollifier"),
        "DMP Gaussian": lambda: _Primitive(shown(), "gaussian"),
        "DMP (104)": lambda: _Primitive(shown(), "mollifier", "paper"),
        "DMP of all": lambda: _Primitive(list(motions), "gaussian"),
        "ProMP": lambda: _Probabilistic(motions),
    }
    return {name: makers[name]() for name in names}


def canonical(x: Array) -> Array:
    """Return motions (R, T, 3) in their frames from start (the origin) to goal (1, 0, 0)."""
    D, R = path_frame(x[:, 0], x[:, -1])
    return np.asarray((x - x[:, :1]) @ R / np.asarray(D)[:, None, None], dtype=np.float64)


def demonstration(motions: MotionSet) -> Trial:
    """Return the most typical reach: in the frame from start to goal, the nearest to the mean of all."""
    x = canonical(motions.to_array(51))
    nearest = int(np.argmin(np.square(x - x.mean(axis=0)).sum(axis=(1, 2))))
    return motions[nearest]


def least_jerk(ends: Ends) -> MinimumJerk:
    """Return the motion of least integrated squared jerk; where accelerations are free, its jerk ends at zero."""
    a = ends.a
    if a is None:
        T = ends.duration
        way, v = ends.x[1] - ends.x[0], T * ends.v
        # no jerk at either end of the quintic: 9 a0 - 3 a1 = p, 3 a0 - 9 a1 = q, in normalized time
        p, q = 60.0 * way - 36.0 * v[0] - 24.0 * v[1], 60.0 * way - 24.0 * v[0] - 36.0 * v[1]
        a = np.stack([3.0 * p - q, p - 3.0 * q]) / (24.0 * T**2)
    names = ("start_velocity", "goal_velocity", "start_acceleration", "goal_acceleration")
    return minimum_jerk(ends.x[0], ends.x[1], ends.duration, **dict(zip(names, (*ends.v, *a), strict=True)))


class Functional:
    """A planner of functional components, for any number of conditions at the ends."""

    def __init__(self, fpca: FPCA, mode: str = "map") -> None:
        self.fpca, self.mode = fpca, mode
        self.planner = cache(self._planner)

    def _planner(self, order: int = 3) -> HumanLikePlanner:
        """Return the planner with positions (1), velocities (2) and accelerations (3) given at both ends."""
        return HumanLikePlanner(self.fpca, self.mode, _ORDERS[:order], **ANYWHERE)

    def __call__(self, ends: Ends) -> Motion:
        """Plan."""
        known = ends.rates()
        rates: Any = {f"{end}_{what}": x[k] for what, x in known.items() for k, end in enumerate(("start", "goal"))}
        return cast(Motion, self.planner(1 + len(known)).plan(ends.x[0], ends.x[1], ends.duration, **rates))


class _Primitive:
    """A movement primitive of demonstrations; it keeps its last motion, asked for again with other accelerations."""

    def __init__(self, shown: Trial | list[Trial], basis: str, scaling: str = "hoffmann") -> None:
        self.dmp = DMP(basis=basis, scaling=scaling, rotodilatation=scaling == "hoffmann").fit(shown)
        self._last: dict[bytes, Motion] = {}

    def __call__(self, ends: Ends) -> Motion:
        key = np.concatenate([ends.x.ravel(), ends.v[0], [ends.duration]]).tobytes()
        if key not in self._last:
            motion = self.dmp.rollout(ends.x[0], ends.x[1], ends.duration, start_velocity=ends.v[0])
            self._last = {key: cast(Motion, motion)}
        return self._last[key]


@dataclass(frozen=True)
class _Shifted:
    """A motion that was planned from the origin."""

    motion: Motion
    origin: Array

    @property
    def duration(self) -> float:
        return self.motion.duration

    def position(self, t: npt.ArrayLike, derivative: int = 0) -> Array:
        x = self.motion.position(t, derivative)
        return x + self.origin if derivative == 0 else x


class _Probabilistic:
    """A probabilistic movement primitive; its Gaussians overlap more than by default, or exact rest makes it ripple."""

    def __init__(self, motions: MotionSet) -> None:
        self.primitive = ProMP(overlap=0.9).fit(motions.map(lambda trial: trial.with_values(trial.x - trial.x[0])))

    def __call__(self, ends: Ends) -> Motion:
        pairs = {"position": ends.x - ends.x[0], **ends.rates()}
        known = [Constraint(k * ends.duration, kind, pair[k]) for kind, pair in pairs.items() for k in (0, 1)]
        return _Shifted(self.primitive.condition(known, ends.duration).rollout(ends.duration), ends.x[0])


CUTOFF = 10.0  # of recordings: second-order Butterworth, forwards and backwards [Hz]
THRESHOLD = 0.03  # where a reach begins and ends [m/s]
_GAP = 0.1  # longest that is filled [s]
_FEW = 60  # samples that are no trial any more
_FOLDS = 9
SYNTHETIC = "synthetic (sigma-lognormal)"
DAILY = "synthetic (daily living)"

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
        told = {"zero": _REST, "free": None, "true": a}[acceleration]
        return Ends(x=x, duration=self.duration, v=v if velocity == "true" else _REST, a=told)

    @property
    def peak_time(self) -> float:
        """When it is fastest, as a part of its duration."""
        tau = np.linspace(0.0, 1.0, 501)
        return float(tau[np.argmax(np.linalg.norm(self.position(self.duration * tau, 1), axis=1))])


class Fold(NamedTuple):
    """Reaches to learn from, and where those are that were left out.

    Attributes
    ----------
    training : MotionSet
        Motions that the components are fitted to.
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
        Name of the set.
    items : tuple of Reach
        The reaches.
    by_subject : bool
        Whether whole subjects are left out; else every ninth reach of the only one.
    recordings : MotionSet
        That they were cut from.
    how : mapping
        How they are cut: length of the shortest (``least``) [m], whether only the first movement of a recording is one
        (``first``), whether movements that a recording begins or ends with are left out (``whole``), and the change of
        direction where a movement is cut without a rest (``turn``), see `split_reaches`.
    """

    name: str
    items: tuple[Reach, ...]
    by_subject: bool
    recordings: MotionSet
    how: Mapping[str, Any]

    def __len__(self) -> int:
        return len(self.items)

    @property
    def subjects(self) -> npt.NDArray[np.str_]:
        """Subject of each reach, (n,)."""
        return np.array([reach.trial.subject for reach in self.items])

    @property
    def kind(self) -> str:
        """``"recorded"`` or ``"synthetic"``, for labels."""
        return "synthetic" if self.name in (SYNTHETIC, DAILY) else "recorded"

    @property
    def groups(self) -> npt.NDArray[np.str_]:
        """Subject or fold of each reach, (n,), which is left out as a whole."""
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
        return replace(self, items=_cut(self.recordings, threshold, **self.how))

    def sentence(self) -> str:
        """Return how many reaches of whom, how far and how long."""
        D, T, peak = np.array([(reach.distance, reach.duration, reach.peak_time) for reach in self.items]).T
        count = len(set(self.subjects.tolist()))
        left = "subject by subject" if self.by_subject else "a ninth of the reaches at a time, as there is one subject"
        return (
            f"{len(self)} reaches of {count} subject{'s' if count > 1 else ''}, left out {left}; {D.min():.2g} to "
            f"{D.max():.2g} m, {T.min():.2g} to {T.max():.2g} s (median {np.median(T):.2g} s), fastest at "
            f"{np.median(peak):.2f} of the duration (median)."
        )


def culm_reaches(folder: str | Path) -> Reaches:
    """Return the reaches of CULM's task Planned01."""
    return _reaches("CULM", low_pass(load_culm(folder, "Planned01"), CUTOFF), by_subject=True)


def free_reaches(folder: str | Path) -> Reaches:
    """Return the curved movements of CULM's task Randomness, free in space, from turn to turn without a rest."""
    recordings = low_pass(load_culm(folder, "Randomness"), CUTOFF)
    return _reaches("CULM, free movements", recordings, by_subject=True, turn=0.5 * math.pi)


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


def synthetic_reaches(n: int, n_subjects: int = 6, seed: int = 0, noise: float = 0.0) -> Reaches:
    """Return reaches of the sigma-lognormal model, cut as recordings are; those with noise [m] are low-passed first."""
    motions = sigma_lognormal_reaches(n, seed, n_subjects=n_subjects, noise=noise)
    return _reaches(SYNTHETIC, _without_noise(motions, noise), by_subject=True, first=True, whole=False)


def daily_reaches(subjects: int = 3, seed: int = 0, noise: float = 0.0) -> Reaches:
    """Return the ways out and back of synthetic intransitive motions, as the report cut them out of recorded ones."""
    every = daily_living(30 * subjects, seed, n_subjects=subjects, noise=noise)
    gestures = every.filter(lambda trial: trial.task.startswith("intransitive"))
    positions = _without_noise(gestures.map(lambda trial: trial.select(("x", "y", "z"))), noise)
    return _reaches(DAILY, positions, by_subject=True, whole=False)


def _without_noise(motions: MotionSet, noise: float) -> MotionSet:
    return low_pass(motions, CUTOFF) if noise > 0.0 else motions


def _reaches(name: str, recordings: MotionSet, *, by_subject: bool, **given: Any) -> Reaches:
    how = {"least": 0.05, "first": False, "whole": True, "turn": math.inf} | given
    items = _cut(recordings, THRESHOLD, **how)
    return Reaches(name=name, items=items, by_subject=by_subject, recordings=recordings, how=how)


def _cut(
    recordings: MotionSet, threshold: float, least: float, first: bool, whole: bool, turn: float
) -> tuple[Reach, ...]:
    from scipy.interpolate import make_interp_spline

    items: list[Reach] = []
    for recording in recordings:
        spline = make_interp_spline(recording.t, recording.x, k=5)
        splines = (spline, *(spline.derivative(k) for k in (1, 2, 3)))
        found = split_reaches(recording, threshold, least, turn=turn, cutoff=math.inf, whole=whole)
        items += [Reach(trial, splines) for trial in found][: 1 if first else None]
    if not items:
        raise ThunderError(f"data must hold reaches longer than {least:g} m, got none in {len(recordings)} recordings")
    return tuple(items)


def reaches_of(data: str | Path | None, quick: bool = False, seed: int = 0) -> list[Reaches]:
    """Return the reaches of a folder of recordings, or synthetic ones.

    Parameters
    ----------
    data : path-like, optional
        Folder with `culm/` and `kinesis_rtg/`, or one of them; without it, reaches are synthetic.
    quick : bool
        If True, return fewer reaches.
    seed : int
        Seed of synthetic reaches.

    Raises
    ------
    ThunderError
        For a folder with neither.
    """
    if data is None:
        return [synthetic_reaches(30, 3, seed) if quick else synthetic_reaches(240, seed=seed)]
    makers: dict[Callable[[Path], Reaches], str] = {
        culm_reaches: "culm",
        free_reaches: "culm",
        kinesis_reaches: "kinesis_rtg/rtgData.txt",
    }
    found = [make(Path(data) / name) for make, name in makers.items() if (Path(data) / name).exists()]
    if not found:
        raise ThunderError(f"data must be a folder with culm/ or kinesis_rtg/rtgData.txt, got {str(data)!r}")
    return [reaches.thinned(3, 4) if quick else reaches for reaches in found]


#: in the order of the table
VARIANTS = (
    "minimum jerk",
    "straight, in the mean's time law",
    "mean",
    "MAP, mean replaced by minimum jerk",
    "MAP, covariance replaced by minimum jerk's",
    "MAP, coordinate by coordinate",
    "MAP, not aligned",
    "MAP",
    "MAP, positions alone",
)


@dataclass(frozen=True, eq=False)
class _Mean:
    """The mean of aligned reaches, moved to other ends; asked only for positions."""

    fpca: FPCA
    ends: Ends
    straight: bool

    @property
    def duration(self) -> float:
        return self.ends.duration

    def position(self, t: npt.ArrayLike, derivative: int = 0) -> Array:
        tau = np.clip(np.asarray(t, dtype=np.float64) / self.duration, 0.0, 1.0)
        x0, x1 = self.ends.x
        D, R = path_frame(x0, x1)
        start = self.fpca.mean(np.zeros(1))
        x = self.fpca.mean(tau.ravel(), derivative) - (start if derivative == 0 else 0.0)
        if self.straight:
            x = x * np.array([1.0, 0.0, 0.0])
        moved = np.asarray(D) * x @ R.T / self.duration**derivative
        return np.asarray((moved + (x0 if derivative == 0 else 0.0)).reshape(*tau.shape, 3), dtype=np.float64)


def variants(motions: MotionSet, fpca: FPCA) -> dict[str, Planner]:
    """Return planners with parts of MAP taken away, by the names of `VARIANTS` (without MAP and minimum jerk).

    Parameters
    ----------
    motions : MotionSet
        To learn from.
    fpca : FPCA
        Components of MAP, from the same. What else is fitted takes its share of minimum jerk, where it has any.
    """
    share, mean = fpca.shrinkage_, fpca.mean_coefficients_
    positions = Functional(fpca).planner(1)
    smooth = map_components(motions, shrinkage=1.0, smoothing=float(fpca.smoothing_[0]))
    components = {
        "MAP, mean replaced by minimum jerk": _with_mean(fpca, minimum_jerk_mean(fpca.basis_, mean)),
        "MAP, covariance replaced by minimum jerk's": _with_mean(smooth, mean),
        "MAP, coordinate by coordinate": map_components(motions, shrinkage=share, joint=False),
        "MAP, not aligned": map_components(motions, shrinkage=share, alignment="none"),
    }
    return {
        "straight, in the mean's time law": lambda ends: _Mean(fpca, ends, straight=True),
        "mean": lambda ends: _Mean(fpca, ends, straight=False),
        **{name: Functional(each) for name, each in components.items()},
        "MAP, positions alone": lambda ends: positions.plan(ends.x[0], ends.x[1], ends.duration),
    }


def _with_mean(fpca: FPCA, mean: Array) -> FPCA:
    """Return components about another S_0 (K, 3); x_bar is free in plans, so that its own mean does not matter."""
    other = copy(fpca)
    other.mean_coefficients_ = mean
    return other
