"""Files of logs as tables: named columns of numbers, read in parts."""

from __future__ import annotations

import json
import math
import os
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import IO, Any, ClassVar, Protocol

import numpy as np

from ...checks import Array
from ...delimited import ENDINGS, TextTable
from ...errors import FileFormatError, ThunderError
from ...files import LARGEST_DATA, as_file
from ...mat_file import read_mat
from ...optional import require
from .bag import BagTable

#: columns of an array, all of which are read at once, and bytes of a file that is read whole
_MOST_COLUMNS, _LARGEST_TEXT = 1024, 1 << 28
_ARRAYS, _BAGS = (".npz", ".npy", ".mat", ".json", ".jsonl", ".ndjson"), (".bag", ".db3", ".mcap")
#: what is read of a file of `SimulationResult.save`
_OF_RUN = ("t", "q", "tau", "x")


class Table(Protocol):
    """Named columns of numbers."""

    expected: ClassVar[str]

    @property
    def path(self) -> Path:
        """The file."""

    @property
    def names(self) -> list[str]:
        """Names of the columns; those of an array are ``name[0]``, ``name[1]``."""

    @property
    def texts(self) -> frozenset[int]:
        """Columns that hold no numbers."""

    @property
    def rows(self) -> int:
        """Number of rows, or an estimate of it."""

    def parts(self, columns: Sequence[int], size: int) -> Iterator[Array]:
        """Yield the numbers of columns, NaN where missing, in parts of `size` rows or less."""


def table_of(path: Path, joints: int | None = None, topic: str | None = None) -> Table:
    """Return the table in a file or folder; `joints` tells files of one number per line apart."""
    ending = Path(path.stem).suffix.lower() if path.suffix.lower() == ".gz" else path.suffix.lower()
    inside = {file.suffix.lower() for file in path.iterdir()} if path.is_dir() else set()
    if ending in _BAGS or inside.intersection(_BAGS) or (path.is_dir() and not inside):
        return BagTable(path, topic)
    if topic is not None:
        raise ThunderError(f"topic must be None for a file that is no bag, got {topic!r} for {str(path)!r}")
    if path.is_dir():
        return FolderTable(path, joints)
    if ending in ENDINGS:
        return TextTable(path)
    if ending in _ARRAYS:
        return ArrayTable(path)
    if ending == ".parquet":
        return ParquetTable(path)
    endings = ", ".join((*ENDINGS, *_ARRAYS, ".parquet", *_BAGS))
    raise ThunderError(
        f"path must end in {endings}, or be the folder of a bag of ROS 2 or of files for each signal, got {str(path)!r}"
    )


@dataclass
class _Member:
    """An array of numbers, read row by row: from a file, or from memory."""

    shape: tuple[int, ...]
    source: IO[bytes] | Array
    dtype: np.dtype[Any] = field(default_factory=lambda: np.dtype(np.float64))
    by_columns: bool = False
    done: int = 0

    def towards(self, rows: int, name: str, path: Path) -> _Member:
        """Return this array with its instants along the first axis."""
        if self.shape[0] == rows and not (self.by_columns and math.prod(self.shape[1:]) > 1):
            return self
        if self.by_columns and self.shape[0] != rows:  # the bytes of the transposed array
            return _Member(self.shape[::-1], self.source, self.dtype)
        if not isinstance(self.source, np.ndarray):
            if math.prod(self.shape) * self.dtype.itemsize > LARGEST_DATA:
                raise FileFormatError(f"{name} must be stored row by row: save numpy.ascontiguousarray", path=path)
            whole = np.frombuffer(self.source.read(), self.dtype)
            self.source = whole.reshape(self.shape, order="F" if self.by_columns else "C")
        array = self.source if self.shape[0] == rows else np.moveaxis(self.source, 1, 0)
        return _Member(array.shape, array, self.dtype)

    def read(self, count: int) -> Array:
        """Return the next rows (count, columns)."""
        width = math.prod(self.shape[1:])
        if isinstance(self.source, np.ndarray):
            values, self.done = self.source[self.done : self.done + count], self.done + count
        else:
            values = np.frombuffer(self.source.read(count * width * self.dtype.itemsize), self.dtype)
        return np.asarray(values.reshape(-1, width), dtype=np.float64)


@dataclass(frozen=True)
class ArrayTable:
    """Arrays (k,), (k, n) or (n, k) of NumPy, MATLAB or JSON, of which k is the length that most have.

    In a file of `SimulationResult.save` only ``t``, ``q``, ``tau`` and ``x`` are used, without the last row.
    """

    texts: ClassVar[frozenset[int]] = frozenset()
    expected: ClassVar[str] = "an archive of numpy.savez, an array of numpy.save, or variables of MATLAB or JSON"
    path: Path

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        widths = {name: math.prod(shape[1:]) for name, shape in self._shapes[1].items()}
        return [f"{name}[{k}]" if width > 1 else name or "0" for name, width in widths.items() for k in range(width)]

    @property
    def further(self) -> str:
        """Arrays of other lengths, for messages."""
        return "".join(f"; {name} has shape {shape}, not {self.rows} rows" for name, shape in self._shapes[2].items())

    @property
    def rows(self) -> int:
        """Number of rows."""
        return self._shapes[0]

    def parts(self, columns: Sequence[int], size: int) -> Iterator[Array]:
        """Yield the numbers of columns."""
        rows, shapes, _ = self._shapes
        ends = np.cumsum([math.prod(shape[1:]) for shape in shapes.values()])
        owners = np.searchsorted(ends, columns, side="right")
        with ExitStack() as stack:
            members = self._members(stack)
            names = [list(shapes)[k] for k in dict.fromkeys(owners.tolist())]
            used = {name: members[name].towards(rows + self._is_run(members), name, self.path) for name in names}
            starts = dict(zip(shapes, [0, *ends], strict=False))
            firsts = dict(zip(used, np.cumsum([0, *(math.prod(used[name].shape[1:]) for name in used)]), strict=False))
            places = [
                firsts[name] + column - starts[name]
                for column, name in zip(columns, (list(shapes)[k] for k in owners), strict=True)
            ]
            for first in range(0, rows, size):
                table = np.concatenate([each.read(min(size, rows - first)) for each in used.values()], axis=1)
                yield table if places == list(range(table.shape[1])) else table[:, places]
            for each in used.values():
                if not isinstance(each.source, np.ndarray):
                    each.source.read()  # to its end, where the checksum is compared

    @staticmethod
    def _is_run(members: Mapping[str, Any]) -> bool:
        return "status" in members

    @cached_property
    def _shapes(self) -> tuple[int, dict[str, tuple[int, ...]], dict[str, tuple[int, ...]]]:
        """Return the number of rows, the shapes of arrays that have as many, these first, and those of others."""
        with ExitStack() as stack:
            members = self._members(stack)
            run = self._is_run(members)
            shapes = {
                name: member.shape
                for name, member in members.items()
                if member.dtype.kind in "fiu" and member.shape and (not run or name in _OF_RUN)
            }
        lengths = Counter(length for shape in shapes.values() for length in {*shape[:2]})
        rows = max(lengths, key=lambda length: (lengths[length], length), default=0)
        found = {}
        for name, shape in shapes.items():
            if rows in shape[:2]:
                found[name] = shape if shape[0] == rows else (shape[1], shape[0], *shape[2:])
                if math.prod(found[name][1:]) > _MOST_COLUMNS:
                    count = math.prod(found[name][1:])
                    message = f"{name} must have at most {_MOST_COLUMNS} columns, got {count}"
                    raise FileFormatError(message, path=self.path)
        others: dict[str, tuple[int, ...]] = {
            name: shape for name, shape in shapes.items() if name not in found and len(shape) == 2
        }
        return rows - run, found, others

    def _members(self, stack: ExitStack) -> dict[str, _Member]:
        """Return all arrays."""
        ending = self.path.suffix.lower()
        if ending == ".npz":
            archive = stack.enter_context(zipfile.ZipFile(self.path))
            entries = [(entry, entry.filename.removesuffix(".npy")) for entry in archive.infolist()]
            opened = ((name, stack.enter_context(archive.open(entry)), entry.file_size) for entry, name in entries)
            return {name: self._member(file, name, size) for name, file, size in opened}
        if ending == ".npy":
            array = np.load(self.path, mmap_mode="r", allow_pickle=False)
            arrays = {name: array[name] for name in array.dtype.names} if array.dtype.names else {"": array}
        else:
            arrays = self._whole
        return {name: _Member(array.shape, array, array.dtype) for name, array in arrays.items()}

    @cached_property
    def _whole(self) -> dict[str, Array]:
        """Return the arrays of a file that is read whole."""
        if self.path.suffix.lower() == ".mat":
            return dict(_flat(read_mat(self.path)))
        text = as_file(self.path, most=_LARGEST_TEXT).read_text(encoding="utf-8-sig")
        is_one = self.path.suffix.lower() == ".json"
        content = json.loads(text) if is_one else [json.loads(line) for line in text.splitlines() if line.strip()]
        if isinstance(content, list):
            records = [dict(_flat(record)) for record in content]
            content = {name: [record.get(name, np.nan) for record in records] for name in records[0]}
        return dict(_flat(content))

    def _member(self, file: IO[bytes], name: str, size: int) -> _Member:
        """Return an array whose header is read, up to its numbers."""
        try:
            version = np.lib.format.read_magic(file)
            reader = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            shape, by_columns, dtype = reader(file)
        except ValueError:
            raise FileFormatError(f"{name} must be an array of numpy.save", path=self.path) from None
        declared, present = math.prod(shape) * dtype.itemsize, size - file.tell()
        if declared != present and dtype.kind in "fiu":
            raise FileFormatError(f"{name} must hold {declared} bytes for {shape}, got {present}", path=self.path)
        return _Member(shape, file, dtype, by_columns)


def _flat(content: Any, within: str = "") -> Iterator[tuple[str, Array]]:
    """Yield the numbers in nested dictionaries, with names such as ``header/stamp/sec``."""
    for name, value in dict(content).items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{within}{name}/")
            continue
        array = np.asarray(value)
        if array.dtype.kind in "fiu":
            yield f"{within}{name}", array


@dataclass(frozen=True)
class ParquetTable:
    """Columns of a Parquet file; lists of equal length, such as ``observation.state`` of LeRobot, are several."""

    expected: ClassVar[str] = "a Parquet file"
    path: Path

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return [name if k is None else f"{name}[{k}]" for name, k, _ in self._places]

    @property
    def texts(self) -> frozenset[int]:
        """Columns that hold no numbers."""
        return frozenset(k for k, (_, _, kind) in enumerate(self._places) if not kind)

    @property
    def rows(self) -> int:
        """Number of rows."""
        with self._open() as file:
            return int(file.metadata.num_rows)

    def parts(self, columns: Sequence[int], size: int) -> Iterator[Array]:
        """Yield the numbers of columns."""
        chosen = [self._places[k] for k in columns]
        with self._open() as file:
            left = int(file.metadata.num_rows)
            needed = list(dict.fromkeys(name for name, _, _ in chosen))
            for batch in file.iter_batches(batch_size=size, columns=needed, use_threads=False):
                left -= len(batch)
                read = {name: self._column(batch, name) for name in needed}
                yield np.column_stack([read[name][:, k or 0] for name, k, _ in chosen])
            if left:
                raise FileFormatError(f"there must be {file.metadata.num_rows} rows, got {left} less", path=self.path)

    def _open(self) -> Any:
        pa, parquet = require("pyarrow", "logs"), require("pyarrow.parquet", "logs")
        file = pa.OSFile(os.fsencode(self.path))  # names of files need not be UTF-8
        return parquet.ParquetFile(file, page_checksum_verification=True)

    @cached_property
    def _places(self) -> list[tuple[str, int | None, bool]]:
        """Return the name of each column, its place in a list, and whether it holds numbers."""
        found: list[tuple[str, int | None, bool]] = []
        with self._open() as file:
            first = next(file.iter_batches(batch_size=1), None)
            for name in file.schema_arrow.names:
                value = None if first is None or not len(first) else first.column(name)[0].as_py()
                if isinstance(value, list):
                    found += [(name, place, isinstance(each, (int, float))) for place, each in enumerate(value)]
                else:
                    found.append((name, None, not isinstance(value, (str, bytes, dict, bool))))
        return found

    def _column(self, batch: Any, name: str) -> Array:
        values = batch.column(name)
        if hasattr(values, "flatten") and hasattr(values.type, "value_type"):
            values = values.flatten()
        numbers = values.to_numpy(zero_copy_only=False)
        if numbers.dtype.kind == "M":
            numbers = numbers.astype("datetime64[ns]").astype(np.int64) * 1e-9
        if numbers.dtype.kind not in "fiu" or len(numbers) % len(batch):
            raise FileFormatError(f"column {name} must hold numbers, got {values.type}", path=self.path)
        return np.asarray(numbers, dtype=np.float64).reshape(len(batch), -1)


@dataclass(frozen=True)
class FolderTable:
    """Files of a folder side by side, with equal numbers of rows: one for each signal or joint.

    Columns are called ``torques.txt[0]`` or, where the file names them, ``joint1.csv/tau``. Files of one number per
    line hold the joints of one instant after the other.
    """

    expected: ClassVar[str] = "a folder with a file for each signal or joint"
    path: Path
    joints: int | None = None

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return [name for name, _, _, _ in self._places]

    @property
    def texts(self) -> frozenset[int]:
        """Columns that hold no numbers."""
        return frozenset(k for k, (_, table, column, _) in enumerate(self._places) if column in table.texts)

    @property
    def rows(self) -> int:
        """Number of rows, or an estimate of it."""
        return round(min(table.rows / width for _, table, _, width in self._places))

    def parts(self, columns: Sequence[int], size: int) -> Iterator[Array]:
        """Yield the numbers of columns."""
        places = [self._places[k] for k in columns]
        wanted: dict[Path, list[int]] = {}
        for _, table, column, _ in places:
            wanted.setdefault(table.path, []).append(column)
        streams = {}
        for _, table, _, width in places:
            if table.path not in streams:
                given = [0] if width > 1 else wanted[table.path]
                streams[table.path] = _in_rows(table.parts(given, size * width), size, width, wanted[table.path])
        counts = dict.fromkeys(streams, 0)
        order = np.argsort(np.argsort([list(streams).index(table.path) for _, table, _, _ in places], kind="stable"))
        while True:
            found = {path: next(stream, None) for path, stream in streams.items()}
            counts = {path: counts[path] + (0 if part is None else len(part)) for path, part in found.items()}
            parts = [part for part in found.values() if part is not None]
            if len(set(counts.values())) > 1:
                for path, stream in streams.items():
                    counts[path] += sum(map(len, stream))
                listed = ", ".join(f"{path.name} {count}" for path, count in counts.items())
                message = f"files must have equal numbers of instants, got {listed}"
                raise FileFormatError(message, path=self.path)
            if not parts:
                return
            yield np.concatenate(parts, axis=1)[:, order]

    @cached_property
    def _places(self) -> list[tuple[str, Table, int, int]]:
        """Return name, table, column in it, and instants' columns of a file of one number per line, of each column."""
        tables: list[Table] = []
        for path in sorted(self.path.iterdir()):
            ending = path.suffix.lower()
            if path.is_file() and (ending in (*ENDINGS, *_ARRAYS, ".gz", ".parquet")):
                tables.append(table_of(as_file(path, most=LARGEST_DATA)))
        counts = {table.path: _count(table) for table in tables if len(table.names) == 1}
        least = min(counts.values(), default=1)
        found = []
        for table in tables:
            name, names = table.path.name, table.names
            width = max(counts.get(table.path, 1) // max(least, 1), 1) if len(set(counts.values())) > 1 else 1
            if len(counts) == len(tables) > 1 and len(set(counts.values())) == 1:
                width = self.joints or 1  # all of them flat, without time
            if width > 1:
                found += [(f"{name}[{k}]", table, k, width) for k in range(width)]
            elif len(names) == 1:
                found.append((name, table, 0, 1))
            else:
                plain = all(each.rpartition("[")[2].rstrip("]").isdecimal() for each in names)
                found += [(f"{name}[{k}]" if plain else f"{name}/{each}", table, k, 1) for k, each in enumerate(names)]
        return found


def _count(table: Table) -> int:
    return sum(map(len, table.parts([0], 1 << 16)))


def _in_rows(parts: Iterator[Array], size: int, width: int, columns: Sequence[int]) -> Iterator[Array]:
    """Yield rows of instants, `size` at a time, from parts of any length, of `width` numbers one after the other."""
    held = np.zeros((0, width if width > 1 else len(columns)))
    for part in parts:
        held = np.concatenate([held, part.reshape(-1, width) if width > 1 else part])
        while len(held) >= size:
            yield held[:size, columns] if width > 1 else held[:size]
            held = held[size:]
    if len(held):
        yield held[:, columns] if width > 1 else held
