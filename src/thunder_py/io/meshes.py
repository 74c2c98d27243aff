"""Meshes of the links of a URDF for robots loaded from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..checks import Array, one_of, whole
from ..errors import FileFormatError, ThunderError
from ..files import as_file
from ..optional import require
from ..plotting.shapes import Triangles, box, cylinder, merge, sphere
from .urdf_geometry import Geometry, mesh_path, read_geometry

if TYPE_CHECKING:
    from ..model.model import RobotModel

GRAY = (0.75, 0.76, 0.78)
#: fewest faces of a part of a mesh
_LEAST = 16


def load_surface(path: Path, faces: int) -> tuple[Triangles, Array]:
    """Read a mesh file of any format of trimesh: STL, OBJ, DAE, PLY, ...

    Meshes with more triangles than about `faces` are thinned. Lengths are in meters; the colors (f, 3) of the faces
    are red, green and blue, 0 to 1, gray where the file has none.
    """
    file = as_file(path)
    trimesh = require("trimesh", "visual")
    if path.suffix.lower() == ".dae":
        require("collada", "visual")
    try:
        scene = trimesh.load_scene(file)
        meshes = [_placed(scene, node) for node in sorted(scene.graph.nodes_geometry)]
    except Exception as error:  # its loaders raise many types on broken files
        raise FileFormatError(f"not a mesh: {error}", path=path) from error
    bodies = [body for body in meshes if len(getattr(body, "faces", ()))]
    if not bodies:
        raise FileFormatError("not a mesh: no triangles in it", path=path)
    total = sum(len(body.faces) for body in bodies)
    thin = [_thinned(body, max(_LEAST, faces * len(body.faces) // total)) for body in bodies]
    surface, colors = [part for part, _ in thin], [rgb for _, rgb in thin]
    return merge(surface), np.concatenate(colors)


def _placed(scene: Any, node: str) -> Any:
    """Return a geometry of a scene at its pose, in meters."""
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
        # formats such as STL repeat the vertices of each face; they are merged first, or no edge could be collapsed
        size = max(float(np.ptp(vertices, axis=0).max()), 1e-12)
        _, first, number = np.unique(np.round(vertices / (1e-6 * size)), axis=0, return_index=True, return_inverse=True)
        low, high = vertices.min(axis=0), vertices.max(axis=0)
        vertices, corners = simplify(vertices[first], number.reshape(-1)[corners], target_count=faces)
        vertices = np.clip(vertices, low, high)  # collapsed corners may lie outside
        colors = np.broadcast_to(colors.mean(axis=0), (len(corners), 3))
    return Triangles(np.asarray(vertices, dtype=np.float64), np.asarray(corners, dtype=np.int64)), np.array(colors)


def _colors(body: Any) -> Array:
    """Return a color for each face."""
    visual = body.visual
    if visual.kind == "texture":
        rgb: Any = np.asarray(getattr(visual.material, "main_color", (255 * c for c in GRAY)))[:3] / 255.0
    elif visual.kind in ("face", "vertex"):
        rgb = np.asarray(visual.face_colors)[:, :3] / 255.0
    else:
        rgb = np.asarray(GRAY)
    return np.array(np.broadcast_to(rgb, (len(body.faces), 3)), dtype=np.float64)


#: default number of triangles of a mesh file; an arm of ten such files is drawn in a second
_FACES = 1000


@dataclass(frozen=True, eq=False)
class MeshPart:
    """Body of one link.

    Attributes
    ----------
    link : str
        Name of the link in the URDF.
    surface : Triangles
        Surface in the link's frame [m].
    colors : (f, 3) array
        Red, green and blue of each face, 0 to 1.
    name : str
        File name or kind of primitive.
    """

    link: str
    surface: Triangles
    colors: Array
    name: str


@dataclass(frozen=True, eq=False)
class Meshes:
    """Bodies of the links of a URDF, read by `Meshes.load`.

    Attributes
    ----------
    parts : tuple of MeshPart
        Bodies in the order of the file.
    path : Path
        The URDF file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import thunder_py as th
    >>> from thunder_py.io import Meshes
    >>> arm = '''<robot name="pole"><link name="base"/><link name="pole">
    ...   <inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
    ...   <visual><geometry><box size="0.1 0.1 0.5"/></geometry></visual></link>
    ...   <joint name="turn" type="continuous"><parent link="base"/><child link="pole"/></joint></robot>'''
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "pole.urdf").write_text(arm)
    ...     meshes, robot = Meshes.load(f"{folder}/pole.urdf"), th.Robot.load(f"{folder}/pole.urdf")
    >>> surface, colors = meshes.placed(robot, [0.3])
    >>> meshes.parts[0].name, surface.faces.shape
    ('box', (12, 3))
    """

    parts: tuple[MeshPart, ...]
    path: Path

    @classmethod
    def load(
        cls,
        urdf: str | Path,
        package_dirs: str | Path | Sequence[str | Path] = (),
        *,
        geometry: str = "visual",
        faces: int = _FACES,
    ) -> Meshes:
        """Read the meshes and primitives (boxes, cylinders, spheres) of a URDF.

        Parameters
        ----------
        urdf : path-like
            The URDF file.
        package_dirs : path-like or sequence of path-like
            Folders of packages, for names such as ``package://arm_description/meshes/hand.stl``; searched before those
            of the environment variable ``ROS_PACKAGE_PATH`` and the folders above the URDF.
        geometry : {"visual", "collision"}
            Elements to read.
        faces : int
            Approximate number of triangles to keep of each mesh file.

        Raises
        ------
        FileFormatError
            If a file is not a URDF or a mesh, or a file or package is not found; with line and element of the URDF.
        ThunderError
            If another argument is invalid.
        ModuleNotFoundError
            If the URDF names mesh files and the extra ``visual`` is not installed.
        """
        one_of(geometry, ("visual", "collision"), "geometry")
        whole(faces, "faces", 1)
        path = Path(urdf)
        if path.suffix != ".urdf":
            raise ThunderError(f"urdf must be a .urdf file, got {str(urdf)!r}")
        folders = [package_dirs] if isinstance(package_dirs, (str, Path)) else list(package_dirs)
        bodies = read_geometry(path, geometry)
        if not bodies:
            raise ThunderError(f"{path}: no link has a <{geometry}>")
        files = {body.filename: mesh_path(body, path, folders) for body in bodies if body.kind == "mesh"}
        surfaces = {name: load_surface(file, int(faces)) for name, file in files.items()}
        return cls(tuple(_part(body, surfaces.get(body.filename)) for body in bodies), path)

    def frame(self, robot: RobotModel, link: str) -> str | None:
        """Return the robot's name of the frame of a link, None if it does not have the link."""
        return next((name for name in (f"urdf:{link}", link) if name in robot.frame_names), None)

    def placed(self, robot: RobotModel, q: npt.ArrayLike) -> tuple[Triangles, Array]:
        """Return all bodies in the world, and the colors of their faces.

        Links that the robot does not have, such as other branches of the file, are left out.

        Parameters
        ----------
        robot : Robot
            Robot loaded from the same file.
        q : (n,) array_like
            Joint positions [rad or m].

        Returns
        -------
        surface : Triangles
            All bodies in the world [m].
        colors : (f, 3) array
            Red, green and blue of each face, 0 to 1.

        Raises
        ------
        ThunderError
            If the robot has none of the links.
        """
        frames = {part.link: self.frame(robot, part.link) for part in self.parts}
        poses = {link: robot.forward_kinematics(q, name) for link, name in frames.items() if name is not None}
        if not poses:
            links = ", ".join(dict.fromkeys(part.link for part in self.parts))
            raise ThunderError(
                f"meshes: the robot {robot.name!r} has no frame with the name of a link of {self.path} ({links}); "
                f"load it from that file: Robot.load({str(self.path)!r})"
            )
        parts = [part for part in self.parts if part.link in poses]
        surface = merge([part.surface.placed(poses[part.link]) for part in parts])
        return surface, np.concatenate([part.colors for part in parts])


def _part(body: Geometry, loaded: tuple[Triangles, Array] | None) -> MeshPart:
    if loaded is not None:
        surface, colors = loaded
        surface = Triangles(surface.vertices * body.size, surface.faces)
    elif body.kind == "box":
        surface = box(body.size)
    elif body.kind == "cylinder":
        surface = cylinder(body.size[0], body.size[1])
    else:
        surface = sphere(body.size[0])
    if loaded is None or body.color is not None:
        colors = np.tile(GRAY if body.color is None else body.color, (len(surface.faces), 1))
    name = Path(body.filename).name if body.kind == "mesh" else body.kind
    return MeshPart(body.link, surface.placed(body.pose), np.asarray(colors, dtype=np.float64), name)
