"""Timing laws: a number that goes from a start to an end, with its velocity and acceleration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from .. import _core
from ..checks import Array, array, real

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["TimingLaw", "TimingState", "cubic", "min_jerk", "quintic"]


#: durations [s]; the fifth power of much less is no number any more
_SHORTEST = 1e-9


class TimingState(NamedTuple):
    """Value of a timing law and its derivatives with respect to time.

    Attributes
    ----------
    s, ds, dds : array
        Of the shape of t.
    """

    s: Array
    ds: Array
    dds: Array


class TimingLaw:
    """A number over time, piecewise polynomial, from time 0 to `duration`; it stands still before and after.

    Made by `cubic`, `quintic`, `min_jerk`, `trapezoidal` and `s_curve`. It may count anything: a path parameter from 0
    to 1, metres of arc length, radians. What moves along it scales its range to the whole way.

    Parameters
    ----------
    breaks : (m + 1,) array_like
        Times [s], the first 0.
    coefficients : (order, m) array_like
        Of the powers of ``t - breaks[k]``, highest first, as `scipy.interpolate.PPoly` has them.
    """

    def __init__(self, breaks: npt.ArrayLike, coefficients: npt.ArrayLike) -> None:
        self.breaks: Array = array(breaks, (None,), "breaks")
        self.coefficients: Array = array(coefficients, (None, self.breaks.size - 1), "coefficients")
        if self.breaks.size < 2 or self.breaks[0] != 0.0:
            raise ValueError(f"breaks must be at least two and start at 0, got {self.breaks.tolist()}")
        self._polynomial = _core.PiecewisePolynomial(self.breaks, self.coefficients[:, :, None])
        self.duration = float(self.breaks[-1])
        self.start, self.end = float(self(0.0).s), float(self(self.duration).s)

    def __call__(self, t: npt.ArrayLike) -> TimingState:
        """Return value, velocity and acceleration at time `t`, or at an array of times."""
        times = real(t, "t")
        samples = np.array([self._polynomial.at(float(time)) for time in times.ravel()])
        return TimingState(*(part.reshape(times.shape) for part in samples.reshape(-1, 3).T))

    def rescaled(self, start: float, end: float) -> TimingLaw:
        """Return the same law from `start` to `end`.

        Raises
        ------
        ValueError
            If this law ends where it starts.
        """
        reach = self.end - self.start
        if abs(reach) < np.finfo(np.float64).tiny:
            raise ValueError(f"a timing law that ends where it starts, at {self.start:g}, cannot be rescaled")
        scale = (end - start) / reach
        coefficients = scale * self.coefficients
        coefficients[-1] += start - scale * self.start
        return TimingLaw(self.breaks, coefficients)

    def stretched(self, duration: float) -> TimingLaw:
        """Return the same law at another speed, so that it takes `duration` [s]."""
        ratio = self.duration / positive_duration(duration)
        order = len(self.coefficients)
        return TimingLaw(self.breaks / ratio, self.coefficients * ratio ** np.arange(order - 1, -1, -1)[:, None])

    def plot(self, *, axes: Mapping[str, Axes] | None = None, label: str | None = None) -> dict[str, Axes]:
        """Draw value, velocity and acceleration over time.

        Parameters
        ----------
        axes : mapping of str to Axes, optional
            To draw on: ``"s"``, ``"ds"``, ``"dds"``; default a new figure. What is not in the mapping is not drawn.
        label : str, optional
            Of the curves, for a legend.

        Returns
        -------
        dict of str to Axes
            One per panel.
        """
        from ..plotting.trajectory import plot_timing_law

        return plot_timing_law(self, axes=axes, label=label)

    def __repr__(self) -> str:
        """Say from where to where in how long."""
        return f"TimingLaw({self.start:g} to {self.end:g} in {self.duration:g} s)"


def positive(value: float, what: str) -> float:
    """Return `value` if it is a positive finite number, or raise ValueError naming `what`."""
    number = float(array(value, (), what))
    if number <= 0.0:
        raise ValueError(f"{what} must be positive, got {number:g}")
    return number


def positive_duration(value: float) -> float:
    """Return `value` if a law can take so long [s], or raise ValueError."""
    number = positive(value, "duration")
    if number < _SHORTEST:
        raise ValueError(f"duration too short, must be at least {_SHORTEST:g} s, got {number:g}")
    return number


def numbers(**values: float) -> list[float]:
    """Return finite numbers, or raise ValueError naming the one that is none."""
    return [float(array(value, (), name)) for name, value in values.items()]


def cubic(
    duration: float, start: float = 0.0, end: float = 1.0, *, start_velocity: float = 0.0, end_velocity: float = 0.0
) -> TimingLaw:
    """Return the cubic polynomial with given ends and velocities there.

    Parameters
    ----------
    duration : float
        [s].
    start, end : float
        Values at the ends.
    start_velocity, end_velocity : float
        [1/s].
    """
    T = positive_duration(duration)
    x0, x1, v0, v1 = numbers(start=start, end=end, start_velocity=start_velocity, end_velocity=end_velocity)
    D = x1 - x0
    c = [(v0 + v1) / T**2 - 2.0 * D / T**3, 3.0 * D / T**2 - (2.0 * v0 + v1) / T, v0, x0]
    return TimingLaw([0.0, T], np.array(c)[:, None])


def quintic(
    duration: float,
    start: float = 0.0,
    end: float = 1.0,
    *,
    start_velocity: float = 0.0,
    end_velocity: float = 0.0,
    start_acceleration: float = 0.0,
    end_acceleration: float = 0.0,
) -> TimingLaw:
    """Return the quintic polynomial with given ends, velocities and accelerations there.

    Parameters
    ----------
    duration : float
        [s].
    start, end : float
        Values at the ends.
    start_velocity, end_velocity : float
        [1/s].
    start_acceleration, end_acceleration : float
        [1/s^2].
    """
    T = positive_duration(duration)
    x0, x1, v0, v1 = numbers(start=start, end=end, start_velocity=start_velocity, end_velocity=end_velocity)
    a0, a1 = numbers(start_acceleration=start_acceleration, end_acceleration=end_acceleration)
    c = quintic_coefficients(T, *(np.array([value]) for value in (x0, v0, a0, x1, v1, a1)))
    return TimingLaw([0.0, T], c)


def quintic_coefficients(T: Array | float, x0: Array, v0: Array, a0: Array, x1: Array, v1: Array, a1: Array) -> Array:
    """Coefficients, highest power first, of quintics over [0, T] with these values and derivatives at the ends."""
    D = x1 - x0
    c5 = 6.0 * D / T**5 - 3.0 * (v0 + v1) / T**4 + (a1 - a0) / (2.0 * T**3)
    c4 = -15.0 * D / T**4 + (8.0 * v0 + 7.0 * v1) / T**3 + (1.5 * a0 - a1) / T**2
    c3 = 10.0 * D / T**3 - (6.0 * v0 + 4.0 * v1) / T**2 + (a1 - 3.0 * a0) / (2.0 * T)
    return np.stack([c5, c4, c3, 0.5 * a0, v0, x0])


def min_jerk(duration: float, start: float = 0.0, end: float = 1.0) -> TimingLaw:
    """Return the law of least integrated squared jerk between two rests: ``10 r^3 - 15 r^4 + 6 r^5``, ``r = t / T``.

    Parameters
    ----------
    duration : float
        [s].
    start, end : float
        Values at the ends, where velocity and acceleration are zero (Flash and Hogan, 1985).
    """
    return quintic(duration, start, end)
