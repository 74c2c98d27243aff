"""Least squares over bodies that can exist: pseudo-inertias positive definite, other coefficients positive."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .. import inertia
from ..checks import Array
from ..errors import ModelError, ThunderError
from ..robot import Robot

__all__ = ["ConsistentProblem", "consistent_problem", "divergence", "solve_consistent"]

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
