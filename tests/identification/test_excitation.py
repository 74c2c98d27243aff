"""Persistent excitation, and motions that have it."""

import numpy as np
import pytest
from scipy.integrate import trapezoid

import thunder_py as th
from tests.control.arms import elbow, panda
from tests.dynamics.numerics import assert_close
from tests.refusals import assert_refused
from thunder_py.identification import (
    base_regressor_condition,
    optimize_excitation,
    persistent_excitation,
)
from thunder_py.identification.excitation import FourierBasis, criterion_by_states, soft_maximum, torques_by_states
from thunder_py.reference import SetPoint
from thunder_py.trajectory import MotionLimits

T = np.linspace(0.0, 10.0, 1001)


def random_motion(robot, seed, limits):
    """A random Fourier series, as large as the limits of position allow."""
    rng = np.random.default_rng(seed)
    basis = FourierBasis(10.0, 4, 400)
    c = rng.normal(size=(basis.S.shape[2], robot.n))
    q = basis.S[0] @ c
    c *= limits.half_range / np.abs(q).max(axis=0)
    return basis.series(limits.center, c)(T)


@pytest.fixture(scope="module")
def elbow_excitation():
    return optimize_excitation(elbow(), 10.0, 4, criterion="condition", restarts=2, seed=1)


@pytest.fixture(scope="module")
def panda_excitation():
    limits = MotionLimits.of(th.Robot.load("panda"), acceleration=8.0, torque=True, fraction=0.9)
    return optimize_excitation(th.Robot.load("panda"), 8.0, 3, limits=limits, restarts=1, iterations=15)


@pytest.mark.parametrize("robot", [elbow(), panda()], ids=["elbow", "panda"])
def test_a_motion_at_rest_excites_nothing_and_a_rich_one_all(robot):
    """T-9: for all t >= 0; a robot at rest has l1 = 0 however long one waits."""
    q = np.tile(np.linspace(0.2, 0.8, robot.n), (T.size, 1))
    still = persistent_excitation(robot, q, 0 * q, 0 * q, T, 3.0)
    assert still.l1 <= 1e-12 * still.l2
    assert still.l2 > 1.0
    moving = persistent_excitation(robot, *random_motion(robot, 0, MotionLimits.of(robot)), T, 5.0)
    assert moving.l1 > 1e-7 * moving.l2
    assert moving.t[0] == 0.0
    assert moving.t[-1] == pytest.approx(5.0, abs=0.011)
    assert (moving.lower <= moving.upper).all()


def test_the_integral_is_that_of_the_definition():
    robot = elbow()
    motion = random_motion(robot, 1, MotionLimits.of(robot))
    found = persistent_excitation(robot, *motion, T, 2.0, windows=5)
    Y = robot.regressor(*motion)[..., robot.base_parameters().independent]
    products = np.einsum("kia,kib->kab", Y, Y)
    for start, lower, upper in zip(found.t, found.lower, found.upper, strict=True):
        first = round(start / 0.01)
        values = np.linalg.eigvalsh(trapezoid(products[first : first + 201], dx=0.01, axis=0))
        np.testing.assert_allclose([lower, upper], values[[0, -1]], rtol=1e-9)


def test_a_motion_that_stops_is_no_longer_persistent():
    robot = elbow()
    motion = [x.copy() for x in random_motion(robot, 2, MotionLimits.of(robot))]
    motion[0][600:] = motion[0][600]
    motion[1][600:] = motion[2][600:] = 0.0
    found = persistent_excitation(robot, *motion, T, 2.0)
    assert found.lower[0] > 1e-3
    assert found.l1 <= 1e-10 * found.l2


def test_condition_numbers():
    robot = panda()
    motion = random_motion(robot, 4, MotionLimits.of(robot))
    W = robot.regressor(*motion)[..., robot.base_parameters().independent].reshape(-1, 43)
    found = base_regressor_condition(robot, *motion)
    assert found.unscaled == pytest.approx(np.linalg.cond(W), rel=1e-9)
    assert found.scaled == pytest.approx(np.linalg.cond(W / np.linalg.norm(W, axis=0)), rel=1e-9)
    rest = np.zeros((50, 7))
    assert base_regressor_condition(robot, rest, rest, rest) == (np.inf, np.inf)


@pytest.mark.parametrize("criterion", ["condition", "d_optimal"])
def test_gradients_of_the_criteria(criterion):
    robot = panda()
    rng = np.random.default_rng(5)
    states = list(rng.normal(size=(3, 20, 7)))
    columns = robot.base_parameters().independent
    _, gradients = criterion_by_states(robot, columns, criterion, states)
    direction = rng.normal(size=(3, 20, 7))
    ahead, back = (
        criterion_by_states(robot, columns, criterion, [x + s * d for x, d in zip(states, direction, strict=True)])[0]
        for s in (1e-5, -1e-5)
    )
    assert (ahead - back) / 2e-5 == pytest.approx(np.sum(np.array(gradients) * direction), rel=1e-5)


def test_gradients_of_the_constraints():
    rng = np.random.default_rng(6)
    x, d = rng.normal(size=(2, 30, 3))
    value, gradient = soft_maximum(x)
    assert (value >= np.abs(x).max(axis=0)).all()
    assert (value <= 30 ** (1 / 32) * np.abs(x).max(axis=0)).all()
    slope = (soft_maximum(x + 1e-6 * d)[0] - soft_maximum(x - 1e-6 * d)[0]) / 2e-6
    np.testing.assert_allclose(np.sum(gradient * d, axis=0), slope, rtol=1e-6)
    states = list(rng.normal(size=(3, 4, 2)))
    tau, by_states = torques_by_states(elbow(), states)
    assert_close(tau, elbow().inverse_dynamics(*states))
    np.testing.assert_allclose(by_states[2], elbow().mass_matrix(states[0]), atol=1e-8)
    np.testing.assert_allclose(by_states[1], 2 * elbow().coriolis_matrix(*states[:2]), atol=1e-8)


def test_the_series_starts_at_rest_and_is_the_reference():
    basis = FourierBasis(4.0, 3, 64)
    c = np.random.default_rng(7).normal(size=(basis.S.shape[2], 2))
    q0 = np.array([0.3, -0.2])
    q, dq, ddq = basis.states(q0, c)
    series = basis.series(q0, c)
    for mine, theirs in zip((q, dq, ddq), series(np.arange(64) / 16.0), strict=True):
        np.testing.assert_allclose(mine, theirs, atol=1e-12)
    np.testing.assert_allclose([dq[0], ddq[0]], 0.0, atol=1e-12)
    assert series.duration == 4.0


@pytest.mark.parametrize("which", ["elbow_excitation", pytest.param("panda_excitation", marks=pytest.mark.release)])
def test_the_optimum_beats_random_motions_within_limits(which, request):
    found = request.getfixturevalue(which)
    robot, limits = found.robot, found.limits
    others = [base_regressor_condition(robot, *random_motion(robot, k, limits)).unscaled for k in range(5)]
    t = np.linspace(0.0, found.duration, 4001)
    q, dq, ddq = found.reference(t)
    condition = base_regressor_condition(robot, q, dq, ddq)
    assert condition.unscaled == pytest.approx(found.condition.unscaled, rel=0.01)
    assert condition.unscaled < 0.6 * min(others)
    assert 0.0 <= found.margin < 0.1
    assert (q >= limits.lower).all()
    assert (q <= limits.upper).all()
    assert (np.abs(dq) <= limits.velocity).all()
    assert (np.abs(ddq) <= limits.acceleration).all()
    assert (np.abs(robot.inverse_dynamics(q, dq, ddq)) <= limits.effort).all()
    np.testing.assert_allclose([dq[0], ddq[0], dq[-1], ddq[-1]], 0.0, atol=1e-9)
    excited = persistent_excitation(robot, q, dq, ddq, t, found.duration)
    assert excited.l1 > 1e-3 * excited.l2
    assert found.history[0][-1] < found.history[0][0]


def test_bad_requests_are_refused():
    def given(**changes):
        return optimize_excitation(elbow(), **{"duration": 5.0, "harmonics": 3, **changes})

    assert_refused(
        (lambda: given(duration=0.0), "duration must be positive, got 0"),
        (lambda: given(harmonics=1), "harmonics must be a whole number from 2 to 50, got 1"),
        (lambda: given(criterion="a"), "criterion must be one of condition, d_optimal, got 'a'"),
        (lambda: given(restarts=0), "restarts must be a whole number of at least 1, got 0"),
        (lambda: given(limits=MotionLimits.of(panda())), "limits must be of 2 joints, got 7"),
        (lambda: given(unknown="link1.m"), "unknown must hold a parameter that torques depend on"),
    )


def test_bad_limits_and_windows_are_refused():
    assert_refused(
        (lambda: MotionLimits(lower=[-1, -1], upper=[1, 1], velocity=0.0), "limits: velocity must be positive, ..."),
        (lambda: MotionLimits(lower=[1, -1], upper=[1, 1], velocity=1.0), "limits: lower must be below upper..."),
        (lambda: MotionLimits.of(elbow(), fraction=2.0), "fraction must be more than 0 and at most 1, got 2"),
    )
    q = np.zeros((T.size, 2))
    assert_refused(
        (lambda: persistent_excitation(elbow(), q, q, q, T, 11.0), "window must be more than 0 and at most the ..."),
        (lambda: persistent_excitation(elbow(), q, q, q, T, 1e-9), "window must be no shorter than a sample, ..."),
    )
    sample = (T[1] - T[0]) * (1.0 + 1e-12)
    assert persistent_excitation(elbow(), q, q, q, T, sample).l2 > 0.0
    assert_refused((lambda: persistent_excitation(elbow(), q, q, q, T[::-1], 1.0), "t must increase..."))


# --- Adaptive control learns the parameters with persistent excitation, and need not without ---
@pytest.fixture(scope="module")
def runs():
    nominal = elbow().replace(inertial=0.5 * elbow().inertial)
    exciting = optimize_excitation(elbow(), 4.0, 3, limits=MotionLimits.of(elbow(), fraction=0.5), restarts=1).reference
    references = exciting, SetPoint(exciting(0.0).q)
    laws = (th.SlotineLi(nominal, 5.0, 15.0, adaptation=1.0) for _ in references)
    return [th.simulate(elbow(), law, motion, 30.0) for law, motion in zip(laws, references, strict=True)], exciting


def test_tracking_needs_no_excitation_and_estimation_does(runs):
    for run in runs[0]:
        assert run.steady_state_error() < 1e-3 + 0.01 * run.error_norm().max()
    moving, still = (run.parameter_error()[[0, -1]] for run in runs[0])
    assert moving[1] < 0.02 * moving[0]
    assert still[1] > 0.3 * still[0]
    excited = persistent_excitation(elbow(), *runs[1](T), T, 4.0)
    assert excited.l1 > 1e-2 * excited.l2
    rest = np.zeros((T.size, 2))
    standing = persistent_excitation(elbow(), rest + runs[1](0.0).q, rest, rest, T, 4.0)
    assert standing.l1 <= 1e-12 * standing.l2


def test_columns_that_nothing_tells_apart_are_never_excited():
    robot = elbow()
    motion = random_motion(robot, 3, MotionLimits.of(robot))
    assert persistent_excitation(robot, *motion, T, 5.0, unknown=["link1.Izz", "link2.Izz"]).l1 > 0.1
    assert persistent_excitation(robot, *motion, T, 5.0, unknown="link1").l1 < 1e-9


@pytest.mark.release
def test_torque_limits_bind():
    """Without them the motion of a horizontal reach asks for more than they allow."""
    robot = elbow()
    free = MotionLimits.of(robot)
    t = np.linspace(0.0, 3.0, 500)
    loose = optimize_excitation(robot, 3.0, 3, limits=free, restarts=1)
    peak = np.abs(robot.inverse_dynamics(*loose.reference(t))).max(axis=0)
    tight = MotionLimits(lower=free.lower, upper=free.upper, velocity=np.inf, effort=0.7 * peak)
    bound = optimize_excitation(robot, 3.0, 3, limits=tight, restarts=1)
    assert (np.abs(robot.inverse_dynamics(*bound.reference(t))) <= 0.7 * peak).all()
    assert bound.margins["effort"].min() < 0.2


def test_d_optimality_gives_more_information():
    options = {"restarts": 1, "seed": 3, "limits": MotionLimits.of(elbow())}
    volume, shape = (
        optimize_excitation(elbow(), 5.0, 3, criterion=criterion, **options) for criterion in ("d_optimal", "condition")
    )

    def information(found):
        W = elbow().regressor(*found.reference(np.linspace(0, 5, 300)))[..., elbow().base_parameters().independent]
        return np.linalg.slogdet(W.reshape(-1, 6).T @ W.reshape(-1, 6))[1]

    assert information(volume) > information(shape) + 0.5
    assert shape.condition.unscaled < volume.condition.unscaled
