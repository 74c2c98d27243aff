"""Sensors: noise that repeats, quantization, delay, velocities from positions."""

from __future__ import annotations

import numpy as np
import pytest

import thunder_py as th
from tests.refusals import assert_refused
from thunder_py.control import (
    ButterworthDerivative,
    DerivativeEstimator,
    FirstOrderDerivative,
    SavitzkyGolayDerivative,
    Status,
)
from thunder_py.simulation import Sensors

from ..control.arms import elbow, elbow_motion

MASK = 2**64 - 1


def run(sensors: Sensors | None = None, duration: float = 0.2, **options: object) -> th.SimulationResult:
    law = th.SlotineLi(elbow(), 5.0, 8.0, adaptation=2.0)
    return th.simulate(elbow(), law, elbow_motion(), duration, sensors=sensors, **options)  # type: ignore[arg-type]


class Normals:
    """xoshiro256++, splitmix64 and Marsaglia's polar method, written anew from their papers."""

    def __init__(self, seed: int) -> None:
        self.state, self.spare = [], None
        for _ in range(4):
            seed = (seed + 0x9E3779B97F4A7C15) & MASK
            z = ((seed ^ (seed >> 30)) * 0xBF58476D1CE4E5B9) & MASK
            z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
            self.state.append(z ^ (z >> 31))

    def bits(self) -> int:
        def turned(x: int, k: int) -> int:
            return ((x << k) | (x >> (64 - k))) & MASK

        a, b, c, d = self.state
        result = (turned((a + d) & MASK, 23) + a) & MASK
        c, d = c ^ a, d ^ b
        self.state = [a ^ d, b ^ c, c ^ ((b << 17) & MASK), turned(d, 45)]
        return result

    def __call__(self) -> float:
        if self.spare is not None:
            value, self.spare = self.spare, None
            return value
        while True:
            x, y = (2.0 * (self.bits() >> 11) * 2.0**-53 - 1.0 for _ in range(2))
            if 0.0 < x * x + y * y < 1.0:
                factor = np.sqrt(-2.0 * np.log(x * x + y * y) / (x * x + y * y))
                self.spare = y * factor
                return x * factor


def test_perfect_sensors_change_nothing() -> None:
    plain, sensed = run(), run(Sensors())
    for name in ("q", "dq", "tau", "parameters"):
        np.testing.assert_array_equal(getattr(sensed, name), getattr(plain, name))
    np.testing.assert_array_equal(sensed.signals["q_measured"], plain.q)
    assert "q_measured" not in plain.signals


@pytest.mark.parametrize("seed", [0, 7, MASK])
def test_noise_is_that_of_the_generator(seed: int) -> None:
    result = run(Sensors(position_noise=[1e-3, 2e-3], velocity_noise=1e-2, seed=seed), 0.02)
    normal = Normals(seed)
    for k in range(len(result.t)):
        expected = result.q[k] + np.array([1e-3 * normal(), 2e-3 * normal()])
        np.testing.assert_allclose(result.signals["q_measured"][k], expected, rtol=1e-14, atol=1e-15)
        expected = result.dq[k] + np.array([1e-2 * normal(), 1e-2 * normal()])
        np.testing.assert_allclose(result.signals["dq_measured"][k], expected, rtol=1e-13, atol=1e-15)


def test_quantization() -> None:
    result = run(Sensors(position_resolution=[1e-3, 0.0], velocity_resolution=0.5))
    steps = result.signals["q_measured"][:, 0] / 1e-3
    np.testing.assert_allclose(steps, np.round(steps), atol=1e-9)
    assert np.abs(result.signals["q_measured"][:, 0] - result.q[:, 0]).max() <= 0.5e-3 + 1e-12
    np.testing.assert_array_equal(result.signals["q_measured"][:, 1], result.q[:, 1])
    assert set(np.unique(np.round(result.signals["dq_measured"] / 0.5, 9) % 1)) == {0.0}


def test_delay() -> None:
    result = run(Sensors(delay=3e-3))
    for name in ("q", "dq"):
        seen, truth = result.signals[f"{name}_measured"], getattr(result, name)
        np.testing.assert_array_equal(seen[3:], truth[:-3])
        np.testing.assert_array_equal(seen[:3], np.tile(truth[0], (3, 1)))


def test_velocity_of_an_estimator() -> None:
    estimator = FirstOrderDerivative(60.0)
    result = run(Sensors(position_resolution=1e-4, delay=1e-3, velocity=estimator))
    expected = FirstOrderDerivative(60.0).apply(1e-3, result.signals["q_measured"]).dq
    np.testing.assert_allclose(result.signals["dq_measured"], expected, atol=1e-12)
    assert result == run(Sensors(position_resolution=1e-4, delay=1e-3, velocity=estimator))  # it starts anew


def test_missing_readings_are_nan_and_the_torque_is_safe() -> None:
    result = run(Sensors(dropout=0.3, seed=5), 1.0)
    missing = np.isnan(result.signals["q_measured"]).all(axis=1)
    np.testing.assert_array_equal(missing, np.isnan(result.signals["dq_measured"]).any(axis=1))
    assert missing.mean() == pytest.approx(0.3, abs=0.05)
    np.testing.assert_array_equal(result.status == Status.invalid_input, missing)
    assert np.isfinite(result.tau).all()
    estimated = run(Sensors(dropout=0.3, seed=5, velocity=FirstOrderDerivative(50.0)))
    assert np.isfinite(estimated.signals["dq_measured"]).all()


class Drift:
    """One joint at the speed 1."""

    n = 1

    def forward_dynamics(self, q: np.ndarray, dq: np.ndarray, tau: np.ndarray) -> np.ndarray:
        return np.zeros(1)

    def step(self, t: float, q: np.ndarray, dq: np.ndarray, reference: object) -> np.ndarray:
        return np.zeros(1)


@pytest.mark.parametrize("dropout", [0.01, 0.3, 0.9])
@pytest.mark.parametrize(
    "estimator",
    [FirstOrderDerivative(50.0), ButterworthDerivative(50.0), SavitzkyGolayDerivative(21, 2)],
    ids=lambda estimator: type(estimator).__name__,
)
def test_estimated_velocities_are_right_under_dropout(estimator: DerivativeEstimator, dropout: float) -> None:
    sensors = Sensors(dropout=dropout, seed=5, velocity=estimator)
    result = th.simulate(Drift(), Drift(), lambda t: None, 1.0, q0=[0.0], dq0=[1.0], sensors=sensors)
    seen = result.signals["dq_measured"][result.t > 0.2]
    assert np.mean(seen) == pytest.approx(1.0, rel=0.01)
    np.testing.assert_allclose(seen, 1.0, rtol=0.05)


def test_python_controllers_and_plants_are_sensed_too() -> None:
    seen: list[np.ndarray] = []

    class Watch:
        def step(self, t: float, q: np.ndarray, dq: np.ndarray, reference: object) -> np.ndarray:
            seen.append(np.concatenate([q, dq]))
            return np.zeros(2)

    result = th.simulate(elbow(), Watch(), elbow_motion(), 0.02, sensors=Sensors(position_noise=0.1, seed=1))
    expected = np.hstack([result.signals["q_measured"], result.signals["dq_measured"]])
    np.testing.assert_array_equal(np.array(seen), expected)


def test_sensors_keep_what_they_log_for_themselves() -> None:
    assert "q_measured" in run(Sensors(), log=("q_measured", "error")).signals

    class Taken:
        def __init__(self) -> None:
            self.signals = {"q_measured": np.zeros(2)}

        def step(self, t: float, q: np.ndarray, dq: np.ndarray, reference: object) -> np.ndarray:
            return np.zeros(2)

    with pytest.raises(ValueError, match=r"^controller.signals must not use the names q_measured"):
        th.simulate(elbow(), Taken(), elbow_motion(), 0.01)


def test_refusals() -> None:
    assert_refused(
        ({"position_noise": -1.0}, "sensors position_noise must not be negative, got -1.0"),
        ({"velocity_resolution": [1.0]}, "sensors velocity_resolution must be a number or 2 numbers..."),
        ({"delay": 1.5e-3}, "sensors delay must be a whole multiple of the control period 0.001, got 0.0015"),
        ({"delay": -1e-3}, "sensors delay must not be negative, got -0.001"),
        ({"dropout": 1.0}, "sensors dropout must be at least 0 and less than 1, got 1"),
        ({"seed": -1}, "seed must be an integer from 0 to 2**64 - 1, got -1"),
        ({"velocity": "differences"}, "velocity must be 'measured' or a DerivativeEstimator, got 'differences'"),
        ({"velocity": FirstOrderDerivative(10.0), "velocity_noise": 1.0}, "velocity_noise and velocity_resolution..."),
        ({"velocity": FirstOrderDerivative(600.0)}, "cutoff must be below half of the sampling rate, 500..."),
        call=lambda **arguments: run(Sensors(**arguments)),
    )
    assert_refused((lambda: run(3), "sensors must be Sensors or None, got 3"))
