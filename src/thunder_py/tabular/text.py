"""Text tables: encodings, separators, decimal marks, headers and cells; their numbers are read in parts."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import itertools
import math
import re
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, ClassVar, NamedTuple

import numpy as np

from ..checks import Array
from ..errors import FileFormatError, ThunderWarning, outer_level

#: endings of text tables, also before .gz
ENDINGS = (".csv", ".txt", ".tsv", ".dat", ".log", ".asc", ".data", ".out")
#: cells that mean "not measured"
MISSING = ("", "nan", "NaN", "NA", "N/A", "n/a", "#N/A", "<NA>", "NULL", "null")
#: not a number as C and Microsoft's libraries print it
_NAN = re.compile(r"[-+]?(nan(\(\w*\))?|1\.#(IND|[QS]NAN)0*)", re.IGNORECASE)
_NUMBER = re.compile(r"[-+]?(\d+(\.\d*|,\d+)?|[.,]\d+)(e[-+]?\d+)?|[-+]?inf(inity)?", re.IGNORECASE)
_STAMP = re.compile(r"(\d{4}[-/]\d\d?[-/]\d\d?[T ])?(\d\d?):(\d\d):(\d\d([.,]\d+)?)(Z|[-+]\d\d:?\d\d)?")
#: bytes and lines by which a table is recognized, and characters of a line
_SAMPLE, _LINES, _LONGEST = 1 << 16, 400, 1 << 20
_COMMENTS = ("#", "%", "//")


def guess_delimiter(line: str) -> str | None:
    """Return the delimiter of `line`: tab, semicolon or comma, in this order of preference, or None for blanks.

    Examples
    --------
    >>> from thunder_py.tabular.text import guess_delimiter
    >>> guess_delimiter("1,5; 2,5")
    ';'
    """
    return next((mark for mark in "\t;," if mark in line), None)


def cells_of(line: str, delimiter: str | None) -> list[str]:
    """Return the stripped cells of a line; None splits at any run of blanks.

    Examples
    --------
    >>> from thunder_py.tabular.text import cells_of
    >>> cells_of('a, "b,c"', ",")
    ['a', 'b,c']
    """
    if delimiter is None:
        return [cell.strip("\"'") for cell in line.split()]
    if '"' not in line:
        return [cell.strip() for cell in line.split(delimiter)]
    return [cell.strip() for cell in next(csv.reader([line], delimiter=delimiter, skipinitialspace=True))]


def is_missing(cell: str) -> bool:
    """Return whether a cell is empty or means "not measured".

    Examples
    --------
    >>> from thunder_py.tabular.text import is_missing
    >>> is_missing("NaN"), is_missing("0")
    (True, False)
    """
    return cell in MISSING or _NAN.fullmatch(cell) is not None


class _Dialect(NamedTuple):
    """How a table is written: separator, decimal comma, names and kinds of columns, lines before the numbers."""

    delimiter: str | None
    comma: bool
    names: list[str]
    kinds: str
    start: int


@dataclass(frozen=True)
class TextTable:
    r"""A table of numbers in a text file, also compressed (``.gz``), whose dialect is recognized.

    Encodings are UTF-8, UTF-16 and Latin-1; separators are tabs, semicolons, commas, bars and blanks, with decimal
    points or commas. Lines before the numbers, and lines that begin with #, % or //, are comments; the last of those
    before with as many names as there are columns names these. Without names they are called by their numbers from 0.
    A line of units below the names is appended to them, as ``q1 [deg]``. Missing cells are NaN, dates become seconds.

    Attributes
    ----------
    path : Path
        The file.
    strict : bool
        Whether missing and infinite numbers, and a last line that is cut off, are refused.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from thunder_py.tabular.text import TextTable
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "log.csv").write_text("t;q1\n0,0;1,5\n0,1;2,5\n")
    ...     table = TextTable(Path(folder, "log.csv"))
    ...     table.names, [part.tolist() for part in table.parts([0, 1], 100)]
    (['t', 'q1'], [[[0.0, 1.5], [0.1, 2.5]]])
    """

    expected: ClassVar[str] = "a text table"
    path: Path
    strict: bool = False

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return self._dialect.names

    @property
    def texts(self) -> frozenset[int]:
        """Columns that hold no numbers."""
        return frozenset(k for k, kind in enumerate(self._dialect.kinds) if kind == "t")

    @property
    def rows(self) -> int:
        """Estimate of the number of rows."""
        with open(self.path, "rb") as raw, self._unpacked(raw) as file:
            lines = file.read(_SAMPLE).count(b"\n")
            read = raw.tell() if file is not raw or lines else 1
            return round(self.path.stat().st_size * lines / max(min(read, self.path.stat().st_size), 1))

    def parts(self, columns: Sequence[int], size: int) -> Iterator[Array]:
        """Yield the numbers of columns, in parts of `size` rows or less.

        Warns
        -----
        ThunderWarning
            If the last line is cut off, which is then left out.

        Raises
        ------
        FileFormatError
            With path and line, if a line has less columns, or something that is no number in one.
        """
        with self._lines() as lines:
            before, rest = self._dialect.start, itertools.islice(lines, self._dialect.start, None)
            ahead = list(itertools.islice(rest, size))
            while ahead:
                now, ahead = ahead, list(itertools.islice(rest, size))
                table = self._numbers(now, columns, before, last=not ahead)
                before += len(now)
                if len(table):
                    yield table

    def line(self, row: int) -> int:
        """Return the line of a row of numbers, for an error."""
        with self._lines() as lines:
            numbered = itertools.islice(enumerate(lines, 1), self._dialect.start, None)
            return next(itertools.islice((number for number, text in numbered if _content(text)), row, None))

    def _unpacked(self, raw: IO[bytes]) -> IO[bytes]:
        return gzip.open(raw) if self.path.suffix.lower() == ".gz" else raw  # type: ignore[return-value]

    @contextmanager
    def _lines(self) -> Iterator[Iterator[str]]:
        with open(self.path, "rb") as raw, self._unpacked(raw) as file:
            encoding = _encoding(file.read(_SAMPLE))
            file.seek(0)
            with io.TextIOWrapper(file, encoding, newline=None) as text:
                yield self._bounded(text)

    def _bounded(self, text: io.TextIOWrapper) -> Iterator[str]:
        number, rest = 0, ""
        while block := text.read(_LONGEST):
            *lines, rest = (rest + block).split("\n")
            for line in (*lines, rest):
                number += 1
                if len(line) > _LONGEST:
                    message = f"lines must have at most {_LONGEST} characters"
                    raise FileFormatError(message, path=self.path, line=number)
            number -= 1
            yield from (line + "\n" for line in lines)
        if rest:
            yield rest

    @cached_property
    def _dialect(self) -> _Dialect:
        with self._lines() as lines:
            sample = list(itertools.islice(lines, _LINES))
        contents = [(number, text) for number, line in enumerate(sample) if (text := _content(line))]
        if not contents:
            raise FileFormatError("there must be rows of numbers, got none", path=self.path)
        # the most frequent shape of the last lines is that of numbers, whatever precedes them
        shapes = Counter(_shape(text) for _, text in contents[-9:])
        (delimiter, count, kinds), _ = max(shapes.items(), key=lambda item: (item[1], "n" in item[0][2]))
        if "n" not in kinds and "s" not in kinds:
            return _Dialect(delimiter, False, cells_of(contents[-1][1], delimiter), "n" * count, contents[-1][0] + 1)
        start, first = next(
            (number, cells)
            for number, text in contents
            if len(cells := cells_of(text, delimiter)) == count and _fits(cells, kinds)
        )
        before = [line.strip().lstrip("#%/").strip() for line in sample[:start] if line.strip()]
        names = _names(before, count - (not first[-1]), count, delimiter)
        if names is None and count > 2 and [cell or "0" for cell in first] in _numbered(count):
            names, start = first, start + 1  # the names of columns without names in a data frame
        rows = [cells_of(text, delimiter) for number, text in contents if number >= start]
        comma = any("," in cell for cells in rows for cell in cells if _NUMBER.fullmatch(cell))
        return _Dialect(delimiter, comma, names or [str(k) for k in range(count)], kinds, start)

    def _numbers(self, lines: list[str], columns: Sequence[int], before: int, last: bool) -> Array:
        delimiter, comma, _, kinds, _ = self._dialect
        stamps = any(kinds[k] == "s" for k in columns)
        if not (comma and delimiter == ",") and not stamps and any(map(_content, lines)):
            plain = [line for line in lines if not line.startswith(_COMMENTS)]
            plain = [line.replace(",", ".") for line in plain] if comma else plain
            with warnings.catch_warnings():
                warnings.simplefilter("error")  # of a table without rows
                try:
                    table = np.loadtxt(plain, delimiter=delimiter, usecols=columns, ndmin=2, quotechar='"')
                    if not self.strict or np.isfinite(table).all():
                        return table
                except (ValueError, IndexError, UserWarning):
                    pass
        rows, kept = [], [(number, text) for number, line in enumerate(lines, before + 1) if (text := _content(line))]
        for number, text in kept:
            cells = cells_of(text, delimiter)
            cut = last and number == kept[-1][0] and not (lines[-1].endswith("\n") and len(cells) > max(columns))
            try:
                if len(cells) <= max(columns):
                    message = f"there must be {max(columns) + 1} values, got {len(cells)}"
                    raise FileFormatError(message, path=self.path, line=number)
                rows.append([self._number(cells[k], number, kinds[k] == "s") for k in columns])
            except FileFormatError:
                if self.strict or not (cut and rows):
                    raise
                message = f"{self.path}:{number}: the last line is cut off, and left out"
                warnings.warn(message, ThunderWarning, stacklevel=outer_level())
        return np.array(rows, dtype=np.float64).reshape(-1, len(columns))

    def _number(self, cell: str, line: int, stamp: bool) -> float:
        if is_missing(cell) and not self.strict:
            return math.nan
        try:
            number = _seconds(cell) if stamp else float(cell.replace(",", ".") if self._dialect.comma else cell)
        except ValueError:
            raise FileFormatError(f"values must be numbers, got {cell!r:.80}", path=self.path, line=line) from None
        if self.strict and not math.isfinite(number):
            raise FileFormatError("values must be finite", path=self.path, line=line)
        return number


def _encoding(data: bytes) -> str:
    """Return the encoding of the beginning of a text."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if data[1:200:2] and not data[1:200:2].strip(b"\0") and data[:200:2].strip(b"\0"):
        return "utf-16-le"
    try:
        codecs.getincrementaldecoder("utf-8")().decode(data)
    except UnicodeDecodeError:
        return "latin-1"
    return "utf-8-sig"


def _content(line: str) -> str:
    """Return what a line holds besides comments."""
    return "" if line.startswith(_COMMENTS) else line.partition("#")[0].strip()


def _kind(cell: str) -> str:
    """Return n for a number, s for a date or a time of day, m for a missing number, and t for a text."""
    if _NUMBER.fullmatch(cell):
        return "n"
    return "m" if is_missing(cell) else "s" if _STAMP.fullmatch(cell) else "t"


def _shape(text: str) -> tuple[str | None, int, str]:
    """Return the separator of a line that makes most of it numbers, with the number of cells and their kinds."""
    found = []
    for mark in ("\t", ";", ",", "|", None):
        kinds = "".join(map(_kind, cells_of(text, mark)))
        found.append((1.0 - kinds.count("t") / max(len(kinds), 1), len(kinds), kinds.replace("m", "n"), mark))
    share, count, kinds, mark = max(found, key=lambda each: each[:2])
    return (mark, count, kinds) if share > 0.0 else (guess_delimiter(text), len(kinds), kinds)


def _fits(cells: Sequence[str], kinds: str) -> bool:
    """Return whether cells are numbers and dates where they should be."""
    found = [_kind(cell) for cell in cells]
    return any(one in "ns" for one in found) and all(
        kind == "t" or one in (kind, "m") for one, kind in zip(found, kinds, strict=True)
    )


def _numbered(count: int) -> list[list[str]]:
    """Return the names of columns that have none in a data frame, without and with that of its index."""
    return [[str(k) for k in range(count)], ["0", *(str(k) for k in range(count - 1))]]


def _names(before: Sequence[str], least: int, count: int, delimiter: str | None) -> list[str] | None:
    """Return the names in lines before the numbers: the last with one for each column, and units below them."""
    found: list[list[str]] = []
    for line in before[::-1]:
        for mark in (delimiter, guess_delimiter(line), None):
            cells = cells_of(line, mark)
            while len(cells) > count and not cells[-1]:
                cells.pop()
            cells += [""] * (len(cells) == least) * (count - least)  # a separator ends the lines of numbers
            if len(cells) == count and any(re.search(r"[^\W\d]", cell) for cell in cells):
                found.append(cells)
                break
    if not found:
        return None
    units = [cell.strip("[]()") for cell in found[0]]
    if len(found) > 1 and count > 2 and len(set(units)) < count and len(set(found[1])) == count:
        return [f"{name} [{unit}]" if unit.strip("-") else name for name, unit in zip(found[1], units, strict=True)]
    return found[0]


def _seconds(stamp: str) -> float:
    """Return a date since 1970, or a time of day, in seconds."""
    parts = _STAMP.fullmatch(stamp)
    if parts is None:
        raise ValueError
    date, hours, minutes, seconds = parts[1], int(parts[2]), int(parts[3]), float(parts[4].replace(",", "."))
    year, month, day = map(int, re.split("[-/]", date.rstrip("T "))) if date else (1970, 1, 1)
    days = np.datetime64(f"{year:04}-{month:02}-{day:02}").astype("datetime64[D]").astype(int)
    return float(86400 * days + 3600 * hours + 60 * minutes) + seconds
