"""Velocities and accelerations from logged positions by zero-phase filters."""

from __future__ import annotations

from math import comb
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .. import _core
from ..checks import Array, array, whole
from ..errors import ThunderError

#: highest cutoff, relative to the sampling frequency: poles of the filter meet at a half
_HIGHEST = 0.49
#: largest relative deviation of sampling periods from their mean
JITTER = 1e-3
#: longest gap that is interpolated, in periods of the cutoff: half of one is what its fastest tone needs
LONGEST_GAP = 0.5
#: most decimals of rounded instants, and share of a period by which a missing sample shifts those after it
_DECIMALS, _MISSING = 6, 0.9
#: response of a filter to a sample, relative to its start, that counts as none
_FORGOTTEN = 1e-16
#: orders of the differences that noise is estimated from
_ORDERS = range(2, 9)
#: median of the absolute value of a standard normal variable
NORMAL_MEDIAN = 0.6744897501960817


class Motion(NamedTuple):
    """Positions, velocities and accelerations at the same instants.

    Attributes
    ----------
    q, dq, ddq : (k, n) array
        Positions [rad or m] and their time derivatives.

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.identification import Motion
    >>> q, dq, ddq = Motion(np.zeros((5, 2)), np.zeros((5, 2)), np.zeros((5, 2)))
    >>> q.shape
    (5, 2)
    """

    q: Array
    dq: Array
    ddq: Array


def differentiate(t: npt.ArrayLike, q: npt.ArrayLike, cutoff: float, *, order: int = 4) -> Motion:
    """Estimate velocities and accelerations from sampled positions, without delay.

    A Butterworth filter runs forwards and backwards over the positions, which cancels its phase; central differences
    of sixth order follow. The filter is not causal: use it for logs, not for control.

    Parameters
    ----------
    t : (k,) array_like
        Evenly spaced instants [s].
    q : (k, n) array_like
        Joint positions [rad or m].
    cutoff : float
        Frequency at which the two passes together halve the amplitude [Hz], a few times the highest frequency of the
        motion.
    order : int
        Order of one pass, 1 to 10.

    Returns
    -------
    Motion
        Filtered positions and their derivatives, less accurate within a few periods of the cutoff from either end.

    Raises
    ------
    ThunderError
        If the instants are not evenly spaced, too few, or `cutoff` is above 0.49 of the sampling frequency.

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.identification import differentiate
    >>> t = np.arange(0.0, 4.0, 1e-3)
    >>> motion = differentiate(t, np.sin(2.0 * np.pi * t)[:, None], cutoff=20.0)
    >>> error = motion.dq[500:-500, 0] - 2.0 * np.pi * np.cos(2.0 * np.pi * t[500:-500])
    >>> bool(np.abs(error).max() < 1e-3)
    True
    """
    return central_differences(lowpass(t, q, cutoff, order=order), sampling_period(t))


def central_differences(smooth: Array, period: float) -> Motion:
    """Return positions (k, n) with central differences of sixth order, of second order at the ends.

    Those of second order are (w h)^2 / 6 and / 12 too small at an angular frequency w, the same in all parts of a log,
    which intervals do not show.
    """
    dq, ddq = np.gradient(smooth, axis=0, edge_order=2), _second_differences(smooth)
    ddq[0], ddq[-1] = 2.0 * ddq[1] - ddq[2], 2.0 * ddq[-2] - ddq[-3]
    for values, second, fourth in ((dq, 6.0, 30.0), (ddq, 12.0, 90.0)):
        error = _second_differences(values)
        values += _second_differences(error) / fourth - error / second
    return Motion(smooth, dq / period, ddq / period**2)


def _second_differences(x: Array) -> Array:
    """Return second differences, (k, n), zero at the ends."""
    found = np.zeros_like(x)
    found[1:-1] = x[2:] - 2.0 * x[1:-1] + x[:-2]
    return found


def lowpass(t: npt.ArrayLike, x: npt.ArrayLike, cutoff: float, *, order: int = 4) -> Array:
    """Filter sampled signals with the zero-phase filter of `differentiate`.

    Parameters
    ----------
    t : (k,) array_like
        Evenly spaced instants [s].
    x : (k, n) array_like
        Signals, such as torques.
    cutoff : float
        Cutoff frequency [Hz], see `differentiate`.
    order : int
        Order of one pass, 1 to 10.

    Returns
    -------
    (k, n) array
        Filtered signals.

    Raises
    ------
    ThunderError
        See `differentiate`.

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.identification import lowpass
    >>> t = np.arange(0.0, 2.0, 1e-3)
    >>> signal = np.sin(2.0 * np.pi * t) + np.sin(2.0 * np.pi * 200.0 * t)
    >>> left = lowpass(t, signal[:, None], cutoff=20.0)[:, 0] - np.sin(2.0 * np.pi * t)
    >>> bool(np.abs(left[200:-200]).max() < 1e-3)
    True
    """
    dt = sampling_period(t)
    signals = array(x, (np.size(t), None), "x")
    return zero_phase(signals, dt, checked_cutoff(cutoff, dt), whole(order, "order", 1, 10))


def zero_phase(x: Array, period: float, cutoff: float, order: int = 4) -> Array:
    """Filter signals (k, n) as `lowpass` does, without its checks."""
    padding = round(min(3.0 / (cutoff * period), len(x) - 1))
    return _core.zero_phase(x, _core.butterworth(order, cutoff * period), padding)


def memory(period: float, cutoff: float, order: int = 4) -> int:
    """Return the number of samples after which the filter of `lowpass` has forgotten a sample, to rounding."""
    slowest = max(float(np.abs(np.roots(section[3:])).max()) for section in _core.butterworth(order, cutoff * period))
    return int(np.ceil(np.log(_FORGOTTEN) / np.log(slowest)))


def checked_cutoff(cutoff: Any, dt: float) -> float:
    """Return a cutoff frequency [Hz] that the filter can have, or raise."""
    if isinstance(cutoff, bool):
        raise ThunderError(f"cutoff must be a number, got {cutoff!r}")
    frequency = float(array(cutoff, (), "cutoff"))
    if not 0.0 < frequency <= _HIGHEST / dt:
        raise ThunderError(
            f"cutoff must be more than 0 and at most {_HIGHEST} of the sampling frequency, {_HIGHEST / dt:g} Hz, got "
            f"{frequency:g}"
        )
    return frequency


def noise_gain(period: float, cutoff: float, derivative: int = 0, *, order: int = 4) -> float:
    """Return the variance of a derivative of white noise after the filter of `differentiate`, relative to that before.

    The two passes have the power response 1 / (1 + u^(2 order))^2 with u = f / cutoff; the integral of
    (2 pi f)^(2 derivative) times it, from zero to infinity, is a beta function.
    """
    share = (2 * derivative + 1) / (2 * order)
    integral = (1.0 - share) * np.pi / np.sin(np.pi * share) / (2 * order)
    return float(min(2.0 * period * cutoff * integral, 1.0) * (2.0 * np.pi * cutoff) ** (2 * derivative))


def difference_squares(x: Array, start: int, stop: int) -> Array:
    """Return sums of squares and numbers of the differences of (k, n) that begin in a range, (orders, 2, n)."""
    found = np.zeros((len(_ORDERS), 2, x.shape[1]))
    difference = np.diff(x[start : stop + _ORDERS[-1]], axis=0)
    for k, order in enumerate(_ORDERS):
        difference = np.diff(difference, axis=0)
        here = difference[: max(min(stop, len(x) - order) - start, 0)]
        found[k, 0], found[k, 1] = np.sum(here**2, axis=0), len(here)
    return found


def white_noise(squares: Array) -> Array:
    """Estimate the variances of white noise on smooth signals, (n,), from their `difference_squares`.

    The difference of order m multiplies the variance by (2m)! / m!^2, and nearly removes what is slow compared with
    the sampling. What is left of the signal can only add, so the smallest estimate counts.
    """
    found = [
        sums / numbers / comb(2 * m, m)
        for m, (sums, numbers) in zip(_ORDERS, squares, strict=True)
        if numbers.size and numbers[0] > m
    ]
    return np.min(found, axis=0) if found else np.zeros(squares.shape[-1])


def sampling_period(t: npt.ArrayLike, period: float | None = None) -> float:
    """Return the period of evenly spaced instants [s], or raise; compared with a known period where it is given."""
    times = instants(t)
    steps = np.diff(times)
    period = float(steps.mean()) if period is None else period
    if np.abs(steps - period).max() > JITTER * period:
        raise ThunderError(
            f"t must be evenly spaced, got periods from {steps.min():g} to {steps.max():g} s: interpolate a log with "
            "resample="
        )
    return period


def instants(t: npt.ArrayLike) -> Array:
    """Return at least five increasing instants, even ones without their rounding, or raise."""
    times = array(t, (None,), "t")
    if times.size < 5:
        raise ThunderError(f"t must hold at least 5 instants, got {times.size}")
    check_increasing(times)
    return _without_rounding(times)


def check_increasing(t: Array, last: float = -np.inf, count: int = 0) -> None:
    """Raise unless instants increase, from the one before them on; `count` rows of a log come before."""
    k = first_not_increasing(t, last)
    if k is not None:
        before = last if k == 0 else t[k - 1]
        raise ThunderError(
            f"t must increase from instant to instant, got {t[k]:.9g} after {before:.9g} in row {count + k}"
        )


def first_not_increasing(t: Array, last: float = -np.inf) -> int | None:
    """Return the first index whose instant is not after the one before it, which is `last` for the first."""
    wrong = np.diff(t, prepend=last) <= 0.0
    return int(np.argmax(wrong)) if wrong.any() else None


def _without_rounding(times: Array) -> Array:
    """Return even instants if these are even ones that were rounded, to decimals or to single precision."""
    period = (times[-1] - times[0]) / (times.size - 1)
    even = times[0] + period * np.arange(times.size)
    deviation = times - even
    # both ends are rounded, and so is the instant between
    rounding = min(2.0 * _resolution(times), _MISSING * period) if np.ptp(deviation) > JITTER * period else 0.0
    return even + deviation.mean() if 0.0 < np.ptp(deviation) <= rounding else times


def _resolution(times: Array) -> float:
    """Return the unit that instants are rounded to, zero without one."""
    largest = float(np.abs(times).max())
    if (times.astype(np.float32) == times).all():
        return float(np.spacing(np.float32(largest)))
    for decimals in range(_DECIMALS + 1):
        units = times * 10.0**decimals
        if np.abs(units - np.rint(units)).max() <= 1e-3 + 4.0 * np.spacing(largest * 10.0**decimals):
            return float(10.0**-decimals)
    return 0.0
