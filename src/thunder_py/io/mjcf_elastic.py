"""Elastic joints in MJCF: the joint of a motor, and a tendon as the spring and damper between it and the arm's joint.

The motor turns (or slides) on the world with an armature as its only inertia, so its kinetic energy is that of its own
spin. The length of the tendon is x - q.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..checks import Array
from ..errors import ThunderError
from ..model.description import RobotDescription
from ..model.elastic import motor_names
from ..model.joint_data import Elastic
from .mjcf_text import LEAST
from .xml import number, numbers, open_tag, tag

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
        lines += [
            open_tag("body", name=name),
            "  " + tag("inertial", mass=number(LEAST), pos="0 0 0", diaginertia=numbers([LEAST] * 3)),
            "  "
            + tag(
                "joint",
                name=name,
                type="hinge" if d.joint_types[drive.joint - 1] == "R" else "slide",
                damping=_coefficients(drive.Dm[: _ORDERS["Dm"]]),
                armature=number(drive.Mm),
            ),
            "</body>",
        ]
    return lines


def springs(d: RobotDescription) -> list[str]:
    """Return the tendons."""
    lines = []
    for drive, motor in zip(d.elastic, motor_names(d.elastic, d.joint_names), strict=True):
        joint = d.joint_names[drive.joint - 1]
        K = drive.K[: _ORDERS["K"]]
        lines += [
            open_tag(
                "fixed",
                name=_tendon(joint),
                springlength="0",
                stiffness=_coefficients([K[0], 0.0, *K[1:]]),
                damping=_coefficients(drive.D[: _ORDERS["D"]]),
            ),
            "  " + tag("joint", joint=motor, coef="1"),
            "  " + tag("joint", joint=joint, coef="-1"),
            "</fixed>",
        ]
    return lines


def _tendon(joint: str) -> str:
    return f"spring_of_{joint}"


def _coefficients(values: Sequence[float]) -> str | None:
    """Return coefficients without zeros at the end, None if there are no others: old versions take one number."""
    used = np.flatnonzero(values)
    return numbers(values[: int(used[-1]) + 1]) if used.size else None


class Coupling(NamedTuple):
    """Numbers, in a model of MuJoCo, of an arm's joint, of its motor's joint, and of the tendon between them."""

    joint: int
    motor: int
    tendon: int


def couplings(mujoco: Any, model: Any) -> list[Coupling]:
    """Return the elastic joints that `springs` and `motor_bodies` have written, in the order of the arm's joints.

    Parameters
    ----------
    mujoco : module
        The package.
    model : mujoco.MjModel
        Compiled model.
    """
    found = []
    for k in range(model.ntendon):
        start = int(model.tendon_adr[k])
        wraps = slice(start, start + int(model.tendon_num[k]))
        if (model.wrap_type[wraps] != mujoco.mjtWrap.mjWRAP_JOINT).any() or model.wrap_prm[wraps].tolist() != [1, -1]:
            continue
        motor, joint = (int(j) for j in model.wrap_objid[wraps])
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
        *_powers(model, "tendon_stiffnesspoly", tendon)[:1],
        model.qpos0[int(model.jnt_qposadr[joint])],
    )
    alone = int(model.body_parentid[body]) == 0 and int(model.body_jntnum[body]) == 1
    return alone and bool(model.body_subtreemass[body] <= 2.0 * LEAST) and not np.any(others)


def read_drives(model: Any, found: Sequence[Coupling], joints: Sequence[int]) -> tuple[Elastic, ...]:
    """Return the drives of an arm's joints.

    Parameters
    ----------
    model : mujoco.MjModel
        Compiled model.
    found : sequence of Coupling
        Result of `couplings`.
    joints : sequence of int
        Joints of the arm in the model.
    """
    found = [coupling for coupling in found if coupling.joint in joints]
    dofs = [int(model.jnt_dofadr[coupling.motor]) for coupling in found]
    tendons = [coupling.tendon for coupling in found]
    K = _table([[model.tendon_stiffness[k], *_powers(model, "tendon_stiffnesspoly", k)[1:]] for k in tendons], least=1)
    D = _table([[model.tendon_damping[k], *_powers(model, "tendon_dampingpoly", k)] for k in tendons])
    Dm = _table([[model.dof_damping[dof], *_powers(model, "dof_dampingpoly", dof)] for dof in dofs])
    return tuple(
        Elastic(
            joint=joints.index(coupling.joint) + 1,
            K=tuple(K[k]),
            D=tuple(D[k]),
            Dm=tuple(Dm[k]),
            Mm=float(model.dof_armature[dof]),
        )
        for k, (coupling, dof) in enumerate(zip(found, dofs, strict=True))
    )


def _powers(model: Any, key: str, index: int) -> list[float]:
    """Return the coefficients of higher order; only later versions of MuJoCo have them."""
    values = getattr(model, key, None)
    return [] if values is None else [float(x) for x in values[index]]


def _table(rows: list[list[float]], least: int = 0) -> Array:
    """Return coefficients without the columns at the end that are zero for all drives."""
    table = np.array(rows, dtype=np.float64)
    used = np.flatnonzero(table.any(axis=0)) if rows else np.array([], dtype=int)
    return table[:, : max(least, int(used[-1]) + 1 if used.size else 0)] if rows else table
