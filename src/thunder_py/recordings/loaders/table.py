"""Recordings in tables: CSV, TSV, columns separated by blanks, spreadsheets."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from ...checks import one_of, positive, whole
from ...errors import ThunderError
from ...tabular.text import cells_of, guess_delimiter
from .. import orientation
from ..motion_set import MotionSet
from ..plausibility import check_plausible
from ..trial import ANGLES, LENGTHS, POSITION, ROTATION, Trial, to_si
from . import text
from .lost import without_lost
from .spreadsheet import is_spreadsheet, read_sheet
from .text import UNITS, TextFile

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
        Text, or a spreadsheet (``.ods``; ``.xlsx`` needs ``pip install "thunder_py[spreadsheets]"``).
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
    seconds, nominal = to_si(time_unit, "time", "time_unit"), None if rate is None else positive(rate, "rate", "Hz")
    whole(skip, "skip", 0)
    if delimiter is not None and (not isinstance(delimiter, str) or len(delimiter) != 1):
        raise ThunderError(f"delimiter must be one character, got {delimiter!r}")
    if name is not None and not isinstance(name, str):
        raise ThunderError(f"name must be text, got {name!r}")
    file = TextFile(path, encoding, decimal, missing)
    cells, first = _cells(file, sheet, skip, header, delimiter), skip + int(header) + 1  # number of the first line
    names, rows = cells[skip] if header else [""] * len(cells[skip]), cells[first - 1 :]
    if header and all(map(text.is_number, names)):
        file.warn(f"line {first - 1}, of numbers, was read as names; pass header=False if it has values")
    dofs, spelt = _wanted(columns, unit)
    factors, units = zip(*(UNITS[spelt[dof]] for dof in dofs), strict=True)
    at = [_index(column, names, file) for column in dofs.values()]
    turns = [_index(column, names, file) for column in _turns(quaternion, euler)]
    clock = [] if time is None else [_index(time, names, file)]
    groups = [""] * len(rows) if by is None else [f":{row[_index(by, names, file)]}" for row in rows]
    read = {*at, *turns, *clock}
    values = file.numbers(enumerate(rows, first), [name if k in read else None for k, name in enumerate(names)], clock)
    x, labels = values[:, at] * factors, tuple(dofs)
    if turns:
        try:
            if euler is None:
                vectors = orientation.from_quaternions(values[:, turns], scalar_first=scalar_first)
            else:
                vectors = orientation.from_euler(to_si(angle_unit, "angle", "angle_unit") * values[:, turns], sequence)
        except ThunderError as error:
            file.refuse(str(error))
        x, labels, units = np.hstack([x, vectors]), labels + ROTATION, (*units, "rad", "rad", "rad")
    title, places = Path(path).stem if name is None else name, _places(labels, units)
    starts = [k for k in range(len(rows)) if k == 0 or groups[k] != groups[k - 1]]
    trials = []
    for part in itertools.starmap(slice, itertools.pairwise([*starts, len(rows)])):
        lines, told = range(first, first + len(rows))[part], title + groups[part.start]
        if len(lines) < 2:
            file.refuse("a trial must have two samples or more", lines[0])
        t = np.arange(len(lines)) / (nominal or 1.0)
        for column in clock:
            t = seconds * values[part, column]
            file.check_increasing(t, lines, text.column_name(column, names[column]))
        if nominal is not None and not text.agrees(t, nominal):
            step = f"the median step of {np.median(np.diff(t)):.6g} s"
            file.refuse(f"rate must agree with the times to {text.TOLERANCE:.0%}, got {nominal:g} Hz for {step}")
        if places:
            markers = [told + (f" ({stem.rstrip('_- ')})" if stem else "") for stem in places]
            x[part, list(places.values())] = without_lost(x[part][:, list(places.values())], markers, path)
        kept = {"rate": nominal or text.rate_of(t), "frame": frame, "subject": subject, "task": task, "name": told}
        trials.append(Trial(t, x[part], labels, units, **kept))
    motions = MotionSet(trials)
    one = unit if isinstance(unit, str) else ""
    known = {"unit": one if one in LENGTHS else "", "angle_unit": one if one in ANGLES else "", "time_unit": time_unit}
    check_plausible(motions, known if clock else known | {"rate": ""})
    return motions


def _cells(file: TextFile, sheet: str | None, skip: int, header: bool, delimiter: str | None) -> list[list[str]]:
    """Return the cells of all lines; lines below the skipped ones have equal numbers of cells."""
    if is_spreadsheet(Path(file.path)):
        rows = last = read_sheet(Path(file.path), sheet)
    elif sheet is not None:
        raise ThunderError(f"sheet must be None for a text file, got {sheet!r}")
    else:
        marks = [delimiter or guess_delimiter(file.lines[k]) for k in (min(skip, len(file.lines) - 1), -1)]
        if marks[0] == "," and file.decimal == "," and '"' not in file.lines[-1]:
            raise ThunderError("delimiter must not be the decimal comma; name the delimiter")
        rows, last = ([cells_of(line, mark) for line in file.lines] for mark in marks)
    if len(rows) < skip + int(header) + 2:
        what = f"expected {skip} lines to skip, {int(header)} of names and two of numbers or more"
        file.refuse(f"{what}, got {len(rows)} lines")
    for k in range(skip, len(rows)):
        if len(rows[k]) != len(rows[skip]):
            numeric = [False, *(len(row) == len(last[-1]) and any(map(text.is_number, row)) for row in last)]
            start = len(rows) - numeric[::-1].index(False) - int(header)  # of the equal lines at the end
            advice = f"pass skip={start}, if the table begins in line {start + 1}"
            advice = advice if skip < start <= len(rows) - 2 - int(header) else ""
            file.refuse(f"expected {len(rows[skip])} cells, got {len(rows[k])}", k + 1, advice=advice)
    return rows


def _index(column: Column, names: list[str], file: TextFile) -> int:
    """Return the index of a column, given by its name in the header, or its number from 1."""
    if not isinstance(column, int) or isinstance(column, bool):
        return text.chosen([str(column)], names, file.path, "column")[0]
    if not 1 <= column <= len(names):
        file.refuse(f"columns are numbered 1 to {len(names)}, got {column}")
    return column - 1


def _wanted(
    columns: Mapping[str, Column] | Sequence[str], unit: str | Mapping[str, str]
) -> tuple[dict[str, Column], dict[str, str]]:
    """Return {dof: column} and {dof: unit}."""
    if isinstance(columns, str) or not isinstance(columns, (Mapping, Sequence)) or not columns:
        raise ThunderError(f"columns must be {{dof: column}} or a sequence of names, got {columns!r}")
    dofs: dict[str, Column] = dict(columns) if isinstance(columns, Mapping) else {name: name for name in columns}
    if set(POSITION) <= set(dofs):  # in this order, whatever the order of the columns
        dofs = {dof: dofs[dof] for dof in (*POSITION, *(dof for dof in dofs if dof not in POSITION))}
    if not isinstance(unit, str) and not (isinstance(unit, Mapping) and set(unit) == set(dofs)):
        raise ThunderError(f"unit must name the unit of each of {', '.join(map(str, dofs))}, got {unit!r}")
    units = dict.fromkeys(dofs, unit) if isinstance(unit, str) else dict(unit)
    return dofs, {dof: one_of(each, LENGTHS if dof in POSITION else UNITS, "unit") for dof, each in units.items()}


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
