"""Timing laws under limits: trapezoidal velocity, and S-curves whose jerk is bounded too."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from ..errors import ThunderError
from .timing import TimingLaw, numbers, positive, positive_duration

__all__ = ["s_curve", "trapezoidal"]

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
