"""Zero-phase filters (Butterworth forwards and backwards, median, moving average) and treatment of gaps."""

from __future__ import annotations

import math

import numpy as np

from ...checks import Array, is_number, nonnegative, one_of, positive, whole
from ...errors import ThunderError
from ..motion_set import MotionSet
from ..trial import Trial, require_no_gaps, stretches, trial_label
from .over_sets import numbered, over_sets, require_uniform_rate
from .resampling import about_mean, in_the_frame, through_mean

#: lowest cut-off as a fraction of the sampling rate; below it rounding makes the filter's equations singular
_LOWEST = 1e-6


@over_sets
def low_pass(trial: Trial, cutoff: float, order: int = 2) -> Trial:
    """Filter a trial with a zero-phase low-pass: a Butterworth filter run forwards and backwards.

    Orientations are filtered as rotation vectors about the trial's mean orientation.

    Parameters
    ----------
    trial : Trial or MotionSet
        Equal time steps, no gaps.
    cutoff : float
        Cut-off frequency of one pass [Hz], below half the sampling rate; `math.inf` for no filter, and then time
        steps may differ.
    order : int
        Order of one pass, 1 to 10.

    Returns
    -------
    Trial or MotionSet
        Filtered values at the same times.

    Raises
    ------
    ThunderError
        For gaps (see `fill_gaps`), unequal time steps (see `resample`), a cut-off out of range for the sampling rate,
        or too few samples for the order.

    Notes
    -----
    Two passes square the gain: at `cutoff` it is 1/2 (-6 dB), and the slope is that of twice the order. As in papers,
    cut-off and order are those of one pass: "2nd-order Butterworth, 10 Hz, zero phase" is
    ``low_pass(trial, 10.0, 2)``.

    Examples
    --------
    >>> from thunder_py.recordings.processing import low_pass
    >>> from thunder_py.recordings.synthetic import minimum_jerk_reaches
    >>> exact, noisy = (minimum_jerk_reaches(1, seed=0, noise=noise)[0] for noise in (0.0, 1e-3))
    >>> filtered = low_pass(noisy, 6.0)
    >>> bool((filtered.t == noisy.t).all()), bool(abs(filtered.x - exact.x).mean() < abs(noisy.x - exact.x).mean())
    (True, True)
    """
    require_no_gaps(trial, "low_pass")
    if filters_nothing(cutoff):
        return trial
    rate = require_uniform_rate(trial, "low_pass")
    if not _LOWEST * rate < cutoff < 0.5 * rate:
        raise ThunderError(
            f"cutoff must be above {_LOWEST:g} of the rate of {trial_label(trial)} and below half of it, "
            f"{0.5 * rate:g} Hz, got {cutoff:g} Hz"
        )
    whole(order, "order", 1, 10)
    # extension of the signal by sosfiltfilt at either end
    least = 3 * (2 * ((order + 1) // 2) + 1 - order % 2) + 1
    if len(trial) < least:
        raise ThunderError(
            f"{trial_label(trial)} must have {least} samples or more for order {order}, got {len(trial)}"
        )
    return trial.with_values(through_mean(trial, lambda values: butterworth(values, rate, cutoff, order)))


def filters_nothing(cutoff: object) -> bool:
    """Return True for an infinite cut-off, which means no filter everywhere in this package.

    Raises
    ------
    ThunderError
        If `cutoff` is not a positive number; None is refused, so that no filter is an explicit choice.
    """
    if not is_number(cutoff) or not cutoff > 0.0:  # type: ignore[operator]
        raise ThunderError(f"cutoff must be a positive frequency [Hz], or math.inf for no filter, got {cutoff!r}")
    return cutoff == math.inf


def butterworth(values: Array, rate: float, cutoff: float, order: int = 2) -> Array:
    """Filter the columns of (T, d) values sampled at `rate` [Hz] as `low_pass` does, without its checks."""
    from scipy.signal import butter, sosfiltfilt

    sections = butter(order, cutoff, fs=rate, output="sos")
    return np.asarray(sosfiltfilt(sections, values, axis=0), dtype=np.float64)


@over_sets
def median_filter(trial: Trial, width: int = 5) -> Trial:
    """Replace every value by the median of a window of `width` samples, which removes spikes.

    The first and last samples are repeated at the ends. Time steps may differ. For orientations, the median is taken
    of each component of the rotation vector about the trial's mean orientation.

    Parameters
    ----------
    trial : Trial or MotionSet
        No gaps.
    width : int
        Odd number of samples, at most the length of the trial.

    Returns
    -------
    Trial or MotionSet
        Filtered values at the same times.

    Raises
    ------
    ThunderError
        For gaps, or a width that is even or out of range.

    Examples
    --------
    >>> from thunder_py.recordings import Trial
    >>> from thunder_py.recordings.processing import median_filter
    >>> trial = Trial(range(6), [[0.0], [1.0], [2.0], [99.0], [4.0], [5.0]], ["q1"])
    >>> median_filter(trial, 3).x.ravel().tolist()
    [0.0, 1.0, 2.0, 4.0, 5.0, 5.0]
    """
    from scipy.ndimage import median_filter as median

    require_no_gaps(trial, "median_filter")
    _check_width(trial, width)
    if width % 2 == 0:
        raise ThunderError(f"width must be odd, got {width}")
    return trial.with_values(through_mean(trial, lambda values: median(values, size=(width, 1), mode="nearest")))


@over_sets
def moving_average(trial: Trial, width: int = 10) -> Trial:
    """Replace every value by the mean of a centered window of `width` samples, without phase shift.

    An even width has half weights at both ends of ``width + 1`` samples. Near the ends of the trial the window shrinks
    on both sides, down to the sample itself; straight lines are unchanged. Orientations are averaged as rotation
    vectors about the trial's mean orientation.

    Parameters
    ----------
    trial : Trial or MotionSet
        Equal time steps, no gaps.
    width : int
        Number of samples, at most the length of the trial.

    Returns
    -------
    Trial or MotionSet
        Filtered values at the same times.

    Raises
    ------
    ThunderError
        For gaps, unequal time steps, or a width out of range.

    Examples
    --------
    >>> from thunder_py.recordings import Trial
    >>> from thunder_py.recordings.processing import moving_average
    >>> trial = Trial(range(5), [[0.0], [0.0], [3.0], [0.0], [0.0]], ["q1"])
    >>> moving_average(trial, 3).x.ravel().tolist()
    [0.0, 1.0, 1.0, 1.0, 0.0]
    """
    require_no_gaps(trial, "moving_average")
    require_uniform_rate(trial, "moving_average")
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
    whole(width, f"width, in samples of {trial_label(trial)},", 1, len(trial))


_METHODS = ("cubic", "pchip", "linear")
#: relative tolerance of differences of times, so that a gap of 0.05 s is at most 0.05 s
_ROUNDING = 1e-9


@over_sets
def fill_gaps(trial: Trial, longest: float | None = None, method: str = "cubic") -> Trial:
    """Fill gaps by interpolation between the adjacent samples.

    Every column is filled separately; the other columns keep their measured values. Orientations are interpolated as
    rotation vectors about the trial's mean orientation. Gaps at the start or end of a trial are cut off, not
    extrapolated.

    Parameters
    ----------
    trial : Trial or MotionSet
        With or without gaps.
    longest : float, optional
        Longest gap to fill [s], from the last sample before it to the first one after. Longer gaps remain NaN, for
        `split_at_gaps`. By default all gaps are filled.
    method : str
        ``"cubic"``: spline through all samples, smooth, may overshoot in long gaps; ``"pchip"``: monotone where the
        data are; ``"linear"``.

    Returns
    -------
    Trial or MotionSet
        From the first to the last sample where every column has a value.

    Raises
    ------
    ThunderError
        If fewer than two samples are complete, `longest` is not positive or `method` is unknown.

    Examples
    --------
    >>> from thunder_py.recordings import Trial
    >>> from thunder_py.recordings.processing import fill_gaps
    >>> nan = float("nan")
    >>> trial = Trial(range(6), [[nan], [0.0], [1.0], [nan], [3.0], [4.0]], ["q1"])
    >>> fill_gaps(trial, method="linear").x.ravel().tolist()
    [0.0, 1.0, 2.0, 3.0, 4.0]
    >>> fill_gaps(trial, longest=1.0).gaps
    [(2.0, 4.0)]
    """
    if longest is not None:
        positive(longest, "longest", "s")
    one_of(method, _METHODS, "method")
    if trial.valid.all():
        return trial
    start, end = _common_span(trial)
    values, mean = about_mean(trial)
    for column in range(values.shape[1]):
        _fill(trial.t, values[:, column], np.inf if longest is None else longest, method)
    filled = trial.with_values(in_the_frame(values, mean, trial))
    return filled.slice(trial.t[start], trial.t[end])


def _common_span(trial: Trial) -> tuple[int, int]:
    """Return the first and the last index of the span without gaps that touch an end of the trial."""
    known, count = ~np.isnan(trial.x), np.count_nonzero(trial.valid)
    if count < 2:
        raise ThunderError(f"{trial_label(trial)} must have two complete samples or more, got {count}")
    start, cut = (int(np.argmax(rows, axis=0).max()) for rows in (known, known[::-1]))
    return start, len(trial) - 1 - cut


def _fill(t: Array, column: Array, longest: float, method: str) -> None:
    """Fill the gaps of one column that have values on both sides, in place."""
    from scipy.interpolate import CubicSpline, PchipInterpolator

    known, missing = ~np.isnan(column), np.zeros(len(column), dtype=bool)
    for first, last in stretches(~known):
        if first > 0 and last < len(t) - 1 and t[last + 1] - t[first - 1] <= longest * (1.0 + _ROUNDING):
            missing[first : last + 1] = True
    if method == "linear":
        column[missing] = np.interp(t[missing], t[known], column[known])
    elif missing.any():
        spline = CubicSpline if method == "cubic" else PchipInterpolator
        column[missing] = spline(t[known], column[known])(t[missing])


@over_sets
def split_at_gaps(trial: Trial, least_duration: float = 0.0) -> MotionSet:
    """Return the intervals of complete samples between gaps as separate trials.

    Parameters
    ----------
    trial : Trial or MotionSet
        With or without gaps.
    least_duration : float
        Shorter intervals [s] are dropped; single samples are always dropped.

    Returns
    -------
    MotionSet
        Trials named ``<name>/1``, ``<name>/2``, ... if there are several; times are unchanged.

    Raises
    ------
    ThunderError
        If `least_duration` is negative.

    Examples
    --------
    >>> from thunder_py.recordings import Trial
    >>> from thunder_py.recordings.processing import split_at_gaps
    >>> nan = float("nan")
    >>> trial = Trial(range(6), [[0.0], [1.0], [2.0], [nan], [4.0], [5.0]], ["q1"], name="a")
    >>> [(part.name, part.t.tolist()) for part in split_at_gaps(trial)]
    [('a/1', [0.0, 1.0, 2.0]), ('a/2', [4.0, 5.0])]
    """
    nonnegative(least_duration, "least_duration", unit="s")
    parts = [
        trial.slice(trial.t[first], trial.t[last])
        for first, last in stretches(trial.valid)
        if last > first and trial.t[last] - trial.t[first] >= least_duration
    ]
    return MotionSet(parts) if len(parts) == 1 else numbered(parts)
