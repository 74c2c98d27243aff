"""Other times: equal steps, a number of samples, and time from 0 to 1."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ...checks import Array, positive, whole
from ...errors import ThunderError
from ..orientation import continuous_rotation_vectors
from ..trial import ROTATION, Trial
from .over_sets import over_sets, refuse_gaps, who

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation

__all__ = ["NormalisedTrial", "about_mean", "at_times", "in_the_frame", "normalise_time", "resample", "through_mean"]

#: the coordinates are singular a whole turn away from the mean
_MARGIN = 0.2


def rotation_columns(trial: Trial) -> npt.NDArray[np.intp]:
    """Return the columns rx, ry, rz, or none."""
    there = set(ROTATION) <= set(trial.dofs)
    return np.array([trial.dofs.index(name) for name in ROTATION] if there else [], dtype=np.intp)


def about_mean(trial: Trial) -> tuple[Array, Rotation | None]:
    """Return the values with phi = log(R_mean^T R) in place of the rotation vector, and R_mean.

    R_mean is the rotation with the least sum of squared chordal distances to the samples. phi is continuous. Near
    the mean it is as good as a vector: filters and splines act on it as on positions, and turning the frame turns
    nothing but R_mean, so that results do not depend on the frame.

    Returns
    -------
    values : (T, d) array
        NaN in gaps as before.
    mean : Rotation or None
        None for a trial without orientation, or without one valid sample.

    Raises
    ------
    ThunderError
        If the trial turns so far from its mean (almost a whole turn) that the coordinates are singular.
    """
    from scipy.spatial.transform import Rotation

    values, columns = np.array(trial.x), rotation_columns(trial)
    rows = np.flatnonzero(~np.isnan(values[:, columns]).any(axis=1))
    if not len(columns) or not len(rows):
        return values, None
    rotations = Rotation.from_rotvec(values[np.ix_(rows, columns)])
    mean = rotations.mean()
    phi = continuous_rotation_vectors(mean.inv() * rotations)
    largest = float(np.linalg.norm(phi, axis=1).max())
    if largest > 2.0 * np.pi - _MARGIN:
        raise ThunderError(
            f"{who(trial)} turns {largest:.2f} rad from its mean orientation, where rotation vectors are singular "
            f"(a whole turn is {2.0 * np.pi:.2f} rad): slice it into shorter pieces"
        )
    values[:, columns] = np.nan
    values[np.ix_(rows, columns)] = phi
    return values, mean


def in_the_frame(values: Array, mean: Rotation | None, trial: Trial) -> Array:
    """Undo `about_mean`: rotation vectors of R_mean exp(phi) in the trial's frame, continuous, in the same columns."""
    from scipy.spatial.transform import Rotation

    if mean is None:
        return values
    result, columns = np.array(values), rotation_columns(trial)
    rows = np.flatnonzero(~np.isnan(result[:, columns]).any(axis=1))
    turned = mean * Rotation.from_rotvec(result[np.ix_(rows, columns)])
    result[:, columns] = np.nan
    result[np.ix_(rows, columns)] = continuous_rotation_vectors(turned)
    return result


def through_mean(trial: Trial, function: Callable[[Array], Array]) -> Array:
    """Apply `function` to the values of a trial, orientations as rotation vectors about their mean."""
    values, mean = about_mean(trial)
    return in_the_frame(function(values), mean, trial)


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
