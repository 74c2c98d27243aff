"""Logs in text tables."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, TextIO

import numpy as np

from ...checks import Array
from ...errors import FileFormatError

#: bytes from which the number of lines is estimated
_SAMPLE = 1 << 16
#: characters of a line
_LONGEST = 1 << 20


@dataclass(frozen=True)
class CSVReader:
    """Reader of a text table, whose first line names the columns; without it their names are their numbers from 0.

    Lines that begin with # are comments. Where numbers follow them, the last with as many names as there are numbers
    names the columns.
    """

    expected: ClassVar[str] = "a text table in UTF-8"
    path: Path

    @property
    def rows(self) -> int:
        """Estimate of the number of instants."""
        with open(self.path, "rb") as file:
            sample = file.read(_SAMPLE)
        return round(self.path.stat().st_size * sample.count(b"\n") / max(len(sample), 1))

    def names(self) -> list[str]:
        """Return the names of the columns."""
        with self._opened() as text:
            return self._header(text)[0]

    def parts(self, order: Sequence[int], size: int) -> Iterator[Array]:
        """Yield the numbers of columns, in parts of `size` rows."""
        with self._opened() as text:
            _, delimiter, line, first = self._header(text)
            rows = itertools.chain(first, text)
            while lines := list(itertools.islice(rows, size)):
                table = self._table(lines, delimiter, order, line)
                line += len(lines)
                if len(table):
                    yield table

    def line(self, row: int) -> int:
        """Return the line of a row of numbers, for an error."""
        with self._opened() as text:
            _, _, line, first = self._header(text)
            return _number_of_line(itertools.chain(first, text), line, row)

    @contextmanager
    def _opened(self) -> Iterator[Iterator[str]]:
        with open(self.path, encoding="utf-8-sig", newline=None) as file:
            yield self._lines(file)

    def _lines(self, file: TextIO) -> Iterator[str]:
        number = 0
        while text := file.readline(_LONGEST + 1):
            number += 1
            if len(text) > _LONGEST:
                raise FileFormatError(f"lines must have at most {_LONGEST} characters", path=self.path, line=number)
            yield text

    def _header(self, file: Iterator[str]) -> tuple[list[str], str | None, int, list[str]]:
        """Return the names of the columns, what separates them, the lines before, and a line of numbers among these."""
        commented: dict[int, tuple[list[str], str | None]] = {}
        for number, text in enumerate(file, 1):
            line = text.strip()
            if not line:
                continue
            comment = line.startswith("#")
            names, delimiter = _fields(line.lstrip("#").strip())
            if comment:
                commented[len(names)] = names, delimiter
            elif _is_number(names[0]):  # the names are in the comment before, if anywhere
                by_number = [str(k) for k in range(len(names))], delimiter
                return *commented.get(len(names), by_number), number - 1, [text]
            elif len(names) > 1:
                return names, delimiter, number, []
            else:
                break
        raise FileFormatError("the first line must name the columns, separated by commas", path=self.path)

    def _table(self, lines: list[str], delimiter: str | None, order: Sequence[int], before: int) -> Array:
        try:
            table = np.loadtxt(lines, delimiter=delimiter, usecols=order, ndmin=2, comments="#", quotechar='"')
        except (ValueError, IndexError) as error:
            for number, line in enumerate(lines, before + 1):
                self._check(line, delimiter, order, number)
            raise FileFormatError(str(error), path=self.path) from None
        if not np.isfinite(table).all():
            first = int(np.argmax(~np.isfinite(table).all(axis=1)))
            raise FileFormatError("values must be finite", path=self.path, line=_number_of_line(lines, before, first))
        return table

    def _check(self, line: str, delimiter: str | None, order: Sequence[int], number: int) -> None:
        """Raise where a line does not hold the numbers of these columns."""
        text = line.partition("#")[0].strip()
        fields = text.split(delimiter)
        if not text:
            return
        if len(fields) <= max(order):
            message = f"there must be {max(order) + 1} values, got {len(fields)}"
            raise FileFormatError(message, path=self.path, line=number)
        for k in order:
            try:
                float(_unquoted(fields[k]))
            except ValueError:
                raise FileFormatError(
                    f"values must be numbers, got {fields[k].strip()!r}", path=self.path, line=number
                ) from None


def _number_of_line(lines: Iterable[str], before: int, row: int) -> int:
    """Return the number of the line of a row of numbers; `before` lines come before these."""
    kept = (number for number, line in enumerate(lines, before + 1) if line.partition("#")[0].strip())
    return next(itertools.islice(kept, row, None))


def _fields(line: str) -> tuple[list[str], str | None]:
    """Return the fields of a line, and what separates them."""
    delimiter = next((mark for mark in (",", ";", "\t") if mark in line), None)
    return [_unquoted(field) for field in line.split(delimiter)], delimiter


def _unquoted(field: str) -> str:
    return field.strip().strip("\"'")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
