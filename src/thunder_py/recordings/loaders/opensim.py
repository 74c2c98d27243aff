"""Coordinates and other columns of OpenSim's motion and storage files."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from ...checks import one_of
from ..motion_set import MotionSet
from ..plausibility import check_plausible
from ..trial import ANGLES, Trial
from .text import UNITS, TextFile, cells_of, chosen, column_name, distinct, rate_of

#: files without coordinates, by their first line
_NO_COORDINATES = re.compile(r"veloc|accel|speed|force|moment|power|activ|control|_u\b|dudt", re.IGNORECASE)
#: columns that only coordinates have
_COORDINATE = re.compile(r"_t[xyz]\b|/value\b", re.IGNORECASE)
#: columns of times, of lengths, of quantities that are neither lengths nor angles, and of lengths as well
_KINDS = {
    re.compile(r"^time$", re.IGNORECASE): "",
    re.compile(r"_[tp][xyz](/value)?$", re.IGNORECASE): "m",
    re.compile(
        r"_[vfmu][xyz]?$|/(?!value$)[^/]*$|force|moment|torque|power|speed|activ|length|excit|reserve", re.I
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
    header = {pair[1].lower(): pair[2] for pair in pairs if pair}
    if (kind := header.get("datatype", "double").lower()) != "double":
        file.refuse(f"expected numbers in columns, got DataType={kind}; write them as columns of numbers")
    mark = "\t" if "\t" in lines[start] else None
    names = distinct(cells_of(lines[start].rstrip(), mark), path, "columns")
    clock = [k for k, name in enumerate(names) if name.lower() == "time"]
    if len(clock) != 1:
        file.refuse(f"expected one column time, got {', '.join(names)}", start + 1)
    rows = [(k, cells_of(line.rstrip(), mark)) for k, line in enumerate(lines[start + 1 :], start + 2) if line.strip()]
    if len(rows) < 2:
        file.refuse(f"expected two rows of numbers or more, got {len(rows)}")
    for keys, what, count in (("nrows datarows", "rows", len(rows)), ("ncolumns datacolumns", "columns", len(names))):
        expected = [header[key] for key in keys.split() if key in header]
        if expected and expected[0] != str(count):
            file.warn(
                f"expected {expected[0]} {what} as in the header, got {count}: the file was changed, or is cut off"
            )
    units = _units(names, header, unit if isinstance(unit, str) else None, file)
    for name, each in (unit if isinstance(unit, Mapping) else {}).items():
        units[name] = one_of(each, UNITS, "unit")
    others = [name for k, name in enumerate(names) if name not in units and k not in clock]
    if columns is None:
        columns = [name for name in names if name in units]
        if others and columns:
            text = f"{len(others)} columns were left out, whose unit is not known: {', '.join(others[:5])}"
            file.warn(f"{text}; pass unit={{{others[0]!r}: '1'}}, or the right unit, for those to be read")
    if unknown := [name for name in columns or others if name in others]:
        text = f"the unit of {', '.join(unknown[:5])} is not known"
        file.refuse(f"{text}; pass unit={{{unknown[0]!r}: '1'}}, or the right unit, of every column")
    at = chosen(columns, names, path, "column")
    read = {*at, *clock}
    values = file.numbers(rows, [name if k in read else None for k, name in enumerate(names)], clock)
    t = values[:, clock[0]]
    file.check_increasing(t, [k for k, _ in rows], column_name(clock[0], "time"))
    factors, si = zip(*(UNITS[units[names[k]]] for k in at), strict=True)
    labels = {"frame": frame, "subject": subject, "task": task, "name": Path(path).stem}
    motions = MotionSet([Trial(t, values[:, at] * factors, tuple(names[k] for k in at), si, rate=rate_of(t), **labels)])
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
    angle = {"yes": "deg", "no": "rad"}.get(degrees) if angle is None else one_of(angle, ANGLES, "unit")
    if angle is None and None in kinds.values():
        file.refuse("the header has no inDegrees; pass unit='deg' or unit='rad'")
    return {name: angle or "" if kind is None else kind for name, kind in kinds.items() if kind != ""}
