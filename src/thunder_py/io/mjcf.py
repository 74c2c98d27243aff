"""Reading of MJCF: MuJoCo's compiler reads the file, and the robot is the chain to one body of its model."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from ..checks import Array
from ..errors import FileFormatError, ThunderError
from ..files import read_whole
from ..model.description import RobotDescription, Rotor
from ..model.inertia import reg_from_dyn
from ..model.joint_data import Friction, Limits
from ..model.model import RobotModel
from ..optional import require
from ..spatial.single import exp, make_pose, matrix_of
from .mjcf_elastic import couplings, read_drives
from .mjcf_text import prepare_mjcf
from .mjcf_writer import translate_rotors
from .selection import Arm, Chain, Joint, Link, MissingInertiaError, Tree, robot_name

#: in the order of MuJoCo's types
_KINDS = ("free", "ball", "P", "R")


class Model:
    """Provide the tree and the numbers of a MuJoCo model; body 0 is the world.

    Parameters
    ----------
    text : str or bytes
        The document.
    path : path-like or None
        Path for messages and included files.
    """

    def __init__(self, text: str | bytes, path: str | Path | None = None) -> None:
        plain, self._unread, self._massless = prepare_mjcf(text, path)
        self.mujoco, self.path, self._text = require("mujoco", "mujoco"), path, text
        if self._unread and "settotalmass" in plain:  # the masses of all bodies depend on the meshes
            plain, self._unread, self._massless = prepare_mjcf(text, path, meshes=True)
        if "<body" not in plain:  # also a part of another file, which MuJoCo would refuse
            raise self.error("no joint moves: there is no arm")
        self.model = compiled(self.mujoco, plain, path)
        _add_actuators(self.mujoco, self.model)
        self.name = bytes(self.model.names).split(b"\0", 1)[0].decode("utf-8", "replace")
        self.elastic = couplings(self.mujoco, self.model)
        self.bodies: dict[str, int] = {}
        self.tree = Tree(self.error, path, "mjcf", carrier=True)
        self._fill()

    def error(self, message: str, key: str | None = None) -> FileFormatError:
        """Return an error about the file."""
        return FileFormatError(message, path=self.path, key=key)

    def name_of(self, kind: str, index: int) -> str:
        """Return the name of a ``BODY``, ``JOINT``, ``SITE``, ..., or an empty string."""
        return self.mujoco.mj_id2name(self.model, getattr(self.mujoco.mjtObj, f"mjOBJ_{kind}"), index) or ""

    def _fill(self) -> None:
        """Give bodies and sites to the tree; every joint of a body but the last moves a link without mass."""
        model = self.model
        motors = {int(model.jnt_bodyid[coupling.motor]) for coupling in self.elastic}
        names = [self.name_of("BODY", body) or f"link{body}" for body in range(model.nbody)]
        joints, leaders = list[Joint](), self._leaders()
        for body in sorted(set(range(model.nbody)) - motors):
            self.bodies[names[body]] = body
            self.tree.add_link(Link(names[body], partial(self._inertia, body), self._error_at("body", names[body])))
            if not self.name_of("BODY", body) or body == 0:
                self.tree.hidden.add(names[body])
            if body > 0:
                joints += self._joints(body, names[int(model.body_parentid[body])], names[body], leaders)
        for site in range(model.nsite):
            name, body = self.name_of("SITE", site), int(model.site_bodyid[site])
            if name and name not in self.tree.links and body not in motors:
                self.tree.add_link(Link(name, lambda: None, self._error_at("site", name)))
                pose = _pose(model.site_pos[site], model.site_quat[site])
                joints.append(self._fixed(names[body], name, pose))
        for joint in joints:
            self.tree.add_joint(joint)

    def _error_at(self, kind: str, name: str) -> Any:
        return partial(self.error, key=f"{kind} {name!r}")

    def _fixed(self, parent: str, child: str, pose: Array) -> Joint:
        place = pose, np.array([1.0, 0.0, 0.0]), np.eye(4)
        return Joint(f"fixed {child}", "fixed", parent, child, lambda: place, self._error_at("body", child))

    def _joints(self, body: int, parent: str, name: str, leaders: Mapping[int, tuple[str, Any]]) -> Iterator[Joint]:
        """Yield the joints of a body, with the links between them."""
        model = self.model
        pose = _pose(model.body_pos[body], model.body_quat[body])
        first, count = int(model.body_jntadr[body]), int(model.body_jntnum[body])
        if count == 0:
            yield self._fixed(parent, name, pose)
        for j in range(first, first + count):
            kind = _KINDS[int(model.jnt_type[j])]
            own = self.name_of("JOINT", j) or f"joint{j + 1}"
            child = name if j == first + count - 1 else f"{name}_{own}"
            if child != name:
                self.tree.add_link(Link(child, lambda: np.zeros(10), self._error_at("body", name)))
            leader, follow = leaders.get(j, (None, float))
            yield Joint(
                name=own,
                kind=kind,
                parent=parent,
                child=child,
                read=partial(self._geometry, j, kind, pose),
                error=self._error_at("joint", own),
                leader=leader,
                follow=follow,
                source=j,
            )
            parent, pose = child, np.eye(4)

    def _leaders(self) -> dict[int, tuple[str, Any]]:
        """Return the joints that equality constraints make other ones follow, and functions of their positions."""
        model, found = self.model, {}
        for k in np.flatnonzero((model.eq_type == self.mujoco.mjtEq.mjEQ_JOINT) & (model.eq_active0 != 0)):
            joint, leader = int(model.eq_obj1id[k]), int(model.eq_obj2id[k])
            if leader >= 0:
                zeros = model.qpos0[model.jnt_qposadr[[joint, leader]]]
                follow = partial(_follow, np.array(model.eq_data[k, :5]), *zeros.tolist())
                found[joint] = (self.name_of("JOINT", leader) or f"joint{leader + 1}", follow)
        return found

    def _geometry(self, joint: int, kind: str, pose: Array) -> tuple[Array, Array, Array]:
        """Return the pose of a joint in its parent, its axis, and the pose of its body after the motion."""
        model = self.model
        axis = np.array(model.jnt_axis[joint])
        if kind not in ("R", "P"):
            return pose, axis, np.eye(4)
        back = -float(model.qpos0[model.jnt_qposadr[joint]]) * axis
        if kind == "P":
            return pose @ make_pose(np.eye(3), back), axis, np.eye(4)
        anchor = np.array(model.jnt_pos[joint])
        return pose @ make_pose(exp(back), anchor), axis, make_pose(np.eye(3), -anchor)

    @cached_property
    def _with_meshes(self) -> Any:
        """Model with meshes, or the reason why there is none."""
        try:
            return compiled(self.mujoco, prepare_mjcf(self._text, self.path, meshes=True).text, self.path)
        except FileFormatError as error:
            return str(error)

    def _inertia(self, body: int) -> Array | None:
        """Return the REG parameters (10,) of a body in its frame, None for a body without mass."""
        model = self._with_meshes if body in self._unread else self.model
        if isinstance(model, str):
            raise MissingInertiaError(f"{self._unread[body]}, or the files of the meshes: {model}")
        if body in self._massless or model.body_mass[body] == 0.0:
            return None
        R = _pose(model.body_ipos[body], model.body_iquat[body])[:3, :3]
        tensor = R @ np.diag(model.body_inertia[body]) @ R.T
        return reg_from_dyn(np.array([model.body_mass[body], *model.body_ipos[body], *tensor[np.triu_indices(3)]]))

    def tool(self) -> str | None:
        """Return the site ``tool`` of files of this package; next to a frame of this name it is ``robot:tool``."""
        names = (self.name_of("SITE", site) for site in range(self.model.nsite))
        return max((name for name in names if re.fullmatch("(robot:)*tool", name)), key=len, default=None)

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


def _follow(powers: Array, start: float, zero: float, q: float) -> float:
    """Return the position of a joint that follows another one at `q`; both polynomials start at their references."""
    return start + float(np.polyval(powers[::-1], q - zero))


def _pose(position: Array, quaternion: Array) -> Array:
    w, x, y, z = quaternion.tolist()
    return make_pose(matrix_of((x, y, z, w)), position)


#: MuJoCo limits both ends or none: beyond this value an end has no limit
_FAR = 1e6


def limits_of(file: Model, joints: Sequence[int]) -> Limits | None:
    """Return limits of position, effort (of the actuators) and speed (if in the file); None without limits."""
    model = file.model
    on = not file.is_off("LIMIT", "CONSTRAINT")
    ranges = [model.jnt_range[j] if on and model.jnt_limited[j] else (-math.inf, math.inf) for j in joints]
    lower, upper = np.array(ranges, dtype=np.float64).reshape(-1, 2).T
    speeds = file.numeric("velocity_limits")
    velocity = np.full(len(joints), math.inf)
    if speeds is not None and len(speeds) == len(joints):
        velocity = np.array([x if x > 0.0 else math.inf for x in speeds])
    motors = {coupling.joint: coupling.motor for coupling in file.elastic}
    effort = np.array([_effort(file, motors.get(j, j)) for j in joints])
    lower, upper = np.where(lower <= -_FAR, -math.inf, lower), np.where(upper >= _FAR, math.inf, upper)
    if not np.isfinite([lower, upper, velocity, effort]).any():
        return None
    return Limits(lower=lower, upper=upper, velocity=velocity, effort=effort)


def _effort(file: Model, joint: int) -> float:
    """Return the largest effort that the joint's own limit and its actuators allow."""
    model, mujoco = file.model, file.mujoco
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


def friction_of(file: Model, joints: Sequence[int]) -> Friction | None:
    """Return damping as viscous and frictionloss as smooth Coulomb friction, unless a flag disables them."""
    model = file.model
    dofs = [int(model.jnt_dofadr[j]) for j in joints]
    columns = {
        "viscous": (model.dof_damping[dofs], ("PASSIVE", "DAMPER")),
        "coulomb": (model.dof_frictionloss[dofs], ("FRICTIONLOSS", "CONSTRAINT")),
    }
    used = {term: column for term, (column, flags) in columns.items() if np.any(column) and not file.is_off(*flags)}
    return Friction(terms=tuple(used), coefficients=np.column_stack(list(used.values()))) if used else None


def refuse_forces(file: Model, chain: Chain, joints: Sequence[int]) -> None:
    """Refuse forces on the arm that a `RobotDescription` cannot represent, or that files of this package do not have.

    Raises
    ------
    FileFormatError
        If springs, polynomial damping, constraints, tendons, fluids or compensated gravity act on the arm.
    """
    model = file.model
    for j in joints:
        dof, key = int(model.jnt_dofadr[j]), f"joint {file.name_of('JOINT', j)!r}"
        # polynomials exist only in later versions of MuJoCo
        springs = [model.jnt_stiffness[j], *np.ravel(getattr(model, "jnt_stiffnesspoly", np.zeros((j + 1, 1)))[j])]
        if np.any(springs):
            raise file.error("springs (stiffness) are not read; set it to 0", key)
        if np.any(getattr(model, "dof_dampingpoly", np.zeros((dof + 1, 1)))[dof]):
            raise file.error("damping of higher order is not read; give one number", key)
    if model.opt.density or model.opt.viscosity:
        raise file.error("density and viscosity of a fluid are not read; set them to 0", "<option>")
    numbers = {file.bodies[name]: link for name, (link, _) in chain.places.items() if name in file.bodies}
    if any(link and model.body_gravcomp[body] for body, link in numbers.items()):
        raise file.error("compensated gravity (gravcomp) is not read; set it to 0")
    acting = _Acting(file, numbers, joints)
    _refuse_actuators(file, acting)
    _refuse_couplings(file, acting)


class _Acting:
    """Tell which tendons and constraints act on an arm.

    Parameters
    ----------
    file : Model
        The file.
    numbers : mapping of int to int
        Link of the arm, 0 for the base, of bodies.
    joints : sequence of int
        Joints of the arm.
    """

    def __init__(self, file: Model, numbers: Mapping[int, int], joints: Sequence[int]) -> None:
        self._file, self._numbers, self.joints = file, numbers, set(joints)

    def between(self, bodies: Sequence[int]) -> bool:
        """Return whether the bodies move relative to one another, and one of them with the arm."""
        links = {self._numbers.get(body) for body in bodies}
        return len(links) > 1 and any(link for link in links)

    def tendon(self, k: int) -> bool:
        """Return whether a tendon acts on the arm."""
        model, kinds = self._file.model, self._file.mujoco.mjtWrap
        start = int(model.tendon_adr[k])
        wraps = range(start, start + int(model.tendon_num[k]))
        on = [(int(model.wrap_type[w]), int(model.wrap_objid[w])) for w in wraps]
        if any(kind == kinds.mjWRAP_JOINT and index in self.joints for kind, index in on):
            return True
        sites = [int(model.site_bodyid[index]) for kind, index in on if kind == kinds.mjWRAP_SITE]
        return self.between(sites)

    def equality(self, k: int) -> bool:
        """Return whether an equality constraint acts on the arm."""
        file, model, kinds = self._file, self._file.model, self._file.mujoco.mjtEq
        ends = [int(model.eq_obj1id[k]), int(model.eq_obj2id[k])]
        if not model.eq_active0[k]:
            return False
        if model.eq_type[k] == kinds.mjEQ_JOINT:
            return bool(self.joints & set(ends))
        if model.eq_type[k] == kinds.mjEQ_TENDON:
            return any(end >= 0 and self.tendon(end) for end in ends)
        if int(model.eq_type[k]) not in (int(kinds.mjEQ_CONNECT), int(kinds.mjEQ_WELD)):
            return True
        on_sites = model.eq_objtype[k] == file.mujoco.mjtObj.mjOBJ_SITE
        return self.between([int(model.site_bodyid[end]) if on_sites else end for end in ends])


def _on_joints(mujoco: Any) -> tuple[int, int]:
    """Return the kinds of transmissions to one joint."""
    return int(mujoco.mjtTrn.mjTRN_JOINT), int(mujoco.mjtTrn.mjTRN_JOINTINPARENT)


def _refuse_actuators(file: Model, acting: _Acting) -> None:
    """Refuse armature and damping of actuators that are not those of a joint, and damping of higher order."""
    model, kinds = file.model, _on_joints(file.mujoco)
    for k in range(model.nu):
        on_joint, target = int(model.actuator_trntype[k]) in kinds, int(model.actuator_trnid[k, 0])
        on_tendon = model.actuator_trntype[k] == file.mujoco.mjtTrn.mjTRN_TENDON
        if (on_joint and target not in acting.joints) or (on_tendon and not acting.tendon(target)):
            continue
        refused = ("dampingpoly",) if on_joint else ("armature", "damping", "dampingpoly")
        if any(np.any(getattr(model, f"actuator_{key}", np.zeros(model.nu))[k]) for key in refused):
            name = file.name_of("ACTUATOR", k) or str(k + 1)
            raise file.error(
                "armature and damping of actuators are read as one number on a joint only; move them to the joints",
                f"actuator {name!r}",
            )


def _refuse_couplings(file: Model, acting: _Acting) -> None:
    model = file.model
    springs = {coupling.tendon for coupling in file.elastic if coupling.joint in acting.joints}
    for k in range(model.neq):
        if acting.equality(k):
            raise file.error("equality constraints on the arm are not supported", f"<equality>, number {k + 1}")
    for k in set(range(model.ntendon)) - springs:
        forces = (model.tendon_stiffness, model.tendon_damping, model.tendon_frictionloss, model.tendon_limited)
        of_joints = model.wrap_type[int(model.tendon_adr[k])] == file.mujoco.mjtWrap.mjWRAP_JOINT
        inertia = not of_joints and np.any(getattr(model, "tendon_armature", np.zeros(model.ntendon))[k])
        if (inertia or any(np.any(values[k]) for values in forces)) and acting.tendon(k):
            name = file.name_of("TENDON", k) or str(k + 1)
            raise file.error("tendons that act on the arm are not supported", f"tendon {name!r}")


def read_rotors(file: Model, joints: Sequence[int], description: RobotDescription) -> RobotDescription:
    """Return the description with the rotors that tendons with inertia represent.

    Raises
    ------
    FileFormatError
        If a tendon has inertia without a note on its rotor, or the note does not match.
    """
    inertias = getattr(file.model, "tendon_armature", np.zeros(file.model.ntendon))
    rotors: list[tuple[str, Rotor, Array]] = []
    for k in np.flatnonzero(inertias):
        factors = _factors(file, int(k), joints)
        if not factors.any():
            continue
        name = file.name_of("TENDON", int(k)) or str(k + 1)
        rotors.append((name, _rotor(file, name, float(inertias[k]), description), factors))
    if not rotors:
        return description
    complete = description.replace(rotors=tuple(rotor for _, rotor, _ in rotors))
    expected = {joint: factors for joint, _, factors in translate_rotors(RobotModel(complete)).tendons}
    for name, rotor, factors in rotors:
        if rotor.joint not in expected or not np.allclose(expected[rotor.joint], factors, rtol=0.0, atol=1e-9):
            raise file.error(f"does not couple the joints as its rotor would: {factors.tolist()}", f"tendon {name!r}")
    return complete


def _factors(file: Model, tendon: int, joints: Sequence[int]) -> Array:
    model = file.model
    start = int(model.tendon_adr[tendon])
    factors = np.zeros(len(joints))
    for w in range(start, start + int(model.tendon_num[tendon])):
        if int(model.wrap_objid[w]) in joints:
            factors[list(joints).index(int(model.wrap_objid[w]))] = model.wrap_prm[w]
    return factors


def _rotor(file: Model, name: str, inertia: float, description: RobotDescription) -> Rotor:
    """Read the note: number of the joint, gear ratio, carrier, and the axis if it differs from the joint's."""
    note = file.numeric(name)
    if (
        note is None
        or len(note) not in (3, 6)
        or note[0] not in range(1, description.n + 1)
        or note[2] not in range(description.n + 1)
    ):
        raise file.error("inertia of tendons is read from files of this package only", f"tendon {name!r}")
    axis = np.array(note[3:]) if len(note) == 6 else None
    return Rotor(joint=int(note[0]), inertia=inertia, gear_ratio=note[1], carrier=int(note[2]), axis=axis)


def load_mjcf(
    path: str | Path,
    tip_link: str | None = None,
    *,
    base_link: str | None = None,
    missing_inertia: str | None = None,
    fix_joints: Mapping[str, float] | None = None,
    name: str | None = None,
) -> RobotDescription:
    """Read the arm that ends in a body of an MJCF file.

    MuJoCo's compiler resolves defaults, included files, angles and orientations. Bodies that are rigidly fixed to a
    link are lumped into it and become named frames, as sites do. Shapes define the inertia of bodies without an
    ``<inertial>``, as in MuJoCo, which reads the meshes that do so on the arm.
    Contacts, sensors and actuators are ignored, except the largest torques, the armature and the damping of actuators.
    Several joints of one body become separate links without mass.

    Parameters
    ----------
    path : path-like
        The file. Included files must be in its folder or below.
    tip_link : str, optional
        Body or site of the end effector; default that of the only arm.
    base_link : str, optional
        Body of the robot's base frame; default the one that carries the first joint.
    missing_inertia : {"error", "zero"}, optional
        Refuse a moving body whose inertia a missing mesh defines, or treat it as massless; default massless with a
        warning.
    fix_joints : mapping of str to float, optional
        Joints to lock, with their positions [rad or m]; joints that follow them are locked, too. Side branches that
        move with the arm, other than a gripper, must be locked.
    name : str, optional
        The robot's name, an identifier; default that of the model's name.

    Returns
    -------
    RobotDescription
        With ``convention="placements"``.

    Raises
    ------
    FileFormatError
        If the file is not valid MJCF, has no arm or several, or what acts on the arm cannot be represented: free and
        ball joints, equality constraints and tendons, springs other than those of elastic joints, fluids.
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
    return parse_mjcf(
        read_whole(path),
        tip_link,
        base_link=base_link,
        missing_inertia=missing_inertia,
        fix_joints=fix_joints,
        name=name,
        path=path,
    )


def parse_mjcf(
    text: str | bytes,
    tip_link: str | None = None,
    *,
    base_link: str | None = None,
    missing_inertia: str | None = None,
    fix_joints: Mapping[str, float] | None = None,
    name: str | None = None,
    path: str | Path | None = None,
) -> RobotDescription:
    """Read the arm that ends in a body of an MJCF text.

    Parameters
    ----------
    text : str or bytes
        The document.
    tip_link, base_link, missing_inertia, fix_joints, name
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
    file = Model(text, path)
    tree = file.tree
    called = robot_name(file.name, name)
    with np.errstate(over="ignore", invalid="ignore"):  # the description refuses non-finite numbers
        chain = tree.select(base_link, tip_link or file.tool(), tree.positions(fix_joints))
        inertial = tree.inertial(chain, missing_inertia)
    joints = [int(joint.source) for joint in chain.joints]
    refuse_forces(file, chain, joints)
    armature = np.array(file.model.dof_armature[file.model.jnt_dofadr[joints]])
    try:
        description = RobotDescription(
            name=called,
            inertial=inertial,
            gravity=file.gravity(),
            base=tree.world(chain),
            limits=limits_of(file, joints),
            friction=friction_of(file, joints),
            armature=armature if armature.any() else None,
            elastic=read_drives(file.model, file.elastic, joints),
            **tree.named(chain),
        )
        description = read_rotors(file, joints, description)
    except FileFormatError:
        raise
    except ThunderError as error:  # about numbers of the file; arguments are already checked
        raise file.error(str(error)) from error
    tree.tell(chain, chosen=tip_link is not None)
    return description


def mjcf_arms(text: str | bytes, path: str | Path | None = None) -> list[Arm]:
    """Return the arms of an MJCF text."""
    return Model(text, path).tree.find(None, {})[0]


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


def compiled(mujoco: Any, text: str, path: str | Path | None) -> Any:
    """Return MuJoCo's model of a text, or raise `FileFormatError` with the compiler's message."""
    try:
        return mujoco.MjModel.from_xml_string(text)
    except (ValueError, mujoco.FatalError) as error:
        reason = " ".join(str(error).split()).split(", line")[0]
        raise FileFormatError(f"MuJoCo refuses it: {reason}", path=path) from None
