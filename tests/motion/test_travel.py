"""Length, peak speed and peak acceleration of motions, and what exceeds those of others."""

import numpy as np
import pytest

from thunder_py.motion.travel import excesses, travel

TAU = np.linspace(0.0, 1.0, 401)
STEP_1, STEP_2 = 30.0 * TAU**2 * (1.0 - TAU) ** 2, 60.0 * TAU - 180.0 * TAU**2 + 120.0 * TAU**3


def test_travel_of_minimum_jerk_by_unit() -> None:
    """Two motions of three coordinates, two in meters, one in radians."""
    way, T = np.array([[3.0, 4.0, 0.5], [0.3, 0.4, 2.0]]), np.array([2.0, 0.5])
    dx = way[:, None] * STEP_1[:, None] / T[:, None, None]
    ddx = way[:, None] * STEP_2[:, None] / T[:, None, None] ** 2
    size = travel(dx, ddx, T, [[0, 1], [2]])
    distance = np.array([[5.0, 0.5], [0.5, 2.0]])
    peaks = np.array([1.0, 1.875, 10.0 / np.sqrt(3.0)])
    expected = distance[:, None] * peaks[:, None] / T[:, None, None] ** np.arange(3)[:, None]
    np.testing.assert_allclose(size, expected, rtol=1e-4)


def test_excesses_name_quantity_ratio_and_reference() -> None:
    size = np.array([[4.0, 1.0], [3.0, 1.0], [9.0, 1.0]])
    (one,) = excesses(size, np.array([[2.0, np.nan], [2.0, np.nan], [2.0, np.nan]]), ["m", "rad"], "minimum jerk")
    assert (one.quantity, one.unit, one.value, one.reference) == ("path length", "m", 4.0, "minimum jerk")
    assert one.ratio == pytest.approx(2.0)
    assert one.ratio > one.limit
    assert str(one) == "path length of 4 m, 2 times that of minimum jerk (limit 1.5)"
