"""Analytic inverse kinematics of elbow arms with a spherical wrist."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .. import _core
from ..checks import Array, array, of_kind, pose
from ..errors import ThunderError
from ..robot import Robot

#: tolerance of the intersection of axes [m] and of the sine or cosine of their angles
_TOLERANCE = 1e-9
_TURN = 2.0 * np.pi


class SphericalWristIK(_core.SphericalWrist):
    """Analytic inverse kinematics of an elbow arm with a spherical wrist: up to eight solutions.

    The arm has six revolute joints. Its last three axes meet in one point, each at a right angle to the next; its
    second and third axes are parallel, and the first is not parallel to them. Shoulder, elbow and tool offsets and the
    zeros of the joints are arbitrary, in any convention.

    Parameters
    ----------
    robot : Robot
        The arm.
    frame : int or str, optional
        Frame to place, fixed to the last link; default the end effector.

    Raises
    ------
    ThunderError
        For other arms; the message names the violated condition.

    Notes
    -----
    Kinematic decoupling (lectures 10 and 11), with the lecture's lost sign (errata N-5) and missing branch restored.
    The wrist's center determines joint 1 by its distance along axis 2, joint 3 by the cosine law, and joint 2 by an
    angle. The remaining rotation gives the wrist's ZYZ angles, both branches (lecture 5, errata N-6).

    Examples
    --------
    >>> import numpy as np
    >>> import thunder_py as th
    >>> right = np.pi / 2
    >>> arm = [[0, right, 0.4, 0], [0.5, 0, 0, 0], [0, right, 0, 0]]
    >>> wrist = [[0, -right, 0.4, 0], [0, right, 0, 0], [0, 0, 0.1, 0]]
    >>> robot = th.Robot.from_dh(arm + wrist, convention="standard")
    >>> q = [0.3, 0.5, 2.0, 0.5, 0.8, 1.0]
    >>> solutions = th.kinematics.SphericalWristIK(robot).solve(robot.forward_kinematics(q), near=q)
    >>> solutions.shape, bool(np.allclose(solutions[0], q))
    ((8, 6), True)
    """

    def __init__(self, robot: Robot, frame: int | str | None = None) -> None:
        of_kind(robot, Robot, "robot")
        if robot.n != 6 or robot.joint_types != "RRRRRR":
            raise ThunderError(
                f"robot must have six revolute joints for a spherical-wrist solution, got {robot.joint_types}"
            )
        zero = np.zeros(6)
        J = robot.jacobian(zero, frame)
        if not J[3:, 5].any():  # joint 6 does not rotate the frame
            raise ThunderError(f"frame must be fixed to the last link of {robot.name}, got {frame!r}")
        T = robot.forward_kinematics(zero, frame)
        axes = J[3:].T
        # nearest point of each axis to the frame: linear column = axis x (frame - point)
        points = T[:3, 3] + np.cross(axes, J[:3].T)
        wrist = _check_wrist(robot.name, axes, points)
        super().__init__(axes, points[:3], wrist, T)
        self.robot = robot

    def solve(self, T: npt.ArrayLike, *, limits: bool = False, near: npt.ArrayLike | None = None) -> Array:
        """Return all solutions for a pose, (k, 6) [rad]; k is 0 out of reach and at most 8.

        Parameters
        ----------
        T : (4, 4) array_like
            Pose in the world.
        limits : bool
            Return only solutions within the robot's position limits, shifted by whole turns if necessary.
        near : (6,) array_like, optional
            Joint positions [rad] to sort by, nearest first (largest joint motion). Joints that the pose does not
            determine take their values from it. Default zero, with solutions in the order of the branches.

        Notes
        -----
        At a singular wrist (axes 4 and 6 aligned) only the sum or the difference of joints 4 and 6 is determined:
        joint 4 is taken from `near`, and both branches coincide. Angles are within half a turn of zero, or of `near`.
        """
        target = pose(T, "T")
        start = np.zeros(6) if near is None else array(near, (6,), "near")
        q = self._solve(target, start)
        if near is not None:
            q = q + _TURN * np.round((start - q) / _TURN)
        if limits:
            q = self._within_limits(q)
        if near is not None:
            q = q[np.argsort(np.abs(q - start).max(axis=1), kind="stable")]
        return q

    def _within_limits(self, q: Array) -> Array:
        lower, upper = self.robot.limits.lower, self.robot.limits.upper
        slack = 1e-12
        up = np.where(q < lower - slack, np.ceil((lower - slack - q) / _TURN), 0.0)
        down = np.where(q > upper + slack, np.ceil((q - upper - slack) / _TURN), 0.0)
        moved = q + _TURN * (up - down)
        inside = ((moved >= lower - slack) & (moved <= upper + slack)).all(axis=1)
        return np.asarray(np.clip(moved[inside], lower, upper))


def _check_wrist(name: str, axes: Array, points: Array) -> Array:
    """Return the intersection of the last three axes, or raise ThunderError."""
    for i in (3, 4):
        cosine = axes[i] @ axes[i + 1]
        if abs(cosine) > _TOLERANCE:
            raise ThunderError(
                f"no spherical wrist: axes {i + 1} and {i + 2} of {name} must be at a right angle, "
                f"got {np.degrees(np.arccos(np.clip(cosine, -1, 1))):.6g} degrees"
            )
    # least squares: nearest point to all three lines
    planes = [np.eye(3) - np.outer(axis, axis) for axis in axes[3:]]
    wrist = np.linalg.solve(sum(planes), sum(P @ point for P, point in zip(planes, points[3:], strict=True)))
    miss = max(float(np.linalg.norm(P @ (wrist - point))) for P, point in zip(planes, points[3:], strict=True))
    if miss > _TOLERANCE:
        raise ThunderError(f"no spherical wrist: the last three axes of {name} miss a common point by {miss:.3g} m")
    if np.linalg.norm(np.cross(axes[1], axes[2])) > _TOLERANCE:
        raise ThunderError(f"no elbow arm: axes 2 and 3 of {name} must be parallel")
    if np.linalg.norm(np.cross(axes[0], axes[1])) < 1e-6:
        raise ThunderError(f"no elbow arm: axes 1 and 2 of {name} must not be parallel")
    return np.asarray(wrist)
