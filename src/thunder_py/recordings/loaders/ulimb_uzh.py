"""U-Limb, the recordings of Zurich (UZH): Xsens MVN at 60 Hz, an .mvnx file per trial.

Database: doi:10.7910/DVN/FU3QZ9, described in Averta et al., GigaScience 10:giab043 (2021). The format follows code of
its users: ``P<id>_T<task 01-30>_<L|R><repetition>.mvnx`` in folders ``Healthies`` and ``Strokes``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.parsers import expat

import numpy as np

from ...checks import Array
from ...errors import FileFormatError, ThunderError
from ...files import as_file
from ..motion_set import MotionSet
from ..plausibility import check_plausible
from ..trial import Trial
from .text import LARGEST


@dataclass(frozen=True, eq=False)
class MvnxFrames:
    """Contents of the frames of type ``normal`` of an .mvnx file.

    Attributes
    ----------
    rate : float
        [Hz].
    index : (F,) integer array
        Increasing frame numbers; frames can be missing.
    time : (F,) array
        Time stamps [s], NaN if missing.
    segments, joints : tuple of str
        Labels.
    values : dict
        ``"position"`` (F, segments, 3) [m], ``"orientation"`` (F, segments, 4) quaternions with the scalar first,
        ``"jointAngleXZY"`` (F, joints, 3) [deg]: the requested ones.
    """

    rate: float
    index: np.ndarray[tuple[int, ...], np.dtype[np.int64]]
    time: Array
    segments: tuple[str, ...]
    joints: tuple[str, ...]
    values: dict[str, Array]


def read_mvnx(path: str | Path, wanted: tuple[str, ...]) -> MvnxFrames:
    """Read the elements `wanted` of every frame.

    Frames without an index, or of another type than ``normal``, belong to the calibration and are skipped.

    Raises
    ------
    FileFormatError
        With the line, if the file is not well-formed XML, declares a document type, lacks frame rate or labels, or a
        frame has a wrong number of values.
    """
    file = as_file(path, most=LARGEST)
    reader = _Reader(file, wanted)
    with file.open("rb") as stream:
        try:
            reader.parser.ParseFile(stream)
        except expat.ExpatError as error:
            reason = expat.ErrorString(error.code)
            raise FileFormatError(f"not well-formed XML: {reason}", path=file, line=error.lineno) from None
        except LookupError as error:
            raise FileFormatError(f"not well-formed XML: {error}", path=file) from None
    return reader.result()


#: bound of frame numbers: 46 hours; missing frames take memory
_MOST_FRAMES = 10_000_000


@dataclass(eq=False)
class _Reader:
    """Callbacks of expat."""

    path: Path
    wanted: tuple[str, ...]
    rate: float = np.nan
    index: list[int] = field(default_factory=list)
    time: list[float] = field(default_factory=list)
    labels: dict[str, list[str]] = field(default_factory=lambda: {"segment": [], "joint": []})

    def __post_init__(self) -> None:
        self.rows: dict[str, list[Array]] = {name: [] for name in self.wanted}
        self.open: str | None = None
        self.words: list[str] = []
        self.in_frame = False
        self.parser = expat.ParserCreate(namespace_separator=" ")
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.text
        self.parser.StartDoctypeDeclHandler = self.doctype

    def error(self, message: str, key: str | None = None) -> FileFormatError:
        return FileFormatError(message, path=self.path, line=self.parser.CurrentLineNumber, key=key)

    def start(self, name: str, attributes: dict[str, str]) -> None:
        tag = name.rpartition(" ")[2]
        if tag == "subject":
            self.rate = self.number(attributes.get("frameRate", ""), "frameRate")
        elif tag in self.labels:
            if not attributes.get("label"):
                raise self.error("expected a label", f"<{tag}>")
            self.labels[tag].append(attributes["label"])
        elif tag == "frame":
            self.start_frame(attributes)
        elif self.in_frame and tag in self.rows:
            self.open, self.words = tag, []

    def start_frame(self, attributes: dict[str, str]) -> None:
        text = attributes.get("index", "").strip()
        self.in_frame = bool(text) and attributes.get("type", "normal") == "normal"
        if not self.in_frame:
            return
        index = self.number(text, "index")
        if not 0.0 <= index < _MOST_FRAMES:
            raise self.error(f"expected a number of a frame below {_MOST_FRAMES}, got {text}", "index")
        if index != int(index) or (self.index and index <= self.index[-1]):
            before = self.index[-1] if self.index else "none"
            raise self.error(f"expected whole, increasing numbers of frames, got {text} after {before}", "index")
        self.index.append(int(index))
        stamp = attributes.get("time", "").strip()
        self.time.append(1e-3 * self.number(stamp, "time") if stamp else np.nan)

    def text(self, data: str) -> None:
        if self.open is not None:
            self.words.append(data)

    def end(self, name: str) -> None:
        tag = name.rpartition(" ")[2]
        if tag == self.open:
            self.rows[tag].append(self.numbers("".join(self.words), tag))
            self.open = None
        elif tag == "frame" and self.in_frame:
            self.in_frame = False
            for wanted, rows in self.rows.items():
                if len(rows) != len(self.index):
                    raise self.error(f"expected one <{wanted}> in frame {self.index[-1]}", f"<{wanted}>")

    def doctype(self, name: str, system: str | None, public: str | None, has_subset: bool) -> None:
        raise self.error("document type declarations (DTD, entities) are refused; remove <!DOCTYPE ...>")

    def number(self, text: str, key: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = np.nan
        if not np.isfinite(value):
            raise self.error(f"expected a number, got {text!r}", key)
        return value

    def numbers(self, text: str, tag: str) -> Array:
        """Return the numbers of an element, shape (labels, 3 or 4)."""
        labels = self.labels["joint" if tag.startswith("joint") else "segment"]
        width = 4 if tag == "orientation" else 3
        try:
            values = np.array(text.split(), dtype=np.float64)
        except ValueError:
            values = np.array([np.nan])
        if values.size != width * len(labels) or not labels or not np.isfinite(values).all():
            raise self.error(f"expected {width} finite numbers for each of {len(labels)} labels", f"<{tag}>")
        return values.reshape(len(labels), width)

    def result(self) -> MvnxFrames:
        if len(self.index) < 2:
            raise FileFormatError("expected two frames with an index or more", path=self.path)
        if not self.rate > 0.0:
            raise FileFormatError("expected <subject frameRate=...>", path=self.path)
        values = {name: np.array(rows) for name, rows in self.rows.items()}
        segments, joints = tuple(self.labels["segment"]), tuple(self.labels["joint"])
        return MvnxFrames(self.rate, np.array(self.index), np.array(self.time), segments, joints, values)


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
    if quantity not in ("hand", "joints"):
        raise ThunderError(f"quantity must be 'hand' or 'joints', got {quantity!r}")
    if side not in (None, "L", "R"):
        raise ThunderError(f"side must be 'L' or 'R', got {side!r}")
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
    frames = read_mvnx(path, ("position", "orientation") if quantity == "hand" else ("jointAngleXZY",))
    t = _times(frames, path)
    group = next((part for part in path.parts if part in ("Healthies", "Strokes")), "")
    labels: dict[str, Any] = {
        "rate": RATE,
        "subject": f"{group}/{parts[1]}" if group else parts[1],
        "task": parts[2],
        "name": path.stem,
    }
    if quantity == "hand":
        p, q = _hand(frames, _SIDES[side], path)
        return Trial.from_poses(
            t, _spread(frames, p), quaternion=_spread(frames, q), scalar_first=True, frame="chest", **labels
        )
    angles, dofs = _joints(frames, _SIDES[side], path)
    return Trial(t, _spread(frames, angles), dofs, ("rad",) * len(dofs), **labels)


def _times(frames: MvnxFrames, path: Path) -> Array:
    """Return the times of all frames from the first to the last; check rate and time stamps."""
    if frames.rate != RATE:
        raise FileFormatError(f"expected {RATE:g} Hz, got {frames.rate:g} Hz", path=path, key="frameRate")
    elapsed, expected = frames.time - frames.time[0], (frames.index - frames.index[0]) / RATE
    wrong = np.abs(elapsed - expected) > _STAMP
    if wrong.any():
        k = int(np.argmax(wrong))
        raise FileFormatError(
            f"frame {frames.index[k]} must be stamped {expected[k]:.4g} s after the first, got {elapsed[k]:.4g} s",
            path=path,
            key="time",
        )
    times: Array = np.arange(frames.index[-1] - frames.index[0] + 1) / RATE
    return times


def _spread(frames: MvnxFrames, rows: Array) -> Array:
    """Return rows for all frames from the first to the last, NaN where one is missing."""
    result = np.full((int(frames.index[-1] - frames.index[0]) + 1, rows.shape[1]), np.nan)
    result[frames.index - frames.index[0]] = rows
    return result


def _hand(frames: MvnxFrames, side: str, path: Path) -> tuple[Array, Array]:
    """Return position (F, 3) and quaternion (F, 4), scalar first, of the hand in the chest's frame."""
    from scipy.spatial.transform import Rotation

    chest = next((name for name in _TRUNK if name in frames.segments), None)
    if chest is None or f"{side}Hand" not in frames.segments:
        raise FileFormatError(
            f"expected segments {side}Hand and one of {', '.join(_TRUNK)}, got {', '.join(frames.segments)}", path=path
        )
    columns = [frames.segments.index(name) for name in (chest, f"{side}Hand")]
    q = frames.values["orientation"][:, columns]
    lengths = np.linalg.norm(q, axis=2)
    if np.abs(lengths - 1.0).max() > 1e-3:
        raise FileFormatError(f"expected unit quaternions, got length {lengths.min():g}", path=path, key="orientation")
    R_chest, R_hand = (Rotation.from_quat(np.roll(q[:, k], -1, axis=1)) for k in (0, 1))
    p = frames.values["position"][:, columns]
    relative = (R_chest.inv() * R_hand).as_quat()
    return R_chest.inv().apply(p[:, 1] - p[:, 0]), np.roll(relative, 1, axis=1)


def _joints(frames: MvnxFrames, side: str, path: Path) -> tuple[Array, tuple[str, ...]]:
    """Return the angles (F, 7) [rad] of one arm and their names."""
    columns, dofs = [], []
    for joint, angles in _ANGLES.items():
        label = f"j{side}{joint}"
        if label not in frames.joints:
            raise FileFormatError(f"expected the joint {label}, got {', '.join(frames.joints)}", path=path)
        for name, axis in angles.items():
            columns.append(frames.values["jointAngleXZY"][:, frames.joints.index(label), axis])
            dofs.append(f"{joint.lower()}_{name}")
    return np.unwrap(np.radians(np.column_stack(columns)), axis=0), tuple(dofs)
