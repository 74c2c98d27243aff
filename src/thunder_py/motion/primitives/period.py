"""Period of a sampled periodic motion."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...checks import Array
from ...errors import ThunderError

#: largest change from cycle to cycle of a periodic motion, where 1 is that between unrelated samples
_PERIODIC = 0.5
#: the shortest lag is preferred among those that repeat the motion equally well up to this
_CLOSE = 0.05
#: harmonics of the fit that determines the period
_HARMONICS = 8


def find_period(t: npt.ArrayLike, x: npt.ArrayLike, name: str = "demonstration") -> float:
    """Return the period of a motion of at least two cycles.

    Parameters
    ----------
    t : (k,) array_like
        Increasing times from zero [s].
    x : (k, d) array_like
        Positions, in one unit.
    name : str
        Name of the motion in messages.

    Returns
    -------
    float
        Period [s].

    Raises
    ------
    ThunderError
        For a motion that does not repeat within half its duration.

    Notes
    -----
    The mean of ``|x(t + lag) - x(t)|^2 / 2`` over time, relative to the variance, is zero at the period of an exact
    repetition (compare de Cheveigne and Kawahara, 2002, "YIN, a fundamental frequency estimator for speech and music").
    The first deep valley is the period to about a sample; valleys at twice, four times ... that lag narrow it down.
    Within these limits the period is that of the least squares fit of harmonics.

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.motion.primitives.period import find_period
    >>> t = np.linspace(0.0, 10.0, 1001)
    >>> round(find_period(t, np.column_stack([np.sin(5.0 * t), np.cos(10.0 * t)])) / (0.4 * np.pi), 9)
    1.0
    """
    from scipy.interpolate import make_interp_spline
    from scipy.optimize import minimize_scalar

    times, values = np.asarray(t, dtype=np.float64), np.asarray(x, dtype=np.float64)
    values = values - values.mean(axis=0)
    n = len(times)
    change = _changes(make_interp_spline(times, values, k=1)(np.linspace(0.0, times[-1], n)))
    lag, multiple = float(_first_valley(change, name)), 1
    while 2.25 * multiple * lag < len(change):
        multiple *= 2
        low, high = round(lag * (multiple - 0.125)), round(lag * (multiple + 0.125)) + 1
        lag = (low + int(np.argmin(change[low:high]))) / multiple
    period = lag * times[-1] / (n - 1)
    width = period / (20.0 * multiple)
    fit = minimize_scalar(
        lambda T: _misfit(times, values, T), bounds=(period - width, period + width), options={"xatol": 1e-10 * period}
    )
    return float(fit.x)


def _changes(x: Array) -> Array:
    """Return the relative mean squared changes of even samples x (k, d) over 0, 1, ... samples, at most 3 k / 4."""
    n = len(x)
    most = 3 * n // 4
    size = 2 ** int(np.ceil(np.log2(2 * n)))
    spectrum = np.fft.rfft(x, size, axis=0)
    correlation = np.fft.irfft(np.abs(spectrum) ** 2, size, axis=0).sum(axis=1)[:most]
    energy = np.concatenate([[0.0], np.cumsum(np.square(x).sum(axis=1))])
    lags = np.arange(most)
    sums = energy[n - lags] + energy[n] - energy[lags] - 2.0 * correlation
    return np.asarray(sums / (2.0 * (n - lags) * max(energy[n] / n, np.finfo(np.float64).tiny)))


def _first_valley(change: Array, name: str) -> int:
    """Return the lag at the bottom of the first deep valley of changes, after their rise from zero."""
    half = change[: 2 * len(change) // 3 + 2]  # half of the samples
    rise = int(np.argmax(half > _PERIODIC))
    least = float(half[rise:].min()) if half[rise] > _PERIODIC else np.inf
    if not least <= _PERIODIC:
        raise ThunderError(
            f"{name} must repeat within half its duration, got no period: cut off parts that do not repeat, or give "
            "period [s]"
        )
    deep = half <= min(least + _CLOSE, _PERIODIC)
    deep[:rise] = False
    first = int(np.argmax(deep))
    end = first + int(np.argmin(np.append(deep[first:], False)))
    return first + int(np.argmin(half[first:end]))


def _misfit(t: Array, x: Array, period: float) -> float:
    """Return the squared residual of x (k, d) from harmonics of a period [s]."""
    angles = 2.0 * np.pi / period * np.outer(t, np.arange(1, _HARMONICS + 1))
    A = np.hstack([np.ones((len(t), 1)), np.cos(angles), np.sin(angles)])
    solution, *_ = np.linalg.lstsq(A, x, rcond=None)
    return float(np.square(x - A @ solution).sum())
