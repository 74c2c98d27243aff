"""State machine of a pick (approach, pick, retreat, place); it receives the time and never waits."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...checks import Array, array, finite, of_kind, positive, whole
from ...errors import ThunderError
from ...spatial.single import angle_of
from ...values import Stateful, StrEnum
from .law import ServoState, ServoStep
from .tracker import SourceFault, Track


class PickPhase(StrEnum):
    """Phase of a pick.

    Examples
    --------
    >>> from thunder_py.manipulation import PickPhase
    >>> [phase.name for phase in PickPhase]
    ['search', 'approach', 'descend', 'grip', 'retreat', 'place', 'release', 'withdraw', 'done', 'failed']
    >>> PickPhase.grip.over, PickPhase.done.over
    (False, True)
    """

    search = "search"
    approach = "approach"
    descend = "descend"
    grip = "grip"
    retreat = "retreat"
    place = "place"
    release = "release"
    withdraw = "withdraw"
    done = "done"
    failed = "failed"

    @property
    def over(self) -> bool:
        """True if the phase is final."""
        return self in (PickPhase.done, PickPhase.failed)


#: allowed successors of each phase
TRANSITIONS: dict[PickPhase, frozenset[PickPhase]] = {
    PickPhase.search: frozenset({PickPhase.approach, PickPhase.failed}),
    PickPhase.approach: frozenset({PickPhase.descend, PickPhase.failed}),
    PickPhase.descend: frozenset({PickPhase.grip, PickPhase.approach, PickPhase.withdraw}),
    PickPhase.grip: frozenset({PickPhase.retreat, PickPhase.withdraw}),
    PickPhase.retreat: frozenset({PickPhase.place, PickPhase.done, PickPhase.failed}),
    PickPhase.place: frozenset({PickPhase.release, PickPhase.failed}),
    PickPhase.release: frozenset({PickPhase.done}),
    PickPhase.withdraw: frozenset({PickPhase.failed}),
    PickPhase.done: frozenset(),
    PickPhase.failed: frozenset(),
}


class PickReason(StrEnum):
    """Reason for which a pick failed.

    Examples
    --------
    >>> from thunder_py.manipulation import PickReason
    >>> PickReason.source_frozen.value
    'the pose source froze'
    """

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
    place_timeout = "the way to the place took too long"


@dataclass(frozen=True, kw_only=True)
class PickSettings:
    """Distances, speeds and times of a pick.

    Attributes
    ----------
    standoff : float
        Distance before the target, along its z axis, where the approach and the retreat end [m].
    arrived_distance, arrived_angle : float
        Tolerances at the standoff within which the descent may begin [m, rad].
    contact_distance, contact_angle : float
        Tolerances at the target within which the gripper is switched [m, rad].
    settle : float
        Time for which either must hold [s].
    descent_speed : float
        Speed of the descent [m/s].
    look_time : float
        Time for which the target must be seen before the arm moves [s].
    slow_age, stop_age, lost_age : float
        Ages of the latest good picture at which the arm slows down, stands still, and gives up [s].
    blind_distance, blind_time : float
        Below this distance from the target, where the arm may hide it, only the age `blind_time` counts [m, s].
    search_time, approach_time, descend_time, grip_time, retreat_time, place_time : float
        Time-outs of the phases [s].
    release_time : float
        Time in which the gripper opens at the place [s].
    trouble_time : float
        Longest time without a solution of the law, or with a joint at its limit [s].
    tries : int
        Number of times that a descent may start again because target or tool moved.

    Raises
    ------
    ThunderError
        If a number is not positive, or the ages do not ascend.

    Examples
    --------
    >>> from thunder_py.manipulation import PickSettings
    >>> PickSettings(standoff=0.15, tries=0).standoff
    0.15
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
    place_time: float = 8.0
    release_time: float = 0.3
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
    """Input of the machine in every period.

    Attributes
    ----------
    t : float
        Time [s], not before the last one.
    target : Track
        Track of the pose that the tool shall have at contact; its z axis points into the object.
    tool : (4, 4) array
        Estimated present pose of the tool.
    servo : ServoStep or None
        Result of the law for the last decision.
    tool_known : bool
        Whether the pose of the tool in the hand is known accurately enough.
    tool_slipped : bool
        Whether a slip was detected since the last period.
    holding : bool or None
        State of the gripper; None while it is unknown.
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
    """A change of phase.

    Attributes
    ----------
    t : float
        Time [s].
    before, after : PickPhase
        Phase before and after the event.
    reason : PickReason or None
        Reason of a failure or of a new approach.
    """

    t: float
    before: PickPhase
    after: PickPhase
    reason: PickReason | None = None


@dataclass(frozen=True, slots=True, eq=False)
class PickDecision:
    """Command until the next period.

    Attributes
    ----------
    phase : PickPhase
        Phase of the pick.
    goal : (4, 4) array or None
        Desired pose of the tool; None to stay.
    twist : (6,) array
        Twist of the goal, linear part first, world axes [m/s, rad/s].
    speed : float
        Factor from 0 to 1 that slows the arm down.
    grip : bool
        Whether the gripper shall hold; a pick that fails with the object keeps holding.
    reason : PickReason or None
        Reason of the failure.
    events : tuple of PickEvent
        Changes of phase in this period.
    """

    phase: PickPhase
    goal: Array | None
    twist: Array
    speed: float
    grip: bool
    reason: PickReason | None
    events: tuple[PickEvent, ...]


#: longest step that is integrated, so that a loop that paused does not jump [s]
LONGEST_STEP = 0.1
_LOST = {
    SourceFault.silent: PickReason.source_silent,
    SourceFault.frozen: PickReason.source_frozen,
    SourceFault.invalid: PickReason.source_invalid,
    SourceFault.late: PickReason.source_invalid,
    SourceFault.failed: PickReason.source_failed,
}
_STUCK = {
    ServoState.outside_domain: PickReason.outside_domain,
    ServoState.singular: PickReason.singular,
    ServoState.joint_limit: PickReason.joint_limit,
    ServoState.invalid_input: PickReason.invalid_state,
}


class PickMachine(Stateful):
    """The sequence of a pick.

    `step` maps a `PickInput` to a `PickDecision` with its events. It never waits, and its state is the phase, the time
    at which it began, and the data of the phase. The same inputs give the same outputs.

    ``search``: the target, and the tool in the hand, are observed. ``approach``: to the standoff before the target.
    ``descend``: along the target's z axis, only while the tool is near that line. ``grip``: the gripper closes.
    ``retreat``: back to the standoff with the object. With a place, ``place``: there, without a turn; ``release``: the
    gripper opens. A descent starts again from ``approach`` if the target jumps
    or the tool slips. If it fails, the arm first withdraws to the standoff (``withdraw``) with the gripper open.

    Parameters
    ----------
    settings : PickSettings, optional
        Distances, times and tolerances; those of `PickSettings` by default.
    place : (3,) array_like, optional
        Where the tool releases the object [m]; by default it is kept.

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.manipulation import PickMachine
    >>> from thunder_py.manipulation.servoing.pick_machine import PickInput
    >>> from thunder_py.manipulation.servoing.tracker import Track, SourceFault
    >>> machine = PickMachine()
    >>> for t in (0.0, 3.0, 6.0):  # nothing is ever seen
    ...     decision = machine.step(PickInput(t, Track(t, None, np.inf, SourceFault.unseen), np.eye(4)))
    >>> decision.phase.name, decision.reason.value
    ('failed', 'the target was never seen')
    """

    def __init__(self, settings: PickSettings | None = None, place: npt.ArrayLike | None = None) -> None:
        self.settings = PickSettings() if settings is None else of_kind(settings, PickSettings, "settings")
        self._place = None if place is None else array(place, (3,), "place")
        self._rules = {
            PickPhase.search: self._search,
            PickPhase.approach: self._approach,
            PickPhase.descend: self._descend,
            PickPhase.grip: self._grip,
            PickPhase.retreat: self._go_back,
            PickPhase.place: self._go_back,
            PickPhase.release: self._release,
            PickPhase.withdraw: self._go_back,
        }
        self.reset()

    def reset(self) -> None:
        """Start again."""
        self.phase = PickPhase.search
        self.reason: PickReason | None = None
        self._now: float | None = None
        self._began = 0.0  # start of the phase
        self._good_since: float | None = None  # start of the time in which the phase's condition has held
        self._stuck_since: float | None = None
        self._height = 0.0  # above the target, in the descent
        self._sinks = False
        self._tries = 0
        self._hold: Array | None = None  # goal of retreat, place and withdraw
        self._carries = False
        self._events: list[PickEvent] = []

    def step(self, given: PickInput) -> PickDecision:
        """Return the decision for this period.

        Raises
        ------
        ThunderError
            If the time is not finite or decreases.
        """
        t = finite(given.t, "t")
        if self._now is None:
            self._now = self._began = t
        if t < self._now:
            raise ThunderError(
                f"t must not be before the last time, {self._now:g} s, got {t:g} s; reset() starts again"
            )
        dt, self._now, self._events = min(t - self._now, LONGEST_STEP), t, []
        if not self.phase.over:
            self._check_law(given)
        if not self.phase.over:
            self._rules[self.phase](given, dt)
        return self._decide(given)

    def _enter(self, phase: PickPhase, reason: PickReason | None = None) -> None:
        assert self._now is not None
        assert phase in TRANSITIONS[self.phase], (self.phase, phase)
        self._events.append(PickEvent(self._now, self.phase, phase, reason))
        self.phase, self._began = phase, self._now
        self._good_since = self._stuck_since = None

    def _fail(self, reason: PickReason) -> None:
        """Give up: near the object via the standoff, elsewhere at once."""
        self.reason = reason if self.reason is None else self.reason
        close = self.phase in (PickPhase.descend, PickPhase.grip)
        self._enter(PickPhase.withdraw if close else PickPhase.failed, self.reason)

    def _elapsed(self) -> float:
        assert self._now is not None
        return self._now - self._began

    def _check_law(self, inputs: PickInput) -> None:
        """Give up if the law had no solution for too long."""
        reason = None if inputs.servo is None else _STUCK.get(inputs.servo.state)
        if reason is None:
            self._stuck_since = None
        elif self._stuck_since is None:
            self._stuck_since = inputs.t
        elif inputs.t - self._stuck_since > self.settings.trouble_time:
            self._fail(reason)

    def _too_old(self, inputs: PickInput, most: float) -> bool:
        """Give up if the target is unknown or its latest picture too old; return whether."""
        if inputs.target.estimate is not None and inputs.target.age <= most:
            return False
        self._fail(_LOST.get(inputs.target.trouble, PickReason.target_lost))
        return True

    def _search(self, inputs: PickInput, dt: float) -> None:
        seen = inputs.target.estimate is not None and inputs.target.age < self.settings.stop_age
        self._settled(seen and inputs.tool_known, inputs.t)
        if self._good_since is not None and inputs.t - self._good_since >= self.settings.look_time:
            self._enter(PickPhase.approach)
        elif self._elapsed() > self.settings.search_time:
            unseen = _LOST.get(inputs.target.trouble, PickReason.never_seen)
            if inputs.target.estimate is not None:
                unseen = _LOST.get(inputs.target.trouble, PickReason.target_lost)
            self._fail(PickReason.tool_unseen if seen else unseen)

    def _approach(self, inputs: PickInput, dt: float) -> None:
        s = self.settings
        if self._too_old(inputs, s.lost_age):
            return
        distance, angle = _apart(self._above(inputs, s.standoff), inputs.tool)
        if self._settled(distance < s.arrived_distance and angle < s.arrived_angle, inputs.t):
            self._height, self._hold, self._sinks = s.standoff, self._above(inputs, s.standoff), False
            self._enter(PickPhase.descend)
        elif self._elapsed() > s.approach_time:
            self._fail(PickReason.approach_timeout)

    def _descend(self, inputs: PickInput, dt: float) -> None:
        s = self.settings
        if self._too_old(inputs, s.blind_time if self._height < s.blind_distance else s.lost_age) or self._again(
            inputs
        ):
            return
        self._hold = self._above(inputs, s.standoff)
        distance, angle = _apart(self._above(inputs, self._height), inputs.tool)
        self._sinks = self._height > 0.0 and distance < 2.0 * s.arrived_distance and angle < 2.0 * s.arrived_angle
        if self._sinks:
            self._height = max(0.0, self._height - dt * self._speed(inputs) * s.descent_speed)
        distance, angle = _apart(self._above(inputs, 0.0), inputs.tool)
        if self._settled(distance < s.contact_distance and angle < s.contact_angle, inputs.t):
            self._enter(PickPhase.grip)
        elif self._elapsed() > s.descend_time:
            self._fail(PickReason.descend_timeout)

    def _again(self, inputs: PickInput) -> bool:
        """Abort the descent if target or tool moved; return whether."""
        if not (inputs.target.restarted or inputs.tool_slipped):
            return False
        reason = PickReason.target_jumped if inputs.target.restarted else PickReason.tool_slipped
        if self._tries >= self.settings.tries:
            self._fail(reason)
            return True
        self._tries += 1
        self._enter(PickPhase.approach, reason)
        return True

    def _grip(self, inputs: PickInput, dt: float) -> None:
        if inputs.holding:
            self._carries = True
            self._enter(PickPhase.retreat)
        elif inputs.holding is not None:
            self._fail(PickReason.nothing_held)
        elif self._elapsed() > self.settings.grip_time:
            self._fail(PickReason.grip_timeout)

    def _go_back(self, inputs: PickInput, dt: float) -> None:
        """Return to the standoff, with or without the object, and bring it to the place."""
        s, phase = self.settings, self.phase
        assert self._hold is not None
        if phase is not PickPhase.withdraw and inputs.holding is not None and not inputs.holding:
            self._carries = False
            self._fail(PickReason.object_dropped)
        elif self._settled(_apart(self._hold, inputs.tool)[0] < 2.0 * s.arrived_distance, inputs.t):
            if phase is PickPhase.withdraw:
                self._enter(PickPhase.failed, self.reason)
            elif phase is PickPhase.place:
                self._carries = False
                self._enter(PickPhase.release)
            elif self._place is None:
                self._enter(PickPhase.done)
            else:
                self._hold = self._hold.copy()
                self._hold[:3, 3] = self._place
                self._enter(PickPhase.place)
        elif self._elapsed() > (s.place_time if phase is PickPhase.place else s.retreat_time):
            self._fail(PickReason.place_timeout if phase is PickPhase.place else PickReason.retreat_timeout)

    def _release(self, inputs: PickInput, dt: float) -> None:
        if self._elapsed() > self.settings.release_time:
            self._enter(PickPhase.done)

    def _settled(self, good: bool, t: float) -> bool:
        """Return whether a condition has held for the settling time."""
        if not good:
            self._good_since = None
            return False
        if self._good_since is None:
            self._good_since = t
        return t - self._good_since >= self.settings.settle

    def _above(self, inputs: PickInput, height: float) -> Array:
        """Return the pose (4, 4) at a distance before the target."""
        assert inputs.target.estimate is not None
        T = inputs.target.estimate.pose.copy()
        T[:3, 3] -= height * T[:3, 2]
        return T

    def _speed(self, inputs: PickInput) -> float:
        """Return the speed factor, which falls from 1 to 0 with the age of the latest picture."""
        s, age = self.settings, inputs.target.age
        if self.phase is PickPhase.descend and self._height < s.blind_distance:
            return 1.0
        return min(1.0, max(0.0, (s.stop_age - age) / (s.stop_age - s.slow_age)))

    def _decide(self, inputs: PickInput) -> PickDecision:
        goal, twist, speed = None, np.zeros(6), 1.0
        if self.phase in (PickPhase.approach, PickPhase.descend):
            assert inputs.target.estimate is not None
            goal = self._above(inputs, self.settings.standoff if self.phase is PickPhase.approach else self._height)
            twist, speed = inputs.target.estimate.twist, self._speed(inputs)
            if self.phase is PickPhase.descend and self._sinks:
                twist = twist + np.concatenate((self.settings.descent_speed * goal[:3, 2], np.zeros(3)))
        elif self.phase in (PickPhase.retreat, PickPhase.place, PickPhase.withdraw):
            goal = self._hold
        holds = self.phase is PickPhase.grip or self._carries
        return PickDecision(self.phase, goal, twist, speed, holds, self.reason, tuple(self._events))


def _apart(desired: Array, actual: Array) -> tuple[float, float]:
    """Return distance and angle between two poses."""
    away = desired[:3, 3] - actual[:3, 3]
    return math.sqrt(float(away @ away)), angle_of(desired[:3, :3] @ actual[:3, :3].T)
