"""Geometry of URDF links: meshes and primitives with poses and colors. Mesh files are not opened."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlparse

import numpy as np

from ..checks import Array
from ..errors import FileFormatError, ThunderError
from ..files import read_whole
from .urdf import origin_of, urdf_root
from .xml import Element

#: folders above a file that are searched for packages, and where these are
_NEAR, _LEVELS = 4, ("package.xml", "*/package.xml", "*/*/package.xml")
_KINDS = ("box", "cylinder", "sphere", "mesh")


@dataclass(frozen=True, eq=False)
class Geometry:
    """Store one ``<visual>`` or ``<collision>``: its link, pose (4, 4) in the link's frame, size, color and shape.

    `size` has the edges of a box, radius and length of a cylinder about z, radius of a sphere [m], or scale of a mesh;
    `color` has red, green and blue, 0 to 1, if the file has a color.
    """

    link: str
    pose: Array
    size: tuple[float, ...]
    color: Array | None
    element: Element

    @property
    def kind(self) -> str:
        """Box, cylinder, sphere or mesh."""
        return self.element.tag

    @property
    def filename(self) -> str:
        """File of a mesh, as written; otherwise empty."""
        return self.element.attributes["filename"] if self.kind == "mesh" else ""


def read_geometry(path: str | Path, which: str = "visual") -> list[Geometry]:
    """Read the ``visual`` or ``collision`` elements of the links of a URDF; errors have line and element."""
    robot = urdf_root(read_whole(path), path)
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


def package_folders(name: str, folders: Iterable[Path]) -> list[Path]:
    """Return the folders of a ROS package: of its name, among folders and in them, or with it in ``package.xml``.

    The latter are found two levels below the first `_NEAR` folders, as in checkouts of several repositories.
    """
    folders = list(folders)
    named = [path for folder in folders for path in (folder, folder / name) if path.name == name and path.is_dir()]
    files = (file for folder in folders[:_NEAR] for level in _LEVELS for file in sorted(folder.glob(level)))
    return [*dict.fromkeys(named or (file.parent for file in files if _is_named(file, name)))]


def _is_named(package: Path, name: str) -> bool:
    """Return whether ``package.xml`` has a name."""
    with suppress(OSError, ThunderError):
        return re.search(rb"<name>\s*" + re.escape(name.encode()) + rb"\s*</name>", read_whole(package)) is not None
    return False


def mesh_path(geometry: Geometry, urdf: str | Path, package_dirs: Sequence[str | Path] = ()) -> Path:
    """Return the path of the file of a mesh, see `Meshes.load`; an error lists the searched folders."""
    name = geometry.filename
    url = urlparse(name)
    if url.scheme == "package":
        return _in_package(geometry, unquote(url.netloc), unquote(url.path).lstrip("/"), Path(urdf), package_dirs)
    if url.scheme not in ("", "file"):
        raise geometry.element.error(f"meshes come from files, not over {url.scheme}:, got {name!r}")
    target = Path(urdf).parent / (unquote(url.path) if url.scheme else name)
    if not target.is_file():
        raise geometry.element.error(f"there is no mesh {str(target)!r}")
    return target


def _in_package(geometry: Geometry, package: str, rest: str, urdf: Path, package_dirs: Sequence[str | Path]) -> Path:
    known = [*package_dirs, *filter(None, os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep))]
    candidates = package_folders(package, [*map(Path, known), *urdf.absolute().parents])
    if not candidates:
        looked = ", ".join(map(str, known)) or "none"
        raise geometry.element.error(
            f"package {package!r} of {geometry.filename!r} was not found: pass package_dirs=[folder that holds "
            f"{package}], or set ROS_PACKAGE_PATH (folders given: {looked}; those above the URDF were searched too)"
        )
    for folder in candidates:
        if (folder / rest).is_file():
            return folder / rest
    looked = ", ".join(map(str, candidates))
    raise geometry.element.error(f"package {package!r} has no mesh {rest!r}; looked in {looked}")


def _read(link: str, element: Element, colors: Mapping[str, Array]) -> Geometry:
    shape, material = element.required("geometry"), element.optional("material")
    kinds = [child for child in shape.children if child.tag in _KINDS]
    if len(kinds) != 1:
        raise shape.error(f"needs one of {', '.join(_KINDS)}, got {len(kinds)}")
    return Geometry(
        link=link,
        pose=origin_of(element),
        size=_size(kinds[0]),
        color=None if material is None else _color(material, colors),
        element=kinds[0],
    )


def _size(shape: Element) -> tuple[float, ...]:
    if shape.tag == "mesh":
        shape.text("filename")  # required
        return tuple(shape.vector("scale", (1.0, 1.0, 1.0)))
    if shape.tag == "box":
        shape.text("size")  # required
        edges = shape.vector("size", (0.0, 0.0, 0.0))
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
