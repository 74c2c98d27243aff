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
from ..model.joint_data import Friction
from .losses import check_losses
from .urdf import NO_LIMIT
from .xml import comment, number, numbers, open_tag, tag

_GRAVITY = (0.0, 0.0, -9.81)
_ON_AXIS = 1e-12  # distance of a link frame's origin from the axis, relative to its norm


def urdf_losses(description: RobotDescription) -> tuple[str, ...]:
    """Return the losses of a robot in URDF, one sentence each.

    Parameters
    ----------
    description : RobotDescription
        Any description.
    """
    d, losses = description, []
    if d.armature is not None and d.armature.any():
        losses.append("armature is lost")
    if d.rotors:
        losses.append(f"rotors are lost: {', '.join(d.joint_names[rotor.joint - 1] for rotor in d.rotors)}")
    if d.elastic:
        names = ", ".join(d.joint_names[drive.joint - 1] for drive in d.elastic)
        losses.append(f"springs, dampers and motors of elastic joints are lost, the joints become rigid: {names}")
    if d.friction is not None:
        used = {term for k, term in enumerate(d.friction.terms) if d.friction.coefficients[:, k].any()}
        losses += [f"{term} friction is lost" for term in d.friction.terms if term in used - {"viscous", "coulomb"}]
        if "coulomb" in used and d.friction.delta != Friction.delta:
            losses.append(f"the width of Coulomb friction's smooth sign, {d.friction.delta:g}, is lost")
    if tuple(d.gravity) != _GRAVITY:
        losses.append(f"gravity is lost: pass gravity={d.gravity.tolist()} where the file is read")
    return tuple(losses)


def write_urdf(description: RobotDescription, *, lossy: bool = False) -> str:
    """Return a robot as the text of a URDF file.

    Parameters
    ----------
    description : RobotDescription
        Description of links with a center of mass.
    lossy : bool
        Write the robot even if URDF cannot represent all of its behavior; comments in the file name the losses.

    Returns
    -------
    str
        Document with links, joints, limits, damping and friction; frames and the end effector (``tool``) are empty
        links; the base is the root, or is fixed to the root ``world``.

    Raises
    ------
    ThunderError
        If there are losses and `lossy` is False, or names collide.
    """
    d = check_physical_input(description)
    losses = check_losses(urdf_losses(d), "URDF", lossy)
    lines = [comment(f"not carried over: {loss}") for loss in losses]
    if d.reference:
        lines.insert(0, comment(d.reference))
    writer = _Writer(d)
    lines += [line for part in (writer.base(), *map(writer.link, range(d.n)), writer.frames()) for line in part]
    body = "\n".join(f"  {line}" for line in lines)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{open_tag("robot", name=d.name)}\n{body}\n</robot>\n'


class _Writer:
    """Write the elements of a robot with unique names."""

    def __init__(self, d: RobotDescription) -> None:
        self.d = d
        self._base, self._tool = (own_frame(name, {*d.frames, *d.link_names}) for name in ("base", "tool"))
        self._links = {self._base, self._tool, *d.link_names, *d.frames}
        self._joints = set(d.joint_names)

    def base(self) -> list[str]:
        lines = [tag("link", name=self._base)]
        if np.array_equal(self.d.base, np.eye(4)):
            return lines
        return [
            tag("link", name=self._new("world", self._links)),
            *lines,
            *self._fixed("world", self._base, self.d.base),
        ]

    def link(self, i: int) -> list[str]:
        """Return joint i and its link."""
        d = self.d
        parent, child = self._base if i == 0 else d.link_names[i - 1], d.link_names[i]
        offset = d.offsets[i]
        if d.joint_types[i] == "P" or _on_axis(offset[:3, 3], d.axes[i]):  # then motion and offset commute
            axis = offset[:3, :3].T @ d.axes[i]
            return [*self._link(i), *self._joint(i, parent, child, d.placements[i] @ offset, axis)]
        empty = self._new(f"{d.joint_names[i]}_link", self._links)
        return [
            tag("link", name=empty),
            *self._joint(i, parent, empty, d.placements[i], d.axes[i]),
            *self._link(i),
            *self._fixed(empty, child, offset),
        ]

    def frames(self) -> list[str]:
        d, lines = self.d, []
        for name, (link, T) in {**d.frames, self._tool: (d.n, d.tool)}.items():
            lines += [
                tag("link", name=name),
                *self._fixed(self._base if link == 0 else d.link_names[link - 1], name, T),
            ]
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
        return [
            open_tag("link", name=self.d.link_names[i]),
            "  <inertial>",
            f"    {tag('origin', xyz=numbers(dyn[1:4]), rpy='0 0 0')}",
            f"    {tag('mass', value=number(dyn[0]))}",
            f"    {tag('inertia', **tensor)}",
            "  </inertial>",
            "</link>",
        ]

    def _joint(self, i: int, parent: str, child: str, T: Array, axis: Array) -> list[str]:
        kind, limit = self._limit(i)
        inside = [_origin(T), tag("parent", link=parent), tag("child", link=child), tag("axis", xyz=numbers(axis))]
        inside += limit + self._friction(i)
        lines = [open_tag("joint", name=self.d.joint_names[i], type=kind), *(f"  {line}" for line in inside)]
        return [*lines, "</joint>"]

    def _limit(self, i: int) -> tuple[str, list[str]]:
        """Return the joint's type and limits; a revolute joint without position limits is ``continuous``."""
        d = self.d
        values = [math.inf] * 4 if d.limits is None else [float(row[i]) for row in vars(d.limits).values()]
        if d.limits is None:
            values[0] = -math.inf
        revolute = d.joint_types[i] == "R"
        if revolute and not np.isfinite(values[:2]).any():
            finite = dict(zip(("velocity", "effort"), values[2:], strict=True))
            most = {key: number(min(value, NO_LIMIT)) for key, value in finite.items()}
            return "continuous", [tag("limit", **most)] if np.isfinite(values[2:]).any() else []
        keys = ("lower", "upper", "velocity", "effort")
        limits = {key: number(min(max(x, -NO_LIMIT), NO_LIMIT)) for key, x in zip(keys, values, strict=True)}
        return "revolute" if revolute else "prismatic", [tag("limit", **limits)]

    def _friction(self, i: int) -> list[str]:
        friction = self.d.friction
        if friction is None:
            return []
        terms = dict(zip(friction.terms, friction.coefficients[i], strict=True))
        values = {key: terms.get(term, 0.0) for key, term in (("damping", "viscous"), ("friction", "coulomb"))}
        return (
            [tag("dynamics", **{key: number(value) for key, value in values.items()})] if any(values.values()) else []
        )

    def _fixed(self, parent: str, child: str, T: Array) -> list[str]:
        name = self._new(f"{child}_fixed", self._joints)
        inside = [_origin(T), tag("parent", link=parent), tag("child", link=child)]
        return [open_tag("joint", name=name, type="fixed"), *(f"  {line}" for line in inside), "</joint>"]


def _on_axis(point: Array, axis: Array) -> bool:
    """Return True if a point lies on the line through the origin along `axis`."""
    return bool(np.linalg.norm(np.cross(point, axis)) <= _ON_AXIS * np.linalg.norm(point))


def _origin(T: Array) -> str:
    return tag("origin", xyz=numbers(T[:3, 3]), rpy=numbers(_rpy(T[:3, :3])))


def _rpy(R: Array) -> Array:
    """Return roll, pitch, yaw, exact to rounding also near a pitch of a quarter turn."""
    yaw = math.atan2(R[1, 0], R[0, 0])
    c, s = math.cos(yaw), math.sin(yaw)
    x, y = c * R[0] + s * R[1], c * R[1] - s * R[0]  # rows of Rz(-yaw) R = Ry Rx
    return np.array([math.atan2(-y[2], y[1]), math.atan2(-R[2, 0], x[0]), yaw])
