"""Causal estimators of velocity and acceleration from sampled positions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .. import _core
from ..checks import Array, array, whole
from ..errors import ThunderError


class Derivatives(NamedTuple):
    """Estimated velocity and acceleration.

    Attributes
    ----------
    dq, ddq : (n,) or (k, n) array
        Velocity [rad/s or m/s] and acceleration [rad/s^2 or m/s^2].

    Examples
    --------
    >>> import thunder_py as th
    >>> estimates = th.control.SavitzkyGolayDerivative(window=5).apply(0.01, [0.0, 0.01, 0.02, 0.03, 0.04])
    >>> estimates.dq.round(3).tolist()
    [0.0, 0.771, 1.357, 1.371, 1.0]
    """

    dq: Array
    ddq: Array


class DerivativeEstimator(_core.DerivativeEstimator):
    """Base class of the estimators: causal filters that start at rest at the first sample.

    Samples must be equally spaced in time; a change of `dt` causes a transient. Samples with NaN or infinity are
    missing: the estimates are held, and the gap is filled by linear interpolation when the next valid sample arrives.
    After more than 1000 missing samples the filter restarts.

    Examples
    --------
    >>> import thunder_py as th
    >>> filters = [th.control.FirstOrderDerivative(50.0), th.control.ButterworthDerivative(50.0)]
    >>> all(isinstance(each, th.control.DerivativeEstimator) for each in filters)
    True
    """

    def step(self, dt: float, q: npt.ArrayLike) -> Derivatives:
        """Return the estimates after one more sample.

        Parameters
        ----------
        dt : float
            Time since the previous sample [s].
        q : (n,) array_like
            Positions [rad or m].
        """
        return Derivatives(*self._step(float(array(dt, (), "dt")), q))

    #: number of poles of the velocity
    _poles = 0

    def _recursion(self, dt: float) -> tuple[Array, Array]:
        """Return b and a of the velocity ``v_k = sum_i b_i q_(k-i) - sum_i a_i v_(k-i)``, a from i = 1."""
        r = self._poles
        past = max(r, getattr(self, "window", 1) - 1)
        impulse = np.zeros(past + r + 2)
        impulse[1] = 1.0  # the filter starts at rest with the sample before
        h = self.apply(dt, impulse).dq[1:]
        a = -np.linalg.solve([[h[past + k - i] for i in range(r)] for k in range(r)], h[past + 1 :]) if r else h[:0]
        return np.convolve([1.0, *a], h)[: past + 1], a

    def apply(self, dt: float, q: npt.ArrayLike) -> Derivatives:
        """Return the estimates for a series of samples without changing the state of `step`.

        Parameters
        ----------
        dt : float
            Time between samples [s].
        q : (k, n) or (k,) array_like
            Positions [rad or m], a row for each sample.
        """
        samples = array(q, (None,) * np.ndim(q), "q")
        if samples.ndim not in (1, 2):
            raise ThunderError(f"q must have shape (k, n) or (k,), got {samples.shape}")
        estimates = self._apply(float(array(dt, (), "dt")), samples.reshape(len(samples), -1))
        return Derivatives(*(values.reshape(samples.shape) for values in estimates))


class _LowPassDerivative(DerivativeEstimator):
    """Derivatives of a low-pass filter with a cutoff frequency."""

    _kind: str

    def __init__(self, cutoff: float) -> None:
        self.cutoff = float(array(cutoff, (), "cutoff"))
        super().__init__(self._kind, cutoff=self.cutoff)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(cutoff={self.cutoff:g})"


class FirstOrderDerivative(_LowPassDerivative):
    """First-order filtered derivative: ``w s / (s + w)``, applied to the position and again to that velocity.

    It has the least delay and smoothing. It is discretized by the bilinear rule with prewarping at the cutoff.

    Parameters
    ----------
    cutoff : float
        w / 2 pi [Hz], below half of the sampling rate.

    Examples
    --------
    >>> import numpy as np
    >>> import thunder_py as th
    >>> ramp = 0.5 * np.arange(0.0, 1.0, 0.001)
    >>> th.control.FirstOrderDerivative(cutoff=20.0).apply(0.001, ramp).dq[[0, -1]].round(3).tolist()
    [0.0, 0.5]
    """

    _kind, _poles = "first_order", 1


class ButterworthDerivative(_LowPassDerivative):
    """Derivatives of the position filtered by a second-order Butterworth low-pass H: ``s H`` and ``s^2 H``.

    The filter is discretized by the bilinear rule with prewarping at the cutoff.

    Parameters
    ----------
    cutoff : float
        [Hz], below half of the sampling rate.

    Examples
    --------
    >>> import numpy as np
    >>> import thunder_py as th
    >>> estimator = th.control.ButterworthDerivative(cutoff=20.0)
    >>> for q in 0.5 * np.arange(0.0, 1.0, 0.001):
    ...     estimates = estimator.step(0.001, [q])
    >>> np.round(estimates.dq, 3).tolist()
    [0.5]
    """

    _kind, _poles = "butterworth", 2


class SavitzkyGolayDerivative(DerivativeEstimator):
    """Derivatives, at the newest sample, of a least-squares polynomial through the last samples.

    Polynomials up to `order` are differentiated exactly and without delay; a longer window reduces noise.

    Parameters
    ----------
    window : int
        Number of samples, more than `order` and at most 10000.
    order : int
        Order of the polynomial, at least 1; with 1 the acceleration is zero.

    Raises
    ------
    ValueError
        If `window` or `order` is out of range.

    Notes
    -----
    Savitzky and Golay (1964), evaluated at the end of the window as in Gorry (1990).

    Examples
    --------
    >>> import numpy as np
    >>> import thunder_py as th
    >>> t = np.arange(0.0, 1.0, 0.01)
    >>> estimates = th.control.SavitzkyGolayDerivative(window=9, order=2).apply(0.01, t**2)
    >>> round(float(estimates.dq[-1]), 3), round(float(estimates.ddq[-1]), 3)
    (1.98, 2.0)
    """

    def __init__(self, window: int, order: int = 2) -> None:
        self.order = whole(order, "order", 1)
        self.window = whole(window, "window, more than order,", self.order + 1, 10_000)
        super().__init__("savitzky_golay", window=self.window, order=self.order)

    def __repr__(self) -> str:
        return f"SavitzkyGolayDerivative(window={self.window}, order={self.order})"
