"""Arguments shared by the task-space laws: rows of the task and error of the orientation."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from ..checks import one_of
from ..errors import ThunderError

ROW_NAMES = ("x", "y", "z", "rx", "ry", "rz")
#: errors of the orientation, in the order of the core's
ORIENTATIONS = ("axis_angle", "axis_angle_plain", "rotation_vector", "quaternion", "zyz", "zyx")
#: those whose rate is not that of L J: with a stiffness of one number it is the force of a potential
GEOMETRIC = ORIENTATIONS[1:4]


def resolve_orientation(orientation: str) -> int:
    """Return the number of a kind of orientation error, for the core."""
    return ORIENTATIONS.index(one_of(orientation, ORIENTATIONS, "orientation"))


def resolve_rows(rows: Sequence[int | str] | None) -> list[int]:
    """Return the rows of the Jacobian of a task as increasing numbers 0 to 5.

    Parameters
    ----------
    rows : sequence of int or str, optional
        Numbers 0 to 5 as in ``robot.manipulability(rows=)``, or names ``x y z rx ry rz``; default all six.

    Raises
    ------
    ValueError
        If there is none or they do not increase; their order is that of the gains.
    """
    if rows is None:
        return list(range(6))
    try:
        items: list[int | str] = [] if isinstance(rows, str) else list(rows)
    except TypeError:
        items = []
    numbers = [_number(item) for item in items]
    if not numbers or min(numbers) < 0 or any(b <= a for a, b in pairwise(numbers)):
        raise ThunderError(f"rows must be some of {', '.join(ROW_NAMES)}, or of 0 to 5, in this order, got {rows!r}")
    return numbers


def _number(row: object) -> int:
    """Return the number of a row, 0 to 5, or -1 for an invalid one."""
    if isinstance(row, str):
        return ROW_NAMES.index(row) if row in ROW_NAMES else -1
    whole = isinstance(row, (int, np.integer)) and not isinstance(row, bool)
    return int(row) if whole and 0 <= row <= 5 else -1  # type: ignore[call-overload, operator]
