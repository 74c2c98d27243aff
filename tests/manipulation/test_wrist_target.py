from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import thunder_py as th
from tests.refusals import assert_refused
from thunder_py.errors import ThunderError
from thunder_py.manipulation.wrist import (
    MOUNT,
    ElasticWrist,
    SwingLog,
    identify_wrist,
    plan_target_throw,
    swing_run,
    throwing_bases,
    with_wrist,
)
from thunder_py.papers.elastic_wrist.targets import Truth, run_targets

WRIST = ElasticWrist(I=0.012, k=5.0, m=0.7, r_c=0.09, c=0.03)
TIP = 0.15
TARGETS = {"panda": (1.5, -0.4, 0.1), "ur5e": (-0.9, 1.2, 0.0), "gen3": (1.0, 0.2, 0.0)}


@pytest.fixture(scope="module", params=sorted(TARGETS))
def throw(request):
    arm = th.Robot.load(request.param)
    bases = throwing_bases(arm, WRIST, elevations=[45.0], speeds=[0.2])
    return plan_target_throw(arm, WRIST, TARGETS[request.param], bases, cells=40)


def arm_of(throw):
    return th.Robot.load(throw.robot.name.removesuffix("_wrist"))


def test_flight_from_the_planned_release_lands_on_the_target(throw):
    def height(_, x):
        return x[2] - throw.target[2]

    height.terminal, height.direction = True, -1.0
    fall = solve_ivp(
        lambda _, x: [*x[3:], 0.0, 0.0, -9.81], (0.0, 5.0), [*throw.p, *throw.v], events=height, rtol=1e-10, atol=1e-12
    )
    np.testing.assert_allclose(fall.y[:3, -1], throw.target, atol=2e-3)


def test_execution_keeps_the_limits(throw):
    landed = throw.execute()
    limits = throw.robot.limits
    assert landed.miss < 2e-3
    assert landed.effort == pytest.approx(throw.effort)
    assert throw.effort <= 0.9
    assert np.all(np.abs(landed.run.tau) <= 0.9 * limits.effort)
    assert np.all(np.abs(landed.run.dq) <= limits.velocity)
    assert np.all((landed.run.q > limits.lower) & (landed.run.q < limits.upper))
    assert np.abs(throw.motor.slope).max() <= 20.0 + 1e-9
    assert landed.run.t[-1] == pytest.approx(throw.base.trajectory.end_time)


def test_spread_is_the_error_of_a_late_or_early_release(throw):
    misses = [throw.execute(late=late).miss for late in (-0.002, 0.002)]
    assert throw.spread == pytest.approx(max(misses), abs=1e-4)
    assert throw.spread < 0.1
    assert throw.execute(late=0.01).miss > 2.0 * throw.spread


@pytest.mark.parametrize("seed", range(3))
def test_identification_finds_wrist_and_object(throw, seed):
    truth = Truth.draw(WRIST, TIP, seed)
    logs = [
        SwingLog.of_run(
            swing_run(throw, with_wrist(arm_of(throw), one, mount=MOUNT), spring_error=truth.offset),
            noise=2e-4, offset=truth.offset, seed=seed,
        )
        for one in (truth.empty, truth.loaded)
    ]  # fmt: skip
    found = identify_wrist(arm_of(throw), WRIST, *logs, mount=MOUNT)
    assert found.wrist.k == pytest.approx(truth.loaded.k, rel=2e-3)
    assert found.wrist.c == pytest.approx(truth.loaded.c, rel=2e-2)
    assert found.offset == pytest.approx(truth.offset, abs=1e-3)
    assert found.object_mass == pytest.approx(truth.mass, abs=2e-3)
    assert pytest.approx(truth.loaded.I, rel=3e-3) == found.wrist.I
    assert found.wrist.m * found.wrist.r_c == pytest.approx(truth.loaded.m * truth.loaded.r_c, rel=5e-3)
    # without the object's swings the wrist is the empty one
    assert identify_wrist(arm_of(throw), WRIST, logs[0], mount=MOUNT).object_mass == 0.0


def test_the_worst_throw_with_identification_beats_the_best_without():
    (case,) = run_targets(WRIST, TIP, arms=("ur5e",), targets=((1.2, 0.3, 0.0), (1.8, 0.5, 0.2)), seeds=1, cells=40)
    assert case.misses.max() < 0.03
    assert case.misses.max() < 0.5 * case.misses_nominal.min()
    assert max(case.efforts.max(), case.velocities.max()) < 1.0


def test_faster_throws_take_more_torque(throw):
    near, far = (
        plan_target_throw(arm_of(throw), WRIST, [x, 0.0, 0.0], [throw.base], cells=40, torque_share=1.0).effort
        for x in (1.1, 1.25)
    )
    assert 0.0 < near < far <= 1.0


def test_refusals(throw):
    arm = arm_of(throw)

    def plan(target=(1.0, 0.0, 0.0), arm=arm, bases=(throw.base,), cells=20, **options):
        return plan_target_throw(arm, WRIST, target, bases, cells=cells, **options)

    assert_refused(
        ({"target": [9.0, 0.0, 0.0]}, "target must be within reach of the throws of..."),
        ({"torque_share": 0.05}, "target must be within the limits of..."),
        ({"target": [np.nan, 0.0, 0.0]}, "...target must be finite..."),
        ({"jitter": -1.0}, "...jitter must not be negative..."),
        ({"torque_share": 0.0}, "...torque_share must be a number in (0, 1], got 0.0"),
        ({"torque_share": 1.5}, "...torque_share must be a number in (0, 1], got 1.5"),
        ({"cells": 1}, "cells must be a whole number..."),
        ({"rate": -1.0}, "rate must be positive..."),
        ({"bases": []}, "bases must be at least one motion of..."),
        ({"bases": throw.base}, "bases must be at least one motion of..."),
        ({"arm": th.Robot.load("iiwa14")}, "bases must be at least one motion of iiwa14..."),
        call=plan,
    )


@pytest.fixture(scope="module")
def runs(throw):
    """Swings of the empty hand and of one with 0.2 kg."""
    heavy = 0.7 + 0.2
    loaded = replace(WRIST, m=heavy, r_c=(0.7 * WRIST.r_c + 0.2 * TIP) / heavy, I=WRIST.I + 0.2 * TIP**2)
    return [swing_run(throw, with_wrist(arm_of(throw), one, mount=MOUNT)) for one in (WRIST, loaded)]


@pytest.fixture(scope="module")
def swings(runs):
    """Their logs without noise."""
    return tuple(SwingLog.of_run(run) for run in runs)


def noisy(log, noise, seed=0):
    rng = np.random.default_rng(seed)
    return replace(
        log,
        q=log.q + noise * rng.standard_normal(log.q.shape),
        theta=log.theta + noise * rng.standard_normal(log.t.size),
    )


def test_logs_that_do_not_tell_wrist_and_object_are_refused(throw, swings):
    """At rest with noise, exchanged, with a reversed motor, in degrees, too noisy: no wrong numbers."""
    arm, (empty, loaded) = arm_of(throw), swings
    rest = replace(empty, q=np.tile(empty.q[0], (empty.t.size, 1)), theta=np.full(empty.t.size, empty.theta[0]))

    def identify(*logs):
        return identify_wrist(arm, WRIST, *logs, mount=MOUNT)

    assert identify(empty, loaded).object_mass == pytest.approx(0.2, rel=2e-3)
    assert_refused(
        *((lambda s=s: identify(noisy(rest, s)), "empty must be swings of...") for s in (0.0, 1e-6, 2e-4, 1e-2)),
        (lambda: identify(loaded, empty), "loaded gives an object of -..."),
        (lambda: identify(replace(empty, theta=-empty.theta)), "empty gives the spring k..."),
        (lambda: identify(replace(empty, theta=np.degrees(empty.theta))), "empty gives the spring k..."),
        (
            lambda: identify(replace(empty, q=np.degrees(empty.q), theta=np.degrees(empty.theta))),
            "empty gives the spring k...",
        ),
        (lambda: identify(noisy(empty, 1e-2), noisy(loaded, 1e-2)), "... gives ..."),
        (lambda: identify(replace(empty, q=empty.q[:, 1:])), "q must have shape..."),
    )  # fmt: skip
    found = identify(empty)
    assert_refused(
        ({"wrist": arm}, "wrist must be an ElasticWrist, got ..."),
        ({"offset": np.nan}, "offset must be a finite number, got nan"),
        ({"object_mass": -0.1}, "object_mass must not be negative [kg], got -0.1"),
        call=lambda **given: replace(found, **given),
    )


def test_noise_does_not_shift_the_mass(throw, runs):
    """The square of a noisy velocity has a mean, most at 10 kHz."""
    logs = [SwingLog.of_run(run, noise=1e-3, dt=1e-4, seed=k) for k, run in enumerate(runs)]
    found = identify_wrist(arm_of(throw), WRIST, *logs, mount=MOUNT)
    assert found.object_mass == pytest.approx(0.2, rel=0.03)
    assert abs(found.offset) < 1e-3


def test_limits_are_those_of_the_given_arm(throw):
    arm, target = arm_of(throw), TARGETS[throw.robot.name.removesuffix("_wrist")]
    lower, upper = arm.limits.lower.copy(), arm.limits.upper.copy()
    lower[0], upper[0] = throw.base.q_release[0] + 0.1, throw.base.q_release[0] + 0.3
    narrow = arm.replace(limits=replace(arm.limits, lower=lower, upper=upper))
    with pytest.raises(ThunderError, match="target must be within reach"):
        plan_target_throw(narrow, WRIST, target, [throw.base], cells=20)


def test_wrong_logs_are_refused(runs, swings):
    log = swings[0]
    nothing = np.where(log.t == log.t[7], np.nan, log.theta)
    assert_refused(
        ({"t": log.t**2}, "t must be..."),
        ({"t": log.t[::-1]}, "t must be at least 0.5 s..."),
        ({"t": 0.1 * log.t}, "t must be at least 0.5 s..."),
        ({"t": 20.0 * log.t}, "t must be at least 0.5 s in steps of at most 0.01 s"),
        ({"theta": nothing}, "theta must be finite..."),
        ({"q": log.q[1:]}, "q must have shape..."),
        call=lambda **changes: replace(log, **changes),
    )
    assert_refused((lambda: SwingLog.of_run(runs[0], dt=0.0), "dt must be positive..."))
