"""U-Limb, the recordings of Hannover (MHH): Vicon markers, a table of 63 columns per trial.

Database: doi:10.7910/DVN/FU3QZ9, described in Averta et al., GigaScience 10:giab043 (2021). The format follows code of
its users: 21 markers with x, y, z each, data from the third row on.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ...checks import one_of, positive
from ...errors import FileFormatError
from ...tabular.text import cells_of, guess_delimiter
from ..motion_set import MotionSet
from ..plausibility import check_plausible
from ..trial import Trial, to_si
from .rigid_groups import relative_trials
from .text import TextFile, marker_trials

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
    r"""Read poses of the wrist relative to the chest from the Vicon recordings of U-Limb.

    Both are rigid groups of markers, as in `load_ulimb_unipi`. The shape of a group is estimated from all tables of a
    folder and fitted to the visible markers of a frame; the origin is its centroid. The description of the database
    does not assign the names to segments. By default the limb is the wrist and the forearm (WRA, WRB, RU_1 to RU_4) and
    the chest is CS_1 to CS_4; H_1 to H_6 may be the hand or the humerus. Inspect a recording (`read_mhh`) before use.

    Parameters
    ----------
    path : path-like
        A table, or a folder searched recursively for .csv, .tsv and .txt.
    rate : float
        Sampling rate [Hz]; required, because tables do not contain it.
    unit : str
        m, cm or mm; required, because tables do not contain it.
    limb, chest : sequence of str
        Three markers or more each, see `MARKERS`; the first three must not be in line.
    most_residual : float
        Frames with a larger root mean square residual of a group [m] become gaps.
    subject, task : str, optional
        Labels of all trials; by default names of the folder and of the file.

    Returns
    -------
    MotionSet
        Trials with dofs x, y, z, rx, ry, rz in the frame ``"chest"``, NaN where one of the groups was not seen.

    Raises
    ------
    FileFormatError
        With line and column, for tables of another width and cells that are not numbers; if there are no tables.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from thunder_py.recordings.loaders import load_ulimb_mhh
    >>> markers = np.random.default_rng(0).uniform(0.0, 300.0, 63)  # at rest, mm
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savetxt(Path(folder) / "a.csv", [markers] * 3, delimiter=",", header="MHH\nVicon", comments="")
    ...     (trial,) = load_ulimb_mhh(folder, rate=100.0, unit="mm", subject="S1", task="T1")
    >>> trial
    <Trial x y z rx ry rz: 3 samples at 100 Hz, 0.02 s, frame='chest', subject='S1', task='T1', name='a'>
    """
    root = Path(path)
    for name in (*limb, *chest):
        one_of(name, MARKERS, "limb and chest")
    files = sorted(f for f in root.rglob("*") if f.suffix in (".csv", ".tsv", ".txt")) if root.is_dir() else [root]
    folders: dict[Path, list[tuple[str, MotionSet]]] = {}
    for file in files:
        recording = read_mhh(file, rate=rate, unit=unit, subject=subject, task=task)
        folders.setdefault(file.parent, []).append((file.stem, recording))
    if not folders:
        raise FileFormatError("expected tables .csv, .tsv or .txt, found none", path=root)
    trials: list[Trial] = []
    for folder, recordings in folders.items():
        groups = {"limb": limb, "chest": chest}
        trials += relative_trials(recordings, groups, most_residual=most_residual, unit=unit, folder=folder)
    check_plausible(trials, ("unit",))
    return MotionSet(trials)


def read_mhh(
    path: str | Path, *, rate: float, unit: str, subject: str | None = None, task: str | None = None
) -> MotionSet:
    """Read the markers of one table, a trial each.

    The table has 63 columns separated by tabs, semicolons, commas or blanks, and two rows of header.

    If the first or second row names all of `MARKERS`, each above the first of three columns, columns are assigned by
    name, otherwise in the order of `MARKERS`. An empty cell or NaN in any coordinate means that the marker was not
    seen, and so does a jump to exactly 0, 0, 0.
    """
    hertz, factor = positive(rate, "rate", "Hz"), to_si(unit)
    file, text = Path(path), TextFile(path)
    if len(text.lines) < _HEADER + 2:
        text.refuse(f"expected two rows of data or more from line 3 on, got {len(text.lines)} lines")
    delimiter = guess_delimiter(text.lines[_HEADER])
    rows = ((k, cells_of(line, delimiter)) for k, line in enumerate(text.lines[_HEADER:], _HEADER + 1))
    values = text.numbers(rows, [""] * (3 * len(MARKERS)))
    points = factor * values.reshape(len(values), -1, 3)
    subject = file.parent.name if subject is None else subject
    task = file.stem if task is None else task
    t, points = np.arange(len(points)) / hertz, points[:, _order(text.lines[:_HEADER], delimiter)]
    return marker_trials(t, points, MARKERS, file, rate=hertz, subject=subject, task=task)


def _order(header: list[str], delimiter: str | None) -> list[int]:
    """Return the position of each of `MARKERS` in the table."""
    for line in header:
        cells = cells_of(line, delimiter)
        # Vicon puts the subject before the marker: "arm:WRA"
        names = [cell.rpartition(":")[2] for cell in cells[:: 1 if len(cells) == len(MARKERS) else 3]]
        if len(cells) <= 3 * len(MARKERS) and sorted(names) == sorted(MARKERS):
            return [names.index(marker) for marker in MARKERS]
    return list(range(len(MARKERS)))
