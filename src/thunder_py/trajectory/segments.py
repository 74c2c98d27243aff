"""Straight lines, arcs of circles and turns on the spot in task space, each moved along by a timing law."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .. import _core
from ..checks import Array, array
from ..reference import _TaskSource
from .orientation import Orientation, OrientationLike, as_orientation
from .timing import Timing, TimingLaw, as_law, placed

__all__ = ["Arc", "Circle", "Line", "Segment", "TaskTrajectory", "Turn"]


class Portion(NamedTuple):
    """Displacement ``s chord + (cos(s angle) - 1) u + sin(s angle) w`` for s from 0 to 1."""

    chord: Array
    u: Array
    w: Array
    angle: float

    @property
    def row(self) -> Array:
        """As the core takes it, (10,)."""
        return np.concatenate([self.chord, self.u, self.w, [self.angle]])

    @property
    def displacement(self) -> Array:
        """From start to end, (3,) [m]."""
        return self.chord + (math.cos(self.angle) - 1.0) * self.u + math.sin(self.angle) * self.w

    @property
    def length(self) -> float:
        """Of the way [m]; an arc with a chord is a helix."""
        return math.hypot(float(np.linalg.norm(self.chord)), self.angle * float(np.linalg.norm(self.u)))


class TaskTrajectory(_TaskSource, _core.TaskPath):
    """Position along portions of path, orientation along turns; the base of all of them.

    Attributes
    ----------
    start, end : (3,) array
        First and last position [m].
    duration : float
        Until both position and orientation rest [s].
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
    """One portion with its timing law: a trajectory by itself, or a part of a `Path`.

    Attributes
    ----------
    timing : TimingLaw
        From 0 to 1.
    length : float
        Of the way [m].
    """

    def __init__(self, start: Array, portion: Portion, timing: Timing, orientation: OrientationLike) -> None:
        self.portion, self.timing = portion, as_law(timing)
        self.length = portion.length
        super().__init__(start, [self.timing], [0.0], [portion], as_orientation(orientation))


class Line(Segment):
    """A straight line.

    Parameters
    ----------
    start, end : (3,) array_like
        Positions [m].
    timing : TimingLaw or float
        Its range is scaled to the whole way, so it may count metres or go from 0 to 1; a number is the duration of a
        minimum-jerk law [s].
    orientation : Orientation or (3, 3) array_like, optional
        Over time, or constant; default the identity. In a `Path` the path's is followed instead.
    """

    def __init__(
        self, start: npt.ArrayLike, end: npt.ArrayLike, timing: Timing, *, orientation: OrientationLike = None
    ) -> None:
        a = array(start, (3,), "start")
        zero = np.zeros(3)
        super().__init__(a, Portion(array(end, (3,), "end") - a, zero, zero, 0.0), timing, orientation)


class Circle(Segment):
    """An arc of a circle about an axis, of any angle; a whole turn by default. With a rise it is a helix.

    Parameters
    ----------
    start : (3,) array_like
        Where it begins [m]; its distance from the axis is the radius.
    centre : (3,) array_like
        A point on the axis [m].
    axis : (3,) array_like
        Direction of the axis, of any length but zero; the right-hand rule says which way a positive angle goes.
    timing : TimingLaw or float
        As for `Line`.
    angle : float
        [rad].
    rise : float
        Way along the axis [m].
    orientation : Orientation or (3, 3) array_like, optional
        As for `Line`.

    Attributes
    ----------
    centre : (3,) array
        On the axis, beside the start [m].
    axis : (3,) array
        Of unit length.
    radius : float
        [m].

    Raises
    ------
    ValueError
        If the axis is zero, or the start lies on it.
    """

    def __init__(
        self,
        start: npt.ArrayLike,
        centre: npt.ArrayLike,
        axis: npt.ArrayLike,
        timing: Timing,
        *,
        angle: float = 2.0 * math.pi,
        rise: float = 0.0,
        orientation: OrientationLike = None,
    ) -> None:
        a, c = array(start, (3,), "start"), array(centre, (3,), "centre")
        direction = array(axis, (3,), "axis")
        size = float(np.linalg.norm(direction))
        if size == 0.0:
            raise ValueError("axis must not be zero")
        self.axis: Array = direction / size
        u = a - c
        u = u - (u @ self.axis) * self.axis
        self.centre: Array = a - u
        self.radius = float(np.linalg.norm(u))
        if self.radius <= 1e-12 * max(1.0, float(np.abs(a).max())):
            raise ValueError(f"start must not lie on the axis, got {a.tolist()}")
        chord = float(array(rise, (), "rise")) * self.axis
        turn = float(array(angle, (), "angle"))
        super().__init__(a, Portion(chord, u, np.cross(self.axis, u), turn), timing, orientation)


class Arc(Circle):
    """The arc of a circle from a point through another to a third.

    Parameters
    ----------
    start, via, end : (3,) array_like
        Three points that are not on one line [m].
    timing : TimingLaw or float
        As for `Line`.
    orientation : Orientation or (3, 3) array_like, optional
        As for `Line`.

    Raises
    ------
    ValueError
        If the points lie on one line, or two of them are the same.
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
            raise ValueError(f"start, via and end must not lie on one line, got {points}")
        centre = (c @ c * np.cross(normal, b) + b @ b * np.cross(c, normal)) / (2.0 * area)
        # counter-clockwise about the normal one meets start, via and end in this order
        sine = float(np.cross(-centre, c - centre) @ normal) / math.sqrt(area)
        angle = math.atan2(sine, float(-centre @ (c - centre)))
        super().__init__(a, centre + a, normal, timing, angle=angle % (2.0 * math.pi), orientation=orientation)


class Turn(TaskTrajectory):
    """A change of orientation at one place.

    Parameters
    ----------
    p : (3,) array_like
        Position [m].
    orientation : Orientation
        Over time.
    """

    def __init__(self, p: npt.ArrayLike, orientation: Orientation) -> None:
        if not isinstance(orientation, Orientation) or not orientation.turns:
            raise ValueError("Turn needs an Orientation that changes, such as Orientation.through(...)")
        super().__init__(array(p, (3,), "p"), [], [], [], orientation)
