"""Robots as MJCF, the format of MuJoCo: bodies are link frames, joints and actuators have the robot's names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..checks import Array
from ..description import Friction, RobotDescription, check_physical_input
from ..errors import ModelError
from .losses import check_losses
from .mjcf_bodies import acceptable_bodies
from .mjcf_rotors import Rotors, translate_rotors
from .mjcf_shapes import ASSETS, DEFAULTS, Shapes
from .xml_text import comment, number, numbers, opened, quaternion, tag

if TYPE_CHECKING:
    from ..robot import Robot

__all__ = ["mjcf_losses", "write_mjcf"]

_HEADER = (
    '<compiler angle="radian" autolimits="true" inertiafromgeom="false" balanceinertia="false" boundmass="0" '
    'boundinertia="0"/>'
)


def mjcf_losses(robot: Robot) -> tuple[str, ...]:
    """Return what changes the robot's behaviour on its way to MJCF, one sentence each.

    Parameters
    ----------
    robot : Robot
        Any.
    """
    d, losses = robot.description, []
    for joint in translate_rotors(robot).inexact:
        losses.append(
            f"the rotor of {d.joint_names[joint - 1]} becomes an armature: its coupling to the link that carries it "
            "is lost"
        )
    if d.elastic:
        names = ", ".join(d.joint_names[drive.joint - 1] for drive in d.elastic)
        losses.append(f"springs, dampers and motors of elastic joints are lost, the joints become rigid: {names}")
    if d.friction is not None:
        losses += [_lost_friction(term, d.friction.delta) for term in _terms(d.friction) if term != "viscous"]
    return tuple(losses)


def _terms(friction: Friction) -> list[str]:
    """Return the terms that some joint has."""
    return [term for k, term in enumerate(friction.terms) if friction.coefficients[:, k].any()]


def _lost_friction(term: str, delta: float) -> str:
    if term != "coulomb":
        return f"{term} friction is lost"
    return f"Coulomb friction becomes frictionloss, a soft constraint, instead of dq / (abs(dq) + {delta:g})"


def write_mjcf(robot: Robot, *, lossy: bool = False) -> str:
    """Return a robot as the text of an MJCF file.

    Parameters
    ----------
    robot : Robot
        With links that can exist, or whose motion cannot tell them from such; see `mjcf_bodies`.
    lossy : bool
        Whether to write a robot some of whose behaviour MJCF cannot hold; the file then says what is missing.

    Returns
    -------
    str
        The document: inertias, gravity, damping, armature, limits, actuators that are torques, a site for each frame,
        shapes without mass.

    Raises
    ------
    ModelError
        If something would be lost and `lossy` is not set, or a link is no body.
    """
    d = check_physical_input(robot.description)
    losses = check_losses(mjcf_losses(robot), "MJCF", lossy)
    if "world" in d.link_names:
        raise ModelError("MJCF has a body 'world' of its own: give the link 'world' another name")
    bodies, rotors = acceptable_bodies(robot), translate_rotors(robot)
    lines = [opened("mujoco", model=d.name)]
    lines += [f"  {comment(text)}" for text in _remarks(d, losses)]
    lines += [
        f"  {_HEADER}",
        f"  {tag('option', gravity=numbers(d.gravity), timestep='0.001', integrator='implicitfast')}",
        f"  {tag('statistic', center=_centre(robot), extent=number(1.2 * Shapes(d).length))}",
        *_block("default", DEFAULTS),
        *_block("asset", ASSETS),
        "  <worldbody>",
        '    <light pos="0 -1.5 3" dir="0 0.45 -0.9" diffuse="0.6 0.6 0.6"/>',
        *_bodies(d, [body.dyn for body in bodies], [body.note for body in bodies], rotors.armature),
        "  </worldbody>",
        *_tendons(d, rotors),
        *_block("actuator", _motors(d)),
        *_notes(d, rotors),
        "</mujoco>",
    ]
    return "\n".join(lines) + "\n"


def _remarks(d: RobotDescription, losses: tuple[str, ...]) -> list[str]:
    remarks = [d.reference] if d.reference else []
    remarks += [f"not carried over: {loss}" for loss in losses]
    if d.convention != "placements":
        remarks.append(f"link frames are those of the {d.convention} Denavit-Hartenberg table")
    return remarks


def _centre(robot: Robot) -> str:
    """Where to look: half-way between base and the farthest link, at zero."""
    points = np.array([robot.forward_kinematics(np.zeros(robot.n), f)[:3, 3] for f in ("base", *robot.link_names)])
    return numbers(np.round(0.5 * (points.min(axis=0) + points.max(axis=0)), 6))


def _block(name: str, lines: tuple[str, ...] | list[str]) -> list[str]:
    return [f"  <{name}>", *(f"    {line}" for line in lines), f"  </{name}>"] if lines else []


def _pose(T: Array) -> dict[str, str | None]:
    """Return position and rotation as attributes, absent where they are nothing."""
    turned = not np.array_equal(T[:3, :3], np.eye(3))
    return {
        "pos": numbers(T[:3, 3]) if T[:3, 3].any() else None,
        "quat": numbers(quaternion(T[:3, :3])) if turned else None,
    }


def _bodies(d: RobotDescription, dyn: list[Array], notes: list[str], armature: Array) -> list[str]:
    """Bodies within bodies, from the base to the last link."""
    shapes = Shapes(d)
    lines = ["    " + opened("body", name="base", **_pose(d.base))]
    lines += [f"      {line}" for line in (*shapes.of_body(0), *_sites(d, 0))]
    for i in range(d.n):
        blanks = "  " * (i + 3)
        pose = d.placements[i] @ d.offsets[i]
        lines.append(blanks + opened("body", name=d.link_names[i], **_pose(pose)))
        inside = [comment(notes[i])] if notes[i] else []
        inside += [
            _joint(d, i, armature[i]),
            _inertial(dyn[i]),
            *shapes.of_body(i + 1),
            *_sites(d, i + 1),
        ]
        lines += [f"{blanks}  {line}" for line in inside]
    return lines + ["  " * (i + 2) + "</body>" for i in range(d.n, -1, -1)]


def _inertial(dyn: Array) -> str:
    """Return a body's inertia about its principal axes: of a full tensor MuJoCo 3.3 keeps nine digits only."""
    tensor = np.zeros((3, 3))
    tensor[np.triu_indices(3)] = dyn[4:]
    place = {"mass": number(dyn[0]), "pos": numbers(dyn[1:4])}
    if not np.triu(tensor, 1).any():
        return tag("inertial", **place, diaginertia=numbers(np.diagonal(tensor)))
    moments, axes = np.linalg.eigh(tensor, UPLO="U")
    turned = quaternion(axes if np.linalg.det(axes) > 0.0 else -axes)
    return tag("inertial", **place, quat=numbers(turned), diaginertia=numbers(moments))


def _joint(d: RobotDescription, i: int, armature: float) -> str:
    """Return a joint, whose place is given in the frame of its link, behind the motion."""
    back = np.linalg.inv(d.offsets[i])
    viscous, coulomb = (_friction(d, term, i) for term in ("viscous", "coulomb"))
    limits = None if d.limits is None else (float(d.limits.lower[i]), float(d.limits.upper[i]))
    return tag(
        "joint",
        name=d.joint_names[i],
        type="hinge" if d.joint_types[i] == "R" else "slide",
        pos=numbers(back[:3, 3]) if back[:3, 3].any() else None,
        axis=numbers(back[:3, :3] @ d.axes[i]),
        range=_range(limits),
        damping=number(viscous) if viscous else None,
        frictionloss=number(coulomb) if coulomb else None,
        armature=number(armature) if armature else None,
    )


def _range(limits: tuple[float, float] | None) -> str | None:
    """Return a joint's range; MuJoCo has no limit on one side only, so a far one stands for none."""
    if limits is None or not np.isfinite(limits).any():
        return None
    return numbers(np.clip(limits, -1e6, 1e6))


def _friction(d: RobotDescription, term: str, i: int) -> float:
    if d.friction is None or term not in d.friction.terms:
        return 0.0
    return float(d.friction.coefficients[i, d.friction.terms.index(term)])


def _sites(d: RobotDescription, link: int) -> list[str]:
    sites = [tag("site", name=name, **_pose(T)) for name, (on, T) in d.frames.items() if on == link]
    return [*sites, tag("site", name="tool", **_pose(d.tool))] if link == d.n else sites


def _tendons(d: RobotDescription, rotors: Rotors) -> list[str]:
    lines: list[str] = []
    for joint, inertia, factors in rotors.tendons:
        lines.append(opened("fixed", name=_tendon(d, joint), armature=number(inertia)))
        lines += [f"  {tag('joint', joint=d.joint_names[k], coef=number(factors[k]))}" for k in np.flatnonzero(factors)]
        lines.append("</fixed>")
    return _block("tendon", lines)


def _motors(d: RobotDescription) -> list[str]:
    """Actuators whose controls are joint torques."""
    effort = np.full(d.n, np.inf) if d.limits is None else d.limits.effort
    return [
        tag("motor", name=name, joint=name, ctrlrange=numbers([-most, most]) if 0.0 < most < np.inf else None)
        for name, most in zip(d.joint_names, effort, strict=True)
    ]


def _notes(d: RobotDescription, rotors: Rotors) -> list[str]:
    """Return what MuJoCo has no use for, for readers of the file: speeds (0 for no limit), what tendons are."""
    notes = []
    if d.limits is not None and np.isfinite(d.limits.velocity).any():
        speeds = np.where(np.isfinite(d.limits.velocity), d.limits.velocity, 0.0)
        notes.append(tag("numeric", name="velocity_limits", data=numbers(speeds)))
    tendons = {joint for joint, _, _ in rotors.tendons}
    for rotor in d.rotors:
        if rotor.joint not in tendons:
            continue
        carrier = rotor.joint - 1 if rotor.carrier is None else rotor.carrier
        note = [rotor.joint, rotor.gear_ratio, carrier, *(() if rotor.axis is None else rotor.axis)]
        notes.append(tag("numeric", name=_tendon(d, rotor.joint), data=numbers(note)))
    return _block("custom", notes)


def _tendon(d: RobotDescription, joint: int) -> str:
    return f"rotor_of_{d.joint_names[joint - 1]}"
