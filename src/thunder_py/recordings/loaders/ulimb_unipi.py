"""U-Limb, the recordings of Pisa (UNIPI): PhaseSpace markers at 100 Hz in mm, a MATLAB file per trial.

Database: doi:10.7910/DVN/FU3QZ9, described in Averta et al., GigaScience 10:giab043 (2021). The format follows code of
its users: folders ``S2`` ... of files ``S<subject>_<task 1-30>_<repetition>.mat`` with a variable ``data``, one cell
per frame with rows ``[marker_id x y z ...]`` of the markers seen in this frame, and for every subject a file
``ID_Definition_S<subject>`` with the ids of the markers of each segment.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ...checks import Array
from ...errors import FileFormatError
from ...files import as_file
from ...tabular.mat_file import read_mat
from ..motion_set import MotionSet
from ..plausibility import check_plausible
from ..trial import Trial
from .rigid_groups import relative_trials
from .text import marker_trials

RATE = 100.0
#: bound of the ids of markers
_LARGEST_ID = 1 << 31
_FILE = re.compile(r"(S\d+)_(\d+)_(\d+)\.mat")
#: variables of an ID definition with the markers of a segment
_NAMES = {
    "arm": ("ArmIDS",),
    "forearm": ("ForearmIDS",),
    "hand": ("HandIDS",),
    "chest": ("ReferenceIDS", "ChestIDS"),
}

Ids = Mapping[str, Sequence[int]]


def load_ulimb_unipi(
    folder: str | Path,
    *,
    subject: str | None = None,
    task: str | None = None,
    segment: str = "hand",
    ids: Ids | Mapping[str, Ids] | None = None,
    most_residual: float = 0.02,
) -> MotionSet:
    """Read poses of the hand relative to the chest from the PhaseSpace recordings of U-Limb.

    Chest and hand are rigid groups of markers. The shape of each is estimated from all trials of a subject and fitted
    to the visible markers of a frame, three or more (`rigid_groups.rigid_poses`). The position is the centroid of the
    hand group in the frame of the chest group: origin at its centroid, x from its first marker to its second, z normal
    to the plane of its first three, in the order of the ID definition. The axes of the hand are defined likewise.

    Parameters
    ----------
    folder : path-like
        The folder of a subject, or a parent of such folders.
    subject, task : str, optional
        ``"S2"``, ``"17"``; by default all.
    segment : str
        ``"hand"``, ``"forearm"`` or ``"arm"``.
    ids : dict, optional
        ``{"hand": [...], "chest": [...]}`` for all subjects, or ``{"S2": {...}, ...}``; by default the files
        ``ID_Definition_S<subject>`` (.m or .mat) in the folder are read.
    most_residual : float
        Frames with a larger root mean square residual of a group [m] become gaps.

    Returns
    -------
    MotionSet
        Trials with dofs x, y, z, rx, ry, rz in the frame ``"chest"``, 100 Hz, NaN where chest or hand was not seen.

    Raises
    ------
    FileFormatError
        If there are no recordings, ids are undefined, no frame has a complete group, or a file has another format.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from scipy.io import savemat
    >>> from thunder_py.recordings.loaders import load_ulimb_unipi
    >>> frame = np.column_stack([range(8), np.random.default_rng(0).uniform(0.0, 200.0, (8, 3))])  # id, x, y, z in mm
    >>> cells = np.empty((3, 1), dtype=object)
    >>> for k in range(3):
    ...     cells[k, 0] = frame
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     savemat(Path(folder) / "S2_17_1.mat", {"data": cells})
    ...     (trial,) = load_ulimb_unipi(folder, ids={"hand": [0, 1, 2, 3], "chest": [4, 5, 6, 7]})
    >>> trial
    <Trial x y z rx ry rz: 3 samples at 100 Hz, 0.02 s, frame='chest', subject='S2', task='17', name='S2_17_1'>
    """
    root = Path(folder)
    files: dict[str, list[Path]] = {}
    for path in sorted(root.rglob("S*.mat"), key=lambda path: [int(n) for n in re.findall(r"\d+", path.stem)]):
        parts = _FILE.fullmatch(path.name)
        if parts and subject in (None, parts[1]) and task in (None, parts[2]):
            files.setdefault(parts[1], []).append(path)
    if not files:
        raise FileFormatError("expected recordings S<subject>_<task>_<repetition>.mat, found none", path=root)
    trials: list[Trial] = []
    for name, paths in files.items():
        recordings = [(path.stem, read_unipi(path)) for path in paths]
        groups = _groups(root, name, ids, segment)
        trials += relative_trials(recordings, groups, most_residual=most_residual, unit="mm", folder=paths[0].parent)
    check_plausible(trials, ())
    return MotionSet(trials)


def read_unipi(path: str | Path) -> MotionSet:
    """Read the markers of one trial, ``S<subject>_<task>_<repetition>.mat`` (MATLAB 5): one trial per marker.

    The names are the ids, in increasing order. A marker missing in a frame, with NaN, or jumping to exactly (0, 0, 0)
    was not seen.
    """
    file = Path(path)
    parts = _FILE.fullmatch(file.name)
    if parts is None:
        raise FileFormatError("expected a file S<subject>_<task>_<repetition>.mat", path=file)
    data = read_mat(file).get("data")
    if not isinstance(data, np.ndarray) or data.dtype != object or data.size < 2:
        raise FileFormatError("expected a cell array of two frames or more", path=file, key="data")
    frames = [_frame(cell, k, file) for k, cell in enumerate(data.ravel(order="F"), 1)]
    ids = np.unique(np.concatenate([frame[:, 0] for frame in frames]))
    if not len(ids):
        raise FileFormatError("expected markers, found none in any frame", path=file, key="data")
    points = np.full((len(frames), len(ids), 3), np.nan)
    for k, frame in enumerate(frames):
        points[k, np.searchsorted(ids, frame[:, 0])] = 1e-3 * frame[:, 1:]
    t, names = np.arange(len(frames)) / RATE, [f"{n:.0f}" for n in ids]
    return marker_trials(t, points, names, file, rate=RATE, subject=parts[1], task=parts[2])


def _frame(cell: Any, k: int, path: Path) -> Array:
    """Return the rows [id x y z] of one frame."""
    rows = np.asarray(cell)
    if rows.size == 0:
        return np.empty((0, 4))
    if rows.dtype.kind not in "fiu" or rows.ndim != 2 or rows.shape[1] < 4:
        text = f"expected rows [marker_id x y z ...] in frame {k}, got shape {rows.shape}"
        raise FileFormatError(text, path=path, key="data")
    ids = rows[:, 0].astype(np.float64)
    if not _whole(ids) or len(np.unique(ids)) < len(ids):
        raise FileFormatError(f"expected distinct whole ids in frame {k}, got {ids.tolist()}", path=path, key="data")
    return rows[:, :4].astype(np.float64)


def _whole(ids: npt.NDArray[Any]) -> bool:
    return ids.dtype.kind in "fiu" and bool((np.abs(ids) < _LARGEST_ID).all() and (ids == np.round(ids)).all())


def _groups(root: Path, subject: str, ids: Ids | Mapping[str, Ids] | None, segment: str) -> dict[str, list[str]]:
    """Return the names of the markers of `segment` and of the chest of one subject."""
    groups: Any
    if ids is None:
        name = f"ID_Definition_{subject}.*"
        files = [*sorted(root.rglob(name)), *root.parent.glob(name)]
        files = [path for path in files if path.suffix in (".m", ".mat")]
        if not files:
            raise FileFormatError(f"expected ID_Definition_{subject}.m or .mat, or ids=", path=root)
        groups = read_ids(files[0])
    else:
        groups = ids.get(subject, ids)
    for name in (segment, "chest"):
        if name not in groups or isinstance(groups[name], Mapping):
            text = f"expected ids of the {name} of {subject}, got {', '.join(map(str, groups))}"
            raise FileFormatError(text, path=root)
    return {name: [str(int(marker)) for marker in groups[name]] for name in (segment, "chest")}


def read_ids(path: str | Path) -> dict[str, list[int]]:
    """Read the markers of each segment from a script of assignments ``HandIDS = [1 2 3];`` or a .mat file.

    Returns
    -------
    dict
        Ids for the defined ones of ``"arm"``, ``"forearm"``, ``"hand"``, ``"chest"`` (ReferenceIDS or ChestIDS).
    """
    file = Path(path)
    values = _assignments(file) if file.suffix == ".m" else read_mat(file)
    result: dict[str, list[int]] = {}
    for segment, names in _NAMES.items():
        for name in (name for name in names if name in values):
            ids = np.ravel(values[name])
            if not _whole(ids):
                raise FileFormatError(f"expected whole ids, got {ids.tolist()!r:.80}", path=file, key=name)
            result[segment] = ids.astype(int).tolist()
    if not result:
        raise FileFormatError("expected ArmIDS, ForearmIDS, HandIDS or ReferenceIDS, found none", path=file)
    return result


def _assignments(path: Path) -> dict[str, list[int]]:
    """Return the vectors of whole numbers assigned in a MATLAB script; ranges ``1:4`` are expanded."""
    text = re.sub("%.*", "", as_file(path).read_text(encoding="utf-8", errors="replace"))
    vectors: dict[str, list[int]] = {}
    for name, body in re.findall(r"(\w+)\s*=\s*\[([\d\s,;:]*)\]", text):
        ranges = re.findall(r"(\d+)(?:\s*:\s*(\d+))?", body)
        vectors[name] = [n for first, last in ranges for n in range(int(first), int(last or first) + 1)]
    return vectors
