"""Planned motions: references with the details of their planning."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ... import _core
from ...checks import Array, whole
from ...reference import _JointSource, _TaskSource
from ...table import Tabular
from ..travel import Excess
from .limits import Pace, pace_of
from .model import PlannerModel, Stretch, distance_of, scores_of

if TYPE_CHECKING:
    from matplotlib.animation import FuncAnimation
    from matplotlib.axes import Axes

    from .obstacles import Obstacles, Scene

_NO_POINTS = np.empty((0, 3))
_NO_TIMES = np.empty(0)
for _shared in (_NO_POINTS, _NO_TIMES):
    _shared.setflags(write=False)


class PlanDetails(NamedTuple):
    """Details of a plan besides its path.

    Attributes
    ----------
    stretch : Stretch
        Time of the motion, or of its last segment, in the time of the components.
    condition : float
        Condition number of the linear system.
    fallback : str or None
        ``"hermite"`` if the correction of a motion is a polynomial; ``"plan"`` if a motion was planned anew.
    via_points : (k, 3) array
        Positions of the via points [m].
    via_times : (k,) array
        Times of the via points [s].
    clearance : float or None
        Proved lower bound of the distance to the obstacles [m]; None without obstacles.
    clearance_time : float or None
        Time of the least distance [s].
    candidates : int
        Number of via points evaluated.
    widenings : int
        Number of wider searches that were needed.
    distance : float or None
        Mahalanobis distance of the scores, if known, without `correction`.
    scores : array or None
        Scores of the components, if known, without `correction`.
    segment : tuple of BezierPath and float, or None
        Path and start of its last segment, the states at whose ends give the scores without `correction`.
    correction : array or None
        Scores added by corrections.
    pace : Pace or None
        Pace of the motion as first planned, if this one continues it.
    excess : tuple of Excess
        What of the travel exceeds the limits, or does in the motion that this one continues.
    scene : Scene or None
        Obstacles that the motion avoids.
    """

    stretch: Stretch
    condition: float = float("nan")
    fallback: str | None = None
    via_points: Array = _NO_POINTS
    via_times: Array = _NO_TIMES
    clearance: float | None = None
    clearance_time: float | None = None
    candidates: int = 0
    widenings: int = 0
    distance: float | None = None
    scores: Array | None = None
    segment: tuple[_core.BezierPath, float] | None = None
    correction: Array | None = None
    pace: Pace | None = None
    excess: tuple[Excess, ...] = ()
    scene: Scene | None = None

    @property
    def detour(self) -> bool:
        """True if the scores are those of a segment after a via point."""
        return self.segment is not None and self.segment[1] > self.segment[0].start


def _detail(name: str) -> Any:
    return property(attrgetter(f"_details.{name}"))


class _Plan(Tabular):
    """Common base of plans of poses and of joints.

    Attributes
    ----------
    condition : float
        Condition number of the linear system after equilibration of rows and columns.
    fallback : str or None
        Replacement of a correction of components: None, ``"hermite"``, a polynomial, or ``"plan"``, a new motion.
    via_points : (k, 3) array
        Positions of the via points [m].
    via_times : (k,) array
        Times of the via points [s].
    clearance : float or None
        Proved lower bound of the distance to the obstacles [m], tight to 1e-9 m; None without obstacles.
    clearance_time : float or None
        Time of the least distance [s].
    widenings : int
        Number of wider searches that were needed for a path around obstacles; see `ViaSearch.wider`.
    excess : tuple of Excess
        What of path length, peak speed and peak acceleration exceeds comparable motions, and by how much. The limits
        are `max_travel_ratio` of the planner for a minimum-jerk motion between the same states and among the same
        obstacles, and 10 for the largest values of the training motions. A replanned motion without excess keeps that
        of the plan that it continues.
    """

    path: _core.BezierPath
    _planner: PlannerModel
    _details: PlanDetails

    @property
    def dofs(self) -> tuple[str, ...]:
        """Names of the coordinates."""
        return self._planner.dofs

    @property
    def start_time(self) -> float:
        """Start of the motion [s]."""
        return float(self.path.start)

    @property
    def end_time(self) -> float:
        """End of the motion [s]."""
        return float(self.path.end)

    @property
    def duration(self) -> float:
        """Duration of the motion [s]."""
        return float(self.path.end - self.path.start)

    condition: float = _detail("condition")
    fallback: str | None = _detail("fallback")
    via_points: Array = _detail("via_points")
    via_times: Array = _detail("via_times")
    clearance: float | None = _detail("clearance")
    clearance_time: float | None = _detail("clearance_time")
    widenings: int = _detail("widenings")
    excess: tuple[Excess, ...] = _detail("excess")

    def __repr__(self) -> str:
        speeds = self.peak_speed
        sizes = [f"{size:.3g} {unit}, up to {speeds[unit]:.3g} {unit}/s" for unit, size in self.path_length.items()]
        others = [f"{len(self.via_points)} via points"] if len(self.via_points) else []
        others += [f"fallback={self.fallback!r}"] if self.fallback else []
        others += [f"exceeds: {excess}" for excess in self.excess]
        span = f"{self.start_time:g} to {self.end_time:g} s"
        return f"{type(self).__name__}({', '.join(self.dofs)}; {'; '.join([span, *sizes, *others])})"

    def to_columns(self) -> dict[str, Any]:
        """Return ``t``, the coordinates and their velocities, such as ``dx``, at 101 times from start to end.

        Examples
        --------
        >>> from thunder_py.motion import FPCA, HumanLikePlanner
        >>> from thunder_py.recordings.synthetic import minimum_jerk_reaches
        >>> planner = HumanLikePlanner(FPCA(shrinkage=0.1).fit(minimum_jerk_reaches(20, seed=1)))
        >>> list(planner.plan([0.1, 0.2, 0.3], [0.4, 0.2, 0.1], duration=1.0).to_columns())
        ['t', 'x', 'y', 'z', 'dx', 'dy', 'dz']
        """
        t = np.linspace(self.start_time, self.end_time, 101)
        x, v = self.position(t), self.position(t, 1)
        rates = [f"d{name}" for name in self.dofs]
        return {"t": t, **dict(zip(self.dofs, x.T, strict=True)), **dict(zip(rates, v.T, strict=True))}

    def position(self, t: npt.ArrayLike, derivative: int = 0) -> Array:
        """Return the coordinates or one of their derivatives with respect to time.

        Parameters
        ----------
        t : array_like, shape (...)
            Time [s], on the clock of `start_time`. Before start and after end, the motion rests at the start and goal.
        derivative : int
            0 for coordinates, 1 for velocities, 2 for accelerations, 3 for jerks, ... Derivatives of rotation vectors
            differ from angular velocities, which ``plan(t)`` returns.

        Returns
        -------
        (..., d) array
            [m or rad, per s^derivative].
        """
        return np.asarray(self.path.sample(t, whole(derivative, "derivative", 0)))

    @property
    def path_length(self) -> dict[str, float]:
        """Length of the path by unit: of translation [m], and of rotation vectors or joints [rad]."""
        return {unit: float(size[0]) for unit, size in self._travel.items()}

    @property
    def peak_speed(self) -> dict[str, float]:
        """Largest norm of the velocities by unit, as `path_length` [1/s]."""
        return {unit: float(size[1]) for unit, size in self._travel.items()}

    @cached_property
    def _travel(self) -> dict[str, Array]:
        return dict(zip(self._planner._training.units, self._planner._core.travel(self.path).T, strict=True))

    def mean_jerk(self, samples: int = 1000) -> float:
        """Return the mean over time of the norm of the jerk of the position, or of all joints [m/s^3 or rad/s^3].

        It scales with T^-3, T the duration: 23.09 D / T^3 for a minimum-jerk reach over a distance D.

        Parameters
        ----------
        samples : int
            Number of equal parts of the duration, each sampled at its middle.
        """
        n = whole(samples, "samples", 1)
        t = self.start_time + self.duration * (np.arange(n) + 0.5) / n
        jerk = self.position(t, 3)
        part = jerk if isinstance(self, HumanLikeJointPlan) else jerk[:, :3]
        return float(np.linalg.norm(part, axis=1).mean())

    @cached_property
    def _pace(self) -> Pace:
        return self._details.pace or pace_of(self._planner, self.path)

    @cached_property
    def scores(self) -> Array | None:
        """Scores alpha of the last segment, (n, d), joint (n,); None for polynomials and mixtures of planners."""
        details = self._details
        scores = details.scores
        if scores is None and details.segment is not None:
            scores = scores_of(self._planner, *details.segment)
        if scores is None or details.correction is None:
            return scores
        corrected = scores + details.correction
        corrected.setflags(write=False)
        return corrected

    @cached_property
    def mahalanobis_distance(self) -> float | None:
        """Mahalanobis distance of the scores from their mean, the largest one of all segments.

        The root of the sum of squared scores over their variances; None where `scores` are. Compare it with
        `HumanLikePlanner.training_span`.
        """
        if self._details.distance is not None and self._details.correction is None:
            return self._details.distance
        return None if self.scores is None else distance_of(self._planner, self.scores)


class HumanLikePlan(_Plan, _TaskSource, _core.RotationVectorPath):
    """Planned motion in task space, a reference of controllers and `simulate`.

    `HumanLikePlanner.plan` returns it. ``plan(t)`` is the `TaskReference` at one time or several times [s].

    Examples
    --------
    >>> from thunder_py.motion import FPCA, HumanLikePlanner
    >>> from thunder_py.recordings.synthetic import minimum_jerk_reaches
    >>> planner = HumanLikePlanner(FPCA(shrinkage=0.1).fit(minimum_jerk_reaches(20, seed=1)))
    >>> plan = planner.plan([0.1, 0.2, 0.3], [0.4, 0.2, 0.1], duration=1.0)
    >>> plan.position([0.0, 1.0]).round(3).tolist()
    [[0.1, 0.2, 0.3], [0.4, 0.2, 0.1]]
    >>> plan(0.5).xi.shape  # twist of the TaskReference
    (6,)
    """

    def __init__(self, path: _core.BezierPath, R: npt.ArrayLike, planner: PlannerModel, details: PlanDetails) -> None:
        super().__init__(path, R)
        self._planner, self._details = planner, details

    def plot(self, duration: float | None = None, *, axes: Mapping[str, Axes] | None = None) -> dict[str, Axes]:
        """Draw the path in space, coordinates and speed over time; start blue, goal red, via points black.

        Parameters
        ----------
        duration : float, optional
            Time drawn from the start on [s]; by default the duration of the plan.
        axes : mapping of str to Axes, optional
            Panels to draw, of ``"path"`` (three-dimensional), ``"position"``, ``"speed"`` and, for poses,
            ``"rotation"``; default all, in a new figure.

        Returns
        -------
        dict of str to Axes
            The panels drawn.
        """
        from .plot import plot_human_like_plan

        return plot_human_like_plan(self, duration, axes=axes)

    def animate(
        self,
        path: str | Path | None = None,
        *,
        obstacles: Obstacles = (),
        playback_speed: float = 1.0,
        fps: float = 20.0,
        dpi: float = 72,
    ) -> FuncAnimation:
        """Animate the position along the path, with obstacles, which may move.

        Parameters
        ----------
        path : path-like, optional
            File to write: ``.gif``, ``.mp4``, which needs the program ffmpeg, or ``.html``, a page with controls.
        obstacles : sequence of Obstacle or MovingObstacle
            Obstacles to draw, such as those of the plan.
        playback_speed : float
            Seconds of the motion in each second of the film.
        fps : float
            Frames per second of the film.
        dpi : float
            Dots per inch in the file.

        Returns
        -------
        matplotlib.animation.FuncAnimation
            Animation on a new figure of pyplot, which is closed if `path` is given.

        Raises
        ------
        ThunderError
            If a number is not positive, or the file cannot be written.
        """
        from .plot import animate_human_like_plan

        options = {"playback_speed": playback_speed, "fps": fps, "dpi": dpi}
        return animate_human_like_plan(self, path, obstacles, **options)


class HumanLikeJointPlan(_Plan, _JointSource, _core.JointBezierPath):
    """Planned motion of joints, a reference of controllers and `simulate`.

    `HumanLikePlanner.plan` returns it for components of joints. ``plan(t)`` is the `JointReference` at one time or
    several times [s].

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.motion import FPCA, HumanLikePlanner
    >>> tau = np.linspace(0.0, 1.0, 50)[:, None]
    >>> reach = 10.0 * tau**3 - 15.0 * tau**4 + 6.0 * tau**5
    >>> q = np.random.default_rng(1).normal(size=(10, 1, 2)) * reach  # 10 motions of 2 joints
    >>> planner = HumanLikePlanner(FPCA(shrinkage=0.2).fit(q, dofs=("q1", "q2")))
    >>> plan = planner.plan([0.0, 0.0], [0.5, -0.2], duration=1.0)
    >>> plan(1.0).q.round(3).tolist()
    [0.5, -0.2]
    """

    def __init__(self, path: _core.BezierPath, planner: PlannerModel, details: PlanDetails) -> None:
        super().__init__(path)
        self._planner, self._details = planner, details


def make_plan(
    path: _core.BezierPath, R: Array | None, planner: PlannerModel, details: PlanDetails
) -> HumanLikePlan | HumanLikeJointPlan:
    """Return a path as a plan: of joints if `R` is None, else in task space."""
    if R is None:
        return HumanLikeJointPlan(path, planner, details)
    return HumanLikePlan(path, R, planner, details)
