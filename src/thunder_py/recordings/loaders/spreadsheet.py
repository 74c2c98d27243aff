"""Cells of spreadsheets, as texts."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

from ...errors import FileFormatError, ThunderError, UnknownNameError, nearest_hint
from ...files import as_file
from ...optional import require

#: bytes of a file and of its content after decompression, and cells of a sheet
_LARGEST, _MOST_BYTES, _MOST_CELLS = 1 << 28, 1 << 28, 5_000_000
#: namespaces of .ods files
_TABLE, _OFFICE, _TEXT = (
    f"{{urn:oasis:names:tc:opendocument:xmlns:{name}:1.0}}" for name in ("table", "office", "text")
)


def is_spreadsheet(path: Path) -> bool:
    """Return whether the suffix is that of a spreadsheet."""
    return path.suffix.lower() in (".xlsx", ".xlsm", ".ods")


def read_sheet(path: Path, sheet: str | None = None) -> list[list[str]]:
    """Return the rows of a sheet as texts; empty cells are empty texts.

    Raises
    ------
    MissingExtraError
        Without the package that reads .xlsx.
    UnknownNameError
        If there is no such sheet.
    FileFormatError
        If the file is not a spreadsheet, or has several sheets and none was named.
    """
    file, read = as_file(path, most=_LARGEST), _ods if path.suffix.lower() == ".ods" else _xlsx
    rows: list[list[str]] = []
    blank = width = 0
    try:
        for count, cells in read(file, sheet):
            while cells and not cells[-1]:
                cells.pop()
            if not cells:
                blank += count
                continue
            width = max(width, len(cells))
            if (height := len(rows) + blank + count) * width > _MOST_CELLS:
                text = f"a sheet must have at most {_MOST_CELLS} cells, got {height} rows of {width}"
                raise FileFormatError(f"{text}; save it as .csv", path=file)
            rows += [*([[]] * blank), *([cells] * count)]
            blank = 0
    except (ThunderError, ImportError):
        raise
    except Exception as error:  # of zip files, XML and the package
        raise FileFormatError(f"not a spreadsheet of the format {path.suffix}: {error}", path=path) from error
    return [cells + [""] * (width - len(cells)) for cells in rows]


def _parts(file: Path, prefix: str) -> Iterator[bytes]:
    """Yield the parts of a file whose names begin so; those that expand to any size are refused."""
    with zipfile.ZipFile(file) as archive:
        if (size := sum(part.file_size for part in archive.infolist())) > _MOST_BYTES:
            raise FileFormatError(f"must hold at most {_MOST_BYTES} bytes without compression, got {size}", path=file)
        for name in archive.namelist():
            if name.startswith(prefix):
                if b"<!DOCTYPE" in (data := archive.read(name)):
                    raise FileFormatError("document type declarations (DTD, entities) are refused", path=file)
                yield data


def _xlsx(file: Path, sheet: str | None) -> Iterator[tuple[int, list[str]]]:
    """Yield rows, each once."""
    list(_parts(file, "xl/worksheets/"))
    book = require("openpyxl", "spreadsheets").load_workbook(file, read_only=True, data_only=True)
    try:
        for row in book[_chosen(book.sheetnames, sheet, file)].iter_rows(values_only=True):
            yield 1, ["" if cell is None else str(cell).strip() for cell in row]
    finally:
        book.close()


def _ods(file: Path, sheet: str | None) -> Iterator[tuple[int, list[str]]]:
    """Yield how often a row is repeated, and the row."""
    (content,) = _parts(file, "content.xml")
    tables = {
        str(table.get(f"{_TABLE}name")): table for table in ElementTree.fromstring(content).iter(f"{_TABLE}table")
    }
    for row in tables[_chosen(list(tables), sheet, file)].iter(f"{_TABLE}table-row"):
        cells: list[str] = []
        blank = 0
        for cell in row:
            count = int(cell.get(f"{_TABLE}number-columns-repeated", 1))
            text = "\n".join("".join(part.itertext()) for part in cell.iter(f"{_TEXT}p")).strip()
            text = cell.get(f"{_OFFICE}value", text)
            if not text:
                blank += count
            elif (columns := len(cells) + blank + count) > _MOST_CELLS:
                raise FileFormatError(
                    f"a sheet must have at most {_MOST_CELLS} cells, got {columns} columns", path=file
                )
            else:
                cells += [""] * blank + [text] * count
                blank = 0
        yield int(row.get(f"{_TABLE}number-rows-repeated", 1)), cells


def _chosen(names: list[str], sheet: str | None, path: Path) -> str:
    if sheet is None:
        if len(names) != 1:
            raise FileFormatError(f"sheet must be one of {', '.join(names)}, got none", path=path)
        return names[0]
    if sheet not in names:
        raise UnknownNameError(f"no sheet {sheet!r} among {', '.join(names)} in {path}{nearest_hint(sheet, names)}")
    return sheet
