"""Orientation over time: constant, or along geodesics (rotations about a constant axis)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .. import _core
from ..checks import Array, array, rotation
from ..errors import ThunderError
from ..spatial.single import angle_of, exp, log
from .timing import Timing, as_laws, placed, start_times


class _Turn(NamedTuple):
    law: _core.PiecewisePolynomial
    axis: Array
    angle: float
    end: float


class Orientation:
    """Orientation over time, constructed by `constant`, `through` or `about`.

    Attributes
    ----------
    start, end : (3, 3) array
        First and last orientation.
    duration : float
        End of the last turn [s].

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.spatial import rotation_about
    >>> from thunder_py.trajectory import Orientation, RotationSegment
    >>> turning = Orientation.through([np.eye(3), rotation_about("z", 1.0)], 2.0)
    >>> bool(np.allclose(RotationSegment([0.4, 0.0, 0.3], turning)(1.0).R, rotation_about("z", 0.5)))
    True
    >>> Orientation.about(np.eye(3), [0, 0, 1], [0.0, 2 * np.pi], 4.0).duration
    4.0
    """

    def __init__(self, start: Array, turns: Sequence[_Turn]) -> None:
        self.start = start
        self.turns = tuple(turns)
        self.duration = max((turn.end for turn in turns), default=0.0)
        end = start
        for turn in turns:
            end = exp(turn.angle * turn.axis) @ end
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
        """Return geodesics from each orientation to the next: the shorter rotation about a constant axis.

        Parameters
        ----------
        rotations : (m + 1, 3, 3) array_like
            Orientations, world axes.
        timing : TimingLaw, float or a sequence of m of them
            A number is the duration of a minimum-jerk law [s].
        anticipation : float or (m - 1,) array_like
            Overlap of each turn with the previous one [s]; intermediate orientations are then not reached.

        Raises
        ------
        ValueError
            For invalid rotations, and for half a turn, whose axis is ambiguous: use `about`.
        """
        matrices = array(rotations, (None, 3, 3), "rotations")
        if len(matrices) < 2:
            raise ThunderError(f"rotations must be at least two, got {len(matrices)}")
        each = [rotation(R, f"rotations[{k}]") for k, R in enumerate(matrices)]
        ways = [_axis_and_angle(R1 @ R0.T, k) for k, (R0, R1) in enumerate(pairwise(each))]
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
        """Return turns of `R` about one world axis through a sequence of angles; more than half a turn is allowed.

        Parameters
        ----------
        R : (3, 3) array_like
            Orientation at angle zero.
        axis : (3,) array_like
            In world axes, of any nonzero length.
        angles : (m + 1,) array_like
            Initial angle and the angles to reach [rad].
        timing : TimingLaw, float or a sequence of m of them
            A number is the duration of a minimum-jerk law [s].
        anticipation : float or (m - 1,) array_like
            As in `through` [s].
        """
        direction, zero = array(axis, (3,), "axis"), rotation(R, "R")
        length = float(np.linalg.norm(direction))
        if length == 0.0:
            raise ThunderError("axis must not be zero")
        turns = array(angles, (None,), "angles")
        if turns.size < 2:
            raise ThunderError(f"angles must be at least two, got {turns.size}")
        unit = direction / length
        steps = np.diff(turns).tolist()
        return cls._turning(exp(turns[0] * unit) @ zero, [unit] * len(steps), steps, timing, anticipation)

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


#: orientation argument of trajectories: over time or constant; None is the identity
OrientationLike = Orientation | npt.ArrayLike | None


def as_orientation(value: OrientationLike) -> Orientation:
    """Return `value` as an `Orientation`: None is the identity, a matrix is constant."""
    if isinstance(value, Orientation):
        return value
    return Orientation(np.eye(3) if value is None else rotation(value, "orientation"), ())


def _axis_and_angle(R: Array, k: int) -> tuple[Array, float]:
    """Return axis and angle of the k-th rotation."""
    angle = angle_of(R)
    if angle < 1e-12:
        return np.array([0.0, 0.0, 1.0]), 0.0
    if math.pi - angle < 1e-6:
        raise ThunderError(
            f"rotations {k} and {k + 1} must be less than half a turn apart: use Orientation.about with an axis"
        )
    return log(R) / angle, angle
