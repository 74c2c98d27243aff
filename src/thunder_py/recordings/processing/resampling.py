"""Resampling to equal time steps or a number of samples, and normalized time."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...checks import Array, positive, whole
from ...errors import ThunderError
from ..orientation import continuous_rotation_vectors
from ..trial import ROTATION, Trial, require_no_gaps, trial_label
from .over_sets import over_sets

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation

#: margin [rad] to the singularity of the coordinates a whole turn away from the mean
_MARGIN = 0.2


def rotation_columns(trial: Trial) -> npt.NDArray[np.intp]:
    """Return the columns rx, ry, rz, or none."""
    names = ROTATION if set(ROTATION) <= set(trial.dofs) else ()
    return np.array([trial.dofs.index(name) for name in names], dtype=np.intp)


def about_mean(trial: Trial) -> tuple[Array, Rotation | None]:
    """Return the values with phi = log(R_mean^T R) in place of the rotation vector, and R_mean.

    R_mean minimizes the sum of squared chordal distances to the samples. phi is continuous. Near the mean, filters and
    splines act on it as on positions. A rotation of the frame changes only R_mean, so results do not depend on the
    frame.

    Returns
    -------
    values : (T, d) array
        NaN in gaps as before.
    mean : Rotation or None
        None for a trial without orientation or without valid samples.

    Raises
    ------
    ThunderError
        If the trial turns almost a whole turn from its mean, where the coordinates are singular.
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
            f"{trial_label(trial)} must turn less than {2.0 * np.pi - _MARGIN:.2f} rad from its mean orientation, got "
            f"{largest:.2f} rad; slice it into shorter pieces (rotation vectors are singular at a whole turn)"
        )
    values[:, columns] = np.nan
    values[np.ix_(rows, columns)] = phi
    return values, mean


def in_the_frame(values: Array, mean: Rotation | None, trial: Trial) -> Array:
    """Invert `about_mean`: continuous rotation vectors of R_mean exp(phi) in the trial's frame, in the same columns."""
    from scipy.spatial.transform import Rotation

    if mean is None:
        return values
    result, columns = np.array(values), rotation_columns(trial)
    rows = np.flatnonzero(~np.isnan(result[:, columns]).any(axis=1))
    rotations = mean * Rotation.from_rotvec(result[np.ix_(rows, columns)])
    result[:, columns] = np.nan
    result[np.ix_(rows, columns)] = continuous_rotation_vectors(rotations)
    return result


def through_mean(trial: Trial, function: Callable[[Array], Array]) -> Array:
    """Apply `function` to the values of a trial, orientations as rotation vectors about their mean."""
    values, mean = about_mean(trial)
    return in_the_frame(function(values), mean, trial)


#: largest number of samples of a result
_MOST = 100_000_000


@over_sets
def resample(trial: Trial, rate: float | None = None, n: int | None = None) -> Trial:
    """Interpolate to equal time steps by a cubic spline through the samples.

    Orientations are interpolated as rotation vectors about the trial's mean orientation. There is no anti-aliasing
    filter: for a lower rate, low-pass below half the new rate first.

    Parameters
    ----------
    trial : Trial or MotionSet
        No gaps; time steps may differ.
    rate : float
        New sampling rate [Hz]: samples at ``t[0] + k / rate``, the last one at ``t[-1]`` or less than a step before.
    n : int
        Number of samples, instead of `rate`; the first and the last sample are kept.

    Returns
    -------
    Trial or MotionSet
        Interpolated values at the new times.

    Raises
    ------
    ThunderError
        If not exactly one of `rate` and `n` is given, for gaps, or for a trial shorter than one new step.

    Examples
    --------
    >>> from thunder_py.recordings import Trial
    >>> from thunder_py.recordings.processing import resample
    >>> trial = Trial([0.0, 0.1, 0.3, 0.6, 1.0], [[0.0], [1.0], [3.0], [6.0], [10.0]], ["q1"])
    >>> resample(trial, rate=5.0).t.round(6).tolist()
    [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    >>> resample(trial, n=3).x.ravel().round(6).tolist()
    [0.0, 5.0, 10.0]
    """
    if (rate is None) == (n is None):
        raise ThunderError(f"one of rate and n must be given, got rate={rate!r} and n={n!r}")
    require_no_gaps(trial, "resample")
    start, end = trial.t[0], trial.t[-1]
    if rate is None:
        count = whole(n, "n", 2, _MOST)
        times = np.linspace(start, end, count)
        return trial.with_values(at_times(trial, times), times, rate=(count - 1) / trial.duration)
    if positive(rate, "rate", "Hz") * trial.duration > _MOST:
        raise ThunderError(f"rate must yield at most {_MOST} samples in {trial.duration:g} s, got {rate:g} Hz")
    # a last sample beyond the end by rounding is the end
    steps = int(np.floor(trial.duration * rate * (1.0 + 1e-12) + 1e-9))
    if steps < 1:
        raise ThunderError(
            f"{trial_label(trial)} must last one step of {1.0 / rate:g} s or more, got {trial.duration:g} s"
        )
    times = start + np.arange(steps + 1) / rate
    return trial.with_values(at_times(trial, np.minimum(times, end)), times, rate=rate)


def at_times(trial: Trial, times: Array) -> Array:
    """Return the values (len(times), d) of the cubic spline through the samples of a trial without gaps."""
    from scipy.interpolate import CubicSpline

    values, mean = about_mean(trial)
    return in_the_frame(CubicSpline(trial.t, values)(times), mean, trial)


@dataclass(frozen=True, eq=False, repr=False)
class NormalizedTrial(Trial):
    """A trial over tau: `t` is (time - start) / duration, and `rate` is in samples per unit of tau.

    Parameters
    ----------
    seconds : float
        Real time per unit of `t` [s]: the duration of the movement.

    Examples
    --------
    >>> from thunder_py.recordings import Trial
    >>> from thunder_py.recordings.processing import normalize_time
    >>> trial = normalize_time(Trial([2.0, 3.0, 4.0], [[0.0], [1.0], [2.0]], ["q1"], rate=1.0))
    >>> trial.t.tolist(), trial.rate, trial.real_duration
    ([0.0, 0.5, 1.0], 2.0, 2.0)
    >>> trial.real_time().t.tolist()
    [0.0, 1.0, 2.0]
    """

    seconds: float = 1.0

    @property
    def real_duration(self) -> float:
        """Duration in real time [s]."""
        return self.duration * self.seconds

    def real_time(self) -> Trial:
        """Return the trial over real time, starting at 0 s."""
        rate = self.rate and self.rate / self.seconds
        return Trial(**_fields(self) | {"t": (self.t - self.t[0]) * self.seconds, "rate": rate})


def _fields(trial: Trial) -> dict[str, Any]:
    return {field.name: getattr(trial, field.name) for field in dataclasses.fields(Trial)}


@over_sets
def normalize_time(trial: Trial) -> Trial:
    """Scale time to run from 0 to 1, with unchanged samples.

    Parameters
    ----------
    trial : Trial or MotionSet
        With or without gaps.

    Returns
    -------
    NormalizedTrial or MotionSet of them
        `seconds` is the duration; `real_time` is the inverse.

    Examples
    --------
    >>> from thunder_py.recordings.processing import normalize_time
    >>> from thunder_py.recordings.synthetic import minimum_jerk_reaches
    >>> motions = minimum_jerk_reaches(2, seed=0)
    >>> [(trial.duration, round(trial.seconds, 3)) for trial in normalize_time(motions)]
    [(1.0, 0.75), (1.0, 1.292)]
    """
    if isinstance(trial, NormalizedTrial):
        trial = trial.real_time()
    changes = {"t": (trial.t - trial.t[0]) / trial.duration, "rate": trial.rate and trial.rate * trial.duration}
    return NormalizedTrial(**_fields(trial) | changes, seconds=trial.duration)
