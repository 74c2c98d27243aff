"""Reading and writing of robots: native YAML, Thunder Dynamics' YAML, URDF, MJCF, and the bundled robots."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

import numpy.typing as npt

from .. import robots
from ..checks import check_name, one_of
from ..errors import FileFormatError, ThunderError, UnknownNameError, nearest_hint
from ..files import read_whole, write_whole
from ..model.description import RobotDescription
from ..model.dh_frames import in_dh_frames
from ..model.model import RobotModel
from ..public import publish
from .losses import check_losses
from .meshes import Meshes
from .selection import Arm, identifier
from .yaml_native import read_native, write_native
from .yaml_text import MAX_BYTES, parse_yaml
from .yaml_thunder import (
    FRAMES,
    LINKS_ENDS,
    REST,
    ROBOT_END,
    VERSIONS,
    is_thunder,
    read_generated,
    read_links,
    read_thunder,
    robot_beside,
    thunder_losses,
    write_links,
    write_thunder,
)

__all__ = [
    "SUFFIXES",
    "Arm",
    "Meshes",
    "arms",
    "conversion_losses",
    "load_description",
    "parse_description",
    "save_description",
]

_YAML, _URDF, _MJCF = (".yaml", ".yml"), (".urdf", ".xacro"), (".xml", ".mjcf")
#: suffixes of robot files, for reading and writing
SUFFIXES = (*_YAML, ".urdf", *_MJCF)


def load_description(
    source: str | Path,
    *,
    name: str | None = None,
    base_link: str | None = None,
    tip_link: str | None = None,
    missing_inertia: Literal["error", "zero"] | None = None,
    fix_joints: Mapping[str, float] | None = None,
    gravity: npt.ArrayLike | None = None,
    xacro: Mapping[str, object] | None = None,
) -> RobotDescription:
    """Read a robot from a file, or a bundled robot by name.

    Parameters
    ----------
    source : str or path-like
        The name of a bundled robot (`thunder_py.robots.names`), or a path that ends in ``.yaml``, ``.yml`` (native
        format or Thunder's), ``.urdf``, ``.xacro``, or ``.xml``, ``.mjcf`` (needs the extra ``mujoco``). A file of
        links' parameters of Thunder, such as ``NAME_par_REG.yaml``, replaces those of the robot beside it.
    name : str, optional
        Name of the robot, an identifier; default the name in the file, or that of the file's name for Thunder's format.
    base_link, tip_link : str, optional
        URDF and MJCF: links between which the arm is; default those of the only arm, see `arms`.
    missing_inertia : {"error", "zero"}, optional
        URDF and MJCF: refuse a moving body without inertia, or treat it as massless; default massless with a warning.
    fix_joints : mapping of str to float, optional
        URDF and MJCF: joints to lock, with their positions [rad or m].
    gravity : (3,) array_like, optional
        URDF: acceleration of gravity in the world [m/s^2]; default (0, 0, -9.81).
    xacro : mapping, optional
        Arguments of a xacro file.

    Returns
    -------
    RobotDescription
        Validated.

    Raises
    ------
    UnknownNameError
        If `source` is neither a bundled robot nor a path with a known suffix.
    FileFormatError
        If the file is not a robot; the message has path, line and key.
    ThunderError
        If options are given for YAML, or `name` is not an identifier.
    OSError
        If the file cannot be read.

    Examples
    --------
    >>> import thunder_py as th
    >>> description = th.io.load_description("ur5e")
    >>> description.n, description.convention, description.joint_names[0]
    (6, 'standard', 'shoulder_pan_joint')
    """
    given = {
        "base_link": base_link,
        "tip_link": tip_link,
        "missing_inertia": missing_inertia,
        "fix_joints": fix_joints,
        "gravity": gravity,
    }
    options: dict[str, Any] = {key: value for key, value in given.items() if value is not None}
    if not isinstance(source, (str, Path)):
        raise ThunderError(f"source must be a robot's name or a path, got {source!r}")
    if name is not None:
        check_name(name)
    path = _path(source)
    suffix = path.suffix.lower()
    if suffix in _URDF:
        from .urdf import parse_urdf

        text, place = _urdf_text(path, xacro)
        return parse_urdf(text, path=place, name=name, **options)
    if xacro is not None:
        raise ThunderError(f"xacro: for xacro files only, got {str(source)!r}")
    if suffix in _MJCF:
        from .mjcf import parse_mjcf

        if gravity is not None:
            raise ThunderError(f"gravity: not for MJCF files, got {str(source)!r}")
        return parse_mjcf(read_whole(path), path=path, name=name, **options)
    if suffix not in _YAML:
        raise _unknown(source, path)
    if options:
        raise ThunderError(f"{', '.join(options)}: for URDF and MJCF files only, got {str(source)!r}")
    beside = robot_beside(path) if path.is_file() else None
    if beside is None:
        return parse_description(read_whole(path, MAX_BYTES), path, name=name)
    description, data = parse_description(read_whole(beside, MAX_BYTES), beside, name=name), read_whole(path, MAX_BYTES)
    rows = read_links(parse_yaml(data, path), description.n)
    frames = data.decode().partition(FRAMES)[2].partition("\n")[0].strip()
    if frames not in ("", description.convention):
        raise FileFormatError(
            f"parameters are about {frames} link frames, but {beside.name} has {description.convention} ones: "
            "save it again with that file beside it",
            path=path,
        )
    return description.replace(inertial=rows)


def arms(path: str | Path, *, xacro: Mapping[str, object] | None = None) -> list[Arm]:
    """List the arms of a URDF, xacro or MJCF file.

    Parameters
    ----------
    path : path-like
        The file, or ``robot_descriptions:NAME``.
    xacro : mapping, optional
        Arguments of a xacro file.

    Returns
    -------
    list of Arm
        Name, base, tip and joints of each; `base` and `tip` are what `Robot.load` takes as ``base_link`` and
        ``tip_link``.

    Raises
    ------
    FileFormatError
        If the file is none of these formats.
    OSError
        If the file cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import thunder_py as th
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     th.Robot.load("gen3").save(Path(folder, "gen3.urdf"), lossy=True)
    ...     (arm,) = th.io.arms(Path(folder, "gen3.urdf"))
    >>> arm.name, arm.base, arm.tip, len(arm.joints)
    ('tool', 'base', 'tool', 7)
    """
    file = _path(path)
    suffix = file.suffix.lower()
    if suffix in _URDF:
        from .urdf import urdf_tree

        return urdf_tree(*_urdf_text(file, xacro)).arms()
    if suffix in _MJCF:
        from .mjcf import Model

        return Model(read_whole(file), file).tree.arms()
    raise FileFormatError(f"arms are listed of {', '.join((*_URDF, *_MJCF))} files", path=file)


def _path(source: str | Path) -> Path:
    """Return the path of a bundled robot, of one of robot_descriptions, or of a file."""
    if isinstance(source, str) and source in robots.names():
        return robots.path(source)
    if isinstance(source, str) and source.startswith("robot_descriptions:"):
        from .xacro import described

        return described(source.partition(":")[2])
    return Path(source)


def _urdf_text(path: Path, xacro: Mapping[str, object] | None) -> tuple[str | bytes, str | Path]:
    """Return the text of a URDF or xacro file, and its path for messages."""
    if path.suffix.lower() == ".xacro":
        from .xacro import expand

        return expand(path, xacro), f"{path} (expanded)"
    if xacro is not None:
        raise ThunderError(f"xacro: for xacro files only, got {str(path)!r}")
    return read_whole(path), path


def parse_description(
    data: bytes | str, path: str | Path = "robot.yaml", *, name: str | None = None
) -> RobotDescription:
    """Read a robot from the text of a YAML file.

    Parameters
    ----------
    data : bytes or str
        UTF-8 text.
    path : path-like
        Path for messages; a robot in Thunder's format has its name.
    name : str, optional
        Name of the robot; default the name in the file.

    Returns
    -------
    RobotDescription
        Validated.

    Raises
    ------
    FileFormatError
        If it is not a robot; the message has path, line and key.

    Examples
    --------
    >>> import thunder_py as th
    >>> text = th.robots.path("elbow").read_text(encoding="utf-8")
    >>> th.io.parse_description(text, name="arm") == th.Robot.load("elbow").description.replace(name="arm")
    True
    """
    document = parse_yaml(data, path)
    if is_thunder(document):
        return read_thunder(document, identifier(Path(path).stem.removesuffix(ROBOT_END)) if name is None else name)
    description = read_generated(document) if REST in document.section() else read_native(document)
    return description if name is None else description.replace(name=name)


def save_description(
    description: RobotDescription, path: str | Path, *, lossy: bool = False, thunder: Literal["0.8", "1.0"] = "0.8"
) -> None:
    """Write a robot in the format of the suffix: native YAML, which is lossless, URDF or MJCF.

    Parameters
    ----------
    description : RobotDescription
        The robot.
    path : path-like
        Ends in ``.yaml``, ``.yml``, ``.urdf``, ``.xml`` or ``.mjcf``; an existing file is replaced in one step. Names
        that end in ``_conf.yaml``, ``_par_REG.yaml`` or ``_par_DYN.yaml`` are those of Thunder's files, in its formats:
        a robot as `Robot.to_dh` gives it, and parameters in its link frames if it is beside, in the robot's otherwise.
    lossy : bool
        Write the robot even if the format cannot represent all of its behavior; comments in the file name the losses.
        Thunder's files hold what Thunder does not know under a key that it ignores.
        `thunder_py.io.conversion_losses` lists them in advance.
    thunder : {"0.8", "1.0"}
        Version of Thunder's files.

    Raises
    ------
    FileFormatError
        If the suffix is unknown.
    ThunderError
        If the format cannot represent the robot and `lossy` is False, or the robot is not valid in the format.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import thunder_py as th
    >>> description = th.Robot.load("panda").description
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     th.io.save_description(description, Path(folder, "arm.urdf"))
    ...     "panda" in Path(folder, "arm.urdf").read_text(encoding="utf-8")
    True
    """
    suffix = Path(path).suffix
    one_of(thunder, VERSIONS, "thunder")
    if suffix in _YAML:
        write_whole(_yaml_text(description, Path(path), lossy, thunder), path)
    elif suffix == ".urdf":
        from .urdf_writer import write_urdf

        write_whole(write_urdf(description, lossy=lossy), path)
    elif suffix in _MJCF:
        from .mjcf_writer import write_mjcf

        write_whole(write_mjcf(RobotModel(description), lossy=lossy), path)
    else:
        raise FileFormatError(f"a robot is saved as {', '.join(SUFFIXES)}, got {suffix or 'no suffix'!r}", path=path)


def _yaml_text(description: RobotDescription, path: Path, lossy: bool, version: str) -> str:
    """Return the text of a YAML file, in one of Thunder's formats where the name ends as those of Thunder's files."""
    if path.stem.endswith(LINKS_ENDS):
        with suppress(FileFormatError):  # the robot beside may be missing, or parameters of a generated class
            beside = robot_beside(path)
            if beside is not None and load_description(beside).convention == "modified":
                description = in_dh_frames(description, "modified")
        return write_links(description, path.stem[-3:], version)
    if not path.stem.endswith(ROBOT_END):
        return write_native(description)
    friction = description.friction
    viscous = friction.coefficients[:, 0] if friction is not None and friction.terms[:1] == ("viscous",) else ()
    if min(0.0, *description.inertial[:, 0], *viscous) < 0.0:
        raise ThunderError(
            "Thunder's format holds no negative mass or viscous friction, as in estimates: write NAME.yaml"
        )
    losses = check_losses(thunder_losses(description), "Thunder's format", lossy)
    return "".join(f"# {loss}\n" for loss in losses) + write_thunder(description, version=version)


def conversion_losses(description: RobotDescription, path: str | Path) -> tuple[str, ...]:
    """Return the losses of a robot in the format of a suffix.

    Parameters
    ----------
    description : RobotDescription
        The robot.
    path : path-like
        Path as for `save_description`; nothing is written.

    Returns
    -------
    tuple of str
        One sentence for each loss; empty if the format represents the robot exactly.

    Examples
    --------
    >>> import thunder_py as th
    >>> th.io.conversion_losses(th.Robot.load("scara").description, "scara.urdf")
    ('rotors are lost: joint1, joint2, joint3, joint4',)
    >>> th.io.conversion_losses(th.Robot.load("scara").description, "scara.yaml")
    ()
    """
    suffix = Path(path).suffix
    if suffix in _YAML and Path(path).stem.endswith(ROBOT_END):
        return thunder_losses(description)
    if suffix == ".urdf":
        from .urdf_writer import urdf_losses

        return urdf_losses(description)
    if suffix in _MJCF:
        from .mjcf_writer import mjcf_losses

        return mjcf_losses(RobotModel(description))
    return ()


def _unknown(source: str | Path, path: Path) -> UnknownNameError | FileFormatError:
    if path.suffix or isinstance(source, Path):
        return FileFormatError(f"a robot's file must end in {', '.join((*SUFFIXES, '.xacro'))}", path=path)
    names = robots.names()
    hint = nearest_hint(str(source), names) or f"; bundled are {', '.join(names)}"
    return UnknownNameError(f"no robot is called {str(source)!r}{hint}")


publish(__name__)
