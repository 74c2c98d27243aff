"""Task-space paths of several segments, with via points passed without stopping."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from ..checks import Array, array
from ..errors import ThunderError
from .orientation import OrientationLike, as_orientation
from .segments import Line, Segment, TaskTrajectory
from .timing import Timing, as_laws, start_times


class Path(TaskTrajectory):
    """Sequence of task-space segments, each with its own timing law.

    With an anticipation a segment starts before the previous one has ended, and the displacements add up: the via point
    between them is passed near, without a stop. Position and velocity are continuous if the laws start and end at rest.
    Acceleration is continuous if the laws start and end with zero acceleration, as `quintic` does and `trapezoidal`
    does not.

    Parameters
    ----------
    segments : sequence of Line, Arc or Circle
        Each starts at the end of the previous one. Their own orientations are ignored.
    anticipation : float or (m - 1,) array_like
        Overlap of each segment with the previous one [s].
    orientation : Orientation or (3, 3) array_like, optional
        Over time, from the start of the path, or constant; default the identity.

    Attributes
    ----------
    segments : tuple of Segment
        The segments.
    key_points : (m + 1, 3) array
        Ends of the segments [m].
    start_times : (m,) array
        Start times of the segments [s].
    over_flown : (m + 1,) array of bool
        True for via points that are passed near instead of reached.

    Raises
    ------
    ValueError
        If there is a gap between segments, or an anticipation is negative or longer than one of its two segments.

    Notes
    -----
    Siciliano et al. (2009), section 4.3.3.

    Examples
    --------
    >>> from thunder_py.trajectory import Arc, Line, Path
    >>> line = Line([0.4, -0.2, 0.3], [0.4, 0.2, 0.3], 2.0)
    >>> arc = Arc([0.4, 0.2, 0.3], [0.5, 0.3, 0.3], [0.6, 0.2, 0.3], 1.5)
    >>> path = Path([line, arc], anticipation=0.4)
    >>> path.over_flown.tolist(), round(path.duration, 3), path(path.duration).p.round(3).tolist()
    ([False, True, False], 3.1, [0.6, 0.2, 0.3])
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
            raise ThunderError("segments must not be empty")
        for segment in self.segments:
            if not isinstance(segment, Segment):
                raise ThunderError(f"segments must be Line, Arc or Circle, got {type(segment).__name__}")
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
        """Return a path of straight lines from each point to the next.

        Parameters
        ----------
        points : (m + 1, 3) array_like
            [m].
        timing : TimingLaw, float or a sequence of m of them
            A number is the duration of a minimum-jerk law [s].
        anticipation, orientation
            As for the class.

        Examples
        --------
        >>> from thunder_py.trajectory import Path
        >>> path = Path.through([[0, 0, 0], [1, 0, 0], [1, 1, 0]], 2.0)
        >>> path(2.0).p.round(3).tolist(), path.duration
        ([1.0, 0.0, 0.0], 4.0)
        """
        p = array(points, (None, 3), "points")
        if len(p) < 2:
            raise ThunderError(f"points must be at least two, got {len(p)}")
        laws = as_laws(timing, len(p) - 1)
        lines = [Line(a, b, law) for a, b, law in zip(p[:-1], p[1:], laws, strict=True)]
        return cls(lines, anticipation=anticipation, orientation=orientation)


def _check_gaps(segments: Sequence[Segment]) -> None:
    size = max(float(np.abs(segment.start).max()) + segment.length for segment in segments)
    for k, (one, other) in enumerate(pairwise(segments)):
        gap = float(np.linalg.norm(other.start - one.end))
        if gap > 1e-9 * size:
            raise ThunderError(
                f"segment {k + 1} must start where segment {k} ends, at {one.end.tolist()}, got {other.start.tolist()}"
            )
