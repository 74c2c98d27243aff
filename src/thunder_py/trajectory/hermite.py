"""Quintic minimum-jerk motions of any dimension between two states."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..checks import Array, array, is_number, numbers, whole
from ..errors import ThunderError
from ..values import Value, set_fields
from .timing import quintic_coefficients

#: range of durations [s] with finite powers, up to the fifth
_SHORTEST, _LONGEST = 1e-50, 1e50


@dataclass(frozen=True, eq=False)
class MinimumJerk(Value):
    """Quintic in time for any number of degrees of freedom, the result of `minimum_jerk`.

    Attributes
    ----------
    coefficients : ndarray, shape (6, d)
        Coefficients of 1, tau, ..., tau^5 with tau = t / duration; unit of x.
    duration : float
        [s].

    Examples
    --------
    >>> from thunder_py.trajectory import minimum_jerk
    >>> motion = minimum_jerk([0.0, 0.0], [0.4, -0.2], duration=2.0)
    >>> motion.dimension, motion.position([0.0, 1.0, 2.0]).round(3).tolist()
    (2, [[0.0, 0.0], [0.2, -0.1], [0.4, -0.2]])
    >>> motion.position(1.0, derivative=1).round(3).tolist(), round(motion.squared_jerk(), 3)
    ([0.375, -0.188], 4.5)
    """

    coefficients: Array
    duration: float

    def __post_init__(self) -> None:
        """Check and freeze the coefficients."""
        coefficients = array(self.coefficients, (6, None), "coefficients")
        set_fields(self, coefficients=coefficients, duration=duration_of(self.duration))

    @property
    def dimension(self) -> int:
        """Number of degrees of freedom, d."""
        return int(self.coefficients.shape[1])

    def position(self, t: npt.ArrayLike, derivative: int = 0) -> Array:
        """Return x or one of its derivatives with respect to time.

        Parameters
        ----------
        t : array_like, shape (...)
            Times [s]. Before 0 and after `duration` x is constant and derivatives are zero.
        derivative : int
            Order, 0 to 5: x, velocity, acceleration, jerk, ...

        Returns
        -------
        ndarray, shape (..., d)
            Unit of x, per s^derivative.

        Raises
        ------
        ThunderError
            If `derivative` is out of range.
        """
        whole(derivative, "derivative", 0, 5)
        time = numbers(t, "t")
        tau = np.clip(time / self.duration, 0.0, 1.0)
        c = self.coefficients
        for _ in range(derivative):
            c = c[1:] * np.arange(1.0, len(c))[:, None]
        x = np.moveaxis(np.polynomial.polynomial.polyval(tau, c), 0, -1) / self.duration**derivative
        outside = (time < 0.0) | (time > self.duration)
        return np.asarray(np.where(outside[..., None] & (derivative > 0), 0.0, x), dtype=np.float64)

    def squared_jerk(self) -> float:
        """Return the exact integral of ||jerk||^2 over time; 720 D^2 / T^5 from rest to rest."""
        c3, c4, c5 = 6.0 * self.coefficients[3], 24.0 * self.coefficients[4], 60.0 * self.coefficients[5]
        integral = c3 @ c3 + c3 @ c4 + (c4 @ c4 + 2.0 * c3 @ c5) / 3.0 + 0.5 * c4 @ c5 + c5 @ c5 / 5.0
        return float(integral / self.duration**5)


def minimum_jerk(
    start: npt.ArrayLike,
    goal: npt.ArrayLike,
    duration: float,
    *,
    start_velocity: npt.ArrayLike | None = None,
    goal_velocity: npt.ArrayLike | None = None,
    start_acceleration: npt.ArrayLike | None = None,
    goal_acceleration: npt.ArrayLike | None = None,
) -> MinimumJerk:
    """Return the motion with the least integral of squared jerk between two states.

    Parameters
    ----------
    start, goal : array_like, shape (d,)
        Positions [m], [rad] or mixed; rotation vectors are interpolated as coordinates.
    duration : float
        T > 0 [s].
    start_velocity, goal_velocity : array_like, shape (d,), optional
        Default zero [1/s times the unit of x].
    start_acceleration, goal_acceleration : array_like, shape (d,), optional
        Default zero [1/s^2 times the unit of x].

    Returns
    -------
    MinimumJerk
        The quintic that satisfies all six conditions.

    Raises
    ------
    ThunderError
        If shapes differ, values are not finite, or `duration` is not positive.

    Notes
    -----
    From rest to rest (Flash and Hogan 1985) x = x0 + (x1 - x0)(10 tau^3 - 15 tau^4 + 6 tau^5). With D the distance, the
    peak speed is 15/8 D/T and the mean absolute jerk (40 sqrt(3) / 3) D / T^3 = 23.09 D / T^3. The latter follows from
    the jerk 60 (1 - 6 tau + 6 tau^2) D / T^3, with zeros at tau = (3 -+ sqrt(3)) / 6. Its primitive is proportional to
    tau (1 - tau)(1 - 2 tau), which is sqrt(3)/18 at the first zero, and the mean of |jerk| is 60 * 4 times that.

    Examples
    --------
    >>> from thunder_py.trajectory import minimum_jerk
    >>> motion = minimum_jerk([0.0, 0.5], [0.3, 0.1], duration=1.5, start_velocity=[0.2, 0.0])
    >>> motion.position(1.5).round(3).tolist(), motion.position(0.0, derivative=1).round(3).tolist()
    ([0.3, 0.1], [0.2, 0.0])
    """
    T = duration_of(duration)
    x0 = array(start, (None,), "start")
    shape = x0.shape
    x1 = array(goal, shape, "goal")

    def of(value: Any, what: str, scale: float) -> Array:
        return np.zeros(shape) if value is None else scale * array(value, shape, what)

    v0, v1 = of(start_velocity, "start_velocity", T), of(goal_velocity, "goal_velocity", T)
    a0, a1 = of(start_acceleration, "start_acceleration", T * T), of(goal_acceleration, "goal_acceleration", T * T)
    coefficients = quintic_coefficients(1.0, x0, v0, a0, x1, v1, a1)[::-1]
    return MinimumJerk(coefficients, T)


def duration_of(duration: Any) -> float:
    """Return `duration` [s] if it is positive and finite, or raise ThunderError."""
    if not is_number(duration) or not _SHORTEST <= duration <= _LONGEST:
        what = "positive [s]"
        if is_number(duration) and duration > 0.0:
            what = f"from {_SHORTEST:g} to {_LONGEST:g} s"
        raise ThunderError(f"duration must be {what}, got {duration!r}")
    return float(duration)
