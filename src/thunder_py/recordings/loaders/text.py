"""Lines, cells and numbers of text files, with their places for messages."""

from __future__ import annotations

import csv
import math
from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np

from ...checks import Array
from ...errors import FileFormatError, nearest_hint
from ...files import as_file
from ..motion_set import MotionSet
from ..trial import LENGTHS, Trial

__all__ = [
    "MISSING",
    "agreed_rate",
    "agreed_unit",
    "cells_of",
    "check_rate",
    "chosen",
    "column_name",
    "guess_delimiter",
    "marker_trials",
    "number",
    "positive_rate",
    "rate_of",
    "read_lines",
]

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


#: how far a time column may be from a nominal rate, relative; clocks and printed digits are not exact
TOLERANCE = 0.01


def positive_rate(rate: object, what: str = "rate") -> float:
    """Return `rate` [Hz] if it is a positive number."""
    value = float(rate) if isinstance(rate, (int, float, np.number)) and not isinstance(rate, bool) else np.nan
    if not (np.isfinite(value) and value > 0.0):
        raise FileFormatError(f"{what} must be a positive number [Hz], got {rate!r}")
    return value


def check_rate(t: Array, rate: float, path: object) -> None:
    """Raise unless the times fit a nominal rate to 1 %, by their mean step or by their median step.

    One of the two is enough: dropped frames lengthen the mean step, and few printed digits shift the median one.
    """
    steps = np.diff(t)
    mean, median = 1.0 / float(steps.mean()), 1.0 / float(np.median(steps))
    if min(abs(mean / rate - 1.0), abs(median / rate - 1.0)) > TOLERANCE:
        raise FileFormatError(
            f"rate must fit the times to {TOLERANCE:.0%}, got {rate:g} Hz where mean and median steps mean "
            f"{mean:.6g} and {median:.6g} Hz",
            path=str(path),
        )


def rate_of(t: Array) -> float | None:
    """Return the rate [Hz] of times whose steps are all equal to 1 %, otherwise None."""
    steps = np.diff(t)
    mean = float(steps.mean())
    return 1.0 / mean if float(np.abs(steps - mean).max()) <= TOLERANCE * mean else None


def chosen(markers: Sequence[str] | None, known: Sequence[str], path: str | Path, what: str = "marker") -> list[int]:
    """Return the places of `markers` among `known`, which must be there once each; None chooses all."""
    if markers is None:
        markers = known
    if isinstance(markers, str) or not markers:
        raise FileFormatError(f"{what}s must be a sequence of names, got {markers!r}", path=path)
    places = []
    for marker in markers:
        if known.count(marker) != 1:
            count = "more than one" if marker in known else "no"
            hint = "" if marker in known else nearest_hint(marker, known)
            raise FileFormatError(f"{count} {what} {marker!r} among {', '.join(known)}{hint}", path=path)
        places.append(known.index(marker))
    return places


def agreed_unit(in_file: str, given: str | None, path: str | Path, key: str) -> str:
    """Return the unit of length of a file, which must be m, cm or mm and equal to `given`, if that is given.

    `given` stands in where the file names none.
    """
    unit = in_file.strip("\0 ").lower()
    if not unit and given is not None:
        unit = given
    if unit not in LENGTHS:
        what = "the file names none; unit= does" if not unit else f"got {unit!r}"
        raise FileFormatError(f"unit must be one of {', '.join(LENGTHS)}, {what}", path=path, key=key)
    if given is not None and given != unit:
        raise FileFormatError(f"unit={given!r} was asked for, the file is in {unit!r}", path=path, key=key)
    return unit


def agreed_rate(in_file: float, given: float | None, path: str | Path, key: str) -> float:
    """Return the nominal rate [Hz]: `given` if it agrees with the file's to 1 %, otherwise the file's."""
    if not (np.isfinite(in_file) and in_file > 0.0):
        raise FileFormatError(f"rate must be positive [Hz], got {in_file:g}", path=path, key=key)
    if given is None:
        return in_file
    rate = positive_rate(given)
    if abs(rate / in_file - 1.0) > TOLERANCE:
        raise FileFormatError(f"rate={rate:g} was asked for, the file has {in_file:g} Hz", path=path, key=key)
    return rate


def marker_trials(
    t: Array, points: Array, names: Sequence[str], rate: float, frame: str, subject: str, task: str
) -> MotionSet:
    """Return one trial for each marker, named like it, of points (T, markers, 3) [m].

    A coordinate that is missing makes the point missing: half a point is none. A marker never seen is all NaN.
    """
    points = np.where(np.isnan(points).any(axis=2, keepdims=True), np.nan, points)
    return MotionSet(
        Trial.from_positions(t, points[:, k], rate=rate, frame=frame, subject=subject, task=task, name=name)
        for k, name in enumerate(names)
    )
