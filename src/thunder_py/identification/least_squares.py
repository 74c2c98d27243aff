"""Weighted least squares for base parameters: factors of rows, outliers, consistency, uncertainty."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..checks import Array, all_positive, array, within
from ..errors import ThunderError
from ..model import inertia
from ..model.parameters import BaseParameters
from ..robot import Robot
from .equations import all_names
from .signals import NORMAL_MEDIAN

#: size of what is added to the metric, relative to its columns, so that it has an inverse
_LEAST = 1e-7
#: growth of the squares of the rows, in the metric of those before, that leaves them accurate
_GROWTH = 1e6


def r_factor(A: Array) -> Array:
    """Return the square triangular factor R with R'R = A'A."""
    R = np.linalg.qr(A, mode="r")
    missing = A.shape[1] - len(R)
    return np.asarray(np.vstack([R, np.zeros((missing, A.shape[1]))]) if missing else R)


class Triangle:
    """Triangular factor R of rows A that arrive in blocks, R'R = A'A, as accurate as by orthogonal transformations.

    Rows are measured by M, a factor of the first blocks: the squares of A M^-1 are about one in all directions that
    these excite, so that they lose nothing in their sum S, and R is a factor of M'SM (Yamamoto et al., Roundoff error
    analysis of the CholeskyQR2 algorithm, ETNA 44, 2015). That takes two products of matrices for a block in place of a
    factorization. Blocks much larger than those before give a new M.
    """

    def __init__(self, columns: int) -> None:
        self._metric: Array = np.eye(columns)
        self._inverse: Array = np.eye(columns)
        self._squares: Array = np.zeros((columns, columns))
        self._begun = False

    def add(self, block: Array) -> None:
        """Append rows (k, m)."""
        if self._begun:
            measured = block @ self._inverse
            squares = self._squares + measured.T @ measured
            if squares.diagonal().max(initial=0.0) <= _GROWTH:
                self._squares = squares
                return
        R = r_factor(np.vstack([self.factor(), block]))
        size = np.linalg.norm(R, axis=0)
        self._metric = r_factor(np.vstack([R, np.diag(np.where(size > 0.0, _LEAST * size, 1.0))]))
        self._inverse = np.asarray(np.linalg.inv(self._metric))
        first = R @ self._inverse
        self._squares, self._begun = first.T @ first, True

    def factor(self) -> Array:
        """Return the factor (m, m) of all rows."""
        values, vectors = np.linalg.eigh(self._squares)
        seen = self._metric * (self._squares.diagonal() > 0.0)  # columns of zeros stay so
        return r_factor((np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T) @ seen)


#: residuals in standard deviations beyond which weights fall, for an efficiency of 95 % with normal residuals
_HUBER, _BISQUARE = 1.345, 4.685
#: bins of absolute residuals for each power of ten, and the powers; 1 % wide
_PER_DECADE, _DECADES = 250, (-10.0, 10.0)
_BINS = int(_PER_DECADE * (_DECADES[1] - _DECADES[0]))


@dataclass(frozen=True)
class Outliers:
    """Residuals relative to a solution.

    Attributes
    ----------
    solution : tuple of (c,) array
        For each row the coefficients of its columns, and -1 for its torque.
    scale : (r,) array
        Standard deviations of residuals that are no outliers.
    redescending : bool
        Whether the weights are Tukey's, which ignore outliers, instead of Huber's, which limit them. Those of Huber
        lead to one solution from any start.
    """

    solution: tuple[Array, ...]
    scale: Array
    redescending: bool

    def weighted(self, pieces: Sequence[Array]) -> tuple[list[Array], Array]:
        """Return the rows times the roots of their weights, and sums for `spread_of`, (r, 3 + bins)."""
        rows, sums = [], np.zeros((len(pieces), 3 + _BINS))
        for row, (piece, solution) in enumerate(zip(pieces, self.solution, strict=True)):
            u = piece @ solution / self.scale[row]
            w, slope = _bisquare(u) if self.redescending else _huber(u)
            sums[row, :3] = np.sum(w), np.sum((w * u) ** 2), np.sum(slope)
            sums[row, 3:] = histogram(np.abs(u))
            rows.append(np.sqrt(w)[:, None] * piece)
        return rows, sums


def _huber(u: Array) -> tuple[Array, Array]:
    """Return weights, and the derivative of u times its weight."""
    size = np.abs(u)
    return np.minimum(1.0, _HUBER / np.maximum(size, _HUBER)), (size < _HUBER).astype(np.float64)


def _bisquare(u: Array) -> tuple[Array, Array]:
    square = (u / _BISQUARE) ** 2
    inside = np.maximum(1.0 - square, 0.0)
    return inside**2, inside * (1.0 - 5.0 * square) * (square < 1.0)


def histogram(size: Array) -> Array:
    """Return the numbers of absolute residuals in logarithmic bins, which add up over parts of logs."""
    place = _PER_DECADE * (np.log10(np.maximum(size, 1e-300)) - _DECADES[0])
    return np.bincount(np.clip(place, 0, _BINS - 1).astype(np.intp), minlength=_BINS).astype(np.float64)


@dataclass(frozen=True)
class Spread:
    """Spread of the residuals of each row, (r,) each.

    Attributes
    ----------
    scale : array
        Median absolute residual, as the standard deviation of a normal variable.
    noise : array
        Standard deviation that leads to the covariance of the weighted solution.
    weight : array
        Mean weight.
    influence : array
        Mean weight relative to the mean slope of residuals times their weight.
    """

    scale: Array
    noise: Array
    weight: Array
    influence: Array


def spread_of(sums: Array, outliers: Outliers, count: float) -> Spread:
    """Return the spread of residuals from the sums of `Outliers.weighted`.

    The covariance of an M-estimate is that of least squares with the variance mean(psi^2) / mean(psi')^2 (Huber and
    Ronchetti, Robust statistics, 2009, section 7.6).
    """
    weight, square, slope = (sums[:, :3] / count).T
    slope = np.maximum(slope, 1e-3)
    scale, noise = outliers.scale * normal_scale(sums[:, 3:], count), outliers.scale * np.sqrt(square) / slope
    return Spread(scale, noise, weight, weight / slope)


def normal_scale(histograms: Array, count: float) -> Array:
    """Return median absolute residuals, (r,), as standard deviations of normal variables, from `histogram`s."""
    below = np.cumsum(histograms, axis=1) / count
    bins = [np.interp(0.5, np.append(0.0, row), np.arange(_BINS + 1.0)) for row in below]
    return np.asarray(10.0 ** (_DECADES[0] + np.array(bins) / _PER_DECADE) / NORMAL_MEDIAN)


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


class ConsistentProblem:
    """``1/2 |R x - z|^2 + gamma (sum_i w_i D(P_i||P0_i) + sum_j D(c_j||c0_j))`` over the unknown parameters x.

    It is convex, because P_i is linear in x. The divergence from a coefficient of zero is infinite. A prior of zero is
    therefore replaced by the coefficient whose torque is as large as the noise; it shifts the estimate by less than a
    standard deviation.

    Parameters
    ----------
    robot : Robot
        The robot.
    prior : (p,) array
        All parameters in the order of `all_parameters`, known ones included; ten further ones are those of a payload.
    mask : (p,) bool array
        True for those in x.
    W : (r, u) array
        Weighted columns of these, or factors of as many columns.
    y : (r,) array
        Torque minus that of the known ones.
    count : float, optional
        Number of rows for each joint; default from `W`.
    errors : (u, u) array, optional
        Sum of W' W that is due to noise of W.
    pull : (u,) array, optional
        That of W' times the torque of the known parameters.
    weight : float
        Weight of the divergence of a payload; that of links is one.

    Raises
    ------
    ThunderError
        If the prior is not positive definite for an unknown link, or negative for an unknown coefficient.
    """

    def __init__(
        self,
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
    ) -> None:
        self.names = all_names(robot)
        self.unknown, P = np.flatnonzero(mask), len(self.names)
        unknown = self.unknown
        links = np.unique(unknown[unknown < 10 * robot.n] // 10)
        self.bodies = np.append(10 * links, np.arange(P, P + 10 * mask[P:].any(), 10))[:, None] + np.arange(10)
        self.positive = positive = unknown[(unknown >= 10 * robot.n) & (unknown < P)]
        physical = inertia.is_physical(prior[self.bodies])
        if not physical.all():
            named = [*(robot.link_names[k] for k in links), "the payload"]
            names = ", ".join(named[k] for k in np.flatnonzero(~physical))
            raise ThunderError(
                f"prior must have positive definite pseudo-inertias for unknown links, not the case for {names}; "
                "leave them out of unknown or give another prior"
            )
        if not (prior[positive] >= 0.0).all():
            names = ", ".join(self.names[k] for k in positive[prior[positive] < 0.0])
            raise ThunderError(f"prior must not be negative for unknown coefficients, as it is for {names}")
        lengths, self.prior = np.linalg.norm(W, axis=0), prior.copy()
        absent = np.isin(unknown, positive) & (prior[unknown] == 0.0)
        self.prior[unknown[absent]] = np.sqrt(len(W) / robot.n if count is None else count) / lengths[absent]
        R = np.zeros((unknown.size, unknown.size + 1))
        factor = np.asarray(np.linalg.qr(np.column_stack([W, y]), mode="r"))[: unknown.size]
        R[: len(factor)] = factor
        if errors is not None and pull is not None and errors.any():
            found = _resolve(R, errors, pull)
            root = np.sqrt(found.signal)
            R = np.column_stack([root[:, None] * found.rows, found.right / root])
        self.R, self.z = R[:, :-1], R[:, -1]
        self.weights = np.ones(len(self.bodies))
        self.weights[links.size :] = weight

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

    def solve(self, gamma: float) -> Array:
        """Minimize by Newton's method from the prior, with regularization decreasing to `gamma`; return all parameters.

        Raises
        ------
        ThunderError
            If it does not converge.
        """
        pi = self.prior.copy()
        strength = gamma
        misfit = self.R @ pi[self.unknown] - self.z
        while strength < 1e-2 * float(misfit @ misfit):
            strength /= _FACTOR
        while True:
            pi, converged = self._newton(pi, strength)
            if strength <= gamma:
                break
            strength = max(strength * _FACTOR, gamma)
        if not converged:
            vanishing = self.positive[pi[self.positive] < _VANISHING * self.prior[self.positive]]
            names = ", ".join(self.names[k] for k in vanishing)
            reason = f": the torques ask for negative values of {names}" if names else f" in {_STEPS} steps"
            remedy = "check tau, leave them out of unknown, or use" if names else "try"
            raise ThunderError(f"the consistent fit did not converge{reason}; {remedy} a larger regularization")
        return pi

    def _newton(self, pi: Array, gamma: float) -> tuple[Array, bool]:
        """Take damped Newton steps, each solved as a least-squares problem to avoid squaring the condition number."""
        unknown, root, last = self.unknown, np.sqrt(gamma), np.inf
        for _ in range(_STEPS):
            F, r = self.barrier(pi)
            A = np.vstack([self.R, root * F])
            rhs = np.concatenate([self.z - self.R @ pi[unknown], root * r])
            lengths = np.linalg.norm(A, axis=0)
            step = np.linalg.lstsq(A / lengths, rhs, rcond=None)[0] / lengths
            decrement = float(np.sum((A @ step) ** 2)) / gamma  # squared, in units of the barrier
            # near the minimum each step squares it; where it does not even fall tenfold, the rest is rounding
            if decrement < _DECREMENT or 0.1 * last < decrement < _ROUNDING_DECREMENT:
                return pi, True
            last = decrement
            size, before = 1.0, self.value(pi, gamma)
            while True:
                trial = pi.copy()
                trial[unknown] += size * step
                if self.inside(trial) and self.value(trial, gamma) <= before - 0.1 * size * gamma * decrement + (
                    1e-12 * abs(before)
                ):
                    break
                size *= 0.5
                if size < 1e-12:  # no decrease above rounding
                    return pi, decrement < _ROUNDING_DECREMENT
            pi = trial
        return pi, False


#: independent values of white noise that a block holds at least: about five periods of a cutoff
_INDEPENDENT = 9.0
#: blocks of all logs together, their least number, and numbers that they may hold in memory
_BLOCKS, _FEWEST, _NUMBERS = 48, 12, 2**23
#: share of a direction in one block from which on other blocks do not show it
_ALONE = 1.0 - 1e-6
#: logs from which on their spread counts
_FEWEST_LOGS = 3
#: logs with blocks of their own; of more logs, neighbors share them
MOST_LOGS = 64


def block_length(instants: int, rows: int, columns: int) -> float:
    """Return the number of instants of a block, from those of all logs and the size of their factors."""
    return float(instants / np.clip(_NUMBERS // (rows * columns**2), _FEWEST, _BLOCKS))


def split(first: int, count: int, length: float, white: float) -> Iterator[tuple[int, slice]]:
    """Yield the numbers of the blocks that instants from `first` on are in, and their places among these.

    `white` is the number of independent values of white noise per instant, which limits the length from below.
    """
    size = int(np.ceil(max(length, _INDEPENDENT / white)))
    for number in range(first // size, (first + count - 1) // size + 1):
        yield number, slice(max(number * size - first, 0), min((number + 1) * size - first, count))


class Uncertainty(NamedTuple):
    """Covariance of values, (v, v), degrees of freedom of Student's t, (v,), and what they rest on."""

    covariance: Array
    freedom: Array
    sources: tuple[str, ...]


def uncertainty(data: Data, solution: Fit, white: float, influence: Array | float, slopes: Array) -> Uncertainty:
    """Return the covariance of values with these slopes, zero in directions that the data do not determine.

    Residuals of one block may be correlated in any way, between rows, instants, and with the columns: noise that is not
    white, noise of encoders, and errors of the model that differ between blocks. With three logs or more the same is
    done for whole logs, and the larger variance counts, with its degrees of freedom.

    In coordinates z = (B diag(g)^1/2)^-1 x, with the basis B and the gains g of `Fit`, the normal matrices M_k of the
    blocks add up to 1, and the estimate is off by the sum of their scores s_k = V_k' e_k, of the columns V_k and the
    residuals e_k. The covariance is the sum of a_k a_k', with a_k = (1 - M_k)^-1/2 s_k, which is unbiased if the noise
    is white in fact (Bell, McCaffrey, Bias reduction in standard errors for linear regression with multi-stage samples,
    Survey Methodology 28(2), 2002); its degrees of freedom are those of this case too. Directions that one block alone
    shows keep the variance of white noise.

    Parameters
    ----------
    data : Data
        With `blocks`.
    solution : Fit
        Solution of these.
    white : float
        Variance of a whitened residual relative to that of the sum of instants, where noise is white before a filter.
    influence : (r,) array or float
        Factors of the residuals of rows, for weights that depend on these.
    slopes : (v, u) array
        Derivatives of the values by the unknowns of the data.
    """
    assert data.blocks is not None
    blocks, weights = data.blocks, solution.noise**-2.0
    B = solution.basis * np.sqrt(solution.gains)
    whitened = blocks.factors / solution.noise[:, None, None, None]
    r, G, m, _ = whitened.shape
    columns = np.moveaxis(whitened[..., :-1] @ B, 0, 1).reshape(G, r * m, solution.rank)
    left = np.moveaxis(np.reshape(influence, (-1, 1, 1)) * -(whitened @ np.append(solution.deviation, -1.0)), 0, 1)
    share = blocks.counts / blocks.counts.sum()
    errors = np.einsum("jab,j->ab", data.errors, weights)
    M = columns.swapaxes(1, 2) @ columns - share[:, None, None] * (B.T @ errors @ B)
    s = np.einsum("gmk,gm->gk", columns, left.reshape(G, r * m))
    s += share[:, None] * (B.T @ (errors @ solution.deviation + weights @ data.pull))
    V, freedom = _clustered(M, s, slopes @ B, white)
    sources = [f"spread over {G} blocks of the logs" if G > 1 else "white noise: the logs are too short for blocks"]
    logs = np.unique(blocks.logs)
    if _FEWEST_LOGS <= logs.size < G:
        which = (blocks.logs == logs[:, None]).astype(np.float64)
        of_logs, few = _clustered(np.einsum("lg,gab->lab", which, M), which @ s, slopes @ B, white)
        grown = np.divide(np.diag(of_logs), np.diag(V), out=np.ones(len(V)), where=np.diag(V) > 0.0)
        freedom = np.where(grown > 1.0, few, freedom)
        root = np.sqrt(np.maximum(grown, 1.0))
        V = root[:, None] * V * root
        sources.append(f"spread over {logs.size} logs")
    elif G > 1 and logs.size < _FEWEST_LOGS:
        sources.append(f"{logs.size} logs are too few to show errors that are the same throughout a log")
    return Uncertainty(V, freedom, tuple(sources))


def _clustered(M: Array, s: Array, B: Array, white: float) -> tuple[Array, Array]:
    """Return the covariance of B z and its degrees of freedom, from the normal matrices and scores of blocks."""
    size, Q = np.linalg.eigh(M)
    alone = size > _ALONE
    size = np.where(alone, 0.0, np.clip(size, 0.0, None))
    root = np.where(alone, 0.0, (1.0 - size) ** -0.5)
    a = np.einsum("gij,gj->gi", Q, root * np.einsum("gji,gj->gi", Q, s))
    BQ = B @ Q
    whole = np.sqrt(white) * BQ.swapaxes(1, 2)[alone].T
    V = B @ (a.T @ a) @ B.T + whole @ whole.T
    Z = np.einsum("gbi,gi,gji->bgj", BQ, size * root, Q)
    G = -Z @ Z.swapaxes(1, 2)
    k = np.arange(len(s))
    G[:, k, k] += np.einsum("gbi,gi->bg", BQ**2, size * root**2)
    known = np.sum(whole**2, axis=1)
    trace, square = white * np.trace(G, axis1=1, axis2=2) + known, white**2 * np.sum(G**2, axis=(1, 2))
    return V, np.where(square > 0.0, trace**2 / np.where(square > 0.0, square, 1.0), np.inf)


def student_intervals(values: Array, deviations: Array, freedom: Array, level: float) -> Array:
    """Return confidence intervals, (m, 2), from Student's distribution."""
    from scipy.stats import t as student

    reach = student.ppf(0.5 + 0.5 * within(level, "level", 0.0, 1.0, ends="()"), freedom) * deviations
    return np.column_stack([values - reach, values + reach])
