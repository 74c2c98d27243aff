"""Generation of standalone libraries, as by ``thunder gen``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Literal

from ..checks import check_name, one_of
from ..errors import ThunderError
from ..files import check_target, write_folder
from ..io.yaml_thunder import in_thunder_frames
from ..robot import Robot
from ..symbolic import Function
from .contents import catalogue, collect
from .rendering import library_files
from .thunder import thunder_arguments, thunder_items
from .user_file import run_user_file

#: from this number of joints, repeated code becomes functions, because straight code would be too large
OUTLINE_FROM = 11
#: from this number, code that is identical for all joints becomes functions: less code to fetch with cold caches
PIECES_FROM = 5
#: length of a robot's name, the prefix of C identifiers, of which compilers distinguish 63 characters
MOST_LETTERS = 40


def outlining(robot: Robot) -> bool | Literal["uniform"]:
    """Return the argument ``outline`` of a library's `SymbolicModel`."""
    return "uniform" if PIECES_FROM <= robot.n < OUTLINE_FROM else robot.n >= OUTLINE_FROM


def generate(
    robot: Robot,
    out: str | Path = ".",
    *,
    name: str | None = None,
    functions: str | Path | Iterable[Function] = (),
    python: bool = False,
    select: str | Iterable[str] | None = None,
    scalar: str = "double",
    batch: bool = False,
    thunder: bool = False,
    progress: Callable[[str], None] | None = None,
    **arguments: Any,
) -> Path:
    """Generate a standalone library of a robot: C functions, a C++ class over Eigen, optional Python bindings.

    The folder is written atomically. An existing folder is replaced if it was generated and contains nothing else.

    Parameters
    ----------
    robot : Robot
        The arm.
    out : path-like
        Folder in which ``<name>_generatedFiles`` is created; missing folders are created as well.
    name : str, optional
        Prefix of functions and files, an identifier; default the robot's name.
    functions : path-like or iterable of Function
        Functions of the user from ``model.add_function``, or a Python file that defines ``functions(model)``, which is
        executed.
    python : bool
        Generate Python bindings with a pyproject.toml.
    select : str or iterable of str, optional
        Functions to generate, such as ``"M,C,G,Yr"``; default all but ``dID``, ``dFD`` and the
        regressors of all parameters. Functions of the user may be named as well; if none is, all are generated. A
        warning names the columns that a selection lacks.
    scalar : {"double", "float"}
        Scalar type of the C functions. With ``"float"`` there is no class and no bindings.
    batch : bool
        Generate functions for many samples, too.
    thunder : bool
        Give the class the interface of Thunder Dynamics 0.8, for programs that were written for it; see
        docs/coming_from/thunder.md. Its link frames are those of `Robot.to_dh`.
    progress : callable, optional
        Called with a short text before each step.
    **arguments
        Run-time parameters, see `Robot.symbolic`: ``inertial``, ``friction``, ``dh``, ``inertial_as``, ... For a robot
        file without masks the default is run-time inertial and friction parameters, and constants otherwise.

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    ThunderError, UnknownNameError, FileFormatError
        If a name is invalid, in use or unknown, a file of functions fails, or the folder has content that was not
        generated. With `thunder`, if the robot has powers of friction with a gap, or run-time rotors or armature, which
        Thunder's class cannot hold.
    OSError
        If the folder cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> import thunder_py as th
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = th.codegen.generate(th.Robot.load("elbow"), folder, select="M,Yr")
    ...     path.name, sorted(file.name for file in path.glob("*.h"))
    ('elbow_generatedFiles', ['elbow_gen.h', 'thunder_elbow.h'])
    """
    prefix = _check_prefix(robot.name if name is None else name)
    one_of(scalar, ("double", "float"), "scalar")
    if python and scalar == "float":
        raise ThunderError(
            "Python bindings need the class, which computes in double; leave out python or scalar='float'"
        )
    if thunder and (python or scalar == "float"):
        raise ThunderError("thunder=True is for the C++ class in double; leave out python and scalar='float'")
    if thunder:
        robot = Robot(in_thunder_frames(robot.description))
        arguments = thunder_arguments(robot, arguments)
    target = Path(out) / f"{prefix}_generatedFiles"
    check_target(target)
    place = target.absolute()  # a user's file may change the working directory
    report = progress or (lambda step: None)
    model = robot.symbolic(outline=outlining(robot), **_run_time(robot, arguments))
    items = thunder_items(catalogue(model), model) if thunder else catalogue(model)
    if isinstance(functions, (str, Path)):
        report(f"running {functions}")
        run_user_file(functions, model)
        functions = model.functions.values()
    options: dict[str, Any] = {"name": prefix, "select": select, "scalar": scalar, "batch": batch, "thunder": thunder}
    contents = collect(robot, model, items, functions, **options, report=report)
    report("writing")
    write_folder(place, library_files(contents, python=python))
    return target


def _check_prefix(name: str) -> str:
    check_name(name)
    if len(name) > MOST_LETTERS:
        raise ThunderError(
            f"robot name must have at most {MOST_LETTERS} letters, names of functions start with it; got {name!r}"
        )
    if name.startswith("_") or "__" in name or name.endswith("_"):
        raise ThunderError(
            f"robot name {name!r} would give names that C and C++ reserve: no underscore at the start or end, no two "
            "in a row; choose another with -n or name="
        )
    if not re.fullmatch(r"[A-Za-z]\w*", name, re.ASCII):
        raise ThunderError(f"robot name must start with a letter, got {name!r}")
    return name


def _run_time(robot: Robot, arguments: dict[str, Any]) -> dict[str, Any]:
    """Return run-time arguments; default inertial and friction parameters if the robot's file has no masks."""
    if robot.description.masks:
        return arguments
    defaults: dict[str, Any] = {"inertial": True}
    if robot.description.friction is not None:
        defaults["friction"] = True
    return {**defaults, **arguments}
