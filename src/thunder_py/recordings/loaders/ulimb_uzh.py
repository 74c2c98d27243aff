"""U-Limb, the recordings of Zurich (UZH): Xsens MVN at 60 Hz, an .mvnx file per trial.

Database: doi:10.7910/DVN/FU3QZ9, described in Averta et al., GigaScience 10:giab043 (2021). The format follows code of
its users: ``P<id>_T<task 01-30>_<L|R><repetition>.mvnx`` in folders ``Healthies`` and ``Strokes``.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ...checks import Array, one_of
from ...errors import FileFormatError
from ...files import read_whole
from ...io.xml import Element, parse_xml
from ..motion_set import MotionSet
from ..plausibility import check_plausible
from ..trial import Trial

RATE = 60.0
_FILE = re.compile(r"(P\w+?)_(T\d+)_([LR])(\d+)\.mvnx")
_SIDES = {"L": "Left", "R": "Right"}
#: segments that carry the shoulders, uppermost first
_TRUNK = ("T8", "T12", "L3")
#: joint, and the degrees of freedom among its three angles (about x, y, z of MVN)
_ANGLES = {
    "Shoulder": {"abduction": 0, "rotation": 1, "flexion": 2},
    "Elbow": {"pronation": 1, "flexion": 2},
    "Wrist": {"deviation": 0, "flexion": 2},
}
#: tolerance of time stamps, which are whole milliseconds [s]
_STAMP = 2.5e-3
#: bytes of a file; bound of numbers of frames, 46 hours: missing frames take memory
_LARGEST, _MOST_FRAMES = 1 << 28, 10_000_000


def load_ulimb_uzh(
    folder: str | Path,
    quantity: str = "hand",
    *,
    side: str | None = None,
    subject: str | None = None,
    task: str | None = None,
) -> MotionSet:
    """Read poses of the hand relative to the chest, or joint angles of the arm, from the Xsens recordings of U-Limb.

    The chest is the segment T8, which carries the shoulders in the Xsens model (T12 or L3 in files without it), with
    the axes of Xsens. The position is the origin of the segment RightHand (LeftHand), at the wrist. Left hands are not
    mirrored.

    Parameters
    ----------
    folder : path-like
        Folder, searched recursively.
    quantity : str
        ``"hand"``: dofs x, y, z, rx, ry, rz in the frame ``"chest"``. ``"joints"``: seven angles [rad] of the
        element jointAngleXZY, ``shoulder_abduction``, ``shoulder_rotation``, ``shoulder_flexion``,
        ``elbow_pronation``, ``elbow_flexion``, ``wrist_deviation``, ``wrist_flexion``, without jumps of whole turns.
    side : str, optional
        ``"L"`` or ``"R"``; by default the hand in the name of each file.
    subject, task : str, optional
        ``"P01"``, ``"T07"``; by default all.

    Returns
    -------
    MotionSet
        Trials at 60 Hz from the first frame on; missing frames are NaN. Subjects are named ``"Healthies/P01"`` in a
        folder ``Healthies`` (``Strokes`` likewise), because numbers occur twice.

    Raises
    ------
    FileFormatError
        If there are no recordings, rate or time stamps are not those of 60 Hz, or a file has another format.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from thunder_py.recordings.loaders import load_ulimb_uzh
    >>> pose = "<orientation>1 0 0 0 1 0 0 0</orientation><position>0 0 1.2 0.4 -0.2 1.0</position>"
    >>> frames = "".join(f'<frame index="{k}" type="normal">{pose}</frame>' for k in range(3))
    >>> segments = '<segment label="T8"/><segment label="RightHand"/>'
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "P01_T07_R1.mvnx"
    ...     _ = path.write_text(f'<mvnx><subject frameRate="60">{segments}{frames}</subject></mvnx>')
    ...     (trial,) = load_ulimb_uzh(folder)
    >>> trial.name, trial.task, trial.rate, trial.position[-1].round(3).tolist()
    ('P01_T07_R1', 'T07', 60.0, [0.4, -0.2, -0.2])
    """
    one_of(quantity, ("hand", "joints"), "quantity")
    if side is not None:
        one_of(side, _SIDES, "side")
    root = Path(folder)
    trials: list[Trial] = []
    for path in sorted(root.rglob("P*.mvnx")):
        parts = _FILE.fullmatch(path.name)
        if parts and subject in (None, parts[1]) and task in (None, parts[2]):
            trials.append(_read(path, parts, quantity, side or parts[3]))
    if not trials:
        raise FileFormatError("expected recordings P<id>_T<task>_<L|R><repetition>.mvnx, found none", path=root)
    check_plausible(trials, ())
    return MotionSet(trials)


def _read(path: Path, parts: re.Match[str], quantity: str, side: str) -> Trial:
    every: dict[str, list[Element]] = {}
    waiting = [parse_xml(read_whole(path, _LARGEST), path)]
    for element in waiting:  # which grows
        every.setdefault(element.tag, []).append(element)
        waiting += element.children
    segments, joints = ([each.text("label") for each in every.get(tag, ())] for tag in ("segment", "joint"))
    if "subject" not in every:
        raise FileFormatError("expected <subject frameRate=...>", path=path)
    recorded = every["subject"][0]
    if (rate := recorded.number("frameRate")) != RATE:
        raise recorded.error(f"expected {RATE:g} Hz, got {rate:g} Hz")
    # frames without a number, or of another type, belong to the calibration
    normal = [each for each in every.get("frame", ()) if each.attributes.get("type", "normal") == "normal"]
    frames = [each for each in normal if each.attributes.get("index", "").strip()]
    if len(frames) < 2:
        raise FileFormatError("expected two frames with an index or more", path=path)
    rows = _rows(frames)
    group = next((part for part in path.parts if part in ("Healthies", "Strokes")), "")
    labels: dict[str, Any] = {"rate": RATE, "task": parts[2], "name": path.stem}
    labels["subject"] = f"{group}/{parts[1]}" if group else parts[1]
    t: Array = np.arange(rows[-1] + 1) / RATE
    values: Array = np.full((len(t), 7), np.nan)
    if quantity == "hand":
        values[rows] = _hand(frames, _SIDES[side], segments, path)
        p, q = values[:, :3], values[:, 3:]
        return Trial.from_poses(t, p, quaternion=q, scalar_first=True, frame="chest", **labels)
    values[rows], dofs = _joints(frames, _SIDES[side], joints, path)
    return Trial(t, values, dofs, ("rad",) * len(dofs), **labels)


def _rows(frames: list[Element]) -> npt.NDArray[np.int64]:
    """Return the numbers of frames after the first; check that they increase, as their time stamps do."""
    numbers = np.array([frame.number("index") for frame in frames])
    stamps = [frame.number("time") if frame.attributes.get("time", "").strip() else np.nan for frame in frames]
    elapsed, expected = 1e-3 * (np.array(stamps) - stamps[0]), (numbers - numbers[0]) / RATE
    for k, frame in enumerate(frames):
        n, before = numbers[k], numbers[k - 1] if k else -1.0
        if not before < n < _MOST_FRAMES or n != int(n):
            text = f"'index' must be whole and increase, below {_MOST_FRAMES}, got {n:.9g} after {before:.9g}"
            raise frame.error(text)
        if abs(elapsed[k] - expected[k]) > _STAMP:
            text = f"frame {n:g} must be stamped {expected[k]:.4g} s after the first, got {elapsed[k]:.4g} s"
            raise frame.error(text)
    rows: npt.NDArray[np.int64] = (numbers - numbers[0]).astype(np.int64)
    return rows


def _numbers(frames: list[Element], tag: str, width: int, labels: list[str]) -> Array:
    """Return the numbers (F, labels, width) of an element of every frame."""
    rows = []
    for frame in frames:
        element = frame.required(tag)
        try:
            values = np.array(element.content.split(), dtype=np.float64)
        except ValueError:
            values = np.array([np.nan])
        if values.size != width * len(labels) or not labels or not np.isfinite(values).all():
            raise element.error(f"expected {width} finite numbers for each of {len(labels)} labels")
        rows.append(values.reshape(len(labels), width))
    return np.array(rows)


def _hand(frames: list[Element], side: str, segments: list[str], path: Path) -> Array:
    """Return position and quaternion, scalar first, (F, 7) of the hand in the chest's frame."""
    from scipy.spatial.transform import Rotation

    p, q = (_numbers(frames, tag, width, segments) for tag, width in (("position", 3), ("orientation", 4)))
    chest = next((name for name in _TRUNK if name in segments), None)
    if chest is None or f"{side}Hand" not in segments:
        text = f"expected segments {side}Hand and one of {', '.join(_TRUNK)}, got {', '.join(segments)}"
        raise FileFormatError(text, path=path)
    columns = [segments.index(name) for name in (chest, f"{side}Hand")]
    p, q = p[:, columns], q[:, columns]
    lengths = np.linalg.norm(q, axis=2)
    if np.abs(lengths - 1.0).max() > 1e-3:
        raise FileFormatError(f"expected unit quaternions, got length {lengths.min():g}", path=path, key="orientation")
    R_chest, R_hand = (Rotation.from_quat(np.roll(q[:, k], -1, axis=1)) for k in (0, 1))
    relative = np.roll((R_chest.inv() * R_hand).as_quat(), 1, axis=1)
    return np.hstack([R_chest.inv().apply(p[:, 1] - p[:, 0]), relative])


def _joints(frames: list[Element], side: str, joints: list[str], path: Path) -> tuple[Array, tuple[str, ...]]:
    """Return the angles (F, 7) [rad] of one arm and their names."""
    values = _numbers(frames, "jointAngleXZY", 3, joints)
    columns, dofs = [], []
    for joint, angles in _ANGLES.items():
        label = f"j{side}{joint}"
        if label not in joints:
            raise FileFormatError(f"expected the joint {label}, got {', '.join(joints)}", path=path)
        for name, axis in angles.items():
            columns.append(values[:, joints.index(label), axis])
            dofs.append(f"{joint.lower()}_{name}")
    return np.unwrap(np.radians(np.column_stack(columns)), axis=0), tuple(dofs)
