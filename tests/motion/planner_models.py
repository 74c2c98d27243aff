"""Components that tests plan with."""

from functools import cache
from types import SimpleNamespace

import numpy as np
from scipy.interpolate import BSpline

from thunder_py.motion import FPCA, SplineBasis
from thunder_py.motion.alignment import turns_from_start
from thunder_py.recordings.synthetic import daily_living, minimum_jerk_reaches


@cache
def reaches():
    """Reaches that begin and end in motion."""
    return minimum_jerk_reaches(80, seed=3, boundary_velocity=0.2, boundary_acceleration=1.0)


@cache
def fitted(kind: str) -> FPCA:
    """Models by name."""
    if kind == "paper":
        return FPCA.paper(reaches())
    if kind == "pose":
        return FPCA(shrinkage=0.2, joint=False, alignment="none").fit(turns_from_start(daily_living(60, seed=2)))
    if kind == "pose joint aligned":
        return FPCA(shrinkage=0.2, joint=True, alignment="path").fit(away())
    options = {
        "plain": {},
        "joint": {"joint": True},
        "aligned": {"alignment": "path"},
        "joint aligned": {"joint": True, "alignment": "path"},
    }
    return FPCA(shrinkage=0.1, **({"alignment": "none"} | options[kind])).fit(reaches())


def away():
    """The first half of daily motions: they go out and come back, and an aligned model needs them to arrive."""
    motions = daily_living(60, seed=2).map(lambda trial: trial.slice(trial.t[0], trial.t[0] + 0.45 * trial.duration))
    return turns_from_start(motions)


def joints() -> FPCA:
    """Seven joints."""
    rng, tau = np.random.default_rng(1), np.linspace(0.0, 1.0, 101)[:, None]
    shape = 10 * tau**3 - 15 * tau**4 + 6 * tau**5
    q = [rng.normal(size=7) + shape * rng.normal(size=7) for _ in range(30)]
    return FPCA(shrinkage=0.2, alignment="none").fit(np.array(q), dofs=[f"q{i + 1}" for i in range(7)])


def polynomials(dofs=("x", "y", "z"), powers=range(1, 6), mean=None, joint=False) -> SimpleNamespace:
    """Components that are orthonormal polynomials without mean, a stand-in for a fitted FPCA."""
    basis = SplineBasis(9, degree=5)
    tau, weights = basis.quadrature()
    values = np.polynomial.legendre.legvander(2 * tau - 1, max(powers))[:, list(powers)]
    values /= np.sqrt(weights @ values**2)
    B = basis.evaluate(tau)
    coefficients = np.linalg.lstsq(B, values, rcond=None)[0]  # (K, n)
    d, n = len(dofs), len(list(powers))
    if joint:
        components = np.zeros((n * d, 9, d))
        for k in range(d):
            components[np.arange(n) * d + k, :, k] = coefficients.T
        variances = np.repeat(0.5 ** np.arange(n), d)
    else:
        components = np.repeat(coefficients.T[:, :, None], d, axis=2)
        variances = np.repeat(0.5 ** np.arange(n)[:, None], d, axis=1)
    return SimpleNamespace(
        basis_=basis,
        dofs=tuple(dofs),
        units=("m",) * d,
        joint=joint,
        frames_=None,
        alignment="none",
        alignment_="none",
        mean_coefficients_=np.zeros((9, d)) if mean is None else mean,
        component_coefficients_=components,
        explained_variance_=variances,
        shrinkage_=0.0,
        scores_=np.zeros((0, *variances.shape)),
        n_components_=len(variances),
    )


def spline_rows(fpca, tau: float, derivative: int, dof: int):
    """S_0 and S_i of one coordinate by SciPy, differentiated."""
    k, knots = fpca.basis_.degree, fpca.basis_.knots
    mean = BSpline(knots, fpca.mean_coefficients_[:, dof], k)
    parts = BSpline(knots, fpca.component_coefficients_[:, :, dof].T, k)
    if derivative:
        mean, parts = mean.derivative(derivative), parts.derivative(derivative)
    return float(mean(tau)), np.asarray(parts(tau))


def boundary(rng, d: int = 3, n: int | None = None):
    """Random positions, velocities and accelerations at both ends."""
    shape = (d,) if n is None else (n, d)
    scales = (1.0, 1.0, 0.5, 0.5, 2.0, 2.0)
    return [scale * rng.normal(size=shape) for scale in scales]
