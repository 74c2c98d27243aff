"""Timing laws: scalar laws of motion from a start to an end value, with velocity and acceleration."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from .. import _core
from ..checks import Array, apart, array, one_or_each, positive, real
from ..errors import ThunderError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: shortest and longest duration [s]; the fifth powers of others leave the range of floats
_SHORTEST, _LONGEST = 1e-9, 1e12
#: part of the duration below which the velocity or the acceleration changes at once
_AT_ONCE = 1e-12


class TimingState(NamedTuple):
    """Value of a timing law and its derivatives with respect to time.

    Attributes
    ----------
    s, ds, dds : array
        Value, velocity and acceleration, of the shape of t.

    Examples
    --------
    >>> from thunder_py.trajectory import quintic
    >>> state = quintic(2.0)(0.5)
    >>> round(float(state.s), 3), round(float(state.ds), 3), round(float(state.dds), 3)
    (0.104, 0.527, 1.406)
    """

    s: Array
    ds: Array
    dds: Array


class TimingLaw:
    """Piecewise polynomial scalar law from time 0 to `duration`, constant before and after.

    Constructed by `cubic`, `quintic`, `trapezoidal` and `s_curve`. The value is a path parameter from 0 to
    1, an arc length [m], an angle [rad] or any other scalar; segments scale its range to their length.

    Parameters
    ----------
    breaks : (m + 1,) array_like
        Times [s], the first 0.
    coefficients : (order, m) array_like
        Coefficients of the powers of ``t - breaks[k]``, highest first, as in `scipy.interpolate.PPoly`.

    Attributes
    ----------
    duration : float
        [s].
    start, end : float
        First and last value.

    Raises
    ------
    ValueError
        If `breaks` do not increase from 0, or shapes do not fit.

    Examples
    --------
    >>> from thunder_py.trajectory import cubic
    >>> law = cubic(2.0).rescaled(1.0, 3.0).stretched(4.0)
    >>> law, float(law(2.0).s), law([0.0, 4.0]).s.tolist()
    (TimingLaw(1 to 3 in 4 s), 2.0, [1.0, 3.0])
    """

    def __init__(self, breaks: npt.ArrayLike, coefficients: npt.ArrayLike) -> None:
        self.breaks: Array = array(breaks, (None,), "breaks")
        self.coefficients: Array = array(coefficients, (None, self.breaks.size - 1), "coefficients")
        if self.breaks.size < 2 or self.breaks[0] != 0.0:
            raise ThunderError(f"breaks must be at least two and start at 0, got {self.breaks.tolist()}")
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
            If start and end of this law are equal.
        """
        reach = self.end - self.start
        if abs(reach) < np.finfo(np.float64).tiny:
            raise ThunderError(f"a rescaled law must have an end that differs from its start, got {self.start:g} twice")
        scale = (end - start) / reach
        coefficients = scale * self.coefficients
        coefficients[-1] += start - scale * self.start
        return TimingLaw(self.breaks, coefficients)

    def stretched(self, duration: float) -> TimingLaw:
        """Return the same law with another `duration` [s]."""
        ratio = self.duration / positive_duration(duration)
        coefficients = self.coefficients.copy()
        for power in range(1, len(coefficients)):
            coefficients[:-power] *= ratio  # in turn, because a power of the ratio may underflow
        return TimingLaw(self.breaks / ratio, coefficients)

    def plot(self, *, axes: Mapping[str, Axes] | None = None, label: str | None = None) -> dict[str, Axes]:
        """Draw value, velocity and acceleration over time.

        Parameters
        ----------
        axes : mapping of str to Axes, optional
            Panels to draw, of ``"s"``, ``"ds"`` and ``"dds"``; default all, in a new figure.
        label : str, optional
            Legend label of the curves.

        Returns
        -------
        dict of str to Axes
            The panels drawn.
        """
        from .plot import plot_timing_law

        return plot_timing_law(self, axes=axes, label=label)

    def __repr__(self) -> str:
        """Summarize start, end and duration."""
        return f"TimingLaw({self.start:g} to {self.end:g} in {self.duration:g} s)"


def positive_duration(value: float) -> float:
    """Return `value` if it is a valid duration [s], or raise ValueError."""
    number = positive(value, "duration")
    if number < _SHORTEST:
        raise ThunderError(f"duration must be at least {_SHORTEST:g} s, got {number:g}")
    if number > _LONGEST:
        raise ThunderError(f"duration must be at most {_LONGEST:g} s, got {number:g}")
    return number


def numbers(**values: float) -> list[float]:
    """Return the values as finite numbers, or raise ValueError naming an invalid one."""
    return [float(array(value, (), name)) for name, value in values.items()]


def cubic(
    duration: float, start: float = 0.0, end: float = 1.0, *, start_velocity: float = 0.0, end_velocity: float = 0.0
) -> TimingLaw:
    """Return the cubic polynomial law with prescribed values and velocities at the ends.

    Parameters
    ----------
    duration : float
        [s].
    start, end : float
        Values at the ends.
    start_velocity, end_velocity : float
        [1/s].

    Returns
    -------
    TimingLaw
        The law.

    Raises
    ------
    ValueError
        If `duration` is not positive or a value is not finite.

    Examples
    --------
    >>> from thunder_py.trajectory import cubic
    >>> law = cubic(2.0, end_velocity=0.5)
    >>> float(law(2.0).s), float(law(2.0).ds), float(law(0.0).dds)
    (1.0, 0.5, 1.0)
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
    """Return the quintic polynomial law with prescribed values, velocities and accelerations at the ends.

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

    Returns
    -------
    TimingLaw
        The law.

    Raises
    ------
    ValueError
        If `duration` is not positive or a value is not finite.

    Notes
    -----
    From rest to rest, which is the default, it is the minimum-jerk law ``10 r^3 - 15 r^4 + 6 r^5`` with ``r = t / T``
    (Flash and Hogan 1985).

    Examples
    --------
    >>> from thunder_py.trajectory import quintic
    >>> law = quintic(2.0, 0.0, 0.6, start_velocity=0.1)
    >>> round(float(law(0.0).ds), 3), round(float(law(1.0).s), 3), round(float(law(2.0).s), 3)
    (0.1, 0.331, 0.6)
    """
    T = positive_duration(duration)
    x0, x1, v0, v1 = numbers(start=start, end=end, start_velocity=start_velocity, end_velocity=end_velocity)
    a0, a1 = numbers(start_acceleration=start_acceleration, end_acceleration=end_acceleration)
    c = quintic_coefficients(T, *(np.array([value]) for value in (x0, v0, a0, x1, v1, a1)))
    return TimingLaw([0.0, T], c)


def quintic_coefficients(T: Array | float, x0: Array, v0: Array, a0: Array, x1: Array, v1: Array, a1: Array) -> Array:
    """Return coefficients, highest power first, of quintics over [0, T] with these end values and derivatives."""
    D = x1 - x0
    c5 = 6.0 * D / T**5 - 3.0 * (v0 + v1) / T**4 + (a1 - a0) / (2.0 * T**3)
    c4 = -15.0 * D / T**4 + (8.0 * v0 + 7.0 * v1) / T**3 + (1.5 * a0 - a1) / T**2
    c3 = 10.0 * D / T**3 - (6.0 * v0 + 4.0 * v1) / T**2 + (a1 - 3.0 * a0) / (2.0 * T)
    return np.stack([c5, c4, c3, 0.5 * a0, v0, x0])


#: relative rounding tolerance of durations
_ROUNDING = 1e-9


@contextmanager
def _in_range() -> Iterator[None]:
    """Raise ThunderError on overflow and division by zero."""
    try:
        yield
    except (OverflowError, ZeroDivisionError) as error:
        raise ThunderError(
            f"start, end and limits must give a duration of at most {_LONGEST:g} s and coefficients in the range of a "
            "float; a limit of math.inf is none"
        ) from error


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
    """Return a law of constant acceleration, constant velocity and constant deceleration from rest to rest.

    `v_max` and `a_max` give the shortest law; its velocity is triangular if `v_max` is not reached. Alternatively,
    prescribe `duration` with `blend`, `a_max`, `v_max` or both limits.

    Parameters
    ----------
    start, end : float
        Values at the ends.
    v_max : float, optional
        Largest speed [1/s]; infinite for none.
    a_max : float, optional
        Largest acceleration [1/s^2]; infinite for none: the velocity then jumps.
    duration : float, optional
        [s].
    blend : float, optional
        Fraction of the duration spent accelerating, and again decelerating, above 0 and at most 0.5. Default 0.25 if
        only `duration` is given.

    Returns
    -------
    TimingLaw
        The law.

    Raises
    ------
    ValueError
        If the combination of arguments is invalid or infeasible; the message names a feasible value.

    Notes
    -----
    Siciliano et al. (2009), section 4.2.1. An acceleration that lasts less than 1e-12 of the duration is a jump.

    Examples
    --------
    >>> import math
    >>> from thunder_py.trajectory import trapezoidal
    >>> law = trapezoidal(0.0, 0.6, v_max=0.5, a_max=2.0)
    >>> round(law.duration, 3), round(float(law(0.5).ds), 3)
    (1.45, 0.5)
    >>> trapezoidal(duration=2.0, blend=0.25), trapezoidal(0.0, 0.6, v_max=0.5, a_max=math.inf)
    (TimingLaw(0 to 1 in 2 s), TimingLaw(0 to 0.6 in 1.2 s))
    """
    x0, x1 = numbers(start=start, end=end)
    distance = abs(x1 - x0)
    v = None if v_max is None else positive(v_max, "v_max", finite=False)
    a = None if a_max is None else positive(a_max, "a_max", finite=False)
    if duration is None:
        if v is None or a is None or blend is not None:
            raise ThunderError("v_max and a_max must be given, or a duration with blend, v_max or a_max")
        if distance == 0.0:
            raise ThunderError(f"start and end must differ if limits give the duration, got {x0:g} twice")
        _one_finite(v_max=v, a_max=a)
        rise = _shortest_rise(distance, v, a)
        T = max(distance / v + rise, 2.0 * rise)
    else:
        T = positive_duration(duration)
        rise = _rise_within(T, distance, v, a, blend)
    return _law(x0, x1, T, rise)


def _one_finite(**bounds: float) -> None:
    if not any(map(math.isfinite, bounds.values())):
        raise ThunderError(f"{' and '.join(bounds)} must not all be infinite: the law would take no time")


def _shortest_rise(distance: float, v: float, a: float) -> float:
    """Return the acceleration time of the fastest law within limits, of which one is finite."""
    return 0.0 if math.isinf(a) else min(math.sqrt(distance) / math.sqrt(a), v / a)


def _rise_within(T: float, distance: float, v: float | None, a: float | None, blend: float | None) -> float:
    """Return the acceleration time of a law of duration T."""
    if blend is not None:
        if v is not None or a is not None:
            raise ThunderError("v_max and a_max must be None if blend is given")
        part = numbers(blend=blend)[0]
        if not 0.0 < part <= 0.5:
            raise ThunderError(f"blend must be above 0 and at most 0.5, got {part:g}")
        return part * T
    if v is None and a is None:
        return 0.25 * T
    if v is not None and a is not None:
        rise = _shortest_rise(distance, v, a)
        least = max(distance / v + rise, 2.0 * rise)
        if least * (1.0 - _ROUNDING) > T:
            bound, got = apart(least, T)
            raise ThunderError(f"duration must be at least {bound} s for this v_max and a_max, got {got} s")
    if a is not None:
        if T * T * a < 4.0 * distance * (1.0 - _ROUNDING):
            bound, got = apart(4.0 * distance / T**2, a)
            raise ThunderError(f"a_max must be at least {bound} for {distance:g} in {T:g} s, got {got}")
        # the smaller root, in a form without cancellation for large accelerations
        root = math.sqrt(max(T * T - 4.0 * distance / a, 0.0))
        return 2.0 * distance / (a * (T + root)) if distance > 0.0 else 0.25 * T
    assert v is not None
    if v * T <= distance:
        bound, got = apart(distance / T, v)
        raise ThunderError(f"v_max must be above {bound} for {distance:g} in {T:g} s, got {got}")
    return min(T - distance / v, 0.5 * T)


@_in_range()
def s_curve(start: float = 0.0, end: float = 1.0, *, v_max: float, a_max: float, j_max: float) -> TimingLaw:
    """Return the shortest law from rest to rest with bounded velocity, acceleration and jerk (double S).

    Parameters
    ----------
    start, end : float
        Values at the ends.
    v_max, a_max, j_max : float
        Largest speed [1/s], acceleration [1/s^2] and jerk [1/s^3]; infinite for none. A short law does not reach all
        of them.

    Returns
    -------
    TimingLaw
        The law.

    Raises
    ------
    ValueError
        If a limit is not positive, all are infinite, or start and end are equal.

    Notes
    -----
    Without a limit of the jerk the acceleration jumps, and without one of the acceleration either, the velocity does;
    so does what changes within less than 1e-12 of the duration.

    Examples
    --------
    >>> from thunder_py.trajectory import s_curve
    >>> law = s_curve(0.0, 0.6, v_max=0.5, a_max=2.0, j_max=20.0)
    >>> round(law.duration, 3), round(float(law(0.5 * law.duration).ds), 3)
    (1.55, 0.5)
    """
    x0, x1 = numbers(start=start, end=end)
    v, a, j = (
        positive(value, name, finite=False) for name, value in (("v_max", v_max), ("a_max", a_max), ("j_max", j_max))
    )
    distance = abs(x1 - x0)
    if distance == 0.0:
        raise ThunderError(f"start and end must differ, got {x0:g} twice")
    _one_finite(v_max=v, a_max=a, j_max=j)
    if math.isinf(j):
        bend, rise = 0.0, _shortest_rise(distance, v, a)
    else:
        root = math.sqrt(v) / math.sqrt(j)
        bend, rise = (a / j, a / j + v / a) if a / j <= root else (root, 2.0 * root)
        if not distance / v >= rise:  # v_max is not reached, or there is none
            root = float(np.cbrt(0.5 * distance) / np.cbrt(j))
            bend = min(a / j, root)
            rise = (
                0.5 * bend + math.hypot(0.5 * bend, math.sqrt(distance) / math.sqrt(a)) if bend < root else 2.0 * root
            )
    return _law(x0, x1, max(distance / v + rise, 2.0 * rise), rise, bend)


def _law(x0: float, x1: float, T: float, rise: float, bend: float = 0.0) -> TimingLaw:
    """Return the law of duration T from rest to rest that accelerates, and decelerates, for the time `rise`.

    The acceleration itself rises, and falls, for the time `bend`. Times that are rounding of the duration are jumps.
    """
    rise, bend = (0.0 if part <= _AT_ONCE * T else part for part in (rise, bend))
    V = (x1 - x0) / (T - rise)
    A, turned = (V / (rise - bend), 0.5 * V * (bend / (rise - bend))) if rise > 0.0 else (0.0, 0.0)
    if not (T <= _LONGEST and math.isfinite(V) and math.isfinite(A)):
        raise OverflowError
    flat = rise - 2.0 * bend
    pieces = [  # duration, velocity at the start, acceleration at both ends
        (bend, 0.0, 0.0, A),
        (flat, turned, A, A),
        (bend, V - turned, A, 0.0),
        (T - 2.0 * rise, V, 0.0, 0.0),
        (bend, V, 0.0, -A),
        (flat, V - turned, -A, -A),
        (bend, turned, -A, 0.0),
    ]
    breaks, rows, x = [0.0], [], x0
    for h, v, a, after in pieces:
        if breaks[-1] + h > breaks[-1]:
            rows.append([(after - a) / (6.0 * h), 0.5 * a, v, x])
            breaks.append(breaks[-1] + h)
            x += h * (v + h * (2.0 * a + after) / 6.0)
    if not np.isfinite(rows).all():
        raise OverflowError
    return TimingLaw(breaks, np.array(rows).T)


#: a law, or the duration [s] of a minimum-jerk law
Timing = TimingLaw | float


def as_law(timing: Timing, what: str = "timing") -> TimingLaw:
    """Return a law from 0 to 1: `timing` rescaled, or a minimum-jerk law of that duration [s]."""
    if isinstance(timing, TimingLaw):
        return timing.rescaled(0.0, 1.0)
    if isinstance(timing, bool) or np.ndim(timing) != 0:
        raise ThunderError(f"{what} must be a TimingLaw or a duration, got {timing!r}")
    return quintic(float(array(timing, (), what)))


def as_laws(timings: Timing | Sequence[Timing], count: int) -> list[TimingLaw]:
    """Return `count` laws from 0 to 1: one for all, or one for each."""
    if isinstance(timings, TimingLaw) or not isinstance(timings, Iterable) or isinstance(timings, str):
        return [as_law(timings, "timing")] * count
    laws = list(timings)
    if len(laws) != count:
        raise ThunderError(f"timing must be one, or {count} of them, got {len(laws)}")
    return [as_law(timing, f"timing {i}") for i, timing in enumerate(laws)]


def start_times(laws: Sequence[TimingLaw], anticipation: float | npt.ArrayLike) -> tuple[Array, Array]:
    """Return the start times of successive laws, (m,), and their overlaps, (m - 1,) [s].

    Parameters
    ----------
    laws : sequence of TimingLaw
        Successive laws.
    anticipation : float or (m - 1,) array_like
        Overlap of each law with the previous one [s].

    Raises
    ------
    ValueError
        If an anticipation is negative, or longer than one of the two laws.
    """
    T = np.array([law.duration for law in laws])
    inner = max(T.size - 1, 0)
    early = one_or_each(anticipation, inner, "anticipation")
    longest = np.minimum(T[:-1], T[1:])
    for k, (value, limit) in enumerate(zip(early, longest, strict=True)):
        if not 0.0 <= value <= limit:
            raise ThunderError(
                f"anticipation of part {k + 1} must be 0 to {limit:g} s, the shorter of its two, got {value:g}"
            )
    return np.concatenate([[0.0], np.cumsum(T[:-1] - early)])[: T.size], early


def placed(law: TimingLaw, start: float) -> _core.PiecewisePolynomial:
    """Return the polynomial of a law that begins at time `start`, without pieces that are shorter than its rounding."""
    breaks = law.breaks + start
    lasts = np.diff(breaks) > 0.0
    return _core.PiecewisePolynomial(np.append(breaks[:-1][lasts], breaks[-1]), law.coefficients[:, lasts, None])
