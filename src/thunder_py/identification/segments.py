"""Logs behind the filter of `identify`, as functions of time that sensors with delays read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol, cast

import numpy as np

from ..checks import Array, array, zero_or_above
from ..errors import ThunderError
from ..result import SimulationResult
from .friction import FrictionColumns
from .signals import central_differences, checked_cutoff, differentiate, instants, lowpass, noise_gain, sampling_period

if TYPE_CHECKING:
    from scipy.interpolate import BSpline

__all__ = [
    "FrictionParts",
    "Segment",
    "Signals",
    "SignalsLike",
    "listed_logs",
    "segment_of",
    "signals_of",
    "wide_velocity",
]

#: instants kept per period of the cutoff: filtered signals hold nothing faster
_KEPT = 10.0
#: periods of the cutoff at either end in which filtered signals are left out
_EDGE = 2.0
#: cutoff for velocities that columns of friction are formed of before the filter, relative to its cutoff
_WIDER = 4.0
#: degree of the splines
_DEGREE = 5


class SignalsLike(Protocol):
    """A log: instants (k,), positions and torques (k, n), such as a `Log` or a `SimulationResult`."""

    @property
    def t(self) -> Array:
        """Instants [s]."""

    @property
    def q(self) -> Array:
        """Positions [rad or m]."""

    @property
    def tau(self) -> Array:
        """Torques [N m or N]."""


class FrictionParts(NamedTuple):
    """Columns of friction of one joint behind the filter, (k, c), and their derivatives.

    The derivatives are those by time, by the gain of the encoder, and by the logarithm of the Stribeck velocity.
    """

    values: Array
    rates: Array
    by_gain: Array
    by_velocity: Array


@dataclass(frozen=True)
class Segment:
    """One log.

    Attributes
    ----------
    at : (k,) array
        Instants that are used.
    joints : sequence of BSpline
        q, dq and ddq of each joint as functions of time.
    torques : sequence of BSpline
        Torque of each joint.
    speed : (K, n) array
        Velocities at all instants, behind a wider filter.
    spline : callable
        Filters columns (K, c) at all instants like the torques, and returns them as functions of time.
    hold : float
        Time that a torque is held from its instant on [s].
    white : float
        Number of independent values of noise per instant of `at`.
    """

    at: Array
    joints: Sequence[BSpline]
    torques: Sequence[BSpline]
    speed: Array
    spline: Callable[[Array], BSpline]
    hold: float
    white: float

    def motion(self, delay: Array) -> tuple[Array, Array]:
        """Return q, dq, ddq and their time derivatives that encoders with these delays read, (3, k, n) each."""
        found = [
            (joint(self.at + e), joint.derivative()(self.at + e)) for joint, e in zip(self.joints, delay, strict=True)
        ]
        values, rates = (np.stack(part, axis=-1).swapaxes(0, 1) for part in zip(*found, strict=True))
        return np.ascontiguousarray(values), np.ascontiguousarray(rates)

    def torque(self, delay: Array) -> tuple[Array, Array]:
        """Return the torques that sensors with these delays read, and their time derivatives, (k, n) each."""
        parts = zip(self.torques, delay - 0.5 * self.hold, strict=True)
        found = [(spline(self.at + d), spline.derivative()(self.at + d)) for spline, d in parts]
        values, rates = (np.column_stack(part) for part in zip(*found, strict=True))
        return values, rates

    def friction(
        self, joint: int, delay: float, gain: float, columns: Callable[[Array], FrictionColumns]
    ) -> FrictionParts:
        """Return columns of friction of a joint, which an encoder with this delay and gain reads."""
        v = self.speed[:, joint] / gain
        values, slopes, bends = columns(v)
        c, at = values.shape[1], self.at + delay
        if c == 0:
            return FrictionParts(*np.zeros((4, at.size, 0)))
        spline = self.spline(np.hstack([values, -slopes * (v / gain)[:, None], bends]))
        found = spline(at)
        return FrictionParts(found[:, :c], spline.derivative()(at)[:, :c], found[:, c : 2 * c], found[:, 2 * c :])


def listed_logs(logs: SignalsLike | Sequence[SignalsLike]) -> Sequence[SignalsLike]:
    """Return one or several logs as a sequence."""
    return logs if isinstance(logs, (list, tuple)) else [cast("SignalsLike", logs)]


class Signals(NamedTuple):
    """Checked signals of a log; `dq` and `ddq` only where these are used as they are."""

    t: Array
    q: Array
    dq: Array | None
    ddq: Array | None
    tau: Array


def signals_of(log: SignalsLike, n: int, cutoff: float | None) -> Signals:
    """Check one log; velocities and accelerations are left out where `cutoff` is given.

    Raises
    ------
    ThunderError
        If shapes do not match, instants do not increase or are too few, or accelerations and the cutoff are missing.
    """
    # the last row of a run is always logged, off the grid of the log, and repeats the torque before
    inner = slice(0, -1) if isinstance(log, SimulationResult) else slice(None)
    times = instants(np.asarray(log.t)[inner])

    def checked(name: str) -> Array:
        return array(np.asarray(getattr(log, name))[inner], (times.size, n), name)

    if cutoff is not None:
        return Signals(times, checked("q"), None, None, checked("tau"))
    if getattr(log, "ddq", None) is None or getattr(log, "dq", None) is None:
        raise ThunderError(
            "cutoff must be given without ddq, because accelerations are computed from filtered positions"
        )
    return Signals(times, checked("q"), checked("dq"), checked("ddq"), checked("tau"))


def wide_velocity(times: Array, q: Array, cutoff: float) -> Array:
    """Return velocities behind a filter of a higher cutoff, or behind none where the log has no higher frequencies."""
    higher = _WIDER * cutoff
    if higher * sampling_period(times) < 0.5:
        return differentiate(times, q, higher).dq
    return central_differences(times, q).dq


def segment_of(log: SignalsLike, n: int, cutoff: float | None, hold: float, longest_delay: float) -> Segment:
    """Check one log, and filter it where `cutoff` is given.

    Raises
    ------
    ThunderError
        See `signals_of`; also if the instants are not evenly spaced, or delays or a hold need the cutoff.
    """
    times, q, dq, ddq, tau = signals_of(log, n, cutoff)
    hold = zero_or_above(hold, "hold")
    if dq is not None and ddq is not None:
        if longest_delay or hold:
            raise ThunderError("cutoff must be given for sensors with delays or a hold: torques are interpolated")
        return _segment(times, times, (q, dq, ddq), tau, dq, lambda columns: columns, 1, 0.0, 1.0)
    assert cutoff is not None  # signals_of requires one of both
    dt = sampling_period(times)
    cutoff = checked_cutoff(cutoff, dt)
    stride = max(int(1.0 / (_KEPT * cutoff * dt)), 1)
    edge = _EDGE / cutoff + longest_delay + hold
    inside = (times >= times[0] + edge) & (times <= times[-1] - edge)
    inside[np.arange(times.size) % stride != 0] = False
    if inside.sum() <= _DEGREE:
        raise ThunderError(
            f"t must span more than {2.0 * edge:g} s for cutoff = {cutoff:g} Hz and longest_delay = "
            f"{longest_delay:g} s, got {times[-1] - times[0]:g} s"
        )

    def smooth(columns: Array) -> Array:
        return lowpass(times, columns, cutoff)

    white = min(stride * noise_gain(times, cutoff), 1.0)
    motion, speed = differentiate(times, q, cutoff), wide_velocity(times, q, cutoff)
    return _segment(times, times[inside], motion, smooth(tau), speed, smooth, stride, hold, white)


def _segment(
    times: Array,
    at: Array,
    motion: Sequence[Array],
    torque: Array,
    speed: Array,
    smooth: Callable[[Array], Array],
    stride: int,
    hold: float,
    white: float,
) -> Segment:
    from scipy.interpolate import make_interp_spline

    kept = times[::stride]
    if at.size <= _DEGREE:
        raise ThunderError(f"t must hold more than {_DEGREE} instants away from its ends, got {at.size}")

    def spline(columns: Array) -> BSpline:
        return make_interp_spline(kept, columns[::stride], k=_DEGREE)

    joints = [spline(np.column_stack(parts)) for parts in zip(*(part.T for part in motion), strict=True)]
    torques = [spline(column) for column in torque.T]
    return Segment(at, joints, torques, speed, lambda columns: spline(smooth(columns)), hold, white)
