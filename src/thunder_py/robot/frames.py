"""Frames of an arm in the world at given postures, for drawings."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..checks import Array
from ..model.model import RobotModel
from ..plotting.shapes import frame_along


def default_posture(robot: RobotModel) -> Array:
    """Return the default posture of drawings: the middle of joint limits, else the position nearest to 0."""
    lower, upper = robot.limits.lower, robot.limits.upper
    finite = np.isfinite(lower) & np.isfinite(upper)
    middle = 0.5 * (np.where(finite, lower, 0.0) + np.where(finite, upper, 0.0))
    return np.where(finite, middle, np.clip(0.0, lower, upper))


def arm_frames(robot: RobotModel, q: npt.ArrayLike) -> Array:
    """Return poses of the base, of every link frame and of the end effector in the world, (..., n + 2, 4, 4)."""
    frames: list[int | None] = [*range(robot.n + 1), None]
    return np.stack(np.broadcast_arrays(*(robot.forward_kinematics(q, frame) for frame in frames)), axis=-3)


def arm_points(robot: RobotModel, q: npt.ArrayLike) -> Array:
    """Return the origins of base, link frames and end effector in the world [m], (..., n + 2, 3)."""
    return np.asarray(arm_frames(robot, q)[..., :3, 3])


def joint_frames(robot: RobotModel, q: npt.ArrayLike) -> Array:
    """Return the joint frames in the world before the joint motion, with z along the axes, (..., n, 4, 4)."""
    poses = robot.description.placements @ np.array([frame_along(axis) for axis in robot.description.axes])
    return np.asarray(arm_frames(robot, q)[..., : robot.n, :, :] @ poses)
