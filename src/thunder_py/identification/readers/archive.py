"""Logs in NumPy's archives."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO, ClassVar, NamedTuple

import numpy as np

from ...checks import Array
from ...errors import FileFormatError
from ...robot import Robot
from .names import NO_TIME, SIGNALS, Names

#: columns of an array, all of which are read at once
_MOST_COLUMNS = 1024


class _Member(NamedTuple):
    """An array in an open archive, from which rows are read one after the other."""

    file: IO[bytes]
    rows: int
    columns: tuple[int, ...]
    dtype: np.dtype[np.generic]

    def read(self, count: int) -> Array:
        data = self.file.read(count * math.prod(self.columns) * self.dtype.itemsize)
        return np.frombuffer(data, self.dtype).reshape(-1, *self.columns).astype(np.float64, copy=False)


@dataclass(frozen=True)
class ArchiveReader:
    """Reader of an ``.npz`` file with the arrays ``t``, (k,), ``q`` and ``tau``, (k, n), and further signals.

    In a file of `SimulationResult.save` only ``t``, ``q``, ``tau`` and, for elastic joints, ``x`` are used.
    """

    expected: ClassVar[str] = "an archive of numpy.savez"
    path: Path
    names: Names

    @property
    def rows(self) -> int:
        """Number of instants."""
        with ExitStack() as stack:
            first = self.names.required[0]
            return self._open(stack, {first: self._name(first)})[first].rows

    def _name(self, signal: str) -> str:
        name = (self.names.given or {}).get(signal, signal)
        if not isinstance(name, str):
            raise FileFormatError(f"columns must name one array of {signal}, got {name!r}", path=self.path)
        return name

    def chunks(self, robot: Robot, size: int) -> Iterator[dict[str, Array]]:
        """Yield the signals, with ``t``, in parts of `size` instants."""
        with ExitStack() as stack:
            members = self._open(stack, self._names(robot))
            rows = {member.rows for member in members.values()}
            if len(rows) > 1:
                listed = ", ".join(f"{name} {member.rows}" for name, member in members.items())
                raise FileFormatError(f"arrays must have equal lengths, got {listed}", path=self.path)
            left = rows.pop() - int(self._is_run())  # the last row of a run repeats the torque before
            while left > 0:
                count = min(size, left)
                left -= count
                yield self.names.scaled(robot, {name: member.read(count) for name, member in members.items()})
            for member in members.values():
                member.file.read()  # to its end, where the checksum is compared

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Return the shapes of all arrays, whose numbers are not read."""
        found = {}
        with zipfile.ZipFile(self.path) as archive:
            for name in self._present():
                with archive.open(f"{name}.npy") as file:
                    found[name] = self._header(file, name)[0]
        return found

    def _present(self) -> Sequence[str]:
        with zipfile.ZipFile(self.path) as archive:
            return [name.removesuffix(".npy") for name in archive.namelist()]

    def _is_run(self) -> bool:
        return self.names.given is None and "status" in self._present()

    def _names(self, robot: Robot) -> dict[str, str]:
        present = self._present()
        self.names.tell_time_unread(present)
        wanted = list(self.names.given or dict.fromkeys((*self.names.required, *SIGNALS)))
        if self._is_run():
            wanted = [*self.names.required, "x"]
        if not robot.e:
            wanted = [name for name in wanted if name not in ("x", "dx", "ddx", "joint_torque")]
        names = {signal: self._name(signal) for signal in wanted}
        required = list(names) if self.names.given else self.names.required
        missing = [name for signal, name in names.items() if signal in required and name not in present]
        if missing:
            way_out = f"; {NO_TIME}" if missing == ["t"] else ""
            text = f"there must be arrays {', '.join(missing)}, got {', '.join(present) or 'none'}{way_out}"
            raise FileFormatError(text, path=self.path)
        return {signal: name for signal, name in names.items() if name in present}

    def _open(self, stack: ExitStack, names: Mapping[str, str]) -> dict[str, _Member]:
        archive = stack.enter_context(zipfile.ZipFile(self.path))
        members = {}
        for signal, name in names.items():
            try:
                entry = archive.getinfo(f"{name}.npy")
            except KeyError:
                raise FileFormatError(f"there must be an array {name}", path=self.path) from None
            file = stack.enter_context(archive.open(entry))
            members[signal] = self._member(file, name, 1 if signal == "t" else 2, entry.file_size)
        return members

    def _header(self, file: IO[bytes], name: str) -> tuple[tuple[int, ...], bool, np.dtype[np.generic]]:
        """Return shape, whether it is stored by columns, and type of an array, up to its numbers."""
        try:
            version = np.lib.format.read_magic(file)
            reader = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            return reader(file)
        except ValueError:
            raise FileFormatError(f"{name} must be an array of numpy.save", path=self.path) from None

    def _member(self, file: IO[bytes], name: str, dimensions: int, size: int) -> _Member:
        shape, by_columns, dtype = self._header(file, name)
        if dtype.kind not in "fiu" or len(shape) != dimensions:
            expected = "(k,)" if dimensions == 1 else "(k, n)"
            raise FileFormatError(f"{name} must be numbers of shape {expected}, got {dtype} of {shape}", path=self.path)
        if by_columns and dimensions > 1 and min(shape) > 1:
            raise FileFormatError(f"{name} must be stored row by row: save numpy.ascontiguousarray", path=self.path)
        if math.prod(shape[1:]) > _MOST_COLUMNS:
            raise FileFormatError(f"{name} must have at most {_MOST_COLUMNS} columns, got {shape[1]}", path=self.path)
        declared, present = math.prod(shape) * dtype.itemsize, size - file.tell()
        if declared != present:
            raise FileFormatError(f"{name} must hold {declared} bytes for {shape}, got {present}", path=self.path)
        return _Member(file, shape[0], tuple(shape[1:]), dtype)
