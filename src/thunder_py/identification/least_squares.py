"""Weighted least squares for the parameters that torques can tell apart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..checks import Array
from ..errors import ModelError, ThunderError
from ..robot import Robot, inertia
from ..robot.robot import BaseParameters

__all__ = [
    "ConsistentProblem",
    "Data",
    "Fit",
    "compress",
    "consistent_problem",
    "divergence",
    "excited",
    "fit",
    "fit_reweighted",
    "residual_rms",
    "solve_consistent",
    "spread",
]

#: iterations of reweighting, and the relative change of weights at which it ends
_ITERATIONS, _SETTLED = 50, 1e-6
#: of the torque's own size: noise cannot be told from rounding below
_SMALLEST_NOISE = 1e-9
#: relative size of a singular value (columns scaled to unit length) that counts as zero
_RANK_TOLERANCE = 1e-10


@dataclass(frozen=True)
class Data:
    """What is fitted: torque left by the prior, as deviations of the base parameters would explain it.

    Attributes
    ----------
    factors : (n, b + 1, b + 1) array
        Triangular factor of ``[W_j | tau_j]`` for each joint j, W_j the base columns of its rows of the regressor:
        all that least squares need to know.
    count : int
        Instants.
    scale : (n,) array
        Root mean square of the measured torque of each joint, at least a small part of the largest.
    """

    factors: Array
    count: int
    scale: Array


def compress(W: Array, tau: Array, scale: Array) -> Data:
    """Reduce columns (k, n, b) and torques (k, n) to triangular factors."""
    count, n, b = W.shape
    factors = np.zeros((n, b + 1, b + 1))
    for j in range(n):
        R = np.linalg.qr(np.column_stack([W[:, j], tau[:, j]]), mode="r")
        factors[j, : len(R)] = R
    return Data(factors, count, scale)


@dataclass(frozen=True)
class Fit:
    """A weighted least-squares solution.

    Attributes
    ----------
    deviation : (b,) array
        Of the base parameters from the prior.
    covariance : (b, b) array
        Of the deviation, for residuals that are white with the standard deviations `noise`.
    noise : (n,) array
        Standard deviations of the torque, one over the weights.
    rank : int
        Base parameters that the motion excites; along the rest nothing deviates.
    condition : float
        Of the weighted columns, scaled to unit length.
    """

    deviation: Array
    covariance: Array
    noise: Array
    rank: int
    condition: float


def residual_rms(data: Data, deviation: Array) -> Array:
    """Root mean square of what is left at each joint, (n,)."""
    left = data.factors @ np.append(deviation, -1.0)
    rms: Array = np.linalg.norm(left, axis=1) / np.sqrt(data.count)
    return rms


def fit(data: Data, noise: Array) -> Fit:
    """Solve once; columns are scaled so that the rank does not depend on units."""
    weighted = data.factors / noise[:, None, None]
    weighted = weighted.reshape(-1, weighted.shape[-1])
    U, s, Vt, lengths = _scaled_svd(weighted[:, :-1])
    kept = s > _RANK_TOLERANCE * s[0] if s[0] > 0.0 else np.zeros(s.size, dtype=bool)
    rank = int(kept.sum())
    inverse = Vt[kept].T / s[kept] / lengths[:, None]
    condition = float(s[0] / s[-1]) if rank == s.size else np.inf
    return Fit(inverse @ (U[:, kept].T @ weighted[:, -1]), inverse @ inverse.T, noise, rank, condition)


def excited(data: Data) -> npt.NDArray[np.bool_]:
    """Which base parameters take no part in any combination that the motion leaves out, (b,)."""
    rows = data.factors.reshape(-1, data.factors.shape[-1])
    _, s, Vt, _ = _scaled_svd(rows[:, :-1])
    return np.asarray((np.abs(Vt[s <= _RANK_TOLERANCE * s[0]]) < 1e-6).all(axis=0))


def _scaled_svd(W: Array) -> tuple[Array, Array, Array, Array]:
    """Singular value decomposition with columns scaled to unit length, and their lengths."""
    lengths = np.linalg.norm(W, axis=0)
    lengths[lengths == 0.0] = 1.0
    U, s, Vt = np.linalg.svd(W / lengths, full_matrices=False)
    return U, s, Vt, lengths


def fit_reweighted(data: Data) -> Fit:
    """Solve with weights and residuals that agree: the noise of each joint is the root mean square of its residual."""
    k, n = data.count, len(data.factors)
    floor = _SMALLEST_NOISE * data.scale
    noise = data.scale.copy()
    for _ in range(_ITERATIONS):
        found = fit(data, noise)
        # the fit takes rank / n degrees of freedom from each joint, if from all alike
        freedom = max(k - found.rank / n, 1.0) / k
        fresh = np.maximum(residual_rms(data, found.deviation) / np.sqrt(freedom), floor)
        settled = np.abs(fresh - noise).max() <= _SETTLED * noise.max() and (np.abs(fresh / noise - 1.0) < 1e-3).all()
        noise = fresh
        if settled:
            break
    return fit(data, noise)


def spread(base: BaseParameters, mask: npt.NDArray[np.bool_], deviation: Array) -> Array:
    """Smallest change of the unknown parameters that changes the base parameters so, (p,)."""
    change = np.zeros(mask.size)
    change[mask] = np.linalg.lstsq(base.mapping[:, mask], deviation, rcond=None)[0]
    return change


#: pseudo-inertias of the ten unit parameters, (10, 4, 4): P is linear
_UNITS = inertia.pseudo_inertia(np.eye(10))
#: Newton's method: steps for each strength of the regulariser, decrement at which it ends, first strength
_STEPS, _DECREMENT, _FACTOR = 100, 1e-10, 0.1


def divergence(P: npt.ArrayLike, P0: npt.ArrayLike) -> Array:
    """Entropic divergence ``D(P||P0) = log(|P0| / |P|) + tr(P0^-1 P) - m``, (...).

    Zero for P = P0, infinite on the border of the positive definite matrices, unchanged by any change of frame and
    unit. It is the Bregman divergence of -log det (Lee, Kwon, Park 2018).

    Parameters
    ----------
    P, P0 : (..., m, m) array_like
        Symmetric and positive definite.
    """
    P, P0 = np.asarray(P, dtype=np.float64), np.asarray(P0, dtype=np.float64)
    logs = np.linalg.slogdet(P0)[1] - np.linalg.slogdet(P)[1]
    return np.asarray(logs + np.trace(np.linalg.solve(P0, P), axis1=-2, axis2=-1) - P.shape[-1])


@dataclass(frozen=True)
class ConsistentProblem:
    """``1/2 |R x - z|^2 + gamma (sum_i D(P_i||P0_i) + sum_j D(c_j||c0_j))`` over the unknown parameters x.

    It is convex, because P_i is linear in x. R has one row for each unknown parameter: all data are in it.

    Attributes
    ----------
    R : (u, u) array
        Triangular factor of the weighted regressor.
    z : (u,) array
        Torque in the same coordinates.
    prior : (p,) array
        All parameters; the known ones stay.
    unknown : (u,) int array
        Which are in x.
    links : (l,) int array
        Links with unknown parameters.
    positive : (c,) int array
        Unknown friction, rotor and armature coefficients.
    """

    R: Array
    z: Array
    prior: Array
    unknown: npt.NDArray[np.intp]
    links: npt.NDArray[np.intp]
    positive: npt.NDArray[np.intp]

    def pseudo_inertias(self, pi: Array) -> Array:
        """Of the links, (l, 4, 4)."""
        return inertia.pseudo_inertia(pi[: _inertial_end(self)].reshape(-1, 10)[self.links])

    def inside(self, pi: Array) -> bool:
        """Whether all are positive."""
        try:
            np.linalg.cholesky(self.pseudo_inertias(pi))
        except np.linalg.LinAlgError:
            return False
        return bool((pi[self.positive] > 0.0).all())

    def value(self, pi: Array, gamma: float) -> float:
        """Evaluate the function, at a point that is `inside`."""
        misfit = self.R @ pi[self.unknown] - self.z
        ratio = pi[self.positive] / self.prior[self.positive]
        entropy = divergence(self.pseudo_inertias(pi), self.pseudo_inertias(self.prior)).sum()
        return float(0.5 * misfit @ misfit + gamma * (entropy + np.sum(ratio - np.log(ratio) - 1.0)))

    def barrier(self, pi: Array) -> tuple[Array, Array]:
        """Rows F and right sides r with Hessian F'F and gradient -F'r of the regulariser by x."""
        count = 16 * self.links.size + self.positive.size
        F, r = np.zeros((count, pi.size)), np.zeros(count)
        inverse = np.linalg.inv(self.pseudo_inertias(self.prior))
        for k, (link, P) in enumerate(zip(self.links, self.pseudo_inertias(pi), strict=True)):
            L = np.linalg.cholesky(P)
            half = np.linalg.solve(L, _UNITS)  # L^-1 V
            S = np.linalg.solve(L, np.swapaxes(half, -1, -2))  # L^-1 V L^-T
            rows = slice(16 * k, 16 * k + 16)
            F[rows, 10 * link : 10 * link + 10] = S.reshape(10, 16).T
            r[rows] = (np.eye(4) - L.T @ inverse[k] @ L).ravel()
        rows = slice(16 * self.links.size, count)
        F[rows, self.positive] = np.diag(1.0 / pi[self.positive])
        r[rows] = 1.0 - pi[self.positive] / self.prior[self.positive]
        return F[:, self.unknown], r


def _inertial_end(problem: ConsistentProblem) -> int:
    return 10 * (int(problem.links.max()) + 1) if problem.links.size else 0


def consistent_problem(
    robot: Robot, prior: Array, mask: npt.NDArray[np.bool_], W: Array, y: Array
) -> ConsistentProblem:
    """Set it up from weighted rows of the unknown columns, (r, u), and what the known ones leave of the torque, (r,).

    Raises
    ------
    ThunderError
        If the prior has no positive value for something unknown.
    """
    unknown = np.flatnonzero(mask)
    inertial = unknown[unknown < 10 * robot.n]
    links = np.unique(inertial // 10)
    positive = unknown[unknown >= 10 * robot.n]
    physical = inertia.is_physical(prior[: 10 * robot.n].reshape(-1, 10))[links]
    if not physical.all():
        names = ", ".join(robot.link_names[k] for k in links[~physical])
        raise ThunderError(
            f"prior must have positive definite pseudo-inertias where links are unknown, not so: {names}; "
            "leave them out of unknown or give another prior"
        )
    if not (prior[positive] > 0.0).all():
        names = ", ".join(robot.parameter_names[k] for k in positive[prior[positive] <= 0.0])
        raise ThunderError(f"prior must be positive where coefficients are unknown, not so: {names}")
    R = np.zeros((unknown.size, unknown.size + 1))
    factor = np.asarray(np.linalg.qr(np.column_stack([W, y]), mode="r"))[: unknown.size]
    R[: len(factor)] = factor
    return ConsistentProblem(R[:, :-1], R[:, -1], prior, unknown, links, positive)


def solve_consistent(problem: ConsistentProblem, gamma: float) -> Array:
    """Minimise by Newton's method from the prior, with a regulariser that fades to `gamma`; all parameters, (p,).

    Raises
    ------
    ModelError
        If it does not converge.
    """
    pi = problem.prior.copy()
    strength = gamma
    misfit = problem.R @ pi[problem.unknown] - problem.z
    while strength < 1e-2 * float(misfit @ misfit):
        strength /= _FACTOR
    while True:
        pi, converged = _newton(problem, pi, strength)
        if strength <= gamma:
            break
        strength = max(strength * _FACTOR, gamma)
    if not converged:
        raise ModelError(f"the consistent fit did not converge in {_STEPS} steps; a larger regularisation may help")
    return pi


def _newton(problem: ConsistentProblem, pi: Array, gamma: float) -> tuple[Array, bool]:
    """Damped Newton steps, each a linear least-squares problem, which squares no condition number."""
    unknown, root = problem.unknown, np.sqrt(gamma)
    for _ in range(_STEPS):
        F, r = problem.barrier(pi)
        A = np.vstack([problem.R, root * F])
        rhs = np.concatenate([problem.z - problem.R @ pi[unknown], root * r])
        lengths = np.linalg.norm(A, axis=0)
        step = np.linalg.lstsq(A / lengths, rhs, rcond=None)[0] / lengths
        decrement = float(np.sum((A @ step) ** 2)) / gamma  # squared, in units of the barrier
        if decrement < _DECREMENT:
            return pi, True
        size, before = 1.0, problem.value(pi, gamma)
        while True:
            trial = pi.copy()
            trial[unknown] += size * step
            if problem.inside(trial) and problem.value(trial, gamma) <= before - 0.1 * size * gamma * decrement + (
                1e-12 * abs(before)
            ):
                break
            size *= 0.5
            if size < 1e-12:  # rounding is all that is left
                return pi, decrement < 1e-4
        pi = trial
    return pi, False
