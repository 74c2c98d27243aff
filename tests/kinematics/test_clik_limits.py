import numpy as np
import pytest
from scipy.optimize import linprog, lsq_linear, minimize

import thunder_py as th
from tests.kinematics.motions import PANDA_START, at_rest, pose, robot
from tests.refusals import assert_refused
from thunder_py.kinematics import CLIK, JointCentering, Posture

Status = th._core.Status
ROUNDING = 1e-12


def ranges(arm):
    lower, upper = arm.limits.lower, arm.limits.upper
    bounded = np.isfinite(upper - lower)
    return np.where(bounded, lower, -np.pi), np.where(bounded, upper, np.pi)


def task(arm, rng):
    """A start and a target within the limits, both with random postures."""
    low, high = ranges(arm)
    q0, goal = rng.uniform(low, high, (2, arm.n))
    return q0, th.reference.SetPose(arm.forward_kinematics(goal))


def excess(arm, q):
    return np.maximum(q - arm.limits.upper, arm.limits.lower - q).max()


LAWS = (
    {"Lambda": 5.0, "method": "damped", "damping": 0.05, "threshold": 0.1},
    {"Lambda": 5.0, "method": "transpose"},
    {"Lambda": 5.0, "null_space": np.full(7, 3.0), "largest_condition": 1e9},
    {"K_0": 25.0, "K_1": 10.0, "method": "damped", "damping": 0.05},
)


@pytest.mark.parametrize("integrator", ["euler", "rk4"])
@pytest.mark.parametrize("law", LAWS, ids=["damped", "transpose", "pseudoinverse", "order 2"])
def test_no_task_leaves_the_limits_of_positions_and_velocities(law, integrator):
    """Random tasks, most of which leave the limits without them, at random periods up to 20 ms."""
    arm, rng = robot("panda"), np.random.default_rng(1)
    left = saturated = 0
    for _ in range(5):
        q0, target = task(arm, rng)
        dt = rng.choice([2e-3, 5e-3, 2e-2])
        run = {"reference": target, "q0": q0, "duration": 1.5, "dt": dt, "integrator": integrator}
        result = CLIK(arm, orientation="quaternion", **law).follow(**run)
        assert excess(arm, result.q) <= ROUNDING
        assert (np.abs(result.dq) <= arm.limits.velocity + ROUNDING).all()
        free = CLIK(arm, orientation="quaternion", limits=False, **law).follow(**run)
        left += excess(arm, free.q) > 1e-3
        saturated += Status.saturated in result.status
        assert result.ok == (not result.status.any())
    assert left >= 2
    assert saturated >= left


@pytest.mark.parametrize("order", [1, 2])
def test_accelerations_are_kept_too(order):
    """Starts at rest and commands that reach position limits at speed: braking in time is possible, and it is done."""
    arm, rng = robot("panda"), np.random.default_rng(2)
    gains = {"Lambda": 8.0} if order == 1 else {"K_0": 60.0, "K_1": 16.0}
    stopped = 0
    for dt in (1e-3, 4e-3, 1e-2):
        q0, target = task(arm, rng)
        acceleration = rng.uniform(3.0, 12.0, 7)
        clik = CLIK(
            arm, orientation="quaternion", method="damped", damping=0.1, acceleration_limits=acceleration, **gains
        )
        result = clik.follow(target, q0, 2.0, dt)
        assert excess(arm, result.q) <= ROUNDING
        assert (np.abs(result.dq) <= arm.limits.velocity + ROUNDING).all()
        steps = np.diff(result.dq, axis=0, prepend=np.zeros((1, 7))) if order == 1 else np.diff(result.dq, axis=0)
        assert (np.abs(steps) <= dt * acceleration * (1 + 1e-9) + ROUNDING).all()
        room = np.minimum(arm.limits.upper - result.q, result.q - arm.limits.lower).min(axis=0)
        stopped += (room < 1e-6).any()
    assert stopped >= 1


def test_positions_are_kept_between_samples():
    """Of order 2 the velocity changes within a period; the largest position of the parabola counts."""
    arm, dt = robot("panda"), 2e-2
    q0, target = task(arm, np.random.default_rng(5))
    result = CLIK(arm, K_0=80.0, K_1=18.0, method="damped", damping=0.1, orientation="quaternion",
                  acceleration_limits=6.0).follow(target, q0, 2.0, dt)  # fmt: skip
    for s in np.linspace(0.0, dt, 9):
        assert excess(arm, result.q + s * result.dq + 0.5 * s**2 * result.ddq) <= ROUNDING


def test_braking_distance_is_used_up():
    """One prismatic joint at constant deceleration in periods: it stops exactly at its limit, as fast as possible."""
    cart = th.Robot.from_dh([[0.0, 0.0, 0.0, 0.0]], joint_types="P")
    A, dt = 2.0, 0.01
    clik = CLIK(cart, 1e3, rows=("z",), upper=[0.5], velocity_limits=1.0, acceleration_limits=A)
    with pytest.warns(RuntimeWarning, match=r"Lambda of CLIK is too high for steps of 0.01 s"):  # the target is beyond
        result = clik.follow(th.reference.SetPose(cart.forward_kinematics([2.0])), [0.0], 1.6, dt)
    dq = result.dq[:, 0]
    assert result.q[-1, 0] == pytest.approx(0.5, abs=1e-12)
    assert dq.max() == pytest.approx(1.0)
    # 0.5 s up to 1 m/s and 0.5 s down, within a period; 0.25 m each leave nothing of the half meter
    assert np.flatnonzero(dq > 1e-12)[-1] * dt == pytest.approx(1.0, abs=0.025)
    braking = np.diff(dq[dq.argmax() :])
    assert braking.min() >= -A * dt * (1 + 1e-9)
    assert (braking < -0.999 * A * dt).sum() >= 47


def test_velocities_at_which_a_joint_can_stop():
    """Against a simulation: the largest velocity that stops within a distance, in periods, by bisection."""
    cart = th.Robot.from_dh([[0.0, 0.0, 0.0, 0.0]], joint_types="P")
    rng = np.random.default_rng(3)
    for _ in range(20):
        A, dt, room = rng.uniform(0.5, 20.0), rng.uniform(1e-3, 0.05), 10.0 ** rng.uniform(-4, 0)
        clik = CLIK(cart, 1.0, rows=("z",), upper=[room], acceleration_limits=A, period=dt)
        far = th.reference.SetPose(cart.forward_kinematics([1e6]))(0.0)
        previous = 50.0 + A * dt  # no lower bound from the acceleration: position comes first
        found = clik.step(0.0, [0.0], far, [previous - A * dt])[0]

        def distance(v, A=A, dt=dt):
            total = 0.0
            while v > 0.0:
                total += v * dt
                v -= A * dt
            return total

        assert distance(found * (1 - 1e-9)) <= room * (1 + 1e-9)
        assert distance(found * (1 + 1e-6)) >= room


@pytest.mark.parametrize("order", [1, 2])
def test_nothing_changes_where_no_limit_binds(order):
    """To the last bit, with acceleration limits too."""
    arm, rng = robot("panda"), np.random.default_rng(4)
    gains = {"Lambda": 2.0} if order == 1 else {"K_0": 4.0, "K_1": 4.0}
    options = {"null_space": Posture(PANDA_START, 1.0), **gains}
    limited, free = CLIK(arm, acceleration_limits=1e3, **options), CLIK(arm, limits=False, **options)
    for _ in range(20):
        q, dq = PANDA_START + rng.uniform(-0.1, 0.1, 7), 0.1 * rng.normal(size=7)
        target = at_rest(pose(PANDA_START + rng.uniform(-0.1, 0.1, 7)))
        np.testing.assert_array_equal(limited.step(0.0, q, target, dq), free.step(0.0, q, target, dq))
        assert limited.status == Status.ok
    q0, target = PANDA_START, th.reference.SetPose(pose(PANDA_START + 0.1))
    for integrator in ("euler", "rk4"):
        runs = [c.follow(target, q0, 0.3, integrator=integrator) for c in (limited, free)]
        np.testing.assert_array_equal(runs[0].q, runs[1].q)


def nearest(A, b, low, high, x_0):
    """Lexicographic least squares by SciPy: the residual first, then the distance from x_0 among its minimizers."""
    first = lsq_linear(A, b, (low, high), method="bvls", tol=1e-15, max_iter=500).x
    reached = A @ first
    second = minimize(
        lambda x: 0.5 * (x - x_0) @ (x - x_0), first, jac=lambda x: x - x_0, bounds=[*zip(low, high, strict=True)],
        constraints={"type": "eq", "fun": lambda x: A @ x - reached, "jac": lambda x: A}, method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 200},
    )  # fmt: skip
    return reached, second.x


def states(count, spread=2.0):
    """States with velocity bounds that bind: the CLIK's output, the law's, J and the bounds."""
    arm, rng = robot("panda"), np.random.default_rng(6)
    low, high = ranges(arm)
    period = 0.05
    while count > 0:
        q = rng.uniform(low, high)
        if np.linalg.cond(arm.jacobian(q)) > 50.0:
            continue
        q = np.where(rng.random(7) < 0.3, np.where(rng.random(7) < 0.5, low, high), q)
        if np.linalg.cond(arm.jacobian(q)) > 50.0:
            continue
        target = at_rest(arm.forward_kinematics(q + rng.uniform(-0.3, 0.3, 7)))
        limits = {"velocity_limits": rng.uniform(0.3, spread, 7), "period": period}
        gains = {"Lambda": 5.0, "orientation": "rotation_vector", "null_space": rng.uniform(-1.0, 1.0, 7)}
        clik = CLIK(arm, **gains, **limits)
        x = clik.step(0.0, q, target)
        u = CLIK(arm, **gains, limits=False).step(0.0, q, target)
        V = limits["velocity_limits"]
        bounds = np.maximum(-V, (low - q) / period), np.minimum(V, (high - q) / period)
        if ((u >= bounds[0]) & (u <= bounds[1])).all():
            continue
        count -= 1
        yield clik, x, u, arm.jacobian(q), V, bounds


def test_optimal_in_the_task_then_in_the_joints():
    """The scale against a linear program, the velocities against least squares by SciPy."""
    scaled = blocked = in_null_space = 0
    for clik, x, u, J, V, (low, high) in states(40):
        v = J @ u
        program = linprog(np.r_[np.zeros(7), -1.0], A_eq=np.c_[J, -v], b_eq=np.zeros(6),
                          bounds=[*zip(-V, V, strict=True), (0.0, 1.0)])  # fmt: skip
        scale = program.x[-1]
        reached, expected = nearest(J, scale * v, low, high, u)
        assert np.linalg.norm(J @ x - scale * v) <= np.linalg.norm(reached - scale * v) + 1e-5
        np.testing.assert_allclose(J @ x, reached, atol=2e-4)
        np.testing.assert_allclose(x, expected, atol=1e-3)
        assert (x >= low - ROUNDING).all()
        assert (x <= high + ROUNDING).all()
        changed = np.linalg.norm(J @ x - v) > 1e-4 * np.linalg.norm(v)
        assert (clik.status == Status.saturated) == changed
        scaled += scale < 0.99
        blocked += np.linalg.norm(J @ x - scale * v) > 1e-3
        in_null_space += not changed
    assert min(scaled, blocked, in_null_space) >= 3


@pytest.mark.parametrize("order", [1, 2])
def test_singular_and_outside(order):
    """Braking keeps limits where the law has no solution; a joint outside moves back or stands."""
    arm = robot("panda")
    gains = {"Lambda": 5.0} if order == 1 else {"K_0": 25.0, "K_1": 10.0}
    clik = CLIK(arm, period=0.01, largest_condition=1.0, **gains)
    q, dq = PANDA_START.copy(), np.zeros(7)
    q[0], dq[0] = arm.limits.upper[0] - 1e-3, 0.5
    out = clik.step(0.0, q, at_rest(pose(PANDA_START)), dq)
    assert clik.status == Status.singular
    if order == 2:
        assert q[0] + 0.01 * dq[0] + 0.5e-4 * out[0] <= arm.limits.upper[0] + ROUNDING
        assert out[0] < -10.0 * dq[0] - 1.0
    q[0], dq[0] = arm.limits.upper[0] + 0.1, 0.0
    clik = CLIK(arm, period=0.01, **gains)
    for step in (-0.3, 0.3):
        goal = q.copy()
        goal[0] += step
        out = clik.step(0.0, q, at_rest(arm.forward_kinematics(goal)), dq)
        assert out[0] < -0.1 if step < 0 else out[0] <= ROUNDING


def test_where_limits_contradict_position_comes_first():
    cart = th.Robot.from_dh([[0.0, 0.0, 0.0, 0.0]], joint_types="P")
    far = th.reference.SetPose(cart.forward_kinematics([9.0]))(0.0)
    options = {"rows": ("z",), "upper": [1.0], "velocity_limits": 2.0, "acceleration_limits": 1.0, "period": 0.1}
    fast = CLIK(cart, 100.0, **options)
    assert fast.step(0.0, [0.9], far, [2.0])[0] <= 1.0 + ROUNDING  # (1 - 0.9) / 0.1, though 1.9 is all braking gives
    assert fast.step(0.0, [-9.0], far, [5.0])[0] == pytest.approx(2.0)  # 4.9
    assert fast.step(0.0, [-9.0], far, [1.0])[0] == pytest.approx(1.1)


def test_limits_of_the_robot_are_the_default():
    arm = robot("panda")
    near = PANDA_START.copy()
    near[3] = arm.limits.upper[3] - 1e-3
    target = at_rest(arm.forward_kinematics(near + 0.3 * (np.arange(7) == 3)))
    by_default = CLIK(arm, 5.0)
    out = by_default.step(0.0, near, target)
    assert by_default.status == Status.saturated
    assert out[3] <= 1e-3 / 0.01 + ROUNDING  # period 10 ms
    same = CLIK(arm, 5.0, limits=False, lower=arm.limits.lower, upper=arm.limits.upper,
                velocity_limits=arm.limits.velocity)  # fmt: skip
    np.testing.assert_array_equal(same.step(0.0, near, target), out)
    free = CLIK(arm, 5.0, limits=False)
    assert free.step(0.0, near, target)[3] > 0.5
    assert free.status == Status.ok


def test_acceleration_limits_need_the_last_output():
    clik = CLIK(robot("panda"), 5.0, acceleration_limits=10.0, null_space=JointCentering(1.0))
    with pytest.raises(ValueError, match=r"^dq must be an array for a CLIK with acceleration limits, got None$"):
        clik.step(0.0, PANDA_START, at_rest(pose(PANDA_START)))
    out = clik.step(0.0, PANDA_START, at_rest(pose(PANDA_START + 0.2)), np.zeros(7))
    assert np.abs(out).max() <= 0.1 * (1 + ROUNDING)


def test_refusals():
    assert_refused(
        ({"acceleration_limits": -1.0}, "acceleration_limits must be positive, got [..."),
        ({"acceleration_limits": [1.0]}, "acceleration_limits must be a number or 7 numbers, one per joint, got 1"),
        ({"lower": 3.0}, "lower must not exceed upper, got 3 and 2.8973 for joint 1"),
        ({"upper": np.nan}, "upper must..."),
        ({"period": 0.0}, "period must be positive, got 0"),
        call=lambda **arguments: CLIK(robot("panda"), 5.0, **arguments),
    )
