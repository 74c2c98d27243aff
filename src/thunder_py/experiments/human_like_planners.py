"""The planners that the human arm follows, each brought to the same form: a scene in, a sampled motion out."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import Protocol, TypeAlias

import numpy as np

from ..checks import Array
from ..errors import UnknownNameError, nearest_hint
from ..motion import MotionSet, rotations
from ..motion.dmp import DMP
from ..motion.dynamic_potential import DynamicPotential
from ..motion.fpca import FPCA
from ..motion.min_jerk import minimum_jerk
from ..motion.plan import HumanLikePlan
from ..motion.planner import HumanLikePlanner
from ..motion.processing import segment_by_speed
from ..motion.promp import ProMP
from ..motion.quaternion_dmp import QuaternionDMP
from ..motion.synthetic import daily_living
from ..motion.trial import Trial
from ..motion.via_search import ViaSearch
from ..trajectory import Sphere
from .human_like_samples import PERIOD, HandMotion, sample_times
from .human_like_tasks import Scene

__all__ = ["AVOIDING", "METHODS", "Planner", "hand_motion", "movements", "planners", "way"]

Planner: TypeAlias = Callable[[Scene], HandMotion]

METHODS = ("paper mode", "MAP", "minimum jerk", "DMP mollifier", "DMP Gaussian", "ProMP")
#: those that go round obstacles; the others do as if there were none
AVOIDING = ("paper mode", "MAP", "DMP mollifier", "DMP Gaussian")


TRIALS = 180  # synthetic ones: every task of every subject once
#: where recordings are cut [m/s]. Functional components and ProMPs learn from motions well under way: where all of them
#: begin at rest, components have no slope at their ends, and what passes a via point at speed is wild.
_MOVING = 0.2
#: movement primitives learn to start from rest
_STILL = 0.005


class _Coordinates(Protocol):
    def position(self, t: Array, derivative: int = 0) -> Array: ...


def movements(motions: MotionSet, threshold: float) -> MotionSet:
    """Cut recordings of poses where the hand is slower than a threshold [m/s]; each movement is seen from its start.

    Positions are less the first one; rotation vectors are ``log(R(t) R(start)')``, in the axes of the recording.
    """
    return segment_by_speed(motions, threshold).map(_from_start)


def _from_start(trial: Trial) -> Trial:
    phi = np.array(trial.rotation_vectors)
    turn = rotations.to_reference(phi, phi[0]) @ rotations.exp(phi[0]).T
    return trial.with_values(np.hstack([trial.position - trial.position[0], turn]))


def way(scene: Scene) -> Array:
    """Return the goal of a scene in the coordinates of `movements`, (6,): displacement and rotation vector.

    Rotation vectors of the orientation itself would not do: at rest the hand is nearly half a turn from the world's
    axes. From the start it turns by 75 to 161 degrees, and what is straight in these coordinates turns about one axis.
    """
    turn = rotations.log(scene.goal[:3, :3] @ scene.start[:3, :3].T)
    return np.concatenate([scene.goal[:3, 3] - scene.start[:3, 3], turn])


def hand_motion(scene: Scene, coordinates: _Coordinates) -> HandMotion:
    """Return the motion of a hand from the coordinates of `movements` over time."""
    t = sample_times(scene.duration)
    x, dx, ddx = (coordinates.position(t, k) for k in range(3))
    phi, dphi, ddphi = (values[:, 3:] for values in (x, dx, ddx))
    return HandMotion(
        p=scene.start[:3, 3] + x[:, :3],
        R=rotations.exp(phi) @ scene.start[:3, :3],
        xi=np.hstack([dx[:, :3], rotations.angular_velocity(phi, dphi)]),
        xi_dot=np.hstack([ddx[:, :3], rotations.angular_acceleration(phi, dphi, ddphi)]),
    )


def planners(names: Iterable[str] = METHODS, motions: MotionSet | None = None) -> dict[str, Planner]:
    """Return planners by name, those that learn taught with the movements in `motions`.

    Parameters
    ----------
    names : iterable of str
        Some of `METHODS`.
    motions : MotionSet, optional
        Recordings with degrees of freedom x, y, z, rx, ry, rz; default synthetic daily-living motions.

    Raises
    ------
    UnknownNameError
        No such method.
    """
    recordings = daily_living(TRIALS) if motions is None else motions

    @cache
    def moving() -> MotionSet:
        return movements(recordings, _MOVING)

    @cache
    def demonstrations() -> MotionSet:
        return movements(recordings, _STILL)

    makers: dict[str, Callable[[], Planner]] = {
        "paper mode": lambda: _Functional(FPCA.paper(moving(), 5), "paper", ViaSearch.paper()),
        "MAP": lambda: _Functional(
            FPCA(joint=True, alignment="path", shrinkage="auto").fit(moving()), "map", ViaSearch()
        ),
        "minimum jerk": lambda: _straight,
        "DMP mollifier": lambda: _Primitive(demonstrations(), "mollifier"),
        "DMP Gaussian": lambda: _Primitive(demonstrations(), "gaussian"),
        "ProMP": lambda: _Probabilistic(moving()),
    }
    wanted = tuple(names)
    for name in wanted:
        if name not in makers:
            raise UnknownNameError(
                f"no method is called {name!r}, only {', '.join(makers)}{nearest_hint(name, makers)}"
            )
    return {name: makers[name]() for name in wanted}


def _straight(scene: Scene) -> HandMotion:
    """Plan straight to the goal, turning about one axis; obstacles are not looked at."""
    return hand_motion(scene, minimum_jerk(np.zeros(6), way(scene), scene.duration))


class _Functional:
    """The planner of functional components, with its own search for via points."""

    def __init__(self, fpca: FPCA, mode: str, via: ViaSearch) -> None:
        self.planner, self.via = HumanLikePlanner(fpca, mode), via

    def __call__(self, scene: Scene) -> HandMotion:
        plan = self.planner.plan(
            scene.start,
            scene.goal,
            scene.duration,
            obstacles=scene.spheres,
            margin=scene.margin,
            via=self.via,
        )
        assert isinstance(plan, HumanLikePlan)
        return HandMotion.of(plan, scene.duration, plan.via_points)


class _Probabilistic:
    """A probabilistic movement primitive, told start and goal and that it rests there; obstacles are not looked at.

    Gaussians overlap more than they do by default: motions that have to rest exactly at both ends ripple there else,
    with ten times the jerk.
    """

    def __init__(self, trials: MotionSet) -> None:
        self.primitive = ProMP(overlap=0.9).fit(trials)

    def __call__(self, scene: Scene) -> HandMotion:
        return hand_motion(scene, self.primitive.plan(np.zeros(6), way(scene), scene.duration))


class _Primitive:
    """Movement primitives of position and orientation, 21 functions each, with the dynamic potential of (107).

    They learn from one movement, that which goes and turns the most. Obstacles are the spheres with the margin around
    them. Of position, Hoffmann's form with rotodilatation, and not (104) to the letter, which stretches whatever the
    demonstration did along an axis that it hardly moved along; of orientation, Hoffmann's form.
    """

    def __init__(self, trials: MotionSet, basis: str) -> None:
        ways = np.array([trial.x[-1] for trial in trials])
        most = int(np.argmax(np.linalg.norm(ways[:, :3], axis=1) * np.linalg.norm(ways[:, 3:], axis=1)))
        trial: Trial = trials[most]
        self.place = DMP(basis=basis, rotodilatation=True).fit(trial.select(("x", "y", "z")))
        self.turn = QuaternionDMP(basis=basis).fit(trial)

    def __call__(self, scene: Scene) -> HandMotion:
        a, b, T = scene.start, scene.goal, scene.duration
        inflated = [Sphere(sphere.centre, sphere.radius + scene.margin) for sphere in scene.spheres]
        place = self.place.rollout(a[:3, 3], b[:3, 3], T, PERIOD, obstacles=inflated, potential=DynamicPotential())
        turn = self.turn.rollout(a[:3, :3], b[:3, :3], T, PERIOD)
        xi, xi_dot = np.hstack([place.dx, turn.w]), np.hstack([place.ddx, turn.dw])
        return HandMotion(p=place.x, R=turn.rotations.as_matrix(), xi=xi, xi_dot=xi_dot)
