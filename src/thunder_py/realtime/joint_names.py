"""Values of joints brought into the robot's order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

__all__ = ["JointOrder"]


class JointOrder:
    """Finds the robot's joints among the names that a message lists.

    Parameters
    ----------
    joint_names : sequence of str
        In the robot's order.
    others_allowed : bool
        Whether messages may list further joints, such as those of a gripper.
    """

    def __init__(self, joint_names: Sequence[str], others_allowed: bool = False) -> None:
        self._names = tuple(joint_names)
        self._others_allowed = others_allowed
        self._last: list[str] | None = None
        self._places: npt.NDArray[np.intp] | None = None

    def places(self, names: Sequence[str]) -> npt.NDArray[np.intp] | None:
        """Return where the robot's joints stand in `names`, (n,); None where they do not all, once each.

        Names that come again and again cost one comparison.
        """
        listed = list(names)
        if listed != self._last:
            self._last, self._places = listed, self._find(listed)
        return self._places

    def _find(self, names: list[str]) -> npt.NDArray[np.intp] | None:
        where = {name: k for k, name in enumerate(names)}
        if len(where) != len(names) or any(name not in where for name in self._names):
            return None
        if len(names) != len(self._names) and not self._others_allowed:
            return None
        return np.array([where[name] for name in self._names], dtype=np.intp)
