import numpy as np
import pytest
from scipy.linalg import expm
from scipy.stats import chi2

from tests.refusals import assert_refused
from thunder_py.manipulation.interception import ConstantVelocityFilter

R = np.diag([1e-5, 2e-5, 3e-5])


def irregular(rng, n=25):
    """Times that are not evenly spaced and noisy places of something that moves at a constant velocity."""
    t = np.sort(rng.uniform(0.0, 2.0, n))
    p = np.array([0.3, -0.5, 0.1]) + t[:, None] * np.array([0.02, 0.3, -0.01])
    return t, p + rng.normal(size=(n, 3)) @ np.sqrt(R)


def fed(t, z, **options):
    made = ConstantVelocityFilter(R, **{"gate": None, **options})
    answers = [made.update(*pair) for pair in zip(t, z, strict=True)]
    return made, answers


def van_loan(q, h):
    """Covariance of (p, v) after white acceleration of density q, from a matrix exponential."""
    A, G = np.array([[0.0, 1.0], [0.0, 0.0]]), np.array([[0.0, 0.0], [0.0, q]])
    E = expm(h * np.block([[-A, G], [np.zeros((2, 2)), A.T]]))
    return E[2:, 2:].T @ E[:2, 2:]


def discrete(q, h):
    D = np.array([[0.5 * h * h], [h]])
    return q * D @ D.T


def batch(t, z, noise, deviation, covariance):
    """All states at once by dense weighted least squares; the last one and its covariance."""
    n = len(t)
    rows, right, weights = [], [], []

    def add(block, value, W):
        rows.append(block), right.append(value), weights.append(W)

    H = np.hstack([np.eye(3), np.zeros((3, 3))])
    for k in range(n):
        block = np.zeros((3, 6 * n))
        block[:, 6 * k : 6 * k + 6] = H
        add(block, z[k], np.linalg.inv(noise))
    block = np.zeros((3, 6 * n))
    block[:, 3:6] = np.eye(3)
    add(block, np.zeros(3), np.eye(3) / deviation**2)
    for k in range(n - 1):
        h = t[k + 1] - t[k]
        block = np.zeros((6, 6 * n))
        block[:, 6 * k : 6 * k + 6] = -np.kron([[1.0, h], [0.0, 1.0]], np.eye(3))
        block[:, 6 * k + 6 : 6 * k + 12] = np.eye(6)
        add(block, np.zeros(6), np.linalg.pinv(np.kron(covariance(h), np.eye(3)), rcond=1e-14))
    N = sum(b.T @ W @ b for b, W in zip(rows, weights, strict=True))
    g = sum(b.T @ W @ y for b, W, y in zip(rows, weights, right, strict=True))
    P = np.linalg.inv(N)
    return (P @ g)[-6:], P[-6:, -6:]


def test_without_process_noise_it_is_least_squares_over_a_line():
    t, z = irregular(np.random.default_rng(1))
    made, answers = fed(t, z, intensity=0.0, velocity_deviation=0.5)
    A = np.vstack([np.hstack([np.eye(3), (s - t[-1]) * np.eye(3)]) for s in t] + [np.eye(3, 6, 3) / 0.5])
    W = np.concatenate([np.tile(1.0 / np.diag(R), len(t)), np.ones(3)])
    P = np.linalg.inv(A.T @ (W[:, None] * A))
    x = P @ (A.T @ (W * np.concatenate([z.ravel(), np.zeros(3)])))
    found, covariance = made.estimate()
    assert answers == ["started"] + ["accepted"] * (len(t) - 1)
    assert np.allclose(found, x, rtol=0, atol=1e-11)
    assert np.allclose(covariance, P, rtol=1e-7, atol=1e-14)


@pytest.mark.parametrize("process", ["continuous", "discrete"])
def test_with_process_noise_it_is_the_batch_solution(process):
    q = 0.05
    t, z = irregular(np.random.default_rng(2), 12)
    t = np.cumsum(np.diff(t, prepend=0.0) + 0.02)
    made, _ = fed(t, z, process=process, intensity=q)
    # of D D', which has rank one, a little more than nothing: least squares wants an inverse
    noise = (lambda h: van_loan(q, h)) if process == "continuous" else (lambda h: discrete(q, h) + 1e-13 * np.eye(2))
    x, P = batch(t, z, R, 0.5, noise)
    found, covariance = made.estimate()
    assert np.allclose(found, x, rtol=0, atol=1e-7)
    assert np.allclose(covariance, P, rtol=1e-4, atol=1e-10)


def test_continuous_noise_does_not_depend_on_how_time_is_cut():
    P = [ConstantVelocityFilter(R, intensity=0.3) for _ in range(2)]
    for made in P:
        made.update(0.0, np.zeros(3))
    x, whole = P[0].estimate(0.7)
    first = P[0].estimate(0.3)[1]
    A = np.kron([[1.0, 0.4], [0.0, 1.0]], np.eye(3))
    assert np.allclose(A @ first @ A.T + np.kron(van_loan(0.3, 0.4), np.eye(3)), whole, rtol=1e-12)
    assert np.allclose(x, 0.0)


def test_late_measurements_are_put_where_they_belong():
    rng = np.random.default_rng(3)
    t, z = irregular(rng)
    ordered, _ = fed(t, z)
    order = np.concatenate([[0], 1 + np.argsort(np.arange(len(t) - 1) + rng.uniform(0, 5, len(t) - 1))])
    shuffled, answers = fed(t[order], z[order])
    assert answers.count("late") > 5
    for a, b in zip(ordered.estimate(2.5), shuffled.estimate(2.5), strict=True):
        assert np.allclose(a, b, rtol=1e-10, atol=1e-14)
    assert ordered.time == shuffled.time == t[-1]
    assert ordered.updates == shuffled.updates == len(t)


def test_older_than_all_that_is_remembered_is_left_out():
    t = 0.05 * np.arange(50)
    made, _ = fed(t, np.random.default_rng(4).normal(size=(50, 3)))
    before = made.estimate()[0]
    assert made.update(0.5, np.zeros(3)) == "too old"
    assert made.update(t[30] + 0.01, np.ones(3)) == "late"
    assert made.update(t[-1] + 1e-12, np.ones(3)) == "duplicate"
    assert not np.allclose(made.estimate()[0], before)
    assert ConstantVelocityFilter().update(-1.0, np.zeros(3)) == "started"


def test_errors_are_as_large_as_the_covariance_says():
    """NEES of 300 runs: its mean has a chi-square distribution."""
    q, runs, values, distances = 0.02, 300, [], []
    rng = np.random.default_rng(5)
    L = np.kron(np.linalg.cholesky(van_loan(q, 0.1)), np.eye(3))
    A = np.kron([[1.0, 0.1], [0.0, 1.0]], np.eye(3))
    for _ in range(runs):
        x = np.concatenate([rng.normal(size=3), 0.5 * rng.normal(size=3)])
        made = ConstantVelocityFilter(R, intensity=q, velocity_deviation=0.5, gate=None)
        for k in range(20):
            made.update(0.1 * k, x[:3] + np.sqrt(np.diag(R)) * rng.normal(size=3))
            if k < 19:
                x = A @ x + L @ rng.normal(size=6)
        found, P = made.estimate()
        values.append((found - x) @ np.linalg.solve(P, found - x))
        distances.append(made.distance)
    for samples, degrees in ((values, 6), (distances, 3)):
        low, high = chi2.ppf([1e-4, 1 - 1e-4], degrees * runs) / runs
        assert low < np.mean(samples) < high


def test_printed_noise_without_covariance_learns_no_velocity():
    t = np.arange(0.0, 3.0, 0.05)
    z = t[:, None] * np.array([0.0, 0.26, 0.0]) + 1e-4 * np.random.default_rng(6).normal(size=(60, 3))
    printed, _ = fed(t, z, process="paper", intensity=10.0, velocity_deviation=0.0)
    assert np.array_equal(printed.estimate()[0][3:], np.zeros(3))
    assert not printed.estimate()[1][3:, 3:].any()
    physical, _ = fed(t, z, process="discrete", intensity=1.0, velocity_deviation=0.0)
    assert np.allclose(physical.estimate()[0][3:], [0, 0.26, 0], atol=0.03)
    started, _ = fed(t, z, process="paper", intensity=1e-3, velocity_deviation=0.5)
    assert np.allclose(started.estimate()[0][3:], [0, 0.26, 0], atol=0.01)


def test_printed_noise_is_that_of_eq_119():
    made, _ = fed([0.0, 0.1], np.array([[0.0, 0, 0], [0.01, 0.03, 0.0]]), process="paper", intensity=0.2)
    x, P = made.estimate()
    A, D = np.kron([[1.0, 0.1], [0.0, 1.0]], np.eye(3)), np.concatenate([x[3:], x[3:]])
    assert np.allclose(made.estimate(0.2)[1], A @ P @ A.T + 0.2 * np.outer(D, D), rtol=1e-12)


def test_outliers_stay_outside_and_a_new_place_is_believed():
    t, z = irregular(np.random.default_rng(7))
    made, _ = fed(t, z, gate=0.999, reinitialize_after=3)
    before = made.estimate(2.1)[0]
    assert made.update(2.1, [1.0, 1.0, 1.0]) == "rejected"
    assert np.array_equal(made.estimate(2.1)[0], before)
    assert made.distance > chi2.ppf(0.999, 3)
    assert made.update(2.15, [1.0, 1.01, 1.0]) == "rejected"
    assert made.update(2.2, [1.0, 1.02, 1.0]) == "reinitialized"
    assert made.updates == 3
    fresh, _ = fed([2.1, 2.15, 2.2], np.array([[1.0, 1.0, 1.0], [1.0, 1.01, 1.0], [1.0, 1.02, 1.0]]))
    assert np.allclose(made.estimate()[0], fresh.estimate()[0], rtol=1e-12)


def test_good_measurements_pass_the_gate_as_often_as_it_says():
    rng, passed = np.random.default_rng(8), 0
    t = 0.05 * np.arange(2000)
    made = ConstantVelocityFilter(R, gate=0.9, intensity=0.0, velocity_deviation=1e-6, reinitialize_after=0)
    for s in t:
        passed += made.update(s, np.sqrt(np.diag(R)) * rng.normal(size=3)) in ("started", "accepted")
    assert abs(passed / len(t) - 0.9) < 4 * np.sqrt(0.09 / len(t))


@pytest.mark.parametrize("bad", [[np.nan, 0, 0], [0, np.inf, 0]])
def test_what_is_no_number_changes_nothing(bad):
    t, z = irregular(np.random.default_rng(9))
    made, _ = fed(t, z)
    before = made.estimate()
    assert made.update(3.0, bad) == "invalid"
    assert made.update(np.nan, z[0]) == "invalid"
    assert all(np.array_equal(a, b) for a, b in zip(before, made.estimate(), strict=True))


def test_a_source_that_repeats_itself_counts_as_frozen():
    made, _ = fed([0.0], [[0.0, 0, 0]], frozen_after=3)
    answers = [made.update(0.1 * k, [0.1, 0.2, 0.3]) for k in range(1, 7)]
    assert answers == ["accepted"] * 3 + ["frozen"] * 3
    assert made.update(1.0, [0.1, 0.2, 0.31]) == "accepted"
    never, _ = fed([0.0], [[0.0, 0, 0]], frozen_after=0)
    assert all(never.update(0.1 * k, [0.1, 0.2, 0.3]) == "accepted" for k in range(1, 7))


def test_one_wrong_picture_that_comes_often_begins_nothing_anew():
    made, _ = fed([0.0, 0.1, 0.2], [[0.0] * 3, [1e-3] * 3, [2e-3] * 3], gate=0.999)
    wrong = np.array([5.0, 5.0, 5.0])
    answers = [made.update(0.3, wrong + 1e-3 * k) for k in range(6)]
    assert answers == ["rejected"] + ["duplicate"] * 5
    assert made.updates == 3
    assert made.update(0.4, [4e-3, 4e-3, 4e-3]) == "accepted"


def test_numbers_too_large_for_their_difference_are_rejected():
    made, _ = fed([0.0, 0.1], [[0.0, 0, 0], [1e-3, 0, 0]], gate=None)
    made.update(0.2, [1.7e308, 0, 0])
    made.update(0.3, [-1.7e308, 0, 0])
    assert all(np.isfinite(part).all() for part in made.estimate())


def test_estimates_need_a_measurement_and_reset_forgets():
    made = ConstantVelocityFilter()
    for call in (made.estimate, lambda: made.time):
        with pytest.raises(ValueError, match="before the first measurement"):
            call()
    made.update(0.0, np.zeros(3))
    made.reset()
    assert not made.started
    assert made.updates == 0


def test_bad_options():
    assert_refused(
        ({"measurement_noise": 0.0}, "...measurement_noise..."),
        ({"measurement_noise": np.nan}, "...measurement_noise..."),
        ({"measurement_noise": -np.eye(3)}, "...positive definite..."),
        ({"process": "brown"}, "...process..."),
        ({"intensity": -1.0}, "...intensity..."),
        ({"gate": 1.0}, "...gate..."),
        ({"velocity_deviation": -0.1}, "...velocity_deviation..."),
        ({"reinitialize_after": 1.5}, "...reinitialize_after..."),
        ({"reinitialize_after": 17}, "...reinitialize_after..."),
        call=lambda **options: ConstantVelocityFilter(**options),
    )
