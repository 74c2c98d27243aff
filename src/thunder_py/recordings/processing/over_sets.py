"""Steps of processing take one trial or a set of them, and say which trial an error is about."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, Protocol, cast, overload

import numpy as np

from ...checks import Array
from ...errors import ThunderError
from ..motion_set import MotionSet
from ..trial import Trial

__all__ = ["moves", "over_sets", "refuse_gaps", "refuse_uneven", "splits_sets", "who"]

P = ParamSpec("P")
#: what filters and splines leave of a constant, relative to it
_ROUNDING = 1e-12


class Step(Protocol[P]):
    """Trial -> Trial, and the same for every member of a set."""

    @overload
    def __call__(self, trial: Trial, *args: P.args, **kwargs: P.kwargs) -> Trial: ...
    @overload
    def __call__(self, trial: MotionSet, *args: P.args, **kwargs: P.kwargs) -> MotionSet: ...


class Split(Protocol[P]):
    """Trial -> MotionSet, and the parts of every member of a set one after the other."""

    def __call__(self, trial: Trial | MotionSet, *args: P.args, **kwargs: P.kwargs) -> MotionSet: ...


def over_sets(function: Callable[Concatenate[Trial, P], Trial]) -> Step[P]:
    """Let a function of a trial take a `MotionSet` too."""

    @functools.wraps(function)
    def step(trial: Any, *args: P.args, **kwargs: P.kwargs) -> Any:
        if isinstance(trial, MotionSet):
            return trial.map(lambda one: function(one, *args, **kwargs))
        return function(_check(trial, function.__name__), *args, **kwargs)

    return cast(Step[P], step)


def splits_sets(function: Callable[Concatenate[Trial, P], MotionSet]) -> Split[P]:
    """Let a function that takes a trial apart take a `MotionSet` too."""

    @functools.wraps(function)
    def split(trial: Any, *args: P.args, **kwargs: P.kwargs) -> MotionSet:
        if isinstance(trial, MotionSet):
            return trial.map(lambda one: function(one, *args, **kwargs))
        return function(_check(trial, function.__name__), *args, **kwargs)

    return cast(Split[P], split)


def _check(motions: object, name: str) -> Trial:
    if not isinstance(motions, Trial):
        raise ThunderError(f"{name} takes a Trial or a MotionSet, got {type(motions).__name__}")
    return motions


def who(trial: Trial) -> str:
    """Return what to call a trial in a message."""
    return f"trial {trial.name!r}" if trial.name else "the trial"


def refuse_gaps(trial: Trial, task: str) -> Array:
    """Return the values of a trial without gaps; `task` is what cannot be done with gaps."""
    if not trial.valid.all():
        start, end = trial.gaps[0]
        raise ThunderError(
            f"{task} needs values without gaps, but {who(trial)} has {len(trial.gaps)}, the first from {start:.4g} to "
            f"{end:.4g} s: close short ones with fill_gaps, or cut there with split_at_gaps"
        )
    return trial.x


def moves(trial: Trial) -> bool:
    """Return whether a trial without gaps goes farther than rounding of its values does."""
    return bool((np.ptp(trial.x, axis=0) > _ROUNDING * np.abs(trial.x).max(axis=0)).any())


def refuse_uneven(trial: Trial, task: str) -> float:
    """Return the sampling rate [Hz] of a trial with equal time steps."""
    if not trial.uniform:
        raise ThunderError(f"{task} needs equal time steps, which {who(trial)} has not: resample it first")
    return (len(trial) - 1) / trial.duration
