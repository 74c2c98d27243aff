"""The methods of the tables of obstacles, each a function from a setting to a motion, and what is measured of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import TypeAlias

import numpy as np

from ..errors import NoPathError
from ..motion.dmp import DMP
from ..motion.dmp_motion import DMPMotion
from ..motion.dynamic_potential import DynamicPotential
from ..motion.metrics import Motion, mean_jerk, path_length
from ..motion.min_jerk import minimum_jerk
from ..motion.obstacles import clearance
from ..motion.plan import HumanLikePlan
from ..motion.planner import HumanLikePlanner
from ..motion.promp import Observation, ProMP
from ..motion.via_search import ViaSearch
from ..trajectory import Sphere
from .human_like_learned import Learned, as_path
from .human_like_scenarios import Scenario

__all__ = ["AVOIDING", "METHODS", "NOTES", "POTENTIAL", "Attempt", "Method", "attempt", "methods"]

Method: TypeAlias = Callable[[Scenario], Motion]

#: method -> what it is
NOTES: dict[str, str] = {
    "paper mode": "the square system (102), 1000 uniform via points, passed with (goal - start)/T and no acceleration",
    "MAP": "the most likely motion, 1000 low-discrepancy via points, up to two, in the state of least jerk",
    "minimum jerk, via": "quintics through via points that are searched as for MAP",
    "minimum jerk": "the straight quintic, which does not look at obstacles",
    "DMP mollifier": "21 mollifiers, Hoffmann's scaling with rotodilatation, dynamic potential (107)",
    "DMP Gaussian": "the same with 21 Gaussians",
    "DMP (104)": "21 mollifiers and (104) to the letter, where every coordinate is stretched by its own g - y0",
    "ProMP": "conditioned on the ends, which does not look at obstacles",
    "ProMP, via": "conditioned on the via point of MAP as well; nothing says that it keeps clear",
    "(102), via as MAP": "paper mode's system with MAP's search",
    "MAP, via as paper": "MAP's motions with paper mode's search",
}
METHODS = tuple(NOTES)
#: those that go round obstacles; the others do as if there were none
AVOIDING = tuple(name for name in METHODS if name not in ("minimum jerk", "ProMP"))

#: The report prints no numbers. beta is the least without jumps of the force; the gain is the least one of `GAINS`, of
#: human_like_gains, with which neither basis comes within the margin in any of 80 other settings. Jerk was not asked.
POTENTIAL = DynamicPotential(gain=0.15, beta=2.0)


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """One method in one setting; without a path all numbers but the time are NaN.

    Attributes
    ----------
    error : float
        Distance from the goal at T [m].
    jerk : float
        Mean of the norm of the jerk over time [m/s^3].
    clearance : float
        Least distance from the spheres' surfaces [m], proved for polynomials; of the others quintics are proved that
        are 1e-7 m off at most.
    length : float
        Of the path [m].
    seconds : float
        Of the call from Python, once, on a machine that may do other things: no benchmark.
    """

    error: float
    jerk: float
    clearance: float
    length: float
    seconds: float

    @property
    def found(self) -> bool:
        """Whether there is a path."""
        return bool(np.isfinite(self.jerk))


def methods(learned: Learned, names: tuple[str, ...] = METHODS) -> dict[str, Method]:
    """Return some of the methods by name, taught."""
    best, paper = ViaSearch(), ViaSearch.paper()
    makers: dict[str, Callable[[], Method]] = {
        "paper mode": lambda: partial(_around, learned.paper, paper),
        "MAP": lambda: partial(_around, learned.map, best),
        "minimum jerk, via": lambda: partial(_around, learned.minimum_jerk, best),
        "minimum jerk": lambda: lambda scene: minimum_jerk(scene.start, scene.goal, scene.duration),
        "DMP mollifier": lambda: partial(primitive, learned.dmp("mollifier"), POTENTIAL),
        "DMP Gaussian": lambda: partial(primitive, learned.dmp("gaussian"), POTENTIAL),
        "DMP (104)": lambda: partial(primitive, learned.dmp("mollifier", "paper"), POTENTIAL),
        "ProMP": lambda: lambda scene: learned.promp.plan(scene.start, scene.goal, scene.duration),
        "ProMP, via": lambda: partial(_through, learned.promp, partial(_around, learned.map, best)),
        "(102), via as MAP": lambda: partial(_around, learned.paper, best),
        "MAP, via as paper": lambda: partial(_around, learned.map, paper),
    }
    return {name: makers[name]() for name in names}


def attempt(method: Method, scene: Scenario) -> tuple[Attempt, Motion | None]:
    """Let a method try a setting, and measure."""
    begin = perf_counter()
    try:
        motion = method(scene)
    except NoPathError:
        nan = float("nan")
        return Attempt(error=nan, jerk=nan, clearance=nan, length=nan, seconds=perf_counter() - begin), None
    seconds = perf_counter() - begin
    path = motion.path if isinstance(motion, HumanLikePlan) else as_path(motion)
    return Attempt(
        error=float(np.linalg.norm(motion.position(scene.duration) - scene.goal)),
        jerk=mean_jerk(motion),
        clearance=clearance(path, scene.spheres).lower_bound,
        length=path_length(motion),
        seconds=seconds,
    ), motion


def primitive(dmp: DMP, potential: DynamicPotential, scene: Scenario) -> DMPMotion:
    """Roll out a movement primitive among spheres with the margin around them."""
    inflated = [Sphere(sphere.centre, sphere.radius + scene.margin) for sphere in scene.spheres]
    return dmp.rollout(scene.start, scene.goal, scene.duration, obstacles=inflated, potential=potential)


def _around(planner: HumanLikePlanner, via: ViaSearch, scene: Scenario) -> HumanLikePlan:
    plan = planner.plan(scene.start, scene.goal, scene.duration, obstacles=scene.spheres, margin=scene.margin, via=via)
    assert isinstance(plan, HumanLikePlan)
    return plan


def _through(promp: ProMP, guide: Callable[[Scenario], HumanLikePlan], scene: Scenario) -> Motion:
    """Condition on rest at both ends, and on passing where and when another planner does."""
    plan = guide(scene)
    vias = zip(plan.via_times / scene.duration, plan.via_points, strict=True)
    rest = np.zeros(3)
    known = [Observation(0.0, scene.start, 0), Observation(1.0, scene.goal, 0)]
    known += [Observation(tau, rest, order) for tau in (0.0, 1.0) for order in (1, 2)]
    known += [Observation(float(tau), point, 0) for tau, point in vias]
    return promp.condition(known, scene.duration).rollout(scene.duration)
