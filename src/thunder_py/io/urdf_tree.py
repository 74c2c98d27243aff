"""Links and joints of a URDF, checked individually, and the tree that they form."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from ..checks import Array, apart, check_label, known_name
from ..errors import FileFormatError, ThunderError, nearest_hint
from ..model.inertia import reg_from_dyn
from ..spatial import pose_from_rpy
from ..spatial.single import exp, make_pose
from .xml import Element

#: value of an absent limit where URDF requires one
NO_LIMIT = 1e9
_TYPES = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")
_LINK_CHILDREN = ("inertial", "visual", "collision")
_JOINT_CHILDREN = (
    "origin", "parent", "child", "axis", "calibration", "dynamics", "limit", "mimic", "safety_controller"
)  # fmt: skip
_ZERO = (0.0, 0.0, 0.0)


@dataclass(frozen=True, eq=False)
class Link:
    """Store name, XML element and REG parameters (10,) of a link, None without an ``<inertial>``."""

    name: str
    element: Element
    inertial: Array | None


@dataclass(frozen=True, eq=False)
class Joint:
    """Store the data of a joint.

    Attributes
    ----------
    name, type, parent, child : str
        Values as written; the type is one of URDF's six.
    element : Element
        XML element, for messages.
    origin : (4, 4) array
        Pose of the child in the parent with the joint at zero.
    axis : (3,) array
        Unit axis in the child.
    mimic : str or None
        The joint that it mimics.
    limits : tuple of float
        Lower, upper, velocity, effort; infinite if absent.
    friction : tuple of float
        Viscous and Coulomb coefficient.
    """

    name: str
    type: str
    parent: str
    child: str
    element: Element
    origin: Array
    axis: Array
    mimic: str | None
    limits: tuple[float, float, float, float]
    friction: tuple[float, float]

    def pose(self, q: float) -> Array:
        """Return the pose (4, 4) of the child in the parent with the joint at `q` [rad or m]."""
        slides = self.type == "prismatic"
        motion = make_pose(np.eye(3), q * self.axis) if slides else make_pose(exp(q * self.axis), np.zeros(3))
        return self.origin @ motion


_Part = TypeVar("_Part", Link, Joint)


@dataclass(frozen=True, eq=False)
class Tree:
    """Store links connected without loops below one root.

    Attributes
    ----------
    element : Element
        The ``<robot>``.
    links : mapping of str to Link
        By name, in the order of the file.
    joints : mapping of str to Joint
        Likewise.
    root : str
        The link without a parent.
    """

    element: Element
    links: Mapping[str, Link]
    joints: Mapping[str, Joint]
    above: Mapping[str, Joint]
    below: Mapping[str, tuple[Joint, ...]]
    root: str

    def check_link(self, name: str, what: str) -> str:
        """Return `name` if it is the name of a link, or raise `UnknownNameError` with the argument `what`."""
        known_name(name, self.links, f"{what}: there is no link")
        return name

    def path(self, base: str, tip: str) -> list[Joint] | None:
        """Return the joints from link `base` to link `tip`; None if `tip` is not below `base`."""
        joints: list[Joint] = []
        while tip != base:
            if tip not in self.above:
                return None
            joints.append(self.above[tip])
            tip = joints[-1].parent
        return joints[::-1]

    def links_below(self, base: str) -> Iterator[str]:
        """Yield the names of `base` and of all links below it, parents first."""
        waiting = [base]
        while waiting:
            name = waiting.pop()
            yield name
            waiting.extend(joint.child for joint in reversed(self.below[name]))


def _origin(element: Element) -> tuple[list[float], list[float]]:
    """Return position and roll, pitch, yaw of the ``<origin>``, zero if absent."""
    origin = element.optional("origin")
    if origin is None:
        return list(_ZERO), list(_ZERO)
    origin.check_spelling(attributes=("xyz", "rpy"))
    if "quat_xyzw" in origin.attributes:
        raise origin.error("'quat_xyzw' is not supported; give the rotation as 'rpy'")
    return origin.vector("xyz", _ZERO), origin.vector("rpy", _ZERO)


def _read_link(element: Element) -> Link:
    name = _label(element)
    element.check_spelling(children=_LINK_CHILDREN)
    inertial = element.optional("inertial")
    return Link(name, element, None if inertial is None else _read_inertial(inertial))


def _read_inertial(element: Element) -> Array:
    """Return REG parameters (10,); the tensor of URDF is about the center of mass, in axes of its own."""
    element.check_spelling(children=("origin", "mass", "inertia"))
    mass = element.required("mass").non_negative("value")
    tensor = element.required("inertia")
    xx, xy, xz, yy, yz, zz = (tensor.number(key) for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"))
    com, rpy = _origin(element)
    R = pose_from_rpy(_ZERO, rpy)[:3, :3]
    turned = R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ R.T
    return reg_from_dyn(np.array([mass, *com, *turned[np.triu_indices(3)]]))


def _read_joint(element: Element) -> Joint:
    name = _label(element)
    element.check_spelling(children=_JOINT_CHILDREN)
    kind = element.text("type")
    if kind not in _TYPES:
        raise element.error(f"type must be one of {', '.join(_TYPES)}, got {kind!r}{nearest_hint(kind, _TYPES)}")
    mimic = element.optional("mimic")
    return Joint(
        name=name,
        type=kind,
        parent=element.required("parent").text("link"),
        child=element.required("child").text("link"),
        element=element,
        origin=pose_from_rpy(*_origin(element)),
        axis=_read_axis(element, used=kind in ("revolute", "continuous", "prismatic")),
        mimic=None if mimic is None else mimic.text("joint"),
        limits=_read_limits(element, kind),
        friction=_read_friction(element),
    )


def _read_axis(joint: Element, *, used: bool) -> Array:
    axis = joint.optional("axis")
    if axis is None or not used:
        return np.array([1.0, 0.0, 0.0])  # the default of the URDF specification
    axis.check_spelling(attributes=("xyz",))
    vector = np.array(axis.vector("xyz", (1.0, 0.0, 0.0)))
    largest = np.abs(vector).max()
    if largest == 0.0:
        raise axis.error("'xyz' must not be zero: a joint needs a direction")
    vector /= largest  # squares of extreme numbers could underflow or overflow
    return np.asarray(vector / np.linalg.norm(vector))


def _read_limits(joint: Element, kind: str) -> tuple[float, float, float, float]:
    """Return lower, upper, velocity, effort: infinite if absent, but zero for the missing end of a range."""
    limit = joint.optional("limit")
    if limit is None:
        if kind in ("revolute", "prismatic"):
            way_out = " (use 'continuous' for a joint without limits)" if kind == "revolute" else ""
            joint.required("limit", hint=f": a {kind} joint must have one{way_out}")
        return -math.inf, math.inf, math.inf, math.inf
    limit.check_spelling(attributes=("lower", "upper", "velocity", "effort"))
    velocity, effort = (_unlimited(limit.non_negative(key, math.inf, finite=False)) for key in ("velocity", "effort"))
    if kind == "continuous" or not {"lower", "upper"} & limit.attributes.keys():
        return -math.inf, math.inf, velocity, effort
    lower, upper = (limit.number(key, 0.0, finite=False) for key in ("lower", "upper"))
    if lower > upper:
        raise limit.error(f"'lower' must not exceed 'upper', got {' and '.join(apart(lower, upper))}")
    return _unlimited(lower), _unlimited(upper), velocity, effort


def _unlimited(value: float) -> float:
    """Return a limit, infinite from `NO_LIMIT`."""
    return math.copysign(math.inf, value) if abs(value) >= NO_LIMIT else value


def _read_friction(joint: Element) -> tuple[float, float]:
    dynamics = joint.optional("dynamics")
    if dynamics is None:
        return 0.0, 0.0
    dynamics.check_spelling(attributes=("damping", "friction"))
    return dynamics.non_negative("damping", 0.0), dynamics.non_negative("friction", 0.0)


def _label(element: Element) -> str:
    try:
        return check_label(element.text("name"), f"{element.tag} name")
    except FileFormatError:
        raise
    except ThunderError as error:
        raise element.error(str(error)) from None


def read_tree(robot: Element) -> Tree:
    """Read and check every link and joint of a robot.

    Parameters
    ----------
    robot : Element
        The root of the document.

    Returns
    -------
    Tree
        Tree with one root and no loops.

    Raises
    ------
    FileFormatError
        If an element is invalid; the message has the line of the first one.
    """
    if robot.tag != "robot":
        raise robot.error("a URDF must have the root element <robot>")
    robot.check_spelling(children=("link", "joint", "material", "transmission", "gazebo"), attributes=("name",))
    return _connect(robot, _read_all(robot, "link", _read_link), _read_all(robot, "joint", _read_joint))


def _read_all(robot: Element, tag: str, read: Callable[[Element], _Part]) -> dict[str, _Part]:
    """Read the elements of one tag; their names must differ."""
    parts: dict[str, _Part] = {}
    for part in map(read, robot.all(tag)):
        if part.name in parts:
            raise part.element.error(f"name is taken by the {tag} in line {parts[part.name].element.line}")
        parts[part.name] = part
    return parts


def _connect(robot: Element, links: dict[str, Link], joints: dict[str, Joint]) -> Tree:
    above: dict[str, Joint] = {}
    below: dict[str, list[Joint]] = {name: [] for name in links}
    for joint in joints.values():
        for end in ("parent", "child"):
            if (name := getattr(joint, end)) not in links:
                raise joint.element.required(end).error(f"there is no link {name!r}{nearest_hint(name, links)}")
        if (other := above.get(joint.child)) is not None:
            raise joint.element.error(
                f"link {joint.child!r} is already the child of joint {other.name!r} (line {other.element.line}); "
                "closed loops are not supported"
            )
        above[joint.child] = joint
        below[joint.parent].append(joint)
    root = _root(robot, links, above)
    tree = Tree(robot, links, joints, above, {name: tuple(js) for name, js in below.items()}, root)
    reached = set(tree.links_below(root))
    for name in links:
        if name not in reached:
            raise above[name].element.error(f"links form a loop through {name!r}, apart from the root {root!r}")
    return tree


def _root(robot: Element, links: Mapping[str, Link], above: Mapping[str, Joint]) -> str:
    roots = [name for name in links if name not in above]
    if not links:
        raise robot.error("has no links")
    if not roots:
        raise robot.error("has no root: every link is the child of a joint, so the links form a loop")
    if len(roots) > 1:
        raise links[roots[1]].element.error(
            f"is not connected: links without a parent joint are {', '.join(map(repr, roots))}, "
            "but only one may be the root"
        )
    return roots[0]
