"""Text files of motion capture: TRC of Motion Analysis, exports of Qualisys, Vicon and OptiTrack, OpenSim's storage."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...checks import Array, one_of, positive
from ...tabular.text import cells_of, guess_delimiter
from ..motion_set import MotionSet
from ..plausibility import check_plausible, listed, warn_about
from ..trial import ANGLES, Trial, to_si
from . import text
from .text import UNITS, TextFile, distinct

#: quantities of a column
_PLACE, _TURN = ("x", "y", "z"), ("qx", "qy", "qz", "qw")
_TIME, _FRAME, _UNREAD = "Time", "Frame", ""
_COUNTED = (("", _FRAME), ("", _TIME))


@dataclass(frozen=True)
class _Export:
    """What the head of a file says about its lines of numbers."""

    #: the lines of numbers, counted from 0
    lines: range
    delimiter: str | None
    #: marker, empty for times, and quantity of every column
    columns: Sequence[tuple[str, str]]
    #: unit of length, rate and number of frames, and what the file calls them
    unit: tuple[str, str]
    rate: tuple[float, str]
    frames: tuple[float, str] | None = None

    def of(self, quantities: Sequence[str]) -> dict[str, list[int]]:
        """Return the columns of the markers that have all of these quantities."""
        found: dict[str, dict[str, int]] = {}
        for k, (name, quantity) in enumerate(self.columns):
            found.setdefault(name, {})[quantity] = k
        return {name: [at[q] for q in quantities] for name, at in found.items() if {*quantities} <= set(at)}


def load_trc(
    path: str | Path,
    *,
    markers: Sequence[str] | None = None,
    unit: str | None = None,
    rate: float | None = None,
    decimal: str = ".",
    encoding: str | None = None,
    missing: Sequence[str] = (),
    frame: str = "",
    subject: str = "",
    task: str = "",
) -> MotionSet:
    r"""Read a TRC file: one trial per marker, with its name.

    Empty cells, markers missing at the end of a line, and jumps to exactly 0, 0, 0 are gaps.

    Parameters
    ----------
    path : path-like
        The file.
    markers : sequence of str, optional
        Markers to read, in this order; all by default.
    unit : str, optional
        Unit (m, cm or mm) instead of that of the header; required if that is missing or unknown.
    rate : float, optional
        Rate [Hz] instead of that of the header. Times that contradict it by more than 1 % are replaced by k / rate;
        those that contradict the header are kept.
    decimal : str
        ``","`` for decimal commas.
    encoding : str, optional
        Such as ``"latin-1"``. By default UTF-8, or UTF-16 with a byte order mark.
    missing : sequence of str
        Texts that mean a gap (NaN), besides empty cells, nan, NA, N/A and NULL.
    frame, subject, task : str
        Labels of the trials.

    Returns
    -------
    MotionSet
        One trial per marker. Those without a name are called ``unnamed 3`` after their place in the file, and markers
        of the same name are numbered, ``hand:1``, ``hand:2``.

    Warns
    -----
    RecordingWarning
        For lost markers written as 0, 0, 0, which become gaps; positions held; another rate, or other numbers of frames
        or markers, than in the header; names missing or equal; a unit replaced; and see `check_plausible`.

    Raises
    ------
    FileFormatError
        With path, line and column, for errors and contradictions in the file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from thunder_py.recordings.loaders import load_trc
    >>> head = "PathFileType\t4\nDataRate\tNumFrames\tNumMarkers\tUnits\n100\t2\t1\tmm\n"
    >>> rows = "Frame#\tTime\thand\n\t\tX1\tY1\tZ1\n1\t0.00\t0\t0\t500\n2\t0.01\t1\t0\t500\n"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "reach.trc").write_text(head + rows)
    ...     (trial,) = load_trc(Path(folder) / "reach.trc")
    >>> trial
    <Trial x y z: 2 samples at 100 Hz, 0.01 s, name='hand'>
    """
    file = TextFile(path, encoding, decimal, missing)
    return _trials(_trc(file), file, markers, unit, rate, frame=frame, subject=subject, task=task)


def load_markers(
    path: str | Path,
    *,
    markers: Sequence[str] | None = None,
    unit: str | None = None,
    rate: float | None = None,
    decimal: str = ".",
    encoding: str | None = None,
    missing: Sequence[str] = (),
    frame: str = "",
    subject: str = "",
    task: str = "",
) -> MotionSet:
    r"""Read markers that Qualisys (TSV), Vicon Nexus (CSV) or OptiTrack Motive (CSV) exported as text.

    The first lines tell the program. `load_trc` and `load_c3d` read the other files of these programs.

    =====================  =============================================================================
    Qualisys               3D data, with or without columns of frame and time; millimeters
    Vicon Nexus            the section Trajectories; other sections are left out, with a warning
    OptiTrack Motive 1.2x  markers, and rigid bodies and bones with their orientations
    =====================  =============================================================================

    Parameters
    ----------
    path : path-like
        The file.
    markers, unit, rate, decimal, encoding, missing, frame, subject, task
        As for `load_trc`. Names of Vicon and OptiTrack are complete, as ``"S1:LWRI"``.

    Returns
    -------
    MotionSet
        One trial per marker or rigid body, with its name; rigid bodies have the dofs x, y, z, rx, ry, rz. Times of
        Vicon are (frame - 1) / rate. Where an export has one name for several types of points, the type follows:
        ``"Hand:Marker1 (Rigid Body Marker)"``.

    Warns
    -----
    RecordingWarning
        As for `load_trc`; and for angles in the place of quaternions, which are left out.

    Raises
    ------
    FileFormatError
        With path, line and column, for errors and contradictions in the file, and files of other programs.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from thunder_py.recordings.loaders import load_markers
    >>> head = "Trajectories\n100\n,,S1:LWRI,,\nFrame,Sub Frame,X,Y,Z\n,,mm,mm,mm\n"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "reach.csv").write_text(head + "1,0,0,0,500\n2,0,1,0,500\n")
    ...     (trial,) = load_markers(Path(folder) / "reach.csv")
    >>> trial
    <Trial x y z: 2 samples at 100 Hz, 0.01 s, name='S1:LWRI'>
    """
    file = TextFile(path, encoding, decimal, missing)
    head = [line.partition("\t")[0] for line in file.lines[:_HEAD]]
    if head[0].startswith("Format Version"):
        export = _optitrack(file)
    elif "MARKER_NAMES" in head or "NO_OF_FRAMES" in head:
        export = _qualisys(file)
    elif sections := _sections(file.lines):
        export = _vicon(file, sections)
    else:
        message = "expected NO_OF_FRAMES (Qualisys), Format Version (OptiTrack) or the section Trajectories (Vicon)"
        file.refuse(f"{message} in the first lines; load_trc and load_table read other files")
    return _trials(export, file, markers, unit, rate, frame=frame, subject=subject, task=task)


def _trials(
    export: _Export, file: TextFile, markers: Sequence[str] | None, unit: str | None, rate: float | None, **labels: str
) -> MotionSet:
    length = text.agreed_unit(export.unit[0], unit, file.path, export.unit[1])
    t, values, hertz = _read(export, file, rate)
    places, turns = export.of(_PLACE), export.of(_TURN)
    points, known = to_si(length) * values[:, list(places.values())], list(places)
    quaternions = {known.index(name): values[:, at] for name, at in turns.items() if name in places}
    which = text.chosen(markers, known, file.path)
    more: dict[str, Any] = {"turns": quaternions, "arguments": {"unit": length}, "rate": hertz, **labels}
    return text.marker_trials(t, points, known, file.path, which=which, **more)


def _read(export: _Export, file: TextFile, rate: float | None = None) -> tuple[Array, Array, float | None]:
    """Return times, the numbers (T, columns) and the nominal rate: `rate`, or that of the file if the times agree."""
    quantities = [quantity for _, quantity in export.columns]
    clock = [k for k, quantity in enumerate(quantities) if quantity in (_TIME, _FRAME)]
    rows = _rows(export, file, bool(clock))
    if len(rows) < 2:
        file.refuse(f"expected two frames or more, got {len(rows)}")
    names = [f"{name} {quantity}".strip() if quantity else None for name, quantity in export.columns]
    values = file.numbers(rows, names, complete=clock)
    if export.frames and len(values) != export.frames[0]:
        message = f"expected {export.frames[0]:g} frames as in {export.frames[1]}, got {len(values)}"
        file.warn(f"{message}: the file was trimmed, or is cut off")
    at, (in_file, key) = clock[-1] if clock else 0, export.rate
    t = values[:, at]
    if clock and (rate is None or _TIME not in quantities):
        advice = "pass rate= to count the frames instead" if key and _TIME in quantities else ""
        file.check_increasing(t, [line for line, _ in rows], text.column_name(at, quantities[at]), advice)
    if _TIME not in quantities:
        hertz = text.agreed_rate(in_file, rate, file.path, key)
        return (t - 1.0 if clock else np.arange(len(t))) / hertz, values, hertz
    hertz, step = in_file if rate is None else positive(rate, "rate", "Hz"), float(np.median(np.diff(t)))
    if hertz > 0.0 and (np.diff(t) > 0.0).all() and text.agrees(t, hertz):
        return t, values, hertz
    if rate is not None:
        file.warn(f"times with steps of {step:.6g} s were replaced by those of {hertz:g} Hz")
        return np.arange(len(t)) / hertz, values, hertz
    if key:
        message = f"{key} is {in_file:g} Hz, but the times have steps of {step:.6g} s"
        other = f" or rate={in_file:g}, whichever is right" if in_file > 0.0 else " to confirm them"
        file.warn(f"{message} and were kept; pass rate={1.0 / step:.6g}{other}")
    return t, values, text.rate_of(t)


def _rows(export: _Export, file: TextFile, timed: bool) -> list[tuple[int, list[str]]]:
    """Return line numbers and cells; empty cells at the end of a line may be missing, and so may whole markers.

    Empty lines are no frames, except for lines of empty cells where no column counts the frames.
    """
    rows, columns = [], export.columns
    for k in export.lines:
        if not (file.lines[k].strip() if timed else file.lines[k]):
            continue
        cells = cells_of(file.lines[k], export.delimiter)
        while len(cells) > len(columns) and not cells[-1]:
            cells.pop()
        count = len(cells)
        if count > len(columns) or (count < len(columns) and cells[-1] and columns[count - 1][0] == columns[count][0]):
            file.refuse(f"expected {len(columns)} cells (or whole markers fewer), got {count}", k + 1)
        rows.append((k + 1, cells + [""] * (len(columns) - count)))
    return rows


def _check_count(count: float, key: str, names: Sequence[str], file: TextFile) -> None:
    named = [name for name in names if name]
    if count not in (len(names), len(named)):
        file.warn(f"expected {count:.6g} markers as in {key}, got {len(named)}: {', '.join(named)}")


# --- TRC --------------------------------------------------------------------------------------------------------------

#: line numbers of the header, from 1
_TYPE, _KEYS, _VALUES, _MARKERS, _AXES = 1, 2, 3, 4, 5
_NUMBERS = ("DataRate", "NumFrames", "NumMarkers")


def _trc(file: TextFile) -> _Export:
    if "\t" not in file.lines[-1]:  # separated by blanks
        file.lines = ["\t".join(line.split()) for line in file.lines]
    lines = file.lines
    if len(lines) <= _AXES or not lines[_TYPE - 1].startswith("PathFileType"):
        file.refuse("expected a TRC file, whose first line begins with PathFileType", _TYPE)
    keys, values = lines[_KEYS - 1].split(), cells_of(lines[_VALUES - 1], "\t")
    if len(values) < len(keys) or len([value for value in values if value]) == len(keys):
        values = lines[_VALUES - 1].split()  # separated by blanks, or by several tabs
    header = dict(zip(keys, values, strict=False))
    rate, frames, count = (file.number(header.get(key, "0"), _VALUES, key) for key in _NUMBERS)
    names = _trc_names(file)
    _check_count(count or len(names), "NumMarkers", names, file)
    if unnamed := [f"unnamed {k}" for k, name in enumerate(names, 1) if not name]:
        file.warn(f"{len(unnamed)} of {len(names)} markers have no name; they are called {unnamed[0]} and so on")
    names = distinct([name or f"unnamed {k}" for k, name in enumerate(names, 1)], file.path)
    columns, rows = [*_COUNTED, *itertools.product(names, _PLACE)], range(_AXES, len(lines))
    counted = (frames, "NumFrames") if frames else None
    return _Export(rows, "\t", columns, (header.get("Units", ""), "Units"), (rate, "DataRate"), counted)


def _trc_names(file: TextFile) -> list[str]:
    """Return the names of the markers in the order of the columns, empty for markers without one.

    Each is above the first of three columns. Names with other tabs between them follow each other, if there is one for
    every marker. Columns beyond the last name are further markers.
    """
    cells = cells_of(file.lines[_MARKERS - 1], "\t")
    at = [k for k, cell in enumerate(cells) if cell and k > 1]
    names = [cells[k] for k in at]
    rows = [line for line in file.lines[_AXES:] if line.strip()]
    measured = max((math.ceil((row.rstrip().count("\t") - 1) / 3) for row in rows), default=0)
    numbered = re.findall(r"\bX(\d{1,6})\b", file.lines[_AXES - 1], re.IGNORECASE)
    count = max(measured, *((row.count("\t") - 1) // 3 for row in rows), *map(int, numbered), 0)
    if at == list(range(2, 2 + 3 * len(at), 3)) or (all(k % 3 == 2 for k in at) and at[-1] < 2 + 3 * count):
        names = [cells[k] for k in range(2, max(at, default=0) + 1, 3)]
    elif len(names) != count:
        message = f"names must be above the first of three columns, got {', '.join(names)} in columns"
        message += f" {', '.join(str(k + 1) for k in at)}, and {count} markers in the lines; name every marker"
        file.refuse(message, _MARKERS)
    return names + [""] * (measured - len(names))


# --- Qualisys ---------------------------------------------------------------------------------------------------------

#: lines among which a file of Qualisys has its keys
_HEAD = 20


def _qualisys(file: TextFile) -> _Export:
    lines = file.lines
    header: dict[str, tuple[int, list[str]]] = {}
    for first, line in enumerate(lines):
        key, *words = cells_of(line, "\t")
        if not re.fullmatch(r"[A-Z][A-Z_]+", key) or key in file.missing:
            break
        header.setdefault(key, (first + 1, words))
    if absent := [key for key in ("MARKER_NAMES", "FREQUENCY", "NO_OF_FRAMES") if key not in header]:
        file.refuse(f"the header must hold {', '.join(absent)}; load_table reads other columns")
    at, included = header.get("DATA_INCLUDED", (0, ["3D"]))
    if included[:1] != ["3D"]:
        file.refuse(
            f"expected 3D data, got {' '.join(included)}; export 3D data, or read the columns with load_table", at
        )
    rate, frames, count = (
        file.number("".join(words[:1]), at, key)
        for key in ("FREQUENCY", "NO_OF_FRAMES", "NO_OF_MARKERS")
        for at, words in [header.get(key, (0, ["0"]))]
    )
    names = [name for name in header["MARKER_NAMES"][1] if name]
    _check_count(count or len(names), "NO_OF_MARKERS", names, file)
    while first < len(lines) and re.match(r"$|Frame\t|[^\t]* X\t", lines[first]):  # names of columns
        first += 1
    columns, rows = list(itertools.product(distinct(names, file.path), _PLACE)), range(first, len(lines))
    if rows and len(cells_of(lines[first], "\t")) >= len(columns) + 2:
        columns = [*_COUNTED, *columns]
    return _Export(rows, "\t", columns, ("mm", "Qualisys"), (rate, "FREQUENCY"), (frames, "NO_OF_FRAMES"))


# --- Vicon ------------------------------------------------------------------------------------------------------------


def _sections(lines: list[str]) -> dict[str, int]:
    """Return the lines, from 0, of the titles of sections, each followed by a rate."""
    titles = [line.strip(" ,;\t\"'").lower() for line in lines]
    return {
        title: k
        for k, (title, rate) in enumerate(itertools.pairwise(titles))
        if re.fullmatch(r"[a-z][a-z ]+", title) and re.match(r"\d", rate)
    }


def _vicon(file: TextFile, sections: dict[str, int]) -> _Export:
    if "trajectories" not in sections:
        file.refuse(f"expected the section Trajectories, got {', '.join(sections).title()}; export trajectories")
    if others := [title.title() for title in sections if title != "trajectories"]:
        file.warn(f"{', '.join(others)} were left out; only trajectories are read")
    lines, start = file.lines, sections["trajectories"] + 2
    end = next((k for k in range(start, len(lines)) if not lines[k].strip(" ,;\t")), len(lines))
    mark = guess_delimiter(lines[min(start + 1, end - 1)])
    head = [cells_of(line, mark) for line in lines[start : min(end, start + 3)]]
    if len(head) < 3 or not head[1][0].lower().startswith(("frame", "field")):
        file.refuse("expected names, columns and units below the rate", start + 1)
    names, axes, units = head
    first = start + (2 if text.is_number(units[0]) else 3)
    units = units if first == start + 3 else []
    rate = file.number(re.split(r"[^\d.]", lines[start - 1].lstrip('"'))[0], start, "rate")
    at = [k for k in range(len(axes)) if [axis.lower() for axis in axes[k : k + 3]] == [*_PLACE]]
    labels = distinct(["".join(names[k : k + 1]) or f"unnamed {i}" for i, k in enumerate(at, 1)], file.path)
    columns = [("", _UNREAD if k else _FRAME) for k in range(len(axes))]
    for label, k in zip(labels, at, strict=True):
        columns[k : k + 3] = itertools.product([label], _PLACE)
    written = " and ".join({units[j] for k in at for j in range(k, k + 3) if j < len(units)})
    return _Export(range(first, end), mark, columns, (written, "units"), (rate, "Trajectories"))


# --- OptiTrack --------------------------------------------------------------------------------------------------------

_RATE, _COUNT, _UNIT = "Export Frame Rate", "Total Exported Frames", "Length Units"
_POINTS = {"position": dict(zip("xyz", _PLACE, strict=True)), "rotation": dict(zip("xyzw", _TURN, strict=True))}


def _optitrack(file: TextFile) -> _Export:
    lines = file.lines
    words = cells_of(lines[0], ",")
    header = dict(zip(words[::2], words[1::2], strict=False))
    first = next((k for k in range(1, len(lines)) if text.is_number(lines[k].partition(",")[0])), len(lines))
    head = [cells_of(line, ",") for line in lines[1:first] if line.strip(" ,")]
    if len(head) < 4 or len(set(map(len, head))) != 1:
        file.refuse("expected equal lines of types, names, positions and axes above the numbers", first)
    points = list(zip(*head[:-2], strict=True))  # type, name, perhaps ID and parent
    quantities = [
        _POINTS.get(kind.lower(), {}).get(axis.lower(), _UNREAD) for kind, axis in zip(*head[-2:], strict=True)
    ]
    if (angles := header.get("Rotation Type", "Quaternion")) != "Quaternion" and _TURN[0] in quantities:
        file.warn(f"rotations are angles ({angles}) and were left out; export quaternions")
        quantities = [_UNREAD if quantity in _TURN else quantity for quantity in quantities]
    if (space := header.get("Coordinate Space", "Global")) != "Global":
        file.warn(f"coordinates are those of the space {space!r}, perhaps of a body that moves; export global ones")
    known = list(dict.fromkeys(point for point, quantity in zip(points, quantities, strict=True) if quantity))
    kinds = {name: {point[0] for point in known if point[1] == name} for _, name, *_ in known}
    titles = [f"{name} ({kind})" if len(kinds[name]) > 1 else name for kind, name, *_ in known]
    labels = dict(zip(known, distinct(titles, file.path), strict=True))
    columns = [(labels[p], q) if q else ("", _UNREAD) for p, q in zip(points, quantities, strict=True)]
    columns[:2], rows = _COUNTED, range(first, len(lines))
    header.setdefault(_RATE, header.get("Capture Frame Rate", "0"))
    rate, frames = (file.number(header.get(key, "0"), 1, key) for key in (_RATE, _COUNT))
    unit, counted = header.get(_UNIT, ""), (frames, _COUNT) if frames else None
    return _Export(rows, ",", columns, (unit, _UNIT), (rate, _RATE), counted)


# --- OpenSim ----------------------------------------------------------------------------------------------------------

#: files without coordinates, by their first line
_NO_COORDINATES = re.compile(r"veloc|accel|speed|force|moment|power|activ|control|_u\b|dudt", re.IGNORECASE)
#: columns that only coordinates have
_COORDINATE = re.compile(r"_t[xyz]\b|/value\b", re.IGNORECASE)
#: columns of times, of lengths, of quantities that are neither lengths nor angles, and of lengths as well
_KINDS = {
    re.compile(r"^time$", re.IGNORECASE): "",
    re.compile(r"_[tp][xyz](/value)?$", re.IGNORECASE): "m",
    re.compile(
        r"_u$|_[vfm][xyz]$|/(?!value$)[^/]*$|force|moment|torque|power|speed|activ|length|excit|reserve", re.I
    ): "",
    re.compile(r"_[xyz]$", re.IGNORECASE): "m",
}


def load_opensim(
    path: str | Path,
    *,
    columns: Sequence[str] | None = None,
    unit: str | Mapping[str, str] | None = None,
    decimal: str = ".",
    encoding: str | None = None,
    missing: Sequence[str] = (),
    frame: str = "",
    subject: str = "",
    task: str = "",
) -> MotionSet:
    r"""Read a file ``.mot`` or ``.sto`` of OpenSim: one trial with a dof per column.

    The file does not tell what its columns are, but their names do: those that end with ``_tx`` or ``_px`` (y, z) are
    lengths in meters. In files of coordinates all others are angles, except for forces, moments, speeds, activations
    and the like.

    Parameters
    ----------
    path : path-like
        The file.
    columns : sequence of str, optional
        Columns to read, in this order; by default all whose unit is known.
    unit : str or mapping, optional
        Unit of the angles instead of ``inDegrees`` (rad, deg), required if the file has none; or ``{column: unit}``
        of columns that are no coordinates, or that are named otherwise: m, cm, mm, rad, deg, N, Nm, W, or 1 (none).
    decimal, encoding, missing
        As for `load_trc`.
    frame, subject, task : str
        Labels of the trial.

    Returns
    -------
    MotionSet
        One trial with the name of the file without extension.

    Warns
    -----
    RecordingWarning
        For columns left out; other numbers of rows or columns than in the header; and see `check_plausible`.

    Raises
    ------
    FileFormatError
        With path, line and column, for errors in the file, and columns of unknown unit.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from thunder_py.recordings.loaders import load_opensim
    >>> head = "Coordinates\nversion=1\nnRows=2\nnColumns=3\ninDegrees=yes\nendheader\n"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "a.mot").write_text(head + "time\tpelvis_tx\telbow_r\n0\t0.5\t90\n0.01\t0.5\t180\n")
    ...     (trial,) = load_opensim(Path(folder) / "a.mot")
    >>> trial.dofs, trial.units, trial.x[1].round(4).tolist()
    (('pelvis_tx', 'elbow_r'), ('m', 'rad'), [0.5, 3.1416])
    """
    file = TextFile(path, encoding, decimal, missing)
    lines = file.lines
    end = next((k for k, line in enumerate(lines) if line.strip().lower() == "endheader"), len(lines))
    start = next((k for k in range(end + 1, len(lines)) if lines[k].strip()), 0)
    if not start:
        file.refuse("expected a file .mot or .sto of OpenSim, with endheader and names of columns")
    pairs = (re.fullmatch(r"\s*(\w+)(?:\s*=\s*|\s+)(\S+)\s*", line) for line in lines[:end])
    # datarows and datacolumns are nRows and nColumns
    header = {re.sub("^data(rows|columns)", r"n\1", pair[1].lower()): pair[2] for pair in pairs if pair}
    if (kind := header.get("datatype", "double")).lower() != "double":
        file.refuse(f"expected a number in every cell, got DataType={kind}; export columns of numbers")
    mark = "\t" if "\t" in lines[start] else None
    names = distinct(cells_of(lines[start].rstrip(), mark), path, "columns")
    if [name.lower() for name in names].count("time") != 1:
        file.refuse(f"expected one column time, got {', '.join(names)}", start + 1)
    if (count := header.get("ncolumns", str(len(names)))) != str(len(names)):
        file.warn(f"expected {count} columns as in nColumns, got {len(names)}")
    units = _units(names, header, unit if isinstance(unit, str) else None, file)
    for name, each in (unit if isinstance(unit, Mapping) else {}).items():
        units[name] = one_of(each, UNITS, "unit")
    others = [name for name in names if name not in units and name.lower() != "time"]
    if columns is None:
        columns = [name for name in names if name in units]
        if others and columns:
            message = f"{len(others)} columns were left out, whose unit is not known: {listed(others)}"
            file.warn(f"{message}; pass unit={{{others[0]!r}: '1'}}, or the right unit, for those to be read")
    if unknown := [name for name in columns or others if name in others]:
        message = f"the unit of {listed(unknown)} is not known"
        file.refuse(f"{message}; pass unit={{{unknown[0]!r}: '1'}}, or the right unit, of every column")
    at = text.chosen(columns, names, path, "column")
    rows, frames = range(start + 1, len(lines)), file.number(header.get("nrows", "0"), 1, "nRows")
    table = [(name, "value" if k in at else _UNREAD) for k, name in enumerate(names)]
    table[[name.lower() for name in names].index("time")] = ("", _TIME)
    counted = (frames, "nRows") if frames else None
    t, values, hertz = _read(_Export(rows, mark, table, ("", ""), (0.0, ""), counted), file)
    factors, si = zip(*(UNITS[units[names[k]]] for k in at), strict=True)
    labels = {"frame": frame, "subject": subject, "task": task, "name": Path(path).stem}
    motions = MotionSet([Trial(t, values[:, at] * factors, tuple(names[k] for k in at), si, rate=hertz, **labels)])
    check_plausible(motions, ("angle_unit",))
    return motions


def _units(names: Sequence[str], header: Mapping[str, str], angle: str | None, file: TextFile) -> dict[str, str]:
    """Return the units of the columns whose names and header tell them."""
    title, degrees = file.lines[0].lower(), header.get("indegrees", "").lower()
    if _NO_COORDINATES.search(title):
        return {}
    kinds = {name: next((kind for pattern, kind in _KINDS.items() if pattern.search(name)), None) for name in names}
    if not (angle or degrees == "yes" or "coordinates" in title or _COORDINATE.search(" ".join(names))):
        kinds = {name: kind or "" for name, kind in kinds.items()}
    told = {"yes": "deg", "no": "rad"}.get(degrees)
    angle = told if angle is None else one_of(angle, ANGLES, "unit")
    if told not in (None, angle):
        warn_about(file.path, f"inDegrees={degrees} is replaced by unit={angle!r}")
    if angle is None and None in kinds.values():
        file.refuse("the header has no inDegrees; pass unit='deg' or unit='rad'")
    return {name: angle or "" if kind is None else kind for name, kind in kinds.items() if kind != ""}
