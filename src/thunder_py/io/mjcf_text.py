"""Preprocessing of MJCF: inserts included files and removes everything that dynamics does not need.

MuJoCo's compiler then resolves defaults, angles and orientations without opening files: meshes, textures, plug-ins and
generating elements (``<replicate>``, ``<composite>``) are removed or refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from ..errors import FileFormatError
from ..files import read_whole
from .xml import Element, opened, parse_xml

__all__ = ["read_mjcf_text"]

_LARGEST = 4_000_000  # bytes of a file
_DEEPEST = 8  # nesting depth of includes
_MOST = 200  # total number of included files
#: NaN as strtod reads it, with or without a payload
_NAN = re.compile(r"[+-]?nan(\(\w*\))?", re.IGNORECASE)
_LEVELS = 300  # nesting depth of elements; 64 joints need less
_TOP = ("option", "equality", "tendon")  # kept unchanged
_IN_BODY = ("body", "frame", "joint", "freejoint", "inertial", "geom", "site")
_REFUSED = ("plugin", "extension", "replicate", "composite", "flexcomp", "flex", "attach", "model")
#: attributes that refer to removed elements or allocate memory
_UNNEEDED = (
    *("material", "mesh", "hfield", "fitscale", "user", "texturedir", "meshdir", "assetdir", "strippath"),
    *("actdim", "actrange", "actlimited", "actearly", "nsample", "interp", "delay"),
)
_NAMES = ("name", "class", "childclass", "joint", "joint1", "joint2", "body1", "body2", "site", "tendon", "model")
_ACTUATORS = ("general", "motor", "position", "velocity", "intvelocity", "damper")
#: settings of the compiler that could remove bodies or change inertias
_COMPILER: Mapping[str, str | None] = {"fusestatic": "false", "discardvisual": "false"}
_DEFAULT_OF = (
    *("default", "joint", "geom", "site", "tendon", "equality"),
    *("general", "motor", "position", "velocity", "intvelocity", "damper", "cylinder"),
)


def read_mjcf_text(text: str | bytes, path: str | Path | None = None) -> str:
    """Return a self-contained MJCF text with only the elements that dynamics needs.

    Parameters
    ----------
    text : str or bytes
        The document.
    path : path-like, optional
        Path of the file; included files must be in its folder or below. With None includes are refused.

    Raises
    ------
    FileFormatError
        If it is not MJCF, too large, includes a missing file or one elsewhere, or has unsupported elements.
    """
    root = _Includes(None if path is None else Path(path).resolve().parent).put_in(_parsed(text, path))
    compilers = [child.attributes for child in root.all("compiler")]
    from_geoms = any(c.get("inertiafromgeom", "auto") == "true" for c in compilers)
    lines = [opened("mujoco", model=root.attributes.get("model", "robot"))]
    for element in root.children:
        if element.tag == "worldbody":
            lines += _body(element, moving=False, from_geoms=from_geoms)
        elif element.tag == "compiler":
            lines.append(_element(element, _COMPILER))
        elif element.tag == "default":
            lines += _defaults(element)
        elif element.tag == "actuator":
            lines += _enclosed(element, [_element(a) for a in element.children if a.tag in _ACTUATORS])
        elif element.tag == "custom":
            lines += _enclosed(element, [_element(n, {"size": None}) for n in element.all("numeric")])
        elif element.tag in _TOP:
            lines += _whole(element)
    return "\n".join([*lines, "</mujoco>"])


def _parsed(text: str | bytes, path: str | Path | None) -> Element:
    if len(text) > _LARGEST:
        raise FileFormatError(f"an MJCF file must have at most {_LARGEST} bytes, got {len(text)}", path=path)
    root = parse_xml(text, path)
    if root.tag not in ("mujoco", "mujocoinclude"):
        hint = "; this is a URDF: give it the suffix .urdf" if root.tag == "robot" else ""
        raise root.error(f"an MJCF file must have the root element <mujoco>{hint}")
    return root


class _Includes:
    """Replace ``<include>`` by the included file recursively, and refuse unsupported elements.

    Parameters
    ----------
    folder : Path or None
        Folder of included files; None for a text without a file.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder, self._count = folder, 0

    def put_in(self, element: Element, depth: int = 0, level: int = 0) -> Element:
        """Return the element with included files inserted; `depth` counts nested files, `level` nested elements."""
        if level > _LEVELS:
            raise element.error(f"elements must not be nested more than {_LEVELS} deep")
        children: list[Element] = []
        for child in element.children:
            if child.tag in _REFUSED:
                raise child.error("is not read: plug-ins and generating elements are not supported")
            if child.tag == "include":
                children += self._file(child, depth, level).children
            else:
                children.append(self.put_in(child, depth, level + 1))
        element.children = children
        return element

    def _file(self, include: Element, depth: int, level: int) -> Element:
        name, folder = include.text("file"), self._folder
        if folder is None:
            raise include.error("a text without a path cannot include files")
        if depth == _DEEPEST:
            raise include.error(f"files must not include files more than {_DEEPEST} deep")
        self._count += 1
        if self._count > _MOST:
            raise include.error(f"at most {_MOST} files may be included")
        path = (folder / name).resolve()
        if not path.is_relative_to(folder):
            raise include.error(f"file must be in the folder of the file itself or below, got {name!r}")
        try:
            data = read_whole(path)
        except OSError as error:
            raise include.error(f"cannot read {name!r}: {error.strerror}") from None
        return self.put_in(_parsed(data, path), depth + 1, level)


def _element(element: Element, changes: Mapping[str, str | None] | None = None) -> str:
    return opened(element.tag, **{**_kept(element), **(changes or {})}) + f"</{element.tag}>"


def _kept(element: Element) -> dict[str, str]:
    """Return the needed attributes; NaN is refused, for which MuJoCo only writes a warning."""
    for key, value in element.attributes.items():
        if key not in _NAMES and any(map(_NAN.fullmatch, value.split())):
            raise element.error(f"{key!r} must be finite, got {value!r}")
    return {key: value for key, value in element.attributes.items() if key not in _UNNEEDED}


def _enclosed(element: Element, inside: Iterable[str]) -> list[str]:
    return [opened(element.tag, **_kept(element)), *inside, f"</{element.tag}>"]


def _whole(element: Element) -> list[str]:
    return _enclosed(element, [line for child in element.children for line in _whole(child)])


def _defaults(element: Element) -> list[str]:
    inside = []
    for child in element.children:
        if child.tag == "default":
            inside += _defaults(child)
        elif child.tag in _DEFAULT_OF:
            # a default class of meshes applies to removed shapes
            mesh = child.tag == "geom" and child.attributes.get("type") in ("mesh", "hfield", "sdf")
            inside.append(_element(child, {"type": None} if mesh else None))
    return _enclosed(element, inside)


def _body(element: Element, *, moving: bool, from_geoms: bool) -> list[str]:
    """Return a body, frame or world with joints, inertias and sites, and with shapes that define the inertia."""
    moving = moving or any(child.tag in ("joint", "freejoint") for child in element.children)
    shapes = moving and (from_geoms or element.optional("inertial") is None)
    inside: list[str] = []
    for child in element.children:
        if child.tag in ("body", "frame"):
            inside += _body(child, moving=moving, from_geoms=from_geoms)
        elif child.tag == "geom" and shapes:
            inside += _shape(child)
        elif child.tag in _IN_BODY and child.tag != "geom":
            inside.append(_element(child))
    return _enclosed(element, inside)


def _shape(geom: Element) -> list[str]:
    if geom.attributes.get("mass", "").strip() in ("0", "0.0"):
        return []
    if geom.attributes.keys() & {"mesh", "hfield"} or geom.attributes.get("type") in ("mesh", "hfield", "sdf"):
        raise geom.error(
            "defines the inertia of its body by a mesh, and meshes are not read: add an <inertial> to the body"
        )
    return [_element(geom)]
