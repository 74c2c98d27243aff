"""Logs in Parquet files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ...checks import Array
from ...errors import FileFormatError
from ...optional import require


@dataclass(frozen=True)
class ParquetReader:
    """Reader of a Parquet file, with one column for each joint and signal."""

    expected: ClassVar[str] = "a Parquet file"
    path: Path

    @property
    def rows(self) -> int:
        """Number of instants."""
        with self._open() as file:
            return int(file.metadata.num_rows)

    def _open(self) -> Any:
        pa, parquet = require("pyarrow", "logs"), require("pyarrow.parquet", "logs")
        file = pa.OSFile(os.fsencode(self.path))  # names of files need not be UTF-8
        return parquet.ParquetFile(file, page_checksum_verification=True)

    def names(self) -> list[str]:
        """Return the names of the columns."""
        with self._open() as file:
            return list(file.schema_arrow.names)

    def parts(self, order: Sequence[int], size: int) -> Iterator[Array]:
        """Yield the numbers of columns, in parts of `size` rows."""
        with self._open() as file:
            names = [file.schema_arrow.names[k] for k in order]
            left = int(file.metadata.num_rows)
            for batch in file.iter_batches(batch_size=size, columns=names, use_threads=False):
                left -= len(batch)
                yield np.column_stack([self._column(batch, name) for name in names])
            if left:
                raise FileFormatError(f"there must be {file.metadata.num_rows} rows, got {left} less", path=self.path)

    def line(self, row: int) -> None:
        """There are no lines."""

    def _column(self, batch: Any, name: str) -> Array:
        values = batch.column(name).to_numpy(zero_copy_only=False)
        if values.dtype.kind not in "fiu":
            raise FileFormatError(f"column {name} must hold numbers, got {values.dtype}", path=self.path)
        return np.asarray(values, dtype=np.float64)
