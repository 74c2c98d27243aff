"""Masses and moments of inertia that are exactly zero in a compiled model."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..checks import Array

__all__ = ["set_small_inertia"]


def set_small_inertia(mujoco: Any, model: Any, body: str, dyn: Array) -> None:
    """Set a body's mass and moments about its principal axes, which MuJoCo's compiler wants above 1e-15.

    Its dynamics ask for less: that a joint moves any mass at all.

    Parameters
    ----------
    mujoco : module
        The package.
    model : mujoco.MjModel
        Changed in place.
    body : str
        Its name; centre of mass and principal axes are those of `dyn` already.
    dyn : (10,) array
        Mass, centre, inertia about it.
    """
    index = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, body)
    R = np.zeros(9)
    mujoco.mju_quat2Mat(R, model.body_iquat[index])
    tensor = np.zeros((3, 3))
    tensor[np.triu_indices(3)] = tensor.T[np.triu_indices(3)] = dyn[4:]
    axes = R.reshape(3, 3)
    model.body_mass[index] = dyn[0]
    model.body_inertia[index] = np.diagonal(axes.T @ tensor @ axes)
