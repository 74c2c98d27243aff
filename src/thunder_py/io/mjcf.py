"""Reading of MJCF: MuJoCo's compiler reads the file, and the robot is the chain to one body of its model."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from ..checks import Array
from ..errors import FileFormatError
from ..model.description import RobotDescription, Rotor
from ..model.joint_data import Friction, Limits
from ..model.model import RobotModel
from ..optional import require
from ..spatial.single import exp, make_pose, matrix_of
from .mjcf_elastic import couplings, numbers_of, read_drives, wraps_of
from .mjcf_text import Document
from .mjcf_writer import translate_rotors
from .selection import Chain, Joint, Link, MissingInertiaError, Tree, dyn_of, friction_of

#: in the order of MuJoCo's types
_KINDS = ("free", "ball", "P", "R")


class Model:
    """Provide the tree and the numbers of a MuJoCo model; body 0 is the world."""

    def __init__(self, text: str | bytes, path: str | Path | None = None) -> None:
        self.mujoco, self.path, self._document = require("mujoco", "mujoco"), path, Document(text, path)
        plain = self._document.text()
        if self._document.unread and "settotalmass" in plain:  # the masses of all bodies depend on the meshes
            plain = self._document.text(meshes=True)
        self._unread, self._massless = self._document.unread, self._document.massless
        if "<body" not in plain:  # also a part of another file, which MuJoCo would refuse
            raise self.error("no joint moves: there is no arm")
        self.model = compiled(self.mujoco, plain, path)
        _add_actuators(self.mujoco, self.model)
        name = bytes(self.model.names).split(b"\0", 1)[0].decode("utf-8", "replace")
        self.elastic = couplings(self.mujoco, self.model)
        self.bodies: dict[str, int] = {}
        self.tree = Tree(name, self.error, path, "mjcf", carrier=True, tip=self._tool())
        self._fill()

    def error(self, message: str, key: str | None = None) -> FileFormatError:
        """Return an error about the file."""
        return FileFormatError(message, path=self.path, key=key)

    def name_of(self, kind: str, index: int) -> str:
        """Return the name of a ``BODY``, ``JOINT``, ``SITE``, ..., or an empty string."""
        return self.mujoco.mj_id2name(self.model, getattr(self.mujoco.mjtObj, f"mjOBJ_{kind}"), index) or ""

    def key_of(self, kind: str, index: int) -> str:
        """Return what errors call a ``JOINT``, ``TENDON``, ...: its name or number."""
        return f"{kind.lower()} {self.name_of(kind, index) or str(index + 1)!r}"

    def _joint_name(self, index: int) -> str:
        return self.name_of("JOINT", index) or f"joint{index + 1}"

    def _fill(self) -> None:
        """Give bodies and sites to the tree; every joint of a body but the last moves a link without mass."""
        model, tree = self.model, self.tree
        motors = {int(model.jnt_bodyid[coupling.motor]) for coupling in self.elastic}
        names = [self.name_of("BODY", body) or f"link{body}" for body in range(model.nbody)]
        joints, leaders = list[Joint](), self._leaders()
        for body in sorted(set(range(model.nbody)) - motors):
            self.bodies[names[body]] = body
            tree.add_link(Link(names[body], partial(self._inertia, body), self._error_at("body", names[body])))
            if not self.name_of("BODY", body) or body == 0:
                tree.hidden.add(names[body])
            if body > 0:
                joints += self._joints(body, names[int(model.body_parentid[body])], names[body], leaders)
        for site in range(model.nsite):
            name, body = self.name_of("SITE", site), int(model.site_bodyid[site])
            if name and name not in tree.links and body not in motors:
                tree.add_link(Link(name, lambda: None, self._error_at("site", name)))
                joints.append(self._fixed(names[body], name, _pose(model.site_pos[site], model.site_quat[site])))
        for joint in joints:
            tree.add_joint(joint)

    def _error_at(self, kind: str, name: str) -> Callable[[str], FileFormatError]:
        return partial(self.error, key=f"{kind} {name!r}")

    def _fixed(self, parent: str, child: str, pose: Array) -> Joint:
        place = pose, np.array([1.0, 0.0, 0.0]), np.eye(4)
        return Joint(f"fixed {child}", "fixed", parent, child, lambda: place, self._error_at("body", child))

    def _joints(self, body: int, parent: str, name: str, leaders: dict[int, dict[str, Any]]) -> Iterator[Joint]:
        """Yield the joints of a body, with the links between them."""
        model = self.model
        pose = _pose(model.body_pos[body], model.body_quat[body])
        first, count = int(model.body_jntadr[body]), int(model.body_jntnum[body])
        if count == 0:
            yield self._fixed(parent, name, pose)
        for j in range(first, first + count):
            kind, own = _KINDS[int(model.jnt_type[j])], self._joint_name(j)
            child = name if j == first + count - 1 else f"{name}_{own}"
            if child != name:
                self.tree.add_link(Link(child, lambda: np.zeros(10), self._error_at("body", name)))
            read, error = partial(self._geometry, j, kind, pose), self._error_at("joint", own)
            yield Joint(own, kind, parent, child, read, error, source=j, **leaders.get(j, {}))
            parent, pose = child, np.eye(4)

    def _leaders(self) -> dict[int, dict[str, Any]]:
        """Return the joints that equality constraints make other ones follow, and functions of their positions."""
        model, found = self.model, {}
        for k in np.flatnonzero((model.eq_type == self.mujoco.mjtEq.mjEQ_JOINT) & (model.eq_active0 != 0)):
            joint, leader = int(model.eq_obj1id[k]), int(model.eq_obj2id[k])
            if leader >= 0:
                zeros = model.qpos0[model.jnt_qposadr[[joint, leader]]]
                follow = partial(_follow, np.array(model.eq_data[k, :5]), *zeros.tolist())
                found[joint] = {"leader": self._joint_name(leader), "follow": follow}
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
            return compiled(self.mujoco, self._document.text(meshes=True), self.path)
        except FileFormatError as error:
            return str(error)

    def _inertia(self, body: int) -> Array | None:
        """Return the DYN parameters (10,) of a body in its frame, None for a body without mass."""
        model = self._with_meshes if body in self._unread else self.model
        if isinstance(model, str):
            raise MissingInertiaError(f"{self._unread[body]}, or the files of the meshes: {model}")
        if body in self._massless or model.body_mass[body] == 0.0:
            return None
        R = _pose(model.body_ipos[body], model.body_iquat[body])[:3, :3]
        return dyn_of(model.body_mass[body], model.body_ipos[body], R @ np.diag(model.body_inertia[body]) @ R.T)

    def _tool(self) -> str | None:
        """Return the site ``tool`` of files of this package; next to a frame of this name it is ``robot:tool``."""
        names = (self.name_of("SITE", site) for site in range(self.model.nsite))
        return max((name for name in names if re.fullmatch("(robot:)*tool", name)), key=len, default=None)

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


def _limits(file: Model, joints: Sequence[int]) -> Limits | None:
    """Return limits of position, effort (of the actuators) and speed (if in the file); None without limits."""
    model, n = file.model, len(joints)
    on = not file.is_off("LIMIT", "CONSTRAINT")
    ranges = [model.jnt_range[j] if on and model.jnt_limited[j] else (-math.inf, math.inf) for j in joints]
    lower, upper = np.array(ranges, dtype=np.float64).reshape(-1, 2).T
    speeds = file.numeric("velocity_limits")
    velocity = np.full(n, math.inf)
    if speeds is not None and len(speeds) == n:
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
    own = float(np.abs(model.jnt_actfrcrange[joint]).max()) if model.jnt_actfrclimited[joint] else math.inf
    on_joint = (model.actuator_trntype == mujoco.mjtTrn.mjTRN_JOINT) & (model.actuator_trnid[:, 0] == joint)
    motors = (model.actuator_gaintype == mujoco.mjtGain.mjGAIN_FIXED) & (
        model.actuator_biastype == mujoco.mjtBias.mjBIAS_NONE
    )
    total = 0.0
    for k in np.flatnonzero(on_joint):
        most = float(np.abs(model.actuator_forcerange[k]).max()) if model.actuator_forcelimited[k] else math.inf
        if motors[k] and model.actuator_ctrllimited[k]:
            gain = abs(float(model.actuator_gainprm[k, 0]))
            most = min(most, gain * float(np.abs(model.actuator_ctrlrange[k]).max()))
        total += most * abs(float(model.actuator_gear[k, 0]))
    return min(own, total) if on_joint.any() else own


def _friction(file: Model, joints: Sequence[int]) -> Friction | None:
    """Return damping as viscous and frictionloss as smooth Coulomb friction, unless a flag disables them."""
    model, dofs = file.model, file.model.jnt_dofadr[joints]
    damped, rubs = not file.is_off("PASSIVE", "DAMPER"), not file.is_off("FRICTIONLOSS", "CONSTRAINT")
    return friction_of(viscous=damped * model.dof_damping[dofs], coulomb=rubs * model.dof_frictionloss[dofs])


class _Acting:
    """Refuse forces on an arm that a `RobotDescription` does not have."""

    def __init__(self, file: Model, chain: Chain, joints: Sequence[int]) -> None:
        self._file, self._joints = file, set(joints)
        #: link of the arm, 0 for the base, of bodies
        self._numbers = {file.bodies[name]: link for name, (link, _) in chain.places.items() if name in file.bodies}

    def refuse(self) -> None:
        """Refuse springs, polynomial damping, constraints, tendons, fluids and compensated gravity on the arm."""
        file, model = self._file, self._file.model
        joints, stiffness = sorted(self._joints), ("jnt_stiffness", "jnt_stiffnesspoly")
        if springs := [j for j in joints if any(np.any(numbers_of(model, key, j)) for key in stiffness)]:
            names = ", ".join(file.key_of("JOINT", j) for j in springs)
            raise file.error("springs (stiffness) are not read: set it to 0", names)
        for j in joints:
            if np.any(numbers_of(model, "dof_dampingpoly", int(model.jnt_dofadr[j]))):
                raise file.error("damping of higher order is not read; give one number", file.key_of("JOINT", j))
        if model.opt.density or model.opt.viscosity:
            raise file.error("density and viscosity of a fluid are not read; set them to 0", "<option>")
        if any(link and model.body_gravcomp[body] for body, link in self._numbers.items()):
            raise file.error("compensated gravity (gravcomp) is not read; set it to 0")
        for k in range(model.nu):
            self._refuse_actuator(k)
        for k in filter(self._equality, range(model.neq)):
            raise file.error("equality constraints on the arm are not supported", f"<equality>, number {k + 1}")
        drives = {coupling.tendon for coupling in file.elastic if coupling.joint in self._joints}
        for k in set(range(model.ntendon)) - drives:
            keys = ["stiffness", "damping", "frictionloss", "limited"]
            if wraps_of(model, k)[0].kind != file.mujoco.mjtWrap.mjWRAP_JOINT:  # others are of rotors
                keys.append("armature")
            if any(np.any(numbers_of(model, f"tendon_{key}", k)) for key in keys) and self._tendon(k):
                raise file.error("tendons that act on the arm are not supported", file.key_of("TENDON", k))

    def _refuse_actuator(self, k: int) -> None:
        """Refuse armature and damping of an actuator that are not those of a joint, and damping of higher order."""
        file, model = self._file, self._file.model
        on_joint, target = _is_on_joint(file.mujoco, model, k), int(model.actuator_trnid[k, 0])
        on_tendon = model.actuator_trntype[k] == file.mujoco.mjtTrn.mjTRN_TENDON
        if (on_joint and target not in self._joints) or (on_tendon and not self._tendon(target)):
            return
        refused = ("dampingpoly",) if on_joint else ("armature", "damping", "dampingpoly")
        if any(np.any(numbers_of(model, f"actuator_{key}", k)) for key in refused):
            text = "armature and damping of actuators are read as one number on a joint only; move them to the joints"
            raise file.error(text, file.key_of("ACTUATOR", k))

    def _between(self, bodies: Sequence[int]) -> bool:
        """Return whether the bodies move relative to one another, and one of them with the arm."""
        links = {self._numbers.get(body) for body in bodies}
        return len(links) > 1 and any(link for link in links)

    def _tendon(self, k: int) -> bool:
        """Return whether a tendon acts on the arm."""
        model, kinds, wraps = self._file.model, self._file.mujoco.mjtWrap, wraps_of(self._file.model, k)
        if any(wrap.kind == kinds.mjWRAP_JOINT and wrap.target in self._joints for wrap in wraps):
            return True
        return self._between([int(model.site_bodyid[w.target]) for w in wraps if w.kind == kinds.mjWRAP_SITE])

    def _equality(self, k: int) -> bool:
        """Return whether an equality constraint acts on the arm."""
        file, model, kinds = self._file, self._file.model, self._file.mujoco.mjtEq
        ends = [int(model.eq_obj1id[k]), int(model.eq_obj2id[k])]
        if not model.eq_active0[k]:
            return False
        if model.eq_type[k] == kinds.mjEQ_JOINT:
            return bool(self._joints & set(ends))
        if model.eq_type[k] == kinds.mjEQ_TENDON:
            return any(end >= 0 and self._tendon(end) for end in ends)
        if int(model.eq_type[k]) not in (int(kinds.mjEQ_CONNECT), int(kinds.mjEQ_WELD)):
            return True
        on_sites = model.eq_objtype[k] == file.mujoco.mjtObj.mjOBJ_SITE
        return self._between([int(model.site_bodyid[end]) if on_sites else end for end in ends])


def _rotors(file: Model, joints: Sequence[int]) -> dict[int, Rotor]:
    """Return the rotors that tendons with inertia represent, by tendon."""
    rotors = {}
    for k in np.flatnonzero(getattr(file.model, "tendon_armature", ())).tolist():
        if not _factors(file, k, joints).any():
            continue
        # number of the joint, gear ratio, carrier, and the axis if it differs from the joint's
        note, n = file.numeric(file.name_of("TENDON", k)) or (), len(joints)
        if len(note) not in (3, 6) or note[0] not in range(1, n + 1) or note[2] not in range(n + 1):
            raise file.error("inertia of tendons is read from files of this package only", file.key_of("TENDON", k))
        rotors[k] = Rotor(
            joint=int(note[0]),
            inertia=float(file.model.tendon_armature[k]),
            gear_ratio=note[1],
            carrier=int(note[2]),
            axis=np.array(note[3:]) if len(note) == 6 else None,
        )
    return rotors


def _check_rotors(file: Model, joints: Sequence[int], rotors: dict[int, Rotor], description: RobotDescription) -> None:
    """Refuse notes on rotors that do not match their tendons."""
    expected = {joint: row for joint, _, row in translate_rotors(RobotModel(description)).tendons} if rotors else {}
    for k, rotor in rotors.items():
        factors = _factors(file, k, joints)
        if rotor.joint not in expected or not np.allclose(expected[rotor.joint], factors, rtol=0.0, atol=1e-9):
            text = f"does not couple the joints as its rotor would: {factors.tolist()}"
            raise file.error(text, file.key_of("TENDON", k))


def _factors(file: Model, tendon: int, joints: Sequence[int]) -> Array:
    """Return the factors of the velocities of an arm's joints in that of a tendon."""
    kind = file.mujoco.mjtWrap.mjWRAP_JOINT
    found = {wrap.target: wrap.factor for wrap in wraps_of(file.model, tendon) if wrap.kind == kind}
    return np.array([found.get(j, 0.0) for j in joints])


def parse_mjcf(
    text: str | bytes,
    tip_link: str | None = None,
    *,
    base_link: str | None = None,
    path: str | Path | None = None,
    **options: Any,
) -> RobotDescription:
    """Read the arm that ends in a body or site of an MJCF text; options and errors are those of `load_description`.

    MuJoCo's compiler resolves defaults, included files, angles and orientations. Bodies that are rigidly fixed to a
    link are lumped into it and become named frames, as sites do. Shapes define the inertia of bodies without an
    ``<inertial>``, as in MuJoCo, which reads the meshes that do so on the arm. Contacts, sensors and actuators are
    ignored, except the largest torques, the armature and the damping of actuators. Several joints of one body become
    separate links without mass.
    """
    file = Model(text, path)
    joints: list[int] = []
    rotors: dict[int, Rotor] = {}

    def fields(chain: Chain) -> dict[str, Any]:
        joints.extend(int(joint.source) for joint in chain.joints)
        _Acting(file, chain, joints).refuse()
        rotors.update(_rotors(file, joints))
        armature = np.array(file.model.dof_armature[file.model.jnt_dofadr[joints]])
        return {
            "gravity": np.zeros(3) if file.is_off("GRAVITY") else np.array(file.model.opt.gravity),
            "base": file.tree.world(chain),
            "limits": _limits(file, joints),
            "friction": _friction(file, joints),
            "armature": armature if armature.any() else None,
            "elastic": read_drives(file.model, file.elastic, joints),
            "rotors": tuple(rotors.values()),
        }

    with np.errstate(over="ignore", invalid="ignore"):  # the description refuses non-finite numbers
        description = file.tree.describe(base_link, tip_link, fields, **options)
    _check_rotors(file, joints, rotors, description)
    return description


def _is_on_joint(mujoco: Any, model: Any, actuator: int) -> bool:
    """Return whether an actuator moves one joint."""
    kinds = (int(mujoco.mjtTrn.mjTRN_JOINT), int(mujoco.mjtTrn.mjTRN_JOINTINPARENT))
    return int(model.actuator_trntype[actuator]) in kinds


def _add_actuators(mujoco: Any, model: Any) -> None:
    """Add armature and damping of actuators (since MuJoCo 4) to those of the joints that they drive."""
    for k in range(model.nu):
        if _is_on_joint(mujoco, model, k):
            dof = int(model.jnt_dofadr[int(model.actuator_trnid[k, 0])])
            for key in ("armature", "damping"):
                added = sum(numbers_of(model, f"actuator_{key}", k))
                getattr(model, f"dof_{key}")[dof] += float(model.actuator_gear[k, 0]) ** 2 * added


def compiled(mujoco: Any, text: str, path: str | Path | None) -> Any:
    """Return MuJoCo's model of a text, or raise `FileFormatError` with the compiler's message."""
    try:
        return mujoco.MjModel.from_xml_string(text)
    except (ValueError, mujoco.FatalError) as error:
        reason = " ".join(str(error).split()).split(", line")[0]
        raise FileFormatError(f"MuJoCo refuses it: {reason}", path=path) from None
