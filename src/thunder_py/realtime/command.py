"""What the loop returns for every joint state, and the words it uses."""

from __future__ import annotations

from enum import Enum, IntEnum
from typing import NamedTuple

from ..checks import Array
from ..control import Status

__all__ = ["Command", "Mode", "Reason"]


class Mode(IntEnum):
    """What the loop is doing."""

    #: no state yet, or none any more: no torque is commanded
    waiting = 0
    #: the safe torque: gravity of the nominal model, damping, a spring to where the arm came to rest
    hold = 1
    #: the controller follows a reference
    tracking = 2
    #: the safe torque until `reset`
    fault = 3


class Reason(str, Enum):
    """Why the loop is in its mode."""

    no_state = "no state yet"
    no_reference = "no reference yet"
    reference_ended = "the reference ended while it moved, or was lost"
    following = "following a reference"
    state_late = "states are late"
    state_lost = "states are lost"
    singular = "the controller has had no answer for too long"
    diverged = "the controller's estimate or torque diverged"
    large_error = "the tracking error is larger than allowed"
    invalid_states = "too many invalid states in a row"


class Command(NamedTuple):
    """A torque and what belongs to it.

    Attributes
    ----------
    stamp : int
        Of the state that it answers [ns].
    tau : (n,) array
        Joint torques [N m or N], within the limits.
    mode : Mode
        What the loop is doing.
    reason : Reason
        Why.
    status : Status
        Of the controller's last step.
    error : (k,) array
        The controller's ``error``, desired minus actual; empty unless it follows a reference.
    parameters : (p,) array
        The controller's estimate; empty where it has none.
    period : float
        Since the state before was received [s]; 0 for the first one.
    latency : float
        From the state's stamp to this command [s].
    computing : float
        Part of the latency that was spent in here [s].
    """

    stamp: int
    tau: Array
    mode: Mode
    reason: Reason
    status: Status
    error: Array
    parameters: Array
    period: float
    latency: float
    computing: float
