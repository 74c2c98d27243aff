"""One motion of the simulated human arm, and what is measured of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from ..checks import Array
from ..control import CartesianComputedTorque, Status
from ..control import Obstacle as Point
from ..reference import SetPose
from ..result import Result
from ..robot import Robot
from ..simulation import simulate
from ..simulation.protocols import ControllerLike
from .human_like_samples import PERIOD, HandMotion, mean_norm
from .human_like_tasks import ELBOW_FRAME, Scene

__all__ = ["ArmRun", "arm_controller", "arm_points_at", "follow", "pose_error", "settled"]

# eq. 108; the report prints no gains: critically damped, two time constants of 0.1 s
K_P = 100.0  # [1/s^2]
K_V = 20.0  # [1/s]
# eq. 111: weak against gravity (up to 10 N m), the wrist held more than its inertia asks for, as its range is small
K_POSTURE = np.diag([2.0, 1.0, 2.0, 1.0, 1.0, 2.0, 4.0])  # [N m/rad]
K_D = np.diag([1.0, 1.0, 0.5, 0.5, 0.1, 0.1, 0.1])  # [N m s/rad]
WRIST_FRAME = 6
SETTLE = 5.0  # [s]


@dataclass(frozen=True, kw_only=True, eq=False)
class ArmRun:
    """A planned motion and how the arm followed it.

    Attributes
    ----------
    robot : Robot
    scene : Scene
    plan : HandMotion
        What it was asked to follow.
    result : Result
        What it did, logged at 1 kHz.
    """

    robot: Robot
    scene: Scene
    plan: HandMotion
    result: Result

    @cached_property
    def jerk(self) -> tuple[float, float, float]:
        """Mean jerk of the hand's translation [m/s^3], its orientation [rad/s^3] and of the joints [rad/s^3].

        Second central differences of the true velocities at 1 kHz, ``J dq`` and ``dq``, unfiltered: the records are
        without noise. Of the hand it is the mean of the norm over time, of the joints the mean of ``|d3q|`` over time
        and over the seven.
        """
        dq = self.result.dq
        xi = np.einsum("kij,kj->ki", self.robot.jacobian(self.result.q), dq)
        hand, joints = (np.diff(v, 2, axis=0) / PERIOD**2 for v in (xi, dq))
        return mean_norm(hand[:, :3]), mean_norm(hand[:, 3:]), float(np.mean(np.abs(joints)))

    @property
    def final_error(self) -> tuple[float, float]:
        """How far the arm's hand ends from the goal: position [m], orientation [rad]."""
        return pose_error(self.scene.goal, self.robot.forward_kinematics(self.result.q[-1]))

    @property
    def planned_final_error(self) -> tuple[float, float]:
        """The same of what it was asked to follow."""
        T = np.eye(4)
        T[:3, :3], T[:3, 3] = self.plan.R[-1], self.plan.p[-1]
        return pose_error(self.scene.goal, T)

    @property
    def tracking_error(self) -> float:
        """Largest distance of the hand from where it was asked to be [m]."""
        p = self.robot.forward_kinematics(self.result.q)[:, :3, 3]
        return float(np.linalg.norm(p - self.plan.p, axis=1).max())

    @property
    def planned_clearance(self) -> float:
        """Least distance of the planned path of the hand from the obstacles' surfaces [m]."""
        return float(self.scene.distance(self.plan.p).min())

    @cached_property
    def clearance(self) -> tuple[float, float, float]:
        """Least distances of hand, elbow and the arm's centre line from the obstacles' surfaces [m]."""
        points = arm_points_at(self.robot, self.result.q[::10])
        hand, elbow = (float(self.scene.distance(points[:, k]).min()) for k in (-1, 1))
        return hand, elbow, float(self.scene.distance(_between(points)).min())

    @property
    def beyond_limits(self) -> float:
        """How far a joint goes past its range of motion, which neither plant nor controller know [rad]; 0 inside."""
        q, limits = self.result.q, self.robot.limits
        return max(0.0, float(np.max([(limits.lower - q).max(), (q - limits.upper).max()])))

    @property
    def singular(self) -> bool:
        """Whether the controller met a singular posture, and gave up the task there."""
        return bool((self.result.status != int(Status.ok)).any())


def arm_controller(robot: Robot, scene: Scene) -> CartesianComputedTorque:
    """Return eqs. 108 to 112 as corrected: posture at rest, obstacles felt everywhere as 1/d from their centres."""
    return CartesianComputedTorque(
        robot,
        K_P,
        K_V,
        K_D,
        posture=scene.q0,
        K_posture=K_POSTURE,
        obstacles=[Point(sphere.centre, 0.0) for sphere in scene.spheres],
    )


@lru_cache(maxsize=32)  # it is the same for all plans
def settled(robot: Robot, scene: Scene) -> tuple[Array, Array]:
    """Return joint positions and velocities (7,) after the hand was held at the start for `SETTLE`.

    The elbow has then gone where it is pushed. From the rest posture itself the null space's torques would begin with a
    jump, and the elbow's answer to it would be most of the joints' jerk.
    """
    controller, start = arm_controller(robot, scene), SetPose(scene.start)
    result = simulate(robot, controller, start, SETTLE, PERIOD, q0=scene.q0, log=(), log_every=1000)
    return result.q[-1], result.dq[-1]


def follow(robot: Robot, scene: Scene, plan: HandMotion, controller: ControllerLike | None = None) -> ArmRun:
    """Let the arm follow a plan once it has `settled`, with `arm_controller`'s controller or another one."""
    duration = PERIOD * (len(plan.p) - 1)
    q, dq = settled(robot, scene)
    chosen = arm_controller(robot, scene) if controller is None else controller
    result = simulate(robot, chosen, plan, duration, PERIOD, q0=q, dq0=dq, log=())
    return ArmRun(robot=robot, scene=scene, plan=plan, result=result)


def arm_points_at(robot: Robot, q: Array) -> Array:
    """Return shoulder, elbow, wrist and hand at postures (..., 7), as (..., 4, 3) [m]."""
    ends = [robot.forward_kinematics(q, frame)[..., :3, 3] for frame in (ELBOW_FRAME, WRIST_FRAME, "tool")]
    points: Array = np.stack([np.zeros_like(ends[0]), *ends], axis=-2)
    return points


def _between(points: Array, count: int = 20) -> Array:
    """Return points along the segments of polylines (k, 4, 3)."""
    s = np.linspace(0.0, 1.0, count).reshape(-1, 1, 1, 1)
    between: Array = points[:, :-1] + s * np.diff(points, axis=1)
    return between


def pose_error(goal: Array, T: Array) -> tuple[float, float]:
    """Return distance [m] and angle [rad] between two poses."""
    turn = goal[:3, :3] @ T[:3, :3].T
    sine = 0.5 * np.linalg.norm([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]])
    return float(np.linalg.norm(goal[:3, 3] - T[:3, 3])), float(np.arctan2(sine, 0.5 * (np.trace(turn) - 1.0)))
