"""Numeric inverse kinematics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .. import _core
from ..checks import ROTATION_TOLERANCE, Array, no_rotation, of_kind, one_of, positive, whole
from ..errors import ThunderError
from ..robot import Robot
from .task_rows import resolve_rows

METHODS = ("levenberg_marquardt", "gradient_descent")
_ITERATIONS = {"levenberg_marquardt": 1000, "gradient_descent": 5000}
_TOLERANCE = {"levenberg_marquardt": 1e-8, "gradient_descent": 1e-4}


class IKSolution(NamedTuple):
    """Result of numeric inverse kinematics; leading axes are those of the targets.

    Attributes
    ----------
    q : (..., n) array
        Best joint positions, within limits [rad or m].
    success : (...) bool array
        True if the error is within the tolerance.
    error : (...) array
        Norm of the error in the chosen rows, meters and radians together.
    iterations : (...) int array
        Iterations of all starts.
    restarts : (...) int array
        Starts after the first one.

    Examples
    --------
    >>> import thunder_py as th
    >>> robot = th.Robot.load("panda")
    >>> target = robot.forward_kinematics([0.0, -0.3, 0.0, -2.0, 0.0, 1.8, 0.7])
    >>> solution = th.kinematics.InverseKinematics(robot).solve(target)
    >>> solution.q.shape, bool(solution.success), bool(solution.error < 1e-8)
    ((7,), True, True)
    """

    q: Array
    success: npt.NDArray[np.bool_]
    error: Array
    iterations: npt.NDArray[np.int64]
    restarts: npt.NDArray[np.int64]


class InverseKinematics(_core.InverseKinematics):
    """Numeric inverse kinematics within joint limits.

    Parameters
    ----------
    robot : Robot
        The arm.
    frame : int or str, optional
        Frame to place, default the end effector.
    rows : sequence of int or str, optional
        Rows of the pose error, some of ``x y z rx ry rz`` in world axes, default all.
    method : {"levenberg_marquardt", "gradient_descent"}
        ``q += J' (J J' + mu |e|^2)^-1 e``, with mu decreased after a successful step and increased otherwise; or
        ``q += gamma J' e`` (lecture 15), which is slower.
    limits : bool
        Enforce the robot's position limits: steps are truncated at them, and joints that would leave them are held.
        Revolute joints with a range of at least one turn go on a turn back instead.
    restarts : int
        Number of further random starts, within limits (within half a turn for joints without limits), in the order of
        the distance of their poses from the target.
    seed : int
        Seed of the random starts, the same for every target: a batch gives the same results as single targets.
    tolerance : float, optional
        Tolerance of the error's norm, meters and radians together; default 1e-8, or 1e-4 for gradient descent.
    max_iterations : int, optional
        Limit for each start; default 1000, or 5000 for gradient descent.
    learning_rate : float, optional
        Constant gamma of gradient descent, as in the lecture; default the optimum of the linearized arm, halved when
        the error grows.

    Raises
    ------
    ValueError
        If an argument is invalid or does not fit `method`.

    Notes
    -----
    The error is p_d - p and the rotation vector from the actual to the desired orientation. Damping by the squared
    error as in Sugihara (2011), its factor adjusted as by Nielsen (1999). A target out of reach takes all
    restarts, some milliseconds.

    Examples
    --------
    >>> import thunder_py as th
    >>> robot = th.Robot.load("panda")
    >>> q = [[0.0, -0.3, 0.0, -2.0, 0.0, 1.8, 0.7], [0.5, 0.2, 0.1, -1.5, 0.3, 1.6, 0.2]]
    >>> targets = robot.forward_kinematics(q)
    >>> solution = th.kinematics.InverseKinematics(robot).solve(targets)
    >>> solution.success.tolist(), bool(abs(robot.forward_kinematics(solution.q) - targets).max() < 1e-6)
    ([True, True], True)
    """

    def __init__(
        self,
        robot: Robot,
        frame: int | str | None = None,
        *,
        rows: Sequence[int | str] | None = None,
        method: str = "levenberg_marquardt",
        limits: bool = True,
        restarts: int = 100,
        seed: int = 0,
        tolerance: float | None = None,
        max_iterations: int | None = None,
        learning_rate: float | None = None,
    ) -> None:
        of_kind(robot, Robot, "robot")
        one_of(method, METHODS, "method")
        if learning_rate is not None and method != "gradient_descent":
            raise ThunderError(f"learning_rate must be None for method {method!r}: only 'gradient_descent' uses it")
        mask = sum(1 << row for row in resolve_rows(rows))
        free = np.full(robot.n, np.inf)
        super().__init__(
            robot,
            frame,
            mask,
            method == "levenberg_marquardt",
            positive(_TOLERANCE[method] if tolerance is None else tolerance, "tolerance"),
            whole(_ITERATIONS[method] if max_iterations is None else max_iterations, "max_iterations", 1),
            0.0 if learning_rate is None else positive(learning_rate, "learning_rate"),
            robot.limits.lower if limits else -free,
            robot.limits.upper if limits else free,
            _starts(robot, whole(restarts, "restarts", 0), whole(seed, "seed", 0)),
        )

    def solve(
        self,
        T: npt.ArrayLike,
        q0: npt.ArrayLike | None = None,
        *,
        threads: int = 1,
        raise_on_failure: bool = False,
    ) -> IKSolution:
        """Solve for one or many poses; a pose out of reach gives the configuration with the smallest error.

        Parameters
        ----------
        T : (..., 4, 4) array_like
            Poses in the world.
        q0 : (n,) or (..., n) array_like, optional
            First start [rad or m]; default the middle of the limits. The result need not be the solution nearest to it.
        threads : int
            Number of threads that share the targets; 0 is one per core.
        raise_on_failure : bool
            Raise instead of returning ``success`` False.

        Returns
        -------
        IKSolution
            Joint positions, success and error of each target.

        Raises
        ------
        ThunderError
            For an invalid pose, or with `raise_on_failure` if a target was not reached.
        """
        targets = _poses(T)
        batch = targets.shape[:-2]
        start = None if q0 is None else _start(q0, batch, self.n)
        q, *others = self._solve(targets.reshape(-1, 4, 4), start, whole(threads, "threads", 0, 1024))
        solution = IKSolution(q.reshape(*batch, self.n), *(part.reshape(batch) for part in others))
        if raise_on_failure and not solution.success.all():
            failed = int((~solution.success).sum())
            raise ThunderError(
                f"inverse kinematics failed for {failed} of {solution.success.size} targets: the largest error is "
                f"{solution.error.max():.3g} after {int(solution.restarts.max())} restarts; check reach and limits"
            )
        return solution


def _starts(robot: Robot, restarts: int, seed: int) -> Array:
    """Return the middle of the joint ranges and random points within them, (restarts + 1, n)."""
    lower, upper = robot.limits.lower, robot.limits.upper
    bound = np.where([kind == "R" for kind in robot.joint_types], np.pi, 1.0)
    low = np.where(np.isfinite(lower), lower, np.where(np.isfinite(upper), upper - 2 * bound, -bound))
    high = np.where(np.isfinite(upper), upper, low + 2 * bound)
    random = np.random.default_rng(seed).uniform(low, high, (restarts, robot.n))
    return np.vstack([0.5 * (low + high), random])


def _poses(T: npt.ArrayLike) -> Array:
    try:
        targets = np.ascontiguousarray(T, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ThunderError(f"T must be numbers of shape (..., 4, 4), got {T!r}") from error
    if targets.ndim < 2 or targets.shape[-2:] != (4, 4):
        raise ThunderError(f"T must have shape (..., 4, 4), got {targets.shape}")
    R = targets[..., :3, :3]
    with np.errstate(invalid="ignore"):
        orthonormal = np.abs(np.swapaxes(R, -1, -2) @ R - np.eye(3)).max(axis=(-2, -1), initial=0.0)
        valid = np.isfinite(targets).all(axis=(-2, -1)) & (orthonormal <= ROTATION_TOLERANCE)
        valid &= (targets[..., 3, :] == (0.0, 0.0, 0.0, 1.0)).all(axis=-1)
    valid = valid & (np.linalg.det(np.where(valid[..., None, None], R, np.eye(3))) > 0.0)
    if not valid.all():
        index = np.unravel_index(int(np.argmin(valid)), valid.shape) if valid.ndim else ()
        where = f"T[{', '.join(map(str, index))}]" if index else "T"
        wrong = no_rotation(R[index])
        why = f", got {targets[index].tolist()}" if wrong is None else f"; it must hold {wrong}"
        raise ThunderError(f"{where} must be a pose, a rotation and the last row [0, 0, 0, 1]{why}")
    return targets


def _start(q0: npt.ArrayLike, batch: tuple[int, ...], n: int) -> Array:
    value = np.asarray(q0, dtype=np.float64)
    if value.ndim < 1 or value.shape[-1] != n or not np.isfinite(value).all():
        raise ThunderError(f"q0 must be finite, of shape ({n},) or (..., {n}), got shape {value.shape}")
    if value.ndim == 1:
        return value.reshape(1, n)
    try:
        return np.broadcast_to(value, (*batch, n)).reshape(-1, n)
    except ValueError as error:
        raise ThunderError(f"q0 must have shape ({n},) or {(*batch, n)} as the targets, got {value.shape}") from error
