"""Joint states as messages bring them: reordered, checked, dropped and counted."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ..checks import Array

__all__ = ["DROPPED", "JointOrder", "JointStateReader"]


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


#: why a state is not taken
DROPPED = ("names", "size", "not_finite", "too_large", "no_stamp", "repeated", "reordered", "late", "future")
#: of these, what makes a state invalid: it says that a sensor or a driver is broken, not that the network is
INVALID = ("names", "size", "not_finite", "too_large", "no_stamp")
#: no arm is there, or that fast [rad, m, and per second]
_LARGEST = 1e4


class JointStateReader:
    """Takes positions and velocities of named joints, each later than the one before.

    Parameters
    ----------
    order : JointOrder
        The robot's joints.
    oldest : float
        States whose stamp is further in the past are dropped [s]; those as far in the future too.

    Attributes
    ----------
    dropped : dict of str to int
        States not taken, by reason (`DROPPED`).
    taken : int
        States taken.
    in_a_row : int
        Invalid states since the last one that was taken.
    last_stamp : int or None
        Of the last state taken [ns].
    """

    def __init__(self, order: JointOrder, oldest: float) -> None:
        self._order, self._oldest = order, round(1e9 * oldest)
        self.reset()

    def reset(self) -> None:
        """Forget everything."""
        self.dropped = dict.fromkeys(DROPPED, 0)
        self.taken = self.in_a_row = 0
        self.begin_anew()

    def begin_anew(self) -> None:
        """Take a state of any time next: the clock was set back."""
        self.last_stamp: int | None = None

    def read(
        self, stamp: int, now: int, names: Sequence[str], q: npt.ArrayLike, dq: npt.ArrayLike
    ) -> tuple[Array, Array] | None:
        """Return q and dq in the robot's order, (n,) each; None where the state is dropped."""
        why = self._late(stamp, now)
        if why is None:
            places = self._order.places(names)
            positions, velocities = _numbers(q), _numbers(dq)
            if places is None:
                why = "names"
            elif positions.shape != velocities.shape or positions.shape != (len(names),):
                why = "size"
            else:
                positions, velocities = positions[places], velocities[places]
                # one length is faster than looks at each number, and is none where one of them is none
                if math.hypot(*positions.tolist(), *velocities.tolist()) < _LARGEST:
                    self.last_stamp = stamp
                    self.taken, self.in_a_row = self.taken + 1, 0
                    return positions, velocities
                why = "too_large" if np.isfinite(positions).all() and np.isfinite(velocities).all() else "not_finite"
        self.dropped[why] += 1
        self.in_a_row += why in INVALID
        return None

    def _late(self, stamp: int, now: int) -> str | None:
        if stamp <= 0:
            return "no_stamp"
        if self.last_stamp is not None and stamp <= self.last_stamp:
            return "repeated" if stamp == self.last_stamp else "reordered"
        if now - stamp > self._oldest:
            return "late"
        return "future" if stamp - now > self._oldest else None


def _numbers(values: npt.ArrayLike) -> Array:
    """Return numbers, or an empty array where there are none: a message may hold anything."""
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        return np.empty(0)
