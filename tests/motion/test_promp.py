"""Probabilistic primitives against movement_primitives, and against Gaussian conditioning written out."""

import warnings

import numpy as np
import pytest

from tests.refusals import assert_refused
from thunder_py.errors import ThunderWarning
from thunder_py.motion.constraint import Constraint
from thunder_py.motion.primitives.bases import GaussianBasis
from thunder_py.motion.primitives.promp import ProMP
from thunder_py.recordings.synthetic import minimum_jerk_reaches
from thunder_py.recordings.trial import Trial

TAU = np.linspace(0.0, 1.0, 101)


@pytest.fixture
def oracle():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("movement_primitives.promp")


def theirs(oracle, ours):
    """The same weight distribution in movement_primitives."""
    n, d = ours.mean_weights_.shape
    promp = oracle.ProMP(n_dims=d, n_weights_per_dim=n)
    return promp.from_weight_distribution(ours.mean_weights_.T.ravel(), ours.covariance_)


@pytest.fixture(scope="module")
def learned():
    return ProMP(12).fit(minimum_jerk_reaches(40, 1))


def test_weights_equal_movement_primitives(oracle):
    trial = minimum_jerk_reaches(1, 3)[0]
    tau = (trial.t - trial.t[0]) / trial.duration
    for regularization in (1e-6, 1e-2):
        ours = ProMP(12, regularization=regularization).weights(tau, trial.x)
        expected = oracle.ProMP(3, 12).weights(tau.copy(), trial.x, lmbda=regularization)
        np.testing.assert_allclose(ours.T.ravel(), expected, rtol=0, atol=1e-8)


def test_distribution_equals_movement_primitives(oracle, learned):
    promp = theirs(oracle, learned)
    np.testing.assert_allclose(learned.mean(TAU), promp.mean_trajectory(TAU.copy()), rtol=0, atol=1e-13)
    np.testing.assert_allclose(learned.mean(TAU, 1), promp.mean_velocities(TAU.copy()), rtol=0, atol=1e-11)
    variance = np.diagonal(learned.covariance(TAU), axis1=1, axis2=2)
    np.testing.assert_allclose(variance, promp.var_trajectory(TAU.copy()), rtol=0, atol=1e-12)
    variance = np.diagonal(learned.covariance(TAU, 1), axis1=1, axis2=2)
    np.testing.assert_allclose(variance, promp.var_velocities(TAU.copy()), rtol=0, atol=1e-9)


@pytest.mark.parametrize("noise", [0.0, 0.01])
def test_conditioning_equals_movement_primitives(oracle, learned, noise):
    """All at once here, one after the other there."""
    points = {0.0: [0.3, 0.0, -0.1], 0.4: [0.35, 0.1, 0.0], 1.0: [0.5, 0.2, 0.1]}
    ours = learned.condition([Constraint(tau, "position", p, noise) for tau, p in points.items()])
    promp = theirs(oracle, learned)
    for tau, p in points.items():
        promp = promp.condition_position(np.array(p), noise**2 * np.eye(3), t=tau)
    np.testing.assert_allclose(ours.mean(TAU), promp.mean_trajectory(TAU.copy()), rtol=0, atol=2e-7)
    difference = ours.covariance_ - promp.weight_cov
    assert np.abs(difference).max() < 1e-7 * np.abs(learned.covariance_).max()


@pytest.mark.parametrize("derivative", [0, 1, 2])
def test_derivatives_of_the_basis_by_finite_differences(derivative):
    basis, h = GaussianBasis(9, 0.6), 1e-5
    difference = (basis.evaluate(TAU + h, derivative) - basis.evaluate(TAU - h, derivative)) / (2 * h)
    exact = basis.evaluate(TAU, derivative + 1)
    np.testing.assert_allclose(exact, difference, rtol=0, atol=1e-7 * np.abs(exact).max())
    np.testing.assert_allclose(basis.evaluate(TAU).sum(axis=1), 1.0, rtol=1e-14)
    np.testing.assert_allclose(exact.sum(axis=1), 0.0, atol=1e-9 * np.abs(exact).max())


@pytest.mark.filterwarnings("ignore:the motion has a:thunder_py.errors.ThunderWarning")
def test_plan_meets_states_of_all_orders(learned):
    rng = np.random.default_rng(0)
    for _ in range(20):
        states = rng.normal(size=(6, 3)) * np.repeat([0.3, 0.3, 1.0], 2)[:, None]
        T = rng.uniform(0.5, 3.0)
        names = ["start_velocity", "goal_velocity", "start_acceleration", "goal_acceleration"]
        motion = learned.plan(states[0], states[1], T, **dict(zip(names, states[2:], strict=True)))
        ends = [motion.position(t, order) for order in range(3) for t in (0.0, T)]
        np.testing.assert_allclose(ends, states, rtol=0, atol=1e-5)
        assert motion.duration == T


def test_open_degrees_of_freedom_and_order_of_constraints(learned):
    half = learned.condition([Constraint(0.5, "position", 0.4, dofs="x")])
    assert half.mean(0.5)[0] == pytest.approx(0.4, abs=1e-8)
    assert half.covariance(0.5)[1, 1] > 0.1 * learned.covariance(0.5)[1, 1]
    both = [Constraint(0.26, "position", [0.3, 0.0, 0.0]), Constraint(0.26, "velocity", [0.1, 0.2, 0.3])]
    together, swapped = learned.condition(both, 1.3), learned.condition(both[::-1], 1.3)
    np.testing.assert_allclose(together.mean(TAU), swapped.mean(TAU), rtol=0, atol=1e-7)
    np.testing.assert_allclose(together.rollout(1.3).position(0.26, 1), [0.1, 0.2, 0.3], rtol=0, atol=1e-6)


def gap():
    x = np.outer(np.linspace(0.0, 0.3, 20), np.ones(3))
    x[4] = np.nan
    return Trial(np.linspace(0.0, 1.0, 20), x, ("x", "y", "z"))


def test_bad_input():
    small, large, stiff = ProMP(5), ProMP(8), ProMP(8, variance_floor=0.0)
    for promp, n in ((small, 2), (large, 9), (stiff, 1)):
        promp.fit(minimum_jerk_reaches(n))
    one = minimum_jerk_reaches(1)
    both = [Constraint(0.0, "position", [k, 0, 0]) for k in (0, 1)]
    assert_refused(
        (lambda: ProMP(1).fit(one), "...n_basis must be a whole number of at least 2, got 1..."),
        (lambda: ProMP(5, overlap=1.0).fit(one), "...overlap must be a number in (0, 1)..."),
        (lambda: ProMP(5, regularization=-1.0).fit(one), "...regularization must not be negative..."),
        (lambda: ProMP(5).rollout(), "...ProMP must be fitted before ...: call fit first..."),
        (lambda: ProMP(5).fit(gap()), "...must have no gaps..."),
        (lambda: ProMP(5).fit(np.zeros((3, 4))), "...motions as an array must have shape..."),
        (lambda: small.condition([]), "...sequence of Constraint, one at least..."),
        (lambda: small.condition([Constraint(1.5)]), "t of a constraint must lie within the motion..."),
        (lambda: small.condition([Constraint(0.5, "position", [0, 0])]), "value must have shape (3,)..."),
        (lambda: large.condition(both), "...constraints without noise must be possible..."),
        (lambda: stiff.plan([1, 1, 1], [0, 0, 0], 1.0), "...do not vary..."),
    )


def test_moments_are_those_of_the_demonstrations(learned):
    motions = minimum_jerk_reaches(40, 1)
    x = motions.to_array(len(TAU))
    np.testing.assert_allclose(learned.mean(TAU), x.mean(axis=0), rtol=0, atol=1e-3)
    covariance = np.stack([np.cov(x[:, k].T) for k in range(len(TAU))])
    np.testing.assert_allclose(learned.covariance(TAU), covariance, rtol=0, atol=2e-3 * np.abs(covariance).max())
    assert learned.duration_ == pytest.approx(motions.durations.mean())
    assert learned.dofs == ("x", "y", "z")
    array = ProMP(12).fit(x)
    np.testing.assert_allclose(array.mean(TAU), learned.mean(TAU), rtol=0, atol=1e-3)


def test_noise_between_prior_and_observation(learned):
    prior, point = learned.mean(0.5), learned.mean(0.5) + 0.1
    deviations = [
        np.abs(learned.condition([Constraint(0.5, "position", point, s)]).mean(0.5) - point).max()
        for s in (1e-4, 0.05, 1.0)
    ]
    assert deviations[0] < 1e-3 < deviations[1] < deviations[2] < np.abs(prior - point).max()


def test_samples_are_seeded_and_follow_the_distribution(learned):
    samples = learned.sample(2000, 5, 1.0)
    x = np.stack([m.position(0.3) for m in samples])
    np.testing.assert_allclose(x.mean(axis=0), learned.mean(0.3), rtol=0, atol=0.02)
    np.testing.assert_allclose(np.cov(x.T), learned.covariance(0.3), rtol=0, atol=0.15 * learned.covariance(0.3).max())
    assert samples[0] == learned.sample(1, 5, 1.0)[0]
    assert samples[0] != learned.sample(1, 6, 1.0)[0]


@pytest.mark.parametrize(
    ("goal", "speed", "texts"),
    [
        ([0.5, 0.2, 0.1], 0.0, []),
        ([0.5, 0.2, 0.1], 3.0, ["that of the demonstration and of minimum jerk"]),
        ([500.0, 200.0, 100.0], 0.0, ["that of the demonstrations (limit 10): check the units of start and goal"]),
    ],
)
def test_plans_far_from_the_demonstrations_warn(learned, goal, speed, texts):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        learned.plan([0.2, 0.1, 0.0], goal, 1.0, start_velocity=[0.0, speed, 0.0])
    assert len(caught) == len(texts)
    assert all(text in str(each.message) for text, each in zip(texts, caught, strict=True))


def test_functions_that_miss_a_session():
    t = np.linspace(0.0, 20.0, 2001)
    motions = np.stack([0.1 * np.sin(np.outer(t + shift, [4.0, 6.0, 8.0])) for shift in (0.0, 0.1)])
    with pytest.warns(ThunderWarning, match=r"miss \d+% .*coordinate 0, .* 15 functions; .*split_reaches"):
        ProMP().fit(motions)
    ProMP(120).fit(motions)
