"""Options of commands that read a robot, which select the arm in a tree of links."""

from __future__ import annotations

import argparse
import re
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


def as_options(text: str) -> str:
    """Return a message with the options of the command line in place of the arguments of `Robot.load`.

    Examples
    --------
    >>> from thunder_py.cli.robot_options import as_options
    >>> as_options("pass base_link='w', tip_link='l4', fix_joints={'a': 0.0, 'b': 0.0}")
    "pass --base-link='w' --tip-link='l4' --fix-joint='a'=0.0 --fix-joint='b'=0.0"
    """
    text = re.sub(r"(?<='), (?=(tip_link|fix_joints)=)", " ", text)
    text = re.sub(
        r"fix_joints=\{(.*?)\}",
        lambda found: re.sub(r"(?:^|, )('[^']*'): ", r" --fix-joint=\1=", found[1]).strip(),
        text,
    )
    text = re.sub(r"(?<!')\b(base|tip)_link(?=[=:])", r"--\1-link", text)
    return (
        text.replace("missing_inertia=", "--missing-inertia=")
        .replace("fix_joints", "--fix-joint")
        .replace("xacro= ", "--xacro ")
    )


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
