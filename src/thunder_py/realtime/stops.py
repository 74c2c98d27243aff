"""Reasons for which a loop stops an arm, and the kind of stop for each."""

from __future__ import annotations

from ..values import StrEnum


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


class StopReason(StrEnum):
    """Reason for a stop; `kind` is what the loop does then.

    Examples
    --------
    >>> from thunder_py.realtime import StopReason
    >>> StopReason.position.value, StopReason.position.kind.name, StopReason.drive_fault.kind.name
    ('a position limit is near', 'brake', 'immediate')
    """

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
    diverged = "the controller's estimate or torque diverged"
    no_solution = "the controller has had no solution for too long"
    controller_failed = "the controller or its reference raised an error"
    missed_cycles = "too many cycles were missed in a row"
    states_lost = "no new state arrived"
    invalid_states = "the states are invalid"
    watchdog = "the drive's watchdog has expired"
    drive_fault = "the drive reported a fault"

    @property
    def kind(self) -> StopKind:
        """What the loop does for this reason."""
        return StopKind.immediate if self in _IMMEDIATE else StopKind.brake


_IMMEDIATE = frozenset({StopReason.states_lost, StopReason.invalid_states, StopReason.watchdog, StopReason.drive_fault})

#: in the order of the numbers of the core
_IN_ORDER = tuple(StopReason)


def stop_reason(number: int) -> StopReason | None:
    """Return the reason of a number of the core; None for its `none`."""
    return _IN_ORDER[number] if number < len(_IN_ORDER) else None


def stop_number(reason: StopReason | None) -> int:
    """Return the number of a reason in the core."""
    return len(_IN_ORDER) if reason is None else _IN_ORDER.index(reason)
