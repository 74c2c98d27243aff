"""Signals as the equations use them: filtered where accelerations are missing."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..checks import Array
from ..errors import ThunderError
from ..robot import Robot
from .log import Log
from .sensors import POINTS
from .signals import Motion, central_differences, memory, noise_gain, zero_phase

#: periods of the cutoff at either end of a log in which filtered signals are left out
_EDGE = 2.0
#: memory of the filter in periods of a low cutoff, and the part of what it is longer that is left out as well
_MEMORY, _LONGER = 15.4, 0.25
#: cutoff for positions that columns are formed of before the filter, relative to its cutoff
_WIDER = 4.0
#: instants that are kept for each period of the cutoff where few suffice
_KEPT = 10.0
#: instants on either side of a window without a filter, for differences over time
_NEIGHBORS = 8


@dataclass(frozen=True, kw_only=True)
class Samples:
    """Signals at the same instants.

    Attributes
    ----------
    t : (k,) array
        Instants [s].
    motion : Motion
        Motion of the links, (k, n) each.
    torque : (k, n) array
        Measured torque [N m or N].
    motors : Motion or None
        Motion of the motors of elastic joints, (k, e) each.
    joint_torque : (k, e) array or None
        Measured torque of springs and dampers on the links.
    source : tuple of Filter and Log, or None
        What filtered signals were made of.

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.identification import Motion, Samples
    >>> still = Motion(*np.zeros((3, 5, 2)))
    >>> Samples(t=np.arange(5) * 1e-3, motion=still, torque=np.ones((5, 2)))[1:3].torque.shape
    (2, 2)
    """

    t: Array
    motion: Motion
    torque: Array
    motors: Motion | None = None
    joint_torque: Array | None = None
    source: tuple[Filter, Log] | None = None

    def __len__(self) -> int:
        """Return the number of instants."""
        return self.t.size

    def __getitem__(self, part: slice) -> Samples:
        """Return the signals of some instants, which share their memory."""
        return Samples(
            t=self.t[part],
            motion=_part(self.motion, part),
            torque=self.torque[part],
            motors=None if self.motors is None else _part(self.motors, part),
            joint_torque=None if self.joint_torque is None else self.joint_torque[part],
        )

    @cached_property
    def wide(self) -> tuple[Motion, Motion | None]:
        """Motions of links and motors; filtered ones behind a higher cutoff, for `filtered`."""
        if self.source is None:
            return self.motion, self.motors
        conversion, log = self.source
        return conversion.wide(log.q), None if log.x is None else conversion.wide(log.x)

    def filtered(self, columns: Array) -> Array:
        """Filter columns (k, ...) of a regressor of `wide` like the torques.

        The filter of a power of x - q is not the power of the filtered x - q. Columns are therefore formed before the
        filter, of positions that have lost only noise far above it.
        """
        if self.source is None:
            return columns
        flat = columns.reshape(len(columns), -1)
        used = flat.any(axis=0)
        found = np.zeros_like(flat)
        found[:, used] = self.source[0].smooth(flat[:, used])
        return found.reshape(columns.shape)

    def deflection(self, robot: Robot) -> Array:
        """Return x - q of the elastic joints, (k, e)."""
        if self.motors is None:
            return np.zeros((len(self), 0))
        return np.asarray(self.motors.q - self.motion.q[:, list(robot.motor_joints)])


def _part(motion: Motion, part: slice) -> Motion:
    return Motion(*(signal[part] for signal in motion))


@dataclass(frozen=True)
class Filter:
    """Conversion of logs to samples.

    Attributes
    ----------
    period : float
        Sampling period [s].
    cutoff : float or None
        Cutoff frequency [Hz]; None where accelerations are measured.
    hold : float
        Time that a torque is held from its instant on [s].
    longest : float
        Longest delay of sensors [s], by which signals are shifted before.
    """

    period: float
    cutoff: float | None = None
    hold: float = 0.0
    longest: float = 0.0

    @property
    def gains(self) -> tuple[float, float, float]:
        """Variances of white noise and of its first two derivatives after the filter, relative to that before."""
        if self.cutoff is None:
            return 1.0, 0.0, 0.0
        first, second, third = (noise_gain(self.period, self.cutoff, k) for k in range(3))
        return first, second, third

    @property
    def spacing(self) -> int:
        """Instants from one to the next that filtered signals need, which hold nothing much faster than the cutoff."""
        return 1 if self.cutoff is None else max(int(1.0 / (_KEPT * self.cutoff * self.period)), 1)

    @property
    def margin(self) -> int:
        """Instants before and after a window that its samples depend on."""
        if self.cutoff is None:
            return _NEIGHBORS
        held = round(self.hold / self.period) + 1 + self._late
        return _NEIGHBORS + held + memory(self.period, self.cutoff) * 5 // 4  # a quarter for the wider filter

    def edge(self, count: int) -> int:
        """Return the number of instants at either end of a log of `count` instants that are left out."""
        if self.cutoff is None:
            return 0
        samples = 1.0 / (self.cutoff * self.period)
        longer = max(memory(self.period, self.cutoff) - _MEMORY * samples, 0.0)
        edge = round(_EDGE * samples + _LONGER * longer) + self._late
        if self.longest and 2 * edge + 5 > count:
            raise ThunderError(
                f"t must span more than {(2 * edge + 5) * self.period:.3g} s for cutoff = {self.cutoff:g} Hz and "
                f"delays of up to {self.longest:g} s, got {count * self.period:.3g} s"
            )
        return min(edge, (count - 5) // 2)

    @property
    def _late(self) -> int:
        """Instants that the longest delay needs at either end of a signal."""
        return math.ceil(self.longest / self.period) + POINTS // 2 if self.longest else 0

    def __call__(self, log: Log) -> Samples:
        """Return the samples of a part of a log; those within the margin of its ends differ from those of the whole."""
        if self.cutoff is None:
            links = _measured(log.q, log.dq, log.ddq)
            motors = None if log.x is None else _measured(log.x, log.dx, log.ddx)
            return Samples(t=log.t, motion=links, torque=log.tau, motors=motors, joint_torque=log.joint_torque)
        torque = log.tau
        if self.hold > 0.0:
            t = self.period * np.arange(len(log))  # those of the log may be rounded
            torque = np.column_stack([np.interp(t, t + 0.5 * self.hold, column) for column in torque.T])
        return Samples(
            t=log.t,
            motion=self._motion(log.q),
            torque=self.smooth(torque),
            motors=None if log.x is None else self._motion(log.x),
            joint_torque=None if log.joint_torque is None else self.smooth(log.joint_torque),
            source=(self, log),
        )

    def smooth(self, signals: Array) -> Array:
        """Filter signals."""
        assert self.cutoff is not None
        return zero_phase(signals, self.period, self.cutoff)

    def _motion(self, positions: Array) -> Motion:
        return central_differences(self.smooth(positions), self.period)

    def wide(self, positions: Array) -> Motion:
        """Return the motion behind a filter of a higher cutoff, or behind none where no frequencies are higher."""
        assert self.cutoff is not None
        higher = _WIDER * self.cutoff
        if higher < 0.5 / self.period:
            positions = zero_phase(positions, self.period, higher)
        return central_differences(positions, self.period)


def _measured(q: Array | None, dq: Array | None, ddq: Array | None) -> Motion:
    assert q is not None
    assert dq is not None
    assert ddq is not None
    return Motion(q, dq, ddq)
