"""Skeleton motion from BVH files: forward kinematics to positions and orientations in the world."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...checks import Array
from ...errors import ThunderError
from ..motion_set import MotionSet
from ..plausibility import check_plausible
from ..trial import Trial, to_si
from .text import TextFile, agreed_rate, chosen, distinct

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation

#: the head of a joint, whose name may contain blanks, or a word
_TOKEN = re.compile(r"(ROOT|JOINT|End)[ \t]+([^{}\n]*?)\s*\{|([^\s{}]+|[{}])", re.IGNORECASE)
_MOTION = re.compile(r"MOTION\s+Frames\s*:\s*(\S+)\s+Frame\s+Time\s*:\s*(\S+)", re.IGNORECASE)
_DESCRIPTION = re.compile(
    r"OFFSET (\S+) (\S+) (\S+)(?: CHANNELS (\d+)((?: [XYZ](?:position|rotation))*))?", re.IGNORECASE
)
#: largest position and angle
_FARTHEST = 1e9


class Joint(NamedTuple):
    """A joint or end site: offset in its parent and columns of its channels."""

    name: str
    parent: int | None
    offset: Array
    #: (name, column) in the order of the file
    channels: list[tuple[str, int]]
    line: int


def read_bvh(file: TextFile) -> tuple[list[Joint], float, Array]:
    """Return joints (parents first), time step in the unit of the file, and the values (frames, channels)."""
    text = "\n".join(file.lines)
    if (head := _MOTION.search(text)) is None:
        file.refuse("expected HIERARCHY, and then MOTION, Frames: and Frame Time:", len(file.lines))
    skeleton = _hierarchy(text[: head.start()], file)
    last = text.count("\n", 0, head.end()) + 1
    count, step = (file.number(head[k], last, key) for k, key in ((1, "Frames"), (2, "Frame Time")))
    rows = [(k, cells) for k, line in enumerate(file.lines[last:], last + 1) if (cells := line.split())]
    if len(rows) < 2:
        file.refuse(f"a motion must have two frames or more, got {len(rows)}: a pose is no motion", last)
    if len(rows) != count:
        file.warn(f"expected {count:g} frames as in Frames, got {len(rows)}: the file was trimmed, or is cut off")
    names = [f"{joint.name} {channel}" for joint in skeleton for channel, _ in joint.channels]
    values = file.numbers(rows, names, range(len(names)))
    if (far := np.abs([*values.ravel(), *np.ravel([joint.offset for joint in skeleton])]).max()) > _FARTHEST:
        file.refuse(f"numbers must be at most {_FARTHEST:g}, got {far:g}")
    return skeleton, step, values


def _hierarchy(text: str, file: TextFile) -> list[Joint]:
    """Return the joints; an explicit stack avoids recursion in deep trees."""
    skeleton: list[Joint] = []
    words: list[list[str]] = []  # of each joint
    stack: list[int] = []
    line, place = 1, 0
    for token in _TOKEN.finditer(text):
        line, place = line + text.count("\n", place, token.start()), token.start()
        kind, name, word = token.groups()
        if kind and (kind.upper() == "ROOT") == (not stack):
            name = f"{skeleton[stack[-1]].name}:end" if kind.upper() == "END" else name
            skeleton.append(Joint(name, stack[-1] if stack else None, np.zeros(3), [], line))
            words.append([])
            stack.append(len(skeleton) - 1)
        elif stack and word == "}":
            stack.pop()
        elif stack and word and word != "{":
            words[stack[-1]].append(word)
        elif skeleton or (word or kind).upper() != "HIERARCHY":
            what = "JOINT, End Site or }" if stack else "ROOT or MOTION" if skeleton else "HIERARCHY and ROOT"
            file.refuse(f"expected {what}, got {token[0]!r:.40}", line)
    if stack or not skeleton:
        file.refuse(f"expected {'}' if stack else 'ROOT'}, got MOTION", text.count("\n") + 1)
    columns = 0
    for joint, described in zip(skeleton, map(" ".join, words), strict=True):
        parts = _DESCRIPTION.fullmatch(described)
        channels = [name[0].upper() + name[1:].lower() for name in (parts[5] or "").split()] if parts else []
        if not parts or len({*channels}) != int(parts[4] or 0) or len({*channels}) != len(channels):
            what = "OFFSET x y z, and CHANNELS with a number and as many different ones, such as Xposition, Zrotation"
            file.refuse(f"expected {what}, got {described!r:.80}", joint.line, joint.name)
        joint.offset[:] = [file.number(parts[k], joint.line, f"OFFSET of {joint.name}") for k in (1, 2, 3)]
        joint.channels.extend((name, columns + k) for k, name in enumerate(channels))
        columns += len(channels)
    return skeleton


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
    encoding: str | None = None,
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
        Rate [Hz] instead of that of the file: 1 / Frame Time, or the whole number within 0.01 % of it.
    positions : ``"add"`` or ``"replace"``, optional
        Position channels are added to the OFFSET of their joint or replace it; writers differ. Required only if a joint
        has both and the OFFSET is not zero.
    time_unit : str
        Unit of Frame Time: s, ms or us.
    decimal : str
        ``","`` for decimal commas.
    encoding : str, optional
        Such as ``"latin-1"``. By default UTF-8, or UTF-16 with a byte order mark.
    frame, subject, task : str
        Labels of the trials.

    Returns
    -------
    MotionSet
        One trial per joint. Joints of the same name are numbered, ``Hand:1``, ``Hand:2``.

    Warns
    -----
    RecordingWarning
        For another number of frames than in the file, another rate, equal names; and see `check_plausible`.

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
    file, seconds = TextFile(path, encoding, decimal, ()), to_si(time_unit, "time", "time_unit")
    skeleton, step, values = read_bvh(file)
    names = distinct([joint.name for joint in skeleton], path, "joints")
    indices = chosen(joints, names, path, "joint")
    hertz = agreed_rate(1.0 / (seconds * step) if step > 0.0 else 0.0, rate, path, "Frame Time")
    if rate is None and round(hertz) > 0 and abs(hertz / round(hertz) - 1.0) < _WHOLE_RATE:
        hertz = float(round(hertz))
    t = np.arange(len(values)) / hertz
    p, R = _forward_kinematics(skeleton, values, positions, file)
    labels: dict[str, Any] = {"rate": hertz, "frame": frame, "subject": subject, "task": task}
    motions = MotionSet(
        Trial.from_poses(t, factor * p[k], matrix=R[k].as_matrix(), name=names[k], **labels) for k in indices
    )
    check_plausible(motions, {"unit": unit, "time_unit": time_unit})
    return motions


def _forward_kinematics(
    skeleton: Sequence[Joint], values: Array, positions: str | None, file: TextFile
) -> tuple[list[Array], list[Rotation]]:
    """Return positions (T, 3), in the unit of the file, and orientations of every joint; rotations follow positions."""
    from scipy.spatial.transform import Rotation

    p: list[Array] = []
    R: list[Rotation] = []
    for joint in skeleton:  # parents first
        local, turn = np.tile(joint.offset, (len(values), 1)), Rotation.from_rotvec(np.zeros((len(values), 3)))
        for name, column in joint.channels:
            axis, moves = "XYZ".index(name[0]), name.endswith("position")
            if moves and positions is None and joint.offset.any():
                text = (
                    f"joint {joint.name!r} has an OFFSET and position channels: pass positions='add' if these are added"
                )
                text += " to it, or positions='replace' if they hold the whole translation"
                file.refuse(text, joint.line)
            if moves:
                local[:, axis] = values[:, column] + (0.0 if positions == "replace" else joint.offset[axis])
            else:
                turn = turn * Rotation.from_rotvec(np.radians(values[:, [column]]) * np.eye(3)[axis])
        if joint.parent is not None:
            local, turn = p[joint.parent] + R[joint.parent].apply(local), R[joint.parent] * turn
        p.append(local)
        R.append(turn)
    return p, R
