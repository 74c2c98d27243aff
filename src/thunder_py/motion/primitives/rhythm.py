"""Period of a sampled rhythm, and its phase where the period drifts."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...checks import Array
from ...errors import ThunderError

#: largest change from cycle to cycle of a periodic motion, where 1 is that between unrelated samples
_PERIODIC = 0.5
#: the shortest lag is preferred among those that repeat the motion equally well up to this
_CLOSE = 0.05
#: harmonics of the fit that determines period and phase
_HARMONICS = 8
#: residual of harmonics of one period, relative to the motion, below which no other phase is sought
_EXACT = 3e-3
#: a phase with a drifting period must reduce the mean square of the residual to this part
_BETTER = 0.8
#: lags at which the next cycle is sought, relative to the last period
_NEXT = (0.65, 1.45)
#: weight of changes of the period from cycle to cycle, relative to the information on the phase in a cycle
_SMOOTH = 1e-3
#: Gauss-Newton steps, and the part of the error below which a step must bring it
_ITERATIONS, _SETTLED = 30, 0.999
#: lags that are tried, of the whole motion and of its beginning
_CANDIDATES = 2


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
    >>> from thunder_py.motion.primitives.rhythm import find_period
    >>> t = np.linspace(0.0, 10.0, 1001)
    >>> round(find_period(t, np.column_stack([np.sin(5.0 * t), np.cos(10.0 * t)])) / (0.4 * np.pi), 7)
    1.0
    """
    from scipy.optimize import minimize_scalar

    times, values = np.asarray(t, dtype=np.float64), np.asarray(x, dtype=np.float64)
    n, even = len(times), _even(times, values)
    change = _changes(even)
    lag, multiple = float(_first_valley(change, name)), 1
    while 2.25 * multiple * lag < len(change):
        multiple *= 2
        low, high = round(lag * (multiple - 0.125)), round(lag * (multiple + 0.125)) + 1
        lag = (low + int(np.argmin(change[low:high]))) / multiple
    period = lag * times[-1] / (n - 1)
    width = period / (20.0 * multiple)
    fit = minimize_scalar(
        lambda T: _harmonics(2.0 * np.pi / T * times, values)[1],
        bounds=(period - width, period + width),
        options={"xatol": 1e-10 * period},
    )
    return float(fit.x)


def find_phase(t: Array, x: Array, name: str = "demonstration") -> tuple[float, Array]:
    """Return the mean period of a motion, and its phase with a period that may drift.

    Parameters
    ----------
    t, x, name
        As for `find_period`.

    Returns
    -------
    period : float
        Mean period [s].
    phase : (3, k) array
        Phase [rad], zero at the first sample, and its first two derivatives by time.

    Raises
    ------
    ThunderError
        As for `find_period`.

    Notes
    -----
    Where harmonics of one period do not describe the motion, cycles are followed one by one, each at the lag at which
    it repeats the last one best. The phase is then a cubic spline with a knot in each cycle. It is fitted together with
    the harmonics by Gauss-Newton steps, and kept if it explains a fifth of what one period leaves.
    """
    values = x - x.mean(axis=0)
    even, power, phase = _even(t, values), np.square(values).sum(), None
    lags, rest = _lags(even), _PERIODIC * power
    try:
        period = find_period(t, x, name)
    except ThunderError as unknown:
        refusal = unknown
    else:
        phase = steady_phase(t, period)
        rest = _harmonics(phase[0], values)[1]
    for lag in lags:
        if rest <= _EXACT**2 * power:
            break
        error, drifting = _follow(t, values, _cycles(even, lag) * t[-1] / (len(t) - 1))
        if error < _BETTER * rest:
            rest, phase, period = error, drifting, float(2.0 * np.pi * t[-1] / drifting[0, -1])
    if phase is None:
        raise refusal
    return period, phase


def _lags(x: Array) -> list[float]:
    """Return lags at which even samples x (k, d), their first half, or their first quarter repeat, ascending."""
    from scipy.signal import find_peaks

    found = set()
    for part in (1, 2, 4):
        change = _changes(x[: len(x) // part])
        found |= set(find_peaks(-change, height=-_PERIODIC, prominence=_CLOSE)[0][:_CANDIDATES].tolist())
    return sorted(found)


def _follow(t: Array, x: Array, starts: Array) -> tuple[float, Array]:
    """Fit harmonics and phase, from cycles that begin at some times; return error and phase as in `find_phase`."""
    from scipy.interpolate import BSpline

    count = max(2, len(starts) - 1)
    knots = np.concatenate([np.zeros(3), np.linspace(0.0, t[-1], count + 1), np.full(3, t[-1])])
    B = BSpline.design_matrix(t, knots, 3).toarray()
    theta = np.linalg.lstsq(B, np.interp(t, starts, 2.0 * np.pi * np.arange(len(starts))), rcond=None)[0]
    bend = np.diff(np.eye(len(theta)), 2, axis=0)
    stiffness, least = np.zeros((0, 0)), np.inf
    for _ in range(_ITERATIONS):
        model, error, slope, Q = _harmonics(B @ theta, x)
        information = B.T @ (np.square(slope).sum(axis=1)[:, None] * B)
        if not stiffness.size:
            size = np.trace(information) / count
            stiffness = size * (_SMOOTH * bend.T @ bend + 1e-9 * np.eye(len(theta)))
        cost = error + theta @ stiffness @ theta
        if not cost < _SETTLED * least:
            break
        best, least, rest = theta, cost, error
        for column in slope.T:  # what the harmonics do not take over
            W = Q.T @ (column[:, None] * B)
            information -= W.T @ W
        pull = B.T @ (slope * (x - model)).sum(axis=1) - stiffness @ theta
        theta = theta + np.linalg.solve(information + stiffness, pull)
    spline = BSpline(knots, best - best[0], 3)
    phase = np.array([spline(t, order) for order in range(3)])
    freedom = x.size - (2 * _HARMONICS + 1) * x.shape[1]
    return rest * freedom / max(freedom - len(theta), 1) if phase[1].min() > 0.0 else np.inf, phase


def steady_phase(t: Array, period: float) -> Array:
    """Return the phase [rad] of a constant period [s], and its first two derivatives by time, (3, k)."""
    rate = 2.0 * np.pi / period
    return np.array([rate * t, np.full(len(t), rate), np.zeros(len(t))])


def _even(t: Array, x: Array) -> Array:
    """Return x about its mean at as many even times."""
    from scipy.interpolate import make_interp_spline

    return np.asarray(make_interp_spline(t, x - x.mean(axis=0), k=1)(np.linspace(0.0, t[-1], len(t))))


def _cycles(x: Array, lag: float) -> Array:
    """Return the samples at which cycles of even samples x (k, d) begin, the last one beyond the end."""
    starts = [0.0]
    while starts[-1] < len(x) - 1:
        first = round(starts[-1])
        lags = np.arange(round(_NEXT[0] * lag), round(_NEXT[1] * lag) + 1)
        rest = len(x) - first - lags[-1]
        if rest >= 0.5 * lag:
            cycle = x[first : first + min(round(lag), rest)]
            misfit = np.array([np.square(x[first + k : first + k + len(cycle)] - cycle).sum() for k in lags])
            k = int(np.argmin(misfit))
            bend = np.diff(misfit[k - 1 : k + 2], 2) if 0 < k < len(lags) - 1 else np.zeros(0)
            if bend.size and bend[0] > 0.0:
                lag = float(lags[k] + 0.5 * (misfit[k - 1] - misfit[k + 1]) / bend[0])
        starts.append(starts[-1] + lag)
    return np.array(starts)


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


def _harmonics(phase: Array, x: Array) -> tuple[Array, float, Array, Array]:
    """Return the harmonics of phases (k,) nearest to x (k, d), their squared distance, slope, and space."""
    order = np.arange(1, _HARMONICS + 1)
    cos, sin = np.cos(np.outer(phase, order)), np.sin(np.outer(phase, order))
    A = np.hstack([np.ones((len(phase), 1)), cos, sin])
    Q, R = np.linalg.qr(A)
    inside = Q.T @ x
    model, solution = Q @ inside, np.linalg.lstsq(R, inside, rcond=None)[0]
    slope = (cos * order) @ solution[_HARMONICS + 1 :] - (sin * order) @ solution[1 : _HARMONICS + 1]
    return model, float(np.square(x - model).sum()), slope, Q
