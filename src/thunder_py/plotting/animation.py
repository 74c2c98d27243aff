"""Animation of an arm for notebooks, GIF and MP4 files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..checks import Array, array, numbers, positive
from ..errors import ThunderError
from ..files import whole_file
from .arm import ArmPicture, arm_points, frame_box, new_space
from .style import BLUE, GREEN, ORANGE, PINK, PURPLE, SKY, VERMILION

if TYPE_CHECKING:
    from matplotlib.animation import FuncAnimation

    from ..robot import Robot
    from .meshes import Meshes

__all__ = ["animate", "film_times", "interpolated", "save_animation"]

_PATH, _TRACE = GREEN, BLUE
_POINTS = (VERMILION, PURPLE, ORANGE, SKY, PINK)
#: most frames of a film; more indicate a wrong unit of t
_MOST = 5000


def animate(
    robot: Robot,
    t: npt.ArrayLike,
    q: npt.ArrayLike,
    *,
    path: npt.ArrayLike | None = None,
    points: Mapping[str, npt.ArrayLike] | None = None,
    meshes: Meshes | None = None,
    playback_speed: float = 1.0,
    fps: float = 20,
) -> FuncAnimation:
    """Animate a motion of an arm with a trace of the end effector.

    Parameters
    ----------
    robot : Robot
        Any arm.
    t : (T,) array_like
        Ascending times [s], at least two; frames between them are interpolated.
    q : (T, n) array_like
        Joint positions [rad or m].
    path : (K, 3) array_like, optional
        Static line, such as the planned path [m]; NaN interrupts it.
    points : mapping of str to (T, 3) array_like, optional
        Moving points, such as an object, by their names in the legend [m]; NaN hides a point.
    meshes : Meshes, optional
        Meshes of the links, from the URDF that the robot was loaded from.
    playback_speed : float
        Seconds of the motion in each second of the film: 0.5 is half the speed.
    fps : float
        Frames per second of the film.

    Returns
    -------
    matplotlib.animation.FuncAnimation
        Animation on a new figure of pyplot. Save it with `save_animation` or show it in a notebook with ``to_jshtml``,
        then close the figure.

    Raises
    ------
    ThunderError
        If shapes do not match, times do not ascend, or the film has more than 5000 frames.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> import thunder_py as th
    >>> robot = th.Robot.load("scara")
    >>> film = th.plotting.animate(robot, [0.0, 1.0], [[0, 0, 0, 0], [1.0, 0.5, 0.1, 0]], fps=1)
    >>> "<script" in film.to_jshtml()
    True
    >>> plt.close()
    """
    from matplotlib.animation import FuncAnimation

    times, postures = _motion(robot, t, q)
    tracks = {name: _moving(value, len(times), name) for name, value in (points or {}).items()}
    line = None if path is None else _rows(path, "path")
    instants = film_times(times, playback_speed, fps)
    moving = {name: interpolated(times, values, instants) for name, values in tracks.items()}
    film = _Film(robot, interpolated(times, postures, instants), instants, moving, line, meshes)
    return FuncAnimation(film.figure, film.show, frames=len(instants), interval=1000.0 / fps, blit=False)


def save_animation(animation: FuncAnimation, file: str | Path, *, dpi: int = 72) -> None:
    """Write an animation to a file.

    Parameters
    ----------
    animation : FuncAnimation
        Animation of `animate`, or any other.
    file : str or path
        File name that ends in ``.gif``, or in ``.mp4``, which needs the program ffmpeg.
    dpi : int
        Dots per inch; the default keeps a GIF of some seconds below a megabyte.

    Raises
    ------
    ThunderError
        If the suffix is another, the folder does not exist, ffmpeg is missing, or `dpi` is not positive.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import matplotlib.pyplot as plt
    >>> import thunder_py as th
    >>> film = th.plotting.animate(th.Robot.load("elbow"), [0.0, 0.1], [[0.0, 0.0], [0.2, 0.1]], fps=10)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     th.plotting.save_animation(film, f"{folder}/arm.gif", dpi=30)
    ...     Path(folder, "arm.gif").exists()
    True
    >>> plt.close()
    """
    from matplotlib.animation import writers

    target = Path(file)
    kinds = {".gif": "pillow", ".mp4": "ffmpeg"}
    if target.suffix not in kinds:
        raise ThunderError(f"file must end in .gif or .mp4, got {str(target)!r}")
    if not target.parent.is_dir():
        raise ThunderError(
            f"file must be in an existing folder, got {str(target)!r}: there is no folder {str(target.parent)!r}"
        )
    if target.suffix == ".mp4" and not writers.is_available("ffmpeg"):
        raise ThunderError("file must end in .gif, because MP4 needs the program ffmpeg, which is not installed")
    dots = positive(dpi, "dpi")
    with whole_file(target) as temporary:
        animation.save(temporary, writer=kinds[target.suffix], dpi=dots)


class _Film:
    """Artists of the animation and their update."""

    def __init__(
        self,
        robot: Robot,
        q: Array,
        t: Array,
        points: dict[str, Array],
        path: Array | None,
        meshes: Meshes | None,
    ) -> None:
        self._q, self._t, self._points = q, t, points
        sticks = arm_points(robot, q)
        self._tips = sticks[:, -1]
        self._axes: Any = new_space()
        self.figure = self._axes.figure
        frame_box(self._axes, [sticks, *points.values(), *([] if path is None else [path])])
        if path is not None:
            self._axes.plot(*path.T, color=_PATH, linewidth=3.0, alpha=0.5, label="path")
        self._arm = ArmPicture(self._axes, robot, q[0], meshes=meshes)
        self._trace = self._axes.plot([], [], [], color=_TRACE, linewidth=1.2)[0]
        self._marks = {
            name: self._axes.plot([], [], [], "o", color=_POINTS[k % len(_POINTS)], markersize=7, label=name)[0]
            for k, name in enumerate(points)
        }
        self._clock = self._axes.text2D(0.02, 0.96, "", transform=self._axes.transAxes)
        if points or path is not None:
            self._axes.legend(loc="upper right", fontsize="small")
        # one layout for all frames
        self.figure.draw_without_rendering()
        self.figure.set_layout_engine("none")

    def show(self, k: int) -> list[Any]:
        self._arm.move(self._q[k])
        self._trace.set_data_3d(*self._tips[: k + 1].T)
        for name, mark in self._marks.items():
            mark.set_data_3d(*self._points[name][k : k + 1].T)
        self._clock.set_text(f"{self._t[k]:.2f} s")
        return []


def _motion(robot: Robot, t: npt.ArrayLike, q: npt.ArrayLike) -> tuple[Array, Array]:
    times = array(t, (None,), "t")
    return times, array(q, (len(times), robot.n), "q")


def _rows(value: npt.ArrayLike, what: str) -> Array:
    rows = numbers(value, what, 2)
    if rows.shape[1] != 3:
        raise ThunderError(f"{what} must have shape (n, 3), got {rows.shape}")
    return rows


def _moving(value: npt.ArrayLike, count: int, name: str) -> Array:
    rows = _rows(value, f"points[{name!r}]")
    if len(rows) != count:
        raise ThunderError(f"points[{name!r}] must have a row for each of the {count} times, got {len(rows)}")
    return rows


def film_times(t: Array, playback_speed: float, fps: float) -> Array:
    """Return the times of the frames of a film: evenly spaced, both ends included.

    Raises
    ------
    ThunderError
        If times do not ascend, a number is not positive, or there are more than 5000 frames.
    """
    if len(t) < 2 or not (np.diff(t) > 0.0).all():
        raise ThunderError(f"t must be at least two ascending times, got {len(t)}")
    speed, fps = positive(playback_speed, "playback_speed"), positive(fps, "fps", "1/s")
    duration = t[-1] - t[0]
    count = int(np.ceil(duration * fps / speed - 1e-9)) + 1
    if count > _MOST:
        raise ThunderError(f"a film must have at most {_MOST} frames, got {count}; raise playback_speed or lower fps")
    instants: Array = np.minimum(t[0] + np.arange(count) * speed / fps, t[-1])
    return instants


def interpolated(t: Array, values: Array, when: Array) -> Array:
    """Interpolate columns linearly; NaN spreads to adjacent times."""
    return np.stack([np.interp(when, t, column) for column in values.T], axis=-1)
