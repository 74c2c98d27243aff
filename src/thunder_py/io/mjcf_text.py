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
from .xml import Element, number, numbers, open_tag, parse_xml, tag

_LARGEST = 4_000_000  # bytes of a file
_DEEPEST = 8  # nesting depth of includes
_MOST = 200  # total number of included files
#: NaN as strtod reads it, with or without a payload
_NAN = re.compile(r"[+-]?nan(\(\w*\))?", re.IGNORECASE)
_MAIN = "main"  # name of the default class of elements without one
#: least mass [kg] and moment of inertia [kg m^2] of a moving body; MuJoCo requires more than 1e-15
LEAST = 1.2e-15
_LEVELS = 300  # nesting depth of elements; 64 joints need less
_TOP = ("option", "equality", "tendon")  # kept unchanged
_IN_BODY = ("joint", "freejoint", "inertial", "site")
_REFUSED = ("plugin", "extension", "replicate", "composite", "flexcomp", "flex", "attach", "model")
#: attributes that refer to removed elements or allocate memory
_UNNEEDED = (
    *("material", "mesh", "hfield", "fitscale", "user", "texturedir", "meshdir", "assetdir", "strippath"),
    *("actdim", "actrange", "actlimited", "actearly", "nsample", "interp", "delay", "input"),
)
_NAMES = ("name", "class", "childclass", "joint", "joint1", "joint2", "body1", "body2", "site", "tendon", "model")
_ACTUATORS = ("general", "motor", "position", "velocity", "intvelocity", "damper")
#: actuators of which only the transmission with its armature and damping is kept
_OTHER_ACTUATORS = ("cylinder", "muscle", "pid", "dcmotor")
_TRANSMISSION = (
    *("name", "class", "joint", "jointinparent", "tendon", "site", "refsite", "cranksite", "slidersite"),
    *("cranklength", "gear", "armature", "damping", "forcelimited", "forcerange"),
)
_FORCE = {"dyntype": "none", "gaintype": "affine", "biastype": "none"}
#: settings of the compiler that could remove bodies or change inertias
_COMPILER: Mapping[str, str | None] = {"fusestatic": "false", "discardvisual": "false"}
_DEFAULT_OF = (
    *("default", "joint", "geom", "site", "tendon", "equality"),
    *(*_ACTUATORS, *_OTHER_ACTUATORS, "adhesion", "orientation"),
)


def read_mjcf_text(text: str | bytes, path: str | Path | None = None) -> str:
    """Return a self-contained MJCF text with what dynamics needs, and with meshes if they define an inertia."""
    document = Document(text, path)
    plain = document.text(complete=False)
    return document.text(meshes=True, complete=False) if document.unread else plain


def _parsed(text: str | bytes, path: str | Path | None) -> Element:
    if len(text) > _LARGEST:
        raise FileFormatError(f"an MJCF file must have at most {_LARGEST} bytes, got {len(text)}", path=path)
    root = parse_xml(text, path)
    if root.tag not in ("mujoco", "mujocoinclude"):
        hint = "; this is a URDF: give it the suffix .urdf" if root.tag == "robot" else ""
        raise root.error(f"an MJCF file must have the root element <mujoco>{hint}")
    return root


class _Includes:
    """Replace ``<include>`` by files of a folder recursively, and refuse unsupported elements."""

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
    return tag(element.tag, **{**_kept(element), **(changes or {})})


def _kept(element: Element) -> dict[str, str]:
    """Return the needed attributes; NaN is refused, for which MuJoCo only writes a warning."""
    for key, value in element.attributes.items():
        if key not in _NAMES and any(map(_NAN.fullmatch, value.split())):
            raise element.error(f"{key!r} must be finite, got {value!r}")
    return {key: value for key, value in element.attributes.items() if key not in _UNNEEDED}


def _actuator(element: Element) -> list[str]:
    if element.tag in _OTHER_ACTUATORS:
        kept = {key: value for key, value in _kept(element).items() if key in _TRANSMISSION}
        return [tag("general", **kept, **_FORCE)]
    return [_element(element)] if element.tag in _ACTUATORS else []


def _enclosed(element: Element, inside: Iterable[str]) -> list[str]:
    return [open_tag(element.tag, **_kept(element)), *inside, f"</{element.tag}>"]


def _whole(element: Element) -> list[str]:
    return _enclosed(element, [line for child in element.children for line in _whole(child)])


def _defaults(element: Element, meshes: bool) -> list[str]:
    inside = []
    for child in element.children:
        if child.tag == "default":
            inside += _defaults(child, meshes)
        elif child.tag in _DEFAULT_OF:
            named = child.attributes.get("mesh") if meshes and child.tag == "geom" else None
            inside.append(_element(child, {"mesh": named}))
        elif child.tag == "mesh" and meshes:
            inside.append(_element(child))
    return _enclosed(element, inside)


class Document:
    """Write what dynamics needs of an MJCF document: bodies with joints, inertias, sites, shapes that define inertias.

    Attributes of shapes are resolved from default classes as MuJoCo does: elements of a class apply before its nested
    classes, which start as copies of it. Included files must be in the folder of the file or below; without a path they
    are refused.

    Attributes
    ----------
    unread : dict of int to FileFormatError
        Errors about bodies of the last `text` whose inertia a mesh defines that is not read, by their number in
        MuJoCo's model.
    massless : set of int
        Numbers of its moving bodies without inertia.

    Raises
    ------
    FileFormatError
        If it is not MJCF, too large, includes a missing file or one elsewhere, or has unsupported elements.
    """

    def __init__(self, text: str | bytes, path: str | Path | None) -> None:
        self._folder = None if path is None else Path(path).resolve().parent
        self._root = _Includes(self._folder).put_in(_parsed(text, path))
        self._settings: dict[str, str] = {}
        for compiler in self._root.all("compiler"):
            self._settings |= compiler.attributes
        self._from_geoms = self._settings.get("inertiafromgeom", "auto")
        self._groups = _numbers(self._settings, "inertiagrouprange") or [0.0, 5.0]
        #: the mass of all bodies is scaled, so that those at rest count, too
        self._all_count = any(total > 0.0 for total in _numbers(self._settings, "settotalmass"))
        self._classes: dict[str, dict[str, str]] = {_MAIN: {}}
        for section in self._root.all("default"):
            self._add(section, _MAIN)

    def text(self, *, meshes: bool = False, complete: bool = True) -> str:
        """Return a text that MuJoCo reads without further files, except for `meshes` that define an inertia.

        Without them their bodies have a stand-in; so have, if it is to be `complete`, moving bodies without inertia,
        which MuJoCo refuses.
        """
        self._meshes, self._complete = meshes, complete and not any(_numbers(self._settings, "boundmass"))
        self._count, self._shaped, self.massless = 0, set[int](), set[int]()
        self.unread: dict[int, FileFormatError] = {}
        lines = [open_tag("mujoco", model=self._root.attributes.get("model", "robot"))]
        for element in self._root.children:
            if element.tag == "worldbody":  # also several, whose bodies are numbered one after the other
                lines += self._inside(element, _MAIN, None, moving=False)
            elif element.tag == "compiler":
                lines.append(_element(element, _COMPILER))
            elif element.tag == "default":
                lines += _defaults(element, meshes)
            elif element.tag == "asset" and meshes:
                lines += _enclosed(element, map(self._mesh, element.all("mesh")))
            elif element.tag == "actuator":
                lines += _enclosed(element, [line for a in element.children for line in _actuator(a)])
            elif element.tag == "custom":
                lines += _enclosed(element, [_element(n, {"size": None}) for n in element.all("numeric")])
            elif element.tag in _TOP:
                lines += _whole(element)
        return "\n".join([*lines, "</mujoco>"])

    def _mesh(self, element: Element) -> str:
        """Return a mesh with the path of its file."""
        written, settings = element.attributes.get("file"), self._settings
        if written is None:
            return _element(element)
        file = Path(Path(written).name if settings.get("strippath") == "true" else written)
        named = element.attributes.get("name") or file.stem
        where = (self._folder or Path()) / settings.get("meshdir", settings.get("assetdir", "")) / file
        return _element(element, {"name": named, "file": str(where)})

    def _add(self, section: Element, name: str) -> None:
        for geom in section.all("geom"):
            self._classes[name] |= geom.attributes
        for child in section.all("default"):
            nested = child.attributes.get("class", "")
            self._classes[nested] = dict(self._classes[name])
            self._add(child, nested)

    def _body(self, element: Element, inherited: str, *, moving: bool) -> list[str]:
        own = set(_tags(element))
        self._count += 1
        body = self._count
        jointed = not own.isdisjoint(("joint", "freejoint"))
        moving = moving or jointed
        counts = moving or (self._all_count and element.tag == "body")
        shapes = counts and (self._from_geoms == "true" or (self._from_geoms == "auto" and "inertial" not in own))
        lines = self._inside(element, inherited, body if shapes else None, moving=moving)
        if "inertial" in own:
            return lines
        if body in self.unread:
            lines.insert(1, tag("inertial", pos="0 0 0", mass="1", diaginertia="1 1 1"))
        elif jointed and self._complete and body not in self._shaped:
            self.massless.add(body)
            lines.insert(1, tag("inertial", pos="0 0 0", mass=number(LEAST), diaginertia=numbers([LEAST] * 3)))
        return lines

    def _inside(self, element: Element, inherited: str, shapes: int | None, *, moving: bool) -> list[str]:
        """Return a body, or a frame, whose elements are those of its body; `shapes` is the body if they matter."""
        inherited = element.attributes.get("childclass", inherited)
        lines: list[str] = []
        for child in element.children:
            if child.tag == "body":
                lines += self._body(child, inherited, moving=moving)
            elif child.tag == "frame":
                lines += self._inside(child, inherited, shapes, moving=moving)
            elif child.tag == "geom":
                lines += [] if shapes is None else self._shape(child, inherited, shapes)
            elif child.tag in _IN_BODY:
                lines.append(_element(child))
        return _enclosed(element, lines)

    def _shape(self, geom: Element, inherited: str, body: int) -> list[str]:
        resolved = self._classes.get(geom.attributes.get("class", inherited), {}) | geom.attributes
        weight = _numbers(resolved, "mass") or _numbers(resolved, "density")
        group = _numbers(resolved, "group") or [0.0]
        if weight == [0.0] or not self._groups[0] <= group[0] <= self._groups[-1]:
            return []
        self._shaped.add(body)
        if not resolved.keys() & {"mesh", "hfield"} and resolved.get("type") not in ("mesh", "hfield", "sdf"):
            return [_element(geom)]
        if self._meshes and "hfield" not in resolved:
            return [_element(geom, {key: geom.attributes.get(key) for key in ("mesh", "fitscale")})]
        error = geom.error("defines the inertia of its body by a mesh that is not read: add an <inertial>")
        self.unread.setdefault(body, error)
        return []


def _tags(body: Element) -> Iterable[str]:
    """Yield the tags of a body's elements, including those in frames."""
    for child in body.children:
        if child.tag == "frame":
            yield from _tags(child)
        else:
            yield child.tag


def _numbers(attributes: Mapping[str, str], key: str) -> list[float]:
    """Return the numbers of an attribute, none where it is absent or no number, which MuJoCo refuses."""
    try:
        return [float(word) for word in attributes.get(key, "").split()]
    except ValueError:
        return []
