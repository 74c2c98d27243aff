"""Logs in files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ..checks import Array, one_of, one_or_each, positive, real
from ..errors import FileFormatError, ThunderError
from ..files import LARGEST_DATA, as_file, parsing
from ..robot import Robot
from ..simulation import SimulationResult
from ..values import Value, frozen, set_fields
from .log import Log, LogSource, log_of_run, signals_of
from .readers.archive import ArchiveReader
from .readers.bag import BagReader
from .readers.csv_table import CSVReader
from .readers.describe import Reader, described
from .readers.folder import TEXTS, FolderReader
from .readers.names import Columns, Names
from .readers.parquet import ParquetReader
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
        self._reader()

    @property
    def name(self) -> str:
        """Name of the file."""
        return self.path.name

    def rows(self) -> int:
        """Return the number of instants, or an estimate of it, for which the file is opened."""
        with self._opened() as reader:
            return reader.rows

    def chunks(self, robot: Robot, size: int) -> Iterator[Log]:
        """Yield the log in parts of `size` instants, or raise `FileFormatError`, also where the file is damaged."""
        first = 0
        with self._opened() as reader:
            if isinstance(reader, (CSVReader, ParquetReader)):
                parts = self._of_table(reader, robot, size)
            else:
                parts = reader.chunks(robot, size)
            for signals in parts:
                last = first + len(signals["q"])
                t = signals.pop("t") if self.rate is None else np.arange(first, last) / self.rate
                first = last
                if self.gain is not None:
                    signals["tau"] = signals["tau"] * one_or_each(self.gain, robot.n, "gain")
                part = Log(t=t, name=self.name, **signals)
                yield part if self.correct is None else part.corrected(self.correct)

    def _of_table(self, table: CSVReader | ParquetReader, robot: Robot, size: int) -> Iterator[dict[str, Array]]:
        """Yield the signals in the columns of a table."""
        names, present, last, count = self._names(), table.names(), -np.inf, 0
        columns = names.columns(robot, present)
        called = {signal: [present[k] for k in places] for signal, places in columns.items()}
        ends = np.cumsum([len(places) for places in columns.values()])
        for part in table.parts([k for places in columns.values() for k in places], size):
            signals = dict(zip(columns, np.split(part, ends[:-1], axis=1), strict=True))
            if "t" in signals:
                t = signals["t"] = signals["t"][:, 0]
                k = first_not_increasing(t, last)
                if k is not None:
                    message = (
                        f"t must increase from instant to instant, got {t[k]:.9g} after {t[k - 1] if k else last:.9g}"
                    )
                    raise FileFormatError(message, path=self.path, line=table.line(count + k))
                last = float(t[-1])
            count += len(part)
            yield names.scaled(robot, signals, called)

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

    def describe(self) -> str:
        """Return what the log holds: columns with their ranges, the rate, gaps, and what columns seem to be."""
        with self._opened() as reader:
            return described(str(self.path), reader)

    @contextmanager
    def _opened(self) -> Iterator[Reader]:
        """Yield the reader of a file that is there and is regular; errors of its parser have its name."""
        reader = self._reader()
        as_file(self.path).stat()
        with parsing(self.path, reader.expected):
            yield reader

    def _names(self) -> Names:
        timed, currents = self.rate is None, self.gain is not None
        return Names(self.path, self.columns, self.unit, self.time_unit, timed=timed, currents=currents)

    def _reader(self) -> Reader:
        path, ending = self.path, self.path.suffix.lower()
        inside = {file.suffix.lower() for file in path.iterdir()} if path.is_dir() else set()
        texts = bool(inside.intersection(TEXTS)) and not inside.intersection((".db3", ".mcap"))
        bag = ending in (".bag", ".db3", ".mcap") or (path.is_dir() and not texts)
        if self.topic is not None and not bag:
            raise ThunderError(f"topic must be None for a file that is no bag, got {self.topic!r} for {str(path)!r}")
        if bag and self.rate is not None:
            raise ThunderError(f"rate must be None for a bag, whose messages have times, got {self.rate:g}")
        if bag:
            return BagReader(path, self._names(), self.topic)
        if texts:
            return FolderReader(path, self._names())
        if ending in TEXTS:
            return CSVReader(path)
        if ending == ".npz":
            return ArchiveReader(path, self._names())
        if ending == ".parquet":
            return ParquetReader(path)
        raise ThunderError(
            f"path must end in {', '.join(TEXTS)}, .npz, .parquet, .bag, .db3 or .mcap, or be the folder of a bag of "
            f"ROS 2 or of text tables, got {str(path)!r}"
        )


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
