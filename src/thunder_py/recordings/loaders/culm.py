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
from ...files import as_file
from ..motion_set import MotionSet
from ..plausibility import check_plausible
from ..trial import Trial
from .lost import without_lost
from .text import LARGEST

RATE = 120.0
_HEADER = "t;X;Y;Z"
#: significant digits of printed times
_DIGITS = 5
#: bound of times [s]
_LATEST = 1e9


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
    with as_file(path, most=LARGEST).open(encoding="ascii", errors="replace") as file:
        header = file.readline().strip()
        if header != _HEADER:
            raise FileFormatError(f"expected the header {_HEADER!r}, got {header[:80]!r}", path=path, line=1)
        try:
            rows = np.loadtxt(file, delimiter=";", ndmin=2, dtype=np.float64)
        except ValueError as error:
            raise FileFormatError(f"expected four numbers in every row: {error}", path=path) from None
    if rows.shape[1:] != (4,) or len(rows) < 2:
        raise FileFormatError(f"expected two rows of four numbers or more, got shape {rows.shape}", path=path)
    if np.isinf(rows).any() or not (np.abs(rows[:, 0]) < _LATEST).all():
        raise FileFormatError("expected finite numbers and a time in every row", path=path)
    labels = {"frame": "laboratory", "subject": path.parent.name, "task": _task(path)}
    name = f"{path.parent.name}/{path.stem}"
    points = without_lost(rows[:, None, 1:], [name], path)[:, 0]
    return Trial.from_positions(_times(rows[:, 0], path), points, rate=RATE, name=name, **labels)


def _times(printed: Array, path: Path) -> Array:
    """Return the times k / 120 s; printed times must agree to half a unit of their last digit."""
    first = round(printed[0] * RATE)
    t: Array = (first + np.arange(len(printed))) / RATE
    digits = np.floor(np.log10(np.maximum(np.abs(printed), 1e-300)))
    unit = 10.0 ** (digits - (_DIGITS - 1))
    wrong = ~(np.abs(printed - t) <= 0.5 * unit + 1e-9)
    if wrong.any():
        k = int(np.argmax(wrong))
        raise FileFormatError(
            f"expected time {t[k]:.{_DIGITS}g} s at {RATE:g} Hz, got {printed[k]:.9g}", path=path, line=k + 2
        )
    return t
