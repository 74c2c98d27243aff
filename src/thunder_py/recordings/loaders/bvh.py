"""Skeletons that move, from BVH files: forward kinematics to positions and orientations in the world."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ...checks import Array
from ...errors import FileFormatError, ThunderError
from ..motion_set import MotionSet
from ..trial import Trial, to_si
from .text import agreed_rate, chosen, number, read_lines

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation

__all__ = ["Joint", "load_bvh", "read_bvh"]

_CHANNELS = {f"{axis}{kind}" for axis in "XYZ" for kind in ("position", "rotation")}


@dataclass(frozen=True)
class Joint:
    """A joint or end site: its place in its parent, and the columns that move it."""

    name: str
    parent: int | None
    offset: Array
    #: (name, column) in the order of the file
    channels: tuple[tuple[str, int], ...]
    line: int


class _Words:
    """Words of the hierarchy one by one, with the lines they stand in."""

    def __init__(self, lines: list[str], path: Path) -> None:
        self.path, self.line = path, 1
        self._words = self._split(lines)

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

    def expect(self, word: str) -> None:
        if (got := self.next(word)) != word:
            self.refuse(f"expected {word}, got {got!r}")

    def number(self, what: str) -> float:
        return number(self.next(what), path=self.path, line=self.line, column=what, missing=())

    def refuse(self, message: str) -> NoReturn:
        raise FileFormatError(message, path=self.path, line=self.line)


def read_bvh(path: Path) -> tuple[list[Joint], float, Array]:
    """Return joints (parents first), time between frames [s] and the numbers (frames, channels)."""
    lines = read_lines(path)
    words = _Words(lines, path)
    words.expect("HIERARCHY")
    skeleton = _hierarchy(words)
    return skeleton, *_motion(lines, words, sum(len(joint.channels) for joint in skeleton))


def _hierarchy(words: _Words) -> list[Joint]:
    """Read ROOTs until MOTION; a loop with a stack, so that deep trees need no recursion."""
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
    name = words.next("a name")
    line = words.line
    if kind == "End":
        if name != "Site":
            words.refuse(f"expected Site after End, got {name!r}")
        name = f"{skeleton[stack[-1]].name}:end"
    if any(joint.name == name for joint in skeleton):
        words.refuse(f"two joints must not share the name {name!r}")
    words.expect("{")
    words.expect("OFFSET")
    offset = np.array([words.number(f"OFFSET {axis}") for axis in "xyz"])
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
            words.refuse(f"channels must be different ones of {', '.join(sorted(_CHANNELS))}, got {name!r}")
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
    rows = lines[words.line :]
    if len(rows) != count or len(rows) < 2:
        words.refuse(f"expected {count:g} frames (two or more) as Frames says, got {len(rows)}")
    values = np.empty((len(rows), width))
    for k, row in enumerate(rows):
        cells, line = row.split(), words.line + 1 + k
        if len(cells) != width:
            raise FileFormatError(f"expected {width} numbers, got {len(cells)}", path=words.path, line=line)
        values[k] = [
            number(cell, path=words.path, line=line, column=f"column {i + 1}", missing=())
            for i, cell in enumerate(cells)
        ]
    return step, values


#: frames may be printed with few digits: 0.008333 s for 120 Hz
_WHOLE_RATE = 1e-4


def load_bvh(
    path: str | Path,
    *,
    unit: str,
    joints: Sequence[str] | None = None,
    rate: float | None = None,
    positions: str | None = None,
    frame: str = "",
    subject: str = "",
    task: str = "",
) -> MotionSet:
    """Read a BVH file: one trial with dofs x, y, z, rx, ry, rz in the world for each joint, named like it.

    The end site of joint ``Hand`` is called ``Hand:end`` and turns with it. Rotations act in the order in which
    channels are listed, about moving axes. The world is the file's, in which y mostly points up; `Trial.moved` turns
    it.

    Parameters
    ----------
    path : path-like
        The file.
    unit : str
        m, cm or mm. There is no default: BVH files do not say.
    joints : sequence of str, optional
        Joints and end sites to return, in this order; all by default.
    rate : float, optional
        What the file should have [Hz], to 1 %. By default 1 / Frame Time, or the whole number within 0.01 % of it.
    positions : ``"add"`` or ``"replace"``, optional
        What position channels do with the OFFSET of their joint: writers differ. Required only where it matters, which
        is where a joint has both and the OFFSET is not zero.
    frame, subject, task : str
        Labels of the trials.

    Raises
    ------
    FileFormatError
        With path and line, for all that does not follow the format, and where `positions` is needed.
    """
    factor = to_si(unit)
    if positions not in (None, "add", "replace"):
        raise ThunderError(f"positions must be 'add' or 'replace', got {positions!r}")
    skeleton, step, values = read_bvh(Path(path))
    places = chosen(joints, [joint.name for joint in skeleton], path, "joint")
    hertz = _rate(step, rate, path)
    t = np.arange(len(values)) / hertz
    p, R = _forward_kinematics(skeleton, values, positions, path)
    labels: dict[str, Any] = {"rate": hertz, "frame": frame, "subject": subject, "task": task}
    return MotionSet(
        Trial.from_poses(t, factor * p[k], matrix=R[k].as_matrix(), name=skeleton[k].name, **labels) for k in places
    )


def _rate(step: float, rate: float | None, path: str | Path) -> float:
    hertz = agreed_rate(1.0 / step, rate, path, "Frame Time")
    whole = float(round(hertz))
    return whole if rate is None and whole > 0.0 and abs(hertz / whole - 1.0) < _WHOLE_RATE else hertz


def _forward_kinematics(
    skeleton: Sequence[Joint], values: Array, positions: str | None, path: str | Path
) -> tuple[list[Array], list[Rotation]]:
    """Return positions (T, 3), in the file's unit, and orientations of every joint, all frames at once."""
    p: list[Array] = []
    R: list[Rotation] = []
    for joint in skeleton:  # parents come before their children
        local, turn = _translation(joint, values, positions, path), _rotation(joint, values)
        if joint.parent is None:
            p.append(local)
            R.append(turn)
        else:
            p.append(p[joint.parent] + R[joint.parent].apply(local))
            R.append(R[joint.parent] * turn)
    return p, R


def _translation(joint: Joint, values: Array, positions: str | None, path: str | Path) -> Array:
    local = np.tile(joint.offset, (len(values), 1))
    moving = [(name[0], column) for name, column in joint.channels if name.endswith("position")]
    if moving and positions is None and joint.offset.any():
        raise FileFormatError(
            f"joint {joint.name!r} has an OFFSET and position channels: say positions='add' if the channels are added "
            "to it, or 'replace' if they hold the whole translation",
            path=path,
            line=joint.line,
        )
    for axis, column in moving:
        k = "XYZ".index(axis)
        local[:, k] = values[:, column] + (0.0 if positions == "replace" else joint.offset[k])
    return local


def _rotation(joint: Joint, values: Array) -> Rotation:
    from scipy.spatial.transform import Rotation

    turns = [(name[0], column) for name, column in joint.channels if name.endswith("rotation")]
    result = Rotation.from_rotvec(np.zeros((len(values), 3)))
    for axis, column in turns:
        result = result * Rotation.from_rotvec(np.radians(values[:, [column]]) * np.eye(3)["XYZ".index(axis)])
    return result
