"""The null space of D4.2 as it may have been simulated: with a projector of velocities, applied to torques."""

from __future__ import annotations

import numpy as np

from ..checks import Array
from ..control import CartesianComputedTorque, arm_points
from ..reference import TaskReference
from ..robot import Robot
from .human_like_run import K_D, K_P, K_POSTURE, K_V
from .human_like_tasks import Scene

__all__ = ["KinematicNullSpace"]

_NO_DAMPING = 1e-9  # of the controller beneath: the null space is added here [N m s/rad]


class KinematicNullSpace:
    """Eqs. 108 to 112 with ``P = I - J+ J``.

    (112) prints ``P = I - J J'``, which is 6 x 6 and cannot multiply torques. What comes to mind is the projector of
    velocities; but torques in its range do accelerate the hand, by ``J M^-1 P tau``. `CartesianComputedTorque` has the
    projector whose torques do not.

    Parameters
    ----------
    robot : Robot
        ``human_arm``.
    scene : Scene
        With the posture to lean to and the obstacles.
    """

    def __init__(self, robot: Robot, scene: Scene) -> None:
        self.robot, self.scene = robot, scene
        self.points = arm_points(robot)
        self.task = CartesianComputedTorque(robot, K_P, K_V, _NO_DAMPING * np.eye(robot.n))

    def step(self, t: float, q: Array, dq: Array, reference: TaskReference) -> Array:
        """Return the torques (7,) [N m]."""
        J = self.robot.jacobian(q)
        wanted = K_POSTURE @ (self.scene.q0 - q) - K_D @ dq + self._repulsion(q)
        torque: Array = self.task.step(t, q, dq, reference) + wanted - np.linalg.pinv(J) @ (J @ wanted)
        return torque

    def _repulsion(self, q: Array) -> Array:
        tau = np.zeros(self.robot.n)
        for link, offset in self.points:
            T, J = self.robot.forward_kinematics(q, link), self.robot.jacobian(q, link)
            r = T[:3, :3] @ offset
            J_point = J[:3] + np.cross(J[3:].T, r).T
            for sphere in self.scene.spheres:
                away = T[:3, 3] + r - sphere.centre
                tau += J_point.T @ away / (away @ away)
        return tau
