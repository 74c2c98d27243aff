"""From a target to the whole motion: the first release, best first, that the arm can reach and leave in its limits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ...checks import Array, array, of_kind, positive
from ...errors import ReleaseError, UnknownNameError
from ...identification.excitation import MotionLimits
from ...robot import Robot
from .motion import Piece, States, ThrowMotion, fastest, free_stop, free_swing, line_states, swing_from, way_back
from .release import Release, find_releases, release_at

__all__ = ["motion_through", "plan_throw"]


def plan_throw(
    robot: Robot,
    target: npt.ArrayLike,
    *,
    space: Literal["joint", "task"] = "joint",
    start: npt.ArrayLike | None = None,
    limits: MotionLimits | None = None,
    period: float = 1e-3,
    **options: Any,
) -> ThrowMotion:
    """Plan a throw at a target.

    Parameters
    ----------
    robot : Robot
        With what it carries, as far as it is known.
    target : (3,) array_like
        Landing point [m].
    space : {"joint", "task"}
        Where motions are of minimum jerk: in the joints, or on a straight line of the hand at constant orientation, as
        in the paper; the hand then does not accelerate at release.
    start : (n,) array_like, optional
        Where the swing starts at rest, for ``"joint"``; default where its jerk is least.
    limits : MotionLimits, optional
        Default those of the robot, torques included.
    period : float
        All durations are multiples of it [s].
    **options
        Of `find_releases`.

    Raises
    ------
    ReleaseError
        If no release, or no motion through one, keeps the limits; `limit` names what binds.
    """
    of_kind(robot, Robot, "robot")
    full = MotionLimits.of(robot, torque=True) if limits is None else of_kind(limits, MotionLimits, "limits")
    if space not in ("joint", "task"):  # before a search of seconds
        raise UnknownNameError(f"space must be 'joint' or 'task', got {space!r}")
    period = positive(period, "period", "s")
    if space == "task" and (
        options.setdefault("acceleration", "hand") != "hand" or not options.setdefault("spin_free", True)
    ):
        raise ReleaseError("where a hand throws along a line, it neither accelerates nor turns", "acceleration")
    found = find_releases(robot, target, limits=full, **options)
    return _first_possible(robot, found, full, space, start, period, options.get("frame"))


def _first_possible(
    robot: Robot,
    releases: Sequence[Release],
    limits: MotionLimits,
    space: Literal["joint", "task"],
    start: npt.ArrayLike | None,
    period: float,
    frame: int | str | None,
) -> ThrowMotion:
    errors: list[ReleaseError] = []
    for release in releases:
        try:
            return motion_through(robot, release, limits, space=space, start=start, period=period, frame=frame)
        except ReleaseError as error:
            errors.append(error)
    raise ReleaseError(f"none of {len(errors)} releases can be reached and left; of the best: {errors[0]}",
                       errors[0].limit)  # fmt: skip


def motion_through(
    robot: Robot,
    release: Release,
    limits: MotionLimits,
    *,
    space: Literal["joint", "task"] = "joint",
    start: npt.ArrayLike | None = None,
    period: float = 1e-3,
    frame: int | str | None = None,
) -> ThrowMotion:
    """Return the shortest motion to a release, out of it and back; arguments and errors as in `plan_throw`."""
    of_kind(robot, Robot, "robot")
    of_kind(release, Release, "release")
    of_kind(limits, MotionLimits, "limits")
    period = positive(period, "period", "s")
    if space == "joint":
        coordinates = (release.q, release.dq, release.ddq)
        states: States = _same
        begin = None if start is None else array(start, (robot.n,), "start")
    elif space == "task":
        if start is not None:
            raise ReleaseError("a throw along a line starts on it; start is of space='joint'", "start")
        release = _least_velocity(robot, release, limits, frame)
        coordinates = (np.zeros(1), np.array([release.speed]), np.zeros(1))
        states, begin = line_states(robot, release, limits, frame), None
    else:
        raise UnknownNameError(f"space must be 'joint' or 'task', got {space!r}")

    def swing(T: float) -> Piece:
        return free_swing(T, *coordinates) if begin is None else swing_from(T, begin, *coordinates)

    there = fastest(swing, states, robot, limits, "swing", period)
    out = fastest(lambda T: free_stop(T, *coordinates), states, robot, limits, "stop", period)
    first, last = there.coefficients[-1], _end(out)
    back = fastest(lambda T: way_back(T, last, first), states, robot, limits, "way back", period)
    return ThrowMotion(
        robot=robot, release=release, limits=limits, space=space, swing=there, stop=out, back=back, states=states,
        frame=frame,
    )  # fmt: skip


def _same(x: Array, v: Array, a: Array) -> tuple[Array, Array, Array]:
    return x, v, a


def _end(piece: Piece) -> Array:
    return np.asarray(np.array([np.polyval(c, piece.duration) for c in piece.coefficients.T]))


def _least_velocity(robot: Robot, release: Release, limits: MotionLimits, frame: int | str | None) -> Release:
    """Return the release with the joint velocities that the line has there."""
    J = robot.jacobian(release.q, frame)
    dq = np.linalg.pinv(J) @ np.concatenate([release.v, np.zeros(3)])
    return release_at(
        robot, release.q, dq, release.target, limits, frame=frame, acceleration="hand",
        objective=release.objective, value=release.value,
    )  # fmt: skip
