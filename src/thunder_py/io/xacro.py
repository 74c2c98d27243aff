"""Files that are expanded or found by other packages: xacro, and robots of the package robot_descriptions."""

from __future__ import annotations

import copy
import importlib
import re
from collections import defaultdict
from collections.abc import Callable, Mapping
from pathlib import Path

from ..checks import known_name
from ..errors import ThunderError, UnknownNameError
from ..files import as_file, parsing, read_whole
from ..optional import require
from .urdf_geometry import package_folders
from .xml import Element, parse_xml


def expand(path: str | Path, arguments: Mapping[str, object] | None = None) -> str:
    """Return the URDF text of a xacro file, with values of its ``<xacro:arg>``.

    A package is a folder of its name above the file or next to a folder above it, one whose ``package.xml`` has its
    name there or one level below, or one that ROS knows.

    Raises
    ------
    FileFormatError
        If it cannot be expanded.
    ModuleNotFoundError
        If the extra ``xacro`` is not installed.
    """
    if not isinstance(arguments, Mapping | None):
        raise ThunderError(f"xacro must map names of arguments to values, got {arguments!r}")
    file = as_file(path).absolute()
    xacrodoc, packages = require("xacrodoc", "xacro"), require("xacrodoc.packages", "xacro")
    # the name of a <robot> may use an argument whose default comes later
    defaults = {arg.attributes.get("name", ""): arg.attributes.get("default", "$(") for arg in _all(file)["xacro:arg"]}
    values = {name: value for name, value in defaults.items() if "$" not in value}
    values |= {name: str(value) for name, value in (arguments or {}).items()}

    def beside(package: str) -> str:
        for folder in package_folders(package, file.parents):
            return str(folder)
        raise packages.PackageNotFoundError(package)

    finder = packages._finder  # without a public way to forget folders: those that the user has named come first
    packages._finder = own = copy.copy(finder)
    own.package_cache = dict(finder.package_cache)
    own.finder_funcs = [(beside, packages.PackageNotFoundError), *finder.finder_funcs]
    own.walk_up_from(file, priority=1)
    try:
        known: set[str] = set()
        if arguments and _collect(file, known, set(), packages.get_path):
            for name in arguments:
                known_name(name, known, "xacro: there is no argument")
        choice = f" (xacro= sets {', '.join(sorted(defaults))})" if defaults else ""
        with parsing(path, f"a xacro file that can be expanded{choice}"):
            document = xacrodoc.XacroDoc.from_file(file, walk_up=False, subargs=values, resolve_packages=False)
            return str(document.to_urdf_string())
    finally:
        packages._finder = finder


def _all(file: Path) -> defaultdict[str, list[Element]]:
    """Return all elements of a file by their tag."""
    found, waiting = defaultdict[str, list[Element]](list), [parse_xml(read_whole(file), file)]
    while waiting:
        element = waiting.pop()
        found[element.tag].append(element)
        waiting += element.children
    return found


def _collect(file: Path, known: set[str], seen: set[Path], find: Callable[[str], str]) -> bool:
    """Collect the names of the arguments of a file and its includes; return whether all includes could be read."""
    seen.add(file)
    try:
        elements = _all(file)
        known |= {arg.attributes.get("name", "") for arg in elements["xacro:arg"]}
        for include in elements["xacro:include"]:
            name = re.sub(r"\$\(find ([^)]*)\)", lambda m: find(m[1].strip()), include.attributes.get("filename", "$"))
            if "$" in name or (file.parent / name not in seen and not _collect(file.parent / name, known, seen, find)):
                return False
    except Exception:  # also of the finder; the expansion tells the reason
        return False
    return True


def described(name: str) -> Path:
    """Return the file of a robot of the package robot_descriptions, which downloads it; `name` is that of a module."""
    require("robot_descriptions", "xacro")
    if not re.fullmatch("[a-z][a-z0-9_]*", name):
        raise UnknownNameError(f"no robot of robot_descriptions is called {name!r}")
    try:
        module = importlib.import_module(f"robot_descriptions.{name}")
    except ModuleNotFoundError as error:
        if error.name != f"robot_descriptions.{name}":
            raise
        raise UnknownNameError(f"no robot of robot_descriptions is called {name!r}") from None
    for key in ("URDF_PATH", "MJCF_PATH", "XACRO_PATH"):
        if hasattr(module, key):
            return Path(getattr(module, key))
    raise UnknownNameError(f"{name!r} of robot_descriptions has no URDF, MJCF or xacro file")
