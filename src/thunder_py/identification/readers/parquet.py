"""Logs in Parquet files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...checks import Array
from ...errors import FileFormatError
from ...files import as_file
from ...optional import require
from ...robot import Robot
from .names import Names

__all__ = ["ParquetReader"]


@dataclass(frozen=True)
class ParquetReader:
    """Reader of a Parquet file, with one column for each joint and signal."""

    path: Path
    names: Names

    @property
    def rows(self) -> int:
        """Number of instants."""
        with self._open() as file:
            return int(file.metadata.num_rows)

    def _open(self) -> Any:
        parquet = require("pyarrow.parquet", "logs")
        try:
            return parquet.ParquetFile(as_file(self.path))
        except require("pyarrow", "logs").ArrowInvalid as error:
            raise FileFormatError(f"must be a Parquet file: {error}", path=self.path) from None

    def chunks(self, robot: Robot, size: int) -> Iterator[dict[str, Array]]:
        """Yield the signals, with ``t``, in parts of `size` instants."""
        with self._open() as file:
            columns = self.names.columns(robot, file.schema_arrow.names)
            wanted = [name for names in columns.values() for name in names]
            for batch in file.iter_batches(batch_size=size, columns=wanted):
                signals = {
                    signal: self._column(batch, names[0])
                    if signal == "t"
                    else np.column_stack([self._column(batch, name) for name in names])
                    for signal, names in columns.items()
                }
                yield self.names.scaled(robot, signals, columns)

    def _column(self, batch: Any, name: str) -> Array:
        values = batch.column(name).to_numpy(zero_copy_only=False)
        if values.dtype.kind not in "fiu":
            raise FileFormatError(f"column {name} must hold numbers, got {values.dtype}", path=self.path)
        return np.asarray(values, dtype=np.float64)
