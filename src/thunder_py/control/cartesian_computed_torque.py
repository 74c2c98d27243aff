"""Computed torque in task space, with a posture and obstacles in the null space."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from .. import _core
from ..checks import Array, array
from ..kinematics.task_rows import require_robot, resolve_rows
from ..robot import Robot

__all__ = ["CartesianComputedTorque", "Obstacle", "arm_points"]

#: a frame, or a frame and a point in its axes [m]
ArmPoint: TypeAlias = int | str | tuple[int | str, npt.ArrayLike]


@dataclass(frozen=True, eq=False)
class Obstacle:
    """A sphere to keep away from.

    Parameters
    ----------
    centre : (3,) array_like
        In the world [m].
    radius : float
        [m]; 0 is a point.
    """

    centre: npt.ArrayLike
    radius: float = 0.0

    def __post_init__(self) -> None:
        """Check both."""
        object.__setattr__(self, "centre", array(self.centre, (3,), "obstacle centre"))
        radius = float(array(self.radius, (), "obstacle radius"))
        if radius < 0.0:
            raise ValueError(f"obstacle radius must not be negative, got {radius:g}")
        object.__setattr__(self, "radius", radius)


def arm_points(robot: Robot) -> list[tuple[int, Array]]:
    """Middle of the upper arm, elbow and middle of the forearm, as (link, point in its frame).

    A guess from the number of joints alone: the elbow is the origin of link frame ``(n + 1) // 2``, shoulder and wrist
    are those half way to the ends, and the middles are taken at q = 0. For seven joints links 2, 4 and 6, which fits
    arms like the Panda.
    """
    require_robot(robot)
    elbow = (robot.n + 1) // 2
    shoulder, wrist = max(elbow // 2, 1), (elbow + robot.n + 1) // 2
    at_zero = {link: robot.forward_kinematics(np.zeros(robot.n), link) for link in range(robot.n + 1)}

    def middle(link: int, a: int, b: int) -> tuple[int, Array]:
        T = at_zero[link]
        return link, T[:3, :3].T @ (0.5 * (at_zero[a] + at_zero[b])[:3, 3] - T[:3, 3])

    return [middle(max(elbow - 1, 1), shoulder, elbow), (elbow, np.zeros(3)), middle(max(wrist - 1, 1), elbow, wrist)]


class CartesianComputedTorque(_core.CartesianComputedTorque):
    """Computed torque in task space, with a posture and obstacles in the null space: follows a `TaskReference`.

    ::

        tau = J' M_X (xi_dot_d + K_v e' + K_p e) + C dq + G + friction - J' M_X J_dot dq
              + P (tau_obs + K_posture (posture - q) - K_d dq)
        M_X = (J M^-1 J')^-1      P = I - J' M_X J M^-1      tau_obs = sum of J_i' F_i

    With the true model ``e'' + K_v e' + K_p e = 0``, whatever happens in the null space. Where there is an orientation
    error ``e_o = r sin(theta)``, J stands for L J and xi_d for L' xi_d, derivatives included. Every gain is a number,
    one number per row or a symmetric positive definite matrix.

    Each obstacle pushes each of the arm's `points` straight away, with a force ``gain (1/d - 1/influence)`` at distance
    d from its surface: zero past `influence`, `largest_force` at most. D4.2's own form, 1/d from the centre, is what
    the defaults give for an `Obstacle` without radius, except for the bound. An arm without redundancy has no null
    space, and nothing of this.

    Parameters
    ----------
    robot : Robot
        The model.
    K_p, K_v : float, (m,) or (m, m) array_like
        [1/s^2], [1/s], for the m rows of the task.
    K_d : float, (n,) or (n, n) array_like
        [N m s/rad].
        Damps the joints where the task leaves them free, and the safe torque.
    posture : (n,) array_like, optional
        What a redundant arm leans to, with `K_posture`.
    K_posture : float, (n,) or (n, n) array_like, optional
        [N m/rad].
    obstacles : sequence of Obstacle
        To keep away from, or anything with a centre and a radius; `obstacles` may be set again between steps.
    points : sequence of int, str or (int or str, (3,) array_like), optional
        Points of the arm that are pushed: frames, or frames and a point in their axes. Default `arm_points`.
    gain : float
        [N m].
    influence : float
        [m]; infinite at first, as in D4.2, so that obstacles are felt everywhere.
    largest_force : float
        [N], of one obstacle on one point.
    rows : sequence of int or str, optional
        What is controlled, of ``x y z rx ry rz`` (or 0 to 5); default everything.
    frame : int or str, optional
        Controlled frame, default the end effector.

    Notes
    -----
    D4.2, eqs. 108 to 112, with e = desired - actual and P of torques (errata D-24, D-25). Repulsion in the null space
    does not keep the arm away for sure: the task comes first. `reset` leaves the obstacles.

    Near singularities, 88.9 degrees of orientation error or a condition number of J (Frobenius norms) past 200, the
    status is ``singular`` and the torque G minus ``K_d dq``. Signals: ``error`` (e).
    """

    def __init__(
        self,
        robot: Robot,
        K_p: npt.ArrayLike,
        K_v: npt.ArrayLike,
        K_d: npt.ArrayLike,
        *,
        posture: npt.ArrayLike | None = None,
        K_posture: npt.ArrayLike | None = None,
        obstacles: Sequence[Obstacle] = (),
        points: Sequence[ArmPoint] | None = None,
        gain: float = 1.0,
        influence: float = np.inf,
        largest_force: float = 100.0,
        rows: Sequence[int | str] | None = None,
        frame: int | str | None = None,
    ) -> None:
        require_robot(robot)
        super().__init__(
            robot,
            K_p,
            K_v,
            K_d,
            resolve_rows(rows),
            frame,
            posture,
            K_posture,
            arm_points(robot) if points is None else [_point(p) for p in points],
            _positive(gain, "gain"),
            _positive(influence, "influence", finite=False),
            _positive(largest_force, "largest_force"),
        )
        self.obstacles = obstacles

    @property
    def obstacles(self) -> tuple[Obstacle, ...]:
        """What the arm is kept away from; may be set between steps."""
        return tuple(Obstacle(row[:3], float(row[3])) for row in self._obstacles)

    @obstacles.setter
    def obstacles(self, obstacles: Sequence[Obstacle]) -> None:
        given = [_sphere(o) for o in ((obstacles,) if hasattr(obstacles, "centre") else obstacles)]
        self._obstacles = np.array([[*np.asarray(o.centre), o.radius] for o in given]).reshape(-1, 4)


def _sphere(obstacle: object) -> Obstacle:
    if not hasattr(obstacle, "centre") or not hasattr(obstacle, "radius"):
        raise ValueError(f"obstacles must be a sequence of Obstacle, got {obstacle!r} in it")
    return Obstacle(obstacle.centre, obstacle.radius)


def _point(point: ArmPoint) -> tuple[int | str, Array]:
    if isinstance(point, (int, str, np.integer)):
        return point, np.zeros(3)
    if not isinstance(point, (tuple, list)) or len(point) != 2:
        raise ValueError(f"points must be frames or pairs of a frame and a point in its axes, got {point!r} in it")
    return point[0], array(point[1], (3,), "points offset")


def _positive(value: float, what: str, *, finite: bool = True) -> float:
    number = float(array(value, (), what, finite=finite))
    if number <= 0.0:
        raise ValueError(f"{what} must be positive, got {number:g}")
    return number
