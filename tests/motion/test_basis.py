"""B-splines on [0, 1] against SciPy's own, quadrature and finite differences."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad_vec
from scipy.interpolate import BSpline

from tests.refusals import assert_refused
from thunder_py.motion.fpca.splines import SplineBasis

TAU = np.linspace(0.0, 1.0, 157)
UNEVEN = SplineBasis(degree=3, knots=[0, 0, 0, 0, 0.1, 0.35, 0.8, 1, 1, 1, 1])
BASES = [SplineBasis(), SplineBasis(15, degree=4), SplineBasis(6), SplineBasis(4, degree=1), UNEVEN]


@pytest.mark.parametrize("basis", BASES, ids=repr)
class TestEveryBasis:
    def test_functions_are_splines_that_sum_to_one(self, basis):
        B = basis.evaluate(TAU)
        assert B.shape == (len(TAU), basis.n_functions)
        np.testing.assert_allclose(B, BSpline.design_matrix(TAU, basis.knots, basis.degree).toarray(), atol=1e-14)
        np.testing.assert_allclose(B.sum(axis=1), 1.0, atol=1e-14)
        np.testing.assert_allclose(basis.evaluate(TAU, 1).sum(axis=1), 0.0, atol=1e-11)

    def test_ends_are_clamped(self, basis):
        ends = basis.evaluate([0.0, 1.0])
        np.testing.assert_allclose(ends, np.eye(basis.n_functions)[[0, -1]], atol=1e-15)

    @pytest.mark.parametrize("derivative", [0, 2, 3])
    def test_gram_is_the_integral(self, basis, derivative):
        gram = basis.gram(derivative)
        parts = [
            quad_vec(lambda s: np.outer(b := basis.evaluate([s], derivative)[0], b), left + 1e-15, right - 1e-15)[0]
            for left, right in zip(basis.breaks[:-1], basis.breaks[1:], strict=True)
        ]
        np.testing.assert_allclose(gram, sum(parts), rtol=1e-9, atol=1e-9 * max(np.abs(gram).max(), 1e-9))
        np.testing.assert_array_equal(gram, gram.T)

    def test_integrals(self, basis):
        nodes, weights = basis.quadrature()
        np.testing.assert_allclose(basis.integrals(), weights @ basis.evaluate(nodes), atol=1e-15)

    def test_polynomials_piece_by_piece(self, basis):
        c = np.random.default_rng(0).normal(size=(basis.n_functions, 2))
        pieces = basis.to_ppoly(c)
        np.testing.assert_array_equal(pieces.x, basis.breaks)
        assert pieces.c.shape == (basis.degree + 1, len(basis.breaks) - 1, 2)
        for order in range(basis.degree):
            expected = basis.evaluate(TAU, order) @ c
            np.testing.assert_allclose(pieces(TAU, order), expected, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize("derivative", [1, 2, 3])
def test_derivatives_are_finite_differences(derivative):
    basis, h = SplineBasis(), 1e-5
    tau = np.linspace(0.01, 0.99, 98)
    slope = (basis.evaluate(tau + h, derivative - 1) - basis.evaluate(tau - h, derivative - 1)) / (2.0 * h)
    exact = basis.evaluate(tau, derivative)
    np.testing.assert_allclose(exact, slope, atol=1e-6 * np.abs(exact).max())


def test_quintics_are_in_the_default_space():
    basis = SplineBasis()
    nodes, weights = basis.quadrature()
    powers = nodes[:, None] ** np.arange(6)
    B = basis.evaluate(nodes)
    c = np.linalg.solve(basis.gram(), B.T @ (weights[:, None] * powers))
    np.testing.assert_allclose(basis.evaluate(TAU) @ c, TAU[:, None] ** np.arange(6), atol=1e-12)


def test_beyond_the_degree_there_is_nothing():
    np.testing.assert_array_equal(SplineBasis(5, degree=2).evaluate(TAU, 3), 0.0)


def test_bad_arguments():
    assert_refused(
        (lambda: SplineBasis(5), "...n_functions must be a whole number of at least 6, got 5..."),
        (lambda: SplineBasis(15.0), "...n_functions must be a whole number..."),
        (lambda: SplineBasis(True), "...n_functions must be a whole number..."),
        (lambda: SplineBasis(15, degree=0), "...degree must be a whole number of at least 1..."),
        (lambda: SplineBasis(degree=1, knots=[0, 0, 0.5, 0.4, 1, 1]), "...increasing..."),
        (lambda: SplineBasis(degree=1, knots=[0, 0, 0.5, 1]), "...0 and 1, each 2 times..."),
        (lambda: SplineBasis(degree=1, knots=[0, 0, np.nan, 1, 1]), "...increasing..."),
        (lambda: SplineBasis(degree=2, knots=[0, 1]), "...at least 6 numbers..."),
        (lambda: SplineBasis(3, degree=1, knots=[0, 0, 1, 1]), "...define 2 functions..."),
        (lambda: SplineBasis().evaluate([0.5, 1.1]), "...tau must lie in [0, 1], got 1.1..."),
        (lambda: SplineBasis().evaluate([np.nan]), "...tau must lie in..."),
        (lambda: SplineBasis().evaluate(np.zeros((2, 2))), "...shape (T,)..."),
        (lambda: SplineBasis().evaluate([0.5], -1), "...derivative must be..."),
        (lambda: SplineBasis().spline(np.zeros(14)), "...(15, ...), got (14,)..."),
    )
