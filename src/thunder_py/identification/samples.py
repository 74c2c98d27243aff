"""Signals as the equations use them: corrected for the sensors, and filtered where accelerations are missing."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ..checks import Array, all_positive, per_joint
from ..errors import ThunderError, UnknownNameError, nearest_hint
from ..robot import Robot
from ..values import Value, set_fields
from .log import Log
from .signals import Motion, central_differences, instants, memory, noise_gain, zero_phase

#: instants that the polynomials hold which shift readings in time
POINTS = 10


@dataclass(frozen=True, kw_only=True, eq=False)
class SensorCalibration(Value):
    """Delay, gain and bias of the torque sensor and the encoder of each joint.

    A sensor reads ``gain * value(t - delay) + bias``. Without arguments all sensors are exact.

    Attributes
    ----------
    torque_delay, position_delay : (n,) array
        Delays [s]; a negative one is a lead. Scalars stand for all joints.
    torque_gain, position_gain : (n,) array
        Gains, positive.
    torque_bias : (n,) array
        Readings at zero torque [N m or N].
    position_bias : (n,) array
        Readings at zero position [rad or m].

    Raises
    ------
    ThunderError
        If a shape is wrong or a gain is not positive.

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.identification import SensorCalibration
    >>> sensors = SensorCalibration(2, torque_gain=[1.0, 1.1], torque_delay=0.01, position_bias=[0.0, 0.05])
    >>> t = np.arange(0.0, 2.0, 1e-3)
    >>> q, tau = np.sin([t, 2 * t]).T, np.cos([t, 2 * t]).T
    >>> t2, read_q, read_tau = sensors.read(t, q, tau)
    >>> t3, q3, tau3 = sensors.correct(t2, read_q, read_tau)
    >>> bool(np.abs(tau3 - np.cos([t3, 2 * t3]).T).max() < 1e-9), (t.size, t3.size)
    (True, (2000, 1980))
    """

    #: names of the quantities, in the order in which `identify` lists them
    QUANTITIES: ClassVar[tuple[str, ...]] = (
        "torque_delay",
        "torque_gain",
        "torque_bias",
        "position_delay",
        "position_gain",
        "position_bias",
    )

    n: int = dataclasses.field(kw_only=False)
    torque_delay: npt.ArrayLike = 0.0
    torque_gain: npt.ArrayLike = 1.0
    torque_bias: npt.ArrayLike = 0.0
    position_delay: npt.ArrayLike = 0.0
    position_gain: npt.ArrayLike = 1.0
    position_bias: npt.ArrayLike = 0.0

    def __post_init__(self) -> None:
        """Check every field and make its arrays read-only copies."""
        values = {name: per_joint(getattr(self, name), self.n, name).copy() for name in self.QUANTITIES}
        for name, value in values.items():
            if name.endswith("gain"):
                all_positive(value, name)
            value.setflags(write=False)
        set_fields(self, **values)

    def vector(self) -> Array:
        """Return all values, (6 n,), quantity by quantity in the order of `QUANTITIES`."""
        return np.concatenate([np.asarray(getattr(self, name)) for name in self.QUANTITIES])

    @property
    def exact(self) -> bool:
        """Whether these sensors read what there is."""
        return bool((self.vector() == SensorCalibration(self.n).vector()).all())

    @classmethod
    def from_vector(cls, values: Array) -> SensorCalibration:
        """Return the calibration with the values of `vector`."""
        rows = values.reshape(len(cls.QUANTITIES), -1)
        return cls(rows.shape[1], **dict(zip(cls.QUANTITIES, rows, strict=True)))

    def read(self, t: npt.ArrayLike, q: npt.ArrayLike, tau: npt.ArrayLike) -> tuple[Array, Array, Array]:
        """Return what these sensors read of exact signals, without noise.

        Parameters
        ----------
        t : (k,) array_like
            Increasing instants [s].
        q, tau : (k, n) array_like
            Positions [rad or m] and torques [N m or N]; cubic splines interpolate them.

        Returns
        -------
        tuple of arrays
            Instants (m,) at which all sensors read within the log, and their readings (m, n) of q and tau.
        """
        return self._moved(t, (q, tau), -1.0)

    def correct(self, t: npt.ArrayLike, q: npt.ArrayLike, tau: npt.ArrayLike) -> tuple[Array, Array, Array]:
        """Return the signals whose readings are `q` and `tau`: the inverse of `read`.

        Parameters
        ----------
        t : (k,) array_like
            Increasing instants [s].
        q, tau : (k, n) array_like
            Readings of the encoders and of the torque sensors.

        Returns
        -------
        tuple of arrays
            Instants (m,) for which all readings are within the log, and positions and torques (m, n).
        """
        return self._moved(t, (q, tau), 1.0)

    def _moved(self, t: npt.ArrayLike, signals: Iterable[npt.ArrayLike], sign: float) -> tuple[Array, Array, Array]:
        """Return what sensors read of signals, with a sign of -1, or for 1 what they read signals of."""
        times, position, torque = instants(t), *self.vector().reshape(2, 3, self.n)[::-1]
        at = _common(times, sign * np.concatenate([position[0], torque[0]]))
        found = []
        for (delay, gain, bias), signal in zip((position, torque), signals, strict=True):
            moved = _shifted(times, signal, at, sign * delay)
            found.append(gain * moved + bias if sign < 0.0 else (moved - bias) / gain)
        return at, found[0], found[1]


def _common(times: Array, shifts: Array) -> Array:
    """Return the instants that stay within the log when shifted."""
    slack = 1e-9 * (times[-1] - times[0])
    inside = (times + shifts.min() >= times[0] - slack) & (times + shifts.max() <= times[-1] + slack)
    return np.asarray(times[inside])


def _shifted(times: Array, signal: npt.ArrayLike, at: Array, shifts: Array) -> Array:
    """Interpolate the columns of a signal (k, n), each with its own shift of time."""
    from scipy.interpolate import CubicSpline

    columns = np.asarray(signal, dtype=np.float64).T
    if not shifts.any():
        return np.ascontiguousarray(columns[:, np.isin(times, at)].T)
    return np.column_stack(
        [CubicSpline(times, column)(at + shift) for column, shift in zip(columns, shifts, strict=True)]
    )


def corrected(log: Log, sensors: SensorCalibration, period: float) -> Log:
    """Return what exact sensors would have read; delays are counted in these periods of even instants."""
    exact = {}
    for kind, signal in (("position", log.q), ("torque", log.tau)):
        delay, gain, bias = (np.asarray(getattr(sensors, f"{kind}_{name}")) for name in ("delay", "gain", "bias"))
        exact[kind] = (_later(signal, delay / period) - bias) / gain
    gain = np.asarray(sensors.position_gain)
    dq, ddq = (None if part is None else part / gain for part in (log.dq, log.ddq))
    return dataclasses.replace(log, q=exact["position"], tau=exact["torque"], dq=dq, ddq=ddq)


def _later(signals: Array, shifts: Array) -> Array:
    """Return the columns of signals (k, n) later by these numbers of periods; the ends are repeated."""
    if not shifts.any():
        return signals
    found = np.empty_like(signals)
    nodes = np.arange(POINTS) - (POINTS // 2 - 1)
    for j, shift in enumerate(shifts):
        first = int(np.floor(shift))
        weights = [np.prod([(shift - first - b) / (a - b) for b in nodes if b != a]) for a in nodes]
        places = np.clip(np.arange(len(signals) + POINTS - 1) + first + nodes[0], 0, len(signals) - 1)
        found[:, j] = np.correlate(signals[places, j], weights, "valid")
    return found


def quantity_names(robot: Robot) -> tuple[str, ...]:
    """Return the names of the values of `SensorCalibration.vector`, such as ``joint2.torque_gain``."""
    return tuple(f"{joint}.{quantity}" for quantity in SensorCalibration.QUANTITIES for joint in robot.joint_names)


def chosen_quantities(robot: Robot, sensors: str | Iterable[str]) -> npt.NDArray[np.intp]:
    """Return the indices into `SensorCalibration.vector` of named values, or of all joints' for a quantity's name."""
    names, quantities = quantity_names(robot), SensorCalibration.QUANTITIES
    chosen: set[int] = set()
    for name in (sensors,) if isinstance(sensors, str) else sensors:
        if name in quantities:
            chosen.update(range(quantities.index(name) * robot.n, (quantities.index(name) + 1) * robot.n))
        elif name in names:
            chosen.add(names.index(name))
        else:
            hint = nearest_hint(str(name), (*quantities, *names)) or f"; quantities are {', '.join(quantities)}"
            raise UnknownNameError(f"sensors must be names of sensor parameters, got {name!r}{hint}")
    return np.array(sorted(chosen), dtype=np.intp)


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
