"""Reading of URDF: links and joints of the file, whose numbers are read where they act on the selected arm."""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ..checks import Array, apart, array, one_of
from ..errors import FileFormatError, ThunderError, nearest_hint
from ..files import read_whole
from ..model.description import Friction, Limits, RobotDescription
from ..model.inertia import reg_from_dyn
from ..spatial import pose_from_rpy
from ..spatial.single import make_pose
from .selection import Arm, Joint, Link, Tree, robot_name
from .xml import XACRO, Element, parse_xml

__all__ = ["load_urdf", "parse_urdf", "urdf_arms"]

_LOG = logging.getLogger(__name__)

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
_ZERO = (0.0, 0.0, 0.0)
_INFINITE = (-math.inf, math.inf, math.inf, math.inf)


def load_urdf(
    path: str | Path,
    base_link: str | None = None,
    tip_link: str | None = None,
    *,
    missing_inertia: str | None = None,
    fix_joints: Mapping[str, float] | None = None,
    gravity: npt.ArrayLike = (0.0, 0.0, -9.81),
    name: str | None = None,
) -> RobotDescription:
    """Read the arm between two links of a URDF file.

    Links behind fixed joints are lumped, with their inertia, into the link that carries them and become named frames. A
    reserved name of a moving link or joint, such as ``base``, gets the prefix ``urdf:``. Moving branches that start at
    the immobile base are ignored, because they do not influence the arm's dynamics. Meshes are never opened. What the
    user should know, such as a gripper that was locked, is one warning.

    Parameters
    ----------
    path : path-like
        The file.
    base_link : str, optional
        Link of the robot's base frame; default that of the only arm, or the root. Links above it are ignored.
    tip_link : str, optional
        Link of the end effector frame; default that of the only arm. Links fixed beyond it are lumped as well.
    missing_inertia : {"error", "zero"}, optional
        Refuse a moving body without any ``<inertial>``, or treat it as massless; default massless with a warning.
    fix_joints : mapping of str to float, optional
        Movable joints to lock, with their positions [rad or m]; joints that mimic them follow. Side branches that move
        with the arm, other than a gripper, must be locked. Joint limits are not applied to these positions.
    gravity : (3,) array_like
        Acceleration of gravity [m/s^2] in the world frame, which is the frame of the base link.
    name : str, optional
        The robot's name, an identifier; default that of the name in the file.

    Returns
    -------
    RobotDescription
        With ``convention="placements"``; joint and link names, limits and friction from the file.

    Raises
    ------
    FileFormatError
        If the file is not a URDF, has no arm or several, or a part of the arm is invalid; with line and element.
    UnknownNameError
        If `base_link`, `tip_link` or a name in `fix_joints` is not in the file.
    ThunderError
        If another argument is wrong.
    OSError
        If the file cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import thunder_py as th
    >>> from thunder_py.io.urdf import load_urdf
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     th.Robot.load("panda").save(Path(folder, "panda.urdf"))
    ...     description = load_urdf(Path(folder, "panda.urdf"), fix_joints={"joint7": 0.0})
    >>> description.n, description.convention
    (6, 'placements')
    """
    return parse_urdf(
        read_whole(path),
        base_link,
        tip_link,
        missing_inertia=missing_inertia,
        fix_joints=fix_joints,
        gravity=gravity,
        name=name,
        path=path,
    )


def parse_urdf(
    text: str | bytes,
    base_link: str | None = None,
    tip_link: str | None = None,
    *,
    missing_inertia: str | None = None,
    fix_joints: Mapping[str, float] | None = None,
    gravity: npt.ArrayLike = (0.0, 0.0, -9.81),
    name: str | None = None,
    path: str | Path | None = None,
) -> RobotDescription:
    """Read the arm between two links of a URDF text, such as a ``robot_description`` parameter.

    Parameters
    ----------
    text : str or bytes
        The document.
    base_link, tip_link, missing_inertia, fix_joints, gravity, name
        As for `load_urdf`.
    path : path-like, optional
        Path for messages; not opened.

    Returns
    -------
    RobotDescription
        As for `load_urdf`.

    Raises
    ------
    FileFormatError, UnknownNameError, ThunderError
        As for `load_urdf`.
    """
    if missing_inertia is not None:
        one_of(missing_inertia, ("error", "zero"), "missing_inertia")
    root = parse_xml(text, path)
    tree = _tree(root, path)
    called = robot_name(root.attributes.get("name", ""), name)
    chain = tree.select(base_link, tip_link, tree.positions(fix_joints))
    text = "%s: %d joints from %s to %s, %d links lumped into those that move; locked: %s"
    fixed, locked = len(chain.places) - len(chain.joints), ", ".join(chain.locked) or "none"
    _LOG.info(text, path, len(chain.joints), chain.base, chain.tip, fixed, locked)
    world = array(gravity, (3,), "gravity")
    values = np.array([_values(joint.source) for joint in chain.joints])
    lower, upper, velocity, effort = values[:, :4].T
    try:
        description = RobotDescription(
            name=called,
            inertial=tree.inertial(chain, missing_inertia),
            gravity=world,
            limits=Limits(lower=lower, upper=upper, velocity=velocity, effort=effort),
            friction=_friction(values[:, 4:]),
            **tree.named(chain),
        )
    except FileFormatError:
        raise
    except ThunderError as error:  # about numbers of the file; arguments are already checked
        raise root.error(str(error)) from error
    tree.tell(chain, chosen=tip_link is not None)
    return description


def urdf_arms(text: str | bytes, path: str | Path | None = None) -> list[Arm]:
    """Return the arms of a URDF text."""
    return _tree(parse_xml(text, path), path).find(None, {})[0]


def _tree(robot: Element, path: str | Path | None) -> Tree:
    """Return the tree of a document; parts whose names or ends are missing are defects."""
    if robot.tag != "robot":
        raise robot.error("a URDF must have the root element <robot>")
    robot.check_spelling(children=("link", "joint", "material", "transmission", "gazebo"), attributes=("name",))
    tree = Tree(robot.error, path, "urdf")
    for element in robot.all("link"):
        with tree.collecting():
            tree.add_link(Link(element.text("name"), partial(_inertial, element), element.error))
    for element in robot.all("joint"):
        ends = [next((end.attributes.get("link") for end in element.all(tag)), None) for tag in ("parent", "child")]
        with tree.collecting(*ends, moves=element.attributes.get("type") != "fixed"):
            tree.add_joint(_joint(element))
    for element in robot.children:
        if element.tag.startswith("xacro:") and element.tag.removeprefix("xacro:") not in _UNUSED:
            tree.lost.append((element.error(XACRO), None, None))
    return tree


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
    moves = _KINDS.get(kind) in ("R", "P")
    return _pose(element), _axis(element) if moves else np.array([1.0, 0.0, 0.0]), np.eye(4)


def _values(element: Element) -> Array:
    """Return lower, upper, velocity, effort, viscous and Coulomb friction of a joint."""
    return np.array([*_limits(element), *_coefficients(element)])


def _pose(element: Element) -> Array:
    """Return the pose (4, 4) of the ``<origin>``, the identity if absent."""
    origin = element.optional("origin")
    if origin is None:
        return np.eye(4)
    origin.check_spelling(attributes=("xyz", "rpy"))
    if "quat_xyzw" in origin.attributes:
        raise origin.error("'quat_xyzw' is not supported; give the rotation as 'rpy'")
    xyz, rpy = origin.vector("xyz", _ZERO), origin.vector("rpy", _ZERO)
    return pose_from_rpy(xyz, rpy) if any(rpy) else make_pose(np.eye(3), np.array(xyz))


def _inertial(link: Element) -> Array | None:
    """Return REG parameters (10,), None without any; URDF's tensor is about the center of mass, in axes of its own."""
    link.check_spelling(children=("inertial", "visual", "collision"))
    element = link.optional("inertial")
    if element is None:
        return None
    element.check_spelling(children=("origin", "mass", "inertia"))
    mass = element.required("mass").non_negative("value")
    tensor = element.required("inertia")
    xx, xy, xz, yy, yz, zz = (tensor.number(key) for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"))
    T = _pose(element)
    turned = T[:3, :3] @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ T[:3, :3].T
    return reg_from_dyn(np.array([mass, *T[:3, 3], *turned[np.triu_indices(3)]]))


def _axis(joint: Element) -> Array:
    axis = joint.optional("axis")
    if axis is None:
        return np.array([1.0, 0.0, 0.0])
    vector = np.array(axis.vector("xyz", (1.0, 0.0, 0.0)))
    largest = np.abs(vector).max()
    if largest == 0.0:
        raise axis.error("'xyz' must not be zero: a joint needs a direction")
    vector /= largest  # squares of extreme numbers could underflow or overflow
    return np.asarray(vector / np.linalg.norm(vector))


def _limits(joint: Element) -> tuple[float, float, float, float]:
    """Return lower, upper, velocity, effort: infinite if absent, but zero for the missing end of a range."""
    limit, kind = joint.optional("limit"), joint.text("type")
    if limit is None:
        if kind in ("revolute", "prismatic"):
            way_out = " (use 'continuous' for a joint without limits)" if kind == "revolute" else ""
            joint.required("limit", hint=f": a {kind} joint must have one{way_out}")
        return _INFINITE
    limit.check_spelling(attributes=("lower", "upper", "velocity", "effort"))
    velocity, effort = (
        math.inf
        if limit.number(key, math.inf, finite=False) == _NO_LIMIT_EITHER
        else _unlimited(limit.non_negative(key, math.inf, finite=False))
        for key in ("velocity", "effort")
    )
    if kind == "continuous" or not {"lower", "upper"} & limit.attributes.keys():
        return -math.inf, math.inf, velocity, effort
    lower, upper = (limit.number(key, 0.0, finite=False) for key in ("lower", "upper"))
    if lower > upper:
        raise limit.error(f"'lower' must not exceed 'upper', got {' and '.join(apart(lower, upper))}")
    return _unlimited(lower), _unlimited(upper), velocity, effort


def _unlimited(value: float) -> float:
    """Return a limit, infinite from `NO_LIMIT`."""
    return math.copysign(math.inf, value) if abs(value) >= NO_LIMIT else value


def _coefficients(joint: Element) -> tuple[float, float]:
    """Return viscous and Coulomb friction."""
    dynamics = joint.optional("dynamics")
    if dynamics is None:
        return 0.0, 0.0
    dynamics.check_spelling(attributes=("damping", "friction"))
    return dynamics.non_negative("damping", 0.0), dynamics.non_negative("friction", 0.0)


def _friction(coefficients: Array) -> Friction | None:
    """Return friction with the terms that occur in some joint, None without friction."""
    used = [k for k in range(2) if coefficients[:, k].any()]
    terms = tuple(("viscous", "coulomb")[k] for k in used)
    return Friction(terms=terms, coefficients=coefficients[:, used]) if terms else None
