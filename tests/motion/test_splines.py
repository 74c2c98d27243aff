"""Penalized splines against the normal equations written out; cross-validation against its definition."""

import itertools
from functools import partial

import numpy as np
import pytest
from scipy.integrate import quad_vec
from scipy.interpolate import BSpline

from tests.refusals import assert_refused
from thunder_py.motion.fpca.curves import read_curves
from thunder_py.motion.fpca.splines import SplineBasis, smooth
from thunder_py.recordings import MotionSet, Trial

BASIS = SplineBasis()
RNG = np.random.default_rng(11)


def noisy_motions(count=6, samples=80, noise=1e-2):
    """Smooth random motions, white noise; array (count, samples, 3) and the motions without noise."""
    tau = np.linspace(0.0, 1.0, samples)
    waves = np.sin(np.pi * np.arange(1, 5) * tau[:, None])
    clean = np.einsum("ti,rid->rtd", waves, RNG.normal(size=(count, 4, 3)) / np.arange(1, 5)[:, None])
    return clean + noise * RNG.normal(size=clean.shape), clean


def normal_equations(tau, y, weight):
    valid = ~np.isnan(y)
    B = BASIS.evaluate(tau[valid])
    A = B.T @ B + weight * BASIS.gram(3)
    return np.linalg.solve(A, B.T @ y[valid]), np.trace(np.linalg.solve(A, B.T @ B))


@pytest.mark.parametrize("weight", [1e-9, 1e-6, 1e-3])
def test_equals_the_normal_equations(weight):
    y, _ = noisy_motions()
    result = smooth(read_curves(y), BASIS, weight)
    tau = np.linspace(0.0, 1.0, y.shape[1])
    for r, k in np.ndindex(6, 3):
        np.testing.assert_allclose(
            result.coefficients[r, :, k], normal_equations(tau, y[r, :, k], weight)[0], atol=1e-7
        )
    residual = y - BASIS.evaluate(tau) @ result.coefficients
    np.testing.assert_allclose(result.residual, np.sqrt((residual**2).mean(axis=(0, 1))), rtol=1e-9)


def test_without_penalty_splines_come_back():
    c = RNG.normal(size=(4, 15, 2))
    y = BASIS.evaluate(np.linspace(0.0, 1.0, 60)) @ c
    for smoothing in (None, 0.0):
        result = smooth(read_curves(y), BASIS, smoothing)
        np.testing.assert_allclose(result.coefficients, c, atol=1e-12)
        np.testing.assert_array_equal(result.smoothing, 0.0)


def gcv(y, weight, dofs):
    tau = np.linspace(0.0, 1.0, y.shape[1])
    squares = trace = 0.0
    for r in range(len(y)):
        for k in dofs:
            c, t = normal_equations(tau, y[r, :, k], weight)
            valid = ~np.isnan(y[r, :, k])
            squares += ((y[r, valid, k] - BASIS.evaluate(tau[valid]) @ c) ** 2).sum()
            trace += t
    n = np.isfinite(y[:, :, dofs]).sum()
    return n * squares / (n - trace) ** 2


@pytest.mark.parametrize("shared", [(), [[0, 2], [1]]])
def test_weight_minimizes_cross_validation(shared):
    y, _ = noisy_motions(count=4)
    y[1, 20:35, 0] = np.nan
    result = smooth(read_curves(y), BASIS, "gcv", shared=shared)
    for dofs in shared or [[0], [1], [2]]:
        weight = result.smoothing[dofs[0]]
        assert (result.smoothing[dofs] == weight).all()
        least = gcv(y, weight, dofs)
        factors = [*np.logspace(-2.0, 2.0, 9)[[0, 1, 2, 3, 5, 6, 7, 8]], 0.97, 1.03]
        assert all(gcv(y, factor * weight, dofs) > least for factor in factors)


def test_gaps_are_left_out():
    y, clean = noisy_motions(count=3, noise=0.0)
    y[0, 10:30, 1] = np.nan
    y[2, 40, :] = np.nan
    y[2, :2, 0] = np.nan
    tau = np.linspace(0.0, 1.0, y.shape[1])
    result = smooth(read_curves(y), BASIS, 1e-10)
    for r, k in ((0, 1), (2, 0), (2, 1), (0, 0)):
        np.testing.assert_allclose(result.coefficients[r, :, k], normal_equations(tau, y[r, :, k], 1e-10)[0], atol=1e-6)
    assert np.abs(BASIS.evaluate(tau) @ result.coefficients - clean).max() < 2e-2


@pytest.mark.filterwarnings("ignore::thunder_py.recordings.RecordingWarning")  # numbers without meaning
def test_lengths_and_clocks_differ():
    """Each motion over its own time; the same spline sampled in three ways has the same coefficients."""
    c = RNG.normal(size=(15, 3))
    clocks = [np.linspace(0.0, 1.3, 40), 5.0 + np.linspace(0.0, 0.4, 90), np.sort(RNG.uniform(2.0, 3.0, 70))]
    trials = [Trial.from_positions(t, BASIS.evaluate((t - t[0]) / (t[-1] - t[0])) @ c) for t in clocks]
    curves = read_curves(MotionSet(trials))
    np.testing.assert_allclose(curves.durations, [1.3, 0.4, clocks[2][-1] - clocks[2][0]], rtol=1e-14)
    result = smooth(curves, BASIS, None)
    np.testing.assert_allclose(result.coefficients, np.broadcast_to(c, (3, 15, 3)), atol=1e-8)


def test_fewer_samples_than_functions_need_a_penalty():
    y, _ = noisy_motions(count=2, samples=10)
    result = smooth(read_curves(y), BASIS, 1e-5)
    B = BASIS.evaluate(np.linspace(0.0, 1.0, 10))
    A = B.T @ B + 1e-5 * BASIS.gram(3)
    np.testing.assert_allclose(A @ result.coefficients, B.T @ y, atol=1e-8)
    assert np.isfinite(smooth(read_curves(y), BASIS).coefficients).all()
    assert_refused((lambda: smooth(read_curves(y), BASIS, None), "...at least 15 samples ... got 10 in trial 0..."))


def with_gap(where):
    y, _ = noisy_motions(count=3)
    y[2, where] = np.nan
    return y


@pytest.mark.filterwarnings("ignore:.*nothing measured")
def test_bad_arguments():
    def given(y, smoothing):
        return smooth(read_curves(y), BASIS, smoothing)

    cases = (
        (with_gap(slice(5, None)), "gcv", "...at least 6 samples ... got 5 in trial 2..."),
        (with_gap(slice(0, 20)), "gcv", "...got samples of trial 2 from tau = 0.25 to 1.00..."),
        (with_gap(slice(60, None)), 1e-6, "...got samples of trial 2 from tau = 0.00 to 0.75..."),
        (with_gap(slice(10, 69)), None, "samples of trial 2 must determine all basis functions, got a gap..."),
    )
    assert_refused(*((partial(given, *case), message) for *case, message in cases))


# --- B-splines on [0, 1] against SciPy's own, quadrature and finite differences ---
TAU = np.linspace(0.0, 1.0, 157)
UNEVEN = SplineBasis(degree=3, knots=[0, 0, 0, 0, 0.1, 0.35, 0.8, 1, 1, 1, 1])
BASES = [SplineBasis(), SplineBasis(15, degree=4), SplineBasis(6), SplineBasis(4, degree=1), UNEVEN]


@pytest.mark.parametrize("basis", BASES, ids=repr)
def test_functions_are_those_of_scipy(basis):
    tau = np.linspace(0.0, 1.0, 157)
    B = basis.evaluate(tau)
    np.testing.assert_allclose(B, BSpline.design_matrix(tau, basis.knots, basis.degree).toarray(), atol=1e-14)
    np.testing.assert_allclose(basis.evaluate(tau, 1).sum(axis=1), 0.0, atol=1e-11)
    np.testing.assert_allclose(basis.evaluate([0.0, 1.0]), np.eye(basis.n_functions)[[0, -1]], atol=1e-15)
    nodes, weights = basis.quadrature()
    np.testing.assert_allclose(basis.integrals(), weights @ basis.evaluate(nodes), atol=1e-15)
    c = np.random.default_rng(0).normal(size=(basis.n_functions, 2))
    pieces = basis.to_ppoly(c)
    np.testing.assert_array_equal(pieces.x, basis.breaks)
    for order in range(basis.degree):
        expected = basis.evaluate(tau, order) @ c
        np.testing.assert_allclose(pieces(tau, order), expected, atol=1e-12 * np.abs(expected).max())
    for derivative in (0, 2, 3):
        gram = basis.gram(derivative)
        parts = [
            quad_vec(lambda s, k=derivative: np.outer(b := basis.evaluate([s], k)[0], b), a + 1e-15, b - 1e-15)[0]
            for a, b in itertools.pairwise(basis.breaks)
        ]
        np.testing.assert_allclose(gram, sum(parts), rtol=1e-9, atol=1e-9 * max(np.abs(gram).max(), 1e-9))


@pytest.mark.parametrize("derivative", [1, 2, 3])
def test_derivatives_are_finite_differences(derivative):
    basis, h = SplineBasis(), 1e-5
    tau = np.linspace(0.01, 0.99, 98)
    slope = (basis.evaluate(tau + h, derivative - 1) - basis.evaluate(tau - h, derivative - 1)) / (2.0 * h)
    exact = basis.evaluate(tau, derivative)
    np.testing.assert_allclose(exact, slope, atol=1e-6 * np.abs(exact).max())


def test_bad_arguments_of_basis():
    assert_refused(
        (lambda: SplineBasis(5), "...n_functions must be a whole number of at least 6, got 5..."),
        (lambda: SplineBasis(15.0), "...n_functions must be a whole number..."),
        (lambda: SplineBasis(True), "...n_functions must be a whole number..."),
        (lambda: SplineBasis(15, degree=0), "...degree must be a whole number of at least 1..."),
        (lambda: SplineBasis(degree=1, knots=[0, 0, 0.5, 0.4, 1, 1]), "...increasing..."),
        (lambda: SplineBasis(degree=1, knots=[0, 0, 0.5, 1]), "...0 and 1, each 2 times..."),
        (lambda: SplineBasis(degree=1, knots=[0, 0, np.nan, 1, 1]), "...increasing..."),
        (lambda: SplineBasis(degree=2, knots=[0, 1]), "...0 and 1, each 3 times..."),
        (
            lambda: SplineBasis(3, degree=1, knots=[0, 0, 1, 1]),
            "n_functions must be 2 with these knots and degree 1, got 3",
        ),
        (lambda: SplineBasis().evaluate([0.5, 1.1]), "...tau must lie in [0, 1], got 1.1..."),
        (lambda: SplineBasis().evaluate([np.nan]), "...tau must lie in..."),
        (lambda: SplineBasis().evaluate(np.zeros((2, 2))), "tau must have 1 dimension..."),
        (lambda: SplineBasis().evaluate([0.5], -1), "...derivative must be..."),
        (lambda: SplineBasis().spline(np.zeros(14)), "...(15, ...), got (14,)..."),
    )
