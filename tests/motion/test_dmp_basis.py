"""Basis functions, forcing terms and their fits, against their formulae."""

from __future__ import annotations

import numpy as np
import pytest

from tests.refusals import assert_refused
from thunder_py.errors import UnknownNameError
from thunder_py.motion.primitives.bases import BASES, DMPBasis, Fit

COMPACT = [name for name in BASES if name != "gaussian"]


def test_centers_and_widths_are_those_of_the_paper() -> None:
    basis = DMPBasis(21, "mollifier", alpha=4.0)
    i = np.arange(21)
    np.testing.assert_allclose(basis.centers, np.exp(-4.0 * i / 20), rtol=1e-14)
    np.testing.assert_allclose(basis.widths[:-1], 1.0 / np.abs(np.diff(basis.centers)), rtol=1e-12)
    assert basis.widths[-1] == basis.widths[-2]
    np.testing.assert_allclose(DMPBasis(21, "mollifier", overlap=2.0).widths, 0.5 * basis.widths, rtol=1e-12)


def test_functions_are_their_formulae() -> None:
    x = np.linspace(0.01, 1.0, 400)
    for name in BASES:
        basis = DMPBasis(7, name, alpha=3.0, overlap=1.5)
        r = np.abs(basis.widths * (x[:, None] - basis.centers))
        inside = np.where(r < 1.0, r, 0.0)
        expected = {
            "gaussian": np.exp(-(r**2)),
            "mollifier": np.exp(-1.0 / (1.0 - inside**2)) * (r < 1.0),
            "wendland_c2": (1.0 - inside) ** 4 * (4.0 * inside + 1.0) * (r < 1.0),
            "wendland_c4": (1.0 - inside) ** 6 * (35.0 * inside**2 + 18.0 * inside + 3.0) / 3.0 * (r < 1.0),
        }[name]
        np.testing.assert_allclose(basis.evaluate(x), expected, rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("name", list(BASES))
def test_forcing_is_the_design_times_the_weights(name: str) -> None:
    basis = DMPBasis(9, name, overlap=1.3)
    weights = np.random.default_rng(1).normal(size=(9, 4))
    x = np.linspace(0.02, 1.0, 200)
    np.testing.assert_allclose(basis.forcing(weights, x), basis.design(x) @ weights, atol=1e-13)
    constant = np.full((9, 1), 2.5)  # normalized functions add up to one
    np.testing.assert_allclose(basis.forcing(constant, x)[:, 0], 2.5 * x, atol=1e-13)


@pytest.mark.parametrize("name", COMPACT)
def test_forcing_is_zero_where_no_function_is(name: str) -> None:
    basis = DMPBasis(21, name)
    edge = basis.centers[-1] - 1.0 / basis.widths[-1]
    for x in ([edge, 0.5 * edge, 1e-9, 0.0], [1.0 + 1.0 / basis.widths[0], 3.0, 1e8]):
        np.testing.assert_array_equal(basis.forcing(np.ones((21, 2)), x), 0.0)
        np.testing.assert_array_equal(basis.design(x), 0.0)


def test_ginesis_widths_share_a_phase_between_two_functions_at_most() -> None:
    x = np.linspace(np.exp(-4.0), 1.0, 5000)
    assert (DMPBasis(21, "mollifier").evaluate(x) > 0.0).sum(axis=1).max() == 2
    assert (DMPBasis(21, "mollifier", overlap=2.0).evaluate(x) > 0.0).sum(axis=1).max() > 2


def _samples(n: int = 300) -> tuple[np.ndarray, np.ndarray]:
    t = np.linspace(0.0, 1.0, n) ** 1.3
    step = np.diff(t)
    return np.exp(-4.0 * t), 0.5 * (np.append(step, 0.0) + np.insert(step, 0, 0.0))


def test_least_squares_are_weighted_by_time() -> None:
    x, share = _samples()
    basis = DMPBasis(12, "gaussian")
    target = np.sin(9.0 * x)[:, None] * [1.0, -2.0]
    factor = np.array([1.0, 0.3]) * np.ones_like(target)
    fit = Fit(basis, x, share, "ls")
    weights = fit.weights(target, factor)
    for k in range(2):
        A = np.sqrt(share)[:, None] * factor[:, k : k + 1] * basis.design(x)
        np.testing.assert_allclose(
            weights[:, k], np.linalg.lstsq(A, np.sqrt(share) * target[:, k], rcond=None)[0], rtol=1e-8
        )
    assert 1.0 < fit.condition < 1e4


def test_local_regression_is_its_formula() -> None:
    x, share = _samples()
    basis = DMPBasis(12, "mollifier", overlap=1.5)
    target = np.cos(5.0 * x)[:, None]
    weights = Fit(basis, x, share, "lwr").weights(target, np.full_like(target, 0.7))
    psi, s = basis.evaluate(x) * share[:, None], 0.7 * x
    expected = [(psi[:, i] * s * target[:, 0]).sum() / (psi[:, i] * s * s).sum() for i in range(12)]
    np.testing.assert_allclose(weights[:, 0], expected, rtol=1e-12)


def test_weights_are_found_again() -> None:
    x, share = _samples()
    basis = DMPBasis(15, "wendland_c4", overlap=2.0)
    weights = np.random.default_rng(2).normal(size=(15, 3))
    target = basis.forcing(weights, x)
    np.testing.assert_allclose(Fit(basis, x, share, "ls").weights(target, np.ones_like(target)), weights, atol=1e-9)


def test_what_cannot_be_fitted_is_refused() -> None:
    x, share = _samples(10)
    assert_refused(
        (lambda: Fit(DMPBasis(21), x, share, "ls"), "...at least n_basis = 21 samples, got 10..."),
        (lambda: Fit(DMPBasis(10, "mollifier", overlap=0.1), x, share, "ls"), "...got none for number..."),
    )
    x, share = _samples(60)
    assert_refused(
        (
            lambda: Fit(DMPBasis(50, "gaussian", overlap=40.0), x, share, "ls").weights(
                np.ones((60, 1)), np.ones((60, 1))
            ),
            "...must determine the weights, got a singular design matrix...",
        ),
        (lambda: Fit(DMPBasis(5), x, share, "lwrr"), "...did you mean 'lwr'...", UnknownNameError),
    )


def test_bad_bases_are_refused() -> None:
    def given(**arguments):
        return DMPBasis(**arguments)

    assert_refused(
        (lambda: given(kind="mollifer"), "...did you mean 'mollifier'..."),
        (lambda: given(n_basis=1), "...n_basis must be a whole number from 2 to 10000, got 1..."),
        (lambda: given(n_basis=2.5), "...n_basis..."),
        (lambda: given(alpha=0.0), "...alpha must be a positive number..."),
        (lambda: given(overlap=float("nan")), "...overlap must be a positive number..."),
    )
