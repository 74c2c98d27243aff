"""Parameters from logged data: exact without noise, honest with it, physically consistent where asked."""

import dataclasses
from functools import cache, partial

import numpy as np
import pytest
from scipy.optimize import least_squares

import thunder_py as th
from tests.control.arms import elbow, panda
from tests.refusals import assert_refused
from thunder_py.errors import ThunderError, ThunderWarning
from thunder_py.identification import (
    Log,
    differentiate,
    divergence,
    identify,
    lowpass,
)
from thunder_py.identification.least_squares import ConsistentProblem, Data, fit
from thunder_py.model import inertia
from thunder_py.reference import SetPoint, Sinusoid

T = np.linspace(0.0, 10.0, 1001)
NOISE = {2: np.array([0.5, 2.0]), 7: np.array([3.0, 3, 3, 3, 0.5, 0.5, 0.5])}


def motion(n, seed=0, t=T):
    """Two tones in each joint."""
    rng = np.random.default_rng(seed)
    slow, fast = (
        Sinusoid(rng.uniform(0.3, 0.6, n), rng.uniform(*band, n), phase=rng.uniform(0, 6, n))(t)
        for band in ((0.1, 0.5), (0.6, 1.2))
    )
    return tuple(a + b for a, b in zip(slow, fast, strict=True))


@cache
def wrong(robot):
    """The robot with every body scaled by a random factor: wrong, and a body that can exist."""
    factors = np.exp(np.random.default_rng(1).normal(scale=0.4, size=(robot.n, 1)))
    return robot.replace(inertial=robot.inertial * factors)


def base_of(robot):
    return robot.base_parameters().mapping @ robot.parameters


def noisy(robot, seed=2, scale=1.0):
    tau = robot.inverse_dynamics(*motion(robot.n))
    return tau + scale * NOISE[robot.n] * np.random.default_rng(seed).normal(size=tau.shape)


def validation_error(found, robot):
    states = motion(robot.n, seed=8)
    return np.sqrt(np.mean((found.torque(*states) - robot.inverse_dynamics(*states)) ** 2))


def with_friction(robot):
    coefficients = np.tile([0.5, 0.3], (robot.n, 1)) * np.linspace(1.0, 0.5, robot.n)[:, None]
    friction = th.robot.Friction(terms=("viscous", "coulomb"), coefficients=coefficients)
    return robot.replace(friction=friction)


ARMS = pytest.mark.parametrize("robot", [elbow(), panda()], ids=["elbow", "panda"])


@ARMS
@pytest.mark.parametrize("consistent", [False, True], ids=["least squares", "consistent"])
def test_without_noise_the_base_parameters_come_back(robot, consistent):
    few = slice(0, None, robot.n - 1)
    states = [x[few] for x in motion(robot.n)]
    found = identify(wrong(robot), T[few], *states, robot.inverse_dynamics(*states), consistent=consistent)
    np.testing.assert_allclose(found.base_parameters, base_of(robot), atol=1e-8)
    assert found.rank == found.base.count == robot.base_parameters().count
    assert found.residual_rms.max() < 1e-8
    assert validation_error(found, robot) < 1e-8
    assert np.abs(found.parameters - robot.parameters).max() > 1e-3  # what torques do not tell stays at the prior


@ARMS
def test_noise_makes_plain_least_squares_inconsistent(robot):
    data = (T, *motion(robot.n), noisy(robot))
    plain, consistent = (identify(wrong(robot), *data, consistent=chosen) for chosen in (False, True))
    smallest = [np.linalg.eigvalsh(inertia.pseudo_inertia(x.robot.inertial))[:, 0] for x in (plain, consistent)]
    assert smallest[0].min() < 0.0
    assert not plain.physical.all()
    assert smallest[1].min() > 0.0
    assert consistent.physical.all()
    assert validation_error(consistent, robot) < 1.05 * validation_error(plain, robot)


@ARMS
def test_standard_deviations_are_those_of_the_errors(robot):
    """Also with a twentieth of the instants, where Student's distribution is much wider than the normal one."""
    errors, inside = [], []
    for few, runs in ((slice(0, None, 4), 40 if robot.n == 2 else 4), (slice(0, None, 20), 8)):
        for seed in range(runs):
            found = identify(robot, T[few], *(x[few] for x in motion(robot.n)), noisy(robot, seed)[few])
            errors.append((found.base_parameters - base_of(robot)) / found.standard_deviations)
            low, high = found.intervals().T
            inside.append((low < base_of(robot)) & (base_of(robot) < high))
    assert np.sqrt(np.mean(np.square(errors[:-8]))) == pytest.approx(1.0, abs=0.15)
    assert np.mean(inside[:-8]) == pytest.approx(0.95, abs=0.04)
    assert np.mean(inside[-8:]) == pytest.approx(0.95, abs=0.04)


def test_reweighting_finds_the_noise_of_each_joint_and_uses_it():
    robot = elbow()
    few = slice(0, None, 4)
    data = [(T[few], *(x[few] for x in motion(2)), noisy(robot, seed)[few]) for seed in range(20)]
    auto = [identify(robot, *each) for each in data]
    equal = [identify(robot, *each, weights=[1.0, 1.0]) for each in data]
    np.testing.assert_allclose(np.mean([each.noise for each in auto], axis=0), NOISE[2], rtol=0.03)
    spread = [
        np.mean([np.sum((each.base_parameters - base_of(robot)) ** 2) for each in runs]) for runs in (auto, equal)
    ]
    assert spread[0] < 0.8 * spread[1]


@pytest.mark.parametrize("consistent", [False, True])
def test_friction_is_identified_and_stays_positive(consistent):
    robot = with_friction(elbow())
    nominal = wrong(elbow()).replace(
        friction=dataclasses.replace(robot.description.friction, coefficients=np.full((2, 2), 0.05))
    )
    tau = robot.inverse_dynamics(*motion(2))
    found = identify(nominal, T, *motion(2), tau, consistent=consistent)
    np.testing.assert_allclose(found.parameters[20:], robot.parameters[20:], atol=1e-7)
    slippery = elbow().inverse_dynamics(*motion(2)) + 2.0 * np.random.default_rng(0).normal(size=tau.shape)
    found = identify(nominal, T, *motion(2), slippery, consistent=consistent)
    assert (found.parameters[20:] > 0.0).all() == consistent


@pytest.mark.parametrize("unknown", ["friction", ["link2.m", "link2.mcx"], ["link1", "joint2.viscous"]])
def test_parts_of_links_and_friction_alone(unknown):
    robot = with_friction(elbow())
    pi = robot.parameters.copy()
    pi[robot.unknown(unknown).mask] *= 1.3
    data = (T, *motion(2), robot.inverse_dynamics(*motion(2)))
    for consistent in (False, True):
        prior = robot.with_parameters(1.02 * pi)  # whose known parameters do not count
        found = identify(robot.with_parameters(pi), *data, unknown=unknown, prior=prior, consistent=consistent)
        assert found.residual_rms.max() < 1e-7
        known = ~found.unknown.mask
        np.testing.assert_array_equal(found.parameters[known], robot.parameters[known])


def test_what_the_motion_does_not_excite_stays_at_the_prior():
    """Only joint 2 moves: the inertia of link 1 makes no torque."""
    q, dq, ddq = (x.copy() for x in motion(2))
    q[:, 0] = 0.4
    dq[:, 0] = ddq[:, 0] = 0.0
    tau = elbow().inverse_dynamics(q, dq, ddq)
    found = identify(wrong(elbow()), T, q, dq, ddq, tau)
    assert found.rank < found.base.count
    assert found.condition == np.inf
    assert np.isinf(found.standard_deviations).any()
    assert found.residual_rms.max() < 1e-9
    k = found.base.names.index("link1.Izz")
    prior = base_of(wrong(elbow()))
    assert found.base_parameters[k] == pytest.approx(prior[k], abs=1e-5)
    assert abs(found.base_parameters[k] - base_of(elbow())[k]) > 0.01
    np.testing.assert_allclose(found.base_parameters[3:], base_of(elbow())[3:], atol=1e-8)


def test_a_joint_without_torque():
    """A joint that feels nothing says nothing; one that ought to feel something was not measured."""
    bodies = np.tile([2.0, 0.1, 0.05, 0.2, 0.02, 0, 0, 0.03, 0, 0.04], (2, 1))
    lift = th.Robot.from_dh([[0, 0, 0, 0.3], [0, 0, 0, 0]], joint_types="RP", inertial=bodies)
    q, dq, ddq = (x * [0.0, 1.0] for x in motion(2))  # straight up and down
    tau = lift.inverse_dynamics(q, dq, ddq)
    assert not tau[:, 0].any()
    found = identify(wrong(lift), T, q, dq, ddq, tau)
    assert found.residual_rms.max() < 1e-9 * np.abs(tau).max()
    tau = elbow().inverse_dynamics(*motion(2))
    tau[:, 1] = 0.0
    for weights in ("auto", [1.0, 1.0]):
        with pytest.raises(ValueError, match=r"^tau must not be zero throughout at joint2, where the prior's torque "):
            identify(elbow(), T, *motion(2), tau, weights=weights)
    tau[:, 1] = 1e-100  # no torque either, but for the letter
    assert np.isfinite(identify(elbow(), T, *motion(2), tau).parameters).all()


def small_problem(gamma=3.0):
    rows = elbow().regressor(*motion(2)).reshape(-1, 20), noisy(elbow()).ravel()
    return ConsistentProblem(elbow(), wrong(elbow()).parameters, np.ones(20, dtype=bool), *rows), gamma


def test_newton_finds_the_minimum_of_a_search():
    problem, gamma = small_problem()
    prior = inertia.pseudo_inertia(wrong(elbow()).inertial)

    def residuals(theta):
        P = reg_to_pseudo_inertia(theta)
        misfit = problem.R @ inertia.reg_from_pseudo_inertia(P).ravel() - problem.z
        return np.concatenate([misfit, np.sqrt(2.0 * gamma * np.maximum(divergence(P, prior), 0.0))])

    start = inertia.log_cholesky_from_reg(elbow().inertial).ravel()
    other = least_squares(residuals, start, max_nfev=150)
    pi = problem.solve(gamma)
    mine = problem.value(pi, gamma)
    assert 0.5 * np.sum(residuals(inertia.log_cholesky_from_reg(pi.reshape(2, 10)).ravel()) ** 2) == pytest.approx(mine)
    assert mine <= other.cost
    assert mine == pytest.approx(other.cost, rel=0.01)


def reg_to_pseudo_inertia(theta):
    return inertia.pseudo_inertia(inertia.reg_from_log_cholesky(theta.reshape(2, 10)))


def test_divergence():
    P, P0 = inertia.pseudo_inertia(panda().inertial), inertia.pseudo_inertia(wrong(panda()).inertial)
    assert (divergence(P, P0) > 0.0).all()
    np.testing.assert_allclose(divergence(P, P), 0.0, atol=1e-9)
    A = np.random.default_rng(0).normal(size=(4, 4))  # other units, another frame
    np.testing.assert_allclose(divergence(A @ P @ A.T, A @ P0 @ A.T), divergence(P, P0), rtol=1e-6)


def test_differentiation_without_delay():
    q, dq, ddq = motion(2)
    noise = 1e-5 * np.random.default_rng(0).normal(size=q.shape)
    found = differentiate(T, q + noise, cutoff=6.0)
    inner = slice(100, -100)
    for mine, exact, tolerance in zip(found, (q, dq, ddq), (1e-4, 2e-3, 0.04), strict=True):
        assert np.abs(mine - exact)[inner].max() < tolerance * np.abs(exact).max() + tolerance
        shifted = [np.sum((mine[100 + k : 900 + k] - exact[100:900]) ** 2) for k in (-1, 0, 1)]
        assert np.argmin(shifted) == 1
    raw = np.gradient(np.gradient(q + noise, T, axis=0), T, axis=0)
    assert np.std((raw - ddq)[inner]) > 3.0 * np.std((found.ddq - ddq)[inner])
    # ten samples a period, which central differences of second order make 6.4 and 3.2 % too small
    fast = th.reference.Sinusoid([1.0], [10.0])(T10 := np.arange(0.0, 2.0, 0.01))
    for mine, exact in zip(differentiate(T10, fast.q, cutoff=45.0), fast, strict=True):
        np.testing.assert_allclose(mine[50:-50], exact[50:-50], atol=1e-3 * np.abs(exact).max())


def test_bad_data_are_refused():
    q, dq, ddq = motion(2)
    data = {"q": q, "dq": dq, "ddq": ddq, "tau": np.ones((1001, 2))}
    elastic = th.robot.Elastic(joint=1, K=(500.0,), D=(1.0,), Mm=0.1)
    law, still = th.PDGravity(elbow(), 10.0, 5.0), SetPoint([0.0, 0.0])
    soft, run = (th.simulate(arm, law, still, 0.1) for arm in (elbow().replace(elastic=(elastic,)), elbow()))
    light, driving = elbow().parameters.copy(), with_friction(elbow()).parameters.copy()
    light[10], driving[-1] = -1.0, -0.1
    light, driving = elbow().with_parameters(light), with_friction(elbow()).with_parameters(driving)

    def given(robot=None, **changes):
        return identify(robot or elbow(), T, **{**data, **changes})

    assert_refused(
        (lambda: given(tau=None), "tau must be given unless t is a SimulationResult"),
        (lambda: given(ddq=None), "cutoff must be given without ddq..."),
        (lambda: given(dq=None), "dq must be given together with ddq"),
        (lambda: given(weights="x"), "weights must be 'auto' or one number for each joint, got 'x'"),
        (lambda: given(weights=[1.0, 0.0]), "weights must be positive, got [1.0, 0.0]"),
        (lambda: given(prior=panda()), "prior must have the parameters of..."),
        (lambda: given(unknown="link1.m"), "unknown must hold a parameter that torques depend on"),
        (lambda: given(consistent=True, regularization=0.0), "regularization must be positive, got 0"),
        (lambda: given(q=np.zeros((3, 2))), "q must have shape (1001, 2), got (3, 2)"),
        (lambda: given(tau=np.full((1001, 2), np.nan)), "tau must be finite..."),
        (lambda: given(light, consistent=True), "prior must have positive definite ... not the case for link2;..."),
        (lambda: given(driving, consistent=True), "prior must not be negative for unknown ... is for joint2..."),
        (lambda: identify(elbow(), soft, cutoff=20.0), "t must be a run without elastic joints..."),
        (lambda: identify(elbow(), run, run.q, cutoff=20.0), "q must be None where t is a SimulationResult"),
        *(
            (
                lambda options=options: identify(elbow(), run, cutoff=20.0, **options),
                "loaded must hold logs with the payload...",
            )
            for options in (
                {"payload": th.Payload(1.0)},
                {"payload_prior": th.Payload(1.0)},
                {"link": 2},
                {"consistent": "payload"},
            )
        ),
        (
            lambda: identify(elbow(), run, cutoff=1e-3),
            "cutoff must be at least ... Hz, one period in the log, got 0.001",
        ),
    )


def test_bad_filters_are_refused():
    q, half = (
        np.zeros((1001, 2)),
        "cutoff must be more than 0 and at most 0.49 of the sampling frequency, 49 Hz, got ...",
    )
    cases = [(cutoff, half) for cutoff in (0.0, 50.0, -1)]
    cases += [(np.nan, "cutoff must be finite, got nan"), ([30.0, 30.0], "cutoff must have shape (), got (2,)")]
    cases += [("a", "cutoff must be numbers of shape (), got 'a'"), (True, "cutoff must be a number, got True")]
    tau = np.ones((1001, 2))
    assert_refused(
        *((partial(differentiate, T, q, cutoff), message) for cutoff, message in cases),
        *((partial(identify, elbow(), T, q, tau=tau, cutoff=cutoff), message) for cutoff, message in cases),
    )


def test_noise_of_positions_does_not_lighten_the_links():
    """It enters the columns of Y by the accelerations: least squares finds smaller parameters."""
    robot, t = elbow(), np.arange(0.0, 5.0, 1e-3)
    q, dq, ddq = Sinusoid([0.8, 0.6], [0.5, 0.8])(t)
    tau, errors = robot.inverse_dynamics(q, dq, ddq), []
    for seed in range(4):
        noisy = q + 1e-3 * np.random.default_rng(seed).normal(size=q.shape)
        found = identify(robot, t, noisy, tau=tau, cutoff=15.0, unknown="link2")
        known = robot.parameters * ~found.unknown.mask
        Y = robot.regressor(*differentiate(t, noisy, 15.0))[200:-200]
        left = (lowpass(t, tau, 15.0)[200:-200] - Y @ known) / found.noise
        W = (Y[..., found.base.independent] / found.noise[:, None]).reshape(-1, found.base.count)
        plain = np.linalg.lstsq(W, left.ravel(), rcond=None)[0]
        errors.append([found.base_parameters, plain] - found.base.mapping @ robot.parameters)
    mine, plain = np.abs(np.mean(errors, axis=0)) / found.standard_deviations
    assert plain.max() > 1.5
    assert mine.max() < 0.5


def test_the_filter_does_not_bias_dry_friction():
    """The sign of the filtered velocity finds coefficients a tenth off, four standard deviations."""
    coefficients = np.array([[2.0, 5.0], [1.0, 3.0]])
    friction = th.robot.Friction(terms=("viscous", "coulomb"), coefficients=coefficients)
    robot, t = elbow().replace(friction=friction), np.arange(0.0, 10.0, 2e-3)
    states = Sinusoid([0.8, 0.6], [0.5, 0.8])(t)
    rng = np.random.default_rng(0)
    tau = robot.inverse_dynamics(*states) + 0.1 * rng.normal(size=(t.size, 2))
    found = identify(wrong(robot), t, states.q + 1e-5 * rng.normal(size=tau.shape), tau=tau, cutoff=10.0)
    errors = found.base_parameters - found.base.mapping @ robot.parameters
    assert np.sqrt(np.mean((errors / found.standard_deviations) ** 2)) < 1.3
    assert np.abs(errors[-4:]).max() < 0.02


def test_a_cutoff_filters_logs_that_have_accelerations():
    """Accelerations by differences of noisy positions, as files often have them; the log has held torques too."""
    robot, rng = elbow(), np.random.default_rng(3)
    t = np.arange(0.0, 4.0, 4e-3)
    motion = Sinusoid([0.8, 0.6], [0.5, 0.8])(t)
    q = motion.q + 1e-4 * rng.normal(size=motion.q.shape)
    dq = np.gradient(q, t, axis=0)
    log = Log(t=t, q=q, tau=robot.inverse_dynamics(*motion))
    full = Log(t=t, q=q, dq=dq, ddq=np.gradient(dq, t, axis=0), tau=log.tau, name="full")
    how = {"cutoff": 15.0, "hold": 4e-3}
    with pytest.warns(ThunderWarning, match=r"^full: velocities and accelerations of the log are not used") as caught:
        found = identify(robot, full, **how)
    assert len(caught) == 1
    np.testing.assert_array_equal(found.base_parameters, identify(robot, log, **how).base_parameters)
    with pytest.warns(ThunderWarning, match=r"^full: "):
        found = identify(robot, full, sensors="torque_bias", **how)
    np.testing.assert_array_equal(found.estimates, identify(robot, log, sensors="torque_bias", **how).estimates)
    with pytest.raises(ThunderError, match="hold must be 0 for measured accelerations: give cutoff, or leave ddq"):
        identify(robot, full, hold=4e-3)


def steady(rate, noise=0.5):
    """A log at this rate, whose disturbance does not depend on it unless there is noise."""
    t = np.arange(0.0, 4.0, 1.0 / rate)
    motion, other = Sinusoid([0.8, 0.6], [0.5, 0.8])(t), Sinusoid([0.3, 0.2], [3.1, 2.7])(t)
    tau = elbow().inverse_dynamics(*motion) + other.q + noise * np.random.default_rng(1).normal(size=motion.q.shape)
    return Log(t=t, q=motion.q, tau=tau)


@pytest.mark.parametrize(
    ("method", "options"),
    [(identify, {}), (identify, {"friction": "viscous"})],
)
def test_given_noise_is_that_of_the_readings(method, options):
    log = steady(250.0, 5.0)
    auto, given = (method(elbow(), log, cutoff=15.0, weights=w, **options) for w in ("auto", [0.2, 0.2]))
    auto, given = (np.diag(getattr(found, "identification", found).covariance) for found in (auto, given))
    np.testing.assert_allclose(given, auto, rtol=0.3)


@pytest.mark.parametrize("scale", [0.0, 1.0])
def test_a_prior_without_friction_leaves_it_to_the_data(scale):
    """The estimate is that from a prior near the truth, to less than a standard deviation."""
    robot = with_friction(elbow())
    zero = wrong(robot).replace(friction=dataclasses.replace(robot.description.friction, coefficients=np.zeros((2, 2))))
    tau = noisy(robot, scale=scale)
    found, near = (identify(prior, T, *motion(2), tau, consistent=True) for prior in (zero, wrong(robot)))
    errors = found.standard_deviations[-4:] if scale else 1e-7
    assert (np.abs(found.parameters[20:] - near.parameters[20:]) < errors + 1e-7).all()
    assert (np.abs(found.parameters[20:] - robot.parameters[20:]) < 4.0 * errors + 1e-7).all()


def test_the_regularizer_weighs_the_prior():
    problem, _ = small_problem()
    prior = inertia.pseudo_inertia(wrong(elbow()).inertial)
    found = (problem.solve(gamma).reshape(2, 10) for gamma in (1e-2, 1e2, 1e6, 1e10))
    distance = [divergence(inertia.pseudo_inertia(reg), prior).sum() for reg in found]
    assert distance[0] > distance[1] > distance[2] > distance[3]
    assert distance[3] < 1e-8


def test_lowpass_keeps_the_slow_and_takes_the_fast():
    slow, fast = np.sin(2 * np.pi * 0.5 * T)[:, None], np.sin(2 * np.pi * 30 * T)[:, None]
    np.testing.assert_allclose(lowpass(T, slow + fast, 5.0)[100:-100], slow[100:-100], atol=1e-3)
    half = lowpass(T, np.sin(2 * np.pi * 5.0 * T)[:, None], 5.0)[300:700]
    assert np.abs(half).max() == pytest.approx(0.5, abs=0.01)


def test_rank_does_not_depend_on_units() -> None:
    rng = np.random.default_rng(0)
    W, tau = rng.normal(size=(30, 2, 6)), rng.normal(size=(30, 2))
    W[:, :, 5] = W[:, :, 0] - W[:, :, 1]
    units = 10.0 ** np.array([9, -9, 0, 6, -6, 3])
    ranks = []
    for scale in (np.ones(6), units):
        rows = np.concatenate([W * scale, tau[..., None]], axis=-1).swapaxes(0, 1)
        data = Data(rows, 30, np.ones(2), np.zeros((2, 6, 6)), np.zeros((2, 6)))
        ranks.append(fit(data, np.ones(2)).rank)
    assert ranks == [5, 5]


def test_regularization_does_not_depend_on_the_sampling_frequency():
    guess = elbow().with_parameters(0.7 * elbow().parameters)
    how = {"cutoff": 10.0, "consistent": True, "regularization": 100.0}
    slow, fast = (identify(guess, steady(rate, 0.0), **how).base_parameters for rate in (100.0, 1000.0))
    np.testing.assert_allclose(slow, fast, atol=0.01)


def test_the_ends_of_a_log_are_left_out_as_far_as_the_filter_remembers_them():
    t = np.arange(0.0, 4.0, 2e-3)
    motion = Sinusoid([0.8, 0.6], [0.5, 0.8])(t)
    found = identify(elbow(), Log(t=t, q=motion.q, tau=elbow().inverse_dynamics(*motion)), cutoff=200.0)
    np.testing.assert_allclose(found.base_parameters, base_of(elbow()), atol=1e-3)
