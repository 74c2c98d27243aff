"""Command of the loop for every joint state, with its mode and reason."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from ..checks import Array
from ..control import Status
from ..values import StrEnum


class Mode(IntEnum):
    """State of the loop; docs/architecture.md has what leads from one to another.

    Examples
    --------
    >>> from thunder_py.realtime import Mode
    >>> [f"{mode.value} {mode.name}" for mode in Mode]
    ['0 starting', '1 tracking', '2 holding', '3 braking', '4 stopped', '5 fault']
    """

    #: no state yet, or states lost: no torque is commanded
    starting = 0
    #: the controller follows a reference
    tracking = 1
    #: the safe torque of an arm at rest: gravity of the nominal model and a spring to the rest position
    holding = 2
    #: the safe torque of an arm that moves: braking along a straight line in joint space
    braking = 3
    #: a run on a drive is over, and the drive is stopped
    stopped = 4
    #: the safe torque until `reset`; no torque while there are no states
    fault = 5


class StopKind(StrEnum):
    """Kind of a stop.

    Examples
    --------
    >>> from thunder_py.realtime import StopKind
    >>> [kind.name for kind in StopKind]
    ['brake', 'immediate']
    """

    #: the loop brakes the arm with the safe torque until it is at rest, then stops the drive
    brake = "braked to rest, then stopped"
    #: the drive is stopped at once, because the loop has no state or no command reaches it
    immediate = "stopped at once"


class Reason(StrEnum):
    """Reason for the mode of a loop, and for the stop of a run on a drive.

    Examples
    --------
    >>> from thunder_py.realtime import Reason
    >>> Reason.large_error.value
    'the tracking error is larger than allowed'
    >>> Reason.position.value, Reason.position.kind.name, Reason.drive_fault.kind.name
    ('a position limit is near', 'brake', 'immediate')
    """

    # in the order of cpp/include/thunder/realtime/command.hpp
    no_state = "no state yet"
    no_reference = "no reference yet"
    reference_ended = "the reference ended while it moved, or was lost"
    following = "following a reference"
    state_late = "states are late"
    states_lost = "states are lost"
    clock_set_back = "the clock was set back"
    no_motors = "states lack the motors of elastic joints, which the controller needs"
    canceled = "the goal was canceled"
    no_solution = "the controller has had no solution for too long"
    diverged = "the controller's estimate or torque diverged"
    large_error = "the tracking error is larger than allowed"
    invalid_states = "too many invalid states in a row"
    wrong_velocities = "velocities are not those of the positions"
    repeated_holds = "the arm had to be held too often"
    finished = "the duration is over"
    requested = "a stop was requested"
    interrupted = "the program was interrupted"
    position = "a position limit is near"
    velocity = "a joint is too fast"
    workspace = "the arm is too near an obstacle or the end of its workspace"
    contact = "a contact was detected"
    torque = "the controller has demanded more than the torque limits for too long"
    torque_rate = "the controller has demanded more than the torque rate for too long"
    invalid_torque = "the torque is not finite"
    controller_failed = "the controller or its reference raised an error"
    missed_cycles = "too many cycles were missed in a row"
    watchdog = "the drive's watchdog has expired"
    drive_fault = "the drive reported a fault"

    @property
    def kind(self) -> StopKind:
        """How a run on a drive ends for this reason."""
        return StopKind.immediate if self in _IMMEDIATE else StopKind.brake

    @property
    def number(self) -> int:
        """Number in the core."""
        return REASONS.index(self)

    @classmethod
    def of(cls, number: int) -> Reason | None:
        """Return the reason of a number of the core; None for its `none`."""
        return REASONS[number] if number < len(REASONS) else None


#: reasons by their numbers in the core
REASONS = tuple(Reason)
_IMMEDIATE = frozenset(
    {Reason.states_lost, Reason.invalid_states, Reason.wrong_velocities, Reason.watchdog, Reason.drive_fault}
)


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
    (1000000000, 'holding', 'no reference yet')
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
