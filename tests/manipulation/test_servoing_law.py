"""D4.2, eq. 124: rate of convergence inside the domain, what is said outside it, limits of the joints."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from tests.refusals import assert_refused
from thunder_py import Robot
from thunder_py.manipulation.servoing.law import DOMAIN, ServoState, VisualServo
from thunder_py.model.description import Limits
from thunder_py.spatial.single import angle_of, exp, make_pose

PANDA = Robot.load("panda")
HOME = np.array([0.0, -0.5, 0.0, -2.0, 0.0, 1.6, 0.8])
GAIN = 2.0


def unlimited(**options):
    """The law itself: no damping, no velocity that matters."""
    wide = PANDA.replace(limits=Limits.none(7))
    return VisualServo(wide, GAIN, GAIN, threshold=0.0, **options)


def random_start(seed, degrees, distance=0.1):
    """Joint positions and a target so far away and so much turned."""
    rng = np.random.default_rng(seed)
    q = HOME + rng.uniform(-0.3, 0.3, 7)
    axis, way = (v / np.linalg.norm(v) for v in rng.normal(size=(2, 3)))
    T = PANDA.forward_kinematics(q)
    return q, make_pose(exp(np.radians(degrees) * axis) @ T[:3, :3], T[:3, 3] + distance * way)


def follow(servo, q, target, duration, dt=2e-3):
    """Midpoint rule; errors over time, or None in place of the arm's motion where the law stops."""
    errors = []
    for _ in range(round(duration / dt)):
        first = servo.step(q, target)
        if not first.state.moves:
            return q, np.array(errors), first.state
        errors.append((first.distance, first.angle))
        second = servo.step(q + 0.5 * dt * first.dq, target)
        q = q + dt * (second.dq if second.state.moves else first.dq)
    return q, np.array(errors), first.state


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("error", ["axis_angle", "rotation_vector"])
def test_converges_inside_the_domain_at_the_rate_of_theory(seed, error):
    """Eq. 124 makes e' = -K e: sin(theta) falls as exp(-K t) for the paper's error, theta for the logarithm."""
    degrees = np.random.default_rng(100 + seed).uniform(5.0, 75.0)
    q, target = random_start(seed, degrees, distance=0.05)
    _, errors, state = follow(unlimited(error=error), q, target, 1.5)
    assert state is ServoState.ok
    decay = np.exp(-GAIN * 2e-3 * np.arange(len(errors)))
    measure = np.sin if error == "axis_angle" else lambda x: x
    np.testing.assert_allclose(errors[:, 0], 0.05 * decay, rtol=2e-3)
    np.testing.assert_allclose(measure(errors[:, 1]), measure(np.radians(degrees)) * decay, rtol=2e-3)


@pytest.mark.parametrize("degrees", [88.9, 89.5, 90.5, 120.0, 179.5])
def test_outside_its_domain_the_law_says_so_and_stands_still(degrees):
    servo = unlimited(error="axis_angle")
    for seed in range(5):
        q, target = random_start(seed, degrees)
        step = servo.step(q, target)
        assert step.state is ServoState.outside_domain
        assert (step.dq == 0.0).all()
        assert step.angle == pytest.approx(np.radians(degrees), abs=1e-9)


@pytest.mark.parametrize("degrees", [95.0, 120.0, 150.0])
def test_the_logarithm_converges_where_the_papers_error_does_not(degrees):
    servo = unlimited(error="rotation_vector")
    q, target = random_start(4, degrees, distance=0.02)
    _, errors, state = follow(servo, q, target, 1.0)
    assert state is ServoState.ok
    assert errors[-1, 1] == pytest.approx(np.radians(degrees) * np.exp(-GAIN * 0.998), rel=5e-3)
    q, target = random_start(4, 179.5)
    assert servo.step(q, target).state is ServoState.outside_domain


@pytest.mark.parametrize(("degrees", "end"), [(80.0, 0.0), (100.0, 180.0), (150.0, 180.0)])
def test_printed_law_leads_to_half_a_turn(degrees, end):
    """D-28: e_o = r sin(theta) vanishes at 180 degrees too, and L^-1 makes that end attract, at the same rate."""
    R, dt = exp(np.radians(degrees) * np.array([0.6, 0.0, 0.8])), 3e-3  # R_d R', with R_d at rest
    first = np.sin(np.radians(degrees))
    for _ in range(1000):
        e = 0.5 * np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
        L = 0.5 * (np.trace(R) * np.eye(3) - R.T)
        w = np.linalg.solve(L, GAIN * e)
        R = R @ exp(-dt * w)
    theta = angle_of(R)
    assert np.degrees(theta) == pytest.approx(end, abs=0.2)
    assert np.sin(theta) == pytest.approx(first * np.exp(-GAIN * 3.0), rel=0.05)


def test_speed_of_the_papers_law_grows_as_the_tangent():
    """theta' = -K tan(theta): near a right angle any gain is too much."""
    servo = unlimited(error="axis_angle")
    for degrees in (30.0, 60.0, 85.0, 88.0):
        q, target = random_start(1, degrees)
        w = (PANDA.jacobian(q) @ servo.step(q, target).dq)[3:]
        assert np.linalg.norm(w) == pytest.approx(GAIN * np.tan(np.radians(degrees)), rel=1e-9)


def test_the_core_stops_where_the_domain_ends():
    servo = unlimited(error="axis_angle")
    limit = np.degrees(DOMAIN["axis_angle"])
    for offset, moves in ((-1e-6, True), (1e-6, False)):
        q, target = random_start(2, limit + offset)
        assert servo.step(q, target).state.moves is moves


def test_velocities_stay_within_limits_and_keep_direction():
    free, bound = unlimited(), VisualServo(PANDA, GAIN, GAIN, threshold=0.0, speed=0.3)
    q, target = random_start(3, 80.0, distance=0.3)
    wanted, found = free.step(q, target).dq, bound.step(q, target)
    assert found.state is ServoState.scaled
    assert (np.abs(found.dq) <= 0.3 * PANDA.limits.velocity + 1e-12).all()
    assert found.dq[found.joint] == pytest.approx(np.sign(wanted[found.joint]) * 0.3 * 2.61, rel=0.2)
    np.testing.assert_allclose(np.cross(wanted[:3], found.dq[:3]), 0.0, atol=1e-12)
    np.testing.assert_allclose(bound.step(q, target, speed=0.5).dq, 0.5 * found.dq)


def test_position_limits_are_never_passed():
    """A target that the arm can only reach by bending joint 4 past its limit."""
    servo = VisualServo(PANDA, 4.0, 4.0, margin=0.02)
    q = HOME.copy()
    start = PANDA.forward_kinematics(q)
    target = make_pose(start[:3, :3], np.array([0.05, 0.0, 0.1]))
    for _ in range(600):
        step = servo.step(q, target)
        q = q + 1e-2 * step.dq
        assert (q > PANDA.limits.lower + 0.019).all()
        assert (q < PANDA.limits.upper - 0.019).all()
    assert step.state is ServoState.joint_limit
    assert step.distance > 0.05
    assert step.joint in range(7)


def test_damped_near_singularities_and_told_without_damping():
    """Shoulder, elbow and wrist in one plane, the arm straight up: no way to move along it."""
    q = np.zeros(7)
    T = PANDA.forward_kinematics(q)
    target = make_pose(T[:3, :3], T[:3, 3] + [0.1, 0.05, -0.1])
    wide = PANDA.replace(limits=Limits.none(7))
    plain = VisualServo(wide, threshold=0.0).step(q, target)
    assert plain.state is ServoState.singular
    assert (plain.dq == 0.0).all()
    damped = VisualServo(wide, damping=0.1, threshold=0.05).step(q, target)
    assert damped.state is ServoState.ok
    assert 0.0 < np.linalg.norm(damped.dq) < 3.0


def test_the_tool_is_what_moves():
    servo = unlimited()
    tool = make_pose(Rotation.from_rotvec([0.2, -0.1, 0.3]).as_matrix(), [0.03, 0.02, 0.15])
    servo.tool = tool
    with pytest.raises(ValueError, match="read-only"):
        servo.tool[0, 3] = 1.0  # the law would not know
    q, _ = random_start(0, 0.0)
    now = PANDA.forward_kinematics(q) @ tool
    np.testing.assert_allclose(servo.tool_pose(q), now, atol=1e-14)
    target = make_pose(now[:3, :3], now[:3, 3] + [0.0, 0.0, 0.1])
    dq = servo.step(q, target).dq
    moved = (PANDA.forward_kinematics(q + 1e-6 * dq) @ tool - now) / 1e-6
    np.testing.assert_allclose(moved[:3, 3], [0.0, 0.0, GAIN * 0.1], atol=1e-5)
    np.testing.assert_allclose(moved[:3, :3], 0.0, atol=1e-5)


@pytest.mark.parametrize("bad", [np.full((4, 4), np.nan), 2.0 * np.eye(4), np.diag([1.0, 1.0, -1.0, 1.0])])
def test_bad_targets_are_told_and_move_nothing(bad):
    step = VisualServo(PANDA).step(HOME, bad)
    assert step.state is ServoState.invalid_input
    assert (step.dq == 0.0).all()


def test_bad_states_and_speeds_are_told():
    servo, target = VisualServo(PANDA), PANDA.forward_kinematics(HOME)
    assert servo.step(np.full(7, np.nan), target).state is ServoState.invalid_input
    for speed in (np.nan, -0.1, 1.1):
        assert servo.step(HOME, target, speed=speed).state is ServoState.invalid_input
    assert servo.step(HOME, target, np.full(6, np.inf)).state is ServoState.invalid_input


def test_bad_options_are_refused():
    assert_refused(
        ({"error": "quaternions"}, "...error..."),
        ({"speed": 1.5}, "...speed..."),
        ({"speed": 0.0}, "...speed..."),
        ({"margin": -1.0}, "...margin..."),
        ({"threshold": np.nan}, "...threshold..."),
        ({"limit_gain": 0.0}, "...limit_gain..."),
        ({"Lambda_p": [1.0, 2.0]}, "...Lambda_p..."),
        ({"Lambda_o": np.nan}, "...Lambda_o..."),
        ({"Lambda_p": -1.0}, "...Lambda_p must be positive definite..."),
        ({"Lambda_o": "fast"}, "...Lambda_o must be numbers..."),
        ({"margin": 3.0}, "...margin must be less than half of every joint's range, got 3.0..."),
        ({"error": ["axis_angle"]}, "...error must be one of..."),
        call=lambda **options: VisualServo(PANDA, **options),
    )
