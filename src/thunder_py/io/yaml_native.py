"""Native robot files, ``format: thunder_py/1``: one entry per link, with the joint that moves it.

docs/robot_format.md describes the format.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import yaml

from ..checks import Array, check_label, check_name, pose
from ..errors import ThunderError
from ..model.description import (
    MAX_JOINTS,
    Elastic,
    Friction,
    Limits,
    RobotDescription,
    Rotor,
    check_moments,
    check_physical_input,
)
from ..model.inertia import dyn_from_reg, reg_from_dyn
from ..spatial import DH_CONVENTIONS, dh_chain, pose_from_rpy, rpy_from_rotation
from .losses import friction_of_joint
from .yaml_text import Section, Value

FORMAT = "thunder_py/1"
MASK_KEYS = (
    "dh", "gravity", "base", "tool", "inertial", "friction", "elastic_K", "elastic_D", "elastic_Dm", "elastic_Mm",
)  # fmt: skip
KEYS = (
    "format", "name", "reference", "gravity", "convention", "base", "tool", "links", "friction_delta", "frames",
    "estimated", "elastic", "masks", "values",
)  # fmt: skip
_POSE = ("translation", "rpy", "matrix")
LIMITS = ("lower", "upper", "velocity", "effort")
NO_LIMITS = (-np.inf, np.inf, np.inf, np.inf)
TENSOR = ("xx", "xy", "xz", "yy", "yz", "zz")


def read_native(document: Value) -> RobotDescription:
    """Return the robot of a document, valid also physically unless the file has ``estimated: true``.

    Raises
    ------
    FileFormatError
        If a key or value is invalid; with line and key.
    """
    top = document.section(KEYS)
    top["format"].one_of((FORMAT,))
    with top["name"].checking():
        name = check_name(top["name"].text())
    if "gravity" not in top:
        raise document.error(
            "missing key 'gravity': write the acceleration in the world, [0, 0, -9.81], or [0, 0, 0] if none is meant"
        )
    reader = _Reader(top)
    with document.checking():
        description = RobotDescription(name=name, gravity=top["gravity"].numbers(3), **reader.fields())
    return description if reader.estimated else check_physical_input(description)


class _Reader:
    """Read the fields of a description; `links` and `joints` are the names read so far, to which later parts refer."""

    def __init__(self, top: Section) -> None:
        self.top, self.links, self.joints = top, list[str](), list[str]()
        self.convention = top["convention"].one_of((*DH_CONVENTIONS, "placements"))
        self.estimated = top.read("estimated", Value.flag, False)

    def fields(self) -> dict[str, Any]:
        entries = self.top["links"].items()
        if not 1 <= len(entries) <= MAX_JOINTS:
            raise self.top["links"].error(f"an arm must have 1 to {MAX_JOINTS} links, got {len(entries)}")
        rows = [self._link(entry) for entry in entries]
        placements, axes, offsets = (np.array(part) for part in zip(*(row["chain"] for row in rows), strict=True))
        friction, elastic = self._friction(rows), self.top.read("elastic", self._elastic, ())
        fields: dict[str, Any] = {
            "joint_types": "".join(row["type"] for row in rows),
            "placements": placements,
            "axes": axes,
            "offsets": offsets,
            "inertial": np.array([row["inertial"] for row in rows]),
            "convention": self.convention,
            "dh": np.array([row["dh"] for row in rows]) if self.convention in DH_CONVENTIONS else None,
            "joint_names": tuple(self.joints),
            "link_names": tuple(self.links),
            "friction": friction,
            "rotors": tuple(self._rotor(k, row["rotor"]) for k, row in enumerate(rows, start=1) if "rotor" in row),
            "elastic": elastic,
            "masks": self.top.read("masks", lambda value: _masks(value, len(rows), friction, elastic), {}),
        }
        if any("limits" in row for row in rows):
            columns = np.array([row.get("limits", NO_LIMITS) for row in rows]).T
            fields["limits"] = Limits(**dict(zip(LIMITS, columns, strict=True)))
        if any("armature" in row for row in rows):
            fields["armature"] = np.array([row.get("armature", 0.0) for row in rows])
        parts = {"base": _pose, "tool": _pose, "frames": self._frames, "values": _values, "reference": Value.text}
        return fields | {key: read(self.top[key]) for key, read in parts.items() if key in self.top}

    def non_negative(self, value: Value, what: str) -> float:
        """Return a number, which must not be negative except for estimates."""
        number = value.number()
        if number < 0.0 and not self.estimated:
            raise value.error(f"{what} must not be negative, got {number:g}")
        return number

    def _link(self, entry: Value) -> dict[str, Any]:
        """Return what an entry has by name, and the name's defaults for geometry and inertia."""
        link = entry.section(("name", "joint", "inertial"))
        _add_name(link.get("name"), self.links, "link")
        row = self._joint(link["joint"])
        row["inertial"] = link.read("inertial", self._inertial, np.zeros(10))
        if "inertial" in link and not self.estimated:
            with link["inertial"].checking():
                check_moments(self.links[-1:], row["inertial"][None])
        return row

    def _joint(self, value: Value) -> dict[str, Any]:
        geometry = ("dh",) if self.convention in DH_CONVENTIONS else ("placement", "axis", "offset")
        joint = value.section(("name", "type", *geometry, "limits", "friction", "armature", "rotor"))
        _add_name(joint.get("name"), self.joints, "joint")
        row: dict[str, Any] = {"type": joint["type"].one_of(("R", "P"))}
        if geometry == ("dh",):
            row["dh"] = joint["dh"].numbers(4)
            row["chain"] = [part[0] for part in dh_chain([row["dh"]], self.convention)]
        else:
            placement, offset = (joint.read(key, _pose, np.eye(4)) for key in ("placement", "offset"))
            row["chain"] = (placement, joint.read("axis", _axis, np.array([0.0, 0.0, 1.0])), offset)
        parts: dict[str, Callable[[Value], Any]] = {
            "limits": _limits,
            "armature": lambda value: self.non_negative(value, "armature"),
            "friction": self._friction_terms,
            "rotor": lambda value: value,
        }
        return row | {key: read(joint[key]) for key, read in parts.items() if key in joint}

    def _friction_terms(self, value: Value) -> dict[str, float]:
        entries = value.section(Friction.TERMS).entries.items()
        signs = ("viscous", "coulomb")  # those that must not be negative
        return {k: self.non_negative(v, f"{k} friction") if k in signs else v.number() for k, v in entries}

    def _friction(self, rows: Sequence[dict[str, Any]]) -> Friction | None:
        """Read the terms of all joints; missing coefficients are zero."""
        given = [row.get("friction", {}) for row in rows]
        terms = tuple(term for term in Friction.TERMS if any(term in row for row in given))
        delta = self.top.number("friction_delta", Friction.delta)
        if delta <= 0.0:
            raise self.top["friction_delta"].error(f"must be positive, got {delta:g}")
        if not terms:
            return None
        coefficients = np.array([[row.get(term, 0.0) for term in terms] for row in given])
        return Friction(terms=terms, coefficients=coefficients, delta=delta)

    def _rotor(self, joint: int, value: Value) -> Rotor:
        section = value.section(("inertia", "gear_ratio", "carrier", "axis"))
        with value.checking():
            return Rotor(
                joint=joint,
                inertia=self.non_negative(section["inertia"], f"rotor inertia of {self.joints[joint - 1]}"),
                gear_ratio=section.number("gear_ratio", 1.0),
                carrier=section.read("carrier", self._link_index, None),
                axis=section.read("axis", _axis, None),
            )

    def _link_index(self, value: Value) -> int:
        """Return the index of a link from its name or number; the base is ``base`` or 0."""
        text = value.text()
        if text in self.links:
            return self.links.index(text) + 1
        if text.isdecimal():
            return value.whole(0, len(self.links))
        return ("base", *self.links).index(value.one_of(("base", *self.links)))

    def _inertial(self, value: Value) -> Array:
        section = value.section(("mass", "com", "inertia", "REG"))
        mass = f"mass of {self.links[-1]}"
        if "REG" in section:
            if len(section.entries) > 1:
                raise value.error("takes either REG or mass, com and inertia, got both")
            self.non_negative(section["REG"].items(10)[0], mass)
            return section["REG"].numbers(10)
        tensor = section.read("inertia", lambda value: value.section(TENSOR), None)
        moments = [0.0 if tensor is None else tensor.number(key, 0.0) for key in TENSOR]
        center = section.read("com", lambda value: value.numbers(3), np.zeros(3))
        return reg_from_dyn([self.non_negative(section["mass"], mass), *center, *moments])

    def _frames(self, value: Value) -> dict[str, tuple[int, Array]]:
        frames = {}
        for name, entry in value.section().entries.items():
            section = entry.section(("link", "pose"))
            with entry.checking():
                check_label(name, "frame name")
            if name in self.links:
                raise entry.error(f"frame name must be no link's name, got {name!r}")
            T = section.read("pose", _pose, np.eye(4))
            frames[name] = (self._link_index(section["link"]), T)
        return frames

    def _elastic(self, value: Value) -> tuple[Elastic, ...]:
        drives: list[Elastic] = []
        for entry in value.section(("joints",))["joints"].items():
            section = entry.section(("joint", *Elastic.GROUPS))
            joint = self.joints.index(section["joint"].one_of(self.joints)) + 1
            if drives and joint <= drives[-1].joint:
                raise section["joint"].error("elastic joints must occur once each, in the order of the arm")
            rows = {key: section[key].numbers(None).tolist() for key in ("K", "D", "Dm")}
            for key, row in rows.items():
                if drives and len(row) != (first := len(getattr(drives[0], key))):
                    raise section[key].error(f"must be as long as that of the first elastic joint, {first}")
            Mm = self.non_negative(section["Mm"], f"motor inertia of {self.joints[joint - 1]}")
            with entry.checking():
                drives.append(Elastic(joint=joint, Mm=Mm, **rows))
        return tuple(drives)


def _add_name(value: Value | None, names: list[str], what: str) -> None:
    name = f"{what}{len(names) + 1}" if value is None else value.text()
    if value is not None:
        with value.checking():
            check_label(name, f"{what} name")
        if name in names:
            raise value.error(f"{what} names must differ, got {name!r} twice")
    names.append(name)


def _values(value: Value) -> dict[str, float | tuple[float, ...]]:
    return {key: entry.number_or_numbers() for key, entry in value.section().entries.items()}


def _pose(value: Value) -> Array:
    section = value.section(_POSE)
    if "matrix" in section:
        if len(section.entries) > 1:
            raise value.error("takes either matrix or translation and rpy, got both")
        with section["matrix"].checking():
            return pose(section["matrix"].numbers(4, 4), "matrix")
    translation, rpy = (section.read(key, lambda value: value.numbers(3), np.zeros(3)) for key in _POSE[:2])
    return pose_from_rpy(translation, rpy)


def _axis(value: Value) -> Array:
    axis = value.numbers(3)
    length = np.linalg.norm(axis)
    if length < 1e-9:
        raise value.error("must be a direction, got a vector of length zero")
    # unit vectors stay exact: files round-trip
    return axis if abs(length - 1.0) < 1e-12 else np.asarray(axis / length)


def _limits(value: Value) -> list[float]:
    section = value.section(LIMITS)
    row = [section.number(key, none, infinite=True) for key, none in zip(LIMITS, NO_LIMITS, strict=True)]
    with value.checking():
        if row[0] > row[1]:
            raise value.error(f"lower must not exceed upper, got {row[0]:g} and {row[1]:g}")
        Limits(**{key: np.array([number]) for key, number in zip(LIMITS, row, strict=True)})
    return row


def _masks(value: Value, n: int, friction: Friction | None, elastic: Sequence[Elastic]) -> dict[str, Any]:
    """Read masks of 0 and 1: a flat list, or one list per link or elastic joint."""
    e = len(elastic)
    flat = {"dh": 4 * n, "gravity": 3, "base": 6, "tool": 6, "elastic_Mm": e}
    rows = {"inertial": (n, 10), "friction": (n, len(friction.terms) if friction else 0)}
    rows.update({f"elastic_{key}": (e, len(getattr(elastic[0], key)) if e else 0) for key in ("K", "D", "Dm")})
    masks: dict[str, Any] = {}
    for key, mask in value.section(MASK_KEYS).entries.items():
        if key in flat:
            masks[key] = _bits(mask, flat[key])
        else:
            count, width = rows[key]
            masks[key] = tuple(_bits(row, width) for row in mask.items(count))
    return masks


def _bits(value: Value, length: int) -> tuple[int, ...]:
    return tuple(bit.whole(0, 1) for bit in value.items(length))


def write_native(description: RobotDescription) -> str:
    """Return the text of a file from which exactly this description is read back."""
    lines = [f"format: {FORMAT}", f"name: {_text(description.name)}"]
    if description.reference:
        lines.append(f"reference: {_text(description.reference)}")
    lines += [f"gravity: {value_text(description.gravity)}", f"convention: {description.convention}"]
    if not _is_physical(description):
        lines.append("estimated: true")
    lines += [
        f"{key}: {_write_pose(T)}" for key, T in (("base", description.base), ("tool", description.tool)) if _moves(T)
    ]
    if description.friction is not None:
        lines.append(f"friction_delta: {number_text(description.friction.delta)}")
    lines.append("links:")
    for i in range(description.n):
        lines += _link(description, i)
    lines += _write_frames(description) + _write_elastic(description) + _write_masks(description)
    lines += ["values:"] if description.values else []
    lines += [f"  {key}: {value_text(value)}" for key, value in description.values.items()]
    return "\n".join(lines) + "\n"


def _is_physical(description: RobotDescription) -> bool:
    try:
        check_physical_input(description)
    except ThunderError:
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
    return lines + [f"    {line}" for line in _write_inertial(description.inertial[i])]


def _geometry(description: RobotDescription, i: int) -> list[str]:
    if description.dh is not None:
        return [f"dh: {value_text(description.dh[i])}"]
    lines = []
    if _moves(description.placements[i]):
        lines.append(f"placement: {_write_pose(description.placements[i])}")
    lines.append(f"axis: {value_text(description.axes[i])}")
    if _moves(description.offsets[i]):
        lines.append(f"offset: {_write_pose(description.offsets[i])}")
    return lines


def _joint_data(description: RobotDescription, i: int) -> list[str]:
    lines = []
    if (limits := description.limits) is not None:
        row = [getattr(limits, key)[i] for key in LIMITS]
        values = zip(LIMITS, row, NO_LIMITS, strict=True)
        lines.append(f"limits: {_mapping((key, number_text(value)) for key, value, none in values if value != none)}")
    if description.friction is not None:
        terms = friction_of_joint(description, i).items()
        lines.append(f"friction: {_mapping((term, number_text(value)) for term, value in terms)}")
    if description.armature is not None:
        lines.append(f"armature: {number_text(description.armature[i])}")
    return lines + [_write_rotor(rotor, description) for rotor in description.rotors if rotor.joint == i + 1]


def _write_rotor(rotor: Rotor, description: RobotDescription) -> str:
    entries = [("inertia", number_text(rotor.inertia)), ("gear_ratio", number_text(rotor.gear_ratio))]
    entries.append(("carrier", _link_name(rotor.carrier or 0, description)))
    if rotor.axis is not None:
        entries.append(("axis", value_text(rotor.axis)))
    return f"rotor: {_mapping(entries)}"


def _write_inertial(reg: Array) -> list[str]:
    """Write mass, center and tensor if they reproduce the ten REG numbers exactly, otherwise the REG numbers."""
    if not reg.any():
        return []
    dyn = _exact_dyn(reg)
    if dyn is None:
        return ["inertial:", f"  REG: {value_text(reg)}"]
    lines = ["inertial:", f"  mass: {number_text(dyn[0])}"]
    if dyn[1:4].any():
        lines.append(f"  com: {value_text(dyn[1:4])}")
    if dyn[4:].any():
        tensor = zip(TENSOR, dyn[4:], strict=True)
        lines.append(f"  inertia: {_mapping((key, number_text(value)) for key, value in tensor if value)}")
    return lines


def _exact_dyn(reg: Array) -> Array | None:
    if reg[0] == 0.0 and reg[1:4].any():
        return None
    dyn = dyn_from_reg(reg)
    for candidate in (np.array([float(f"{value:.12g}") for value in dyn]), dyn):
        if np.array_equal(reg_from_dyn(candidate), reg):
            return candidate
    return None


def _write_frames(description: RobotDescription) -> list[str]:
    lines = ["frames:"] if description.frames else []
    for name, (link, T) in description.frames.items():
        lines.append(
            f"  {_text(name)}: {_mapping([('link', _link_name(link, description)), ('pose', _write_pose(T))])}"
        )
    return lines


def _write_elastic(description: RobotDescription) -> list[str]:
    if not description.elastic:
        return []
    lines = ["elastic:", "  joints:"]
    for drive in description.elastic:
        entries = [("joint", _text(description.joint_names[drive.joint - 1]))]
        entries += [(key, value_text(getattr(drive, key))) for key in ("K", "D", "Dm")]
        lines.append(f"    - {_mapping([*entries, ('Mm', number_text(drive.Mm))])}")
    return lines


def _write_masks(description: RobotDescription) -> list[str]:
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


def _write_pose(T: Array) -> str:
    """Write translation and angles if they reproduce this pose exactly, otherwise the matrix."""
    R = T[:3, :3]
    rpy = rpy_from_rotation(np.clip(R, -1, 1)) + 0.0  # no negative zeros in files
    if np.array_equal(pose_from_rpy(T[:3, 3], rpy), T):
        return _mapping(
            (key, value_text(part)) for key, part in (("translation", T[:3, 3]), ("rpy", rpy)) if part.any()
        )
    return _mapping([("matrix", f"[{', '.join(value_text(row) for row in T)}]")])


def _mapping(entries: Iterable[tuple[str, str]]) -> str:
    return "{" + ", ".join(f"{key}: {value}" for key, value in entries) + "}"


def value_text(value: float | Iterable[float]) -> str:
    """Return the text of a number or of a list of numbers."""
    return f"[{', '.join(map(number_text, value))}]" if isinstance(value, Iterable) else number_text(value)


def number_text(value: float) -> str:
    """Return the shortest text that is read back as this number by any reader of YAML 1.1."""
    text = repr(float(value))
    if "inf" in text:
        return text.replace("inf", ".inf")
    mantissa, e, exponent = text.partition("e")
    if not e:
        return text.removesuffix(".0")
    return f"{mantissa if '.' in mantissa else mantissa + '.0'}e{exponent}"


def _text(text: str) -> str:
    """Return a word unchanged, other text in quotation marks."""
    if re.fullmatch(r"[A-Za-z_]\w*", text, re.ASCII) and isinstance(yaml.safe_load(text), str):
        return text
    return str(yaml.dump(text, default_style='"', width=10**9, allow_unicode=True, Dumper=yaml.SafeDumper)).strip()
