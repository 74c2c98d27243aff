"""Goals of FollowJointTrajectory in simulated time: success, tolerances, refusals, and everything that ends them."""

from threading import Thread
from typing import Any

import numpy as np
import pytest

import thunder_py as th
from thunder_py.realtime import ControlLoop, GoalCode, Mode, SimulatedRobot, Tolerance, TrajectoryGoal

from .loops import HELD, MS, Q0, Bench, make_loop, make_robot

NAMES = th.Robot.load("panda").joint_names


def begun(**options: Any) -> Bench:
    bench = Bench(make_loop(**options))
    bench.run(0.02)
    return bench


def aim(bench: Bench, move: float = 0.01, seconds: float = 0.1, **more: Any) -> TrajectoryGoal:
    """A goal of all joints, from where the arm is."""
    names = bench.loop.joint_names
    q = bench.states[-1].q
    given = {
        "times": [0.0, seconds],
        "q": [q, q + move],
        "dq": np.zeros((2, q.size)),
        "stamp": 0,
        "names": names,
        **more,
    }
    return TrajectoryGoal(bench.loop, bench.now, **given)


def follow(bench: Bench, goal: TrajectoryGoal, seconds: float, **run: Any) -> None:
    """Judge the states that the loop answers, and watch."""
    for _ in range(round(1000 * seconds)):
        bench.run(0.001, **run)
        if run.get("states", True):
            goal.state()
        goal.watch()


def every(position: float = 0.0, velocity: float = 0.0) -> list[Tolerance]:
    return [Tolerance(name, position, velocity) for name in NAMES]


def code(goal: TrajectoryGoal) -> GoalCode | None:
    return None if goal.result is None else goal.result.code


def test_a_goal_that_is_reached_succeeds_at_its_end() -> None:
    bench = begun()
    goal = aim(bench, path_tolerance=every(0.05, 1.0), goal_tolerance=every(0.01), goal_time_tolerance=0.2)
    follow(bench, goal, 0.09)
    assert goal.result is None
    assert goal.feedback is not None
    np.testing.assert_allclose(goal.feedback.error.q, goal.feedback.desired.q - bench.states[-1].q)
    assert (np.abs(goal.feedback.desired.dq) > 0.0).all()
    follow(bench, goal, 0.03)
    assert goal.result is not None
    assert goal.result == (GoalCode.successful, "", False)
    assert bench.loop.mode is Mode.tracking  # it stays where the goal ended


def test_joints_of_a_goal_are_matched_by_name() -> None:
    bench = begun()
    q, order = bench.states[-1].q, [6, 2, 0, 1, 5, 4, 3]
    goal = aim(bench, names=[bench.loop.joint_names[k] for k in order], q=[q[order], (q + 0.002 * np.arange(7))[order]])
    follow(bench, goal, 0.12)
    assert code(goal) is GoalCode.successful
    assert goal.feedback is not None
    np.testing.assert_allclose(goal.feedback.desired.q, q + 0.002 * np.arange(7))


@pytest.mark.parametrize("what", ["position", "velocity"])
def test_a_deviation_from_the_path_ends_the_goal(what: str) -> None:
    bench = begun()
    tight = [Tolerance(bench.loop.joint_names[0], **{what: 1e-6})]
    goal = aim(bench, path_tolerance=tight)
    follow(bench, goal, 0.08)
    assert goal.result is not None
    assert goal.result.code is GoalCode.path_tolerance_violated
    assert f"{what} of {bench.loop.joint_names[0]} deviates by" in goal.result.text
    bench.run(0.01)
    assert bench.loop.mode in HELD
    assert bench.loop.reason.value == "the goal was canceled"


def test_a_goal_that_is_not_reached_in_time_fails() -> None:
    bench = begun()
    goal = aim(bench, goal_tolerance=every(1e-9), goal_time_tolerance=0.03)
    follow(bench, goal, 0.12)
    assert goal.result is None
    follow(bench, goal, 0.02)
    assert code(goal) is GoalCode.goal_tolerance_violated
    bench.run(0.01)
    assert bench.loop.mode in HELD


def test_a_canceled_goal_holds_the_arm() -> None:
    bench = begun()
    goal = aim(bench)
    follow(bench, goal, 0.05)
    goal.cancel()
    goal.cancel()
    bench.run(0.01)
    assert goal.result == (GoalCode.invalid_goal, "the goal was canceled", True)
    assert bench.loop.mode in HELD


def test_another_trajectory_ends_the_goal_and_is_followed() -> None:
    bench = begun()
    goal = aim(bench)
    follow(bench, goal, 0.05)
    assert bench.loop.references.trajectory(0, bench.loop.joint_names, [0.1], [Q0]) is None
    follow(bench, goal, 0.05)
    assert goal.result is not None
    assert "another trajectory" in goal.result.text
    assert bench.loop.mode is Mode.tracking


def test_a_fault_ends_the_goal_with_its_reason() -> None:
    bench = begun(largest_error=0.5)
    goal = aim(bench)
    follow(bench, goal, 0.05)
    follow(bench, goal, 0.06, spoil=lambda state: state._replace(q=state.q * np.nan))
    assert goal.result is not None
    assert goal.result.text == "fault: too many invalid states in a row"
    assert code(aim(bench)) is GoalCode.invalid_goal


def test_late_states_do_not_end_a_goal_but_lost_ones_do() -> None:
    bench = begun(times={"state_lost": 0.1})
    goal = aim(bench, seconds=1.0)
    follow(bench, goal, 0.02)
    follow(bench, goal, 0.05, states=False)
    assert bench.loop.mode in HELD
    follow(bench, goal, 0.02)
    assert goal.result is None
    follow(bench, goal, 0.12, states=False)
    assert goal.result is not None
    assert goal.result.text.endswith("states are lost")


def test_a_goal_that_is_wrong_is_refused_and_the_arm_stays() -> None:
    bench, invalid, joints = begun(), GoalCode.invalid_goal, GoalCode.invalid_joints
    time, of_the_loop = "goal_time_tolerance must", "finite numbers, one for each of joint_names"
    wrong: list[tuple[dict[str, Any], GoalCode, str]] = [
        ({"names": ["one"] * 7}, joints, "names must be the robot's joints"),
        ({"path_tolerance": [Tolerance("jiont1", 0.1)]}, joints, "'jiont1'"),
        ({"path_tolerance": [Tolerance(None)]}, joints, "tolerances must be of the robot's joints"),  # type: ignore[arg-type]
        ({"path_tolerance": None}, invalid, "tolerances must be a sequence of Tolerance, got None"),
        ({"path_tolerance": [None]}, invalid, "tolerance must be a Tolerance, got NoneType"),
        ({"goal_tolerance": [Tolerance(NAMES[0], -2.0)]}, invalid, "position must be positive, 0 or -1, got -2"),
        ({"goal_tolerance": [Tolerance(NAMES[0], np.nan)]}, invalid, "position must be positive, 0 or -1, got nan"),
        ({"goal_tolerance": [Tolerance(NAMES[0], acceleration=1.0)]}, invalid, "not measured"),
        *(({"goal_time_tolerance": value}, invalid, time) for value in (-1.0, None, "1", np.nan)),
        ({"dq": np.ones((2, 7))}, invalid, "last point must be at rest, got a velocity of 1 of"),
        ({"q": np.full((2, 7), np.nan)}, invalid, "finite"),
        ({"q": []}, invalid, "points must have one time_from_start each, got 2 of them for positions of 0"),
        ({"q": [1.0, 2.0]}, invalid, f"points[0].positions must be 7 {of_the_loop}"),
        ({"q": [[], []]}, invalid, f"points[0].positions must be 7 {of_the_loop}, got []"),
        ({"times": [], "q": []}, invalid, "points must be one at least"),
        ({"q": np.full((2, 7), 9.0)}, invalid, "must stay within"),
        ({"stamp": 1}, GoalCode.old_header_timestamp, "s ago"),
        *(({key: [Tolerance(NAMES[0], **{what: value})]}, invalid, f"tolerance of {NAMES[0]}: {what} must be")
          for key in ("path_tolerance", "goal_tolerance")
          for what in ("position", "velocity", "acceleration")
          for value in (None, "0.1", np.nan, [0.1])),
    ]  # fmt: skip
    for given, wanted, words in wrong:
        goal = aim(bench, **given)
        assert code(goal) is wanted, given
        assert words in goal.result.text  # type: ignore[union-attr]
        bench.run(0.002)
        assert bench.loop.mode in HELD
        assert bench.loop.reason.value == "no reference yet"


def test_a_goal_before_the_first_state_is_refused() -> None:
    bench = Bench(make_loop())
    goal = TrajectoryGoal(bench.loop, bench.now, 0, bench.loop.joint_names, [1.0], [Q0])
    assert goal.result is not None
    assert goal.result.text == "no state yet"


def turning(name: str) -> Bench:
    """A loop whose arm's first joint has no limits."""
    n = th.Robot.load(name).n
    law = {"name": "ComputedTorque", "K_0": 400, "K_1": 40}
    robot = SimulatedRobot({"robot": name, "q0": (0.2 * np.arange(n) - 0.5).tolist()})
    bench = Bench(ControlLoop({"robot": name, "controller": law}), robot)
    bench.run(0.02)
    return bench


@pytest.mark.parametrize("seed", range(4))
def test_a_goal_succeeds_only_where_the_arm_is_at_its_end(seed: int) -> None:
    """A single point from now on, up to 1 rad away: the loop is still joining the trajectory when that has ended."""
    rng, bench = np.random.default_rng(seed), begun()
    end = bench.states[-1].q + rng.uniform(-0.5, 0.5, 7)
    goal = aim(bench, times=[0.0], q=[end], dq=None)
    for _ in range(4000):
        follow(bench, goal, 0.001)
        if goal.result is not None:
            break
    assert code(goal) is GoalCode.successful
    np.testing.assert_allclose(bench.states[-1].q, end, atol=0.05)
    follow(bench, goal, 0.1)
    np.testing.assert_allclose(bench.states[-1].q, end, atol=0.05)


def test_an_arm_that_stays_away_from_the_end_does_not_succeed() -> None:
    """Its proportional gains hold a load of which the model knows nothing, 0.05 rad and more below."""
    weak = {"name": "PDGravity", "K_p": 60, "K_d": [20, 20, 20, 20, 3, 3, 3]}
    robot = make_robot(payloads=[{"mass": 3.0, "com": [0.0, 0.0, 0.1]}])
    for tolerance, wanted in (
        ([], GoalCode.goal_tolerance_violated),
        (every(0.02), GoalCode.goal_tolerance_violated),
        (every(-1.0), GoalCode.successful),
        (every(1.0), GoalCode.successful),
    ):
        bench = Bench(make_loop(weak), robot)
        bench.run(0.3)
        goal = aim(bench, seconds=0.3, goal_tolerance=tolerance, goal_time_tolerance=0.3)
        follow(bench, goal, 0.8)
        assert code(goal) is wanted
        if wanted is not GoalCode.successful:
            assert goal.result is not None
            assert "deviates by" in goal.result.text


@pytest.mark.parametrize("turns", [-1, 0, 2])
@pytest.mark.parametrize("name", ["elbow", "gen3", "scara"])
def test_whole_turns_of_a_joint_without_limits_are_no_way_to_go(name: str, turns: int) -> None:
    bench = turning(name)
    q = bench.states[-1].q
    first, last = q.copy(), q + 0.1
    first[0] += 2.0 * np.pi * turns
    last[0] += 2.0 * np.pi * turns
    goal = aim(bench, times=[0.0, 0.5], q=[first, last], dq=None)
    follow(bench, goal, 1.0)
    assert code(goal) is GoalCode.successful
    np.testing.assert_allclose(bench.states[-1].q, q + 0.1, atol=0.05)
    assert max(np.abs(state.q - q).max() for state in bench.states) < 0.2


def test_a_trajectory_of_a_whole_turn_turns() -> None:
    bench = turning("elbow")
    q = bench.states[-1].q
    last = q.copy()
    last[0] += 2.0 * np.pi
    goal = aim(bench, times=[0.0, 1.0], q=[q, last], dq=None)
    follow(bench, goal, 1.1)
    assert code(goal) is GoalCode.successful
    np.testing.assert_allclose(bench.states[-1].q, last, atol=0.05)


def test_a_goal_from_now_on_is_judged_by_what_is_followed() -> None:
    """The last state is 15 ms old when it comes: the goal began at that state and was judged from the present on."""
    bench = begun()
    bench.now += 15 * MS
    goal = aim(bench, move=0.2, seconds=0.5)
    follow(bench, goal, 0.3)
    followed = bench.loop.reference
    assert followed is not None
    assert goal.feedback is not None
    np.testing.assert_allclose(goal.feedback.desired.q, followed.q, atol=1e-9)


def test_a_single_point_is_accepted_after_a_later_state() -> None:
    """The robot's clock is ahead, or a state comes between the goal and its acceptance."""
    bench = begun()
    bench.now -= 5 * MS
    assert bench.loop.references.clock(bench.now) < bench.loop.references.clock(bench.states[-1].stamp)
    goal = aim(bench, times=[0.0], q=[bench.states[-1].q], dq=None)
    assert goal.result is None
    bench.now += 5 * MS
    follow(bench, goal, 0.03)
    assert code(goal) is GoalCode.successful


def test_a_trajectory_at_the_same_instant_replaces_the_goal() -> None:
    """Another thread sends one right after that of the goal was taken."""
    bench = begun()
    references = bench.loop.references
    others = iter([[Q0]])
    take = references.take

    def taken(*given: Any, **more: Any) -> Any:
        answer = take(*given, **more)
        for q in others:
            assert references.trajectory(0, NAMES, [0.3], q) is None
        return answer

    references.take = taken  # type: ignore[method-assign]
    goal = aim(bench)
    follow(bench, goal, 0.02)
    assert goal.result is not None
    assert "another trajectory" in goal.result.text
    assert bench.loop.mode is Mode.tracking


def test_a_goal_that_is_canceled_while_it_is_judged_has_one_end() -> None:
    """Another thread cancels between the look at the result and the verdict: it waits for the verdict."""
    bench = begun()
    goal = aim(bench, goal_tolerance=every(1.0))
    follow(bench, goal, 0.09)
    judge, canceled = goal._judge, Thread(target=goal.cancel)

    def slow(*given: Any) -> None:
        canceled.start()
        canceled.join(0.05)
        judge(*given)

    goal._judge = slow  # type: ignore[method-assign]
    bench.run(0.02)
    goal.state()
    canceled.join()
    assert goal.result == (GoalCode.successful, "", False)
    assert bench.loop.mode is Mode.tracking  # and the arm was not held
