"""Store of a sweep: a folder to which the records of runs are written as they come, and from which it goes on.

The folder holds ``sweep.json`` (schema, digests of what is swept, a provenance for every session),
``plan.parquet`` (the parameters of every run), ``parts/*.parquet`` (records of the runs done) and ``results/*.npz``
(results, where these are kept). Every file is written under a temporary name and renamed, so the folder can be read
after a kill at any instant. Of several records of a run, that in the last part counts.
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
import threading
import time
import warnings
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

from ..checks import is_whole
from ..errors import FileFormatError, ThunderError, ThunderWarning
from ..files import as_file, parsing, read_whole, whole_file, write_whole
from ..optional import require
from .columns import MISSING, column, values_of
from .provenance import provenance
from .result import SimulationResult
from .run_spec import RunRecord, StoredError, describe

__all__ = ["RunStore", "Sweep", "opened"]

SCHEMA = "thunder_py sweep/1"
#: age of a record at which it is written [s]
_SECONDS = 2.0
#: parts that are merged into one: opening a file takes a millisecond
_PARTS = 256
_INDEX, _PLAN, _LOCK = "sweep.json", "plan.parquet", "lock"
#: runs of a sweep
_MOST_RUNS = 10**7
#: key of the metadata of a file: checksum of its values, which those of pages, without names and types, do not replace
_CHECKSUM = b"thunder_py checksum"


@dataclass(frozen=True)
class Sweep:
    """What is swept: the runs' parameters, and digests of all that determines the results.

    Attributes
    ----------
    function : str
        Name of the function that makes the runs.
    parameters : sequence of mapping
        Parameters of each run.
    metrics : tuple of str or None
        Names of the metrics that are kept; None where whole results are.
    digests : mapping of str to mapping of str to str
        `fingerprints` of ``runs``, ``parameters`` and ``metrics``.
    """

    function: str
    parameters: Sequence[Mapping[str, Any]]
    metrics: tuple[str, ...] | None
    digests: Mapping[str, Mapping[str, str]]


class RunStore:
    """Store of a sweep in a folder, for reading; `opened` gives one for writing.

    Parameters
    ----------
    path : path-like
        The folder.

    Raises
    ------
    FileFormatError
        If it is no store, or one of another schema.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._index = self._read_index()
        self._waiting: dict[int, RunRecord] = {}
        self._written = time.monotonic()
        self._busy = threading.RLock()
        self._timer: threading.Timer | None = None
        self._problem: BaseException | None = None  # of the timer
        self.sweep = self._read_plan()
        self.records = self._read_records()

    def _read_index(self) -> dict[str, Any]:
        file = self.path / _INDEX
        try:
            index = json.loads(read_whole(file))
        except FileNotFoundError:
            raise FileFormatError(f"not a store of simulate_many: {_INDEX} missing", path=self.path) from None
        except FileFormatError:
            raise
        except (ValueError, RecursionError) as error:
            raise FileFormatError(f"not a store of simulate_many: {error}", path=file) from error
        if not isinstance(index, dict) or index.get("schema") != SCHEMA:
            found = index.get("schema") if isinstance(index, dict) else None
            raise FileFormatError(f"schema must be {SCHEMA!r}, got {found!r:.80}", path=file)
        _check_index(index, file)
        return index

    def _read_plan(self) -> Sweep:
        count = self._index["runs"]
        try:
            rows = _read(self.path / _PLAN, count)
        except FileNotFoundError:
            raise FileFormatError(f"not a store of simulate_many: {_PLAN} missing", path=self.path) from None
        if rows and len(rows) != count:
            raise FileFormatError(f"there must be {count} runs, got {len(rows)}", path=self.path / _PLAN)
        metrics = self._index["metrics"]
        return Sweep(
            self._index["function"],
            rows or [{}] * count,
            None if metrics is None else tuple(metrics),
            self._index["digests"],
        )

    def _read_records(self) -> dict[int, RunRecord]:
        """Return the records by run; a part that a writer merged in the meantime is in a later one."""
        while True:
            parts, records = self._parts(), dict[int, RunRecord]()
            try:
                for part in parts:
                    records |= self._part(part)
            except FileNotFoundError as error:
                if self._parts() == parts:  # a link to nothing
                    raise FileFormatError("not a part of a store: there is no such file", path=error.filename) from None
                continue
            return {run: record for run, record in records.items() if _readable(record.result)}

    def _part(self, path: Path) -> dict[int, RunRecord]:
        count = len(self.sweep.parameters)
        rows = _read(path, count)
        with parsing(path, "a part of a store"):
            if not all(is_whole(row["run"]) and 0 <= row["run"] < count for row in rows):
                raise ValueError(f"its runs must be from 0 to {count - 1}")
            return {row["run"]: self._record(row) for row in rows}

    def _record(self, row: dict[str, Any]) -> RunRecord:
        names, failed = self.sweep.metrics, row["error"] is not None
        return RunRecord(
            metrics=None if failed or names is None else {name: row.get(name) for name in names},
            result=self._file(row["run"]) if names is None and not failed else None,
            error=StoredError(row["error"]) if failed else None,
            trace=row["traceback"],
            label=row["label"],
            attempts=row["attempts"],
            seconds=row["seconds"],
            worker=(row["host"], row["kernels"]),
            session=row["session"],
        )

    def _parts(self) -> list[Path]:
        parts = (self.path / "parts").glob("part-*.parquet")
        return sorted(part for part in parts if part.stem.removeprefix("part-").isdecimal())

    def _file(self, run: int) -> Path:
        return self.path / "results" / f"run-{run:06d}.npz"

    @property
    def sessions(self) -> tuple[dict[str, Any], ...]:
        """Provenance of each call of `simulate_many` that simulated runs of the store."""
        return tuple(self._index["sessions"])

    def begin_session(self) -> None:
        """Record the provenance of what is written from now on."""
        now = provenance()
        before = self.sessions[-1] if self.sessions else now
        changed = [name for name in ("thunder_py", "numpy", "instruction_set") if before.get(name) != now[name]]
        if changed:
            text = ", ".join(f"{name} {before.get(name)} -> {now[name]}" for name in changed)
            warnings.warn(
                f"store {self.path} was begun with other versions ({text}): the last bits of results may differ",
                ThunderWarning,
                stacklevel=3,
            )
        self._index["sessions"] = [*self.sessions, now]
        _write_index(self.path, self._index)

    def add(self, run: int, record: RunRecord) -> RunRecord:
        """Take the record of a run, which is written at the latest after 2 s; return it with its file."""
        record = replace(record, session=len(self.sessions) - 1)
        if isinstance(record.result, SimulationResult):
            self._file(run).parent.mkdir(exist_ok=True)
            record.result.save(self._file(run))
            record = replace(record, result=self._file(run))
        with self._busy:
            self._check_timer()
            self.records[run] = self._waiting[run] = record
            age = time.monotonic() - self._written
            if age > _SECONDS:
                self.write()
            elif self._timer is None:
                self._timer = threading.Timer(_SECONDS - age, self._write_late)
                self._timer.daemon = True
                self._timer.start()
        return record

    def _write_late(self) -> None:
        """Write what waits while no run ends."""
        with self._busy:
            try:
                self._timer = None
                self.write()
            except BaseException as problem:  # raised where the next record comes
                self._problem = problem

    def _check_timer(self) -> None:
        problem, self._problem = self._problem, None
        if problem is not None:
            raise problem

    def write(self) -> None:
        """Write the records that are waiting, results before their records."""
        with self._busy:
            if self._waiting:
                for record in self._waiting.values():
                    if isinstance(record.result, Path):
                        _sync(record.result)
                self._write_part(dict(sorted(self._waiting.items())))
                self._waiting = {}
            self._written = time.monotonic()
            if len(self._parts()) > _PARTS:
                self.merge()

    def merge(self) -> None:
        """Replace all parts by one, in the order of the runs."""
        with self._busy:
            parts = self._parts()
            if len(parts) > 1:
                self._write_part(dict(sorted(self.records.items())))
                for part in parts:
                    part.unlink()

    def close(self) -> None:
        """Write what waits, as one part with the rest."""
        with self._busy:
            if self._timer is not None:
                self._timer.cancel()
            self._problem = None  # what it did not write is written now
            self.write()
            self.merge()

    def _write_part(self, records: Mapping[int, RunRecord]) -> None:
        parts = self._parts()
        number = int(parts[-1].stem.rpartition("-")[2]) + 1 if parts else 0
        _write(self.path / "parts" / f"part-{number:06d}.parquet", self._columns(records))

    def _columns(self, records: Mapping[int, RunRecord]) -> dict[str, Any]:
        pa = require("pyarrow", "cluster")
        ones = list(records.values())
        plain = {
            "run": pa.array(list(records), pa.int64()),
            "label": pa.array([one.label for one in ones], pa.string()),
            "attempts": pa.array([one.attempts for one in ones], pa.int64()),
            "seconds": pa.array([one.seconds for one in ones], pa.float64()),
            "error": pa.array([None if one.error is None else describe(one.error) for one in ones], pa.string()),
            "traceback": pa.array([one.trace for one in ones], pa.string()),
            "session": pa.array([one.session for one in ones], pa.int64()),
            "host": pa.array([one.worker[0] for one in ones], pa.string()),
            "kernels": pa.array([one.worker[1] for one in ones], pa.string()),
        }
        columns: dict[str, Any] = {name: (array, {}) for name, array in plain.items()}
        for name in self.sweep.metrics or ():
            columns[name] = column([None if one.metrics is None else one.metrics[name] for one in ones])
        return columns


#: columns of every part and of `Runs.to_pandas`: no metric and no parameter may have such a name
RESERVED = ("run", "label", "attempts", "seconds", "error", "failure", "traceback", "session", "host", "kernels")


@contextmanager
def opened(path: str | Path, sweep: Sweep) -> Iterator[RunStore]:
    """Open the store of a sweep for writing, create it where there is none, and keep other writers out.

    Raises
    ------
    ThunderError
        If the folder is in use, holds another sweep, or holds files but no store.
    """
    require("pyarrow", "cluster")
    folder = Path(path)
    folder.mkdir(parents=True, exist_ok=True)
    foreign = {file.name for file in folder.glob("[!.]*")} - {_PLAN, _LOCK, "parts"}
    if foreign and _INDEX not in foreign:
        raise ThunderError(f"store {folder} must be a new folder or a store, got one with {min(foreign)!r}")
    if not foreign and any(folder.glob("parts/part-*")):
        raise ThunderError(f"store {folder} has results but no {_INDEX}: put it back, or choose another folder")
    with _locked(folder):
        if not (folder / _INDEX).exists():
            _create(folder, sweep)
        store = RunStore(folder)
        _check_same(store, sweep)
        store.sweep = sweep
        for pattern in (".sweep.*", ".plan.*", "parts/.part-*", "results/.run-*"):  # left by a process that was killed
            for left in folder.glob(pattern):
                left.unlink()
        try:
            yield store
        finally:
            store.close()


def _create(folder: Path, sweep: Sweep) -> None:
    (folder / "parts").mkdir(exist_ok=True)
    names = list(dict.fromkeys(name for values in sweep.parameters for name in values))
    _write(folder / _PLAN, {name: column([values.get(name, MISSING) for values in sweep.parameters]) for name in names})
    _write_index(
        folder,
        {
            "schema": SCHEMA,
            "function": sweep.function,
            "runs": len(sweep.parameters),
            "metrics": sweep.metrics,
            "digests": {name: dict(digests) for name, digests in sweep.digests.items()},
            "sessions": [],
        },
    )


def _check_same(store: RunStore, sweep: Sweep) -> None:
    other = []
    for name, digests in sweep.digests.items():
        before = store.sweep.digests.get(name, {})
        if digests != before:
            code = sorted(key for key in digests.keys() | before.keys() if key and digests.get(key) != before.get(key))
            listed = ", ".join(code[:3]) + (", ..." if len(code) > 3 else "")
            other.append(f"{name} ({listed})" if code else name)
    if other:
        raise ThunderError(
            f"store {store.path} holds another sweep, of {len(store.sweep.parameters)} runs of {store.sweep.function}: "
            f"{' and '.join(other)} differ; choose another folder, or Runs.load to read it"
        )


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold a lock of the operating system, which ends with the process."""
    with as_file(folder / _LOCK).open("a+", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            raise ThunderError(f"store {folder} is in use by {file.read() or 'another process'}") from None
        file.truncate(0)
        file.write(f"process {os.getpid()} on {socket.gethostname()}")
        file.flush()
        _LOCKS.add(file)
        try:
            yield
        finally:
            _LOCKS.discard(file)


#: files whose lock a process that is forked would hold too, also after the end of this one
_LOCKS: set[IO[str]] = set()


def _leave_locks() -> None:
    while _LOCKS:
        _LOCKS.pop().close()


os.register_at_fork(after_in_child=_leave_locks)


def _readable(result: object) -> bool:
    """Return whether a result is still there, and not cut off by a power failure; each run without one is simulated."""
    return not isinstance(result, Path) or (result.is_file() and zipfile.is_zipfile(result))


def _sync(path: Path) -> None:
    """Wait until a file is on the disk."""
    with open(path, "rb") as file:
        os.fsync(file.fileno())


def _check_index(index: Mapping[str, Any], path: Path) -> None:
    """Raise for a field that is missing or of another kind."""

    def holds(name: str, outer: type, inner: type) -> bool:
        value: Any = index.get(name)
        entries: Any = value.values() if isinstance(value, dict) else value
        return isinstance(value, outer) and all(isinstance(entry, inner) for entry in entries)

    runs: Any = index.get("runs")
    for name, right, needed in (
        ("function", isinstance(index.get("function"), str), "a text"),
        ("runs", is_whole(runs) and 0 <= runs <= _MOST_RUNS, f"a whole number from 0 to {_MOST_RUNS}"),
        ("metrics", index.get("metrics", 0) is None or holds("metrics", list, str), "null or a list of texts"),
        ("digests", holds("digests", dict, dict), "a mapping of mappings"),
        ("sessions", holds("sessions", list, dict), "a list of mappings"),
    ):
        if not right:
            raise FileFormatError(f"must be {needed}, got {index.get(name)!r:.80}", path=path, key=name)


def _write_index(folder: Path, index: Mapping[str, Any]) -> None:
    write_whole(json.dumps(index, indent=1) + "\n", folder / _INDEX)


def _write(path: Path, columns: Mapping[str, tuple[Any, dict[str, str]]]) -> None:
    """Write a file of columns and their metadata atomically, to the disk before its name appears."""
    pa, parquet = require("pyarrow", "cluster"), require("pyarrow.parquet", "cluster")
    schema = pa.schema([pa.field(name, array.type, metadata=note) for name, (array, note) in columns.items()])
    table = pa.table([array for array, _ in columns.values()], schema=schema)
    table = table.replace_schema_metadata({_CHECKSUM: _checksum(table)})
    with whole_file(path) as temporary:
        parquet.write_table(table, temporary)
        _sync(temporary)


def _checksum(table: Any) -> bytes:
    """Return a checksum of names, of metadata and of values."""
    total = 0
    for field, values in zip(table.schema, table.columns, strict=True):
        note = sorted((field.metadata or {}).items())
        total = zlib.crc32(repr((field.name, note, values.to_pylist())).encode("utf-8", "surrogatepass"), total)
    return b"%08x" % total


def _read(path: Path, most: int = _MOST_RUNS) -> list[dict[str, Any]]:
    """Return the rows, `most` or less, of a file of columns.

    Threads of pyarrow would end the process with an error at its exit.
    """
    pa, parquet = require("pyarrow", "cluster"), require("pyarrow.parquet", "cluster")
    try:
        file = parquet.ParquetFile(pa.BufferReader(as_file(path).read_bytes()))
        if file.metadata.num_rows > most:
            raise ValueError(f"{file.metadata.num_rows} rows for {most} runs")
        table = file.read(use_threads=False)
        noted = (table.schema.metadata or {}).get(_CHECKSUM)  # files of older versions have none
        if noted is not None and noted != _checksum(table):
            raise ValueError("its checksum is that of other values")
        columns = [values_of(table.column(name), table.field(name).metadata) for name in table.column_names]
    except FileNotFoundError:
        raise
    except Exception as error:  # of pyarrow, which raises all kinds
        hint = "" if path.name == _PLAN else "; without this file its runs are simulated again"
        raise FileFormatError(f"not a part of a store: {error}{hint}", path=path) from error
    rows = (zip(table.column_names, row, strict=True) for row in zip(*columns, strict=True))
    return [{name: value for name, value in row if value is not MISSING} for row in rows]
