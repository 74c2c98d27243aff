"""The motion of a throw: least jerk, through the release, inside limits, as short as they allow; then the throw."""

import pickle
from typing import Any

import numpy as np
import pytest

import thunder_py as th
from tests.refusals import assert_refused
from thunder_py.manipulation import throwing as tw
from thunder_py.manipulation.throwing.motion import (
    evaluate,
    fastest,
    free_stop,
    free_swing,
    joined,
    line_states,
    swing_from,
)
from thunder_py.trajectory import MotionLimits

from .throws import TARGET, limits_of, thrower

ROBOT = thrower()
LIMITS = limits_of(ROBOT)


@pytest.fixture(scope="module")
def motion() -> tw.ThrowMotion:
    return tw.plan_throw(ROBOT, TARGET, limits=LIMITS, objective="limits", palm=tw.Palm(), starts=4)


def jerk_cost(piece: Any) -> float:
    j = np.polyder(np.polynomial.Polynomial(piece.coefficients[::-1, 0]).coef[::-1], 3)
    square = np.polymul(j, j)
    return float(np.polyval(np.polyint(square), piece.duration))


def test_swing_and_stop_have_the_least_jerk() -> None:
    """Ends as asked; of all starts (and ends) at rest, the free one costs least."""
    T, x, v, a = 0.4, np.array([0.3]), np.array([1.2]), np.array([-2.0])
    swing, stop = free_swing(T, x, v, a), free_stop(T, x, v, a)
    for piece, at in ((swing, (0.0, T)), (stop, (T, 0.0))):
        values = evaluate(joined([piece]), np.array(at))
        np.testing.assert_allclose([values[1][0], values[2][0]], 0.0, atol=1e-12)
        np.testing.assert_allclose([part[1] for part in values], [x, v, a], atol=1e-12)
    start = swing.coefficients[-1]
    least = jerk_cost(swing)
    assert jerk_cost(swing_from(T, start, x, v, a)) == pytest.approx(least)
    for shift in (-0.02, 0.02):
        assert jerk_cost(swing_from(T, start + shift, x, v, a)) > 1.01 * least
    assert jerk_cost(stop) == pytest.approx(jerk_cost(free_swing(T, x, -v, a)))


def test_motion_passes_through_its_release(motion: tw.ThrowMotion) -> None:
    for t in motion.release_times(2):
        q, dq, ddq = (part[0] for part in motion.joints(t, 2))
        np.testing.assert_allclose(q, motion.release.q, atol=1e-10)
        np.testing.assert_allclose(dq, motion.release.dq, atol=1e-9)
        np.testing.assert_allclose(ddq, motion.release.ddq, atol=1e-8)


def test_motion_keeps_limits_by_inverse_dynamics(motion: tw.ThrowMotion) -> None:
    t = np.linspace(0.0, motion.duration(1), 3000)
    q, dq, ddq = motion.joints(t, 1)
    tau = ROBOT.inverse_dynamics(q, dq, ddq)
    assert (np.abs(q - LIMITS.center) <= LIMITS.half_range).all()
    for values, limit in ((dq, LIMITS.velocity), (ddq, LIMITS.acceleration), (tau, LIMITS.effort)):
        assert (np.abs(values) <= limit).all()
    assert min(part.min() for part in motion.margins.values()) > 0.0


def test_pieces_are_as_short_as_limits_allow(motion: tw.ThrowMotion) -> None:
    release = motion.release
    for piece, make in ((motion.swing, free_swing), (motion.stop, free_stop)):
        x, v, a = evaluate(
            joined([make(piece.duration - 2e-3, release.q, release.dq, release.ddq)]),
            np.linspace(0, piece.duration - 2e-3, 200),
        )
        tau = ROBOT.inverse_dynamics(x, v, a)
        used = [np.abs(v) / LIMITS.velocity, np.abs(a) / LIMITS.acceleration, np.abs(tau) / LIMITS.effort]
        assert max(part.max() for part in used) > 0.995


def test_reference_is_the_motion(motion: tw.ThrowMotion) -> None:
    reference = motion.reference(2)
    t = np.linspace(0.0, motion.duration(2), 101)[:-1]
    for mine, its in zip(motion.joints(t, 2), reference(t), strict=True):
        np.testing.assert_allclose(mine, its, atol=1e-9)
    again = pickle.loads(pickle.dumps(motion))
    np.testing.assert_array_equal(again.q_start, motion.q_start)


def test_a_start_may_be_given(motion: tw.ThrowMotion) -> None:
    start = motion.q_start + 0.02
    given = tw.motion_through(ROBOT, motion.release, LIMITS, start=start)
    np.testing.assert_allclose(given.q_start, start, atol=1e-12)
    assert min(part.min() for part in given.margins.values()) > 0.0


def test_a_throw_along_a_line(motion: tw.ThrowMotion) -> None:
    """Straight, without turning, in task and joints alike; accelerations of a real Panda are too low for it."""
    loose = MotionLimits(lower=LIMITS.lower, upper=LIMITS.upper, velocity=2.0 * LIMITS.velocity, acceleration=80.0)
    line = tw.motion_through(ROBOT, motion.release, loose, space="task")
    t = np.linspace(0.0, line.cycle + line.throw_duration, 150)
    q, dq, _ = line.joints(t, 1)
    T, task = ROBOT.forward_kinematics(q), line.reference(1)(t)
    direction = line.release.v / line.release.speed
    away = T[:, :3, 3] - line.release.p
    np.testing.assert_allclose(away - (away @ direction)[:, None] * direction, 0.0, atol=1e-7)
    np.testing.assert_allclose(T[:, :3, :3] - line.release.R, 0.0, atol=1e-7)
    np.testing.assert_allclose(task.p, T[:, :3, 3], atol=1e-7)
    twist = (ROBOT.jacobian(q) @ dq[..., None])[..., 0]
    np.testing.assert_allclose(task.xi, twist, atol=1e-5)
    assert_refused(
        (
            lambda: tw.motion_through(ROBOT, motion.release, loose, space="task", start=motion.q_start),
            "...where the throw starts on its line...",
            th.errors.ReleaseError,
        ),
        (
            lambda: tw.motion_through(ROBOT, motion.release, LIMITS, space="task"),
            "...of joint...",
            th.errors.ReleaseError,
        ),
    )


def test_a_line_ends_where_the_arm_does(motion: tw.ThrowMotion) -> None:
    states = line_states(ROBOT, motion.release, LIMITS)
    q, _, _ = states(np.array([[0.0], [2.0]]), np.ones((2, 1)), np.zeros((2, 1)))
    np.testing.assert_allclose(q[0], motion.release.q, atol=1e-9)
    assert np.isnan(q[1]).all()


def test_what_no_duration_can_do_is_refused_with_the_limit() -> None:
    def make(T: float) -> Any:
        return free_swing(T, LIMITS.center, 1.2 * LIMITS.velocity, np.zeros(7))

    with pytest.raises(th.errors.ReleaseError, match="no swing keeps the limits") as caught:
        fastest(make, lambda x, v, a: (x, v, a), ROBOT, LIMITS, "swing", 1e-3)
    assert " of joint" in caught.value.limit
    assert_refused(
        (
            lambda: tw.plan_throw(ROBOT, TARGET, space="task", acceleration="free fall"),
            "...for space='task', got 'free fall' and True...",
            th.errors.ReleaseError,
        ),
        (
            lambda: tw.motion_through(ROBOT, tw.find_release(ROBOT, TARGET, starts=2), LIMITS, space="line"),
            "...space must be...",
        ),
    )


def controller(robot: th.Robot = ROBOT) -> th.MACT:
    return th.MACT(robot, K_p=[200] * 4 + [60] * 3, K_d=[20] * 4 + [2, 2, 0.5], adaptation=None)


def test_a_throw_without_noise_lands_where_ballistics_says(motion: tw.ThrowMotion) -> None:
    """The object leaves with the state that the hand has; the plan itself ends on the target."""
    thrown = tw.throw(motion, controller(), plant=ROBOT, repetitions=1)
    k = int(np.argmin(np.abs(thrown.result.t - thrown.time)))
    q, dq = thrown.result.q[k], thrown.result.dq[k]
    p, v = ROBOT.forward_kinematics(q)[:3, 3], ROBOT.jacobian(q)[:3] @ dq
    np.testing.assert_allclose(thrown.flight.landing.p, tw.landing(p, v, TARGET[2]).p, atol=1e-6)
    release = motion.release
    np.testing.assert_allclose(tw.landing(release.p, release.v, TARGET[2]).p, TARGET, atol=1e-9)
    assert np.linalg.norm(thrown.miss) < 4e-3  # the torque is held for a millisecond
    finer = tw.throw(motion, controller(), plant=ROBOT, repetitions=0, dt=1e-4)
    assert np.linalg.norm(finer.miss) < 0.2 * np.linalg.norm(thrown.miss)


def test_a_late_hand_is_told_early(motion: tw.ThrowMotion) -> None:
    ideal = tw.throw(motion, controller(), plant=ROBOT)
    late = tw.throw(motion, controller(), plant=ROBOT, hand=tw.HandOpening(delay=0.08))
    np.testing.assert_allclose(late.miss, ideal.miss, atol=1e-12)
    wrong = tw.throw(motion, controller(), plant=ROBOT, hand=tw.HandOpening(delay=0.0805, assumed=0.079))
    assert wrong.time == pytest.approx(ideal.time + 0.0015)
    release = motion.release
    change = tw.landing_sensitivity(release.p, release.v, TARGET[2], a=release.a).time * 0.0015
    np.testing.assert_allclose(wrong.miss - ideal.miss, change, atol=1e-4)
    rng = np.random.default_rng(0)
    times = [tw.HandOpening(delay=0.1, jitter=0.005).release_time(1.0, rng) for _ in range(2000)]
    assert np.std(times) == pytest.approx(0.005, rel=0.1)
    assert np.mean(times) == pytest.approx(1.1, abs=5e-4)
    assert_refused(
        (
            lambda: tw.throw(motion, controller(), plant=ROBOT, hand=tw.HandOpening(delay=1.0)),
            "...the command to the hand must not precede the motion, got...",
            th.errors.ReleaseError,
        ),
        (
            lambda: tw.throw(motion, controller(), plant=ROBOT, hand=tw.HandOpening(delay=9.0, assumed=0.0)),
            "...the hand must open before the motion ends at...",
            th.errors.ReleaseError,
        ),
    )


def test_a_throw_of_nonsense_is_refused_before_the_arm_moves(motion: tw.ThrowMotion) -> None:
    class Never:
        def step(self, *_: Any) -> Any:
            raise AssertionError("the arm moved")

    assert_refused(
        ({"seed": -1}, "...seed must be a whole number of at least 0, got -1..."),
        ({"repetitions": -1}, "...repetitions must be a whole number..."),
        ({"drag": np.nan}, "...drag must not be negative..."),
        ({"offset": [0.0, 0.0]}, "...offset must have shape..."),
        ({"hand": 0.08}, "...hand must be a HandOpening, got float..."),
        ({"plant": "panda"}, "...plant must be a Robot, got str..."),
        ({"motion": None}, "...motion must be a ThrowMotion, got NoneType..."),
        call=lambda **changes: tw.throw(**({"motion": motion, "controller": Never(), "plant": ROBOT} | changes)),
    )


def test_a_plan_of_nonsense_is_refused() -> None:
    assert_refused(
        ({"space": "line"}, "...space must be..."),
        ({"period": 0.0}, "...period must be..."),
        ({"limits": 2.0}, "...limits must be a..."),
        call=lambda **changes: tw.plan_throw(ROBOT, TARGET, **changes),
    )


def test_an_object_off_the_middle_lands_beside(motion: tw.ThrowMotion) -> None:
    """The hand does not turn, so where the object lies is where it misses, except that a higher one flies longer."""
    offset = np.array([0.01, -0.02, 0.015])
    ideal = tw.throw(motion, controller(), plant=ROBOT)
    beside = tw.throw(motion, controller(), plant=ROBOT, offset=offset)
    by_p = tw.landing_sensitivity(motion.release.p, motion.release.v, TARGET[2]).position
    np.testing.assert_allclose(beside.miss - ideal.miss, by_p @ (motion.release.R @ offset), atol=5e-4)


def test_repetitions_teach_the_payload(motion: tw.ThrowMotion) -> None:
    payload = th.Payload(0.4, (0.13, 0.0, 0.06), link="link7")
    law = th.control.GradientAdaptation.proportional(ROBOT, 3.0, unknown="link7", floor=1e-2)
    soft = {"K_p": [23] * 4 + [12, 12, 2.3], "K_d": [14, 14, 7, 8, 1.4, 1.4, 0.3]}
    learns = th.MACT(ROBOT, **soft, adaptation=law, gamma=10.0, R_t=0.1)
    fixed = th.MACT(ROBOT, **soft, adaptation=None)
    taught, not_taught = (
        tw.throw(motion, each, plant=ROBOT, payload=payload, repetitions=4) for each in (learns, fixed)
    )
    assert taught.position_errors[-1] < 0.25 * taught.position_errors[0]
    assert np.linalg.norm(taught.miss) < 0.2 * np.linalg.norm(not_taught.miss)
    assert taught.velocity_errors.shape == (5,)


def test_a_throw_in_task_space(motion: tw.ThrowMotion) -> None:
    """The report's own kind of motion under its own kind of controller, on an arm with more room than a Panda."""
    loose = MotionLimits(lower=LIMITS.lower, upper=LIMITS.upper, velocity=1.5 * LIMITS.velocity, acceleration=60.0)
    line = tw.motion_through(ROBOT, motion.release, loose, space="task")
    law = th.CartesianMACT(ROBOT, [400] * 3 + [40] * 3, [20] * 4 + [5, 5, 1], adaptation=None, posture=None)
    thrown = tw.throw(line, law, plant=ROBOT, repetitions=1)
    assert np.linalg.norm(thrown.miss) < 5e-3
    assert (thrown.position_errors < 1e-3).all()


def test_a_release_at_its_velocity_limit_can_be_swung_to() -> None:
    """What the optimizer leaves free is more than what motions keep free."""
    robot = th.Robot.load("iiwa14")
    motion = tw.plan_throw(robot, (1.3, 0.0, -0.3), starts=4)
    assert 0.0 < motion.margins["velocity"].min() < 0.01
    assert motion.swing.duration >= 0.05


def test_an_arm_without_limits_takes_its_time() -> None:
    motion = tw.plan_throw(th.Robot.load("elbow"), (1.5, 0.0, -1.0), spin_free=False, starts=2)
    assert motion.swing.duration == motion.stop.duration == motion.back.duration == 0.05


@pytest.mark.parametrize("name", ["panda", "iiwa14"])
def test_an_object_released_anywhere_in_the_coast_lands_on_the_target(name: str) -> None:
    """By closed-form ballistics from the hand's state, which does not turn; outside the coast it would miss."""
    robot, target = th.Robot.load(name), np.array([1.0, 0.1, -0.4])
    motion = tw.plan_throw(robot, target, objective="limits", coast=0.04, starts=12)
    middle = motion.release_time
    assert motion.coast_duration == pytest.approx(0.04)

    def lands(t: float) -> tuple[Any, Any]:
        (q,), (dq,), _ = motion.joints(t)
        v = robot.jacobian(q) @ dq
        return tw.landing(robot.forward_kinematics(q)[:3, 3], v[:3], target[2]).p, v[3:]

    for t in np.linspace(middle - 0.02, middle + 0.02, 9):
        point, turning = lands(t)
        assert np.abs(point - target).max() < 1e-6
        assert np.abs(turning).max() < 1e-6
    assert np.linalg.norm(lands(middle + 0.05)[0] - target) > 1e-3
    late = np.array([-0.02, 0.0, 0.02, 0.05])
    np.testing.assert_allclose(motion.landings(late), [lands(middle + t)[0] for t in late], atol=1e-12)
    assert min(float(margin.min()) for margin in motion.margins.values()) > 0.0
    loose = MotionLimits(lower=-np.full(robot.n, 9.0), upper=np.full(robot.n, 9.0), velocity=np.full(robot.n, 9.0))
    moved = tw.shift_landing(motion, [0.01, -0.02], limits=loose)
    assert [moved.swing.duration, moved.stop.duration] == [motion.swing.duration, motion.stop.duration]
    shifted = moved.release
    assert tw.landing(shifted.p, shifted.v, target[2]).p == pytest.approx([1.01, 0.08, -0.4], abs=1e-9)


def test_a_coast_is_refused_with_another_acceleration() -> None:
    with pytest.raises(th.errors.ReleaseError, match="acceleration must be 'free fall' for a coast, got 'joints'"):
        tw.plan_throw(th.Robot.load("panda"), (1.1, 0.1, -0.4), coast=0.05, acceleration="joints")
