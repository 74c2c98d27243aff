"""Lines, cells and numbers of text files, with path and line in errors."""

from __future__ import annotations

import csv
import math
import warnings
from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np

from ...checks import Array, one_of
from ...errors import FileFormatError, ThunderError, nearest_hint, outer_level
from ...files import as_file
from ..motion_set import MotionSet
from ..plausibility import RecordingWarning, check_plausible
from ..trial import LENGTHS, Trial, to_si
from .lost import without_lost

#: cells that mean "not measured"
MISSING = ("", "nan", "NaN", "NA", "N/A", "NULL")
#: bytes of a file
LARGEST = 1 << 30


def read_lines(path: str | Path) -> list[str]:
    """Return the lines of a UTF-8 text file, without empty lines at its end.

    Raises
    ------
    FileFormatError
        If the file is empty, larger than 1 GiB, or not text.
    """
    file = as_file(path, most=LARGEST)
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


def check_decimal(decimal: object) -> None:
    """Raise unless the decimal mark is a point or a comma."""
    if decimal not in (".", ","):
        raise ThunderError(f"decimal must be '.' or ',', got {decimal!r}")


#: factors to seconds
_TIMES = {"s": 1.0, "ms": 1e-3, "us": 1e-6}


def time_factor(time_unit: object) -> float:
    """Return the factor from `time_unit` to seconds."""
    return _TIMES[one_of(time_unit, _TIMES, "time_unit")]


def guess_delimiter(line: str) -> str | None:
    """Return the delimiter of `line`: tab, semicolon or comma, in this order of preference, or None for blanks."""
    return next((mark for mark in "\t;," if mark in line), None)


def cells_of(line: str, delimiter: str | None) -> list[str]:
    """Return the stripped cells of a line; None splits at any run of blanks."""
    if delimiter is None:
        return line.split()
    cells = line.split(delimiter) if '"' not in line else next(csv.reader([line], delimiter=delimiter))
    return [cell.strip() for cell in cells]


def number(
    cell: str,
    *,
    path: str | Path,
    line: int,
    column: str,
    decimal: str | None = None,
    missing: Collection[str] = MISSING,
) -> float:
    """Return the number in a cell, NaN for the texts in `missing` (with `nan` in any case).

    `decimal` is the argument of the loader, which the error proposes; None for loaders without it.

    Raises
    ------
    FileFormatError
        With path, line and column, for any other text and infinities.
    """
    if cell in missing or (cell.lower() == "nan" and "nan" in missing):
        return math.nan
    text = cell if decimal != "," else cell.replace(".", "#").replace(decimal, ".")
    try:
        value = float(text) if "_" not in text else math.inf
    except ValueError:
        value = math.inf
    if not math.isfinite(value):
        hint = "; pass decimal=','" if decimal == "." and cell.count(",") == 1 and "." not in cell else ""
        raise FileFormatError(f"expected a number, got {cell!r}{hint}", path=path, line=line, key=column)
    return value


def column_name(index: int, header: list[str] | None) -> str:
    """Return the name of column `index` (from 0) in messages."""
    name = header[index] if header is not None and index < len(header) else ""
    return f"column {index + 1}" + (f" ({name})" if name else "")


#: relative tolerance of times against a nominal rate, for clocks and printed digits
TOLERANCE = 0.01


def positive_rate(rate: object, what: str = "rate") -> float:
    """Return `rate` [Hz] if it is a positive number."""
    value = float(rate) if isinstance(rate, (int, float, np.number)) and not isinstance(rate, bool) else np.nan
    if not (np.isfinite(value) and value > 0.0):
        raise FileFormatError(f"{what} must be positive [Hz], got {rate!r}")
    return value


def check_rate(t: Array, rate: float, path: object) -> None:
    """Raise unless the mean or the median time step agrees with a nominal rate to 1 %.

    Dropped frames lengthen the mean step; few printed digits shift the median step.
    """
    steps = np.diff(t)
    mean, median = 1.0 / float(steps.mean()), 1.0 / float(np.median(steps))
    if min(abs(mean / rate - 1.0), abs(median / rate - 1.0)) > TOLERANCE:
        raise FileFormatError(
            f"rate must agree with the times to {TOLERANCE:.0%}, got {rate:g} Hz, but mean and median steps mean "
            f"{mean:.6g} and {median:.6g} Hz",
            path=str(path),
        )


def rate_of(t: Array) -> float | None:
    """Return the rate [Hz] of times with steps equal to 1 %, otherwise None."""
    steps = np.diff(t)
    mean = float(steps.mean())
    return 1.0 / mean if float(np.abs(steps - mean).max()) <= TOLERANCE * mean else None


def chosen(markers: Sequence[str] | None, known: Sequence[str], path: str | Path, what: str = "marker") -> list[int]:
    """Return the indices of `markers` in `known`, each present exactly once; None selects all."""
    if markers is None:
        markers = known
    if isinstance(markers, str) or not markers:
        raise FileFormatError(f"{what}s must be a sequence of names, got {markers!r}", path=path)
    indices = []
    for marker in markers:
        if known.count(marker) != 1:
            count = "more than one" if marker in known else "no"
            hint = "" if marker in known else nearest_hint(marker, known)
            raise FileFormatError(f"{count} {what} {marker!r} among {', '.join(known)}{hint}", path=path)
        indices.append(known.index(marker))
    return indices


_SPELT = {"m": "meters", "cm": "centimeters", "mm": "millimeters"}


def agreed_unit(in_file: str, given: str | None, path: str | Path, key: str) -> str:
    """Return the unit of length of a file, m, cm or mm: `given` if there is one, with a warning if the file differs."""
    written = in_file.strip("\0 ").lower()
    # in full, in British English, in the plural, or cut off after four letters or more
    names = (unit for unit, name in _SPELT.items() if len(written) > 3 and name.startswith(written.replace("re", "er")))
    unit = next(names, written)
    if given is not None:
        to_si(given)
        if unit not in ("", given):
            _replaced(path, f"{key}: unit {unit!r}", repr(given))
        return given
    if unit not in LENGTHS:
        what = f"{unit!r} in the file" if unit else "none in the file"
        raise FileFormatError(f"unit must be one of {', '.join(LENGTHS)}, got {what}; pass unit=", path=path, key=key)
    return unit


def agreed_rate(in_file: float, given: float | None, path: str | Path, key: str) -> float:
    """Return the rate of a file [Hz]: `given` if there is one, with a warning if the file differs by more than 1 %."""
    known = np.isfinite(in_file) and in_file > 0.0
    if given is not None:
        rate = positive_rate(given)
        if known and abs(rate / in_file - 1.0) > TOLERANCE:
            _replaced(path, f"{key}: rate {in_file:g} Hz", f"{rate:g} Hz")
        return rate
    if not known:
        text = f"rate must be positive [Hz], got {in_file:g} in the file; pass rate="
        raise FileFormatError(text, path=path, key=key)
    return in_file


def _replaced(path: str | Path, what: str, by: str) -> None:
    warnings.warn(f"{path}: {what} of the file was replaced by {by}", RecordingWarning, stacklevel=outer_level())


def marker_trials(
    t: Array,
    points: Array,
    names: Sequence[str],
    rate: float,
    frame: str,
    subject: str,
    task: str,
    *,
    which: Sequence[int],
    path: str | Path,
) -> MotionSet:
    """Return one trial for each marker of `which`, with its name, of points (T, markers, 3) [m].

    A point with a missing coordinate is all NaN, and so is a marker never measured; lost markers as `without_lost`.
    """
    points = np.where(np.isnan(points).any(axis=2, keepdims=True), np.nan, points)
    points = without_lost(points, names, path, which)
    motions = MotionSet(
        Trial.from_positions(t, points[:, k], rate=rate, frame=frame, subject=subject, task=task, name=names[k])
        for k in which
    )
    check_plausible(motions, ())
    return motions
