"""Paths of several segments in task space, with via points that are over-flown."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from ..checks import Array, array
from .orientation import OrientationLike, as_orientation
from .segments import Line, Segment, TaskTrajectory
from .timing import Timing, as_laws, start_times

__all__ = ["Path"]


class Path(TaskTrajectory):
    """Segments one after the other, each with its own timing law.

    With an anticipation a segment starts before the one before it has ended, and the displacements add up: the point
    between them is not reached but over-flown, without a stop (Siciliano et al., 2009, section 4.3.3). Position and
    velocity are continuous where the laws begin and end at rest; acceleration is too where theirs is zero there, as
    that of `min_jerk` is and that of `trapezoidal` is not.

    Parameters
    ----------
    segments : sequence of Line, Arc or Circle
        Each starts where the one before it ends. Their own orientations are not looked at.
    anticipation : float or (m - 1,) array_like
        How long before the end of the one before it each segment starts [s].
    orientation : Orientation or (3, 3) array_like, optional
        Over time, from the start of the path, or constant; default the identity.

    Attributes
    ----------
    segments : tuple of Segment
        As given.
    key_points : (m + 1, 3) array
        Ends of the segments [m].
    start_times : (m,) array
        When the segments begin [s].
    over_flown : (m + 1,) array of bool
        Which key points are passed by instead of reached.

    Raises
    ------
    ValueError
        On a gap between segments, or an anticipation that is negative or longer than one of its two segments.
    """

    def __init__(
        self,
        segments: Sequence[Segment],
        *,
        anticipation: float | npt.ArrayLike = 0.0,
        orientation: OrientationLike = None,
    ) -> None:
        self.segments = tuple(segments)
        if not self.segments:
            raise ValueError("a path needs at least one segment")
        for segment in self.segments:
            if not isinstance(segment, Segment):
                raise ValueError(f"segments must be Line, Arc or Circle, got {type(segment).__name__} among them")
        self.key_points: Array = np.array([segment.start for segment in self.segments] + [self.segments[-1].end])
        _check_gaps(self.segments)
        laws = [segment.timing for segment in self.segments]
        self.start_times, early = start_times(laws, anticipation)
        self.over_flown: npt.NDArray[np.bool_] = np.concatenate([[False], early > 0.0, [False]])
        portions = [segment.portion for segment in self.segments]
        super().__init__(self.key_points[0], laws, self.start_times, portions, as_orientation(orientation))

    @classmethod
    def through(
        cls,
        points: npt.ArrayLike,
        timing: Timing | Sequence[Timing],
        *,
        anticipation: float | npt.ArrayLike = 0.0,
        orientation: OrientationLike = None,
    ) -> Path:
        """Return straight lines from each point to the next.

        Parameters
        ----------
        points : (m + 1, 3) array_like
            [m].
        timing : TimingLaw, float or a sequence of m of them
            A number is the duration of a minimum-jerk law [s].
        anticipation, orientation
            As above.
        """
        p = array(points, (None, 3), "points")
        if len(p) < 2:
            raise ValueError(f"points must be at least two, got {len(p)}")
        laws = as_laws(timing, len(p) - 1)
        lines = [Line(a, b, law) for a, b, law in zip(p[:-1], p[1:], laws, strict=True)]
        return cls(lines, anticipation=anticipation, orientation=orientation)


def _check_gaps(segments: Sequence[Segment]) -> None:
    size = max(float(np.abs(segment.start).max()) + segment.length for segment in segments)
    for k, (one, other) in enumerate(pairwise(segments)):
        gap = float(np.linalg.norm(other.start - one.end))
        if gap > 1e-9 * size:
            raise ValueError(
                f"segment {k + 1} must start where segment {k} ends, at {one.end.tolist()}, got {other.start.tolist()}"
            )
