"""``thunder info``: the installation, or one robot."""

from __future__ import annotations

import argparse
import json
import math
import platform
import textwrap
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import __version__, _core, robots
from ..io.selection import SeveralArmsError, gripper_joints
from ..model import inertia
from ..robot import Robot
from ..table import Table
from .robot_options import add_robot_options, as_options, load_robot
from .text import number

if TYPE_CHECKING:
    from ..checks import Array

_DEPENDENCIES = ("numpy", "scipy", "matplotlib", "PyYAML", "tqdm", "Jinja2")
_INERTIAL = ("m", "mcx", "mcy", "mcz", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")
_WIDTH = 100

HELP = "versions, build and bundled robots; or joints, frames and parameters of a robot"
DESCRIPTION = "Without a robot: versions, build and bundled robots. With one: its joints, frames and parameters."
EPILOG = """\
examples:
  thunder info                     versions, build and bundled robots
  thunder info panda
  thunder info my_arm.yaml --json
  thunder info my_arm.urdf --base-link base_link --tip-link tool0
  thunder info my_arm.urdf --tip-link tool0 --fix-joint finger=0.02
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the subcommand."""
    parser.add_argument(
        "robot", nargs="?", help="name of a bundled robot, or path of a .yaml, .urdf, .xacro, .xml or .mjcf file"
    )
    add_robot_options(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> None:
    """Print what is known."""
    if arguments.robot is None:
        facts, text = _installation(), _installation_text
    else:
        try:
            facts, text = describe(load_robot(arguments.robot, arguments)), _robot_text
        except SeveralArmsError as error:
            facts, text = {"arms": [arm._asdict() for arm in error.arms]}, partial(_arms_text, whole=error.whole)
    print(json.dumps(facts, indent=2, allow_nan=False) if arguments.json else text(facts))


def _installation() -> dict[str, Any]:
    return {
        "thunder_py": __version__,
        "python": platform.python_version(),
        "dependencies": {name: version(name) for name in _DEPENDENCIES},
        "build": dict(_core.build_config()),
        "robots": {name: _summary(Robot.load(name)) for name in robots.names()},
    }


def _arms_text(facts: dict[str, Any], whole: str) -> str:
    rows = [[arm["name"], str(len(arm["joints"])), arm["base"], arm["tip"]] for arm in facts["arms"]]
    note = f"take one with --base-link and --tip-link{as_options(whole)}"
    return str(Table(["arm", "joints", "base link", "tip link"], rows)) + "\n" + note


def _summary(robot: Robot) -> dict[str, Any]:
    return {"joints": robot.n, "joint_types": robot.joint_types, "parameters": robot.p}


def _installation_text(facts: dict[str, Any]) -> str:
    versions = {"thunder_py": facts["thunder_py"], "Python": facts["python"], **facts["dependencies"]}
    rows = [[name, str(s["joints"]), s["joint_types"], str(s["parameters"])] for name, s in facts["robots"].items()]
    return "\n".join(
        [
            *(f"{name:22} {value}" for name, value in versions.items()),
            "",
            *(f"{name.replace('_', ' '):22} {value}" for name, value in facts["build"].items()),
            "",
            str(Table(["bundled robot", "joints", "types", "parameters"], rows)),
            "'thunder info NAME' says more about a robot",
        ]
    )


def describe(robot: Robot) -> dict[str, Any]:
    """Return a robot's facts as plain numbers, strings, lists and dicts; an absent limit is None."""
    limits, base = robot.limits, robot.base_parameters()
    joints = [
        {
            "name": robot.joint_names[i],
            "type": robot.joint_types[i],
            **{key: _finite(getattr(limits, key)[i]) for key in ("lower", "upper", "velocity", "effort")},
        }
        for i in range(robot.n)
    ]
    links = [
        {"name": name, "consistency": consistency(reg), "violation": inertia.violation(reg)}
        for name, reg in zip(robot.link_names, robot.inertial, strict=True)
    ]
    return {
        "name": robot.name,
        "reference": robot.description.reference,
        "convention": robot.description.convention,
        "gravity": robot.gravity.tolist(),
        "joints": joints,
        "gripper": gripper_joints(robot.joint_names),
        "frames": list(robot.frame_names),
        "end_effector": _end_effector(robot),
        "links": links,
        "parameters": dict(zip(robot.parameter_names, robot.parameters.tolist(), strict=True)),
        "base_parameters": {
            "count": base.count,
            "condition_number": _finite(base.condition_number),
            "gap": _finite(base.gap),
            "names": list(base.names),
        },
    }


def consistency(reg: Array) -> str:
    """Say what a link's REG parameters, (10,), describe.

    Returns
    -------
    str
        ``"physical"`` for a body with extension, ``"degenerate"`` for a point, rod or plate, ``"massless"``, or
        ``"not physical"``.
    """
    if inertia.is_physical(reg):
        return "physical"
    if not np.any(reg):
        return "massless"
    return "not physical" if inertia.violation(reg) else "degenerate"


def _end_effector(robot: Robot) -> list[str]:
    """Return the names of the file's frames that are where the end effector is."""
    frames = {robot.link_names[-1]: (robot.n, np.eye(4)), **robot.description.frames}
    tool = robot.description.tool
    return [name for name, (link, pose) in frames.items() if link == robot.n and np.allclose(pose, tool, atol=1e-12)]


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _robot_text(facts: dict[str, Any]) -> str:
    base, count = facts["base_parameters"], len(facts["joints"])
    condition, gap = ("infinite" if base[key] is None else f"{base[key]:.3g}" for key in ("condition_number", "gap"))
    joints = f"{count} joint{'s' * (count != 1)}"
    gravity = ", ".join(f"{g:g}" for g in facts["gravity"])
    parts = [
        f"{facts['name']}: {joints}, convention {facts['convention']}, gravity [{gravity}] m/s2",
        textwrap.fill(f"reference: {facts['reference']}", _WIDTH) if facts["reference"] else "",
        _joint_table(facts["joints"]),
        f"the gripper is part of the arm: {', '.join(facts['gripper'])}" if facts["gripper"] else "",
        textwrap.fill("frames: " + ", ".join(facts["frames"]), _WIDTH, break_on_hyphens=False)
        + (f"\nthe end effector is at {', '.join(facts['end_effector'])}" if facts["end_effector"] else ""),
        _link_table(facts),
        _other_parameters(facts),
        f"base parameters: {base['count']} of {len(facts['parameters'])}, condition number {condition}, "
        f"gap of singular values {gap}",
    ]
    return "\n\n".join(part for part in parts if part)


def _joint_table(joints: list[dict[str, Any]]) -> str:
    def limit(value: float | None) -> str:
        return "-" if value is None else number(value, 5)

    keys = ("lower", "upper", "velocity", "effort")
    rows = [[joint["name"], joint["type"], *(limit(joint[key]) for key in keys)] for joint in joints]
    return str(Table(["joint", "type", *keys], rows)) + "\nR turns [rad, rad/s, N m], P slides [m, m/s, N]"


def _link_table(facts: dict[str, Any]) -> str:
    values = facts["parameters"]
    rows = [
        [link["name"], *(number(values[f"{link['name']}.{entry}"]) for entry in _INERTIAL), link["consistency"]]
        for link in facts["links"]
    ]
    note = "parameters link.m, link.mcx, ...: kg, kg m, kg m2, inertia about the origin of the link's frame"
    lines = [str(Table(["link", *_INERTIAL, "body"], rows)), note]
    violations = [
        textwrap.fill(f"{link['name']}: {link['violation']}", _WIDTH) for link in facts["links"] if link["violation"]
    ]
    if violations:
        lines += [*violations, "robot.nearest_physical() gives the nearest robot that satisfies it"]
    return "\n".join(lines)


def _other_parameters(facts: dict[str, Any]) -> str:
    others = list(facts["parameters"].items())[10 * len(facts["links"]) :]
    rows = [[name, number(value)] for name, value in others]
    return str(Table(["further parameter", "value"], rows)) if rows else ""
