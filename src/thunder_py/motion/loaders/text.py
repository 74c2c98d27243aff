"""Lines, cells and numbers of text files, with their places for messages."""

from __future__ import annotations

import csv
import math
from collections.abc import Collection
from pathlib import Path

from ...errors import FileFormatError
from ...files import as_file

__all__ = ["MISSING", "cells_of", "column_name", "guess_delimiter", "number", "read_lines"]

#: cells that mean "not measured"
MISSING = ("", "nan", "NaN", "NA", "N/A")
_LARGEST = 1 << 30


def read_lines(path: str | Path) -> list[str]:
    """Return the lines of a UTF-8 text file, without empty ones at its end.

    Raises
    ------
    FileFormatError
        If the file is empty, larger than 1 GiB, or not text.
    """
    file = as_file(path, most=_LARGEST)
    try:
        text = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileFormatError(f"expected UTF-8 text, got byte 0x{error.object[error.start]:02x}", path=path) from None
    if "\0" in text:
        raise FileFormatError("expected text, got a binary file", path=path)
    lines = text.split("\n")
    while lines and not lines[-1].strip():
        lines.pop()
    if not lines:
        raise FileFormatError("file is empty", path=path)
    return [line.rstrip("\r") for line in lines]


def guess_delimiter(line: str) -> str | None:
    """Return the tab, semicolon or comma that divides `line`, in this order of preference, or None for blanks."""
    return next((mark for mark in "\t;," if mark in line), None)


def cells_of(line: str, delimiter: str | None) -> list[str]:
    """Return the cells of a line, stripped; None divides at any run of blanks."""
    if delimiter is None:
        return line.split()
    cells = line.split(delimiter) if '"' not in line else next(csv.reader([line], delimiter=delimiter))
    return [cell.strip() for cell in cells]


def number(
    cell: str, *, path: str | Path, line: int, column: str, decimal: str = ".", missing: Collection[str] = MISSING
) -> float:
    """Return the number in a cell, NaN if it says that there is none.

    Raises
    ------
    FileFormatError
        On anything else, infinities included, with path, line and column.
    """
    if cell in missing:
        return math.nan
    text = cell if decimal == "." else cell.replace(".", "#").replace(decimal, ".")
    try:
        value = float(text) if "_" not in text else math.inf
    except ValueError:
        value = math.inf
    if not math.isfinite(value):
        hint = "; is decimal=',' meant?" if decimal == "." and cell.count(",") == 1 and "." not in cell else ""
        raise FileFormatError(f"expected a number, got {cell!r}{hint}", path=path, line=line, key=column)
    return value


def column_name(index: int, header: list[str] | None) -> str:
    """Return what messages call column `index` (from 0)."""
    name = header[index] if header is not None and index < len(header) else ""
    return f"column {index + 1}" + (f" ({name})" if name else "")
