"""Phases of an interception, and the reasons for its end."""

from __future__ import annotations

from ...values import StrEnum


class InterceptionPhase(StrEnum):
    """Phase of an interception.

    An aborted reach brakes along its path and stays where it comes to rest, until `reset`. The hand has closed and left
    in ``finished`` and in ``missed``; in the latter, later measurements contradict the grasp.

    Examples
    --------
    >>> from thunder_py.manipulation.interception import InterceptionPhase
    >>> [phase.value for phase in InterceptionPhase]
    ['waiting', 'reaching', 'closing', 'leaving', 'finished', 'missed', 'aborted']
    """

    waiting = "waiting"
    reaching = "reaching"
    closing = "closing"
    leaving = "leaving"
    finished = "finished"
    missed = "missed"
    aborted = "aborted"


class InterceptionReason(StrEnum):
    """Reason for waiting, for an abort, or for a grasp that measurements contradict.

    Examples
    --------
    >>> from thunder_py.manipulation.interception import InterceptionReason
    >>> InterceptionReason.too_fast.value, InterceptionReason("out of reach").name
    ('too fast', 'out_of_reach')
    """

    none = "none"
    no_estimate = "no estimate"
    #: no accepted estimate for too long: drop-outs, NaN, a source that freezes or jumps, an object that vanishes
    silent = "silent"
    stopped = "stopped"
    reversed = "reversed"
    #: the object, or the required motion of the hand
    too_fast = "too fast"
    out_of_reach = "out of reach"
    too_late = "too late"
    #: measurements show the object out of the hand when it has closed, still on its way along the belt
    elsewhere = "elsewhere"
