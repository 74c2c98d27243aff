"""Friction of this package's kinds as MuJoCo's damping at a speed."""

from __future__ import annotations

import numpy as np

from ..checks import Array
from ..joint_data import Friction

__all__ = ["Damping"]


class Damping:
    """The function f(dq) / dq of a robot's friction f.

    Parameters
    ----------
    friction : Friction or None
        None for no friction.
    """

    def __init__(self, friction: Friction | None) -> None:
        self._terms = () if friction is None else tuple(zip(friction.terms, friction.coefficients.T, strict=True))
        self._delta = 1.0 if friction is None else friction.delta

    def __call__(self, dq: Array) -> Array:
        """Return the damping at joint velocities, (n,) each [N m s/rad, N s/m]."""
        speed = np.abs(dq)
        total = np.zeros_like(speed)
        for term, coefficients in self._terms:
            if term == "coulomb":
                total += coefficients / (speed + self._delta)
            else:
                total += coefficients * speed ** _POWERS[term]
        return total


#: of abs(dq), beside the dq that damping multiplies
_POWERS = {term: k for k, term in enumerate(term for term in Friction.TERMS if term != "coulomb")}
