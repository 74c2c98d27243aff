"""Markers from TRC files (Motion Analysis, OpenSim)."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ...checks import Array
from ...errors import FileFormatError, outer_level
from ..motion_set import MotionSet
from ..plausibility import RecordingWarning
from ..trial import to_si
from .text import (
    MISSING,
    agreed_rate,
    agreed_unit,
    check_decimal,
    check_rate,
    chosen,
    column_name,
    marker_trials,
    number,
    read_lines,
)

#: line numbers of the header, from 1
_TYPE, _KEYS, _VALUES, _MARKERS, _AXES = 1, 2, 3, 4, 5
_NEEDED = ("DataRate", "NumFrames", "NumMarkers", "Units")


def load_trc(
    path: str | Path,
    *,
    markers: Sequence[str] | None = None,
    unit: str | None = None,
    rate: float | None = None,
    decimal: str = ".",
    frame: str = "",
    subject: str = "",
    task: str = "",
) -> MotionSet:
    r"""Read a TRC file: one trial per marker, with its name.

    Unit and rate come from the header; the rate is checked against the times. Empty cells, markers missing at the end
    of a line, and jumps to exactly 0, 0, 0 are gaps.

    Parameters
    ----------
    path : path-like
        The file.
    markers : sequence of str, optional
        Markers to read, in this order; all by default.
    unit : str, optional
        Expected unit (m, cm or mm), required if that of the header is missing or unknown.
    rate : float, optional
        Expected rate [Hz], to 1 %.
    decimal : str
        ``","`` for decimal commas.
    frame, subject, task : str
        Labels of the trials.

    Returns
    -------
    MotionSet
        One trial per marker.

    Warns
    -----
    RecordingWarning
        For lost markers written as 0, 0, 0, which become gaps; positions held; other numbers of frames or markers than
        in the header; columns without a name, which are left out; a unit replaced; and see `check_plausible`.

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
    check_decimal(decimal)
    lines = read_lines(path)
    header = _header(lines, path)
    factor = to_si(agreed_unit(header["Units"], unit, path, "Units"))
    hertz = agreed_rate(_number(header, "DataRate", path, decimal), rate, path, "DataRate")
    first = next((k for k in range(_AXES, len(lines)) if lines[k].strip()), len(lines))
    cells = [_cells(line) for line in lines[first:]]
    if len(cells) < 2:
        raise FileFormatError(f"expected two frames or more, got {len(cells)}", path=path, key="NumFrames")
    names = _names(lines, int(_number(header, "NumMarkers", path, decimal)), max(map(len, cells)), path)
    width = 3 * len(names) + 2  # also of those without a name
    if sum(len(row) > width for row in cells) > len(cells) / 2 and all((len(row) - 2) % 3 == 0 for row in cells):
        _warn("markers without a name, at the end of the lines, were left out", path)
        cells = [row[:width] for row in cells]
    table = np.array([_row(row, width, k, names, path, decimal) for k, row in enumerate(cells, first + 1)])
    if len(table) != (frames := _number(header, "NumFrames", path, decimal)):
        _warn(
            f"expected {frames:g} frames as in NumFrames, got {len(table)}: the file was trimmed, or is cut off", path
        )
    t = table[:, 1]
    _check_times(t, first + 1, path)
    check_rate(t, hertz, path)
    named = [k for k, name in enumerate(names) if name]
    if len(named) < len(names):
        _warn(f"{len(names) - len(named)} markers without a name, before others, were left out", path)
    names = [names[k] for k in named]
    which = chosen(markers, names, path)
    points = factor * table[:, 2:].reshape(len(table), -1, 3)[:, named]
    return marker_trials(t, points, names, hertz, frame, subject, task, which=which, path=path)


def _warn(message: str, path: str | Path) -> None:
    warnings.warn(f"{path}: {message}", RecordingWarning, stacklevel=outer_level())


def _header(lines: list[str], path: str | Path) -> dict[str, str]:
    if len(lines) <= _AXES or not lines[_TYPE - 1].startswith("PathFileType"):
        raise FileFormatError("expected a TRC file, whose first line begins with PathFileType", path=path, line=_TYPE)
    keys, values = lines[_KEYS - 1].split(), lines[_VALUES - 1].split("\t")
    values = [value.strip() for value in values]
    if len(values) < len(keys) or len([value for value in values if value]) == len(keys):
        values = lines[_VALUES - 1].split()  # separated by blanks, or by several tabs
    if len(values) < len(keys):
        raise FileFormatError(
            f"expected a value for each of {', '.join(keys)}, got {len(values)}", path=path, line=_VALUES
        )
    header = dict(zip(keys, values, strict=False))
    if missing := [key for key in _NEEDED if key not in header]:
        raise FileFormatError(f"the header must hold {', '.join(missing)}", path=path, line=_KEYS)
    return header


def _number(header: dict[str, str], key: str, path: str | Path, decimal: str) -> float:
    return number(header[key], path=path, line=_VALUES, column=key, decimal=decimal, missing=())


def _names(lines: list[str], count: int, width: int, path: str | Path) -> list[str]:
    """Return the names of the markers in the order of the columns, empty for markers without one before others.

    Each is above the first of three columns. Names with other tabs between them follow each other, if there is one for
    every marker according to NumMarkers or X1, Y1, Z1, ..., and the lines (`width` is the length of the longest).
    """
    cells = [cell.strip() for cell in lines[_MARKERS - 1].split("\t")]
    at = [k for k, cell in enumerate(cells) if cell and k > 1]
    names = [cells[k] for k in at]
    if not names:
        raise FileFormatError("expected names of markers, got none", path=path, line=_MARKERS)
    count_named = len(names)
    if any(k != 2 + 3 * i for i, k in enumerate(at)):  # other tabs, or markers without a name before others
        above = all((k - 2) % 3 == 0 for k in at)
        axes = lines[_AXES - 1].rstrip()
        numbered = max((int(n) for n in re.findall(r"\bX(\d{1,6})\b", axes, re.IGNORECASE)), default=0)
        columns = max(numbered, -(-(width - 2) // 3))
        every = numbered == len(names) and not (above and axes.count("\t") >= at[-1])
        if columns > len(names) or not (every or (count == len(names) and not above)):
            if not above or at[-1] + 3 > 2 + 3 * max(columns, count):
                text = f"names must be above the first of three columns, got {', '.join(names)} in columns"
                text += f" {', '.join(str(k + 1) for k in at)}, and {columns} markers in the lines"
                raise FileFormatError(f"{text}; name every marker", path=path, line=_MARKERS)
            names = [cells[k] for k in range(2, at[-1] + 1, 3)]
    if count not in (count_named, len(names)):
        text = f"expected {count:.6g} markers as in NumMarkers, got {count_named}: {', '.join(filter(None, names))}"
        if width != 3 * len(names) + 2:
            raise FileFormatError(text, path=path, line=_MARKERS)
        _warn(text, path)
    return names


def _cells(line: str) -> list[str]:
    """Return the cells of a line, without empty ones after a whole marker at its end."""
    cells = [cell.strip() for cell in line.split("\t")]
    while len(cells) > 2 and not any(cells[(last := 2 + 3 * ((len(cells) - 3) // 3)) :]):
        del cells[last:]
    return cells


def _row(cells: list[str], width: int, k: int, names: list[str], path: str | Path, decimal: str) -> list[float]:
    """Return frame, time and coordinates; NaN for empty cells and for markers missing at the end."""
    if len(cells) > width or len(cells) < 2 or (len(cells) - 2) % 3:
        raise FileFormatError(f"expected {width} cells (or whole markers fewer), got {len(cells)}", path=path, line=k)
    header = ["Frame#", "Time", *(f"{name or 'unnamed'} {axis}" for name in names for axis in "XYZ")]
    values = [
        number(
            cell,
            path=path,
            line=k,
            column=column_name(i, header),
            decimal=decimal,
            missing=MISSING if i > 1 else (),
        )
        for i, cell in enumerate(cells)
    ]
    return values + [np.nan] * (width - len(values))


def _check_times(t: Array, first: int, path: str | Path) -> None:
    back = np.diff(t) <= 0.0
    if back.any():
        k = int(np.argmax(back)) + 1
        raise FileFormatError(
            f"times must increase, got {t[k]:g} after {t[k - 1]:g}", path=path, line=first + k, key="column 2 (Time)"
        )
