"""CULM, "Complex Upper-Limb Movements" (PhysioNet 1.0.0): one marker on the hand, Vicon at 120 Hz.

A folder per subject (``S02``, ...) holds a file per trial (``Planned01.csv``): ``t;X;Y;Z`` in s and m. Described in
Miranda, Daneault, Vergara-Diaz et al., Scientific Reports 8:12918 (2018), doi:10.1038/s41598-018-29470-y.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from ...checks import Array
from ...errors import FileFormatError
from ..motion_set import MotionSet
from ..plausibility import check_plausible
from ..trial import Trial
from .lost import without_lost
from .text import TextFile

RATE = 120.0
_HEADER = "t;X;Y;Z"
#: significant digits of printed times
_DIGITS = 5


def load_culm(folder: str | Path, task: str | None = None) -> MotionSet:
    r"""Read the recordings of CULM.

    Times are printed with five digits, that is 10 ms from 100 s on. They are replaced by k / 120 s, which is compared
    with the printed times.

    Parameters
    ----------
    folder : path-like
        Folder with a folder ``S<number>`` per subject.
    task : str, optional
        ``"Planned"`` (all trials of this task) or ``"Planned01"``; by default all recordings.

    Returns
    -------
    MotionSet
        Positions [m] in the frame ``"laboratory"``, sorted by subject; task ``"Planned"``, name ``"S02/Planned01"``.

    Raises
    ------
    FileFormatError
        If there is no such recording, or a file has another header, invalid numbers, or times other than k / 120.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from thunder_py.recordings.loaders import load_culm
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     (Path(folder) / "S02").mkdir()
    ...     _ = (Path(folder) / "S02" / "Planned01.csv").write_text("t;X;Y;Z\n0;0;0;0.5\n0.0083333;0.01;0;0.5\n")
    ...     (trial,) = load_culm(folder)
    >>> trial.name, trial.task, trial.rate, trial.position.tolist()
    ('S02/Planned01', 'Planned', 120.0, [[0.0, 0.0, 0.5], [0.01, 0.0, 0.5]])
    """
    root = Path(folder)
    paths = [path for path in root.glob("S*/*.csv") if task is None or task in (path.stem, _task(path))]
    if not paths:
        suffix = "" if task is None else f" of task {task!r}"
        raise FileFormatError(f"expected recordings{suffix} as S<number>/<task><number>.csv, found none", path=root)
    motions = MotionSet(_read(path) for path in sorted(paths, key=_order))
    check_plausible(motions, ())
    return motions


def _task(path: Path) -> str:
    return path.stem.rstrip("0123456789")


def _order(path: Path) -> tuple[int, str]:
    number = re.fullmatch(r"S(\d+)", path.parent.name)
    if number is None:
        raise FileFormatError(f"expected a folder S<number> per subject, got {path.parent.name!r}", path=path)
    return int(number[1]), path.stem


def _read(path: Path) -> Trial:
    file = TextFile(path)
    if (header := file.lines[0].strip()) != _HEADER:
        file.refuse(f"expected the header {_HEADER!r}, got {header[:80]!r}", 1)
    cells = enumerate((line.split(";") for line in file.lines[1:]), 2)
    values = file.numbers(cells, _HEADER.split(";"), complete=[0])
    if len(values) < 2:
        file.refuse(f"expected two rows or more, got {len(values)}")
    printed, name = values[:, 0], f"{path.parent.name}/{path.stem}"
    t: Array = (np.rint(float(printed[0]) * RATE) + np.arange(len(printed))) / RATE
    # printed times agree to half a unit of their last digit
    unit = 10.0 ** (np.floor(np.log10(np.maximum(np.abs(printed), 1e-300))) - (_DIGITS - 1))
    for k in np.flatnonzero(~(np.abs(printed - t) <= 0.5 * unit + 1e-9))[:1]:
        text = f"expected time {t[k]:.{_DIGITS}g} s at {RATE:g} Hz, got {printed[k]:.9g}"
        file.refuse(text, int(k) + 2)
    points = without_lost(values[:, None, 1:], [name], path)[:, 0]
    labels = {"frame": "laboratory", "subject": path.parent.name, "task": _task(path)}
    return Trial.from_positions(t, points, rate=RATE, name=name, **labels)
