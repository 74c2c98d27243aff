"""Places of picks: a table, or for the suction tool a shelf beside a box."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import numpy as np

from ...checks import Array
from ...manipulation.grasping.verdict import GraspFailure, GraspJudge, GraspVerdict
from ...mujoco.world.grasp_world import GraspWorld
from ...mujoco.world.surfaces import Table
from ...robot import Robot
from ..grasping.setup import SURFACE, Station, station

#: hand over the table: places relative to its middle [m] and turns [rad]
_TABLE = (
    (0.0, 0.0, 0.3, 0.0), (0.08, 0.18, 0.19, 0.0), (-0.08, 0.18, 0.02, 0.0), (-0.08, -0.18, 0.19, 0.0),
    (0.08, -0.18, 0.02, 0.0), *((0.0, 0.0, 0.1, turn * np.pi / 4.0) for turn in (0, 1, 2, 1, 0, -1, -2)),
)  # fmt: skip
#: the same over shelf and box, which stand where the table is
_SHELF = (
    (0.0, 0.0, 0.35, 0.0), (0.06, 0.33, 0.4, 0.0), (-0.06, 0.33, 0.18, 0.0), (0.06, 0.17, 0.18, 0.0),
    (-0.06, 0.17, 0.4, 0.0), *((0.0, 0.25, 0.25, turn * np.pi / 4.0) for turn in (0, 1, 2, 1, 0, -1, -2, -1, 0)),
    (0.0, -0.2, 0.24, 0.0),
)  # fmt: skip
#: where the arm waits, its hand 0.3 m above the table [rad]
_HOME = np.array([0.0, -0.4, 0.0, -2.2, 0.0, 1.8, np.pi / 4.0])
#: middle of the shelf beside that of the table, height of its board above it, width of it, height of the back [m]
_BESIDE, _BOARD, _WIDTH, _BACK = 0.25, 0.15, 0.32, 0.15
#: middle of the box, inner side, height and thickness of its walls [m]
_BOX, _SIDE, _WALL, _THICK = -0.2, 0.25, 0.1, 0.01
#: height of the tool above the bottom of the box where it releases: objects up to 0.1 m hang above the walls [m]
_RELEASE = _WALL + 0.13
#: height of the joints of the arm above the shelf: its links have contact [m]
_CLEAR = 0.09
#: name of the bottom of the box
BOTTOM = "bottom"


class PickPlace(NamedTuple):
    """Where objects are picked.

    Attributes
    ----------
    surfaces : tuple of Table
        All surfaces.
    middle : (3,) array
        Middle of the surface from which objects are picked [m].
    spread : (2,) tuple of float
        Largest distance of objects from it [m].
    region : (2,) tuple of float
        Half sides of the region in which they are looked for [m].
    look : (3,) array
        Point at which the camera looks [m].
    goal : (3,) array or None
        Where the tool releases them, above a box [m]; None if they are lifted and held.
    """

    surfaces: tuple[Table, ...]
    middle: Array
    spread: tuple[float, float]
    region: tuple[float, float]
    look: Array
    goal: Array | None


def pick_place(hand: str, x: float) -> PickPlace:
    """Return where a hand picks at a distance from the arm [m]: from the shelf with the suction tool."""
    if hand != "suction":
        top = np.array([x, 0.0, SURFACE])
        return PickPlace((Table.at(top),), top, (0.08, 0.18), (0.2, 0.4), np.array([x, 0.0, 0.12]), None)
    y, z, half = _BESIDE, SURFACE + _BOARD, 0.5 * (_SIDE + _THICK)
    walls = [
        Table.at((x + a, _BOX + b, SURFACE + _WALL), size=(*sides, _WALL), name=f"wall{k}")
        for k, (a, b, sides) in enumerate(
            (s * half * (1 - along), s * half * along, (_SIDE, _THICK) if along else (_THICK, _SIDE + 2.0 * _THICK))
            for along in (0, 1)
            for s in (-1.0, 1.0)
        )
    ]
    surfaces = (
        Table.at((x, y, z), size=(0.4, _WIDTH, 0.02), name="shelf"),
        Table.at((x, y + 0.5 * _WIDTH + _THICK, z + _BACK), size=(0.4, 2.0 * _THICK, _BACK), name="back"),
        Table.at((x, _BOX, SURFACE), size=(_SIDE, _SIDE, 0.02), name=BOTTOM),
        *walls,
    )
    return PickPlace(
        surfaces, np.array([x, y, z]), (0.06, 0.08), (0.15, 0.14), np.array([x, 0.1, 0.2]),
        np.array([x, _BOX, SURFACE + _RELEASE]),
    )  # fmt: skip


def table_station(hand: str, arm: Robot | None = None) -> Station:
    """Return the place of an arm with a hand at the table, or at shelf and box; default the report's."""
    if hand == "suction":
        return station(hand, _HOME, _SHELF, arm, above=SURFACE + _BOARD + _CLEAR)
    return station(hand, _HOME, _TABLE, arm)


class BoxJudge(GraspJudge):
    """Judge of an object that shall come to rest in the box: half a second on its bottom, without the hand.

    Parameters
    ----------
    world : GraspWorld
        World with the object, called ``"object"``.
    surface : float
        Height of the surface from which it is lifted [m].
    """

    def __init__(self, world: GraspWorld, surface: float) -> None:
        super().__init__(surface, lift=0.01)
        self._world, self._rests, self._rested = world, float("nan"), False

    def update(self, t: float, lowest: float, touching: Collection[str]) -> None:
        """Take the state at a time."""
        super().update(t, lowest, touching)
        still = float(np.linalg.norm(self._world.velocity("object"))) < 0.01
        if not (still and BOTTOM in touching and "hand" not in touching):
            self._rests = float("nan")
        elif self._rests != self._rests:
            self._rests = t
        self._rested = t - self._rests >= 0.5

    @property
    def verdict(self) -> GraspVerdict:
        """Verdict on everything so far."""
        seen = super().verdict
        if self._rested:
            return seen._replace(success=True, failure=None, time=self._rests + 0.5)
        raised = seen.failure in (None, GraspFailure.dropped, GraspFailure.too_short)
        failure = GraspFailure.elsewhere if raised else seen.failure
        return seen._replace(success=False, failure=failure, time=float("nan"))
