import numpy as np
import pytest

import thunder_py as th
from thunder_py.integration import rk4_step
from thunder_py.realtime import ControlLoop, SimulatedRobot
from thunder_py.realtime.hold import braking_rate, safe_torque

ARMS = ("panda", "ur5e", "gen3", "iiwa14")


def upside_down(robot: th.Robot, q: np.ndarray) -> np.ndarray:
    """Return the pose turned by half a turn, of which the orientation error has no direction."""
    pose: np.ndarray = robot.forward_kinematics(q) @ np.diag([1.0, -1.0, -1.0, 1.0])
    return pose


def posture(robot: th.Robot, seed: int) -> np.ndarray:
    lower, upper = np.maximum(robot.limits.lower, -1.5), np.minimum(robot.limits.upper, 1.5)
    q: np.ndarray = np.random.default_rng(seed).uniform(0.6 * lower + 0.4 * upper, 0.4 * lower + 0.6 * upper)
    return q


@pytest.mark.filterwarnings("ignore:K_.* of OperationalSpace is too:RuntimeWarning")  # it is, for some periods
@pytest.mark.parametrize(
    ("arm", "period", "gain"),
    [("panda", 1e-3, 0.0), ("ur5e", 4e-3, 200.0), ("gen3", 0.02, 2.0), ("iiwa14", 0.02, 200.0), ("panda", 0.02, 0.0)],
)
def test_a_singular_goal_stops_the_arm(arm: str, period: float, gain: float) -> None:
    robot = th.Robot.load(arm)
    q0 = posture(robot, ARMS.index(arm))
    law = th.control.OperationalSpace(robot, K_0=90, K_1=19, K_d=gain or 1e-3)
    law.torque_limits = robot.limits.effort
    dq0 = 0.3 * robot.limits.velocity * np.random.default_rng(5).choice([-1.0, 1.0], robot.n)
    goal = th.reference.SetPose(upside_down(robot, q0))
    result = th.simulate(robot, law, goal, 3.0, period / 2, control_period=period, q0=q0, dq0=dq0)
    assert law.status is th.control.Status.singular
    speed = np.abs(result.dq) / robot.limits.velocity
    assert speed.max() < 1.0
    assert np.abs(result.dq[-100:]).max() < 0.05


@pytest.mark.parametrize(("period", "late"), [(1e-3, 1), (5e-3, 0), (0.02, 1)])
@pytest.mark.parametrize("arm", [*ARMS, "scara", "elbow"])
def test_the_safe_torque_is_stable_with_one_period_of_delay(arm: str, period: float, late: int) -> None:
    robot = th.Robot.load(arm)
    effort = robot.limits.effort
    hold = safe_torque(robot, braking_rate(period), effort)
    q, tau = posture(robot, 1), list[np.ndarray]()
    dq = 0.5 * np.where(np.isfinite(robot.limits.velocity), robot.limits.velocity, 2.0)
    first, parts = np.abs(dq).max(), max(1, round(period / 2e-3))

    def rate(_: float, state: np.ndarray) -> np.ndarray:
        return np.stack([state[1], robot.forward_dynamics(state[0], state[1], tau[0])])

    speeds = []
    for k in range(round(2.0 / period)):
        tau = [*tau[-late:], hold.step(k * period, q, dq)] if late else [hold.step(k * period, q, dq)]
        for _ in range(parts):
            q, dq = rk4_step(rate, 0.0, np.stack([q, dq]), period / parts)
        speeds.append(np.abs(dq).max())
    assert max(speeds) < 1.3 * first + 0.2
    assert speeds[-1] < 0.01


def test_all_joints_slow_down_at_one_rate() -> None:
    """The law: ddq = -rho dq, at the rate or at what the first torque limit allows."""
    rng = np.random.default_rng(3)
    for arm in (*ARMS, "scara"):
        robot = th.Robot.load(arm)
        for scale in (0.01, 1.0):
            q, dq = posture(robot, 2), scale * np.minimum(robot.limits.velocity, 3.2) * rng.uniform(-1.0, 1.0, robot.n)
            tau = safe_torque(robot, 150.0, robot.limits.effort).step(0.0, q, dq)
            friction = robot.friction_torque(dq)  # not compensated
            rho = -robot.forward_dynamics(q, dq, tau + friction) / dq
            np.testing.assert_allclose(rho, rho[0], rtol=1e-6)
            at_limit = (np.abs(tau) > robot.limits.effort * (1.0 - 1e-9)).any()
            assert at_limit or rho[0] == pytest.approx(150.0)


@pytest.mark.parametrize("period", [1e-3, 0.02])
def test_a_canceled_goal_stops_within_the_physical_distance(period: float) -> None:
    robot = th.Robot.load("panda")
    q0, v = np.array([0, -0.3, 0, -2, 0, 1.8, 0.7]), 1.0
    loop = ControlLoop({"robot": "panda", "controller": {"name": "ComputedTorque", "K_0": 50, "K_1": 10},
                        "times": {"period": period, "state_late": 0.1}})  # fmt: skip
    arm = SimulatedRobot({"robot": "panda", "q0": q0.tolist(), "period": period, "watchdog": 0.2})
    now, names, at = 10**18, arm.joint_names, None
    for k in range(round(2.5 / period)):
        state = arm.advance(now)
        command = loop.state(state.stamp, now, names, state.q, state.dq)
        assert command is not None
        arm.command(command.stamp, now, names, command.tau)
        if k == 1:
            goal = np.stack([state.q, state.q + 1.2 * np.eye(7)[2]])
            assert loop.references.trajectory(now, names, [0.0, 1.5], goal) is None
        if at is None and state.dq[2] > v:
            loop.references.cancel()
            at, q = state.q, state.q
        now += round(1e9 * period)
    assert at is not None
    M = robot.mass_matrix(q)
    a = (0.9 * robot.limits.effort - np.abs(robot.gravity_vector(q)))[2] / M[2, 2]
    reaction = 1.0 / braking_rate(period) + 2.0 * period
    assert np.abs(state.q - at).max() < 2.0 * (v**2 / (2.0 * a)) + v * reaction
    assert np.abs(state.dq).max() < 0.01
