"""Finite numbers that are no arm's, clocks that are set back, requests that meet each other: still safe."""

import sys
import threading
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import thunder_py as th
from thunder_py.realtime import Mode, SimulatedRobot
from thunder_py.realtime import references as references_module
from thunder_py.realtime.command import Reason
from thunder_py.realtime.nodes import ControllerNode, RobotNode

from .loops import MS, NOON, POSE_LAW, Q0, Bench, make_loop, make_robot
from .test_nodes import Wire

PANDA = th.Robot.load("panda")
HOUR = 3600 * 1000 * MS


@pytest.mark.parametrize("shown", [False, True])
def test_a_small_step_in_a_short_time_leads_nowhere_else(shown: bool) -> None:
    """Its first acceleration is 600 rad/s^2: a difference of it that fades over 0.25 s would lead 0.65 rad away."""
    bench = Bench(make_loop())
    bench.run(0.1)
    q = bench.states[-1].q
    rates = (np.zeros((2, 7)), np.array([[600.0], [0.0]]) * np.ones(7)) if shown else ()
    assert bench.loop.references.trajectory(0, bench.loop.joint_names, [0.0, 0.01], [q, q + 0.006], *rates) is None
    bench.run(1.0)
    assert bench.loop.mode is Mode.tracking
    assert max(np.abs(state.q - q).max() for state in bench.states) < 0.1


@pytest.mark.parametrize("back", [HOUR, 400 * MS])
def test_a_clock_that_is_set_back_is_a_loss_of_states(back: int) -> None:
    bench = Bench(make_loop(recover=True))
    bench.run(0.1)
    bench.play(kind="sinusoid")
    bench.run(1.0)
    assert bench.loop.mode is Mode.tracking
    bench.generator, learned, t = None, bench.commands[-1].parameters, bench.loop._core.t
    bench.now -= back
    assert bench.robot.advance(bench.now).safe
    assert bench.loop.watch(bench.now) is None
    assert (bench.loop.mode, bench.loop.reason) == (Mode.starting, Reason.clock_set_back)
    assert bench.loop.references.trajectory(0, bench.loop.joint_names, [0.0], [Q0]) == "there is no joint state yet"
    bench.run(0.5)
    assert bench.loop.mode is Mode.holding
    assert not bench.states[-1].safe
    assert bench.loop.dropped["reordered"] == bench.loop.dropped["repeated"] == 0
    np.testing.assert_array_equal(bench.commands[-1].parameters, learned)
    assert bench.loop._core.t == pytest.approx(t + 0.5, abs=2e-3)
    bench.play(kind="sinusoid")
    bench.run(0.5)
    assert bench.loop.mode is Mode.tracking


def test_a_state_itself_shows_that_the_clock_was_set_back() -> None:
    for recover, mode in ((True, Mode.holding), (False, Mode.fault)):
        bench = Bench(make_loop(recover=recover))
        bench.run(0.05)
        assert bench.loop.references.trajectory(0, PANDA.joint_names, [0.0], [Q0]) is None
        bench.run(0.05)
        bench.now -= HOUR
        bench.run(0.1)
        assert (bench.loop.mode, bench.loop.reason) == (mode, Reason.clock_set_back)
        assert len(bench.commands) == 200


def test_a_command_ends_when_the_clock_is_set_back() -> None:
    arm = make_robot()
    arm.advance(NOON)
    assert arm.command(NOON, NOON, arm.joint_names, np.ones(7)) is None
    assert not arm.advance(NOON).safe
    assert arm.advance(NOON - HOUR).safe
    assert arm.command(NOON - HOUR, NOON - HOUR, arm.joint_names, np.full(7, 2.0)) is None
    assert arm.advance(NOON - HOUR).tau.tolist() == [2.0] * 7


def test_an_arm_that_was_told_to_move_fast_stops() -> None:
    """A goal moved by a twist of 5 m/s for 0.2 s would be a meter ahead of a body with 0.3 m/s."""
    bench = Bench(make_loop(POSE_LAW, task={"speed": 0.3}))
    bench.run(0.1)
    references, robot = bench.loop.references, bench.loop.options.robot
    for k in range(1000):
        if k % 10 == 0:
            assert references.twist(bench.now, (0.0, 0.0, 5.0 if k < 200 else 0.0), (0.0, 0.0, 0.0)) is None
        bench.run(0.001)
        if k == 200:
            told = robot.forward_kinematics(bench.states[-1].q)[2, 3]
    assert bench.loop.mode is Mode.tracking
    assert abs(robot.forward_kinematics(bench.states[-1].q)[2, 3] - told) < 0.1


@pytest.mark.parametrize("large", [2e6, 1e300, 1.7e308])
def test_poses_and_twists_that_are_no_arms_are_refused(large: float) -> None:
    loop = make_loop(POSE_LAW)
    assert loop.state(NOON, NOON, loop.joint_names, Q0, np.zeros(7)) is not None
    references = loop.references
    assert references.pose(NOON, (large, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0)) == "too_large"
    assert references.twist(NOON, (0.0, large, 0.0), (0.0, 0.0, 0.0)) == "too_large"
    assert references.twist(NOON, (0.0, 0.0, 0.0), (0.0, 0.0, -large)) == "too_large"
    assert references.counts["refused"] == 3


@pytest.mark.parametrize("large", [2e4, 1e150, 1e200])
def test_states_that_are_no_arms_are_dropped(large: float) -> None:
    loop = make_loop()
    still, huge = np.zeros(7), np.full(7, large)
    for k, (q, dq) in enumerate(((huge, still), (Q0, -huge), (huge, huge))):
        assert loop.state(NOON + k, NOON + k, loop.joint_names, q, dq) is None
    assert loop.dropped["too_large"] == 3
    assert loop.dropped["not_finite"] == 0


def test_a_trajectory_of_before_a_reset_is_not_taken_after_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its times are those of a clock that is no more; services come in a thread of their own."""
    loop = make_loop()
    loop.state(NOON, NOON, loop.joint_names, Q0, np.zeros(7))
    monkeypatch.setattr(references_module, "check_limits", lambda *_: loop.reset())
    assert loop.references.trajectory(0, loop.joint_names, [0.0], [Q0]) == "the loop's clock restarted meanwhile"


def test_counts_are_whole() -> None:
    law = {"name": "PDGravity", "K_p": 1, "K_d": 1}
    for number in (0, 0.5, -1, True, float("inf"), float("nan"), "many", 1.5):
        with pytest.raises(ValueError, match="publish_every must be a positive whole number"):
            ControllerNode(SimpleNamespace(kinds=None), {"robot": "panda", "controller": law, "publish_every": number})


def test_a_plant_goes_on_where_its_clock_is_set_back() -> None:
    robot = SimulatedRobot({"robot": "panda", "q0": Q0.tolist()})
    robot.advance(NOON)
    before = robot.advance(NOON + 20 * MS)
    after = robot.advance(NOON - HOUR)
    assert after.stamp == NOON - HOUR
    np.testing.assert_array_equal(after.q, before.q)
    assert np.abs(robot.advance(NOON - HOUR + 20 * MS).q - after.q).max() > 0.0


def test_torque_rates_hold_over_resets_and_gaps() -> None:
    bench = Bench(make_loop(torque_rate=500.0))
    bench.run(0.1)
    bench.play(kind="sinusoid", amplitude=0.3, frequency=0.5)
    bench.run(0.5)
    bench.loop.reset()
    bench.run(0.2)
    begin = len(bench.commands)
    bench.run(0.1, states=False)
    assert {c.reason for c in bench.commands[begin:]} == {Reason.state_late}
    assert np.abs(np.diff([c.tau for c in bench.commands[:begin]], axis=0)).max() <= 0.5 + 1e-9
    assert np.abs(np.diff([c.tau for c in bench.commands[begin:]], axis=0)).max() <= 5.0 + 1e-9
    assert np.abs(bench.commands[begin].tau - bench.commands[begin - 1].tau).max() <= 0.5 * 30


def test_a_trajectory_that_would_take_long_to_read_is_refused() -> None:
    loop = make_loop()
    loop.state(NOON, NOON, loop.joint_names, Q0, np.zeros(7))
    for count, fits in ((5000, True), (5001, False)):
        points = np.tile(Q0, (count, 1))
        why = loop.references.trajectory(0, loop.joint_names, 1e-3 * np.arange(count), points)
        assert (why is None) is fits, why


def test_a_plant_that_ran_away_is_an_error_in_its_report() -> None:
    wire, blow = Wire(), th.simulation.ExternalTorque([1e9] * 7, start=0.25)
    RobotNode(wire, SimulatedRobot(PANDA, Q0, external=[blow]))
    for level in (1, 2):
        wire.run(0.2)
        assert wire.last["/diagnostics"].status[0].level == level


def test_a_difference_that_fades_does_not_lead_beyond_the_limits() -> None:
    """The arm is near its limit; the new motion begins 0.9 rad before it and comes as near in 0.7 s."""
    bench = Bench(make_loop())
    bench.run(0.1)
    limit, references, names = PANDA.limits.upper[0], bench.loop.references, bench.loop.joint_names
    near, before = Q0.copy(), Q0.copy()
    near[0], before[0] = limit - 0.01, limit - 0.9
    assert references.trajectory(0, names, [0.0, 4.0], [bench.states[-1].q, near]) is None
    bench.run(4.5)
    assert references.trajectory(0, names, [0.0, 0.7], [before, near]) is None
    bench.run(2.0)
    assert references.counts["not joined"] == 1
    assert bench.loop.mode is Mode.tracking
    assert max(state.q[0] for state in bench.states) < limit
    assert references.trajectory(0, names, [0.0, 6.0], [before, before]) is None
    bench.run(5.0)
    assert references.counts["not joined"] == 1
    np.testing.assert_allclose(bench.states[-1].q, before, atol=0.02)


def test_of_two_changes_of_gains_at_once_none_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    loop = make_loop()
    build, other = loop._build, threading.Thread(target=loop.set_gains, args=({"K_d": 7},))

    def slow(spec: Any) -> Any:
        if other.ident is None:
            other.start()
            other.join(0.2)  # as far as it gets
        return build(spec)

    monkeypatch.setattr(loop, "_build", slow)
    loop.set_gains({"Lambda": 3})
    other.join()
    assert (loop.gains["Lambda"], loop.gains["K_d"]) == (3, 7)


def test_a_loop_is_read_while_another_thread_answers() -> None:
    """Nodes of ROS 1 take messages, requests and the clock's periods in threads of their own."""
    bench, end = Bench(make_loop()), threading.Event()
    errors: list[Exception] = []
    bench.run(0.01)
    loop = bench.loop

    def read() -> None:
        try:
            while not end.is_set():
                assert loop.mode in Mode
                assert loop.reason in Reason
                loop.references.trajectory(0, loop.joint_names, [0.1], [Q0])
                loop.references.clock(bench.now)
                loop.references.cancel()
                _ = loop.report(), loop.reference, loop.watch(bench.now), loop.adapting_links
        except Exception as error:
            errors.append(error)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    other = threading.Thread(target=read)
    other.start()
    bench.run(0.1)
    end.set()
    other.join()
    sys.setswitchinterval(interval)
    assert not errors
