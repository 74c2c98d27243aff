"""Skeletons that move, from BVH files: forward kinematics to positions and orientations in the world."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...checks import Array
from ...errors import FileFormatError, ThunderError
from ..motion_set import MotionSet
from ..trial import Trial
from ..units import to_si
from .agreement import agreed_rate, chosen
from .bvh_text import Joint, read_bvh

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation

__all__ = ["load_bvh"]

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
