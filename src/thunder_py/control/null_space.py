"""The task of a law in task space: its rows, its error and the posture of redundant arms in its null space."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from ..checks import Array, array, of_kind, one_of
from ..errors import ThunderError
from ..kinematics.task_rows import resolve_orientation, resolve_rows
from ..robot import Robot
from ..robot.workspace import within_limits

#: excess over a limit that is rounding [rad or m]
_ROUNDING = 1e-9

#: a posture (n,), the middle of the joint limits, or None for damping alone
PostureLike: TypeAlias = "npt.ArrayLike | Literal['middle'] | None"


def null_space(
    robot: Robot, rows: int, posture: PostureLike, gain: npt.ArrayLike | None, name: str
) -> tuple[Array | None, list[bool], npt.ArrayLike | None]:
    """Return posture, mask of the joints that it attracts and gain, for the core.

    Parameters
    ----------
    robot : Robot
        The arm.
    rows : int
        Rows of the task.
    posture : (n,) array_like, "middle" or None
        Within the joint limits. With ``"middle"`` joints without two finite limits are free, and arms that are not
        redundant have no posture.
    gain : float, (n,) or (n, n) array_like, optional
        Gain of the attraction, checked by the core; None for its default.
    name : str
        Name of the gain in messages.

    Raises
    ------
    ValueError
        If the posture is outside the joint limits, or another argument is invalid.
    """
    everywhere = [True] * of_kind(robot, Robot, "robot").n
    if posture is None:
        if gain is not None:
            raise ThunderError(f"{name} must be None without a posture, got {gain!r:.80}")
        return None, everywhere, None
    if not isinstance(posture, str):
        return within_limits(robot, array(posture, (robot.n,), "posture"), "posture", _ROUNDING), everywhere, gain
    one_of(posture, ("middle",), "posture")
    lower, upper = robot.limits.lower, robot.limits.upper
    limited = np.isfinite(lower) & np.isfinite(upper)
    if rows >= robot.n or not limited.any():
        return None, everywhere, gain
    middle = 0.5 * (np.where(limited, lower, 0.0) + np.where(limited, upper, 0.0))
    return middle, limited.tolist(), gain


def task_arguments(
    robot: Robot,
    rows: Sequence[int | str] | None,
    frame: int | str | None,
    orientation: str,
    posture: PostureLike,
    gain: npt.ArrayLike | None,
    name: str,
) -> tuple[list[int], int | str | None, int, tuple[Array | None, list[bool], npt.ArrayLike | None]]:
    """Return rows, frame, orientation and null space of a law, for the core; the last three as in `null_space`."""
    chosen = resolve_rows(rows)
    secondary = null_space(robot, len(chosen), posture, gain, name)
    return chosen, frame, resolve_orientation(orientation), secondary
