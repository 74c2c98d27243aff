"""Velocity and acceleration from an encoder: measured noise and delay of the estimators."""

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
from ...table import Table
from ..results import rms

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
    """Results of `velocity_estimation` for each estimator.

    Attributes
    ----------
    velocity_rms, acceleration_rms : dict of str to float
        Root mean square of the true velocity and acceleration [rad/s, rad/s^2] under ``"signal"``, and of the error of
        each estimate.
    velocity_noise, acceleration_noise : dict of str to float
        Noise of the error: difference between the estimates from encoder steps and from exact positions.
    velocity_delay, acceleration_delay : dict of str to float
        Delay of the estimate [s], the best fit for exact positions.
    """

    velocity_rms: dict[str, float]
    acceleration_rms: dict[str, float]
    velocity_noise: dict[str, float]
    acceleration_noise: dict[str, float]
    velocity_delay: dict[str, float]
    acceleration_delay: dict[str, float]

    def table(self) -> Table:
        """Return everything, a row for each estimator."""
        columns = [f"{x} {what}" for x, unit in (("dq", "rad/s"), ("ddq", "rad/s^2"))
                   for what in (f"error [{unit}]", f"noise [{unit}]", "delay [ms]")]  # fmt: skip
        rows: list[tuple[str | float, ...]] = [
            ("estimate of zero", self.velocity_rms["signal"], 0.0, 0.0, self.acceleration_rms["signal"], 0.0, 0.0)
        ]
        rows += (
            (
                name, self.velocity_rms[name], self.velocity_noise[name], 1e3 * self.velocity_delay[name],
                self.acceleration_rms[name], self.acceleration_noise[name], 1e3 * self.acceleration_delay[name],
            )
            for name in self.velocity_noise
        )  # fmt: skip
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
    """
    t: Array = np.arange(round(duration / period) + 1, dtype=np.float64) * period
    q, dq, ddq = _motion(t)
    steps = resolution * np.round(q / resolution) if resolution > 0.0 else q
    settled = t >= 1.0
    error = {"signal": rms(dq[settled])}, {"signal": rms(ddq[settled])}
    noise: tuple[dict[str, float], dict[str, float]] = {}, {}
    delay: tuple[dict[str, float], dict[str, float]] = {}, {}
    for name, estimator in (DEFAULT_ESTIMATORS if estimators is None else estimators).items():
        measured, exact = estimator.apply(period, steps), estimator.apply(period, q)
        for k in range(2):
            error[k][name] = rms((measured[k] - (dq, ddq)[k])[settled])
            noise[k][name] = rms((measured[k] - exact[k])[settled])
            delay[k][name] = _delay(t[settled], exact[k][settled], k + 1)
    return VelocityEstimation(*error, *noise, *delay)


_MOTION = ((0.5, 0.3), (0.2, 0.8), (0.05, 1.7))  # amplitudes [rad] and frequencies [Hz]


def _motion(t: Array) -> tuple[Array, Array, Array]:
    values = np.zeros((3, t.size))
    for amplitude, frequency in _MOTION:
        w = 2.0 * np.pi * frequency
        values += amplitude * np.array([np.sin(w * t), w * np.cos(w * t), -(w**2) * np.sin(w * t)])
    return values[0], values[1], values[2]


def _delay(t: Array, estimate: Array, order: int) -> float:
    """Return the shift of the true derivative that fits the estimate best."""
    from scipy.optimize import minimize_scalar

    def misfit(delay: float) -> float:
        return rms(estimate - _motion(t - delay)[order])

    return float(minimize_scalar(misfit, bounds=(-0.05, 0.1), method="bounded", options={"xatol": 1e-7}).x)
