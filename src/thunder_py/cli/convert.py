"""``thunder convert``: a robot from one format into another."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ..errors import ThunderError
from .robot_options import add_robot_options, load_robot
from .text import check_target

HELP = "a robot from one format into another: YAML, Thunder's YAML, URDF, MJCF"
DESCRIPTION = """\
Read a bundled robot or a file and write it as YAML, URDF or MJCF, according to the suffix of OUT; names that end in
_conf.yaml, _par_REG.yaml or _par_DYN.yaml are written in the formats of Thunder Dynamics. Properties that the
format cannot represent are listed on the standard error stream and in comments of the file.
"""

EPILOG = """\
examples:
  thunder convert panda panda.urdf
  thunder convert arm.urdf arm.xml --tip-link flange
  thunder convert arm.xml arm.yaml
  thunder convert panda panda_conf.yaml              for Thunder Dynamics 0.8
  thunder convert panda panda_conf.yaml --thunder 1.0

YAML holds everything; see docs/mujoco.md for what URDF and MJCF (.xml, .mjcf) hold. Reading MJCF needs the extra
mujoco.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the subcommand."""
    parser.add_argument(
        "source", metavar="IN", help="name of a bundled robot, or path of a .yaml, .urdf, .xacro, .xml or .mjcf file"
    )
    parser.add_argument("target", metavar="OUT", type=Path, help="file to write; its suffix selects the format")
    parser.add_argument("--thunder", choices=("0.8", "1.0"), help="version of Thunder's formats, default 0.8")
    parser.add_argument("--force", action="store_true", help="replace an existing file")
    parser.add_argument("--name", help="name of the robot, an identifier; default the name in its file")
    add_robot_options(parser)


def run(arguments: argparse.Namespace) -> None:
    """Read, write, and tell what is lost."""
    from ..io import SUFFIXES, conversion_losses
    from ..io.yaml_thunder import LINKS_ENDS, ROBOT_END

    target: Path = arguments.target
    check_target(target, "OUT", SUFFIXES)
    if arguments.thunder and not target.stem.endswith((ROBOT_END, *LINKS_ENDS)):
        raise ThunderError(
            f"--thunder is for files NAME_conf.yaml, NAME_par_REG.yaml or NAME_par_DYN.yaml, got {target}"
        )
    if target.exists() and not arguments.force:
        raise ThunderError(f"{target} is there already; --force replaces it")
    robot = load_robot(arguments.source, arguments, name=arguments.name)
    losses = conversion_losses(robot.description, target)
    robot.save(target, lossy=True, thunder=arguments.thunder or "0.8")
    for loss in losses:
        print(f"not carried over: {loss}", file=sys.stderr)
    print(target)
