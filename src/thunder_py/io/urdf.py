"""Reading of URDF: the chain between two links, with rigidly fixed links lumped into it."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ..checks import Array, array, check_name, one_of
from ..errors import FileFormatError, ThunderError
from ..files import read_whole
from ..model.description import Friction, Limits, RobotDescription, without_own_frames
from ..model.inertia import pseudo_inertia, reg_from_pseudo_inertia
from .gripper import warn_of_gripper
from .urdf_tree import Joint, Tree, read_tree
from .xml import fixed_positions, free_name, parse_xml

__all__ = ["load_urdf", "parse_urdf"]

_LOG = logging.getLogger(__name__)

_LISTED = 20  # candidates named in a message
_MOVABLE = ("revolute", "continuous", "prismatic")


def load_urdf(
    path: str | Path,
    base_link: str | None = None,
    tip_link: str | None = None,
    *,
    missing_inertia: str = "error",
    fix_joints: Mapping[str, float] | None = None,
    gravity: npt.ArrayLike = (0.0, 0.0, -9.81),
    name: str | None = None,
) -> RobotDescription:
    """Read the arm between two links of a URDF file.

    Links behind fixed joints are lumped, with their inertia, into the link that carries them and become named frames. A
    reserved name such as ``base`` gets the prefix ``urdf:``. Moving branches that start at the immobile base are
    ignored, because they do not influence the arm's dynamics. Meshes are never opened.

    Parameters
    ----------
    path : path-like
        The file; expand xacro first.
    base_link : str, optional
        Link of the robot's base frame; default the root. Links above it are ignored.
    tip_link : str, optional
        Link of the end effector frame; default the only leaf behind a moving joint. Links fixed beyond it are lumped
        as well. Without it a warning points out a gripper that is part of the arm, by the names of its joints.
    missing_inertia : {"error", "zero"}
        Refuse a moving body without any ``<inertial>``, or treat it as massless.
    fix_joints : mapping of str to float, optional
        Movable joints to lock, with their positions [rad or m]. Side branches that move with the arm, and mimic joints,
        must be locked: the arm is serial. Joint limits are not applied to these positions.
    gravity : (3,) array_like
        Acceleration of gravity [m/s^2] in the world frame, which is the frame of the base link.
    name : str, optional
        The robot's name, an identifier; default the one in the file.

    Returns
    -------
    RobotDescription
        With ``convention="placements"``; joint and link names, limits and friction from the file.

    Raises
    ------
    FileFormatError
        If the file is not a valid URDF, or has no serial arm between the two links; with line and element.
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
    missing_inertia: str = "error",
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
    one_of(missing_inertia, ("error", "zero"), "missing_inertia")
    tree = read_tree(parse_xml(text, path))
    robot_name = _robot_name(tree, name)
    locked = _locked(tree, fix_joints)
    base = tree.root if base_link is None else tree.check_link(base_link, "base_link")
    tip = _only_tip(tree, base, locked) if tip_link is None else tree.check_link(tip_link, "tip_link")
    arm = _assemble(tree, base, tip, locked)
    text = "%s: %d joints from %s to %s, %d links lumped into those that move; locked: %s"
    fixed = len(arm.places) - len(arm.joints)
    _LOG.info(text, path, len(arm.joints), base, tip, fixed, ", ".join(locked) or "none")
    if tip_link is None:
        warn_of_gripper([joint.name for joint in arm.joints], tip, path)
    try:
        return _described(tree, arm, tip, robot_name, array(gravity, (3,), "gravity"), missing_inertia)
    except FileFormatError:
        raise
    except ThunderError as error:  # about numbers of the file; arguments are already checked
        raise tree.element.error(str(error)) from error


def _described(tree: Tree, arm: _Arm, tip: str, name: str, gravity: Array, missing_inertia: str) -> RobotDescription:
    joints = arm.joints
    lower, upper, velocity, effort = np.array([joint.limits for joint in joints]).T
    return RobotDescription(
        name=name,
        joint_types="".join("P" if joint.type == "prismatic" else "R" for joint in joints),
        placements=np.array(arm.placements),
        axes=np.array([joint.axis for joint in joints]),
        offsets=np.tile(np.eye(4), (len(joints), 1, 1)),
        inertial=_inertial(tree, arm, zero=missing_inertia == "zero"),
        gravity=gravity,
        tool=arm.places[tip][1],
        joint_names=tuple(free_name(joint.name, "urdf") for joint in joints),
        link_names=tuple(free_name(joint.child, "urdf") for joint in joints),
        limits=Limits(lower=lower, upper=upper, velocity=velocity, effort=effort),
        friction=_friction(joints),
        frames=_frames(arm, tip),
    )


def _robot_name(tree: Tree, name: str | None) -> str:
    if name is not None:
        return check_name(name, "name")
    written = tree.element.attributes.get("name", "").strip()
    try:
        return check_name(written)
    except ThunderError as error:
        words = re.sub(r"[\W_]+", "_", written, flags=re.ASCII).strip("_")[:40].strip("_")
        proposal = f"robot_{words}".strip("_") if not words or words[0].isdigit() else words
        raise tree.element.error(f"{error}; pass another, such as name={proposal!r} (thunder gen: -n)") from None


def _locked(tree: Tree, fix_joints: Mapping[str, float] | None) -> dict[str, float]:
    """Check `fix_joints`: movable joints of the file, at finite positions."""
    locked = fixed_positions(fix_joints, tree.joints)
    for name in locked:
        if (kind := tree.joints[name].type) not in _MOVABLE:
            raise ThunderError(f"fix_joints: joint {name!r} is {kind}; only {', '.join(_MOVABLE)} can be locked")
    return locked


def _moves(joint: Joint, locked: Mapping[str, float]) -> bool:
    return joint.type != "fixed" and joint.name not in locked


def _only_tip(tree: Tree, base: str, locked: Mapping[str, float]) -> str:
    """Return the only leaf that moves relative to `base`."""
    moving = {base: False}  # True if a moving joint is between base and link
    for link in tree.links_below(base):  # parents first
        moving.update((joint.child, moving[link] or _moves(joint, locked)) for joint in tree.below[link])
    leaves = [link for link, moves in moving.items() if moves and not tree.below[link]]
    if not leaves:
        raise tree.links[base].element.error("no joint below this link moves: the chain is empty")
    if len(leaves) > 1:
        some = ", ".join(map(repr, leaves[:_LISTED])) + (", ..." if len(leaves) > _LISTED else "")
        raise tree.element.error(f"{len(leaves)} links could be the tip; pass one of them as tip_link: {some}")
    return leaves[0]


@dataclass(frozen=True, eq=False)
class _Arm:
    """Store moving joints, their placements in the parent body, and body and pose of every link."""

    joints: tuple[Joint, ...]
    placements: list[Array]
    places: Mapping[str, tuple[int, Array]]


def _moving_chain(tree: Tree, base: str, tip: str, locked: Mapping[str, float]) -> tuple[Joint, ...]:
    """Return the moving joints between two links, or raise `FileFormatError` for unsupported ones."""
    path = tree.path(base, tip)
    if path is None:
        raise tree.links[tip].element.error(f"the tip is not below the base link {base!r}")
    chain = tuple(joint for joint in path if _moves(joint, locked))
    if not chain:
        raise tree.links[tip].element.error(f"no joint moves between {base!r} and this link: the chain is empty")
    for joint in chain:
        if joint.type not in _MOVABLE:
            raise joint.element.error(
                f"{joint.type} joints are not supported; if the arm starts below it, pass base_link={joint.child!r}"
            )
        if joint.mimic is not None:
            raise joint.element.error(
                f"mimic joints are not supported (it follows {joint.mimic!r}); "
                f"lock it: fix_joints={{{joint.name!r}: 0.0}}"
            )
    return chain


def _assemble(tree: Tree, base: str, tip: str, locked: Mapping[str, float]) -> _Arm:
    """Assign the links to bodies: 0 is the base, body k moves with the k-th joint of the chain."""
    chain = _moving_chain(tree, base, tip, locked)
    number = {joint.name: k for k, joint in enumerate(chain, start=1)}
    placements = [np.eye(4)] * len(chain)
    places: dict[str, tuple[int, Array]] = {base: (0, np.eye(4))}
    loose: list[Joint] = []
    for link in tree.links_below(base):
        if link not in places:
            continue  # on another branch from the base: no influence on the arm's dynamics
        body, pose = places[link]
        for joint in tree.below[link]:
            if joint.name in number:
                placements[number[joint.name] - 1] = pose @ joint.origin
                places[joint.child] = (number[joint.name], np.eye(4))
            elif body > 0 or not _moves(joint, locked):
                places[joint.child] = (body, pose @ joint.pose(locked.get(joint.name, 0.0)))
                if _moves(joint, locked):
                    loose.append(joint)
    _refuse_loose(loose, tip)
    return _Arm(chain, placements, places)


def _refuse_loose(loose: Sequence[Joint], tip: str) -> None:
    for joint in loose:
        if joint.type not in _MOVABLE:
            raise joint.element.error(f"{joint.type} joints are not supported, and this one is carried by the arm")
    if loose:
        settings = ", ".join(f"{joint.name!r}: 0.0" for joint in loose)
        raise loose[0].element.error(
            f"moves off the chain to {tip!r}, on a branch that the arm carries; a serial arm needs it locked: "
            f"fix_joints={{{settings}}}, at positions of your choice"
        )


def _inertial(tree: Tree, arm: _Arm, *, zero: bool) -> Array:
    """Return the REG rows (n, 10) of the bodies: sums over their links in the body's frame."""
    total = np.zeros((len(arm.joints) + 1, 10))
    known = {0}
    for name, (body, T) in arm.places.items():
        inertial = tree.links[name].inertial
        if inertial is not None:
            own = np.array_equal(T, np.eye(4))  # then the file's numbers stay exact
            total[body] += inertial if own else reg_from_pseudo_inertia(T @ pseudo_inertia(inertial) @ T.T)
            known.add(body)
    for body, joint in enumerate(arm.joints, start=1):
        if body not in known and not zero:
            raise tree.links[joint.child].element.error(
                f"moves with joint {joint.name!r} but neither it nor a link fixed to it has an <inertial>; "
                "add one, or pass missing_inertia='zero' to treat it as massless"
            )
    return total[1:]


def _friction(joints: Sequence[Joint]) -> Friction | None:
    """Return friction with the terms that occur in some joint, None without friction."""
    coefficients = np.array([joint.friction for joint in joints])
    used = [k for k in range(2) if coefficients[:, k].any()]
    terms = tuple(("viscous", "coulomb")[k] for k in used)
    return Friction(terms=terms, coefficients=coefficients[:, used]) if terms else None


def _frames(arm: _Arm, tip: str) -> dict[str, tuple[int, Array]]:
    """Return lumped links as frames, without the frames of bodies, base and tool."""
    own = {joint.child for joint in arm.joints}
    frames = {name: place for name, place in arm.places.items() if name not in own}
    return without_own_frames(frames, own, tip)
