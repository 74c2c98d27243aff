"""Descriptions as text in our own format, laid out for people and exact to the last bit."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import yaml

from ..description import RobotDescription, Rotor, check_physical_input
from ..errors import FileFormatError, ModelError
from ..inertia import dyn_from_reg, reg_from_dyn
from ..transforms import pose_from_rpy, rpy_from_rotation
from .whole_file import write_whole
from .yaml_native import FORMAT, LIMITS, NO_LIMITS, TENSOR

__all__ = ["save_native", "write_native"]

Array = npt.NDArray[np.float64]


def save_native(description: RobotDescription, path: str | Path) -> None:
    """Write a description to a file, whole or not at all.

    Parameters
    ----------
    description : RobotDescription
        What to write.
    path : path-like
        Ends in ``.yaml`` or ``.yml``; replaced if it is there.

    Raises
    ------
    FileFormatError
        If the file's name ends otherwise.
    OSError
        If the folder cannot be written.
    """
    suffix = Path(path).suffix
    if suffix not in (".yaml", ".yml"):
        raise FileFormatError(f"YAML is saved as .yaml or .yml, got {suffix or 'no suffix'!r}", path=path)
    write_whole(write_native(description), path)


def write_native(description: RobotDescription) -> str:
    """Return the text of a file that reads back as exactly this description."""
    lines = [f"format: {FORMAT}", f"name: {_text(description.name)}"]
    if description.reference:
        lines.append(f"reference: {_text(description.reference)}")
    lines += [f"gravity: {_list(description.gravity)}", f"convention: {description.convention}"]
    if not _is_physical(description):
        lines.append("estimated: true")
    lines += [f"{key}: {_pose(T)}" for key, T in (("base", description.base), ("tool", description.tool)) if _moves(T)]
    if description.friction is not None:
        lines.append(f"friction_delta: {_number(description.friction.delta)}")
    lines.append("links:")
    for i in range(description.n):
        lines += _link(description, i)
    lines += _frames(description) + _elastic(description) + _masks(description)
    return "\n".join(lines) + "\n"


def _is_physical(description: RobotDescription) -> bool:
    try:
        check_physical_input(description)
    except ModelError:
        return False
    return True


def _link(description: RobotDescription, i: int) -> list[str]:
    lines = [
        f"  - name: {_text(description.link_names[i])}",
        "    joint:",
        f"      name: {_text(description.joint_names[i])}",
        f"      type: {description.joint_types[i]}",
    ]
    lines += [f"      {line}" for line in _geometry(description, i) + _joint_data(description, i)]
    return lines + [f"    {line}" for line in _inertial(description.inertial[i])]


def _geometry(description: RobotDescription, i: int) -> list[str]:
    if description.dh is not None:
        return [f"dh: {_list(description.dh[i])}"]
    lines = []
    if _moves(description.placements[i]):
        lines.append(f"placement: {_pose(description.placements[i])}")
    lines.append(f"axis: {_list(description.axes[i])}")
    if _moves(description.offsets[i]):
        lines.append(f"offset: {_pose(description.offsets[i])}")
    return lines


def _joint_data(description: RobotDescription, i: int) -> list[str]:
    lines = []
    if (limits := description.limits) is not None:
        row = np.array([limits.lower[i], limits.upper[i], limits.velocity[i], limits.effort[i]])
        given = zip(LIMITS, row, NO_LIMITS, strict=True)
        lines.append(f"limits: {_mapping((key, _number(value)) for key, value, none in given if value != none)}")
    if (friction := description.friction) is not None:
        terms = zip(friction.terms, friction.coefficients[i], strict=True)
        lines.append(f"friction: {_mapping((term, _number(value)) for term, value in terms)}")
    if description.armature is not None:
        lines.append(f"armature: {_number(description.armature[i])}")
    return lines + [_rotor(rotor, description) for rotor in description.rotors if rotor.joint == i + 1]


def _rotor(rotor: Rotor, description: RobotDescription) -> str:
    entries = [("inertia", _number(rotor.inertia)), ("gear_ratio", _number(rotor.gear_ratio))]
    entries.append(("carrier", _link_name(rotor.carrier or 0, description)))
    if rotor.axis is not None:
        entries.append(("axis", _list(rotor.axis)))
    return f"rotor: {_mapping(entries)}"


def _inertial(reg: Array) -> list[str]:
    """Write mass, centre and tensor if they give back these ten numbers exactly, else the ten numbers."""
    if not reg.any():
        return []
    dyn = _exact_dyn(reg)
    if dyn is None:
        return ["inertial:", f"  REG: {_list(reg)}"]
    lines = ["inertial:", f"  mass: {_number(dyn[0])}"]
    if dyn[1:4].any():
        lines.append(f"  com: {_list(dyn[1:4])}")
    if dyn[4:].any():
        tensor = zip(TENSOR, dyn[4:], strict=True)
        lines.append(f"  inertia: {_mapping((key, _number(value)) for key, value in tensor if value)}")
    return lines


def _exact_dyn(reg: Array) -> Array | None:
    if reg[0] == 0.0 and reg[1:4].any():
        return None
    dyn = dyn_from_reg(reg)
    for candidate in (np.array([float(f"{value:.12g}") for value in dyn]), dyn):
        if np.array_equal(reg_from_dyn(candidate), reg):
            return candidate
    return None


def _frames(description: RobotDescription) -> list[str]:
    lines = ["frames:"] if description.frames else []
    for name, (link, T) in description.frames.items():
        lines.append(f"  {_text(name)}: {_mapping([('link', _link_name(link, description)), ('pose', _pose(T))])}")
    return lines


def _elastic(description: RobotDescription) -> list[str]:
    if not description.elastic:
        return []
    lines = ["elastic:", "  joints:"]
    for drive in description.elastic:
        entries = [("joint", _text(description.joint_names[drive.joint - 1]))]
        entries += [(key, _list(getattr(drive, key))) for key in ("K", "D", "Dm")]
        lines.append(f"    - {_mapping([*entries, ('Mm', _number(drive.Mm))])}")
    return lines


def _masks(description: RobotDescription) -> list[str]:
    lines = ["masks:"] if description.masks else []
    for key, mask in description.masks.items():
        lines.append(f"  {key}: {_nested(mask)}")
    return lines


def _nested(value: Any) -> str:
    return str(value) if isinstance(value, int) else f"[{', '.join(_nested(item) for item in value)}]"


def _link_name(link: int, description: RobotDescription) -> str:
    if link == 0:
        return "0" if "base" in description.link_names else "base"
    return _text(description.link_names[link - 1])


def _moves(T: Array) -> bool:
    return not np.array_equal(T, np.eye(4))


def _pose(T: Array) -> str:
    """Write translation and angles if they give back this pose exactly, else the matrix."""
    R = T[:3, :3]
    rpy = rpy_from_rotation(np.clip(R, -1, 1)) + 0.0  # no negative zeros in files
    if np.array_equal(pose_from_rpy(T[:3, 3], rpy), T):
        return _mapping((key, _list(part)) for key, part in (("translation", T[:3, 3]), ("rpy", rpy)) if part.any())
    return _mapping([("matrix", f"[{', '.join(_list(row) for row in T)}]")])


def _mapping(entries: Iterable[tuple[str, str]]) -> str:
    return "{" + ", ".join(f"{key}: {value}" for key, value in entries) + "}"


def _list(values: Iterable[float]) -> str:
    return f"[{', '.join(_number(value) for value in values)}]"


def _number(value: float) -> str:
    """Shortest text that reads back as this number, and as a number to any reader of YAML 1.1."""
    text = repr(float(value))
    if "inf" in text:
        return text.replace("inf", ".inf")
    mantissa, e, exponent = text.partition("e")
    if not e:
        return text.removesuffix(".0")
    return f"{mantissa if '.' in mantissa else mantissa + '.0'}e{exponent}"


def _text(text: str) -> str:
    """Write a word as it is, anything else between quotation marks."""
    if re.fullmatch(r"[A-Za-z_]\w*", text, re.ASCII) and isinstance(yaml.safe_load(text), str):
        return text
    return str(yaml.dump(text, default_style='"', width=10**9, allow_unicode=True, Dumper=yaml.SafeDumper)).strip()
