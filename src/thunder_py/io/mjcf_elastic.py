"""Elastic joints in MJCF: the joint of a motor, and a tendon as the spring and damper between it and the arm's joint.

The motor turns (or slides) on the world with an armature as its only inertia, so its kinetic energy is that of its own
spin. The length of the tendon is x - q.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..errors import ThunderError
from ..model.description import RobotDescription
from ..model.elastic import motor_names
from ..model.joint_data import Elastic
from .mjcf_text import LEAST
from .xml import nested, number, numbers, tag

#: numbers of coefficients that MuJoCo has: x and x^3 (it has x^2, too) for springs; v, v abs(v) and v^3 for damping
_ORDERS = {"K": 2, "D": 3, "Dm": 3}


def lost_powers(d: RobotDescription) -> list[str]:
    """Return the terms of springs and dampers that MuJoCo does not have, one sentence for each."""
    what = {"K": "the spring of {}", "D": "the damper of {}", "Dm": "the damping of the motor of {}"}
    return [
        f"powers above the third of {what[key].format(d.joint_names[drive.joint - 1])} are lost"
        for drive in d.elastic
        for key, order in _ORDERS.items()
        if any(getattr(drive, key)[order:])
    ]


def motor_bodies(d: RobotDescription) -> list[str]:
    """Return the bodies of the motors, children of the world, in the order of the elastic joints."""
    lines = []
    for drive, name in zip(d.elastic, motor_names(d.elastic, d.joint_names), strict=True):
        if drive.Mm <= 0.0:
            raise ThunderError(
                f"motor inertia Mm of {d.joint_names[drive.joint - 1]} must be positive, got {drive.Mm:g}"
            )
        joint = tag(
            "joint",
            name=name,
            type="hinge" if d.joint_types[drive.joint - 1] == "R" else "slide",
            damping=_coefficients(drive.Dm[: _ORDERS["Dm"]]),
            armature=number(drive.Mm),
        )
        inertial = tag("inertial", mass=number(LEAST), pos="0 0 0", diaginertia=numbers([LEAST] * 3))
        lines += nested("body", [inertial, joint], name=name)
    return lines


def springs(d: RobotDescription) -> list[str]:
    """Return the tendons."""
    lines = []
    for drive, motor in zip(d.elastic, motor_names(d.elastic, d.joint_names), strict=True):
        joint = d.joint_names[drive.joint - 1]
        K = drive.K[: _ORDERS["K"]]
        lines += nested(
            "fixed",
            [tag("joint", joint=motor, coef="1"), tag("joint", joint=joint, coef="-1")],
            name=_tendon(joint),
            springlength="0",
            stiffness=_coefficients([K[0], 0.0, *K[1:]]),
            damping=_coefficients(drive.D[: _ORDERS["D"]]),
        )
    return lines


def _tendon(joint: str) -> str:
    return f"spring_of_{joint}"


def _coefficients(values: Sequence[float]) -> str | None:
    """Return coefficients without zeros at the end, None if there are no others: old versions take one number."""
    used = np.flatnonzero(values)
    return numbers(values[: int(used[-1]) + 1]) if used.size else None


class Wrap(NamedTuple):
    """Part of a tendon in a model of MuJoCo: its type, the number of its joint or site, and its factor."""

    kind: int
    target: int
    factor: float


def wraps_of(model: Any, tendon: int) -> list[Wrap]:
    """Return the parts of a tendon."""
    start = int(model.tendon_adr[tendon])
    part = slice(start, start + int(model.tendon_num[tendon]))
    rows = zip(model.wrap_type[part].tolist(), model.wrap_objid[part].tolist(), model.wrap_prm[part], strict=True)
    return [Wrap(*row) for row in rows]


def numbers_of(model: Any, key: str, index: int) -> list[float]:
    """Return one row of an array of a model, nothing where this version of MuJoCo does not have it."""
    values = getattr(model, key, None)
    return [] if values is None else [float(x) for x in np.ravel(values[index])]


class Coupling(NamedTuple):
    """Numbers, in a model of MuJoCo, of an arm's joint, of its motor's joint, and of the tendon between them."""

    joint: int
    motor: int
    tendon: int


def couplings(mujoco: Any, model: Any) -> list[Coupling]:
    """Return the elastic joints of a compiled model that `springs` and `motor_bodies` have written, in their order."""
    found = []
    for k in range(model.ntendon):
        wraps = wraps_of(model, k)
        if [(wrap.kind, wrap.factor) for wrap in wraps] != [(mujoco.mjtWrap.mjWRAP_JOINT, x) for x in (1, -1)]:
            continue
        motor, joint = (wrap.target for wrap in wraps)
        name = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_JOINT, joint)
        if mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_TENDON, k) == _tendon(name) and _is_motor(model, motor, k):
            found.append(Coupling(joint, motor, k))
    return sorted(found)


def _is_motor(model: Any, joint: int, tendon: int) -> bool:
    """Return whether a joint has an armature as its only inertia, and no other forces than damping and the tendon's."""
    body, dof = int(model.jnt_bodyid[joint]), int(model.jnt_dofadr[joint])
    others = (
        model.jnt_stiffness[joint],
        model.jnt_limited[joint],
        model.dof_frictionloss[dof],
        model.tendon_frictionloss[tendon],
        model.tendon_limited[tendon],
        *model.tendon_lengthspring[tendon],
        *numbers_of(model, "tendon_stiffnesspoly", tendon)[:1],
        model.qpos0[int(model.jnt_qposadr[joint])],
    )
    alone = int(model.body_parentid[body]) == 0 and int(model.body_jntnum[body]) == 1
    return alone and bool(model.body_subtreemass[body] <= 2.0 * LEAST) and not np.any(others)


def read_drives(model: Any, found: Sequence[Coupling], joints: Sequence[int]) -> tuple[Elastic, ...]:
    """Return the drives of an arm's joints, given by their numbers in the model, from the result of `couplings`."""
    found = [coupling for coupling in found if coupling.joint in joints]
    dofs = [int(model.jnt_dofadr[coupling.motor]) for coupling in found]
    tendons = [coupling.tendon for coupling in found]
    stiffness = [numbers_of(model, "tendon_stiffnesspoly", k)[1:] for k in tendons]
    K = _table([[model.tendon_stiffness[k], *odd] for k, odd in zip(tendons, stiffness, strict=True)], least=1)
    D = _table([[model.tendon_damping[k], *numbers_of(model, "tendon_dampingpoly", k)] for k in tendons])
    Dm = _table([[model.dof_damping[dof], *numbers_of(model, "dof_dampingpoly", dof)] for dof in dofs])
    rows = zip(found, dofs, K, D, Dm, strict=True)
    return tuple(
        Elastic(joint=joints.index(joint) + 1, K=k, D=d, Dm=dm, Mm=float(model.dof_armature[dof]))
        for (joint, _, _), dof, k, d, dm in rows
    )


def _table(rows: list[list[float]], least: int = 0) -> list[tuple[float, ...]]:
    """Return coefficients without the columns at the end that are zero for all drives."""
    used = [k for row in rows for k, value in enumerate(row, start=1) if value]
    return [tuple(row[: max([least, *used])]) for row in rows]
