"""Rank tests against enumeration and SciPy, effect size against its definition, intervals against their coverage."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from tests.refusals import assert_refused
from thunder_py.recordings.statistics import bootstrap_interval, cliffs_delta, kruskal_wallis, rank_sum, signed_rank

ALTERNATIVES = ["two-sided", "less", "greater"]


def samples(seed, n=7, m=9, shift=0.8, decimals=None):
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=n), rng.normal(shift, 1.0, m)
    return (a, b) if decimals is None else (np.round(a, decimals), np.round(b, decimals))


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("seed", [1])
def test_rank_sum_without_ties_equals_scipy(seed, alternative):
    a, b = samples(seed)
    ours, theirs = rank_sum(a, b, alternative=alternative), stats.mannwhitneyu(a, b, alternative=alternative)
    assert ours.method == "exact"
    assert ours.statistic == theirs.statistic
    assert ours.p_value == pytest.approx(theirs.pvalue, rel=1e-12)
    assert ours.n == (7, 9)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_rank_sum_with_ties_counts_every_choice(alternative):
    """SciPy's exact method ignores ties; here every choice of five of the eleven mid-ranks is listed."""
    a, b = samples(3, 5, 6, decimals=0)
    ranks = stats.rankdata(np.concatenate([a, b]))
    assert len(set(ranks)) < 8
    sums = np.array([ranks[list(chosen)].sum() for chosen in itertools.combinations(range(11), 5)])
    observed = ranks[:5].sum()
    less, greater = np.mean(sums <= observed), np.mean(sums >= observed)
    expected = {"less": less, "greater": greater, "two-sided": min(1.0, 2.0 * min(less, greater))}[alternative]
    assert rank_sum(a, b, alternative=alternative).p_value == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_large_samples_are_approximated(alternative):
    a, b = samples(5, 60, 70, 0.3, decimals=1)
    ours = rank_sum(a, b, alternative=alternative)
    theirs = stats.mannwhitneyu(a, b, alternative=alternative, method="asymptotic")
    assert ours.method == "asymptotic"
    assert (ours.statistic, ours.p_value) == pytest.approx((theirs.statistic, theirs.pvalue), rel=1e-12)


def test_small_p_values_reject():
    """D-28: a p-value below 0.01 rejects that two samples, jerk of two planners say, are alike; it does not fail to."""
    rng = np.random.default_rng(28)
    one, other = rng.lognormal(np.log(0.28), 0.3, 20), rng.lognormal(np.log(1.65), 0.3, 20)
    different, alike = rank_sum(one, other), rank_sum(one, rng.permutation(one))
    assert different.p_value < 0.01
    assert different.rejects(0.01)
    assert alike.p_value == 1.0
    assert not alike.rejects(0.01)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("seed", [2])
def test_signed_rank_equals_scipy(seed, alternative):
    a, b = samples(seed, 12, 12, 0.5)
    ours = signed_rank(a, b, alternative=alternative)
    theirs = stats.wilcoxon(a, b, alternative=alternative, method="exact")
    assert ours.method == "exact"
    assert ours.p_value == pytest.approx(theirs.pvalue, rel=1e-12)
    assert ours.statistic == stats.wilcoxon(a, b, alternative="greater").statistic
    assert signed_rank(a - b, alternative=alternative) == ours


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_signed_rank_with_ties_counts_every_sign(alternative):
    d = np.array([1.0, 1.0, -1.0, 2.0, 2.0, -2.0, 3.0, 0.0, 4.0, 4.0])
    kept = d[d != 0.0]
    ranks = stats.rankdata(np.abs(kept))
    sums = np.array([np.dot(ranks, signs) for signs in itertools.product([0.0, 1.0], repeat=len(kept))])
    observed = ranks[kept > 0.0].sum()
    less, greater = np.mean(sums <= observed), np.mean(sums >= observed)
    expected = {"less": less, "greater": greater, "two-sided": min(1.0, 2.0 * min(less, greater))}[alternative]
    ours = signed_rank(d, alternative=alternative)
    assert ours.p_value == pytest.approx(expected, rel=1e-12)
    assert ours.n == (9,)


def test_signed_rank_of_many_pairs_and_of_none_that_differ():
    a, b = samples(2, 90, 90, 0.2, decimals=1)
    for alternative in ALTERNATIVES:
        theirs = stats.wilcoxon(a, b, alternative=alternative, method="asymptotic", correction=True)
        assert signed_rank(a, b, alternative=alternative).p_value == pytest.approx(theirs.pvalue, rel=1e-12)
    assert signed_rank(a, a).p_value == 1.0


def test_kruskal_wallis():
    groups = [*samples(1, 12, 12, 0.0), samples(2, 14, 5)[0]]
    ours = kruskal_wallis(*groups)
    ranks = np.split(stats.rankdata(np.concatenate(groups)), [12, 24])
    N = 38
    H = 12.0 / (N * (N + 1)) * sum(r.sum() ** 2 / len(r) for r in ranks) - 3.0 * (N + 1)
    assert ours.statistic == pytest.approx(H, rel=1e-12)
    assert ours.p_value == pytest.approx(stats.chi2.sf(H, 2), rel=1e-12)
    assert ours.n == (12, 12, 14)
    assert kruskal_wallis(groups[0], groups[1] + 3.0).rejects(0.001)
    assert kruskal_wallis([1.0, 1.0], [1.0]).p_value == 1.0


def test_cliffs_delta_is_its_definition():
    a, b = samples(6, 15, 11, decimals=0)
    effect = cliffs_delta(a, b, seed=3)
    assert effect.statistic == pytest.approx(np.sign(a[:, None] - b).mean(), abs=1e-15)
    assert effect.statistic == pytest.approx(2.0 * rank_sum(a, b).statistic / (15 * 11) - 1.0, abs=1e-12)
    assert effect.p_value == rank_sum(a, b).p_value
    assert -1.0 <= effect.low < effect.statistic < effect.high <= 1.0
    assert cliffs_delta(a, b, seed=3) == effect
    assert cliffs_delta(b, a).statistic == -effect.statistic
    assert cliffs_delta([1.0, 2.0], [3.0, 4.0]).statistic == -1.0


@pytest.mark.parametrize("method", ["BCa", "percentile"])
def test_bootstrap_interval_covers(method):
    rng = np.random.default_rng(9)
    intervals = [bootstrap_interval(rng.normal(2.0, 1.0, 25), method=method, resamples=400) for _ in range(120)]
    assert 0.85 < np.mean([i.low < 2.0 < i.high for i in intervals]) < 1.0
    width = np.mean([i.high - i.low for i in intervals])
    assert width == pytest.approx(2.0 * 1.96 / 5.0, rel=0.12)


def test_bootstrap_intervals_of_few_do_not_depend_on_the_order_of_sums():
    """Most resamples of three have a mean that others have too, up to rounding."""
    backwards = lambda x, axis: np.sum(x[..., ::-1] / x.shape[-1], axis=axis)  # noqa: E731
    for seed in range(20):
        x = 10.0 * np.random.default_rng(seed).normal(size=3)
        found, other = (bootstrap_interval(x, mean, resamples=1000) for mean in (np.mean, backwards))
        np.testing.assert_allclose([found.low, found.high], [other.low, other.high], rtol=1e-11)


def test_bootstrap_interval_is_seeded_and_takes_any_statistic():
    x = np.random.default_rng(0).lognormal(size=40)
    first = bootstrap_interval(x, np.median, seed=5, resamples=500)
    assert first == bootstrap_interval(x, np.median, seed=5, resamples=500)
    assert first != bootstrap_interval(x, np.median, seed=6, resamples=500)
    assert first.statistic == np.median(x)
    constant = bootstrap_interval([2.0, 2.0, 2.0])
    assert (constant.low, constant.high) == (2.0, 2.0)


def test_bad_input():
    assert_refused(
        (lambda: rank_sum([], [1.0]), "...a must hold one observation or more..."),
        (lambda: rank_sum([1.0], [np.nan]), "...b must be finite..."),
        (lambda: rank_sum([1.0], [2.0], alternative="both"), "...alternative must be..."),
        (lambda: signed_rank([1.0, 2.0], [1.0]), "...b must have shape (2,)..."),
        (lambda: kruskal_wallis([1.0]), "...at least two samples, got 1..."),
        (lambda: cliffs_delta([1.0], [2.0], confidence=95), "...confidence must be a number in (0, 1), got 95..."),
        (lambda: bootstrap_interval([1.0]), "...at least two observations, got 1..."),
        (lambda: bootstrap_interval([1.0, 2.0], method="basic"), "...method must be..."),
    )


def test_bca_that_is_not_defined_is_a_percentile_interval():
    sample = [1.0, 1.0, 1.0, 1.0, 2.0]  # without any one of them the median is 1
    found = bootstrap_interval(sample, np.median)
    assert found == bootstrap_interval(sample, np.median, method="percentile")
    assert found.method == "percentile"
    assert (found.low, found.high) == (1.0, 2.0)
