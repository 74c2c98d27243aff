"""Options of commands that read a robot, which select the arm in a tree of links."""

from __future__ import annotations

import argparse
from typing import Any

from ..robot import Robot
from .text import argument

_NAMES = ("base_link", "tip_link", "missing_inertia")


def add_robot_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `Robot.load` for URDF and MJCF."""
    parser.add_argument("--base-link", metavar="LINK", help="first link of the arm, default that of the only arm")
    parser.add_argument("--tip-link", metavar="LINK", help="last link of the arm, default that of the only arm")
    parser.add_argument(
        "--fix-joint",
        metavar="JOINT=POSITION",
        action="append",
        type=argument(_locked, "expected JOINT=POSITION, such as grip=0.02"),
        help="for URDF and MJCF: lock a joint [rad or m], such as a finger's; may be repeated",
    )
    parser.add_argument(
        "--xacro", metavar="NAME:=VALUE", action="append", type=_xacro, help="argument of a xacro file; may be repeated"
    )
    parser.add_argument(
        "--missing-inertia",
        choices=("error", "zero"),
        help="treatment of links without inertia, default massless with a warning",
    )


def load_robot(source: str, arguments: argparse.Namespace, *, name: str | None = None) -> Robot:
    """Load a robot with the options of the command line; `name` replaces the name in its file."""
    options: dict[str, Any] = {name: value for name in _NAMES if (value := getattr(arguments, name)) is not None}
    if arguments.fix_joint:
        options["fix_joints"] = dict(arguments.fix_joint)
    if arguments.xacro:
        options["xacro"] = dict(arguments.xacro)
    return Robot.load(source, name=name, **options)


def _xacro(text: str) -> tuple[str, str]:
    """Read ``ur_type:=ur5e``."""
    name, sign, value = text.partition(":=")
    if not sign or not name:
        raise argparse.ArgumentTypeError(f"expected NAME:=VALUE, such as ur_type:=ur5e, got {text!r}")
    return name, value


def _locked(text: str) -> tuple[str, float]:
    """Read ``grip=0.02``."""
    name, _, position = text.rpartition("=")
    if not name:
        raise ValueError
    return name, float(position)
