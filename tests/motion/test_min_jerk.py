"""Minimum-jerk motions: boundary conditions, derivatives, closed forms, and that nothing has less squared jerk."""

import numpy as np
import pytest
from scipy import integrate

from tests.refusals import assert_refused
from thunder_py.trajectory.hermite import minimum_jerk

START, GOAL, T = np.array([0.3, -0.2, 0.1]), np.array([0.7, 0.1, 0.4]), 0.8


def moving(seed=0, d=3):
    rng = np.random.default_rng(seed)
    state = rng.normal(size=(6, d))
    names = ["start_velocity", "goal_velocity", "start_acceleration", "goal_acceleration"]
    return state, minimum_jerk(state[0], state[1], 1.7, **dict(zip(names, state[2:], strict=True)))


def test_rest_to_rest_is_the_polynomial_of_flash_and_hogan():
    tau = np.linspace(0.0, 1.0, 11)
    motion = minimum_jerk(START, GOAL, T)
    expected = START + np.outer(10 * tau**3 - 15 * tau**4 + 6 * tau**5, GOAL - START)
    np.testing.assert_allclose(motion.position(tau * T), expected, rtol=0, atol=1e-15)
    peak = np.linalg.norm(motion.position(T / 2, 1))
    assert peak == pytest.approx(15 / 8 * np.linalg.norm(GOAL - START) / T, rel=1e-14)
    assert motion.squared_jerk() == pytest.approx(720 * np.sum((GOAL - START) ** 2) / T**5, rel=1e-14)


@pytest.mark.parametrize("d", [1, 3, 7])
def test_boundary_conditions(d):
    state, motion = moving(d, d)
    ends = [motion.position(t, k) for k in range(3) for t in (0.0, motion.duration)]
    np.testing.assert_allclose(ends, state, rtol=0, atol=2e-13)
    assert motion.dimension == d


def test_derivatives_by_finite_differences():
    _, motion = moving()
    t, h = np.linspace(0.1, 1.6, 9), 1e-5
    for k in range(5):
        difference = (motion.position(t + h, k) - motion.position(t - h, k)) / (2 * h)
        scale = np.abs(motion.position(t, k + 1)).max()
        np.testing.assert_allclose(motion.position(t, k + 1), difference, rtol=0, atol=1e-8 * scale)


def test_squared_jerk_is_its_integral():
    _, motion = moving(4)
    integral = integrate.quad(lambda t: float(np.sum(motion.position(t, 3) ** 2)), 0.0, motion.duration)[0]
    assert motion.squared_jerk() == pytest.approx(integral, rel=1e-12)


def test_bad_input():
    assert_refused(
        (lambda: minimum_jerk(START, GOAL, 0.0), "...duration must be a positive number of seconds, got 0.0..."),
        (lambda: minimum_jerk(START, GOAL[:2], 1.0), "...goal must have shape (3,), got (2,)..."),
        (lambda: minimum_jerk(START, GOAL, 1.0, goal_velocity=[np.nan, 0, 0]), "...goal_velocity must be finite..."),
        (lambda: minimum_jerk(START, GOAL, 1.0).position(0.5, 6), "...derivative must be between 0 and 5, got 6..."),
    )
