"""Store of a sweep: a folder to which the records of runs are written as they come, and from which it goes on.

The folder holds ``sweep.json`` (the runs of the sweep), ``runs.jsonl`` (a line for each run that has ended),
``sessions.jsonl`` (the provenance of each call) and ``results/*.npz`` (results, where these are kept). Lines are only
appended, so the folder can be read after a kill at any instant; of several lines of a run the last one counts.
"""

from __future__ import annotations

import fcntl
import json
import os
import time
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ...errors import FileFormatError, ThunderError, ThunderWarning, outer_level
from ...files import LARGEST_DATA, as_file, parsing, read_whole, write_whole
from ..result import SimulationResult
from .encoding import as_json, decoded, encoded
from .provenance import provenance
from .spec import RunRecord, StoredError, describe

SCHEMA = "thunder_py sweep/2"
#: names of columns and fields: no metric and no parameter may have such a name
RESERVED = ("run", "label", "attempts", "seconds", "error", "failure", "traceback", "session", "host", "kernels")
#: fields of a record that JSON holds as they are
_FIELDS = ("label", "attempts", "seconds", "session", "traceback", "host", "kernels")
#: lines are on the disk at the latest with the first one after this time [s]
_SECONDS = 1.0
_PLAN, _RUNS, _SESSIONS, _LOCK = "sweep.json", "runs.jsonl", "sessions.jsonl", "lock"


@dataclass(frozen=True)
class Plan:
    """The runs of a sweep, by which a store is recognized.

    Attributes
    ----------
    function : str
        Name of the function that makes the runs.
    label : str or None
        The user's label of the sweep.
    metrics : sequence of str or None
        Names of the metrics that are kept; None where whole results are.
    parameters : sequence of mapping
        Parameters of each run.
    runs : sequence of (str or None, str or None), optional
        Labels and digests of ready-made runs.
    """

    function: str
    label: str | None
    metrics: Sequence[str] | None
    parameters: Sequence[Mapping[str, Any]]
    runs: Sequence[Sequence[str | None]] = ()

    def fields(self) -> dict[str, Any]:
        """Return the fields as JSON holds them."""
        return {**vars(self), "parameters": [_each(encoded, values) for values in self.parameters]}


def _each(code: Callable[[Any], Any], values: Mapping[str, Any] | None) -> Any:
    """Encode or decode the values of a mapping."""
    return None if values is None else {name: code(value) for name, value in values.items()}


class RunStore:
    """Store of a sweep in a folder, for reading; `open_store` gives one for writing.

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
        self._synced = time.monotonic()
        with parsing(self.path / _PLAN, "a sweep of simulate_many"):
            self._fields = self._read_plan()
            parameters = [_each(decoded, values) for values in self._fields["parameters"]]
            self.plan = Plan(**{**self._fields, "parameters": parameters})
        self.sessions = _read_lines(self.path / _SESSIONS, "")
        self.records: dict[int, RunRecord] = {}
        hint = "; without this line its run is simulated again"
        with parsing(self.path / _RUNS, "records of these runs"):
            for row in _read_lines(self.path / _RUNS, hint):
                if not 0 <= row["run"] < len(self.plan.parameters):
                    raise ThunderError(f"got run {row['run']} of {len(self.plan.parameters)}")
                self.records[row["run"]] = self._record(row)
        self.records = {run: record for run, record in self.records.items() if _is_readable(record.result)}

    def _read_plan(self) -> dict[str, Any]:
        file = self.path / _PLAN
        try:
            fields = json.loads(read_whole(file, LARGEST_DATA))
        except FileNotFoundError:
            raise FileFormatError(f"not a store of simulate_many: {_PLAN} missing", path=self.path) from None
        except NotADirectoryError:
            text = "must be a folder, that of a store of simulate_many, got a file"
            raise FileFormatError(text, path=self.path) from None
        schema = fields.get("schema") if isinstance(fields, dict) else None
        if schema != SCHEMA:
            raise FileFormatError(
                f"schema must be {SCHEMA!r}, got {schema!r:.80}: only the version of thunder_py that wrote it reads "
                "this store; simulate into another folder",
                path=file,
            )
        checked = _checked(fields)
        return {name: value for name, value in checked.items() if name != "schema"}

    def _record(self, row: Mapping[str, Any]) -> RunRecord:
        metrics, error = row["metrics"], row["error"]
        return RunRecord(
            metrics=_each(decoded, metrics),
            result=self._result(row["run"]) if metrics is None and error is None else None,
            error=None if error is None else StoredError(error),
            **{name: row[name] for name in _FIELDS},
            error_unit=row.get("error_unit"),  # rows of older versions have none
        )

    def _result(self, run: int) -> Path:
        return self.path / "results" / f"run-{run:06d}.npz"

    def require_same(self, plan: Plan) -> None:
        """Raise `ThunderError` if the store holds another sweep."""
        fields = plan.fields()
        other = [name for name, value in fields.items() if as_json(value) != as_json(self._fields[name])]
        if other:
            raise ThunderError(
                f"store {self.path} holds another sweep, of {len(self.plan.parameters)} runs of {self.plan.function}: "
                f"{' and '.join(other)} differ; choose another folder, or Runs.load to read it"
            )

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
                stacklevel=outer_level(),
            )
        _append(self.path / _SESSIONS, now, sync=True)
        self.sessions.append(now)

    def add(self, run: int, record: RunRecord) -> RunRecord:
        """Write the record of a run; return it with the file of its result."""
        record = replace(record, session=len(self.sessions) - 1)
        if isinstance(record.result, SimulationResult):
            file = self._result(run)
            file.parent.mkdir(exist_ok=True)
            record.result.save(file)
            _sync(file)
            record = replace(record, result=file)
        row = {
            "run": run,
            **{name: getattr(record, name) for name in _FIELDS},
            "error": None if record.error is None else describe(record.error),
            "metrics": _each(encoded, record.metrics),
            "error_unit": record.error_unit,
        }
        due = time.monotonic() > self._synced + _SECONDS
        _append(self.path / _RUNS, row, sync=due)
        if due:
            self._synced = time.monotonic()
        self.records[run] = record
        return record


@contextmanager
def open_store(path: str | Path, plan: Plan) -> Iterator[RunStore]:
    """Open the store of a sweep for writing, create it where there is none, and keep other writers out.

    Raises
    ------
    ThunderError
        If the folder is in use, holds another sweep, or holds files but no store.
    """
    folder = Path(path)
    folder.mkdir(parents=True, exist_ok=True)
    foreign = {file.name for file in folder.glob("[!.]*")} - {_LOCK}
    if foreign and _PLAN not in foreign:
        raise ThunderError(f"store {folder} must be a new folder or a store, got one with {min(foreign)!r}")
    with _locked(folder):
        if not foreign:
            fields = {"schema": SCHEMA, **plan.fields()}
            write_whole(as_json({**fields, "checksum": _checksum(fields)}) + "\n", folder / _PLAN)
        store = RunStore(folder)
        store.require_same(plan)
        for file in (folder / _RUNS, folder / _SESSIONS):
            _cut_torn_line(file)
        for left in [*folder.glob(".sweep.*"), *folder.glob("results/.run-*")]:  # by a process that was killed
            left.unlink()
        try:
            yield store
        finally:
            if (folder / _RUNS).exists():
                _sync(folder / _RUNS)


_held: set[Path] = set()  # folders that this process has locked


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold a lock of the operating system, which ends with this process and is not that of its forked children."""
    key, file = folder.resolve(), as_file(folder / _LOCK)
    in_use = f"store {folder} is in use by another call of simulate_many"
    if key in _held:  # opening the file again would end the lock
        raise ThunderError(in_use)
    with file.open("a", encoding="utf-8") as lock:
        try:
            fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):
            raise ThunderError(in_use) from None
        _held.add(key)
        try:
            yield
        finally:
            _held.discard(key)


def _is_readable(result: object) -> bool:
    """Return whether a result is still there, and not cut off by a power failure; each run without one is simulated."""
    return not isinstance(result, Path) or (result.is_file() and zipfile.is_zipfile(result))


def _sync(path: Path) -> None:
    """Wait until a file is on the disk."""
    with open(path, "rb") as file:
        os.fsync(file.fileno())


def _append(path: Path, row: Mapping[str, Any], *, sync: bool) -> None:
    line = as_json({**row, "checksum": _checksum(row)}) + "\n"
    try:
        with as_file(path).open("a", encoding="ascii") as file:
            file.write(line)
            file.flush()
            if sync:
                os.fsync(file.fileno())
    except OSError as error:  # of a full disk, which does not name the file
        raise OSError(error.errno, error.strerror, str(path)) from error


def _cut_torn_line(path: Path) -> None:
    """Remove the end of a line that was not written whole."""
    if path.exists():
        os.truncate(path, path.read_bytes().rfind(b"\n") + 1)


def _checksum(row: Mapping[str, Any]) -> str:
    return f"{zlib.crc32(as_json(dict(row)).encode()):08x}"


def _checked(row: Any) -> dict[str, Any]:
    """Return a row without its checksum, which must be that of its values."""
    values = dict(row)
    if values.pop("checksum", None) != _checksum(values):
        raise ThunderError("the checksum is that of other values")
    return values


def _read_lines(path: Path, hint: str) -> list[dict[str, Any]]:
    """Return the rows of the whole lines of a file, which need not exist."""
    try:
        lines = read_whole(path, LARGEST_DATA).split(b"\n")[:-1]
    except FileNotFoundError:
        return []
    rows = []
    for number, line in enumerate(lines, start=1):
        try:
            rows.append(_checked(json.loads(line)))
        except (ValueError, TypeError, RecursionError) as error:
            message = f"must be a record of simulate_many, {error!s:.80}{hint}"
            raise FileFormatError(message, path=path, line=number) from error
    return rows
