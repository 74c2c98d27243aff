"""Velocity and acceleration from sampled positions, one sample after the other."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .. import _core
from ..checks import Array, array

__all__ = [
    "ButterworthDerivative",
    "DerivativeEstimator",
    "Derivatives",
    "FirstOrderDerivative",
    "SavitzkyGolayDerivative",
]


class Derivatives(NamedTuple):
    """First and second derivative.

    Attributes
    ----------
    dq, ddq : (n,) or (k, n) array
        Velocity and acceleration.
    """

    dq: Array
    ddq: Array


class DerivativeEstimator(_core.DerivativeEstimator):
    """What the estimators have in common: causal filters whose first sample is a state of rest.

    Every sample must come the same time after the one before; when `dt` changes the filter adapts, with a transient.
    At a sample with NaN or infinity the estimates stay; the next one is taken to lie at the end of a straight line over
    the gap, whose samples the filter is given late. After more than 1000 missing samples it starts anew.
    """

    def step(self, dt: float, q: npt.ArrayLike) -> Derivatives:
        """Take a sample and return the estimates.

        Parameters
        ----------
        dt : float
            Time since the sample before [s].
        q : (n,) array_like
            Positions.
        """
        return Derivatives(*self._step(float(array(dt, (), "dt")), q))

    def apply(self, dt: float, q: npt.ArrayLike) -> Derivatives:
        """Return the estimates for a series of samples; the state that `step` keeps is left alone.

        Parameters
        ----------
        dt : float
            Time between samples [s].
        q : (k, n) or (k,) array_like
            Positions, a row for each sample.
        """
        samples = array(q, (None,) * np.ndim(q), "q")
        if samples.ndim not in (1, 2):
            raise ValueError(f"q must have shape (k, n) or (k,), got {samples.shape}")
        estimates = self._apply(float(array(dt, (), "dt")), samples.reshape(len(samples), -1))
        return Derivatives(*(values.reshape(samples.shape) for values in estimates))


class FirstOrderDerivative(DerivativeEstimator):
    """Filtered derivatives of first order: ``w s / (s + w)`` of the position, and of that velocity again.

    The cheapest filter, with little delay and little smoothing. The bilinear rule brings it to samples, with the
    cutoff kept (prewarping).

    Parameters
    ----------
    cutoff : float
        w / 2 pi [Hz], below half of the sampling rate.
    """

    def __init__(self, cutoff: float) -> None:
        self.cutoff = float(array(cutoff, (), "cutoff"))
        super().__init__("first_order", cutoff=self.cutoff)

    def __repr__(self) -> str:
        return f"FirstOrderDerivative(cutoff={self.cutoff:g})"


class ButterworthDerivative(DerivativeEstimator):
    """Derivatives behind a Butterworth low-pass of second order: ``s H`` and ``s^2 H`` of the position.

    Brought to samples by the bilinear rule, with the cutoff kept (prewarping).

    Parameters
    ----------
    cutoff : float
        [Hz], below half of the sampling rate.
    """

    def __init__(self, cutoff: float) -> None:
        self.cutoff = float(array(cutoff, (), "cutoff"))
        super().__init__("butterworth", cutoff=self.cutoff)

    def __repr__(self) -> str:
        return f"ButterworthDerivative(cutoff={self.cutoff:g})"


class SavitzkyGolayDerivative(DerivativeEstimator):
    """Derivatives, at the newest sample, of the polynomial that fits the last samples best.

    Polynomials up to the order pass without delay; noise falls with the length of the window.

    Parameters
    ----------
    window : int
        Samples, more than `order`.
    order : int
        Of the polynomial, at least 1; with 1 the acceleration is zero.

    Notes
    -----
    Savitzky and Golay (1964), evaluated at the end of the window as Gorry (1990) does.
    """

    def __init__(self, window: int, order: int = 2) -> None:
        for name, value in (("window", window), ("order", order)):
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
                raise ValueError(f"{name} must be an integer, got {value!r}")
        if not 1 <= order < window <= 10_000:
            raise ValueError(f"window must be more than order, and order at least 1; got {window} and {order}")
        self.window, self.order = int(window), int(order)
        super().__init__("savitzky_golay", window=self.window, order=self.order)

    def __repr__(self) -> str:
        return f"SavitzkyGolayDerivative(window={self.window}, order={self.order})"
