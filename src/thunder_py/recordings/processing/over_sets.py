"""Application of processing steps to one trial or a set, with the trial named in errors."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, cast, overload

import numpy as np

from ...errors import ThunderError
from ..motion_set import MotionSet
from ..trial import Trial, trial_label

P = ParamSpec("P")
Result_co = TypeVar("Result_co", Trial, MotionSet, covariant=True)
#: relative error of filters and splines on a constant
_ROUNDING = 1e-12


class Step(Protocol[P, Result_co]):
    """Trial -> Trial or its parts, and the results of every member of a set, one after the other."""

    @overload
    def __call__(self, trial: Trial, *args: P.args, **kwargs: P.kwargs) -> Result_co: ...
    @overload
    def __call__(self, trial: MotionSet, *args: P.args, **kwargs: P.kwargs) -> MotionSet: ...


def over_sets(function: Callable[Concatenate[Trial, P], Result_co]) -> Step[P, Result_co]:
    """Extend a function that changes or splits a trial to a `MotionSet`."""

    @functools.wraps(function)
    def step(trial: Any, *args: P.args, **kwargs: P.kwargs) -> Any:
        if isinstance(trial, MotionSet):
            return trial.map(lambda one: function(one, *args, **kwargs))
        if not isinstance(trial, Trial):
            raise ThunderError(
                f"trial of {function.__name__} must be a Trial or a MotionSet, got {type(trial).__name__}"
            )
        return function(trial, *args, **kwargs)

    return cast(Step[P, Result_co], step)


def numbered(parts: list[Trial]) -> MotionSet:
    """Return the parts of one trial, named ``<name>/1``, ``<name>/2``, ..."""
    return MotionSet(part.with_labels(name=f"{part.name}/{k}") for k, part in enumerate(parts, start=1))


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
