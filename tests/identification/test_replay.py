"""Adaptation laws on recorded motion: their differential equations, least squares, Lyapunov functions, refusals."""

from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import thunder_py as th
from tests.refusals import assert_refused
from thunder_py.control import GradientAdaptation, NaturalAdaptation, ParameterEstimator
from thunder_py.identification import Log, Replay, identify, replay
from thunder_py.model.inertia import pseudo_inertia, reg_from_pseudo_inertia

MOTION = th.trajectory.FourierSeries(
    [[1.6, -0.5, 1.1], [0.7, 2.0, -1.3]], [[0.5, 1.4, 0.9], [-1.2, 0.6, 1.8]], [0.3, 0.8], 0.4
)
RATE = 2.0 * np.pi * 5.0  # of the filter


def elbow() -> th.Robot:
    return th.Robot.load("elbow")


def rubbing() -> th.Robot:
    return elbow().replace(friction=th.robot.Friction(terms=("viscous",), coefficients=[[0.8], [0.5]]))


def recorded(robot: th.Robot, duration: float, dt: float, noise: float = 0.0) -> Log:
    t = np.arange(0.0, duration, dt)
    q, dq, ddq = MOTION(t)
    tau = robot.inverse_dynamics(q, dq, ddq) + np.random.default_rng(1).normal(scale=noise, size=q.shape)
    return Log(t=t, q=q, dq=dq, tau=tau, name="swing")


def guess(robot: th.Robot) -> th.Robot:
    return robot.with_parameters(0.7 * robot.parameters)


def metric(law: GradientAdaptation | NaturalAdaptation, pi: np.ndarray) -> np.ndarray:
    """The matrix G of pihat' = G gradient."""
    if isinstance(law, GradientAdaptation):
        return np.eye(pi.size) / law.Gamma
    G, units = np.zeros((pi.size, pi.size)), pseudo_inertia(np.eye(10))
    inner = np.linalg.inv(np.einsum("iab,jab->ij", units, units))
    for i in (0, 10):
        P = pseudo_inertia(pi[i : i + 10])
        duals = np.einsum("ik,kab->iab", inner, units)  # tr(B P) = g' pi for B = sum of g_i duals_i
        G[i : i + 10, i : i + 10] = reg_from_pseudo_inertia(P @ duals @ P).T / law.gamma
    G[20:, 20:] = np.eye(pi.size - 20) / law.rest
    return G


def solution(robot: th.Robot, estimator: ParameterEstimator, gamma: float, K_d: float | None, duration: float):
    """The estimate by SciPy: y' and W' of the low-pass, pihat' of the law, v' of the reference velocity."""
    n, p = robot.n, robot.p
    law = estimator.adaptation

    def rates(time, x):
        q, dq, ddq = MOTION(time)
        y, W, pi, v = np.split(x, np.cumsum([n, n * p, p]))
        W = W.reshape(n, p)
        tau = robot.inverse_dynamics(q, dq, ddq)
        gradient = gamma * W.T @ estimator.R_t @ (y - W @ pi)
        v_dot = np.zeros(n)
        if K_d is not None:
            mine = robot.with_parameters(pi)
            s = v - dq
            still = mine.slotine_li_regressor(q, dq, v, 0.0 * v) @ pi
            v_dot = np.linalg.solve(mine.mass_matrix(q), tau - K_d * s - still)
            gradient = gradient + mine.slotine_li_regressor(q, dq, v, v_dot).T @ s
        filtered = RATE * (robot.regressor(q, dq, ddq) - W)
        return np.concatenate([RATE * (tau - y), filtered.ravel(), metric(law, pi) @ gradient, v_dot])

    start = np.concatenate([np.zeros(n + n * p), estimator.parameters, MOTION(0.0).dq])
    found = solve_ivp(rates, (0.0, duration), start, rtol=1e-6, atol=1e-8)
    return found.y[n + n * p : n + n * p + p, -1]


LAWS = {"gradient": GradientAdaptation(20.0), "natural": NaturalAdaptation(100.0, rest=20.0)}


@pytest.mark.parametrize(
    ("gamma", "K_d"), [(1.0, None), (0.0, 6.0), (0.7, 6.0)], ids=["prediction", "tracking", "both"]
)
@pytest.mark.parametrize("law", LAWS)
def test_estimates_follow_their_differential_equation(law, gamma, K_d):
    robot = rubbing()
    estimator = ParameterEstimator(guess(robot), adaptation=LAWS[law], gamma=gamma, R_t=0.5, K_d=K_d)
    expected = solution(robot, estimator, gamma, K_d, 1.0)
    moved = np.linalg.norm(expected - estimator.parameters)
    results = (replay(estimator, recorded(robot, 1.0 + 0.5 * dt, dt)).parameters[-1] for dt in (2e-3, 1e-3))
    errors = [np.linalg.norm(found - expected) / moved for found in results]
    assert moved > 0.05
    assert errors[1] < 0.03
    assert errors[1] < 0.6 * errors[0]  # first order in the period


@pytest.mark.parametrize("K_d", [None, 6.0])
@pytest.mark.parametrize("law", LAWS)
def test_lyapunov_function_falls(law, K_d):
    robot = rubbing()
    estimator = ParameterEstimator(guess(robot), adaptation=LAWS[law], K_d=K_d)
    log = recorded(robot, 3.0, 1e-3)
    V = []
    for t, q, dq, tau in zip(log.t, log.q, log.dq, log.tau, strict=True):
        estimator.step(t, q, dq, tau)
        s = estimator.s
        V.append(estimator.distance(robot, estimator.parameters[None])[0] + 0.5 * s @ robot.mass_matrix(q) @ s)
    assert V[-1] < 0.9 * V[0]
    assert np.diff(V).max() < 1e-4 * V[0]


@pytest.mark.parametrize("law", LAWS)
def test_excitation_leads_to_least_squares(law):
    robot = rubbing()
    log = recorded(robot, 40.0, 4e-3, noise=0.05)
    information = np.mean(np.sum(robot.regressor(*MOTION(log.t)) ** 2, axis=1), axis=0)
    laws = {
        "gradient": GradientAdaptation(np.maximum(0.4 * information, 0.01)),
        "natural": NaturalAdaptation(1000.0, rest=2.0),
    }
    done: list[float] = []
    result = replay(ParameterEstimator(guess(robot), adaptation=laws[law]), [log] * 3, progress=done.append)
    batch = identify(guess(robot), log, cutoff=20.0)
    initial, adapted, least, fitted = map(result.rms, result.estimates(batch).values())
    np.testing.assert_allclose(result.least_squares[-1], batch.base_parameters, atol=0.03)
    assert (least <= fitted * 1.001).all()
    assert (adapted < {"gradient": 1.2 * least, "natural": 0.1 * initial}[law]).all()
    np.testing.assert_allclose(result.starts, [0.0, 40.196, 80.392])
    assert done[-1] == 1.0
    assert result.table(batch).header[-1] == "identified"
    assert set(result.plot(beside=batch)) == {"error", "estimates"}


def test_runs_of_a_simulation_continue_and_results_are_saved(tmp_path: Path):
    robot = elbow()
    start = MOTION(0.0)
    law = th.ComputedTorque(robot, 100.0, 20.0)
    run = th.simulate(robot, law, MOTION, 3.0, q0=start.q, dq0=start.dq, dt=2e-3)
    estimator = ParameterEstimator(guess(robot), adaptation=50.0)
    both = replay(estimator, [run, run], hold=2e-3)
    first = replay(estimator, run, hold=2e-3)
    estimator.parameters = first.parameters[-1]
    np.testing.assert_allclose(replay(estimator, run, hold=2e-3).parameters[-1], both.parameters[-1], rtol=1e-9)
    np.testing.assert_allclose(both.least_squares[-1], robot.base_parameters().mapping @ robot.parameters, atol=1e-3)
    first.save(tmp_path / "replay.npz")
    assert Replay.load(tmp_path / "replay.npz") == first
    th.files.write_archive(tmp_path / "other.npz", {"t": np.zeros(2)})
    assert_refused((lambda: Replay.load(tmp_path / "other.npz"), "...not a file of Replay.save"))


def test_only_selected_parameters_move():
    robot = elbow()
    wrong = robot.with_parameters(robot.parameters * np.where(robot.unknown("link2").mask, 0.6, 1.0))
    estimator = ParameterEstimator(wrong, adaptation=GradientAdaptation(50.0, unknown="link2"))
    result = replay(estimator, recorded(robot, 20.0, 4e-3))
    np.testing.assert_array_equal(result.parameters[-1][:10], robot.parameters[:10])
    assert (result.rms(result.least_squares[-1]) < 5e-3).all()
    assert (result.rms(result.base_parameters[-1]) < 0.1 * result.rms(result.base_parameters[0])).all()


def test_gains_that_are_too_large_and_bad_logs_are_told():
    robot, log = elbow(), recorded(elbow(), 2.0, 0.01)
    with pytest.warns(th.errors.ThunderWarning, match="gains are too large for the period.*raise Gamma"):
        fast = replay(ParameterEstimator(guess(robot), adaptation=1e-5), log)
    assert np.isfinite(fast.parameters).all()
    estimator = ParameterEstimator(guess(robot), adaptation=100.0)
    unlike = ParameterEstimator(guess(robot), adaptation=0.1, gamma=0.0, K_d=5.0)
    springs = robot.replace(elastic=[th.robot.Elastic(joint=1, K=(100.0,), Mm=0.1)])
    sparse = Log(t=log.t * 20.0, q=log.q, dq=log.dq, tau=log.tau)
    assert_refused(
        (lambda: replay(robot, log), "estimator must be a ParameterEstimator, got Robot..."),
        (
            lambda: replay(estimator, Log(t=log.t, q=log.q, tau=log.tau, name="a")),
            "a: dq must be in the log, or cutoff...",
        ),
        (lambda: replay(estimator, sparse), "t must have periods below 0.1 s, got 0.2: split or resample it"),
        (lambda: replay(estimator, log, robust=True), "robust must come with cutoff..."),
        (lambda: replay(estimator, []), "log must hold at least one log, got none"),
        (lambda: replay(estimator, log, most=1), "most must be a whole number of at least 2, got 1"),
        (lambda: replay(unlike, Log(t=log.t, q=log.q, dq=log.dq, tau=-50.0 * log.tau)), "...diverged...raise Gamma..."),
        (lambda: ParameterEstimator(springs, adaptation=1.0), "robot must have no elastic joints..."),
        (
            lambda: ParameterEstimator(robot, adaptation=GradientAdaptation(1.0, unknown="link1"), R_t=-1.0),
            "R_t must...",
        ),
    )
