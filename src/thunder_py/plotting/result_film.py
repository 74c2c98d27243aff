"""A run as a film: the arm, the way of its end effector, and the way it was asked for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..checks import Array, array
from ..errors import ThunderError
from .animation import animate, save_animation

if TYPE_CHECKING:
    from matplotlib.animation import FuncAnimation

    from ..result import Result
    from ..robot import Robot
    from .meshes import Meshes

__all__ = ["animate_result", "reference_path", "robot_of"]

#: points of a drawn path
_POINTS = 400


def animate_result(
    result: Result,
    path: str | Path | None = None,
    *,
    robot: Robot | None = None,
    reference: Callable[[float], Any] | None = None,
    meshes: Meshes | None = None,
    seconds_per_second: float = 1.0,
    fps: float = 20.0,
    dpi: int = 72,
) -> FuncAnimation:
    """Show a run as a film; see `Result.animate`."""
    arm = robot_of(result, robot)
    line = None if reference is None else reference_path(arm, reference, result.t)
    film = animate(arm, result.t, result.q, path=line, meshes=meshes, seconds_per_second=seconds_per_second, fps=fps)
    if path is not None:
        from matplotlib.pyplot import close

        close(film._fig)  # type: ignore[attr-defined]  # it is in the file; nobody needs a window
        save_animation(film, path, dpi=dpi)
    return film


def robot_of(result: Result, robot: Robot | None = None) -> Robot:
    """Return the robot to draw a run with: the given one, or the plant.

    Raises
    ------
    ThunderError
        The run was of a plant written in Python and no robot is given, or it has another number of joints.
    """
    arm = result.plant if robot is None else robot
    if arm is None:
        raise ThunderError(
            "robot must be given: the plant of this run was no Robot, so nobody knows what it looks like"
        )
    if arm.n != result.q.shape[1]:
        raise ThunderError(f"robot must have {result.q.shape[1]} joints as in the run, got {arm.n} ({arm.name})")
    return arm


def reference_path(robot: Robot, reference: Callable[[float], Any], t: Array) -> Array:
    """Return where a reference takes the end effector, (k, 3) [m].

    Parameters
    ----------
    robot : Robot
    reference : callable
        Called with a time; returns something with ``p`` (3,), or with ``q`` (n,), whose forward kinematics is taken.
    t : (T,) array
        Times of the run [s].
    """
    times = np.linspace(t[0], t[-1], min(_POINTS, max(len(t), 2)))
    values = [reference(float(time)) for time in times]
    if all(hasattr(value, "p") for value in values):
        return np.array([array(value.p, (3,), "reference(t).p") for value in values])
    if all(hasattr(value, "q") for value in values):
        q = np.array([array(value.q, (robot.n,), "reference(t).q") for value in values])
        points: Array = robot.forward_kinematics(q)[:, :3, 3]
        return points
    raise ThunderError(f"reference must return something with p or q, got {type(values[0]).__name__}")
