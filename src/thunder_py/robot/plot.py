"""Drawings of robots: postures as sticks, joints or meshes, workspaces, animations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from ..checks import Array, array, numbers
from ..errors import ThunderError
from ..geometry import HalfSpace, Obstacle
from ..plotting.animation import animate_figure, animate_view, film_times, interpolated
from ..plotting.ellipsoid import ELLIPSOID_COLORS, ellipsoid_points, plot_ellipsoid
from ..plotting.panels import panel, panels
from ..plotting.shapes import Triangles, box, cylinder, merge, obstacle_surface
from ..plotting.space import draw_frame, draw_obstacles, draw_sticks, draw_surface, frame_box, move_frame
from ..plotting.style import ARM, BLUE, GREEN, ORANGE, PINK, PURPLE, SKY, VERMILION
from .frames import arm_frames, arm_points, default_posture, joint_frames

if TYPE_CHECKING:
    from matplotlib.animation import FuncAnimation
    from matplotlib.axes import Axes

    from ..io.meshes import Meshes
    from .robot import Robot
    from .workspace import Workspace

_JOINT, _BASE = "#F0A030", "#8C8C8C"
#: length of a frame's axes, half length and radius of a cylinder, half edge of a box, relative to the arm's length
_AXIS, _HALF, _RADIUS, _EDGE = 0.1, 0.035, 0.022, 0.025
#: an ellipsoid's longest half axis relative to the arm's length
_LONGEST = 0.25
#: most postures in one picture
_GHOSTS = 12
_SIZE = (5.5, 5.0)
_LABEL = r"manipulability $\sqrt{\det(J J^\top)}$"
#: thickness of a slice relative to the workspace
_SLAB = 0.05
#: most points of the 3-D view of a workspace
_SHOWN = 4000
_PATH, _TRACE = GREEN, BLUE
_POINTS = (VERMILION, PURPLE, ORANGE, SKY, PINK)


def joint_bodies(robot: Robot, q: npt.ArrayLike, size: float) -> list[Triangles]:
    """Return a body for each joint in the world: cylinders for revolute, boxes for prismatic joints.

    Parameters
    ----------
    robot : Robot
        Arm to draw.
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
        self._color = color
        posture = array(q, (robot.n,), "q")
        poses = arm_frames(robot, posture)
        self._length = max(_length(poses[:, :3, 3]), 1e-3)
        self._sticks = None if meshes else draw_sticks(axes, poses[None, :, :3, 3], color or ARM, (alpha,))[0]
        self._bodies: Any = None
        self._ax, self._alpha = axes, alpha
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
            move_frame(lines, poses[k], _AXIS * self._length)

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
            joints = merge(joint_bodies(self.robot, q, self._length))
            surface = merge([base, joints])
            colors = _rgb([(_BASE, len(base.faces)), (self._color or _JOINT, len(joints.faces))])
        self._corners = surface.corners()
        self._bodies = draw_surface(self._ax, surface, colors, self._alpha, self._bodies)


def plot_arm(
    robot: Robot,
    q: npt.ArrayLike | None = None,
    *,
    ax: Axes | None = None,
    frames: bool | Literal["all"] = True,
    ellipsoid: Literal["velocity", "force"] | None = None,
    color: str | None = None,
    meshes: Meshes | None = None,
) -> Axes:
    """Draw an arm in 3-D at one or several postures; see `Robot.plot`."""
    if ellipsoid not in (None, *ELLIPSOID_COLORS):
        raise ThunderError(f"ellipsoid must be 'velocity', 'force' or None, got {ellipsoid!r}")
    if not any(frames is option for option in (True, False)) and frames != "all":
        raise ThunderError(f"frames must be True, False or 'all', got {frames!r}")
    if ax is not None and getattr(ax, "name", None) != "3d":
        raise ThunderError(f"ax must be 3-D axes, of add_subplot(projection='3d'), got {ax!r}")
    postures = _postures(robot, q)
    axes = panel(ax, _SIZE, projection="3d")
    shades = np.linspace(1.0, 0.25, len(postures))[::-1] if len(postures) > 1 else np.ones(1)
    extent: list[Array] = []
    for k, posture in enumerate(postures):
        shown = frames if k == len(postures) - 1 else False
        picture = ArmPicture(axes, robot, posture, frames=shown, color=color, alpha=float(shades[k]), meshes=meshes)
        extent += picture.extent()
    if ellipsoid is not None:
        extent.append(_draw_ellipsoid(axes, robot, postures[-1], ellipsoid))
    if ax is None:
        frame_box(axes, extent)
    return axes  # type: ignore[no-any-return]


def _draw_ellipsoid(axes: Any, robot: Robot, q: Array, kind: str) -> Array:
    """Draw an ellipsoid, its longest half axis a quarter of the arm's length, and return its points (..., 3)."""
    ellipsoid = getattr(robot, f"{kind}_ellipsoid")(q)
    longest = float(ellipsoid.lengths[0])
    size = _LONGEST * _length(arm_points(robot, q))
    scale = size / longest if np.isfinite(longest) and longest > 0.0 else 1.0
    center = robot.forward_kinematics(q)[:3, 3]
    plot_ellipsoid(ellipsoid, center, scale=scale, ax=axes, color=ELLIPSOID_COLORS[kind])
    return center + np.moveaxis(ellipsoid_points(ellipsoid, scale), 0, -1)


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
        raise ThunderError("q must hold at least one posture, got none")
    if len(rows) <= _GHOSTS:
        return rows
    return np.asarray(rows[np.linspace(0, len(rows) - 1, _GHOSTS).round().astype(int)])


def _rgb(parts: Sequence[tuple[str, int]]) -> Array:
    """Return colors (f, 3) of parts: the color and the number of faces of each."""
    from matplotlib.colors import to_rgb

    return np.concatenate([np.tile(to_rgb(color), (count, 1)) for color, count in parts])


def plot_workspace(
    robot: Robot, space: Workspace, *, through: npt.ArrayLike | None = None, axes: Mapping[str, Axes] | None = None
) -> dict[str, Axes]:
    """Draw sampled positions in 3-D and the largest manipulability in two slices; see `Robot.plot_workspace`."""
    if through is None:
        middle = robot.forward_kinematics(default_posture(robot), 1)[:3, 3]
    else:
        middle = array(through, (3,), "through")
    # the empty panel is room for the labels of 3-D axes
    widths = [1.2, 0.06, 1.0, 1.0]
    drawn = panels(axes, [["space", ".", "side", "above"]], (14.0, 4.6), spatial=["space"], width_ratios=widths)
    least, most = float(space.manipulability.min()), float(space.manipulability.max())
    norm = {"vmin": least, "vmax": max(most, least + 1e-12), "cmap": "viridis"}
    cells: Any = None
    for name, ax in drawn.items():
        if name == "space":
            subset = space.points[:_SHOWN]
            cells = ax.scatter(*subset.T, c=space.manipulability[:_SHOWN], s=2.0, alpha=0.35, **norm)
            ArmPicture(ax, robot, default_posture(robot))
            frame_box(ax, [space.points, robot.description.base[:3, 3]])
        else:
            across = 1 if name == "side" else 2
            cells = _draw_slice(ax, space, across, float(middle[across]), norm)
    slices = [ax for name, ax in drawn.items() if name != "space"]
    if axes is None:
        slices[0].figure.colorbar(cells, ax=slices, shrink=0.8, label=_LABEL)
    return drawn


def _draw_slice(axes: Any, space: Workspace, across: int, middle: float, norm: dict[str, Any]) -> Any:
    """Draw the largest manipulability in cells of a slice across an axis."""
    half = 0.5 * _SLAB * max(float(np.ptp(space.points, axis=0).max()), 1e-9)
    inside = np.abs(space.points[:, across] - middle) <= half
    if not inside.any():
        raise ThunderError(f"through must be near reached points, got none near {'xyz'[across]} = {middle:g} m")
    right, up = [k for k in range(3) if k != across]
    points = space.points[inside]
    cells = axes.hexbin(
        points[:, right],
        points[:, up],
        C=space.manipulability[inside],
        reduce_C_function=np.max,
        gridsize=45,
        linewidths=0.0,
        **norm,
    )
    axes.set(xlabel=f"{'xyz'[right]} [m]", ylabel=f"{'xyz'[up]} [m]", aspect="equal")
    axes.set_title(f"{'xyz'[across]} = {middle:.2f} ± {half:.2f} m", fontsize="medium")
    return cells


def animate_workspace(
    robot: Robot, space: Workspace, path: str | Path | None, *, duration: float, fps: float, dpi: float
) -> FuncAnimation:
    """Turn the view of sampled positions; see `Robot.animate_workspace`."""
    ax = panel(None, _SIZE, projection="3d")
    plot_workspace(robot, space, axes={"space": ax})
    ax.figure.colorbar(ax.collections[0], ax=ax, shrink=0.7, label=_LABEL)
    return animate_view(ax, path, duration=duration, fps=fps, dpi=dpi)


def animate_arm(
    robot: Robot,
    t: npt.ArrayLike,
    q: npt.ArrayLike,
    path: str | Path | None = None,
    *,
    reference: npt.ArrayLike | None = None,
    points: Mapping[str, npt.ArrayLike] | None = None,
    obstacles: Sequence[Obstacle] = (),
    meshes: Meshes | None = None,
    playback_speed: float = 1.0,
    fps: float = 20.0,
    dpi: float = 72,
) -> FuncAnimation:
    """Animate a motion of an arm with a trace of the end effector; see `Robot.animate`."""
    times = array(t, (None,), "t")
    postures = array(q, (len(times), robot.n), "q")
    tracks = {name: _moving(value, len(times), name) for name, value in (points or {}).items()}
    line = None if reference is None else _rows(reference, "reference")
    instants = film_times(times, playback_speed, fps)
    moving = {name: interpolated(times, values, instants) for name, values in tracks.items()}
    film = _Film(robot, interpolated(times, postures, instants), instants, moving, line, obstacles, meshes)
    return animate_figure(film.figure, film.show, len(instants), fps=fps, path=path, dpi=dpi)


class _Film:
    """Artists of the animation and their update."""

    def __init__(
        self,
        robot: Robot,
        q: Array,
        t: Array,
        points: dict[str, Array],
        reference: Array | None,
        obstacles: Sequence[Obstacle],
        meshes: Meshes | None,
    ) -> None:
        self._q, self._t, self._points = q, t, points
        sticks = arm_points(robot, q)
        self._tips = sticks[:, -1]
        self._axes: Any = panel(None, _SIZE, projection="3d")
        self.figure = self._axes.figure
        bodies = [obstacle_surface(body).vertices for body in obstacles if not isinstance(body, HalfSpace)]
        frame_box(self._axes, [sticks, *points.values(), *([] if reference is None else [reference]), *bodies])
        if reference is not None:
            self._axes.plot(*reference.T, color=_PATH, linewidth=3.0, alpha=0.5, label="reference")
        draw_obstacles(self._axes, obstacles)
        self._arm = ArmPicture(self._axes, robot, q[0], meshes=meshes)
        self._trace = self._axes.plot([], [], [], color=_TRACE, linewidth=1.2)[0]
        self._marks = {
            name: self._axes.plot([], [], [], "o", color=_POINTS[k % len(_POINTS)], markersize=7, label=name)[0]
            for k, name in enumerate(points)
        }
        self._clock = self._axes.text2D(0.02, 0.96, "", transform=self._axes.transAxes)
        if points or reference is not None:
            self._axes.legend(loc="upper right", fontsize="small")

    def show(self, k: int) -> None:
        self._arm.move(self._q[k])
        self._trace.set_data_3d(*self._tips[: k + 1].T)
        for name, mark in self._marks.items():
            mark.set_data_3d(*self._points[name][k : k + 1].T)
        self._clock.set_text(f"{self._t[k]:.2f} s")


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
