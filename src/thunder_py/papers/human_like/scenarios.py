"""Random obstacle settings of four kinds: a start, a goal and spheres between them (D4.2, section 5.2.2).

The report generates "a large number of simulation settings" and groups them into four scenarios whose definition our
copy of it lacks. They are defined here, and by geometry alone: no planner has a say in which settings are kept. What is
known of the report's is kept: spheres alone, a clearance of 0.05 m as in the released code, and a length of reach that
its jerk suggests. With T = 5 s, as in the released code, a straight minimum-jerk reach of D meters has a mean jerk of
23.1 D/T^3, so that Table 13's 0.21 to 0.26 m/s^3 are reaches of 1.1 to 1.4 m; 1.1 to 1.3 m are taken. That the report's
tables are for T = 5 s is inferred, it does not say so; and a motion through a via point has about twice the jerk of the
straight one, so that the report's reaches may as well have been half as long.

A setting is drawn in this order:

1. The reach: its length uniform in `REACH`, its direction uniform over the sphere, its middle uniform in a ball of
   radius `MIDDLE` about the origin. Both ends are 0.45 to 0.75 m from the origin.
2. The spheres, one `Placement` after the other: the foot of its center on the straight line uniform in ``along`` (0 is
   the start, 1 the goal), the distance of its center from the line uniform in ``off`` to any side of it alike, its
   radius uniform in ``radius``.
3. A sphere is drawn again while it overlaps one before, or comes nearer to the start or the goal than the margin and
   another `ROOM`, so that there is space to set off. Gaps between spheres may be too narrow for the margin.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...checks import Array, array, seed_of, whole
from ...errors import ThunderError
from ...geometry import Sphere
from ..tables import markdown

REACH = (1.1, 1.3)  # [m]
MIDDLE = 0.1  # [m]
DURATION = 5.0  # [s]
MARGIN = 0.05  # [m]
ROOM = 0.02  # [m]
_TRIES = 1000


class Placement(NamedTuple):
    """Where spheres are put.

    Attributes
    ----------
    along : tuple of tuple of (float, float)
        One sphere for each: where its center's foot may be on the way from start to goal, as fractions.
    off : (float, float)
        Distance of the center from the straight line [m].
    radius : (float, float)
        [m].
    """

    along: tuple[tuple[float, float], ...]
    off: tuple[float, float]
    radius: tuple[float, float]


class Family(NamedTuple):
    """One of the four kinds of setting.

    Attributes
    ----------
    sentence : str
        Description.
    placements : tuple of Placement
        Placements of the spheres.
    """

    sentence: str
    placements: tuple[Placement, ...]


_CENTER, _TWO, _THREE = ((0.35, 0.65),), ((0.25, 0.4), (0.6, 0.75)), ((0.2, 0.35), (0.4, 0.6), (0.65, 0.8))
_RUN_INTO = Placement(((0.25, 0.45), (0.55, 0.75)), off=(0.0, 0.05), radius=(0.05, 0.1))
_BESIDE = Placement(((0.1, 0.9),) * 3, off=(0.15, 0.35), radius=(0.05, 0.12))
#: family -> what it is made of
FAMILIES: dict[int, Family] = {
    1: Family("one sphere on the straight line", (Placement(_CENTER, (0.0, 0.0), (0.05, 0.15)),)),
    2: Family("two spheres that the straight line runs into", (Placement(_TWO, (0.0, 0.05), (0.05, 0.12)),)),
    3: Family(
        "three spheres near the line, which may pass between them", (Placement(_THREE, (0.0, 0.15), (0.05, 0.1)),)
    ),
    4: Family("two spheres that the line runs into and three beside it, in the way of detours", (_RUN_INTO, _BESIDE)),
}


@dataclass(frozen=True, kw_only=True, eq=False)
class Scenario:
    """One setting.

    Attributes
    ----------
    start, goal : (3,) array
        [m].
    spheres : tuple of Sphere
        Obstacles.
    duration : float
        Time for the motion, from rest to rest [s].
    margin : float
        Required distance from the surfaces of the spheres [m].
    family : int
        Which of `FAMILIES`.
    """

    start: Array
    goal: Array
    spheres: tuple[Sphere, ...]
    duration: float
    margin: float
    family: int

    @property
    def length(self) -> float:
        """Straight distance from start to goal [m]."""
        return float(np.linalg.norm(self.goal - self.start))

    def distance(self, points: Array) -> Array:
        """Return how far points (..., 3) are from the nearest sphere's surface [m], negative inside."""
        return np.asarray(np.min([sphere.distance(points) for sphere in self.spheres], axis=0))


def scenarios(family: int, count: int, seed: int = 0) -> list[Scenario]:
    """Draw settings of one family.

    Parameters
    ----------
    family : int
        1 to 4, see `FAMILIES`.
    count : int
        Number of scenarios. The first ones do not depend on it.
    seed : int
        Not negative.

    Raises
    ------
    ValueError
        No such family; a count or a seed that is none.
    """
    if family not in FAMILIES:
        raise ThunderError(f"family must be one of {', '.join(map(str, FAMILIES))}, got {family!r}")
    return [scenario(family, k, seed_of(seed)) for k in range(whole(count, "count", 0))]


def scenario(family: int, number: int, seed: int = 0) -> Scenario:
    """Return one of the settings of `scenarios`, by its index."""
    return _draw(family, np.random.default_rng([seed, family, number]))


def families_table() -> str:
    """Return the definition of the four families as Markdown."""
    rows: list[list[object]] = []
    for name, family in FAMILIES.items():
        for k, p in enumerate(family.placements):
            along = ", ".join(sorted({f"{a:g}-{b:g}" for a, b in p.along}))
            first = [name, family.sentence] if k == 0 else ["", ""]
            rows.append([*first, len(p.along), along, *(f"{a:g}-{b:g}" for a, b in (p.off, p.radius))])
    header = ["scenario", "", "spheres", "along the line", "off the line [m]", "radius [m]"]
    reach = f"reach {REACH[0]:g}-{REACH[1]:g} m, T = {DURATION:g} s, margin {MARGIN:g} m, rest to rest"
    return f"Scenarios: {reach}\n\n{markdown(header, rows)}"


def _draw(family: int, random: np.random.Generator) -> Scenario:
    direction = _direction(random)
    half = 0.5 * random.uniform(*REACH) * direction
    middle = MIDDLE * random.uniform() ** (1.0 / 3.0) * _direction(random)
    start, goal = middle - half, middle + half
    spheres: list[Sphere] = []
    for placement in FAMILIES[family].placements:
        for one in range(len(placement.along)):
            spheres.append(_sphere(np.stack([start, goal]), placement, one, spheres, random))
    return Scenario(start=start, goal=goal, spheres=tuple(spheres), duration=DURATION, margin=MARGIN, family=family)


def _direction(random: np.random.Generator) -> Array:
    v: Array = random.standard_normal(3)
    return array(v / np.linalg.norm(v), (3,), "direction")


def _sphere(ends: Array, placement: Placement, one: int, others: list[Sphere], random: np.random.Generator) -> Sphere:
    """Draw one sphere of a placement until it neither overlaps the others nor holds the ends of the reach."""
    start, goal = ends
    way = (goal - start) / np.linalg.norm(goal - start)
    for _ in range(_TRIES):
        aside = np.cross(way, _direction(random))
        foot = start + random.uniform(*placement.along[one]) * (goal - start)
        center = foot + random.uniform(*placement.off) * aside / np.linalg.norm(aside)
        radius = random.uniform(*placement.radius)
        apart = all(np.linalg.norm(center - o.center) > radius + o.radius for o in others)
        if apart and np.linalg.norm(center - ends, axis=1).min() > radius + MARGIN + ROOM:
            return Sphere(center, radius)
    raise RuntimeError("no room for another sphere")  # not with the families above: tests draw thousands
