"""Recordings in tables: CSV, TSV, columns separated by blanks, spreadsheets."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...checks import Array, whole
from ...errors import FileFormatError, ThunderError, nearest_hint
from .. import orientation
from ..motion_set import MotionSet
from ..plausibility import check_plausible
from ..trial import POSITION, ROTATION, Trial, to_si
from .lost import without_lost
from .spreadsheet import is_spreadsheet, read_sheet
from .text import (
    MISSING,
    cells_of,
    check_decimal,
    check_rate,
    column_name,
    guess_delimiter,
    number,
    positive_rate,
    rate_of,
    read_lines,
    time_factor,
)

Column = str | int


def load_table(
    path: str | Path,
    *,
    columns: Mapping[str, Column] | Sequence[str],
    unit: str | Mapping[str, str],
    time: Column | None = None,
    time_unit: str = "s",
    rate: float | None = None,
    quaternion: Sequence[Column] | None = None,
    scalar_first: bool | None = None,
    euler: Sequence[Column] | None = None,
    sequence: str | None = None,
    angle_unit: str = "rad",
    by: Column | None = None,
    sheet: str | None = None,
    delimiter: str | None = None,
    decimal: str = ".",
    skip: int = 0,
    header: bool = True,
    missing: Sequence[str] = MISSING,
    frame: str = "",
    subject: str = "",
    task: str = "",
    name: str | None = None,
) -> MotionSet:
    r"""Read a table with one sample per line.

    Parameters
    ----------
    path : path-like
        UTF-8 text, or a spreadsheet (``.xlsx``, ``.ods``; needs ``pip install "thunder_py[spreadsheets]"``).
    columns : mapping or sequence of str
        ``{dof: column}``, as ``{"x": "X", "y": "Y", "z": "Z"}``; a sequence names columns equal to the dofs. A column
        is its name in the header, or its number, counted from 1.
    unit : str or mapping
        m, cm, mm, rad, deg or 1 (none), for all columns or ``{dof: unit}``; required, because tables do not contain it.
    time : str or int, optional
        Column of times, in `time_unit` (s, ms, us). Without it the time of sample k is k / rate.
    rate : float, optional
        Nominal rate [Hz]; required without `time`. With `time`, both must agree to 1 %.
    quaternion, euler : sequence of columns, optional
        Four or three columns of the orientation, converted to the dofs rx, ry, rz; `scalar_first`, `sequence` and
        `angle_unit` as in `Trial.from_poses`.
    by : str or int, optional
        Column that separates trials: a new trial starts where its text changes. The names of trials end in that text.
    sheet : str, optional
        Sheet of a spreadsheet; required if it has several.
    delimiter : str, optional
        Default: the tab, semicolon or comma in the first line, otherwise blanks.
    decimal : str
        ``","`` for decimal commas.
    skip : int
        Lines before the header.
    header : bool
        True if a line of names precedes the numbers.
    missing : sequence of str
        Cells that mean a gap (NaN).
    frame, subject, task : str
        Labels of the trials.
    name : str, optional
        Default: the name of the file without extension.

    Returns
    -------
    MotionSet
        One trial, or one per group of `by`.

    Warns
    -----
    RecordingWarning
        For positions that jump to exactly 0, 0, 0, which become gaps, and positions held, see `load_c3d`; for units,
        times and gaps that can hardly be right, see `check_plausible`.

    Raises
    ------
    FileFormatError
        With path, line and column, for lines of different length, cells that are not numbers, missing times or times
        that do not increase, unknown columns, or a rate that contradicts the times.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from thunder_py.recordings.loaders import load_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "reach.csv"
    ...     _ = path.write_text("t;X;Y;Z\n0.00;0;0;500\n0.01;1;0;\n0.02;3;0;501\n")
    ...     (trial,) = load_table(path, time="t", columns={"x": "X", "y": "Y", "z": "Z"}, unit="mm", rate=100)
    >>> trial
    <Trial x y z: 3 samples at 100 Hz, 0.02 s, 1 gaps, name='reach'>
    """
    if time is None and rate is None:
        raise ThunderError("time (a column) or rate [Hz] must be given, got none")
    seconds = time_factor(time_unit)
    whole(skip, "skip", 0)
    if delimiter is not None and (not isinstance(delimiter, str) or len(delimiter) != 1):
        raise ThunderError(f"delimiter must be one character, got {delimiter!r}")
    if name is not None and not isinstance(name, str):
        raise ThunderError(f"name must be text, got {name!r}")
    check_decimal(decimal)
    file, gaps = Path(path), tuple(missing)
    if is_spreadsheet(file):
        table = _table(file, read_sheet(file, sheet), skip, header, None, gaps)
    elif sheet is not None:
        raise ThunderError(f"sheet must be None for a text file, got {sheet!r}")
    else:
        table = _read(file, skip, header, delimiter, decimal, gaps)
    dofs, factors = _wanted(columns, unit)
    times = None if time is None else (time, table.times(time) * seconds)
    x = np.column_stack([table.numbers(column) * factors[dof] for dof, column in dofs.items()])
    names, units = tuple(dofs), tuple(_si(dof, unit) for dof in dofs)
    vectors = _orientation(table, quaternion, scalar_first, euler, sequence, to_si(angle_unit, "angle", "angle_unit"))
    if vectors is not None:
        x, names, units = np.hstack([x, vectors]), names + ROTATION, units + ("rad",) * 3
    labels = {"frame": frame, "subject": subject, "task": task, "dofs": names, "units": units}
    title = Path(path).stem if name is None else name
    places = _places(names, units)
    trials = []
    for suffix, rows in table.groups(by):
        markers = [title + suffix + (f" ({stem.rstrip('_- ')})" if stem else "") for stem in places]
        if places:
            x[rows, list(places.values())] = without_lost(x[rows][:, list(places.values())], markers, path)
        trials.append(_trial(table, rows, times, x, rate, labels | {"name": title + suffix}))
    motions = MotionSet(trials)
    check_plausible(motions, ("unit", "time_unit", "angle_unit"))
    return motions


@dataclass(frozen=True)
class _Table:
    """Cells of a file, with lines of equal length."""

    path: Path
    header: list[str] | None
    cells: list[list[str]]
    first_line: int
    #: None where the loader takes no other mark, in spreadsheets and between commas
    decimal: str | None
    missing: tuple[str, ...]

    def index(self, column: Column) -> int:
        width = len(self.cells[0])
        if isinstance(column, int) and not isinstance(column, bool):
            if not 1 <= column <= width:
                raise FileFormatError(f"columns are numbered 1 to {width}, got {column}", path=self.path)
            return column - 1
        known, column = self.header or [], str(column)
        if known.count(column) != 1:
            what = "more than one column" if column in known else "no column"
            hint = nearest_hint(column, known) if column not in known else ""
            raise FileFormatError(
                f"{what} {column!r} among {', '.join(known) or 'columns without names'}{hint}",
                path=self.path,
                line=self.first_line - 1 if self.header is not None else None,
            )
        return known.index(column)

    def numbers(self, column: Column) -> Array:
        k = self.index(column)
        label = column_name(k, self.header)
        return np.array(
            [
                number(row[k], path=self.path, line=line, column=label, decimal=self.decimal, missing=self.missing)
                for line, row in enumerate(self.cells, self.first_line)
            ]
        )

    def times(self, column: Column) -> Array:
        t = self.numbers(column)
        if np.isnan(t).any():
            self._refuse(column, int(np.argmax(np.isnan(t))), "a time is missing")
        return t

    def check_increasing(self, t: Array, rows: slice, column: Column) -> None:
        back = np.diff(t) <= 0.0
        if back.any():
            k = int(np.argmax(back))
            text = self.cells[rows.start + k + 1][self.index(column)], self.cells[rows.start + k][self.index(column)]
            self._refuse(column, rows.start + k + 1, f"times must increase, got {text[0]} after {text[1]}")

    def groups(self, by: Column | None) -> list[tuple[str, slice]]:
        if by is None:
            return [("", slice(0, len(self.cells)))]
        texts = [row[self.index(by)] for row in self.cells]
        starts = [0, *(k for k in range(1, len(texts)) if texts[k] != texts[k - 1]), len(texts)]
        return [(f":{texts[a]}", slice(a, b)) for a, b in itertools.pairwise(starts)]

    def _refuse(self, column: Column, row: int, message: str) -> None:
        label = column_name(self.index(column), self.header)
        raise FileFormatError(message, path=self.path, line=self.first_line + row, key=label)


def _read(path: Path, skip: int, header: bool, delimiter: str | None, decimal: str, missing: tuple[str, ...]) -> _Table:
    lines = read_lines(path)
    mark = guess_delimiter(lines[skip]) if delimiter is None and len(lines) > skip else delimiter
    if mark == "," and decimal == ",":
        raise ThunderError("delimiter must not be the decimal comma; name the delimiter")
    return _table(
        path, [cells_of(line, mark) for line in lines], skip, header, None if mark == "," else decimal, missing
    )


def _table(
    path: Path, rows: list[list[str]], skip: int, header: bool, decimal: str | None, missing: tuple[str, ...]
) -> _Table:
    if len(rows) < skip + int(header) + 2:
        raise FileFormatError(
            f"expected {skip} lines to skip, {int(header)} of names and two of numbers or more, got {len(rows)} lines",
            path=path,
        )
    names = rows[skip] if header else None
    first = skip + int(header)
    cells = rows[first:]
    width = len(names) if names is not None else len(cells[0])
    for line, row in enumerate(cells, first + 1):
        if len(row) != width:
            raise FileFormatError(f"expected {width} cells, got {len(row)}", path=path, line=line)
    return _Table(path, names, cells, first + 1, decimal, missing)


def _wanted(
    columns: Mapping[str, Column] | Sequence[str], unit: str | Mapping[str, str]
) -> tuple[dict[str, Column], dict[str, float]]:
    """Return {dof: column} and {dof: factor to SI}."""
    if isinstance(columns, str) or not isinstance(columns, (Mapping, Sequence)) or not columns:
        raise ThunderError(f"columns must be {{dof: column}} or a sequence of names, got {columns!r}")
    dofs: dict[str, Column] = dict(columns) if isinstance(columns, Mapping) else {name: name for name in columns}
    if set(POSITION) <= set(dofs):  # in this order, whatever the order of the columns
        dofs = {dof: dofs[dof] for dof in (*POSITION, *(dof for dof in dofs if dof not in POSITION))}
    if not isinstance(unit, str) and not (isinstance(unit, Mapping) and set(unit) == set(dofs)):
        raise ThunderError(f"unit must name the unit of each of {', '.join(map(str, dofs))}, got {unit!r}")
    return dofs, {dof: to_si(_unit(dof, unit), "length" if dof in POSITION else "any") for dof in dofs}


def _unit(dof: str, unit: str | Mapping[str, str]) -> str:
    return unit if isinstance(unit, str) else unit[dof]


def _si(dof: str, unit: str | Mapping[str, str]) -> str:
    return {"rad": "rad", "deg": "rad", "1": "1"}.get(_unit(dof, unit), "m")


def _places(names: Sequence[str], units: Sequence[str]) -> dict[str, list[int]]:
    """Return the columns of each position: ``x, y, z``, or ``hand_x, hand_y, hand_z`` in meters, by what precedes."""
    known = {name.lower(): k for k, name in enumerate(names) if units[k] == "m"}
    stems = [name[:-1] for name in known if name.endswith("x")]
    return {stem: [known[stem + axis] for axis in "xyz"] for stem in stems if {stem + "y", stem + "z"} <= set(known)}


def _orientation(
    table: _Table,
    quaternion: Sequence[Column] | None,
    scalar_first: bool | None,
    euler: Sequence[Column] | None,
    sequence: str | None,
    factor: float,
) -> Array | None:
    if quaternion is not None and euler is not None:
        raise ThunderError("one of quaternion and euler must be given, got both")
    if quaternion is None and euler is None:
        return None
    for what, columns, count in (("quaternion", quaternion, 4), ("euler", euler, 3)):
        if columns is not None and (isinstance(columns, str) or len(columns) != count):
            raise ThunderError(f"{what} must name {count} columns, got {columns!r}")
    try:
        if quaternion is not None:
            values = np.column_stack([table.numbers(column) for column in quaternion])
            return orientation.from_quaternions(values, scalar_first=scalar_first)
        angles = np.column_stack([table.numbers(column) for column in euler or ()])
        return orientation.from_euler(angles * factor, sequence)
    except FileFormatError:
        raise
    except ThunderError as error:
        raise FileFormatError(str(error), path=table.path) from error


def _trial(
    table: _Table, rows: slice, times: tuple[Column, Array] | None, x: Array, rate: float | None, labels: dict[str, Any]
) -> Trial:
    nominal = None if rate is None else positive_rate(rate)
    count = rows.stop - rows.start
    if count < 2:
        line = table.first_line + rows.start
        raise FileFormatError("a trial must have two samples or more", path=table.path, line=line)
    if times is None:
        assert nominal is not None
        t = np.arange(count) / nominal
    else:
        t = times[1][rows]
        table.check_increasing(t, rows, times[0])
        if nominal is not None:
            check_rate(t, nominal, table.path)
    return Trial(t=t, x=x[rows], rate=nominal if nominal is not None else rate_of(t), **labels)
