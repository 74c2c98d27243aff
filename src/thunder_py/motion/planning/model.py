"""From functional principal components to the planner's core: which coordinates, which polynomials."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, isfinite
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from ... import _core
from ...checks import Array, array, is_number, pose
from ...errors import ThunderError
from ...recordings.trial import POSITION, ROTATION
from ..fpca.splines import bernstein_points
from .obstacles import Searches, ViaSearch

if TYPE_CHECKING:
    from ..fpca.fpca import FPCA

__all__ = [
    "Ends",
    "PlannerModel",
    "Stretch",
    "core_planner",
    "goal_state",
    "kind_of",
    "number",
    "read_ends",
    "scores_in",
    "scores_of",
]

#: degrees of freedom and degree of polynomials that the core has room for
_MOST_DOFS, _MOST_DEGREE = 8, 9
#: of the largest variance: components below it are rounding, whose shape means nothing. Those of minimum jerk go down
#: to 1e-15 beside its unlimited quadratics, and without the last ones a jerk at the ends is dear.
_NOISE = 1e-20


def kind_of(dofs: Sequence[str]) -> str:
    """Tell what a motion moves by the names of its coordinates: ``"position"``, ``"pose"`` or ``"joints"``.

    Raises
    ------
    ThunderError
        For parts of a position or orientation, and for them in another order.
    """
    names = tuple(dofs)
    if names == POSITION:
        return "position"
    if names == POSITION + ROTATION:
        return "pose"
    if not names or len(names) > _MOST_DOFS or set(names) & {*POSITION, *ROTATION}:
        raise ThunderError(
            f"a planner needs the coordinates {', '.join(POSITION)}, these and {', '.join(ROTATION)}, or one to "
            f"{_MOST_DOFS} joints, got {', '.join(names) or 'none'}"
        )
    return "joints"


def core_planner(fpca: FPCA, *, exact: bool, order: int) -> _core.FunctionalPlanner:
    """Return the core's planner of fitted components.

    Raises
    ------
    ThunderError
        Where the components are too few for the constraints or cannot meet them, not fitted, or of too high a degree.
    """
    mean, components = fpca.mean_coefficients_, fpca.component_coefficients_
    if fpca.basis_.degree > _MOST_DEGREE:
        raise ThunderError(f"a planner takes splines up to degree {_MOST_DEGREE}, got {fpca.basis_.degree}")
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
            fpca.alignment == "path",
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
    """Coordinates and their derivatives at both ends, not checked yet; None is zero.

    `R` is what orientations are measured from, for positions the orientation that is kept, and None for joints.
    """

    start: npt.ArrayLike
    goal: npt.ArrayLike
    v_start: npt.ArrayLike | None
    v_goal: npt.ArrayLike | None
    a_start: npt.ArrayLike | None
    a_goal: npt.ArrayLike | None
    R: Array | None

    @property
    def rates(self) -> Rates:
        """Velocities, then accelerations."""
        return self.v_start, self.v_goal, self.a_start, self.a_goal


def number(value: Any, what: str) -> float:
    """Return a finite number, also that of a zero-dimensional array, or raise `ThunderError`."""
    if type(value) is float and isfinite(value):  # nearly always, and at once
        return value
    given = value.item() if isinstance(value, np.ndarray) and value.ndim == 0 else value
    if not is_number(given):
        raise ThunderError(f"{what} must be a number, got {value!r}")
    if not abs(given) < inf:
        raise ThunderError(f"{what} must be finite, got {value!r}")
    return float(given)


def is_pose(value: Any) -> bool:
    """Whether this is a matrix (4, 4) or a pair (p, R) rather than a vector."""
    if isinstance(value, np.ndarray):
        return value.ndim == 2
    return isinstance(value, (tuple, list)) and len(value) in (2, 4) and np.ndim(value[0]) > 0


def as_pose(value: Any, what: str) -> Array:
    """Return a pose (4, 4), also of a pair (p, R), or raise `ThunderError`."""
    if isinstance(value, (tuple, list)) and len(value) == 2:
        T = np.eye(4)
        T[:3, 3], T[:3, :3] = array(value[0], (3,), f"{what} position"), array(value[1], (3, 3), f"{what} rotation")
        return pose(T, what)
    return pose(value, what)


def _refuse_rates(planner: PlannerModel, *rates: npt.ArrayLike | None) -> None:
    order = len(planner.constraints)
    for name, value, needed in zip(_RATES, rates, (2, 2, 3, 3), strict=True):
        if value is not None and order < needed:
            raise ThunderError(
                f"{name} is no constraint of this planner, which has {', '.join(planner.constraints)}: construct it "
                "with more constraints, or leave it out"
            )


def read_ends(
    planner: PlannerModel,
    start: npt.ArrayLike,
    goal: npt.ArrayLike,
    v_start: npt.ArrayLike | None,
    v_goal: npt.ArrayLike | None,
    a_start: npt.ArrayLike | None,
    a_goal: npt.ArrayLike | None,
) -> Ends:
    """Return coordinates of both ends; vectors are left for the core to check."""
    if len(planner.constraints) < 3:
        _refuse_rates(planner, v_start, v_goal, a_start, a_goal)
    if planner.kind == "pose":
        R = as_pose(start, "start")[:3, :3]
        a = _core._pose_state(as_pose(start, "start"), v_start, a_start, R, "start")
        b = _core._pose_state(as_pose(goal, "goal"), v_goal, a_goal, R, "goal")
        return Ends(a[0], b[0], a[1], b[1], a[2], b[2], R)
    rates: Rates = (v_start, v_goal, a_start, a_goal)
    if planner.kind == "joints":
        return Ends(start, goal, *rates, None)
    if not (is_pose(start) or is_pose(goal)):
        return Ends(start, goal, *rates, _UPRIGHT)
    return _kept_orientation(start, goal, rates)


def _kept_orientation(start: Any, goal: Any, rates: Rates) -> Ends:
    """Poses for a model of positions: both of one orientation, or one of them a position."""
    poses = [as_pose(value, what) for value, what in ((start, "start"), (goal, "goal")) if is_pose(value)]
    R = poses[0][:3, :3]
    if np.abs(poses[-1][:3, :3] - R).max() > 1e-6:
        raise ThunderError(
            "start and goal must have one orientation: the components are of positions only, so the motion keeps it; "
            "for turns, fit x, y, z, rx, ry, rz"
        )
    a, b = (as_pose(value, "")[:3, 3] if is_pose(value) else value for value in (start, goal))
    return Ends(a, b, *rates, R)


def goal_state(
    planner: PlannerModel,
    goal: npt.ArrayLike,
    velocity: npt.ArrayLike | None,
    acceleration: npt.ArrayLike | None,
    R: Array | None,
) -> tuple[npt.ArrayLike, npt.ArrayLike | None, npt.ArrayLike | None]:
    """Coordinates of a goal and their derivatives, rotation vectors about R."""
    if len(planner.constraints) < 3:
        _refuse_rates(planner, None, velocity, None, acceleration)
    if planner.kind == "pose" and R is not None:
        state = _core._pose_state(as_pose(goal, "goal"), velocity, acceleration, R, "goal")
        return state[0], state[1], state[2]
    if planner.kind == "position" and is_pose(goal):
        T = as_pose(goal, "goal")
        if R is not None and np.abs(T[:3, :3] - R).max() > 1e-6:
            raise ThunderError("goal must have the orientation of the plan: the components are of positions only")
        return T[:3, 3], velocity, acceleration
    return goal, velocity, acceleration


class Stretch(NamedTuple):
    """Where the last segment of a plan lies in the components' time.

    Attributes
    ----------
    start : float
        When the segment begins [s].
    tau : float
        Normalised time at which it begins; 0 unless it continues a motion.
    duration : float
        Seconds per unit of normalised time.
    order : int
        Constraints at both its ends: 1 position, 2 and velocity, 3 and acceleration.
    origin : (d,) array or None
        Where its whole motion began, if elsewhere.
    """

    start: float
    tau: float
    duration: float
    order: int
    origin: Array | None = None


_CONSTRAINTS = ("position", "velocity", "acceleration")


class PlannerModel:
    """A planner's components, constraints and settings, as the core takes them; see `HumanLikePlanner`."""

    def __init__(
        self,
        fpca: FPCA,
        mode: str = "map",
        constraints: Sequence[str] = _CONSTRAINTS,
        *,
        worst_condition: float = 1e4,
        freeze: float = 0.05,
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
        self.worst_condition = float(array(worst_condition, (), "worst_condition", finite=False))
        self.freeze = number(freeze, "freeze")
        if not self.worst_condition >= 1.0:
            raise ThunderError(f"worst_condition must be 1 at least, got {worst_condition!r}")
        if self.freeze < 0.0:
            raise ThunderError(f"freeze must be a time that is not negative [s], got {freeze!r}")
        self.dofs = tuple(fpca.dofs)
        self.kind = kind_of(self.dofs)
        self._core = core_planner(fpca, exact=mode != "map", order=len(names))
        self._condition = float(self._core.condition)
        self._searches = Searches(self._core, ViaSearch.paper() if mode == "paper" else ViaSearch())

    @property
    def condition_number(self) -> float:
        """Of the linear system, rows and columns equilibrated, the worst coordinate's."""
        return self._condition


def scores_in(planner: PlannerModel, unknowns: Array) -> Array:
    """Scores among the unknowns (offsets, scores) of a motion, (n, d), joint (n,); read-only."""
    scores = unknowns[len(planner.dofs) :].reshape(planner.fpca.variances_.shape)
    scores.setflags(write=False)
    return scores


def scores_of(planner: PlannerModel, path: _core.BezierPath, stretch: Stretch) -> Array:
    """Scores of the components on a path's last segment, from the states at both its ends."""
    end = float(path.end)
    rows = [
        [tau, derivative, k, value, 0.0]
        for derivative in range(stretch.order)
        for tau, t in ((stretch.tau, stretch.start), (1.0, end))
        for k, value in enumerate(path.sample(t, derivative))
    ]
    origin = path.sample(stretch.start, 0) if stretch.origin is None else stretch.origin
    core = _core.ConditionedMotion(planner._core, origin, path.sample(end, 0), stretch.duration, rows)
    return scores_in(planner, core.unknowns)
