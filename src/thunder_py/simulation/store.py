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
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import FileFormatError, ThunderError, ThunderWarning
from ..files import whole_file, write_whole
from ..optional import require
from ..result import SimulationResult
from .provenance import provenance
from .run_spec import RunRecord, StoredError, describe

__all__ = ["RunStore", "Sweep", "opened"]

SCHEMA = "thunder_py sweep/1"
#: seconds of work that a kill can cost, besides the runs in progress
_SECONDS = 2.0
#: parts that are merged into one: opening a file takes a millisecond
_PARTS = 256
_INDEX, _PLAN, _LOCK = "sweep.json", "plan.parquet", "lock"


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
    digests : mapping of str to str
        Fingerprints of ``runs``, ``parameters`` and ``metrics``.
    """

    function: str
    parameters: Sequence[Mapping[str, Any]]
    metrics: tuple[str, ...] | None
    digests: Mapping[str, str]


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
        self.sweep = self._read_plan()
        self.records = self._read_records()

    def _read_index(self) -> dict[str, Any]:
        file = self.path / _INDEX
        try:
            index = json.loads(file.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise FileFormatError(f"not a store of simulate_many: {_INDEX} missing", path=self.path) from None
        except ValueError as error:
            raise FileFormatError(f"not a store of simulate_many: {error}", path=file) from error
        if not isinstance(index, dict) or index.get("schema") != SCHEMA:
            found = index.get("schema") if isinstance(index, dict) else None
            raise FileFormatError(f"schema must be {SCHEMA!r}, got {found!r}", path=file)
        return index

    def _read_plan(self) -> Sweep:
        rows = _read(self.path / _PLAN)
        metrics = self._index["metrics"]
        return Sweep(
            self._index["function"],
            [{name: _value(row[name]) for name in row} for row in rows] or [{}] * self._index["runs"],
            None if metrics is None else tuple(metrics),
            self._index["digests"],
        )

    def _read_records(self) -> dict[int, RunRecord]:
        """Return the records by run; a part that a writer merged in the meantime is in a later one."""
        while True:
            try:
                rows = [row for part in self._parts() for row in _read(part)]
            except FileNotFoundError:
                continue
            return {row["run"]: self._record(row) for row in rows}

    def _record(self, row: dict[str, Any]) -> RunRecord:
        names, failed = self.sweep.metrics, row["error"] is not None
        return RunRecord(
            metrics=None if failed or names is None else {name: _value(row.get(name)) for name in names},
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
        return sorted((self.path / "parts").glob("part-*.parquet"))

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
        changed = [name for name in ("thunder_py", "numpy", "instruction_set") if before[name] != now[name]]
        if changed:
            text = ", ".join(f"{name} {before[name]} -> {now[name]}" for name in changed)
            warnings.warn(
                f"store {self.path} was begun with other versions ({text}): the last bits of results may differ",
                ThunderWarning,
                stacklevel=3,
            )
        self._index["sessions"] = [*self.sessions, now]
        _write_index(self.path, self._index)

    def add(self, run: int, record: RunRecord) -> RunRecord:
        """Write the record of a run, at the latest with the one that follows after 2 s; return it with its file."""
        record = replace(record, session=len(self.sessions) - 1)
        if isinstance(record.result, SimulationResult):
            self._file(run).parent.mkdir(exist_ok=True)
            record.result.save(self._file(run))
            record = replace(record, result=self._file(run))
        self.records[run] = self._waiting[run] = record
        if time.monotonic() - self._written > _SECONDS:
            self.write()
        return record

    def write(self) -> None:
        """Write the records that are waiting."""
        if self._waiting:
            self._write_part(self._waiting)
            self._waiting = {}
        self._written = time.monotonic()
        if len(self._parts()) > _PARTS:
            self.merge()

    def merge(self) -> None:
        """Replace all parts by one, in the order of the runs."""
        parts = self._parts()
        if len(parts) > 1:
            self._write_part(dict(sorted(self.records.items())))
            for part in parts:
                part.unlink()

    def _write_part(self, records: Mapping[int, RunRecord]) -> None:
        parts = self._parts()
        number = int(parts[-1].stem.rpartition("-")[2]) + 1 if parts else 0
        _write(self.path / "parts" / f"part-{number:06d}.parquet", self._columns(records))

    def _columns(self, records: Mapping[int, RunRecord]) -> dict[str, Any]:
        pa = require("pyarrow", "cluster")
        ones = list(records.values())
        columns = {
            "run": pa.array(list(records), pa.int64()),
            "label": pa.array([one.label for one in ones], pa.string()),
            "attempts": pa.array([one.attempts for one in ones], pa.int64()),
            "seconds": pa.array([one.seconds for one in ones], pa.float64()),
            "error": pa.array([one.error and describe(one.error) for one in ones], pa.string()),
            "traceback": pa.array([one.trace for one in ones], pa.string()),
            "session": pa.array([one.session for one in ones], pa.int64()),
            "host": pa.array([one.worker[0] for one in ones], pa.string()),
            "kernels": pa.array([one.worker[1] for one in ones], pa.string()),
        }
        for name in self.sweep.metrics or ():
            columns[name] = _column([None if one.metrics is None else one.metrics[name] for one in ones])
        return columns


#: columns of every part: no metric may have such a name
RESERVED = ("run", "label", "attempts", "seconds", "error", "traceback", "session", "host", "kernels")


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
            store.write()
            store.merge()


def _create(folder: Path, sweep: Sweep) -> None:
    (folder / "parts").mkdir(exist_ok=True)
    names = list(dict.fromkeys(name for values in sweep.parameters for name in values))
    _write(folder / _PLAN, {name: _column([values.get(name) for values in sweep.parameters]) for name in names})
    _write_index(
        folder,
        {
            "schema": SCHEMA,
            "function": sweep.function,
            "runs": len(sweep.parameters),
            "metrics": sweep.metrics,
            "digests": dict(sweep.digests),
            "sessions": [],
        },
    )


def _check_same(store: RunStore, sweep: Sweep) -> None:
    other = [name for name, digest in sweep.digests.items() if store.sweep.digests.get(name) != digest]
    if other:
        raise ThunderError(
            f"store {store.path} holds another sweep, of {len(store.sweep.parameters)} runs of {store.sweep.function}: "
            f"{' and '.join(other)} differ; choose another folder, or Runs.load to read it"
        )


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold a lock of the operating system, which ends with the process."""
    with open(folder / _LOCK, "a+", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            raise ThunderError(f"store {folder} is in use by {file.read() or 'another process'}") from None
        file.truncate(0)
        file.write(f"process {os.getpid()} on {socket.gethostname()}")
        file.flush()
        yield


def _write_index(folder: Path, index: Mapping[str, Any]) -> None:
    write_whole(json.dumps(index, indent=1) + "\n", folder / _INDEX)


def _write(path: Path, columns: Mapping[str, Any]) -> None:
    """Write a file of columns atomically, to the disk before its name appears."""
    pa, parquet = require("pyarrow", "cluster"), require("pyarrow.parquet", "cluster")
    with whole_file(path) as temporary:
        parquet.write_table(pa.table(dict(columns)), temporary)
        with open(temporary, "rb") as file:
            os.fsync(file.fileno())


def _read(path: Path) -> list[dict[str, Any]]:
    try:
        with open(path, "rb") as file:
            rows: list[dict[str, Any]] = require("pyarrow.parquet", "cluster").read_table(file).to_pylist()
    except FileNotFoundError:
        raise
    except (OSError, ValueError) as error:  # as of pyarrow
        raise FileFormatError(f"not a part of a store: {error}", path=path) from error
    return rows


def _column(values: Sequence[Any]) -> Any:
    """Return a column of the values, of texts where they have no type in common."""
    pa = require("pyarrow", "cluster")
    plain = [value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value for value in values]
    try:
        return pa.array(plain)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError):
        return pa.array([None if value is None else str(value) for value in values])


def _value(value: Any) -> Any:
    return np.asarray(value) if isinstance(value, list) else value
