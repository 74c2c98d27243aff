"""The loop under what a network, a sensor and a user do to it."""

import numpy as np
import pytest

import thunder_py as th
from thunder_py.control import Status
from thunder_py.realtime import ControlLoop, JointState, Mode, Reason, SimulatedRobot

from .loops import FAULT, JOINT_LAW, MS, NOON, POSE_LAW, Q0, Bench, make_loop, make_robot, tracking

PANDA = th.Robot.load("panda")
NAMES = PANDA.joint_names
STILL = np.zeros(7)


def spoilt(k: int) -> Bench:
    """A bench whose loop holds the arm since k ms."""
    bench = Bench(make_loop())
    bench.run(1e-3 * k)
    return bench


def state(loop: ControlLoop, stamp: int = NOON, now: int | None = None, **other: object):  # type: ignore[no-untyped-def]
    given = {"names": NAMES, "q": Q0, "dq": STILL, **other}
    return loop.state(stamp, stamp if now is None else now, given["names"], given["q"], given["dq"])  # type: ignore[arg-type]


# --- without a reference ----------------------------------------------------------------------------------------------


def test_without_a_reference_all_joints_slow_at_one_rate() -> None:
    loop = make_loop(hold={"rate": 40.0})
    dq = np.linspace(-0.5, 0.5, 7)
    command = state(loop, dq=dq)
    assert command is not None
    assert (command.mode, command.reason) == (Mode.braking, Reason.no_reference)
    np.testing.assert_allclose(command.tau, PANDA.inverse_dynamics(Q0, dq, -40.0 * dq), atol=1e-12)
    assert command.error.size == 0
    np.testing.assert_array_equal(command.parameters, PANDA.parameters)


def test_the_arm_is_held_where_it_came_to_rest() -> None:
    loop = make_loop(hold={"rate": 40.0})
    state(loop)
    moved = Q0 + 0.1
    command = state(loop, NOON + MS, q=moved)
    assert command is not None
    np.testing.assert_allclose(command.tau, PANDA.inverse_dynamics(moved, 0 * Q0, 400.0 * (Q0 - moved)), atol=1e-12)


def test_what_moves_is_braked_and_not_pulled_back() -> None:
    bench = Bench(make_loop(), SimulatedRobot(PANDA, Q0, dq0=[0.4] * 7, compensates_gravity=False))
    bench.run(2.0)
    speed = np.array([np.abs(s.dq).max() for s in bench.states])
    assert speed[-1] < 1e-2
    traveled = np.array([s.q for s in bench.states]) - Q0
    assert np.abs(traveled[-1]).max() < 0.1
    assert (traveled.max(axis=0) - traveled[-1]).max() < 0.015


# --- tracking ---------------------------------------------------------------------------------------------------------


def test_a_joint_trajectory_is_followed_with_an_unknown_payload() -> None:
    bench = tracking(7.0, robot=make_robot(payloads=[{"mass": 0.5, "com": [0, 0, 0.1]}]))
    assert bench.loop.mode is Mode.tracking
    assert {c.mode for c in bench.commands[200:]} == {Mode.tracking}
    assert bench.errors(2000).max() < 0.01
    learned = bench.commands[-1].parameters - PANDA.parameters
    assert learned[60] > 0.2  # mass of the last link
    assert (learned[:60] == 0.0).all()


def test_poses_are_followed() -> None:
    bench = Bench(make_loop(POSE_LAW))
    bench.run(0.1)
    bench.play(kind="lissajous", amplitude=[0.05, 0.08, 0.05], frequency=[0.2, 0.1, 0.4])
    bench.run(5.0)
    assert bench.generator is not None
    reference = bench.generator.pose(bench.states[-1].stamp)
    T = PANDA.forward_kinematics(bench.states[-1].q)
    assert np.linalg.norm(T[:3, 3] - reference.position) < 2e-3
    assert bench.loop.mode is Mode.tracking


def test_a_jump_of_the_reference_is_no_jump_of_the_torque() -> None:
    for law, kind, much in ((JOINT_LAW, "set_point", {"q": (Q0 + 0.3).tolist()}),
                            (POSE_LAW, "set_pose", {"offset": [0.1, 0.1, 0.0]})):  # fmt: skip
        bench = Bench(make_loop(law))
        bench.run(0.2)
        bench.play(kind=kind, **much)
        bench.run(4.0)
        tau = np.array([c.tau for c in bench.commands])
        assert np.abs(np.diff(tau, axis=0)).max() < 2.0  # N m in a millisecond; the jump itself would be over 60
        if law is JOINT_LAW:
            np.testing.assert_allclose(bench.states[-1].q, Q0 + 0.3, atol=5e-3)


def test_a_reference_that_ends_at_rest_is_held() -> None:
    for rests in (True, False):
        bench = spoilt(100)
        q = np.array([Q0, Q0 + 0.05])
        dq = np.array([STILL, STILL if rests else STILL + 0.1])
        assert bench.loop.references.trajectory(0, NAMES, [0.0, 0.5], q, dq) is None
        bench.run(1.5)
        assert bench.loop.mode is (Mode.tracking if rests else Mode.holding)
        if not rests:
            assert bench.loop.reason is Reason.reference_ended
            assert np.abs(bench.states[-1].dq).max() < 0.02


def test_poses_that_stop_coming_are_lost() -> None:
    bench = Bench(make_loop(POSE_LAW))
    bench.run(0.1)
    bench.play(kind="lissajous")
    bench.run(1.0)
    bench.generator = None
    bench.run(0.15)
    assert bench.loop.mode is Mode.tracking
    bench.run(0.1)
    assert (bench.loop.mode, bench.loop.reason) == (Mode.holding, Reason.reference_ended)
    bench.run(1.0)
    assert np.abs(bench.states[-1].dq).max() < 1e-2


def test_torques_stay_within_their_limits() -> None:
    bench = Bench(make_loop(torque_limits=[20, 40, 20, 20, 3, 3, 3]))
    bench.run(0.1)
    bench.play(kind="sinusoid", amplitude=0.5, frequency=0.5)
    bench.run(2.0)
    tau = np.abs([c.tau for c in bench.commands])
    assert (tau <= np.array([20, 40, 20, 20, 3, 3, 3])).all()
    assert Status.saturated in {c.status for c in bench.commands}


# --- states that are late, missing, mixed up, broken ------------------------------------------------------------------


def test_states_that_stay_away_give_gravity_then_nothing() -> None:
    bench = tracking(1.0, recover=True)
    before = len(bench.commands)
    bench.run(0.2, states=False)
    blind = bench.commands[before:]
    assert blind
    assert {(c.mode, c.reason) for c in blind} == {(Mode.braking, Reason.state_late)}
    learned = PANDA.with_parameters(blind[-1].parameters)
    np.testing.assert_allclose(blind[-1].tau, learned.gravity_vector(bench.states[before - 1].q), atol=1e-9)
    bench.run(0.2, states=False)
    assert (bench.loop.mode, bench.loop.reason) == (Mode.starting, Reason.states_lost)
    assert bench.loop.watch(bench.now) is None
    bench.run(3.0)
    assert bench.loop.mode is Mode.tracking
    assert bench.errors(500).max() < 0.02


@pytest.mark.parametrize("reason", [Reason.states_lost, Reason.invalid_states])
def test_lost_and_invalid_states_are_a_fault_until_reset(reason: Reason) -> None:
    def broken(state: JointState) -> JointState:
        return state._replace(q=state.q * np.nan)

    lost = reason is Reason.states_lost
    bench = tracking(0.5, invalid_states=20)
    bench.run(0.015, spoil=broken)  # short enough
    bench.run(0.5)
    assert bench.loop.mode is Mode.tracking
    learned = bench.commands[-1].parameters
    bench.run(0.4 if lost else 0.03, states=not lost, spoil=broken)
    assert (bench.loop.mode, bench.loop.reason) == (Mode.fault, reason)
    if lost:
        assert bench.loop.watch(bench.now) is None
        np.testing.assert_array_equal(bench.commands[-1].parameters, learned)
    bench.run(1.5)
    assert (bench.loop.mode, bench.loop.reason) == (Mode.fault, reason)
    assert np.abs(bench.states[-1].dq).max() < 1e-2
    np.testing.assert_allclose(bench.commands[-1].tau, PANDA.gravity_vector(bench.states[-1].q), atol=0.1)
    assert bench.loop.references.counts["refused"] > 0
    assert bench.loop.references.last_refusal == FAULT
    bench.loop.reset()
    bench.run(1.0)
    assert bench.loop.mode is Mode.tracking


def test_a_gap_that_a_state_shows_is_a_loss_too() -> None:
    for seconds, mode in ((0.2, Mode.holding), (0.3, Mode.fault)):
        loop = make_loop()
        state(loop)
        assert loop.references.trajectory(0, NAMES, [0.0], [Q0]) is None
        state(loop, NOON + MS)
        assert loop.references.trajectory(0, NAMES, [0.0], [Q0]) is None
        loop.references.cancel()
        command = state(loop, NOON + round(1000 * seconds) * MS)
        assert command is not None
        assert command.mode is mode


@pytest.mark.parametrize("law", [JOINT_LAW, POSE_LAW])
def test_before_the_first_tracking_nothing_is_a_fault(law: dict) -> None:  # type: ignore[type-arg]
    """Programs start in any order: states stop, come late or wrong, the clock is set; the loop waits and holds."""
    loop, now = make_loop(law, invalid_states=3), NOON
    for pause in (0.3, 5.0, 0.1, -3600.0, 0.26):
        for _ in range(3):
            command = state(loop, now)
            assert command is not None
            assert command.mode is Mode.holding
            now += MS
        for _ in range(10):
            loop.state(now, now, NAMES, Q0 * np.nan, STILL)
        assert (loop.mode, loop.reason) == (Mode.holding, Reason.invalid_states)
        now += round(1e9 * pause)
        loop.watch(now)
        if pause > 0.25 or pause < 0.0:
            assert loop.mode is Mode.starting
            assert loop.watch(now + MS) is None
    state(loop, now)
    start = PANDA.forward_kinematics(Q0)[:3, 3]
    turn = th.spatial.quaternion_from_rotation(PANDA.forward_kinematics(Q0)[:3, :3], scalar_first=False)
    if law is JOINT_LAW:
        assert loop.references.trajectory(0, NAMES, [0.0], [Q0]) is None
    else:
        assert loop.references.pose(0, start.tolist(), turn.tolist()) is None
    state(loop, now + MS)
    assert loop.mode is Mode.tracking
    loop.watch(now + 400 * MS)  # from here on it is
    assert (loop.mode, loop.reason) == (Mode.fault, Reason.states_lost)
    loop.reset()
    state(loop, now + 500 * MS)
    loop.watch(now + 900 * MS)
    assert loop.mode is Mode.starting


def test_a_fault_refuses_poses_and_twists() -> None:
    loop = make_loop(POSE_LAW)
    state(loop)
    assert loop.references.twist(0, [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]) is None
    state(loop, NOON + MS)
    state(loop, NOON + 400 * MS)
    references = loop.references
    assert references.pose(0, [0.5, 0.0, 0.5], [0.0, 0.0, 0.0, 1.0]) == FAULT
    assert references.twist(0, [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]) == FAULT
    loop.reset()
    state(loop, NOON + 401 * MS)
    assert references.pose(0, [0.5, 0.0, 0.5], [0.0, 0.0, 0.0, 1.0]) is None


def test_a_goal_that_is_canceled_is_held_until_the_next_one() -> None:
    bench = Bench(make_loop())
    bench.run(0.01)
    assert bench.loop.references.trajectory(0, NAMES, [0.0, 1.0], [Q0, Q0 + 0.1]) is None
    bench.run(0.1)
    followed = bench.loop.reference
    assert followed is not None
    np.testing.assert_allclose(followed.q - bench.states[-1].q, bench.commands[-1].error, atol=1e-12)
    bench.loop.references.cancel()
    bench.run(0.01)
    assert bench.loop.reference is None
    assert (bench.loop.mode, bench.loop.reason) == (Mode.holding, Reason.canceled)
    assert bench.loop.references.trajectory(0, NAMES, [0.0], [bench.states[-1].q]) is None
    bench.run(0.01)
    assert bench.loop.mode is Mode.tracking


def test_a_short_gap_neither_ends_tracking_nor_jerks() -> None:
    bench = tracking(2.0)
    bench.run(0.04, states=False, commands=False)
    bench.run(1.0)
    assert bench.loop.mode is Mode.tracking
    tau = np.array([c.tau for c in bench.commands[-990:]])
    assert np.abs(np.diff(tau, axis=0)).max() < 2.0
    assert bench.errors(500).max() < 0.02


def test_states_that_are_no_good_are_dropped_and_counted() -> None:
    for why, stamp, other in (
        ("not_finite", NOON + MS, {"q": [np.nan] * 7}),
        ("not_finite", NOON + MS, {"dq": [0.0] * 6 + [np.inf]}),
        ("size", NOON + MS, {"q": Q0[:6]}),
        ("size", NOON + MS, {"dq": []}),
        ("size", NOON + MS, {"q": "nonsense"}),
        ("names", NOON + MS, {"names": [*NAMES[:6], "other"]}),
        ("names", NOON + MS, {"names": [*NAMES[:6], NAMES[0]]}),
        ("names", NOON + MS, {"names": [*NAMES, "finger"], "q": np.append(Q0, 0.0), "dq": np.zeros(8)}),
        ("repeated", NOON, {}),
        ("reordered", NOON - MS, {}),
        ("late", NOON + MS, {"now": NOON + 22 * MS}),
        ("future", NOON + 30 * MS, {"now": NOON + MS}),
        ("no_stamp", 0, {"now": NOON}),
    ):
        loop = make_loop()
        assert state(loop) is not None
        assert state(loop, stamp, **other) is None
        assert loop.dropped == {**dict.fromkeys(loop.dropped, 0), why: 1}
        assert state(loop, NOON + 2 * MS) is not None


def test_joints_come_in_any_order_and_others_may_be_allowed() -> None:
    loop = make_loop(other_joints=True)
    order = [6, 2, 4, 0, 1, 3, 5]
    names = ["finger", *(NAMES[k] for k in order)]
    dq = 0.1 * np.arange(7)
    command = state(loop, names=names, q=[9.0, *Q0[order]], dq=[9.0, *dq[order]])
    straight = state(make_loop(), dq=dq)
    assert command is not None
    assert straight is not None
    np.testing.assert_array_equal(command.tau, straight.tau)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (lambda dq, before: 0.0 * dq, True),
        (lambda dq, before: -dq, True),
        (lambda dq, before: np.degrees(dq), True),
        (lambda dq, before: 1.2 * dq, False),
        (lambda dq, before: before, False),
        (lambda dq, before: dq + np.random.default_rng(int(1e9 * abs(dq[0]))).normal(0.0, 0.1, 7), False),
        (lambda dq, before: np.round(dq, 1), False),
    ],
    ids=["stuck", "reversed", "degrees", "scaled", "late", "noisy", "rounded"],
)
@pytest.mark.parametrize("period", [1, 20])
def test_velocities_that_are_not_those_of_the_positions_are_a_fault(wrong, told: bool, period: int) -> None:  # type: ignore[no-untyped-def]
    """Late ones are those of 20 ms before; positions are rounded to a milliradian, and noisy."""
    law, rng = {"name": "ComputedTorque", "K_0": 25, "K_1": 10}, np.random.default_rng(0)
    loop = make_loop(law, times={"period": 1e-3 * period}, hold={"rate": 20.0})
    state(loop)
    assert loop.references.trajectory(0, NAMES, [0.0], [Q0]) is None
    for k in range(1, 3000 // period):
        t = 1e-3 * period * k
        dq, before = (0.6 * np.cos(2.0 * x) * np.ones(7) for x in (t, t - 0.02))
        q = np.round(Q0 + 0.3 * np.sin(2.0 * t) + rng.normal(0.0, 1e-3, 7), 3)
        command = state(loop, NOON + k * period * MS, q=q, dq=wrong(dq, before))
        if loop.mode is Mode.fault:
            break
    assert (loop.reason is Reason.wrong_velocities) is told
    if told:
        assert t < 1.0
        assert command is not None
        np.testing.assert_allclose(command.tau, PANDA.gravity_vector(q), atol=1e-9)


def test_an_error_that_is_too_large_is_a_fault() -> None:
    blow = th.simulation.ExternalTorque([60.0] * 4 + [2.0] * 3, start=1.1)
    bench = tracking(1.0, SimulatedRobot(PANDA, Q0, external=[blow], compensates_gravity=False), largest_error=0.05)
    bench.run(0.3)
    assert (bench.loop.mode, bench.loop.reason) == (Mode.fault, Reason.large_error)


def test_a_controller_that_diverges_is_a_fault() -> None:
    wild = {"name": "SlotineLi", "Lambda": 10, "K_d": 10, "adaptation": 1e-12}
    with pytest.warns(RuntimeWarning, match="K_d or Lambda of SlotineLi is too high for a control period of 0.001 s"):
        bench = tracking(1.0, law=wild)
    assert (bench.loop.mode, bench.loop.reason) == (Mode.fault, Reason.diverged)
    assert all(np.isfinite(c.tau).all() for c in bench.commands)


def test_a_controller_without_an_answer_gives_the_reference_up() -> None:
    """The stream of poses goes on, and so the loop begins anew, some times."""
    bench = Bench(make_loop({**POSE_LAW, "K_0": 1, "K_1": 4}, task={"speed": 0.05}))
    bench.run(0.1)
    bench.play(kind="set_pose", offset=[1.0, 0.0, 0.0])  # out of reach
    bench.run(12.0)
    assert Status.singular in {c.status for c in bench.commands}
    assert Reason.no_solution in {c.reason for c in bench.commands}
    assert np.abs(bench.states[-1].dq).max() < 0.05
    assert (bench.loop.mode, bench.loop.reason) == (Mode.fault, Reason.repeated_holds)


@pytest.mark.parametrize("robot", ["panda", "ur5e", "gen3", "iiwa14"])
def test_poses_out_of_reach_do_not_drive_joints_beyond_their_speeds(robot: str) -> None:
    arm = th.Robot.load(robot)
    q0 = [0.1, -0.5, 0.1, -1.8, 0.1, 1.5, 0.1][: arm.n] if arm.n == 7 else [0.1, -1.2, 1.8, -0.6, 1.5, 0.1]
    loop = ControlLoop({"robot": robot, "controller": POSE_LAW})
    plant, now, speeds = SimulatedRobot({"robot": robot, "q0": q0}), NOON, []
    goal, names = arm.forward_kinematics(q0)[:3, 3] + [1.5, 0.0, 0.5], arm.joint_names
    for k in range(4000):
        state = plant.advance(now)
        command = loop.state(state.stamp, now, names, state.q, state.dq)
        plant.command(command.stamp, now, names, command.tau)
        if k % 5 == 0:
            loop.references.pose(now, goal, (0.0, 1.0, 0.0, 0.0))
        speeds.append(np.abs(state.dq) / arm.limits.velocity)
        now += MS
    assert np.max(speeds) < 2.0
    assert ((arm.limits.lower <= state.q) & (state.q <= arm.limits.upper)).all()


# --- external torque --------------------------------------------------------------------------------------------------


def test_an_observer_adds_the_external_torque_and_a_contact() -> None:
    """The arm carries a load that the loop's model lacks: its weight appears as an external torque."""
    load = {"mass": 2.0, "com": [0, 0, 0.1], "time": 0.3}
    observer = {"bandwidth": 40, "order": 2, "thresholds": 1.5, "samples": 5}
    bench = Bench(make_loop(observer=observer), make_robot(payloads=[load]))
    bench.run(0.3)
    assert not bench.loop.contact
    assert np.abs(bench.commands[-1].external_torque).max() < 0.1
    bench.run(0.7)
    q = bench.states[-1].q
    weight = PANDA.gravity_vector(q) - th.Payload(2.0, (0.0, 0.0, 0.1)).added_to(PANDA).gravity_vector(q)
    np.testing.assert_allclose(bench.commands[-1].external_torque, weight, atol=0.2)
    assert bench.commands[-1].contact
    assert bench.loop.report()["contact"] == 1
    bench.loop.reset()
    assert not bench.loop.contact
