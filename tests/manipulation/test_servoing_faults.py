"""Sources that raise errors or send nonsense, loops that pause, and a pick that begins again."""

import numpy as np
import pytest

from thunder_py import Robot
from thunder_py.errors import ThunderError
from thunder_py.manipulation.servoing.law import VisualServo
from thunder_py.manipulation.servoing.pick_loop import PickLoop
from thunder_py.manipulation.servoing.pick_machine import PickMachine, PickPhase, PickReason
from thunder_py.manipulation.servoing.pose_filter import LatestPose, PoseFilter, Verdict
from thunder_py.manipulation.servoing.tool_estimator import ToolEstimator, ToolVerdict
from thunder_py.manipulation.servoing.tracker import SourceFault, TargetTracker
from thunder_py.model.description import Limits
from thunder_py.perception.pose_source import PoseMeasurement
from thunder_py.spatial.single import exp, make_pose

PANDA = Robot.load("panda")
HOME = np.array([0.0, -0.5, 0.0, -2.0, 0.0, 1.6, 0.8])
START = PANDA.forward_kinematics(HOME)
GOAL = make_pose(START[:3, :3], START[:3, 3] + [0.05, 0.1, -0.2])
NOISE = (0.003, 0.03)
HUGE = np.block([[np.eye(3), np.full((3, 1), 1e200)], [np.zeros(3), 1.0]])


class Broken(Exception):
    """What a driver raises."""


class Source:
    """A picture every 0.1 s, at once; `answer` may do anything in its place while `broken` says so."""

    def __init__(self, pose=GOAL, answer=None, broken=lambda t: False):
        self.pose, self.answer, self.broken = pose, answer, broken
        self.reset()

    def reset(self):
        self.next, self.rng = 0.0, np.random.default_rng(0)

    def poll(self, t):
        if self.broken(t):
            return self.answer(t)
        found = []
        while self.next <= t:
            T = np.array(self.pose(t) if callable(self.pose) else self.pose)
            T[:3, 3] += self.rng.normal(0.0, 1e-4, 3)
            found.append(PoseMeasurement(self.next, self.next, T))
            self.next += 0.1
        return found


def raises(t):
    raise Broken("the cable is out")


def make_loop(source, **options):
    servo = VisualServo(PANDA)
    return PickLoop(servo, TargetTracker(source, PoseFilter(*NOISE, persistence=0.5)), PickMachine(), **options)


def drive(loop, seconds, dt=0.02):
    """An arm that does what it is told."""
    q, steps = HOME.copy(), []
    for t in np.arange(0.0, seconds, dt):
        holding = True if steps and steps[-1].decision.grip else None
        steps.append(loop.update(t, q, holding))
        q = q + dt * steps[-1].dq
    return steps


@pytest.mark.parametrize("answer", [raises, lambda t: None, lambda t: [GOAL], lambda t: 3.0])
def test_a_source_that_raises_is_told_and_forgiven(answer):
    one = TargetTracker(Source(answer=answer, broken=lambda t: 1.0 < t < 2.0), PoseFilter(*NOISE))
    found = {round(t, 2): one.update(t) for t in np.arange(0.0, 3.0, 0.05)}
    assert found[1.0].trouble is SourceFault.none
    assert found[1.95].trouble is SourceFault.failed  # not silent: it answers, with errors
    assert found[1.95].age == pytest.approx(0.95)
    assert np.isfinite(found[1.95].estimate.pose).all()
    assert isinstance(one.error, Broken if answer is raises else TypeError)
    assert found[2.95].trouble is SourceFault.none
    assert found[2.95].age < 0.2
    one.reset()
    assert one.error is None


def test_who_stops_the_program_is_not_stopped():
    def interrupt(t):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        TargetTracker(Source(answer=interrupt, broken=lambda t: True), PoseFilter(*NOISE)).update(0.0)


def test_errors_of_a_source_end_the_pick_with_their_reason():
    loop = make_loop(Source(answer=raises, broken=lambda t: t > 1.0))
    steps = drive(loop, 5.0)
    assert loop.machine.phase is PickPhase.failed
    assert loop.machine.reason is PickReason.source_failed
    assert (steps[round(2.4 / 0.02)].dq == 0.0).all()  # long before it gives up
    assert isinstance(loop.target.error, Broken)


def test_a_source_of_the_tool_that_raises_changes_nothing():
    loop = make_loop(
        Source(),
        tool=ToolEstimator(np.eye(4), 0.01, 0.1, *NOISE),
        tool_source=Source(lambda t: loop.hands.at(t), raises, lambda t: t > 1.0),
    )
    drive(loop, 14.0)
    assert isinstance(loop.tool_error, Broken)
    assert loop.machine.phase is PickPhase.done
    never = make_loop(
        Source(), tool=ToolEstimator(np.eye(4), 0.01, 0.1, *NOISE), tool_source=Source(GOAL, raises, lambda t: True)
    )
    drive(never, 6.0)
    assert never.machine.reason is PickReason.tool_unseen


def test_a_tool_without_noise_needs_repetition_to_be_allowed():
    for repeats, known in ((3, False), (None, True)):

        class Exact(Source):
            def poll(self, t):
                return [PoseMeasurement(m.time, m.available, START) for m in super().poll(t)]

        estimator = ToolEstimator(np.eye(4), 0.05, 0.1, 0.02, 0.03)
        loop = make_loop(Source(), tool=estimator, tool_source=Exact(), tool_repeats=repeats)
        drive(loop, 4.0)
        assert (loop.machine.phase is not PickPhase.search) is known


def test_poses_that_are_none_are_told_and_not_used():
    sheared = GOAL.copy()
    sheared[:3, :3] *= 1.01
    row = GOAL.copy()
    row[3] = [1.0, 2.0, 3.0, 4.0]
    for bad in (np.full((4, 4), np.nan), sheared, row, HUGE, -HUGE):
        one = TargetTracker(
            Source(answer=lambda t, bad=bad: [PoseMeasurement(t, t, bad)], broken=lambda t: t > 1.0), PoseFilter(*NOISE)
        )
        before = one.update(1.0).estimate
        track = one.update(1.1)
        assert track.trouble is SourceFault.invalid
        np.testing.assert_allclose(track.estimate.pose, before.pose, atol=0.01)
        for belief in (PoseFilter(*NOISE), LatestPose(*NOISE)):
            assert belief.add(0.0, bad) is Verdict.invalid
        assert ToolEstimator(np.eye(4), 0.01, 0.1, *NOISE).observe(0.0, bad, np.eye(4)) is ToolVerdict.invalid


def test_a_source_that_goes_back_in_time_makes_nothing_younger():
    """Stamps that run backwards: what is older than the memory is late, the age grows."""
    one = TargetTracker(
        Source(answer=lambda t: [PoseMeasurement(2.0 - t, t, GOAL)], broken=lambda t: t > 1.0),
        PoseFilter(*NOISE, memory=4),
        repeats=None,
    )
    tracks = [one.update(t) for t in np.arange(0.0, 2.0, 0.05)]
    assert tracks[-1].trouble is SourceFault.late
    assert tracks[-1].age == pytest.approx(0.95)
    np.testing.assert_allclose(tracks[-1].estimate.pose, GOAL, atol=0.02)


@pytest.mark.parametrize("bad", [0.5, np.nan, np.inf])
def test_times_that_go_back_are_refused_and_change_nothing(bad):
    loop = make_loop(Source())
    loop.update(0.0, HOME)
    loop.update(1.0, HOME)
    for update in (loop.target.update, lambda t: loop.update(t, HOME)):
        with pytest.raises(ThunderError, match="t must"):
            update(bad)
    assert loop.update(1.02, HOME).decision.phase is PickPhase.approach
    with pytest.raises(ThunderError, match="t must"):
        make_loop(Source()).update(np.nan, HOME)


def test_a_jump_is_told_when_its_proof_comes_late():
    """Four that agree start the filter again; the third of them arrives last."""
    moved, one = make_pose(GOAL[:3, :3], GOAL[:3, 3] + [0.0, 0.3, 0.0]), PoseFilter(*NOISE)
    for k in range(10):
        one.add(0.1 * k, GOAL)
    verdicts = [one.add(t, moved) for t in (1.0, 1.1, 1.3, 1.2)]
    assert verdicts == [Verdict.outlier] * 3 + [Verdict.restarted]
    np.testing.assert_allclose(one.estimate(1.3).pose, moved, atol=1e-12)
    # told once: another late one filters the same jump again
    assert one.add(0.95, GOAL) is Verdict.used


def test_a_loop_that_paused_does_not_leap():
    loop = make_loop(Source())
    drive(loop, 1.0)
    step = loop.update(20.0, HOME)
    assert np.abs(step.dq).max() <= 10.0 * 0.1 + 1e-9


def test_a_loop_that_starts_again_does_the_same_again():
    loop = make_loop(Source(), tool=ToolEstimator(np.eye(4), 0.01, 0.1, *NOISE))
    loop.tool_source = Source(lambda t: loop.hands.at(t))
    first = drive(loop, 3.0)
    loop.reset()
    assert loop.machine.phase is PickPhase.search
    again = drive(loop, 3.0)
    np.testing.assert_array_equal([s.dq for s in first], [s.dq for s in again])
    assert np.abs(first[-1].dq).max() > 0.0


def test_joints_beyond_their_limit_come_back_and_go_no_further():
    servo, q = VisualServo(PANDA), HOME.copy()
    q[3] = PANDA.limits.upper[3] + 0.05
    T, moves = PANDA.forward_kinematics(q), []
    for way in ([0.1, 0.0, 0.0], [-0.1, 0.0, 0.0], [0.0, 0.0, 0.1], [0.0, 0.0, -0.1]):
        step = servo.step(q, make_pose(T[:3, :3], T[:3, 3] + way))
        assert step.dq[3] <= 0.0
        assert (step.state.name == "joint_limit") is not step.dq.any()
        moves.append(step.state.moves and step.dq[3] < -0.1)
    assert moves.count(True) == 2


def test_targets_far_away_and_of_another_shape():
    servo = VisualServo(PANDA)
    assert servo.step(HOME, HUGE).state.name == "invalid_input"
    row = START.copy()
    row[3, 0] = 1.0
    assert servo.step(HOME, row).state.name == "invalid_input"
    for bad in (np.eye(3), None):
        with pytest.raises(ThunderError, match=r"target must have shape \(4, 4\)"):
            servo.step(HOME, bad)


@pytest.mark.parametrize("error", ["axis_angle", "rotation_vector"])
def test_a_turning_target_is_approached_at_the_rate_of_theory(error):
    """L' w_d of eq. 124, by finite differences over the motion of target and tool."""
    wide, rng = PANDA.replace(limits=Limits.none(7)), np.random.default_rng(3)
    servo, dt = VisualServo(wide, 2.0, 2.0, error=error, threshold=0.0), 1e-5
    twist = np.array([0.02, -0.03, 0.01, 0.1, -0.2, 0.15])
    for degrees in (10.0, 45.0, 80.0):
        axis = rng.normal(size=3)
        turned = exp(np.radians(degrees) * axis / np.linalg.norm(axis)) @ START[:3, :3]
        target = make_pose(turned, START[:3, 3] + [0.01, 0.0, 0.01])
        now = servo.step(HOME, target, twist)
        assert now.state.name == "ok"
        later = make_pose(exp(dt * twist[3:]) @ target[:3, :3], target[:3, 3] + dt * twist[:3])
        then = servo.step(HOME + dt * now.dq, later, twist)
        rate = (then.angle - now.angle) / dt
        expected = np.tan(now.angle) if error == "axis_angle" else now.angle
        assert rate == pytest.approx(-2.0 * expected, rel=2e-3)
