"""Drawings of robots in 3-D: sticks between the origins of link frames, joints by type, or meshes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from ..checks import Array, array
from ..errors import ModelError
from .ellipsoid import ELLIPSOID_COLORS, draw_ellipsoid
from .shapes import Triangles, box, cylinder, shaded, together
from .style import ARM, AXIS_COLORS, GRAY, ORANGE

if TYPE_CHECKING:
    from ..robot import Robot
    from .meshes import Meshes

__all__ = [
    "ArmPicture",
    "arm_frames",
    "arm_points",
    "default_posture",
    "draw_arm",
    "draw_frame",
    "draw_sticks",
    "frame_box",
    "joint_bodies",
    "joint_frames",
]

#: length of a frame's axes, half length and radius of a cylinder, half edge of a box, relative to the arm's length
_AXIS, _HALF, _RADIUS, _EDGE = 0.1, 0.035, 0.022, 0.025
#: an ellipsoid's longest half axis relative to the arm's length
_LONGEST = 0.25
#: most postures in one picture
_GHOSTS = 12


def default_posture(robot: Robot) -> Array:
    """Return the default posture of drawings: the middle of joint limits, else the position nearest to 0."""
    lower, upper = robot.limits.lower, robot.limits.upper
    finite = np.isfinite(lower) & np.isfinite(upper)
    middle = 0.5 * (np.where(finite, lower, 0.0) + np.where(finite, upper, 0.0))
    return np.where(finite, middle, np.clip(0.0, lower, upper))


def arm_frames(robot: Robot, q: npt.ArrayLike) -> Array:
    """Return poses of the base, of every link frame and of the end effector in the world, (..., n + 2, 4, 4)."""
    frames: list[int | None] = [*range(robot.n + 1), None]
    return np.stack(np.broadcast_arrays(*(robot.forward_kinematics(q, frame) for frame in frames)), axis=-3)


def arm_points(robot: Robot, q: npt.ArrayLike) -> Array:
    """Return the origins of base, link frames and end effector in the world [m], (..., n + 2, 3)."""
    points: Array = arm_frames(robot, q)[..., :3, 3]
    return points


def joint_frames(robot: Robot, q: npt.ArrayLike) -> Array:
    """Return the joint frames in the world before the joint motion, with z along the axes, (..., n, 4, 4)."""
    poses = robot.description.placements @ np.array([_z_along(axis) for axis in robot.description.axes])
    frames: Array = arm_frames(robot, q)[..., : robot.n, :, :] @ poses
    return frames


def joint_bodies(robot: Robot, q: npt.ArrayLike, size: float) -> list[Triangles]:
    """Return a body for each joint in the world: cylinders for revolute, boxes for prismatic joints.

    Parameters
    ----------
    robot : Robot
    q : (n,) array_like
        Joint positions [rad or m].
    size : float
        Length of the arm [m], which scales the bodies.
    """
    revolute = cylinder(_RADIUS * size, 2.0 * _HALF * size)
    prismatic = box(size * np.array([2.0 * _EDGE, 2.0 * _EDGE, 3.0 * _EDGE]))
    kinds = {"R": revolute, "P": prismatic}
    return [kinds[kind].placed(T) for kind, T in zip(robot.joint_types, joint_frames(robot, q), strict=True)]


class ArmPicture:
    """Drawing of an arm that can be moved.

    Parameters
    ----------
    axes : Axes3D
        Axes to draw on.
    robot : Robot
        The arm.
    q : (n,) array_like
        Joint positions [rad or m].
    frames : bool or "all"
        Draw axes x (red), y (green), z (blue) of base and end effector, or of all links as well.
    color : str, optional
        Color of the arm.
    alpha : float
        Opacity.
    meshes : Meshes, optional
        Meshes to draw instead of sticks and joints.
    """

    def __init__(
        self,
        axes: Any,
        robot: Robot,
        q: npt.ArrayLike,
        *,
        frames: bool | Literal["all"] = True,
        color: str | None = None,
        alpha: float = 1.0,
        meshes: Meshes | None = None,
    ) -> None:
        self.robot, self.meshes = robot, meshes
        self._color, self._alpha = color, alpha
        posture = array(q, (robot.n,), "q")
        poses = arm_frames(robot, posture)
        self._length = max(_length(poses[:, :3, 3]), 1e-3)
        self._sticks = None if meshes else draw_sticks(axes, poses[None, :, :3, 3], color or ARM, (alpha,))[0]
        self._bodies = _collection(axes)
        self._paint(posture)
        self._shown = {True: (0, robot.n + 1), False: (), "all": tuple(range(robot.n + 2))}[frames]
        self._axes = [draw_frame(axes, poses[k], _AXIS * self._length, alpha) for k in self._shown]

    def move(self, q: npt.ArrayLike) -> None:
        """Draw the arm at another joint position (n,)."""
        poses = arm_frames(self.robot, q)
        if self._sticks is not None:
            self._sticks.set_data_3d(*poses[:, :3, 3].T)
        self._paint(q)
        for lines, k in zip(self._axes, self._shown, strict=True):
            for line, ends in zip(lines, _axis_ends(poses[k], _AXIS * self._length), strict=True):
                line.set_data_3d(*ends.T)

    def extent(self) -> list[Array]:
        """Return points (..., 3) whose convex hull contains the drawing."""
        lines = [line for triad in self._axes for line in triad] + ([] if self._sticks is None else [self._sticks])
        return [self._corners, *(np.stack(line.get_data_3d(), axis=-1) for line in lines)]

    def _paint(self, q: npt.ArrayLike) -> None:
        """Move the triangles of meshes, or of base and joints, to the posture q."""
        if self.meshes is not None:
            surface, rgb = self.meshes.placed(self.robot, q)
            colors: Any = self._color or rgb
        else:
            base = box(self._length * np.array([0.1, 0.1, 0.02])).placed(self.robot.forward_kinematics(q, 0))
            joints = together(joint_bodies(self.robot, q, self._length))
            surface = together([base, joints])
            colors = _rgb([(GRAY, len(base.faces)), (self._color or ORANGE, len(joints.faces))])
        self._corners = surface.corners()
        self._bodies.set_verts(self._corners)
        shades = shaded(self._corners, colors, self._alpha)
        self._bodies.set_facecolor(shades)
        if self._alpha == 1.0:  # edges in the color of their faces close the gaps between them
            self._bodies.set_edgecolor(shades)


def draw_arm(
    robot: Robot,
    q: npt.ArrayLike | None = None,
    ax: Any = None,
    *,
    frames: bool | Literal["all"] = True,
    ellipsoid: Literal["velocity", "force"] | None = None,
    color: str | None = None,
    meshes: Meshes | str | Path | None = None,
) -> Any:
    """Draw an arm in 3-D at one or several postures.

    Parameters
    ----------
    robot : Robot
        The arm.
    q : (n,) or (k, n) array_like, optional
        Postures [rad or m], later ones darker; default the middle of the joint limits.
    ax : Axes3D, optional
        Axes to draw on, whose limits are kept; default a new figure.
    frames : bool or "all"
        Draw the frames of base and end effector, or of all links.
    ellipsoid : {"velocity", "force"}, optional
        Manipulability ellipsoid to draw at the end effector.
    color : str, optional
        Color of the arm.
    meshes : Meshes or path, optional
        Meshes of the links, or the URDF that has them.

    Returns
    -------
    Axes3D
        Axes of the drawing.

    Raises
    ------
    ModelError
        If an argument is invalid.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import thunder_py as th
    >>> axes = th.plotting.draw_arm(th.Robot.load("panda"), [0.3, -0.5, 0, -2.1, 0, 1.7, 0.8], ellipsoid="velocity")
    >>> axes.name
    '3d'
    >>> plt.close()
    """
    from ..robot import require_robot

    require_robot(robot)
    if ellipsoid not in (None, *ELLIPSOID_COLORS):
        raise ModelError(f"ellipsoid must be 'velocity', 'force' or None, got {ellipsoid!r}")
    if not any(frames is option for option in (True, False)) and frames != "all":
        raise ModelError(f"frames must be True, False or 'all', got {frames!r}")
    if ax is not None and getattr(ax, "name", None) != "3d":
        raise ModelError(f"ax must be 3-D axes, of add_subplot(projection='3d'), got {ax!r}")
    postures = _postures(robot, q)
    bodies = _meshes(meshes)
    axes = new_space() if ax is None else ax
    shades = np.linspace(1.0, 0.25, len(postures))[::-1] if len(postures) > 1 else np.ones(1)
    extent: list[Array] = []
    for k, posture in enumerate(postures):
        shown = frames if k == len(postures) - 1 else False
        picture = ArmPicture(axes, robot, posture, frames=shown, color=color, alpha=float(shades[k]), meshes=bodies)
        extent += picture.extent()
    if ellipsoid is not None:
        extent.append(np.moveaxis(_draw_ellipsoid(axes, robot, postures[-1], ellipsoid), 0, -1))
    if ax is None:
        frame_box(axes, extent)
    return axes


def draw_sticks(
    axes: Any, points: Array, color: str = ARM, shades: Iterable[float] | None = None, **style: Any
) -> list[Any]:
    """Draw arms as lines through points, later ones darker, in 3-D or in the plane.

    Parameters
    ----------
    axes : Axes or Axes3D
        Axes to draw on.
    points : (k, m, 2) or (k, m, 3) array
        Points of k postures, from base to tip [m].
    color : str
        Color of the lines.
    shades : iterable of float, optional
        Opacity of each posture; default from 0.25 to 1.
    **style
        Arguments of ``Axes.plot``.

    Returns
    -------
    list of lines
    """
    opacity = np.linspace(1.0, 0.25, len(points))[::-1] if shades is None else np.asarray(list(shades))
    style = {"linewidth": 3.0, "marker": "o", "markersize": 4.5} | style
    return [
        axes.plot(*line.T, color=color, alpha=float(shade), **style)[0]
        for line, shade in zip(points, opacity, strict=True)
    ]


def draw_frame(axes: Any, T: Array, length: float, alpha: float = 1.0) -> list[Any]:
    """Draw a frame's axes x (red), y (green) and z (blue), and return the three lines.

    Parameters
    ----------
    axes : Axes3D
    T : (4, 4) array
        Pose of the frame.
    length : float
        Length of each axis [m].
    alpha : float
        Opacity.
    """
    ends = _axis_ends(T, length)
    return [
        axes.plot(*line.T, color=color, linewidth=1.8, alpha=alpha)[0]
        for line, color in zip(ends, AXIS_COLORS, strict=True)
    ]


def frame_box(axes: Any, points: Sequence[Array], margin: float = 0.08) -> None:
    """Set the limits of 3-D axes to contain points (..., 3), with equal scales; NaN is ignored."""
    every = np.concatenate([np.reshape(p, (-1, 3)) for p in points])
    every = every[np.isfinite(every).all(axis=1)]
    low, high = (every.min(axis=0), every.max(axis=0)) if len(every) else (np.zeros(3), np.ones(3))
    size = max(float((high - low).max()), 1e-3)
    # in a flat box the tick labels of its short sides would overlap
    half = np.maximum((high - low) / 2.0, 0.2 * size) + margin * size
    middle = (low + high) / 2.0
    for name, center, reach in zip("xyz", middle, half, strict=True):
        getattr(axes, f"set_{name}lim")(center - reach, center + reach)
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


def _postures(robot: Robot, q: npt.ArrayLike | None) -> Array:
    """Return the postures to draw, (k, n)."""
    if q is None:
        return default_posture(robot)[None]
    if np.ndim(q) < 2:
        return array(q, (robot.n,), "q")[None]
    rows = array(q, (None, robot.n), "q")
    if len(rows) == 0:
        raise ModelError("q must hold at least one posture, got none")
    if len(rows) <= _GHOSTS:
        return rows
    some: Array = rows[np.linspace(0, len(rows) - 1, _GHOSTS).round().astype(int)]
    return some


def _meshes(meshes: Any) -> Meshes | None:
    if meshes is None:
        return None
    from .meshes import Meshes

    if isinstance(meshes, Meshes):
        return meshes
    if not isinstance(meshes, (str, Path)):
        raise ModelError(f"meshes must be Meshes or the path of a URDF, got {meshes!r}")
    return Meshes.load(meshes)


def _draw_ellipsoid(axes: Any, robot: Robot, q: Array, kind: str) -> Array:
    """Draw an ellipsoid at the end effector, its longest half axis a quarter of the arm's length."""
    ellipsoid = getattr(robot, f"{kind}_ellipsoid")(q)
    longest = float(ellipsoid.lengths[0])
    size = _LONGEST * _length(arm_points(robot, q))
    scale = size / longest if np.isfinite(longest) and longest > 0.0 else 1.0
    center = robot.forward_kinematics(q)[:3, 3]
    return draw_ellipsoid(axes, ellipsoid, center, scale=scale, color=ELLIPSOID_COLORS[kind])


def _collection(axes: Any) -> Any:
    """Return an empty collection of polygons in space."""
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection  # type: ignore[import-untyped]

    bodies = Poly3DCollection([], linewidths=0.4)
    axes.add_collection3d(bodies, autolim=False)
    return bodies


def _rgb(parts: Sequence[tuple[str, int]]) -> Array:
    """Return colors (f, 3) of parts: the color and the number of faces of each."""
    from matplotlib.colors import to_rgb

    return np.concatenate([np.tile(to_rgb(color), (count, 1)) for color, count in parts])


def _z_along(axis: Array) -> Array:
    """Return a frame (4, 4) whose z axis points along a unit vector."""
    T = np.eye(4)
    helper = np.eye(3)[int(np.argmin(np.abs(axis)))]
    x = np.cross(helper, axis)
    x /= np.linalg.norm(x)
    T[:3, :3] = np.column_stack([x, np.cross(axis, x), axis])
    return T
