from dataclasses import replace

import numpy as np
import pytest

from tests.refusals import assert_refused
from thunder_py.errors import ThunderError
from thunder_py.manipulation.interception import (
    BeltObject,
    Conveyor,
    GraspTolerance,
    InterceptionOptions,
    MeasurementModel,
    SingleShot,
    evaluate_grasp,
)
from thunder_py.manipulation.interception.runs import Scenario, default_belt, run_conveyor, summary
from thunder_py.robot import Robot

BELT = default_belt()


def test_velocity_is_the_derivative_of_position():
    thing = BeltObject(BELT, -0.5, 0.3, 0.01, 0.02, ripple=0.1, phase=0.7, change_time=1.0, change_speed=-0.1)
    t, h = np.array([0.1, 0.5, 0.93, 1.4]), 1e-6
    slope = (thing.position(t + h) - thing.position(t - h)) / (2 * h)
    assert np.allclose(slope, thing.velocity(t), atol=1e-8)
    assert np.allclose(thing.position(0.0), np.asarray(BELT.reference) - BELT.offset + [-0.01, -0.5, 0.02])


def test_camera_noise_is_what_it_says():
    camera = MeasurementModel(rate=2000.0, noise=0.004, bias=0.0, outliers=0.0, dropout=0.1, latency=0.05, jitter=0.01)
    thing = BeltObject(BELT, -0.55, 0.26)
    feed = camera.watch(thing, 3.0, np.random.default_rng(1))
    error = feed.positions - thing.position(feed.taken)
    assert np.allclose(error.std(axis=0), 0.004, rtol=0.05)
    assert np.abs(error.mean(axis=0)).max() < 3e-4
    assert np.abs(len(feed.taken) / 6000 - 0.9) < 0.02
    delay = feed.available - feed.taken
    assert delay.min() >= 0.05
    assert delay.max() <= 0.06 + 1e-12
    biased = replace(camera, noise=0.0, bias=0.01).watch(thing, 1.0, np.random.default_rng(2))
    off = biased.positions - thing.position(biased.taken)
    assert np.allclose(off, off[0], atol=1e-12)
    assert np.abs(off[0]).max() > 1e-3
    wild = replace(camera, noise=0.0, outliers=0.25).watch(thing, 3.0, np.random.default_rng(3))
    far = np.abs(wild.positions - thing.position(wild.taken)).max(axis=1) > 1e-9
    assert np.abs(far.mean() - 0.25) < 0.03


def test_seeds_decide_and_strategies_do_not():
    one, other = Scenario(), Scenario(options=InterceptionOptions(strategy=SingleShot()))
    (a, fa), (b, fb) = one.world(7), other.world(7)
    assert a == b
    assert all(np.array_equal(x, y) for x, y in zip(fa, fb, strict=True))
    assert one.world(8)[0].speed != a.speed
    assert repr(summary(7, one)) == repr(summary(7, one))


def test_grasps_by_relative_place_and_speed():
    thing = BeltObject(BELT, 0.0, 0.2)
    t = np.linspace(0.0, 0.25, 26)
    there, v = thing.position(t) + BELT.offset, thing.velocity(t)
    grasp = evaluate_grasp(t, there, v, thing)
    assert grasp.success
    assert max(grasp[2:]) < 1e-12
    assert evaluate_grasp(t, there + np.array([0, 0.024, 0]), v, thing).success
    beside = evaluate_grasp(t, there + np.array([0, 0.026, 0]), v, thing)
    assert (beside.success, beside.reason) == (False, "beside")
    assert np.isclose(beside.along, 0.026)
    assert evaluate_grasp(t, there + np.array([0.02, 0.02, 0]), v, thing).reason == "beside"
    assert evaluate_grasp(t, there + np.array([0, 0, -0.021]), v, thing).reason == "above or below"
    assert evaluate_grasp(t, there, v + np.array([0, 0.081, 0]), thing).reason == "sliding"
    assert evaluate_grasp(t, np.full_like(there, np.nan), v, thing).success is False
    assert evaluate_grasp(t, there + np.array([0, 0.026, 0]), v, thing, GraspTolerance(horizontal=0.03)).success
    with pytest.raises(ThunderError, match="shape"):
        evaluate_grasp(t, there[:5], v, thing)


def test_replanning_grasps_what_a_single_plan_misses():
    once = [summary(seed, Scenario(options=InterceptionOptions(strategy=SingleShot()))) for seed in range(12)]
    again = [summary(seed, Scenario()) for seed in range(12)]
    assert sum(run.success for run in again) >= 11
    assert sum(run.success for run in once) <= 5
    assert all(run.plans == 1 for run in once)
    assert min(run.plans for run in again) > 3


def test_the_arm_grasps_within_its_limits():
    run = run_conveyor(1, Scenario(arm=True))
    robot = Robot.load("panda")
    assert run.success
    assert run.outcome == "grasped"
    assert (np.abs(run.dq) < robot.limits.velocity).all()
    assert ((run.q > robot.limits.lower) & (run.q < robot.limits.upper)).all()
    assert np.linalg.norm(run.hand - run.reference, axis=1).max() < 3e-3
    p = robot.forward_kinematics(run.q)[:, :3, 3]
    assert np.allclose(p, run.hand)
    planned = run_conveyor(1, Scenario())
    assert np.allclose(planned.reference, run.reference, atol=1e-9)


@pytest.mark.parametrize("name", ["ur5e", "iiwa14", "gen3"])
def test_other_arms_grasp_from_belts_that_they_reach(name: str) -> None:
    robot = Robot.load(name)
    scenario = Scenario.of(robot, conveyor=Conveyor(0.16), arm=True)
    run = run_conveyor(1, scenario)
    assert run.outcome == "grasped"
    assert run.q.shape[1] == robot.n
    assert (np.abs(run.dq) < robot.limits.velocity).all()


def test_bad_worlds():
    assert_refused(
        (lambda: Conveyor(speed=0.0), "...speed..."),
        (lambda: Conveyor(ripple=-1.0), "...ripple..."),
        (lambda: MeasurementModel(rate=np.nan), "...rate..."),
        (lambda: MeasurementModel(noise=-0.001), "...noise..."),
        (lambda: MeasurementModel(outliers=1.5), "...outliers..."),
        (lambda: GraspTolerance(speed=0.0), "...speed..."),
        (lambda: Scenario(robot=Robot.load("ur5e")), "robot, q and belt must be given together..."),
    )
