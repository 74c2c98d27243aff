"""Timing laws: a number that goes from a start to an end, with its velocity and acceleration."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from .. import _core
from ..checks import Array, array, real
from ..errors import ThunderError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "Timing",
    "TimingLaw",
    "TimingState",
    "as_law",
    "as_laws",
    "cubic",
    "min_jerk",
    "placed",
    "quintic",
    "s_curve",
    "start_times",
    "trapezoidal",
]

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
        from .plot import plot_timing_law

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


#: relative; a duration may be this much too short by rounding
_ROUNDING = 1e-9


@contextmanager
def _in_range() -> Iterator[None]:
    """Refuse numbers whose products leave the range of floating point."""
    try:
        yield
    except (OverflowError, ZeroDivisionError) as error:
        raise ThunderError("start, end and limits must lead to times and coefficients that a float can hold") from error


@_in_range()
def trapezoidal(
    start: float = 0.0,
    end: float = 1.0,
    *,
    v_max: float | None = None,
    a_max: float | None = None,
    duration: float | None = None,
    blend: float | None = None,
) -> TimingLaw:
    """Return a law of constant acceleration, constant velocity and constant deceleration between two rests.

    Give limits and get the shortest law: ``v_max`` and ``a_max``. Where the way is too short to reach `v_max` the
    velocity is a triangle. Or give the duration and how much of it is spent accelerating: ``duration`` and ``blend``,
    or ``duration`` with `a_max`, `v_max` or both (Siciliano et al., 2009, section 4.2.1).

    Parameters
    ----------
    start, end : float
        Values at the ends.
    v_max : float, optional
        Largest speed [1/s].
    a_max : float, optional
        Largest acceleration [1/s^2].
    duration : float, optional
        [s].
    blend : float, optional
        Part of the duration that is spent accelerating, above 0 and up to 0.5; as much again goes to decelerating.
        Default a quarter, where the duration alone is given.

    Raises
    ------
    ValueError
        If what is given is too little or too much, or cannot be met: then the message says what could.
    """
    x0, x1 = numbers(start=start, end=end)
    way = abs(x1 - x0)
    v = None if v_max is None else positive(v_max, "v_max")
    a = None if a_max is None else positive(a_max, "a_max")
    if duration is None:
        if v is None or a is None or blend is not None:
            raise ValueError("trapezoidal needs v_max and a_max, or a duration with blend, v_max or a_max")
        if way == 0.0:
            raise ValueError(f"start and end must differ where limits give the duration, got {x0:g} twice")
        T, rise = _shortest(way, v, a)
    else:
        T = positive_duration(duration)
        rise = _rise_within(T, way, v, a, blend)
    acceleration = (x1 - x0) / (rise * (T - rise))
    return _integrate([rise, T - 2.0 * rise, rise], [acceleration, 0.0, -acceleration], x0)


def _shortest(way: float, v: float, a: float) -> tuple[float, float]:
    """Duration and time of acceleration of the fastest law under limits."""
    if v * v >= way * a:
        rise = math.sqrt(way / a)
        return 2.0 * rise, rise
    return way / v + v / a, v / a


def _rise_within(T: float, way: float, v: float | None, a: float | None, blend: float | None) -> float:
    """Time of acceleration of a law that takes T."""
    if blend is not None:
        if v is not None or a is not None:
            raise ValueError("blend says all there is to say: give no v_max and no a_max with it")
        part = numbers(blend=blend)[0]
        if not 0.0 < part <= 0.5:
            raise ValueError(f"blend must be above 0 and at most 0.5, got {part:g}")
        return part * T
    if v is None and a is None:
        return 0.25 * T
    if v is not None and a is not None:
        least = _shortest(way, v, a)[0] if way > 0.0 else 0.0
        if least * (1.0 - _ROUNDING) > T:
            raise ValueError(f"duration must be at least {least:g} s for this v_max and a_max, got {T:g} s")
    if a is not None:
        if T * T * a < 4.0 * way * (1.0 - _ROUNDING):
            raise ValueError(f"a_max must be at least {4.0 * way / T**2:g} for {way:g} in {T:g} s, got {a:g}")
        # of the two roots the smaller one; written so that nothing cancels where the acceleration is large
        return 2.0 * way / (a * (T + math.sqrt(max(T * T - 4.0 * way / a, 0.0)))) if way > 0.0 else 0.25 * T
    assert v is not None
    if v * T <= way:
        raise ValueError(f"v_max must be above {way / T:g} for {way:g} in {T:g} s, got {v:g}")
    return min(T - way / v, 0.5 * T)


@_in_range()
def s_curve(start: float = 0.0, end: float = 1.0, *, v_max: float, a_max: float, j_max: float) -> TimingLaw:
    """Return the shortest law between two rests whose velocity, acceleration and jerk are bounded (double S).

    Parameters
    ----------
    start, end : float
        Values at the ends.
    v_max, a_max, j_max : float
        Largest speed [1/s], acceleration [1/s^2] and jerk [1/s^3]; on a short way some are not reached.

    Raises
    ------
    ValueError
        On limits that are not positive, or a start that is the end.
    """
    x0, x1 = numbers(start=start, end=end)
    v, a, j = positive(v_max, "v_max"), positive(a_max, "a_max"), positive(j_max, "j_max")
    way = abs(x1 - x0)
    if way == 0.0:
        raise ValueError(f"start and end must differ, got {x0:g} twice")
    bend, rise = (a / j, a / j + v / a) if v * j >= a * a else (math.sqrt(v / j), 2.0 * math.sqrt(v / j))
    if way < v * rise:  # v_max is not reached
        bend = a / j
        rise = 0.5 * bend + math.sqrt(0.25 * bend * bend + way / a)
        if rise < 2.0 * bend:  # nor is a_max
            bend = (0.5 * way / j) ** (1.0 / 3.0)
            rise = 2.0 * bend
    top = j * bend * (rise - bend)
    flat, cruise = rise - 2.0 * bend, max(way / top - rise, 0.0)
    jerk = math.copysign(j, x1 - x0)
    times = [bend, flat, bend, cruise, bend, flat, bend]
    return _integrate(times, [jerk, 0.0, -jerk, 0.0, -jerk, 0.0, jerk], x0, jerks=True)


def _integrate(times: Sequence[float], highest: Sequence[float], x: float, *, jerks: bool = False) -> TimingLaw:
    """Law from rest at x whose acceleration (or jerk) is constant over each time; those of no length are left out."""
    if not math.isfinite(sum(times)) or not all(map(math.isfinite, highest)):
        raise OverflowError
    shortest = 1e-12 * sum(times)
    v = a = 0.0
    breaks, rows = [0.0], []
    for T, value in zip(times, highest, strict=True):
        if shortest >= T:
            continue
        j = value if jerks else 0.0
        a = a if jerks else value
        rows.append([j / 6.0, 0.5 * a, v, x])
        breaks.append(breaks[-1] + T)
        x += T * (v + T * (0.5 * a + T * j / 6.0))
        v += T * (a + 0.5 * T * j)
        a += T * j
    return TimingLaw(breaks, np.array(rows).T)


#: a law, or the duration [s] of a minimum-jerk law
Timing = TimingLaw | float


def as_law(timing: Timing, what: str = "timing") -> TimingLaw:
    """Return a law from 0 to 1: the given one rescaled, or a minimum-jerk law of the given duration [s]."""
    if isinstance(timing, TimingLaw):
        return timing.rescaled(0.0, 1.0)
    if isinstance(timing, bool) or np.ndim(timing) != 0:
        raise ValueError(f"{what} must be a TimingLaw or a duration, got {timing!r}")
    return min_jerk(float(array(timing, (), what)))


def as_laws(timings: Timing | Sequence[Timing], count: int) -> list[TimingLaw]:
    """Return `count` laws from 0 to 1: one for all, or one for each."""
    if isinstance(timings, TimingLaw) or not isinstance(timings, Iterable) or isinstance(timings, str):
        return [as_law(timings, "timing")] * count
    given = list(timings)
    if len(given) != count:
        raise ValueError(f"timing must be one, or {count} of them, got {len(given)}")
    return [as_law(timing, f"timing {i}") for i, timing in enumerate(given)]


def start_times(laws: Sequence[TimingLaw], anticipation: float | npt.ArrayLike) -> tuple[Array, Array]:
    """Return when each of the laws starts, and by how much each but the first is early.

    Parameters
    ----------
    laws : sequence of TimingLaw
        One after the other.
    anticipation : float or (m - 1,) array_like
        How long before the end of the one before it each starts [s].

    Raises
    ------
    ValueError
        On an anticipation that is negative, or longer than one of the two that overlap.
    """
    T = np.array([law.duration for law in laws])
    inner = max(T.size - 1, 0)
    early = (
        np.full(inner, array(anticipation, (), "anticipation"))
        if np.ndim(anticipation) == 0
        else array(anticipation, (inner,), "anticipation")
    )
    longest = np.minimum(T[:-1], T[1:])
    for k, (value, limit) in enumerate(zip(early, longest, strict=True)):
        if not 0.0 <= value <= limit:
            raise ValueError(
                f"anticipation of part {k + 1} must be 0 to {limit:g} s, the shorter of its two, got {value:g}"
            )
    return np.concatenate([[0.0], np.cumsum(T[:-1] - early)])[: T.size], early


def placed(law: TimingLaw, start: float) -> _core.PiecewisePolynomial:
    """Return a law that begins at another time than 0."""
    return _core.PiecewisePolynomial(law.breaks + start, law.coefficients[:, :, None])
