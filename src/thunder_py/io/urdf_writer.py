"""Writing of URDF.

In URDF the frame of a link is on the axis of its joint. Where the description's is not, as in standard
Denavit-Hartenberg tables, the joint moves an empty link named after the joint, to which the link itself is fixed.
"""

from __future__ import annotations

import math

import numpy as np

from ..checks import Array
from ..errors import ThunderError
from ..model.description import RobotDescription, check_physical_input, own_frame
from ..model.inertia import dyn_from_reg
from ..model.joint_data import Friction, Limits
from .losses import check_losses, friction_of_joint, used_terms
from .urdf import NO_LIMIT
from .xml import comment, nested, number, numbers, tag

_GRAVITY = (0.0, 0.0, -9.81)
_ON_AXIS = 1e-12  # distance of a link frame's origin from the axis, relative to its norm


def urdf_losses(d: RobotDescription) -> tuple[str, ...]:
    """Return the losses of a robot in URDF, one sentence each."""
    losses = []
    if d.armature is not None and d.armature.any():
        losses.append("armature is lost")
    if d.rotors:
        losses.append(f"rotors are lost: {', '.join(d.joint_names[rotor.joint - 1] for rotor in d.rotors)}")
    if d.elastic:
        names = ", ".join(d.joint_names[drive.joint - 1] for drive in d.elastic)
        losses.append(f"springs, dampers and motors of elastic joints are lost, the joints become rigid: {names}")
    losses += [f"{term} friction is lost" for term in used_terms(d) if term not in ("viscous", "coulomb")]
    if d.friction is not None and "coulomb" in used_terms(d) and d.friction.delta != Friction.delta:
        losses.append(f"the width of Coulomb friction's smooth sign, {d.friction.delta:g}, is lost")
    if tuple(d.gravity) != _GRAVITY:
        losses.append(f"gravity is lost: pass gravity={d.gravity.tolist()} where the file is read")
    return tuple(losses)


def write_urdf(description: RobotDescription, *, lossy: bool = False) -> str:
    """Return a robot, of links with a center of mass, as the text of a URDF file.

    It has links, joints, limits, damping and friction; frames and the end effector (``tool``) are empty links; the base
    is the root, or is fixed to the root ``world``. Losses, if `lossy` is True, are comments.
    """
    d = check_physical_input(description)
    losses = check_losses(urdf_losses(d), "URDF", lossy)
    lines = [comment(f"not carried over: {loss}") for loss in losses]
    if d.reference:
        lines.insert(0, comment(d.reference))
    writer = _Writer(d)
    lines += [line for part in (writer.base(), *map(writer.link, range(d.n)), writer.frames()) for line in part]
    return "\n".join(['<?xml version="1.0" encoding="utf-8"?>', *nested("robot", lines, name=d.name)]) + "\n"


class _Writer:
    """Write the elements of a robot with unique names."""

    def __init__(self, d: RobotDescription) -> None:
        self.d = d
        self._base, self._tool = (own_frame(name, {*d.frames, *d.link_names}) for name in ("base", "tool"))
        self._names = (self._base, *d.link_names)
        self._links = {self._tool, *self._names, *d.frames}
        self._joints = set(d.joint_names)

    def base(self) -> list[str]:
        base = tag("link", name=self._base)
        if np.array_equal(self.d.base, np.eye(4)):
            return [base]
        world = tag("link", name=self._new("world", self._links))
        return [world, base, *self._fixed("world", self._base, self.d.base)]

    def link(self, i: int) -> list[str]:
        """Return joint i and its link."""
        d, (parent, child) = self.d, self._names[i : i + 2]
        offset, kind, data = d.offsets[i], *self._joint_data(i)
        if d.joint_types[i] == "P" or _on_axis(offset[:3, 3], d.axes[i]):  # then motion and offset commute
            axis = tag("axis", xyz=numbers(offset[:3, :3].T @ d.axes[i]))
            T = d.placements[i] @ offset
            return [*self._link(i), *self._joint(d.joint_names[i], kind, parent, child, T, axis, *data)]
        empty, axis = self._new(f"{d.joint_names[i]}_link", self._links), tag("axis", xyz=numbers(d.axes[i]))
        return [
            tag("link", name=empty),
            *self._joint(d.joint_names[i], kind, parent, empty, d.placements[i], axis, *data),
            *self._link(i),
            *self._fixed(empty, child, offset),
        ]

    def frames(self) -> list[str]:
        d, lines = self.d, []
        for name, (link, T) in {**d.frames, self._tool: (d.n, d.tool)}.items():
            lines += [tag("link", name=name), *self._fixed(self._names[link], name, T)]
        return lines

    @staticmethod
    def _new(name: str, taken: set[str]) -> str:
        if name in taken:
            raise ThunderError(f"URDF needs the name {name!r} for itself: choose another name")
        taken.add(name)
        return name

    def _link(self, i: int) -> list[str]:
        dyn = dyn_from_reg(self.d.inertial[i])
        tensor = dict(zip(("ixx", "ixy", "ixz", "iyy", "iyz", "izz"), map(number, dyn[4:]), strict=True))
        origin, mass = tag("origin", xyz=numbers(dyn[1:4]), rpy="0 0 0"), tag("mass", value=number(dyn[0]))
        inertial = nested("inertial", [origin, mass, tag("inertia", **tensor)])
        return nested("link", inertial, name=self.d.link_names[i])

    def _joint(self, name: str, kind: str, parent: str, child: str, T: Array, *data: str) -> list[str]:
        origin = tag("origin", xyz=numbers(T[:3, 3]), rpy=numbers(_rpy(T[:3, :3])))
        inside = [origin, tag("parent", link=parent), tag("child", link=child), *data]
        return nested("joint", inside, name=name, type=kind)

    def _fixed(self, parent: str, child: str, T: Array) -> list[str]:
        return self._joint(self._new(f"{child}_fixed", self._joints), "fixed", parent, child, T)

    def _joint_data(self, i: int) -> tuple[str, list[str]]:
        """Return a joint's type, limits and friction; one that turns without position limits is ``continuous``."""
        d = self.d
        limits = {key: float(row[i]) for key, row in vars(d.limits or Limits.none(d.n)).items()}
        kind, friction = "revolute" if d.joint_types[i] == "R" else "prismatic", friction_of_joint(d, i)
        if kind == "revolute" and not np.isfinite([limits["lower"], limits["upper"]]).any():
            kind, limits = "continuous", {key: limits[key] for key in ("velocity", "effort")}
        most = {key: number(min(max(value, -NO_LIMIT), NO_LIMIT)) for key, value in limits.items()}
        data = [tag("limit", **most)] if kind != "continuous" or np.isfinite([*limits.values()]).any() else []
        values = [friction.get(term, 0.0) for term in ("viscous", "coulomb")]
        if any(values):
            data.append(tag("dynamics", damping=number(values[0]), friction=number(values[1])))
        return kind, data


def _on_axis(point: Array, axis: Array) -> bool:
    """Return True if a point lies on the line through the origin along `axis`."""
    return bool(np.linalg.norm(np.cross(point, axis)) <= _ON_AXIS * np.linalg.norm(point))


def _rpy(R: Array) -> Array:
    """Return roll, pitch, yaw, exact to rounding also near a pitch of a quarter turn."""
    yaw = math.atan2(R[1, 0], R[0, 0])
    c, s = math.cos(yaw), math.sin(yaw)
    x, y = c * R[0] + s * R[1], c * R[1] - s * R[0]  # rows of Rz(-yaw) R = Ry Rx
    return np.array([math.atan2(-y[2], y[1]), math.atan2(-R[2, 0], x[0]), yaw])
