"""The reach-to-grasp recording of the R package kinesis: index finger and thumb, Optotrak at 85 Hz.

``rtgData.txt``, tab-separated, of github.com/ccamp83/kinesis (C. Campagnoli, MIT license): one subject, 45 trials out
and back.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from ...checks import Array
from ...errors import FileFormatError, ThunderError
from ...files import as_file
from ..motion_set import MotionSet
from ..plausibility import check_plausible
from ..trial import Trial
from .lost import without_lost
from .text import LARGEST

RATE = 85.0
_MARKERS = ("index", "thumb")
#: the column "time" restarts within trials; only this one increases
_CLOCK = "globalTime"
#: bound of numbers of trials and of times [ms]
_LARGEST_NUMBER = 1e15


def load_kinesis(path: str | Path, marker: str = "index", *, drop_start: float = 0.0) -> MotionSet:
    r"""Read the reach-to-grasp recording of kinesis.

    Times are globalTime; frames are 11 to 60 ms apart (`resample` makes steps equal). While a finger is occluded, the
    file repeats its last position. Frames flagged by fingersOccluded or equal to the previous frame become gaps.

    Parameters
    ----------
    path : path-like
        The file.
    marker : str
        ``"index"``, ``"thumb"``, or ``"both"`` for dofs ``index_x`` ... ``thumb_z``.
    drop_start : float
        Time to drop at the start of every trial [s], which can contain the end of the return movement of the previous
        trial; 0.15 s are about ten frames.

    Returns
    -------
    MotionSet
        One trial per trialN, positions [m] in the frame ``"laboratory"``; times are from the start of the trial.

    Raises
    ------
    FileFormatError
        With the line, for missing columns, rows that are not numbers, or times that do not increase.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from thunder_py.recordings.loaders import load_kinesis
    >>> names = ["subjName", "trialN", "globalTime", "fingersOccluded"]
    >>> names += [f"{finger}{axis}raw" for finger in ("index", "thumb") for axis in "XYZ"]
    >>> rows = [names, *(["cc", "0", str(12 * k), "0", str(300 + k), *"00000"] for k in range(3))]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "rtg.txt").write_text("\n".join("\t".join(row) for row in rows))
    ...     (trial,) = load_kinesis(Path(folder) / "rtg.txt", "index")
    >>> trial.name, trial.task, trial.position[:, 0].round(6).tolist()
    ('cc/0', 'reach-to-grasp', [0.3, 0.301, 0.302])
    """
    if marker not in (*_MARKERS, "both"):
        raise ThunderError(f"marker must be index, thumb or both, got {marker!r}")
    if not drop_start >= 0.0:
        raise ThunderError(f"drop_start must not be negative [s], got {drop_start!r}")
    file = Path(path)
    names, subjects, values = _table(file)
    columns = {name: values[:, k] for k, name in enumerate(names)}
    trials: list[Trial] = []
    for number in dict.fromkeys(columns["trialN"].tolist()):
        rows = np.flatnonzero(columns["trialN"] == number)
        _check_clock(columns[_CLOCK][rows], rows, number, file)
        trial = _trial(columns, rows, marker, file).with_labels(
            subject=subjects[rows[0]], task="reach-to-grasp", name=f"{subjects[rows[0]]}/{number:g}"
        )
        trials.append(trial.slice(drop_start, trial.t[-1]) if drop_start else trial)
    check_plausible(trials, ())
    return MotionSet(trials)


def _needed() -> list[str]:
    return ["trialN", _CLOCK, "fingersOccluded", *(f"{m}{axis}raw" for m in _MARKERS for axis in "XYZ")]


def _table(path: Path) -> tuple[list[str], list[str], Array]:
    """Return the names of the required columns, the subject of every row and the values (rows, columns)."""
    lines = as_file(path, most=LARGEST).read_text(encoding="utf-8", errors="replace").splitlines()
    header = lines[0].split("\t") if lines else []
    names = _needed()
    missing = [name for name in ("subjName", *names) if name not in header]
    if missing:
        raise FileFormatError(f"expected tab-separated columns, among them {', '.join(missing)}", path=path, line=1)
    columns = [header.index(name) for name in names]
    subject = header.index("subjName")
    subjects, values = [], np.empty((len(lines) - 1, len(names)))
    for k, line in enumerate(lines[1:]):
        words = line.split("\t")
        if len(words) != len(header):
            raise FileFormatError(f"expected {len(header)} columns, got {len(words)}", path=path, line=k + 2)
        try:
            values[k] = [float(words[column]) for column in columns]
        except ValueError as error:
            raise FileFormatError(f"expected a number: {error}", path=path, line=k + 2) from None
        subjects.append(words[subject])
    if not (np.isfinite(values[:, :3]).all() and np.abs(values[:, :2]).max(initial=0.0) < _LARGEST_NUMBER):
        raise FileFormatError(f"trialN, {_CLOCK} and fingersOccluded must be numbers in every row", path=path)
    if not subjects:
        raise FileFormatError("expected rows below the header, got none", path=path, line=1)
    return names, subjects, values


def _check_clock(milliseconds: Array, rows: npt.NDArray[np.intp], number: float, path: Path) -> None:
    back = np.diff(milliseconds) <= 0.0
    if len(rows) < 2:
        line = int(rows[0]) + 2
        raise FileFormatError(f"trial {number:g} must have two rows or more, got one row", path=path, line=line)
    if back.any():
        k = int(np.argmax(back)) + 1
        raise FileFormatError(
            f"{_CLOCK} must increase in trial {number:g}, got {milliseconds[k - 1]:g} then {milliseconds[k]:g} ms",
            path=path,
            line=int(rows[k]) + 2,
        )


def _trial(columns: dict[str, Array], rows: npt.NDArray[np.intp], marker: str, path: Path) -> Trial:
    t = 1e-3 * (columns[_CLOCK][rows] - columns[_CLOCK][rows[0]])
    occluded = columns["fingersOccluded"][rows] != 0.0
    parts = [_positions(columns, rows, name, occluded, path) for name in (_MARKERS if marker == "both" else (marker,))]
    if marker != "both":
        return Trial.from_positions(t, parts[0], rate=RATE, frame="laboratory")
    dofs = tuple(f"{name}_{axis}" for name in _MARKERS for axis in "xyz")
    return Trial(t, np.hstack(parts), dofs, ("m",) * 6, rate=RATE, frame="laboratory")


def _positions(
    columns: dict[str, Array], rows: npt.NDArray[np.intp], marker: str, occluded: npt.NDArray[np.bool_], path: Path
) -> Array:
    """Return positions of a marker (rows, 3) [m], NaN where not measured."""
    p = np.column_stack([columns[f"{marker}{axis}raw"][rows] for axis in "XYZ"])
    frozen = np.concatenate([[False], (np.diff(p, axis=0) == 0.0).all(axis=1)])
    p[occluded | frozen | ~np.isfinite(p).all(axis=1)] = np.nan
    return without_lost(1e-3 * p[:, None], [marker], path)[:, 0]
