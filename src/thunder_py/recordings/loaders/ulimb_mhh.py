"""U-Limb, the recordings of Hannover (MHH): Vicon markers, a table of 63 columns per trial.

Database: doi:10.7910/DVN/FU3QZ9, described in Averta et al., GigaScience 10:giab043 (2021). Its form is taken here from
how its users read it: 21 markers with x, y, z each, data from the third row on.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ...errors import FileFormatError, ThunderError
from ..motion_set import MotionSet
from ..trial import Trial, to_si
from .rigid_groups import MarkerRecording, masked, relative_trials
from .text import cells_of, column_name, guess_delimiter, number, positive_rate, read_lines

__all__ = ["MARKERS", "load_ulimb_mhh", "read_mhh"]

#: in the order of the columns
MARKERS = (
    *("WRA", "WRB", "RU_1", "RU_2", "RU_3", "RU_4", "ELB_M", "ELB_L"),
    *("H_1", "H_2", "H_3", "H_4", "H_5", "H_6", "SA_1", "SA_2", "SA_3", "CS_1", "CS_2", "CS_3", "CS_4"),
)
_HEADER = 2
_HAND = ("WRA", "WRB", "RU_1", "RU_2", "RU_3", "RU_4")
_CHEST = ("CS_1", "CS_2", "CS_3", "CS_4")


def load_ulimb_mhh(
    path: str | Path,
    *,
    rate: float,
    unit: str,
    limb: Sequence[str] = _HAND,
    chest: Sequence[str] = _CHEST,
    most_residual: float = 0.02,
    subject: str | None = None,
    task: str | None = None,
) -> MotionSet:
    """Read poses of the wrist relative to the chest from the Vicon recordings of U-Limb.

    Both are rigid groups of markers, as in `load_ulimb_unipi`: the pose is that of the group's shape, learnt over all
    tables of a folder, fitted to the markers that a frame has; the origin is its centroid. The database's
    description leaves open which segments the names mean. By default the limb is the wrist and the forearm (WRA, WRB,
    RU_1 to RU_4) and the chest is CS_1 to CS_4; H_1 to H_6 may be the hand or the humerus. Look at a recording
    (`read_mhh`) before you rely on it.

    Parameters
    ----------
    path : path-like
        A table, or a folder that is searched with its subfolders for .csv, .tsv and .txt.
    rate, unit
        Sampling rate [Hz]; m, cm or mm. There are no defaults: the tables do not say.
    limb, chest : sequence of str
        Three markers or more each, see `MARKERS`; the first three are not in line.
    most_residual : float
        Frames in which a group fits worse than this (root mean square) [m] are gaps.
    subject, task : str, optional
        Labels of all trials; by default names of the folder and of the file.

    Returns
    -------
    MotionSet
        dofs x, y, z, rx, ry, rz in the frame ``"chest"``, NaN where one of the groups was not seen.

    Raises
    ------
    FileFormatError
        With line and column, for tables of another width and cells that are not numbers; if there are no tables.
    """
    root = Path(path)
    for name in (*limb, *chest):
        if name not in MARKERS:
            raise ThunderError(f"limb and chest must be of {', '.join(MARKERS)}, got {name!r}")
    files = sorted(f for f in root.rglob("*") if f.suffix in (".csv", ".tsv", ".txt")) if root.is_dir() else [root]
    folders: dict[Path, list[MarkerRecording]] = {}
    for file in files:
        recording = read_mhh(file, rate=rate, unit=unit, subject=subject, task=task)
        folders.setdefault(file.parent, []).append(recording)
    if not folders:
        raise FileFormatError("expected tables .csv, .tsv or .txt, found none", path=root)
    trials: list[Trial] = []
    for folder, recordings in folders.items():
        trials.extend(relative_trials(recordings, limb, chest, most_residual=most_residual, unit=unit, folder=folder))
    return MotionSet(trials)


def read_mhh(
    path: str | Path, *, rate: float, unit: str, subject: str | None = None, task: str | None = None
) -> MarkerRecording:
    """Read the markers of one table: 63 columns divided by tabs, semicolons, commas or blanks, two rows of header.

    Where the first or second row names all of `MARKERS`, one over the first of three columns each, columns are taken by
    name; otherwise in the order of `MARKERS`. An empty cell or NaN in any coordinate: the marker was not seen.

    Returns
    -------
    MarkerRecording
        In metres; the first data row is t = 0.
    """
    hertz, factor = positive_rate(rate), to_si(unit)
    file = Path(path)
    lines = read_lines(file)
    if len(lines) < _HEADER + 2:
        raise FileFormatError(f"expected two rows of data or more from line 3 on, got {len(lines)} lines", path=file)
    delimiter = guess_delimiter(lines[_HEADER])
    width = 3 * len(MARKERS)
    values = np.empty((len(lines) - _HEADER, width))
    for k, line in enumerate(lines[_HEADER:]):
        cells = cells_of(line, delimiter)
        if len(cells) != width:
            raise FileFormatError(f"expected {width} columns, got {len(cells)}", path=file, line=k + _HEADER + 1)
        for j, cell in enumerate(cells):
            values[k, j] = number(cell, path=file, line=k + _HEADER + 1, column=column_name(j, None))
    points = factor * values.reshape(len(values), -1, 3)
    return MarkerRecording(
        np.arange(len(points)) / hertz,
        masked(points[:, _order(lines[:_HEADER], delimiter)]),
        MARKERS,
        hertz,
        subject=file.parent.name if subject is None else subject,
        task=file.stem if task is None else task,
        name=file.stem,
    )


def _order(header: list[str], delimiter: str | None) -> list[int]:
    """Return where in the table each of `MARKERS` stands."""
    for line in header:
        cells = cells_of(line, delimiter)
        # Vicon writes the subject before the marker: "arm:WRA"
        names = [cell.rpartition(":")[2] for cell in cells[:: 1 if len(cells) == len(MARKERS) else 3]]
        if len(cells) <= 3 * len(MARKERS) and sorted(names) == sorted(MARKERS):
            return [names.index(marker) for marker in MARKERS]
    return list(range(len(MARKERS)))
