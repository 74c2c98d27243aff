"""MuJoCo's viewer: an arm with a slider for every joint, or a repeated motion."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..checks import Array, array
from ..errors import ThunderError
from ..optional import require
from ..robot import Robot
from .rendering import has_display, posture
from .scene import stage

if TYPE_CHECKING:
    from ..io.meshes import Meshes

_PERIOD = 0.02  # [s]
_PAUSE = 0.5  # between two repetitions [s]


def view(
    robot: Robot | str | Path,
    q: npt.ArrayLike | None = None,
    *,
    t: npt.ArrayLike | None = None,
    meshes: Meshes | None = None,
    seconds: float | None = None,
) -> None:
    """Open a window with a robot, and return when it is closed.

    The sliders under "Control" set the joint positions [rad or m].

    Parameters
    ----------
    robot : Robot or path-like
        A robot, or an MJCF file.
    q : (n,) or (T, n) array_like, optional
        Initial joint positions [rad or m]; with `t`, a motion to play. Default the middle of the limits.
    t : (T,) array_like, optional
        Times of a motion [s], ascending.
    meshes : Meshes, optional
        Meshes of the links, from the URDF from which the robot was loaded.
    seconds : float, optional
        Time after which the window closes [s].

    Raises
    ------
    ThunderError
        If there is no display, or an argument is invalid.
    MissingExtraError
        If MuJoCo is not installed.

    Examples
    --------
    >>> import numpy as np
    >>> import thunder_py as th
    >>> from thunder_py.mujoco import view
    >>> from thunder_py.mujoco.rendering import has_display
    >>> robot, t = th.Robot.load("panda"), np.linspace(0.0, 2.0, 41)
    >>> if has_display():
    ...     view(robot, np.outer(np.sin(t), np.full(7, 0.3)), t=t, seconds=0.1)
    """
    if not has_display():
        raise ThunderError("there is no display to open a window on; render() and render_video() work without one")
    viewer = require("mujoco.viewer", "mujoco")
    where = stage(robot, meshes, sliders=True)
    times, rows = _motion(t, q, where.n)
    where.data.ctrl[:] = posture(where, q if times is None else rows[0])
    with viewer.launch_passive(where.model, where.data, show_left_ui=False) as window:
        window.cam.azimuth, window.cam.elevation = 140.0, -18.0
        window.cam.lookat[:], window.cam.distance = where.center, 2.8 * where.radius
        start = time.monotonic()
        while window.is_running() and (seconds is None or time.monotonic() - start < seconds):
            with window.lock():
                if times is not None:
                    where.data.ctrl[:] = _at(times, rows, time.monotonic() - start)
                where.move(np.array(where.data.ctrl))
            window.sync()
            time.sleep(_PERIOD)


def _motion(t: npt.ArrayLike | None, q: npt.ArrayLike | None, n: int) -> tuple[Array | None, Array]:
    if t is None:
        return None, np.zeros((0, n))
    times = array(t, (None,), "t")
    if len(times) < 2 or not (np.diff(times) > 0.0).all():
        raise ThunderError(f"t must be at least two ascending times, got {len(times)}")
    return times, array(q, (len(times), n), "q")


def _at(t: Array, rows: Array, seconds: float) -> Array:
    """Return the posture of a repeated motion."""
    now = t[0] + seconds % (t[-1] - t[0] + _PAUSE)
    return np.array([np.interp(now, t, column) for column in rows.T])
