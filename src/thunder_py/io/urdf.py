"""Reading of URDF: links and joints of the file, whose numbers are read where they act on the selected arm."""

from __future__ import annotations

import math
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..checks import Array, apart, array
from ..errors import nearest_hint
from ..model.description import Limits, RobotDescription
from ..spatial import pose_from_rpy
from ..spatial.single import make_pose
from .selection import Chain, Joint, Link, Lost, Tree, dyn_of, friction_of
from .xml import XACRO, Element, parse_xml

__all__ = ["parse_urdf"]

#: value of an absent limit where URDF requires one
NO_LIMIT = 1e9
_NO_LIMIT_EITHER = -1.0  # likewise, as in SDFormat
_KINDS = {"revolute": "R", "continuous": "R", "prismatic": "P", "fixed": "fixed"}
_TYPES = (*_KINDS, "floating", "planar")
_JOINT_CHILDREN = (
    "origin", "parent", "child", "axis", "calibration", "dynamics", "limit", "mimic", "safety_controller"
)  # fmt: skip
#: elements of xacro that define what nothing uses
_UNUSED = ("property", "macro", "arg")
_ZERO, _X = (0.0, 0.0, 0.0), (1.0, 0.0, 0.0)


def parse_urdf(
    text: str | bytes,
    base_link: str | None = None,
    tip_link: str | None = None,
    *,
    gravity: npt.ArrayLike = (0.0, 0.0, -9.81),
    path: str | Path | None = None,
    **options: Any,
) -> RobotDescription:
    """Read the arm between two links of a URDF text, such as a ``robot_description`` parameter.

    Links behind fixed joints are lumped, with their inertia, into the link that carries them and become named frames.
    Moving branches that start at the immobile base are ignored, because they do not influence the arm's dynamics.
    Meshes are never opened. What the user should know, such as a gripper that was locked, is one warning.

    Parameters
    ----------
    text : str or bytes
        The document.
    base_link, tip_link : str, optional
        Links of the robot's base and end effector frames; default those of the only arm. Links above the base are
        ignored, links fixed beyond the tip are lumped as well.
    gravity : (3,) array_like
        Acceleration of gravity [m/s^2] in the world frame, which is the frame of the base link.
    path : path-like, optional
        Path for messages; not opened.
    **options
        ``name``, ``missing_inertia`` and ``fix_joints`` of `thunder_py.io.load_description`. Joint limits are not
        applied to the positions of locked joints.

    Returns
    -------
    RobotDescription
        With ``convention="placements"``; joint and link names, limits and friction from the file.

    Raises
    ------
    FileFormatError
        If the text is not a URDF, has no arm or several, or a part of the arm is invalid; with line and element.
    ThunderError
        If an argument is wrong, or, as `UnknownNameError`, a link or joint is not in the file.

    Examples
    --------
    >>> from thunder_py.io.urdf import parse_urdf
    >>> body = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    >>> arm = f'''<robot name="pole"><link name="stand"/><link name="pole">{body}</link>
    ...   <joint name="turn" type="continuous"><parent link="stand"/><child link="pole"/></joint></robot>'''
    >>> description = parse_urdf(arm)
    >>> description.n, description.convention
    (1, 'placements')
    """
    tree, world = urdf_tree(text, path), array(gravity, (3,), "gravity")

    def fields(chain: Chain) -> dict[str, Any]:
        values = np.array([_values(joint.source) for joint in chain.joints])
        lower, upper, velocity, effort, viscous, coulomb = values.T
        limits = Limits(lower=lower, upper=upper, velocity=velocity, effort=effort)
        return {"gravity": world, "limits": limits, "friction": friction_of(viscous=viscous, coulomb=coulomb)}

    return tree.describe(base_link, tip_link, fields, **options)


def urdf_tree(text: str | bytes, path: str | Path | None = None) -> Tree:
    """Return the tree of a document; parts whose names or ends are missing are defects."""
    robot = urdf_root(text, path)
    robot.check_spelling(children=("link", "joint", "material", "transmission", "gazebo"), attributes=("name",))
    tree = Tree(robot.attributes.get("name", ""), robot.error, path, "urdf")
    for element in robot.all("link"):
        with tree.collecting():
            tree.add_link(Link(element.text("name"), partial(_inertial, element), element.error))
    for element in robot.all("joint"):
        ends = [next((end.attributes.get("link") for end in element.all(tag)), None) for tag in ("parent", "child")]
        with tree.collecting(*ends, moves=element.attributes.get("type") != "fixed"):
            tree.add_joint(_joint(element))
    for element in robot.children:
        if element.tag.startswith("xacro:") and element.tag.removeprefix("xacro:") not in _UNUSED:
            tree.lost.append(Lost(element.error(XACRO)))
    return tree


def urdf_root(text: str | bytes, path: str | Path | None) -> Element:
    """Return the root of a document, or raise an error if it is no URDF."""
    robot = parse_xml(text, path)
    if robot.tag != "robot":
        raise robot.error("a URDF must have the root element <robot>")
    return robot


def _joint(element: Element) -> Joint:
    kind = element.text("type")
    mimic = None if kind == "fixed" else element.optional("mimic")
    if mimic is not None:
        mimic.check_spelling(attributes=("joint", "multiplier", "offset"))
    return Joint(
        name=element.text("name"),
        kind=_KINDS.get(kind, kind),
        parent=element.required("parent").text("link"),
        child=element.required("child").text("link"),
        read=partial(_geometry, element, kind),
        error=element.error,
        leader=None if mimic is None else mimic.text("joint"),
        follow=float if mimic is None else partial(_follow, mimic),
        check=partial(_values, element),
        source=element,
    )


def _follow(mimic: Element, q: float) -> float:
    """Return the position of a joint that mimics another one at `q`."""
    return mimic.number("multiplier", 1.0) * q + mimic.number("offset", 0.0)


def _geometry(element: Element, kind: str) -> tuple[Array, Array, Array]:
    element.check_spelling(children=_JOINT_CHILDREN)
    if kind not in _TYPES:
        raise element.error(f"type must be one of {', '.join(_TYPES)}, got {kind!r}{nearest_hint(kind, _TYPES)}")
    axis = _axis(element) if _KINDS.get(kind) in ("R", "P") else np.array(_X)
    return origin_of(element), axis, np.eye(4)


def origin_of(element: Element) -> Array:
    """Return the pose (4, 4) of the ``<origin>``, the identity if absent."""
    origin = element.optional("origin")
    if origin is None:
        return np.eye(4)
    origin.check_spelling(attributes=("xyz", "rpy"))
    if "quat_xyzw" in origin.attributes:
        raise origin.error("'quat_xyzw' is not supported; give the rotation as 'rpy'")
    xyz, rpy = (tuple(origin.vector(key, _ZERO)) for key in ("xyz", "rpy"))
    return make_pose(_rotation(rpy), np.array(xyz))


@lru_cache(1 << 10)  # the same angles return in most files
def _rotation(rpy: tuple[float, ...]) -> Array:
    return pose_from_rpy(_ZERO, rpy)[:3, :3] if any(rpy) else np.eye(3)


def _inertial(link: Element) -> Array | None:
    """Return DYN parameters (10,), None without any; URDF's tensor is about the center of mass, in axes of its own."""
    link.check_spelling(children=("inertial", "visual", "collision"))
    element = link.optional("inertial")
    if element is None:
        return None
    element.check_spelling(children=("origin", "mass", "inertia"))
    mass = element.required("mass").non_negative("value")
    tensor = element.required("inertia")
    xx, xy, xz, yy, yz, zz = (tensor.number(key) for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"))
    T = origin_of(element)
    turned = T[:3, :3] @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ T[:3, :3].T
    return dyn_of(mass, T[:3, 3], turned)


def _axis(joint: Element) -> Array:
    axis = joint.optional("axis")
    vector = np.array(_X if axis is None else axis.vector("xyz", _X))
    largest = np.abs(vector).max()
    if axis is not None and largest == 0.0:
        raise axis.error("'xyz' must not be zero: a joint needs a direction")
    vector /= largest  # squares of extreme numbers could underflow or overflow
    return np.asarray(vector / np.linalg.norm(vector))


def _values(joint: Element) -> Array:
    """Return lower, upper, velocity, effort, viscous and Coulomb friction of a joint.

    Limits are infinite if absent, but zero for the missing end of a range.
    """
    limit, dynamics, kind = joint.optional("limit"), joint.optional("dynamics"), joint.text("type")
    if limit is None and kind in ("revolute", "prismatic"):
        way_out = " (use 'continuous' for a joint without limits)" if kind == "revolute" else ""
        joint.required("limit", hint=f": a {kind} joint must have one{way_out}")
    values = np.array([-math.inf, math.inf, math.inf, math.inf, 0.0, 0.0])
    if limit is not None:
        limit.check_spelling(attributes=("lower", "upper", "velocity", "effort"))
        for k, key in ((2, "velocity"), (3, "effort")):
            if limit.number(key, math.inf, finite=False) != _NO_LIMIT_EITHER:
                values[k] = limit.non_negative(key, math.inf, finite=False)
        if kind != "continuous" and {"lower", "upper"} & limit.attributes.keys():
            values[:2] = [limit.number(key, 0.0, finite=False) for key in ("lower", "upper")]
            if values[0] > values[1]:
                raise limit.error(f"'lower' must not exceed 'upper', got {' and '.join(apart(*values[:2]))}")
    values[:4] = np.where(np.abs(values[:4]) >= NO_LIMIT, np.copysign(math.inf, values[:4]), values[:4])
    if dynamics is not None:
        dynamics.check_spelling(attributes=("damping", "friction"))
        values[4:] = [dynamics.non_negative(key, 0.0) for key in ("damping", "friction")]
    return values
