import numpy as np
import pytest

from tests.refusals import assert_refused
from thunder_py.errors import ThunderError
from thunder_py.manipulation.servoing.law import ServoState, ServoStep
from thunder_py.manipulation.servoing.pick_machine import (
    TRANSITIONS,
    PickInput,
    PickMachine,
    PickPhase,
    PickReason,
    PickSettings,
)
from thunder_py.manipulation.servoing.pose_filter import PoseEstimate
from thunder_py.manipulation.servoing.tracker import SourceFault, Track
from thunder_py.spatial.single import make_pose

DOWN = np.diag([1.0, -1.0, -1.0])
TARGET = make_pose(DOWN, [0.5, 0.0, 0.1])
PLACE = (0.3, -0.2, 0.3)
DT = 0.02


class Story:
    """Drives a machine with an ideal arm that goes where it is sent, unless told otherwise."""

    def __init__(self, place=None, **settings):
        self.machine = PickMachine(PickSettings(**settings), place)
        self.t = 0.0
        self.tool = make_pose(DOWN, [0.4, 0.1, 0.4])
        self.target = TARGET
        self.events, self.speeds, self.phases = [], [], []
        self.decision = None

    def run(self, seconds=30.0, until=None, *, age=0.1, trouble=SourceFault.none, seen=True, moves=True, **given):
        """Until a phase is reached, the pick is over, or the time has passed."""
        end = self.t + seconds
        grows = age == "grows"
        start = self.t
        while self.t < end and not self.machine.phase.over and self.machine.phase is not until:
            now = 0.1 + self.t - start if grows else age
            estimate = PoseEstimate(self.t, self.target, np.zeros(6), np.eye(12)) if seen else None
            track = Track(self.t, estimate, now if seen else np.inf, trouble)
            holding = True if self.machine.phase in (PickPhase.grip, PickPhase.retreat, PickPhase.place) else None
            state = given.get("state", ServoState.ok)
            servo = ServoStep(np.zeros(7), state, 0.0, 0.0)
            once = PickInput(
                self.t, track, self.tool, servo, given.get("known", True), False, given.get("holding", holding)
            )
            self.note(self.machine.step(once), moves)
        return self

    def note(self, decision, moves=True):
        self.decision = decision
        self.events += decision.events
        self.speeds.append(decision.speed)
        self.phases.append(decision.phase)
        if decision.goal is not None and moves:
            part = min(1.0, 5.0 * decision.speed * DT)
            self.tool = self.tool.copy()
            self.tool[:3, 3] += part * (decision.goal[:3, 3] - self.tool[:3, 3]) + DT * decision.twist[:3]
        self.t += DT

    def disturb(self, *, restarted=False, slipped=False):
        track = Track(
            self.t, PoseEstimate(self.t, self.target, np.zeros(6), np.eye(12)), 0.1, SourceFault.none, restarted
        )
        self.note(self.machine.step(PickInput(self.t, track, self.tool, None, True, slipped)))
        return self

    @property
    def path(self):
        return [event.after.value for event in self.events]


def at(phase, **settings):
    place = PLACE if phase in (PickPhase.place, PickPhase.release) else None
    story = Story(place, **settings).run(until=phase)
    assert story.machine.phase is phase
    return story


def test_everything_goes_well():
    story = Story().run()
    assert story.path == ["approach", "descend", "grip", "retreat", "done"]
    assert story.decision.grip
    assert story.decision.reason is None
    assert story.decision.goal is None
    np.testing.assert_allclose(story.tool[:3, 3], [0.5, 0.0, 0.2], atol=0.02)  # at the standoff


def test_what_has_a_place_is_released_there_and_not_before():
    story = Story(PLACE, release_time=0.3).run(until=PickPhase.place)
    assert story.decision.grip
    story.run(until=PickPhase.release)
    np.testing.assert_allclose(story.tool[:3, 3], PLACE, atol=0.02)
    np.testing.assert_allclose(story.tool[:3, :3], DOWN)
    assert not story.decision.grip
    began = story.t
    story.run()
    assert story.path == ["approach", "descend", "grip", "retreat", "place", "release", "done"]
    assert story.t - began == pytest.approx(0.3, abs=2.0 * DT)
    assert not story.decision.grip
    assert story.decision.reason is None


def test_every_transition_is_one_of_the_table():
    reached = set()
    stories = [Story().run(), at(PickPhase.descend).disturb(slipped=True).run(), Story().run(seen=False)]
    stories.append(Story(PLACE).run())
    for phase in (PickPhase.approach, PickPhase.descend, PickPhase.grip, PickPhase.retreat, PickPhase.place):
        stories += [at(phase).run(state=ServoState.singular, moves=False), at(phase).run(holding=False)]
    for story in stories:
        reached |= {(event.before, event.after) for event in story.events}
    assert reached == {(before, after) for before, many in TRANSITIONS.items() for after in many}


def test_the_arm_waits_until_target_and_tool_are_known():
    story = Story(look_time=0.5).run(1.0, known=False)
    assert story.machine.phase is PickPhase.search
    assert story.decision.goal is None
    story.run(0.4)
    assert story.machine.phase is PickPhase.search
    story.run(0.2)
    assert story.machine.phase is PickPhase.approach


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"seen": False}, PickReason.never_seen),
        ({"seen": False, "trouble": SourceFault.silent}, PickReason.source_silent),
        ({"seen": False, "trouble": SourceFault.invalid}, PickReason.source_invalid),
        ({"known": False}, PickReason.tool_unseen),
        ({"age": 2.0, "trouble": SourceFault.unseen}, PickReason.target_lost),
    ],
)
def test_search_ends(given, reason):
    story = Story(search_time=2.0).run(**given)
    assert story.path == ["failed"]
    assert story.decision.reason is reason
    assert story.t == pytest.approx(2.0, abs=0.1)
    assert not story.decision.grip


@pytest.mark.parametrize(
    ("trouble", "reason"),
    [
        (SourceFault.unseen, PickReason.target_lost),
        (SourceFault.outliers, PickReason.target_lost),
        (SourceFault.silent, PickReason.source_silent),
        (SourceFault.frozen, PickReason.source_frozen),
        (SourceFault.invalid, PickReason.source_invalid),
    ],
)
def test_a_lost_target_slows_the_arm_and_ends_the_approach(trouble, reason):
    story = at(PickPhase.approach, slow_age=0.6, stop_age=1.0, lost_age=3.0)
    begin = len(story.speeds)
    story.run(age="grows", trouble=trouble, moves=False)
    speeds = np.array(story.speeds[begin:-1])
    age = 0.1 + DT * np.arange(len(speeds))
    np.testing.assert_allclose(speeds, np.clip((1.0 - age) / 0.4, 0.0, 1.0), atol=1e-9)
    assert story.path[-1] == "failed"
    assert story.decision.reason is reason
    assert age[-1] == pytest.approx(3.0, abs=0.05)


def test_a_target_seen_again_in_time_is_gone_on_with():
    story = at(PickPhase.approach).run(2.0, age="grows", trouble=SourceFault.unseen)
    assert story.decision.speed == 0.0
    assert story.run().path[-1] == "done"


def test_a_target_lost_in_the_descent_makes_the_arm_withdraw():
    story = at(PickPhase.descend)
    story.run(0.2)
    story.run(age=5.0, trouble=SourceFault.unseen)
    assert story.path[-2:] == ["withdraw", "failed"]
    assert story.decision.reason is PickReason.target_lost
    np.testing.assert_allclose(story.tool[:3, 3], [0.5, 0.0, 0.2], atol=0.02)


def test_close_to_the_object_the_arm_may_hide_it():
    story = at(PickPhase.descend, blind_distance=0.06, blind_time=2.0)
    while story.machine._height > 0.05:
        story.run(DT)
    story.run(age=1.5, trouble=SourceFault.unseen)
    assert story.path[-1] == "done"
    assert min(story.speeds) == 1.0


def test_speed_of_the_descent_is_bounded_and_waits_for_the_line():
    story = at(PickPhase.descend, descent_speed=0.1)
    heights = []
    while story.machine.phase is PickPhase.descend:
        story.run(DT)
        heights.append(story.decision.goal[2, 3] if story.decision.goal is not None else np.nan)
    assert np.nanmin(np.diff(heights)) > -0.1 * DT - 1e-9
    aside = at(PickPhase.descend)
    aside.tool = aside.tool.copy()
    aside.tool[0, 3] += 0.05
    aside.run(1.0, moves=False)
    assert aside.machine._height == pytest.approx(0.1)
    assert (aside.decision.twist == 0.0).all()


@pytest.mark.parametrize(
    ("disturbance", "reason"),
    [({"restarted": True}, PickReason.target_jumped), ({"slipped": True}, PickReason.tool_slipped)],
)
def test_a_jump_or_a_slip_begins_the_descent_again(disturbance, reason):
    story = at(PickPhase.descend, tries=1).disturb(**disturbance)
    assert story.machine.phase is PickPhase.approach
    assert story.events[-1].reason is reason
    assert story.decision.reason is None
    story.run(until=PickPhase.descend).disturb(**disturbance).run()
    assert story.path[-2:] == ["withdraw", "failed"]
    assert story.decision.reason is reason
    once = at(PickPhase.descend, tries=1).disturb(**disturbance).run()
    assert once.path[-1] == "done"


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        (ServoState.outside_domain, PickReason.outside_domain),
        (ServoState.singular, PickReason.singular),
        (ServoState.joint_limit, PickReason.joint_limit),
        (ServoState.invalid_input, PickReason.invalid_state),
    ],
)
def test_a_law_without_an_answer_ends_the_pick_after_a_while(state, reason):
    story = at(PickPhase.approach, trouble_time=1.0)
    begin = story.t
    story.run(0.9, state=state, moves=False)
    assert story.machine.phase is PickPhase.approach
    story.run(state=state, moves=False)
    assert story.path[-1] == "failed"
    assert story.decision.reason is reason
    assert story.t - begin == pytest.approx(1.0, abs=0.1)


def test_trouble_that_passes_is_forgotten():
    story = at(PickPhase.approach, trouble_time=1.0)
    for _ in range(3):
        story.run(0.8, state=ServoState.singular, moves=False).run(0.1, moves=False)
    assert story.machine.phase is PickPhase.approach


@pytest.mark.parametrize(
    ("phase", "given", "path", "reason"),
    [
        (PickPhase.approach, {"moves": False}, ["failed"], PickReason.approach_timeout),
        (PickPhase.descend, {"moves": False}, ["withdraw", "failed"], PickReason.descend_timeout),
        (PickPhase.grip, {"holding": None}, ["withdraw", "failed"], PickReason.grip_timeout),
        (PickPhase.grip, {"holding": False}, ["withdraw", "failed"], PickReason.nothing_held),
        (PickPhase.retreat, {"holding": False}, ["failed"], PickReason.object_dropped),
        (PickPhase.retreat, {"moves": False}, ["failed"], PickReason.retreat_timeout),
        (PickPhase.place, {"holding": False}, ["failed"], PickReason.object_dropped),
        (PickPhase.place, {"moves": False}, ["failed"], PickReason.place_timeout),
    ],
)
def test_time_outs_and_the_gripper(phase, given, path, reason):
    story = at(phase)
    story.run(**given)
    assert story.path[-len(path) :] == path
    assert story.decision.reason is reason
    # what is held is not let fall where the way back takes too long
    assert story.decision.grip is (reason in (PickReason.retreat_timeout, PickReason.place_timeout))


def test_the_first_reason_stays_when_the_way_back_fails_too():
    story = at(PickPhase.grip).run(holding=False, moves=False)
    assert story.decision.reason is PickReason.nothing_held


@pytest.mark.parametrize("phase", [PickPhase.approach, PickPhase.descend])
def test_a_target_that_is_known_no_more_is_lost(phase):
    for given in ({"seen": False}, {"age": np.nan}):
        story = at(phase).run(trouble=SourceFault.unseen, **given)
        assert story.decision.phase is PickPhase.failed
        assert story.decision.reason is PickReason.target_lost


def test_grippers_may_answer_with_numpy():
    assert at(PickPhase.retreat).run(holding=np.False_).decision.reason is PickReason.object_dropped
    assert at(PickPhase.grip).run(holding=np.True_).path[-1] == "done"


def test_a_pause_makes_the_descent_no_leap():
    story = at(PickPhase.descend, descent_speed=0.1).run(0.1)
    height = story.machine._height
    story.t += 5.0
    story.run(DT)
    assert height - 0.1 * 0.1 - 1e-9 <= story.machine._height < height


def test_an_ended_pick_stays_ended_until_reset():
    story = Story().run()
    target = Track(story.t, None, np.inf, SourceFault.silent)
    after = story.machine.step(PickInput(story.t + 10.0, target, story.tool, None, holding=False))
    assert after.phase is PickPhase.done
    assert after.events == ()
    assert after.goal is None
    story.machine.reset()
    assert story.machine.phase is PickPhase.search


def test_times_that_go_back_or_are_none_are_refused():
    story = Story().run(1.0)
    for t in (0.0, np.nan):
        with pytest.raises(ThunderError, match="t must"):
            story.machine.step(PickInput(t, Track(t, None, np.inf, SourceFault.silent), story.tool))


def test_bad_settings_are_refused():
    assert_refused(
        ({"standoff": 0.0}, "...standoff..."),
        ({"lost_age": np.nan}, "...lost_age..."),
        ({"slow_age": 2.0}, "...ascend..."),
        ({"tries": -1}, "...tries..."),
        call=lambda **settings: PickSettings(**settings),
    )
