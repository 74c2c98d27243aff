"""A camera that measures depth, on scenes of simple shapes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...checks import Array, pose
from ...errors import ThunderError
from ...values import Value, set_fields
from ..camera import PinholeCamera
from ..options import not_negative, probability
from .shapes import Shape

__all__ = ["DepthCamera", "View", "look_at"]


class View(NamedTuple):
    """What a depth camera saw.

    Attributes
    ----------
    cloud : (height, width, 3) array
        Points in the world [m]; NaN where nothing was measured.
    shape : (height, width) array
        Which of the shapes stands at each pixel, -1 for none, whether it was measured or not.
    """

    cloud: Array
    shape: npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class DepthCamera(Value):
    """A stereo or structured-light camera: depth is noisy, comes in steps, and has holes.

    The standard deviation of the depth z is ``noise + noise_per_z2 * z**2``, as triangulation has it.

    Attributes
    ----------
    camera : PinholeCamera
    pose : (4, 4) array
        Of the camera in the world, see `look_at`.
    noise : float
        [m].
    noise_per_z2 : float
        [1/m]; 0.001 to 0.003 for cameras of the kind of D4.2.
    resolution : float
        Step of depth [m], 0 for none.
    dropout : float
        Probability that a pixel has no depth.
    edge_dropout : float
        The same for pixels where depth jumps by more than `EDGE`.
    near, far : float
        Range [m].
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

    #: jump of depth between neighbours that counts as an edge [m]
    EDGE = 0.02

    def __post_init__(self) -> None:
        """Check the numbers."""
        if not isinstance(self.camera, PinholeCamera):
            raise ThunderError(f"camera must be a PinholeCamera, got {self.camera!r}")
        fields: dict[str, float] = {
            name: not_negative(getattr(self, name), name, "m") for name in ("noise", "resolution", "near", "far")
        }
        fields |= {name: probability(getattr(self, name), name) for name in ("dropout", "edge_dropout")}
        fields["noise_per_z2"] = not_negative(self.noise_per_z2, "noise_per_z2", "1/m")
        set_fields(self, pose=pose(self.pose, "pose"), **fields)
        if self.near >= self.far:
            raise ThunderError(f"near must be below far, got {self.near:g} m and {self.far:g} m")

    def see(self, shapes: Sequence[Shape], rng: np.random.Generator) -> View:
        """Return the cloud of a scene, where shapes hide each other.

        Parameters
        ----------
        shapes : sequence of Shape
        rng : numpy.random.Generator
            Draws the same numbers whatever the scene, so views of two scenes have the same noise.
        """
        T, size = np.asarray(self.pose), (self.camera.height, self.camera.width)
        rays = self.camera.directions(self.camera.pixels())
        world = rays.reshape(-1, 3) @ T[:3, :3].T
        depths = np.stack([np.full(len(world), np.inf), *(shape.depth(T[:3, 3], world) for shape in shapes)])
        nearest: Array = depths.min(axis=0)
        seen = depths.argmin(axis=0) - 1
        z = self._measured(nearest.reshape(size), rng)
        cloud = rays * z[..., None] @ T[:3, :3].T + T[:3, 3]
        return View(cloud, seen.reshape(size).astype(np.int64))

    def _measured(self, z: Array, rng: np.random.Generator) -> Array:
        noise, chance = rng.normal(size=z.shape), rng.random(z.shape)
        there = np.isfinite(z)
        true: Array = np.where(there, z, float(self.far))
        lost = (chance < self.dropout) | (_edges(true, self.EDGE) & (chance < self.edge_dropout))
        measured: Array = true + (self.noise + self.noise_per_z2 * true**2) * noise
        if self.resolution > 0.0:
            measured = np.round(measured / self.resolution) * self.resolution
        kept = there & ~lost & (measured >= self.near) & (measured <= self.far)
        return np.where(kept, measured, np.nan)


def look_at(eye: npt.ArrayLike, target: npt.ArrayLike, up: npt.ArrayLike = (0.0, 0.0, 1.0)) -> Array:
    """Return the pose (4, 4) of a camera at `eye` that looks at `target`, with `up` towards the top of the picture.

    Parameters
    ----------
    eye, target, up : (3,) array_like
        In the world [m].

    Raises
    ------
    ThunderError
        `target` is where `eye` is, or straight along `up`.
    """
    z = np.asarray(target, dtype=float) - np.asarray(eye, dtype=float)
    x = np.cross(z, np.asarray(up, dtype=float))
    if not float(np.linalg.norm(x)) > 1e-9 * max(float(np.linalg.norm(z)), 1e-9):
        raise ThunderError(f"target must not be at eye, nor straight along up from it; got {eye!r}, {target!r}, {up!r}")
    z, x = z / np.linalg.norm(z), x / np.linalg.norm(x)
    T = np.eye(4)
    T[:3, :3] = np.stack([x, np.cross(z, x), z], axis=1)
    T[:3, 3] = eye
    return pose(T, "pose")


def _edges(z: Array, jump: float) -> npt.NDArray[np.bool_]:
    """Return where the depth jumps to a neighbour."""
    found = np.zeros(z.shape, dtype=np.bool_)
    down, right = np.abs(np.diff(z, axis=0)) > jump, np.abs(np.diff(z, axis=1)) > jump
    found[1:] |= down
    found[:-1] |= down
    found[:, 1:] |= right
    found[:, :-1] |= right
    return found
