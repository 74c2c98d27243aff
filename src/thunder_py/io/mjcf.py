"""MJCF files as robots: MuJoCo's compiler reads them, and the chain to one body is taken out of its model."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..checks import array, check_name
from ..description import RESERVED_NAMES, RobotDescription
from ..errors import FileFormatError, ModelError, UnknownNameError, nearest_hint
from ..files import read_whole
from ..optional import require
from .mjcf_arm import Arm, assemble
from .mjcf_joints import friction_of, limits_of, refuse_springs
from .mjcf_rotors_in import read_rotors
from .mjcf_text import read_mjcf_text
from .mjcf_tree import Tree

__all__ = ["load_mjcf", "parse_mjcf"]


def load_mjcf(
    path: str | Path,
    tip_link: str | None = None,
    *,
    fix_joints: Mapping[str, float] | None = None,
    name: str | None = None,
) -> RobotDescription:
    """Read the arm that ends in a body of an MJCF file.

    MuJoCo's compiler resolves defaults, included files, angles and orientations. What is rigidly fixed to a body is
    lumped into it and stays as a named frame, as sites do. Shapes, meshes, contacts, sensors and actuators are left
    out; of actuators the greatest torques are kept. Several joints of one body are links of their own, without mass.

    Parameters
    ----------
    path : path-like
        The file. Files that it includes must be in its folder or below.
    tip_link : str, optional
        Body or site that is the end effector; default the site ``tool`` if there is one, else the only leaf.
    fix_joints : mapping of str to float, optional
        Joints to lock, each at a position [rad or m]. Side branches that move with the arm must be locked.
    name : str, optional
        The robot's name, an identifier; default the model's.

    Returns
    -------
    RobotDescription
        With ``convention="placements"``. The base is the body that carries the first joint.

    Raises
    ------
    FileFormatError
        If the file is no sound MJCF, or holds what a serial arm has not: free and ball joints, equality constraints and
        tendons of its joints, springs, fluids.
    UnknownNameError
        If `tip_link` or a name in `fix_joints` is not in the file.
    ModelError
        If another argument is wrong.
    ModuleNotFoundError
        If MuJoCo is not installed.
    OSError
        If the file cannot be read.
    """
    return parse_mjcf(read_whole(path), tip_link, fix_joints=fix_joints, name=name, path=path)


def parse_mjcf(
    text: str | bytes,
    tip_link: str | None = None,
    *,
    fix_joints: Mapping[str, float] | None = None,
    name: str | None = None,
    path: str | Path | None = None,
) -> RobotDescription:
    """Read the arm that ends in a body of an MJCF text.

    Parameters
    ----------
    text : str or bytes
        The document.
    tip_link, fix_joints, name
        As for `load_mjcf`.
    path : path-like, optional
        Named in messages; included files are looked for beside it.

    Returns
    -------
    RobotDescription
        As for `load_mjcf`.

    Raises
    ------
    FileFormatError, UnknownNameError, ModelError, ModuleNotFoundError
        As for `load_mjcf`.
    """
    mujoco = require("mujoco", "mujoco")
    model = compiled(mujoco, read_mjcf_text(text, path), path)
    tree = Tree(mujoco, model, path)
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite then is refused by the description
        arm = assemble(tree, tip_link, _locked(tree, fix_joints))
    refuse_springs(tree, arm.joints)
    robot_name = _robot_name(tree, name)
    try:
        return read_rotors(tree, arm.joints, _described(tree, arm, robot_name))
    except ModelError as error:  # of the file's numbers: arguments are checked by now
        raise tree.error(str(error)) from error


def _described(tree: Tree, arm: Arm, name: str) -> RobotDescription:
    model, joints = tree.model, arm.joints
    return RobotDescription(
        name=name,
        joint_types="".join("P" if tree.slides(j) else "R" for j in joints),
        placements=np.array(arm.placements),
        axes=np.array([model.jnt_axis[j] for j in joints]),
        offsets=np.array(arm.offsets),
        inertial=arm.inertial,
        gravity=tree.gravity(),
        base=arm.base,
        tool=arm.tool,
        joint_names=tuple(_label(tree.joint_name(j), f"joint{k}") for k, j in enumerate(joints, start=1)),
        link_names=tuple(_label(link, f"link{k}") for k, link in enumerate(arm.link_names, start=1)),
        limits=limits_of(tree, joints),
        friction=friction_of(tree, joints),
        armature=_armature(tree, arm),
        frames={_label(frame, frame): place for frame, place in arm.frames.items()},
    )


def compiled(mujoco: Any, text: str, path: str | Path | None) -> Any:
    """Return MuJoCo's model of a text, or raise `FileFormatError` with what its compiler says."""
    try:
        return mujoco.MjModel.from_xml_string(text)
    except (ValueError, mujoco.FatalError) as error:
        reason = " ".join(str(error).split()).split(", line")[0]
        raise FileFormatError(f"MuJoCo refuses it: {reason}", path=path) from None


def _robot_name(tree: Tree, name: str | None) -> str:
    if name is not None:
        return check_name(name, "name")
    try:
        return check_name(tree.model_name)
    except ModelError as error:
        raise tree.error(f"{error}; pass another, such as name='robot'") from None


def _label(name: str, default: str) -> str:
    """Return the name, ``mjcf:`` before it where it has a meaning already, `default` where it is none."""
    name = name or default
    return f"mjcf:{name}" if name in RESERVED_NAMES else name


def _locked(tree: Tree, fix_joints: Mapping[str, float] | None) -> dict[int, float]:
    if fix_joints is None:
        return {}
    if not isinstance(fix_joints, Mapping):
        raise ModelError(f"fix_joints must map joint names to positions, got {fix_joints!r}")
    known = {tree.joint_name(j): j for j in range(tree.model.njnt)}
    for joint in fix_joints:
        if joint not in known or not joint:
            raise UnknownNameError(f"fix_joints: there is no joint {joint!r}{nearest_hint(str(joint), known)}")
    return {known[joint]: float(array(q, (), f"fix_joints[{joint!r}]")) for joint, q in fix_joints.items()}


def _armature(tree: Tree, arm: Arm) -> npt.NDArray[np.float64] | None:
    values = np.array([tree.model.dof_armature[tree.model.jnt_dofadr[j]] for j in arm.joints])
    return values if values.any() else None
