"""Constant offsets between the encoders of motors and links."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..checks import Array

__all__ = ["Offsets", "without_constants"]


@dataclass(frozen=True)
class Offsets:
    """Parts of the springs' rows along the columns of offsets, which are taken out of the rows.

    Attributes
    ----------
    W : (e, P) array
        Part of the regressor.
    y : (e,) array
        Part of the torques.
    squares : (e,) array
        Sum of squares of each column of an offset, whose mean is one.
    """

    W: Array
    y: Array
    squares: Array

    def torques(self, theta: Array) -> Array:
        """Return the constant torques that these parameters leave, (e,)."""
        return np.asarray(self.y - self.W @ theta)


def without_constants(W: Array, y: Array, stiffness: Array) -> tuple[Array, Array, Offsets]:
    """Take the columns of offsets out of the springs' rows W, (k, e, P), and y, (k, e).

    An offset c of x - q changes the torque of a spring by -c times its stiffness, (k, e), to first order. Its column is
    the stiffness relative to its mean, a constant where the spring is linear. By the theorem of Frisch and Waugh least
    squares with this further column finds the same parameters as with rows orthogonal to it.
    """
    mean = stiffness.mean(axis=0)
    column = np.where(mean != 0.0, stiffness, 1.0) / np.where(mean != 0.0, mean, 1.0)
    squares = np.sum(column**2, axis=0)
    parts = np.einsum("ke,kep->ep", column, W) / squares[:, None]
    torques = np.einsum("ke,ke->e", column, y) / squares
    return W - column[..., None] * parts, y - column * torques, Offsets(parts, torques, squares)
