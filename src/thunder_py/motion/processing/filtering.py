"""Filters without phase shift: Butterworth forwards and backwards, median, moving average."""

from __future__ import annotations

import math

import numpy as np

from ...checks import Array
from ...errors import ThunderError
from ..scalars import is_number, whole
from ..trial import Trial
from .over_sets import over_sets, refuse_gaps, refuse_uneven, who
from .rotation import through_mean

__all__ = ["butterworth", "filters_nothing", "low_pass", "median_filter", "moving_average"]

#: below this part of the sampling rate the filter's equations have no solution left to rounding
_LOWEST = 1e-6


@over_sets
def low_pass(trial: Trial, cutoff: float, order: int = 2) -> Trial:
    """Low-pass filter a trial with a Butterworth filter that runs forwards and backwards, so without phase shift.

    Running twice squares the gain: at `cutoff` it is 1/2 (-6 dB), and the slope is that of twice the order. Papers
    name the filter before doubling, as is done here: "2nd-order Butterworth, 10 Hz, zero phase" is
    ``low_pass(trial, 10.0, 2)``.

    Orientations are filtered as rotation vectors about the trial's mean orientation.

    Parameters
    ----------
    trial : Trial or MotionSet
        Equal time steps, no gaps.
    cutoff : float
        Cut-off frequency of one pass [Hz], below half the sampling rate; `math.inf` lets everything pass, and then time
        steps may differ.
    order : int
        Order of one pass, 1 to 10.

    Returns
    -------
    Trial or MotionSet
        The same times.

    Raises
    ------
    ThunderError
        For gaps (see `fill_gaps`), unequal time steps (see `resample`), a cut-off that the sampling rate does not
        allow, or too few samples for the filter to start.
    """
    refuse_gaps(trial, "low_pass")
    if filters_nothing(cutoff):
        return trial
    rate = refuse_uneven(trial, "low_pass")
    _check_filter(trial, cutoff, order, rate)
    return trial.with_values(through_mean(trial, lambda values: butterworth(values, rate, cutoff, order)))


def filters_nothing(cutoff: object) -> bool:
    """Return whether a cut-off says that no filter is wanted: it is infinite, everywhere in this package.

    Raises
    ------
    ThunderError
        For what is no frequency, None too: to say nothing is not to say that data need no filter.
    """
    if not is_number(cutoff) or not cutoff > 0.0:  # type: ignore[operator]
        raise ThunderError(f"cutoff must be a frequency > 0 Hz, or math.inf for no filter, got {cutoff!r}")
    return cutoff == math.inf


def butterworth(values: Array, rate: float, cutoff: float, order: int = 2) -> Array:
    """Filter the columns of (T, d) values sampled at `rate` [Hz] as `low_pass` does, without its checks."""
    from scipy.signal import butter, sosfiltfilt

    sections = butter(order, cutoff, fs=rate, output="sos")
    return np.asarray(sosfiltfilt(sections, values, axis=0), dtype=np.float64)


def _check_filter(trial: Trial, cutoff: float, order: int, rate: float) -> None:
    if not _LOWEST * rate < cutoff < 0.5 * rate:
        raise ThunderError(
            f"cutoff must be above {_LOWEST:g} of the rate of {who(trial)} and below half of it, {0.5 * rate:g} Hz, "
            f"got {cutoff:g} Hz"
        )
    whole(order, "order", 1, 10)
    # what sosfiltfilt extends the signal by at either end
    least = 3 * (2 * ((order + 1) // 2) + 1 - order % 2) + 1
    if len(trial) < least:
        raise ThunderError(f"a filter of order {order} needs {least} samples or more, {who(trial)} has {len(trial)}")


@over_sets
def median_filter(trial: Trial, width: int = 5) -> Trial:
    """Replace every value by the median of the `width` samples around it, which removes spikes.

    At the ends the first and last samples are repeated. Time steps need not be equal. Orientations: medians of the
    components of the rotation vector about the trial's mean orientation.

    Parameters
    ----------
    trial : Trial or MotionSet
        No gaps.
    width : int
        Odd number of samples, not more than the trial has.
    """
    from scipy.ndimage import median_filter as median

    refuse_gaps(trial, "median_filter")
    _check_width(trial, width)
    if width % 2 == 0:
        raise ThunderError(f"width must be odd, so that a median has a middle, got {width}")
    return trial.with_values(through_mean(trial, lambda values: median(values, size=(width, 1), mode="nearest")))


@over_sets
def moving_average(trial: Trial, width: int = 10) -> Trial:
    """Replace every value by the mean of the `width` samples around it, without phase shift.

    An even width has half weights at both ends of ``width + 1`` samples. Near the ends of the trial the window shrinks
    on both sides, down to the sample itself, so that straight lines pass unchanged. Orientations are averaged as
    rotation vectors about the trial's mean orientation.

    Parameters
    ----------
    trial : Trial or MotionSet
        Equal time steps, no gaps.
    width : int
        Number of samples, not more than the trial has.
    """
    refuse_gaps(trial, "moving_average")
    refuse_uneven(trial, "moving_average")
    _check_width(trial, width)
    return trial.with_values(through_mean(trial, lambda values: _average(values, width)))


def _average(values: Array, width: int) -> Array:
    length, half = len(values), width // 2
    sums = np.concatenate([np.zeros((1, values.shape[1])), np.cumsum(values - values[0], axis=0)])
    k = np.arange(length)
    reach = np.minimum(half, np.minimum(k, length - 1 - k))
    total = sums[k + reach + 1] - sums[k - reach]
    count = 2.0 * reach + 1.0
    if width % 2 == 0:
        ends = 0.5 * (values[k - reach] + values[k + reach]) - values[0]
        whole = reach > 0
        total[whole] -= ends[whole]
        count[whole] -= 1.0
    return np.asarray(values[0] + total / count[:, None], dtype=np.float64)


def _check_width(trial: Trial, width: int) -> None:
    whole(width, f"width, in samples of {who(trial)},", 1, len(trial))
