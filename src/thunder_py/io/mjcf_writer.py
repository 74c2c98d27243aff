"""Writing of MJCF, the format of MuJoCo: bodies are link frames, joints and actuators have the robot's names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..checks import Array
from ..errors import ThunderError
from ..model.description import RobotDescription, check_physical_input, own_frame
from ..model.elastic import motor_names
from ..model.inertia import dyn_from_reg, reg_from_dyn
from ..model.joint_data import Limits
from .losses import check_losses, friction_of_joint, used_terms
from .mjcf_elastic import lost_powers, motor_bodies, springs
from .mjcf_text import LEAST
from .xml import comment, nested, number, numbers, quaternion, tag

if TYPE_CHECKING:
    from ..model.description import Rotor
    from ..model.model import RobotModel

#: least second moment of a physical body, relative to the largest moment
_ROUNDING = 1e-12
_SAMPLES, _ITERATIONS = 12, 200
#: least ratio of a freely chosen moment to the largest one
_THICK = 1e-2
_ROW, _COL = np.triu_indices(3)


class Body(NamedTuple):
    """Store a link for MuJoCo: DYN parameters, a note on differences from the robot's, and `dyn` before raising values.

    `raised_from` is None where nothing was raised to MuJoCo's minima.
    """

    dyn: Array
    note: str = ""
    raised_from: Array | None = None


def acceptable_bodies(robot: RobotModel) -> list[Body]:
    """Return the links as bodies that MuJoCo accepts.

    Raises
    ------
    ThunderError
        If no physical body has a link's parameters or the same effect on the motion.
    """
    solid = [_has_volume(reg) for reg in robot.inertial]
    free = [] if all(solid) else _free_moments(robot)
    links = enumerate(zip(robot.link_names, robot.inertial, strict=True))
    return [Body(dyn_from_reg(reg)) if solid[i] else _repaired(reg, free[i], name) for i, (name, reg) in links]


def _matrix(six: Array) -> Array:
    matrix = np.zeros((3, 3))
    matrix[_ROW, _COL] = matrix[_COL, _ROW] = six
    return matrix


def _second_moments(inertia: Array) -> Array:
    """Return the integral of x x' dm about the center, from the tensor: positive definite for bodies with volume."""
    return np.asarray(0.5 * np.trace(inertia) * np.eye(3) - inertia)


def _has_volume(reg: Array) -> bool:
    if reg[0] < LEAST:
        return False
    inertia = _matrix(dyn_from_reg(reg)[4:])
    moments, second = np.linalg.eigvalsh(inertia), np.linalg.eigvalsh(_second_moments(inertia))
    return bool(moments[0] >= LEAST and second[0] > _ROUNDING * moments[-1])


def _free_moments(robot: RobotModel) -> list[Array]:
    """Return for each link orthonormal directions (6, k) of its moments of inertia without influence on torques."""
    rng = np.random.default_rng(0)
    q, dq, ddq = rng.normal(size=(3, _SAMPLES * robot.n, robot.n))
    Y = robot.regressor(q, dq, ddq)[..., : 10 * robot.n]
    blocks = Y.reshape(-1, robot.n, 10)[:, :, 4:]
    scale = np.abs(blocks).max()
    free = []
    for i in range(robot.n):
        _, singular, Vt = np.linalg.svd(blocks[:, i], full_matrices=True)
        rank = int((singular > 1e-10 * scale * len(blocks) ** 0.5).sum())
        free.append(np.asarray(Vt[rank:].T))
    return free


def _repaired(reg: Array, free: Array, name: str) -> Body:
    notes = []
    mass = reg[0]
    if mass < LEAST:
        if mass < 0.0 or np.abs(reg[1:4]).max() > 0.0:
            raise ThunderError(f"{name} must be a body, got mass {mass:g} with first moment {reg[1:4].tolist()}")
        mass = LEAST
        notes.append(f"mass {LEAST:g} kg instead of {reg[0]:g}")
    center = reg[1:4] / mass
    inertia = _matrix(reg[4:] - reg_from_dyn(np.concatenate([[mass], center, np.zeros(6)]))[4:])
    chosen = _thickened(inertia, free)
    if chosen is not None:
        notes.append("moments of inertia without influence on the motion changed to those of a physical body")
        true = raised = chosen
    else:
        true, (raised, least) = inertia, _above_zero(inertia, name)
        notes.append(f"second moments of at least {least:g} kg m2 instead of 0")
    return Body(
        np.concatenate([[mass], center, raised[_ROW, _COL]]),
        "; ".join(notes),
        np.concatenate([reg[:1], center, true[_ROW, _COL]]),
    )


def _thickened(inertia: Array, free: Array) -> Array | None:
    """Return a physical tensor that differs only along `free`, by alternating projections; None on failure."""
    if free.shape[1] == 0:
        return None
    floor = _THICK * max(float(np.abs(inertia).max()), LEAST / _THICK)
    candidate = inertia
    for _ in range(_ITERATIONS):
        values, vectors = np.linalg.eigh(_second_moments(candidate))
        if values[0] >= 0.5 * floor:
            return candidate
        step = (_raised(values, vectors, floor) - candidate)[_ROW, _COL]
        candidate = candidate + _matrix(free @ (free.T @ step))
    return None


def _above_zero(inertia: Array, name: str) -> tuple[Array, float]:
    """Raise zero second moments to a minimum, and return both; refuse negative ones."""
    values, vectors = np.linalg.eigh(_second_moments(inertia))
    if values[0] < -1e-9 * np.abs(values).max():
        raise ThunderError(
            f"MuJoCo refuses {name}: its moments of inertia are not physical "
            f"(least second moment {values[0]:g} kg m2) and influence the motion"
        )
    least = max(0.5 * LEAST, _ROUNDING * float(values[-1]))  # a moment is the sum of two second moments
    return _raised(values, vectors, least), least


def _raised(moments: Array, axes: Array, least: float) -> Array:
    """Return the tensor of second moments about axes, raised to a minimum."""
    second = (axes * np.maximum(moments, least)) @ axes.T
    return np.asarray(np.trace(second) * np.eye(3) - second)


_ROTOR_SAMPLES = 8
_CONSTANT = 1e-12


class Rotors(NamedTuple):
    """Store what represents rotors in MuJoCo.

    That is the `armature` of the joints, `tendons` with the joint of a rotor (1..n), its inertia and the factors (n,)
    of joint velocities, and the joints whose rotors are only an armature, `inexact`, not coupled to their carriers.
    """

    armature: Array
    tendons: list[tuple[int, float, Array]]
    inexact: tuple[int, ...]


def translate_rotors(robot: RobotModel) -> Rotors:
    """Return armature and tendons for the rotors of a robot."""
    d = robot.description
    armature = np.zeros(d.n) if d.armature is None else d.armature.copy()
    tendons, inexact = [], []
    for rotor in d.rotors:
        factors = _factors(robot, rotor)
        if factors is None:
            inexact.append(rotor.joint)
            factors = rotor.gear_ratio * np.eye(d.n)[rotor.joint - 1]
        if np.count_nonzero(factors) > 1:
            tendons.append((rotor.joint, rotor.inertia, factors))
        else:
            armature += rotor.inertia * factors**2
    return Rotors(armature, tendons, tuple(inexact))


def _factors(robot: RobotModel, rotor: Rotor) -> Array | None:
    """Return the constant f of the spin f . dq, or None if it changes with q."""
    n, carrier = robot.n, rotor.joint - 1 if rotor.carrier is None else rotor.carrier
    own: Array = rotor.gear_ratio * np.eye(n)[rotor.joint - 1]
    if carrier == 0:
        return own
    axis = rotor.axis
    if axis is None:  # the joint's axis at q = 0, seen from the carrier
        rest = np.zeros(n)
        placed = robot.forward_kinematics(rest, rotor.joint - 1) @ robot.description.placements[rotor.joint - 1]
        in_world = placed[:3, :3] @ robot.description.axes[rotor.joint - 1]
        axis = robot.forward_kinematics(rest, carrier)[:3, :3].T @ in_world
    q = np.vstack([np.zeros(n), np.random.default_rng(0).uniform(-np.pi, np.pi, (_ROTOR_SAMPLES, n))])
    R, J = robot.forward_kinematics(q, carrier)[:, :3, :3], robot.jacobian(q, carrier)[:, 3:]
    spins = np.einsum("kij,j,kil->kl", R, axis, J)
    if np.abs(spins - spins[0]).max() > _CONSTANT:
        return None
    carried = np.where(np.abs(spins[0]) > _CONSTANT, spins[0], 0.0)
    return np.asarray(carried + own, dtype=np.float64)


#: materials: links, joints, the base and the hand
ASSETS = (
    '<material name="link" rgba="0.93 0.93 0.95 1" specular="0.4" shininess="0.6"/>',
    '<material name="joint" rgba="0.20 0.36 0.55 1" specular="0.6" shininess="0.7"/>',
    '<material name="base" rgba="0.25 0.26 0.28 1" specular="0.3" shininess="0.4"/>',
    '<material name="tip" rgba="0.90 0.45 0.13 1" specular="0.5" shininess="0.6"/>',
)
DEFAULTS = ('<geom contype="0" conaffinity="0" mass="0" group="2"/>', '<site size="0.005" group="4"/>')
_SHORT = 0.02  # of the arm's length: nearer points get no capsule


class Shapes:
    """Create the shapes of an arm, scaled by its length."""

    def __init__(self, description: RobotDescription) -> None:
        d = description
        self._description = d
        inverse = np.linalg.inv(d.offsets)
        # positions of the own and the next joint in frame i of base and links
        self._own = np.vstack([np.zeros(3), inverse[:, :3, 3]])
        self._next = np.vstack([d.placements[:, :3, 3], d.tool[:3, 3]])
        self._axes = np.array([inv[:3, :3] @ axis for inv, axis in zip(inverse, d.axes, strict=True)])
        length = float(np.linalg.norm(self._next - self._own, axis=1).sum())
        self.length = length if length > 0.0 else 0.5

    def radius(self, i: int) -> float:
        """Return the radius of link i, 0 to n [m]; it decreases towards the tip."""
        return 0.045 * self.length * (1.0 - 0.55 * i / self._description.n)

    def of_body(self, i: int) -> Iterator[str]:
        """Yield the elements of body i; 0 is the base."""
        if i > 0:
            yield from self._joint(i)
        else:
            yield self._base()
        start, end, r = self._own[i], self._next[i], self.radius(i)
        if np.linalg.norm(end - start) > _SHORT * self.length:
            name = "base" if i == 0 else "link"
            yield tag("geom", type="capsule", fromto=numbers([*start, *end]), size=number(0.7 * r), material=name)
        if i == self._description.n:
            yield tag("geom", type="sphere", pos=numbers(end), size=number(0.75 * r), material="tip")

    def _base(self) -> str:
        r = 1.3 * self.radius(0)
        return tag("geom", type="cylinder", size=numbers([r, 0.25 * r]), material="base")

    def _joint(self, i: int) -> Iterator[str]:
        """Yield a cylinder along the axis, or for a prismatic joint a box with a rail of its stroke."""
        d, r = self._description, self.radius(i)
        axis, place = self._axes[i - 1], {"pos": numbers(self._own[i]), "quat": _along(self._axes[i - 1])}
        if d.joint_types[i - 1] == "R":
            yield tag("geom", type="cylinder", size=numbers([1.1 * r, 1.25 * r]), material="joint", **place)
            return
        yield tag("geom", type="box", size=numbers([r, r, 1.4 * r]), material="joint", **place)
        upper = float((d.limits or Limits.none(d.n)).upper[i - 1])
        rail = upper if 0.0 < upper < np.inf else 0.3 * self.length
        ends = [*self._own[i], *(self._own[i] - rail * axis)]
        yield tag("geom", type="capsule", fromto=numbers(ends), size=number(0.4 * r), material="base")


def _along(axis: Array) -> str:
    """Return the quaternion that rotates z to `axis`."""
    z = axis / np.linalg.norm(axis)
    x = np.cross(np.eye(3)[np.argmin(np.abs(z))], z)
    x /= np.linalg.norm(x)
    return numbers(quaternion(np.column_stack([x, np.cross(z, x), z])))


_HEADER = (
    '<compiler angle="radian" autolimits="true" inertiafromgeom="false" balanceinertia="false" boundmass="0" '
    'boundinertia="0"/>'
)


def mjcf_losses(robot: RobotModel) -> tuple[str, ...]:
    """Return the losses of a robot in MJCF, one sentence each."""
    d, losses = robot.description, []
    for joint in translate_rotors(robot).inexact:
        losses.append(
            f"the rotor of {d.joint_names[joint - 1]} becomes an armature: its coupling to the link that carries it "
            "is lost"
        )
    losses += lost_powers(d)
    for term in used_terms(d):
        if d.friction is not None and term == "coulomb":
            smooth = f"dq / (abs(dq) + {d.friction.delta:g})"
            losses.append(f"Coulomb friction becomes frictionloss, a soft constraint, instead of {smooth}")
        elif term != "viscous":
            losses.append(f"{term} friction is lost")
    return tuple(losses)


def write_mjcf(robot: RobotModel, *, lossy: bool = False) -> str:
    """Return a robot, of links as `acceptable_bodies` needs them, as the text of an MJCF file.

    It has inertias, gravity, damping, armature, limits, springs and motors of elastic joints, torque actuators, a site
    for each frame and shapes without mass. Losses, if `lossy` is True, are comments.
    """
    d = check_physical_input(robot.description)
    losses = check_losses(mjcf_losses(robot), "MJCF", lossy)
    if "world" in d.link_names:
        raise ThunderError("link name must not be 'world', the name of a body in MJCF: rename the link")
    bodies, rotors = acceptable_bodies(robot), translate_rotors(robot)
    light = '<light pos="0 -1.5 3" dir="0 0.45 -0.9" diffuse="0.6 0.6 0.6"/>'
    parts = {
        "default": DEFAULTS,
        "asset": ASSETS,
        "worldbody": [light, *_bodies(d, bodies, rotors.armature), *motor_bodies(d)],
        "tendon": [*_rotor_tendons(d, rotors), *springs(d)],
        "actuator": _actuators(d),
        "custom": _notes(d, rotors),
    }
    lines = [
        *map(comment, _remarks(d, losses)),
        _HEADER,
        tag("option", gravity=numbers(d.gravity), timestep="0.001", integrator="implicitfast"),
        tag("statistic", center=_center(robot), extent=number(1.2 * Shapes(d).length)),
        *(line for name, inside in parts.items() if inside for line in nested(name, inside)),
    ]
    return "\n".join(nested("mujoco", lines, model=d.name)) + "\n"


def _remarks(d: RobotDescription, losses: tuple[str, ...]) -> list[str]:
    remarks = [d.reference] if d.reference else []
    remarks += [f"not carried over: {loss}" for loss in losses]
    if d.convention != "placements":
        remarks.append(f"link frames are those of the {d.convention} Denavit-Hartenberg table")
    return remarks


def _center(robot: RobotModel) -> str:
    """Return the center of view: the middle between the extreme link frames at q = 0."""
    points = np.array([robot.forward_kinematics(np.zeros(robot.n), f)[:3, 3] for f in range(robot.n + 1)])
    return numbers(np.round(0.5 * (points.min(axis=0) + points.max(axis=0)), 6))


def _pose(T: Array) -> dict[str, str | None]:
    """Return position and rotation as attributes, None for identity."""
    rotated = not np.array_equal(T[:3, :3], np.eye(3))
    return {
        "pos": numbers(T[:3, 3]) if T[:3, 3].any() else None,
        "quat": numbers(quaternion(T[:3, :3])) if rotated else None,
    }


def _bodies(d: RobotDescription, bodies: list[Body], armature: Array) -> list[str]:
    """Return nested bodies, from the base to the last link."""
    shapes, lines = Shapes(d), list[str]()
    for i in range(d.n, 0, -1):
        body, pose = bodies[i - 1], d.placements[i - 1] @ d.offsets[i - 1]
        note = [comment(body.note)] if body.note else []
        data = [_joint(d, i - 1, armature[i - 1]), _inertial(body.dyn), *shapes.of_body(i), *_sites(d, i)]
        lines = nested("body", [*note, *data, *lines], name=d.link_names[i - 1], **_pose(pose))
    base = own_frame("base", {*d.frames, *d.link_names})
    return nested("body", [*shapes.of_body(0), *_sites(d, 0), *lines], name=base, **_pose(d.base))


def _inertial(dyn: Array) -> str:
    """Return a body's inertia about its principal axes; MuJoCo 3.3 keeps only nine digits of a full tensor."""
    tensor = _matrix(dyn[4:])
    place = {"mass": number(dyn[0]), "pos": numbers(dyn[1:4])}
    if not np.triu(tensor, 1).any():
        return tag("inertial", **place, diaginertia=numbers(np.diagonal(tensor)))
    moments, axes = np.linalg.eigh(tensor, UPLO="U")
    turned = quaternion(axes if np.linalg.det(axes) > 0.0 else -axes)
    return tag("inertial", **place, quat=numbers(turned), diaginertia=numbers(moments))


def _joint(d: RobotDescription, i: int, armature: float) -> str:
    """Return a joint; position and axis are in the frame of its link, after the motion."""
    back = np.linalg.inv(d.offsets[i])
    viscous, coulomb = (friction_of_joint(d, i).get(term, 0.0) for term in ("viscous", "coulomb"))
    bounds = d.limits or Limits.none(d.n)
    limits = bounds.lower[i], bounds.upper[i]
    return tag(
        "joint",
        name=d.joint_names[i],
        type="hinge" if d.joint_types[i] == "R" else "slide",
        pos=numbers(back[:3, 3]) if back[:3, 3].any() else None,
        axis=numbers(back[:3, :3] @ d.axes[i]),
        range=numbers(np.clip(limits, -1e6, 1e6)) if np.isfinite(limits).any() else None,
        damping=number(viscous) if viscous else None,
        frictionloss=number(coulomb) if coulomb else None,
        armature=number(armature) if armature else None,
    )


def _sites(d: RobotDescription, link: int) -> list[str]:
    sites = [tag("site", name=name, **_pose(T)) for name, (on, T) in d.frames.items() if on == link]
    tool = own_frame("tool", {*d.frames, *d.link_names})
    return [*sites, tag("site", name=tool, **_pose(d.tool))] if link == d.n else sites


def _rotor_tendons(d: RobotDescription, rotors: Rotors) -> list[str]:
    lines: list[str] = []
    for joint, inertia, factors in rotors.tendons:
        inside = [tag("joint", joint=d.joint_names[k], coef=number(factors[k])) for k in np.flatnonzero(factors)]
        lines += nested("fixed", inside, name=_tendon(d, joint), armature=number(inertia))
    return lines


def _actuators(d: RobotDescription) -> list[str]:
    """Return actuators with joint torques as controls; those of elastic joints act on the motors."""
    effort = (d.limits or Limits.none(d.n)).effort
    driven = dict(zip((drive.joint for drive in d.elastic), motor_names(d.elastic, d.joint_names), strict=True))
    return [
        tag(
            "motor",
            name=name,
            joint=driven.get(j, name),
            ctrlrange=numbers([-most, most]) if 0.0 < most < np.inf else None,
        )
        for j, (name, most) in enumerate(zip(d.joint_names, effort, strict=True), start=1)
    ]


def _notes(d: RobotDescription, rotors: Rotors) -> list[str]:
    """Return data that MuJoCo does not use, for readers of the file: speed limits (0: none), rotors of tendons."""
    notes = []
    if d.limits is not None and np.isfinite(d.limits.velocity).any():
        speeds = np.where(np.isfinite(d.limits.velocity), d.limits.velocity, 0.0)
        notes.append(tag("numeric", name="velocity_limits", data=numbers(speeds)))
    tendons = {joint for joint, _, _ in rotors.tendons}
    for rotor in d.rotors:
        if rotor.joint not in tendons:
            continue
        carrier = rotor.joint - 1 if rotor.carrier is None else rotor.carrier
        note = [rotor.joint, rotor.gear_ratio, carrier, *(() if rotor.axis is None else rotor.axis)]
        notes.append(tag("numeric", name=_tendon(d, rotor.joint), data=numbers(note)))
    return notes


def _tendon(d: RobotDescription, joint: int) -> str:
    return f"rotor_of_{d.joint_names[joint - 1]}"
