"""The decision to plan anew, step by step as the interceptor takes it (D4.2, eqs. 113 to 117, corrected)."""

from __future__ import annotations

import numpy.typing as npt

from ... import _core
from ...motion.scalars import positive
from .belt import Belt
from .interceptor import InterceptionOptions
from .strategies import Strategy

__all__ = ["arrival_time", "misses", "new_arrival"]


def arrival_time(belt: Belt, t: float, p: npt.ArrayLike, v: npt.ArrayLike) -> float:
    """Return when an object at p with velocity v at time t passes p_ref [s]: t + (p_ref - p) / v along the belt (113).

    The printed (113) is a time to go, counted from the estimate; (114) and (117) want an absolute one (errata D-26).
    Infinite for an object that does not move along the belt.

    Parameters
    ----------
    belt : Belt
        Its offset is not used: p is the point that the hand's frame is to meet.
    t : float
        [s].
    p, v : (3,) array_like
        [m], [m/s].
    """
    return _core._arrival_time(InterceptionOptions()._settings(belt), t, p, v)


def misses(
    belt: Belt,
    t: float,
    p: npt.ArrayLike,
    v: npt.ArrayLike,
    goal: npt.ArrayLike,
    arrival: float,
    threshold: float = 0.01,
) -> bool:
    """Evaluate the missing condition (114) with absolute times: |goal - (p + v (t_f - t))| > p_th.

    Parameters
    ----------
    belt, t, p, v
        As in `arrival_time`.
    goal : (3,) array_like
        Where the hand is going [m]: p_ref at first, and what a strategy made of it later.
    arrival : float
        t_f, when it will be there [s].
    threshold : float
        p_th [m].
    """
    options = InterceptionOptions(threshold=positive(threshold, "threshold", "m"))
    return _core._misses(options._settings(belt), t, p, v, goal, arrival)


def new_arrival(
    belt: Belt,
    strategy: Strategy,
    t: float,
    p: npt.ArrayLike,
    v: npt.ArrayLike,
    arrival: float,
    *,
    remaining: float,
    hand: npt.ArrayLike,
    frequency: float = 0.0,
    old_frequency: float = 0.0,
) -> float:
    """Return the time of arrival that a strategy chooses [s]; the goal is where the object is then, p + v (t_f - t).

    Parameters
    ----------
    belt, t, p, v
        As in `arrival_time`.
    strategy : VariableStructure, TimeAugmentation or SingleShot
        For the last one it is the arrival at p_ref.
    arrival : float
        As planned so far [s].
    remaining : float
        1 - tau, the part of the motion that is left.
    hand : (3,) array_like
        Where it is [m].
    frequency, old_frequency : float
        Of the estimates, now and before [Hz].
    """
    settings = InterceptionOptions(strategy=strategy)._settings(belt)
    return _core._new_arrival(settings, t, p, v, arrival, remaining, hand, frequency, old_frequency)
