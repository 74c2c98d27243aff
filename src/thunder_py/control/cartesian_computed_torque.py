"""Computed torque in task space, with posture and obstacle avoidance in the null space."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from .. import _core
from ..checks import Array, array, of_kind, positive
from ..errors import ThunderError
from ..geometry import Sphere
from ..robot import Robot
from .null_space import PostureLike, task_arguments

#: a frame, or a frame and a point in its coordinates [m]
ArmPoint: TypeAlias = int | str | tuple[int | str, npt.ArrayLike]


def arm_points(robot: Robot) -> list[tuple[int, Array]]:
    """Return the middle of the upper arm, the elbow and the middle of the forearm, as (link, point in its frame) [m].

    The points are estimated from the number of joints alone: the elbow is the origin of link frame ``(n + 1) // 2``,
    shoulder and wrist are the link frames halfway to the ends, and the middles are computed at q = 0. For seven joints
    shoulder, elbow and wrist are links 2, 4 and 6, which suits arms like the Panda.

    Examples
    --------
    >>> import thunder_py as th
    >>> points = th.control.arm_points(th.Robot.load("panda"))
    >>> [link for link, point in points], points[1][1].tolist()
    ([3, 4, 5], [0.0, 0.0, 0.0])
    """
    of_kind(robot, Robot, "robot")
    elbow = (robot.n + 1) // 2
    shoulder, wrist = max(elbow // 2, 1), (elbow + robot.n + 1) // 2
    at_zero = {link: robot.forward_kinematics(np.zeros(robot.n), link) for link in range(robot.n + 1)}

    def middle(link: int, a: int, b: int) -> tuple[int, Array]:
        T = at_zero[link]
        return link, T[:3, :3].T @ (0.5 * (at_zero[a] + at_zero[b])[:3, 3] - T[:3, 3])

    return [middle(max(elbow - 1, 1), shoulder, elbow), (elbow, np.zeros(3)), middle(max(wrist - 1, 1), elbow, wrist)]


class CartesianComputedTorque(_core.CartesianComputedTorque):
    """Computed torque in task space, with null-space posture and obstacle avoidance; follows a `TaskReference`.

    ::

        tau = J' M_X (xi_dot_d + K_1 e' + K_0 e) + C dq + G + friction - J' M_X J_dot dq
              + P (tau_obs + K_posture (posture - q) - K_d dq)
        M_X = (J M^-1 J')^-1      P = I - J' M_X J M^-1      tau_obs = sum of J_i' F_i

    With the true model ``e'' + K_1 e' + K_0 e = 0``, independent of the null space. With an orientation error
    ``e_o = r sin(theta)``, J stands for L J and xi_d for L' xi_d, derivatives included. Every gain is a number, one
    number per row or a symmetric positive definite matrix.

    Each obstacle repels each of the arm's `points` with a force ``gain (1/d - 1/influence)`` at distance d from its
    surface. The force is zero beyond `influence` and at most `largest_force`. For a `Sphere` of radius 0 the
    defaults give D4.2's form, 1/d from the center, except for the bound. A non-redundant arm has no null space, so
    posture and obstacles have no effect.

    Parameters
    ----------
    robot : Robot
        The model.
    K_0, K_1 : float, (m,) or (m, m) array_like
        [1/s^2], [1/s], for the m rows of the task.
    K_d : float, (n,) or (n, n) array_like
        Damping [N m s/rad] of the null space and, in addition, of a held arm.
    posture : (n,) array_like, "middle" or None
        Posture that attracts a redundant arm in the null space of the task; default the middle of the joint limits,
        where joints without limits are free. None only damps the null space.
    K_posture : float, (n,) or (n, n) array_like, optional
        Stiffness of this attraction [N m/rad]; default ``K_d`` times 1/s.
    obstacles : sequence of Sphere
        Obstacles to avoid, of `thunder_py.geometry`. The attribute may be set between steps.
    points : sequence of int, str or (int or str, (3,) array_like), optional
        Repelled points of the arm: frames, or frames and a point in their coordinates [m]. Default `arm_points`.
    gain : float
        Repulsion gain [N m].
    influence : float
        Distance beyond which the repulsion is zero [m]; default infinite, as in D4.2.
    largest_force : float
        Bound of the force of one obstacle on one point [N].
    rows : sequence of int or str, optional
        Controlled rows, of ``x y z rx ry rz`` (or 0 to 5); default all.
    frame : int or str, optional
        Controlled frame, default the end effector.
    orientation : str
        Error of the orientation, as of `CLIK` and in docs/controllers.md. The default, r sin(theta) with its own
        Jacobian, is singular from 88.9 degrees; ``rotation_vector`` and ``quaternion`` reach goals beyond.

    Raises
    ------
    ValueError
        If a gain is not positive definite, or another argument is invalid.

    Notes
    -----
    D4.2, eqs. 108 to 112, with e = desired - actual and P a projector of torques (errata D-24, D-25). The task has
    priority, so null-space repulsion does not guarantee clearance. `reset` keeps the obstacles.

    If the orientation error has no Jacobian, or the condition number of J (Frobenius norms) exceeds 200, the status is
    ``singular``, and the arm is held where it is, with its load (docs/controllers.md). Signals: ``error`` (e).

    Examples
    --------
    >>> import thunder_py as th
    >>> robot, q0 = th.Robot.load("panda"), [0.0, -0.3, 0.0, -2.0, 0.0, 1.8, 0.7]
    >>> ball = th.geometry.Sphere(robot.forward_kinematics(q0, "link4")[:3, 3] + [0.0, 0.12, 0.0], radius=0.05)
    >>> controller = th.CartesianComputedTorque(robot, 100.0, 20.0, 4.0, obstacles=[ball], influence=0.3)
    >>> target = th.reference.SetPose(robot.forward_kinematics(q0))
    >>> result = th.simulate(robot, controller, target, 1.0, q0=q0)
    >>> bool(result.error_norm().max() < 1e-4), bool(abs(result.q[-1] - q0).max() > 0.01)
    (True, True)
    """

    def __init__(
        self,
        robot: Robot,
        K_0: npt.ArrayLike,
        K_1: npt.ArrayLike,
        K_d: npt.ArrayLike,
        *,
        posture: PostureLike = "middle",
        K_posture: npt.ArrayLike | None = None,
        obstacles: Sequence[Sphere] = (),
        points: Sequence[ArmPoint] | None = None,
        gain: float = 1.0,
        influence: float = np.inf,
        largest_force: float = 100.0,
        rows: Sequence[int | str] | None = None,
        frame: int | str | None = None,
        orientation: str = "axis_angle",
    ) -> None:
        of_kind(robot, Robot, "robot")
        repelled = arm_points(robot) if points is None else [_point(p) for p in points]
        repulsion = positive(gain, "gain"), positive(influence, "influence", finite=False)
        largest = positive(largest_force, "largest_force")
        self._frame, self._orientation = frame, orientation
        task = task_arguments(robot, rows, frame, orientation, posture, K_posture, "K_posture")
        super().__init__(robot, K_0, K_1, K_d, *task, repelled, *repulsion, largest)
        self.obstacles = obstacles

    @property
    def obstacles(self) -> tuple[Sphere, ...]:
        """Obstacles to avoid; may be set between steps."""
        return tuple(Sphere(row[:3], float(row[3])) for row in self._obstacles)

    @obstacles.setter
    def obstacles(self, obstacles: Sequence[Sphere]) -> None:
        spheres = list(obstacles) if isinstance(obstacles, Iterable) else [obstacles]
        for obstacle in spheres:
            of_kind(obstacle, Sphere, "each of obstacles")
        self._obstacles = np.array([[*o.center, o.radius] for o in spheres]).reshape(-1, 4)


def _point(point: ArmPoint) -> tuple[int | str, Array]:
    if isinstance(point, (int, str, np.integer)):
        return point, np.zeros(3)
    if not isinstance(point, (tuple, list)) or len(point) != 2:
        raise ThunderError(f"points must be frames or pairs of a frame and a point in its axes, got {point!r}")
    return point[0], array(point[1], (3,), "points offset")
