"""Optimal switching of the motor for q(T) = 0: one switch in closed form or by a root, several by another root."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq

from ...checks import Array, positive
from ...errors import ThunderError
from .model import ElasticWrist, WristOscillator
from .throw import WristThrow

#: tolerance of roots as a fraction of T
_ROOT = 1e-15
#: largest number of half periods, beyond which rounding makes the phase useless
_LONGEST = 1e6


class ClosedForm(NamedTuple):
    """Switch and speed of the lossless, level wrist.

    Attributes
    ----------
    t1 : float
        Time of the switch [s].
    speed : float
        dq(T) [rad/s].
    nu : float
        Multiplier, ``-omega0 cot(omega0 (T - t1))`` [1/s].
    """

    t1: float
    speed: float
    nu: float


def closed_form(omega0: float, theta_max: float, T: float) -> ClosedForm:
    """Return the optimal single switch without damping, gravity or slope, for ``|theta| <= theta_max``.

    Parameters
    ----------
    omega0 : float
        Natural frequency [rad/s].
    theta_max : float
        Bound of the motor's angle [rad].
    T : float
        Time of release [s], at most one period; optimal among all controls up to ``omega0 T = 4.3726``.

    Returns
    -------
    ClosedForm
        Switch, speed and multiplier.

    Raises
    ------
    ThunderError
        If a number is not positive and finite, or T exceeds one period, where the square root changes sign.

    Notes
    -----
    Source: D4.2, section 4.3.1, eq. 91 and the formulas above it.

    Examples
    --------
    >>> from thunder_py.manipulation.wrist import closed_form
    >>> throw = closed_form(omega0=20.0, theta_max=0.6, T=0.15)
    >>> round(throw.t1, 4), round(throw.speed, 3), round(throw.nu, 3)
    (0.0717, 22.306, -0.1)
    """
    w, bound, T = positive(omega0, "omega0"), positive(theta_max, "theta_max"), positive(T, "T")
    if w * T > 2.0 * math.pi:
        raise ThunderError(f"T must be at most one period, {2.0 * math.pi / w:g} s, got {T:g}")
    # half angles avoid cancellation at small w T
    half = math.sin(0.5 * w * T)
    left = 2.0 * math.asin(math.sqrt(0.5) * abs(half)) / w
    speed = bound * w * (2.0 * abs(half) * math.sqrt(1.0 + math.cos(0.5 * w * T) ** 2) - math.sin(w * T))
    nu = -w / math.tan(w * left) if left > 0.0 else -math.inf
    return ClosedForm(T - left, speed, nu)


def one_switch(wrist: WristOscillator | ElasticWrist, T: float) -> WristThrow:
    """Return the throw whose control switches once, from its lower to its upper bound.

    Parameters
    ----------
    wrist : WristOscillator or ElasticWrist
        For an `ElasticWrist` its `oscillator`, with effective stiffness and the asymmetric bounds due to gravity.
    T : float
        Time of release [s].

    Returns
    -------
    WristThrow
        `valid` is True if the control is optimal among all controls, which holds up to ``t_1 = pi / omega_d``;
        `limit` is the corresponding T (``4.3726 / omega0`` without damping and gravity).

    Raises
    ------
    ThunderError
        On bad data of the wrist, or if T is not positive.

    Notes
    -----
    With the step response S: ``u_lo S(T) + (u_hi - u_lo) S(T - t_1) = 0``, on the first rise of S (D4.2, section 4.3;
    errata D-18, D-20, D-21).

    Examples
    --------
    >>> from thunder_py.manipulation import ElasticWrist, one_switch
    >>> wrist = ElasticWrist(I=0.012, k=5.0, m=0.7, r_c=0.09, c=0.03)
    >>> throw = one_switch(wrist, 0.15)
    >>> throw.switches.round(4).tolist(), round(throw.speed, 2), throw.valid
    ([0.0645], 20.69, True)
    """
    o, T = _problem(wrist, T)
    left = _root(lambda s: o.u_lo * float(o.step(T)) + (o.u_hi - o.u_lo) * float(o.step(s)), min(T, o.half_period))
    limit = one_switch_limit(o)
    return _throw(o, T, np.array([T - left]), o.u_lo, valid=limit * (1.0 + 1e-12) >= T, limit=limit)


def one_switch_limit(wrist: WristOscillator | ElasticWrist) -> float:
    """Return the largest T for which one switch is optimal [s], at which the switch is at ``pi / omega_d``.

    Parameters
    ----------
    wrist : WristOscillator or ElasticWrist
        As in `one_switch`.

    Examples
    --------
    >>> from thunder_py.manipulation.wrist import WristOscillator, one_switch_limit
    >>> round(one_switch_limit(WristOscillator(omega0=1.0, u_lo=-0.6, u_hi=0.6)), 4)
    4.3726
    """
    o = _oscillator(wrist)
    h = o.half_period
    return h + _root(lambda s: o.u_lo * float(o.step(h + s)) + (o.u_hi - o.u_lo) * float(o.step(s)), h)


def free_switching(wrist: WristOscillator | ElasticWrist, T: float) -> WristThrow:
    """Return the optimal throw among all controls, with any number of switches.

    Parameters
    ----------
    wrist : WristOscillator or ElasticWrist
        As in `one_switch`.
    T : float
        Time of release [s].

    Returns
    -------
    WristThrow
        With one switch up to `limit`, then about one more per half period of T.

    Raises
    ------
    ThunderError
        On bad data of the wrist, or if T is not positive.

    Notes
    -----
    By Pontryagin's condition u switches at the zeros of lambda_2: the last one a time s before T, the others
    ``pi / omega_d`` apart before it. The impulse response alternates in sign with them, so q(T) increases strictly with
    s, and one s in a half period gives q(T) = 0. The problem is convex, so a control that agrees with its switching
    function is the optimum.

    Examples
    --------
    >>> from thunder_py.manipulation import ElasticWrist, free_switching
    >>> wrist = ElasticWrist(I=0.012, k=5.0, m=0.7, r_c=0.09, c=0.03)
    >>> throw = free_switching(wrist, 0.3)
    >>> throw.switches.round(4).tolist(), round(throw.speed, 2), throw.agrees()
    ([0.0696, 0.2238], 39.56, True)
    """
    o, T = _problem(wrist, T)

    def miss(s: float) -> float:
        switches, first = _pattern(o, T, s)
        return float(o.response(T, np.r_[0.0, switches], _alternating(o, first, switches.size + 1))[0])

    switches, first = _pattern(o, T, _root(miss, o.half_period))
    return _throw(o, T, switches, first, valid=True, limit=one_switch_limit(o))


def _pattern(o: WristOscillator, T: float, s: float) -> tuple[Array, float]:
    """Return the switches for a co-state with its last zero at T - s, and the first value of u."""
    left = np.arange(s, T, o.half_period)
    return T - left[::-1], o.u_lo if left.size % 2 else o.u_hi


def _alternating(o: WristOscillator, first: float, count: int) -> Array:
    other = o.u_hi if first == o.u_lo else o.u_lo
    return np.where(np.arange(count) % 2 == 0, first, other)


def _throw(o: WristOscillator, T: float, switches: Array, first: float, *, valid: bool, limit: float) -> WristThrow:
    values = _alternating(o, first, switches.size + 1)
    speed = float(o.response(T, np.r_[0.0, switches], values)[1])
    return WristThrow(oscillator=o, T=T, switches=switches, values=values, speed=speed, valid=valid, limit=limit)


def _root(function: Callable[[float], float], high: float) -> float:
    return float(brentq(function, 0.0, high, xtol=_ROOT * high, rtol=4.0 * np.finfo(float).eps))


def _problem(wrist: WristOscillator | ElasticWrist, T: float) -> tuple[WristOscillator, float]:
    """Return the checked oscillator and time of release."""
    o, T = _oscillator(wrist), positive(T, "T")
    if T / o.half_period > _LONGEST:
        raise ThunderError(f"T must be at most {_LONGEST:g} half periods of {o.half_period:g} s, got {T:g}")
    return o, T


def _oscillator(wrist: WristOscillator | ElasticWrist) -> WristOscillator:
    if isinstance(wrist, WristOscillator):
        return wrist
    if not isinstance(wrist, ElasticWrist):
        raise ThunderError(f"wrist must be an ElasticWrist or a WristOscillator, got {type(wrist).__name__}")
    return wrist.oscillator()
