"""Components, settings and end states of a planner in the form of the core."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.interpolate import BPoly

from ... import _core
from ...checks import Array, array, nonnegative, one_of, pose
from ...errors import ThunderError
from ...recordings.trial import POSITION, ROTATION
from ..travel import MINIMUM_JERK_RATIOS
from .obstacles import Searches, ViaSearch
from .training import NOISE, Training

if TYPE_CHECKING:
    from ..fpca.fpca import FPCA

#: largest numbers of degrees of freedom and degree of polynomials in the core
_MOST_DOFS, _MOST_DEGREE = 8, 9


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
    points = np.moveaxis(BPoly.from_power_basis(fpca.basis_.to_ppoly(together)).c, (-1, 1), (0, 1))
    variances = fpca.explained_variance_.ravel()
    variances = np.where(variances > NOISE * variances.max(initial=0.0), variances, 0.0)
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


def quintic_planner(d: int) -> _core.FunctionalPlanner:
    """Return the core's planner of minimum-jerk motions of d coordinates, polynomials of degree 5."""
    powers = np.array([[comb(j, k) / comb(5, k) for j in range(6)] for k in range(1, 6)])  # as Bernstein polynomials
    functions = np.repeat(powers[:, None, :, None], d, axis=3)
    return _core.FunctionalPlanner([0.0, 1.0], np.zeros((1, 6, d)), functions, np.ones(5 * d), False, False, True, 3)


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
    R = None if planner.kind == "joints" else _UPRIGHT
    if planner.kind != "pose" and not (is_pose(start) or is_pose(goal)):  # fast path
        return Ends(start, goal, rates, R)
    for place, what in ((goal, "goal"), (start, "start")):
        if planner.kind == "pose" or (R is not None and is_pose(place)):
            R = as_pose(place, what)[:3, :3]
    x0, v0, a0 = read_state(planner, start, rates[0], rates[2], R, "start")
    x1, v1, a1 = read_state(planner, goal, rates[1], rates[3], R, "goal")
    return Ends(x0, x1, (v0, v1, a0, a1), R)


def read_state(
    planner: PlannerModel,
    place: npt.ArrayLike,
    velocity: npt.ArrayLike | None,
    acceleration: npt.ArrayLike | None,
    R: Array | None,
    what: str,
) -> tuple[npt.ArrayLike, npt.ArrayLike | None, npt.ArrayLike | None]:
    """Return coordinates and their derivatives at one end, rotation vectors about R."""
    if R is None or (planner.kind == "position" and not is_pose(place)):
        return place, velocity, acceleration
    T = as_pose(place, what)
    if planner.kind == "pose":
        x, v, a = _core._pose_state(T, velocity, acceleration, R, what)
        return x, v, a
    if np.abs(T[:3, :3] - R).max() > 1e-6:
        raise ThunderError(
            f"{what} must have the same orientation as the start for components of positions; fit x, y, z, rx, ry, rz "
            "to plan rotations"
        )
    return T[:3, 3], velocity, acceleration


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
        max_travel_ratio: float | Sequence[float] = MINIMUM_JERK_RATIOS,
        freeze_time: float = 0.05,
    ) -> None:
        one_of(mode, ("map", "paper", "exact"), "mode")
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
        ratios = max_travel_ratio if isinstance(max_travel_ratio, Sequence) else [max_travel_ratio] * 3
        if len(ratios) != 3:
            raise ThunderError(f"max_travel_ratio must be one number or three, got {max_travel_ratio!r}")
        self.max_travel_ratio = tuple(_ratio(ratio, "max_travel_ratio") for ratio in ratios)
        self.max_distance_ratio = float(array(max_distance_ratio, (), "max_distance_ratio", finite=False))
        self.freeze_time = nonnegative(freeze_time, "freeze_time", "s")
        self.dofs = tuple(fpca.dofs)
        self.kind = kind_of(self.dofs)
        self._via = ViaSearch.paper() if mode == "paper" else ViaSearch()
        self._core = core_planner(fpca, exact=mode != "map", order=len(names))
        self._condition = float(self._core.condition)
        self._searches, self._quintics = Searches(self._core), Searches(quintic_planner(len(self.dofs)))
        self._training = Training(fpca, mode != "map", len(names))
        self._training.limit(self._core, self.max_travel_ratio)
        used = fpca.explained_variance_ > 0.0
        self._inverse_deviations: Array = used / np.sqrt(np.where(used, fpca.explained_variance_, 1.0))

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the planner and the limits of its core, which are no arguments of the core."""
        self.__dict__.update(state)
        self._training.limit(self._core, self.max_travel_ratio)

    @property
    def condition_number(self) -> float:
        """Condition number of the equilibrated linear system, the largest over coordinates."""
        return self._condition

    @property
    def training_span(self) -> float:
        """Mahalanobis distance that the scores of the training motions span."""
        return self._training.span


def _ratio(value: float, what: str) -> float:
    ratio = float(array(value, (), what, finite=False))
    if not ratio >= 1.0:
        raise ThunderError(f"{what} must be at least 1, got {value!r}")
    return ratio


def scores_in(planner: PlannerModel, unknowns: Array) -> Array:
    """Return the scores among the unknowns (offsets, scores) of a motion, (n, d), joint (n,); read-only."""
    scores = unknowns[len(planner.dofs) :].reshape(planner.fpca.explained_variance_.shape)
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
