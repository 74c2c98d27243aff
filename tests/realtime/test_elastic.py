"""The motors of elastic joints in messages, controllers, the safe torque and the simulated arm."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import thunder_py as th
from thunder_py.realtime import ControlLoop, JointState, Mode, Reason, ReferenceGenerator, SimulatedRobot
from thunder_py.realtime.hold import safe_torque
from thunder_py.realtime.joint_states import DROPPED
from thunder_py.robot import Elastic

from .loops import MS, NOON

Q0 = np.array([0.3, -0.5])
RIGID = {"name": "PDGravity", "K_p": 20.0, "K_d": 1.0}
MOTOR = {"name": "MotorPD", "K_p": 60.0, "K_d": 8.0}


@pytest.fixture(scope="module")
def soft(tmp_path_factory: pytest.TempPathFactory) -> tuple[th.Robot, str]:
    """An elbow with one elastic joint, and its file."""
    drive = Elastic(joint=2, K=(80.0, 40.0), D=(0.5,), Dm=(0.1,), Mm=0.03)
    robot = th.Robot.load("elbow").replace(elastic=[drive], name="soft_elbow")
    path = tmp_path_factory.mktemp("elastic") / "soft_elbow.yaml"
    robot.save(path)
    return robot, str(path)


def make_loop(path: str, law: dict[str, Any] = MOTOR, **options: Any) -> ControlLoop:
    return ControlLoop({"robot": path, "controller": law, "torque_limits": 100.0, **options})


def make_arm(path: str, **options: Any) -> SimulatedRobot:
    return SimulatedRobot({"robot": path, "q0": Q0.tolist(), "torque_limits": 100.0, **options})


def play(loop: ControlLoop, arm: SimulatedRobot, seconds: float, now: int, motors: bool = True) -> JointState:
    """Close the loop; messages have the motors or not."""
    for _ in range(round(1000 * seconds)):
        state = arm.advance(now)
        seen = (state.positions, state.velocities) if motors else (state.q, state.dq)
        command = loop.state(state.stamp, now, arm.state_names if motors else arm.joint_names, *seen)
        assert command is not None
        arm.command(command.stamp, now, arm.joint_names, command.tau)
        now += MS
    return arm.advance(now)


def follow(loop: ControlLoop, goal: np.ndarray) -> None:
    assert loop.references.trajectory(0, loop.joint_names, [0.5], [goal]) is None


def test_a_law_that_sees_motors_tracks(soft: tuple[th.Robot, str]) -> None:
    robot, path = soft
    loop, arm = make_loop(path), make_arm(path)
    play(loop, arm, 0.05, NOON)
    assert loop.mode is Mode.holding
    follow(loop, Q0 + 0.2)
    state = play(loop, arm, 3.0, NOON + 50 * MS)
    assert loop.mode is Mode.tracking
    np.testing.assert_allclose(state.q, Q0 + 0.2, atol=5e-3)
    np.testing.assert_allclose(state.x, robot.elastic_equilibrium(state.q), atol=5e-3)
    assert loop.dropped == dict.fromkeys(DROPPED, 0)


def test_without_motors_it_is_held_with_a_reason(soft: tuple[th.Robot, str]) -> None:
    _, path = soft
    loop, arm = make_loop(path), make_arm(path)
    play(loop, arm, 0.01, NOON)
    follow(loop, Q0)
    play(loop, arm, 0.05, NOON + 10 * MS, motors=False)
    assert (loop.mode, loop.reason) == (Mode.holding, Reason.no_motors)
    state = play(loop, arm, 1.0, NOON + 60 * MS, motors=False)
    np.testing.assert_allclose(state.q, Q0, atol=1e-2)
    play(loop, arm, 0.05, NOON + 1060 * MS)
    assert loop.mode is Mode.tracking


def test_messages_list_all_motors_or_none(tmp_path: Path) -> None:
    drives = [Elastic(joint=j, K=(80.0,), Mm=0.05) for j in (1, 2)]
    th.Robot.load("elbow").replace(elastic=drives, name="soft").save(tmp_path / "soft.yaml")
    loop = make_loop(str(tmp_path / "soft.yaml"))
    names = (*loop.joint_names, "joint1_motor", "joint2_motor")
    assert loop.state(NOON, NOON, names[:3], np.zeros(3), np.zeros(3)) is None
    assert loop.dropped["names"] == 1
    shuffled = [names[k] for k in (3, 0, 2, 1)]
    assert loop.state(NOON + MS, NOON + MS, shuffled, np.zeros(4), np.zeros(4)) is not None
    assert loop.state(NOON + 2 * MS, NOON + 2 * MS, names[:2], np.zeros(2), np.zeros(2)) is not None
    assert loop.dropped["names"] == 1


def test_rigid_laws_need_no_motors_and_warn_of_springs(soft: tuple[th.Robot, str]) -> None:
    _, path = soft
    loop, arm = make_loop(path, RIGID), make_arm(path)
    play(loop, arm, 0.01, NOON, motors=False)
    follow(loop, Q0)
    play(loop, arm, 0.05, NOON + 10 * MS, motors=False)
    assert loop.mode is Mode.tracking
    message = r"K_d of PDGravity is too high for the elastic joint 'joint2': .* a bandwidth of .* rad/s"
    with pytest.warns(RuntimeWarning, match=message):
        make_loop(path, {**RIGID, "K_d": 50.0})


def test_the_safe_torque_acts_on_the_motors(soft: tuple[th.Robot, str]) -> None:
    robot, _ = soft
    rate, Mm, rng = 40.0, 0.03, np.random.default_rng(0)
    hold = safe_torque(robot, rate, np.full(2, 1e3))
    state = (Q0, np.zeros(2), np.array([-0.4]), np.zeros(1))
    np.testing.assert_allclose(hold.step(0.0, *state), robot.gravity_vector(Q0), atol=1e-12)
    q, dq, x, dx = Q0 + 0.1, rng.normal(size=2), np.array([-0.1]), rng.normal(size=1)
    inertia = np.array([robot.mass_matrix(q)[0, 0], Mm])
    feedback = 0.25 * rate**2 * np.array([Q0[0] - q[0], -0.4 - x[0]]) - rate * np.array([dq[0], dx[0]])
    expected = robot.gravity_vector(q) + inertia * feedback
    np.testing.assert_allclose(hold.step(0.1, q, dq, x, dx), expected, atol=1e-12)
    # without motors: no spring at the elastic joint, and at most a quarter of the stable damping
    limit = th.control.stability.elastic_damping(robot, q + 0.1)[1]
    hold.step(0.2, q, np.zeros(2))
    blind = hold.step(0.3, q + 0.1, dq)
    rigid = robot.mass_matrix(q + 0.1)[0, 0] * (0.25 * rate**2 * 0.1 + rate * dq[0])
    expected = robot.gravity_vector(q + 0.1) - [rigid, min(0.25 * limit, rate * Mm) * dq[1]]
    np.testing.assert_allclose(blind, expected, atol=1e-12)


def test_motors_without_inertia_cannot_be_held(soft: tuple[th.Robot, str]) -> None:
    massless = soft[0].with_elastic_parameters(Mm=[0.0])
    with pytest.raises(ValueError, match="motors of elastic joints that have inertia"):
        safe_torque(massless, 150.0, np.full(2, 100.0))


def test_the_arm_starts_at_rest_and_agrees_with_simulate(soft: tuple[th.Robot, str]) -> None:
    robot, path = soft
    arm = make_arm(path, watchdog=1.0)
    state = arm.advance(NOON)
    assert arm.state_names == ("joint1", "joint2", "joint2_motor")
    np.testing.assert_allclose(state.x, robot.elastic_equilibrium(Q0))
    held = arm.advance(NOON + 10 * MS)
    np.testing.assert_allclose(held.positions, state.positions, atol=1e-9)
    tau = robot.gravity_vector(Q0) + np.array([1.0, 2.0])
    arm = make_arm(path, watchdog=1.0)
    assert arm.command(arm.advance(NOON).stamp, NOON, arm.joint_names, tau) is None
    state = arm.advance(NOON + 20 * MS)

    class Constant:
        def step(self, t: float, q: Any, dq: Any, reference: Any) -> Any:
            return tau

    run = th.simulate(robot, Constant(), th.reference.SetPoint(Q0), 0.02, 1e-3, q0=Q0)
    np.testing.assert_allclose(state.positions, np.append(run.q[-1], run.x[-1]), atol=1e-12)
    np.testing.assert_allclose(state.velocities, np.append(run.dq[-1], run.dx[-1]), atol=1e-12)


def test_stiff_springs_of_light_links_stay_finite(tmp_path: Path) -> None:
    """At 1 ms the wrist would be beyond the stability of Runge-Kutta: 2e4 N m/rad and 0.3 g m2 are 9000 rad/s."""
    drives = [Elastic(joint=j, K=(2e4,), Mm=0.2) for j in range(1, 7)]
    th.Robot.load("ur5e").replace(elastic=drives, name="stiff").save(tmp_path / "stiff.yaml")
    arm = SimulatedRobot(th.Robot.load(tmp_path / "stiff.yaml"), dq0=[0.0] * 5 + [0.1], compensates_gravity=False)
    arm.advance(NOON)
    state = arm.advance(NOON + 40 * MS)
    assert not arm.failed
    assert 1e-4 < np.abs(state.dq).max() < 1.0
    massless = th.Robot.load("ur5e").replace(elastic=[Elastic(joint=1, K=(1.0,), Mm=0.0)], name="massless")
    massless.save(tmp_path / "massless.yaml")
    with pytest.raises(ValueError, match="robot must have inertia at both ends of each spring, got massless"):
        SimulatedRobot({"robot": str(tmp_path / "massless.yaml")})


def test_without_commands_the_drive_damps_the_motors(soft: tuple[th.Robot, str]) -> None:
    robot, _ = soft
    arm = SimulatedRobot(robot, Q0, dq0=[0.2, -0.5])  # motors move with their joints at first
    expected = robot.gravity_vector(Q0) - 150.0 * np.array([robot.mass_matrix(Q0)[0, 0] * 0.2, 0.03 * -0.5])
    np.testing.assert_allclose(arm.advance(NOON).tau, expected, atol=1e-12)


def test_the_observer_takes_the_torque_of_the_springs(soft: tuple[th.Robot, str]) -> None:
    """At rest under a deflected spring the torque on the link is the spring's, whatever is commanded to the motor."""
    robot, path = soft
    observer = {"bandwidth": 200.0}
    loop = make_loop(path, RIGID, observer=observer)
    x = robot.elastic_equilibrium(Q0) + 0.05
    extra = robot.elastic_torque(Q0, x) - robot.gravity_vector(Q0)[1]
    names, now = (*loop.joint_names, *robot.motor_names), NOON
    for _ in range(100):
        command = loop.state(now, now, names, np.append(Q0, x), np.zeros(3))
        now += MS
    assert command is not None
    np.testing.assert_allclose(command.external_torque[1], -extra[0], rtol=1e-6)


def test_reference_generators_take_states_with_motors(soft: tuple[th.Robot, str]) -> None:
    _, path = soft
    generator = ReferenceGenerator({"robot": path, "reference": {"kind": "set_point"}})
    assert generator.begin(NOON, ("joint1", "joint2", "joint2_motor"), [0.1, 0.2, 9.0]) is None
    np.testing.assert_array_equal(generator.joints(NOON).q[0], [0.1, 0.2])
