"""Constant offsets between the encoders of motors and links."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..checks import Array
from .least_squares import Blocks
from .sums import Block, Layout


@dataclass(frozen=True)
class Offsets:
    """Parts of the springs' rows along the columns of offsets, which are taken out of the rows.

    Attributes
    ----------
    W : (e, u) array
        Part of the columns.
    y : (e,) array
        Part of the torques minus those of the prior.
    squares : (e,) array
        Sum of squares of each column of an offset, whose mean is one.
    mean : (e,) array
        Mean of the column before, its stiffness; one where there is none.
    """

    W: Array
    y: Array
    squares: Array
    mean: Array

    def torques(self, deviation: Array) -> Array:
        """Return the constant torques that these unknowns leave, (e,)."""
        return np.asarray(self.y - self.W @ deviation)

    def coefficients(self, deviation: Array) -> Array:
        """Return the coefficients of the columns before their mean was made one, (e,)."""
        return self.torques(deviation) / self.mean


def without_offsets(
    plan: Layout, blocks: Mapping[tuple[int, int], Block], stiffness: Array, weight: Array
) -> tuple[Blocks, Offsets | None]:
    """Split the factors of joints into those of rows, and take the columns of offsets out of them.

    An offset c of x - q changes the torque of a spring by -c times its stiffness to first order. By the theorem of
    Frisch and Waugh least squares with this further column finds the same parameters as with rows orthogonal to it.
    `stiffness` is its mean, (e,), and `weight` the mean weight of each row, (r,), by which it is divided.
    """
    u, n, e = plan.columns.size, plan.robot.n, plan.robot.e
    most = max(plan.places(group)[-1].stop for group in plan.groups)
    found = Blocks(
        np.zeros((plan.joints.size, len(blocks), most, u + 1)),
        np.array([block.count for block in blocks.values()]),
        np.array([log for log, _ in blocks], dtype=np.intp),
    )
    rows = found.factors.reshape(plan.joints.size, -1, u + 1)
    parts, squares = np.zeros((e, u + 1)), np.ones(e)
    mean = np.where(stiffness != 0.0, stiffness, 1.0)
    for joint, group in enumerate(plan.groups):
        factor = np.zeros((len(blocks), most, plan.places(group)[-1].stop))
        for k, block in enumerate(blocks.values()):
            factor[k, : len(block.factors[joint])] = block.factors[joint]
        factor = factor.reshape(-1, factor.shape[-1])
        for row, place in zip(group, plan.places(group), strict=True):
            columns = factor[:, place] / np.sqrt(weight[row])
            inner = rows[row]
            if row in plan.springs:
                offset, columns, i = columns[:, 0] / mean[row - n], columns[:, 1:], row - n
                squares[i] = offset @ offset
            inner[:, [*plan.used[row], u]] = columns
            if row in plan.springs:
                parts[i] = offset @ inner / squares[i]
                inner -= np.outer(offset, parts[i])
    if not plan.springs.size:
        return found, None
    return found, Offsets(parts[:, :-1], parts[:, -1], squares, mean)
