"""The planners that the human arm follows, each brought to the same form: a scene in, a sampled motion out."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import Protocol, TypeAlias

import numpy as np

from ..checks import Array
from ..motion import MotionSet, rotations
from ..motion.dmp import DMP
from ..motion.dynamic_potential import DynamicPotential
from ..motion.min_jerk import minimum_jerk
from ..motion.processing import segment_by_speed
from ..motion.quaternion_dmp import QuaternionDMP
from ..motion.synthetic import daily_living
from ..motion.trial import Trial
from ..trajectory import Sphere
from .human_like_samples import PERIOD, HandMotion, sample_times
from .human_like_tasks import Scene

__all__ = ["AVOIDING", "METHODS", "Planner", "ends", "hand_motion", "movements", "planners"]

Planner: TypeAlias = Callable[[Scene], HandMotion]

METHODS = ("minimum jerk", "DMP mollifier", "DMP Gaussian")
#: those that go round obstacles; the others do as if there were none
AVOIDING = ("paper mode", "MAP", "DMP mollifier", "DMP Gaussian")


class _Coordinates(Protocol):
    def position(self, t: Array, derivative: int = 0) -> Array: ...


def movements(motions: MotionSet) -> MotionSet:
    """Cut recordings of poses into single movements, orientation as the turn since the start of each.

    Rotation vectors are ``log(R(t) R(start)')`` in the axes of the recording, the coordinates of `ends`.
    """
    return segment_by_speed(motions).map(_from_start)


def _from_start(trial: Trial) -> Trial:
    phi = np.array(trial.rotation_vectors)
    turn = rotations.to_reference(phi, phi[0]) @ rotations.exp(phi[0]).T
    return trial.with_values(np.hstack([trial.position, turn]))


def ends(scene: Scene) -> tuple[Array, Array]:
    """Return start and goal as six coordinates: position, and rotation vector of the turn since the start.

    Rotation vectors of the orientation itself would not do: at rest the hand is nearly half a turn from the world's
    axes. From the start it turns by 75 to 161 degrees, and what is straight in these coordinates turns about one axis.
    """
    turn = rotations.log(scene.goal[:3, :3] @ scene.start[:3, :3].T)
    return np.concatenate([scene.start[:3, 3], np.zeros(3)]), np.concatenate([scene.goal[:3, 3], turn])


def hand_motion(scene: Scene, coordinates: _Coordinates, via_points: Array | None = None) -> HandMotion:
    """Return the motion of a hand from its six coordinates over time."""
    t = sample_times(scene.duration)
    x, dx, ddx = (coordinates.position(t, k) for k in range(3))
    phi, dphi, ddphi = (values[:, 3:] for values in (x, dx, ddx))
    return HandMotion(
        p=x[:, :3],
        R=rotations.exp(phi) @ scene.start[:3, :3],
        xi=np.hstack([dx[:, :3], rotations.angular_velocity(phi, dphi)]),
        xi_dot=np.hstack([ddx[:, :3], rotations.angular_acceleration(phi, dphi, ddphi)]),
        via_points=np.zeros((0, 3)) if via_points is None else np.asarray(via_points)[:, :3],
    )


def planners(names: Iterable[str] = METHODS, motions: MotionSet | None = None) -> dict[str, Planner]:
    """Return planners by name, those that learn taught with the movements in `motions`.

    Parameters
    ----------
    names : iterable of str
        Some of `METHODS`.
    motions : MotionSet, optional
        Recordings with degrees of freedom x, y, z, rx, ry, rz; default synthetic daily-living motions.
    """
    makers: dict[str, Callable[[], Planner]] = {
        "minimum jerk": lambda: _straight,
        "DMP mollifier": lambda: _Primitive(_typical(taught()), "mollifier"),
        "DMP Gaussian": lambda: _Primitive(_typical(taught()), "gaussian"),
    }

    @cache
    def taught() -> MotionSet:
        return movements(daily_living(60) if motions is None else motions)

    return {name: makers[name]() for name in names}


def _straight(scene: Scene) -> HandMotion:
    """Plan straight to the goal, turning about one axis; obstacles are not looked at."""
    return hand_motion(scene, minimum_jerk(*ends(scene), scene.duration))


def _typical(trials: MotionSet) -> Trial:
    """Return the movement of median length: movement primitives learn from one."""
    lengths = [float(np.linalg.norm(trial.position[-1] - trial.position[0])) for trial in trials]
    typical: Trial = trials[int(np.argsort(lengths)[len(lengths) // 2])]
    return typical


class _Primitive:
    """Movement primitives of position and orientation, 21 functions each, with the dynamic potential of (107).

    Obstacles are the spheres with the margin around them. The form is that which survives g = y0, not (104) to the
    letter: one that scales every coordinate by its own g - y0 stretches whatever the demonstration did along an axis
    that it hardly moved along.
    """

    def __init__(self, trial: Trial, basis: str) -> None:
        self.place = DMP(basis=basis).fit(trial.select(("x", "y", "z")))
        self.turn = QuaternionDMP(basis=basis).fit(trial)

    def __call__(self, scene: Scene) -> HandMotion:
        a, b, T = scene.start, scene.goal, scene.duration
        inflated = [Sphere(sphere.centre, sphere.radius + scene.margin) for sphere in scene.spheres]
        place = self.place.rollout(a[:3, 3], b[:3, 3], T, PERIOD, obstacles=inflated, potential=DynamicPotential())
        turn = self.turn.rollout(a[:3, :3], b[:3, :3], T, PERIOD)
        xi, xi_dot = np.hstack([place.dx, turn.w]), np.hstack([place.ddx, turn.dw])
        return HandMotion(p=place.x, R=turn.rotations.as_matrix(), xi=xi, xi_dot=xi_dot)
