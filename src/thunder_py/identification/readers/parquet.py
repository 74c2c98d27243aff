"""Logs in Parquet files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ...checks import Array
from ...errors import FileFormatError
from ...optional import require
from ...robot import Robot
from .names import Names


@dataclass(frozen=True)
class ParquetReader:
    """Reader of a Parquet file, with one column for each joint and signal."""

    expected: ClassVar[str] = "a Parquet file"
    path: Path
    names: Names

    @property
    def rows(self) -> int:
        """Number of instants."""
        with self._open() as file:
            return int(file.metadata.num_rows)

    def _open(self) -> Any:
        pa, parquet = require("pyarrow", "logs"), require("pyarrow.parquet", "logs")
        file = pa.OSFile(os.fsencode(self.path))  # names of files need not be UTF-8
        return parquet.ParquetFile(file, page_checksum_verification=True)

    def chunks(self, robot: Robot, size: int) -> Iterator[dict[str, Array]]:
        """Yield the signals, with ``t``, in parts of `size` instants."""
        with self._open() as file:
            columns = self.names.columns(robot, file.schema_arrow.names)
            wanted = [name for names in columns.values() for name in names]
            left = int(file.metadata.num_rows)
            for batch in file.iter_batches(batch_size=size, columns=wanted, use_threads=False):
                left -= len(batch)
                signals = {
                    signal: self._column(batch, names[0])
                    if signal == "t"
                    else np.column_stack([self._column(batch, name) for name in names])
                    for signal, names in columns.items()
                }
                yield self.names.scaled(robot, signals, columns)
            if left:
                raise FileFormatError(f"there must be {file.metadata.num_rows} rows, got {left} less", path=self.path)

    def _column(self, batch: Any, name: str) -> Array:
        values = batch.column(name).to_numpy(zero_copy_only=False)
        if values.dtype.kind not in "fiu":
            raise FileFormatError(f"column {name} must hold numbers, got {values.dtype}", path=self.path)
        return np.asarray(values, dtype=np.float64)
