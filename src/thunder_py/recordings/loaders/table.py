"""Recordings in tables: CSV, TSV, columns separated by blanks, spreadsheets."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from ...checks import one_of, whole
from ...errors import ThunderError, nearest_hint
from .. import orientation
from ..motion_set import MotionSet
from ..plausibility import check_plausible
from ..trial import ANGLES, LENGTHS, POSITION, ROTATION, Trial, to_si
from .lost import without_lost
from .spreadsheet import is_spreadsheet, read_sheet
from .text import (
    TOLERANCE,
    UNITS,
    TextFile,
    agrees,
    cells_of,
    column_name,
    guess_delimiter,
    is_number,
    positive_rate,
    rate_of,
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
    encoding: str | None = None,
    skip: int = 0,
    header: bool = True,
    missing: Sequence[str] = (),
    frame: str = "",
    subject: str = "",
    task: str = "",
    name: str | None = None,
) -> MotionSet:
    r"""Read a table with one sample per line.

    Parameters
    ----------
    path : path-like
        Text, or a spreadsheet (``.xlsx``, ``.ods``; needs ``pip install "thunder_py[spreadsheets]"``).
    columns : mapping or sequence of str
        ``{dof: column}``, as ``{"x": "X", "y": "Y", "z": "Z"}``; a sequence names columns equal to the dofs. A column
        is its name in the header, or its number, counted from 1.
    unit : str or mapping
        m, cm, mm, rad, deg, N, Nm, W or 1 (none), for all columns or ``{dof: unit}``; required, because tables do not
        contain it.
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
    encoding : str, optional
        Such as ``"latin-1"``. By default UTF-8, or UTF-16 with a byte order mark.
    skip : int
        Lines before the header.
    header : bool
        True if a line of names precedes the numbers.
    missing : sequence of str
        Cells that mean a gap (NaN), besides empty ones, nan, NA, N/A and NULL.
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
    seconds, nominal = time_factor(time_unit), None if rate is None else positive_rate(rate)
    whole(skip, "skip", 0)
    if delimiter is not None and (not isinstance(delimiter, str) or len(delimiter) != 1):
        raise ThunderError(f"delimiter must be one character, got {delimiter!r}")
    if name is not None and not isinstance(name, str):
        raise ThunderError(f"name must be text, got {name!r}")
    file = TextFile(path, encoding, decimal, missing)
    cells, first = _cells(file, sheet, skip, header, delimiter), skip + int(header) + 1  # number of the first line
    names = cells[skip] if header else [""] * len(cells[skip])
    rows = cells[first - 1 :]
    find = partial(_index, names, file, skip + 1 if header else None)
    dofs, spelt = _wanted(columns, unit)
    for dof, each in spelt.items():
        one_of(each, LENGTHS if dof in POSITION else UNITS, "unit")
    factors, units = [UNITS[spelt[dof]][0] for dof in dofs], [UNITS[spelt[dof]][1] for dof in dofs]
    at = [find(column) for column in dofs.values()]
    turns = [find(column) for column in _turns(quaternion, euler)]
    clock = [] if time is None else [find(time)]
    read = {*at, *turns, *clock}
    labels = [label if k in read else None for k, label in enumerate(names)]
    values = file.numbers(enumerate(rows, first), labels, clock)
    x = values[:, at] * factors
    names_of_x, turned = list(dofs), to_si(angle_unit, "angle", "angle_unit") * values[:, turns]
    if turns:
        try:
            if euler is not None:
                vectors = orientation.from_euler(turned, sequence)
            else:
                vectors = orientation.from_quaternions(values[:, turns], scalar_first=scalar_first)
        except ThunderError as error:
            file.refuse(str(error))
        x, names_of_x, units = np.hstack([x, vectors]), [*dofs, *ROTATION], [*units, *["rad"] * 3]
    title = Path(path).stem if name is None else name
    places = _places(names_of_x, units)
    flat = list(places.values())
    trials = []
    for suffix, part in _groups(None if by is None else [row[find(by)] for row in rows], len(rows)):
        lines = range(first, first + len(rows))[part]
        if len(lines) < 2:
            file.refuse("a trial must have two samples or more", lines[0])
        t = np.arange(len(lines)) / (nominal or 1.0)
        for column in clock:
            t = seconds * values[part, column]
            file.check_increasing(t, lines, column_name(column, names[column]))
            if nominal is not None and not agrees(t, nominal):
                steps = f"{1.0 / np.diff(t).mean():.6g} and {1.0 / np.median(np.diff(t)):.6g} Hz"
                text = (
                    f"rate must agree with the times to {TOLERANCE:.0%}, got {nominal:g} Hz, but mean and median steps"
                )
                file.refuse(f"{text} mean {steps}")
        if places:
            markers = [title + suffix + (f" ({stem.rstrip('_- ')})" if stem else "") for stem in places]
            x[part, flat] = without_lost(x[part][:, flat], markers, path)
        told = {"frame": frame, "subject": subject, "task": task, "name": title + suffix}
        trials.append(Trial(t, x[part], tuple(names_of_x), tuple(units), rate=nominal or rate_of(t), **told))
    motions = MotionSet(trials)
    one = unit if isinstance(unit, str) else ""
    known = {"unit": one if one in LENGTHS else "", "angle_unit": one if one in ANGLES else "", "time_unit": time_unit}
    check_plausible(motions, known if clock else known | {"rate": ""})
    return motions


def _cells(file: TextFile, sheet: str | None, skip: int, header: bool, delimiter: str | None) -> list[list[str]]:
    """Return the cells of all lines; lines below the skipped ones have equal numbers of cells."""
    if is_spreadsheet(Path(file.path)):
        rows = read_sheet(Path(file.path), sheet)
    elif sheet is not None:
        raise ThunderError(f"sheet must be None for a text file, got {sheet!r}")
    else:
        mark = delimiter or guess_delimiter(file.lines[min(skip, len(file.lines) - 1)])
        if mark == "," and file.decimal == "," and '"' not in file.lines[-1]:
            raise ThunderError("delimiter must not be the decimal comma; name the delimiter")
        rows = [cells_of(line, mark) for line in file.lines]
    if len(rows) < skip + int(header) + 2:
        text = f"expected {skip} lines to skip, {int(header)} of names and two of numbers or more"
        file.refuse(f"{text}, got {len(rows)} lines")
    wrong = (k for k in range(skip, len(rows)) if len(rows[k]) != len(rows[skip]))
    for k in wrong:
        if not is_spreadsheet(Path(file.path)):
            rows = [cells_of(line, delimiter or guess_delimiter(file.lines[-1])) for line in file.lines]
        numeric = [len(row) == len(rows[-1]) and any(map(is_number, row)) for row in rows]
        start = len(rows) - numeric[::-1].index(False) - int(header)  # of the equal lines at the end
        advice = f"pass skip={start}, if the table begins in line {start + 1}" if skip < start <= len(rows) - 3 else ""
        file.refuse(f"expected {len(rows[skip])} cells, got {len(rows[k])}", k + 1, advice=advice)
    return rows


def _index(names: Sequence[str], file: TextFile, line: int | None, column: Column) -> int:
    """Return the index of a column, given by its name in the header in `line`, or its number from 1."""
    if isinstance(column, int) and not isinstance(column, bool):
        if not 1 <= column <= len(names):
            file.refuse(f"columns are numbered 1 to {len(names)}, got {column}")
        return column - 1
    if line is None or names.count(str(column)) != 1:
        what = "more than one column" if column in names else "no column"
        hint = "" if column in names else nearest_hint(str(column), names)
        known = ", ".join(names) if line else "columns without names"
        file.refuse(f"{what} {column!r} among {known}{hint}", line)
    return names.index(str(column))


def _groups(texts: Sequence[str] | None, count: int) -> Iterator[tuple[str, slice]]:
    """Yield the rows of each trial and the ending of its name: it ends where the text changes."""
    if texts is None:
        yield "", slice(0, count)
    else:
        starts = [k for k in range(count) if k == 0 or texts[k] != texts[k - 1]]
        yield from ((f":{texts[a]}", slice(a, b)) for a, b in itertools.pairwise([*starts, count]))


def _wanted(
    columns: Mapping[str, Column] | Sequence[str], unit: str | Mapping[str, str]
) -> tuple[dict[str, Column], dict[str, str]]:
    """Return {dof: column} and {dof: unit}."""
    if isinstance(columns, str) or not isinstance(columns, (Mapping, Sequence)) or not columns:
        raise ThunderError(f"columns must be {{dof: column}} or a sequence of names, got {columns!r}")
    dofs: dict[str, Column] = dict(columns) if isinstance(columns, Mapping) else {name: name for name in columns}
    if set(POSITION) <= set(dofs):  # in this order, whatever the order of the columns
        dofs = {dof: dofs[dof] for dof in (*POSITION, *(dof for dof in dofs if dof not in POSITION))}
    if isinstance(unit, str):
        return dofs, dict.fromkeys(dofs, unit)
    if not (isinstance(unit, Mapping) and set(unit) == set(dofs)):
        raise ThunderError(f"unit must name the unit of each of {', '.join(map(str, dofs))}, got {unit!r}")
    return dofs, dict(unit)


def _places(names: Sequence[str], units: Sequence[str]) -> dict[str, list[int]]:
    """Return the columns of each position: ``x, y, z``, or ``hand_x, hand_y, hand_z`` in meters, by what precedes."""
    known = {name.lower(): k for k, name in enumerate(names) if units[k] == "m"}
    stems = [name[:-1] for name in known if name.endswith("x")]
    return {stem: [known[stem + axis] for axis in "xyz"] for stem in stems if {stem + "y", stem + "z"} <= set(known)}


def _turns(quaternion: Sequence[Column] | None, euler: Sequence[Column] | None) -> Sequence[Column]:
    """Return the columns of the orientation: four of quaternions, three of angles, or none."""
    if quaternion is not None and euler is not None:
        raise ThunderError("one of quaternion and euler must be given, got both")
    for what, columns, count in (("quaternion", quaternion, 4), ("euler", euler, 3)):
        if columns is not None and (isinstance(columns, str) or len(columns) != count):
            raise ThunderError(f"{what} must name {count} columns, got {columns!r}")
    return list(quaternion or euler or ())
