"""Logs in files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ..checks import one_of, positive
from ..errors import FileFormatError, ThunderError
from ..files import LARGEST_DATA, as_file, parsing
from ..robot import Robot
from ..simulation import SimulationResult
from ..values import Value, frozen, set_fields
from .log import Log, LogSource, log_of_run, signals_of
from .readers.archive import ArchiveReader
from .readers.bag import BagReader
from .readers.csv_table import CSVReader
from .readers.names import Names
from .readers.parquet import ParquetReader

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
        A text table (``.csv``, ``.txt``, ``.tsv``), an archive (``.npz``) of arrays or of `SimulationResult.save`, a
        Parquet file (``.parquet``), a bag of ROS 1 (``.bag``), or the folder of a bag of ROS 2.
    columns : mapping of str to str or sequence of str, optional
        Columns of ``t``, ``q``, ``tau`` and further signals of a table, or the arrays of an archive. By default they
        are recognized: ``q1`` or ``q_shoulder`` for a joint of this name, also ``position``, ``torque``, ``effort``.
        Of a bag, ``{"q": names}``: the names of the joints in its messages, by default those of the robot.
    unit : "rad" or "deg"
        Unit of the positions of revolute joints and motors; their derivatives are in the same unit per second. Units in
        the names of columns, such as ``q1 [deg]``, ``time [ms]`` and ``tau1 [kN m]``, come first.
    topic : str, optional
        Topic of a bag, where it has several of ``sensor_msgs/JointState``.
    rate : float, optional
        Rows per second [1/s] of a table or archive without time; the first row is at zero. A column of time is not read
        then, and a warning tells.

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
    columns: Mapping[str, str | Sequence[str]] | None = None
    unit: str = "rad"
    topic: str | None = None
    rate: float | None = None

    def __post_init__(self) -> None:
        """Check the ending of the path, the unit and the rate."""
        if not isinstance(self.path, (str, Path)):
            raise ThunderError(f"path must be a path, got {self.path!r:.80}")
        set_fields(self, path=Path(self.path), columns=frozen(self.columns))
        one_of(self.unit, ("rad", "deg"), "unit")
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
            for signals in reader.chunks(robot, size):
                last = first + len(signals["q"])
                t = signals.pop("t") if self.rate is None else np.arange(first, last) / self.rate
                first = last
                yield Log(t=t, name=self.name, **signals)

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

    @contextmanager
    def _opened(self) -> Iterator[ArchiveReader | BagReader | CSVReader | ParquetReader]:
        """Yield the reader of a file that is there and is regular; errors of its parser have its name."""
        reader = self._reader()
        as_file(self.path).stat()
        with parsing(self.path, reader.expected):
            yield reader

    def _reader(self) -> ArchiveReader | BagReader | CSVReader | ParquetReader:
        path, ending = self.path, self.path.suffix.lower()
        bag = ending == ".bag" or path.is_dir()
        if self.topic is not None and not bag:
            raise ThunderError(f"topic must be None for a file that is no bag, got {self.topic!r} for {str(path)!r}")
        if self.rate is not None and bag:
            raise ThunderError(f"rate must be None for a bag, whose messages have times, got {self.rate:g}")
        names = Names(path, self.columns, self.unit, timed=self.rate is None)
        if ending in (".csv", ".txt", ".tsv"):
            return CSVReader(path, names)
        if ending == ".npz":
            return ArchiveReader(path, names)
        if ending == ".parquet":
            return ParquetReader(path, names)
        if bag:
            return BagReader(path, names, self.topic)
        if ending in (".db3", ".mcap"):
            raise ThunderError(f"path must be the folder of a bag of ROS 2, {str(path.parent)!r}, got {str(path)!r}")
        raise ThunderError(
            "path must end in .csv, .txt, .tsv, .npz, .parquet or .bag, or be the folder of a bag of ROS 2, "
            f"got {str(path)!r}"
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
