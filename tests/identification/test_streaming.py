"""Identification in windows, from several logs: the answer of one least-squares problem, solved by NumPy."""

from functools import cache

import numpy as np
import pytest

import thunder_py as th
from tests.control.arms import elbow, panda
from tests.identification.test_identify import NOISE, motion, wrong
from tests.identification.test_identify_elastic import noisy, run, soft_elbow
from thunder_py.identification import Log, differentiate, identify, lowpass
from thunder_py.identification import equations as module
from thunder_py.identification.equations import Filtering, windows
from thunder_py.identification.least_squares import Triangle, block_length, r_factor, split
from thunder_py.identification.samples import Filter

T = np.linspace(0.0, 10.0, 1001)


@pytest.fixture
def short_windows(monkeypatch):
    short(monkeypatch)


def short(monkeypatch):
    """Windows of 300 instants at least instead of 16 384, and no longer than their margins."""
    monkeypatch.setattr(module, "_LEAST", 300)
    monkeypatch.setattr(module, "_WINDOW", 1)


def logs_of(robot, parts=3, seed=0):
    """Unequal logs with accelerations and noise."""
    rng, found = np.random.default_rng(seed), []
    for k in range(parts):
        q, dq, ddq = (x[: 1001 - 200 * k] for x in motion(robot.n, k))
        tau = robot.inverse_dynamics(q, dq, ddq) + NOISE[robot.n] * rng.normal(size=q.shape)
        found.append(Log(t=T[: len(q)] + 5.0 * k, q=q, dq=dq, ddq=ddq, tau=tau, name=f"log{k}"))
    return found


def _blocks_of(logs, n, columns):
    """The block of each instant, and a thousand times its log."""
    length = block_length(sum(map(len, logs)), n, columns)
    found = np.concatenate([np.full(len(log), 1000 * k) for k, log in enumerate(logs)])
    first = 0
    for log in logs:
        for number, here in split(0, len(log), length, 1.0):
            found[first + here.start : first + here.stop] += number
        first += len(log)
    return found


def bell_mccaffrey(W, left, *levels):
    """Deviations and degrees of freedom by the formulas with hat matrices, of the level with the larger variance."""
    inverse = np.linalg.inv(W.T @ W)
    parts = []
    for labels in levels:
        variances, columns = 0.0, []
        for label in np.unique(labels):
            here = labels == label
            hat = W[here] @ inverse @ W[here].T
            size, vectors = np.linalg.eigh(np.eye(len(hat)) - hat)
            half = (vectors / np.sqrt(size)) @ vectors.T @ W[here] @ inverse
            variances = variances + (left[here] @ half) ** 2
            whole = np.zeros((len(W), W.shape[1]))
            whole[here] = half
            columns.append(whole - W @ (inverse @ (W[here].T @ half)))
        products = np.array([C @ C.T for C in np.moveaxis(columns, -1, 0)])
        parts.append((variances, np.einsum("agg->a", products) ** 2 / np.sum(products**2, axis=(1, 2))))
    (of_logs, few), (variance, freedom) = parts
    return np.sqrt(np.maximum(of_logs, variance)), np.where(of_logs > variance, few, freedom)


@pytest.mark.parametrize("robot", [elbow(), panda()], ids=["elbow", "panda"])
def test_logs_in_windows_are_one_least_squares_problem(robot, short_windows):
    logs, weights = logs_of(robot), 1.0 / NOISE[robot.n]
    found = identify(wrong(robot), logs, weights=weights)
    signals = [np.concatenate([getattr(log, name) for log in logs]) for name in ("q", "dq", "ddq", "tau")]
    W = robot.regressor(*signals[:3])[..., found.base.independent] * weights[:, None]
    W, y = W.reshape(-1, found.base.count), (signals[3] * weights).ravel()
    expected = np.linalg.lstsq(W, y, rcond=None)[0]
    np.testing.assert_allclose(found.base_parameters, expected, rtol=1e-9, atol=1e-9)
    assert found.count == sum(map(len, logs))
    assert found.logs == ("log0", "log1", "log2")
    places = np.concatenate([_blocks_of(logs, robot.n, found.base.count + 1)] * robot.n)
    order = np.argsort(np.tile(np.arange(found.count), robot.n), kind="stable")
    if robot.n > 2:  # the formulas need much memory
        return
    sigma, freedom = bell_mccaffrey(W, y - W @ expected, places[order] // 1000, places[order])
    np.testing.assert_allclose(found.standard_deviations, sigma, rtol=1e-6)
    np.testing.assert_allclose(found.freedom, freedom, rtol=1e-6)


def test_the_filter_does_not_see_the_borders_of_windows(short_windows):
    """Filtered signals in windows against those of `differentiate` and `lowpass` over the whole log."""
    rng = np.random.default_rng(0)
    t, q = np.arange(6000) * 1e-3, np.cumsum(rng.normal(size=(6000, 2)), axis=0)
    log = Log(t=t, q=q, tau=10.0 * q)
    found = list(windows(elbow(), log, Filtering(50.0)))
    assert len(found) > 2
    samples = [window.samples()[window.used] for window in found]
    edge = Filter(1e-3, 50.0).edge(6000)
    inner = slice(edge, 6000 - edge)
    np.testing.assert_array_equal(np.concatenate([each.t for each in samples]), t[inner])
    for k, whole in enumerate(differentiate(t, q, 50.0)):
        parts = np.concatenate([each.motion[k] for each in samples])
        np.testing.assert_allclose(parts, whole[inner], rtol=0.0, atol=1e-10 * np.abs(whole).max())
    torque = np.concatenate([each.torque for each in samples])
    np.testing.assert_allclose(torque, lowpass(t, 10.0 * q, 50.0)[inner], atol=1e-10 * np.abs(10.0 * q).max())


def test_the_result_does_not_depend_on_threads(short_windows):
    logs = logs_of(elbow())
    one, three = (identify(wrong(elbow()), logs, threads=threads) for threads in (1, 3))
    np.testing.assert_array_equal(one.parameters, three.parameters)
    np.testing.assert_array_equal(one.covariance, three.covariance)


class Bias:
    """A constant torque of each joint."""

    names = ("joint1.bias", "joint2.bias")

    def evaluate(self, samples):
        return np.broadcast_to(np.eye(2), (len(samples), 2, 2))


class Delay:
    """The torque of joint 1 was measured too late: one unit is a second."""

    names = ("joint1.delay",)

    def evaluate(self, samples):
        columns = np.zeros((len(samples), 2, 1))
        columns[:, 0, 0] = -np.gradient(samples.torque[:, 0], samples.t)
        return columns


@pytest.mark.parametrize("consistent", [False, True])
def test_further_columns(consistent, short_windows):
    robot, rng = elbow(), np.random.default_rng(0)
    t = np.arange(0.0, 20.0, 2e-3)
    waves = th.reference.Sinusoid([0.8, 0.6], [0.5, 0.8])
    tau = robot.inverse_dynamics(*waves(t))
    tau[:, 0] = robot.inverse_dynamics(*waves(t - 4e-3))[:, 0]
    tau += [0.5, -0.3] + 0.1 * rng.normal(size=tau.shape)
    found = identify(
        wrong(robot), t, waves(t).q, tau=tau, cutoff=20.0, columns=[Bias(), Delay()], consistent=consistent
    )
    assert found.extra_names == ("joint1.bias", "joint2.bias", "joint1.delay")
    errors = (found.extra - [0.5, -0.3, 4e-3]) / found.extra_deviations
    assert np.abs(errors).max() < 4.0
    assert (found.extra_deviations < [0.05, 0.05, 1e-3]).all()
    np.testing.assert_allclose(np.sqrt(np.diag(found.covariance))[-3:], found.extra_deviations)
    expected = found.base.mapping @ robot.parameters
    assert np.abs((found.base_parameters - expected) / found.standard_deviations).max() < 4.0


@cache
def spoiled(seed):
    """A log in which one torque in twenty is far off, always in the same direction."""
    rng, log = np.random.default_rng(seed), logs_of(elbow(), 1, seed)[0]
    tau = log.tau + 60.0 * (rng.uniform(size=log.tau.shape) < 0.05)
    return Log(t=log.t, q=log.q, dq=log.dq, ddq=log.ddq, tau=tau)


def errors_of(log, **how):
    found = identify(wrong(elbow()), log, **how)
    return (found.base_parameters - found.base.mapping @ elbow().parameters) / found.standard_deviations, found


def test_robust_weights_ignore_outliers(short_windows):
    plain, robust = ([errors_of(spoiled(seed), robust=chosen) for seed in range(4)] for chosen in (False, True))
    sigma = [np.mean([found.standard_deviations for _, found in each], axis=0) for each in (plain, robust)]
    assert (sigma[1] < 0.25 * sigma[0]).all()
    assert np.sqrt(np.mean([error**2 for error, _ in robust])) == pytest.approx(1.0, abs=0.2)
    noise = np.mean([found.noise for _, found in robust], axis=0)
    np.testing.assert_allclose(noise, NOISE[2], rtol=0.1)


def test_robust_weights_solve_the_equations_of_tukey():
    """The sum of psi(residual) W is zero, with psi of the textbook."""
    log = spoiled(0)
    found = identify(wrong(elbow()), log, robust=True, weights=1.0 / NOISE[2])
    W = elbow().regressor(log.q, log.dq, log.ddq)[..., found.base.independent]
    u = (log.tau - found.robot.inverse_dynamics(log.q, log.dq, log.ddq)) / NOISE[2]
    psi = u * np.maximum(1.0 - (u / 4.685) ** 2, 0.0) ** 2
    # each joint's equations are divided by the variance of its own weighted residuals
    slope = np.where(np.abs(u) < 4.685, (1.0 - (u / 4.685) ** 2) * (1.0 - 5.0 * (u / 4.685) ** 2), 0.0)
    weight = psi / u
    tau = NOISE[2] * np.sqrt(np.mean(psi**2, axis=0)) / np.mean(slope, axis=0)
    gradient = np.einsum("kja,kj->a", W, psi * NOISE[2] / weight.mean(axis=0) / tau**2)
    np.testing.assert_allclose(found.noise, tau, rtol=1e-3)
    assert np.abs(gradient * found.standard_deviations).max() < 5e-3


@pytest.mark.filterwarnings("ignore:the fit leaves")
def test_spikes_of_positions_and_torques_do_not_pass_the_filter():
    """With them the estimate is nearly that without; least squares is several standard deviations off."""
    robot, t = elbow(), np.arange(0.0, 10.0, 2e-3)
    waves, rng = th.reference.Sinusoid([0.8, 0.6], [0.5, 0.8])(t), np.random.default_rng(0)
    q, tau = waves.q + 1e-5 * rng.normal(size=waves.q.shape), robot.inverse_dynamics(*waves)
    tau = tau + 0.3 * rng.normal(size=tau.shape)
    spikes = [size * (rng.uniform(size=tau.shape) < 2e-3) for size in (0.3, 100.0)]
    how = {"tau": tau, "cutoff": 15.0}
    clean = identify(robot, t, q, **how)
    spoiled_too = {"tau": tau + spikes[1], "cutoff": 15.0}
    plain, found = (identify(robot, t, q + spikes[0], **spoiled_too, robust=robust) for robust in (False, True))
    assert (np.abs(found.base_parameters - clean.base_parameters) < clean.standard_deviations).all()
    assert (np.abs(plain.base_parameters - clean.base_parameters) > 3.0 * clean.standard_deviations).any()
    np.testing.assert_allclose(found.standard_deviations, clean.standard_deviations, rtol=0.2)
    held_out = Log(t=t, q=q + spikes[0], tau=tau + spikes[1])
    np.testing.assert_allclose(found.errors(held_out).rms, clean.residual_rms, rtol=0.2)
    model = identify(robot, held_out, sensors="torque_bias", cutoff=15.0, robust=True)
    np.testing.assert_allclose(model.errors(held_out).rms, clean.residual_rms, rtol=0.2)


def test_a_factor_of_parts_is_the_factor_of_all():
    A = np.random.default_rng(0).normal(size=(50, 4)) * [1.0, 1e-6, 1e6, 1.0]
    R = r_factor(np.vstack([r_factor(A[:3]), A[3:]]))
    np.testing.assert_allclose(np.abs(R), np.abs(np.linalg.qr(A, mode="r")), rtol=1e-9)


@pytest.mark.parametrize("smallest", [0, 4, 9, 20])
def test_a_triangle_keeps_what_a_factorization_keeps(smallest):
    """Of columns of other sizes, dependent, still at first or throughout, and of blocks that grow by a million."""
    rng = np.random.default_rng(smallest)
    mix = np.linalg.qr(rng.normal(size=(12, 12)))[0] * 10.0 ** -np.linspace(0.0, smallest, 12)
    blocks = [10.0**size * rng.normal(size=(50, 12)) @ mix * 10.0 ** rng.uniform(-3, 3, 12) for size in (-6, 0, 0, 0)]
    for block in blocks:
        block[:, 3], block[:, 4] = block[:, 2], 0.0
    blocks[0][:, 5] = 0.0
    triangle, A = Triangle(12), np.vstack(blocks)
    for block in blocks:
        triangle.add(block)
    R, size = triangle.factor(), np.maximum(np.linalg.norm(A, axis=0), 1e-300)
    np.testing.assert_allclose((R / size).T @ (R / size), (A / size).T @ (A / size), atol=1e-13)
    singular = [np.linalg.svd(each / size, compute_uv=False) for each in (R, A)]
    np.testing.assert_allclose(*singular, atol=1e-13)
    assert not R[:, 4].any()


@pytest.mark.parametrize("order", [1, 2, 3, 4, 7, 10])
@pytest.mark.parametrize("cutoff", [0.003, 0.05, 0.45])
def test_the_filter_is_that_of_scipy(order, cutoff):
    signal = pytest.importorskip("scipy.signal")
    x = np.random.default_rng(order).normal(size=(1500, 3)).cumsum(axis=0)
    sections = signal.butter(order, cutoff, fs=1.0, output="sos")
    known = signal.sosfiltfilt(sections, x, axis=0, padlen=round(min(3.0 / cutoff, 1499)))
    t = np.arange(1500.0)
    np.testing.assert_allclose(lowpass(t, x, cutoff, order=order), known, atol=1e-9 * np.abs(x).max())
    np.testing.assert_array_equal(lowpass(t, np.full((1500, 3), 0.7), cutoff, order=order), 0.7)


@pytest.mark.parametrize(
    ("elastic", "how"),
    [(False, {}), (False, {"consistent": True}), (True, {}), (True, {"consistent": True}), (True, {"offsets": False})],
)
def test_windows_do_not_change_a_filtered_log(elastic, how, monkeypatch):
    """Also of nonlinear springs with an offset, whose logs are read several times."""
    if elastic:
        data, robot, guess = noisy(run(), 0, 5e-5, 0.1), soft_elbow(), soft_elbow()
        data["x"] = data["x"] + 2e-3
    else:
        rng, robot, guess = np.random.default_rng(0), elbow(), wrong(elbow())
        q = motion(2)[0] + 1e-4 * rng.normal(size=(T.size, 2))
        data = {"t": T, "q": q, "tau": robot.inverse_dynamics(*motion(2)) + rng.normal(size=q.shape)}
    how = {"cutoff": 40.0, "hold": 1e-3, **how} if elastic else {"cutoff": 10.0, "hold": 0.01, **how}
    whole = identify(guess, **data, **how)
    short(monkeypatch)
    assert len(list(windows(robot, Log(**data), Filtering(how["cutoff"])))) > 2
    parts = identify(guess, **data, **how)
    names = ["parameters", "base_parameters", "standard_deviations", "residual_rms", "noise"]
    for name in [*names, *(["offsets", "offset_deviations"] if elastic else [])]:
        np.testing.assert_allclose(getattr(parts, name), getattr(whole, name), rtol=1e-9, atol=1e-9, err_msg=name)


def test_logs_of_different_rates_count_by_independent_samples():
    """A log and every fourth of its samples hold nearly the same after a filter: together they count about twice."""
    rng, robot = np.random.default_rng(0), elbow()
    t = np.arange(0.0, 40.0, 2.5e-3)
    q, dq, ddq = th.reference.Sinusoid([0.8, 0.6], [0.5, 0.8])(t)
    log = Log(t=t, q=q, tau=robot.inverse_dynamics(q, dq, ddq) + rng.normal(size=q.shape))
    few = Log(t=t[::4], q=q[::4], tau=lowpass(t, log.tau, 20.0)[::4])
    single, both = identify(robot, log, cutoff=10.0), identify(robot, [log, few], cutoff=10.0)
    ratio = single.standard_deviations / both.standard_deviations
    np.testing.assert_allclose(np.median(ratio), np.sqrt(2.0), rtol=0.2)
