"""What the links of a URDF look like, for robots that were made of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..checks import Array
from ..errors import ThunderError
from ..io.urdf_geometry import Geometry, mesh_path, read_geometry
from .mesh_files import GREY, load_surface
from .shapes import Triangles, box, cylinder, sphere, together

if TYPE_CHECKING:
    from ..robot import Robot

__all__ = ["MeshPart", "Meshes"]

#: triangles of a mesh file that are drawn by default; a picture of an arm of ten then takes a second
_FACES = 1000


@dataclass(frozen=True, eq=False)
class MeshPart:
    """A body of one link.

    Attributes
    ----------
    link : str
        As the URDF calls it.
    surface : Triangles
        In the link's frame [m].
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
    """Bodies of the links of a URDF.

    Attributes
    ----------
    parts : tuple of MeshPart
        In the order of the file.
    path : Path
        The file.
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
        """Read meshes and primitives (boxes, cylinders, spheres) of a URDF.

        Parameters
        ----------
        urdf : path-like
            The file.
        package_dirs : path-like or sequence of path-like
            Folders that hold packages, for names such as ``package://arm_description/meshes/hand.stl``. Then come those
            of the environment variable ``ROS_PACKAGE_PATH``, and the folders above the URDF.
        geometry : {"visual", "collision"}
            Which of the two.
        faces : int
            Triangles that are left of each mesh file, about.

        Raises
        ------
        FileFormatError
            Not a URDF or a mesh; no such file or package, with line and element of the URDF.
        ThunderError
            Another argument is wrong.
        ModuleNotFoundError
            There are mesh files, and the extra ``visual`` is not installed.
        """
        if geometry not in ("visual", "collision"):
            raise ThunderError(f"geometry must be 'visual' or 'collision', got {geometry!r}")
        if isinstance(faces, bool) or not isinstance(faces, (int, np.integer)) or faces < 1:
            raise ThunderError(f"faces must be a whole number of at least 1, got {faces!r}")
        path = Path(urdf)
        if path.suffix != ".urdf":
            raise ThunderError(f"meshes come with a .urdf file, got {str(urdf)!r}")
        folders = [package_dirs] if isinstance(package_dirs, (str, Path)) else list(package_dirs)
        found = read_geometry(path, geometry)
        if not found:
            raise ThunderError(f"{path}: no link has a <{geometry}>")
        files = {body.filename: mesh_path(body, path, folders) for body in found if body.kind == "mesh"}
        surfaces = {name: load_surface(file, int(faces)) for name, file in files.items()}
        return cls(tuple(_part(body, surfaces.get(body.filename)) for body in found), path)

    def frame(self, robot: Robot, link: str) -> str | None:
        """Return what a robot calls the frame of a link, None if it does not hold the link."""
        return next((name for name in (f"urdf:{link}", link) if name in robot.frame_names), None)

    def placed(self, robot: Robot, q: npt.ArrayLike) -> tuple[Triangles, Array]:
        """Return all bodies in the world, and the colours of their faces.

        Links that the robot does not hold, such as other branches of the file, are left out.

        Parameters
        ----------
        robot : Robot
            Made of the same file.
        q : (n,) array_like
            Joint positions [rad or m].

        Returns
        -------
        surface : Triangles
        colors : (f, 3) array

        Raises
        ------
        ThunderError
            The robot holds none of the links.
        """
        frames = {part.link: self.frame(robot, part.link) for part in self.parts}
        poses = {link: robot.forward_kinematics(q, name) for link, name in frames.items() if name is not None}
        if not poses:
            links = ", ".join(dict.fromkeys(part.link for part in self.parts))
            raise ThunderError(
                f"meshes: the robot {robot.name!r} has no frame that is called like a link of {self.path} ({links}); "
                f"load it from that file: Robot.load({str(self.path)!r})"
            )
        shown = [part for part in self.parts if part.link in poses]
        surface = together([part.surface.placed(poses[part.link]) for part in shown])
        return surface, np.concatenate([part.colors for part in shown])


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
        colors = np.tile(GREY if body.color is None else body.color, (len(surface.faces), 1))
    name = Path(body.filename).name if body.kind == "mesh" else body.kind
    return MeshPart(body.link, surface.placed(body.pose), np.asarray(colors, dtype=np.float64), name)
