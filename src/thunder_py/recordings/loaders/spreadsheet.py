"""Cells of spreadsheets, as texts."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path
from typing import IO, Any
from xml.parsers import expat

from ...errors import FileFormatError, UnknownNameError, nearest_hint
from ...files import as_file
from ...optional import require

#: modules that read a format
_ENGINES = {".xlsx": "openpyxl", ".xlsm": "openpyxl", ".ods": "odf"}
#: bytes of a file and of its content after decompression, cells of a sheet, elements of an .ods file (2 kB each)
_LARGEST, _MOST_BYTES, _MOST_CELLS, _MOST_ELEMENTS = 1 << 28, 1 << 29, 5_000_000, 2_000_000


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
        _check_size(file)
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


def _check_size(file: Path) -> None:
    """Raise if the cells of a sheet take too much memory: a file of a few kilobytes can hold any number of them."""
    with zipfile.ZipFile(file) as archive:
        parts = archive.infolist()
        if (size := sum(part.file_size for part in parts)) > _MOST_BYTES:
            raise FileFormatError(f"must hold at most {_MOST_BYTES} bytes without compression, got {size}", path=file)
        for part in parts:
            if part.filename == "content.xml" or re.fullmatch(r"xl/worksheets/[^/]*\.xml", part.filename):
                with archive.open(part) as stream:
                    _Extent(file).read(stream)


class _Extent:
    """Counts the cells of a sheet, as rows times columns."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.row = self.rows = self.column = self.columns = self.elements = 0
        self.repeated = 1

    def read(self, stream: IO[bytes]) -> None:
        parser = expat.ParserCreate()
        parser.StartElementHandler = self.start
        parser.StartDoctypeDeclHandler = self.doctype
        parser.ParseFile(stream)

    def doctype(self, *_: object) -> None:
        raise FileFormatError("document type declarations (DTD, entities) are refused", path=self.file)

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        kind = tag.rpartition(":")[2]
        if kind == "c":  # .xlsx: r="B7"
            self.column = _column(attributes.get("r", "")) or self.column + 1
            self.filled(1)
        elif kind == "row":
            self.row, self.column = int(attributes.get("r", self.row + 1)), 0
        elif kind == "table-row":  # .ods
            self.row, self.column = self.row + self.repeated, 0
            self.repeated = int(attributes.get("table:number-rows-repeated", 1))
        elif kind in ("table-cell", "covered-table-cell"):
            self.column += int(attributes.get("table:number-columns-repeated", 1))
            if any(name.startswith("office:") for name in attributes):
                self.filled(self.repeated)
        elif kind == "p":  # text without a type
            self.filled(self.repeated)
        elif kind == "table":  # the next sheet
            self.row = self.rows = self.columns = 0
            self.repeated = 1
        self.elements += 1
        if self.elements > _MOST_ELEMENTS and self.file.suffix.lower() == ".ods":
            raise FileFormatError(f"must have at most {_MOST_ELEMENTS} elements; save it as .csv", path=self.file)

    def filled(self, rows: int) -> None:
        self.rows, self.columns = max(self.rows, self.row + rows - 1), max(self.columns, self.column)
        if self.rows * self.columns > _MOST_CELLS:
            text = f"a sheet must have at most {_MOST_CELLS} cells, got {self.rows} rows of {self.columns}"
            raise FileFormatError(f"{text}; save it as .csv", path=self.file)


def _column(reference: str) -> int:
    """Return the number of a column: 28 of ``AB7``; 0 without letters."""
    number = 0
    for letter in reference.upper():
        if not "A" <= letter <= "Z":
            break
        number = 26 * number + ord(letter) - ord("A") + 1
    return number


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
