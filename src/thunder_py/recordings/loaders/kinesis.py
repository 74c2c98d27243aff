"""The reach-to-grasp recording of the R package kinesis: index finger and thumb, Optotrak at 85 Hz.

``rtgData.txt``, tab-separated, of github.com/ccamp83/kinesis (C. Campagnoli, MIT license): one subject, 45 trials out
and back.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ...checks import nonnegative, one_of
from ..motion_set import MotionSet
from ..plausibility import check_plausible
from ..trial import POSITION, Trial
from .lost import without_lost
from .text import TextFile

RATE = 85.0
_MARKERS = ("index", "thumb")
#: the column "time" restarts within trials; only this one increases
_CLOCK = "globalTime"
#: columns to read; the first three have a number in every row
_READ = ("trialN", _CLOCK, "fingersOccluded", *(f"{marker}{axis}raw" for marker in _MARKERS for axis in "XYZ"))


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
    one_of(marker, (*_MARKERS, "both"), "marker")
    nonnegative(drop_start, "drop_start", unit="s")
    file = TextFile(path)
    header, *rows = (line.split("\t") for line in file.lines)
    if missing := [name for name in ("subjName", *_READ) if name not in header]:
        file.refuse(f"expected tab-separated columns, among them {', '.join(missing)}", 1)
    if not rows:
        file.refuse("expected rows below the header, got none", 1)
    at = [header.index(name) for name in _READ]
    read = [name if k in at else None for k, name in enumerate(header)]
    values = file.numbers(enumerate(rows, 2), read, complete=at[:3])[:, at]
    markers = [each for each in _MARKERS if marker in (each, "both")]
    dofs = POSITION if marker != "both" else tuple(f"{each}_{axis}" for each in _MARKERS for axis in "xyz")
    trials: list[Trial] = []
    for number in dict.fromkeys(values[:, 0].tolist()):
        of = np.flatnonzero(values[:, 0] == number)
        if len(of) < 2:
            file.refuse(f"trial {number:g} must have two rows or more, got one row", int(of[0]) + 2)
        _, clock, occluded, *p = values[of].T
        file.check_increasing(clock, (of + 2).tolist(), f"{_CLOCK} of trial {number:g}")
        # (T, markers, 3), NaN where not measured
        points = np.stack(p, axis=1).reshape(len(of), -1, 3)[:, [_MARKERS.index(each) for each in markers]]
        frozen = np.concatenate([[[False] * len(markers)], (np.diff(points, axis=0) == 0.0).all(axis=2)])
        points[(occluded != 0.0)[:, None] | frozen | np.isnan(points).any(axis=2)] = np.nan
        points = without_lost(1e-3 * points, markers, path).reshape(len(of), -1)
        subject = rows[of[0]][header.index("subjName")]
        labels = {"subject": subject, "task": "reach-to-grasp", "name": f"{subject}/{number:g}", "frame": "laboratory"}
        with np.errstate(over="ignore"):  # numbers of damaged files
            t = 1e-3 * (clock - clock[0])
        trial = Trial(t, points, dofs, ("m",) * len(dofs), rate=RATE, **labels)
        trials.append(trial.slice(drop_start, trial.t[-1]) if drop_start else trial)
    check_plausible(trials, ())
    return MotionSet(trials)
