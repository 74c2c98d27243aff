"""Triangle surfaces of simple bodies."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..checks import Array
from .style import FAINT

if TYPE_CHECKING:
    from ..geometry import Sphere

__all__ = ["Triangles", "box", "cylinder", "draw_spheres", "shaded", "sphere", "sphere_grid", "together"]

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


def together(parts: Sequence[Triangles]) -> Triangles:
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


def sphere(radius: float) -> Triangles:
    """Return a sphere about the origin [m]."""
    grid = radius * sphere_grid(13, 7)
    rows, columns = grid.shape[1:]
    number = np.arange(rows * columns).reshape(rows, columns)
    a, b, c, d = number[:-1, :-1], number[:-1, 1:], number[1:, 1:], number[1:, :-1]
    faces = np.concatenate([np.stack([a, d, c], -1).reshape(-1, 3), np.stack([a, c, b], -1).reshape(-1, 3)])
    return Triangles(grid.reshape(3, -1).T, faces)


def sphere_grid(meridians: int = 25, circles: int = 13) -> Array:
    """Return points of the unit sphere on a grid of meridians and circles of latitude, (3, circles, meridians)."""
    u, v = np.meshgrid(np.linspace(0.0, 2.0 * np.pi, meridians), np.linspace(0.0, np.pi, circles))
    return np.stack([np.cos(u) * np.sin(v), np.sin(u) * np.sin(v), np.cos(v)])


def draw_spheres(axes: Any, spheres: Iterable[Sphere], margin: float = 0.0) -> None:
    """Draw spheres, and their margin with less opacity, on 3-D axes."""
    unit = sphere_grid()
    for body in spheres:
        for radius, alpha in ((body.radius, 0.6), (body.radius + margin, 0.12))[: 2 if margin else 1]:
            surface = np.asarray(body.center)[:, None, None] + radius * unit
            axes.plot_surface(*surface, color=FAINT, alpha=alpha, linewidth=0.0)


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
