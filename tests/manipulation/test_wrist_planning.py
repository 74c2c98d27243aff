from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import thunder_py as th
from tests.refusals import assert_refused
from thunder_py.errors import ThunderError
from thunder_py.manipulation.wrist import (
    ArmThrow,
    BaseLimits,
    ElasticWrist,
    free_switching,
    optimize_base_and_motor,
    optimize_base_motion,
    plan_motor,
    with_rigid_hand,
)
from thunder_py.manipulation.wrist.arm_throw import wrist_at_release
from thunder_py.manipulation.wrist.joint_plan import _program, base_alone

WRIST = ElasticWrist(I=0.012, k=5.0, m=0.7, r_c=0.09, c=0.03)
MOUNT = np.eye(4)
MOUNT[:3, :3] = [[0, 0, 1], [0, -1, 0], [1, 0, 0]]
ACCELERATION = [15.0, 7.5, 10.0, 12.5, 15.0, 20.0, 20.0]
Q_START = [0.0, -0.3, 0.0, -2.0, 0.0, 1.8, 0.8]


def still(wrist):
    return lambda t, q, dq, theta: wrist.acceleration(q, dq, theta)


def linear(wrist):
    return lambda t, q, dq, theta: wrist.linear_acceleration(q, dq, theta)


@pytest.mark.parametrize("alpha", [0.0, 0.8, -0.8])
@pytest.mark.parametrize("T", [0.15, 0.35])
def test_plans_of_linear_wrists_are_optimal(alpha, T):
    """The grid costs little, and the second linear program finds nothing better."""
    wrist = replace(WRIST, alpha=alpha)
    found, best = plan_motor(linear(wrist), T, wrist.theta_max, cells=100), free_switching(wrist, T)
    assert abs(found.miss) < 1e-12
    assert 0.0 < best.speed - found.speed < 4e-3 * best.speed
    assert found.iterations <= 3
    for t in best.switches:
        assert np.abs(found.motor.breaks - t).min() <= T / 100


def test_plans_know_that_79_is_not_linear():
    """Linear switches miss q = 0; the plan does not, under an integrator of another kind."""
    found = plan_motor(still(WRIST), 0.15, WRIST.theta_max, cells=150)
    x = np.zeros(2)
    for begin, end in zip(found.motor.breaks, found.motor.breaks[1:], strict=False):
        theta = float(found.motor(begin))
        rate = lambda t, y, theta=theta: [y[1], WRIST.acceleration(y[0], y[1], theta)]  # noqa: E731
        x = solve_ivp(rate, (begin, end), x, rtol=1e-10, atol=1e-12).y[:, -1]
    np.testing.assert_allclose(x, [0.0, found.speed], atol=1e-7)
    # no neighbor of its two switches that ends at q = 0 as well is faster by more than the grid
    assert found.speed > free_switching(WRIST, 0.15).speed


def test_plans_with_a_slow_motor():
    fast = plan_motor(still(WRIST), 0.2, WRIST.theta_max, cells=60).speed
    speeds = []
    for rate in (200.0, 30.0, 10.0):
        found = plan_motor(still(WRIST), 0.2, WRIST.theta_max, cells=60, rate=rate, theta0=WRIST.theta_g)
        assert np.abs(found.motor.slope).max() <= rate * (1.0 + 1e-9)
        assert np.abs(found.motor(found.t)).max() <= WRIST.theta_max * (1.0 + 1e-9)
        assert found.motor(0.0) == pytest.approx(WRIST.theta_g)
        assert abs(found.miss) < 1e-7
        speeds.append(found.speed)
    assert np.all(np.diff([fast, *speeds]) < 0.0)
    with pytest.raises(ThunderError, match=r"returns the wrist to q = 0 at T = 0\.2 s"):
        plan_motor(still(replace(WRIST, m=4.0, I=0.05)), 0.2, WRIST.theta_max, rate=0.01, theta0=0.0)


def test_bad_plans():
    def refused(**changes):
        arguments = {"T": 0.15, "theta_max": 0.6} | changes
        plan_motor(still(WRIST), arguments.pop("T"), arguments.pop("theta_max"), **arguments)

    assert_refused(
        ({"T": 0.0}, "...T must be positive, got 0..."),
        ({"theta_max": np.nan}, "...theta_max must be positive, got nan..."),
        ({"rate": -1.0}, "...rate must be positive, got -1..."),
        ({"rate": np.nan}, "...rate must be positive, got nan..."),
        ({"cells": 1}, "...cells must be a whole number of at least 2, got 1..."),
        ({"theta0": 1.0, "rate": 9.0}, "...theta0 must be within plus and minus theta_max = 0.6, got 1..."),
        ({"start": [0.0, np.inf]}, "...start must be finite..."),
        ({"rate": "fast"}, "...rate must be positive, got 'fast'..."),
        ({"begin": np.nan}, "...begin must be a finite number, got nan..."),
        ({"theta0": "0"}, "...theta0 must be within..."),
        ({"tolerance": np.nan}, "...tolerance must be positive..."),
        ({"T": 1e4}, "...cells must be short enough for RK4..."),
        call=refused,
    )


@pytest.mark.parametrize("is_linear", [True, False])
def test_gradient_of_the_rollout(is_linear):
    rollout = _program(replace(WRIST, alpha=0.4), 0.02, 4, BaseLimits(), 0.15, is_linear).rollout
    u, h = np.random.default_rng(0).normal(size=(4, 3)), 1e-6
    units = np.eye(u.size).reshape(-1, *u.shape)
    columns = [(rollout(u + h * e)[-1] - rollout(u - h * e)[-1]) / (2.0 * h) for e in units]
    np.testing.assert_allclose(rollout.gradient(u, rollout(u)), np.stack(columns, axis=1), atol=1e-6)


def test_base_alone():
    """Backwards first where the stroke is short, and no faster than the limit of speed."""
    assert base_alone(BaseLimits(), 0.22) == pytest.approx(1.5, rel=1e-9)
    assert base_alone(BaseLimits(speed=9.0, stroke=9.0), 0.22) == pytest.approx(2.2, rel=1e-9)
    short = BaseLimits(speed=9.0, stroke=0.02)
    assert short.constant(0.22) * 0.22 < base_alone(short, 0.22) < 10.0 * 0.22


@pytest.mark.parametrize("alpha", [0.0, 0.6])
def test_throw_together(alpha):
    """Within its limits, a solution of (79) to the order of the method, and better than one after the other."""
    wrist, base, T = replace(WRIST, alpha=alpha), BaseLimits(), 0.22
    found = optimize_base_and_motor(wrist, T, base=base, cells=40, starts=1)
    assert found.defect < 3e-5
    most = [wrist.theta_max, base.acceleration, base.acceleration]
    assert np.all(np.abs(found.controls) <= np.array(most) * (1.0 + 1e-9))
    assert np.abs(found.states[:, [2, 4]]).max() <= base.stroke + 1e-9
    assert np.abs(found.states[:, [3, 5]]).max() <= base.speed + 1e-9
    assert np.abs(found.states[-1, [0, 3]]).max() < 1e-6
    even = base.constant(T)
    after = plan_motor(lambda t, q, dq, theta: wrist.acceleration(q, dq, theta, 0.0, even), T, wrist.theta_max)
    assert found.speed > 1.05 * (even * T + 0.15 * after.speed)
    # the defect is of the order of h^4
    assert optimize_base_and_motor(wrist, T, base=base, cells=80, starts=1).defect < 0.2 * found.defect


@pytest.mark.release
def test_throw_together_is_a_local_optimum_for_ipopt():
    """Another solver with another discretization (RK4, single shooting) starts there and finds nothing better."""
    ca = pytest.importorskip("casadi")
    w, T, n, base = WRIST, 0.22, 10, BaseLimits()
    found = optimize_base_and_motor(w, T, base=base, cells=n, starts=1)
    u, h = ca.MX.sym("u", 3, n), T / n
    q, z, first = ca.MX.zeros(2), ca.MX.zeros(4), w.m * w.r_c
    paths = []
    for k in range(n):
        theta, ddx, ddz = u[0, k], u[1, k], u[2, k]

        def rate(y, theta=theta, ddx=ddx, ddz=ddz):
            moment = first * (ddx * ca.sin(y[0]) - (ddz + w.g) * ca.cos(y[0]))
            return ca.vertcat(y[1], (-w.k * (y[0] - theta) - w.c * y[1] + moment) / w.I)

        for _ in range(3):
            s = h / 3.0
            k1 = rate(q)
            k2 = rate(q + s / 2 * k1)
            k3 = rate(q + s / 2 * k2)
            q = q + s / 6 * (k1 + 2 * k2 + 2 * k3 + rate(q + s * k3))
        step = ca.vertcat(h * z[1] + h**2 / 2 * ddx, h * ddx, h * z[3] + h**2 / 2 * ddz, h * ddz)
        z = z + step
        paths.append(z)
    limits = np.tile([base.stroke, base.speed, base.stroke, base.speed], n)
    limits[-3] = 0.0
    problem = {"x": ca.vec(u), "f": -(z[3] + 0.15 * q[1]), "g": ca.vertcat(q[0], *paths)}
    quiet = {"ipopt.print_level": 0, "print_time": False, "ipopt.tol": 1e-9}
    solver = ca.nlpsol("throw", "ipopt", problem, quiet)
    most = np.tile([w.theta_max, base.acceleration, base.acceleration], n)
    bounds = np.concatenate([[0.0], limits])
    start = 0.98 * found.controls.ravel()
    solved = solver(x0=start, lbx=-most, ubx=most, lbg=-bounds, ubg=bounds)
    assert solver.stats()["success"]
    assert found.speed == pytest.approx(-float(solved["f"]), rel=1e-3)


def test_throw_together_without_a_base_is_the_wrists_optimum():
    """A base that hardly moves leaves the linear optimum of section 4.3, to the accuracy of the grid."""
    small = BaseLimits(acceleration=1e-6, speed=1.0, stroke=1.0)
    found = optimize_base_and_motor(WRIST, 0.2, base=small, cells=100, linear=True, starts=1)
    best = 0.15 * free_switching(WRIST, 0.2).speed
    assert 0.0 < best - found.speed < 1e-3 * best


def test_bad_limits_and_throws_together():
    number = "must be positive"
    assert_refused(
        (lambda: BaseLimits().constant(np.nan), f"T {number}..."),
        *(
            (lambda n=name, v=value: BaseLimits(**{n: v}), f"base limits {name} {number}...")
            for name in ("acceleration", "speed", "stroke")
            for value in (0.0, -1.0, np.nan)
        ),
    )
    assert_refused(
        ({"T": 0.0}, "...T must be..."),
        ({"tip": -1.0}, "...tip must be..."),
        ({"cells": 1}, "...cells must be..."),
        ({"T": 50.0, "cells": 10}, "...cells must be..."),
        ({"seed": -1}, "...seed must be..."),
        ({"tolerance": 0.0}, "...tolerance must be..."),
        ({"base": 0.0}, "...base must be..."),
        call=lambda T=0.2, **changes: optimize_base_and_motor(WRIST, T, **changes),
    )


def test_results_draw_themselves():
    plan = plan_motor(still(WRIST), 0.15, WRIST.theta_max, cells=30)
    both = optimize_base_and_motor(WRIST, 0.15, cells=20, starts=1)
    for axes in (plan.plot(), both.plot()):
        assert all(ax.has_data() for ax in axes.values())
    plt.close("all")


@pytest.fixture(scope="module")
def panda():
    return th.Robot.load("panda")


@pytest.fixture(scope="module")
def rigid(panda):
    return with_rigid_hand(panda, WRIST, mount=MOUNT)


@pytest.fixture(scope="module")
def base(rigid):
    options = {"acceleration_limits": ACCELERATION, "q_start": Q_START, "floor": 0.25, "opening_delay": 0.05}
    return optimize_base_motion(rigid, [1.0, 0.0, 1.0], **options, T=0.3, starts=1, seed=12)


@pytest.fixture(scope="module")
def throw(panda, base):
    return ArmThrow(panda, WRIST, base, MOUNT, 0.15)


def test_base_motion_throws_along_its_direction(rigid, base):
    twist = rigid.jacobian(base.q_release) @ base.dq_release
    np.testing.assert_allclose(twist[:3], base.speed * np.array([1.0, 0.0, 1.0]) / np.sqrt(2.0), atol=1e-5)
    np.testing.assert_allclose(twist[3:], 0.0, atol=1e-5)
    palm = rigid.forward_kinematics(base.q_release)[:3, 2]
    np.testing.assert_allclose(palm, base.direction, atol=1e-5)
    assert base.speed > 1.5
    assert base.opening_time == pytest.approx(base.release_time - 0.05)


def test_base_motion_keeps_within_its_limits(rigid, base):
    shares = base.usage(ACCELERATION)
    assert all(share <= 0.951 for name, share in shares.items() if name != "effort")
    now = base.trajectory(base.run_up + np.linspace(1e-6, base.T + base.brake - 1e-6, 60))
    assert np.abs(rigid.inverse_dynamics(now.q, now.dq, now.ddq) / rigid.limits.effort).max() < 1.0
    # the best release stands at a limit
    assert max(np.abs(base.dq_release / rigid.limits.velocity).max(), shares["effort"]) > 0.949


def test_trajectory_of_the_base_is_continuous(base):
    trajectory = base.trajectory
    for t in trajectory.breaks[1:-1]:
        before, after = trajectory(t - 1e-9), trajectory(t + 1e-9)
        np.testing.assert_allclose(before.q, after.q, atol=1e-7)
        np.testing.assert_allclose(before.dq, after.dq, atol=1e-7)
    first, last = trajectory(0.0), trajectory(trajectory.end_time - 1e-12)
    np.testing.assert_allclose(first.q, Q_START, atol=1e-12)
    np.testing.assert_allclose(np.concatenate([first.dq, last.dq]), 0.0, atol=1e-9)
    release = trajectory(base.release_time)
    np.testing.assert_allclose(release.q, base.q_release, atol=1e-12)
    np.testing.assert_allclose(release.dq, base.dq_release, atol=1e-12)
    middle = trajectory(base.run_up + np.array([0.1, 0.2]))
    np.testing.assert_allclose(middle.ddq, np.tile(base.dq_release / base.T, (2, 1)), atol=1e-12)


def test_speed_gained_by_the_wrist(throw):
    """With eight joints the arm gains what the linear model promises, to a few per cent, and the tip flies straight."""
    fixed, planned = throw.rigid(), throw.release(throw.run(throw.plan(cells=100).motor))
    assert fixed.speed == pytest.approx(throw.base.speed, rel=1e-3)
    gain = planned.speed - fixed.speed
    still_wrist = wrist_at_release(WRIST, throw.base.robot, throw.base.q_release)
    best = 0.15 * free_switching(still_wrist, throw.base.T).speed
    assert abs(gain / best - 1.0) < 0.05
    assert gain == pytest.approx(0.15 * planned.dq, abs=0.05)
    assert abs(planned.q) < 0.02
    assert planned.across < 0.15
    assert planned.arm_error < 5e-3
    # the linear control does not know of the arm's motion
    unaware = throw.release(throw.run(throw.of_throw(free_switching(still_wrist, throw.base.T))))
    assert abs(unaware.q) > 5.0 * abs(planned.q)
    assert unaware.across > 0.2


def test_plan_on_the_arm_is_what_the_simulation_does(throw):
    """Model and simulation differ by the sampling of the arm's torques: a shorter period brings them together."""
    plan = throw.plan(cells=100)
    misses = []
    for dt in (1e-3, 2.5e-4):
        finer = ArmThrow(th.Robot.load("panda"), WRIST, throw.base, MOUNT, 0.15, dt=dt)
        misses.append(abs(finer.release(finer.run(plan.motor)).dq - plan.speed))
    assert misses[1] < 0.5 * misses[0]
    assert misses[1] < 0.5


def test_whole_motion_holds_the_wrist_until_the_throw(throw):
    plan = throw.plan(cells=100)
    run = throw.whole(plan.motor)
    assert np.abs(run.q[run.t < throw.begin, -1]).max() < 1e-2
    assert throw.release(run).speed > throw.base.speed + 0.1 * plan.speed
    assert run.t[-1] == pytest.approx(throw.trajectory.end_time)


def test_clipped_torques_stay_within_limits(throw):
    plan = throw.plan(cells=100)
    limits = throw.robot.limits.effort[:-1]
    free = throw.run(plan.motor)
    with pytest.warns(th.errors.LimitWarning, match="velocity limit of 'joint5'"):  # it lags behind, and overshoots
        clipped = throw.run(plan.motor, limited=True)
    assert np.abs(free.tau[:, :-1] / limits).max() > 1.0
    assert np.abs(clipped.tau[:, :-1] / limits).max() <= 1.0
    assert throw.release(clipped).speed < throw.release(free).speed


@pytest.mark.release
def test_plan_within_torques(throw):
    """The largest range of the motor that the arm's torques allow: a slightly larger one takes more."""
    plan = throw.plan_within_torques(cells=60, tolerance=0.02)
    within = throw.release(throw.run(plan.motor))
    assert within.effort <= 1.0
    assert throw.rigid().speed + 1.0 < within.speed < throw.base.speed + 0.15 * throw.plan(cells=60).speed
    larger = throw.plan(cells=60, theta_max=float(np.abs(plan.motor.start).max()) + 0.02)
    assert throw.release(throw.run(larger.motor)).effort > 1.0


def test_bisection_needs_a_tolerance(throw):
    for tolerance in (0.0, -1.0, np.nan):
        with pytest.raises(ThunderError, match="tolerance must be positive"):
            throw.plan_within_torques(tolerance=tolerance)


def test_torque_left_for_the_spring(rigid):
    options = {
        "acceleration_limits": ACCELERATION,
        "q_start": Q_START,
        "T": 0.3,
        "floor": 0.25,
        "starts": 1,
        "seed": 12,
    }
    found = optimize_base_motion(rigid, [1.0, 0.0, 1.0], torque_margin=0.6, **options)
    now = found.trajectory(found.run_up + np.linspace(1e-6, found.T + found.brake - 1e-6, 60))
    share = np.abs(rigid.inverse_dynamics(now.q, now.dq, now.ddq) / rigid.limits.effort).max()
    assert 0.5 < share < 0.63


def test_bad_base_motions(rigid):
    def refused(**changes):
        options = {"acceleration_limits": ACCELERATION, "q_start": Q_START, "T": 0.3, "direction": [1.0, 0.0, 1.0]}
        options |= changes
        optimize_base_motion(rigid, options.pop("direction"), **options)

    assert_refused(
        ({"torque_margin": 1.2}, "...torque_margin must be at most 1, got 1.2..."),
        ({"direction": [0.0, 0.0, 0.0]}, "...direction must not be zero..."),
        ({"direction": [0.0, np.nan, 1.0]}, "...direction must be finite..."),
        ({"T": 0.0}, "...T must be positive..."),
        ({"margin": 1.5}, "...margin must be at most 1, got 1.5..."),
        ({"acceleration_limits": [0.0] * 7}, "...acceleration_limits must be positive..."),
        ({"q_start": [0.0] * 6}, "...q_start must have shape (7,), got (6,)..."),
        ({"opening_delay": 0.4}, "...opening_delay must be at most T = 0.3 s..."),
        ({"opening_delay": -0.1}, "...opening_delay must not be negative..."),
        ({"starts": 0}, "...starts must be a whole number of at least 1..."),
        ({"seed": -1}, "...seed must be a whole number of at least 0..."),
        call=refused,
    )


def test_arms_without_limits_are_refused():
    with pytest.raises(ThunderError, match=r"limits\.lower must be finite, got"):
        optimize_base_motion(
            with_rigid_hand(th.Robot.load("elbow"), WRIST), [1, 0, 0], acceleration_limits=[9, 9], q_start=[0, 0]
        )


@pytest.mark.release
def test_a_base_without_a_release_says_so(rigid):
    options = {"acceleration_limits": ACCELERATION, "q_start": Q_START, "T": 0.3, "floor": 5.0, "starts": 1, "seed": 13}
    with pytest.raises(ThunderError, match="no release of panda_hand was found"):
        optimize_base_motion(rigid, [1.0, 0.0, 1.0], **options)
