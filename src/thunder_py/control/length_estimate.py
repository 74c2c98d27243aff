"""Estimates of an adaptive controller with unknown lengths, and their integration between control steps."""

from __future__ import annotations

import numpy as np

from ..checks import Array
from .length_adaptation import LengthModel

_LONGEST_GAP, _BOUND = 0.1, 1e6  # longest integrated period [s], largest estimate; those of the compiled controllers


class LengthEstimate:
    """Estimated lengths, (k,), and products of lengths and inertial parameters, (a, 1 + u), with their derivatives.

    `Gamma` is the gain of the u unknown inertial parameters.
    """

    def __init__(self, model: LengthModel, parameters: Array, Gamma: Array) -> None:
        self._model, self._parameters = model, parameters
        self._Gamma_inverse = np.linalg.inv(Gamma)
        self.reset()

    def reset(self) -> None:
        """Return to the nominal lengths and parameters."""
        self.lengths, self.products = self._model.nominal.copy(), self.nominal_products()
        self._clock = float("nan")
        self.freeze()

    def nominal_products(self) -> Array:
        """Return the products of nominal lengths and parameters."""
        return self._model.products(self._model.nominal, self._parameters)

    def freeze(self) -> None:
        """Hold the estimates until the next `adapt`."""
        self._offset, self._largest_rate = np.zeros(self._model.k), 0.0
        self.ignore_tracking()

    def ignore_tracking(self) -> None:
        """Adapt to the predicted position only, for clipped torques and after a hold."""
        self._drift, self._products_dot = np.zeros(self._model.k), np.zeros_like(self.products)

    def adapt(self, tracking: Array, prediction: Array, P: Array, gradient: Array) -> None:
        """Set the derivatives: of the lengths in two parts, (k,); of the products from their gradient Y' s."""
        model = self._model
        self._drift, self._offset = tracking, prediction
        self._largest_rate = model.gamma * float(np.trace(P @ model.Gamma_inverse @ P.T))
        known = gradient[:, :1] / model.Gamma_torque
        known[0] = 0.0  # the factor of the known parameters at the nominal lengths is 1
        self._products_dot = np.hstack([known, gradient[:, 1:] @ self._Gamma_inverse])

    def advance(self, t: float) -> bool:
        """Integrate to time t by Euler's rule; return False once an estimate has diverged, until `reset`."""
        gap = t - self._clock
        dt, self._clock = (min(gap, _LONGEST_GAP) if gap > 0.0 else 0.0), t  # NaN at the first step
        # where Euler's rule would overshoot the measured position, the step is shortened
        offset = self._offset / max(1.0, dt * self._largest_rate)
        self.lengths = self.lengths + dt * (self._drift + offset)
        self.products = self.products + dt * self._products_dot
        return self.bounded

    @property
    def bounded(self) -> bool:
        """False once an estimate has diverged, until `reset`."""
        return all(bool((np.abs(values) <= _BOUND).all()) for values in (self.lengths, self.products))
