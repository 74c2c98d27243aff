"""Immutable description of a robot: the data that robot files hold."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from ..checks import Array, array, check_label, check_name, known_name, of_kind, pose, unit_axis, whole
from ..errors import ThunderError, UnknownNameError, nearest_hint
from ..spatial import DH_CONVENTIONS, dh_chain
from ..values import Value, frozen, set_fields
from .inertia import dyn_from_reg, reg_from_dyn
from .joint_data import Elastic, Friction, Limits, Rotor

__all__ = [
    "MAX_JOINTS",
    "RESERVED_NAMES",
    "Elastic",
    "Friction",
    "Limits",
    "RobotDescription",
    "Rotor",
    "check_moments",
    "check_name",
    "check_physical_input",
    "describe_dh",
]

MAX_JOINTS = 64
#: SI units; no arm reaches it, and products of a dozen such numbers do not overflow
LARGEST_NUMBER = 1e20
#: names of frames and of parameter groups, not available to joints and links
RESERVED_NAMES = ("base", "tool", "inertial", "friction", "rotor", "armature")


@dataclass(frozen=True, kw_only=True, eq=False)
class RobotDescription(Value):
    """Describe a serial arm by its geometry, inertial parameters and joint data.

    The pose of link i in link i-1 is ``placements[i] @ motion(axes[i], q_i) @ offsets[i]``, where `motion` rotates
    about the axis or translates along it. A DH table (`dh`, `convention`) determines all three and is kept for writing.
    Any finite inertial parameters are accepted, also unphysical estimates; see `check_physical_input`.

    Attributes
    ----------
    name : str
        An identifier.
    joint_types : str
        One letter per joint: ``R`` revolute or ``P`` prismatic.
    placements, offsets : (n, 4, 4) array
        Constant transforms before and after the joint's motion.
    axes : (n, 3) array
        Unit joint axes in the placed frame.
    inertial : (n, 10) array
        Link parameters in REG order, ``[m, m cx, m cy, m cz, Ixx, Ixy, Ixz, Iyy, Iyz, Izz]``, the inertia about the
        origin of the link frame.
    gravity : (3,) array
        Acceleration of gravity in the world frame [m/s^2].
    base : (4, 4) array
        Pose of the base (link 0) in the world.
    tool : (4, 4) array
        Pose of the end effector in the last link.
    convention : str
        ``"modified"``, ``"standard"`` (both with `dh`) or ``"placements"``.
    dh : (n, 4) array or None
        Rows ``[a, alpha, d, theta]``.
    joint_names, link_names : tuple of str
        Default ``joint1..``, ``link1..``.
    limits : Limits or None
        Limits of position, speed and effort.
    friction : Friction or None
        Joint friction.
    rotors : tuple of Rotor
        At most one per joint, sorted by joint.
    armature : (n,) array or None
        Inertia added on the diagonal of the mass matrix, reflected to the joint.
    frames : mapping of str to (int, (4, 4) array)
        Further named frames: link index (0 is the base) and pose in that link.
    elastic : tuple of Elastic
        Spring, damper and motor of each elastic joint, sorted by joint, all with the same number of coefficients.
    masks : mapping
        Thunder's ``symb`` masks, as read.
    values : mapping of str to float or tuple of float
        Further numbers of the file, such as ``q0: [0, 0.5]``, for functions of the user in generated libraries.
    reference : str
        Source of the numbers.

    Raises
    ------
    ThunderError
        If a field is invalid; the message names the first one.

    Examples
    --------
    >>> import thunder_py as th
    >>> description = th.Robot.load("panda").description
    >>> description.convention, description.joint_types, description.placements.shape
    ('modified', 'RRRRRRR', (7, 4, 4))
    >>> heavier = description.replace(name="heavier", inertial=1.1 * description.inertial)
    >>> heavier == description, th.Robot(heavier).n
    (False, 7)
    """

    name: str
    joint_types: str
    placements: Array
    axes: Array
    offsets: Array
    inertial: Array
    gravity: Array = field(default_factory=lambda: np.array([0.0, 0.0, -9.81]))
    base: Array = field(default_factory=lambda: np.eye(4))
    tool: Array = field(default_factory=lambda: np.eye(4))
    convention: str = "placements"
    dh: Array | None = None
    joint_names: tuple[str, ...] = ()
    link_names: tuple[str, ...] = ()
    limits: Limits | None = None
    friction: Friction | None = None
    rotors: tuple[Rotor, ...] = ()
    armature: Array | None = None
    frames: Mapping[str, tuple[int, Array]] = field(default_factory=dict)
    elastic: tuple[Elastic, ...] = ()
    masks: Mapping[str, Any] = field(default_factory=dict)
    values: Mapping[str, float | tuple[float, ...]] = field(default_factory=dict)
    reference: str = ""

    def __post_init__(self) -> None:
        """Check every field and make its arrays read-only copies."""
        check_name(self.name)
        set_fields(self, joint_types=_joint_types(self.joint_types))
        n = self.n
        set_fields(
            self,
            axes=array(self.axes, (n, 3), "axes"),
            inertial=array(self.inertial, (n, 10), "inertial"),
            gravity=array(self.gravity, (3,), "gravity"),
            armature=None if self.armature is None else array(self.armature, (n,), "armature"),
            base=pose(self.base, "base"),
            tool=pose(self.tool, "tool"),
            masks=frozen(self.masks),
            values=frozen(self.values),
            joint_names=_labels(self.joint_names, n, "joint"),
            link_names=_labels(self.link_names, n, "link"),
        )
        if not isinstance(self.reference, str):
            raise ThunderError(f"reference must be text, got {self.reference!r}")
        self._check_geometry()
        self._check_joint_data()
        self._check_sizes()
        set_fields(self, frames=self._checked_frames())

    def _check_geometry(self) -> None:
        for what in ("placements", "offsets"):
            value = array(getattr(self, what), (self.n, 4, 4), what)
            for i, T in enumerate(value):
                pose(T, f"{what} of joint {i + 1}")
            set_fields(self, **{what: value})
        for i, axis in enumerate(self.axes):
            unit_axis(axis, f"axis of joint {i + 1}")
        if self.convention not in (("placements",) if self.dh is None else DH_CONVENTIONS):
            raise ThunderError(
                "convention must be 'modified' or 'standard' with a DH table and 'placements' without, "
                f"got {self.convention!r} {'without' if self.dh is None else 'with'} dh"
            )
        if self.dh is None:
            return
        set_fields(self, dh=array(self.dh, (self.n, 4), "dh"))
        chain = dh_chain(self.dh, self.convention)
        for what, expected in zip(("placements", "axes", "offsets"), chain, strict=True):
            if not np.allclose(getattr(self, what), expected, rtol=1e-12, atol=1e-12):
                raise ThunderError(
                    f"{what} must be those of the DH table; for others use convention='placements', dh=None"
                )

    def _check_joint_data(self) -> None:
        n = self.n
        for what, kind, rows in (("limits", Limits, "lower"), ("friction", Friction, "coefficients")):
            value = getattr(self, what)
            if value is None:
                continue
            if not isinstance(value, kind):
                raise ThunderError(f"{what} must be a {kind.__name__} or None, got {value!r:.80}")
            if len(getattr(value, rows)) != n:
                raise ThunderError(f"{what} must be given for {n} joints, got {len(getattr(value, rows))}")
        for rotor in self.rotors:
            of_kind(rotor, Rotor, "each of rotors")
        rotors = tuple(sorted(self.rotors, key=lambda rotor: rotor.joint))
        for i, rotor in enumerate(rotors):
            if rotor.joint > n or (rotor.carrier or 0) > n:
                raise ThunderError(
                    f"rotors must be on joints and links 1 to {n}, got joint {rotor.joint}, carrier {rotor.carrier}"
                )
            if i and rotors[i - 1].joint == rotor.joint:
                raise ThunderError(f"rotors must be one per joint at most, got two for joint {rotor.joint}")
        set_fields(self, rotors=rotors, elastic=_elastic(self.elastic, n))

    def _check_sizes(self) -> None:
        """Refuse numbers whose products would overflow."""
        named = {key: getattr(self, key) for key in ("inertial", "gravity", "placements", "offsets", "base", "tool")}
        named["armature"] = np.zeros(0) if self.armature is None else self.armature
        named["rotors"] = np.array([(rotor.inertia, rotor.gear_ratio) for rotor in self.rotors])
        for what, value in named.items():
            most = float(np.abs(value).max(initial=0.0))
            if most > LARGEST_NUMBER:
                raise ThunderError(f"{what} must be at most {LARGEST_NUMBER:g} in SI units, got {most:g}")

    def _checked_frames(self) -> Mapping[str, tuple[int, Array]]:
        frames = {}
        for name, (link, T) in self.frames.items():
            check_label(name, "frame name")
            if name in self.link_names:
                raise ThunderError(f"frame name must be no link's name, got {name!r}")
            frames[name] = (whole(link, f"link of frame {name!r}", 0, self.n), pose(T, f"frame {name!r}"))
        return MappingProxyType(frames)

    @property
    def n(self) -> int:
        """Number of joints."""
        return len(self.joint_types)

    def replace(self, **changes: Any) -> RobotDescription:
        """Return a validated copy with some fields changed."""
        known = [f.name for f in dataclasses.fields(self)]
        for name in changes:
            known_name(name, known, "description has no field")
        return dataclasses.replace(self, **changes)


def own_frame(name: str, others: Collection[str]) -> str:
    """Return the name of a robot's frame ``base`` or ``tool``: links and named frames keep their names, as in C++."""
    while name in others:
        name = f"robot:{name}"
    return name


def without_own_frames(
    frames: Mapping[str, tuple[int, Array]], links: Collection[str], tip: str
) -> dict[str, tuple[int, Array]]:
    """Return the frames of a file without those that are the robot's base or end effector and have its name."""
    kept = dict(frames)
    for name, (link, T) in frames.items():
        others = {*kept, *links} - {name}
        at_base = link == 0 and np.array_equal(T, np.eye(4))
        if (at_base and name == own_frame("base", others)) or (name == tip == own_frame("tool", others)):
            del kept[name]
    return kept


def _joint_types(value: Any) -> str:
    if not isinstance(value, (str, list, tuple)):
        raise ThunderError(f"joint_types must be letters R and P, got {value!r}")
    if not 1 <= len(value) <= MAX_JOINTS:
        raise ThunderError(f"an arm must have 1 to {MAX_JOINTS} joints, got {len(value)}")
    for i, letter in enumerate(value):
        if letter not in ("R", "P"):
            raise ThunderError(f"type of joint {i + 1} must be R (revolute) or P (prismatic), got {letter!r}")
    return "".join(value)


def _labels(names: Sequence[str], n: int, what: str) -> tuple[str, ...]:
    if not names:
        return tuple(f"{what}{i + 1}" for i in range(n))
    if isinstance(names, str) or len(names) != n:
        raise ThunderError(f"{what}_names must be {n} names, got {names!r}")
    labels = tuple(check_label(name, f"{what} name") for name in names)
    for name in labels:
        if name in RESERVED_NAMES:
            raise ThunderError(
                f"{what} name must be none of the reserved names {', '.join(RESERVED_NAMES)}, got {name!r}"
            )
        if labels.count(name) > 1:
            raise ThunderError(f"{what} names must differ, got {name!r} twice")
    return labels


def _elastic(drives: Sequence[Elastic], n: int) -> tuple[Elastic, ...]:
    for drive in drives:
        of_kind(drive, Elastic, "each of elastic")
    drives = sorted(drives, key=lambda drive: drive.joint)
    for before, drive in itertools.pairwise(drives):
        if before.joint == drive.joint:
            raise ThunderError(f"elastic must have one entry per joint at most, got two for joint {drive.joint}")
        for key in ("K", "D", "Dm"):
            if len(getattr(drive, key)) != len(getattr(before, key)):
                raise ThunderError(
                    f"elastic joint {drive.joint}: {key} must be as long as that of the others, "
                    f"{len(getattr(before, key))}, got {len(getattr(drive, key))}"
                )
    if drives and drives[-1].joint > n:
        raise ThunderError(f"elastic joint must be from 1 to {n}, got {drives[-1].joint}")
    return tuple(drives)


def check_physical_input(description: RobotDescription) -> RobotDescription:
    """Refuse negative masses, moments of inertia, friction, armature, rotor and motor inertia.

    `RobotDescription` itself accepts them, because estimates of parameters may be unphysical.

    Parameters
    ----------
    description : RobotDescription
        Data of a user.

    Returns
    -------
    RobotDescription
        The same object.

    Raises
    ------
    ThunderError
        If a value is negative; the message names its link or joint.

    Examples
    --------
    >>> import thunder_py as th
    >>> from thunder_py.errors import ThunderError
    >>> from thunder_py.model.description import check_physical_input
    >>> panda = th.Robot.load("panda").description
    >>> check_physical_input(panda) is panda
    True
    >>> try:
    ...     check_physical_input(panda.replace(inertial=-panda.inertial))
    ... except ThunderError as error:
    ...     print(error)
    mass of link1 must not be negative, got -4.97068
    """
    d = description
    _refuse_negative("mass", d.link_names, d.inertial[:, 0])
    check_moments(d.link_names, d.inertial)
    if d.friction is not None:
        for term, column in zip(d.friction.terms, d.friction.coefficients.T, strict=True):
            if term in ("viscous", "coulomb"):
                _refuse_negative(f"{term} friction", d.joint_names, column)
    if d.armature is not None:
        _refuse_negative("armature", d.joint_names, d.armature)
    _refuse_negative("rotor inertia", [d.joint_names[r.joint - 1] for r in d.rotors], [r.inertia for r in d.rotors])
    _refuse_negative("motor inertia Mm", [d.joint_names[e.joint - 1] for e in d.elastic], [e.Mm for e in d.elastic])
    return description


def _refuse_negative(what: str, names: Sequence[str], values: Sequence[float] | Array) -> None:
    for name, value in zip(names, values, strict=True):
        if value < 0.0:
            raise ThunderError(f"{what} of {name} must not be negative, got {value:g}")


def check_moments(names: Sequence[str], reg: Array) -> None:
    """Refuse a negative principal moment of inertia about the center of mass; zero moments and masses pass.

    Parameters
    ----------
    names : sequence of str
        Names of the links, for messages.
    reg : (n, 10) array
        REG parameters of the links.

    Raises
    ------
    ThunderError
        If a moment is negative.

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.model.description import check_moments
    >>> check_moments(["plate"], np.array([[1.0, 0, 0, 0, 0.1, 0, 0, 0.1, 0, 0.2]]))
    """
    about_com = reg[:, 4:].copy()
    heavy = reg[:, 0] > 0.0
    about_com[heavy] = dyn_from_reg(reg[heavy])[:, 4:]
    least = np.linalg.eigvalsh(about_com[:, [[0, 1, 2], [1, 3, 4], [2, 4, 5]]])[:, 0]
    for name, moment, size in zip(names, least, np.abs(reg[:, 4:]).max(axis=1), strict=True):
        if moment < -1e-9 * size:
            raise ThunderError(
                f"principal moments of {name} about its center of mass must not be negative, got {moment:g} kg m^2"
            )


def describe_dh(
    dh: npt.ArrayLike,
    *,
    convention: str = "modified",
    joint_types: str | Sequence[str] | None = None,
    inertial: npt.ArrayLike | None = None,
    name: str = "robot",
    **fields: Any,
) -> RobotDescription:
    """Describe an arm by its Denavit-Hartenberg table.

    Parameters
    ----------
    dh : (n, 4) array_like
        Rows ``[a, alpha, d, theta]`` [m, rad]; q adds to theta (R) or d (P).
    convention : {"modified", "standard"}
        Craig's rows ``Tr_x(a) Rot_x(alpha) Tr_z(d) Rot_z(theta)`` or distal ones,
        ``Rot_z(theta) Tr_z(d) Tr_x(a) Rot_x(alpha)``.
    joint_types : str or sequence of str, optional
        ``R`` or ``P`` for each joint; default all revolute.
    inertial : (n, 10) array_like, optional
        DYN rows ``[m, cx, cy, cz, Ixx, Ixy, Ixz, Iyy, Iyz, Izz]``, inertia about the center of mass; default massless.
    name : str
        An identifier.
    **fields
        Further fields of `RobotDescription`: gravity, base, tool, limits, friction, ...

    Returns
    -------
    RobotDescription
        Validated by `check_physical_input`.

    Raises
    ------
    ThunderError
        If a shape, a number or the convention is invalid, or the robot is physically impossible.

    Examples
    --------
    >>> from thunder_py.model.description import describe_dh
    >>> planar = describe_dh([[0, 0, 0, 0], [0.5, 0, 0, 0]], name="planar", gravity=(0, -9.81, 0))
    >>> planar.n, planar.joint_types, planar.link_names
    (2, 'RR', ('link1', 'link2'))
    """
    table = array(dh, (None, 4), "dh")
    n = len(table)
    types = _joint_types("R" * n if joint_types is None else joint_types)
    if len(types) != n:
        raise ThunderError(f"joint_types must have {n} letters, one per row of dh, got {len(types)}")
    placements, axes, offsets = dh_chain(table, convention)
    dyn = array(np.zeros((n, 10)) if inertial is None else inertial, (n, 10), "inertial")
    chain: dict[str, Any] = {
        "placements": placements,
        "axes": axes,
        "offsets": offsets,
        "dh": table,
        "convention": convention,
    }
    for key in fields:
        if key in chain or key not in RobotDescription.__dataclass_fields__:
            raise UnknownNameError(
                f"unknown argument {key!r}{nearest_hint(key, set(RobotDescription.__dataclass_fields__) - set(chain))}"
            )
    description = RobotDescription(name=name, joint_types=types, inertial=reg_from_dyn(dyn), **chain, **fields)
    return check_physical_input(description)
