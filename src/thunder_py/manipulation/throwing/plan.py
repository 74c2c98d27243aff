"""Plan of a throw: the best release that the arm can reach and leave within its limits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ...checks import Array, array, nonnegative, of_kind, positive
from ...errors import ReleaseError, UnknownNameError
from ...robot import Robot
from ...trajectory import MotionLimits
from .flight import GRAVITY
from .motion import (
    Piece,
    States,
    ThrowMotion,
    check_limits,
    coasting,
    evaluate,
    fastest,
    free_stop,
    free_swing,
    joined,
    line_states,
    return_motion,
    swing_from,
)
from .release import Release, find_releases, release_at


def plan_throw(
    robot: Robot,
    target: npt.ArrayLike,
    *,
    space: Literal["joint", "task"] = "joint",
    start: npt.ArrayLike | None = None,
    limits: MotionLimits | None = None,
    period: float = 1e-3,
    coast: float = 0.0,
    **options: Any,
) -> ThrowMotion:
    """Plan a throw at a target: the release and the motion through it.

    Parameters
    ----------
    robot : Robot
        The arm with its load, as far as known.
    target : (3,) array_like
        Landing point [m].
    space : {"joint", "task"}
        Coordinates of the minimum-jerk pieces: the joints, or a straight line of the hand at constant orientation, as
        in the paper. In the second case the hand does not accelerate at release.
    start : (n,) array_like, optional
        Joint positions at the start of the swing, for ``"joint"``; default those of least jerk.
    limits : MotionLimits, optional
        Default the limits of the robot, torques included.
    period : float
        Period of the controller, of which all durations are multiples [s].
    coast : float
        Time for which the hand falls freely without turning, with the release in its middle [s]: an object that leaves
        at any instant of it lands on the target, and stays in the middle of the opening hand. It sets
        ``acceleration="free fall"``.
    **options
        Options of `find_releases`.

    Returns
    -------
    ThrowMotion
        Swing, stop and return.

    Raises
    ------
    ReleaseError
        If no release, or no motion through one, keeps the limits; `limit` names the binding limit.

    Notes
    -----
    Source: D4.2, section 3.3.3. All releases of `find_releases` are tried, best first.

    Examples
    --------
    >>> import thunder_py as th
    >>> from thunder_py.manipulation import landing, plan_throw
    >>> motion = plan_throw(th.Robot.load("panda"), (1.1, 0.1, -0.4), objective="limits", starts=4)
    >>> landing(motion.release.p, motion.release.v, -0.4).p.round(3).tolist()
    [1.1, 0.1, -0.4]
    >>> motion.swing.duration < 0.5
    True
    """
    of_kind(robot, Robot, "robot")
    full = MotionLimits.of(robot, torque=True) if limits is None else of_kind(limits, MotionLimits, "limits")
    if space not in ("joint", "task"):  # checked before the search, which takes seconds
        raise UnknownNameError(f"space must be 'joint' or 'task', got {space!r}")
    period = positive(period, "period", "s")
    if space == "task" and (
        options.setdefault("acceleration", "hand") != "hand" or not options.setdefault("spin_free", True)
    ):
        raise ReleaseError(
            "acceleration must be 'hand' and spin_free True for space='task', got "
            f"{options['acceleration']!r} and {options.get('spin_free', True)}", "acceleration"
        )  # fmt: skip
    if coast:
        options.setdefault("acceleration", "free fall")
    releases = find_releases(robot, target, limits=full, coast=coast, **options)
    errors: list[ReleaseError] = []
    for release in releases:
        try:
            return motion_through(robot, release, full, space=space, start=start, period=period, coast=coast)
        except ReleaseError as error:
            errors.append(error)
    raise ReleaseError(f"none of {len(errors)} releases can be reached and left; the best: {errors[0]}",
                       errors[0].limit)  # fmt: skip


def motion_through(
    robot: Robot,
    release: Release,
    limits: MotionLimits,
    *,
    space: Literal["joint", "task"] = "joint",
    start: npt.ArrayLike | None = None,
    period: float = 1e-3,
    coast: float = 0.0,
    durations: Sequence[float] = (0.0, 0.0, 0.0),
) -> ThrowMotion:
    """Return the shortest motion through a release and back to its start.

    Parameters
    ----------
    robot : Robot
        The arm with its load.
    release : Release
        State at the end of the swing.
    limits : MotionLimits
        Limits that the motion keeps.
    space, start, period, coast
        As in `plan_throw`.
    durations : sequence of float
        Durations of swing, stop and way back that are taken instead of the shortest ones if they keep the limits [s].

    Returns
    -------
    ThrowMotion
        Swing, stop and return.

    Raises
    ------
    ReleaseError
        If no motion keeps the limits; `limit` names the binding limit.

    Examples
    --------
    >>> import thunder_py as th
    >>> from thunder_py.trajectory import MotionLimits
    >>> from thunder_py.manipulation.throwing import motion_through, release_at
    >>> panda = th.Robot.load("panda")
    >>> limits = MotionLimits.of(panda, torque=True)
    >>> release = release_at(panda, [0, -0.2, 0, -1.8, 0, 1.7, 0.8], [0, 0.5, 0, 0.4, 0, 0, 0], [0.9, 0, 0], limits)
    >>> motion = motion_through(panda, release, limits)
    >>> bool(abs(motion.joints(motion.release_time)[1][0] - release.dq).max() < 1e-9)
    True
    """
    of_kind(robot, Robot, "robot")
    of_kind(release, Release, "release")
    of_kind(limits, MotionLimits, "limits")
    period = positive(period, "period", "s")
    if space == "joint":
        coordinates = after = (release.q, release.dq, release.ddq)
        states: States = _same
        begin = None if start is None else array(start, (robot.n,), "start")
    elif space == "task":
        if start is not None:
            raise ReleaseError("start must be left out for space='task', where the throw starts on its line", "start")
        release = _least_velocity(robot, release, limits)
        coordinates = after = (np.zeros(1), np.array([release.speed]), np.zeros(1))
        states, begin = line_states(robot, release, limits), None
    else:
        raise UnknownNameError(f"space must be 'joint' or 'task', got {space!r}")

    pieces: list[Piece] = []
    if nonnegative(coast, "coast") > 0.0:
        if space != "joint":
            raise ReleaseError("coast must be 0 for space='task', a line without acceleration", "coast")
        pieces = coasting(robot, release, coast, period)
        path = joined(pieces)
        check_limits(path, robot, limits, "coast")
        (coordinates, after) = (tuple(x[0] for x in evaluate(path, path.x[[k]])) for k in (0, -1))

    def swing(T: float) -> Piece:
        return free_swing(T, *coordinates) if begin is None else swing_from(T, begin, *coordinates)

    forward = fastest(swing, states, robot, limits, "swing", period, durations[0])
    stop = fastest(lambda T: free_stop(T, *after), states, robot, limits, "stop", period, durations[1])
    first, last = forward.coefficients[-1], np.asarray(np.polyval(stop.coefficients, stop.duration), dtype=np.float64)
    back = fastest(lambda T: return_motion(T, last, first), states, robot, limits, "way back", period, durations[2])
    return ThrowMotion(
        robot=robot, release=release, limits=limits, space=space, swing=forward, stop=stop, back=back, states=states,
        coast=tuple(pieces),
    )  # fmt: skip


def shift_landing(
    motion: ThrowMotion, shift: npt.ArrayLike, *, limits: MotionLimits | None = None, period: float = 1e-3
) -> ThrowMotion:
    """Return a throw whose landing is shifted, such as against the miss of earlier throws.

    Parameters
    ----------
    motion : ThrowMotion
        Motion in joint space. Its target stays that of the plan.
    shift : (2,) array_like
        Horizontal shift of the landing [m].
    limits : MotionLimits, optional
        Limits of the shifted motion; default those of the motion.
    period : float
        As in `plan_throw`.

    Returns
    -------
    ThrowMotion
        Motion with the same configuration, time of flight and durations, where the limits allow those, and the
        horizontal velocity changed by shift over time.

    Raises
    ------
    ReleaseError
        If the changed motion breaks a limit, or is one in task space.

    Examples
    --------
    >>> import thunder_py as th
    >>> from thunder_py.manipulation import landing, plan_throw
    >>> from thunder_py.manipulation.throwing import shift_landing
    >>> motion = plan_throw(th.Robot.load("panda"), (1.1, 0.1, -0.4), objective="limits", starts=4)
    >>> release = shift_landing(motion, [-0.03, 0.01]).release
    >>> landing(release.p, release.v, -0.4).p.round(6).tolist()
    [1.07, 0.11, -0.4]
    """
    change = np.append(array(shift, (2,), "shift"), 0.0) / of_kind(motion, ThrowMotion, "motion").release.flight_time
    if motion.space != "joint":
        raise ReleaseError(f"motion must be one in joint space, got one in {motion.space} space", "space")
    robot, old, full = motion.robot, motion.release, motion.limits if limits is None else limits
    turn = np.linalg.pinv(robot.jacobian(old.q)) @ np.concatenate([change, np.zeros(3)])
    release = release_at(
        robot, old.q, old.dq + turn, old.target, full, objective=old.objective, value=old.value,
        acceleration="free fall" if np.allclose(old.a, (0.0, 0.0, -GRAVITY), atol=1e-6) else "joints",
    )  # fmt: skip
    durations = [piece.duration for piece in (motion.swing, motion.stop, motion.back)]
    return motion_through(robot, release, full, period=period, coast=motion.coast_duration, durations=durations)


def _same(x: Array, v: Array, a: Array) -> tuple[Array, Array, Array]:
    return x, v, a


def _least_velocity(robot: Robot, release: Release, limits: MotionLimits) -> Release:
    """Return the release with the joint velocities of the motion along the line."""
    J = robot.jacobian(release.q)
    dq = np.linalg.pinv(J) @ np.concatenate([release.v, np.zeros(3)])
    return release_at(
        robot, release.q, dq, release.target, limits, acceleration="hand",
        objective=release.objective, value=release.value,
    )  # fmt: skip
