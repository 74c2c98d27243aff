"""Where an arm reaches: random postures within joint limits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..checks import Array, array
from ..errors import ModelError, ThunderError
from ..robot.description import Limits
from .arm import ArmPicture, default_posture, frame_box

if TYPE_CHECKING:
    from ..robot import Robot

__all__ = ["Workspace", "plot_workspace", "sample_workspace"]

_LABEL = r"manipulability $\sqrt{\det(J J^\top)}$"
#: thickness of a slice, as a part of the workspace's size
_SLAB = 0.05
#: points in space; more of them hide each other
_SHOWN = 4000


class Workspace(NamedTuple):
    """Random postures and where they reach.

    Attributes
    ----------
    q : (k, n) array
        Postures, uniform within limits [rad or m].
    points : (k, 3) array
        Origins of the frame in the world [m].
    manipulability : (k,) array
        Of the linear rows of the Jacobian.
    """

    q: Array
    points: Array
    manipulability: Array


def sample_workspace(
    robot: Robot,
    samples: int = 100_000,
    *,
    seed: int = 0,
    frame: int | str | None = None,
    limits: Limits | None = None,
) -> Workspace:
    """Draw postures at random within joint limits.

    Parameters
    ----------
    robot : Robot
        Any arm.
    samples : int
        How many postures.
    seed : int
        Of the random numbers.
    frame : int or str, optional
        Whose origin reaches; default the end effector.
    limits : Limits, optional
        Default the robot's. Revolute joints without limits turn once around.

    Returns
    -------
    Workspace

    Raises
    ------
    ModelError
        A prismatic joint has no limits, or an argument is wrong.

    Notes
    -----
    Uniform in the joints, which is not uniform in space: points are denser where many postures lead.
    Manipulability is Yoshikawa's, of the linear velocity; an arm that cannot move along three directions has zero.
    """
    if isinstance(samples, bool) or not isinstance(samples, (int, np.integer)) or samples < 1:
        raise ModelError(f"samples must be a whole number of at least 1, got {samples!r}")
    lower, upper = _range(robot, robot.limits if limits is None else limits)
    q = np.random.default_rng(seed).uniform(lower, upper, (int(samples), robot.n))
    points = robot.forward_kinematics(q, frame)[..., :3, 3]
    return Workspace(q, points, robot.manipulability(q, frame, rows=(0, 1, 2)))


def plot_workspace(
    robot: Robot,
    samples: int = 100_000,
    *,
    seed: int = 0,
    frame: int | str | None = None,
    limits: Limits | None = None,
    through: npt.ArrayLike | None = None,
) -> dict[str, Any]:
    """Draw where an arm reaches; see `Robot.plot_workspace`."""
    from matplotlib.pyplot import figure as new_figure

    space = sample_workspace(robot, samples, seed=seed, frame=frame, limits=limits)
    middle = _through(robot, through)
    figure = new_figure(figsize=(14.0, 4.6), layout="constrained")
    grid = figure.add_gridspec(1, 4, width_ratios=[1.2, 0.06, 1.0, 1.0])  # labels of 3-D axes stand outside of them
    axes: dict[str, Any] = {"space": figure.add_subplot(grid[0], projection="3d")}
    least, most = float(space.manipulability.min()), float(space.manipulability.max())
    norm = {"vmin": least, "vmax": max(most, least + 1e-12), "cmap": "viridis"}
    shown = space.points[:_SHOWN]
    axes["space"].scatter(*shown.T, c=space.manipulability[:_SHOWN], s=2.0, alpha=0.35, **norm)
    ArmPicture(axes["space"], robot, default_posture(robot))
    frame_box(axes["space"], [space.points, robot.description.base[:3, 3]])
    drawn: Any = None
    for column, (name, across) in enumerate((("side", 1), ("above", 2)), start=2):
        axes[name] = figure.add_subplot(grid[column])
        drawn = _draw_slice(axes[name], space, across, float(middle[across]), norm)
    figure.colorbar(drawn, ax=[axes["side"], axes["above"]], shrink=0.8, label=_LABEL)
    return axes


def _range(robot: Robot, limits: Limits) -> tuple[Array, Array]:
    lower, upper = array(limits.lower, (robot.n,), "limits.lower", finite=False), np.asarray(limits.upper)
    known = np.isfinite(lower) & np.isfinite(upper)
    for name, kind, there in zip(robot.joint_names, robot.joint_types, known, strict=True):
        if kind == "P" and not there:
            raise ModelError(f"limits of {name} must be finite to draw a workspace: it slides; pass limits=")
    # once around, from the one end that is limited if there is one
    first = np.where(np.isfinite(lower), lower, np.where(np.isfinite(upper), upper - 2.0 * np.pi, -np.pi))
    return first, np.where(known, upper, first + 2.0 * np.pi)


def _through(robot: Robot, through: npt.ArrayLike | None) -> Array:
    """Return a point that both slices pass: the given one, or the first joint's height above the base."""
    if through is not None:
        return array(through, (3,), "through")
    return np.asarray(robot.forward_kinematics(default_posture(robot), 1)[:3, 3])


def _draw_slice(axes: Any, space: Workspace, across: int, middle: float, norm: dict[str, Any]) -> Any:
    """Draw the largest manipulability in cells of a slice across an axis."""
    half = 0.5 * _SLAB * max(float(np.ptp(space.points, axis=0).max()), 1e-9)
    inside = np.abs(space.points[:, across] - middle) <= half
    if not inside.any():
        raise ThunderError(f"through: nothing is reached near {'xyz'[across]} = {middle:g} m; pass another point")
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
