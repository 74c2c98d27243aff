"""Application of processing steps to one trial or a set, with the trial named in errors."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, Protocol, cast, overload

import numpy as np

from ...checks import Array
from ...errors import ThunderError
from ..motion_set import MotionSet
from ..trial import Trial

P = ParamSpec("P")
#: relative error of filters and splines on a constant
_ROUNDING = 1e-12


class Step(Protocol[P]):
    """Trial -> Trial, and the same for every member of a set."""

    @overload
    def __call__(self, trial: Trial, *args: P.args, **kwargs: P.kwargs) -> Trial: ...
    @overload
    def __call__(self, trial: MotionSet, *args: P.args, **kwargs: P.kwargs) -> MotionSet: ...


class Split(Protocol[P]):
    """Trial -> MotionSet, and the concatenated parts of every member of a set."""

    def __call__(self, trial: Trial | MotionSet, *args: P.args, **kwargs: P.kwargs) -> MotionSet: ...  # noqa: D102


def over_sets(function: Callable[Concatenate[Trial, P], Trial]) -> Step[P]:
    """Extend a function of a trial to a `MotionSet`."""
    return cast(Step[P], _over_sets(function))


def splits_sets(function: Callable[Concatenate[Trial, P], MotionSet]) -> Split[P]:
    """Extend a function that splits a trial to a `MotionSet`."""
    return cast(Split[P], _over_sets(function))


def _over_sets(function: Callable[..., Any]) -> Any:
    @functools.wraps(function)
    def step(trial: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(trial, MotionSet):
            return trial.map(lambda one: function(one, *args, **kwargs))
        if not isinstance(trial, Trial):
            raise ThunderError(
                f"trial of {function.__name__} must be a Trial or a MotionSet, got {type(trial).__name__}"
            )
        return function(trial, *args, **kwargs)

    return step


def numbered(parts: list[Trial]) -> MotionSet:
    """Return the parts of one trial, named ``<name>/1``, ``<name>/2``, ..."""
    return MotionSet(part.with_labels(name=f"{part.name}/{k}") for k, part in enumerate(parts, start=1))


def trial_label(trial: Trial) -> str:
    """Return the name of a trial for messages."""
    return f"trial {trial.name!r}" if trial.name else "the trial"


def require_no_gaps(trial: Trial, task: str) -> Array:
    """Return the values of a trial; refuse gaps, with the operation `task` in the message."""
    if not trial.valid.all():
        start, end = trial.gaps[0]
        raise ThunderError(
            f"{trial_label(trial)} must have no gaps for {task}, got {len(trial.gaps)}, the first from {start:.4g} to "
            f"{end:.4g} s; close short gaps with fill_gaps or split the trial with split_at_gaps"
        )
    return trial.x


def has_motion(trial: Trial) -> bool:
    """Return True if the range of a trial without gaps exceeds rounding."""
    return bool((np.ptp(trial.x, axis=0) > _ROUNDING * np.abs(trial.x).max(axis=0)).any())


def require_uniform_rate(trial: Trial, task: str) -> float:
    """Return the sampling rate [Hz] of a trial; refuse unequal time steps."""
    if not trial.uniform:
        raise ThunderError(
            f"{trial_label(trial)} must have equal time steps for {task}, got unequal ones; see resample"
        )
    return (len(trial) - 1) / trial.duration
