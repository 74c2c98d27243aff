"""Delay, gain and bias of the sensors that a log was recorded with."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ..checks import Array, all_positive, per_joint
from ..errors import UnknownNameError, nearest_hint
from ..robot import Robot
from ..values import Value, set_fields
from .log import Log
from .signals import instants

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
        times = instants(t)
        at = _common(times, -np.concatenate([self._delay("position"), self._delay("torque")]))
        return at, *(
            getattr(self, f"{kind}_gain") * _shifted(times, signal, at, -self._delay(kind))
            + getattr(self, f"{kind}_bias")
            for kind, signal in (("position", q), ("torque", tau))
        )

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
        times = instants(t)
        at = _common(times, np.concatenate([self._delay("position"), self._delay("torque")]))
        return at, *(
            (_shifted(times, signal, at, self._delay(kind)) - getattr(self, f"{kind}_bias"))
            / getattr(self, f"{kind}_gain")
            for kind, signal in (("position", q), ("torque", tau))
        )

    def _delay(self, kind: str) -> Array:
        return np.asarray(getattr(self, f"{kind}_delay"))


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
