"""Files of Thunder Dynamics 0.8: robots, recognized by ``num_joints``, ``type_joints``, ``kinematics``, and parameters.

Defaults are those of that tool: no friction without ``Dl_order``, no springs without ``ELASTIC_MODEL``; a block that
is therefore not used raises a warning. Before 0.2, ``DH``, ``gravity`` and ``inertial`` were lists and tables.
Differences: a file without gravity is refused (weightlessness there), masks and lists of the wrong length are refused,
and unknown keys are refused unless their value is a number or a list of numbers (constants for anchors, values for
functions of the user). Switches of its generator have no
effect here.
"""

from __future__ import annotations

import difflib
import re
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from ..checks import Array
from ..errors import FileFormatError, outer_level
from ..model.description import MAX_JOINTS, Elastic, Friction, RobotDescription, describe_dh
from ..model.dh_frames import in_dh_frames
from ..model.inertia import dyn_from_reg, reg_from_dyn
from ..spatial import pose_from_rpy, rpy_from_rotation
from .yaml_native import number_text, value_text
from .yaml_text import Section, Value

Masks = dict[str, Any]

_KEYS = (
    "version", "num_joints", "type_joints", "Dl_order", "ELASTIC_MODEL", "kinematics", "gravity",
    "Base_to_L0", "Ln_to_EE", "dynamics", "elastic",
)  # fmt: skip
#: switches of the generator from 0.3 on
_SWITCHES = ("gen_python", "gen_casadi", "gen_robot", "copy_gen")
#: keys before 0.2 and those that took their place
_OLD_KEYS = {"DH": "kinematics", "inertial": "dynamics"}
_MARKS = ("num_joints", "type_joints", "kinematics", "DH")
_LINK, _JOINT = re.compile(r"link\d+"), re.compile(r"joint\d+")
DYN_KEYS = ("mass", "CoM_x", "CoM_y", "CoM_z", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")
#: names of Thunder's Dl[0], Dl[1], ...; it has no Coulomb term
FRICTION_TERMS = tuple(term for term in Friction.TERMS if term != "coulomb")
TYPES = ("R", "P", "R_SEA", "P_SEA")
ELASTIC_ORDERS = {"K": "K_order", "D": "D_order", "Dm": "Dm_order"}
#: ends of the names of files with a robot, and with parameters of links only
ROBOT_END = "_conf"
LINKS_ENDS = ("_par_REG", "_par_DYN", "_inertial_REG", "_inertial_DYN")

#: comment of a file of links' parameters, before the convention of the robot whose frames they are about
FRAMES = "# link frames: "


def is_thunder(document: Value) -> bool:
    """Return True for a file of Thunder: a robot, the pipeline of 1.0, or a table of links without kinematics."""
    keys = document.section().entries
    robot = "pipeline" in keys or sum(mark in keys for mark in _MARKS) >= 2
    return robot or ("format" not in keys and any(map(_LINK.fullmatch, keys)))


def read_thunder(document: Value, name: str, legacy: Section | None = None) -> RobotDescription:
    """Read a document of Thunder 0.8 or older.

    Parameters
    ----------
    document : Value
        The parsed file.
    name : str
        The robot's name; Thunder uses the name of the file.
    legacy : Section, optional
        Keys of 0.8 in a file of 1.0, among others; springs then need no ``ELASTIC_MODEL``.

    Returns
    -------
    RobotDescription
        Description in modified DH, with ``symb`` lists in `masks` and drives of elastic joints in `elastic`.

    Raises
    ------
    FileFormatError
        If a key or value is invalid; with line and key.
    """
    if legacy is None:
        top, values = _top(document)
    else:
        top, values = Section(document, {key: value for key, value in legacy.entries.items() if key in _KEYS}), {}
    n = top["num_joints"].whole(1, MAX_JOINTS)
    types = _types(top["type_joints"], n)
    masks: Masks = {}
    dh = _dh(top, n, masks)
    inertial, friction = _dynamics(top, n, masks)
    fields: dict[str, Any] = {
        "gravity": read_gravity(top, masks),
        "base": _pose(top, "Base_to_L0", masks, "base"),
        "tool": _pose(top, "Ln_to_EE", masks, "tool"),
        "friction": friction,
        "elastic": _elastic(top, types, masks, legacy is not None),
        "masks": masks,
        "values": values,
    }
    with document.checking():
        return describe_dh(dh, joint_types="".join(t[0] for t in types), inertial=inertial, name=name, **fields)


def _top(document: Value) -> tuple[Section, dict[str, float | tuple[float, ...]]]:
    """Return the known keys, and the numbers under other names: constants for anchors, values for the user."""
    top, values = document.section(), {}
    if "joints_type" in top:
        raise top["joints_type"].error(
            "this is written for the loaders of Thunder's 1.0 format: it must have a pipeline and their sections"
        )
    for name, value in top.entries.items():
        if name in _SWITCHES:
            value.flag()
            continue
        if name in _KEYS or (name in _OLD_KEYS and _OLD_KEYS[name] not in top):
            continue
        if _LINK.fullmatch(name):
            raise value.error(
                f"a table of inertial parameters is no robot: call it NAME{LINKS_ENDS[0]}.yaml (about link origins) or "
                f"NAME{LINKS_ENDS[1]}.yaml (about centers of mass), beside NAME{ROBOT_END}.yaml or NAME.yaml"
            )
        if name in _OLD_KEYS or difflib.get_close_matches(name, _KEYS, n=1, cutoff=0.75):
            raise value.unknown(name, _KEYS)
        try:
            values[name] = value.number_or_numbers()
        except ValueError:
            raise value.unknown(name, _KEYS) from None
    return top, values


def _types(value: Value, n: int) -> list[str]:
    """Read the types of the joints; before 0.2 they may be the letters of a word."""
    if not isinstance(value.node, yaml.ScalarNode):
        return [item.one_of(TYPES) for item in value.items(n)]
    word = value.text()
    if len(word) != n or not set(word) <= {"R", "P"}:
        raise value.error(f"must be a list of {n} of {', '.join(TYPES)}, or {n} letters R and P, got {value.shown()}")
    return list(word)


def _dh(top: Section, n: int, masks: Masks) -> Array:
    if "DH" in top:
        return top["DH"].numbers(4 * n).reshape(n, 4)
    kinematics = top["kinematics"].section(("type", "symb", "DH", "urdf_path", "base_link", "ee_link"))
    if "type" in kinematics and kinematics["type"].one_of(("DH", "URDF")) == "URDF":
        raise kinematics["type"].error("kinematics of a URDF file are not read here: load the URDF file itself")
    _mask(kinematics, 4 * n, masks, "dh")
    return kinematics["DH"].numbers(4 * n).reshape(n, 4)


def read_bits(section: Section, length: int, key: str = "symb") -> tuple[int, ...]:
    """Read a list of 0 and 1; all 0 if it is absent."""
    return tuple(item.whole(0, 1) for item in section[key].items(length)) if key in section else (0,) * length


def _mask(section: Section, length: int, masks: Masks, name: str) -> None:
    """Store the list ``symb`` under `name` if it is present."""
    if "symb" in section:
        masks[name] = read_bits(section, length)


def read_gravity(top: Section, masks: Masks) -> Array:
    """Read the required acceleration of gravity and its mask."""
    if "gravity" not in top:
        raise top.value.error(
            "missing key 'gravity': write the acceleration, {value: [0, 0, -9.81]}, "
            "or {value: [0, 0, 0]} if none is meant"
        )
    if isinstance(top["gravity"].node, yaml.SequenceNode):  # before 0.2
        return top["gravity"].numbers(3)
    gravity = top["gravity"].section(("symb", "value"))
    _mask(gravity, 3, masks, "gravity")
    return gravity["value"].numbers(3)


def _pose(top: Section, key: str, masks: Masks, name: str) -> Array:
    value = top.get(key)
    if value is None:
        return np.eye(4)
    frame = value.section(("symb", "tr", "ypr"))
    _mask(frame, 6, masks, name)
    return pose_from_rpy(frame["tr"].numbers(3), frame["ypr"].numbers(3)[::-1])


def _dynamics(top: Section, n: int, masks: Masks) -> tuple[Array, Friction | None]:
    names = [f"link{i + 1}" for i in range(n)]
    if "inertial" in top:
        table = top["inertial"].section(names)
        links = [table[name].section((*DYN_KEYS, "Dl")) for name in names]
        inertial = np.array([_inertial(link, name, {}) for link, name in zip(links, names, strict=True)])
    else:
        dynamics = top["dynamics"].section(names)
        links = [dynamics[name].section(("inertial", "friction")) for name in names]
        inertial = np.array(
            [
                _inertial(link["inertial"].section(("symb", *DYN_KEYS)), name, masks)
                for link, name in zip(links, names, strict=True)
            ]
        )
    block = "Dl" if "inertial" in top else "friction"
    order = top["Dl_order"].whole(0, len(FRICTION_TERMS)) if "Dl_order" in top else 0
    if order == 0:
        if "Dl_order" not in top:
            _warn_unused(next((link[block] for link in links if block in link), None), "Dl_order", "0")
        return inertial, None
    rows = np.array([_friction(link, order, {} if "inertial" in top else masks) for link in links])
    return inertial, Friction(terms=FRICTION_TERMS[:order], coefficients=rows)


def _warn_unused(value: Value | None, key: str, default: str) -> None:
    """Warn that a block of the file is not used, because the key that enables it is missing."""
    if value is not None:
        text = str(value.error(f"not used: {key} is missing at the top, default {default}"))
        warnings.warn(text, stacklevel=outer_level())


def _inertial(inertial: Section, name: str, masks: Masks) -> list[float]:
    masks["inertial"] = (*masks.get("inertial", ()), read_bits(inertial, 10))
    row = [inertial[key].number() for key in DYN_KEYS]
    if row[0] < 0.0:
        raise inertial["mass"].error(f"mass of {name} must not be negative, got {row[0]:g}")
    return row


def _friction(link: Section, order: int, masks: Masks) -> list[float]:
    if "Dl" in link:  # before 0.2
        return _checked(link["Dl"], order)
    if "friction" not in link:  # zeros, as in Thunder
        masks["friction"] = (*masks.get("friction", ()), (0,) * order)
        return [0.0] * order
    friction = link["friction"].section(("symb", "Dl"))
    masks["friction"] = (*masks.get("friction", ()), read_bits(friction, order))
    return _checked(friction["Dl"], order)


def _checked(Dl: Value, order: int) -> list[float]:
    row = _leading(Dl, order)
    if row[0] < 0.0:
        raise Dl.error(f"viscous friction must not be negative, got {row[0]:g}")
    return row


def _leading(value: Value, order: int) -> list[float]:
    """Return the first `order` coefficients; Thunder's files may have more, but not fewer."""
    row = [item.number() for item in value.items()]
    if len(row) < order:
        raise value.error(f"must hold at least {order} numbers, as its order says, got {len(row)}")
    return row[:order]


def _elastic(top: Section, types: list[str], masks: Masks, by_types: bool) -> tuple[Elastic, ...]:
    """Read the elastic block; ``jointK`` is the K-th joint of type ``*_SEA``."""
    elastic_joints = [i + 1 for i, kind in enumerate(types) if kind.endswith("_SEA")]
    if by_types and not elastic_joints:
        return ()
    if not by_types and "ELASTIC_MODEL" not in top:
        _warn_unused(top.get("elastic"), "ELASTIC_MODEL", "false")
        return ()
    if not by_types and not top["ELASTIC_MODEL"].flag():
        return ()
    if not elastic_joints:
        raise top["type_joints"].error("an elastic model needs a joint of type R_SEA or P_SEA")
    block = top["elastic"].section(("joints", *ELASTIC_ORDERS.values()))
    orders = {key: block[order].whole(int(key == "K"), 20) for key, order in ELASTIC_ORDERS.items()}
    names = [f"joint{k + 1}" for k in range(len(elastic_joints))]
    for name, value in block["joints"].section().entries.items():
        if name not in names and _JOINT.fullmatch(name):
            raise value.error(
                f"beyond the {len(names)} elastic joints: jointK is the K-th joint of type R_SEA or P_SEA"
            )
    joints = block["joints"].section(names)
    return tuple(read_drive(joints[k], i, orders, masks) for k, i in zip(names, elastic_joints, strict=True))


def read_drive(value: Value, index: int, orders: dict[str, int], masks: Masks) -> Elastic:
    """Read the drive of the elastic joint `index`, counted from 1, and its masks."""
    keys = (*orders, "Mm")
    joint = value.section((*keys, *(f"{key}_symb" for key in keys)))
    rows = {key: tuple(_leading(joint[key], order)) for key, order in orders.items()}
    Mm = joint["Mm"].number()
    if Mm < 0.0:
        raise joint["Mm"].error(f"motor inertia must not be negative, got {Mm:g}")
    for key, order in orders.items():
        bits = read_bits(joint, order, f"{key}_symb")
        masks[f"elastic_{key}"] = (*masks.get(f"elastic_{key}", ()), bits)
    bit = joint["Mm_symb"].whole(0, 1) if "Mm_symb" in joint else 0
    masks["elastic_Mm"] = (*masks.get("elastic_Mm", ()), bit)
    with value.checking():
        return Elastic(joint=index, Mm=Mm, **rows)


def robot_beside(path: Path) -> Path | None:
    """Return the robot file to which a file of links' parameters belongs by its name, None for other names.

    Raises
    ------
    FileFormatError
        If there is no such file.
    """
    end = next((end for end in LINKS_ENDS if path.stem.endswith(end)), None)
    if end is None:
        return None
    names = [f"{path.stem.removesuffix(end)}{kind}{path.suffix}" for kind in (ROBOT_END, "")]
    found = next((path.with_name(name) for name in names if path.with_name(name).is_file()), None)
    if found is None:
        raise FileFormatError(
            f"holds parameters of links; their robot must be in {' or '.join(names)} beside it, got neither", path=path
        )
    return found


def read_links(document: Value, n: int) -> Array:
    """Read the links' parameters of a file of Thunder, REG or DYN by its keys, in the order of the file.

    Parameters
    ----------
    document : Value
        The parsed file; links are under ``dynamics``, in older files under ``inertial`` or at the top.
    n : int
        Number of links.

    Returns
    -------
    (n, 10) array
        REG.

    Raises
    ------
    FileFormatError
        If a key or value is invalid, or there are not `n` links.
    """
    top = document.section()
    for key in ("par_REG", "par_DYN"):  # as one list
        if key in top:
            rows = top[key].numbers(10 * n).reshape(n, 10)
            return rows if key == "par_REG" else reg_from_dyn(rows)
    above = next((top[key] for key in ("dynamics", "inertial") if key in top), document)
    links = above.section().entries
    if len(links) != n:
        raise above.error(f"must hold the {n} links of its robot, got {len(links)}")
    found = []
    for link in links.values():
        section = link.section()
        section = section["inertial"].section() if "inertial" in section else section
        reg = "m_CoM_x" in section
        row = np.array([section[key.replace("CoM", "m_CoM") if reg else key].number() for key in DYN_KEYS])
        found.append(row if reg else reg_from_dyn(row))
    return np.array(found)


def write_links(description: RobotDescription, form: str) -> str:
    """Return the text of a file of links' parameters, REG or DYN."""
    rows = description.inertial if form == "REG" else dyn_from_reg(description.inertial)
    lines = [f"# Links' parameters ({form}) of {description.name}", f"{FRAMES}{description.convention}", "dynamics:"]
    for i, row in enumerate(rows):
        lines += [f"  link{i + 1}:", "    inertial:"]
        keys = (key.replace("CoM", "m_CoM") if form == "REG" else key for key in DYN_KEYS)
        lines += [f"      {key}: {number_text(value)}" for key, value in zip(keys, row, strict=True)]
    return "\n".join(lines) + "\n"


def thunder_losses(description: RobotDescription) -> tuple[str, ...]:
    """Return what Thunder's format cannot represent, one sentence for each."""
    d = description
    names = (tuple(f"{kind}{i + 1}" for i in range(d.n)) for kind in ("joint", "link"))
    found = {
        "names of joints and links": (d.joint_names, d.link_names) != tuple(names),
        "limits": d.limits is not None,
        "rotors": bool(d.rotors),
        "armature": d.armature is not None,
        "named frames": bool(d.frames),
        "friction other than viscous, quadratic, cubic, ...": _order(d) is None,
        "link frames other than those of modified Denavit-Hartenberg parameters": d.convention != "modified",
        "masks, which are about these frames,": d.convention != "modified" and bool(d.masks),
    }
    return tuple(f"{what} are lost" for what, there in found.items() if there)


def _order(d: RobotDescription) -> int | None:
    """Return ``Dl_order``, None if the terms of the friction are not the first of Thunder's."""
    terms = () if d.friction is None else d.friction.terms
    return len(terms) if terms == FRICTION_TERMS[: len(terms)] else None


def write_thunder(description: RobotDescription, masks: Mapping[str, Any] | None = None) -> str:
    """Return the text of a robot file of Thunder 0.8.

    Parameters
    ----------
    description : RobotDescription
        The robot; what `thunder_losses` lists is left out. Without a table of modified DH, it is described by one.
    masks : mapping of str to array_like, optional
        Run-time entries by parameter group; default those of the description, and of entries without a mask none.
    """
    d, order = in_dh_frames(description, "modified"), _order(description) or 0
    assert d.dh is not None
    given = d.masks if masks is None else masks
    rows = {"inertial": d.n, "friction": d.n} | {f"elastic_{key}": len(d.elastic) for key in ELASTIC_ORDERS}

    def bits(group: str, size: int) -> list[Any]:
        parts = given.get(group, np.zeros(size))
        flat = np.concatenate([np.ravel(part) for part in parts]) if len(parts) else np.zeros(0)
        return flat.astype(int).reshape(rows[group], -1).tolist() if group in rows else flat.astype(int).tolist()

    elastic = {drive.joint: drive for drive in d.elastic}
    types = ", ".join(kind + ("_SEA" if i + 1 in elastic else "") for i, kind in enumerate(d.joint_types))
    lines = [f"# {d.name}, a robot file of Thunder Dynamics 0.8", "version: 0.8", f"num_joints: {d.n}"]
    lines += [f"type_joints: [{types}]", f"Dl_order: {order}", f"ELASTIC_MODEL: {str(bool(elastic)).lower()}"]
    lines += ["kinematics:", f"  symb: {bits('dh', 4 * d.n)}", f"  DH: {value_text(d.dh.ravel())}"]
    lines += ["gravity:", f"  symb: {bits('gravity', 3)}", f"  value: {value_text(d.gravity)}"]
    for key, group, T in (("Base_to_L0", "base", d.base), ("Ln_to_EE", "tool", d.tool)):
        angles = rpy_from_rotation(T[:3, :3])[::-1]
        lines += [
            f"{key}:",
            f"  symb: {bits(group, 6)}",
            f"  tr: {value_text(T[:3, 3])}",
            f"  ypr: {value_text(angles)}",
        ]
    lines += [f"{key}: {value_text(value)}" for key, value in d.values.items()]
    lines.append("dynamics:")
    inertial, friction = bits("inertial", 10 * d.n), bits("friction", order * d.n)
    for i, row in enumerate(dyn_from_reg(d.inertial)):
        lines += [f"  link{i + 1}:", "    inertial:", f"      symb: {inertial[i]}"]
        lines += [f"      {key}: {number_text(value)}" for key, value in zip(DYN_KEYS, row, strict=True)]
        if d.friction is not None and order:
            coefficients = value_text(d.friction.coefficients[i])
            lines += ["    friction:", f"      symb: {friction[i]}", f"      Dl: {coefficients}"]
    return "\n".join(lines + _elastic_lines(d.elastic, bits)) + "\n"


def _elastic_lines(drives: tuple[Elastic, ...], bits: Any) -> list[str]:
    if not drives:
        return []
    lines = [
        "elastic:",
        *(f"  {order}: {len(getattr(drives[0], key))}" for key, order in ELASTIC_ORDERS.items()),
        "  joints:",
    ]
    masks = {key: bits(f"elastic_{key}", len(drives) * len(getattr(drives[0], key))) for key in ELASTIC_ORDERS}
    Mm = bits("elastic_Mm", len(drives))
    for k, drive in enumerate(drives):
        lines.append(f"    joint{k + 1}:")
        for key in ELASTIC_ORDERS:
            lines += [f"      {key}: {value_text(getattr(drive, key))}", f"      {key}_symb: {masks[key][k]}"]
        lines += [f"      Mm: {number_text(drive.Mm)}", f"      Mm_symb: {Mm[k]}"]
    return lines
