"""Command of the loop for every joint state, with its mode and reason."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from ..checks import Array
from ..control import Status
from ..values import StrEnum


class Mode(IntEnum):
    """Mode of the loop.

    Examples
    --------
    >>> from thunder_py.realtime import Mode
    >>> [f"{mode.value} {mode.name}" for mode in Mode]
    ['0 waiting', '1 hold', '2 tracking', '3 fault']
    """

    #: no state, or states lost: no torque is commanded
    waiting = 0
    #: the safe torque: gravity of the nominal model, damping, a spring to the rest position
    hold = 1
    #: the controller follows a reference
    tracking = 2
    #: the safe torque until `reset`; no torque while there are no states
    fault = 3


class Reason(StrEnum):
    """Reason for the mode of the loop, in the order of cpp/include/thunder/realtime/command.hpp.

    Examples
    --------
    >>> from thunder_py.realtime import Reason
    >>> Reason.large_error.value
    'the tracking error is larger than allowed'
    """

    no_state = "no state yet"
    no_reference = "no reference yet"
    reference_ended = "the reference ended while it moved, or was lost"
    following = "following a reference"
    state_late = "states are late"
    state_lost = "states are lost"
    clock_set_back = "the clock was set back"
    singular = "the controller has had no answer for too long"
    diverged = "the controller's estimate or torque diverged"
    large_error = "the tracking error is larger than allowed"
    invalid_states = "too many invalid states in a row"
    no_motors = "states lack the motors of elastic joints, which the controller needs"
    canceled = "the goal was canceled"


class Command(NamedTuple):
    """Torque command for one joint state.

    Attributes
    ----------
    stamp : int
        Stamp of the state that it answers [ns].
    tau : (n,) array
        Joint torques [N m or N], within the limits.
    mode : Mode
        Mode of the loop.
    reason : Reason
        Reason for the mode.
    status : Status
        Status of the controller's last step.
    error : (k,) array
        The controller's ``error``, desired minus actual; empty unless it follows a reference.
    parameters : (p,) array
        The controller's estimate; empty without one.
    period : float
        Time between the receptions of this state and the one before [s]; 0 for the first one.
    latency : float
        Time from the state's stamp to this command [s].
    computing : float
        Part of the latency spent in the loop [s].
    external_torque : (n,) array
        Estimate of the external torque [N m or N]; empty without an observer.
    contact : bool
        Whether the observer's detector reports a contact of any joint.

    Examples
    --------
    >>> import thunder_py as th
    >>> from thunder_py.realtime import ControlLoop
    >>> loop = ControlLoop({"robot": "elbow", "controller": {"name": "PDGravity", "K_p": 50, "K_d": 10}})
    >>> q = [0.1] * len(loop.joint_names)
    >>> command = loop.state(stamp=10**9, now=10**9 + 200_000, names=loop.joint_names, q=q, dq=[0.0] * len(q))
    >>> command.stamp, command.mode.name, command.reason.value
    (1000000000, 'hold', 'no reference yet')
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
    external_torque: Array
    contact: bool
