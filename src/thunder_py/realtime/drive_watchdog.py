"""What a drive does with commands: the newest one for a while, then a safe torque of its own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ..checks import Array
from .joint_names import JointOrder

__all__ = ["REFUSED", "CommandGate"]

#: why a command is not taken
REFUSED = ("names", "size", "not_finite", "repeated", "reordered", "late", "future")
#: a clock that is so far behind the last command was set back [ns]
CLOCK_BACK = 100_000_000


class CommandGate:
    """Takes torque commands, each for a later state than the one before; says when there was none for too long.

    A command answers a joint state and carries its stamp. One that answers a state as old as the watchdog's time is
    late; one that repeats a stamp, or answers an earlier state, shows that the controller is stuck or the network has
    changed the order. None of these resets the watchdog. Where the clock was set back no command is in force, and
    stamps begin anew.

    Parameters
    ----------
    order : JointOrder
        The robot's joints.
    limits : (n,) array
        Torques are clipped to plus and minus these [N m or N].
    watchdog : float
        So long a command is in force [s].

    Attributes
    ----------
    refused : dict of str to int
        Commands not taken, by reason (`REFUSED`).
    taken, clipped : int
        Commands taken, and of these, clipped to the limits.
    """

    def __init__(self, order: JointOrder, limits: Array, watchdog: float) -> None:
        self._order, self._limits, self._watchdog = order, limits, round(1e9 * watchdog)
        self.refused = dict.fromkeys(REFUSED, 0)
        self.taken = self.clipped = 0
        self._stamp = 0
        self._received: int | None = None
        self._tau = np.zeros_like(limits)

    def take(self, stamp: int, now: int, names: Sequence[str], tau: npt.ArrayLike) -> str | None:
        """Take a command received at `now` [ns]; return why not, if so."""
        if self._received is not None and self._received - now > CLOCK_BACK:
            self._stamp, self._received = 0, None
        why = self._late(stamp, now)
        if why is None:
            places = self._order.places(names)
            try:
                values = np.asarray(tau, dtype=np.float64)
            except (TypeError, ValueError):
                values = np.empty(0)
            if places is None:
                why = "names"
            elif values.shape != (len(names),):
                why = "size"
            elif not np.isfinite(values).all():
                why = "not_finite"
            else:
                self._accept(stamp, now, values[places])
                return None
        self.refused[why] += 1
        return why

    def _late(self, stamp: int, now: int) -> str | None:
        if stamp == self._stamp:
            return "repeated"
        if stamp < self._stamp:
            return "reordered"
        if now - stamp > self._watchdog:
            return "late"
        return "future" if stamp > now else None

    def _accept(self, stamp: int, now: int, tau: Array) -> None:
        self._tau = np.clip(tau, -self._limits, self._limits)
        self.taken += 1
        self.clipped += bool((self._tau != tau).any())
        self._stamp, self._received = stamp, now

    def torque(self, now: int) -> Array | None:
        """Return the torque in force, (n,); None where the last command is too old or there never was one."""
        if self._received is None or not -CLOCK_BACK <= now - self._received <= self._watchdog:
            return None
        return self._tau
