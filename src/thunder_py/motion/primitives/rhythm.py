"""Period of a sampled rhythm, and its phase where the period drifts."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...checks import Array
from ...errors import ThunderError

#: largest change from cycle to cycle of a periodic motion, where 1 is that between unrelated samples
_PERIODIC = 0.5
#: least depth of a valley of that change
_CLOSE = 0.05
#: largest number of harmonics of the fit that determines period and phase; samples permit fewer
_HARMONICS = 8
#: residual of harmonics of one period, relative to the motion, below which no other phase is sought
_EXACT = 3e-3
#: another phase must reduce the mean square of the residual to this part
_BETTER = 0.8
#: lags at which the next cycle is sought, relative to the last period
_NEXT = (0.65, 1.45)
#: weight of changes of the period from cycle to cycle, relative to the information on the phase in a cycle
_SMOOTH, _DAMPING = 1e-3, 1e-9
#: Gauss-Newton steps, and the part of the error below which a step must bring it
_ITERATIONS, _SETTLED = 30, 0.999
#: lags that are tried, of the whole motion and of its beginning
_CANDIDATES = 2


def find_phase(t: npt.ArrayLike, x: npt.ArrayLike, name: str = "demonstration") -> tuple[float, Array]:
    """Return the mean period of a motion of at least two cycles, and its phase with a period that may drift.

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
    period : float
        Mean period [s].
    phase : (3, k) array
        Phase [rad], zero at the first sample, and its first two derivatives by time.

    Raises
    ------
    ThunderError
        For a motion that does not repeat within half its duration.

    Notes
    -----
    The mean of ``|x(t + lag) - x(t)|^2 / 2`` over time, relative to the variance, is zero at the period of an exact
    repetition (compare de Cheveigne and Kawahara, 2002, "YIN, a fundamental frequency estimator for speech and music").
    From its valleys cycles are followed one by one, each at the lag at which it repeats the last one best. The phase is
    a line or, if that explains a fifth of what is left, a cubic spline with a knot in each cycle. It is fitted together
    with the harmonics by Gauss-Newton steps.

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.motion.primitives.rhythm import find_phase
    >>> t = np.linspace(0.0, 10.0, 1001)
    >>> period, phase = find_phase(t, np.column_stack([np.sin(5.0 * t), np.cos(10.0 * t)]))
    >>> round(period / (0.4 * np.pi), 7)
    1.0
    """
    from scipy.interpolate import BSpline, make_interp_spline

    times, values = np.asarray(t, dtype=np.float64), np.asarray(x, dtype=np.float64)
    values = values - values.mean(axis=0)
    n, T = len(times), times[-1]
    even = make_interp_spline(times, values, k=1)(np.linspace(0.0, T, n))
    power = rest = np.square(values).sum()
    phase = None
    for lag in _lags(even):
        starts = _cycles(even, lag) * T / (n - 1)
        count = max(2, len(starts) - 1)
        for degree, pieces in ((1, 1), (3, count)):
            ends = np.full(degree, T)
            knots = np.concatenate([0.0 * ends, np.linspace(0.0, T, pieces + 1), ends])
            B = BSpline.design_matrix(times, knots, degree).toarray()
            error, theta = _fit(times, values, starts, B, int(np.clip(0.5 * lag - 0.5, 1, _HARMONICS)))
            if error < _BETTER * rest and rest > _EXACT**2 * power and np.diff(theta).min() > 0.0:
                rest, curve = error, BSpline(knots, theta - theta[0], degree)
                phase = np.array([curve(times, order) for order in range(3)])
    if phase is None:
        raise ThunderError(
            f"{name} must repeat within half its duration, got no period: cut off parts that do not repeat, or give "
            "period [s]"
        )
    return float(2.0 * np.pi * T / phase[0, -1]), phase


def _lags(x: Array) -> list[int]:
    """Return lags at which even samples x (k, d), their first half, or their first quarter repeat, ascending."""
    from scipy.signal import find_peaks

    found: set[int] = set()
    for part in (1, 2, 4):
        change = _changes(x[: len(x) // part])
        found |= set(find_peaks(-change, height=-_PERIODIC, prominence=_CLOSE)[0][:_CANDIDATES].tolist())
    return sorted(lag for lag in found if lag < len(x) // 2 + 2)


def _fit(t: Array, x: Array, starts: Array, B: Array, count: int) -> tuple[float, Array]:
    """Fit `count` harmonics and phase B theta to x (k, d) of cycles with given starts; return error and theta."""
    theta = np.linalg.lstsq(B, np.interp(t, starts, 2.0 * np.pi * np.arange(len(starts))), rcond=None)[0]
    bend, best, least = np.diff(np.eye(len(theta)), 2, axis=0), theta, np.inf
    for step in range(_ITERATIONS):
        model, error, slope, Q = _harmonics(B @ theta, x, count)
        information = B.T @ (np.square(slope).sum(axis=1)[:, None] * B)
        if not step:
            size = np.trace(information) / len(theta)
            stiffness = _SMOOTH * size * bend.T @ bend
        cost = error + theta @ stiffness @ theta
        if not cost < _SETTLED * least:
            break
        best, least, rest = theta, cost, error
        for column in slope.T:  # what the harmonics do not take over
            W = Q.T @ (column[:, None] * B)
            information -= W.T @ W
        pull = B.T @ (slope * (x - model)).sum(axis=1) - stiffness @ theta
        theta = theta + np.linalg.solve(information + stiffness + _DAMPING * size * np.eye(len(theta)), pull)
    freedom = x.size - (2 * count + 1) * x.shape[1]
    return rest * freedom / max(freedom - len(theta), 1), best


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


def _harmonics(phase: Array, x: Array, count: int) -> tuple[Array, float, Array, Array]:
    """Return the harmonics of phases (k,) nearest to x (k, d), their squared distance, slope, and space."""
    order = np.arange(1, count + 1)
    cos, sin = np.cos(np.outer(phase, order)), np.sin(np.outer(phase, order))
    A = np.hstack([np.ones((len(phase), 1)), cos, sin])
    Q, R = np.linalg.qr(A)
    inside = Q.T @ x
    model, solution = Q @ inside, np.linalg.lstsq(R, inside, rcond=None)[0]
    slope = (cos * order) @ solution[count + 1 :] - (sin * order) @ solution[1 : count + 1]
    return model, float(np.square(x - model).sum()), slope, Q
