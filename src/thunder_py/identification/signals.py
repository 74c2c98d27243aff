"""Motion from logged positions: filters that shift nothing in time."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..checks import Array, array
from ..errors import ThunderError

__all__ = ["Motion", "differentiate", "lowpass"]

#: how far sampling periods may differ from their mean
_JITTER = 1e-3


class Motion(NamedTuple):
    """Positions, velocities and accelerations at the same instants.

    Attributes
    ----------
    q, dq, ddq : (k, n) array
        [rad or m] and their time derivatives.
    """

    q: Array
    dq: Array
    ddq: Array


def differentiate(t: npt.ArrayLike, q: npt.ArrayLike, cutoff: float, *, order: int = 4) -> Motion:
    """Estimate velocities and accelerations from sampled positions, without delay.

    A Butterworth filter runs forwards and backwards over the positions, which cancels its phase; central differences
    of second order follow. It looks into the future: for logs, not for control.

    Parameters
    ----------
    t : (k,) array_like
        Evenly spaced instants [s].
    q : (k, n) array_like
        Joint positions.
    cutoff : float
        [Hz], where the two passes together leave half of the amplitude. Some times the highest frequency of the motion.
    order : int
        Of one pass.

    Returns
    -------
    Motion
        The filtered positions and their derivatives. Values within a few periods of the cutoff from either end are
        less good.

    Raises
    ------
    ThunderError
        If the instants are not evenly spaced, too few, or `cutoff` is not below half the sampling frequency.
    """
    dt = sampling_period(t)
    smooth = lowpass(t, q, cutoff, order=order)
    dq = np.gradient(smooth, dt, axis=0, edge_order=2)
    ddq = np.empty_like(smooth)
    ddq[1:-1] = (smooth[2:] - 2.0 * smooth[1:-1] + smooth[:-2]) / dt**2
    ddq[0], ddq[-1] = 2.0 * ddq[1] - ddq[2], 2.0 * ddq[-2] - ddq[-3]
    return Motion(smooth, dq, ddq)


def lowpass(t: npt.ArrayLike, x: npt.ArrayLike, cutoff: float, *, order: int = 4) -> Array:
    """Filter sampled signals by the filter of `differentiate`: torques have to pass it too.

    Parameters
    ----------
    t : (k,) array_like
        Evenly spaced instants [s].
    x : (k, n) array_like
        Signals.
    cutoff : float
        [Hz].
    order : int
        Of one pass.

    Returns
    -------
    (k, n) array
        What is left.
    """
    from scipy.signal import butter, sosfiltfilt

    dt = sampling_period(t)
    signals = array(x, (np.size(t), None), "x")
    cutoff = float(array(cutoff, (), "cutoff"))
    if not 0.0 < cutoff < 0.5 / dt:
        raise ThunderError(
            f"cutoff must be more than 0 and less than half the sampling frequency, {0.5 / dt:g} Hz, got {cutoff:g}"
        )
    if isinstance(order, bool) or not isinstance(order, (int, np.integer)) or not 1 <= order <= 10:
        raise ThunderError(f"order must be a whole number from 1 to 10, got {order!r}")
    padding = round(min(3.0 / (cutoff * dt), len(signals) - 1))
    filtered: Array = sosfiltfilt(butter(order, cutoff, fs=1.0 / dt, output="sos"), signals, axis=0, padlen=padding)
    return filtered


def sampling_period(t: npt.ArrayLike) -> float:
    """Return the period of evenly spaced instants [s], or raise."""
    times = instants(t)
    steps = np.diff(times)
    period = float(steps.mean())
    if np.abs(steps - period).max() > _JITTER * period:
        raise ThunderError(f"t must be evenly spaced, got periods from {steps.min():g} to {steps.max():g} s")
    return period


def instants(t: npt.ArrayLike) -> Array:
    """Return at least five growing instants, or raise."""
    times = array(t, (None,), "t")
    if times.size < 5:
        raise ThunderError(f"t must hold at least 5 instants, got {times.size}")
    if not (np.diff(times) > 0.0).all():
        raise ThunderError("t must grow from instant to instant")
    return times
