"""Derivative estimators against scipy.signal, and what they are worth."""

from __future__ import annotations

import re

import numpy as np
import pytest
from scipy import signal

from tests.refusals import assert_refused
from thunder_py.control import ButterworthDerivative, FirstOrderDerivative, SavitzkyGolayDerivative
from thunder_py.simulation import velocity_estimation

DT = 2e-3
ALL = [FirstOrderDerivative(20.0), ButterworthDerivative(20.0), SavitzkyGolayDerivative(21, 3)]


def walk(rows: int = 400) -> np.ndarray:
    return np.cumsum(np.random.default_rng(5).normal(size=(rows, 2)), axis=0) * 0.1 + 3.0


def filtered(b: np.ndarray, a: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Through scipy's filter, after a past at rest."""
    start = signal.lfilter_zi(b, a)[:, None] * q[0]
    return signal.lfilter(b, a, q, axis=0, zi=start)[0]


def analog(order: int, cutoff: float, derivative: int) -> tuple[np.ndarray, np.ndarray]:
    """s^derivative times the Butterworth low-pass, by the bilinear rule with the cutoff warped beforehand."""
    w = 2.0 / DT * np.tan(np.pi * cutoff * DT)
    b, a = signal.butter(order, w, analog=True)
    # H as it should be; the derivative itself is not warped
    return signal.bilinear(np.concatenate([b, np.zeros(derivative)]), a, 1.0 / DT)


def test_first_order_is_scipys() -> None:
    q, estimate = walk(), FirstOrderDerivative(20.0).apply(DT, walk())
    b, a = analog(1, 20.0, 1)
    np.testing.assert_allclose(estimate.dq, filtered(b, a, q), atol=1e-10)
    np.testing.assert_allclose(estimate.ddq, signal.lfilter(b, a, estimate.dq, axis=0), atol=1e-8)


def test_butterworth_is_scipys() -> None:
    q, estimate = walk(), ButterworthDerivative(35.0).apply(DT, walk())
    np.testing.assert_allclose(estimate.dq, filtered(*analog(2, 35.0, 1), q), atol=1e-9)
    np.testing.assert_allclose(estimate.ddq, filtered(*analog(2, 35.0, 2), q), atol=1e-6)


@pytest.mark.parametrize(("window", "order"), [(2, 1), (7, 2), (31, 3), (61, 5)])
def test_savitzky_golay_is_scipys(window: int, order: int) -> None:
    q = walk()
    estimate = SavitzkyGolayDerivative(window, order).apply(DT, q)
    padded = np.concatenate([np.tile(q[0], (window - 1, 1)), q])
    for values, derivative in ((estimate.dq, 1), (estimate.ddq, 2)):
        weights = np.zeros(window)
        if derivative <= order:
            weights = signal.savgol_coeffs(window, order, derivative, DT, pos=window - 1, use="dot")
        expected = (
            np.lib.stride_tricks.sliding_window_view(padded, window, axis=0) @ weights
        )  # scipy's do not sum to zero exactly
        np.testing.assert_allclose(values, expected - weights.sum() * q[0], atol=1e-9 * np.abs(weights).sum() + 1e-12)


@pytest.mark.parametrize("estimator", ALL, ids=repr)
def test_steps_are_the_series(estimator: FirstOrderDerivative) -> None:
    q = walk(50)
    estimator.reset()
    steps = [estimator.step(DT, sample) for sample in q]
    series = estimator.apply(DT, q)
    np.testing.assert_array_equal([step.dq for step in steps], series.dq)
    np.testing.assert_array_equal([step.ddq for step in steps], series.ddq)
    estimator.reset()
    assert not estimator.step(DT, q[7]).dq.any()
    np.testing.assert_allclose(estimator.apply(DT, q[:, 0]).dq, series.dq[:, 0], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("estimator", ALL, ids=repr)
def test_gaps_are_filled_with_straight_lines(estimator: FirstOrderDerivative) -> None:
    q = walk(50)
    line = np.linspace(q[-1], [1.0, -1.0], 5)[1:]  # three samples missing, then one
    expected = estimator.apply(DT, np.concatenate([q, line]))
    estimator.reset()
    for sample in (*q, *np.full((3, 2), np.nan)):
        estimator.step(DT, sample)
    after = estimator.step(DT, line[-1])
    np.testing.assert_allclose(after.dq, expected.dq[-1], rtol=1e-12)
    np.testing.assert_allclose(after.ddq, expected.ddq[-1], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("estimator", ALL, ids=repr)
def test_starts_anew_after_a_long_gap(estimator: FirstOrderDerivative) -> None:
    estimator.reset()
    for k in range(50):
        estimator.step(DT, [0.1 * k, 0.0])
    for _ in range(1001):
        held = estimator.step(DT, [np.nan, np.nan])
    assert held.dq[0] > 1.0
    assert not estimator.step(DT, [100.0, 3.0]).dq.any()
    first, again = estimator.step(DT, [100.1, 3.0]), estimator.apply(DT, [[100.0, 3.0], [100.1, 3.0]])
    np.testing.assert_allclose(first.dq, again.dq[-1], rtol=1e-12)


def test_bad_estimators() -> None:
    assert_refused(
        (lambda: FirstOrderDerivative(0.0), "cutoff must be positive and finite, got 0..."),
        (lambda: ButterworthDerivative(np.nan), "cutoff must be finite, got nan"),
        (
            lambda: SavitzkyGolayDerivative(3, 3),
            "window, more than order, must be a whole number from 4 to..., got 3",
        ),
        (
            lambda: SavitzkyGolayDerivative(5.5),
            "window, more than order, must be a whole number from 3 to..., got 5.5",
        ),
        (lambda: FirstOrderDerivative(300.0).step(DT, [0.0]), "cutoff must be below half of the sampling rate, 250..."),
        (lambda: FirstOrderDerivative(3.0).step(0.0, [0.0]), "dt must be positive and finite, got 0..."),
        (lambda: FirstOrderDerivative(3.0).apply(DT, np.zeros((2, 2, 2))), "q must have shape (k, n) or (k,)..."),
    )
    estimator = FirstOrderDerivative(3.0)
    estimator.step(DT, [0.0, 1.0])
    with pytest.raises(ValueError, match=re.escape("q must have shape (2,), got (3,)")):
        estimator.step(DT, [0.0, 1.0, 2.0])


def test_measured_noise_and_delay() -> None:
    """What theory says of each filter is what the experiment measures."""
    measured = velocity_estimation(
        {"slow": FirstOrderDerivative(10.0), "fast": FirstOrderDerivative(100.0), "butter": ButterworthDerivative(10.0),
         "short": SavitzkyGolayDerivative(15, 2), "long": SavitzkyGolayDerivative(61, 2)}
    )  # fmt: skip
    w = 2.0 * np.pi * 10.0
    assert measured.velocity["slow"].delay == pytest.approx(1.0 / w, rel=0.03)
    assert measured.acceleration["slow"].delay == pytest.approx(2.0 / w, rel=0.06)  # two filters, one after the other
    assert measured.velocity["butter"].delay == pytest.approx(np.sqrt(2.0) / w, rel=0.03)
    assert measured.acceleration["butter"].delay == pytest.approx(np.sqrt(2.0) / w, rel=0.03)
    for quality in measured:
        assert quality["fast"].noise > 3.0 * quality["slow"].noise
        assert quality["short"].noise > 3.0 * quality["long"].noise
    assert measured.velocity["long"].rms < 0.02 * measured.velocity["estimate of zero"].rms
    table = measured.table()
    assert list(table.to_dict()) == ["estimate of zero", "slow", "fast", "butter", "short", "long"]
    assert "delay [ms]" in str(table)
