"""Simple bodies, and where rays meet them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import numpy.typing as npt

from ...checks import Array, array, pose
from ...errors import ThunderError
from ...motion.scalars import positive
from ...values import Value, set_fields

__all__ = ["Ball", "Cuboid", "Cylinder", "Shape"]


class Shape(Protocol):
    """A body that rays can meet."""

    def depth(self, origin: Array, directions: Array) -> Array:
        """Return the smallest t > 0 at which ``origin + t directions`` meets the surface, (n,); inf where it does not.

        Parameters
        ----------
        origin : (3,) array
            In the world [m].
        directions : (n, 3) array
            In the world, of any length.
        """


@dataclass(frozen=True, eq=False)
class Cuboid(Value):
    """A box.

    Attributes
    ----------
    size : (3,) array
        Along its axes [m].
    pose : (4, 4) array
        Of its middle in the world.
    """

    size: npt.ArrayLike
    pose: npt.ArrayLike = field(default_factory=lambda: np.eye(4))

    def __post_init__(self) -> None:
        """Check size and pose."""
        size = array(self.size, (3,), "size")
        if (size <= 0.0).any():
            raise ThunderError(f"size must be positive, got {size.tolist()}")
        set_fields(self, size=size, pose=pose(self.pose, "pose"))

    def depth(self, origin: Array, directions: Array) -> Array:
        """See `Shape.depth`: the latest entry into, and the first exit from, three slabs."""
        o, d = _local(self.pose, origin, directions)
        half = np.asarray(self.size) / 2.0
        with _quiet():
            ends = np.stack([(-half - o) / d, (half - o) / d])
        # parallel to a slab: always or never inside; 0 / 0 is on its face
        ends = np.where(np.isnan(ends), np.array([-np.inf, np.inf])[:, None, None], ends)
        first, last = ends.min(axis=0).max(axis=1), ends.max(axis=0).min(axis=1)
        return _first_positive(np.where(first <= last, np.stack([first, last]), np.inf))


@dataclass(frozen=True, eq=False)
class Cylinder(Value):
    """A cylinder about its z axis.

    Attributes
    ----------
    radius, height : float
        [m].
    pose : (4, 4) array
        Of its middle in the world.
    """

    radius: float
    height: float
    pose: npt.ArrayLike = field(default_factory=lambda: np.eye(4))

    def __post_init__(self) -> None:
        """Check measures and pose."""
        radius, height = positive(self.radius, "radius", "m"), positive(self.height, "height", "m")
        set_fields(self, radius=radius, height=height, pose=pose(self.pose, "pose"))

    def depth(self, origin: Array, directions: Array) -> Array:
        """See `Shape.depth`: the side where it is between the caps, and the caps where they are inside the circle."""
        o, d = _local(self.pose, origin, directions)
        side = _roots((d[:, :2] ** 2).sum(axis=1), d[:, :2] @ o[:2], float(o[:2] @ o[:2]) - self.radius**2)
        with _quiet():
            height = np.abs(o[2] + side * d[:, 2])
            caps = np.stack([(sign * self.height / 2.0 - o[2]) / d[:, 2] for sign in (-1.0, 1.0)])
            across = ((o[:2] + caps[..., None] * d[:, :2]) ** 2).sum(axis=-1)
        side = np.where(height <= self.height / 2.0, side, np.inf)
        caps = np.where(across <= self.radius**2, caps, np.inf)
        return _first_positive(np.concatenate([side, caps]))


@dataclass(frozen=True, eq=False)
class Ball(Value):
    """A sphere.

    Attributes
    ----------
    radius : float
        [m].
    centre : (3,) array
        In the world [m].
    """

    radius: float
    centre: npt.ArrayLike = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        """Check measures."""
        set_fields(self, radius=positive(self.radius, "radius", "m"), centre=array(self.centre, (3,), "centre"))

    def depth(self, origin: Array, directions: Array) -> Array:
        """See `Shape.depth`."""
        o = origin - np.asarray(self.centre)
        return _first_positive(_roots((directions**2).sum(axis=1), directions @ o, float(o @ o) - self.radius**2))


def _local(frame: npt.ArrayLike, origin: Array, directions: Array) -> tuple[Array, Array]:
    T = np.asarray(frame)
    return (origin - T[:3, 3]) @ T[:3, :3], directions @ T[:3, :3]


def _roots(a: Array, half_b: Array, c: float) -> Array:
    """Return both roots of a t^2 + 2 half_b t + c, (2, n); inf where there are none."""
    with _quiet():
        root = np.sqrt(half_b**2 - a * c)
        both = np.stack([(-half_b - root) / a, (-half_b + root) / a])
    return np.where(np.isfinite(both), both, np.inf)


def _first_positive(depths: Array) -> Array:
    with _quiet():
        first: Array = np.where(depths > 0.0, depths, np.inf).min(axis=0)
    return first


@contextmanager
def _quiet() -> Iterator[None]:
    """Rays that miss divide by zero and take roots of negative numbers."""
    with np.errstate(divide="ignore", invalid="ignore"):
        yield
