"""Files of Thunder Dynamics 1.0, 0.8 and before: robots, and parameters of links; both are read and written.

Robots of 1.0 have the key ``pipeline``, older ones ``num_joints``, ``type_joints``, ``kinematics``. They are chains of
nodes: a node is a frame after that of its parent, with a joint between them or fixed; a body with the name of a node is
fixed to the parent's frame, so that ``link1`` is moved by joint 1, and friction with that name belongs to the node's
joint. A DH table has the nodes ``base``, ``link0``, ``link1``, ..., ``ee``; in 0.8 the friction ``link1`` is that of
joint 1. Angles ``rpy`` are turns about the moving x, y, z axes, ``ypr`` about z, y, x.

Defaults are Thunder's: no friction without ``Dl_order``, no springs without ``ELASTIC_MODEL``; a warning tells of a
block that is therefore not used. Differences: a file without gravity is refused (weightlessness there), as are masks
and lists of the wrong length, and unknown keys of 0.8 unless their value is a number or a list of numbers: constants
for anchors, values for functions of the user. Switches of its generator have no effect here.
"""

from __future__ import annotations

import dataclasses
import difflib
import re
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import yaml

from ..checks import Array, check_name
from ..errors import FileFormatError, ThunderWarning, nearest_hint, outer_level
from ..files import read_whole
from ..model import elastic
from ..model.description import MAX_JOINTS, Elastic, Friction, RobotDescription, check_physical_input
from ..model.dh_frames import in_dh_frames
from ..model.inertia import dyn_from_reg, pseudo_inertia, reg_from_dyn, reg_from_pseudo_inertia
from ..model.model import RobotModel
from ..model.parameters import parameter_changes
from ..spatial import dh_chain, dh_transform, pose_from_rpy, rotation_about, rpy_from_rotation
from .yaml_native import block_lines, read_native, value_text, write_native
from .yaml_text import Section, Value

Masks = dict[str, Any]


class _Keys(NamedTuple):
    """Keys of a version, for reading and writing; `first` is the number of the link with the friction of joint 1."""

    types: str
    table: str
    values: str
    frame: tuple[str, ...]
    first: int


_KEYS = {
    "0.8": _Keys("type_joints", "kinematics", "DH", ("symb", "tr", "ypr"), 1),
    "1.0": _Keys("joints_type", "DH", "value", ("symb", "xyz", "ypr", "tr", "rpy", "xyzrpy", "name"), 0),
}
VERSIONS = tuple(_KEYS)
_LOADERS = ("dh_loader", "kin_loader", "urdf_loader", "dyn_loader", "soft_loader", "legacy_loader")
#: key of the native format's part of a file, which Thunder ignores
REST = "thunder_py"
_TOP = (
    "version", "num_joints", "type_joints", "Dl_order", "ELASTIC_MODEL", "kinematics", "gravity",
    "Base_to_L0", "Ln_to_EE", "dynamics", "elastic", REST,
)  # fmt: skip
#: switches of the generator from 0.3 on
_SWITCHES = ("gen_python", "gen_casadi", "gen_robot", "copy_gen")
#: keys before 0.2 and those that took their place
_OLD_KEYS = {"DH": "kinematics", "inertial": "dynamics"}
_MARKS = ("num_joints", "type_joints", "kinematics", "DH")
_LINK = re.compile(r"link\d+")
DYN_KEYS = ("mass", "CoM_x", "CoM_y", "CoM_z", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")
REG_KEYS = tuple(key.replace("CoM", "m_CoM") for key in DYN_KEYS)
_ENDS = {"Base_to_L0": "base", "Ln_to_EE": "tool"}
#: names of Thunder's Dl[0], Dl[1], ...; it has no Coulomb term
FRICTION_TERMS = tuple(term for term in Friction.TERMS if term != "coulomb")
_TYPES = ("R", "P", "R_SEA", "P_SEA")
_ORDERS = {"K": "K_order", "D": "D_order", "Dm": "Dm_order"}
#: ends of the names of files with a robot, and with parameters of links only
ROBOT_END = "_conf"
LINKS_ENDS = ("_par_REG", "_par_DYN", "_inertial_REG", "_inertial_DYN")
#: comment of a file of links' parameters, before the convention of the robot whose frames they are about
FRAMES = "# link frames: "


class _Node(NamedTuple):
    name: str
    pose: Array
    kind: str = "FIXED"
    axis: Any = (0.0, 0.0, 1.0)


def is_thunder(document: Value) -> bool:
    """Return True for a file of Thunder: a robot, or a table of links without kinematics."""
    keys = document.section().entries
    robot = "pipeline" in keys or sum(mark in keys for mark in _MARKS) >= 2
    return robot or ("format" not in keys and any(map(_LINK.fullmatch, keys)))


def read_thunder(document: Value, name: str) -> RobotDescription:
    """Read a robot of Thunder.

    Parameters
    ----------
    document : Value
        The parsed file.
    name : str
        The robot's name; Thunder uses the name of the file.

    Returns
    -------
    RobotDescription
        With ``symb`` lists in `masks`, drives of elastic joints in `elastic`, and in modified DH where the file is.

    Raises
    ------
    FileFormatError
        If a key or value is invalid, a loader is unknown, or the robot is a tree; with line and key.
    """
    top, loaders = document.section(), []
    masks: Masks = {}
    with document.checking():
        check_name(name)
    if "pipeline" in top:
        loaders = [loader.one_of(_LOADERS) for loader in top["pipeline"].section()["loaders"].items()]
    if "urdf_loader" in loaders:
        return _urdf(_loader(top, "urdf_loader"), name)
    new = bool(loaders) and "legacy_loader" not in loaders
    if "legacy_loader" in loaders:
        legacy = _loader(top, "legacy_loader").entries
        top = Section(document, {key: value for key, value in legacy.items() if key in _TOP})
    keys, values = _KEYS["1.0" if new else "0.8"], _values(top, not new)
    chain, forces, springs = (
        _loader(top, key) if key in loaders else None if new else top
        for key in ("dh_loader", "dyn_loader", "soft_loader")
    )
    for key in ("dyn_loader", "soft_loader"):
        if new and key in top and key not in loaders:
            _warn(top[key], "not used: pipeline.loaders does not name it")
    if chain is None:
        nodes, dh = _tree(_loader(top, "kin_loader")["kinematics"], masks), None
    else:
        nodes, dh = _table(chain, keys, masks)
    fields = _walk(nodes, forces, keys, masks)
    if dh is not None:
        fields |= {"dh": dh, "convention": "modified"}
    if "inertial" in top and not new:  # before 0.2, without masks
        masks = {key: mask for key, mask in masks.items() if key not in ("inertial", "friction")}
    fields["gravity"] = np.zeros(3) if forces is None else _gravity(forces, masks)
    fields["elastic"] = _elastic(springs, nodes, masks, loaders)
    with document.checking():
        arm = check_physical_input(RobotDescription(name=name, masks=masks, values=values, **fields))
        return _with_rest(arm, read_native(top[REST])) if REST in top else arm


def _loader(top: Section, key: str) -> Section:
    """Return the keys of a loader, in its section or else at the top."""
    own = top[key].section().entries if key in top else {}
    return Section(top.value, {**top.entries, **own})


def _values(top: Section, strict: bool) -> dict[str, float | tuple[float, ...]]:
    """Return the numbers under other keys: constants for anchors, values for the user; other values are refused."""
    if strict and "joints_type" in top:
        raise top["joints_type"].error(
            "this is written for the loaders of Thunder's 1.0 format: it must have a pipeline and their sections"
        )
    values = {}
    for name, value in top.entries.items():
        if name in _TOP or (name in _OLD_KEYS and _OLD_KEYS[name] not in top):
            continue
        if name in _SWITCHES:
            value.flag()
            continue
        if strict and _LINK.fullmatch(name):
            raise value.error(
                f"a table of inertial parameters is no robot: call it NAME{LINKS_ENDS[0]}.yaml (about link origins) or "
                f"NAME{LINKS_ENDS[1]}.yaml (about centers of mass), beside NAME{ROBOT_END}.yaml or NAME.yaml"
            )
        if name not in _OLD_KEYS and not difflib.get_close_matches(name, _TOP, n=1, cutoff=0.75):
            with suppress(FileFormatError):
                values[name] = value.number_or_numbers()
        if strict and name not in values:
            raise value.unknown(name, _TOP)
    return values


def _table(chain: Section, keys: _Keys, masks: Masks) -> tuple[list[_Node], Array]:
    """Read the nodes of a DH table; before 0.2 its numbers and the letters of its types are at the top."""
    n = chain["num_joints"].whole(1, MAX_JOINTS) if keys.first or "num_joints" in chain else None
    types = _types(chain[keys.types], n)
    n, prefix = len(types), "link"
    if keys.first and "DH" in chain:
        numbers = chain["DH"]
    else:
        known = ("type", "symb", keys.values, "link_names", "urdf_path", "base_link", "ee_link")
        table = chain[keys.table].section(known)
        if "type" in table and table["type"].one_of(("DH", "URDF")) == "URDF":
            raise table["type"].error("kinematics of a URDF file are not read here: load the URDF file itself")
        _mask(table, 4 * n, masks, "dh")
        numbers = table[keys.values]
        prefix = table["link_names"].text() if "link_names" in table else prefix
    dh = numbers.numbers(4 * n).reshape(n, 4)
    ends = []
    for key, group in _ENDS.items():
        frame = chain[key].section(keys.frame) if key in chain else None
        name = frame["name"].text() if frame is not None and "name" in frame else {"tool": "ee"}.get(group, group)
        ends.append(_Node(name, np.eye(4) if frame is None else _frame(frame, masks, group)))
    links = [_Node(f"{prefix}{k}", dh_transform(dh[k]), types[k]) for k in range(n)]
    return [ends[0], *links, _Node(f"{prefix}{n}", np.eye(4)), ends[1]], dh


def _types(value: Value, n: int | None) -> list[str]:
    """Read the types of the joints; before 0.2 they may be the letters of a word."""
    if not isinstance(value.node, yaml.ScalarNode):
        return [item.one_of(_TYPES) for item in value.items(n)]
    word = value.text()
    if len(word) != n or not set(word) <= {"R", "P"}:
        raise value.error(f"must be a list of {n} of {', '.join(_TYPES)}, or {n} letters R and P, got {value.shown()}")
    return list(word)


def _tree(kinematics: Value, masks: Masks) -> list[_Node]:
    """Read the nodes of a chain of frames; those before and behind all joints have masks."""
    nodes: list[_Node] = []
    given: Masks = {}
    known = (*_KEYS["1.0"].frame, "parent", "joint_type", "axis", "dimension", "available", "derivatives")
    for name, value in kinematics.section().entries.items():
        node = value.section(known)
        parent = node["parent"].text() if "parent" in node else "world"
        if parent != (nodes[-1].name if nodes else "world"):
            raise value.error(f"parent must be the node before, for an arm without branches, got {parent!r}")
        kind = node["joint_type"].one_of((*_TYPES, "FIXED")) if "joint_type" in node else "FIXED"
        axis = node["axis"].numbers(3) if "axis" in node else np.array([0.0, 0.0, 1.0])
        if not (largest := np.abs(axis).max()):
            raise node["axis"].error("must not be zero: a joint needs a direction")
        axis = axis / largest  # squares of extreme numbers could underflow or overflow
        nodes.append(_Node(name, _frame(node, given, name), kind, axis / np.linalg.norm(axis)))
    moving = [k for k, node in enumerate(nodes) if node.kind != "FIXED"]
    if not moving:
        raise kinematics.error("must have a node that moves, of type R or P")
    for group, ends in (("base", nodes[: moving[0] == 1]), ("tool", nodes[moving[-1] + 1 :])):
        bits = np.array([given.pop(node.name, (0,) * 6) for node in ends])
        if bits.any():
            masks[group] = tuple((bits[0] if len(ends) == 1 else np.ones(6, dtype=int)).tolist())
    if np.any(list(given.values())):
        _warn(kinematics, "symb is not used: run-time geometry needs a Denavit-Hartenberg table")
    return nodes


def _frame(frame: Section, masks: Masks, group: str) -> Array:
    """Read a pose; with angles other than ``ypr``, one run-time angle makes all three run-time angles."""
    if "symb" in frame:
        bits = _bits(frame, 6)
        masks[group] = bits if "ypr" in frame else (*bits[:3], *(int(any(bits[3:])),) * 3)
    if "xyzrpy" in frame:
        position, angles = np.split(frame["xyzrpy"].numbers(6), 2)
    else:
        position = frame["xyz" if "xyz" in frame else "tr"].numbers(3)
        if "ypr" in frame or "rpy" not in frame:
            return pose_from_rpy(position, frame["ypr"].numbers(3)[::-1])
        angles = frame["rpy"].numbers(3)
    T = np.eye(4)
    T[:3, :3] = rotation_about("x", angles[0]) @ rotation_about("y", angles[1]) @ rotation_about("z", angles[2])
    T[:3, 3] = position
    return T


def _bits(section: Section, length: int, key: str = "symb") -> tuple[int, ...]:
    """Read a list of 0 and 1; all 0 if it is absent."""
    return tuple(item.whole(0, 1) for item in section[key].items(length)) if key in section else (0,) * length


def _mask(section: Section, length: int, masks: Masks, name: str) -> None:
    """Store the list ``symb`` under `name` if it is present."""
    if "symb" in section:
        masks[name] = _bits(section, length)


def _gravity(top: Section, masks: Masks) -> Array:
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


def _bodies(forces: Section | None, keys: _Keys, nodes: list[_Node]) -> tuple[dict[str, Section], dict[str, Section]]:
    """Return the sections of inertia, and those of friction, by the names of nodes."""
    if forces is None or (not keys.first and "dynamics" not in forces):
        return {}, {}
    names = [f"link{k + 1}" for k in range(len(nodes) - 3)] if keys.first else None
    if names and "inertial" in forces:  # before 0.2
        table = forces["inertial"].section(names)
        bodies = {name: table[name].section((*DYN_KEYS, "Dl")) for name in names}
        frictions = {name: body for name, body in bodies.items() if "Dl" in body}
    else:
        table = forces["dynamics"].section(names)
        links = {name: table[name].section(("inertial", "friction", "motor")) for name in names or table.entries}
        for link in links.values():  # of versions that were not released
            if "motor" in link and link["motor"].section()["Ia"].number() != 0.0:
                raise link["motor"].error(f"inertia of motors is not read: write it as armature under {REST}")
        known = {"inertial": ("symb", *DYN_KEYS, "CoM", "I"), "friction": ("symb", "Dl")}
        bodies, frictions = (
            {name: link[key].section(known[key]) for name, link in links.items() if key in link or name in required}
            for key, required in (("inertial", names or ()), ("friction", ()))
        )
    if keys.first:
        frictions = {f"link{int(name[4:]) - 1}": friction for name, friction in frictions.items()}
    return bodies, frictions


def _walk(nodes: list[_Node], forces: Section | None, keys: _Keys, masks: Masks) -> dict[str, Any]:
    """Collect joints, bodies and friction along the chain; bodies on the base do not matter."""
    bodies, frictions = _bodies(forces, keys, nodes)
    known = [node.name for node in nodes]
    for name, section in {**frictions, **bodies}.items():
        if name not in known:
            _warn(section.value, f"not used: there is no node {name!r}{nearest_hint(name, known)}")
    order = 0 if forces is None or "Dl_order" not in forces else forces["Dl_order"].whole(0, len(FRICTION_TERMS))
    if forces is not None and "Dl_order" not in forces and frictions:
        unused = next(iter(frictions.values()))
        _warn(unused["Dl"] if "mass" in unused else unused.value, "not used: Dl_order is missing at the top, default 0")
    first = nodes[0].kind == "FIXED"
    base, T = nodes[0].pose if first else np.eye(4), np.eye(4)
    joints: list[tuple[Array, Any, str]] = []
    inertial: list[Array] = []
    bits: list[tuple[int, ...]] = []
    rows, friction_bits = [], []
    for node in nodes[first:]:
        if joints and node.name in bodies:
            row, symb = _body(bodies[node.name], node.name)
            moved = not np.array_equal(T, np.eye(4))
            inertial[-1] += reg_from_pseudo_inertia(T @ pseudo_inertia(row) @ T.T) if moved else row
            bits[-1] = tuple(int((moved and any(symb)) or a or b) for a, b in zip(bits[-1], symb, strict=True))
        T = T @ node.pose
        if node.kind != "FIXED":
            friction = frictions.get(node.name)
            rows.append(_coefficients(friction, order) if order and friction else [0.0] * order)
            friction_bits.append(_bits(friction, order) if order and friction else (0,) * order)
            joints.append((T, node.axis, node.kind[0]))
            inertial.append(np.zeros(10))
            bits.append((0,) * 10)
            T = np.eye(4)
    masks["inertial"] = tuple(bits)
    if order:
        masks["friction"] = tuple(friction_bits)
    placements, axes, types = zip(*joints, strict=True)
    return {
        "placements": np.array(placements),
        "axes": np.array(axes),
        "offsets": np.tile(np.eye(4), (len(joints), 1, 1)),
        "joint_types": "".join(types),
        "inertial": np.array(inertial),
        "base": base,
        "tool": T,
        "friction": Friction(terms=FRICTION_TERMS[:order], coefficients=np.array(rows)) if order else None,
    }


def _body(inertial: Section, name: str) -> tuple[Array, tuple[int, ...]]:
    """Read the REG of a body and its mask."""
    row = [inertial["mass"].number()]
    for whole, keys in (("CoM", DYN_KEYS[1:4]), ("I", DYN_KEYS[4:])):
        together = inertial[whole].numbers(len(keys)).tolist() if whole in inertial else None
        row += together or [inertial[key].number() for key in keys]
    if row[0] < 0.0:
        raise inertial["mass"].error(f"mass of {name} must not be negative, got {row[0]:g}")
    return reg_from_dyn(row), _bits(inertial, 10)


def _coefficients(friction: Section, order: int) -> list[float]:
    row = _leading(friction["Dl"], order)
    if row[0] < 0.0:
        raise friction["Dl"].error(f"viscous friction must not be negative, got {row[0]:g}")
    return row


def _leading(value: Value, order: int) -> list[float]:
    """Return the first `order` coefficients; Thunder's files may have more, but not fewer."""
    row = [item.number() for item in value.items()]
    if len(row) < order:
        raise value.error(f"must hold at least {order} numbers, as its order says, got {len(row)}")
    return row[:order]


def _warn(value: Value, text: str) -> None:
    warnings.warn(str(value.error(text)), ThunderWarning, stacklevel=outer_level())


def _elastic(part: Section | None, nodes: list[_Node], masks: Masks, loaders: list[str]) -> tuple[Elastic, ...]:
    """Read the springs: those of nodes by name, or before 1.0 ``jointK``, the K-th joint of type ``*_SEA``."""
    moving = [node for node in nodes if node.kind != "FIXED"]
    names = {i + 1: node.name for i, node in enumerate(moving) if node.kind.endswith("_SEA")}
    if part is None or (loaders and not names):
        return ()
    if not loaders:
        model = part.get("ELASTIC_MODEL")
        if model is None and "elastic" in part:
            _warn(part["elastic"], "not used: ELASTIC_MODEL is missing at the top, default false")
        if model is None or not model.flag():
            return ()
        if not names:
            raise part["type_joints"].error("an elastic model needs a joint of type R_SEA or P_SEA")
    if "soft_loader" not in loaders:
        part = part["elastic"].section(("joints", *_ORDERS.values()))
        names = {i: f"joint{k + 1}" for k, i in enumerate(names)}
    orders = {key: part[order].whole(int(key == "K"), 20) for key, order in _ORDERS.items()}
    joints = part["joints"].section(tuple(names.values()))
    return tuple(_drive(joints[name], index, orders, masks) for index, name in names.items())


def _drive(value: Value, index: int, orders: dict[str, int], masks: Masks) -> Elastic:
    """Read the drive of the elastic joint `index`, counted from 1, and its masks."""
    joint = value.section((*Elastic.GROUPS, *(f"{key}_symb" for key in Elastic.GROUPS)))
    rows = {key: tuple(_leading(joint[key], order)) for key, order in orders.items()}
    Mm = joint["Mm"].number()
    if Mm < 0.0:
        raise joint["Mm"].error(f"motor inertia must not be negative, got {Mm:g}")
    bits: Masks = {key: _bits(joint, order, f"{key}_symb") for key, order in orders.items()}
    bits["Mm"] = joint["Mm_symb"].whole(0, 1) if "Mm_symb" in joint else 0
    for key, mask in bits.items():
        masks[f"elastic_{key}"] = (*masks.get(f"elastic_{key}", ()), mask)
    with value.checking():
        return Elastic(joint=index, Mm=Mm, **rows)


def _urdf(loader: Section, name: str) -> RobotDescription:
    from .urdf import parse_urdf

    masks: Masks = {}
    path = Path(loader.value.path or ".").parent / loader["urdf_path"].text()
    links = {"base_link": loader.get("base_link"), "tip_link": loader.get("ee_link")}
    options: dict[str, Any] = {key: link.text() for key, link in links.items() if link is not None}
    if "kinematics" in loader:
        raise loader["kinematics"].error("frames in the place of those of the URDF are not read: change the URDF")
    for key in ("symbolic_kinematics", "par_KIN_symb", "par_DYN_symb"):
        if key in loader:
            _warn(loader[key], "not used: run-time geometry needs a DH table, run-time bodies symbolic_dynamics")
    arm = parse_urdf(read_whole(path), path=path, name=name, gravity=_gravity(loader, masks), **options)
    base, tool = (
        _frame(loader[key].section(_KEYS["1.0"].frame), masks, group) if key in loader else np.eye(4)
        for key, group in _ENDS.items()
    )
    if "symbolic_dynamics" in loader:
        masks["inertial"] = _symbolic_bodies(loader["symbolic_dynamics"], arm, options.get("tip_link", ""))
    return arm.replace(base=base @ arm.base, tool=arm.tool @ tool, masks=masks)


def _symbolic_bodies(value: Value, arm: RobotDescription, tip: str) -> tuple[tuple[int, ...], ...]:
    """Read which bodies are run-time parameters; one without a joint makes all of the link it is fixed to such."""
    if isinstance(value.node, yaml.ScalarNode):
        return ((int(value.flag()),) * 10,) * arm.n
    entries = dict(value.section().entries)
    default = int("default" in entries and entries.pop("default").flag())
    bits: list[tuple[int, ...]] = [(default,) * 10] * arm.n
    places = {tip: arm.n, **{name: link for name, (link, _) in arm.frames.items()}}
    for name, entry in entries.items():
        if isinstance(entry.node, yaml.MappingNode):
            part = entry.section(("mass", "com", "inertia"))
            mass = part["mass"].whole(0, 1) if "mass" in part else 0
            row = (mass, *_bits(part, 3, "com"), *_bits(part, 6, "inertia"))
        elif isinstance(entry.node, yaml.SequenceNode):
            row = tuple(item.whole(0, 1) for item in entry.items(10))
        else:
            row = (int(entry.flag()),) * 10
        if name in arm.link_names:
            bits[arm.link_names.index(name)] = row
        elif any(row) and name in places:
            bits[places[name] - 1] = (1,) * 10
        elif any(row):
            _warn(entry, "not used: the arm has no such link")
    return tuple(bits)


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
        The parsed file: lists ``par_REG`` or ``par_DYN`` of the links, or in 1.0 of all nodes of a DH table, or links
        by name under ``dynamics``, in older files under ``inertial`` or at the top.
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
    for key in ("par_REG", "par_DYN"):
        if key in top:
            of_nodes = len(top[key].items()) == 10 * (n + 3)
            rows = top[key].numbers(10 * (n + 3 * of_nodes)).reshape(-1, 10)
            rows = rows if key == "par_REG" else reg_from_dyn(rows)
            # base and link0 do not move; the end effector is fixed to the last link, in whose frame it is
            return rows[2:-1] + np.vstack([np.zeros((n - 1, 10)), rows[-1]]) if of_nodes else rows
    above = next((top[key] for key in ("dynamics", "inertial") if key in top), document)
    links = above.section().entries
    if len(links) != n:
        raise above.error(f"must hold the {n} links of its robot, got {len(links)}")
    found = []
    for link in links.values():
        section = link.section()
        section = section["inertial"].section() if "inertial" in section else section
        reg = "m_CoM_x" in section
        row = np.array([section[key].number() for key in (REG_KEYS if reg else DYN_KEYS)])
        found.append(row if reg else reg_from_dyn(row))
    return np.array(found)


def write_links(description: RobotDescription, form: str, version: str = "0.8") -> str:
    """Return the text of a file of links' parameters, REG or DYN."""
    rows = description.inertial if form == "REG" else dyn_from_reg(description.inertial)
    lines = [f"# Links' parameters ({form}) of {description.name}", f"{FRAMES}{description.convention}"]
    if version == "1.0":  # of all nodes: base, link0, the links, end effector
        return "\n".join([*lines, f"par_{form}: {value_text(np.pad(rows, ((2, 1), (0, 0))).ravel())}"]) + "\n"
    keys = REG_KEYS if form == "REG" else DYN_KEYS
    links = {f"link{i + 1}": {"inertial": dict(zip(keys, row, strict=True))} for i, row in enumerate(rows)}
    return "\n".join([*lines, *block_lines({"dynamics": links})]) + "\n"


def thunder_losses(description: RobotDescription) -> tuple[str, ...]:
    """Return what Thunder does not know or its format cannot represent, one sentence for each."""
    d = description
    found = {
        "rotors are unknown to Thunder": bool(d.rotors),
        "armature is unknown to Thunder": d.armature is not None,
        "Coulomb friction is unknown to Thunder": d.friction is not None and "coulomb" in d.friction.terms,
        "link frames other than those of modified Denavit-Hartenberg parameters are lost": d.convention != "modified",
    }
    return tuple(what for what, there in found.items() if there)


def in_thunder_frames(description: RobotDescription) -> RobotDescription:
    """Return the same arm with a table of modified DH; in new frames, a mask of a part of a body or pose is of all."""
    d = description
    if d.convention == "modified":
        return d
    masks = dict(d.masks)
    for group in masks.keys() & {"dh", "base", "tool"}:
        masks[group] = (int(any(masks[group])),) * len(masks[group])
    if "inertial" in masks:
        masks["inertial"] = tuple((int(any(row)),) * 10 for row in masks["inertial"])
    return in_dh_frames(d, "modified").replace(masks=masks)


def write_thunder(description: RobotDescription, masks: Mapping[str, Any] | None = None, version: str = "0.8") -> str:
    """Return the text of a robot file of Thunder.

    Parameters
    ----------
    description : RobotDescription
        The robot. Without a table of modified DH, it is described by one; what Thunder does not know is under a key
        that it ignores.
    masks : mapping of str to array_like, optional
        Run-time entries by parameter group; default those of the description, of one without masks all of the links
        and of friction, as in generated libraries.
    version : {"0.8", "1.0"}
        The version.
    """
    d, keys, new = in_thunder_frames(description), _KEYS[version], version == "1.0"
    assert d.dh is not None
    given = d.masks if masks is None else masks
    default = () if given else ("inertial", "friction")
    drives = {drive.joint: drive for drive in d.elastic}

    def bits(group: str, values: Array) -> Array:
        flat = [np.ravel(part) for part in given.get(group, ())] or [np.full(values.size, group in default)]
        return np.concatenate(flat).reshape(values.shape)

    types = ", ".join(kind + ("_SEA" if i + 1 in drives else "") for i, kind in enumerate(d.joint_types))
    poses = {
        key: np.concatenate([T[:3, 3], rpy_from_rotation(T[:3, :3])[::-1]]) + 0.0  # no negative zeros
        for key, T in zip(_ENDS, (d.base, d.tool), strict=True)
    }
    dyn = dyn_from_reg(d.inertial)
    terms = () if d.friction is None else d.friction.terms
    coefficients = np.zeros((d.n, 0)) if d.friction is None else d.friction.coefficients
    order = max((FRICTION_TERMS.index(term) + 1 for term in terms if term in FRICTION_TERMS), default=0)
    Dl, Dl_bits = (
        _columns(table, terms, FRICTION_TERMS[:order]) for table in (coefficients, bits("friction", coefficients))
    )
    links: dict[str, Any] = {f"link{k}": {} for k in range(keys.first if order else 1, d.n + 1)}
    for i, (row, symb) in enumerate(zip(dyn, bits("inertial", dyn), strict=True)):
        links[f"link{i + 1}"]["inertial"] = {"symb": symb, **dict(zip(DYN_KEYS, row, strict=True))}
    for i, (row, symb) in enumerate(zip(Dl, Dl_bits, strict=True) if order else ()):
        links[f"link{i + keys.first}"]["friction"] = {"symb": symb, "Dl": row}
    names = [f"link{joint - 1}" if new else f"joint{k + 1}" for k, joint in enumerate(drives)]
    springs: dict[str, Any] = {order: str(len(getattr(d.elastic[0], key))) for key, order in _ORDERS.items() if drives}
    springs["joints"] = {name: {} for name in names}
    for key in Elastic.GROUPS[: 4 * bool(drives)]:
        rows = elastic.rows(d.elastic, key)
        for name, row, symb in zip(names, rows, bits(f"elastic_{key}", rows), strict=True):
            one = 0 if key == "Mm" else slice(None)
            springs["joints"][name] |= {key: row[one], f"{key}_symb": symb[one]}
    chain = {
        "num_joints": d.n,
        keys.types: f"[{types}]",
        keys.table: {"symb": bits("dh", d.dh).ravel(), keys.values: d.dh.ravel()},
        **{
            key: {"symb": bits(group, poses[key]), keys.frame[1]: poses[key][:3], "ypr": poses[key][3:]}
            for key, group in _ENDS.items()
        },
    }
    forces = {
        "Dl_order": order,
        "gravity": {"symb": bits("gravity", d.gravity), "value": d.gravity},
        "dynamics": links,
    }
    entries: dict[str, Any] = {"version": version}
    if new:
        loaders = {"dh_loader": chain, "dyn_loader": forces, **({"soft_loader": springs} if drives else {})}
        builders = f"[kin_builder, dyn_builder, {'soft_builder, ' if drives else ''}reg_builder]"
        pipeline = {"loaders": f"[{', '.join(loaders)}]", "builders": builders, "generators": "[robot_generator]"}
        entries |= {"pipeline": pipeline, **loaders, **d.values}
    else:
        entries |= {"ELASTIC_MODEL": str(bool(drives)).lower(), **d.values, **chain, **forces}
        entries |= {"elastic": springs} if drives else {}
    lines = [f"# {d.name}, a robot file of Thunder Dynamics {version}", *block_lines(entries)]
    return "\n".join(lines + rest_lines(d, numbers=False)) + "\n"


# --- the part of a file in the native format, which other programs ignore ---------------------------------------------


def rest_lines(description: RobotDescription, *, numbers: bool) -> list[str]:
    """Return the lines of what else there is of a robot whose numbers are beside.

    Parameters
    ----------
    description : RobotDescription
        The robot.
    numbers : bool
        Write all that is not in the lists of a generated class; otherwise what Thunder's keys lack, if there is any.
    """
    d = description
    changes: dict[str, Any] = {"gravity": np.zeros(3), "base": np.eye(4), "tool": np.eye(4)}
    if d.dh is not None:
        changes |= _chain(np.zeros((d.n, 4)), d.convention)
    if numbers:
        changes |= parameter_changes(d, np.zeros(RobotModel(d).p))
        springs = {group: np.zeros_like(values) for group, values in elastic.parameters(d.elastic).items()}
        changes["elastic"] = elastic.with_parameters(d.elastic, springs)
    else:
        coulomb = None
        if d.friction is not None and "coulomb" in d.friction.terms:
            column = _columns(d.friction.coefficients, d.friction.terms, ("coulomb",))
            coulomb = dataclasses.replace(d.friction, terms=("coulomb",), coefficients=column)
        changes |= {"elastic": (), "masks": {}, "values": {}, "friction": coulomb, "inertial": np.zeros((d.n, 10))}
    rest = d.replace(**changes)
    bare = rest.replace(friction=None, **{key: _BARE.get(key) for key in _OWN})
    if rest == bare and not numbers:
        return []
    return [f"{REST}:", *(f"  {line}" for line in write_native(rest).splitlines())]


#: fields that Thunder's keys lack, and their values for none
_OWN = ("joint_names", "link_names", "limits", "rotors", "armature", "frames", "reference")
_BARE: dict[str, Any] = {"joint_names": (), "link_names": (), "rotors": (), "frames": {}, "reference": ""}


def _chain(dh: Array, convention: str) -> dict[str, Array]:
    return dict(zip(("placements", "axes", "offsets"), dh_chain(dh, convention), strict=True)) | {"dh": dh}


def _with_rest(arm: RobotDescription, rest: RobotDescription) -> RobotDescription:
    """Add what Thunder's keys lack; friction coefficients of both are those of Thunder's keys."""
    arm = arm.replace(**{key: getattr(rest, key) for key in _OWN})
    Dl, other, masks = arm.friction, rest.friction, dict(arm.masks)
    if other is None:
        return arm
    names = (*(() if Dl is None else Dl.terms), *other.terms)
    table = other.coefficients if Dl is None else np.hstack([Dl.coefficients, other.coefficients])
    terms = tuple(term for term in Friction.TERMS if term in names)
    friction = Friction(terms=terms, coefficients=_columns(table, names, terms), delta=other.delta)
    if "friction" in masks:
        masks["friction"] = tuple(map(tuple, _columns(np.array(masks["friction"], dtype=int), names, terms).tolist()))
    return arm.replace(friction=friction, masks=masks)


def _columns(table: Array, names: Sequence[str], wanted: Sequence[str]) -> Array:
    """Return the wanted columns of a table, the first of a name, and zeros for those it lacks."""
    found = np.zeros((len(table), len(wanted)), dtype=table.dtype)
    for k, name in enumerate(wanted):
        if name in names[: table.shape[1]]:
            found[:, k] = table[:, names.index(name)]
    return found


def read_generated(document: Value) -> RobotDescription:
    """Read the robot of a generated class from its file: lists of numbers, and the rest of the robot.

    Raises
    ------
    FileFormatError
        If a key or value is invalid; with line and key.
    """
    drives = ("Dl", "rotor", "armature")
    lists = ("DHtable", "REG", "DYN", "gravity", "world2L0", "Ln2EE", *drives, *Elastic.GROUPS)
    top = document.section(("robot", REST, *(f"par_{key}" for key in lists)))
    d = read_native(top[REST])
    found = {key: top[f"par_{key}"].numbers(None) for key in lists if f"par_{key}" in top}
    base, tool = (top[f"par_{key}"].numbers(6) for key in ("world2L0", "Ln2EE"))
    with document.checking():
        pi = np.concatenate([read_links(document, d.n).ravel(), *(found[key] for key in drives if key in found)])
        return d.replace(
            **parameter_changes(d, pi),
            **({} if d.dh is None else _chain(top["par_DHtable"].numbers(4 * d.n).reshape(d.n, 4), d.convention)),
            gravity=top["par_gravity"].numbers(3),
            base=pose_from_rpy(base[:3], base[:2:-1]),
            tool=pose_from_rpy(tool[:3], tool[:2:-1]),
            elastic=elastic.with_parameters(d.elastic, {key: found[key] for key in Elastic.GROUPS if key in found}),
        )
