"""Columns of a fit, and the rows in which they are not zero."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..checks import Array
from ..robot import Robot
from .equations import Columns, equations, formed_columns
from .samples import Samples
from .signals import Motion


@dataclass(frozen=True, kw_only=True)
class RegressorColumns:
    """The columns that a fit needs, and the rows in which they are not zero.

    Attributes
    ----------
    robot : Robot
        The robot.
    theta0 : (P,) array
        Prior of all parameters.
    columns : (u,) int array
        Columns of the regressor whose unknowns the fit finds: base parameters, then further columns.
    joints : (r,) int array
        Joint of each row.
    groups : tuple of tuple of int
        Rows of each joint; their residuals at an instant are correlated.
    pattern : (r, P) bool array
        True where the regressor is not zero.
    used : tuple of (c,) int array
        Positions in `columns` that are not zero in each row.
    watched : (w,) int array
        Coefficients with a prior of zero, whose joints may be at rest throughout.
    further : tuple of Columns
        Further columns of the regressor.
    springs : (e,) int array
        Rows of the springs, whose offsets are estimated; empty where they are known.
    """

    robot: Robot
    theta0: Array
    columns: npt.NDArray[np.intp]
    joints: npt.NDArray[np.intp]
    groups: tuple[tuple[int, ...], ...]
    pattern: npt.NDArray[np.bool_]
    used: tuple[npt.NDArray[np.intp], ...]
    watched: npt.NDArray[np.intp]
    further: tuple[Columns, ...]
    springs: npt.NDArray[np.intp]

    @property
    def change(self) -> Array:
        """Maps columns of all parameters to `columns`, and to the torque of the prior, (P, u + 1)."""
        P = self.theta0.size
        T = np.zeros((P, self.columns.size + 1))
        inner = np.flatnonzero(self.columns < P)
        T[self.columns[inner], inner] = 1.0
        T[:, -1] = self.theta0
        return T

    def places(self, group: Sequence[int]) -> list[slice]:
        """Return the part of a group's factor that belongs to each of its rows, whose last column is the torque."""
        ends = np.cumsum([0, *(self.used[row].size + 1 + int(row in self.springs) for row in group)])
        return [slice(int(a), int(b)) for a, b in itertools.pairwise(ends)]


def layout(
    robot: Robot,
    theta0: Array,
    base: npt.NDArray[np.intp],
    joints: npt.NDArray[np.intp],
    further: Sequence[Columns],
    offsets: bool,
) -> RegressorColumns:
    """Find the rows in which columns are not zero, at random states; further columns count as nonzero in all rows."""
    P, n, e, r = theta0.size, robot.n, robot.e, joints.size
    count = sum(len(each.names) for each in further)
    rng = np.random.default_rng(0)
    motion, torque = Motion(*rng.uniform(-1.0, 1.0, (3, 64, n))), np.ones((64, n))
    motors = Motion(*rng.uniform(-1.0, 1.0, (3, 64, e))) if e else None
    sensed = np.ones((64, e)) if r == n + 2 * e and e else None
    samples = Samples(t=np.arange(64.0), motion=motion, torque=torque, motors=motors, joint_torque=sensed)
    pattern = np.any(equations(robot, samples, formed_columns(robot, samples, np.zeros(e))).W != 0.0, axis=0)
    further_too = np.hstack([pattern[:, base], np.ones((r, count), dtype=bool)])
    return RegressorColumns(
        robot=robot,
        theta0=theta0,
        columns=np.concatenate([base, P + np.arange(count)]),
        joints=joints,
        groups=tuple(tuple(map(int, np.flatnonzero(joints == j))) for j in range(n)),
        pattern=pattern,
        used=tuple(np.flatnonzero(row) for row in further_too),
        watched=np.flatnonzero((np.arange(P) >= 10 * n) & (theta0 == 0.0)),
        further=tuple(further),
        springs=np.arange(n, n + e) if offsets else np.arange(0),
    )
