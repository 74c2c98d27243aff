"""Joint motion along a path of poses."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from ..checks import Array, array, of_kind, whole
from ..errors import ThunderError
from ..reference import TaskReference
from ..robot import Robot
from ..robot.workspace import within_limits
from ..trajectory import JointTrajectory, quintic_spline, spline
from .inverse import InverseKinematics
from .task_rows import resolve_rows

#: largest distance from the path between samples [m, rad]
_OFF = 1e-4
#: twists below this part of the largest one are zero
_ZERO = 1e-9


def joint_path(
    robot: Robot,
    path: Callable[[npt.ArrayLike], TaskReference],
    q0: npt.ArrayLike,
    *,
    frame: int | str | None = None,
    rows: Sequence[int | str] | None = None,
    samples: int = 200,
) -> JointTrajectory:
    """Return the joint motion along a path of poses, at the same times.

    Parameters
    ----------
    robot : Robot
        The arm.
    path : callable
        Task reference with a `duration`, such as `thunder_py.trajectory.Path` or a plan of poses.
    q0 : (n,) array_like
        Joint positions from which the first pose is solved for; they select the branch [rad or m].
    frame : int or str, optional
        Frame that moves along the path, default the end effector.
    rows : sequence of int or str, optional
        Rows of the pose to follow, some of ``x y z rx ry rz``, default all.
    samples : int
        Number of equal parts of the duration; between their ends the motion is a spline.

    Returns
    -------
    JointTrajectory
        Quintic spline if the path starts and ends at rest without acceleration, else a cubic one.

    Raises
    ------
    ThunderError
        If `q0` is outside the position limits, the path rests, a pose is out of reach, or the motion leaves the path by
        more than 0.1 mm or 0.1 mrad between samples.

    Notes
    -----
    Each pose is solved for by `InverseKinematics` from the joint positions of the one before. A redundant arm takes the
    steps of least norm.

    Examples
    --------
    >>> import thunder_py as th
    >>> from thunder_py.trajectory import Line, Orientation
    >>> robot, q0 = th.Robot.load("panda"), [0.0, -0.3, 0.0, -2.0, 0.0, 1.8, 0.7]
    >>> start = robot.forward_kinematics(q0)
    >>> line = Line(start[:3, 3], start[:3, 3] + [0.0, 0.3, 0.1], 2.0, orientation=start[:3, :3])
    >>> motion = th.kinematics.joint_path(robot, line, q0)
    >>> bool(abs(robot.forward_kinematics(motion(0.77).q)[:3, 3] - line(0.77).p).max() < 1e-6)
    True
    """
    of_kind(robot, Robot, "robot")
    start_time, duration = float(getattr(path, "start_time", 0.0)), getattr(path, "duration", None)
    if duration is None:
        raise ThunderError(f"path must have a duration, which a {type(path).__name__} has not")
    t = np.linspace(start_time, start_time + float(duration), whole(samples, "samples", 4) + 1)
    at = path(t)
    if not hasattr(at, "R"):
        raise ThunderError(f"path must be a reference of poses, got a {type(path).__name__}")
    q = _solved(robot, at, within_limits(robot, array(q0, (robot.n,), "q0"), "q0"), frame, rows, t)
    ends = np.array([0, -1])
    size = np.abs(at.xi).max()
    if not size > 0.0:
        raise ThunderError("path must move, got a constant pose")
    if max(np.abs(at.xi[ends]).max(), np.abs(at.xi_dot[ends]).max() * duration) <= _ZERO * size:
        motion = quintic_spline(t, q)
    else:
        J = robot.jacobian(q[ends], frame=frame)[:, resolve_rows(rows)]
        v0, v1 = np.einsum("kij,kj->ki", np.linalg.pinv(J), at.xi[ends][:, resolve_rows(rows)])
        motion = spline(t, q, start_velocity=v0, end_velocity=v1)
    _check_between(robot, path, motion, frame, rows, t)
    return motion


def _solved(
    robot: Robot, at: TaskReference, q0: Array, frame: int | str | None, rows: Sequence[int | str] | None, t: Array
) -> Array:
    """Return the joint positions of all poses, each solved for from the one before."""
    solver = InverseKinematics(robot, frame, rows=rows, restarts=0, tolerance=1e-10)
    T = np.tile(np.eye(4), (t.size, 1, 1))
    T[:, :3, :3], T[:, :3, 3] = at.R, at.p
    q, found = np.asarray(q0), []
    for k in range(t.size):
        solution = solver.solve(T[k], q)
        if not solution.success:
            raise ThunderError(
                f"path must stay within reach and joint limits, but the pose at {t[k]:.4g} s has an error of "
                f"{float(solution.error):.3g}, solved for from the one before: move the path, or start from another q0"
            )
        q = solution.q
        found.append(q)
    return np.array(found)


def _check_between(
    robot: Robot,
    path: Callable[[npt.ArrayLike], TaskReference],
    motion: JointTrajectory,
    frame: int | str | None,
    rows: Sequence[int | str] | None,
    t: Array,
) -> None:
    """Refuse a motion that leaves the path between its samples."""
    middle = 0.5 * (t[1:] + t[:-1])
    at, T = path(middle), robot.forward_kinematics(motion(middle).q, frame=frame)
    turn = at.R @ T[:, :3, :3].transpose(0, 2, 1)
    spin = 0.5 * np.stack([turn[:, i, j] - turn[:, j, i] for i, j in ((2, 1), (0, 2), (1, 0))], axis=1)
    error = np.abs(np.hstack([at.p - T[:, :3, 3], spin])[:, resolve_rows(rows)]).max(axis=1)
    if error.max() > _OFF:
        raise ThunderError(
            f"samples must be more than {t.size - 1}: between them the joints leave the path by {error.max():.3g} m or "
            f"rad at {middle[error.argmax()]:.4g} s; near a singularity, move the path or start from another q0"
        )
