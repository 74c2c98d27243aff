"""Condition numbers along a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..checks import Array
from .phases import plant_of, plant_phases

if TYPE_CHECKING:
    from .run import Result

__all__ = ["ConditionNumbers", "condition_numbers"]


class ConditionNumbers(NamedTuple):
    """Largest over smallest singular value.

    Attributes
    ----------
    M : (k,) array
        Of the mass matrix, payloads included.
    J : (k,) array
        Of the Jacobian, metres and radians together; infinite at a singularity.
    """

    M: Array
    J: Array


def condition_numbers(result: Result, frame: int | str | None = None) -> ConditionNumbers:
    """Return the condition numbers of M(q) and of the Jacobian of `frame` at each logged instant."""
    M = np.zeros(len(result.t))
    for robot, first, last in plant_phases(result, "condition_numbers"):
        if first < last:
            M[first:last] = np.linalg.cond(robot.mass_matrix(result.q[first:last]))
    J = np.linalg.cond(plant_of(result, "condition_numbers").jacobian(result.q, frame))
    return ConditionNumbers(M, J)
