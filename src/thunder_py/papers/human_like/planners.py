"""The planners that the human arm follows, each brought to the same form: a scene in, a sampled motion out."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from copy import copy
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, TypeAlias

import numpy as np

from ... import _core, spatial
from ...checks import Array, known_name
from ...geometry import Sphere
from ...motion.fpca.fpca import FPCA
from ...motion.fpca.splines import SplineBasis
from ...motion.planning.obstacles import ViaSearch
from ...motion.planning.plan import HumanLikePlan
from ...motion.planning.planner import HumanLikePlanner
from ...motion.primitives.dmp import DMP
from ...motion.primitives.dynamic_potential import DynamicPotential
from ...motion.primitives.promp import ProMP
from ...recordings import MotionSet, split_reaches
from ...recordings.metrics import Motion
from ...recordings.synthetic import daily_living
from ...recordings.trial import Trial
from ...trajectory.hermite import minimum_jerk
from .tasks import PERIOD, HandMotion, Scene, sample_times

#: last line of the tables
DIFFERENCES = "Differences from the report: docs/human_like_planning.md, section 'Differences from the report'."

Planner: TypeAlias = Callable[[Scene], HandMotion]

METHODS = ("paper mode", "MAP", "minimum jerk", "DMP mollifier", "DMP Gaussian", "DMP (104)", "ProMP")
#: those that go round obstacles; the others do as if there were none
AVOIDING = ("paper mode", "MAP", "DMP mollifier", "DMP Gaussian", "DMP (104)")


TRIALS = 180  # synthetic ones: every task of every subject once
#: where recordings are cut [m/s]. Functional components and ProMPs learn from motions well under way: where all of them
#: begin at rest, components have no slope at their ends, and what passes a via point at speed is wild.
_MOVING = 0.2
#: movement primitives learn to start from rest
_STILL = 0.005
#: of the primitives that the arm follows; the report prints no numbers
ARM_POTENTIAL = DynamicPotential(gain=0.5, beta=2.0)


#: planners that also plan far from what they learned
ANYWHERE: dict[str, Any] = {"max_distance_ratio": np.inf, "max_travel_ratio": np.inf}
#: MAP's search of via points: all settings, so that results do not depend on defaults
VIA = ViaSearch(1000, 0, method="ellipsoid", half_width=0.6, state="optimal", most=2, straight_first=True)


def map_components(motions: MotionSet, *, shrinkage: float | str = "auto", **others: Any) -> FPCA:
    """Return the components of MAP: path-aligned, 15 quintic splines, coordinates together, shrunk by prediction.

    Parameters
    ----------
    motions : MotionSet
        To learn from.
    shrinkage : float or "auto"
        Share of minimum jerk.
    **others
        Other settings of `FPCA`, in place of those.
    """
    settings: dict[str, Any] = {"basis": SplineBasis(15, degree=5), "smoothing": "gcv", "demean": True}
    settings |= {"joint": True, "alignment": "path", "shrinkage": shrinkage}
    return FPCA(**(settings | others)).fit(motions)


def movements(motions: MotionSet, threshold: float) -> MotionSet:
    """Cut recordings of poses where the hand is slower than a threshold [m/s]; each movement is seen from its start.

    Positions are less the first one; rotation vectors are ``log(R(t) R(start)')``, in the axes of the recording.
    """
    return split_reaches(motions, threshold, turn=math.inf).map(_from_start)


def _from_start(trial: Trial) -> Trial:
    phi = np.array(trial.rotation_vectors)
    turn = spatial.to_reference(phi, phi[0]) @ spatial.exp(phi[0]).T
    return trial.with_values(np.hstack([trial.position - trial.position[0], turn]))


def way(scene: Scene) -> Array:
    """Return the goal of a scene in the coordinates of `movements`, (6,): displacement and rotation vector.

    Rotation vectors of the orientation itself would not do: at rest the hand is nearly half a turn from the world's
    axes. From the start it turns by 75 to 161 degrees, and what is straight in these coordinates turns about one axis.
    """
    turn = spatial.log(scene.goal[:3, :3] @ scene.start[:3, :3].T)
    return np.concatenate([scene.goal[:3, 3] - scene.start[:3, 3], turn])


def hand_motion(scene: Scene, *parts: Motion) -> HandMotion:
    """Return the motion of a hand from the coordinates of `movements` over time, of one motion or of several parts."""
    t = sample_times(scene.duration)
    x, dx, ddx = (np.hstack([part.position(t, k) for part in parts]) for k in range(3))
    phi, dphi, ddphi = (values[:, 3:] for values in (x, dx, ddx))
    return HandMotion(
        p=scene.start[:3, 3] + x[:, :3],
        R=spatial.exp(phi) @ scene.start[:3, :3],
        xi=np.hstack([dx[:, :3], spatial.angular_velocity(phi, dphi)]),
        xi_dot=np.hstack([ddx[:, :3], spatial.angular_acceleration(phi, dphi, ddphi)]),
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
    learned = Learned(default_recordings() if motions is None else motions, POSES)
    makers: dict[str, Callable[[], Planner]] = {
        "paper mode": lambda: partial(_sampled, learned.paper, ViaSearch.paper()),
        "MAP": lambda: partial(_sampled, learned.map, VIA),
        "minimum jerk": lambda: lambda scene: hand_motion(scene, minimum_jerk(np.zeros(6), way(scene), scene.duration)),
        "DMP mollifier": lambda: _Primitive(learned.resting, DMP(basis="mollifier", rotodilatation=True)),
        "DMP Gaussian": lambda: _Primitive(learned.resting, DMP(basis="gaussian", rotodilatation=True)),
        "DMP (104)": lambda: _Primitive(learned.resting, DMP.paper()),
        "ProMP": lambda: lambda scene: hand_motion(scene, learned.promp.plan(np.zeros(6), way(scene), scene.duration)),
    }
    wanted = tuple(names)
    for name in wanted:
        known_name(name, makers, f"methods are {', '.join(makers)}, got")
    return {name: makers[name]() for name in wanted}


def report_planners(learned: Learned, dmp: DMP, potential: DynamicPotential) -> dict[str, Planner]:
    """Return the report's two planners, "fPC" and "DMP", with a primitive of other settings.

    Parameters
    ----------
    learned : Learned
        Models of `POSES`.
    dmp : DMP
        Settings of the primitives of position and orientation.
    potential : DynamicPotential
        Potential of the obstacles.
    """
    fpc = partial(_sampled, learned.paper, ViaSearch.paper())
    return {"fPC": fpc, "DMP": _Primitive(learned.resting, dmp, potential)}


def around(planner: HumanLikePlanner, via: ViaSearch, scene: Any) -> HumanLikePlan:
    """Return the plan of a planner around the obstacles of a `Scene` or of a `scenarios.Scenario`."""
    plan = planner.plan(scene.start, scene.goal, scene.duration, obstacles=scene.spheres, margin=scene.margin, via=via)
    assert isinstance(plan, HumanLikePlan)
    return plan


def _sampled(planner: HumanLikePlanner, via: ViaSearch, scene: Scene) -> HandMotion:
    plan = around(planner, via, scene)
    return HandMotion.of(plan, scene.duration, plan.via_points)


class _Primitive:
    """Movement primitives of position and rotation vector, 21 functions each, with the dynamic potential of (107).

    They learn from one movement, that which goes and turns the most. Obstacles are the spheres with the margin around
    them. Hoffmann's form has rotodilatation, so that a movement along one line stays one; (104) as printed scales every
    coordinate by its own displacement, also one along which the demonstration hardly moved.
    """

    def __init__(self, trials: MotionSet, dmp: DMP, potential: DynamicPotential = ARM_POTENTIAL) -> None:
        ways = np.array([trial.x[-1] for trial in trials])
        most = int(np.argmax(np.linalg.norm(ways[:, :3], axis=1) * np.linalg.norm(ways[:, 3:], axis=1)))
        trial: Trial = trials[most]
        t = trial.t - trial.t[0]
        parts = (trial.x[:, :3], trial.x[:, 3:])
        self.place, self.turn = (copy(dmp).fit((t, np.ascontiguousarray(x))) for x in parts)
        self.potential = potential

    def __call__(self, scene: Scene) -> HandMotion:
        a, T, goal = scene.start[:3, 3], scene.duration, way(scene)
        inflated = [Sphere(sphere.center - a, sphere.radius + scene.margin) for sphere in scene.spheres]
        rest = np.zeros(3)
        place = self.place.rollout(rest, goal[:3], T, PERIOD, obstacles=inflated, potential=self.potential)
        return hand_motion(scene, place, self.turn.rollout(rest, goal[3:], T, PERIOD))


POSITIONS = ("x", "y", "z")
#: position and rotation vector
POSES = (*POSITIONS, "rx", "ry", "rz")


def default_recordings(quick: bool = False, seed: int = 0) -> MotionSet:
    """Return synthetic motions of daily living to learn from: every task of every subject, or half the tasks of one."""
    return daily_living(15, seed, n_subjects=1) if quick else daily_living(TRIALS, seed)


@dataclass(frozen=True, eq=False)
class Learned:
    """Models learned from recordings, each at its first use.

    Attributes
    ----------
    recordings : MotionSet
        Degrees of freedom x, y, z, rx, ry, rz.
    names : tuple of str
        Those that are learned; by default orientation is left aside.
    """

    recordings: MotionSet
    names: tuple[str, ...] = POSITIONS

    @cached_property
    def moving(self) -> MotionSet:
        """Movements well under way: what functional components and ProMPs learn from."""
        return movements(self.recordings, _MOVING).map(lambda trial: trial.select(self.names))

    @cached_property
    def resting(self) -> MotionSet:
        """Movements from rest to rest: what movement primitives learn from."""
        return movements(self.recordings, _STILL).map(lambda trial: trial.select(self.names))

    @cached_property
    def paper(self) -> HumanLikePlanner:
        """The square system (102): 5 components per coordinate, 15 splines of order 5, in the axes of the recording."""
        return HumanLikePlanner(FPCA.paper(self.moving, 5), "paper", **ANYWHERE)

    @cached_property
    def map(self) -> HumanLikePlanner:
        """The most likely motion, with joint components in the frame from start to goal."""
        return HumanLikePlanner(map_components(self.moving), "map", **ANYWHERE)

    @cached_property
    def minimum_jerk(self) -> HumanLikePlanner:
        """The quintic, as the planner with the whole share of the prior: so that it can go round obstacles as well."""
        return HumanLikePlanner(map_components(self.moving, shrinkage=1.0), "map")

    @cached_property
    def longest(self) -> MotionSet:
        """The one movement, from rest to rest, that goes farthest: what movement primitives learn from."""
        most = int(np.argmax([np.linalg.norm(trial.x[-1] - trial.x[0]) for trial in self.resting]))
        return self.resting[[most]]

    @cached_property
    def promp(self) -> ProMP:
        """A probabilistic movement primitive, Gaussians wide enough to rest without ripples.

        With those that they have by default, motions that have to rest exactly at both ends ripple there, with ten
        times the jerk.
        """
        return ProMP(overlap=0.9).fit(self.moving)

    def dmp(self, basis: str, scaling: str = "hoffmann") -> DMP:
        """Return a movement primitive of 21 functions; Hoffmann's scaling comes with rotodilatation, (104) cannot."""
        return DMP(basis=basis, scaling=scaling, rotodilatation=scaling == "hoffmann").fit(self.longest)


def as_path(motion: Motion, pieces: int = 256) -> _core.BezierPath:
    """Return a motion object as piecewise quintics that meet it to the second derivative: clearances want polynomials.

    A primitive's path is met to 1e-7 m with 256 pieces; what is a polynomial already stays what it is.
    """
    t = np.linspace(0.0, motion.duration, pieces + 1)
    x, v, a = (motion.position(t, k) for k in range(3))
    h = np.diff(t)[:, None]
    first = [x[:-1], x[:-1] + h * v[:-1] / 5.0, x[:-1] + 2.0 * h * v[:-1] / 5.0 + h**2 * a[:-1] / 20.0]
    last = [x[1:] - 2.0 * h * v[1:] / 5.0 + h**2 * a[1:] / 20.0, x[1:] - h * v[1:] / 5.0, x[1:]]
    return _core.BezierPath(t, np.ascontiguousarray(np.stack([*first, *last], axis=1)))
