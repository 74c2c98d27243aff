"""Surfaces of a world: tables, and a conveyor belt that moves objects by friction."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ...checks import all_positive, array, check_name, finite, nonnegative, pose, positive
from ...io.xml import quaternion
from ...spatial.single import make_pose
from ...values import Value, set_fields
from .objects import CONTACT, SURFACE

#: inertia of a belt, in effect infinite [kg]
_HEAVY = 1e6
#: rolling friction of all surfaces: the lever at which a rolling object's weight brakes it [m]
_ROLLING = 5e-4


@dataclass(frozen=True, eq=False)
class Table(Value):
    """A fixed block with a plane top.

    Parameters
    ----------
    pose : (4, 4) array_like
        Frame in the middle of the top, with z out of it.
    size : (3,) array_like
        Sides along x, y and z [m].
    friction : float
        Coefficient of friction with every object.
    torsion : float
        Torsional friction [m]: torque about the normal over the normal force.
    name : str
        Name of its body.
    rgba : (4,) array_like
        Color.

    Raises
    ------
    ThunderError
        If a number is invalid.

    Examples
    --------
    >>> from thunder_py.mujoco import Table
    >>> Table.at((0.5, 0.0, 0.1)).height
    0.1
    """

    pose: npt.ArrayLike
    size: Sequence[float] = (0.6, 0.8, 0.04)
    friction: float = 0.5
    torsion: float = 0.005
    name: str = "table"
    rgba: Sequence[float] = (0.72, 0.62, 0.48, 1.0)

    def __post_init__(self) -> None:
        """Check everything."""
        set_fields(
            self,
            pose=pose(self.pose, "pose"),
            size=all_positive(array(self.size, (3,), "size"), "size"),
            friction=positive(self.friction, "friction"),
            torsion=nonnegative(self.torsion, "torsion", "m"),
            name=check_name(self.name, "name of a surface"),
            rgba=tuple(array(self.rgba, (4,), "rgba").tolist()),
        )

    @classmethod
    def at(cls, top: npt.ArrayLike, *, heading: float = 0.0, slope: float = 0.0, **options: Any) -> Any:
        """Return a surface by the middle of its top.

        Parameters
        ----------
        top : (3,) array_like
            Middle of the top [m].
        heading : float
            Direction of x: its angle about the vertical [rad].
        slope : float
            Angle by which x points downwards [rad].
        **options
            Other arguments.
        """
        c, s = math.cos(finite(heading, "heading")), math.sin(heading)
        cs, ss = math.cos(finite(slope, "slope")), math.sin(slope)
        R = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]) @ [[cs, 0, ss], [0, 1, 0], [-ss, 0, cs]]
        return cls(make_pose(R, array(top, (3,), "top")), **options)

    @property
    def height(self) -> float:
        """Height of the middle of the top [m]."""
        return float(np.asarray(self.pose)[2, 3])

    def add_to(self, spec: Any, mujoco: Any) -> Any:
        """Add the body to a MuJoCo specification and return it."""
        T, (x, y, z) = np.asarray(self.pose), np.asarray(self.size)
        body = spec.worldbody.add_body(name=self.name, pos=T[:3, 3], quat=quaternion(T[:3, :3]))
        body.add_geom(
            name=self.name, type=mujoco.mjtGeom.mjGEOM_BOX, size=[0.5 * x, 0.5 * y, 0.5 * z], pos=[0.0, 0.0, -0.5 * z],
            rgba=self.rgba, contype=SURFACE[0], conaffinity=SURFACE[1], condim=6, priority=1, mass=1.0, group=1,
            friction=[self.friction, self.torsion, _ROLLING], **CONTACT,
        )  # fmt: skip
        return body


@dataclass(frozen=True, eq=False)
class ConveyorBelt(Table):
    """A belt that moves along the x axis of its frame and carries objects by friction.

    Parameters
    ----------
    pose, size, friction, torsion, name, rgba
        As of a `Table`.
    speed : float
        Speed at the start [m/s].
    acceleration : float
        Largest acceleration towards a new speed [m/s^2]; infinity for a step.

    Notes
    -----
    In the simulation the block itself moves, with an inertia that no object changes, and is set back after every step.
    Its top is the same everywhere, and friction in MuJoCo depends on velocities only, so objects do not notice.

    Examples
    --------
    >>> from thunder_py.mujoco import ConveyorBelt
    >>> belt = ConveyorBelt.at((0.5, 0.0, 0.1), heading=0.5, speed=0.16)
    >>> belt.direction.round(3).tolist()
    [0.878, 0.479, 0.0]
    """

    speed: float = 0.0
    acceleration: float = math.inf
    name: str = "belt"
    size: Sequence[float] = (2.0, 0.4, 0.04)
    rgba: Sequence[float] = (0.25, 0.27, 0.29, 1.0)

    def __post_init__(self) -> None:
        """Check everything."""
        super().__post_init__()
        if not (isinstance(self.acceleration, float) and self.acceleration == math.inf):
            positive(self.acceleration, "acceleration", "m/s^2")
        set_fields(self, speed=float(array(self.speed, (), "speed")))

    @property
    def direction(self) -> npt.NDArray[np.float64]:
        """Direction of the motion, (3,)."""
        return np.array(np.asarray(self.pose)[:3, 0])

    def add_to(self, spec: Any, mujoco: Any) -> Any:
        """Add the body to a MuJoCo specification and return it."""
        body = super().add_to(spec, mujoco)
        body.gravcomp = 1.0
        body.add_joint(name=self.name, type=mujoco.mjtJoint.mjJNT_SLIDE, axis=[1.0, 0.0, 0.0], armature=_HEAVY)
        return body
