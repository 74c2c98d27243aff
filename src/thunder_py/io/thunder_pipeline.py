"""Robot files of Thunder Dynamics 1.0, recognized by their key ``pipeline``: serial arms of its loaders.

A node is a frame after the one of its parent, with a joint between them or fixed; a body with the name of a node is
fixed to the parent's frame, and friction with that name belongs to the node's joint. Angles ``rpy`` are turns about the
moving x, y, z axes, ``ypr`` about z, y, x. Builders and generators have no effect here.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..checks import Array, check_name
from ..errors import outer_level
from ..files import read_whole
from ..model.description import Friction, RobotDescription, describe_dh
from ..model.inertia import pseudo_inertia, reg_from_dyn, reg_from_pseudo_inertia
from ..spatial import dh_transform, pose_from_rpy, rotation_about
from .yaml_text import Section, Value
from .yaml_thunder import (
    DYN_KEYS,
    ELASTIC_ORDERS,
    FRICTION_TERMS,
    TYPES,
    read_bits,
    read_drive,
    read_gravity,
    read_thunder,
)

Masks = dict[str, Any]
_FRAME = ("name", "symb", "xyz", "tr", "rpy", "ypr", "xyzrpy")
_TENSOR = DYN_KEYS[4:]


class _Node(NamedTuple):
    name: str
    pose: Array
    kind: str
    axis: Array


def read_pipeline(document: Value, name: str) -> RobotDescription:
    """Read a robot of Thunder 1.0.

    Parameters
    ----------
    document : Value
        The parsed file.
    name : str
        The robot's name.

    Raises
    ------
    FileFormatError
        If a key or value is invalid, a loader is unknown, or the robot is a tree; with line and key.
    """
    top = document.section()
    with document.checking():
        check_name(name)
    loaders = top["pipeline"].section()["loaders"].items()
    used = [
        loader.one_of(("dh_loader", "kin_loader", "urdf_loader", "dyn_loader", "soft_loader", "legacy_loader"))
        for loader in loaders
    ]
    if "legacy_loader" in used:
        return read_thunder(document, name, _loader(top, "legacy_loader"))
    if "urdf_loader" in used:
        return _urdf(_loader(top, "urdf_loader"), name)
    masks: Masks = {}
    if "dh_loader" in used:
        nodes, dh = _dh_nodes(_loader(top, "dh_loader"), masks)
    else:
        nodes, dh = _tree_nodes(_loader(top, "kin_loader")["kinematics"]), None
    arm = _walk(nodes, _loader(top, "dyn_loader") if "dyn_loader" in used else None, masks)
    if "soft_loader" in used:
        arm["elastic"] = _elastic(_loader(top, "soft_loader"), nodes, masks)
    chain = {key: arm.pop(key) for key in ("placements", "axes")}
    with document.checking():
        if dh is not None:
            inertial = arm.pop("inertial")
            table = describe_dh(dh, joint_types=arm.pop("joint_types"), inertial=np.zeros((len(dh), 10)), name=name)
            return table.replace(inertial=inertial, masks=masks, **arm)
        offsets = np.tile(np.eye(4), (len(chain["axes"]), 1, 1))
        return RobotDescription(name=name, masks=masks, offsets=offsets, **chain, **arm)


def _loader(top: Section, key: str) -> Section:
    """Return the keys of a loader, in its section or else at the top."""
    own = top[key].section().entries if key in top else {}
    return Section(top.value, {**top.entries, **own})


def _frame(value: Value | None, masks: Masks, group: str) -> Array:
    """Read the pose of a frame; with angles other than ``ypr``, one run-time angle makes all three run-time angles."""
    if value is None:
        return np.eye(4)
    frame = value.section(_FRAME)
    if "symb" in frame:
        bits = read_bits(frame, 6)
        masks[group] = bits if "ypr" in frame else (*bits[:3], *(int(any(bits[3:])),) * 3)
    return _pose(frame)


def _pose(frame: Section) -> Array:
    if "xyzrpy" in frame:
        values = frame["xyzrpy"].numbers(6)
        position, angles = values[:3], values[3:]
    else:
        position = frame["xyz" if "xyz" in frame else "tr"].numbers(3)
        if "ypr" in frame:
            return pose_from_rpy(position, frame["ypr"].numbers(3)[::-1])
        angles = frame["rpy"].numbers(3)
    T = np.eye(4)
    T[:3, :3] = rotation_about("x", angles[0]) @ rotation_about("y", angles[1]) @ rotation_about("z", angles[2])
    T[:3, 3] = position
    return T


def _dh_nodes(loader: Section, masks: Masks) -> tuple[list[_Node], Array]:
    types = [value.one_of(TYPES) for value in loader["joints_type"].items()]
    n = len(types)
    if "num_joints" in loader:
        loader["num_joints"].whole(n, n)
    table = loader["DH"].section(("value", "symb", "link_names"))
    if "symb" in table:
        masks["dh"] = read_bits(table, 4 * n)
    dh = table["value"].numbers(4 * n).reshape(n, 4)
    prefix = table["link_names"].text() if "link_names" in table else "link"
    ends = [loader.get(key) for key in ("Base_to_L0", "Ln_to_EE")]
    named = [value.section().get("name") if value else None for value in ends]
    base, ee = (value.text() if value else word for value, word in zip(named, ("base", "ee"), strict=True))
    z = np.array([0.0, 0.0, 1.0])
    nodes = [_Node(base, _frame(ends[0], masks, "base"), "FIXED", z)]
    nodes += [_Node(f"{prefix}{k}", dh_transform(dh[k]), types[k], z) for k in range(n)]
    return [
        *nodes,
        _Node(f"{prefix}{n}", np.eye(4), "FIXED", z),
        _Node(ee, _frame(ends[1], masks, "tool"), "FIXED", z),
    ], dh


def _tree_nodes(kinematics: Value) -> list[_Node]:
    nodes: list[_Node] = []
    unused = False
    for name, value in kinematics.section().entries.items():
        node = value.section((*_FRAME, "parent", "joint_type", "axis", "dimension", "available", "derivatives"))
        parent = node["parent"].text() if "parent" in node else "world"
        if parent != (nodes[-1].name if nodes else "world"):
            raise value.error(f"parent must be the node before, for an arm without branches, got {parent!r}")
        kind = node["joint_type"].one_of((*TYPES, "FIXED")) if "joint_type" in node else "FIXED"
        axis = node["axis"].numbers(3) if "axis" in node else np.array([0.0, 0.0, 1.0])
        unused = unused or any(read_bits(node, 6))
        nodes.append(_Node(name, _pose(node), kind, axis))
    if unused:
        text = str(kinematics.error("symb is not used: run-time geometry needs a Denavit-Hartenberg table"))
        warnings.warn(text, stacklevel=outer_level())
    return nodes


def _walk(nodes: list[_Node], loader: Section | None, masks: Masks) -> dict[str, Any]:
    """Collect joints, bodies and friction along the chain; bodies on the base do not matter."""
    dynamics = {} if loader is None or "dynamics" not in loader else loader["dynamics"].section().entries
    order = 0 if loader is None or "Dl_order" not in loader else loader["Dl_order"].whole(0, len(FRICTION_TERMS))
    base, T, types = np.eye(4), np.eye(4), ""
    chain: dict[str, list[Any]] = {"placements": [], "axes": [], "inertial": []}
    friction: list[Any] = []
    bits: list[tuple[int, ...]] = []
    friction_bits: list[tuple[int, ...]] = []
    for k, node in enumerate(nodes):
        body = dynamics[node.name].section(("inertial", "friction")) if node.name in dynamics else None
        if types and body is not None and "inertial" in body:
            row, symb = _body(body["inertial"])
            chain["inertial"][-1] += reg_from_pseudo_inertia(T @ pseudo_inertia(row) @ T.T)
            whole = any(symb) and not np.array_equal(T, np.eye(4))
            bits[-1] = tuple(int(whole or a or b) for a, b in zip(bits[-1], symb, strict=True))
        if k == 0 and node.kind == "FIXED":
            base = node.pose
            continue
        T = T @ node.pose
        if node.kind == "FIXED":
            continue
        types += node.kind[0]
        chain["placements"].append(T)
        chain["axes"].append(node.axis / np.linalg.norm(node.axis))
        chain["inertial"].append(np.zeros(10))
        T = np.eye(4)
        given = body["friction"].section(("symb", "Dl")) if order and body is not None and "friction" in body else None
        friction.append([0.0] * order if given is None else given["Dl"].numbers(None)[:order])
        friction_bits.append((0,) * order if given is None else read_bits(given, order))
        bits.append((0,) * 10)
    masks["inertial"] = tuple(bits)
    if order:
        masks["friction"] = tuple(friction_bits)
    gravity = np.zeros(3) if loader is None else read_gravity(loader, masks)
    terms = Friction(terms=FRICTION_TERMS[:order], coefficients=np.array(friction)) if order else None
    arm = {"joint_types": types, "base": base, "tool": T, "gravity": gravity, "friction": terms}
    return {key: np.array(rows) for key, rows in chain.items()} | arm


def _body(value: Value) -> tuple[Array, tuple[int, ...]]:
    inertial = value.section(("symb", *DYN_KEYS, "CoM", "I"))
    center = inertial["CoM"].numbers(3) if "CoM" in inertial else [inertial[key].number() for key in DYN_KEYS[1:4]]
    tensor = inertial["I"].numbers(6) if "I" in inertial else [inertial[key].number() for key in _TENSOR]
    return reg_from_dyn([inertial["mass"].number(), *center, *tensor]), read_bits(inertial, 10)


def _elastic(loader: Section, nodes: list[_Node], masks: Masks) -> tuple[Any, ...]:
    moving = [node for node in nodes if node.kind != "FIXED"]
    elastic = [(i + 1, node.name) for i, node in enumerate(moving) if node.kind.endswith("_SEA")]
    orders = {key: loader[order].whole(int(key == "K"), 20) for key, order in ELASTIC_ORDERS.items()}
    joints = loader["joints"].section([name for _, name in elastic])
    return tuple(read_drive(joints[name], index, orders, masks) for index, name in elastic)


def _urdf(loader: Section, name: str) -> RobotDescription:
    from .urdf import parse_urdf

    masks: Masks = {}
    path = Path(loader.value.path or ".").parent / loader["urdf_path"].text()
    links = {"base_link": loader.get("base_link"), "tip_link": loader.get("ee_link")}
    options: dict[str, Any] = {key: link.text() for key, link in links.items() if link is not None}
    gravity = read_gravity(loader, masks)
    arm = parse_urdf(read_whole(path), path=path, name=name, gravity=gravity, **options)
    base, tool = (
        _frame(loader.get(key), masks, group) for key, group in (("Base_to_L0", "base"), ("Ln_to_EE", "tool"))
    )
    dynamics = loader.get("symbolic_dynamics")
    if dynamics is not None:
        masks["inertial"] = ((int(dynamics.flag()),) * 10,) * arm.n
    return arm.replace(base=base @ arm.base, tool=arm.tool @ tool, masks=masks)
