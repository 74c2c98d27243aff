"""Words of a pick: its phases, why it fails, its settings, what goes in and what comes out."""

from __future__ import annotations

import dataclasses
import enum
from dataclasses import dataclass

from ...checks import Array
from ...errors import ThunderError
from ...motion.scalars import positive, whole
from .law import ServoStep
from .tracker import Track

__all__ = ["TRANSITIONS", "PickDecision", "PickEvent", "PickInput", "PickPhase", "PickReason", "PickSettings"]


class PickPhase(enum.Enum):
    """Where a pick stands."""

    search = "search"
    approach = "approach"
    descend = "descend"
    grip = "grip"
    retreat = "retreat"
    withdraw = "withdraw"
    done = "done"
    failed = "failed"

    @property
    def over(self) -> bool:
        """Whether nothing follows."""
        return self in (PickPhase.done, PickPhase.failed)


#: what may follow what
TRANSITIONS: dict[PickPhase, frozenset[PickPhase]] = {
    PickPhase.search: frozenset({PickPhase.approach, PickPhase.failed}),
    PickPhase.approach: frozenset({PickPhase.descend, PickPhase.failed}),
    PickPhase.descend: frozenset({PickPhase.grip, PickPhase.approach, PickPhase.withdraw}),
    PickPhase.grip: frozenset({PickPhase.retreat, PickPhase.withdraw}),
    PickPhase.retreat: frozenset({PickPhase.done, PickPhase.failed}),
    PickPhase.withdraw: frozenset({PickPhase.failed}),
    PickPhase.done: frozenset(),
    PickPhase.failed: frozenset(),
}


class PickReason(enum.Enum):
    """Why a pick failed."""

    never_seen = "the target was never seen"
    tool_unseen = "the tool was not seen well enough"
    target_lost = "the target was not seen for too long"
    source_silent = "the pose source fell silent"
    source_frozen = "the pose source froze"
    source_invalid = "the pose source sends no poses"
    source_failed = "the pose source raised errors"
    target_jumped = "the target jumped too often"
    tool_slipped = "the tool slipped too often"
    outside_domain = "the target is turned out of the law's domain"
    singular = "the arm is singular"
    joint_limit = "a joint position limit is in the way"
    invalid_state = "the law was given invalid numbers"
    approach_timeout = "the approach took too long"
    descend_timeout = "the descent took too long"
    grip_timeout = "the gripper did not answer"
    nothing_held = "the gripper holds nothing"
    object_dropped = "the object was lost on the way back"
    retreat_timeout = "the retreat took too long"


@dataclass(frozen=True, kw_only=True)
class PickSettings:
    """Distances, speeds and times of a pick.

    Attributes
    ----------
    standoff : float
        Where the approach ends and the retreat goes, before the target along its z axis [m].
    arrived_distance, arrived_angle : float
        At the standoff, where the descent may begin [m, rad].
    contact_distance, contact_angle : float
        Where the gripper is switched [m, rad].
    settle : float
        How long either must hold [s].
    descent_speed : float
        [m/s].
    look_time : float
        The target is looked at for so long before the arm moves [s].
    slow_age, stop_age, lost_age : float
        Age of the latest good picture from which on the arm is slowed down, stands still, and gives up [s].
    blind_distance, blind_time : float
        So close to the target, where the arm may hide it, the age counts only from the second on [m, s].
    search_time, approach_time, descend_time, grip_time, retreat_time : float
        Time-outs of the phases [s].
    trouble_time : float
        The law may have no answer, or a joint stand at its limit, for so long [s].
    tries : int
        How often a descent may be broken off and begun again, because target or tool moved.
    """

    standoff: float = 0.10
    arrived_distance: float = 0.010
    arrived_angle: float = 0.10
    contact_distance: float = 0.004
    contact_angle: float = 0.05
    settle: float = 0.1
    descent_speed: float = 0.10
    look_time: float = 0.5
    slow_age: float = 0.6
    stop_age: float = 1.0
    lost_age: float = 3.0
    blind_distance: float = 0.06
    blind_time: float = 2.0
    search_time: float = 5.0
    approach_time: float = 8.0
    descend_time: float = 6.0
    grip_time: float = 1.0
    retreat_time: float = 5.0
    trouble_time: float = 1.0
    tries: int = 2

    def __post_init__(self) -> None:
        """Check every number, and the order of the ages."""
        for field in dataclasses.fields(self):
            if field.name == "tries":
                whole(self.tries, "tries", 0)
            else:
                positive(getattr(self, field.name), field.name)
        if not self.slow_age < self.stop_age <= self.lost_age:
            raise ThunderError(
                "slow_age, stop_age and lost_age must ascend, "
                f"got {self.slow_age:g}, {self.stop_age:g} and {self.lost_age:g} s"
            )


@dataclass(frozen=True, slots=True, eq=False)
class PickInput:
    """What the machine is told in every period.

    Attributes
    ----------
    t : float
        [s], never before the last one.
    target : Track
        Of the pose that the tool shall have at contact; its z axis points into the object.
    tool : (4, 4) array
        Where the tool is now, as far as known.
    servo : ServoStep or None
        How the law answered to the last decision.
    tool_known : bool
        Whether it is known well enough how the tool lies in the hand.
    tool_slipped : bool
        Whether a slip was found since the last period.
    holding : bool or None
        What the gripper says; None while it says nothing.
    """

    t: float
    target: Track
    tool: Array
    servo: ServoStep | None = None
    tool_known: bool = True
    tool_slipped: bool = False
    holding: bool | None = None


@dataclass(frozen=True, slots=True)
class PickEvent:
    """That a phase was left.

    Attributes
    ----------
    t : float
        [s].
    before, after : PickPhase
    reason : PickReason or None
        Why, where something went wrong.
    """

    t: float
    before: PickPhase
    after: PickPhase
    reason: PickReason | None = None


@dataclass(frozen=True, slots=True, eq=False)
class PickDecision:
    """What is to be done until the next period.

    Attributes
    ----------
    phase : PickPhase
    goal : (4, 4) array or None
        Where the tool shall go; None: stay.
    twist : (6,) array
        Of the goal, linear part first, world axes.
    speed : float
        From 0 to 1: what to slow the arm down by.
    grip : bool
        Whether the gripper shall hold; a pick that fails on the way back goes on holding what it has.
    reason : PickReason or None
        Why the pick fails or failed.
    events : tuple of PickEvent
        Of this period.
    """

    phase: PickPhase
    goal: Array | None
    twist: Array
    speed: float
    grip: bool
    reason: PickReason | None
    events: tuple[PickEvent, ...]
