"""Lengths of an arm with a Denavit-Hartenberg table: a and d of its rows, and the position of the tool."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..checks import Array, finite, known_name, of_kind
from ..errors import ThunderError
from ..spatial import dh_chain
from .robot import Robot

__all__ = ["length_names", "lengths_of", "with_lengths"]

_A, _D = 0, 2  # columns of a row a, alpha, d, theta


def length_names(n: int) -> list[str]:
    """Return the names of the lengths of n joints: ``a_1, d_1, ..., a_n, d_n, tool_x, tool_y, tool_z``.

    Examples
    --------
    >>> from thunder_py.robot.lengths import length_names
    >>> length_names(1)
    ['a_1', 'd_1', 'tool_x', 'tool_y', 'tool_z']
    """
    return [*(f"{key}_{i + 1}" for i in range(n) for key in ("a", "d")), "tool_x", "tool_y", "tool_z"]


def lengths_of(robot: Robot) -> Array:
    """Return the lengths of a robot in the order of `length_names`, (2 n + 3,).

    Raises
    ------
    ThunderError
        If the robot has no Denavit-Hartenberg table.

    Examples
    --------
    >>> import thunder_py as th
    >>> from thunder_py.robot.lengths import lengths_of
    >>> lengths_of(th.Robot.load("elbow")).tolist()
    [0.5, 0.0, 0.4, 0.0, 0.0, 0.0, 0.0]
    """
    return np.concatenate([_table(robot)[:, [_A, _D]].ravel(), robot.description.tool[:3, 3]])


def with_lengths(robot: Robot, lengths: Mapping[str, float]) -> Robot:
    """Return the robot with some lengths changed; inertial parameters stay as they are in the frames of the links.

    Parameters
    ----------
    robot : Robot
        Arm with a Denavit-Hartenberg table.
    lengths : mapping of str to float
        New values [m] of some of `length_names`.

    Raises
    ------
    ThunderError
        If the robot has no Denavit-Hartenberg table, or a value is not finite.
    UnknownNameError
        If a length is unknown.

    Examples
    --------
    >>> import thunder_py as th
    >>> from thunder_py.robot.lengths import with_lengths
    >>> longer = with_lengths(th.Robot.load("elbow"), {"a_2": 0.44})
    >>> longer.forward_kinematics([0.0, 0.0])[0, 3].round(9).item()
    0.94
    """
    dh, tool = _table(robot).copy(), robot.description.tool.copy()
    names = length_names(robot.n)
    for name, value in lengths.items():
        known_name(name, names, f"no length of {robot.name} is called")
        row, which = divmod(names.index(name), 2)
        if row < robot.n:
            dh[row, (_A, _D)[which]] = finite(value, name)
        else:
            tool["xyz".index(name[-1]), 3] = finite(value, name)
    placements, axes, offsets = dh_chain(dh, robot.description.convention)
    return robot.replace(dh=dh, placements=placements, axes=axes, offsets=offsets, tool=tool)


def _table(robot: Robot) -> Array:
    of_kind(robot, Robot, "robot")
    dh = robot.description.dh
    if dh is None:
        raise ThunderError(f"robot must have a Denavit-Hartenberg table, {robot.name} has none")
    return dh
