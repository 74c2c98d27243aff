"""Orientation over time: constant, or along geodesics, which are rotations about one axis."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .. import _core
from ..checks import Array, array, rotation
from .timing import Timing, as_laws, placed, start_times

__all__ = ["Orientation", "OrientationLike", "as_orientation", "rotation"]


class _Turn(NamedTuple):
    law: _core.PiecewisePolynomial
    axis: Array
    angle: float
    end: float


class Orientation:
    """Orientation over time; `constant`, `through` and `about` make one.

    Attributes
    ----------
    start, end : (3, 3) array
        First and last orientation.
    duration : float
        When the last turn ends [s].
    """

    def __init__(self, start: Array, turns: Sequence[_Turn]) -> None:
        self.start = start
        self.turns = tuple(turns)
        self.duration = max((turn.end for turn in turns), default=0.0)
        end = start
        for turn in turns:
            end = _about(turn.axis, turn.angle) @ end
        self.end: Array = end

    @classmethod
    def constant(cls, R: npt.ArrayLike) -> Orientation:
        """Return the orientation `R`, (3, 3), at all times."""
        return cls(rotation(R, "R"), ())

    @classmethod
    def through(
        cls,
        rotations: npt.ArrayLike,
        timing: Timing | Sequence[Timing],
        *,
        anticipation: float | npt.ArrayLike = 0.0,
    ) -> Orientation:
        """Return geodesics from each orientation to the next: rotations about a constant axis, the shorter way.

        Parameters
        ----------
        rotations : (m + 1, 3, 3) array_like
            Orientations, world axes.
        timing : TimingLaw, float or a sequence of m of them
            A number is the duration of a minimum-jerk law [s].
        anticipation : float or (m - 1,) array_like
            How long before the end of the turn before it each turn starts [s]; orientations are then passed by.

        Raises
        ------
        ValueError
            On what is no rotation, and on half a turn, which has two shortest ways: `about` takes the axis.
        """
        given = array(rotations, (None, 3, 3), "rotations")
        if len(given) < 2:
            raise ValueError(f"rotations must be at least two, got {len(given)}")
        each = [rotation(R, f"rotations[{k}]") for k, R in enumerate(given)]
        ways = [_rotation_vector(R1 @ R0.T, k) for k, (R0, R1) in enumerate(pairwise(each))]
        return cls._turning(each[0], [axis for axis, _ in ways], [angle for _, angle in ways], timing, anticipation)

    @classmethod
    def about(
        cls,
        R: npt.ArrayLike,
        axis: npt.ArrayLike,
        angles: npt.ArrayLike,
        timing: Timing | Sequence[Timing],
        *,
        anticipation: float | npt.ArrayLike = 0.0,
    ) -> Orientation:
        """Return turns of `R` about one axis of the world, to each of some angles; more than half a turn is allowed.

        Parameters
        ----------
        R : (3, 3) array_like
            Orientation at angle zero.
        axis : (3,) array_like
            In world axes, of any length but zero.
        angles : (m + 1,) array_like
            First angle and those to go to [rad].
        timing : TimingLaw, float or a sequence of m of them
            A number is the duration of a minimum-jerk law [s].
        anticipation : float or (m - 1,) array_like
            As in `through` [s].
        """
        direction, zero = array(axis, (3,), "axis"), rotation(R, "R")
        length = float(np.linalg.norm(direction))
        if length == 0.0:
            raise ValueError("axis must not be zero")
        turns = array(angles, (None,), "angles")
        if turns.size < 2:
            raise ValueError(f"angles must be at least two, got {turns.size}")
        unit = direction / length
        steps = np.diff(turns).tolist()
        return cls._turning(_about(unit, turns[0]) @ zero, [unit] * len(steps), steps, timing, anticipation)

    @classmethod
    def _turning(
        cls,
        R: Array,
        axes: Sequence[Array],
        angles: Sequence[float],
        timing: Timing | Sequence[Timing],
        anticipation: float | npt.ArrayLike,
    ) -> Orientation:
        laws = as_laws(timing, len(angles))
        starts, _ = start_times(laws, anticipation)
        return cls(
            R,
            [
                _Turn(placed(law, t), axis, angle, float(t) + law.duration)
                for law, t, axis, angle in zip(laws, starts, axes, angles, strict=True)
            ],
        )


#: what trajectories take: constant, or over time; None is the identity
OrientationLike = Orientation | npt.ArrayLike | None


def as_orientation(value: OrientationLike) -> Orientation:
    """Return `value` as an `Orientation`: None is the identity, a matrix is constant."""
    if isinstance(value, Orientation):
        return value
    return Orientation(np.eye(3) if value is None else rotation(value, "orientation"), ())


def _about(axis: Array, angle: float) -> Array:
    """Rotation by an angle about a unit axis."""
    K = np.cross(np.eye(3), axis)  # K v = axis x v
    matrix: Array = np.eye(3) + math.sin(angle) * K + (1.0 - math.cos(angle)) * K @ K
    return matrix


def _rotation_vector(R: Array, k: int) -> tuple[Array, float]:
    """Axis and angle of a rotation."""
    twice = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    length = float(np.linalg.norm(twice))
    angle = math.atan2(length, float(np.trace(R)) - 1.0)
    if angle < 1e-12:
        return np.array([0.0, 0.0, 1.0]), 0.0
    if math.pi - angle < 1e-6:
        raise ValueError(
            f"rotations {k} and {k + 1} are half a turn apart and no way is shorter: Orientation.about takes the axis"
        )
    return twice / length, angle
