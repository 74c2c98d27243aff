"""Joint states from messages: reordered, checked, dropped and counted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .. import _core
from ..checks import Array


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
    """

    def __init__(self, order: JointOrder, n: int, oldest: float) -> None:
        self._order, self._n, self._gate = order, n, _core.StateGate(oldest)

    def reset(self) -> None:
        """Reset counts and stamps."""
        self._gate.reset()

    @property
    def dropped(self) -> dict[str, int]:
        """Numbers of dropped states by reason (`DROPPED`)."""
        return dict(zip(DROPPED, self._gate.dropped, strict=True))

    @property
    def in_a_row(self) -> int:
        """Number of invalid states since the last accepted one."""
        return self._gate.in_a_row

    def read(
        self, stamp: int, now: int, names: Sequence[str], q: npt.ArrayLike, dq: npt.ArrayLike
    ) -> MeasuredState | None:
        """Return the state in the robot's order; None if it is dropped."""
        taken = self._gate.read(stamp, now, self._order.places(names), len(names), q, dq)
        if taken is None:
            return None
        positions, velocities = taken
        n = self._n
        motors = (positions[n:], velocities[n:]) if positions.size > n else (None, None)
        return MeasuredState(positions[:n], velocities[:n], *motors)
