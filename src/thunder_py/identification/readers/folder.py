"""Logs in folders."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from ...checks import Array
from ...errors import FileFormatError
from ...files import LARGEST_DATA, as_file
from ...robot import Robot
from .csv_table import CSVReader
from .names import NO_TIME, Names

#: endings of text tables
TEXTS = (".csv", ".txt", ".tsv", ".dat")
#: rows that are read at once
_PART = 1 << 16


@dataclass(frozen=True)
class FolderReader:
    """Reader of a folder with one text table for each signal, such as ``positions.txt``, a row for each instant.

    Tables of one number per line hold the joints of one instant after the other.
    """

    expected: ClassVar[str] = "a folder with one text table for each signal"
    path: Path
    names: Names

    @property
    def rows(self) -> int:
        """Estimate of the number of instants."""
        return CSVReader(self.files()[self.names.required[0]]).rows

    def texts(self) -> list[Path]:
        """Return the text tables of the folder."""
        return [file for file in sorted(self.path.iterdir()) if file.suffix.lower() in TEXTS]

    def files(self) -> Mapping[str, Path]:
        """Return the file of each signal, by the words of its name or as given."""
        texts = self.texts()
        if self.names.given is not None:
            found = {signal: [self.path / str(name)] for signal, name in self.names.given.items()}
        else:
            found = {signal: [] for signal in self.names.called()}
            for file in texts:
                words = set(re.split(r"[^a-z0-9]+", file.stem.lower()))
                for signal, called in self.names.called().items():
                    if words & set(called):
                        found[signal].append(file)
        listed = ", ".join(file.name for file in texts) or "none"
        for signal, files in found.items():
            if len(files) > 1:
                message = f"there must be one file of {signal}, got {', '.join(file.name for file in files)}"
                raise FileFormatError(f"{message}; name it with columns=", path=self.path)
            if not files and signal in self.names.required:
                way_out = f", or {NO_TIME}" if signal == "t" else ""
                message = (
                    f"there must be a file of {signal}, such as {self.names.called()[signal][-1]}.txt, got {listed}"
                )
                raise FileFormatError(f"{message}; name it with columns={way_out}", path=self.path)
        return {signal: files[0] for signal, files in found.items() if files}

    def chunks(self, robot: Robot, size: int) -> Iterator[dict[str, Array]]:
        """Yield the signals, with ``t``, in parts of `size` instants."""
        signals = {name: self._read(file, self.names.width(robot, name)) for name, file in self.files().items()}
        rows = {name: len(values) for name, values in signals.items()}
        if len(set(rows.values())) > 1:
            listed = ", ".join(f"{name} {count}" for name, count in rows.items())
            raise FileFormatError(f"files must have equal numbers of instants, got {listed}", path=self.path)
        for first in range(0, max(rows.values()), size):
            part = {name: values[first : first + size] for name, values in signals.items()}
            yield self.names.scaled(robot, {name: v[:, 0] if name == "t" else v for name, v in part.items()})

    def _read(self, file: Path, width: int) -> Array:
        as_file(file, most=LARGEST_DATA)
        reader = CSVReader(file)
        count = len(reader.names())
        table = np.concatenate([np.zeros((0, count)), *reader.parts(range(count), _PART)])
        if count == 1 and len(table) % width == 0:
            return table.reshape(-1, width)
        if count != width:
            raise FileFormatError(f"there must be {width} columns, or one with all joints, got {count}", path=file)
        return table
