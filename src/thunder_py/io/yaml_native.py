"""Native robot files, ``format: thunder_py/1``: one entry per link, with the joint that moves it.

docs/robot_format.md describes the format.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
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
    d = description
    frames = {
        _text(name): value_text({"link": _link_name(link, d), "pose": _write_pose(T)})
        for name, (link, T) in d.frames.items()
    }
    document = {
        "format": FORMAT,
        "name": _text(d.name),
        "reference": _text(d.reference) if d.reference else None,
        "gravity": d.gravity,
        "convention": d.convention,
        "estimated": None if _is_physical(d) else "true",
        "base": _moved(d.base),
        "tool": _moved(d.tool),
        "friction_delta": None if d.friction is None else d.friction.delta,
        "links": [_link(d, i) for i in range(d.n)],
        "frames": frames or None,
        "elastic": {"joints": [_write_drive(drive, d) for drive in d.elastic]} if d.elastic else None,
        "masks": d.masks or None,
        "values": d.values or None,
    }
    return "\n".join(block_lines(document)) + "\n"


def block_lines(entries: Mapping[str, Any]) -> list[str]:
    """Return the lines of a mapping without entries that are None; mappings in it and lists of them are blocks."""
    lines = []
    for key, value in entries.items():
        if isinstance(value, Mapping):
            lines += [f"{key}:", *(f"  {line}" for line in block_lines(value))]
        elif isinstance(value, list):
            items = [block_lines(item) if isinstance(item, Mapping) else [item] for item in value]
            marked = [f"{'  ' if k else '- '}{line}" for item in items for k, line in enumerate(item)]
            lines += [f"{key}:", *(f"  {line}" for line in marked)]
        elif value is not None:
            lines.append(f"{key}: {value_text(value)}")
    return lines


def _is_physical(description: RobotDescription) -> bool:
    try:
        check_physical_input(description)
    except ThunderError:
        return False
    return True


def _link(d: RobotDescription, i: int) -> dict[str, Any]:
    joint: dict[str, Any] = {"name": _text(d.joint_names[i]), "type": d.joint_types[i]}
    if d.dh is not None:
        joint["dh"] = d.dh[i]
    else:
        joint |= {"placement": _moved(d.placements[i]), "axis": d.axes[i], "offset": _moved(d.offsets[i])}
    if d.limits is not None:
        limits = zip(LIMITS, NO_LIMITS, (getattr(d.limits, key)[i] for key in LIMITS), strict=True)
        joint["limits"] = value_text({key: value for key, none, value in limits if value != none})
    if d.friction is not None:
        joint["friction"] = value_text(friction_of_joint(d, i))
    if d.armature is not None:
        joint["armature"] = d.armature[i]
    for rotor in (rotor for rotor in d.rotors if rotor.joint == i + 1):
        entries = {"inertia": rotor.inertia, "gear_ratio": rotor.gear_ratio}
        axis = {} if rotor.axis is None else {"axis": rotor.axis}
        joint["rotor"] = value_text(entries | {"carrier": _link_name(rotor.carrier or 0, d)} | axis)
    return {"name": _text(d.link_names[i]), "joint": joint, "inertial": _write_inertial(d.inertial[i])}


def _write_inertial(reg: Array) -> dict[str, Any] | None:
    """Return mass, center and tensor if they reproduce the ten REG numbers exactly, otherwise the REG numbers."""
    if not reg.any():
        return None
    dyn = _exact_dyn(reg)
    if dyn is None:
        return {"REG": reg}
    tensor = {key: value for key, value in zip(TENSOR, dyn[4:], strict=True) if value}
    center = dyn[1:4] if dyn[1:4].any() else None
    return {"mass": dyn[0], "com": center, "inertia": value_text(tensor) if tensor else None}


def _exact_dyn(reg: Array) -> Array | None:
    if reg[0] == 0.0 and reg[1:4].any():
        return None
    dyn = dyn_from_reg(reg)
    for candidate in (np.array([float(f"{value:.12g}") for value in dyn]), dyn):
        if np.array_equal(reg_from_dyn(candidate), reg):
            return candidate
    return None


def _write_drive(drive: Elastic, d: RobotDescription) -> str:
    groups = {key: getattr(drive, key) for key in Elastic.GROUPS}
    return value_text({"joint": _text(d.joint_names[drive.joint - 1]), **groups})


def _link_name(link: int, description: RobotDescription) -> str:
    if link == 0:
        return "0" if "base" in description.link_names else "base"
    return _text(description.link_names[link - 1])


def _moved(T: Array) -> str | None:
    """Return the text of a pose, None for the identity."""
    return None if np.array_equal(T, np.eye(4)) else _write_pose(T)


def _write_pose(T: Array) -> str:
    """Write translation and angles if they reproduce this pose exactly, otherwise the matrix."""
    R = T[:3, :3]
    rpy = rpy_from_rotation(np.clip(R, -1, 1)) + 0.0  # no negative zeros in files
    if np.array_equal(pose_from_rpy(T[:3, 3], rpy), T):
        return value_text({key: part for key, part in (("translation", T[:3, 3]), ("rpy", rpy)) if part.any()})
    return value_text({"matrix": T})


def value_text(value: Any) -> str:
    """Return the text of a number, a list or a mapping; texts stay as they are."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {value_text(entry)}" for key, entry in value.items()) + "}"
    return f"[{', '.join(map(value_text, value))}]" if isinstance(value, Iterable) else number_text(value)


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
