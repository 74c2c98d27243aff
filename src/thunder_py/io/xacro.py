"""Files that are expanded or found by other packages: xacro, and robots of the package robot_descriptions."""

from __future__ import annotations

import importlib
import re
from collections.abc import Mapping
from pathlib import Path

from ..errors import UnknownNameError
from ..files import as_file, parsing, read_whole
from ..optional import require
from .xml import Element, parse_xml

#: folders above a file in which, and next to which, packages are looked for
_ABOVE = 5


def expand(path: str | Path, arguments: Mapping[str, object] | None = None) -> str:
    """Return the URDF text of a xacro file.

    A package is a folder of its name above the file or next to a folder above it, or one that ROS knows.

    Parameters
    ----------
    path : path-like
        The file.
    arguments : mapping, optional
        Values of its ``<xacro:arg>``.

    Raises
    ------
    FileFormatError
        If it cannot be expanded.
    ModuleNotFoundError
        If the extra ``xacro`` is not installed.
    """
    file = as_file(path).absolute()
    xacrodoc, packages = require("xacrodoc", "xacro"), require("xacrodoc.packages", "xacro")
    above = list(file.parents)[:_ABOVE]
    beside = {folder.name: folder for parent in reversed(above) for folder in parent.iterdir() if folder.is_dir()}
    packages.reset()
    packages.update_package_cache(beside | {folder.name: folder for folder in reversed(above) if folder.name})
    # the name of a <robot> may use an argument whose default comes later
    defaults = {arg.attributes.get("name", ""): arg.attributes.get("default", "$(") for arg in _arguments(file)}
    values = {name: value for name, value in defaults.items() if "$" not in value}
    values |= {name: str(value) for name, value in (arguments or {}).items()}
    with parsing(path, "a xacro file that can be expanded"):
        return str(xacrodoc.XacroDoc.from_file(file, subargs=values, resolve_packages=False).to_urdf_string())


def _arguments(file: Path) -> list[Element]:
    return parse_xml(read_whole(file), file).all("xacro:arg")


def described(name: str) -> Path:
    """Return the file of a robot of the package robot_descriptions, which downloads it.

    Parameters
    ----------
    name : str
        Name of a module, such as ``ur5e_description``.

    Raises
    ------
    UnknownNameError
        If there is no such robot.
    ModuleNotFoundError
        If the package is not installed.
    """
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
