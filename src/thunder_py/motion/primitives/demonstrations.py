"""Demonstrations of movement primitives: positions with two derivatives, from several types of motions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...checks import Array, array, numbers, positive, whole
from ...errors import ThunderError
from ...recordings.plausibility import Samples, check_plausible
from ...recordings.processing.filtering import butterworth, filters_nothing
from ...recordings.trial import Trial

#: degree of the splines that differentiate samples
_DEGREE = 5


@dataclass(frozen=True, eq=False)
class Demonstration:
    """One motion with its derivatives.

    Attributes
    ----------
    t : (k,) array
        Times from 0 [s].
    x, dx, ddx : (k, d) array
        Position, velocity, acceleration; of an orientation, the rotation vector from the end, in world axes.
    units : tuple of str
        Units of the coordinates; empty if unknown.
    name : str
        Label of the motion; empty without one.
    """

    t: Array
    x: Array
    dx: Array
    ddx: Array
    units: tuple[str, ...] = ()
    name: str = ""

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
    read = [read_motion(motion, name, cutoff, samples) for name, motion in named(value)]
    widths = {demonstration.x.shape[1] for demonstration in read}
    if len(widths) > 1:
        raise ThunderError(f"demonstrations must have the same number of coordinates, got {sorted(widths)}")
    check_plausible([Samples(one.x, one.t, one.units, one.name) for one in read])
    return read


def named(value: Any) -> list[tuple[str, Any]]:
    """Return one motion (a tuple, has t and x, or is a function of time), or several, with names for messages."""
    if isinstance(value, tuple) or is_sampled(value) or _is_function(value):
        value = [value]
    if not isinstance(value, Iterable):
        raise ThunderError(f"demonstrations must be motions, or several of them, got {type(value).__name__}")
    if not (each := list(value)):
        raise ThunderError("demonstrations must be at least one, got none")
    return [(f"demonstration {k} ({label_of(one)})".removesuffix(" ()"), one) for k, one in enumerate(each)]


def is_sampled(value: Any) -> bool:
    """Return whether an object has times and samples, as a `Trial`."""
    return hasattr(value, "t") and hasattr(value, "x")


def _is_function(value: Any) -> bool:
    # a trial has a `position` too, but only of some coordinates
    return not isinstance(value, Trial) and callable(getattr(value, "position", None)) and hasattr(value, "duration")


def label_of(value: Any) -> str:
    """Return the name of a trial, and no text for other motions."""
    return value.name if isinstance(value, Trial) else ""


def read_motion(value: Any, name: str, cutoff: float, samples: int = 2) -> Demonstration:
    """Return one motion with its derivatives, which are those of a quintic spline where it has none."""
    if _is_function(value):
        t = np.linspace(0.0, positive(value.duration, f"{name}: duration"), whole(samples, "samples", 2))
        x, dx, ddx = (array(value.position(t, order), (len(t), None), name) for order in range(3))
        return Demonstration(t, x, dx, ddx)
    if not isinstance(value, tuple) and not is_sampled(value):
        raise ThunderError(
            f"{name} must be a Trial, (t, x), (t, x, dx, ddx), or have position and duration, "
            f"got {type(value).__name__}"
        )
    parts = value if isinstance(value, tuple) else (value.t, value.x)
    if len(parts) not in (2, 4):
        raise ThunderError(f"{name} must be (t, x) or (t, x, dx, ddx), got {len(parts)} entries")
    t = _times(parts[0], name)
    x, *rest = (_values(part, len(t), name) for part in parts[1:])
    if not rest:
        t, x, *rest = _smooth(t, x, cutoff, name)
    if rest[0].shape != x.shape or rest[1].shape != x.shape:
        raise ThunderError(f"{name}: x, dx and ddx must have one shape, got {[a.shape for a in (x, *rest)]}")
    return Demonstration(t, x, rest[0], rest[1], tuple(getattr(value, "units", ())), label_of(value))


def _times(value: Any, name: str) -> Array:
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


def _smooth(t: Array, x: Array, cutoff: float, name: str) -> tuple[Array, ...]:
    """Return times, and a quintic spline through x with two derivatives, after the filter of `processing.low_pass`.

    The filter takes evenly spaced times: samples at other times are interpolated by a quintic spline first.
    """
    from scipy.interpolate import make_interp_spline

    if len(t) <= _DEGREE:
        raise ThunderError(f"{name} must have at least {_DEGREE + 1} samples to be differentiated, got {len(t)}")
    spline = make_interp_spline(t, x, k=_DEGREE)
    if not filters_nothing(cutoff):
        rate = (len(t) - 1) / t[-1]
        if cutoff >= 0.5 * rate:
            raise ThunderError(f"cutoff must be below half the rate of {name}, {0.5 * rate:g} Hz, got {cutoff:g} Hz")
        t = np.linspace(0.0, t[-1], len(t))
        spline = make_interp_spline(t, butterworth(spline(t), rate, cutoff), k=_DEGREE)
    return t, spline(t), spline(t, 1), spline(t, 2)
