"""Joint states from messages: reordered, checked, dropped and counted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..checks import Array

__all__ = ["DROPPED", "JointOrder", "JointStateReader", "MeasuredState"]


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


class MeasuredState(NamedTuple):
    """Measured positions and velocities in the robot's order.

    Attributes
    ----------
    q, dq : (n,) array
        Joints [rad or m, and per second].
    x, dx : (e,) array or None
        Motors of elastic joints; None if the message does not list them.
    """

    q: Array
    dq: Array
    x: Array | None = None
    dx: Array | None = None


#: reasons for dropping a state
DROPPED = ("names", "size", "not_finite", "too_large", "no_stamp", "repeated", "reordered", "late", "future")
#: reasons that indicate a broken sensor or driver instead of the network
INVALID = ("names", "size", "not_finite", "too_large", "no_stamp")
#: largest norm of a state of an arm [rad, m, and per second]
_LARGEST = 1e4


class JointStateReader:
    """Read positions and velocities of named joints and motors in the order of their stamps.

    Parameters
    ----------
    order : JointOrder
        The robot's joints and motors.
    n : int
        Number of joints.
    oldest : float
        Largest age of a state [s]; older ones are dropped, and those as far in the future.

    Attributes
    ----------
    dropped : dict of str to int
        Numbers of dropped states by reason (`DROPPED`).
    taken : int
        Number of accepted states.
    in_a_row : int
        Number of invalid states since the last accepted one.
    last_stamp : int or None
        Stamp of the last accepted state [ns].
    """

    def __init__(self, order: JointOrder, n: int, oldest: float) -> None:
        self._order, self._n, self._oldest = order, n, round(1e9 * oldest)
        self.reset()

    def reset(self) -> None:
        """Reset counts and stamps."""
        self.dropped = dict.fromkeys(DROPPED, 0)
        self.taken = self.in_a_row = 0
        self.begin_anew()

    def begin_anew(self) -> None:
        """Accept a state of any time next, because the clock was set back."""
        self.last_stamp: int | None = None

    def read(
        self, stamp: int, now: int, names: Sequence[str], q: npt.ArrayLike, dq: npt.ArrayLike
    ) -> MeasuredState | None:
        """Return the state in the robot's order; None if it is dropped."""
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
                # one norm is faster than checks of each number, and is NaN if one of them is
                if math.hypot(*positions.tolist(), *velocities.tolist()) < _LARGEST:
                    self.last_stamp = stamp
                    self.taken, self.in_a_row = self.taken + 1, 0
                    n = self._n
                    motors = (positions[n:], velocities[n:]) if positions.size > n else (None, None)
                    return MeasuredState(positions[:n], velocities[:n], *motors)
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
    """Return values as an array, empty if they are not numbers."""
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        return np.empty(0)
