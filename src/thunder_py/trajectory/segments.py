"""Task-space segments with timing laws: straight lines, circular arcs, pure rotations."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .. import _core
from ..checks import Array, array
from ..errors import ThunderError
from ..reference import _TaskSource
from .orientation import Orientation, OrientationLike, as_orientation
from .timing import Timing, TimingLaw, as_law, placed


class Portion(NamedTuple):
    """Displacement ``s chord + (cos(s angle) - 1) u + sin(s angle) w`` for s from 0 to 1."""

    chord: Array
    u: Array
    w: Array
    angle: float

    @property
    def row(self) -> Array:
        """All entries in the core's order, (10,)."""
        return np.concatenate([self.chord, self.u, self.w, [self.angle]])

    @property
    def displacement(self) -> Array:
        """Displacement from start to end, (3,) [m]."""
        return self.chord + (math.cos(self.angle) - 1.0) * self.u + math.sin(self.angle) * self.w

    @property
    def length(self) -> float:
        """Arc length [m]; an arc with a chord is a helix."""
        return math.hypot(float(np.linalg.norm(self.chord)), self.angle * float(np.linalg.norm(self.u)))


class TaskTrajectory(_TaskSource, _core.TaskPath):
    """Base class of task-space trajectories: position along portions of path, orientation along turns.

    Attributes
    ----------
    start, end : (3,) array
        First and last position [m].
    duration : float
        Time until both position and orientation are at rest [s].
    orientation : Orientation
        Over time.
    """

    def __init__(
        self,
        start: Array,
        laws: list[TimingLaw],
        starts: npt.ArrayLike,
        portions: list[Portion],
        orientation: Orientation,
    ) -> None:
        begins = np.asarray(starts, dtype=np.float64)
        turns = orientation.turns
        self.start, self.orientation = start, orientation
        self.end: Array = start + sum((portion.displacement for portion in portions), np.zeros(3))
        ends = [float(t) + law.duration for t, law in zip(begins, laws, strict=True)]
        self.duration = max([orientation.duration, *ends])
        super().__init__(
            start,
            orientation.start,
            [placed(law, float(t)) for law, t in zip(laws, begins, strict=True)],
            np.array([portion.row for portion in portions]).reshape(-1, 10),
            [turn.law for turn in turns],
            np.array([[*turn.axis, turn.angle] for turn in turns]).reshape(-1, 4),
        )


class Segment(TaskTrajectory):
    """One portion with its timing law, used alone or in a `Path`.

    Attributes
    ----------
    timing : TimingLaw
        From 0 to 1.
    length : float
        Arc length [m].
    """

    def __init__(self, start: Array, portion: Portion, timing: Timing, orientation: OrientationLike) -> None:
        self.portion, self.timing = portion, as_law(timing)
        self.length = portion.length
        super().__init__(start, [self.timing], [0.0], [portion], as_orientation(orientation))


class Line(Segment):
    """Straight line.

    Parameters
    ----------
    start, end : (3,) array_like
        Positions [m].
    timing : TimingLaw or float
        Timing law, with its range scaled to the whole line; a number is the duration of a minimum-jerk law [s].
    orientation : Orientation or (3, 3) array_like, optional
        Over time, or constant; default the identity. Ignored in a `Path`, which has its own.

    Raises
    ------
    ValueError
        If shapes do not fit, or a value is not finite.

    Examples
    --------
    >>> from thunder_py.trajectory import Line, trapezoidal
    >>> line = Line([0.4, -0.2, 0.3], [0.4, 0.2, 0.3], trapezoidal(duration=2.0, blend=0.25))
    >>> line(1.0).p.round(3).tolist(), line(1.0).xi.round(3).tolist(), round(line.length, 3)
    ([0.4, 0.0, 0.3], [0.0, 0.267, 0.0, 0.0, 0.0, 0.0], 0.4)
    """

    def __init__(
        self, start: npt.ArrayLike, end: npt.ArrayLike, timing: Timing, *, orientation: OrientationLike = None
    ) -> None:
        a = array(start, (3,), "start")
        zero = np.zeros(3)
        super().__init__(a, Portion(array(end, (3,), "end") - a, zero, zero, 0.0), timing, orientation)


class Circle(Segment):
    """Circular arc about an axis, by default a whole turn; with a rise, a helix.

    Parameters
    ----------
    start : (3,) array_like
        Start point [m]; its distance from the axis is the radius.
    center : (3,) array_like
        A point on the axis [m].
    axis : (3,) array_like
        Direction of the axis, of any nonzero length; positive angles follow the right-hand rule.
    timing : TimingLaw or float
        As for `Line`.
    angle : float
        Angle of the arc, of any size and sign [rad].
    rise : float
        Displacement along the axis [m].
    orientation : Orientation or (3, 3) array_like, optional
        As for `Line`.

    Attributes
    ----------
    center : (3,) array
        Projection of the start on the axis [m].
    axis : (3,) array
        Unit vector.
    radius : float
        [m].

    Raises
    ------
    ValueError
        If the axis is zero, or the start lies on it.

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.trajectory import Circle
    >>> quarter = Circle([0.5, 0.0, 0.3], [0.4, 0.0, 0.3], [0, 0, 1], 4.0, angle=0.5 * np.pi)
    >>> round(quarter.radius, 3), quarter(2.0).p.round(3).tolist(), quarter(4.0).p.round(3).tolist()
    (0.1, [0.471, 0.071, 0.3], [0.4, 0.1, 0.3])
    """

    def __init__(
        self,
        start: npt.ArrayLike,
        center: npt.ArrayLike,
        axis: npt.ArrayLike,
        timing: Timing,
        *,
        angle: float = 2.0 * math.pi,
        rise: float = 0.0,
        orientation: OrientationLike = None,
    ) -> None:
        a, c = array(start, (3,), "start"), array(center, (3,), "center")
        direction = array(axis, (3,), "axis")
        size = float(np.linalg.norm(direction))
        if size == 0.0:
            raise ThunderError("axis must not be zero")
        self.axis: Array = direction / size
        u = a - c
        u = u - (u @ self.axis) * self.axis
        self.center: Array = a - u
        self.radius = float(np.linalg.norm(u))
        if self.radius <= 1e-12 * max(1.0, float(np.abs(a).max())):
            raise ThunderError(f"start must not lie on the axis, got {a.tolist()}")
        chord = float(array(rise, (), "rise")) * self.axis
        turn = float(array(angle, (), "angle"))
        super().__init__(a, Portion(chord, u, np.cross(self.axis, u), turn), timing, orientation)


class Arc(Circle):
    """Circular arc through three points.

    Parameters
    ----------
    start, via, end : (3,) array_like
        Three points, not on one line [m].
    timing : TimingLaw or float
        As for `Line`.
    orientation : Orientation or (3, 3) array_like, optional
        As for `Line`.

    Raises
    ------
    ValueError
        If the points lie on one line, or two of them are equal.

    Examples
    --------
    >>> from thunder_py.trajectory import Arc
    >>> arc = Arc([0.4, 0.2, 0.3], [0.5, 0.3, 0.3], [0.6, 0.2, 0.3], 1.5)
    >>> round(arc.radius, 3), arc(0.75).p.round(3).tolist()
    (0.1, [0.5, 0.3, 0.3])
    """

    def __init__(
        self,
        start: npt.ArrayLike,
        via: npt.ArrayLike,
        end: npt.ArrayLike,
        timing: Timing,
        *,
        orientation: OrientationLike = None,
    ) -> None:
        a = array(start, (3,), "start")
        b, c = array(via, (3,), "via") - a, array(end, (3,), "end") - a
        normal = np.cross(b, c)
        area, longest = float(normal @ normal), max(float(b @ b), float(c @ c), float((c - b) @ (c - b)))
        if area <= (1e-9 * longest) ** 2:
            points = ", ".join(str((point + a).tolist()) for point in (np.zeros(3), b, c))
            raise ThunderError(f"start, via and end must not lie on one line, got {points}")
        center = (c @ c * np.cross(normal, b) + b @ b * np.cross(c, normal)) / (2.0 * area)
        # the order counter-clockwise about the normal is start, via, end
        sine = float(np.cross(-center, c - center) @ normal) / math.sqrt(area)
        angle = math.atan2(sine, float(-center @ (c - center)))
        super().__init__(a, center + a, normal, timing, angle=angle % (2.0 * math.pi), orientation=orientation)


class RotationSegment(TaskTrajectory):
    """Change of orientation at a constant position.

    Parameters
    ----------
    p : (3,) array_like
        Position [m].
    orientation : Orientation
        Over time.

    Raises
    ------
    ValueError
        If `orientation` is constant.

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.trajectory import Orientation, RotationSegment
    >>> turn = RotationSegment([0.4, 0.0, 0.3], Orientation.about(np.eye(3), [0, 0, 1], [0.0, np.pi / 2], 2.0))
    >>> turn(1.0).p.tolist(), turn(1.0).xi.round(3).tolist()
    ([0.4, 0.0, 0.3], [0.0, 0.0, 0.0, 0.0, 0.0, 1.473])
    """

    def __init__(self, p: npt.ArrayLike, orientation: Orientation) -> None:
        if not isinstance(orientation, Orientation) or not orientation.turns:
            raise ThunderError(
                "orientation must change over time in a RotationSegment, such as Orientation.through(...)"
            )
        super().__init__(array(p, (3,), "p"), [], [], [], orientation)
