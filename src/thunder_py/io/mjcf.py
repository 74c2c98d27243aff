"""Reading of MJCF: MuJoCo's compiler reads the file, and the robot is the chain to one body of its model."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ..checks import Array, check_name
from ..errors import FileFormatError, ThunderError, UnknownNameError, nearest_hint
from ..files import read_whole
from ..model.description import RobotDescription, Rotor, without_own_frames
from ..model.inertia import pseudo_inertia, reg_from_dyn, reg_from_pseudo_inertia
from ..model.joint_data import Friction, Limits
from ..model.model import RobotModel
from ..optional import require
from ..spatial.single import exp, make_pose, matrix_of
from .gripper import warn_of_gripper
from .mjcf_elastic import couplings, read_drives
from .mjcf_text import read_mjcf_text
from .mjcf_writer import translate_rotors
from .xml import fixed_positions, free_name


class Tree:
    """Provide bodies and joints of a MuJoCo model; body 0 is the world.

    Parameters
    ----------
    mujoco : module
        The package.
    model : mujoco.MjModel
        Compiled model.
    path : path-like or None
        Path for messages.
    """

    def __init__(self, mujoco: Any, model: Any, path: str | Path | None = None) -> None:
        self.mujoco, self.model, self.path = mujoco, model, path
        self.model_name = bytes(model.names).split(b"\0", 1)[0].decode("utf-8", "replace")
        self.children: list[list[int]] = [[] for _ in range(model.nbody)]
        for body in range(1, model.nbody):
            self.children[int(model.body_parentid[body])].append(body)
        self.elastic = couplings(mujoco, model)

    def error(self, message: str, key: str | None = None) -> FileFormatError:
        """Return an error about the file."""
        return FileFormatError(message, path=self.path, key=key)

    def _name(self, kind: str, index: int) -> str:
        return self.mujoco.mj_id2name(self.model, getattr(self.mujoco.mjtObj, f"mjOBJ_{kind}"), index) or ""

    def body_name(self, body: int) -> str:
        """Return the name of a body, or an empty string."""
        return self._name("BODY", body)

    def joint_name(self, joint: int) -> str:
        """Return the name of a joint, or an empty string."""
        return self._name("JOINT", joint)

    def site_name(self, site: int) -> str:
        """Return the name of a site, or an empty string."""
        return self._name("SITE", site)

    def joints_of(self, body: int) -> list[int]:
        """Return the joints of a body, in order."""
        first = int(self.model.body_jntadr[body])
        return list(range(first, first + int(self.model.body_jntnum[body])))

    def slides(self, joint: int) -> bool:
        """Return True for a prismatic joint."""
        return bool(self.model.jnt_type[joint] == self.mujoco.mjtJoint.mjJNT_SLIDE)

    def is_simple(self, joint: int) -> bool:
        """Return True for a revolute or prismatic joint."""
        return self.slides(joint) or bool(self.model.jnt_type[joint] == self.mujoco.mjtJoint.mjJNT_HINGE)

    def pose(self, body: int) -> Array:
        """Return the pose (4, 4) of a body in its parent, with joints at their reference."""
        return self._pose(self.model.body_pos[body], self.model.body_quat[body])

    def site_pose(self, site: int) -> Array:
        """Return the pose (4, 4) of a site in its body."""
        return self._pose(self.model.site_pos[site], self.model.site_quat[site])

    def _pose(self, position: Array, quaternion: Array) -> Array:
        w, x, y, z = quaternion.tolist()
        return make_pose(matrix_of((x, y, z, w)), position)

    def motion(self, joint: int, q: float) -> Array:
        """Return the pose (4, 4) of the child body in the parent body for a joint at q [rad or m]."""
        model = self.model
        moved = q - float(model.qpos0[model.jnt_qposadr[joint]])
        turn = moved * model.jnt_axis[joint]
        if self.slides(joint):
            return make_pose(np.eye(3), turn)
        R = exp(turn)
        return make_pose(R, model.jnt_pos[joint] - R @ model.jnt_pos[joint])

    def inertia(self, body: int) -> Array:
        """Return the pseudo-inertia (4, 4) of a body in its frame."""
        model = self.model
        R = self._pose(model.body_ipos[body], model.body_iquat[body])[:3, :3]
        tensor = R @ np.diag(model.body_inertia[body]) @ R.T
        dyn = np.concatenate([[model.body_mass[body]], model.body_ipos[body], tensor[np.triu_indices(3)]])
        return pseudo_inertia(reg_from_dyn(dyn))

    def gravity(self) -> Array:
        """Return gravity [m/s^2], zero if the file disables it."""
        return np.zeros(3) if self.is_off("GRAVITY") else np.array(self.model.opt.gravity)

    def is_off(self, *flags: str) -> bool:
        """Return True if the file disables one of these flags; flags missing in this version of MuJoCo are ignored."""
        bits = (getattr(self.mujoco.mjtDisableBit, f"mjDSBL_{flag}", 0) for flag in flags)
        return any(self.model.opt.disableflags & int(bit) for bit in bits)

    def numeric(self, name: str) -> Sequence[float] | None:
        """Return the numbers of a custom field, None if it is absent."""
        index = self.mujoco.mj_name2id(self.model, self.mujoco.mjtObj.mjOBJ_NUMERIC, name)
        if index < 0:
            return None
        start, size = int(self.model.numeric_adr[index]), int(self.model.numeric_size[index])
        return [float(x) for x in self.model.numeric_data[start : start + size]]


_LISTED = 20


@dataclass(eq=False)
class Arm:
    """Store joints, by their numbers in the model, with placements, offsets and links.

    Attributes
    ----------
    base, tool : (4, 4) array
        Pose of the base in the world and of the end effector in the last link.
    joints : list of int
        Joints from base to tip.
    placements, offsets : list of (4, 4) array
        Constant transforms before and after the motion.
    inertial : (n, 10) array
        REG parameters of the links.
    link_names : list of str
        Names of the bodies, empty for bodies without a name.
    frames : dict
        Link and pose of fixed bodies and sites, by name.
    """

    base: Array
    joints: list[int]
    placements: list[Array] = field(default_factory=list)
    offsets: list[Array] = field(default_factory=list)
    link_names: list[str] = field(default_factory=list)
    inertial: Array = field(default_factory=lambda: np.zeros((0, 10)))
    tool: Array = field(default_factory=lambda: np.eye(4))
    frames: dict[str, tuple[int, Array]] = field(default_factory=dict)


def assemble(tree: Tree, tip_link: str | None, locked: Mapping[int, float]) -> Arm:
    """Return the arm that ends in `tip_link`.

    Raises
    ------
    FileFormatError
        If there is no arm, more than one, or it has ball or free joints.
    UnknownNameError
        If there is no such body or site.
    """
    tip, site = _tip(tree, tip_link, locked)
    path = _path(tree, tip)
    joints = [j for body in path for j in tree.joints_of(body) if j not in locked]
    if not joints:
        raise tree.error(f"no joint moves between the world and {tree.body_name(tip)!r}: the chain is empty")
    for j in joints:
        if not tree.is_simple(j):
            raise tree.error("ball and free joints are not supported", f"joint {tree.joint_name(j)!r}")
    return _Builder(tree, path, joints, locked).arm(tip, site)


def _path(tree: Tree, body: int) -> list[int]:
    """Return the bodies from the world's child to `body`."""
    path: list[int] = []
    while body > 0:
        path.append(body)
        body = int(tree.model.body_parentid[body])
    return path[::-1]


def _tip(tree: Tree, tip_link: str | None, locked: Mapping[int, float]) -> tuple[int, int | None]:
    """Return the body of the end effector, and its site if it is a site."""
    bodies = {tree.body_name(b): b for b in range(1, tree.model.nbody)}
    sites = {tree.site_name(s): s for s in range(tree.model.nsite)}
    if tip_link is not None:
        if tip_link in bodies:
            return bodies[tip_link], None
        if tip_link in sites and tip_link:
            return int(tree.model.site_bodyid[sites[tip_link]]), sites[tip_link]
        known = [name for name in (*bodies, *sites) if name]
        raise UnknownNameError(f"tip_link: there is no body or site {tip_link!r}{nearest_hint(str(tip_link), known)}")
    if tools := [name for name in sites if re.fullmatch("(robot:)*tool", name)]:
        site = sites[max(tools, key=len)]  # next to a frame "tool", the end effector is "robot:tool"
        return int(tree.model.site_bodyid[site]), site
    leaves = [b for b in range(1, tree.model.nbody) if not tree.children[b] and _is_moved(tree, b, locked)]
    if not leaves:
        raise tree.error("no joint moves: there is no arm")
    if len(leaves) > 1:
        some = ", ".join(repr(tree.body_name(b)) for b in leaves[:_LISTED])
        raise tree.error(f"{len(leaves)} bodies could be the tip; pass one of them as tip_link: {some}")
    return leaves[0], None


def _is_moved(tree: Tree, body: int, locked: Mapping[int, float]) -> bool:
    return any(j not in locked for b in _path(tree, body) for j in tree.joints_of(b))


class _Builder:
    """Classify every body in one traversal: the base, a link, or fixed to one of these."""

    def __init__(self, tree: Tree, path: list[int], joints: list[int], locked: Mapping[int, float]) -> None:
        self.tree, self.path, self.locked = tree, set(path), locked
        first = int(tree.model.jnt_bodyid[joints[0]])
        carrier = int(tree.model.body_parentid[first])
        base = np.eye(4)
        for body in _path(tree, carrier):
            base = base @ self._fixed(body)
        self._arm = Arm(base=base, joints=joints)
        self._inertia = [np.zeros((4, 4)) for _ in range(len(joints) + 1)]
        # link number and pose in the link of each body of the arm
        self._places: dict[int, tuple[int, Array]] = {carrier: (0, np.eye(4))}
        waiting = [carrier]
        while waiting:
            parent = waiting.pop()
            for body in self.tree.children[parent]:
                if self._place(body, parent):
                    waiting.append(body)

    def arm(self, tip: int, site: int | None) -> Arm:
        """Return the arm; the end effector is a body or a site."""
        arm, tree = self._arm, self.tree
        T = self._places[tip][1]
        arm.tool = T if site is None else T @ tree.site_pose(site)
        arm.inertial = reg_from_pseudo_inertia(np.array(self._inertia[1:]))
        self._frames(tip, site)
        return arm

    def _fixed(self, body: int) -> Array:
        """Return the pose of a body in its parent with its joints locked."""
        T = self.tree.pose(body)
        for j in self.tree.joints_of(body):
            T = T @ self.tree.motion(j, self.locked[j])
        return T

    def _place(self, body: int, parent: int) -> bool:
        """Make a body a link or fix it to the link of its parent; return False if it is not part of the arm."""
        tree, (link, T) = self.tree, self._places[parent]
        joints = tree.joints_of(body)
        if all(j in self.locked for j in joints):
            link, T = link, T @ self._fixed(body)
        elif body in self.path:
            link, T = self._links(body, link, T), np.eye(4)
        elif link == 0:
            return False  # another arm on the same base
        else:
            loose = ", ".join(f"{tree.joint_name(j)!r}: 0.0" for j in joints)
            raise tree.error(
                f"moves off the chain, on a branch that the arm carries; a serial arm needs it locked: "
                f"fix_joints={{{loose}}}, at positions of your choice",
                f"body {tree.body_name(body)!r}",
            )
        self._places[body] = (link, T)
        self._inertia[link] = self._inertia[link] + T @ tree.inertia(body) @ T.T
        return True

    def _links(self, body: int, link: int, T: Array) -> int:
        """Add a link for each joint of a body; all but the last are massless."""
        tree, arm, before = self.tree, self._arm, T @ self.tree.pose(body)
        for j in tree.joints_of(body):
            if j in self.locked:
                if link > 0 and arm.joints[link - 1] in tree.joints_of(body):
                    arm.offsets[-1] = arm.offsets[-1] @ tree.motion(j, self.locked[j])
                else:
                    before = before @ tree.motion(j, self.locked[j])
                continue
            anchor = np.zeros(3) if tree.slides(j) else np.array(tree.model.jnt_pos[j])
            arm.placements.append(before @ tree.motion(j, 0.0) @ make_pose(np.eye(3), anchor))
            arm.offsets.append(make_pose(np.eye(3), -anchor))
            link += 1
            name = tree.body_name(body)
            last = j == [k for k in tree.joints_of(body) if k not in self.locked][-1]
            arm.link_names.append(name if last else f"{name}_{tree.joint_name(j)}" if name else "")
            before = np.eye(4)
        return link

    def _frames(self, tip: int, site: int | None) -> None:
        """Store fixed bodies and sites as frames; a body takes precedence over a site of the same name."""
        arm, tree = self._arm, self.tree
        own = set(arm.link_names)
        for body, (link, T) in self._places.items():
            name = tree.body_name(body)
            if name and name not in own and body != 0:
                arm.frames[name] = (link, T)
        for s in range(tree.model.nsite):
            name, body = tree.site_name(s), int(tree.model.site_bodyid[s])
            if not name or body not in self._places or name in own:
                continue
            link, T = self._places[body]
            arm.frames.setdefault(name, (link, T @ tree.site_pose(s)))
        arm.frames = without_own_frames(arm.frames, own, tree.body_name(tip) if site is None else tree.site_name(site))


#: MuJoCo limits both ends or none: beyond this value an end has no limit
_FAR = 1e6


def limits_of(tree: Tree, joints: Sequence[int]) -> Limits | None:
    """Return limits of position, effort (of the actuators) and speed (if in the file); None without limits."""
    model = tree.model
    on = not tree.is_off("LIMIT", "CONSTRAINT")
    ranges = [model.jnt_range[j] if on and model.jnt_limited[j] else (-math.inf, math.inf) for j in joints]
    lower, upper = np.array(ranges, dtype=np.float64).reshape(-1, 2).T
    speeds = tree.numeric("velocity_limits")
    velocity = np.full(len(joints), math.inf)
    if speeds is not None and len(speeds) == len(joints):
        velocity = np.array([x if x > 0.0 else math.inf for x in speeds])
    motors = {coupling.joint: coupling.motor for coupling in tree.elastic}
    effort = np.array([_effort(tree, motors.get(j, j)) for j in joints])
    lower, upper = np.where(lower <= -_FAR, -math.inf, lower), np.where(upper >= _FAR, math.inf, upper)
    if not np.isfinite([lower, upper, velocity, effort]).any():
        return None
    return Limits(lower=lower, upper=upper, velocity=velocity, effort=effort)


def _effort(tree: Tree, joint: int) -> float:
    """Return the largest effort that the joint's own limit and its actuators allow."""
    model, mujoco = tree.model, tree.mujoco
    total, has_actuator = 0.0, False
    for k in range(model.nu):
        if model.actuator_trntype[k] != mujoco.mjtTrn.mjTRN_JOINT or model.actuator_trnid[k, 0] != joint:
            continue
        most = math.inf
        if model.actuator_forcelimited[k]:
            most = float(np.abs(model.actuator_forcerange[k]).max())
        is_motor = (
            model.actuator_gaintype[k] == mujoco.mjtGain.mjGAIN_FIXED
            and model.actuator_biastype[k] == mujoco.mjtBias.mjBIAS_NONE
        )
        if is_motor and model.actuator_ctrllimited[k]:
            gain = abs(float(model.actuator_gainprm[k, 0]))
            most = min(most, gain * float(np.abs(model.actuator_ctrlrange[k]).max()))
        total, has_actuator = total + most * abs(float(model.actuator_gear[k, 0])), True
    own = float(np.abs(model.jnt_actfrcrange[joint]).max()) if model.jnt_actfrclimited[joint] else math.inf
    return min(own, total) if has_actuator else own


def friction_of(tree: Tree, joints: Sequence[int]) -> Friction | None:
    """Return damping as viscous and frictionloss as smooth Coulomb friction, unless a flag disables them."""
    model = tree.model
    dofs = [int(model.jnt_dofadr[j]) for j in joints]
    columns = {
        "viscous": (model.dof_damping[dofs], ("PASSIVE", "DAMPER")),
        "coulomb": (model.dof_frictionloss[dofs], ("FRICTIONLOSS", "CONSTRAINT")),
    }
    used = {term: column for term, (column, flags) in columns.items() if np.any(column) and not tree.is_off(*flags)}
    return Friction(terms=tuple(used), coefficients=np.column_stack(list(used.values()))) if used else None


def refuse_springs(tree: Tree, joints: Sequence[int]) -> None:
    """Refuse forces on the chain that a `RobotDescription` cannot represent, or that files of this package do not have.

    Raises
    ------
    FileFormatError
        If the file has springs, polynomial damping, constraints, tendons, fluids or compensated gravity.
    """
    model = tree.model
    for j in joints:
        dof = int(model.jnt_dofadr[j])
        key = f"joint {tree.joint_name(j)!r}"
        # polynomials exist only in later versions of MuJoCo
        springs = [model.jnt_stiffness[j], *np.ravel(getattr(model, "jnt_stiffnesspoly", np.zeros((j + 1, 1)))[j])]
        if np.any(springs):
            raise tree.error("springs (stiffness) are not read; set it to 0", key)
        if np.any(getattr(model, "dof_dampingpoly", np.zeros((dof + 1, 1)))[dof]):
            raise tree.error("damping of higher order is not read; give one number", key)
    if model.opt.density or model.opt.viscosity:
        raise tree.error("density and viscosity of a fluid are not read; set them to 0", "<option>")
    if model.body_gravcomp.any():
        raise tree.error("compensated gravity (gravcomp) is not read; set it to 0")
    _refuse_actuators(tree, set(joints))
    _refuse_couplings(tree, set(joints))


def _on_joints(mujoco: Any) -> tuple[int, int]:
    """Return the kinds of transmissions to one joint."""
    return int(mujoco.mjtTrn.mjTRN_JOINT), int(mujoco.mjtTrn.mjTRN_JOINTINPARENT)


def _refuse_actuators(tree: Tree, joints: set[int]) -> None:
    """Refuse armature and damping of actuators that are not those of a joint, and damping of higher order."""
    model, kinds = tree.model, _on_joints(tree.mujoco)
    for k in range(model.nu):
        on_joint = int(model.actuator_trntype[k]) in kinds
        if on_joint and int(model.actuator_trnid[k, 0]) not in joints:
            continue
        refused = ("dampingpoly",) if on_joint else ("armature", "damping", "dampingpoly")
        if any(np.any(getattr(model, f"actuator_{key}", np.zeros(model.nu))[k]) for key in refused):
            name = tree.mujoco.mj_id2name(model, tree.mujoco.mjtObj.mjOBJ_ACTUATOR, k) or str(k + 1)
            raise tree.error(
                "armature and damping of actuators are read as one number on a joint only; move them to the joints",
                f"actuator {name!r}",
            )


def _refuse_couplings(tree: Tree, joints: set[int]) -> None:
    model, mujoco = tree.model, tree.mujoco
    springs = {coupling.tendon for coupling in tree.elastic if coupling.joint in joints}
    for k in range(model.neq):
        on_joints = model.eq_type[k] == mujoco.mjtEq.mjEQ_JOINT
        if not on_joints or joints & {int(model.eq_obj1id[k]), int(model.eq_obj2id[k])}:
            raise tree.error("equality constraints on the arm are not supported", f"<equality>, number {k + 1}")
    for k in range(model.ntendon):
        start = int(model.tendon_adr[k])
        wraps = range(start, start + int(model.tendon_num[k]))
        of_joints = all(model.wrap_type[w] == mujoco.mjtWrap.mjWRAP_JOINT for w in wraps)
        if k in springs:
            continue
        if of_joints and not joints & {int(model.wrap_objid[w]) for w in wraps}:
            continue
        forces = (model.tendon_stiffness, model.tendon_damping, model.tendon_frictionloss, model.tendon_limited)
        if not of_joints or any(np.any(values[k]) for values in forces):
            name = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_TENDON, k) or str(k + 1)
            raise tree.error("tendons that act on the arm are not supported", f"tendon {name!r}")


def read_rotors(tree: Tree, joints: Sequence[int], description: RobotDescription) -> RobotDescription:
    """Return the description with the rotors that tendons with inertia represent.

    Raises
    ------
    FileFormatError
        If a tendon has inertia without a note on its rotor, or the note does not match.
    """
    inertias = getattr(tree.model, "tendon_armature", np.zeros(tree.model.ntendon))
    rotors: list[tuple[str, Rotor, Array]] = []
    for k in np.flatnonzero(inertias):
        factors = _factors(tree, int(k), joints)
        if not factors.any():
            continue
        name = tree.mujoco.mj_id2name(tree.model, tree.mujoco.mjtObj.mjOBJ_TENDON, int(k)) or str(k + 1)
        rotors.append((name, _rotor(tree, name, float(inertias[k]), description), factors))
    if not rotors:
        return description
    complete = description.replace(rotors=tuple(rotor for _, rotor, _ in rotors))
    expected = {joint: factors for joint, _, factors in translate_rotors(RobotModel(complete)).tendons}
    for name, rotor, factors in rotors:
        if rotor.joint not in expected or not np.allclose(expected[rotor.joint], factors, rtol=0.0, atol=1e-9):
            raise tree.error(f"does not couple the joints as its rotor would: {factors.tolist()}", f"tendon {name!r}")
    return complete


def _factors(tree: Tree, tendon: int, joints: Sequence[int]) -> Array:
    model = tree.model
    start = int(model.tendon_adr[tendon])
    factors = np.zeros(len(joints))
    for w in range(start, start + int(model.tendon_num[tendon])):
        if int(model.wrap_objid[w]) in joints:
            factors[list(joints).index(int(model.wrap_objid[w]))] = model.wrap_prm[w]
    return factors


def _rotor(tree: Tree, name: str, inertia: float, description: RobotDescription) -> Rotor:
    """Read the note: number of the joint, gear ratio, carrier, and the axis if it differs from the joint's."""
    note = tree.numeric(name)
    if (
        note is None
        or len(note) not in (3, 6)
        or note[0] not in range(1, description.n + 1)
        or note[2] not in range(description.n + 1)
    ):
        raise tree.error("inertia of tendons is read from files of this package only", f"tendon {name!r}")
    axis = np.array(note[3:]) if len(note) == 6 else None
    return Rotor(joint=int(note[0]), inertia=inertia, gear_ratio=note[1], carrier=int(note[2]), axis=axis)


def load_mjcf(
    path: str | Path,
    tip_link: str | None = None,
    *,
    fix_joints: Mapping[str, float] | None = None,
    name: str | None = None,
) -> RobotDescription:
    """Read the arm that ends in a body of an MJCF file.

    MuJoCo's compiler resolves defaults, included files, angles and orientations. Bodies that are rigidly fixed to a
    link are lumped into it and become named frames, as sites do. Shapes define the inertia of bodies without an
    ``<inertial>``, as in MuJoCo; meshes that would do so are refused, because mesh files are not read. Contacts,
    sensors and actuators are ignored, except the largest torques, the armature and the damping of actuators. Several
    joints of one body become separate links without mass.

    Parameters
    ----------
    path : path-like
        The file. Included files must be in its folder or below.
    tip_link : str, optional
        Body or site of the end effector; default the site ``tool`` if it exists, otherwise the only leaf.
    fix_joints : mapping of str to float, optional
        Joints to lock, with their positions [rad or m]. Side branches that move with the arm must be locked.
    name : str, optional
        The robot's name, an identifier; default the model's.

    Returns
    -------
    RobotDescription
        With ``convention="placements"``. The base is the body that carries the first joint.

    Raises
    ------
    FileFormatError
        If the file is not valid MJCF, or has elements that a serial arm cannot have: free and ball joints, equality
        constraints and tendons of its joints, springs other than those of elastic joints, fluids.
    UnknownNameError
        If `tip_link` or a name in `fix_joints` is not in the file.
    ThunderError
        If another argument is wrong.
    ModuleNotFoundError
        If MuJoCo is not installed.
    OSError
        If the file cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import thunder_py as th
    >>> from thunder_py.io.mjcf import load_mjcf
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     th.Robot.load("elbow").save(Path(folder, "elbow.xml"))
    ...     description = load_mjcf(Path(folder, "elbow.xml"))
    >>> description.n, description.convention
    (2, 'placements')
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
        Path for messages; included files are searched in its folder.

    Returns
    -------
    RobotDescription
        As for `load_mjcf`.

    Raises
    ------
    FileFormatError, UnknownNameError, ThunderError, ModuleNotFoundError
        As for `load_mjcf`.
    """
    mujoco = require("mujoco", "mujoco")
    model = compiled(mujoco, read_mjcf_text(text, path), path)
    _add_actuators(mujoco, model)
    tree = Tree(mujoco, model, path)
    with np.errstate(over="ignore", invalid="ignore"):  # the description refuses non-finite numbers
        arm = assemble(tree, tip_link, _locked(tree, fix_joints))
    if tip_link is None:
        names = [tree.joint_name(j) for j in arm.joints]
        warn_of_gripper(names, tree.body_name(int(tree.model.jnt_bodyid[arm.joints[-1]])), path)
    refuse_springs(tree, arm.joints)
    robot_name = _robot_name(tree, name)
    try:
        return read_rotors(tree, arm.joints, _described(tree, arm, robot_name))
    except FileFormatError:
        raise
    except ThunderError as error:  # about numbers of the file; arguments are already checked
        raise tree.error(str(error)) from error


def _add_actuators(mujoco: Any, model: Any) -> None:
    """Add armature and damping of actuators (since MuJoCo 4) to those of the joints that they drive."""
    kinds = _on_joints(mujoco)
    for k in range(model.nu):
        if int(model.actuator_trntype[k]) in kinds:
            dof = int(model.jnt_dofadr[int(model.actuator_trnid[k, 0])])
            factor = float(model.actuator_gear[k, 0]) ** 2
            for key in ("armature", "damping"):
                added = getattr(model, f"actuator_{key}", np.zeros(model.nu))[k]
                getattr(model, f"dof_{key}")[dof] += factor * added


def _described(tree: Tree, arm: Arm, name: str) -> RobotDescription:
    model, joints = tree.model, arm.joints
    armature = np.array(model.dof_armature[model.jnt_dofadr[joints]])
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
        joint_names=tuple(free_name(tree.joint_name(j) or f"joint{k}", "mjcf") for k, j in enumerate(joints, start=1)),
        link_names=tuple(free_name(link or f"link{k}", "mjcf") for k, link in enumerate(arm.link_names, start=1)),
        limits=limits_of(tree, joints),
        friction=friction_of(tree, joints),
        armature=armature if armature.any() else None,
        elastic=read_drives(model, tree.elastic, joints),
        frames=arm.frames,
    )


def compiled(mujoco: Any, text: str, path: str | Path | None) -> Any:
    """Return MuJoCo's model of a text, or raise `FileFormatError` with the compiler's message."""
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
    except ThunderError as error:
        raise tree.error(f"{error}; pass another, such as name='robot'") from None


def _locked(tree: Tree, fix_joints: Mapping[str, float] | None) -> dict[int, float]:
    motors = {coupling.motor for coupling in tree.elastic}
    known = {tree.joint_name(j): j for j in range(tree.model.njnt) if j not in motors and tree.joint_name(j)}
    return {known[joint]: q for joint, q in fixed_positions(fix_joints, known).items()}
