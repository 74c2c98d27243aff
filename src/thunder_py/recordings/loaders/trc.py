"""Markers from TRC files (Motion Analysis, OpenSim)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ...checks import Array
from ...errors import FileFormatError
from ..motion_set import MotionSet
from ..trial import to_si
from .text import agreed_rate, agreed_unit, check_rate, chosen, column_name, marker_trials, number, read_lines

__all__ = ["load_trc"]

#: line numbers of the header, from 1
_TYPE, _KEYS, _VALUES, _MARKERS, _AXES = 1, 2, 3, 4, 5
_NEEDED = ("DataRate", "NumFrames", "NumMarkers", "Units")


def load_trc(
    path: str | Path,
    *,
    markers: Sequence[str] | None = None,
    unit: str | None = None,
    rate: float | None = None,
    frame: str = "",
    subject: str = "",
    task: str = "",
) -> MotionSet:
    r"""Read a TRC file: one trial per marker, with its name.

    Unit, rate, numbers of frames and markers come from the header and are checked against the data. Empty cells, and
    markers missing at the end of a line, are gaps.

    Parameters
    ----------
    path : path-like
        The file.
    markers : sequence of str, optional
        Markers to read, in this order; all by default.
    unit : str, optional
        Expected unit (m, cm or mm), required if the header has none.
    rate : float, optional
        Expected rate [Hz], to 1 %.
    frame, subject, task : str
        Labels of the trials.

    Returns
    -------
    MotionSet
        One trial per marker.

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
    lines = read_lines(path)
    header = _header(lines, path)
    factor = to_si(agreed_unit(header["Units"], unit, path, "Units"))
    hertz = agreed_rate(_number(header, "DataRate", path), rate, path, "DataRate")
    names = _names(lines, int(_number(header, "NumMarkers", path)), path)
    first = next((k for k in range(_AXES, len(lines)) if lines[k].strip()), len(lines))
    rows = [_row(line, 3 * len(names) + 2, k, names, path) for k, line in enumerate(lines[first:], first + 1)]
    if len(rows) != int(_number(header, "NumFrames", path)) or len(rows) < 2:
        raise FileFormatError(
            f"expected {header['NumFrames']} frames (two or more), got {len(rows)}", path=path, key="NumFrames"
        )
    table = np.array(rows)
    t = table[:, 1]
    _check_times(t, first + 1, path)
    check_rate(t, hertz, path)
    indices = chosen(markers, names, path)
    points = table[:, 2:].reshape(len(table), -1, 3)[:, indices]
    return marker_trials(t, factor * points, [names[k] for k in indices], hertz, frame, subject, task)


def _header(lines: list[str], path: str | Path) -> dict[str, str]:
    if len(lines) <= _AXES or not lines[_TYPE - 1].startswith("PathFileType"):
        raise FileFormatError("expected a TRC file, whose first line begins with PathFileType", path=path, line=_TYPE)
    keys, values = lines[_KEYS - 1].split(), lines[_VALUES - 1].split("\t")
    values = [value.strip() for value in values]
    if len(values) < len(keys):
        values = lines[_VALUES - 1].split()  # separated by blanks
    if len(values) < len(keys):
        raise FileFormatError(
            f"expected a value for each of {', '.join(keys)}, got {len(values)}", path=path, line=_VALUES
        )
    header = dict(zip(keys, values, strict=False))
    if missing := [key for key in _NEEDED if key not in header]:
        raise FileFormatError(f"the header must hold {', '.join(missing)}", path=path, line=_KEYS)
    return header


def _number(header: dict[str, str], key: str, path: str | Path) -> float:
    return number(header[key], path=path, line=_VALUES, column=key, missing=())


def _names(lines: list[str], count: int, path: str | Path) -> list[str]:
    """Return the names of the markers, each above the first of three columns."""
    cells = [cell.strip() for cell in lines[_MARKERS - 1].split("\t")]
    names = [cell for cell in cells[2:] if cell]
    if len(names) != count:
        raise FileFormatError(
            f"expected {count} markers as in NumMarkers, got {len(names)}: {', '.join(names)}",
            path=path,
            line=_MARKERS,
        )
    return names


def _row(line: str, width: int, k: int, names: list[str], path: str | Path) -> list[float]:
    """Return frame, time and coordinates; NaN for empty cells and for markers missing at the end."""
    cells = [cell.strip() for cell in line.split("\t")]
    while len(cells) > width and not cells[-1]:
        cells.pop()
    if len(cells) > width or len(cells) < 2 or (len(cells) - 2) % 3:
        raise FileFormatError(f"expected {width} cells (or whole markers fewer), got {len(cells)}", path=path, line=k)
    header = ["Frame#", "Time", *(f"{name} {axis}" for name in names for axis in "XYZ")]
    values = [
        number(cell, path=path, line=k, column=column_name(i, header), missing=("", "nan", "NaN") if i > 1 else ())
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
