"""Text files: lines, cells and numbers with path and line in errors; units, rates and names; trials of markers."""

from __future__ import annotations

import codecs
import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from ...checks import Array, positive
from ...errors import FileFormatError, ThunderError, nearest_hint
from ...files import as_file
from ...tabular.text import is_missing
from ..motion_set import MotionSet
from ..plausibility import check_plausible, listed, warn_about
from ..trial import ANGLES, LENGTHS, SI_UNITS, Trial, to_si
from .lost import without_lost

#: bytes of a file
LARGEST = 1 << 30


class TextFile:
    """A text file, and how its numbers are written.

    Parameters
    ----------
    path : path-like
        The file.
    encoding : str, optional
        By default UTF-8, or UTF-16 if a byte order mark says so.
    decimal : str
        ``"."`` or ``","``.
    missing : sequence of str, optional
        Cells that mean a gap, besides those of `is_missing`. None for loaders without these three arguments, which
        messages then do not propose.
    """

    def __init__(
        self, path: str | Path, encoding: str | None = None, decimal: str = ".", missing: Sequence[str] | None = None
    ) -> None:
        if decimal not in (".", ","):
            raise ThunderError(f"decimal must be '.' or ',', got {decimal!r}")
        if isinstance(missing, str):
            raise ThunderError(f"missing must be a sequence of texts, got {missing!r}")
        self.path, self.encoding, self.decimal = path, encoding, decimal
        self.missing, self.has_arguments = {*(missing or ())}, missing is not None

    @cached_property
    def lines(self) -> list[str]:
        """Lines, without empty ones at the end; `FileFormatError` if the file is empty, over 1 GiB, or not text."""
        data = as_file(self.path, most=LARGEST).read_bytes()
        utf16 = data[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
        encoding = self.encoding or ("utf-16" if utf16 else "utf-8-sig")
        wide = len(data) > 2 and not data[1:200:2].strip(b"\0")
        advice = f"pass encoding='{'utf-16-le' if wide else 'latin-1'}', or another one"
        try:
            text = data.decode(encoding)
        except LookupError:
            raise ThunderError(f"encoding must be one of Python, such as 'latin-1', got {encoding!r}") from None
        except UnicodeDecodeError as error:
            name = encoding.removesuffix("-sig").upper()
            self.refuse(f"expected {name} text, got byte 0x{data[error.start]:02x}", advice=advice)
        if "\0" in text:
            self.refuse("expected text, got a binary file", advice=advice if wide else "")
        lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        while lines and not lines[-1].strip():
            lines.pop()
        if not lines:
            self.refuse("file is empty")
        return lines

    def refuse(self, message: str, line: int | None = None, key: str = "", advice: str = "") -> NoReturn:
        """Raise with path and line, from 1; `advice` on `encoding`, `decimal` and `missing` if the loader has them."""
        advice = f"; {advice}" if advice and self.has_arguments else ""
        raise FileFormatError(message + advice, path=self.path, line=line, key=key or None)

    def warn(self, message: str) -> None:
        """Warn with the path."""
        warn_about(self.path, message)

    def number(self, cell: str, line: int, column: str, *, gaps: bool = False) -> float:
        """Return the number in a cell; with `gaps`, NaN for missing ones, and for nan however spelled."""
        if gaps and (cell in self.missing or is_missing(cell)):
            return math.nan
        text = cell if self.decimal == "." else cell.replace(".", "#").replace(",", ".")
        try:
            value = float(text) if "_" not in text else math.inf
        except ValueError:
            value = math.inf
        if not math.isfinite(value):
            advice = f"pass missing=[{cell!r}] if it marks a gap" if gaps and not re.search(r"\d", cell) else ""
            if self.decimal == "." and cell.count(",") == 1 and "." not in cell:
                advice = "pass decimal=','"
            self.refuse(f"expected a number, got {cell!r}", line, column, advice)
        return value

    def numbers(
        self, rows: Iterable[tuple[int, Sequence[str]]], columns: Sequence[str | None], complete: Collection[int] = ()
    ) -> Array:
        """Return the numbers (rows, columns) of lines of cells, each with its line number; NaN in gaps.

        `columns` are names, None for columns that are not read, which are NaN. Those in `complete` have no gaps.
        """
        read = [(k, column_name(k, name), k not in complete) for k, name in enumerate(columns) if name is not None]
        values = []
        for line, cells in rows:
            if len(cells) != len(columns):
                self.refuse(f"expected {len(columns)} cells, got {len(cells)}", line)
            row = [math.nan] * len(columns)
            for k, label, gaps in read:
                row[k] = self.number(cells[k], line, label, gaps=gaps)
            values.append(row)
        return np.array(values, dtype=np.float64).reshape(-1, len(columns))

    def check_increasing(self, t: Array, lines: Sequence[int], column: str, advice: str = "") -> None:
        """Raise unless times increase, with the line of the first one that does not."""
        back = np.diff(t) <= 0.0
        if back.any():
            k = int(np.argmax(back)) + 1
            self.refuse(f"times must increase, got {t[k]:.9g} after {t[k - 1]:.9g}", lines[k], column, advice)


def column_name(index: int, name: str) -> str:
    """Return what messages call column `index` (from 0)."""
    return f"column {index + 1}" + (f" ({name})" if name else "")


#: factor to SI and SI unit of every unit of a column
UNITS = {unit: (1.0, unit) for unit in SI_UNITS} | {"Nmm": (1e-3, "Nm")}
UNITS |= {name: (factor, "m") for name, factor in LENGTHS.items()}
UNITS |= {name: (factor, "rad") for name, factor in ANGLES.items()}


def is_number(cell: str) -> bool:
    """Return whether a cell holds a number, with a decimal point or comma."""
    try:
        return math.isfinite(float(cell.replace(",", ".")))
    except ValueError:
        return False


#: relative tolerance of times against a nominal rate, for clocks and printed digits
TOLERANCE = 0.01


def agrees(t: Array, rate: float) -> bool:
    """Return whether the mean or the median time step agrees with a nominal rate to 1 %.

    Dropped frames lengthen the mean step; few printed digits shift the median step.
    """
    steps = np.diff(t)
    return bool(min(abs(1.0 / (step * rate) - 1.0) for step in (steps.mean(), np.median(steps))) <= TOLERANCE)


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


def distinct(names: Sequence[str], path: str | Path, what: str = "markers") -> list[str]:
    """Return names that differ: equal ones are numbered, ``hand:1``, ``hand:2``, with a warning; `what` has them."""
    seen: Counter[str] = Counter()
    several = Counter(names)
    result = []
    for name in names:
        seen[name] += 1
        result.append(f"{name}:{seen[name]}" if several[name] > 1 else name)
    if twice := [name for name, times in several.items() if times > 1]:
        warn_about(path, f"several {what} are named {listed(twice)}; they are told apart as {twice[0]}:1, {twice[0]}:2")
    return result


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
            warn_about(path, f"{key}: unit {unit!r} of the file was replaced by {given!r}")
        return given
    if unit not in LENGTHS:
        what = f"{unit!r} in the file" if unit else "none in the file"
        raise FileFormatError(f"unit must be one of {', '.join(LENGTHS)}, got {what}; pass unit=", path=path, key=key)
    return unit


def agreed_rate(in_file: float, given: float | None, path: str | Path, key: str) -> float:
    """Return the rate of a file [Hz]: `given` if there is one, with a warning if the file differs by more than 1 %."""
    known = np.isfinite(in_file) and in_file > 0.0
    if given is not None:
        rate = positive(given, "rate", "Hz")
        if known and abs(rate / in_file - 1.0) > TOLERANCE:
            warn_about(path, f"{key}: rate {in_file:g} Hz of the file was replaced by {rate:g} Hz")
        return rate
    if not known:
        text = f"rate must be positive [Hz], got {in_file:g} in the file; pass rate="
        raise FileFormatError(text, path=path, key=key)
    return in_file


def marker_trials(
    t: Array,
    points: Array,
    names: Sequence[str],
    path: str | Path,
    *,
    which: Sequence[int] | None = None,
    turns: Mapping[int, Array] | None = None,
    arguments: Mapping[str, str] | None = None,
    **labels: Any,
) -> MotionSet:
    """Return one trial for each marker of `which`, by default of all, with its name, of points (T, markers, 3) [m].

    A point with a missing coordinate is all NaN, and so is a marker never measured; lost markers as `without_lost`.
    `turns` has quaternions (T, 4) of rigid bodies, scalar last. With `arguments`, `check_plausible` judges the trials.
    """
    which = range(len(names)) if which is None else which
    points = np.where(np.isnan(points).any(axis=2, keepdims=True), np.nan, points)
    points = without_lost(points, names, path, which)
    trials = []
    for k in which:
        named = labels | {"name": names[k]}
        if turns and k in turns:
            turn = np.where((turns[k] == 0.0).all(axis=1, keepdims=True), np.nan, turns[k])  # not measured
            trials.append(Trial.from_poses(t, points[:, k], quaternion=turn, scalar_first=False, **named))
        else:
            trials.append(Trial.from_positions(t, points[:, k], **named))
    if arguments is not None:
        check_plausible(trials, arguments)
    return MotionSet(trials)
