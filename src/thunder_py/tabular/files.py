"""Files as tables: named columns of numbers, read in parts."""

from __future__ import annotations

import json
import math
import os
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import IO, Any, ClassVar, NamedTuple, Protocol

import numpy as np

from ..checks import Array
from ..errors import FileFormatError, ThunderError
from ..files import LARGEST_DATA, as_file
from ..optional import require
from .bag import BAGS, BagTable
from .mat_file import read_mat
from .text import ENDINGS, TextTable

#: columns of an array, all of which are read at once, bytes of a file that is read whole, and rows read at once
_MOST_COLUMNS, _LARGEST_TEXT, _PART = 1024, 1 << 28, 1 << 16
_ARRAYS = (".npz", ".npy", ".mat", ".json", ".jsonl", ".ndjson")
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


def table_of(path: Path, width: int | None = None, topic: str | None = None) -> Table:
    """Return the table in a file or folder.

    Parameters
    ----------
    path : Path
        The file or folder.
    width : int, optional
        Columns of each file of a folder that has one number per line, where no other file tells them.
    topic : str, optional
        Topic of a bag.

    Raises
    ------
    ThunderError
        If the ending of the path is of none, or `topic` is given for a file that is no bag.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from thunder_py.tabular.files import table_of
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(Path(folder, "log.npz"), t=[0.0, 0.1, 0.2], q=np.ones((3, 2)))
    ...     table = table_of(Path(folder, "log.npz"))
    ...     table.names, table.rows, next(table.parts([0, 2], 2)).tolist()
    (['t', 'q[0]', 'q[1]'], 3, [[0.0, 1.0], [0.1, 1.0]])
    """
    ending = Path(path.stem).suffix.lower() if path.suffix.lower() == ".gz" else path.suffix.lower()
    inside = {file.suffix.lower() for file in path.iterdir()} if path.is_dir() else set()
    if ending in BAGS or inside.intersection(BAGS) or (path.is_dir() and not inside):
        return BagTable(path, topic)
    if topic is not None:
        raise ThunderError(f"topic must be None for a file that is no bag, got {topic!r} for {str(path)!r}")
    if path.is_dir() or ending in _ARRAYS:
        return ArrayTable(path, width)
    if ending in ENDINGS:
        return TextTable(path)
    if ending == ".parquet":
        return ParquetTable(path)
    endings = ", ".join((*ENDINGS, *_ARRAYS, ".parquet", *BAGS))
    raise ThunderError(
        f"path must end in {endings}, or be the folder of a bag of ROS 2 or of files for each signal, got {str(path)!r}"
    )


class _Member(NamedTuple):
    """An array of numbers, in memory or at the beginning of an open file."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    source: IO[bytes] | Array
    by_columns: bool = False

    def parts(self, rows: int, size: int, name: str, path: Path) -> Iterator[Array]:
        """Yield rows (count, columns), without end, of which the array has `rows` along its first or second axis."""
        width, source, by_columns = math.prod(self.shape) // max(rows, 1), self.source, self.by_columns
        if not isinstance(source, np.ndarray) and (width == 1 or by_columns == (self.shape[0] != rows)):
            while True:  # the bytes of rows follow each other, also in the transposed array by columns
                data = np.frombuffer(source.read(size * width * self.dtype.itemsize), self.dtype)
                yield np.asarray(data.reshape(-1, width), dtype=np.float64)
        if not isinstance(source, np.ndarray):
            if math.prod(self.shape) * self.dtype.itemsize > LARGEST_DATA:
                raise FileFormatError(f"{name} must be stored row by row: save numpy.ascontiguousarray", path=path)
            source = np.frombuffer(source.read(), self.dtype).reshape(self.shape, order="F" if by_columns else "C")
        source = source if self.shape[0] == rows else np.moveaxis(source, 1, 0)
        for first in range(0, rows, size):
            part = source[first : first + size]
            yield np.asarray(part.reshape(len(part), width), dtype=np.float64)


@dataclass(frozen=True)
class ArrayTable:
    """Arrays (k,), (k, n) or (n, k) of NumPy, MATLAB or JSON, or files of a folder; k is the length that most have.

    In a file of `SimulationResult.save` only ``t``, ``q``, ``tau`` and ``x`` are used, without the last row.
    """

    texts: ClassVar[frozenset[int]] = frozenset()
    expected: ClassVar[str] = "an archive of numpy.savez, an array of numpy.save, variables of MATLAB or JSON, or files"
    path: Path
    width: int | None = None

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return [
            f"{name}[{k}]" if width > 1 else name or "0" for name, width in self._widths.items() for k in range(width)
        ]

    @cached_property
    def rows(self) -> int:
        """Number of rows."""
        return self._length - self._is_run

    @property
    def further(self) -> str:
        """Arrays of other lengths, for messages."""
        others = {name: shape for name, shape in self._shapes.items() if len(shape) == 2 and name not in self._widths}
        return "".join(f"; {name} has shape {shape}, not {self._length} rows" for name, shape in others.items())

    def parts(self, columns: Sequence[int], size: int) -> Iterator[Array]:
        """Yield the numbers of columns."""
        owners = [(name, k) for name, width in self._widths.items() for k in range(width)]
        wanted = [owners[column] for column in columns]
        used = list(dict.fromkeys(name for name, _ in wanted))
        firsts = dict(zip(used, np.cumsum([0, *(self._widths[name] for name in used)]), strict=False))
        places = [firsts[name] + k for name, k in wanted]
        with ExitStack() as stack:
            members = self._members(stack)
            streams = [members[name].parts(self._length, size, name, self.path) for name in used]
            for first in range(0, self.rows, size):
                table = np.concatenate([next(stream) for stream in streams], axis=1)[: self.rows - first]
                yield table if places == list(range(table.shape[1])) else table[:, places]
            for name in used:  # to the end, where the checksum is compared
                source = members[name].source
                if not isinstance(source, np.ndarray):
                    source.read()

    @cached_property
    def _shapes(self) -> dict[str, tuple[int, ...]]:
        """Return the shapes of arrays of numbers."""
        with ExitStack() as stack:
            members = self._members(stack).items()
            return {name: each.shape for name, each in members if each.shape and each.dtype.kind in "fiu"}

    @cached_property
    def _is_run(self) -> bool:
        with ExitStack() as stack:
            return "status" in self._members(stack)

    @cached_property
    def _length(self) -> int:
        lengths = Counter(length for shape in self._shapes.values() for length in {*shape[:2]})
        return max(lengths, key=lambda length: (lengths[length], length), default=0)

    @cached_property
    def _widths(self) -> dict[str, int]:
        """Return the numbers of columns of arrays with as many rows as most."""
        length = max(self._length, 1)
        used = {name: shape for name, shape in self._shapes.items() if not self._is_run or name in _OF_RUN}
        found = {name: math.prod(shape) // length for name, shape in used.items() if length in shape[:2]}
        for name, width in found.items():
            if width > _MOST_COLUMNS:
                raise FileFormatError(f"{name} must have at most {_MOST_COLUMNS} columns, got {width}", path=self.path)
        return found

    def _members(self, stack: ExitStack) -> dict[str, _Member]:
        """Return all arrays."""
        if self.path.suffix.lower() != ".npz":
            return {name: _Member(array.shape, array.dtype, array) for name, array in self._arrays.items()}
        archive = stack.enter_context(zipfile.ZipFile(self.path))
        found = {}
        for entry in archive.infolist():
            file, name = stack.enter_context(archive.open(entry)), entry.filename.removesuffix(".npy")
            try:
                version = np.lib.format.read_magic(file)
                old = version == (1, 0)
                read = np.lib.format.read_array_header_1_0 if old else np.lib.format.read_array_header_2_0
                shape, by_columns, dtype = read(file)
            except ValueError:
                raise FileFormatError(f"{name} must be an array of numpy.save", path=self.path) from None
            declared, present = math.prod(shape) * dtype.itemsize, entry.file_size - file.tell()
            if declared != present and dtype.kind in "fiu":
                raise FileFormatError(f"{name} must hold {declared} bytes for {shape}, got {present}", path=self.path)
            found[name] = _Member(shape, dtype, file, by_columns)
        return found

    @cached_property
    def _arrays(self) -> dict[str, Array]:
        """Return the arrays of a file that is in memory as a whole, or mapped to it, or of a folder."""
        if self.path.is_dir():
            states = ((path, path.stat()) for path in sorted(self.path.iterdir()) if path.is_file())
            found = dict(_columns_of(tuple((path, state.st_size, state.st_mtime_ns) for path, state in states)))
            flat = {name: len(values) for name, values in found.items() if values.ndim == 1}
            least = min(flat.values(), default=1)
            if len(flat) == len(found) > 1 and len(set(flat.values())) == 1 and not any("/" in name for name in found):
                least //= self.width or 1  # one number per line, and no file with as many lines as instants
            for name, count in flat.items():
                if least and count % least == 0 and count > least:
                    found[name] = found[name].reshape(least, -1)
            return found
        if self.path.suffix.lower() == ".npy":
            array = np.load(self.path, mmap_mode="r", allow_pickle=False)
            return {name: array[name] for name in array.dtype.names} if array.dtype.names else {"": array}
        if self.path.suffix.lower() == ".mat":
            return dict(_flat(read_mat(self.path)))
        text = as_file(self.path, most=_LARGEST_TEXT).read_text(encoding="utf-8-sig")
        is_one = self.path.suffix.lower() == ".json"
        content = json.loads(text) if is_one else [json.loads(line) for line in text.splitlines() if line.strip()]
        if isinstance(content, list):
            records = [dict(_flat(record)) for record in content]
            content = {name: [record.get(name, np.nan) for record in records] for name in records[0]}
        return dict(_flat(content))


@lru_cache(maxsize=1)  # the passes through a log
def _columns_of(files: tuple[tuple[Path, int, int], ...]) -> dict[str, Array]:
    """Return the columns of files in a folder, called ``torques.txt`` or, where these have names, ``a.csv/tau``.

    Files are paths with their sizes and times of change.
    """
    found: dict[str, Array] = {}
    for path, _, _ in files:
        if path.suffix.lower() in (*ENDINGS, *_ARRAYS, ".gz", ".parquet"):
            table = table_of(as_file(path, most=LARGEST_DATA))
            read = [k for k in range(len(table.names)) if k not in table.texts]
            values = np.concatenate([np.zeros((0, len(read))), *table.parts(read, _PART)])
            named = [table.names[k] for k in read]
            if all(name.rpartition("[")[2].rstrip("]").isdecimal() for name in named) or len(named) == 1:
                found[path.name] = values[:, 0] if len(named) == 1 else values
            else:
                found |= {f"{path.name}/{name}": column for name, column in zip(named, values.T, strict=True)}
    return found


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
