"""What the laws in task space share of their arguments: above all the rows of the task."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..robot import Robot

__all__ = ["ROW_NAMES", "require_robot", "resolve_rows"]

ROW_NAMES = ("x", "y", "z", "rx", "ry", "rz")


def resolve_rows(rows: Sequence[int | str] | None) -> list[int]:
    """Return the rows of the Jacobian that make a task, as increasing numbers 0 to 5.

    Parameters
    ----------
    rows : sequence of int or str, optional
        Numbers 0 to 5 as in ``robot.manipulability(rows=)``, or names ``x y z rx ry rz``; default all six.

    Raises
    ------
    ValueError
        Unless there is at least one and they increase, which fixes the order of gains.
    """
    if rows is None:
        return list(range(6))
    try:
        items = [] if isinstance(rows, str) else list(rows)
    except TypeError:
        items = []
    numbers = [ROW_NAMES.index(item) if isinstance(item, str) and item in ROW_NAMES else item for item in items]
    whole = all(isinstance(r, (int, np.integer)) and not isinstance(r, bool) and 0 <= r <= 5 for r in numbers)
    if not numbers or not whole or any(b <= a for a, b in zip(numbers, numbers[1:], strict=False)):
        raise ValueError(f"rows must be some of {', '.join(ROW_NAMES)}, or of 0 to 5, in this order, got {rows!r}")
    return [int(r) for r in numbers]


def require_robot(robot: object) -> None:
    """Raise ValueError unless it is a `Robot`."""
    if not isinstance(robot, Robot):
        raise ValueError(f"robot must be a Robot, got {type(robot).__name__}")
