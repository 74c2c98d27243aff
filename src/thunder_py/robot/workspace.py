"""Workspace of an arm from random postures within joint limits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..checks import Array, apart, array
from ..errors import ThunderError
from ..model.description import Limits
from ..model.model import RobotModel


class Workspace(NamedTuple):
    """Random postures and their positions, from `Robot.sample_workspace`.

    Attributes
    ----------
    q : (k, n) array
        Postures, uniform within limits [rad or m].
    points : (k, 3) array
        Origins of the frame in the world [m].
    manipulability : (k,) array
        Manipulability of the linear rows of the Jacobian.

    Examples
    --------
    >>> import thunder_py as th
    >>> q, points, manipulability = th.Robot.load("ur5e").sample_workspace(100)
    >>> q.shape, points.shape, manipulability.shape
    ((100, 6), (100, 3), (100,))
    """

    q: Array
    points: Array
    manipulability: Array


def sampling_range(names: Sequence[str], types: str, limits: Limits) -> tuple[Array, Array]:
    """Return the lower and upper ends (n,) of random postures: the limits, one turn where a revolute joint has none.

    Raises
    ------
    ThunderError
        If a prismatic joint has no limits.
    """
    lower, upper = array(limits.lower, (len(names),), "limits.lower", finite=False), np.asarray(limits.upper)
    finite = np.isfinite(lower) & np.isfinite(upper)
    for name, kind, limited in zip(names, types, finite, strict=True):
        if kind == "P" and not limited:
            raise ThunderError(f"limits of {name} must be finite for a prismatic joint; pass limits=")
    # one turn, from the finite end if there is one
    first = np.where(np.isfinite(lower), lower, np.where(np.isfinite(upper), upper - 2.0 * np.pi, -np.pi))
    return first, np.where(finite, upper, first + 2.0 * np.pi)


def within_limits(robot: RobotModel, q: Array, what: str, rounding: float = 0.0) -> Array:
    """Return a posture (n,), which must be within the joint limits."""
    lower, upper = robot.limits.lower, robot.limits.upper
    for j in np.flatnonzero((q < lower - rounding) | (q > upper + rounding)):
        low, high, got = apart(lower[j], upper[j], q[j])
        joint = robot.joint_names[j]
        raise ThunderError(f"{what} must be within the joint limits, {low} to {high} for {joint}, got {got}")
    return q
