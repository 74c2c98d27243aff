"""Uncertainty of a fit from the spread over parts of its logs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..checks import Array, within
from .least_squares import Data, Fit

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
