"""The planners that the human arm follows, each brought to the same form: a scene in, a sampled motion out."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol, TypeAlias

import numpy as np

from ..checks import Array
from ..motion import MotionSet
from ..motion.min_jerk import minimum_jerk
from .human_like_samples import HandMotion, angular_acceleration, angular_velocity, sample_times
from .human_like_tasks import Scene

__all__ = ["AVOIDING", "METHODS", "Planner", "planners"]

Planner: TypeAlias = Callable[[Scene], HandMotion]

METHODS = ("minimum jerk",)
#: those that go round obstacles; the others do as if there were none
AVOIDING = ("paper mode", "MAP", "DMP mollifier", "DMP Gaussian")


class _Coordinates(Protocol):
    def position(self, t: Array, derivative: int = 0) -> Array: ...


def planners(names: Iterable[str] = METHODS, motions: MotionSet | None = None) -> dict[str, Planner]:
    """Return planners by name."""
    return {name: _straight for name in names}


def ends(scene: Scene) -> tuple[Array, Array]:
    """Return start and goal as six coordinates: position, and rotation vector of the turn since the start.

    Rotation vectors of the orientation itself would not do: at rest the hand is nearly half a turn from the world's
    axes. From the start it turns by 75 to 161 degrees, and what is straight in these coordinates turns about one axis.
    """
    from scipy.spatial.transform import Rotation

    turn = Rotation.from_matrix(scene.goal[:3, :3] @ scene.start[:3, :3].T).as_rotvec()
    return np.concatenate([scene.start[:3, 3], np.zeros(3)]), np.concatenate([scene.goal[:3, 3], turn])


def hand_motion(scene: Scene, coordinates: _Coordinates, via_points: Array | None = None) -> HandMotion:
    """Return the motion of a hand from its six coordinates over time."""
    from scipy.spatial.transform import Rotation

    t = sample_times(scene.duration)
    x, dx, ddx = (coordinates.position(t, k) for k in range(3))
    R = Rotation.from_rotvec(x[:, 3:]).as_matrix() @ scene.start[:3, :3]
    w = angular_velocity(x[:, 3:], dx[:, 3:])
    xi, xi_dot = np.hstack([dx[:, :3], w]), np.hstack([ddx[:, :3], angular_acceleration(w)])
    vias = np.zeros((0, 3)) if via_points is None else np.asarray(via_points, dtype=np.float64)
    return HandMotion(p=x[:, :3], R=R, xi=xi, xi_dot=xi_dot, via_points=vias[:, :3])


def _straight(scene: Scene) -> HandMotion:
    """Plan straight to the goal, turning about one axis; obstacles are not looked at."""
    return hand_motion(scene, minimum_jerk(*ends(scene), scene.duration))
