"""Rank tests, effect sizes and bootstrap intervals to compare planners over many motions.

Functions, arguments and results have the names that they have in `scipy.stats`. In addition, p-values are exact with
ties, bad samples are refused, and results print what a report needs.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import stats as _stats

from ..checks import Array, array, one_of, seed_of, whole, within
from ..errors import ThunderError

__all__ = [
    "Interval",
    "RankTest",
    "bootstrap_interval",
    "cliffs_delta",
    "friedmanchisquare",
    "holm",
    "kruskal",
    "mannwhitneyu",
    "rank_biserial",
    "wilcoxon",
]

#: SciPy's overloads need literals; alternatives and methods are variables here
stats: Any = _stats
_ALTERNATIVES = ("two-sided", "less", "greater")
#: largest number of observations with exact p-values
EXACT_UP_TO = 60


@dataclass(frozen=True)
class RankTest:
    """Result of a rank test.

    Attributes
    ----------
    test : str
        Name of the test.
    statistic : float
        As in SciPy: U of the first sample, the smaller of W+ and W- (W+ if one-sided), H, Friedman's chi squared.
    pvalue : float
        Probability of a statistic at least as extreme if the null hypothesis is true.
    n : tuple of int
        Observations of each sample; of paired samples, the pairs that differ, or the rows.
    method : str
        "exact" or "asymptotic".

    Examples
    --------
    >>> from thunder_py.recordings.statistics import mannwhitneyu
    >>> test = mannwhitneyu([1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0])
    >>> print(test)
    Mann-Whitney U: statistic 0, p = 0.0286 (exact), n = 4, 4
    >>> test.rejects(0.05), test.rejects(0.01)
    (True, False)
    """

    test: str
    statistic: float
    pvalue: float
    n: tuple[int, ...]
    method: str

    def rejects(self, level: float = 0.05) -> bool:
        """Return True if the null hypothesis is rejected: the p-value is below `level`."""
        return self.pvalue < level

    def __str__(self) -> str:
        n = ", ".join(str(k) for k in self.n)
        return f"{self.test}: statistic {self.statistic:g}, p = {self.pvalue:.3g} ({self.method}), n = {n}"


@dataclass(frozen=True)
class Interval:
    """A statistic with its bootstrap interval.

    Attributes
    ----------
    statistic : float
        Value for the sample itself.
    low, high : float
        Ends of the interval.
    n : tuple of int
        Observations of each sample.
    confidence_level : float
        Confidence level of the interval.
    method : str
        "BCa" or "percentile".

    Examples
    --------
    >>> from thunder_py.recordings.statistics import bootstrap_interval
    >>> interval = bootstrap_interval([2.0, 2.0, 2.0])
    >>> print(interval)
    2 [2, 2] (95 % BCa), n = 3
    """

    statistic: float
    low: float
    high: float
    n: tuple[int, ...]
    confidence_level: float
    method: str

    def __str__(self) -> str:
        n = ", ".join(str(k) for k in self.n)
        level = f"({100 * self.confidence_level:g} % {self.method})"
        return f"{self.statistic:.4g} [{self.low:.4g}, {self.high:.4g}] {level}, n = {n}"


def mannwhitneyu(x: npt.ArrayLike, y: npt.ArrayLike, *, alternative: str = "two-sided") -> RankTest:
    """Test whether two independent samples come from one distribution (Wilcoxon's rank sum, Mann-Whitney's U).

    Parameters
    ----------
    x, y : array_like, shape (n,), (m,)
        The samples. Use `wilcoxon` for paired samples (the same scenarios for both planners).
    alternative : {"two-sided", "less", "greater"}
        "less": x tends to be smaller than y.

    Returns
    -------
    RankTest
        The statistic is U of `x`. The p-value is exact, ties included, up to 60 observations in total: all choices of
        n of the mid-ranks are counted. Beyond, it is the normal approximation with corrections for ties and continuity.

    Raises
    ------
    ThunderError
        For empty samples or numbers that are not finite.

    Examples
    --------
    >>> from thunder_py.recordings.statistics import mannwhitneyu
    >>> test = mannwhitneyu([1.0, 2.0, 4.0], [3.0, 5.0, 6.0, 7.0])
    >>> test.statistic, round(test.pvalue, 4), test.method
    (1.0, 0.1143, 'exact')
    >>> round(mannwhitneyu([1.0, 2.0, 4.0], [3.0, 5.0, 6.0, 7.0], alternative="less").pvalue, 4)
    0.0571
    """
    x, y = _sample(x, "x"), _sample(y, "y")
    one_of(alternative, _ALTERNATIVES, "alternative")
    ranks, n = stats.rankdata(np.concatenate([x, y])), (len(x), len(y))
    total = ranks[: n[0]].sum()
    U, method = float(total - n[0] * (n[0] + 1) / 2), "exact" if sum(n) <= EXACT_UP_TO else "asymptotic"
    if method == "exact":
        p = _tail(_sums_of_subsets(ranks, n[0]), total, alternative)
    elif np.ptp(ranks) == 0.0:
        p = 1.0
    else:
        p = float(stats.mannwhitneyu(x, y, alternative=alternative, method=method).pvalue)
    return RankTest("Mann-Whitney U", U, p, n, method)


def wilcoxon(x: npt.ArrayLike, y: npt.ArrayLike | None = None, *, alternative: str = "two-sided") -> RankTest:
    """Test whether paired differences x - y are symmetric about zero (Wilcoxon's signed rank).

    Parameters
    ----------
    x, y : array_like, shape (n,)
        Pairs in the same order; without `y`, `x` holds the differences.
    alternative : {"two-sided", "less", "greater"}
        "less": x tends to be smaller than y.

    Returns
    -------
    RankTest
        Differences of zero are left out. The p-value is exact, ties included, up to 60 differences; beyond, it is the
        normal approximation with corrections for ties and continuity.

    Raises
    ------
    ThunderError
        For samples of different length, empty or not finite.

    Examples
    --------
    >>> from thunder_py.recordings.statistics import wilcoxon
    >>> test = wilcoxon([1.0, 2.0, 3.0, 4.0, 5.0], [1.5, 2.75, 4.0, 4.25, 6.5])
    >>> test.statistic, test.pvalue, test.n
    (0.0, 0.0625, (5,))
    """
    x = _sample(x, "x")
    d = x if y is None else x - array(y, x.shape, "y")
    one_of(alternative, _ALTERNATIVES, "alternative")
    d = d[d != 0.0]
    ranks = stats.rankdata(np.abs(d))
    positive = float(ranks[d > 0.0].sum())
    W = min(positive, ranks.sum() - positive) if alternative == "two-sided" else positive
    if len(d) <= EXACT_UP_TO:
        p, method = _tail(_sums_of_subsets(ranks), positive, alternative), "exact"
    else:
        method = "asymptotic"
        p = float(stats.wilcoxon(d, alternative=alternative, correction=True, method=method).pvalue)
    return RankTest("Wilcoxon signed rank", float(W), p, (len(d),), method)


def kruskal(*samples: npt.ArrayLike) -> RankTest:
    """Test whether two or more independent samples come from one distribution (Kruskal and Wallis).

    Parameters
    ----------
    *samples : array_like, shape (n_i,)
        At least two.

    Returns
    -------
    RankTest
        The statistic is H, corrected for ties. The p-value is that of chi squared, an approximation valid from about
        five observations each. If all observations are equal, H = 0 and p = 1.

    Raises
    ------
    ThunderError
        For fewer than two samples, empty ones or numbers that are not finite.

    Examples
    --------
    >>> from thunder_py.recordings.statistics import kruskal
    >>> test = kruskal([1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0])
    >>> round(test.statistic, 3), round(test.pvalue, 4)
    (7.2, 0.0273)
    """
    groups = _groups(samples, 2, "kruskal")
    alike = np.ptp(np.concatenate(groups)) == 0.0
    H, p = (0.0, 1.0) if alike else stats.kruskal(*groups)
    return RankTest("Kruskal-Wallis", float(H), float(p), tuple(map(len, groups)), "asymptotic")


def friedmanchisquare(*samples: npt.ArrayLike) -> RankTest:
    """Test whether three or more paired samples are alike (Friedman): planners over the same people or scenarios.

    Parameters
    ----------
    *samples : array_like, shape (n,)
        One for each planner, in the same order of people.

    Returns
    -------
    RankTest
        Friedman's chi squared, corrected for ties. The p-value is that of chi squared, an approximation valid from
        about ten rows. If no row has a difference, the statistic is 0 and p = 1. Which planners differ, paired tests
        tell: `wilcoxon`, corrected by `holm`.

    Raises
    ------
    ThunderError
        For fewer than three samples, different lengths, empty ones or numbers that are not finite.

    Examples
    --------
    >>> from thunder_py.recordings.statistics import friedmanchisquare
    >>> test = friedmanchisquare([1.0, 2.0, 3.0, 4.0], [2.0, 3.0, 5.0, 6.0], [3.0, 4.0, 4.0, 9.0])
    >>> print(test)
    Friedman: statistic 6.5, p = 0.0388 (asymptotic), n = 4
    """
    groups = _groups(samples, 3, "friedmanchisquare")
    rows = np.stack([array(group, groups[0].shape, f"sample {i}") for i, group in enumerate(groups)])
    statistic, p = (0.0, 1.0) if np.ptp(rows, axis=0).max() == 0.0 else stats.friedmanchisquare(*rows)
    return RankTest("Friedman", float(statistic), float(p), (rows.shape[1],), "asymptotic")


def holm(pvalues: npt.ArrayLike) -> Array:
    """Return p-values (m,) of several tests, corrected for their number (Holm 1979).

    Those below a level reject together: the probability that one or more of them is wrong is at most the level, however
    the tests depend on each other.

    Parameters
    ----------
    pvalues : array_like, shape (m,)
        p-values of m tests.

    Examples
    --------
    >>> from thunder_py.recordings.statistics import holm
    >>> holm([0.01, 0.04, 0.03, 0.005]).round(3).tolist()
    [0.03, 0.06, 0.06, 0.02]
    """
    p = _sample(pvalues, "pvalues")
    for value in p:
        within(float(value), "pvalues", 0.0, 1.0)
    order, result = np.argsort(p), np.empty_like(p)
    result[order] = np.minimum(np.maximum.accumulate(np.arange(len(p), 0, -1) * p[order]), 1.0)
    return result


def rank_biserial(d: npt.ArrayLike, axis: int = -1) -> Array:
    """Return the effect size of `wilcoxon`: (W+ - W-) / (W+ + W-) of paired differences (Kerby 2014).

    It is 1 if all differences are positive, 0 if the ranks of positive and negative ones have equal sums. With
    ``bootstrap_interval(d, rank_biserial)`` it has an interval.

    Parameters
    ----------
    d : array_like, shape (..., n)
        Differences of n pairs. Those of zero do not count; if all are zero, the effect is 0.
    axis : int
        Axis of the pairs.

    Examples
    --------
    >>> from thunder_py.recordings.statistics import rank_biserial
    >>> float(rank_biserial([-0.5, -1.0, 0.25, 0.0, -2.0]))
    -0.8
    """
    d = np.asarray(d, dtype=np.float64)
    ranks = stats.rankdata(np.abs(d), axis=axis) - np.sum(d == 0.0, axis=axis, keepdims=True)
    total = np.sum(ranks * (d != 0.0), axis=axis)
    return np.asarray(np.sum(ranks * np.sign(d), axis=axis) / np.maximum(total, 1.0), dtype=np.float64)


def cliffs_delta(
    x: npt.ArrayLike, y: npt.ArrayLike, *, confidence_level: float = 0.95, n_resamples: int = 2000, seed: int = 0
) -> Interval:
    """Return Cliff's delta P(x > y) - P(x < y) of two independent samples with a percentile interval.

    Parameters
    ----------
    x, y : array_like, shape (n,), (m,)
        Independent samples; see `rank_biserial` for paired ones.
    confidence_level : float
        Confidence level, between 0 and 1.
    n_resamples : int
        Bootstrap resamples of both samples.
    seed : int
        Seed of the resampling.

    Returns
    -------
    Interval
        About 0.15 is often called small, 0.33 medium, 0.47 large (Romano et al. 2006). Its test is `mannwhitneyu`,
        whose statistic is (delta + 1) n m / 2.

    Raises
    ------
    ThunderError
        For empty samples, numbers that are not finite, or a confidence level outside of (0, 1).

    Examples
    --------
    >>> from thunder_py.recordings.statistics import cliffs_delta
    >>> print(cliffs_delta([1.0, 2.0, 3.0], [4.0, 5.0, 6.0]))
    -1 [-1, -1] (95 % percentile), n = 3, 3
    """
    x, y, level = _sample(x, "x"), _sample(y, "y"), _level(confidence_level)
    rng, n_resamples = np.random.default_rng(seed_of(seed)), whole(n_resamples, "n_resamples", 2)
    draws = [_delta(rng.choice(x, len(x)), np.sort(rng.choice(y, len(y)))) for _ in range(n_resamples)]
    low, high = np.quantile(draws, [0.5 - level / 2, 0.5 + level / 2])
    return Interval(_delta(x, np.sort(y)), float(low), float(high), (len(x), len(y)), level, "percentile")


def bootstrap_interval(
    sample: npt.ArrayLike,
    statistic: Callable[..., npt.ArrayLike] = np.mean,
    *,
    confidence_level: float = 0.95,
    method: str = "BCa",
    n_resamples: int = 5000,
    seed: int = 0,
) -> Interval:
    """Return a bootstrap interval of a statistic of one sample; for pairs, pass their differences.

    Parameters
    ----------
    sample : array_like, shape (n,)
        At least two observations.
    statistic : callable
        ``statistic(x, axis=-1)``: `np.mean`, `np.median`, ...
    confidence_level : float
        Confidence level, between 0 and 1.
    method : {"BCa", "percentile"}
        BCa corrects for bias and skewness (Efron 1987). Where it is undefined, as for a median that is the same
        without any one observation, the result is the percentile interval and its `method` is "percentile".
    n_resamples : int
        Bootstrap resamples.
    seed : int
        Seed of the resampling.

    Returns
    -------
    Interval
        Interval of zero width if all observations are equal. Its ends are rounded to about twelve digits, so that they
        do not depend on the processor.

    Raises
    ------
    ThunderError
        For fewer than two observations, numbers that are not finite, or a statistic that is not finite.

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.recordings.statistics import bootstrap_interval
    >>> interval = bootstrap_interval([1.0, 2.0, 4.0, 8.0], np.median, seed=0)
    >>> interval.statistic, interval.low <= 3.0 <= interval.high, interval.n
    (3.0, True, (4,))
    """
    x, level = _sample(sample, "sample"), _level(confidence_level)
    one_of(method, ("BCa", "percentile"), "method")
    if len(x) < 2:
        raise ThunderError(f"bootstrap_interval needs at least two observations, got {len(x)}")
    seed, n_resamples = seed_of(seed), whole(n_resamples, "n_resamples", 2)
    value = float(np.asarray(statistic(x, axis=-1)))
    if np.ptp(x) == 0.0:
        return Interval(value, value, value, (len(x),), level, method)
    settings = {"n_resamples": n_resamples, "confidence_level": level, "vectorized": True}
    for attempt in dict.fromkeys((method, "percentile")):
        rng = np.random.default_rng(seed)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")  # the result is checked below
            rounded = _with_ties(statistic, x, value)
            low, high = stats.bootstrap((x,), rounded, method=attempt, random_state=rng, **settings).confidence_interval
        if np.isfinite([low, high]).all():
            return Interval(value, float(low), float(high), (len(x),), level, attempt)
    raise ThunderError("statistic must be finite for every resample of the sample")


def _with_ties(statistic: Callable[..., npt.ArrayLike], x: Array, value: float) -> Callable[..., Array]:
    """Return the statistic without its last digits.

    Resamples of few observations have equal statistics up to rounding. BCa counts those below `value`, and would follow
    the order in which a processor adds numbers.
    """
    without_one = np.array([np.delete(x, k) for k in range(min(len(x), 50))])
    scale = np.nanmax(np.abs([value, *np.ravel(statistic(without_one, axis=-1))]))
    if not (0.0 < scale < np.inf):
        return lambda resamples, axis: np.asarray(statistic(resamples, axis=axis))
    unit = 2.0 ** (np.floor(np.log2(scale)) - 40.0)
    return lambda resamples, axis: np.round(np.asarray(statistic(resamples, axis=axis)) / unit) * unit


def _delta(x: Array, ordered: Array) -> float:
    # y is sorted: bisection instead of n m differences
    below, upto = (np.searchsorted(ordered, x, side=side) for side in ("left", "right"))
    return float((below + upto - len(ordered)).sum() / (len(x) * len(ordered)))


def _sums_of_subsets(ranks: Array, size: int | None = None) -> Array:
    """Return the numbers of subsets (of `size`) of mid-ranks with twice their sum equal to 0, 1, 2, ..."""
    doubled = np.rint(2.0 * ranks).astype(int)
    counts = np.zeros((1 if size is None else size + 1, int(doubled.sum()) + 1))
    counts[0, 0] = 1.0
    into, of = (slice(None), slice(None)) if size is None else (slice(1, None), slice(-1))
    for r in doubled:
        counts[into, r:] += counts[of, : counts.shape[1] - r].copy()
    return np.asarray(counts[-1])


def _tail(counts: Array, value: float, alternative: str) -> float:
    """Return the p-value of a rank sum; the two-sided one is twice the smaller tail."""
    k = round(2.0 * value)
    less, greater = (float(part.sum() / counts.sum()) for part in (counts[: k + 1], counts[k:]))
    return min(1.0, {"less": less, "greater": greater, "two-sided": 2.0 * min(less, greater)}[alternative])


def _groups(samples: tuple[npt.ArrayLike, ...], least: int, name: str) -> list[Array]:
    if len(samples) < least:
        raise ThunderError(f"{name} needs at least {least} samples, got {len(samples)}")
    return [_sample(sample, f"sample {i}") for i, sample in enumerate(samples)]


def _sample(value: npt.ArrayLike, what: str) -> Array:
    x = array(value, (None,), what)
    if len(x) == 0:
        raise ThunderError(f"{what} must hold one observation or more, got none")
    return x


def _level(confidence_level: float) -> float:
    return within(confidence_level, "confidence_level", 0.0, 1.0, ends="()")
