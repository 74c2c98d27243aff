"""Mesh files as triangles with colours, thinned out. Needs the extra ``visual``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ..checks import Array
from ..errors import FileFormatError
from ..files import as_file
from ..optional import require
from .shapes import Triangles, together

__all__ = ["GREY", "load_surface"]

GREY = (0.75, 0.76, 0.78)
#: a part of a mesh keeps at least so many faces
_LEAST = 16


def load_surface(path: Path, faces: int) -> tuple[Triangles, Array]:
    """Read a mesh file of any format that trimesh knows: STL, OBJ, DAE, PLY, ...

    Parameters
    ----------
    path : Path
        The file.
    faces : int
        How many triangles are left, about; a mesh that has fewer stays as it is.

    Returns
    -------
    surface : Triangles
        [m]; a unit that the file names is converted.
    colors : (f, 3) array
        Red, green and blue of each face, 0 to 1; grey where the file has none.

    Raises
    ------
    FileFormatError
        Not a mesh.
    ModuleNotFoundError
        The extra ``visual`` is not installed.
    """
    file = as_file(path)
    trimesh = require("trimesh", "visual")
    if path.suffix.lower() == ".dae":
        require("collada", "visual")
    try:
        scene = trimesh.load_scene(file)
        placed = [_placed(scene, node) for node in sorted(scene.graph.nodes_geometry)]
    except Exception as error:  # whatever its many loaders raise on broken files
        raise FileFormatError(f"not a mesh: {error}", path=path) from error
    bodies = [body for body in placed if len(getattr(body, "faces", ()))]
    if not bodies:
        raise FileFormatError("not a mesh: no triangles in it", path=path)
    total = sum(len(body.faces) for body in bodies)
    thin = [_thinned(body, max(_LEAST, faces * len(body.faces) // total)) for body in bodies]
    surface, colors = [part for part, _ in thin], [rgb for _, rgb in thin]
    return together(surface), np.concatenate(colors)


def _placed(scene: Any, node: str) -> Any:
    """Return a geometry of a scene where it stands, in metres."""
    trimesh = require("trimesh", "visual")
    T, name = scene.graph[node]
    body = scene.geometry[name].copy()
    body.apply_transform(T)
    if scene.units and scene.units != "meters":
        body.apply_scale(trimesh.units.unit_conversion(scene.units, "meters"))
    return body


def _thinned(body: Any, faces: int) -> tuple[Triangles, Array]:
    vertices, corners = np.asarray(body.vertices, dtype=np.float64), np.asarray(body.faces, dtype=np.int64)
    colors = _colors(body)
    if len(corners) > faces:
        simplify = require("fast_simplification", "visual").simplify
        # formats such as STL repeat the vertices of each face: those are one again, or nothing could be collapsed
        size = max(float(np.ptp(vertices, axis=0).max()), 1e-12)
        _, first, number = np.unique(np.round(vertices / (1e-6 * size)), axis=0, return_index=True, return_inverse=True)
        low, high = vertices.min(axis=0), vertices.max(axis=0)
        vertices, corners = simplify(vertices[first], number.reshape(-1)[corners], target_count=faces)
        vertices = np.clip(vertices, low, high)  # corners that were moved together may stick out otherwise
        colors = np.broadcast_to(colors.mean(axis=0), (len(corners), 3))
    return Triangles(np.asarray(vertices, dtype=np.float64), np.asarray(corners, dtype=np.int64)), np.array(colors)


def _colors(body: Any) -> Array:
    """Return a colour for each face."""
    visual = body.visual
    if visual.kind == "texture":
        rgb: Any = np.asarray(getattr(visual.material, "main_color", (255 * c for c in GREY)))[:3] / 255.0
    elif visual.kind in ("face", "vertex"):
        rgb = np.asarray(visual.face_colors)[:, :3] / 255.0
    else:
        rgb = np.asarray(GREY)
    return np.array(np.broadcast_to(rgb, (len(body.faces), 3)), dtype=np.float64)
