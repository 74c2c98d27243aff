"""``thunder gen``: a robot as a library of C, C++ and Python."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..errors import ThunderError, UnknownNameError, nearest_hint
from ..robot import Robot
from .robot_options import add_robot_options, load_robot

HELP = "write a robot as a library of its own: C functions, a C++ class, Python bindings"
DESCRIPTION = """\
Write <robot>_generatedFiles: the robot's kinematics, dynamics and regressors as C functions without any dependency,
a C++ class over Eigen, parameter files, CMake targets, a README, and on request a Python package. The folder appears
whole or not at all; one that was generated before is replaced.
"""

EPILOG = """\
examples:
  thunder gen panda                                  a bundled robot, everything, into this folder
  thunder gen my_arm.yaml -o build -p                with Python bindings: pip install build/my_arm_generatedFiles
  thunder gen my_arm.urdf --tip-link flange --select M,C,G,Yr
  thunder gen panda --scalar float --select G,inverse_dynamics --baked all     for a microcontroller
  thunder gen my_arm.yaml --run-time inertial,tool --baked friction
  thunder gen panda --functions my_functions.py      a Python file that defines functions(model); it is run
  thunder gen RRR_conf.yaml --thunder                a class for programs that were written for Thunder Dynamics

Parameters are arguments of the functions (at run time) or numbers in the code (baked). Groups: inertial, friction, dh,
gravity, base, tool, rotor, armature, elastic (or elastic_K, elastic_D, elastic_Dm, elastic_Mm), all. What is not named
follows the file's masks (Thunder's symb); in a file without any, inertial and friction parameters are at run time.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the subcommand."""
    parser.add_argument("robot", help="name of a bundled robot, or path of a .yaml, .urdf, .xacro, .xml or .mjcf file")
    parser.add_argument("-n", "--name", help="prefix of files and functions, default the robot's name")
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        default=Path("."),
        metavar="DIR",
        help="output folder, created if missing, default the current one",
    )
    parser.add_argument("-p", "--python", action="store_true", help="also write a Python package for pip install")
    parser.add_argument(
        "--select",
        metavar="NAMES",
        help="functions to generate, such as M,C,G,Yr, also your own; default all but long ones",
    )
    parser.add_argument(
        "--functions", type=Path, metavar="FILE.py", help="file with user-defined functions; it is executed"
    )
    parser.add_argument(
        "--scalar",
        choices=("double", "float"),
        default="double",
        help="type of numbers; float generates only the C functions",
    )
    parser.add_argument(
        "--thunder", action="store_true", help="give the class the interface of Thunder Dynamics, for its programs"
    )
    parser.add_argument("--batch", action="store_true", help="also generate functions for batches of samples")
    parser.add_argument("--run-time", default="", metavar="GROUPS", help="groups of parameters that are arguments")
    parser.add_argument(
        "--baked", default="", metavar="GROUPS", help="groups of parameters that are constants in the code"
    )
    parser.add_argument(
        "--inertial-as", choices=("REG", "DYN"), help="inertia about link origins (REG) or centers of mass (DYN)"
    )
    add_robot_options(parser)


def run(arguments: argparse.Namespace) -> None:
    """Generate, and say where."""
    from ..codegen import generate

    if arguments.thunder and (arguments.python or arguments.scalar == "float"):
        raise ThunderError("--thunder is for the C++ class in double; leave out -p (--python) and --scalar float")
    robot = load_robot(arguments.robot, arguments, name=arguments.name)
    groups: dict[str, Any] = _groups(robot, arguments.run_time, arguments.baked)
    if arguments.inertial_as is not None:
        groups["inertial_as"] = arguments.inertial_as
    with _progress() as progress:
        folder = generate(
            robot,
            arguments.output,
            name=arguments.name,
            functions=() if arguments.functions is None else arguments.functions,
            python=arguments.python,
            select=arguments.select,
            scalar=arguments.scalar,
            batch=arguments.batch,
            thunder=arguments.thunder,
            progress=progress,
            **groups,
        )
    print(folder)


def _groups(robot: Robot, run_time: str, baked: str) -> dict[str, bool]:
    """Parameter groups that the options name: True at run time, False baked."""
    from ..symbolic.parameters import GROUPS

    there = robot.symbolic().parameters
    elastic = [name for name in there if name.startswith("elastic_")]
    chosen: dict[str, bool] = {}
    for option, text, value in (("--run-time", run_time, True), ("--baked", baked, False)):
        for name in filter(None, (part.strip() for part in text.split(","))):
            if name not in (*GROUPS, "elastic", "all"):
                known = (*GROUPS, "elastic", "all")
                raise UnknownNameError(
                    f"{option}: no parameter group is called {name!r}{nearest_hint(name, known)}; "
                    f"there are {', '.join(known)}"
                )
            members = {"all": list(there), "elastic": elastic}.get(name, [name])
            if not members:
                raise UnknownNameError(f"{option}: {robot.name} has no elastic joints")
            for member in members:
                if chosen.get(member, value) != value:
                    raise UnknownNameError(f"{member} is named by --run-time and by --baked")
                chosen[member] = value
    return chosen


@contextmanager
def _progress() -> Iterator[Callable[[str], None] | None]:
    """Tell on a terminal what is being done, in one line that disappears."""
    if not sys.stderr.isatty():
        yield None
        return
    try:
        yield lambda step: print(f"\r\x1b[K{step}", end="", file=sys.stderr, flush=True)
    finally:
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)
