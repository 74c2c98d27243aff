"""Condition numbers along a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..checks import Array
from ..robot import Robot
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
    M_estimate : (k,) array or None
        Of the mass matrix under the controller's estimate, where ``parameters`` were logged.
    """

    M: Array
    J: Array
    M_estimate: Array | None


def condition_numbers(result: Result, frame: int | str | None = None) -> ConditionNumbers:
    """Return the condition numbers of M(q) and of the Jacobian of `frame` at each logged instant."""
    M = np.zeros(len(result.t))
    for robot, first, last in plant_phases(result, "condition_numbers"):
        if first < last:
            M[first:last] = np.linalg.cond(robot.mass_matrix(result.q[first:last]))
    J = np.linalg.cond(plant_of(result, "condition_numbers").jacobian(result.q, frame))
    estimates = result.signals.get("parameters")
    plant = plant_of(result, "condition_numbers")
    if estimates is None or estimates.shape[1] != plant.p:
        return ConditionNumbers(M, J, None)
    return ConditionNumbers(M, J, np.linalg.cond(mass_matrices(plant, result.q, estimates)))


_ROWS = 1000  # regressors in memory at a time


def mass_matrices(robot: Robot, q: Array, parameters: Array) -> Array:
    """Return M(q) row by row under its own parameters, (k, n, n): column j is Y(q, 0, e_j) pi without gravity."""
    floating = robot.replace(gravity=np.zeros(3))
    M = np.zeros((len(q), robot.n, robot.n))
    for first in range(0, len(q), _ROWS):
        rows = slice(first, first + _ROWS)
        still = np.zeros_like(q[rows])
        for j, unit in enumerate(np.eye(robot.n)):
            M[rows, :, j] = np.einsum("knp,kp->kn", floating.regressor(q[rows], still, still + unit), parameters[rows])
    return M
