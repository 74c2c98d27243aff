"""Limits and friction of joints in a MuJoCo model, and what about them a serial arm of ours has not."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..joint_data import Friction, Limits
from .mjcf_tree import Tree

__all__ = ["friction_of", "limits_of", "refuse_springs"]

#: MuJoCo limits both ends or none: beyond this an end is meant to have no limit
_FAR = 1e6


def limits_of(tree: Tree, joints: Sequence[int]) -> Limits | None:
    """Return ranges, greatest torques of actuators and, where the file has them, speeds; None if nothing is limited."""
    model = tree.model
    on = not tree.is_off("LIMIT", "CONSTRAINT")
    ranges = [model.jnt_range[j] if on and model.jnt_limited[j] else (-math.inf, math.inf) for j in joints]
    lower, upper = np.array(ranges, dtype=np.float64).reshape(-1, 2).T
    speeds = tree.numeric("velocity_limits")
    velocity = np.full(len(joints), math.inf)
    if speeds is not None and len(speeds) == len(joints):
        velocity = np.array([x if x > 0.0 else math.inf for x in speeds])
    effort = np.array([_effort(tree, j) for j in joints])
    lower, upper = np.where(lower <= -_FAR, -math.inf, lower), np.where(upper >= _FAR, math.inf, upper)
    if not np.isfinite([lower, upper, velocity, effort]).any():
        return None
    return Limits(lower=lower, upper=upper, velocity=velocity, effort=effort)


def _effort(tree: Tree, joint: int) -> float:
    """Return the most that the joint's own limit and its actuators together let through."""
    model, mujoco = tree.model, tree.mujoco
    total, found = 0.0, False
    for k in range(model.nu):
        if model.actuator_trntype[k] != mujoco.mjtTrn.mjTRN_JOINT or model.actuator_trnid[k, 0] != joint:
            continue
        most = math.inf
        if model.actuator_forcelimited[k]:
            most = float(np.abs(model.actuator_forcerange[k]).max())
        is_motor = (
            model.actuator_gaintype[k] == mujoco.mjtGain.mjGAIN_FIXED
            and model.actuator_biastype[k] == mujoco.mjtBias.mjBIAS_NONE
        )
        if is_motor and model.actuator_ctrllimited[k]:
            gain = abs(float(model.actuator_gainprm[k, 0]))
            most = min(most, gain * float(np.abs(model.actuator_ctrlrange[k]).max()))
        total, found = total + most * abs(float(model.actuator_gear[k, 0])), True
    own = float(np.abs(model.jnt_actfrcrange[joint]).max()) if model.jnt_actfrclimited[joint] else math.inf
    return min(own, total) if found else own


def friction_of(tree: Tree, joints: Sequence[int]) -> Friction | None:
    """Return damping as viscous and frictionloss as Coulomb friction, smooth here; not what a flag switches off."""
    model = tree.model
    dofs = [int(model.jnt_dofadr[j]) for j in joints]
    columns = {
        "viscous": (model.dof_damping[dofs], ("PASSIVE", "DAMPER")),
        "coulomb": (model.dof_frictionloss[dofs], ("FRICTIONLOSS", "CONSTRAINT")),
    }
    used = {term: column for term, (column, flags) in columns.items() if np.any(column) and not tree.is_off(*flags)}
    return Friction(terms=tuple(used), coefficients=np.column_stack(list(used.values()))) if used else None


def refuse_springs(tree: Tree, joints: Sequence[int]) -> None:
    """Refuse what acts on the chain and has no place in the description of an arm.

    Raises
    ------
    FileFormatError
        For springs, polynomial damping, constraints, tendons, fluids, compensated gravity.
    """
    model = tree.model
    for j in joints:
        dof = int(model.jnt_dofadr[j])
        key = f"joint {tree.joint_name(j)!r}"
        # the polynomials came with later versions of MuJoCo
        springs = [model.jnt_stiffness[j], *np.ravel(getattr(model, "jnt_stiffnesspoly", np.zeros((j + 1, 1)))[j])]
        if np.any(springs):
            raise tree.error("springs (stiffness) are not read; set it to 0", key)
        if np.any(getattr(model, "dof_dampingpoly", np.zeros((dof + 1, 1)))[dof]):
            raise tree.error("damping of higher order is not read; give one number", key)
    if model.opt.density or model.opt.viscosity:
        raise tree.error("density and viscosity of a fluid are not read; set them to 0", "<option>")
    if model.body_gravcomp.any():
        raise tree.error("compensated gravity (gravcomp) is not read; set it to 0")
    _refuse_couplings(tree, set(joints))


def _refuse_couplings(tree: Tree, joints: set[int]) -> None:
    model, mujoco = tree.model, tree.mujoco
    for k in range(model.neq):
        on_joints = model.eq_type[k] == mujoco.mjtEq.mjEQ_JOINT
        if not on_joints or joints & {int(model.eq_obj1id[k]), int(model.eq_obj2id[k])}:
            raise tree.error("equality constraints on the arm are not supported", f"<equality>, number {k + 1}")
    for k in range(model.ntendon):
        start = int(model.tendon_adr[k])
        wraps = range(start, start + int(model.tendon_num[k]))
        of_joints = all(model.wrap_type[w] == mujoco.mjtWrap.mjWRAP_JOINT for w in wraps)
        if of_joints and not joints & {int(model.wrap_objid[w]) for w in wraps}:
            continue
        forces = (model.tendon_stiffness, model.tendon_damping, model.tendon_frictionloss, model.tendon_limited)
        if not of_joints or any(np.any(values[k]) for values in forces):
            name = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_TENDON, k) or str(k + 1)
            raise tree.error("tendons that act on the arm are not supported", f"tendon {name!r}")
