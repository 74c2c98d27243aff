"""How close two arrays are, and derivatives by differences that are good to ten digits."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


def assert_close(actual: npt.ArrayLike, expected: npt.ArrayLike, tolerance: float = 1e-10) -> None:
    """Assert equal shapes, and equal entries up to `tolerance` times the largest one (or 1)."""
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert actual.shape == expected.shape
    scale = max(1.0, np.abs(expected).max(initial=0.0))
    np.testing.assert_allclose(actual, expected, rtol=0.0, atol=tolerance * scale)


def derivative(f: Callable[[float], Array], h: float = 2e-3) -> Array:
    """df/dt at 0 by the central stencil of eighth order.

    For a function that oscillates at w rad/s it cuts off (h w)^8 / 630, 1e-12 at w = 20, and rounding costs 1e-13:
    a derivative that is right agrees to 1e-9, one that is wrong in any term does not.
    """
    weights = (4 / 5, -1 / 5, 4 / 105, -1 / 280)
    return sum(w * (f(k * h) - f(-k * h)) for k, w in enumerate(weights, start=1)) / h


def path(q: Array, dq: Array, ddq: Array | float = 0.0, d3q: Array | float = 0.0) -> Callable[[float], Array]:
    """The motion with this position, velocity and acceleration at t = 0, and this constant jerk."""
    return lambda t: q + t * dq + t * t / 2 * np.asarray(ddq) + t**3 / 6 * np.asarray(d3q)
