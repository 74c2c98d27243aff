"""Rank tests, effect sizes and bootstrap intervals to compare planners over many motions."""

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
    "EffectSize",
    "Interval",
    "RankTest",
    "bootstrap_interval",
    "cliffs_delta",
    "kruskal_wallis",
    "rank_sum",
    "signed_rank",
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
        U of the first sample (rank sum), W+ (signed rank), H (Kruskal-Wallis).
    p_value : float
        Probability of a statistic at least as extreme if the null hypothesis is true.
    n : tuple of int
        Observations of each sample; for the signed rank test, pairs that differ.
    method : str
        "exact" or "asymptotic".

    Examples
    --------
    >>> from thunder_py.recordings.statistics import rank_sum
    >>> test = rank_sum([1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0])
    >>> print(test)
    rank sum: statistic 0, p = 0.0286 (exact), n = 4, 4
    >>> test.rejects(0.05), test.rejects(0.01)
    (True, False)
    """

    test: str
    statistic: float
    p_value: float
    n: tuple[int, ...]
    method: str

    def rejects(self, level: float = 0.05) -> bool:
        """Return True if the null hypothesis is rejected: the p-value is below `level`."""
        return self.p_value < level

    @property
    def text(self) -> str:
        """One-line summary for reports."""
        n = ", ".join(str(k) for k in self.n)
        return f"{self.test}: statistic {self.statistic:g}, p = {self.p_value:.3g} ({self.method}), n = {n}"

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class EffectSize:
    """Cliff's delta with a bootstrap interval.

    Attributes
    ----------
    statistic : float
        P(a > b) - P(a < b), between -1 and 1.
    low, high : float
        Ends of the interval.
    p_value : float
        p-value of the rank sum test, an affine function of the same statistic.
    n : tuple of int
        Observations of a and b.
    confidence : float
        Confidence level of the interval.

    Examples
    --------
    >>> from thunder_py.recordings.statistics import cliffs_delta
    >>> effect = cliffs_delta([1.0, 2.0, 3.0], [2.0, 4.0, 6.0], seed=0)
    >>> round(effect.statistic, 3), effect.n, effect.confidence
    (-0.667, (3, 3), 0.95)
    >>> -1.0 <= effect.low <= effect.statistic <= effect.high <= 1.0
    True
    """

    statistic: float
    low: float
    high: float
    p_value: float
    n: tuple[int, int]
    confidence: float

    @property
    def text(self) -> str:
        """One-line summary for reports."""
        return (
            f"Cliff's delta {self.statistic:.3f} [{self.low:.3f}, {self.high:.3f}] ({100 * self.confidence:g} %), "
            f"p = {self.p_value:.3g}, n = {self.n[0]}, {self.n[1]}"
        )

    def __str__(self) -> str:
        return self.text


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
        Observations.
    confidence : float
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
    confidence: float
    method: str

    @property
    def text(self) -> str:
        """One-line summary for reports."""
        return (
            f"{self.statistic:.4g} [{self.low:.4g}, {self.high:.4g}] "
            f"({100 * self.confidence:g} % {self.method}), n = {self.n[0]}"
        )

    def __str__(self) -> str:
        return self.text


def rank_sum(a: npt.ArrayLike, b: npt.ArrayLike, *, alternative: str = "two-sided") -> RankTest:
    """Test whether two independent samples come from one distribution (Wilcoxon's rank sum, Mann-Whitney's U).

    Parameters
    ----------
    a, b : array_like, shape (n,), (m,)
        The samples. Use `signed_rank` for paired samples (the same scenarios for both planners).
    alternative : {"two-sided", "less", "greater"}
        "less": a tends to be smaller than b.

    Returns
    -------
    RankTest
        The statistic is U of `a`. The p-value is exact, ties included, up to 60 observations in total: all choices of
        n of the mid-ranks are counted. Beyond, it is the normal approximation with corrections for ties and continuity.

    Raises
    ------
    ThunderError
        For empty samples or numbers that are not finite.

    Examples
    --------
    >>> from thunder_py.recordings.statistics import rank_sum
    >>> test = rank_sum([1.0, 2.0, 4.0], [3.0, 5.0, 6.0, 7.0])
    >>> test.statistic, round(test.p_value, 4), test.method
    (1.0, 0.1143, 'exact')
    >>> round(rank_sum([1.0, 2.0, 4.0], [3.0, 5.0, 6.0, 7.0], alternative="less").p_value, 4)
    0.0571
    """
    a, b = _sample(a, "a"), _sample(b, "b")
    one_of(alternative, _ALTERNATIVES, "alternative")
    ranks = stats.rankdata(np.concatenate([a, b]))
    n, m = len(a), len(b)
    U = float(ranks[:n].sum() - n * (n + 1) / 2)
    if n + m <= EXACT_UP_TO:
        counts = _sums_of_subsets(ranks, n)
        return RankTest("rank sum", U, _tail(counts, 2.0 * ranks[:n].sum(), alternative), (n, m), "exact")
    if np.ptp(ranks) == 0.0:
        return RankTest("rank sum", U, 1.0, (n, m), "asymptotic")
    p = float(stats.mannwhitneyu(a, b, alternative=alternative, method="asymptotic").pvalue)
    return RankTest("rank sum", U, p, (n, m), "asymptotic")


def signed_rank(a: npt.ArrayLike, b: npt.ArrayLike | None = None, *, alternative: str = "two-sided") -> RankTest:
    """Test whether paired differences a - b are symmetric about zero (Wilcoxon's signed rank).

    Parameters
    ----------
    a, b : array_like, shape (n,)
        Pairs in the same order; without `b`, `a` holds the differences.
    alternative : {"two-sided", "less", "greater"}
        "less": a tends to be smaller than b.

    Returns
    -------
    RankTest
        The statistic is W+, the sum of the ranks of positive differences. Differences of zero are left out. The p-value
        is exact, ties included, up to 60 differences; beyond, it is the normal approximation.

    Raises
    ------
    ThunderError
        For samples of different length, empty or not finite.

    Examples
    --------
    >>> from thunder_py.recordings.statistics import signed_rank
    >>> test = signed_rank([1.0, 2.0, 3.0, 4.0, 5.0], [1.5, 2.75, 4.0, 4.25, 6.5])
    >>> test.statistic, test.p_value, test.n
    (0.0, 0.0625, (5,))
    """
    a = _sample(a, "a")
    d = a if b is None else a - array(b, a.shape, "b")
    one_of(alternative, _ALTERNATIVES, "alternative")
    d = d[d != 0.0]
    n = len(d)
    if n == 0:
        return RankTest("signed rank", 0.0, 1.0, (0,), "exact")
    ranks = stats.rankdata(np.abs(d))
    W = float(ranks[d > 0.0].sum())
    if n <= EXACT_UP_TO:
        return RankTest("signed rank", W, _tail(_sums_of_subsets(ranks), 2.0 * W, alternative), (n,), "exact")
    # the sum over ranks^2 corrects for ties, half a step towards the mean for continuity
    mean, scale = 0.5 * ranks.sum(), 0.5 * float(np.linalg.norm(ranks))
    less = float(stats.norm.cdf((W + 0.5 - mean) / scale))
    greater = float(stats.norm.sf((W - 0.5 - mean) / scale))
    return RankTest("signed rank", W, _p_value(less, greater, alternative), (n,), "asymptotic")


def kruskal_wallis(*samples: npt.ArrayLike) -> RankTest:
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
    >>> from thunder_py.recordings.statistics import kruskal_wallis
    >>> test = kruskal_wallis([1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0])
    >>> round(test.statistic, 3), round(test.p_value, 4)
    (7.2, 0.0273)
    """
    if len(samples) < 2:
        raise ThunderError(f"kruskal_wallis needs at least two samples, got {len(samples)}")
    groups = [_sample(sample, f"sample {i}") for i, sample in enumerate(samples)]
    n = tuple(len(g) for g in groups)
    if np.ptp(np.concatenate(groups)) == 0.0:
        return RankTest("Kruskal-Wallis", 0.0, 1.0, n, "asymptotic")
    result = stats.kruskal(*groups)
    return RankTest("Kruskal-Wallis", float(result.statistic), float(result.pvalue), n, "asymptotic")


def cliffs_delta(
    a: npt.ArrayLike, b: npt.ArrayLike, *, confidence: float = 0.95, resamples: int = 2000, seed: int = 0
) -> EffectSize:
    """Return Cliff's delta P(a > b) - P(a < b) of two samples with a bootstrap interval.

    Parameters
    ----------
    a, b : array_like, shape (n,), (m,)
        Independent samples.
    confidence : float
        Confidence level of the percentile interval, between 0 and 1.
    resamples : int
        Bootstrap resamples of both samples.
    seed : int
        Seed of the resampling.

    Returns
    -------
    EffectSize
        About 0.15 is often called small, 0.33 medium, 0.47 large (Romano et al. 2006).

    Raises
    ------
    ThunderError
        For empty samples, numbers that are not finite, or a confidence outside of (0, 1).

    Examples
    --------
    >>> from thunder_py.recordings.statistics import cliffs_delta
    >>> print(cliffs_delta([1.0, 2.0, 3.0], [4.0, 5.0, 6.0]))
    Cliff's delta -1.000 [-1.000, -1.000] (95 %), p = 0.1, n = 3, 3
    """
    a, b = _sample(a, "a"), _sample(b, "b")
    _fraction(confidence)
    rng, resamples = np.random.default_rng(seed_of(seed)), whole(resamples, "resamples", 2)
    draws = [_delta(rng.choice(a, len(a)), np.sort(rng.choice(b, len(b)))) for _ in range(resamples)]
    low, high = np.quantile(draws, [0.5 - confidence / 2, 0.5 + confidence / 2])
    return EffectSize(
        _delta(a, np.sort(b)), float(low), float(high), rank_sum(a, b).p_value, (len(a), len(b)), float(confidence)
    )


def bootstrap_interval(
    sample: npt.ArrayLike,
    statistic: Callable[..., npt.ArrayLike] = np.mean,
    *,
    confidence: float = 0.95,
    method: str = "BCa",
    resamples: int = 5000,
    seed: int = 0,
) -> Interval:
    """Return a bootstrap interval of a statistic of one sample; for pairs, pass their differences.

    Parameters
    ----------
    sample : array_like, shape (n,)
        At least two observations.
    statistic : callable
        ``statistic(x, axis=-1)``: `np.mean`, `np.median`, ...
    confidence : float
        Confidence level, between 0 and 1.
    method : {"BCa", "percentile"}
        BCa corrects for bias and skewness (Efron 1987). Where it is undefined, as for a median that is the same
        without any one observation, the result is the percentile interval and its `method` is "percentile".
    resamples : int
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
    x = _sample(sample, "sample")
    _fraction(confidence)
    if method not in ("BCa", "percentile"):
        raise ThunderError(f"method must be 'BCa' or 'percentile', got {method!r}")
    if len(x) < 2:
        raise ThunderError(f"bootstrap_interval needs at least two observations, got {len(x)}")
    rng, resamples = np.random.default_rng(seed_of(seed)), whole(resamples, "resamples", 2)
    value = float(np.asarray(statistic(x, axis=-1)))
    if np.ptp(x) == 0.0:
        return Interval(value, value, value, (len(x),), confidence, method)
    state = rng.bit_generator.state
    for attempt in dict.fromkeys((method, "percentile")):
        rng.bit_generator.state = state
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")  # the result is checked below
            interval = stats.bootstrap(
                (x,),
                _with_ties(statistic, x, value),
                n_resamples=resamples,
                confidence_level=confidence,
                method=attempt,
                random_state=rng,
                vectorized=True,
            ).confidence_interval
        if np.isfinite([interval.low, interval.high]).all():
            return Interval(value, float(interval.low), float(interval.high), (len(x),), confidence, attempt)
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


def _delta(a: Array, ordered: Array) -> float:
    # b is sorted: bisection instead of n m differences
    below = np.searchsorted(ordered, a, side="left")
    above = len(ordered) - np.searchsorted(ordered, a, side="right")
    return float((below - above).sum() / (len(a) * len(ordered)))


def _sums_of_subsets(ranks: Array, size: int | None = None) -> Array:
    """Return the numbers of subsets (of `size`) of mid-ranks with twice their sum equal to 0, 1, 2, ..."""
    doubled = np.rint(2.0 * ranks).astype(int)
    total = int(doubled.sum())
    rows = 1 if size is None else size + 1
    counts = np.zeros((rows, total + 1))
    counts[0, 0] = 1.0
    for r in doubled:
        if size is None:
            counts[0, r:] += counts[0, : total + 1 - r].copy()
        else:
            counts[1:, r:] += counts[:-1, : total + 1 - r].copy()
    result: Array = counts[-1]
    return result


def _tail(counts: Array, value: float, alternative: str) -> float:
    """Return the p-value of twice a rank sum; the two-sided one is twice the smaller tail."""
    k = round(value)
    less, greater = counts[: k + 1].sum() / counts.sum(), counts[k:].sum() / counts.sum()
    return _p_value(float(less), float(greater), alternative)


def _p_value(less: float, greater: float, alternative: str) -> float:
    return min(1.0, {"less": less, "greater": greater, "two-sided": 2.0 * min(less, greater)}[alternative])


def _sample(value: npt.ArrayLike, what: str) -> Array:
    x = array(value, (None,), what)
    if len(x) == 0:
        raise ThunderError(f"{what} must hold one observation or more, got none")
    return x


def _fraction(confidence: float) -> None:
    within(confidence, "confidence", 0.0, 1.0, ends="()")
