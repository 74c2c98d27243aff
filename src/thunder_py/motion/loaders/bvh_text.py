"""The two parts of a BVH file: a tree of joints with their channels, and a line of numbers for each frame."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import numpy as np

from ...checks import Array
from ...errors import FileFormatError
from .text import number, read_lines

__all__ = ["Joint", "read_bvh"]

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
