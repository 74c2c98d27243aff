"""States at the ends of a motion: what a user gives, as coordinates of the planner."""

from __future__ import annotations

from math import inf, isfinite
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from .. import _core
from ..checks import Array, array, pose
from ..errors import ThunderError
from .scalars import is_number

if TYPE_CHECKING:
    from .planner import HumanLikePlanner

__all__ = ["Ends", "goal_state", "number", "read_ends"]

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


def _refuse_rates(planner: HumanLikePlanner, *rates: npt.ArrayLike | None) -> None:
    order = len(planner.constraints)
    for name, value, needed in zip(_RATES, rates, (2, 2, 3, 3), strict=True):
        if value is not None and order < needed:
            raise ThunderError(
                f"{name} is no constraint of this planner, which has {', '.join(planner.constraints)}: construct it "
                "with more constraints, or leave it out"
            )


def read_ends(
    planner: HumanLikePlanner,
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
    planner: HumanLikePlanner,
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
