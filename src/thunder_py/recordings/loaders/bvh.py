"""Skeleton motion from BVH files: forward kinematics to positions and orientations in the world."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ...checks import Array
from ...errors import FileFormatError, ThunderError
from ..motion_set import MotionSet
from ..plausibility import check_plausible
from ..trial import Trial, to_si
from .text import agreed_rate, check_decimal, chosen, number, read_lines, time_factor

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation

_CHANNELS = {f"{axis}{kind}" for axis in "XYZ" for kind in ("position", "rotation")}


#: largest position and angle
_FARTHEST = 1e9


@dataclass(frozen=True)
class Joint:
    """A joint or end site: offset in its parent and columns of its channels."""

    name: str
    parent: int | None
    offset: Array
    #: (name, column) in the order of the file
    channels: tuple[tuple[str, int], ...]
    line: int


class _Words:
    """Iterator over the words of the hierarchy, with their line numbers."""

    def __init__(self, lines: list[str], path: Path, decimal: str) -> None:
        self.path, self.line, self.decimal = path, 1, decimal
        self._words: Iterator[tuple[int, str]] = self._split(lines)

    def _split(self, lines: list[str]) -> Iterator[tuple[int, str]]:
        for k, line in enumerate(lines, 1):
            for word in line.replace("{", " { ").replace("}", " } ").split():
                yield k, word

    def next(self, what: str) -> str:
        try:
            self.line, word = next(self._words)
        except StopIteration:
            self.refuse(f"expected {what}, got the end of the file")
        return word

    def back(self, word: str) -> None:
        """Return a word to the front."""
        self._words = itertools.chain([(self.line, word)], self._words)

    def expect(self, word: str) -> None:
        actual = self.next(word)
        if word.endswith(":") and actual.startswith(word) and actual != word:  # no blank before the number
            self.back(actual[len(word) :])
        elif actual.lower() != word.lower():
            self.refuse(f"expected {word}, got {actual!r}")

    def name(self) -> str:
        """Return a name, which may contain blanks: the words up to a brace or the end of the line."""
        parts, line = [self.next("a name")], self.line
        while (word := self.next("{")) not in "{}" and self.line == line:
            parts.append(word)
        self.back(word)
        self.line = line
        return " ".join(parts)

    def number(self, what: str) -> float:
        return number(self.next(what), path=self.path, line=self.line, column=what, decimal=self.decimal, missing=())

    def refuse(self, message: str) -> NoReturn:
        raise FileFormatError(message, path=self.path, line=self.line)


def read_bvh(path: Path, decimal: str = ".") -> tuple[list[Joint], float, Array]:
    """Return joints (parents first), time step [s] and the values (frames, channels)."""
    lines = read_lines(path)
    words = _Words(lines, path, decimal)
    words.expect("HIERARCHY")
    skeleton = _hierarchy(words)
    return skeleton, *_motion(lines, words, sum(len(joint.channels) for joint in skeleton))


def _hierarchy(words: _Words) -> list[Joint]:
    """Read ROOTs until MOTION; an explicit stack avoids recursion in deep trees."""
    skeleton: list[Joint] = []
    stack: list[int] = []
    column = 0
    while True:
        word = words.next("ROOT, JOINT, End Site, } or MOTION")
        if word == "}" and stack:
            stack.pop()
        elif word == "MOTION" and not stack and skeleton:
            return skeleton
        elif word in ("ROOT", "JOINT", "End") and (word == "ROOT") == (not stack):
            joint = _joint(words, word, skeleton, stack, column)
            skeleton.append(joint)
            stack.append(len(skeleton) - 1)
            column += len(joint.channels)
        else:
            words.refuse(f"expected {'JOINT, End Site or }' if stack else 'ROOT or MOTION'}, got {word!r}")


def _joint(words: _Words, kind: str, skeleton: list[Joint], stack: list[int], column: int) -> Joint:
    parent = stack[-1] if stack else None
    line = words.line
    name = words.name()
    if kind == "End":
        if name.lower() != "site":
            words.refuse(f"expected Site after End, got {name!r}")
        name = f"{skeleton[stack[-1]].name}:end"
    if any(joint.name == name for joint in skeleton):
        words.refuse(f"names of joints must be distinct, got {name!r} twice")
    words.expect("{")
    words.expect("OFFSET")
    offset = np.array([words.number(f"OFFSET {axis}") for axis in "xyz"])
    if np.abs(offset).max() > _FARTHEST:
        words.refuse(f"OFFSET must be at most {_FARTHEST:g}, got {np.abs(offset).max():g}")
    channels = () if kind == "End" else _channels(words, column)
    return Joint(name, parent, offset, channels, line)


def _channels(words: _Words, column: int) -> tuple[tuple[str, int], ...]:
    words.expect("CHANNELS")
    count = words.number("number of channels")
    if not count.is_integer() or not 0 <= count <= len(_CHANNELS):
        words.refuse(f"number of channels must be 0 to {len(_CHANNELS)}, got {count:g}")
    names: list[str] = []
    for _ in range(int(count)):
        name = words.next("a channel")
        if name not in _CHANNELS or name in names:
            words.refuse(f"channels must be distinct and among {', '.join(sorted(_CHANNELS))}, got {name!r}")
        names.append(name)
    return tuple((name, column + k) for k, name in enumerate(names))


def _motion(lines: list[str], words: _Words, width: int) -> tuple[float, Array]:
    words.expect("Frames:")
    count = words.number("Frames")
    words.expect("Frame")
    words.expect("Time:")
    step = words.number("Frame Time")
    if step <= 0.0:
        words.refuse(f"Frame Time must be positive [s], got {step:g}")
    rows = [(line, cells) for line, row in enumerate(lines[words.line :], words.line + 1) if (cells := row.split())]
    if len(rows) != count or len(rows) < 2:
        words.refuse(f"expected {count:g} frames (two or more) as in Frames, got {len(rows)}")
    values = np.empty((len(rows), width))
    for k, (line, cells) in enumerate(rows):
        if len(cells) != width:
            raise FileFormatError(f"expected {width} numbers, got {len(cells)}", path=words.path, line=line)
        values[k] = [
            number(cell, path=words.path, line=line, column=f"column {i + 1}", decimal=words.decimal, missing=())
            for i, cell in enumerate(cells)
        ]
        if np.abs(values[k]).max(initial=0.0) > _FARTHEST:
            text = f"numbers must be at most {_FARTHEST:g}, got {np.abs(values[k]).max():g}"
            raise FileFormatError(text, path=words.path, line=line)
    return step, values


#: relative tolerance of a whole rate; Frame Time can have few digits, as 0.008333 s for 120 Hz
_WHOLE_RATE = 1e-4


def load_bvh(
    path: str | Path,
    *,
    unit: str,
    joints: Sequence[str] | None = None,
    rate: float | None = None,
    positions: str | None = None,
    time_unit: str = "s",
    decimal: str = ".",
    frame: str = "",
    subject: str = "",
    task: str = "",
) -> MotionSet:
    r"""Read a BVH file: one trial per joint with its name and dofs x, y, z, rx, ry, rz in the world.

    The end site of joint ``Hand`` is named ``Hand:end`` and has its orientation. Rotations act in the order of the
    channels, about moving axes. The world is that of the file, in which y usually points up; `Trial.moved` changes it.

    Parameters
    ----------
    path : path-like
        The file.
    unit : str
        m, cm or mm; required, because BVH files do not contain it.
    joints : sequence of str, optional
        Joints and end sites to return, in this order; all by default.
    rate : float, optional
        Expected rate [Hz], to 1 %. By default 1 / Frame Time, or the whole number within 0.01 % of it.
    positions : ``"add"`` or ``"replace"``, optional
        Position channels are added to the OFFSET of their joint or replace it; writers differ. Required only if a joint
        has both and the OFFSET is not zero.
    time_unit : str
        Unit of Frame Time: s, ms or us.
    decimal : str
        ``","`` for decimal commas.
    frame, subject, task : str
        Labels of the trials.

    Returns
    -------
    MotionSet
        One trial per joint.

    Raises
    ------
    FileFormatError
        With path and line, for files with errors, and if `positions` is missing.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from thunder_py.recordings.loaders import load_bvh
    >>> hand = "ROOT Hand { OFFSET 0 0 0 CHANNELS 1 Zrotation End Site { OFFSET 10 0 0 } }"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "arm.bvh"
    ...     _ = path.write_text(f"HIERARCHY {hand}\nMOTION Frames: 2 Frame Time: 0.008333\n0\n90\n")
    ...     motions = load_bvh(path, unit="cm")
    >>> [(trial.name, trial.rate, round(float(trial.position[-1, 1]), 6)) for trial in motions]
    [('Hand', 120.0, 0.0), ('Hand:end', 120.0, 0.1)]
    """
    factor = to_si(unit)
    if positions not in (None, "add", "replace"):
        raise ThunderError(f"positions must be 'add' or 'replace', got {positions!r}")
    seconds = time_factor(time_unit)
    check_decimal(decimal)
    skeleton, step, values = read_bvh(Path(path), decimal)
    indices = chosen(joints, [joint.name for joint in skeleton], path, "joint")
    hertz = _rate(seconds * step, rate, path)
    t = np.arange(len(values)) / hertz
    p, R = _forward_kinematics(skeleton, values, positions, path)
    labels: dict[str, Any] = {"rate": hertz, "frame": frame, "subject": subject, "task": task}
    motions = MotionSet(
        Trial.from_poses(t, factor * p[k], matrix=R[k].as_matrix(), name=skeleton[k].name, **labels) for k in indices
    )
    check_plausible(motions, ("unit", "time_unit"))
    return motions


def _rate(step: float, rate: float | None, path: str | Path) -> float:
    hertz = agreed_rate(1.0 / step, rate, path, "Frame Time")
    rounded = float(round(hertz))
    return rounded if rate is None and rounded > 0.0 and abs(hertz / rounded - 1.0) < _WHOLE_RATE else hertz


def _forward_kinematics(
    skeleton: Sequence[Joint], values: Array, positions: str | None, path: str | Path
) -> tuple[list[Array], list[Rotation]]:
    """Return positions (T, 3), in the unit of the file, and orientations of every joint."""
    p: list[Array] = []
    R: list[Rotation] = []
    for joint in skeleton:  # parents first
        local, rotation = _translation(joint, values, positions, path), _rotation(joint, values)
        if joint.parent is None:
            p.append(local)
            R.append(rotation)
        else:
            p.append(p[joint.parent] + R[joint.parent].apply(local))
            R.append(R[joint.parent] * rotation)
    return p, R


def _translation(joint: Joint, values: Array, positions: str | None, path: str | Path) -> Array:
    local = np.tile(joint.offset, (len(values), 1))
    moving = [(name[0], column) for name, column in joint.channels if name.endswith("position")]
    if moving and positions is None and joint.offset.any():
        raise FileFormatError(
            f"positions must be given for joint {joint.name!r} with an OFFSET and position channels: 'add' if the "
            "channels are added to it, 'replace' if they hold the whole translation",
            path=path,
            line=joint.line,
        )
    for axis, column in moving:
        k = "XYZ".index(axis)
        local[:, k] = values[:, column] + (0.0 if positions == "replace" else joint.offset[k])
    return local


def _rotation(joint: Joint, values: Array) -> Rotation:
    from scipy.spatial.transform import Rotation

    rotating = [(name[0], column) for name, column in joint.channels if name.endswith("rotation")]
    result = Rotation.from_rotvec(np.zeros((len(values), 3)))
    for axis, column in rotating:
        result = result * Rotation.from_rotvec(np.radians(values[:, [column]]) * np.eye(3)["XYZ".index(axis)])
    return result
