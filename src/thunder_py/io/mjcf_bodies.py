"""Inertial parameters that MuJoCo takes, of bodies that need not be any.

MuJoCo refuses a moving body whose mass or principal moments are not above 1e-15, or whose moments A <= B <= C have
A + B < C. Models have such links: massless ones between axes that meet in a point, and the flat ones of planar arms.
What a link's motion cannot show is free, and is chosen so that the body can exist; the arm's dynamics stay the same.
Where that is not enough, `LEAST` is added, which is far below rounding for any arm of ordinary size.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..errors import ModelError
from ..inertia import dyn_from_reg, reg_from_dyn

if TYPE_CHECKING:
    from ..checks import Array
    from ..robot import Robot

__all__ = ["LEAST", "Body", "acceptable_bodies"]

#: mass [kg] and moment of inertia [kg m^2] that a moving body has at least; MuJoCo asks for more than 1e-15
LEAST = 1.2e-15
#: of a body that can exist: what a negative moment may be, relative to the largest
_ROUNDING = 1e-12
_SAMPLES, _ITERATIONS = 12, 200
#: a moment that can be chosen is at least this part of the largest one
_THICK = 1e-2
_ROW, _COL = np.triu_indices(3)


class Body(NamedTuple):
    """A link for MuJoCo.

    Attributes
    ----------
    dyn : (10,) array
        Mass, centre, inertia about it, in the link's frame.
    note : str
        What differs from the robot's numbers; empty if nothing does.
    raised_from : (10,) array or None
        The same without what was added to be above MuJoCo's least numbers; None if nothing was.
    """

    dyn: Array
    note: str = ""
    raised_from: Array | None = None


def acceptable_bodies(robot: Robot) -> list[Body]:
    """Return the links as bodies that MuJoCo takes.

    Parameters
    ----------
    robot : Robot
        Any.

    Raises
    ------
    ModelError
        If a link's parameters are those of no body, and their effect on the motion neither.
    """
    bodies = []
    free: list[Array] | None = None
    for i, (name, reg) in enumerate(zip(robot.link_names, robot.inertial, strict=True)):
        if _has_volume(reg):
            bodies.append(Body(dyn_from_reg(reg)))
            continue
        free = _free_moments(robot) if free is None else free
        bodies.append(_repaired(reg, free[i], name))
    return bodies


def _matrix(six: Array) -> Array:
    matrix = np.zeros((3, 3))
    matrix[_ROW, _COL] = matrix[_COL, _ROW] = six
    return matrix


def _second_moments(inertia: Array) -> Array:
    """Return the integral of x x' dm about the centre, from the tensor: positive definite for bodies with volume."""
    return np.asarray(0.5 * np.trace(inertia) * np.eye(3) - inertia)


def _has_volume(reg: Array) -> bool:
    if reg[0] < LEAST:
        return False
    inertia = _matrix(dyn_from_reg(reg)[4:])
    moments, second = np.linalg.eigvalsh(inertia), np.linalg.eigvalsh(_second_moments(inertia))
    return bool(moments[0] >= LEAST and second[0] > _ROUNDING * moments[-1])


def _free_moments(robot: Robot) -> list[Array]:
    """For each link, orthonormal directions (6, k) of its moments of inertia that no torque depends on."""
    rng = np.random.default_rng(0)
    q, dq, ddq = rng.normal(size=(3, _SAMPLES * robot.n, robot.n))
    Y = robot.regressor(q, dq, ddq)[..., : 10 * robot.n]
    blocks = Y.reshape(-1, robot.n, 10)[:, :, 4:]
    scale = np.abs(blocks).max()
    free = []
    for i in range(robot.n):
        _, singular, Vt = np.linalg.svd(blocks[:, i], full_matrices=True)
        rank = int((singular > 1e-10 * scale * len(blocks) ** 0.5).sum())
        free.append(np.asarray(Vt[rank:].T))
    return free


def _repaired(reg: Array, free: Array, name: str) -> Body:
    notes = []
    mass = reg[0]
    if mass < LEAST:
        if mass < 0.0 or np.abs(reg[1:4]).max() > 0.0:
            raise ModelError(f"{name} has the mass {mass:g} and a first moment {reg[1:4].tolist()}: no body has these")
        mass = LEAST
        notes.append(f"mass {LEAST:g} kg instead of {reg[0]:g}")
    centre = reg[1:4] / mass
    inertia = _matrix(reg[4:] - reg_from_dyn(np.concatenate([[mass], centre, np.zeros(6)]))[4:])
    chosen = _thickened(inertia, free)
    if chosen is not None:
        notes.append("moments of inertia that its motion cannot show chosen so that such a body exists")
        true = raised = chosen
    else:
        true, (raised, least) = inertia, _above_zero(inertia, name)
        notes.append(f"second moments of at least {least:g} kg m2 instead of 0")
    return Body(
        np.concatenate([[mass], centre, raised[_ROW, _COL]]),
        "; ".join(notes),
        np.concatenate([reg[:1], centre, true[_ROW, _COL]]),
    )


def _thickened(inertia: Array, free: Array) -> Array | None:
    """Return a tensor with volume that differs along `free` only, by alternating projections; None if it finds none."""
    if free.shape[1] == 0:
        return None
    floor = _THICK * max(float(np.abs(inertia).max()), LEAST / _THICK)
    candidate = inertia
    for _ in range(_ITERATIONS):
        values, vectors = np.linalg.eigh(_second_moments(candidate))
        if values[0] >= 0.5 * floor:
            return candidate
        second = (vectors * np.maximum(values, floor)) @ vectors.T
        wanted = np.trace(second) * np.eye(3) - second
        step = (wanted - candidate)[_ROW, _COL]
        candidate = candidate + _matrix(free @ (free.T @ step))
    return None


def _above_zero(inertia: Array, name: str) -> tuple[Array, float]:
    """Raise second moments that are zero, and tell to what; refuse what is less than zero."""
    values, vectors = np.linalg.eigh(_second_moments(inertia))
    if values[0] < -1e-9 * np.abs(values).max():
        raise ModelError(
            f"MuJoCo refuses {name}: its moments of inertia are those of no body "
            f"(least second moment {values[0]:g} kg m2), and they matter for the motion"
        )
    least = max(0.5 * LEAST, _ROUNDING * float(values[-1]))  # a moment is the sum of two second moments
    second = (vectors * np.maximum(values, least)) @ vectors.T
    return np.asarray(np.trace(second) * np.eye(3) - second), least
