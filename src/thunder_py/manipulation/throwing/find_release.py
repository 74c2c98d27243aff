"""The release that uses an arm best, found by optimisation from many starts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ...checks import Array, array
from ...errors import ReleaseError, ThunderError, UnknownNameError, nearest_hint
from ...identification.limits import MotionLimits
from ...motion.scalars import at_least, positive, whole
from ...robot import Robot
from ..kinds import of_kind
from .drag import landing_with_drag
from .release import HandAcceleration, Palm, Release, ReleaseNoise, release_at
from .release_problem import ReleaseProblem, Solved

__all__ = ["find_release", "find_releases"]

OBJECTIVES = ("velocity", "limits", "sensitivity")
ACCELERATIONS = ("joints", "hand", "free fall")
_ITERATIONS = 100
#: against drag: further searches, then corrections of the velocity alone
_SEARCHES, _CORRECTIONS = 2, 20
#: times the limits of velocity, and [rad/s] or [m/s], that are allowed to see what a throw would need
_LOOSE = 20.0


def find_release(robot: Robot, target: npt.ArrayLike, **options: Any) -> Release:
    """Return the best release; arguments and errors are those of `find_releases`."""
    return find_releases(robot, target, **options)[0]


def find_releases(
    robot: Robot,
    target: npt.ArrayLike,
    *,
    limits: MotionLimits | None = None,
    frame: int | str | None = None,
    objective: Literal["velocity", "limits", "sensitivity"] = "velocity",
    angle: float | None = None,
    palm: Palm | None = None,
    spin_free: bool = True,
    acceleration: HandAcceleration = "joints",
    region: npt.ArrayLike | None = None,
    noise: ReleaseNoise | None = None,
    drag: float = 0.0,
    starts: int = 20,
    seed: int = 0,
) -> list[Release]:
    """Look for joint states from which an object flies to the target, best first.

    Parameters
    ----------
    robot : Robot
        With what it carries, because torques are limited; see `Payload.added_to`.
    target : (3,) array_like
        Landing point [m].
    limits : MotionLimits, optional
        Default those of the robot, torques included.
    frame : int or str, optional
        What throws, default the end effector.
    objective : {"velocity", "limits", "sensitivity"}
        Least mean square of the joint velocities as parts of their limits; least use of any limit of velocity,
        acceleration or torque; or least standard deviation of the landing under `noise`.
    angle : float, optional
        Of the throw above the horizontal [rad]; default free.
    palm : Palm, optional
        Turns the palm towards the throw.
    spin_free : bool
        Whether the hand must not turn at release.
    acceleration : {"joints", "hand", "free fall"}
        What is zero at release: the acceleration of the joints, that of the hand, or that of the object relative to the
        hand, which falls with it. In free fall the landing does not depend on the time of release, to first order.
    region : (2, 3) array_like, optional
        Lower and upper corner of where the hand may be at release [m].
    noise : ReleaseNoise, optional
        For the objective ``"sensitivity"``.
    drag : float
        Of the object through air [1/m], see `drag_coefficient`.
    starts : int
        Random postures to search from.
    seed : int
        Of these.

    Returns
    -------
    list of Release

    Raises
    ------
    ReleaseError
        If no throw within the limits was found; `limit` names what binds.

    Notes
    -----
    SLSQP over q, dq and the time of flight, which fixes the velocity of the hand. With drag, the aim is moved by what
    the flight misses until it hits.
    """
    if objective not in OBJECTIVES:
        hint = nearest_hint(str(objective), OBJECTIVES)
        raise UnknownNameError(f"objective must be one of {', '.join(OBJECTIVES)}, got {objective!r}{hint}")
    if acceleration not in ACCELERATIONS:
        hint = nearest_hint(str(acceleration), ACCELERATIONS)
        raise UnknownNameError(f"acceleration must be one of {', '.join(ACCELERATIONS)}, got {acceleration!r}{hint}")
    goal, k = array(target, (3,), "target"), at_least(drag, "drag")
    of_kind(robot, Robot, "robot")
    full = MotionLimits.of(robot, torque=True) if limits is None else of_kind(limits, MotionLimits, "limits")
    problem = ReleaseProblem(
        robot=robot,
        aim=goal,
        limits=full,
        full=full,
        frame=frame,
        objective=objective,
        angle=None if angle is None else float(array(angle, (), "angle")),
        palm=_palm(palm),
        spin_free=spin_free,
        acceleration=acceleration,
        region=_region(region),
        noise=ReleaseNoise() if noise is None else of_kind(noise, ReleaseNoise, "noise"),
    )
    rng = np.random.default_rng(whole(seed, "seed", 0))
    x0 = [problem.start(rng) for _ in range(whole(starts, "starts", 1))]
    found = list(_solve(problem, x0, goal, k))
    if not found:
        easy = _without_limits(problem, x0)
        found = list(_solve(problem, [np.concatenate([s.q, s.dq, [s.flight_time]]) for s in easy], goal, k))
        if not found:
            raise _explained(problem, easy)
    return sorted(found, key=lambda release: release.value)


def _palm(palm: Palm | None) -> Palm | None:
    if palm is None:
        return None
    axis, angle = array(of_kind(palm, Palm, "palm").axis, (3,), "palm axis"), positive(palm.angle, "palm angle", "rad")
    size = float(np.linalg.norm(axis))
    if size == 0.0 or angle >= np.pi:
        raise ThunderError(f"palm must have an axis and an angle between 0 and pi, got {palm}")
    return Palm(tuple((axis / size).tolist()), angle)


def _region(region: npt.ArrayLike | None) -> Array | None:
    if region is None:
        return None
    box = array(region, (2, 3), "region")
    if not (box[0] < box[1]).all():
        raise ThunderError(f"region must have its lower corner below its upper one, got {box.tolist()}")
    return box


def _solve(problem: ReleaseProblem, starts: list[Array], goal: Array, drag: float) -> Iterator[Release]:
    for x0 in starts:
        solved = problem.search(x0, _ITERATIONS)
        if solved is None:
            continue
        try:
            yield _release(problem, solved, goal) if drag == 0.0 else _against_drag(problem, solved, goal, drag)
        except ReleaseError:  # the air needs more than the limits leave
            continue


def _against_drag(problem: ReleaseProblem, solved: Solved, goal: Array, drag: float) -> Release:
    """Return the release that hits through air: the aim is moved by what is missed, at last with the posture held."""
    for k in range(_SEARCHES + _CORRECTIONS):
        x = np.concatenate([solved.q, solved.dq, [solved.flight_time]])
        hand = problem.hand(solved.q, solved.dq)
        miss = goal - landing_with_drag(hand.p, hand.v, float(goal[2]), drag=drag).p
        if np.abs(miss).max() < 1e-10:
            break
        problem = replace(problem, aim=problem.aim + miss)
        again = problem.search(x, _ITERATIONS) if k < _SEARCHES else problem.solved(problem.exact(x))
        if again is None:
            raise ReleaseError("no release through this air was found", "drag")
        solved = again
    return _release(problem, solved, goal)


def _release(problem: ReleaseProblem, solved: Solved, goal: Array) -> Release:
    return release_at(
        problem.robot, solved.q, solved.dq, goal, problem.limits, frame=problem.frame, spin_free=problem.spin_free,
        acceleration=problem.acceleration, objective=problem.objective, value=solved.value,
    )  # fmt: skip


def _without_limits(problem: ReleaseProblem, starts: list[Array]) -> list[Solved]:
    """Return throws that use limits of velocity, acceleration and torque least, whether they keep them or not."""
    limits = problem.full
    fast = np.maximum(_LOOSE * limits.velocity, _LOOSE)
    loose = MotionLimits(lower=limits.lower, upper=limits.upper, velocity=fast)
    free = replace(problem, limits=loose, objective="limits")
    # the starts have no more velocity than the limits allow, which may be next to nothing
    found = [free.search(free.exact(x0), _ITERATIONS, scaled=True) for x0 in starts]
    return sorted((solved for solved in found if solved is not None), key=lambda solved: solved.value)


def _explained(problem: ReleaseProblem, easy: list[Solved]) -> ReleaseError:
    """Say which limit stands against the throw."""
    where = f"({', '.join(f'{x:.3g}' for x in problem.aim)}) m"
    if not easy:
        others = [name for name in ("palm", "region", "angle") if getattr(problem, name) is not None]
        what = ", ".join(["reach", *others])
        return ReleaseError(
            f"no release to {where} was found, even {_LOOSE:g} times as fast as the limits allow; what binds: {what}",
            what,
        )
    uses = {kind: np.abs(parts) for kind, parts in problem.uses(easy[0].q, easy[0].dq).items()}
    kind = max(uses, key=lambda name: float(uses[name].max()))
    name = f"{kind} of {problem.robot.joint_names[int(uses[kind].argmax())]}"
    return ReleaseError(f"a throw to {where} needs {uses[kind].max():.3g} times the limit of {name}, at best", name)
