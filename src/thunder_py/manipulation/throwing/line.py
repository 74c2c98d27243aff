"""Joints of an arm whose hand moves along a straight line at constant orientation."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...checks import Array
from ...errors import ReleaseError
from ...identification.limits import MotionLimits
from ...integration import integrate
from ...robot import Robot
from .motion import States
from .release import Release

__all__ = ["line_states"]

_LONGEST = 1.2  # to either side [m]
_KNOTS = 0.005  # [m]
#: of the smallest singular value of the Jacobian [m]: closer to a singularity the line ends
_SINGULAR = 0.02
#: [rad], [m]: a release on a limit is within it
_ON_LIMIT = 1e-9


def line_states(robot: Robot, release: Release, limits: MotionLimits, frame: int | str | None) -> States:
    """Return the map from metres along the velocity of a release, and their derivatives, to joints.

    Parameters
    ----------
    robot : Robot
        The arm.
    release : Release
        Where the line is at 0 metres, with its direction and orientation.
    limits : MotionLimits
        The line ends where a joint leaves its positions or the arm comes near a singularity; NaN beyond.
    frame : int or str, optional
        What moves.

    Notes
    -----
    ``dq/ds = J^+ [direction; 0]`` is integrated from the release to both sides: the joint motion of least velocity,
    which a task-space controller with damped null space follows. How fast the line is passed does not matter for it.
    """
    if release.speed < 1e-6:
        raise ReleaseError("a hand that hardly moves has no line to throw along", "speed")
    from scipy.interpolate import make_interp_spline

    direction = np.concatenate([release.v / release.speed, np.zeros(3)])
    low, q_low = _side(robot, release.q, -direction, limits, frame)
    high, q_high = _side(robot, release.q, direction, limits, frame)
    s = np.concatenate([-low[:0:-1], high])
    q_of: Any = make_interp_spline(s, np.concatenate([q_low[:0:-1], q_high]), k=5)
    first, second, ends = q_of.derivative(), q_of.derivative(2), (float(s[0]), float(s[-1]))

    def states(x: Array, v: Array, a: Array) -> tuple[Array, Array, Array]:
        outside = (x[:, 0] < ends[0] - 1e-12) | (x[:, 0] > ends[1] + 1e-12)
        at = np.clip(x[:, 0], *ends)
        q, slope, bend = q_of(at), first(at), second(at)
        q[outside] = np.nan
        return q, slope * v, bend * v**2 + slope * a

    return states


def _side(
    robot: Robot, q0: Array, direction: Array, limits: MotionLimits, frame: int | str | None
) -> tuple[Array, Array]:
    """Distances from the release (k,) and joints there (k, n), up to where the line ends."""

    def slope(_: float, q: Array) -> Array:
        J = robot.jacobian(q, frame)
        return np.asarray(np.linalg.lstsq(J, direction, rcond=None)[0])

    def room(_: float, q: Array) -> float:
        outside = float((limits.half_range - np.abs(q - limits.centre)).min())
        singular = float(np.linalg.svd(robot.jacobian(q, frame), compute_uv=False)[-1]) - _SINGULAR
        return min(outside, singular) + _ON_LIMIT

    room.terminal, room.direction = True, -1.0  # type: ignore[attr-defined]
    solution = integrate(slope, (0.0, _LONGEST), q0, rtol=1e-10, atol=1e-12, events=room, dense_output=True)
    length = float(solution.t[-1])
    s = np.linspace(0.0, length, int(length / _KNOTS) + 2)
    q = solution.sol(s).T
    # a limit that is left and kept again within one step of the solver is no event of its
    left = [k for k in range(len(s) - 1) if room(0.0, q[k]) < 0.0]
    end = left[0] if left else len(s)
    if end == 0 or s[end - 1] < 4.0 * _KNOTS:
        raise ReleaseError("the arm cannot move on along the line of the throw", "reach")
    return s[:end], q[:end]
