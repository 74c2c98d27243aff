"""Geometry of URDF links: meshes and primitives with poses and colors. Mesh files are not opened."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlparse

import numpy as np

from ..checks import Array
from ..errors import FileFormatError
from ..files import read_whole
from ..spatial import pose_from_rpy
from .xml import Element, parse_xml

_KINDS = ("box", "cylinder", "sphere", "mesh")
_ZERO, _WHOLE = (0.0, 0.0, 0.0), (1.0, 1.0, 1.0)


@dataclass(frozen=True, eq=False)
class Geometry:
    """Store one ``<visual>`` or ``<collision>`` of a link.

    Attributes
    ----------
    link : str
        Name of the link in the file.
    pose : (4, 4) array
        Pose in the link's frame.
    kind : {"box", "cylinder", "sphere", "mesh"}
        Shape, centered on its frame; the axis of a cylinder is z.
    size : tuple of float
        Edges of a box, radius and length of a cylinder, radius of a sphere [m]; scale of a mesh.
    filename : str
        File of a mesh, as written; otherwise empty.
    color : (3,) array or None
        Red, green and blue, 0 to 1, if the file has a color.
    element : Element
        XML element, for messages.
    """

    link: str
    pose: Array
    kind: str
    size: tuple[float, ...]
    filename: str
    color: Array | None
    element: Element


def read_geometry(path: str | Path, which: str = "visual") -> list[Geometry]:
    """Read the geometry of the links of a URDF.

    Parameters
    ----------
    path : path-like
        The file.
    which : {"visual", "collision"}
        Elements to read.

    Raises
    ------
    FileFormatError
        If the file is not a valid URDF or a geometry is invalid; with line and element.
    OSError
        If the file cannot be read.
    """
    robot = parse_xml(read_whole(path), path)
    if robot.tag != "robot":
        raise robot.error("a URDF must have the root element <robot>")
    colors = {
        material.attributes.get("name", ""): color
        for material in robot.all("material")
        if (color := _color(material, {})) is not None
    }
    return [
        _read(link.text("name"), element, colors)
        for link in robot.all("link")
        for element in link.all(which)
        if element.optional("geometry") is not None
    ]


def mesh_path(geometry: Geometry, urdf: str | Path, package_dirs: Sequence[str | Path] = ()) -> Path:
    """Return the path of a mesh file.

    Parameters
    ----------
    geometry : Geometry
        A mesh.
    urdf : path-like
        The URDF file; relative names start in its folder.
    package_dirs : sequence of path-like
        Folders of packages, for names such as ``package://arm_description/meshes/hand.stl``, searched before those of
        the environment variable ``ROS_PACKAGE_PATH`` and the folders above the URDF.

    Raises
    ------
    FileFormatError
        If the file or package does not exist; the message lists the searched folders.
    """
    name = geometry.filename
    url = urlparse(name)
    if url.scheme == "package":
        return _in_package(geometry, unquote(url.netloc), unquote(url.path).lstrip("/"), Path(urdf), package_dirs)
    if url.scheme not in ("", "file"):
        raise geometry.element.error(f"meshes come from files, not over {url.scheme}:, got {name!r}")
    file = Path(unquote(url.path)) if url.scheme else Path(name)
    target = file if file.is_absolute() else Path(urdf).parent / file
    if not target.is_file():
        raise geometry.element.error(f"there is no mesh {str(target)!r}")
    return target


def _in_package(geometry: Geometry, package: str, rest: str, urdf: Path, package_dirs: Sequence[str | Path]) -> Path:
    named = [Path(folder) for folder in package_dirs]
    known = [Path(folder) for folder in os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep) if folder]
    folders = [*named, *known, *urdf.absolute().parents]
    candidates = [folder / package for folder in folders if (folder / package).is_dir()]
    candidates += [folder for folder in folders if folder.name == package and folder.is_dir()]
    if not candidates:
        looked = ", ".join(map(str, [*named, *known])) or "none"
        raise geometry.element.error(
            f"package {package!r} of {geometry.filename!r} was not found: pass package_dirs=[folder that holds "
            f"{package}], or set ROS_PACKAGE_PATH (folders given: {looked}; those above the URDF were searched too)"
        )
    for folder in candidates:
        if (folder / rest).is_file():
            return folder / rest
    raise geometry.element.error(
        f"package {package!r} has no mesh {rest!r}; looked in {', '.join(map(str, candidates))}"
    )


def _read(link: str, element: Element, colors: Mapping[str, Array]) -> Geometry:
    origin, shape = element.optional("origin"), element.required("geometry")
    kinds = [child for child in shape.children if child.tag in _KINDS]
    if len(kinds) != 1:
        raise shape.error(f"needs one of {', '.join(_KINDS)}, got {len(kinds)}")
    xyz, rpy = (_ZERO, _ZERO) if origin is None else (origin.vector("xyz", _ZERO), origin.vector("rpy", _ZERO))
    kind, material = kinds[0].tag, element.optional("material")
    return Geometry(
        link=link,
        pose=pose_from_rpy(xyz, rpy),
        kind=kind,
        size=_size(kinds[0]),
        filename=kinds[0].text("filename") if kind == "mesh" else "",
        color=None if material is None else _color(material, colors),
        element=kinds[0],
    )


def _size(shape: Element) -> tuple[float, ...]:
    if shape.tag == "mesh":
        return tuple(shape.vector("scale", _WHOLE))
    if shape.tag == "box":
        shape.text("size")  # required
        edges = shape.vector("size", _ZERO)
        if min(edges) < 0.0:
            raise shape.error(f"'size' must not be negative, got {edges}")
        return tuple(edges)
    keys = ("radius", "length") if shape.tag == "cylinder" else ("radius",)
    return tuple(shape.non_negative(key) for key in keys)


def _color(material: Element, colors: Mapping[str, Array]) -> Array | None:
    color = material.optional("color")
    if color is None:
        return colors.get(material.attributes.get("name", ""))
    rgba = np.array(color.vector("rgba", (0.7, 0.7, 0.7, 1.0)))
    if rgba.min() < 0.0 or rgba.max() > 1.0:
        raise FileFormatError(f"'rgba' must be from 0 to 1, got {rgba.tolist()}", path=color.path, line=color.line)
    return rgba[:3]
