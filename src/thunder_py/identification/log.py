"""Logged motion and torque: in memory and in files, corrected, cleaned and resampled."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

from ..checks import Array, array, one_of, one_or_each, positive, real
from ..errors import FileFormatError, ThunderError, ThunderWarning, outer_level
from ..files import LARGEST_DATA, as_file, parsing
from ..robot import Robot
from ..simulation import SimulationResult
from ..tabular.bag import BagTable
from ..tabular.files import Table, table_of
from ..tabular.text import TextTable
from ..values import Value, frozen, set_fields
from .readers import TIMES, Columns, Description, Names, described, warn
from .signals import JITTER, LONGEST_GAP, NORMAL_MEDIAN, check_increasing, first_not_increasing

_BODY = r"(?=[\w.])(?:(\d+\.?\d*(?:e[+-]?\d+)?|\.\d+)\*?)?(q\d+|tau\d+|pi)?(?:/(\d+\.?\d*))?"
_ROW, _TERM = re.compile(rf"(q|tau)(\d+)=([+-]?{_BODY}(?:[+-]{_BODY})*)"), re.compile(f"([+-]?){_BODY}")


class Correction(NamedTuple):
    """Linear maps from recorded signals to those of the joints.

    Attributes
    ----------
    q, tau : (n, n) array
        Maps of the positions, also of velocities and accelerations, and of the torques.
    zero : (n,) array
        Added to the positions [rad or m].

    Examples
    --------
    >>> from thunder_py.identification import Correction
    >>> correction = Correction.parse("q1=-q1, q2=q2+pi/2, tau1=tau2, tau2=0.5*tau1", 2)
    >>> correction.tau.tolist(), correction.zero.round(3).tolist()
    ([[0.0, 1.0], [0.5, 0.0]], [0.0, 1.571])
    >>> str(correction)
    'q1=-q1, q2=q2+pi/2, tau1=tau2, tau2=0.5*tau1'
    """

    q: Array
    tau: Array
    zero: Array

    @classmethod
    def none(cls, n: int) -> Correction:
        """Return the maps of signals that are right."""
        return cls(np.eye(n), np.eye(n), np.zeros(n))

    @classmethod
    def parse(cls, text: str, n: int) -> Correction:
        """Read equations such as ``q1=-q1, q2=q2+pi/2, tau1=tau2``; joints count from 1, others stay as they are.

        Raises
        ------
        ThunderError
            If the text is something else, or the maps have no inverse.
        """
        found = cls.none(n)
        for part in re.sub(r"\s", "", text).split(","):
            row = _ROW.fullmatch(part)
            if row is None:
                raise ThunderError(f"correct must hold equations such as q2=-q2 or tau4=tau5, got {part!r:.80}")
            signal, joint = row[1], _joint(row[2], n)
            matrix = found.q if signal == "q" else found.tau
            matrix[joint] = 0.0
            for sign, factor, name, divisor in _TERM.findall(row[3]):
                value = float(f"{sign}1") * float(factor or 1.0) / float(divisor or 1.0)
                if name.startswith(signal):
                    matrix[joint, _joint(name[len(signal) :], n)] += value
                elif signal == "q" and name in ("", "pi"):
                    found.zero[joint] += value * (np.pi if name else 1.0)
                else:
                    raise ThunderError(f"correct must make q of q and numbers, and tau of tau, got {part!r:.80}")
        if min(np.linalg.matrix_rank(found.q), np.linalg.matrix_rank(found.tau)) < n:
            raise ThunderError(f"correct must use each joint, so that nothing is lost, got {text!r:.80}")
        return found

    def after(self, first: Correction) -> Correction:
        """Return the maps of another correction followed by these."""
        return Correction(self.q @ first.q, self.tau @ first.tau, self.q @ first.zero + self.zero)

    def __str__(self) -> str:
        """Return the equations that `parse` reads."""
        rows = []
        for signal, matrix, zero in (("q", self.q, self.zero), ("tau", self.tau, np.zeros(len(self.zero)))):
            for j in np.flatnonzero((matrix != np.eye(len(matrix))).any(axis=1) | (zero != 0.0)):
                terms = [_term(matrix[j, k], f"{signal}{k + 1}") for k in np.flatnonzero(matrix[j])]
                quarters = 2.0 * zero[j] / np.pi
                if abs(quarters - round(quarters)) < 1e-9:
                    terms += [_term(0.5 * quarters, "pi").replace("0.5*pi", "pi/2")] if round(quarters) else []
                else:
                    terms.append(f"{zero[j]:+.6g}")
                rows.append(f"{signal}{j + 1}=" + "".join(terms).removeprefix("+"))
        return ", ".join(rows)


def _joint(number: str, n: int) -> int:
    if not 1 <= int(number) <= n:
        raise ThunderError(f"joints of correct must be 1 to {n}, got {number}")
    return int(number) - 1


def _term(factor: float, name: str) -> str:
    return f"{'-' if factor < 0.0 else '+'}{'' if abs(factor) == 1.0 else f'{abs(factor):.6g}*'}{name}"


#: largest magnitude of a signal [SI units], and of an instant [s]
_LARGEST, _LATEST = 1e12, 1e20
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
        largest = _LATEST if name == "t" else _LARGEST
        wrong = ~(np.abs(values) <= largest)
        if wrong.any():
            row, *column = map(int, np.unravel_index(int(np.argmax(wrong)), values.shape))
            where = f"row {count + row}" + (f", column {column[0]}" if column else "")
            found = values[(row, *column)]
            bound = f"at most {largest:g} in magnitude" if np.isfinite(found) else "finite"
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


#: samples of the running median, and deviation from it in standard deviations from which on a sample is a spike
_WIDTH, _FAR = 7, 6.0


def without_spikes(log: Log) -> Log:
    """Replace spikes of up to three samples, found by a running median (Hampel), by lines between their neighbors.

    A filter spreads a spike of a position over many samples, and there it is large both in the accelerations of the
    regressor and in the residuals, where weights of residuals alone do not find it.
    """
    return Log(t=log.t, name=log.name, **{name: _cleaned(values) for name, values in signals_of(log).items()})


def _cleaned(x: Array) -> Array:
    from scipy.ndimage import median_filter

    if len(x) < _WIDTH:
        return x
    median = median_filter(x, size=(_WIDTH, 1), mode="nearest")
    away = np.abs(x - median)
    # a running median of a smooth signal is exact but at its turns: the typical step bounds what counts as far there
    scale = np.maximum(np.median(away, axis=0), np.median(np.abs(np.diff(x, axis=0)), axis=0)) / NORMAL_MEDIAN
    far, place, cleaned = away > _FAR * scale, np.arange(len(x)), x.copy()
    for k in np.flatnonzero(far.any(axis=0)):
        bad = far[:, k]
        cleaned[bad, k] = np.interp(place[bad], place[~bad], x[~bad, k])
    return cleaned


#: share of the sampling frequency below which resampling would fold noise into the motion
_SLOWER = 0.98
#: instants from which on the sampling frequency is known before the end
_COUNTED = 1000


@dataclass(frozen=True)
class Resampled:
    """A log at even instants, by cubic polynomials through the four samples around each.

    Attributes
    ----------
    source : LogSource
        The log.
    frequency : float
        Sampling frequency [Hz].
    cutoff : float or None
        Cutoff frequency of the filter that follows [Hz].
    quiet : bool
        Whether the warning of changed instants is left out.
    """

    source: LogSource
    frequency: float
    cutoff: float | None = None
    quiet: bool = False

    @property
    def name(self) -> str:
        """Name of the log."""
        return self.source.name

    def rows(self) -> int:
        """Return the number of instants of the log before."""
        return self.source.rows()

    def chunks(self, robot: Robot, size: int) -> Iterator[Log]:
        """Yield the log in parts.

        Raises
        ------
        ThunderError
            If the log has gaps, or a higher sampling frequency.
        """
        held, start, done, count, told = None, 0.0, 0, 0, self.quiet
        for chunk in checked_chunks(robot, self.source, size):
            if held is None:
                start = float(chunk.t[0])
            held = chunk if held is None else Log.joined([held, chunk])
            count += len(chunk)
            self._check_gaps(held.t)
            if count >= _COUNTED:
                self._check_frequency((count - 1) / (float(held.t[-1]) - start))
            told = told or self._tell(held.t)
            if len(held) < 5:
                continue
            stop = int(np.ceil((held.t[-2] - start) * self.frequency))  # two samples must follow
            if stop > done:
                instants = start + np.arange(done, stop) / self.frequency
                yield _interpolated(held, instants)
                done = stop
                # the next instant needs the sample before the one before it
                first = int(np.searchsorted(held.t, start + done / self.frequency, side="right")) - 2
                held = held[max(min(first, len(held) - 4), 0) :]
        if held is None or len(held) < 4:
            raise ThunderError(f"t must hold at least 5 instants, got {0 if held is None else len(held)}")
        self._check_frequency((count - 1) / (float(held.t[-1]) - start))
        stop = int(np.floor((held.t[-1] - start) * self.frequency * (1.0 + 1e-12) + 1e-9)) + 1
        if stop > done:
            yield _interpolated(held, np.minimum(start + np.arange(done, stop) / self.frequency, held.t[-1]))

    def _check_gaps(self, t: Array) -> None:
        steps = np.diff(t)
        gap = np.inf if self.cutoff is None else LONGEST_GAP / self.cutoff
        if steps.size and steps.max() > gap:
            k = int(np.argmax(steps))
            raise ThunderError(
                f"t must have no gap longer than {gap:g} s, half a period of the cutoff, got {steps[k]:g} s after "
                f"{t[k]:g} s: split the log there"
            )

    def _check_frequency(self, frequency: float) -> None:
        if frequency * _SLOWER > self.frequency:
            raise ThunderError(
                f"resample must be at least the sampling frequency of the log, {frequency:g} Hz, got {self.frequency:g}"
            )

    def _tell(self, t: Array) -> bool:
        """Warn if the instants are changed; return whether they are."""
        steps = np.diff(t)
        if not steps.size or np.abs(steps * self.frequency - 1.0).max() <= JITTER:
            return False
        where = f"{self.name}: " if self.name else ""
        message = f"interpolated to {self.frequency:g} Hz, from periods of {steps.min():g} to {steps.max():g} s"
        warnings.warn(where + message, ThunderWarning, stacklevel=outer_level())
        return True


def _interpolated(log: Log, instants: Array) -> Log:
    place = np.clip(np.searchsorted(log.t, instants, side="right") - 2, 0, len(log) - 4)
    index = place[:, None] + np.arange(4)
    distance = instants[:, None] - log.t[index]
    weights = np.ones_like(distance)
    for a in range(4):
        for b in range(4):
            if a != b:
                weights[:, a] *= distance[:, b] / (log.t[index[:, a]] - log.t[index[:, b]])
    signals = {name: np.einsum("ka,kan->kn", weights, values[index]) for name, values in signals_of(log).items()}
    return Log(t=instants, name=log.name, **signals)


#: instants that `load` reads at once
_PART = 1 << 16

#: what logs are given as
Recorded: TypeAlias = SimulationResult | LogSource | str | Path


@dataclass(frozen=True, eq=False)
class LogFile(Value):
    r"""Log in a file, which is read in parts.

    Attributes
    ----------
    path : path-like
        A text table (``.csv``, ``.txt``, ``.tsv``, ``.dat``), an archive (``.npz``) of arrays or of
        `SimulationResult.save`, a Parquet file (``.parquet``), a bag of ROS 1 (``.bag``), the folder of a bag of ROS 2
        or a file of it alone (``.db3``, ``.mcap``), or a folder with a text table for each signal.
    columns : mapping of str to str, int, range or sequence of these, optional
        Columns of ``t``, ``q``, ``tau`` and further signals of a table, the arrays of an archive, or the files of a
        folder. By default they are recognized: ``q1`` or ``q_shoulder`` for a joint of this name, also ``position``,
        ``torque``, ``effort``. Columns of a table can be given by their numbers from 0 and ranges of these, such as
        ``{"t": 0, "q": "1:7", "tau": "13:19"}`` for six joints, the last one excluded as in Python.
        Of a bag, ``{"q": names}``: the names of the joints in its messages, by default those of the robot.
    unit : "rad" or "deg"
        Unit of the positions of revolute joints and motors; their derivatives are in the same unit per second. Units in
        the names of columns, such as ``q1 [deg]``, ``time [ms]`` and ``tau1 [kN m]``, come first.
    topic : str, optional
        Topic of a bag, where it has several of ``sensor_msgs/JointState``.
    time_unit : "s", "ms", "us", "ns" or "min"
        Unit of the instants of a table, archive or folder.
    gain : float or (n,) array_like, optional
        Torque for each unit of the columns of ``tau`` [N m or N per unit], such as that of a motor's current. Columns
        called ``current`` are read as those of ``tau`` then.
    rate : float, optional
        Rows per second [1/s] of a table or archive without time; the first row is at zero. A column of time is not read
        then, and a warning tells.
    correct : str, optional
        Equations that replace the signals of joints, such as ``q2=-q2, tau2=-tau2`` for a reversed joint, ``tau4=tau5,
        tau5=tau4`` for exchanged columns, ``q3=q3-pi/2`` for another zero, ``q6=q6-q5, tau5=tau5+tau6`` for a coupled
        wrist. Joints are numbered from 1 in the order of the robot, units are rad or m and N m or N; velocities and
        accelerations follow q. `find_correction` proposes them.

    Raises
    ------
    ThunderError
        If the ending of the path is not one of these; errors of the content follow when the file is read.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import thunder_py as th
    >>> from thunder_py.identification import LogFile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "log.csv")
    ...     _ = path.write_text("time,q1,q2,tau1,tau2\n0.0,90,0,1.5,0\n0.1,180,0,1.5,0\n")
    ...     log = LogFile(path, unit="deg").load(th.Robot.load("elbow"))
    >>> log.name, log.q[:, 0].round(2).tolist()
    ('log.csv', [1.57, 3.14])
    """

    path: Path
    columns: Mapping[str, Columns] | None = None
    unit: str = "rad"
    topic: str | None = None
    rate: float | None = None
    time_unit: str = "s"
    gain: npt.ArrayLike | None = None
    correct: str | None = None

    def __post_init__(self) -> None:
        """Check the ending of the path, the unit and the rate."""
        if not isinstance(self.path, (str, Path)):
            raise ThunderError(f"path must be a path, got {self.path!r:.80}")
        set_fields(self, path=Path(self.path), columns=frozen(self.columns))
        one_of(self.unit, ("rad", "deg"), "unit")
        one_of(self.time_unit, tuple(TIMES), "time_unit")
        if self.gain is not None:
            gain = real(self.gain, "gain")
            if gain.ndim > 1 or not gain.all():
                raise ThunderError(
                    f"gain must be a number or one for each joint, none of them 0, got {self.gain!r:.80}"
                )
            set_fields(self, gain=gain)
        if self.rate is not None:
            set_fields(self, rate=positive(self.rate, "rate"))
            if "t" in (self.columns or {}):
                raise ThunderError("columns must not name t where rate is given")
        table = table_of(self.path, topic=self.topic)
        if isinstance(table, BagTable) and self.rate is not None:
            raise ThunderError(f"rate must be None for a bag, whose messages have times, got {self.rate:g}")

    @property
    def name(self) -> str:
        """Name of the file."""
        return self.path.name

    def rows(self) -> int:
        """Return the number of instants, or an estimate of it, for which the file is opened."""
        with self._opened() as table:
            return table.rows

    def chunks(self, robot: Robot, size: int) -> Iterator[Log]:
        """Yield the log in parts of `size` instants or less.

        Warns
        -----
        ThunderWarning
            Of rows that are left out, because numbers are missing or they repeat the one before; see `Names.columns`.

        Raises
        ------
        FileFormatError
            If columns are missing or several could be meant, the content is not numbers, or the file is damaged.
        """
        first, last, before, left_out = 0, -np.inf, None, [0, 0]
        with self._opened(robot.n) as table:
            names, present = self._names(table), table.names
            if isinstance(table, BagTable) and names.given is None:
                table.check_joints(names.joints or robot.joint_names)
            columns = names.columns(robot, present)
            called = {signal: [present[k] for k in places] for signal, places in columns.items()}
            ends = np.cumsum([len(places) for places in columns.values()])[:-1]
            for part in table.parts([k for places in columns.values() for k in places], size):
                signals = names.scaled(robot, dict(zip(columns, np.split(part, ends, axis=1), strict=True)), called)
                if self.rate is not None:
                    signals["t"] = np.arange(first, first + len(part)) / self.rate
                kept = ~np.isnan(part).any(axis=1)
                left_out[0] += len(part) - int(kept.sum())
                previous = part[:1] * np.nan if before is None else before
                repeats = kept & (part == np.concatenate([previous, part[:-1]])).all(axis=1) & (self.rate is None)
                left_out[1] += int(repeats.sum())
                before = part[-1:]
                if left_out[0] or repeats.any():
                    kept &= ~repeats
                    signals = {name: values[kept] for name, values in signals.items()}
                if self.gain is not None:
                    signals["tau"] = signals["tau"] * one_or_each(self.gain, robot.n, "gain")
                t = signals["t"]
                if (k := first_not_increasing(t, last)) is not None:
                    line = table.line(first + int(np.flatnonzero(kept)[k])) if isinstance(table, TextTable) else None
                    message = (
                        f"t must increase from instant to instant, got {t[k]:.9g} after {t[k - 1] if k else last:.9g}"
                    )
                    message += "" if isinstance(table, BagTable) else "; where a clock is coarse, give rate="
                    raise FileFormatError(message, path=self.path, line=line)
                first += len(part)
                if t.size:
                    last = float(t[-1])
                    part_of_log = Log(name=self.name, **signals)
                    yield part_of_log if self.correct is None else part_of_log.corrected(self.correct)
        for count, why in zip(left_out, ("numbers are missing in", "the one before is repeated by"), strict=True):
            if count:
                warn(self.path, f"{why} {count} of {first} rows, which are left out")

    def load(self, robot: Robot) -> Log:
        """Read the whole log, with the signals of the robot's joints.

        Raises
        ------
        FileFormatError
            If columns are missing, the content is not numbers, the file is damaged, or it holds more than 8 GiB.
        """
        parts, size = [], 0
        for part in self.chunks(robot, _PART):
            parts.append(part)
            size += sum(values.nbytes for values in (part.t, *signals_of(part).values()))
            if size > LARGEST_DATA:
                raise FileFormatError(f"must hold at most {LARGEST_DATA} bytes: read it in chunks", path=self.path)
        if not parts:
            raise FileFormatError("there must be instants, got none", path=self.path)
        return parts[0] if len(parts) == 1 else Log.joined(parts)

    def describe(self, joints: int | None = None) -> Description:
        """Look at the log: columns with their ranges, rate, gaps, what columns seem to be, and options that read it.

        Parameters
        ----------
        joints : int, optional
            Number of joints, where it is known.

        Returns
        -------
        Description
            Its text is printed; `options` are arguments of `LogFile`.
        """
        with self._opened(joints) as table:
            return described(table, joints)

    @contextmanager
    def _opened(self, joints: int | None = None) -> Iterator[Table]:
        """Yield the table of a file that is there and is regular; errors of its parser have its name."""
        table = table_of(self.path, joints, self.topic)
        as_file(self.path).stat()
        with parsing(self.path, table.expected):
            yield table

    def _names(self, table: Table) -> Names:
        """Return how columns are recognized; those given of a bag are its names of joints."""
        given, joints = self.columns, tuple[str, ...]()
        if isinstance(table, BagTable) and given is not None and set(given) == {"q"}:
            named: Any = given["q"]
            given, joints = None, (named,) if isinstance(named, str) else tuple(map(str, named))
        timed, currents, further = self.rate is None, self.gain is not None, getattr(table, "further", "")
        return Names(self.path, given, self.unit, self.time_unit, timed, currents, joints, further)


def as_source(robot: Robot, log: Recorded, joint_torque: npt.ArrayLike | None = None) -> LogSource:
    """Return a run, a log or the path of a log as a log; `joint_torque` is that of a run."""
    if isinstance(log, SimulationResult):
        return log_of_run(robot, log, joint_torque)
    if isinstance(log, (str, Path)):
        return LogFile(Path(log))
    if isinstance(log, LogSource):
        return log
    raise ThunderError(f"t must hold runs, logs or paths, got {log!r:.80}")


def as_sources(
    robot: Robot, logs: Recorded | Sequence[Recorded], joint_torque: npt.ArrayLike | None = None, called: str = "log"
) -> tuple[LogSource, ...]:
    """Return one or several runs, logs or paths as logs; those of a sequence without a name are called by their number.

    `joint_torque` is that of one run.
    """
    several = isinstance(logs, (list, tuple, Iterator))
    listed: Any = logs if several else (logs,)
    sources = tuple(as_source(robot, log, joint_torque) for log in listed)
    if not several:
        return sources
    return tuple(
        replace(source, name=f"{called} {k}") if isinstance(source, Log) and not source.name else source
        for k, source in enumerate(sources, 1)
    )
