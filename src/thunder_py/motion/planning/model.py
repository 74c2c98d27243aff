"""Coordinates and polynomials of functional principal components for the planner's core."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import cached_property
from math import inf, isfinite, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.stats import chi2

from ... import _core
from ...checks import Array, array, is_number, nonnegative, pose
from ...errors import ThunderError, ThunderWarning, outer_level
from ...recordings.trial import POSITION, ROTATION
from ..fpca.splines import bernstein_points
from .obstacles import Searches, ViaSearch
from .travel import TRAINING_SHARE, limit_travel, training_motions

if TYPE_CHECKING:
    from ..fpca.fpca import FPCA

#: largest numbers of degrees of freedom and degree of polynomials in the core
_MOST_DOFS, _MOST_DEGREE = 8, 9
#: part of the largest variance below which components are rounding errors. Variances of minimum jerk go down to 1e-15
#: relative to its unlimited quadratics, and without the smallest ones a jerk at the ends costs too much.
_NOISE = 1e-20


def kind_of(dofs: Sequence[str]) -> str:
    """Return the kind of motion by the names of its coordinates: ``"position"``, ``"pose"`` or ``"joints"``.

    Raises
    ------
    ThunderError
        For an incomplete position or orientation, and for another order of coordinates.
    """
    names = tuple(dofs)
    if names == POSITION:
        return "position"
    if names == POSITION + ROTATION:
        return "pose"
    if not names or len(names) > _MOST_DOFS or set(names) & {*POSITION, *ROTATION}:
        raise ThunderError(
            f"dofs must be {', '.join(POSITION)}, these and {', '.join(ROTATION)}, or names of one to {_MOST_DOFS} "
            f"joints, got {', '.join(names) or 'none'}"
        )
    return "joints"


def core_planner(fpca: FPCA, *, exact: bool, order: int) -> _core.FunctionalPlanner:
    """Return the core's planner of fitted components.

    Raises
    ------
    ThunderError
        For components that are too few for the constraints, cannot meet them, are not fitted or of too high a degree.
    """
    mean, components = fpca.mean_coefficients_, fpca.component_coefficients_
    if fpca.basis_.degree > _MOST_DEGREE:
        raise ThunderError(f"degree of the components must be at most {_MOST_DEGREE}, got {fpca.basis_.degree}")
    breaks = fpca.basis_.breaks
    together = np.moveaxis(np.concatenate([mean[None], components]), 0, -1)  # (K, d, 1 + n)
    points = np.moveaxis(bernstein_points(np.asarray(fpca.basis_.to_ppoly(together).c), breaks), -1, 0)
    variances = fpca.variances_.ravel()
    variances = np.where(variances > _NOISE * variances.max(initial=0.0), variances, 0.0)
    try:
        return _core.FunctionalPlanner(
            breaks,
            np.ascontiguousarray(points[0]),
            np.ascontiguousarray(points[1:]),
            variances,
            fpca.joint,
            fpca.alignment_ == "path",
            exact,
            order,
        )
    except ValueError as error:
        raise ThunderError(str(error)) from None


Rates: TypeAlias = "tuple[npt.ArrayLike | None, npt.ArrayLike | None, npt.ArrayLike | None, npt.ArrayLike | None]"

_UPRIGHT = np.eye(3)
_UPRIGHT.setflags(write=False)
_RATES = ("start_velocity", "goal_velocity", "start_acceleration", "goal_acceleration")


class Ends(NamedTuple):
    """Unchecked coordinates and `rates` at both ends, velocities, then accelerations; None is zero.

    `R` is the reference of orientations, for positions the constant orientation, and None for joints.
    """

    start: npt.ArrayLike
    goal: npt.ArrayLike
    rates: Rates
    R: Array | None


def number(value: Any, what: str) -> float:
    """Return a finite number, also from a zero-dimensional array, or raise `ThunderError`."""
    if type(value) is float and isfinite(value):  # fast path
        return value
    scalar = value.item() if isinstance(value, np.ndarray) and value.ndim == 0 else value
    if not is_number(scalar):
        raise ThunderError(f"{what} must be a number, got {value!r}")
    if not abs(scalar) < inf:
        raise ThunderError(f"{what} must be finite, got {value!r}")
    return float(scalar)


def is_pose(value: Any) -> bool:
    """Return True for a matrix (4, 4) or a pair (p, R), False for a vector."""
    if isinstance(value, np.ndarray):
        return value.ndim == 2
    return isinstance(value, (tuple, list)) and len(value) in (2, 4) and np.ndim(value[0]) > 0


def as_pose(value: Any, what: str) -> Array:
    """Return a pose (4, 4), also from a pair (p, R), or raise `ThunderError`."""
    if isinstance(value, (tuple, list)) and len(value) == 2:
        T = np.eye(4)
        T[:3, 3], T[:3, :3] = array(value[0], (3,), f"{what} position"), array(value[1], (3, 3), f"{what} rotation")
        return pose(T, what)
    return pose(value, what)


def refuse_rates(planner: PlannerModel, *rates: npt.ArrayLike | None, names: Sequence[str] = _RATES) -> None:
    """Raise `ThunderError` for velocities and accelerations that the planner's constraints leave open."""
    order = len(planner.constraints)
    for name, value, needed in zip(names, rates, (2, 2, 3, 3), strict=True):
        if value is not None and order < needed:
            raise ThunderError(
                f"{name} must be None for a planner with constraints on {', '.join(planner.constraints)} only: pass "
                "more constraints to the planner"
            )


def read_ends(
    planner: PlannerModel,
    start: npt.ArrayLike,
    goal: npt.ArrayLike,
    rates: Rates,
) -> Ends:
    """Return the coordinates of both ends; the core checks vectors."""
    if len(planner.constraints) < 3:
        refuse_rates(planner, *rates)
    if planner.kind == "pose":
        R = as_pose(start, "start")[:3, :3]
        a = _core._pose_state(as_pose(start, "start"), rates[0], rates[2], R, "start")
        b = _core._pose_state(as_pose(goal, "goal"), rates[1], rates[3], R, "goal")
        return Ends(a[0], b[0], (a[1], b[1], a[2], b[2]), R)
    if planner.kind == "joints":
        return Ends(start, goal, rates, None)
    if not (is_pose(start) or is_pose(goal)):
        return Ends(start, goal, rates, _UPRIGHT)
    return _kept_orientation(start, goal, rates)


def _kept_orientation(start: Any, goal: Any, rates: Rates) -> Ends:
    """Return the ends of a model of positions from two poses of one orientation, or a pose and a position."""
    poses = [as_pose(value, what) for value, what in ((start, "start"), (goal, "goal")) if is_pose(value)]
    R = poses[0][:3, :3]
    if np.abs(poses[-1][:3, :3] - R).max() > 1e-6:
        raise ThunderError(
            "start and goal must have the same orientation for components of positions; fit x, y, z, rx, ry, rz to "
            "plan rotations"
        )
    a, b = (as_pose(value, "")[:3, 3] if is_pose(value) else value for value in (start, goal))
    return Ends(a, b, rates, R)


def goal_state(
    planner: PlannerModel,
    goal: npt.ArrayLike,
    velocity: npt.ArrayLike | None,
    acceleration: npt.ArrayLike | None,
    R: Array | None,
) -> tuple[npt.ArrayLike, npt.ArrayLike | None, npt.ArrayLike | None]:
    """Return the coordinates of a goal and their derivatives, rotation vectors about R."""
    if len(planner.constraints) < 3:
        refuse_rates(planner, None, velocity, None, acceleration)
    if planner.kind == "pose" and R is not None:
        state = _core._pose_state(as_pose(goal, "goal"), velocity, acceleration, R, "goal")
        return state[0], state[1], state[2]
    if planner.kind == "position" and is_pose(goal):
        T = as_pose(goal, "goal")
        if R is not None and np.abs(T[:3, :3] - R).max() > 1e-6:
            raise ThunderError("goal must have the orientation of the plan for components of positions")
        return T[:3, 3], velocity, acceleration
    return goal, velocity, acceleration


class Stretch(NamedTuple):
    """Time of a motion in the normalized time of the components.

    Attributes
    ----------
    start : float
        Start of the motion, or of its last segment [s].
    tau : float
        Normalized time of the start; 0 unless it continues a motion.
    duration : float
        Seconds per unit of normalized time.
    frame : (2, d) array or None
        Start and goal that define the frame of an aligned model, if different from those of the motion.
    """

    start: float
    tau: float
    duration: float
    frame: Array | None = None


_CONSTRAINTS = ("position", "velocity", "acceleration")


class PlannerModel:
    """Components, constraints and settings of a planner in the form of the core; see `HumanLikePlanner`."""

    def __init__(
        self,
        fpca: FPCA,
        mode: str = "map",
        constraints: Sequence[str] = _CONSTRAINTS,
        *,
        max_condition_number: float = 1e4,
        max_deviation_ratio: float = 2.0,
        max_distance_ratio: float = 2.0,
        max_acceleration_ratio: float = 10.0,
        max_travel_ratio: float = 4.0,
        freeze_time: float = 0.05,
    ) -> None:
        if mode not in ("map", "paper", "exact"):
            raise ThunderError(f'mode must be "map", "paper" or "exact", got {mode!r}')
        if not hasattr(fpca, "alignment"):
            raise ThunderError(f"fpca must be a fitted FPCA, got {type(fpca).__name__}")
        names = tuple(constraints)
        if not names or names != _CONSTRAINTS[: len(names)]:
            raise ThunderError(
                f"constraints must be 'position', then 'velocity', then 'acceleration', one to three, got {names}"
            )
        self.fpca, self.mode, self.constraints = fpca, mode, names
        self.max_condition_number = _ratio(max_condition_number, "max_condition_number")
        self.max_deviation_ratio = _ratio(max_deviation_ratio, "max_deviation_ratio")
        self.max_acceleration_ratio = _ratio(max_acceleration_ratio, "max_acceleration_ratio")
        self.max_travel_ratio = _ratio(max_travel_ratio, "max_travel_ratio")
        self.max_distance_ratio = float(array(max_distance_ratio, (), "max_distance_ratio", finite=False))
        self.freeze_time = nonnegative(freeze_time, "freeze_time", "s")
        self.dofs = tuple(fpca.dofs)
        self.kind = kind_of(self.dofs)
        self._core = core_planner(fpca, exact=mode != "map", order=len(names))
        self._returning = limit_travel(self._core, fpca, self.max_travel_ratio)
        self._condition = float(self._core.condition)
        self._span = training_span(fpca, mode != "map", len(names))
        used = fpca.variances_ > 0.0
        self._inverse_deviations: Array = np.where(used, 1.0, 0.0) / np.sqrt(np.where(used, fpca.variances_, 1.0))
        self._searches = Searches(self._core, ViaSearch.paper() if mode == "paper" else ViaSearch())

    @property
    def condition_number(self) -> float:
        """Condition number of the equilibrated linear system, the largest over coordinates."""
        return self._condition

    @cached_property
    def training_acceleration(self) -> Array:
        """Largest second derivatives (d,) of the coordinates of the training motions over normalized time."""
        return np.asarray(np.abs(training_motions(self.fpca, 2)).max(axis=(0, 1)))


def _ratio(value: float, what: str) -> float:
    ratio = float(array(value, (), what, finite=False))
    if not ratio >= 1.0:
        raise ThunderError(f"{what} must be at least 1, got {value!r}")
    return ratio


def scores_in(planner: PlannerModel, unknowns: Array) -> Array:
    """Return the scores among the unknowns (offsets, scores) of a motion, (n, d), joint (n,); read-only."""
    scores = unknowns[len(planner.dofs) :].reshape(planner.fpca.variances_.shape)
    scores.setflags(write=False)
    return scores


def scores_of(planner: PlannerModel, path: _core.BezierPath, start: float) -> Array:
    """Return the scores of the components on a path's last segment from the states at its ends."""
    end = float(path.end)
    rows = [
        [tau, derivative, k, value, 0.0]
        for derivative in range(len(planner.constraints))
        for tau, t in ((0.0, start), (1.0, end))
        for k, value in enumerate(path.sample(t, derivative))
    ]
    core = _core.ConditionedMotion(planner._core, path.sample(start, 0), path.sample(end, 0), end - start, rows)
    return scores_in(planner, core.unknowns)


def distance_of(planner: PlannerModel, scores: Array) -> float:
    """Return the Mahalanobis distance of scores from their mean, zero."""
    standard = (scores * planner._inverse_deviations).ravel()
    return sqrt(float(standard @ standard))


#: probability that a motion drawn from the distribution of the components lies beyond the span
_RARE = 1e-6


def training_span(fpca: FPCA, exact: bool, order: int) -> float:
    """Return the Mahalanobis distance that plans of a planner exceed only beyond the training data.

    The scores of a plan between two random states have as many degrees of freedom as the planner has constraints, less
    the offsets. The span is the quantile of their distance, or the distance of the farthest training motion. It is
    infinite for components of minimum jerk alone, whose plans do not depend on the data.
    """
    if fpca.shrinkage_ >= 1.0:
        return inf
    d = len(fpca.dofs)
    used = (2 * order - 1) * (d if fpca.joint else 1) if exact else fpca.n_components_
    variances = fpca.variances_[:used]
    parts = fpca.scores_[:, :used][:, variances > _NOISE * variances.max(initial=0.0)]
    kept = variances[variances > _NOISE * variances.max(initial=0.0)]
    farthest = float(np.sqrt((parts**2 / kept).sum(axis=1)).max(initial=0.0))
    return max(farthest, float(np.sqrt(chi2.isf(_RARE, (2 * order - 1) * d))))


#: bound of the segments of a detour, relative to that of other plans: they begin or end amid a reach, where training
#: motions have no ends
_DETOUR = 2.5


def warn_beyond(
    planner: PlannerModel,
    distance: float | None,
    what: str = "the plan",
    *,
    detour: bool = False,
) -> None:
    """Warn of scores far beyond the span of the training data.

    `distance` is None for motions without scores; `detour` is True for the segments of a path through via points.

    The text is the same for all plans of a planner, so that Python's default filter shows it once for each line of code
    that plans, and not in every turn of a loop.
    """
    most = distance_bound(planner, detour)
    if distance is not None and distance > most:
        warnings.warn(
            f"{what} is more than {most:.3g} standard deviations (Mahalanobis distance) from the mean of the "
            f"components, training data span {planner._span:.3g}: it may be useless. Check the end states and the "
            f"duration{_unused_remedies(planner)}",
            ThunderWarning,
            stacklevel=outer_level(),
        )


def warn_travel(planner: PlannerModel, exceeded: bool, what: str = "the plan") -> None:
    """Warn of a motion that is far longer or faster than comparable ones; one text for all plans of a planner."""
    if not exceeded:
        return
    ratio = planner.max_travel_ratio
    remedy = ""
    if planner._returning:
        remedy = (
            f", since {planner._returning} of {len(planner.fpca.offsets_)} training motions return toward their start: "
            "fit the components to their parts (recordings.split_reaches)"
        )
    warnings.warn(
        f"{what} is longer or faster (path_length, peak_speed) than {ratio:g} times a minimum-jerk motion between the "
        f"same states and {TRAINING_SHARE * ratio:g} times the training motions, scaled to its distance{remedy}",
        ThunderWarning,
        stacklevel=outer_level(),
    )


def distance_bound(planner: PlannerModel, detour: bool) -> float:
    """Return the Mahalanobis distance beyond which a plan, or a segment of a detour, is far from the training data."""
    return planner.max_distance_ratio * planner._span * (_DETOUR if detour else 1.0)


def _unused_remedies(planner: PlannerModel) -> str:
    fpca = planner.fpca
    if not len(fpca.scores_):  # components that others published
        return ""
    remedies = ['mode="map"'] if planner.mode != "map" else []
    remedies += ["shrinkage"] if fpca.shrinkage_ == 0.0 else []
    return f", or use {' or '.join([*remedies, 'demonstrations like it'])}"
