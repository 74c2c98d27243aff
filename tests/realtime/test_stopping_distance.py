"""A brake that begins at the first violation ends within position limits and walls, on arms of all sizes."""

import numpy as np
import pytest

import thunder_py as th
from tests.refusals import assert_refused
from thunder_py.geometry import HalfSpace
from thunder_py.integration import rk4_step
from thunder_py.model.joint_data import Friction
from thunder_py.realtime import DriveFacts, Reason, Safety, SafetyLimits, SimulatedRobot, stopping_distance
from thunder_py.realtime.safety import brake

ARMS = ("panda", "ur5e", "gen3", "iiwa14", "scara")
#: duration of a run, and of its braking [s]
LONGEST, BRAKING = 2.0, 4.0


def linear(robot: th.Robot) -> np.ndarray:
    return np.array(list(robot.joint_types)) == "P"


def fastest(robot: th.Robot) -> np.ndarray:
    """Return the velocity limits; 2 rad/s or 0.3 m/s where there are none."""
    usual = np.where(linear(robot), 0.3, 2.0)
    return np.where(np.isinf(robot.limits.velocity), usual, robot.limits.velocity)


def box(robot: th.Robot) -> tuple[np.ndarray, np.ndarray]:
    """Return position limits: those of the robot within 2.5 rad; 0.2 m for a linear joint."""
    most = np.where(linear(robot), 0.2, 2.5)
    return np.maximum(robot.limits.lower, -most), np.minimum(robot.limits.upper, most)


def run(robot, limits, period, torque_rate, q, dq, ahead=0.0):
    """Keep the velocity, or accelerate, until the first violation, then brake."""
    n, speed = robot.n, dq
    step = np.full(n, torque_rate * period)
    safety = Safety(robot, limits, torque_step=step, period=period)
    hold = brake(robot, limits, step, period)
    command = robot.inverse_dynamics(q, dq, np.zeros(n))
    for k in range(1000):  # a torque that is not zero at the start
        safety.limit(k * period, command)
    safety.reason, stop, begun = None, None, 0.0
    if safety.check(0.0, q, dq) is not None:
        return np.array([q]), np.array([0.0 * dq]), None  # it starts too near
    positions, velocities = [q], [dq]
    parts = max(1, round(period / 2e-3))

    def rate(_, state):
        return np.stack([state[1], robot.forward_dynamics(state[0], state[1], command)])

    for k in range(1000, 1000 + round(LONGEST / period) + round(BRAKING / period)):
        t = k * period
        if stop is None:
            if k > 1000 + LONGEST / period:
                break
            stop, begun = safety.check(t, q, dq), t
        elif t - begun > BRAKING or np.abs(dq).max() < 1e-3:
            break
        if stop is None:
            kept = min(10.0, 0.2 / period) * (speed - dq)
            tau = robot.inverse_dynamics(q, dq, np.where(ahead, ahead, kept))
        else:
            tau = hold.step(t, q, dq)
        command = safety.limit(t, tau, together=stop is not None).copy()
        state = np.stack([q, dq])
        for _ in range(parts):
            state = rk4_step(rate, 0.0, state, period / parts)
        q, dq = state
        positions.append(q)
        velocities.append(dq)
    return np.array(positions), np.array(velocities), stop


def start(robot: th.Robot, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    lower, upper = box(robot)
    q = rng.uniform(lower + 0.3 * (upper - lower), upper - 0.3 * (upper - lower))
    return q, rng.uniform(0.4, 0.95, robot.n) * rng.choice([-1.0, 1.0], robot.n) * fastest(robot)


def within(positions: np.ndarray, velocities: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> bool:
    """Whether a run stays within its limits and ends at rest."""
    return bool(((positions >= lower) & (positions <= upper)).all() and np.abs(velocities[-1]).max() < 0.01)


@pytest.mark.parametrize(("period", "torque_rate"), [(1e-3, np.inf), (1e-3, 1e3), (4e-3, 1e3), (0.02, np.inf)])
@pytest.mark.parametrize("arm", ARMS)
def test_no_position_limit_is_passed(arm: str, period: float, torque_rate: float) -> None:
    robot = th.Robot.load(arm)
    q, dq = start(robot, np.random.default_rng([ARMS.index(arm), round(1e3 * period)]))
    lower, upper = box(robot)
    limits = SafetyLimits.of(robot, lower=lower, upper=upper, velocity=3.0 * fastest(robot))
    positions, velocities, stop = run(robot, limits, period, torque_rate, q, dq)
    assert stop is Reason.position
    assert within(positions, velocities, lower, upper)


@pytest.mark.parametrize("period", [1e-3, 4e-3])
@pytest.mark.parametrize("torque_rate", [500.0, 1e3, 5e3, np.inf])
@pytest.mark.parametrize("arm", ARMS)
def test_no_position_limit_is_passed_by_a_law_that_accelerates(arm: str, period: float, torque_rate: float) -> None:
    """One joint after the other speeds up toward its limit, the others keep their velocities."""
    robot = th.Robot.load(arm)
    lower, upper = box(robot)
    rng = np.random.default_rng([ARMS.index(arm), round(1e3 * period), round(min(torque_rate, 1e4))])
    stops = []
    for acceleration in (5.0, 10.0, 20.0, 30.0):
        joint, sign = rng.integers(robot.n), rng.choice([-1.0, 1.0])
        ahead = np.zeros(robot.n)
        ahead[joint] = sign * acceleration * (0.2 if linear(robot)[joint] else 1.0)
        q = rng.uniform(lower + 0.3 * (upper - lower), upper - 0.3 * (upper - lower))
        dq = rng.uniform(-0.2, 0.2, robot.n) * fastest(robot)
        limits = SafetyLimits.of(robot, lower=lower, upper=upper, velocity=fastest(robot))
        positions, velocities, stop = run(robot, limits, period, torque_rate, q, dq, ahead)
        stops.append(stop)
        assert within(positions, velocities, lower, upper)
    assert {Reason.position, Reason.velocity} & set(stops)


@pytest.mark.parametrize(("period", "torque_rate"), [(1e-3, 1e3), (4e-3, np.inf), (0.02, np.inf)])
@pytest.mark.parametrize("arm", ARMS)
def test_no_wall_is_passed(arm: str, period: float, torque_rate: float) -> None:
    """No frame is behind the wall by more than 2 mm and the motion of a period."""
    robot = th.Robot.load(arm)
    q, dq = start(robot, np.random.default_rng([9, ARMS.index(arm), round(1e3 * period)]))
    frames = [*range(1, robot.n + 1), "tool"]

    def depth(q: np.ndarray) -> np.ndarray:
        places = np.stack([robot.forward_kinematics(q, frame=frame)[..., :3, 3] for frame in frames])
        return (places - wall) @ normal

    velocity = robot.jacobian(q)[:3] @ dq
    normal = velocity / np.linalg.norm(velocity)
    ahead = robot.forward_kinematics(q)[:3, 3]
    wall = np.zeros(3)
    wall = normal * (depth(q).max() + 0.3 * np.linalg.norm(velocity))
    assert (ahead - wall) @ normal < 0.0
    free = np.full(robot.n, np.inf)
    limits = SafetyLimits.of(robot, lower=-free, upper=free, velocity=3.0 * fastest(robot),
                             obstacles=[HalfSpace(wall, -normal)])  # fmt: skip
    positions, velocities, stop = run(robot, limits, period, torque_rate, q, dq)
    if stop is None:  # the arm has turned away
        assert depth(positions).max() < 0.0
        return
    assert stop is Reason.workspace
    in_a_period = np.abs(np.diff(depth(positions), axis=1)).max()
    assert depth(positions).max() < 2e-3 + in_a_period
    assert np.abs(velocities[-1]).max() < 0.01


def test_the_stop_is_not_longer_than_it_must_be() -> None:
    """On a joint alone with the inertia M, gravity across it, the first violation is that of v^2 / 2a."""
    robot = th.Robot.load("scara")
    M, v, most = robot.mass_matrix(np.zeros(4))[0, 0], 2.0, 60.0
    torque = np.array([most, np.inf, np.inf, np.inf])
    limits = SafetyLimits(np.full(4, -50.0), np.full(4, 50.0), 5.0, torque, lookahead=0.0)
    safety, dq = Safety(robot, limits), np.array([v, 0.0, 0.0, 0.0])
    a = 0.9 * most / M
    end = a / 150.0  # speed at which the braking is linear
    distance = 3e-3 * v + (v**2 - end**2) / (2.0 * a) + end / 150.0
    safe = [x for x in np.linspace(0.9, 1.3, 201) if _is_safe(safety, 50.0 - x * distance, dq)]
    assert 1.0 < min(safe) < 1.15


def _is_safe(safety: Safety, q1: float, dq: np.ndarray) -> bool:
    safety.reset()
    return safety.check(0.0, np.array([q1, 0.0, 0.0, 0.0]), dq) is None


def braked(robot, limits, period, torque_step, q, dq):
    """Return how far joints and tip of a simulated arm go that the brake stops, from the state after the next."""
    facts = DriveFacts(robot.joint_names, period, period, limits.torque, 1e9, 1.0)
    arm = SimulatedRobot(robot, q, facts, dq0=dq, compensates_gravity=False)
    safety = Safety(robot, limits, torque_step=torque_step, period=period)
    hold, names = brake(robot, limits, np.full(robot.n, torque_step), period), robot.joint_names
    command = robot.inverse_dynamics(q, dq, np.zeros(robot.n))
    for k in range(1000):  # a torque that is not zero at the start
        safety.limit(k * period, command)
    states, step = [arm.advance(10**9)], round(1e9 * period)
    for k in range(1, round(4.0 / period)):
        assert arm.command(states[-1].stamp, states[-1].stamp, names, command) is None
        states.append(arm.advance(10**9 + k * step))
        if np.abs(states[-1].dq).max() < 1e-3:
            break
        tau = hold.step(k * period, states[-1].q, states[-1].dq)
        command = safety.limit((1000 + k) * period, tau, together=True)
    positions = np.array([state.q for state in states])
    tips = robot.forward_kinematics(positions)[:, :3, 3]
    return np.abs(positions - q).max(axis=0), np.linalg.norm(tips - tips[0], axis=1).max()


FRICTIONS = {"none": None, "viscous": ("viscous",), "Coulomb": ("coulomb",)}


@pytest.mark.parametrize("friction", FRICTIONS)
@pytest.mark.parametrize(("period", "torque_rate"), [(1e-3, np.inf), (1e-3, 1e3), (4e-3, 1e3), (0.02, np.inf)])
@pytest.mark.parametrize("arm", ["panda", "ur5e", "gen3", "iiwa14"])
def test_an_arm_stops_within_its_stopping_distance(arm, period, torque_rate, friction):
    """Friction takes a tenth of the torque limits; explicit steps would be unstable with it."""
    robot = th.Robot.load(arm)
    q, dq = start(robot, np.random.default_rng([5, ARMS.index(arm), round(1e3 * period)]))
    effort = robot.limits.effort
    if (terms := FRICTIONS[friction]) is not None:
        coefficients = 0.1 * effort / (fastest(robot) if friction == "viscous" else 1.0)
        robot = robot.replace(friction=Friction(terms=terms, coefficients=coefficients[:, None], delta=1e-3))
    step = torque_rate * period
    limits = SafetyLimits.of(robot)
    found = stopping_distance(robot, q, dq, limits, torque_step=step, period=period)
    joints, tip = braked(robot, limits, period, step, q, dq)
    assert (joints <= found.joints + 1e-5).all()
    assert 0.4 * found.tip < tip <= found.tip + 1e-5


def test_stopping_distances_of_many_states():
    robot = th.Robot.load("panda")
    q = np.tile([0.0, -0.3, 0.0, -2.0, 0.0, 1.8, 0.7], (2, 3, 1))
    dq = np.linspace(0.1, 1.5, 6).reshape(2, 3, 1) * np.eye(7)[0]
    found = stopping_distance(robot, q, dq)
    assert found.joints.shape == (2, 3, 7)
    assert (np.diff(found.tip.ravel()) > 0.0).all()
    one = stopping_distance(robot, q[1, 2], dq[1, 2])
    np.testing.assert_array_equal(one.joints, found.joints[1, 2])
    assert one.tip == found.tip[1, 2]
    accelerated = robot.inverse_dynamics(q[1, 2], dq[1, 2], 10.0 * np.eye(7)[0])
    assert stopping_distance(robot, q[1, 2], dq[1, 2], tau=accelerated).joints[0] > one.joints[0]
    still = stopping_distance(robot, q[0, 0], np.zeros(7))
    assert still.tip < 1e-6
    refused = (
        ({"q": q[..., :6]}, "q must have shape (..., 7), got (2, 3, 6)"),
        ({"dq": dq * np.nan}, "..."),
        ({"limits": SafetyLimits([-1.0], [1.0], 1.0, 1.0)}, "limits must be those of 7 joints, got 1"),
        ({"period": 0.0}, "period must be positive, got 0"),
    )
    assert_refused(*refused, call=lambda **changes: stopping_distance(**{"robot": robot, "q": q, "dq": dq, **changes}))


@pytest.mark.parametrize(
    ("arm", "part", "joint", "q", "dq"),
    [
        ("ur5e", 0.3, 1, [-0.83, -0.1, -0.42, 0.06, 0.71, -0.64], [-0.05, 0.33, 1.08, 1.35, 0.07, 0.98]),
        (
            "iiwa14",
            0.1,
            3,
            [-0.3, -0.53, -0.91, -0.29, -0.87, -0.54, 0.3],
            [-0.39, -0.25, -0.39, 0.24, 1.19, -0.47, 0.35],
        ),
    ],
)
def test_the_torque_against_friction_has_to_go_before_a_joint_brakes(arm, part, joint, q, dq):
    """All joints change their torques together, and so the friction of one delays the others: 1.4 times as far."""
    robot, q, dq = th.Robot.load(arm), np.array(q), np.array(dq)
    effort, free = robot.limits.effort, np.full(robot.n, np.inf)
    robot = robot.replace(friction=Friction(terms=("coulomb",), coefficients=part * effort[:, None], delta=1e-3))
    room = stopping_distance(robot, q, dq, SafetyLimits.of(robot), torque_step=1.0).joints[joint] / 1.2
    lower, upper = -free, free.copy()
    lower[joint], upper[joint] = q[joint] - room, q[joint] + room
    safety = Safety(robot, SafetyLimits(lower, upper, np.inf, effort, lookahead=0.0), torque_step=1.0)
    command = robot.inverse_dynamics(q, dq, np.zeros(robot.n))
    for k in range(1000):
        safety.limit(k * 1e-3, command)
    safety.reason = None
    assert safety.check(1.0, q, dq) is Reason.position


def test_friction_of_light_wrists_is_no_reason_to_stop():
    """A ramp of the torque that was predicted in explicit steps ran away: a slow arm stopped at once."""
    robot = th.Robot.load("gen3")
    viscous = Friction(terms=("viscous",), coefficients=(0.1 * robot.limits.effort / fastest(robot))[:, None])
    robot, q = robot.replace(friction=viscous), np.array([0.0, 0.3, 0.0, 1.6, 0.0, 1.0, 0.0])
    safety = Safety(robot, SafetyLimits.of(robot), torque_step=1.0)
    dq = np.full(7, 0.2)
    command = robot.inverse_dynamics(q, dq, np.zeros(7))
    for k in range(1000):
        safety.limit(k * 1e-3, command)
    safety.reason = None
    assert safety.check(1.0, q, dq) is None
