"""Other times: equal steps, a number of samples, and time from 0 to 1."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np

from ...checks import Array
from ...errors import ThunderError
from ..scalars import positive, whole
from ..trial import Trial
from .over_sets import over_sets, refuse_gaps, who
from .rotation import about_mean, in_the_frame

__all__ = ["NormalisedTrial", "at_times", "normalise_time", "resample"]

#: samples that a trial can be given
_MOST = 100_000_000


@over_sets
def resample(trial: Trial, rate: float | None = None, n: int | None = None) -> Trial:
    """Interpolate to equal time steps, by a cubic spline through the samples.

    Orientations are interpolated as rotation vectors about the trial's mean orientation. Nothing is filtered: where the
    new rate is below the old one, low-pass below half the new rate first, or noise folds back.

    Parameters
    ----------
    trial : Trial or MotionSet
        No gaps; its time steps may differ.
    rate : float
        New sampling rate [Hz]: samples at ``t[0] + k / rate``, the last one at ``t[-1]`` or less than a step before.
    n : int
        Or the number of samples, the first and the last one as they are.

    Raises
    ------
    ThunderError
        If not exactly one of `rate` and `n` is given, for gaps, or for a trial shorter than two new samples.
    """
    if (rate is None) == (n is None):
        raise ThunderError(f"one of rate and n must be given, got rate={rate!r} and n={n!r}")
    refuse_gaps(trial, "resample")
    start, end = trial.t[0], trial.t[-1]
    if rate is None:
        count = whole(n, "n", 2, _MOST)
        times = np.linspace(start, end, count)
        return trial.with_values(at_times(trial, times), times, rate=(count - 1) / trial.duration)
    if positive(rate, "rate", "Hz") * trial.duration > _MOST:
        raise ThunderError(f"rate must make at most {_MOST} samples of {trial.duration:g} s, got {rate:g} Hz")
    # a last sample that rounding alone puts behind the end is the end
    steps = int(np.floor(trial.duration * rate * (1.0 + 1e-12) + 1e-9))
    if steps < 1:
        raise ThunderError(f"{who(trial)} takes {trial.duration:g} s, less than one step of {1.0 / rate:g} s")
    times = start + np.arange(steps + 1) / rate
    return trial.with_values(at_times(trial, np.minimum(times, end)), times, rate=rate)


def at_times(trial: Trial, times: Array) -> Array:
    """Return the values (len(times), d) of the cubic spline through the samples of a trial without gaps."""
    from scipy.interpolate import CubicSpline

    values, mean = about_mean(trial)
    return in_the_frame(CubicSpline(trial.t, values)(times), mean, trial)


@dataclass(frozen=True, eq=False, repr=False)
class NormalisedTrial(Trial):
    """A trial over tau: `t` is (time - start) / duration, and `rate` is in samples per unit of tau.

    Parameters
    ----------
    seconds : float
        Real time that one unit of `t` stands for [s]: the duration of the movement.
    """

    seconds: float = 1.0

    @property
    def real_duration(self) -> float:
        """Duration in real time [s]."""
        return self.duration * self.seconds

    def real_time(self) -> Trial:
        """Return the trial over real time, from 0 s on."""
        fields = {field.name: getattr(self, field.name) for field in dataclasses.fields(Trial)}
        fields["t"] = (self.t - self.t[0]) * self.seconds
        fields["rate"] = None if self.rate is None else self.rate / self.seconds
        return Trial(**fields)


@over_sets
def normalise_time(trial: Trial) -> Trial:
    """Let time run from 0 to 1; the samples stay as they are.

    Returns
    -------
    NormalisedTrial or MotionSet of them
        Its `seconds` is the duration, for `real_time` to undo it.
    """
    if isinstance(trial, NormalisedTrial):
        trial = trial.real_time()
    fields = {field.name: getattr(trial, field.name) for field in dataclasses.fields(Trial)}
    tau = (trial.t - trial.t[0]) / trial.duration
    fields["t"], fields["rate"] = tau, None if trial.rate is None else trial.rate * trial.duration
    return NormalisedTrial(**fields, seconds=trial.duration)
