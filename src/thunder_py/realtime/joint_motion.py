"""Trajectories of messages as motions that the loop follows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..checks import Array, apart
from ..errors import ThunderError
from ..reference import JointReference
from ..robot import Robot
from ..trajectory.joint import JointTrajectory, quintic_spline, spline

#: largest number of points of a trajectory; reading more would delay states
_MOST_POINTS = 5000
#: samples of each piece at which limits are checked
_PER_PIECE = 8
_SLACK = 1.001


class JointMotion(NamedTuple):
    """A trajectory on the loop's clock; after its end the last position at rest.

    Attributes
    ----------
    start, end : float
        Times [s].
    trajectory : JointTrajectory or None
        None for a single point.
    first, last : JointReference
        References at its start and end.
    """

    start: float
    end: float
    trajectory: JointTrajectory | None
    first: JointReference
    last: JointReference

    def at(self, t: float) -> JointReference:
        """Return the reference at a time from the start on [s]."""
        if self.trajectory is not None and t < self.end:
            return JointReference(*self.trajectory.at(t))
        still = np.zeros_like(self.last.q)
        return JointReference(self.last.q, still, still)


def wrong_names(names: Sequence[str], joint_names: Sequence[str]) -> str:
    """Return why the names of a message are not those of the joints."""
    got = ", ".join(map(str, names)) or "none"
    return f"joint_names must be the robot's joints, all of them, once each: {', '.join(joint_names)}; got {got}"


def read_points(
    places: npt.NDArray[np.intp], times: Any, q: Any, dq: Any = None, ddq: Any = None
) -> tuple[Array, Array, Array | None, Array | None]:
    """Return times (m,) and points (m, n) of a message in the robot's order.

    Raises
    ------
    ThunderError
        In the terms of ``JointTrajectory``, if there are no points, times do not increase from 0 or later, or positions
        or derivatives are not one number for each joint.
    """
    at = _numbers(times)
    if at is None or at.ndim != 1 or not np.isfinite(at).all():
        raise ThunderError(f"time_from_start of the points must be one number each [s], got {times!r:.80}")
    if at.size == 0:
        raise ThunderError("points must be one at least, with positions and time_from_start, got none")
    if at.size > _MOST_POINTS:
        raise ThunderError(f"points must be at most {_MOST_POINTS}, got {at.size}")
    if at[0] < 0.0:
        raise ThunderError(f"points[0].time_from_start must not be negative, got {at[0]:g} s")
    if not (np.diff(at) > 0.0).all():
        k = int(np.argmin(np.diff(at) > 0.0)) + 1
        now, before = apart(float(at[k]), float(at[k - 1]))
        raise ThunderError(
            f"points[{k}].time_from_start must be later than that of points[{k - 1}], got {now} s after {before} s"
        )
    if q is None:
        raise ThunderError("points must have positions, got none")
    positions = _rows("positions", q, at.size, places)
    velocities, accelerations = (
        None if values is None else _rows(field, values, at.size, places)
        for field, values in (("velocities", dq), ("accelerations", ddq))
    )
    return at, positions, velocities, accelerations


def _numbers(values: Any) -> Array | None:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        return None


def _rows(field: str, values: Any, count: int, places: npt.NDArray[np.intp]) -> Array:
    """Return a field of all points in the robot's order, (count, n)."""
    rows = list(values) if np.iterable(values) else [values]
    if len(rows) != count:
        raise ThunderError(f"points must have one time_from_start each, got {count} of them for {field} of {len(rows)}")
    found = [_numbers(row) for row in rows]
    for k, row in enumerate(found):
        if row is None or row.shape != places.shape or not np.isfinite(row).all():
            raise ThunderError(
                f"points[{k}].{field} must be {places.size} finite numbers, one for each of joint_names,"
                f" got {rows[k]!r:.80}"
            )
    ordered: Array = np.array(found)[:, places]
    return ordered


def nearest_turn(robot: Robot, q: Array, near: Array) -> Array:
    """Return points with whole turns added to joints without limits, so that the first point is nearest to `near`."""
    limits, turning = robot.limits, np.array([kind == "R" for kind in robot.joint_types])
    endless = turning & np.isinf(limits.lower) & np.isinf(limits.upper)
    turns = np.where(endless, np.round((near - q[0]) / (2.0 * math.pi)), 0.0)
    return q + 2.0 * math.pi * turns if turns.any() else q


def make_motion(start: float, times: Array, q: Array, dq: Array | None, ddq: Array | None) -> JointMotion:
    """Return the motion through points.

    Positions alone are joined by a cubic spline from rest to rest, positions and velocities by cubics, with
    accelerations by quintics.

    Parameters
    ----------
    start : float
        Start on the loop's clock [s].
    times : (m,) array
        Times after the start [s], as `read_points` returns them.
    q : (m, n) array
        Positions [rad or m].
    dq, ddq : (m, n) array, optional
        Their derivatives.
    """
    from scipy.interpolate import CubicHermiteSpline

    at, m, still = times, times.size, np.zeros_like(q[0])
    v, a = (np.zeros_like(q) if x is None else x for x in (dq, ddq))
    trajectory = None
    if m > 1 and dq is None:
        trajectory = JointTrajectory(start + at, spline(at, q).coefficients)
    elif m > 1 and ddq is None:
        trajectory = JointTrajectory(start + at, CubicHermiteSpline(at, q, v).c)
    elif m > 1:
        trajectory = JointTrajectory(start + at, quintic_spline(at, q, v, a).coefficients)
    first = JointReference(q[0], v[0], a[0]) if trajectory is None else JointReference(*trajectory.at(start + at[0]))
    last = JointReference(q[-1], still if dq is None else v[-1], a[-1])
    return JointMotion(start + float(at[0]), start + float(at[-1]), trajectory, first, last)


def check_limits(robot: Robot, motion: JointMotion) -> None:
    """Raise `ThunderError` if the motion leaves the robot's limits of position or speed."""
    limits = robot.limits
    q, dq = motion.first.q[None], motion.first.dq[None]
    if motion.trajectory is not None:
        breaks = motion.trajectory.breaks
        part = np.arange(_PER_PIECE) / _PER_PIECE
        times = np.append((breaks[:-1, None] + np.diff(breaks)[:, None] * part).ravel(), breaks[-1])
        q, dq, _ = motion.trajectory(times)
    for j, name in enumerate(robot.joint_names):
        low, high = q[:, j].min(), q[:, j].max()
        if low < limits.lower[j] or high > limits.upper[j]:
            lower, upper, least, most = apart(*map(float, (limits.lower[j], limits.upper[j], low, high)))
            raise ThunderError(f"{name} must stay within {lower} and {upper}, got {least} to {most}")
        fastest = float(np.abs(dq[:, j]).max())
        if fastest > _SLACK * limits.velocity[j]:
            allowed, got = apart(float(limits.velocity[j]), fastest)
            raise ThunderError(f"{name} must not pass {allowed}, got {got} per second")
