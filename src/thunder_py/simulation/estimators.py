"""Velocity and acceleration from an encoder: measured noise and delay of the estimators."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ..checks import Array
from ..control.estimation import (
    ButterworthDerivative,
    DerivativeEstimator,
    FirstOrderDerivative,
    SavitzkyGolayDerivative,
)
from ..table import Table

DEFAULT_ESTIMATORS: Mapping[str, DerivativeEstimator] = {
    "differences": SavitzkyGolayDerivative(3, 2),
    "first order, 10 Hz": FirstOrderDerivative(10.0),
    "first order, 30 Hz": FirstOrderDerivative(30.0),
    "first order, 100 Hz": FirstOrderDerivative(100.0),
    "Butterworth, 10 Hz": ButterworthDerivative(10.0),
    "Butterworth, 30 Hz": ButterworthDerivative(30.0),
    "Butterworth, 100 Hz": ButterworthDerivative(100.0),
    "Savitzky-Golay, 15 samples, order 2": SavitzkyGolayDerivative(15, 2),
    "Savitzky-Golay, 31 samples, order 2": SavitzkyGolayDerivative(31, 2),
    "Savitzky-Golay, 61 samples, order 2": SavitzkyGolayDerivative(61, 2),
    "Savitzky-Golay, 61 samples, order 3": SavitzkyGolayDerivative(61, 3),
}


class Quality(NamedTuple):
    """Quality of an estimated derivative.

    Attributes
    ----------
    rms : float
        Root mean square of the error [rad/s or rad/s^2].
    noise : float
        Noise of the error: difference between the estimates from encoder steps and from exact positions.
    delay : float
        Delay of the estimate [s], the best fit for exact positions.

    Examples
    --------
    >>> from thunder_py.simulation import Quality
    >>> Quality(rms=0.03, noise=0.01, delay=0.005).delay
    0.005
    """

    rms: float
    noise: float = 0.0
    delay: float = 0.0


class VelocityEstimation(NamedTuple):
    """Results of `velocity_estimation`.

    Attributes
    ----------
    velocity, acceleration : dict of str to Quality
        By estimator; ``"estimate of zero"`` has the root mean square of the derivative itself.

    Examples
    --------
    >>> from thunder_py.simulation import Quality, VelocityEstimation
    >>> found = VelocityEstimation({"slow": Quality(0.03)}, {"slow": Quality(0.5)})
    >>> list(found.table().to_dict())
    ['slow']
    """

    velocity: dict[str, Quality]
    acceleration: dict[str, Quality]

    def table(self) -> Table:
        """Return everything, a row for each estimator."""
        columns = [f"{x} {what}" for x, unit in (("dq", "rad/s"), ("ddq", "rad/s^2"))
                   for what in (f"error [{unit}]", f"noise [{unit}]", "delay [ms]")]  # fmt: skip
        rows = [
            [name, *(x for each in self for x in (*each[name][:2], 1e3 * each[name].delay))] for name in self.velocity
        ]
        return Table(["", *columns], rows)


def velocity_estimation(
    estimators: Mapping[str, DerivativeEstimator] | None = None,
    *,
    resolution: float = 2.0 * np.pi / 2**16,
    period: float = 1e-3,
    duration: float = 10.0,
) -> VelocityEstimation:
    """Measure noise and delay of derivative estimators on a known motion measured by an encoder.

    The motion is a sum of three sinusoids of 0.3, 0.8 and 1.7 Hz, typical of a fast joint. The first second is omitted,
    because the filters start at rest.

    Parameters
    ----------
    estimators : mapping of str to DerivativeEstimator, optional
        Default `DEFAULT_ESTIMATORS`.
    resolution : float
        Step of the encoder [rad]; default 16 bits per turn.
    period, duration : float
        Sampling period and duration [s].

    Returns
    -------
    VelocityEstimation

    Examples
    --------
    >>> from thunder_py.control import FirstOrderDerivative
    >>> from thunder_py.simulation import velocity_estimation
    >>> found = velocity_estimation({"slow": FirstOrderDerivative(10.0)}, duration=3.0)
    >>> round(found.velocity["slow"].delay, 3)  # 1 / (2 pi 10 Hz)
    0.016
    """
    t: Array = np.arange(round(duration / period) + 1, dtype=np.float64) * period
    q, *derivatives = _motion(t)
    steps = resolution * np.round(q / resolution) if resolution > 0.0 else q
    settled = t >= 1.0
    found = VelocityEstimation(*({"estimate of zero": Quality(_rms(x[settled]))} for x in derivatives))
    for name, estimator in (DEFAULT_ESTIMATORS if estimators is None else estimators).items():
        estimates = zip(estimator.apply(period, steps), estimator.apply(period, q), strict=True)
        for k, (measured, exact) in enumerate(estimates):
            error, noise = (_rms((measured - x)[settled]) for x in (derivatives[k], exact))
            found[k][name] = Quality(error, noise, _delay(t[settled], exact[settled], k + 1))
    return found


def _rms(values: Array) -> float:
    return float(np.sqrt(np.mean(np.square(values))))


_MOTION = ((0.5, 0.3), (0.2, 0.8), (0.05, 1.7))  # amplitudes [rad] and frequencies [Hz]


def _motion(t: Array) -> Array:
    """Return position, velocity and acceleration, (3, T)."""
    values = np.zeros((3, t.size))
    for amplitude, frequency in _MOTION:
        w = 2.0 * np.pi * frequency
        values += amplitude * np.array([np.sin(w * t), w * np.cos(w * t), -(w**2) * np.sin(w * t)])
    return values


def _delay(t: Array, estimate: Array, order: int) -> float:
    """Return the shift of the true derivative that fits the estimate best."""
    from scipy.optimize import minimize_scalar

    def misfit(delay: float) -> float:
        return _rms(estimate - _motion(t - delay)[order])

    return float(minimize_scalar(misfit, bounds=(-0.05, 0.1), method="bounded", options={"xatol": 1e-7}).x)
