"""The plant over time: what it was from one payload to the next."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..errors import ThunderError
from ..robot import Robot

if TYPE_CHECKING:
    from .run import Result

__all__ = ["Phase", "plant_of", "plant_phases"]

_ROUNDING = 1e-9  # of times that are multiples of a step, as in the core


class Phase(NamedTuple):
    """The robot with what it carries, and the logged instants from `first` to before `last` in which it is so."""

    robot: Robot
    first: int
    last: int


def plant_of(result: Result, what: str) -> Robot:
    """Return the plant; refuse a run of one that we do not know."""
    plant = result.plant
    if plant is None:
        raise ThunderError(f"{what} needs a run whose plant was a Robot")
    return plant


def plant_phases(result: Result, what: str) -> list[Phase]:
    """Return the phases in the order of time; those that no logged instant falls into are empty."""
    robot = plant_of(result, what)
    phases, first = [], 0
    for payload in sorted(result.payloads, key=lambda p: p.time):
        last = int(np.searchsorted(result.t + _ROUNDING, payload.time))
        phases.append(Phase(robot, first, last))
        robot, first = payload.added_to(robot), last
    return [*phases, Phase(robot, first, len(result.t))]
