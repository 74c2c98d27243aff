"""What a robot without meshes looks like in MuJoCo: capsules from joint to joint, cylinders and boxes as joints.

Shapes have no mass and touch nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..checks import Array
from ..description import RobotDescription
from .xml_text import number, numbers, quaternion, tag

__all__ = ["ASSETS", "DEFAULTS", "Shapes"]

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
    """Shapes of an arm, sized by its length.

    Parameters
    ----------
    description : RobotDescription
        The arm.
    """

    def __init__(self, description: RobotDescription) -> None:
        d = description
        self._description = d
        inverse = np.linalg.inv(d.offsets)
        # in frame i of base and links: where its own joint is, where the next one
        self._own = np.vstack([np.zeros(3), inverse[:, :3, 3]])
        self._next = np.vstack([d.placements[:, :3, 3], d.tool[:3, 3]])
        self._axes = np.array([inv[:3, :3] @ axis for inv, axis in zip(inverse, d.axes, strict=True)])
        length = float(np.linalg.norm(self._next - self._own, axis=1).sum())
        self.length = length if length > 0.0 else 0.5

    def radius(self, i: int) -> float:
        """Radius of link i, 0 to n: the arm becomes thinner towards its tip."""
        return 0.045 * self.length * (1.0 - 0.55 * i / self._description.n)

    def of_body(self, i: int) -> Iterator[str]:
        """Elements of body i: 0 is the base."""
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
        """Yield a cylinder along the axis; of a prismatic joint a box with a rail as long as the way back."""
        d, r = self._description, self.radius(i)
        axis, place = self._axes[i - 1], {"pos": numbers(self._own[i]), "quat": _along(self._axes[i - 1])}
        if d.joint_types[i - 1] == "R":
            yield tag("geom", type="cylinder", size=numbers([1.1 * r, 1.25 * r]), material="joint", **place)
            return
        yield tag("geom", type="box", size=numbers([r, r, 1.4 * r]), material="joint", **place)
        upper = np.inf if d.limits is None else float(d.limits.upper[i - 1])
        rail = upper if 0.0 < upper < np.inf else 0.3 * self.length
        ends = [*self._own[i], *(self._own[i] - rail * axis)]
        yield tag("geom", type="capsule", fromto=numbers(ends), size=number(0.4 * r), material="base")


def _along(axis: Array) -> str:
    """Return the rotation that takes z to `axis`."""
    z = axis / np.linalg.norm(axis)
    x = np.cross(np.eye(3)[np.argmin(np.abs(z))], z)
    x /= np.linalg.norm(x)
    return numbers(quaternion(np.column_stack([x, np.cross(z, x), z])))
