"""Robots from files and back: our own YAML, Thunder Dynamics' YAML, URDF, and the robots that come with the package."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .. import robots
from ..checks import check_name
from ..description import RobotDescription
from ..errors import FileFormatError, ModelError, UnknownNameError, nearest_hint
from .yaml_native import read_native
from .yaml_text import parse_yaml
from .yaml_thunder import is_thunder, read_thunder
from .yaml_writer import save_native

__all__ = ["load_description", "parse_description", "save_description"]

_YAML = (".yaml", ".yml")


def load_description(source: str | Path, *, name: str | None = None, **urdf_options: Any) -> RobotDescription:
    """Read a robot.

    Parameters
    ----------
    source : str or path-like
        The name of a bundled robot (`thunder_py.robots.names`), or a path that ends in ``.yaml``, ``.yml`` (our own
        format or Thunder's 0.8, told apart by their keys) or ``.urdf``.
    name : str, optional
        Of the robot, an identifier; default what the file calls it, or the name of Thunder's file.
    **urdf_options
        For URDF only, see `thunder_py.io.urdf.load_urdf`: ``base_link``, ``tip_link``, ``missing_inertia``, ...

    Returns
    -------
    RobotDescription
        Validated.

    Raises
    ------
    UnknownNameError
        If `source` is neither a bundled robot nor a path with a known suffix.
    FileFormatError
        If the file is not a robot, naming path, line and key.
    ModelError
        If options are given for anything but URDF, or `name` is no identifier.
    OSError
        If the file cannot be read.
    """
    if not isinstance(source, (str, Path)):
        raise ModelError(f"source must be a robot's name or a path, got {source!r}")
    if name is not None:
        check_name(name)
    path = robots.path(source) if isinstance(source, str) and source in robots.names() else Path(source)
    if path.suffix == ".urdf":
        from .urdf import load_urdf

        return load_urdf(path, name=name, **urdf_options)
    if path.suffix not in _YAML:
        raise _unknown(source, path)
    if urdf_options:
        raise ModelError(f"{', '.join(urdf_options)}: for URDF files only, got {str(source)!r}")
    return parse_description(path.read_bytes(), path, name=name)


def parse_description(
    data: bytes | str, path: str | Path = "robot.yaml", *, name: str | None = None
) -> RobotDescription:
    """Read a robot from the text of a YAML file.

    Parameters
    ----------
    data : bytes or str
        UTF-8 text.
    path : path-like
        Where it comes from: named in messages, and a Thunder file's robot is called after it.
    name : str, optional
        Of the robot, in place of the file's.

    Returns
    -------
    RobotDescription
        Validated.

    Raises
    ------
    FileFormatError
        If it is not a robot, naming path, line and key.
    """
    document = parse_yaml(data, path)
    if is_thunder(document):
        return read_thunder(document, Path(path).stem if name is None else name)
    description = read_native(document)
    return description if name is None else description.replace(name=name)


def save_description(description: RobotDescription, path: str | Path) -> None:
    """Write a robot in our own YAML format, so that reading it back gives exactly the same description.

    Parameters
    ----------
    description : RobotDescription
        What to write.
    path : path-like
        Ends in ``.yaml`` or ``.yml``; replaced in one step if it is there.

    Raises
    ------
    FileFormatError
        If the path ends otherwise.
    OSError
        If the folder cannot be written.
    """
    save_native(description, path)


def _unknown(source: str | Path, path: Path) -> UnknownNameError | FileFormatError:
    if path.suffix == ".xacro":
        return FileFormatError("is a xacro; expand it to .urdf first", path=path)
    if path.suffix or isinstance(source, Path):
        return FileFormatError("a robot's file must end in .yaml, .yml or .urdf", path=path)
    names = robots.names()
    hint = nearest_hint(str(source), names) or f"; bundled are {', '.join(names)}"
    return UnknownNameError(f"no robot is called {str(source)!r}{hint}")
