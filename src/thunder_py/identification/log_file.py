"""Logs in files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ..checks import one_of, one_or_each, positive, real
from ..errors import FileFormatError, ThunderError
from ..files import LARGEST_DATA, as_file, parsing
from ..robot import Robot
from ..simulation import SimulationResult
from ..tabular.bag import BagTable
from ..tabular.files import Table, table_of
from ..tabular.text import TextTable
from ..values import Value, frozen, set_fields
from .log import Log, LogSource, log_of_run, signals_of
from .readers.columns import Columns, Names, warn
from .readers.describe import Description, described
from .readers.units import TIMES
from .signals import first_not_increasing

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
