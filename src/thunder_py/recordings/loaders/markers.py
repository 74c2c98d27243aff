"""Markers and rigid bodies from the text files of Motion Analysis and OpenSim (TRC), Qualisys, Vicon and OptiTrack."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ...checks import Array
from ..motion_set import MotionSet
from ..trial import to_si
from .text import (
    TextFile,
    agreed_rate,
    agreed_unit,
    agrees,
    cells_of,
    chosen,
    column_name,
    distinct,
    guess_delimiter,
    is_number,
    marker_trials,
    positive_rate,
    rate_of,
)

#: quantities of a column
_PLACE, _TURN = ("x", "y", "z"), ("qx", "qy", "qz", "qw")
_TIME, _FRAME, _UNREAD = "Time", "Frame", ""


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
    return _trials(_trc(file), file, markers, unit, rate, frame, subject, task)


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
        text = "expected NO_OF_FRAMES (Qualisys), Format Version (OptiTrack) or the section Trajectories (Vicon)"
        file.refuse(f"{text} in the first lines; load_trc and load_table read other files")
    return _trials(export, file, markers, unit, rate, frame, subject, task)


def _trials(
    export: _Export,
    file: TextFile,
    markers: Sequence[str] | None,
    unit: str | None,
    rate: float | None,
    *labels: str,
) -> MotionSet:
    length = agreed_unit(export.unit[0], unit, file.path, export.unit[1])
    quantities = [quantity for _, quantity in export.columns]
    clock = [k for k, quantity in enumerate(quantities) if quantity in (_TIME, _FRAME)]
    rows = list(_rows(export, file, bool(clock)))
    if len(rows) < 2:
        file.refuse(f"expected two frames or more, got {len(rows)}")
    names = [f"{name} {quantity}".strip() if quantity else None for name, quantity in export.columns]
    values = file.numbers(rows, names, complete=clock)
    if export.frames and len(values) != export.frames[0]:
        text = f"expected {export.frames[0]:g} frames as in {export.frames[1]}, got {len(values)}"
        file.warn(f"{text}: the file was trimmed, or is cut off")
    at = clock[-1] if clock else 0
    if clock:
        file.check_increasing(values[:, at], [line for line, _ in rows], column_name(at, quantities[at]))
    in_file, key = export.rate
    if _TIME in quantities:
        t, hertz = _clock(values[:, at], in_file, rate, file, key)
    else:
        hertz = agreed_rate(in_file, rate, file.path, key)
        t = (values[:, at] - 1.0 if clock else np.arange(len(values))) / hertz
    places, turns = export.of(_PLACE), export.of(_TURN)
    points = to_si(length) * values[:, list(places.values())]
    known = list(places)
    quaternions = {known.index(name): values[:, at] for name, at in turns.items() if name in places}
    which = chosen(markers, known, file.path)
    units = {"unit": length}
    return marker_trials(
        t, points, known, hertz, *labels, which=which, path=file.path, turns=quaternions, arguments=units
    )


def _clock(t: Array, in_file: float, rate: float | None, file: TextFile, key: str) -> tuple[Array, float | None]:
    """Return times and nominal rate: the rate given decides, the times if none is given, the rate of the file last."""
    if rate is not None:
        hertz = positive_rate(rate)
        if agrees(t, hertz):
            return t, hertz
        file.warn(f"times with steps of {np.median(np.diff(t)):.6g} s were replaced by those of {hertz:g} Hz")
        return np.arange(len(t)) / hertz, hertz
    if in_file > 0.0 and agrees(t, in_file):
        return t, in_file
    step = float(np.median(np.diff(t)))
    text = f"{key} is {in_file:g} Hz, but the times have steps of {step:.6g} s"
    file.warn(f"{text} and were kept; pass rate={1.0 / step:.6g} or rate={in_file:g}, whichever is right")
    return t, rate_of(t)


def _rows(export: _Export, file: TextFile, timed: bool) -> Iterator[tuple[int, list[str]]]:
    """Yield line numbers and cells; empty cells at the end of a line may be missing, and so may whole markers.

    Empty lines are no frames, except for lines of empty cells where no column counts the frames.
    """
    columns = export.columns
    for k in export.lines:
        line = file.lines[k]
        if not (line.strip() if timed else line):
            continue
        cells = cells_of(line, export.delimiter)
        while len(cells) > len(columns) and not cells[-1]:
            cells.pop()
        count = len(cells)
        if count > len(columns) or (count < len(columns) and cells[-1] and columns[count - 1][0] == columns[count][0]):
            file.refuse(f"expected {len(columns)} cells (or whole markers fewer), got {count}", k + 1)
        yield k + 1, cells + [""] * (len(columns) - count)


def _columns(names: Sequence[str], before: Sequence[str] = ()) -> list[tuple[str, str]]:
    return [*(("", quantity) for quantity in before), *itertools.product(names, _PLACE)]


def _check_count(count: float, key: str, names: Sequence[str], file: TextFile) -> None:
    named = [name for name in names if name]
    if count not in (len(names), len(named)):
        file.warn(f"expected {count:.6g} markers as in {key}, got {len(named)}: {', '.join(named)}")


# --- TRC --------------------------------------------------------------------------------------------------------------

#: line numbers of the header, from 1
_TYPE, _KEYS, _VALUES, _MARKERS, _AXES = 1, 2, 3, 4, 5
_NUMBERS = ("DataRate", "NumFrames", "NumMarkers")


def _trc(file: TextFile) -> _Export:
    lines = file.lines
    if len(lines) <= _AXES or not lines[_TYPE - 1].startswith("PathFileType"):
        file.refuse("expected a TRC file, whose first line begins with PathFileType", _TYPE)
    keys, values = lines[_KEYS - 1].split(), cells_of(lines[_VALUES - 1], "\t")
    if len(values) < len(keys) or len([value for value in values if value]) == len(keys):
        values = lines[_VALUES - 1].split()  # separated by blanks, or by several tabs
    if len(values) < len(keys):
        file.refuse(f"expected a value for each of {', '.join(keys)}, got {len(values)}", _VALUES)
    header = dict(zip(keys, values, strict=False))
    if absent := [key for key in (*_NUMBERS, "Units") if key not in header]:
        file.refuse(f"the header must hold {', '.join(absent)}", _KEYS)
    rate, frames, count = (file.number(header[key], _VALUES, key) for key in _NUMBERS)
    names = _trc_names(file)
    _check_count(count, "NumMarkers", names, file)
    if unnamed := [f"unnamed {k}" for k, name in enumerate(names, 1) if not name]:
        file.warn(f"{len(unnamed)} of {len(names)} markers have no name; they are called {unnamed[0]} and so on")
    names = distinct([name or f"unnamed {k}" for k, name in enumerate(names, 1)], file.path)
    return _Export(
        range(_AXES, len(lines)),
        "\t",
        _columns(names, (_FRAME, _TIME)),
        (header["Units"], "Units"),
        (rate, "DataRate"),
        (frames, "NumFrames"),
    )


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
        text = f"names must be above the first of three columns, got {', '.join(names)} in columns"
        text += f" {', '.join(str(k + 1) for k in at)}, and {count} markers in the lines; name every marker"
        file.refuse(text, _MARKERS)
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
    while not lines[first] or re.match(r"Frame\t|[^\t]* X\t", lines[first]):  # names of columns
        first += 1
    counted = len(cells_of(lines[first], "\t")) >= 3 * len(names) + 2
    return _Export(
        range(first, len(lines)),
        "\t",
        _columns(distinct(names, file.path), (_FRAME, _TIME) if counted else ()),
        ("mm", "positions"),
        (rate, "FREQUENCY"),
        (frames, "NO_OF_FRAMES"),
    )


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
    first = start + (2 if is_number(units[0]) else 3)
    units = units if first == start + 3 else []
    rate = file.number(re.split(r"[^\d.]", lines[start - 1].lstrip('"'))[0], start, "rate")
    at = [k for k in range(len(axes)) if [axis.lower() for axis in axes[k : k + 3]] == [*_PLACE]]
    labels = distinct([names[k] or f"unnamed {i}" for i, k in enumerate(at, 1)], file.path)
    columns = [("", _UNREAD if k else _FRAME) for k in range(len(axes))]
    for label, k in zip(labels, at, strict=True):
        columns[k : k + 3] = _columns([label])
    written = " and ".join({units[j] for k in at for j in range(k, k + 3) if j < len(units)})
    return _Export(range(first, end), mark, columns, (written, "units"), (rate, "Trajectories"))


# --- OptiTrack --------------------------------------------------------------------------------------------------------

_KINDS = {"position": dict(zip("xyz", _PLACE, strict=True)), "rotation": dict(zip("xyzw", _TURN, strict=True))}


def _optitrack(file: TextFile) -> _Export:
    lines = file.lines
    words = cells_of(lines[0], ",")
    header = dict(zip(words[::2], words[1::2], strict=False))
    first = next((k for k in range(1, len(lines)) if is_number(lines[k].partition(",")[0])), len(lines))
    head = [cells_of(line, ",") for line in lines[1:first] if line.strip(" ,")]
    if len(head) < 4 or len(set(map(len, head))) != 1:
        file.refuse("expected equal lines of types, names, positions and axes above the numbers", first)
    points = list(zip(*head[:-2], strict=True))  # type, name, perhaps ID and parent
    quantities = [
        _KINDS.get(kind.lower(), {}).get(axis.lower(), _UNREAD) for kind, axis in zip(*head[-2:], strict=True)
    ]
    if (angles := header.get("Rotation Type", "Quaternion")) != "Quaternion" and _TURN[0] in quantities:
        file.warn(f"rotations are angles ({angles}) and were left out; export quaternions")
        quantities = [_UNREAD if quantity in _TURN else quantity for quantity in quantities]
    known = list(dict.fromkeys(point for point, quantity in zip(points, quantities, strict=True) if quantity))
    kinds = {name: {point[0] for point in known if point[1] == name} for _, name, *_ in known}
    titles = [f"{name} ({kind})" if len(kinds[name]) > 1 else name for kind, name, *_ in known]
    labels = dict(zip(known, distinct(titles, file.path), strict=True))
    columns = [(labels[p], q) if q else ("", _UNREAD) for p, q in zip(points, quantities, strict=True)]
    columns[:2] = [("", _FRAME), ("", _TIME)]
    rate, frames = (
        file.number(next((header[key] for key in keys if key in header), "0"), 1, keys[0])
        for keys in (("Export Frame Rate", "Capture Frame Rate"), ("Total Exported Frames",))
    )
    return _Export(
        range(first, len(lines)),
        ",",
        columns,
        (header.get("Length Units", ""), "Length Units"),
        (rate, "Export Frame Rate"),
        (frames, "Total Exported Frames") if frames else None,
    )
