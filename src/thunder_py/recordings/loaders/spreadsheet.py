"""Cells of spreadsheets, as texts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...errors import FileFormatError, UnknownNameError, nearest_hint
from ...files import as_file
from ...optional import require

__all__ = ["is_spreadsheet", "read_sheet"]

#: modules that read a format
_ENGINES = {".xlsx": "openpyxl", ".xlsm": "openpyxl", ".ods": "odf"}
_LARGEST = 1 << 28


def is_spreadsheet(path: Path) -> bool:
    """Return whether the suffix is that of a spreadsheet."""
    return path.suffix.lower() in _ENGINES


def read_sheet(path: Path, sheet: str | None = None) -> list[list[str]]:
    """Return the rows of a sheet as texts; empty cells are empty texts.

    Raises
    ------
    MissingExtraError
        Without pandas or the package that reads the format.
    UnknownNameError
        If there is no such sheet.
    FileFormatError
        If the file is not a spreadsheet, or has several sheets and none was named.
    """
    engine = _ENGINES[path.suffix.lower()]
    pandas = require("pandas", "spreadsheets")
    require(engine, "spreadsheets")
    file = as_file(path, most=_LARGEST)
    try:
        with pandas.ExcelFile(file, engine=engine) as book:
            name = _chosen(list(book.sheet_names), sheet, path)
            frame = pandas.read_excel(book, name, header=None, dtype=object, keep_default_na=False)
        cells = frame.to_numpy()
    except (UnknownNameError, FileFormatError):
        raise
    except Exception as error:  # of zip files, XML and either package
        raise FileFormatError(f"not a spreadsheet of the format {path.suffix}: {error}", path=path) from error
    rows = [[_text(cell) for cell in row] for row in cells]
    while rows and not any(rows[-1]):
        rows.pop()
    return rows


def _chosen(names: list[str], sheet: str | None, path: Path) -> str:
    if sheet is None:
        if len(names) != 1:
            raise FileFormatError(f"sheet must be one of {', '.join(names)}, got none", path=path)
        return names[0]
    if sheet not in names:
        raise UnknownNameError(f"no sheet {sheet!r} among {', '.join(names)} in {path}{nearest_hint(sheet, names)}")
    return sheet


def _text(cell: Any) -> str:
    if cell is None or (isinstance(cell, float) and cell != cell):
        return ""
    return repr(float(cell)) if isinstance(cell, float) else str(cell).strip()
