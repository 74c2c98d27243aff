import numpy as np

from tests.refusals import assert_refused
from thunder_py.trajectory import FourierSeries

RNG = np.random.default_rng(5)
A, B, Q0 = RNG.normal(size=(3, 4)), RNG.normal(size=(3, 4)), RNG.normal(size=3)
SERIES = FourierSeries(A, B, Q0, 0.25)


def test_is_the_formula() -> None:
    t = np.linspace(0.0, 5.0, 11)
    w = 2 * np.pi * 0.25 * np.arange(1, 5)
    expected = Q0 + np.sin(np.outer(t, w)) @ (A / w).T - np.cos(np.outer(t, w)) @ (B / w).T
    np.testing.assert_allclose(SERIES(t).q, expected, atol=1e-13)
    np.testing.assert_allclose(SERIES(0.0).q, Q0 - (B / w).sum(axis=1), atol=1e-14)
    np.testing.assert_allclose(SERIES(0.0).dq, A.sum(axis=1), atol=1e-14)


def test_derivatives_are_consistent() -> None:
    t, h = np.linspace(-1.0, 6.0, 29), 1e-5
    np.testing.assert_allclose((SERIES(t + h).q - SERIES(t - h).q) / (2 * h), SERIES(t).dq, atol=1e-7)
    np.testing.assert_allclose((SERIES(t + h).dq - SERIES(t - h).dq) / (2 * h), SERIES(t).ddq, atol=1e-6)


def test_duration_is_a_period() -> None:
    t = np.linspace(0.0, 4.0, 9)
    for one, other in zip(SERIES(t), SERIES(t + SERIES.duration), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-11)


def test_refusals() -> None:
    assert_refused(
        (((A, B[:2], Q0, 1.0),), "b must have shape (3, 4), got (2, 4)"),
        (((A, B, Q0[:2], 1.0),), "q0 must have shape (3,), got (2,)"),
        (((A[0], B, Q0, 1.0),), "a must have shape (n, n), got (4,)"),
        (((np.zeros((3, 0)), np.zeros((3, 0)), Q0, 1.0),), "a must have at least one joint and one harmonic..."),
        (((A, B, Q0, 0.0),), "fundamental must be positive, got 0"),
        (((A, B, Q0, np.nan),), "fundamental must be positive..."),
        (((A * np.inf, B, Q0, 1.0),), "a must be finite..."),
        call=lambda arguments: FourierSeries(*arguments),
    )
