"""A compiled MuJoCo model seen as bodies and joints with names."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..checks import Array
from ..errors import FileFormatError
from ..inertia import pseudo_inertia, reg_from_dyn

__all__ = ["Tree", "turn"]


class Tree:
    """Bodies and joints of a model; body 0 is the world.

    Parameters
    ----------
    mujoco : module
        The package.
    model : mujoco.MjModel
        Compiled.
    path : path-like or None
        Named in messages.
    """

    def __init__(self, mujoco: Any, model: Any, path: str | Path | None = None) -> None:
        self.mujoco, self.model, self.path = mujoco, model, path
        self.model_name = bytes(model.names).split(b"\0", 1)[0].decode("utf-8", "replace")
        self.children: list[list[int]] = [[] for _ in range(model.nbody)]
        for body in range(1, model.nbody):
            self.children[int(model.body_parentid[body])].append(body)

    def error(self, message: str, key: str | None = None) -> FileFormatError:
        """Return the error that says `message` about the file."""
        return FileFormatError(message, path=self.path, key=key)

    def _name(self, kind: str, index: int) -> str:
        return self.mujoco.mj_id2name(self.model, getattr(self.mujoco.mjtObj, f"mjOBJ_{kind}"), index) or ""

    def body_name(self, body: int) -> str:
        """Name of a body, empty if it has none."""
        return self._name("BODY", body)

    def joint_name(self, joint: int) -> str:
        """Name of a joint, empty if it has none."""
        return self._name("JOINT", joint)

    def site_name(self, site: int) -> str:
        """Name of a site, empty if it has none."""
        return self._name("SITE", site)

    def joints_of(self, body: int) -> list[int]:
        """Joints of a body, in their order."""
        first = int(self.model.body_jntadr[body])
        return list(range(first, first + int(self.model.body_jntnum[body])))

    def slides(self, joint: int) -> bool:
        """Whether a joint is prismatic."""
        return bool(self.model.jnt_type[joint] == self.mujoco.mjtJoint.mjJNT_SLIDE)

    def is_simple(self, joint: int) -> bool:
        """Whether a joint turns about or slides along one axis."""
        return self.slides(joint) or bool(self.model.jnt_type[joint] == self.mujoco.mjtJoint.mjJNT_HINGE)

    def pose(self, body: int) -> Array:
        """Pose (4, 4) of a body in its parent, with joints at their reference."""
        return self._pose(self.model.body_pos[body], self.model.body_quat[body])

    def site_pose(self, site: int) -> Array:
        """Pose (4, 4) of a site in its body."""
        return self._pose(self.model.site_pos[site], self.model.site_quat[site])

    def _pose(self, position: Array, quaternion: Array) -> Array:
        T = np.eye(4)
        T[:3, :3], T[:3, 3] = self._rotation(quaternion), position
        return T

    def _rotation(self, quaternion: Array) -> Array:
        if np.array_equal(quaternion, (1.0, 0.0, 0.0, 0.0)):
            return np.eye(3)
        matrix = np.zeros(9)
        self.mujoco.mju_quat2Mat(matrix, quaternion)
        return matrix.reshape(3, 3)

    def motion(self, joint: int, q: float) -> Array:
        """Pose (4, 4) of the body behind a joint at q [rad or m] in the body before."""
        model = self.model
        moved = q - float(model.qpos0[model.jnt_qposadr[joint]])
        T = np.eye(4)
        if self.slides(joint):
            T[:3, 3] = moved * model.jnt_axis[joint]
            return T
        T[:3, :3] = turn(model.jnt_axis[joint], moved)
        T[:3, 3] = model.jnt_pos[joint] - T[:3, :3] @ model.jnt_pos[joint]
        return T

    def inertia(self, body: int) -> Array:
        """Pseudo-inertia (4, 4) of a body in its frame."""
        model = self.model
        R = self._rotation(model.body_iquat[body])
        tensor = R @ np.diag(model.body_inertia[body]) @ R.T
        dyn = np.concatenate([[model.body_mass[body]], model.body_ipos[body], tensor[np.triu_indices(3)]])
        return pseudo_inertia(reg_from_dyn(dyn))

    def gravity(self) -> Array:
        """Gravity, nothing where it is switched off."""
        return np.zeros(3) if self.is_off("GRAVITY") else np.array(self.model.opt.gravity)

    def is_off(self, *flags: str) -> bool:
        """Whether the file switches off one of MuJoCo's flags; versions differ in the flags they have."""
        bits = (getattr(self.mujoco.mjtDisableBit, f"mjDSBL_{flag}", 0) for flag in flags)
        return any(self.model.opt.disableflags & int(bit) for bit in bits)

    def numeric(self, name: str) -> Sequence[float] | None:
        """Numbers of a custom field, None if it is not there."""
        index = self.mujoco.mj_name2id(self.model, self.mujoco.mjtObj.mjOBJ_NUMERIC, name)
        if index < 0:
            return None
        start, size = int(self.model.numeric_adr[index]), int(self.model.numeric_size[index])
        return [float(x) for x in self.model.numeric_data[start : start + size]]


def turn(axis: Array, angle: float) -> Array:
    """Rotation (3, 3) about a unit axis by an angle [rad]."""
    x, y, z = axis
    K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.asarray(np.eye(3) + np.sin(angle) * K + (1.0 - np.cos(angle)) * (K @ K))  # Rodrigues
