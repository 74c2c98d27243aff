"""Workspace of an arm from random postures within joint limits."""

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
#: thickness of a slice relative to the workspace
_SLAB = 0.05
#: most points of the 3-D view
_SHOWN = 4000


class Workspace(NamedTuple):
    """Random postures and their positions, from `sample_workspace`.

    Attributes
    ----------
    q : (k, n) array
        Postures, uniform within limits [rad or m].
    points : (k, 3) array
        Origins of the frame in the world [m].
    manipulability : (k,) array
        Manipulability of the linear rows of the Jacobian.

    Examples
    --------
    >>> import thunder_py as th
    >>> q, points, manipulability = th.plotting.sample_workspace(th.Robot.load("ur5e"), 100)
    >>> q.shape, points.shape, manipulability.shape
    ((100, 6), (100, 3), (100,))
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
    """Sample postures uniformly within joint limits.

    Parameters
    ----------
    robot : Robot
        Any arm.
    samples : int
        Number of postures.
    seed : int
        Seed of the random numbers.
    frame : int or str, optional
        Frame whose origin is computed; default the end effector.
    limits : Limits, optional
        Default the robot's. Revolute joints without limits make one turn.

    Returns
    -------
    Workspace
        Postures, positions and manipulability.

    Raises
    ------
    ModelError
        If a prismatic joint has no limits, or an argument is invalid.

    Notes
    -----
    Samples are uniform in the joints, not in space. Manipulability is Yoshikawa's, of the linear velocity; it is zero
    for an arm that cannot move along three directions.

    Examples
    --------
    >>> import numpy as np
    >>> import thunder_py as th
    >>> space = th.plotting.sample_workspace(th.Robot.load("elbow"), 1000, seed=1)
    >>> bool(np.linalg.norm(space.points, axis=1).max() <= 0.9)  # links of 0.5 m and 0.4 m
    True
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
    """Draw the workspace of an arm in 3-D and in two slices.

    Parameters
    ----------
    robot, samples, seed, frame, limits
        See `sample_workspace`.
    through : (3,) array_like, optional
        Point in both slices [m]; default the origin of the first link frame.

    Returns
    -------
    dict of str to Axes
        ``"space"``, ``"side"`` and ``"above"``.

    Raises
    ------
    ModelError
        See `sample_workspace`.
    ThunderError
        If no posture reaches a slice.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import thunder_py as th
    >>> list(th.plotting.plot_workspace(th.Robot.load("ur5e"), 500))
    ['space', 'side', 'above']
    >>> plt.close()
    """
    from matplotlib.pyplot import figure as new_figure

    space = sample_workspace(robot, samples, seed=seed, frame=frame, limits=limits)
    middle = _through(robot, through)
    figure = new_figure(figsize=(14.0, 4.6), layout="constrained")
    grid = figure.add_gridspec(1, 4, width_ratios=[1.2, 0.06, 1.0, 1.0])  # labels of 3-D axes stand outside of them
    axes: dict[str, Any] = {"space": figure.add_subplot(grid[0], projection="3d")}
    least, most = float(space.manipulability.min()), float(space.manipulability.max())
    norm = {"vmin": least, "vmax": max(most, least + 1e-12), "cmap": "viridis"}
    subset = space.points[:_SHOWN]
    axes["space"].scatter(*subset.T, c=space.manipulability[:_SHOWN], s=2.0, alpha=0.35, **norm)
    ArmPicture(axes["space"], robot, default_posture(robot))
    frame_box(axes["space"], [space.points, robot.description.base[:3, 3]])
    cells: Any = None
    for column, (name, across) in enumerate((("side", 1), ("above", 2)), start=2):
        axes[name] = figure.add_subplot(grid[column])
        cells = _draw_slice(axes[name], space, across, float(middle[across]), norm)
    figure.colorbar(cells, ax=[axes["side"], axes["above"]], shrink=0.8, label=_LABEL)
    return axes


def _range(robot: Robot, limits: Limits) -> tuple[Array, Array]:
    lower, upper = array(limits.lower, (robot.n,), "limits.lower", finite=False), np.asarray(limits.upper)
    finite = np.isfinite(lower) & np.isfinite(upper)
    for name, kind, limited in zip(robot.joint_names, robot.joint_types, finite, strict=True):
        if kind == "P" and not limited:
            raise ModelError(f"limits of {name} must be finite for a prismatic joint; pass limits=")
    # one turn, from the finite end if there is one
    first = np.where(np.isfinite(lower), lower, np.where(np.isfinite(upper), upper - 2.0 * np.pi, -np.pi))
    return first, np.where(finite, upper, first + 2.0 * np.pi)


def _through(robot: Robot, through: npt.ArrayLike | None) -> Array:
    """Return a point of both slices: `through`, or the origin of the first link frame."""
    if through is not None:
        return array(through, (3,), "through")
    return np.asarray(robot.forward_kinematics(default_posture(robot), 1)[:3, 3])


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
