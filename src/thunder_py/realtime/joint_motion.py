"""Trajectories of messages as motions that the loop follows."""

from __future__ import annotations

import numpy as np

from .. import _core
from ..checks import Array
from ..errors import ThunderError
from ..reference import JointReference
from ..robot import Robot
from ..trajectory.joint import JointTrajectory, increasing, spline
from ..trajectory.timing import quintic_coefficients

__all__ = ["JointMotion", "check_limits", "make_motion"]

#: samples of each piece at which limits are checked
_PER_PIECE = 8
_SLACK = 1.001


class JointMotion(_core.JointMotion):
    """A trajectory on the loop's clock; after its end the last position at rest.

    Parameters
    ----------
    start, end : float
        Times [s].
    trajectory : JointTrajectory or None
        None for a single point.
    first, last : JointReference
        References at its start and end.
    """

    def __init__(
        self,
        start: float,
        end: float,
        trajectory: JointTrajectory | None,
        first: JointReference,
        last: JointReference,
    ) -> None:
        super().__init__(start, end, trajectory, first, last)
        self.trajectory, self.first = trajectory, first


def make_motion(start: float, times: Array, q: Array, dq: Array | None, ddq: Array | None) -> JointMotion:
    """Return the motion through points.

    Positions alone are joined by a cubic spline from rest to rest, positions and velocities by cubics, with
    accelerations by quintics.

    Parameters
    ----------
    start : float
        Start on the loop's clock [s].
    times : (m,) array
        Times after the start [s], increasing, the first one not negative.
    q : (m, n) array
        Positions [rad or m].
    dq, ddq : (m, n) array, optional
        Their derivatives.
    """
    at = increasing(times, "times", 1)
    if at[0] < 0.0:
        raise ThunderError(f"times must not be negative, got {at[0]:g}")
    if not np.isfinite(q).all() or any(x is not None and not np.isfinite(x).all() for x in (dq, ddq)):
        raise ThunderError("points must be finite")
    from scipy.interpolate import CubicHermiteSpline

    m, still = at.size, np.zeros_like(q[0])
    v, a = (np.zeros_like(q) if x is None else x for x in (dq, ddq))
    trajectory = None
    if m > 1 and dq is None:
        trajectory = JointTrajectory(start + at, spline(at, q).coefficients)
    elif m > 1 and ddq is None:
        trajectory = JointTrajectory(start + at, CubicHermiteSpline(at, q, v).c)
    elif m > 1:
        T = np.diff(at)[:, None]
        pieces = quintic_coefficients(T, q[:-1], v[:-1], a[:-1], q[1:], v[1:], a[1:])
        trajectory = JointTrajectory(start + at, pieces)
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
            raise ThunderError(f"{name} must stay within {limits.lower[j]:g} and {limits.upper[j]:g}, "
                               f"got {low:g} to {high:g}")  # fmt: skip
        if np.abs(dq[:, j]).max() > _SLACK * limits.velocity[j]:
            raise ThunderError(
                f"{name} must not pass {limits.velocity[j]:g}, got {np.abs(dq[:, j]).max():g} per second"
            )
