"""Weighted least squares for base parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..checks import Array, all_positive, array
from ..errors import ThunderError
from ..model import inertia
from ..model.parameters import BaseParameters
from ..robot import Robot
from .equations import all_names

#: iterations of reweighting, and the relative change of weights at which it ends
_ITERATIONS, _SETTLED = 50, 1e-6
#: noise relative to the torque below which it counts as rounding
SMALLEST_NOISE = 1e-9
#: torque of a joint relative to the largest: lower bound for weights
_SMALLEST_SCALE = 1e-3
#: relative size of a singular value (columns scaled to unit length) that counts as zero
_RANK_TOLERANCE = 1e-10
#: share of the signal in the squares of a direction below which noise of the columns hides it
_LEAST_SIGNAL = 0.1
#: share in such a direction, columns scaled, above which a parameter counts as hidden
_LEAST_PART = 0.1


class Blocks(NamedTuple):
    """Triangular factors of parts of logs.

    Attributes
    ----------
    factors : (r, G, m, u + 1) array
        Factor of ``[W | tau]`` of each row in each of G blocks.
    counts : (G,) array
        Instants of each.
    logs : (G,) int array
        Log of each.
    """

    factors: Array
    counts: Array
    logs: npt.NDArray[np.intp]


@dataclass(frozen=True)
class Data:
    """Least-squares data: torque minus that of the prior, linear in the unknowns.

    Unknowns are deviations of the base parameters, then those of further columns.

    Attributes
    ----------
    factors : (r, m, u + 1) array
        Factor of ``[W_j | tau_j]`` for each row j of the regressor; those of one joint share their coordinates.
    count : float
        Number of instants.
    scale : (r,) array
        Root mean square of the measured torque of each row's joint, at least a small fraction of the largest.
    errors : (r, u, u) array
        Sum of W_j' W_j over the instants that is due to noise of W_j.
    pull : (r, u) array
        The same noise times that of the prior's torque.
    blocks : Blocks or None
        Parts of the factors, for `uncertainty`.
    """

    factors: Array
    count: float
    scale: Array
    errors: Array
    pull: Array
    blocks: Blocks | None = None

    def of(self, T: Array, parts: bool = False) -> Data:
        """Return the data of other unknowns, (v,), of which these are T times; blocks only with `parts`."""

        def of(factors: Array) -> Array:
            return np.concatenate([factors[..., :-1] @ T, factors[..., -1:]], axis=-1)

        blocks = self.blocks._replace(factors=of(self.blocks.factors)) if self.blocks and parts else None
        return Data(of(self.factors), self.count, self.scale, T.T @ self.errors @ T, self.pull @ T, blocks)


@dataclass(frozen=True)
class Fit:
    """A weighted least-squares solution.

    Attributes
    ----------
    deviation : (b,) array
        Deviation of the base parameters from the prior.
    basis : (b, rank) array
        Directions of the deviation that the data determine; the weighted columns times these are orthonormal.
    gains : (rank,) array
        Standard deviations along them, for residuals that are white: one, and more where columns are noisy.
    determined : (b,) bool array
        True for base parameters outside all other directions.
    noise : (n,) array
        Standard deviations of the torque, one over the weights.
    condition : float
        Condition number of the weighted columns, scaled to unit length.
    """

    deviation: Array
    basis: Array
    gains: Array
    determined: npt.NDArray[np.bool_]
    noise: Array
    condition: float

    @property
    def rank(self) -> int:
        """Number of base parameters that the motion excites; the others keep the prior."""
        return self.gains.size


def given_noise(weights: Any, n: int) -> Array | None:
    """Return the standard deviations of given weights, (n,), None for "auto", or raise."""
    if not isinstance(weights, str):
        return 1.0 / all_positive(array(weights, (n,), "weights"), "weights")
    if weights != "auto":
        raise ThunderError(f"weights must be 'auto' or one number for each joint, got {weights!r}")
    return None


def scale_of(rms: Array) -> Array:
    """Return root mean squares of torques, with a lower bound for joints without torque."""
    return np.asarray(np.maximum(rms, (_SMALLEST_SCALE * rms.max()) or 1.0))


def residual_rms(data: Data, deviation: Array) -> Array:
    """Return the root mean square of the residual of each joint, (n,)."""
    left = data.factors @ np.append(deviation, -1.0)
    rms: Array = np.linalg.norm(left, axis=1) / np.sqrt(data.count)
    return rms


def fit(data: Data, noise: Array) -> Fit:
    """Solve with fixed weights, without the bias from noise of the columns.

    Columns are scaled, which makes the rank independent of units.
    """
    weighted = data.factors / noise[:, None, None]
    weights = noise**-2.0
    errors = np.einsum("jab,j->ab", data.errors, weights)
    found = _resolve(weighted.reshape(-1, weighted.shape[-1]), errors, weights @ data.pull)
    gains = 1.0 / found.signal
    deviation = found.basis @ (gains * found.right)
    return Fit(deviation, found.basis, gains, found.determined, noise, found.condition)


class _Resolved(NamedTuple):
    """Directions that data determine, ``rows basis = 1``; the objective is 1/2 signal' (rows x)^2 - right' rows x."""

    basis: Array
    rows: Array
    signal: Array
    right: Array
    determined: npt.NDArray[np.bool_]
    condition: float


def _resolve(weighted: Array, errors: Array, pull: Array) -> _Resolved:
    """Split ``[W | y]`` into directions, with columns of unit length.

    Noise of the columns adds N = `errors` to the normal matrix A and biases a solution towards zero. It is taken out:
    (A - N) x = W' y + pull, see Fuller, Measurement error models (1987), section 2.2. In the basis the normal matrix is
    then not 1, but the share of the signal in the squares. Where noise hides the signal, a direction is left out.
    """
    U, s, Vt, lengths = _scaled_svd(weighted[:, :-1])
    kept = s > _RANK_TOLERANCE * s[0] if s[0] > 0.0 else np.zeros(s.size, dtype=bool)
    determined = (np.abs(Vt[~kept]) < 1e-6).all(axis=0)
    basis, rows = Vt[kept].T / s[kept] / lengths[:, None], s[kept, None] * Vt[kept] * lengths
    right, signal = U[:, kept].T @ weighted[:, -1], np.ones(int(kept.sum()))
    if errors.any():
        signal, Q = np.linalg.eigh(np.eye(signal.size) - basis.T @ errors @ basis)
        clear = signal > _LEAST_SIGNAL
        hidden = lengths[:, None] * (basis @ Q[:, ~clear])
        determined &= (np.abs(hidden) < _LEAST_PART * np.linalg.norm(hidden, axis=0)).all(axis=1)
        right = Q[:, clear].T @ (right + basis.T @ pull)
        basis, rows, signal = basis @ Q[:, clear], Q[:, clear].T @ rows, signal[clear]
    condition = float(s[0] / s[-1]) if signal.size == s.size else np.inf
    return _Resolved(basis, rows, signal, right, determined, condition)


def _scaled_svd(W: Array) -> tuple[Array, Array, Array, Array]:
    """Return the SVD with columns scaled to unit length, and their lengths."""
    lengths = np.linalg.norm(W, axis=0)
    lengths[lengths == 0.0] = 1.0
    U, s, Vt = np.linalg.svd(W / lengths, full_matrices=False)
    return U, s, Vt, lengths


def fit_reweighted(data: Data) -> Fit:
    """Solve by iterative reweighting: the noise of each joint is the root mean square of its residual."""
    k, n = data.count, len(data.factors)
    floor = SMALLEST_NOISE * data.scale
    noise = data.scale.copy()
    for _ in range(_ITERATIONS):
        solution = fit(data, noise)
        # the fit takes rank / n degrees of freedom from each joint on average
        freedom = max(k - solution.rank / n, 1.0) / k
        update = np.maximum(residual_rms(data, solution.deviation) / np.sqrt(freedom), floor)
        converged = np.abs(update - noise).max() <= _SETTLED * noise.max()
        converged &= (np.abs(update / noise - 1.0) < 1e-3).all()
        noise = update
        if converged:
            break
    return fit(data, noise)


def nearest_change(base: BaseParameters, mask: npt.NDArray[np.bool_], deviation: Array) -> Array:
    """Return the smallest change of the unknown parameters with this deviation of the base parameters, (p,)."""
    change = np.zeros(mask.size)
    change[mask] = np.linalg.lstsq(base.mapping[:, mask], deviation, rcond=None)[0]
    return change


#: pseudo-inertias of the ten unit parameters, (10, 4, 4): P is linear
_UNITS = inertia.pseudo_inertia(np.eye(10))
#: Newton's method: steps for each strength of the regularizer, decrement at which it ends, first strength
_STEPS, _DECREMENT, _FACTOR = 100, 1e-10, 0.1
#: decrement below which rounding may stop it
_ROUNDING_DECREMENT = 1e-4
#: coefficient at its bound of zero, in units of its prior
_VANISHING = 1e-6


def divergence(P: npt.ArrayLike, P0: npt.ArrayLike) -> Array:
    """Return the entropic divergence ``D(P||P0) = log(|P0| / |P|) + tr(P0^-1 P) - m``, (...).

    Zero for P = P0, infinite on the boundary of the positive definite matrices, invariant to changes of frame and unit.
    It is the Bregman divergence of -log det (Lee, Kwon, Park 2018).

    Parameters
    ----------
    P, P0 : (..., m, m) array_like
        Symmetric and positive definite matrices.

    Returns
    -------
    (...) array
        Divergence of each pair.

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.identification import divergence
    >>> divergence([2.0 * np.eye(4), np.eye(4)], np.eye(4)).round(3).tolist()
    [1.227, 0.0]
    """
    P, P0 = np.asarray(P, dtype=np.float64), np.asarray(P0, dtype=np.float64)
    logs = np.linalg.slogdet(P0)[1] - np.linalg.slogdet(P)[1]
    return np.asarray(logs + np.trace(np.linalg.solve(P0, P), axis1=-2, axis2=-1) - P.shape[-1])


@dataclass(frozen=True)
class ConsistentProblem:
    """``1/2 |R x - z|^2 + gamma (sum_i w_i D(P_i||P0_i) + sum_j D(c_j||c0_j))`` over the unknown parameters x.

    It is convex, because P_i is linear in x.

    Attributes
    ----------
    R : (v, u) array
        Factor of the weighted regressor, v at most u.
    z : (v,) array
        Torque in the same coordinates.
    prior : (p,) array
        All parameters; known ones keep these values.
    unknown : (u,) int array
        Indices of the parameters in x.
    bodies : (l, 10) int array
        Parameters of the links with unknown ones, and of a payload.
    weights : (l,) array
        Weights w of their divergences.
    positive : (c,) int array
        Unknown coefficients of friction, rotors, armature and elastic joints.
    names : sequence of str
        Names of all parameters.
    """

    R: Array
    z: Array
    prior: Array
    unknown: npt.NDArray[np.intp]
    bodies: npt.NDArray[np.intp]
    weights: Array
    positive: npt.NDArray[np.intp]
    names: Sequence[str]

    def pseudo_inertias(self, pi: Array) -> Array:
        """Return the pseudo-inertias of the bodies, (l, 4, 4)."""
        return inertia.pseudo_inertia(pi[self.bodies])

    def inside(self, pi: Array) -> bool:
        """Return whether all pseudo-inertias and coefficients are positive."""
        try:
            np.linalg.cholesky(self.pseudo_inertias(pi))
        except np.linalg.LinAlgError:
            return False
        return bool((pi[self.positive] > 0.0).all())

    def value(self, pi: Array, gamma: float) -> float:
        """Evaluate the objective at a point that is `inside`."""
        misfit = self.R @ pi[self.unknown] - self.z
        ratio = pi[self.positive] / self.prior[self.positive]
        entropy = self.weights @ divergence(self.pseudo_inertias(pi), self.pseudo_inertias(self.prior))
        return float(0.5 * misfit @ misfit + gamma * (entropy + np.sum(ratio - np.log(ratio) - 1.0)))

    def barrier(self, pi: Array) -> tuple[Array, Array]:
        """Return F and r with the Hessian F'F and the gradient -F'r of the regularizer by x."""
        first, roots = 16 * len(self.bodies), np.sqrt(self.weights)
        F, r = np.zeros((first + self.positive.size, pi.size)), np.zeros(first + self.positive.size)
        inverse = np.linalg.inv(self.pseudo_inertias(self.prior))
        for k, (body, P) in enumerate(zip(self.bodies, self.pseudo_inertias(pi), strict=True)):
            L = np.linalg.cholesky(P)
            half = np.linalg.solve(L, _UNITS)  # L^-1 V
            S = np.linalg.solve(L, np.swapaxes(half, -1, -2))  # L^-1 V L^-T
            rows = slice(16 * k, 16 * k + 16)
            F[rows, body] = roots[k] * S.reshape(10, 16).T
            r[rows] = roots[k] * (np.eye(4) - L.T @ inverse[k] @ L).ravel()
        F[first:, self.positive] = np.diag(1.0 / pi[self.positive])
        r[first:] = 1.0 - pi[self.positive] / self.prior[self.positive]
        return F[:, self.unknown], r


def consistent_problem(
    robot: Robot,
    prior: Array,
    mask: npt.NDArray[np.bool_],
    W: Array,
    y: Array,
    *,
    count: float | None = None,
    errors: Array | None = None,
    pull: Array | None = None,
    weight: float = 1.0,
) -> ConsistentProblem:
    """Build the problem from the weighted unknown columns, (r, u), and the torque minus that of the known ones, (r,).

    These may be factors of as many columns; `count` is then the number of rows for each joint. `prior` and `mask` are
    in the order of `all_parameters`; ten further ones are those of a payload, whose divergence has this `weight`.
    `errors` is the sum of W' W that is due to noise of W, (u, u), and `pull`, (u,),
    that of W' times the torque of the known parameters.

    The divergence from a coefficient of zero is infinite. A prior of zero is therefore replaced by the coefficient
    whose torque is as large as the noise; it shifts the estimate by less than a standard deviation.

    Raises
    ------
    ThunderError
        If the prior is not positive definite for an unknown link, or negative for an unknown coefficient.
    """
    unknown, P = np.flatnonzero(mask), len(all_names(robot))
    links = np.unique(unknown[unknown < 10 * robot.n] // 10)
    bodies = np.append(10 * links, np.arange(P, P + 10 * mask[P:].any(), 10))[:, None] + np.arange(10)
    positive = unknown[(unknown >= 10 * robot.n) & (unknown < P)]
    physical = inertia.is_physical(prior[bodies])
    if not physical.all():
        named = [*(robot.link_names[k] for k in links), "the payload"]
        names = ", ".join(named[k] for k in np.flatnonzero(~physical))
        raise ThunderError(
            f"prior must have positive definite pseudo-inertias for unknown links, not the case for {names}; "
            "leave them out of unknown or give another prior"
        )
    if not (prior[positive] >= 0.0).all():
        names = ", ".join(all_names(robot)[k] for k in positive[prior[positive] < 0.0])
        raise ThunderError(f"prior must not be negative for unknown coefficients, as it is for {names}")
    lengths, prior = np.linalg.norm(W, axis=0), prior.copy()
    absent = np.isin(unknown, positive) & (prior[unknown] == 0.0)
    prior[unknown[absent]] = np.sqrt(len(W) / robot.n if count is None else count) / lengths[absent]
    R = np.zeros((unknown.size, unknown.size + 1))
    factor = np.asarray(np.linalg.qr(np.column_stack([W, y]), mode="r"))[: unknown.size]
    R[: len(factor)] = factor
    if errors is not None and pull is not None and errors.any():
        found = _resolve(R, errors, pull)
        root = np.sqrt(found.signal)
        R = np.column_stack([root[:, None] * found.rows, found.right / root])
    weights = np.ones(len(bodies))
    weights[links.size :] = weight
    return ConsistentProblem(R[:, :-1], R[:, -1], prior, unknown, bodies, weights, positive, all_names(robot))


def solve_consistent(problem: ConsistentProblem, gamma: float) -> Array:
    """Minimize by Newton's method from the prior, with regularization decreasing to `gamma`; return all parameters.

    Raises
    ------
    ThunderError
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
        vanishing = problem.positive[pi[problem.positive] < _VANISHING * problem.prior[problem.positive]]
        names = ", ".join(problem.names[k] for k in vanishing)
        reason = f": the torques ask for negative values of {names}" if names else f" in {_STEPS} steps"
        remedy = "check tau, leave them out of unknown, or use" if names else "try"
        raise ThunderError(f"the consistent fit did not converge{reason}; {remedy} a larger regularization")
    return pi


def _newton(problem: ConsistentProblem, pi: Array, gamma: float) -> tuple[Array, bool]:
    """Take damped Newton steps, each solved as a least-squares problem to avoid squaring the condition number."""
    unknown, root, last = problem.unknown, np.sqrt(gamma), np.inf
    for _ in range(_STEPS):
        F, r = problem.barrier(pi)
        A = np.vstack([problem.R, root * F])
        rhs = np.concatenate([problem.z - problem.R @ pi[unknown], root * r])
        lengths = np.linalg.norm(A, axis=0)
        step = np.linalg.lstsq(A / lengths, rhs, rcond=None)[0] / lengths
        decrement = float(np.sum((A @ step) ** 2)) / gamma  # squared, in units of the barrier
        # near the minimum each step squares it; where it does not even fall tenfold, the rest is rounding
        if decrement < _DECREMENT or 0.1 * last < decrement < _ROUNDING_DECREMENT:
            return pi, True
        last = decrement
        size, before = 1.0, problem.value(pi, gamma)
        while True:
            trial = pi.copy()
            trial[unknown] += size * step
            if problem.inside(trial) and problem.value(trial, gamma) <= before - 0.1 * size * gamma * decrement + (
                1e-12 * abs(before)
            ):
                break
            size *= 0.5
            if size < 1e-12:  # no decrease above rounding
                return pi, decrement < _ROUNDING_DECREMENT
        pi = trial
    return pi, False
