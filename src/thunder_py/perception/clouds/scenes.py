"""Simulated depth camera and scenes of simple shapes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from ...checks import Array, all_positive, array, nonnegative, of_kind, pose, positive, within
from ...errors import ThunderError
from ...spatial.single import make_pose
from ...values import Value, set_fields
from ..camera import PinholeCamera


class Shape(Protocol):
    """A body that intersects rays."""

    def depth(self, origin: Array, directions: Array) -> Array:
        """Return the smallest t > 0 at which ``origin + t directions`` meets the surface, (n,); inf where it does not.

        Parameters
        ----------
        origin : (3,) array
            Origin of the rays in the world [m].
        directions : (n, 3) array
            Directions in the world, of any length.
        """


@dataclass(frozen=True, eq=False)
class Cuboid(Value):
    """A box.

    Attributes
    ----------
    size : (3,) array
        Size along its axes [m].
    pose : (4, 4) array
        Pose of its middle in the world.

    Raises
    ------
    ThunderError
        If `size` is not positive or `pose` is not a pose.

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.perception.clouds import Cuboid
    >>> box = Cuboid((0.2, 0.1, 0.4))
    >>> box.depth(np.array([0.0, 0.0, 1.0]), np.array([[0.0, 0.0, -1.0], [1.0, 0.0, 0.0]])).round(3).tolist()
    [0.8, inf]
    """

    size: npt.ArrayLike
    pose: npt.ArrayLike = field(default_factory=lambda: np.eye(4))

    def __post_init__(self) -> None:
        """Check size and pose."""
        size = all_positive(array(self.size, (3,), "size"), "size")
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
        Radius and height [m].
    pose : (4, 4) array
        Pose of its middle in the world.

    Raises
    ------
    ThunderError
        If a dimension is not positive or `pose` is not a pose.

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.perception.clouds import Cylinder
    >>> origin, directions = np.array([1.0, 0.0, 0.0]), np.array([[-1.0, 0.0, 0.0]])
    >>> Cylinder(radius=0.1, height=0.4).depth(origin, directions).round(3).tolist()
    [0.9]
    """

    radius: float
    height: float
    pose: npt.ArrayLike = field(default_factory=lambda: np.eye(4))

    def __post_init__(self) -> None:
        """Check dimensions and pose."""
        radius, height = positive(self.radius, "radius", "m"), positive(self.height, "height", "m")
        set_fields(self, radius=radius, height=height, pose=pose(self.pose, "pose"))

    def depth(self, origin: Array, directions: Array) -> Array:
        """See `Shape.depth`: the side between the caps, and the caps inside the circle."""
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
        Radius [m].
    center : (3,) array
        Center in the world [m].

    Raises
    ------
    ThunderError
        If `radius` is not positive.

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.perception.clouds import Ball
    >>> origin, directions = np.array([0.0, 0.0, 1.0]), np.array([[0.0, 0.0, -1.0]])
    >>> Ball(radius=0.1, center=(0.0, 0.0, 0.1)).depth(origin, directions).round(3).tolist()
    [0.8]
    """

    radius: float
    center: npt.ArrayLike = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        """Check radius and center."""
        set_fields(self, radius=positive(self.radius, "radius", "m"), center=array(self.center, (3,), "center"))

    def depth(self, origin: Array, directions: Array) -> Array:
        """See `Shape.depth`."""
        o = origin - np.asarray(self.center)
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
        return np.asarray(np.where(depths > 0.0, depths, np.inf).min(axis=0))


def _quiet() -> np.errstate:
    """Silence the warnings of rays that miss: divisions by zero and roots of negative numbers."""
    return np.errstate(divide="ignore", invalid="ignore")


class View(NamedTuple):
    """Result of a depth camera.

    Attributes
    ----------
    cloud : (height, width, 3) array
        Points in the world [m]; NaN where nothing was measured.
    shape : (height, width) array
        Index of the shape at each pixel, measured or not; -1 for none.
    """

    cloud: Array
    shape: npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class DepthCamera(Value):
    """A stereo or structured-light camera whose depth has noise, quantization and holes.

    The standard deviation of the depth z is ``noise + noise_per_z2 * z**2``, as for triangulation.

    Attributes
    ----------
    camera : PinholeCamera
        Intrinsic parameters of the depth camera.
    pose : (4, 4) array
        Pose of the camera in the world, see `look_at`.
    noise : float
        Constant part of the standard deviation [m].
    noise_per_z2 : float
        Quadratic part [1/m]; 0.001 to 0.003 for cameras like those of D4.2.
    resolution : float
        Step of depth [m], 0 for none.
    dropout : float
        Probability that a pixel has no depth.
    edge_dropout : float
        The same for pixels where depth jumps by more than `EDGE`.
    near, far : float
        Range [m].

    Raises
    ------
    ThunderError
        If a number is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.perception import PinholeCamera
    >>> from thunder_py.perception.clouds import Ball, DepthCamera, look_at
    >>> lens = PinholeCamera.from_field_of_view(64, 48, 1.0)
    >>> camera = DepthCamera(lens, look_at((0.0, -1.0, 0.5), (0.0, 0.0, 0.0)), noise_per_z2=0.002)
    >>> view = camera.see([Ball(0.1)], np.random.default_rng(0))
    >>> view.cloud.shape, int((view.shape == 0).sum()) == int(np.isfinite(view.cloud[..., 0]).sum())
    ((48, 64, 3), True)
    """

    camera: PinholeCamera
    pose: npt.ArrayLike
    noise: float = 0.0
    noise_per_z2: float = 0.0
    resolution: float = 0.0
    dropout: float = 0.0
    edge_dropout: float = 0.0
    near: float = 0.1
    far: float = 10.0

    #: jump of depth between neighbors that counts as an edge [m]
    EDGE = 0.02

    def __post_init__(self) -> None:
        """Check the numbers."""
        of_kind(self.camera, PinholeCamera, "camera")
        fields: dict[str, float] = {
            name: nonnegative(getattr(self, name), name, "m") for name in ("noise", "resolution", "near", "far")
        }
        fields |= {name: within(getattr(self, name), name, 0.0, 1.0) for name in ("dropout", "edge_dropout")}
        fields["noise_per_z2"] = nonnegative(self.noise_per_z2, "noise_per_z2", "1/m")
        set_fields(self, pose=pose(self.pose, "pose"), **fields)
        if self.near >= self.far:
            raise ThunderError(f"near must be below far, got {self.near:g} m and {self.far:g} m")

    def see(self, shapes: Sequence[Shape], rng: np.random.Generator) -> View:
        """Return the cloud of a scene in which shapes hide each other.

        Parameters
        ----------
        shapes : sequence of Shape
            Bodies in the scene.
        rng : numpy.random.Generator
            Its draws do not depend on the scene, so views of two scenes have the same noise.
        """
        depths = self._depths(shapes)
        seen = depths.argmin(axis=0) - 1
        return View(self.cloud(self.measure(depths.min(axis=0), rng)), seen.astype(np.int64))

    def depth(self, shapes: Sequence[Shape], rng: np.random.Generator) -> Array:
        """Return the depths (height, width) of a scene [m], NaN where nothing was measured; see `see`."""
        return self.measure(self._depths(shapes).min(axis=0), rng)

    def _depths(self, shapes: Sequence[Shape]) -> Array:
        """Return true depths of the background, infinite, and of each shape, (k + 1, height, width)."""
        rays, origin = self._rays().reshape(-1, 3), np.asarray(self.pose)[:3, 3]
        depths = np.stack([np.full(len(rays), np.inf), *(shape.depth(origin, rays) for shape in shapes)])
        return depths.reshape(-1, self.camera.height, self.camera.width)

    def cloud(self, depth: npt.ArrayLike) -> Array:
        """Return the points (height, width, 3) in the world of a picture of depths (height, width) [m]."""
        z = np.asarray(depth, dtype=np.float64)
        if z.shape != (self.camera.height, self.camera.width):
            raise ThunderError(f"depth must have shape {(self.camera.height, self.camera.width)}, got {z.shape}")
        return np.asarray(self._rays() * z[..., None] + np.asarray(self.pose)[:3, 3])

    def _rays(self) -> Array:
        """Return directions (height, width, 3) in the world, of depth 1."""
        return np.asarray(self.camera.directions(self.camera.pixels()) @ np.asarray(self.pose)[:3, :3].T)

    def measure(self, depth: Array, rng: np.random.Generator) -> Array:
        """Return depths with noise and holes, (height, width) [m], NaN where nothing was measured.

        Parameters
        ----------
        depth : (height, width) array
            True depths along the optical axis [m]; infinite where there is nothing.
        rng : numpy.random.Generator
            Its draws do not depend on the depths.
        """
        noise, chance = rng.normal(size=depth.shape), rng.random(depth.shape)
        hit = np.isfinite(depth)
        true: Array = np.where(hit, depth, float(self.far))
        lost = (chance < self.dropout) | (_edges(true, self.EDGE) & (chance < self.edge_dropout))
        measured: Array = true + (self.noise + self.noise_per_z2 * true**2) * noise
        if self.resolution > 0.0:
            measured = np.round(measured / self.resolution) * self.resolution
        kept = hit & ~lost & (measured >= self.near) & (measured <= self.far)
        return np.where(kept, measured, np.nan)


def look_at(eye: npt.ArrayLike, target: npt.ArrayLike, up: npt.ArrayLike = (0.0, 0.0, 1.0)) -> Array:
    """Return the pose (4, 4) of a camera at `eye` that looks at `target`, with `up` towards the top of the picture.

    Parameters
    ----------
    eye, target, up : (3,) array_like
        Positions in the world [m], and a direction.

    Raises
    ------
    ThunderError
        If `target` is at `eye`, or along `up` from it.

    Examples
    --------
    >>> from thunder_py.perception.clouds import look_at
    >>> look_at((0.0, -1.0, 0.0), (0.0, 0.0, 0.0))[:3, 2].round(3).tolist()  # direction of the view
    [0.0, 1.0, 0.0]
    """
    z = np.asarray(target, dtype=float) - np.asarray(eye, dtype=float)
    x = np.cross(z, np.asarray(up, dtype=float))
    if not float(np.linalg.norm(x)) > 1e-9 * max(float(np.linalg.norm(z)), 1e-9):
        raise ThunderError(f"target must not be at eye, nor straight along up from it; got {eye!r}, {target!r}, {up!r}")
    z, x = z / np.linalg.norm(z), x / np.linalg.norm(x)
    return pose(make_pose(np.stack([x, np.cross(z, x), z], axis=1), np.asarray(eye, dtype=float)), "pose")


def _edges(z: Array, jump: float) -> npt.NDArray[np.bool_]:
    """Return the mask of pixels whose depth jumps to a neighbor."""
    mask = np.zeros(z.shape, dtype=np.bool_)
    for axis in (0, 1):
        jumps = np.abs(np.diff(z, axis=axis)) > jump
        mask |= np.insert(jumps, 0, False, axis) | np.insert(jumps, jumps.shape[axis], False, axis)
    return mask
