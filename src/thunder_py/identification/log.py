"""Logged motion and torque, as it was measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from ..checks import Array, array
from ..errors import ThunderError
from ..robot import Robot
from ..simulation import SimulationResult
from ..values import Value, set_fields
from .correction import Correction
from .signals import check_increasing

#: largest magnitude of a signal [SI units]: sums of fourth powers of velocities stay finite
_LARGEST = 1e50
#: signals of links and of the motors of elastic joints, (k, n) and (k, e)
_LINKS, _MOTORS = ("q", "dq", "ddq", "tau"), ("x", "dx", "ddx", "joint_torque")


@dataclass(frozen=True, kw_only=True, eq=False)
class Log(Value):
    """Motion and torque measured at the same instants.

    Attributes
    ----------
    t : (k,) array
        Instants [s].
    q, tau : (k, n) array
        Joint positions [rad or m] and measured torques [N m or N]; those of elastic joints drive their motors.
    dq, ddq : (k, n) array or None
        Velocities and accelerations. Without `ddq` both are computed from `q`.
    x, dx, ddx : (k, e) array or None
        Motion of the motors of elastic joints, on the joint's side of the gear and in the units of `q`.
    joint_torque : (k, e) array or None
        Measured torque of springs and dampers on the links.
    name : str
        Name in messages and reports, such as that of a file; empty without one.

    Raises
    ------
    ThunderError
        If the arrays are not of the same length.

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.identification import Log
    >>> log = Log(t=np.arange(5) * 1e-3, q=np.zeros((5, 2)), tau=np.ones((5, 2)), name="morning")
    >>> len(log), len(log[1:3]), log[1:3].t.tolist()
    (5, 2, [0.001, 0.002])
    """

    t: Array
    q: Array
    tau: Array
    dq: Array | None = None
    ddq: Array | None = None
    x: Array | None = None
    dx: Array | None = None
    ddx: Array | None = None
    joint_torque: Array | None = None
    name: str = ""

    def __post_init__(self) -> None:
        """Check types and lengths."""
        signals = {"t": self.t, **signals_of(self)}
        for name, value in signals.items():
            dimensions = 1 if name == "t" else 2
            values = np.asarray(value)
            if values.dtype.kind not in "fiu" or values.ndim != dimensions:
                shape = "(k,)" if name == "t" else "(k, n)"
                raise ThunderError(f"{name} must be numbers of shape {shape}, got {values.dtype} of {values.shape}")
            if len(values) != np.size(self.t):
                raise ThunderError(f"{name} must have {np.size(self.t)} rows like t, got {len(values)}")
            set_fields(self, **{name: values.astype(np.float64, copy=False)})

    def __len__(self) -> int:
        """Return the number of instants."""
        return self.t.size

    def __getitem__(self, part: slice) -> Log:
        """Return a part of the log, which shares its memory."""
        return Log(t=self.t[part], name=self.name, **{name: value[part] for name, value in signals_of(self).items()})

    @classmethod
    def joined(cls, parts: Sequence[Log]) -> Log:
        """Return consecutive parts as one log."""
        signals = {"t": [part.t for part in parts]}
        for name in signals_of(parts[0]):
            signals[name] = [signals_of(part)[name] for part in parts]
        arrays = {name: np.concatenate(values) for name, values in signals.items()}
        return cls(**arrays, name=parts[0].name)

    def corrected(self, correct: str | Correction) -> Log:
        """Return the log with other signs, order, couplings or zeros of joints, see `LogFile.correct`.

        Examples
        --------
        >>> import numpy as np
        >>> from thunder_py.identification import Log
        >>> log = Log(t=np.arange(5) * 1e-3, q=np.zeros((5, 2)), tau=np.ones((5, 2)))
        >>> log.corrected("q1=q1-pi/2, tau2=-tau2").tau[0].tolist()
        [1.0, -1.0]
        """
        maps = Correction.parse(correct, self.q.shape[1]) if isinstance(correct, str) else correct
        changed = {name: getattr(self, name) @ maps.q.T for name in ("dq", "ddq") if getattr(self, name) is not None}
        return replace(self, q=self.q @ maps.q.T + maps.zero, tau=self.tau @ maps.tau.T, **changed)

    def __repr__(self) -> str:
        """Name, duration and signals."""
        span = f"{self.t[-1] - self.t[0]:g} s" if len(self) else "empty"
        return f"<Log{self.name and f' {self.name}'}: {span}, {len(self)} instants of {', '.join(signals_of(self))}>"

    def rows(self) -> int:
        """Return the number of instants."""
        return len(self)

    def chunks(self, robot: Robot, size: int) -> Iterator[Log]:
        """Yield the log in parts of `size` instants."""
        for start in range(0, len(self), size):
            yield self[start : start + size]


@runtime_checkable
class LogSource(Protocol):
    """A log that is read in parts: a `Log`, or a file."""

    @property
    def name(self) -> str:
        """Name in messages and reports."""

    def rows(self) -> int:
        """Return the number of instants, or an estimate of it, for which a file is opened."""

    def chunks(self, robot: Robot, size: int) -> Iterator[Log]:
        """Yield consecutive parts of `size` instants or less, with signals in the order of the robot's joints."""


def signals_of(log: Log) -> dict[str, Array]:
    """Return the signals that a log has, without its instants."""
    named = ((name, getattr(log, name)) for name in (*_LINKS, *_MOTORS))
    return {name: value for name, value in named if value is not None}


def check_signals(robot: Robot, t: npt.ArrayLike, signals: dict[str, npt.ArrayLike | None], name: str = "") -> Log:
    """Return a log of finite signals that suffice for a robot, as copies, or raise."""
    given = {key: value for key, value in signals.items() if value is not None}
    _require(robot, given)
    times = array(t, (None,), "t")
    sizes = {**dict.fromkeys(_LINKS, robot.n), **dict.fromkeys(_MOTORS, robot.e)}
    return Log(t=times, name=name, **{key: array(value, (times.size, sizes[key]), key) for key, value in given.items()})


def checked_chunks(robot: Robot, source: LogSource, size: int) -> Iterator[Log]:
    """Yield the parts of a log, which suffice for a robot, are finite, and whose instants increase, or raise."""
    last, count = -np.inf, 0
    for chunk in source.chunks(robot, size):
        if not len(chunk):
            continue
        _check_finite(chunk, count)
        checked = check_signals(robot, chunk.t, {**signals_of(chunk)}, chunk.name)
        check_increasing(checked.t, last, count)
        last, count = float(checked.t[-1]), count + len(checked)
        yield checked


def _check_finite(part: Log, count: int) -> None:
    """Raise for the first number that is not finite or too large; `count` rows of the log come before this part."""
    for name, values in {"t": part.t, **signals_of(part)}.items():
        wrong = ~(np.abs(values) <= _LARGEST)
        if wrong.any():
            row, *column = map(int, np.unravel_index(int(np.argmax(wrong)), values.shape))
            where = f"row {count + row}" + (f", column {column[0]}" if column else "")
            found = values[(row, *column)]
            bound = f"at most {_LARGEST:g} in magnitude" if np.isfinite(found) else "finite"
            raise ThunderError(f"{name} must be {bound}, got {found:g} in {where}")


def log_of_run(robot: Robot, run: SimulationResult, joint_torque: npt.ArrayLike | None = None) -> Log:
    """Return the motion and torques of a run."""
    if run.x.shape[1] != robot.e:
        wanted = f"with {robot.e} elastic joints" if robot.e else "without elastic joints"
        raise ThunderError(f"t must be a run {wanted}: their torques drive motors, not links; got {run.x.shape[1]}")
    sensed = None if joint_torque is None else array(joint_torque, (run.t.size, robot.e), "joint_torque")
    log = Log(t=run.t, q=run.q, dq=run.dq, tau=run.tau, x=run.x if robot.e else None, joint_torque=sensed)
    return log[:-1]  # the last row is always logged, off the grid of the log, and repeats the torque before


def _require(robot: Robot, signals: dict[str, npt.ArrayLike]) -> None:
    """Raise unless the signals suffice."""
    for name in ("q", "tau"):
        if name not in signals:
            raise ThunderError(f"{name} must be given unless t is a SimulationResult")
    if "ddq" in signals and "dq" not in signals:
        raise ThunderError("dq must be given together with ddq")
    if not robot.e:
        for name in _MOTORS:
            if name in signals:
                raise ThunderError(f"{name} must be None, because {robot.name} has no elastic joints")
        return
    if "x" not in signals:
        raise ThunderError(
            f"x must be given, because {robot.name} has elastic joints, whose torques drive motors; for torques "
            "measured on the links use robot.replace(elastic=())"
        )
    if "ddq" in signals and not ("dx" in signals and "ddx" in signals):
        raise ThunderError("dx and ddx must be given together with ddq")
