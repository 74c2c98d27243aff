"""Demonstrations of movement primitives: positions with two derivatives, from several types of motions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...checks import Array, array, numbers, positive, whole
from ...errors import ThunderError
from ...recordings.plausibility import Samples, check_plausible
from ...recordings.processing.filtering import filters_nothing
from ...recordings.trial import Trial

if TYPE_CHECKING:
    from scipy.interpolate import BSpline

#: degree of the splines that differentiate samples
_DEGREE = 5
#: largest number of samples of a rollout, and of durations
_MOST_STEPS, _MOST_DURATIONS = 10_000_000, 1e4


@dataclass(frozen=True, eq=False)
class Demonstration:
    """One motion with its derivatives.

    Attributes
    ----------
    t : (k,) array
        Times from 0 [s].
    x, dx, ddx : (k, d) array
        Position, velocity, acceleration.
    units : tuple of str
        Units of the coordinates; empty if unknown.
    """

    t: Array
    x: Array
    dx: Array
    ddx: Array
    units: tuple[str, ...] = ()

    @property
    def duration(self) -> float:
        """Time from the first sample to the last [s]."""
        return float(self.t[-1])

    @property
    def displacement(self) -> Array:
        """Displacement from start to goal, (d,)."""
        return np.asarray(self.x[-1] - self.x[0])

    @property
    def share(self) -> Array:
        """Part of the duration that each sample represents (trapezoidal rule), (k,)."""
        step = np.diff(self.t) / self.duration
        return np.asarray(0.5 * (np.append(step, 0.0) + np.insert(step, 0, 0.0)))


def read_demonstrations(value: Any, cutoff: float, samples: int) -> list[Demonstration]:
    """Return `value` as demonstrations of one dimension; see `DMP.fit`."""
    each = listed(value, _is_motion(value))
    read = [_read(motion, _name(motion, k), cutoff, samples) for k, motion in enumerate(each)]
    widths = {demonstration.x.shape[1] for demonstration in read}
    if len(widths) > 1:
        raise ThunderError(f"demonstrations must have the same number of coordinates, got {sorted(widths)}")
    check_plausible(
        [
            Samples(demonstration.x, demonstration.t, tuple(getattr(motion, "units", ())), _label(motion))
            for motion, demonstration in zip(each, read, strict=True)
        ]
    )
    return read


def listed(value: Any, one: bool = False) -> list[Any]:
    """Return demonstrations as a list: one, that is a tuple, has t and x or is called `one`, or several."""
    if one or isinstance(value, tuple) or is_sampled(value):
        return [value]
    if not isinstance(value, Iterable):
        raise ThunderError(f"demonstrations must be motions, or several of them, got {type(value).__name__}")
    if not (each := list(value)):
        raise ThunderError("demonstrations must be at least one, got none")
    return each


def is_sampled(value: Any) -> bool:
    """Return whether an object has times and samples, as a `Trial`."""
    return hasattr(value, "t") and hasattr(value, "x")


def _is_motion(value: Any) -> bool:
    # a trial has a `position` too, but only of some coordinates
    return not isinstance(value, Trial) and callable(getattr(value, "position", None)) and hasattr(value, "duration")


def _label(value: Any) -> str:
    label = getattr(value, "name", "")
    return label if isinstance(label, str) else ""


def _name(value: Any, k: int) -> str:
    label = _label(value)
    return f"demonstration {k}" + (f" ({label})" if label else "")


def _read(value: Any, name: str, cutoff: float, samples: int) -> Demonstration:
    if _is_motion(value):
        t = np.linspace(0.0, positive(value.duration, f"{name}: duration"), whole(samples, "samples", 2))
        x, dx, ddx = (array(value.position(t, derivative), (len(t), None), name) for derivative in range(3))
        return Demonstration(t, x, dx, ddx)
    if not isinstance(value, tuple) and not is_sampled(value):
        raise ThunderError(
            f"{name} must be a Trial, (t, x), (t, x, dx, ddx), or have position and duration, "
            f"got {type(value).__name__}"
        )
    parts = value if isinstance(value, tuple) else (value.t, value.x)
    if len(parts) not in (2, 4):
        raise ThunderError(f"{name} must be (t, x) or (t, x, dx, ddx), got {len(parts)} entries")
    t = times_of(parts[0], name)
    x, *rest = (_values(part, len(t), name) for part in parts[1:])
    if rest:
        if rest[0].shape != x.shape or rest[1].shape != x.shape:
            raise ThunderError(f"{name}: x, dx and ddx must have one shape, got {[a.shape for a in (x, *rest)]}")
        return Demonstration(t, x, rest[0], rest[1])
    t, spline = smooth(t, x, cutoff, name)
    return Demonstration(t, spline(t), spline(t, 1), spline(t, 2), tuple(getattr(value, "units", ())))


def span_of(until: float | None, dt: float | None, tau: float, name: str = "until") -> tuple[float, int]:
    """Return the end [s] of a rollout of duration tau [s], which is called `name`, and the number of its steps."""
    end = tau if until is None else positive(until, name)
    step = tau / 500 if dt is None else positive(dt, "dt")
    if end / step > _MOST_STEPS:
        raise ThunderError(f"dt must give at most 1e7 samples, got {step:g} s")
    if end / tau > _MOST_DURATIONS:
        raise ThunderError(f"until must be at most {_MOST_DURATIONS:g} durations, got {end:g} s of {tau:g} s")
    return end, max(1, int(np.ceil(end / step - 1e-9)))


def times_of(value: Any, name: str) -> Array:
    """Return increasing times (k,) from zero."""
    t = array(value, (None,), f"{name}: t")
    if len(t) < 2 or t[-1] <= t[0]:
        raise ThunderError(
            f"{name} must last longer than 0 s, got {len(t)} samples over {t[-1] - t[0] if len(t) else 0:g} s"
        )
    if (np.diff(t) <= 0.0).any():
        raise ThunderError(f"{name}: times must increase, got {t[np.argmax(np.diff(t) <= 0.0) + 1]:g} s out of order")
    return np.asarray(t - t[0])


def _values(value: Any, rows: int, name: str) -> Array:
    x = numbers(value, f"{name}: x")
    if np.isnan(x).any():
        raise ThunderError(f"{name} must have no gaps (processing.fill_gaps closes them), got NaN")
    return array(x[:, None] if x.ndim == 1 else x, (rows, None), f"{name}: x")


def smooth(t: Array, x: Array, cutoff: float, name: str) -> tuple[Array, BSpline]:
    """Return times and a quintic spline through x, after a low-pass filter with a finite cutoff [Hz].

    The filter is a Butterworth filter of second order, forwards and backwards, over evenly spaced times. Samples at
    other times are interpolated by a quintic spline first.
    """
    from scipy.interpolate import make_interp_spline
    from scipy.signal import butter, filtfilt

    if len(t) <= _DEGREE:
        raise ThunderError(f"{name} must have at least {_DEGREE + 1} samples to be differentiated, got {len(t)}")
    spline = make_interp_spline(t, x, k=_DEGREE)
    if filters_nothing(cutoff):
        return t, spline
    rate = (len(t) - 1) / t[-1]
    if cutoff >= 0.5 * rate:
        raise ThunderError(f"cutoff must be below half the rate of {name}, {0.5 * rate:g} Hz, got {cutoff:g} Hz")
    even = np.linspace(0.0, t[-1], len(t))
    b, a = butter(2, 2.0 * cutoff / rate)
    pad = min(len(t) - 1, 3 * int(np.ceil(rate / cutoff)))
    return even, make_interp_spline(even, filtfilt(b, a, spline(even), axis=0, padlen=pad), k=_DEGREE)
