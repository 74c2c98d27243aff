"""Objects of a world: rigid bodies made of primitive shapes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ...checks import Array, all_positive, array, check_name, numbers, one_of, positive
from ...errors import ThunderError
from ...values import Value, set_fields

#: bits of MuJoCo's contact filter (contype, conaffinity): objects touch everything, hands touch objects and surfaces
OBJECT, HAND, SURFACE = (1, 1), (2, 1), (4, 3)
#: impedance of all contacts; `GraspWorld` sets their time constant
CONTACT = {"solimp": (0.95, 0.99, 0.001, 0.5, 2.0)}
#: number of sizes of each shape
_SIZES = {"box": 3, "sphere": 1, "cylinder": 2, "capsule": 2}


class Part(NamedTuple):
    """Primitive shape of an object, with its axis along z.

    Attributes
    ----------
    shape : {"box", "sphere", "cylinder", "capsule"}
        Kind of the shape.
    size : tuple of float
        Sides of a box, radius of a sphere, radius and whole height of a cylinder or capsule [m].
    center : (3,) tuple of float
        Center in the object's frame [m].

    Examples
    --------
    >>> from thunder_py.mujoco import Part
    >>> round(Part("cylinder", (0.1, 0.5)).volume, 5)  # pi 0.1^2 0.5
    0.01571
    """

    shape: str
    size: tuple[float, ...]
    center: tuple[float, float, float] = (0.0, 0.0, 0.0)

    @property
    def volume(self) -> float:
        """Volume [m^3]."""
        if self.shape == "box":
            return math.prod(self.size)
        radius = self.size[0]
        if self.shape == "sphere":
            return 4.0 / 3.0 * math.pi * radius**3
        return math.pi * radius**2 * (self.size[1] - (2.0 / 3.0 * radius if self.shape == "capsule" else 0.0))

    @property
    def mujoco_size(self) -> list[float]:
        """Half sizes in MuJoCo's convention [m]."""
        if self.shape == "sphere":
            return [self.size[0], 0.0, 0.0]
        if self.shape == "box":
            return [0.5 * side for side in self.size]
        radius, height = self.size
        return [radius, 0.5 * height - (radius if self.shape == "capsule" else 0.0), 0.0]


@dataclass(frozen=True, eq=False)
class WorldObject(Value):
    """A rigid object of uniform density.

    Parameters
    ----------
    name : str
        Name of its body.
    parts : sequence of Part
        Shapes that it consists of. Overlaps count twice.
    mass : float
        Mass [kg].
    rgba : (4,) array_like
        Color.

    Raises
    ------
    ThunderError
        If a shape or size is invalid.

    Notes
    -----
    The coefficients of friction are those of hands and surfaces, see `ParallelGripper`, `Table` and `ConveyorBelt`.

    Examples
    --------
    >>> from thunder_py.mujoco import WorldObject
    >>> box = WorldObject.box("box", (0.05, 0.04, 0.08), mass=0.2)
    >>> box.parts[0].size, box.height
    ((0.05, 0.04, 0.08), 0.08)
    >>> len(WorldObject.bottle("bottle").parts)
    2
    """

    name: str
    parts: Sequence[Part]
    mass: float
    rgba: Sequence[float] = (0.85, 0.45, 0.15, 1.0)

    def __post_init__(self) -> None:
        """Check everything."""
        if not self.parts:
            raise ThunderError("parts must hold at least one shape, got none")
        set_fields(
            self,
            name=check_name(self.name, "object name"),
            parts=tuple(_checked(part) for part in self.parts),
            mass=positive(self.mass, "object mass", "kg"),
            rgba=tuple(array(self.rgba, (4,), "rgba").tolist()),
        )

    @classmethod
    def box(
        cls, name: str = "box", size: Sequence[float] = (0.06, 0.05, 0.06), mass: float = 0.2, **options: Any
    ) -> WorldObject:
        """Return a box with sides `size`, (3,) [m]."""
        return cls(name, (Part("box", tuple(size)),), mass, **options)

    @classmethod
    def sphere(cls, name: str = "sphere", radius: float = 0.03, mass: float = 0.1, **options: Any) -> WorldObject:
        """Return a ball."""
        return cls(name, (Part("sphere", (radius,)),), mass, **options)

    @classmethod
    def cylinder(
        cls, name: str = "cylinder", radius: float = 0.025, height: float = 0.09, mass: float = 0.2, **options: Any
    ) -> WorldObject:
        """Return an upright cylinder."""
        return cls(name, (Part("cylinder", (radius, height)),), mass, **options)

    @classmethod
    def capsule(
        cls, name: str = "capsule", radius: float = 0.025, height: float = 0.1, mass: float = 0.15, **options: Any
    ) -> WorldObject:
        """Return an upright capsule with a whole height, round ends included."""
        return cls(name, (Part("capsule", (radius, height)),), mass, **options)

    @classmethod
    def bottle(
        cls, name: str = "bottle", radius: float = 0.03, height: float = 0.16, mass: float = 0.3, **options: Any
    ) -> WorldObject:
        """Return an upright bottle: a cylinder with a neck of 0.4 times its radius over the upper 30 %."""
        body = Part("cylinder", (radius, 0.7 * height), (0.0, 0.0, -0.15 * height))
        neck = Part("cylinder", (0.4 * radius, 0.3 * height), (0.0, 0.0, 0.35 * height))
        return cls(name, (body, neck), mass, **options)

    @property
    def height(self) -> float:
        """Height of the upright object [m]."""
        low = [_bottom(part, np.eye(3), np.asarray(part.center)) for part in self.parts]
        high = [-_bottom(part, np.eye(3), -np.asarray(part.center)) for part in self.parts]
        return float(max(high) - min(low))

    @property
    def rest_height(self) -> float:
        """Height of the origin of the upright object above a surface on which it stands [m]."""
        return -lowest(self, np.eye(4))

    def add_to(self, spec: Any, mujoco: Any) -> None:
        """Add the body to a MuJoCo specification."""
        body = spec.worldbody.add_body(name=self.name)
        body.add_freejoint(name=self.name)
        whole = sum(part.volume for part in self.parts)
        for part in self.parts:
            body.add_geom(
                type=getattr(mujoco.mjtGeom, f"mjGEOM_{part.shape.upper()}"), size=part.mujoco_size, pos=part.center,
                mass=self.mass * part.volume / whole, rgba=self.rgba, contype=OBJECT[0], conaffinity=OBJECT[1],
                condim=4, friction=[0.5, 0.005, 1e-4], group=1, **CONTACT,
            )  # fmt: skip


def _checked(part: Part) -> Part:
    one_of(part.shape, _SIZES, "shape")
    size = all_positive(numbers(part.size, f"size of a {part.shape}", 1), f"size of a {part.shape}")
    if len(size) != _SIZES[part.shape]:
        raise ThunderError(f"size of a {part.shape} must have {_SIZES[part.shape]} entries, got {len(size)}")
    if part.shape == "capsule" and size[1] <= 2.0 * size[0]:
        raise ThunderError(f"height of a capsule must be more than twice its radius, got {size.tolist()}")
    return Part(part.shape, tuple(size.tolist()), tuple(array(part.center, (3,), "center").tolist()))


def lowest(thing: WorldObject, T: Array) -> float:
    """Return the height of the lowest point of an object at a pose (4, 4) [m]."""
    R, p = T[:3, :3], T[:3, 3]
    return min(_bottom(part, R, p + R @ np.asarray(part.center)) for part in thing.parts)


def _bottom(part: Part, R: Array, center: Array) -> float:
    """Return the support of a shape downwards."""
    half = part.mujoco_size
    if part.shape == "sphere":
        reach = half[0]
    elif part.shape == "box":
        reach = float(np.abs(R[2]) @ half)
    else:
        upright = abs(float(R[2, 2]))
        across = 1.0 if part.shape == "capsule" else math.sqrt(max(0.0, 1.0 - upright**2))
        reach = half[1] * upright + half[0] * across
    return float(center[2]) - reach
