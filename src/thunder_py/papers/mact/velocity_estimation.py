"""How good velocity and acceleration from an encoder are: noise and delay of the estimators, measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ...checks import Array
from ...control.estimation import (
    ButterworthDerivative,
    DerivativeEstimator,
    FirstOrderDerivative,
    SavitzkyGolayDerivative,
)
from ...result import Table

__all__ = ["DEFAULT_ESTIMATORS", "VelocityEstimation", "velocity_estimation"]

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


@dataclass(frozen=True)
class VelocityEstimation:
    """What `velocity_estimation` measured, a number for each estimator.

    Attributes
    ----------
    velocity_rms, acceleration_rms : dict of str to float
        Root mean square of the signal's own velocity and acceleration [rad/s, rad/s^2] under ``"signal"``, and of each
        estimate's error.
    velocity_noise, acceleration_noise : dict of str to float
        What of the error is noise: what the encoder's steps add to the estimate of exact positions.
    velocity_delay, acceleration_delay : dict of str to float
        By which the estimate comes late [s]: that which fits the estimate of exact positions best.
    """

    velocity_rms: dict[str, float]
    acceleration_rms: dict[str, float]
    velocity_noise: dict[str, float]
    acceleration_noise: dict[str, float]
    velocity_delay: dict[str, float]
    acceleration_delay: dict[str, float]

    def table(self) -> Table:
        """Return everything, a row for each estimator."""
        columns = ("dq error [rad/s]", "noise", "delay [ms]", "ddq error [rad/s^2]", "noise", "delay [ms]")
        rows = {
            name: (
                self.velocity_rms[name], self.velocity_noise[name], 1e3 * self.velocity_delay[name],
                self.acceleration_rms[name], self.acceleration_noise[name], 1e3 * self.acceleration_delay[name],
            )
            for name in self.velocity_noise
        }  # fmt: skip
        nothing = (self.velocity_rms["signal"], 0.0, 0.0, self.acceleration_rms["signal"], 0.0, 0.0)
        return Table(columns, {"estimate of zero": nothing, **rows})


def velocity_estimation(
    estimators: Mapping[str, DerivativeEstimator] | None = None,
    *,
    resolution: float = 2.0 * np.pi / 2**16,
    period: float = 1e-3,
    duration: float = 10.0,
) -> VelocityEstimation:
    """Measure noise and delay of derivative estimators on a known motion behind an encoder.

    The motion is a sum of three sinusoids of 0.3, 0.8 and 1.7 Hz, such as a joint makes in fast work. The first second
    is left out: filters start at rest.

    Parameters
    ----------
    estimators : mapping of str to DerivativeEstimator, optional
        Default `DEFAULT_ESTIMATORS`.
    resolution : float
        Step of the encoder [rad]; default 16 bits per turn.
    period, duration : float
        Time between samples, and of all of them [s].
    """
    t: Array = np.arange(round(duration / period) + 1, dtype=np.float64) * period
    q, dq, ddq = _motion(t)
    steps = resolution * np.round(q / resolution) if resolution > 0.0 else q
    kept = t >= 1.0
    rms = {"signal": _rms(dq[kept])}, {"signal": _rms(ddq[kept])}
    noise: tuple[dict[str, float], dict[str, float]] = {}, {}
    delay: tuple[dict[str, float], dict[str, float]] = {}, {}
    for name, estimator in (DEFAULT_ESTIMATORS if estimators is None else estimators).items():
        measured, exact = estimator.apply(period, steps), estimator.apply(period, q)
        for k in range(2):
            rms[k][name] = _rms((measured[k] - (dq, ddq)[k])[kept])
            noise[k][name] = _rms((measured[k] - exact[k])[kept])
            delay[k][name] = _delay(t[kept], exact[k][kept], k + 1)
    return VelocityEstimation(*rms, *noise, *delay)


_MOTION = ((0.5, 0.3), (0.2, 0.8), (0.05, 1.7))  # amplitudes [rad] and frequencies [Hz]


def _motion(t: Array) -> tuple[Array, Array, Array]:
    values = np.zeros((3, t.size))
    for amplitude, frequency in _MOTION:
        w = 2.0 * np.pi * frequency
        values += amplitude * np.array([np.sin(w * t), w * np.cos(w * t), -(w**2) * np.sin(w * t)])
    return values[0], values[1], values[2]


def _rms(values: Array) -> float:
    return float(np.sqrt(np.mean(values**2)))


def _delay(t: Array, estimate: Array, order: int) -> float:
    """Return the shift of the true derivative that fits the estimate best."""
    from scipy.optimize import minimize_scalar

    def misfit(delay: float) -> float:
        return _rms(estimate - _motion(t - delay)[order])

    return float(minimize_scalar(misfit, bounds=(-0.05, 0.1), method="bounded", options={"xatol": 1e-7}).x)
