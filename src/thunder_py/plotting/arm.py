"""Any robot in space, as sticks between the origins of its link frames."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..checks import Array, array

if TYPE_CHECKING:
    from ..robot import Robot

__all__ = ["ArmPicture", "arm_frames", "arm_points", "draw_arm", "draw_frame", "frame_box"]

_ARM = "#444444"
#: x, y, z of a frame; red, green and blue as everywhere in robotics, in shades that colour-blind readers tell apart
AXIS_COLORS = ("#D55E00", "#009E73", "#0072B2")
#: length of a frame's axes, as a part of the arm's length
_AXIS = 0.1


def arm_frames(robot: Robot, q: npt.ArrayLike) -> Array:
    """Return poses of the base, of every link frame and of the end effector in the world, (..., n + 2, 4, 4)."""
    frames: list[int | None] = [*range(robot.n + 1), None]
    return np.stack(np.broadcast_arrays(*(robot.forward_kinematics(q, frame) for frame in frames)), axis=-3)


def arm_points(robot: Robot, q: npt.ArrayLike) -> Array:
    """Return the origins of base, link frames and end effector in the world [m], (..., n + 2, 3)."""
    points: Array = arm_frames(robot, q)[..., :3, 3]
    return points


class ArmPicture:
    """An arm that is drawn once and then moved.

    Parameters
    ----------
    axes : Axes3D
        To draw on.
    robot : Robot
        The arm.
    q : (n,) array_like
        Where it stands [rad or m].
    frames : bool
        Draw axes x (red), y (green), z (blue) of base and end effector.
    color : str, optional
        Of the arm.
    alpha : float
        Opacity.
    """

    def __init__(
        self,
        axes: Any,
        robot: Robot,
        q: npt.ArrayLike,
        *,
        frames: bool = True,
        color: str | None = None,
        alpha: float = 1.0,
    ) -> None:
        self.robot = robot
        poses = arm_frames(robot, array(q, (robot.n,), "q"))
        self._length = max(_length(poses[:, :3, 3]), 1e-3)
        style = {"color": color or _ARM, "alpha": alpha}
        (self._sticks,) = axes.plot(*poses[:, :3, 3].T, linewidth=3.0, marker="o", markersize=4.5, **style)
        self._shown = (0, -1) if frames else ()
        self._axes = [draw_frame(axes, poses[k], _AXIS * self._length, alpha) for k in self._shown]

    def move(self, q: npt.ArrayLike) -> None:
        """Draw the arm at another joint position (n,)."""
        poses = arm_frames(self.robot, q)
        self._sticks.set_data_3d(*poses[:, :3, 3].T)
        for lines, k in zip(self._axes, self._shown, strict=True):
            for line, ends in zip(lines, _axis_ends(poses[k], _AXIS * self._length), strict=True):
                line.set_data_3d(*ends.T)


def draw_arm(robot: Robot, q: npt.ArrayLike, ax: Any = None, *, frames: bool = True, color: str | None = None) -> Any:
    """Draw an arm in space.

    Parameters
    ----------
    robot : Robot
        Any arm.
    q : (n,) or (k, n) array_like
        Joint positions [rad or m], of one posture or of several; later ones are darker.
    ax : Axes3D, optional
        To draw on; default a new figure, whose box fits the arm.
    frames : bool
        Draw axes x (red), y (green), z (blue) of base and end effector, in the last posture.
    color : str, optional
        Of the arm.

    Returns
    -------
    Axes3D

    Raises
    ------
    ModelError
        `q` of another shape, or not finite.
    """
    postures = array(q, (robot.n,), "q")[None] if np.ndim(q) < 2 else array(q, (None, robot.n), "q")
    axes = new_space() if ax is None else ax
    shades = np.linspace(1.0, 0.25, len(postures))[::-1]
    for k, posture in enumerate(postures):
        last = k == len(postures) - 1
        ArmPicture(axes, robot, posture, frames=frames and last, color=color, alpha=float(shades[k]))
    if ax is None:
        frame_box(axes, [arm_points(robot, postures)])
    return axes


def draw_frame(axes: Any, T: Array, length: float, alpha: float = 1.0) -> list[Any]:
    """Draw a frame's axes x (red), y (green) and z (blue), and return the three lines.

    Parameters
    ----------
    axes : Axes3D
    T : (4, 4) array
        Pose of the frame.
    length : float
        Of each axis [m].
    alpha : float
        Opacity.
    """
    ends = _axis_ends(T, length)
    return [
        axes.plot(*line.T, color=color, linewidth=1.8, alpha=alpha)[0]
        for line, color in zip(ends, AXIS_COLORS, strict=True)
    ]


def frame_box(axes: Any, points: Sequence[Array], margin: float = 0.08) -> None:
    """Make the box of axes hold some points (..., 3), with equal scales; what is NaN does not count."""
    every = np.concatenate([np.reshape(p, (-1, 3)) for p in points])
    every = every[np.isfinite(every).all(axis=1)]
    low, high = (every.min(axis=0), every.max(axis=0)) if len(every) else (np.zeros(3), np.ones(3))
    size = max(float((high - low).max()), 1e-3)
    # a flat box would squeeze numbers of its short sides into each other
    half = np.maximum((high - low) / 2.0, 0.2 * size) + margin * size
    middle = (low + high) / 2.0
    for name, centre, reach in zip("xyz", middle, half, strict=True):
        getattr(axes, f"set_{name}lim")(centre - reach, centre + reach)
        getattr(axes, f"set_{name}label")(f"{name} [m]")
        getattr(axes, f"{name}axis").set_major_locator(_ticks())
    axes.set_aspect("equal")


def new_space() -> Any:
    """Return 3-D axes in a new figure of pyplot."""
    from matplotlib.pyplot import figure

    return figure(figsize=(5.5, 5.0), layout="constrained").add_subplot(projection="3d")


def _ticks() -> Any:
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(4)


def _axis_ends(T: Array, length: float) -> Array:
    """Return both ends of the three axes, (3, 2, 3)."""
    origin = np.broadcast_to(T[:3, 3], (3, 3))
    return np.stack([origin, origin + length * T[:3, :3].T], axis=1)


def _length(points: Array) -> float:
    return float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())
