"""Functional components against scikit-fda, where both define them: one coordinate, one basis, variances over R - 1."""

from __future__ import annotations

import numpy as np
import pytest

from thunder_py.motion.fpca.curves import read_curves
from thunder_py.motion.fpca.fpca import FPCA
from thunder_py.motion.fpca.splines import SplineBasis, smooth

pytestmark = pytest.mark.filterwarnings("ignore")  # of scikit-fda
RNG = np.random.default_rng(23)
TAU = np.linspace(0.0, 1.0, 120)


def fda(module):
    """A module of scikit-fda, imported late: it takes seconds."""
    return pytest.importorskip(f"skfda.{module}")


def oracle_basis(basis):
    kind = fda("representation.basis").BSplineBasis
    return kind(domain_range=(0, 1), order=basis.degree + 1, knots=basis.breaks.tolist())


def oracle_components(basis, coefficients):
    oracle = fda("preprocessing.dim_reduction").FPCA(n_components=basis.n_functions - 1)
    return oracle, oracle.fit_transform(fda("representation").FDataBasis(oracle_basis(basis), coefficients))


@pytest.fixture(scope="module", params=[5, 4])
def motions(request):
    basis = SplineBasis(15, degree=request.param)
    c = RNG.normal(size=(40, 15, 2)).cumsum(axis=1)
    return basis, c, basis.evaluate(TAU) @ c


@pytest.mark.parametrize("demean", [False, True])
def test_components_scores_and_variances(motions, demean):
    basis, c, y = motions
    ours = FPCA(14, basis=basis, smoothing=None, demean=demean, alignment="none", shrinkage=0.0).fit(y)
    if demean:  # scikit-fda knows no x_bar; take it off before
        c = c - np.einsum("k,rkd->rd", basis.integrals(), c)[:, None]
    for k in range(2):
        oracle, scores = oracle_components(basis, c[:, :, k])
        theirs, mine = oracle.components_.coefficients, ours.component_coefficients_[:, :, k]
        signs = np.sign((theirs * mine).sum(axis=1))[:, None]
        np.testing.assert_allclose(signs * theirs, mine, atol=1e-8)
        np.testing.assert_allclose(scores * signs[:, 0], ours.scores_[:, :, k], atol=1e-8)
        np.testing.assert_allclose(oracle.explained_variance_, ours.variances_[:, k], rtol=1e-8)
        np.testing.assert_allclose(oracle.explained_variance_ratio_, ours.explained_variance_ratio_[:, k], atol=1e-12)
        np.testing.assert_allclose(oracle.mean_.coefficients[0], ours.mean_coefficients_[:, k], atol=1e-12)


@pytest.mark.parametrize("weight", [1e-8, 1e-4])
def test_penalized_splines(weight):
    basis = SplineBasis()
    y = np.sin(5.0 * TAU) + 0.05 * RNG.normal(size=(5, len(TAU)))
    penalty = fda("misc.regularization").L2Regularization(fda("misc.operators").LinearDifferentialOperator(3))
    smoother = fda("preprocessing.smoothing").BasisSmoother(
        oracle_basis(basis), smoothing_parameter=weight, regularization=penalty, return_basis=True
    )
    theirs = smoother.fit_transform(fda("representation").FDataGrid(y, TAU)).coefficients
    ours = smooth(read_curves(y[:, :, None]), basis, weight).coefficients[:, :, 0]
    np.testing.assert_allclose(ours, theirs, atol=1e-8)
