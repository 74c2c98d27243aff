"""Logs behind the filter of `identify`, as functions of time that sensors with delays read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from ..checks import Array
from ..errors import ThunderError
from ..robot import Robot
from .friction import FrictionTerms
from .log import Log, LogSource
from .signals import Motion, instants
from .spikes import without_spikes
from .windows import Filtering, filter_of, read_chunks

if TYPE_CHECKING:
    from scipy.interpolate import BSpline

#: instants kept per period of the cutoff: filtered signals hold nothing faster
_KEPT = 10.0
#: degree of the splines
_DEGREE = 5
#: instants that are read at once
_READ = 65536


def whole_log(robot: Robot, source: LogSource, filtering: Filtering) -> Log:
    """Return a checked log in memory."""
    parts = list(read_chunks(robot, source, filtering, _READ))
    if not parts:
        raise ThunderError("t must hold at least 5 instants, got 0")
    log = Log.joined(parts)
    return without_spikes(log) if filtering.robust and log.ddq is None else log


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
    gain : float
        Variance of white noise of torques behind the filter, relative to that before.
    used : (k, n) bool array or None
        Readings of torques that count; None where all do.
    """

    at: Array
    joints: Sequence[BSpline]
    torques: Sequence[BSpline]
    speed: Array
    spline: Callable[[Array], BSpline]
    hold: float
    white: float
    gain: float
    used: npt.NDArray[np.bool_] | None = None

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
        self, joint: int, delay: float, gain: float, columns: Callable[[Array], FrictionTerms]
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


def segment_of(log: Log, filtering: Filtering, longest_delay: float) -> Segment:
    """Filter one log unless it has accelerations.

    Raises
    ------
    ThunderError
        If the log is too short, its instants are not evenly spaced, or the cutoff is missing.
    """
    times, conversion = instants(log.t), filter_of(log, filtering)
    if log.ddq is not None and log.dq is not None:
        if longest_delay:
            raise ThunderError("ddq must be None for sensors with delays: torques are filtered and interpolated")
        motion = Motion(log.q, log.dq, log.ddq)
        return _segment(times, times, motion, log.tau, log.dq, lambda columns: columns, 1, 0.0, 1.0)
    cutoff, hold = conversion.cutoff, conversion.hold
    assert cutoff is not None
    conversion = replace(conversion, hold=0.0)  # the torque is shifted when it is interpolated
    samples = conversion(log)
    stride = max(int(1.0 / (_KEPT * cutoff * conversion.period)), 1)
    edge = conversion.edge(times.size) * conversion.period + longest_delay + hold
    inside = (times >= times[0] + edge) & (times <= times[-1] - edge)
    inside[np.arange(times.size) % stride != 0] = False
    if inside.sum() <= _DEGREE:
        raise ThunderError(
            f"t must span more than {2.0 * edge:g} s for cutoff = {cutoff:g} Hz and longest_delay = "
            f"{longest_delay:g} s, got {times[-1] - times[0]:g} s"
        )
    speed, gain = samples.wide[0].dq, conversion.gains[0]
    return _segment(times, times[inside], samples.motion, samples.torque, speed, conversion.smooth, stride, hold, gain)


def _segment(
    times: Array,
    at: Array,
    motion: Motion,
    torque: Array,
    speed: Array,
    smooth: Callable[[Array], Array],
    stride: int,
    hold: float,
    gain: float,
) -> Segment:
    from scipy.interpolate import make_interp_spline

    kept = times[::stride]
    if at.size <= _DEGREE:
        raise ThunderError(f"t must hold more than {_DEGREE} instants away from its ends, got {at.size}")

    def spline(columns: Array) -> BSpline:
        return make_interp_spline(kept, columns[::stride], k=_DEGREE)

    joints = [spline(np.column_stack(parts)) for parts in zip(*(part.T for part in motion), strict=True)]
    torques = [spline(column) for column in torque.T]
    return Segment(
        at, joints, torques, speed, lambda columns: spline(smooth(columns)), hold, min(stride * gain, 1.0), gain
    )
