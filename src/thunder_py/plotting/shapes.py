"""Triangle surfaces of simple bodies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..checks import Array
from ..geometry import Box, Capsule, HalfSpace, Obstacle, Sphere
from ..spatial.single import make_pose

#: direction of the light
_LIGHT = np.array([0.35, -0.55, 0.76])
#: brightness of a face turned away from the light
_DARKEST = 0.35


class Triangles(NamedTuple):
    """Triangle surface.

    Attributes
    ----------
    vertices : (v, 3) array
        Points [m].
    faces : (f, 3) array of int
        Rows of the three corners, counterclockwise as seen from outside.
    """

    vertices: Array
    faces: npt.NDArray[np.int64]

    def placed(self, T: Array) -> Triangles:
        """Return the surface moved by a pose (4, 4)."""
        return Triangles(self.vertices @ T[:3, :3].T + T[:3, 3], self.faces)

    def corners(self) -> Array:
        """Return the corners of every face, (f, 3, 3)."""
        return self.vertices[self.faces]


def merge(parts: Sequence[Triangles]) -> Triangles:
    """Return several surfaces as one."""
    starts = np.cumsum([0, *(len(part.vertices) for part in parts)])
    faces = [part.faces + start for part, start in zip(parts, starts, strict=False)]
    if not parts:
        return Triangles(np.zeros((0, 3)), np.zeros((0, 3), dtype=np.int64))
    return Triangles(np.concatenate([part.vertices for part in parts]), np.concatenate(faces))


def box(size: Sequence[float] | Array) -> Triangles:
    """Return a box about the origin with edges `size` (3,) [m] along x, y and z."""
    signs = np.array([[i, j, k] for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)], dtype=np.float64)
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    faces = [triangle for a, b, c, d in quads for triangle in ((a, b, c), (a, c, d))]
    return Triangles(0.5 * signs * np.asarray(size, dtype=np.float64), np.array(faces, dtype=np.int64))


def cylinder(radius: float, length: float, sides: int = 20) -> Triangles:
    """Return a cylinder about the origin along z [m]."""
    angle = np.linspace(0.0, 2.0 * np.pi, sides, endpoint=False)
    ring = np.stack([radius * np.cos(angle), radius * np.sin(angle), np.full(sides, -0.5 * length)], axis=1)
    ends = np.array([[0.0, 0.0, -0.5 * length], [0.0, 0.0, 0.5 * length]])
    vertices = np.concatenate([ring, ring + np.array([0.0, 0.0, length]), ends])
    low, high = 2 * sides, 2 * sides + 1
    faces = []
    for k in range(sides):
        a, b = k, (k + 1) % sides
        faces += [(a, b, b + sides), (a, b + sides, a + sides), (b, a, low), (a + sides, b + sides, high)]
    return Triangles(vertices, np.array(faces, dtype=np.int64))


def sphere(radius: float, meridians: int = 13, circles: int = 7) -> Triangles:
    """Return a sphere about the origin [m]."""
    grid = radius * sphere_grid(meridians, circles)
    number = np.arange(circles * meridians).reshape(circles, meridians)
    a, b, c, d = number[:-1, :-1], number[:-1, 1:], number[1:, 1:], number[1:, :-1]
    faces = np.concatenate([np.stack([a, d, c], -1).reshape(-1, 3), np.stack([a, c, b], -1).reshape(-1, 3)])
    return Triangles(grid.reshape(3, -1).T, faces)


def sphere_grid(meridians: int = 25, circles: int = 13) -> Array:
    """Return points of the unit sphere on a grid of meridians and circles of latitude, (3, circles, meridians)."""
    u, v = np.meshgrid(np.linspace(0.0, 2.0 * np.pi, meridians), np.linspace(0.0, np.pi, circles))
    return np.stack([np.cos(u) * np.sin(v), np.sin(u) * np.sin(v), np.cos(v)])


def obstacle_surface(obstacle: Obstacle, margin: float = 0.0, floor: float = 1.0) -> Triangles:
    """Return the surface of an obstacle that is larger by a margin [m]; of a half-space, a square of edge `floor`."""
    if isinstance(obstacle, Sphere):
        return sphere(obstacle.radius + margin, 25, 13).placed(make_pose(np.eye(3), obstacle.center))
    if isinstance(obstacle, Box):
        return box(obstacle.size + 2.0 * margin).placed(make_pose(obstacle.orientation, obstacle.center))
    if isinstance(obstacle, Capsule):
        radius, length = obstacle.radius + margin, float(np.linalg.norm(obstacle.b - obstacle.a))
        ends = [sphere(radius, 25, 13).placed(make_pose(np.eye(3), end)) for end in (obstacle.a, obstacle.b)]
        if length == 0.0:
            return ends[0]
        turned = frame_along((obstacle.b - obstacle.a) / length)[:3, :3]
        return merge([cylinder(radius, length).placed(make_pose(turned, 0.5 * (obstacle.a + obstacle.b))), *ends])
    assert isinstance(obstacle, HalfSpace)
    plane = box([floor, floor, 0.0]).placed(frame_along(obstacle.normal))
    return Triangles(plane.vertices + obstacle.point + margin * obstacle.normal, plane.faces)


def frame_along(axis: Array) -> Array:
    """Return a frame (4, 4) at the origin whose z axis points along a unit vector."""
    helper = np.eye(3)[int(np.argmin(np.abs(axis)))]
    x = np.cross(helper, axis)
    x /= np.linalg.norm(x)
    return make_pose(np.column_stack([x, np.cross(axis, x), axis]), np.zeros(3))


def shaded(corners: Array, colors: Any, alpha: float = 1.0) -> Array:
    """Return colors of faces under a light from above, (f, 4): faces turned away are darker.

    Parameters
    ----------
    corners : (f, 3, 3) array
        Corners of each face [m].
    colors : str or (f, 3) array
        Color of all faces, or red, green and blue of each, 0 to 1.
    alpha : float
        Opacity.
    """
    from matplotlib.colors import to_rgb

    rgb = np.asarray(to_rgb(colors) if isinstance(colors, str) else colors, dtype=np.float64)
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    # faces without area have no normal and are invisible
    cosine = np.divide(normals, lengths, out=np.zeros_like(normals), where=lengths > 0.0) @ _LIGHT
    bright = _DARKEST + (1.0 - _DARKEST) * 0.5 * (1.0 + cosine)
    return np.column_stack([np.clip(bright[:, None] * rgb, 0.0, 1.0), np.full(len(corners), alpha)])
