"""Joint states from messages: reordered, checked, dropped and counted."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt


class JointOrder:
    """Map the names of a message to the robot's joints, and to its motors where a message lists them.

    Parameters
    ----------
    joint_names : sequence of str
        Names in the robot's order.
    others_allowed : bool
        Whether messages may list further joints, such as those of a gripper.
    motor_names : sequence of str
        Names of the motors of elastic joints, which a message lists all or not at all.
    """

    def __init__(
        self, joint_names: Sequence[str], others_allowed: bool = False, motor_names: Sequence[str] = ()
    ) -> None:
        self._names, self._motors = tuple(joint_names), tuple(motor_names)
        self._others_allowed = others_allowed
        self._last: list[str] | None = None
        self._places: npt.NDArray[np.intp] | None = None

    def places(self, names: Sequence[str]) -> npt.NDArray[np.intp] | None:
        """Return the indices of the robot's joints in `names`, (n,), followed by those of the motors if listed.

        None unless each joint is listed exactly once. The result is cached for repeated names.
        """
        listed = list(names)
        if listed != self._last:
            self._last, self._places = listed, self._find(listed)
        return self._places

    def _find(self, names: list[str]) -> npt.NDArray[np.intp] | None:
        where = {name: k for k, name in enumerate(names)}
        known = self._names + (self._motors if any(name in where for name in self._motors) else ())
        if len(where) != len(names) or any(name not in where for name in known):
            return None
        if len(names) != len(known) and not self._others_allowed:
            return None
        return np.array([where[name] for name in known], dtype=np.intp)


#: reasons for dropping a state
DROPPED = ("names", "size", "not_finite", "too_large", "no_stamp", "repeated", "reordered", "late", "future")
