"""Metrics against closed forms, quadrature and finite differences, and the invariances that they promise."""

import itertools
import math

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.spatial import cKDTree
from scipy.spatial.transform import Rotation

from tests.refusals import assert_refused
from thunder_py.errors import ThunderError
from thunder_py.recordings import metrics
from thunder_py.recordings.metrics import (
    jerk_summary,
    ldlj,
    mean_jerk,
    path_length,
    power_law,
    rms_distance,
    sparc,
    spectral_arc_length,
    speed_peaks,
    straightness,
)
from thunder_py.recordings.metrics.shape import _to_polyline
from thunder_py.recordings.statistics import (
    bootstrap_interval,
    cliffs_delta,
    friedmanchisquare,
    holm,
    kruskal,
    mannwhitneyu,
    rank_biserial,
    wilcoxon,
)
from thunder_py.recordings.synthetic import daily_living, minimum_jerk_reaches, power_law_curves
from thunder_py.recordings.trial import Trial
from thunder_py.trajectory.hermite import minimum_jerk

REACH = minimum_jerk([0.1, 0.0, 0.2], [0.4, 0.4, 0.2], 0.8)  # half a meter
CLEAN = math.inf  # a recording that needs no filter


class Harmonic:
    """Sums of sines in every column: c0 + sum_k A_k sin(w_k t + p_k)."""

    def __init__(self, A, w, p, duration=1.0):
        self.A, self.w, self.p, self.duration = (np.asarray(a, dtype=float) for a in (A, w, p, duration))
        self.duration = float(duration)

    def position(self, t, derivative=0):
        angle = np.asarray(t)[..., None, None] * self.w + self.p + 0.5 * np.pi * derivative
        return np.sum(self.A * self.w**derivative * np.sin(angle), axis=-1)


def ellipse(a=0.2, b=0.1, laps=1.0):
    return Harmonic([[a], [b]], [[2 * np.pi]] * 2, [[0.5 * np.pi], [0.0]], laps)


def wandering(seed=0, d=3):
    rng = np.random.default_rng(seed)
    return Harmonic(rng.normal(size=(d, 3)), rng.uniform(1.0, 8.0, (d, 3)), rng.uniform(0, 6, (d, 3)), 1.3)


def recorded(motion, rate=200.0, noise=0.0, **labels):
    t = np.arange(round(motion.duration * rate) + 1) / rate
    x = motion.position(t)
    return Trial(t, x + noise * np.random.default_rng(0).normal(size=x.shape), ("x", "y", "z")[: x.shape[1]], **labels)


@pytest.mark.parametrize(("D", "T"), [(0.5, 0.8), (0.46, 5.0), (1.2, 5.0)])
def test_mean_jerk_of_minimum_jerk(D, T):
    motion = minimum_jerk([0.0, 0.0, 0.0], [0.6 * D, 0.0, 0.8 * D], T)
    assert mean_jerk(motion) == pytest.approx(40.0 * math.sqrt(3.0) / 3.0 * D / T**3, rel=1e-6)
    assert 40.0 * math.sqrt(3.0) / 3.0 == pytest.approx(23.09, abs=5e-3)


def test_jerk_of_any_motion_is_its_integral():
    motion = wandering()
    norm = lambda t: float(np.linalg.norm(motion.position(t, 3)))  # noqa: E731
    summary = jerk_summary(motion)
    total = integrate.quad(norm, 0.0, 1.3, epsabs=1e-9, limit=200)[0]
    squared = integrate.quad(lambda t: norm(t) ** 2, 0.0, 1.3, epsabs=1e-9, limit=200)[0]
    assert summary.mean == pytest.approx(total / 1.3, rel=1e-9)
    assert summary.rms == pytest.approx(math.sqrt(squared / 1.3), rel=1e-9)
    assert summary.peak == pytest.approx(max(norm(t) for t in np.linspace(0.0, 1.3, 3001)), rel=1e-4)
    assert mean_jerk(motion) == summary.mean


def test_mean_jerk_of_recordings():
    trial = recorded(REACH)
    assert mean_jerk(trial, cutoff=CLEAN) == pytest.approx(mean_jerk(REACH), rel=2e-4)
    assert mean_jerk((trial.t + 5.0, trial.x), cutoff=CLEAN) == pytest.approx(mean_jerk(trial, cutoff=CLEAN), rel=1e-7)
    noisy = recorded(REACH, noise=1e-4)
    assert mean_jerk(noisy, cutoff=CLEAN) > 20.0 * mean_jerk(REACH)
    assert mean_jerk(noisy, cutoff=8.0) == pytest.approx(mean_jerk(REACH), rel=0.15)


def test_angular_jerk_by_finite_differences_of_rotations():
    motion = wandering(5, 6)
    h = 1e-3
    t = np.linspace(0.0, 1.3, 400)

    def velocity(t):
        R = [Rotation.from_rotvec(motion.position(t + s)[:, 3:]) for s in (-h, h)]
        return (R[1] * R[0].inv()).as_rotvec() / (2.0 * h)

    # second central difference of the angular velocity, which itself is one of the rotations
    jerk = (velocity(t + h) - 2.0 * velocity(t) + velocity(t - h)) / h**2
    expected = integrate.trapezoid(np.linalg.norm(jerk, axis=1), t) / 1.3
    assert mean_jerk(motion, part="orientation") == pytest.approx(expected, rel=1e-3)
    coordinates = Harmonic(motion.A[3:], motion.w[3:], motion.p[3:], 1.3)
    assert abs(mean_jerk(coordinates) / expected - 1.0) > 0.05


def test_ldlj_of_minimum_jerk():
    assert ldlj(REACH) == pytest.approx(-math.log(1024.0 / 5.0), rel=1e-9)
    assert ldlj(REACH, scaling="path_length") == pytest.approx(-math.log(720.0), rel=1e-9)
    assert ldlj(recorded(REACH, 400.0), cutoff=CLEAN) == pytest.approx(ldlj(REACH), abs=1e-3)


def test_ldlj_is_its_definition():
    motion = wandering(6)
    t = np.linspace(0.0, 1.3, 200_001)
    speed, jerk = (np.linalg.norm(motion.position(t, k), axis=1) for k in (1, 3))
    squared = integrate.trapezoid(jerk**2, t)
    assert ldlj(motion) == pytest.approx(-math.log(1.3**3 * squared / speed.max() ** 2), abs=1e-6)
    length = integrate.trapezoid(speed, t)
    assert ldlj(motion, scaling="path_length") == pytest.approx(-math.log(1.3**5 * squared / length**2), abs=1e-8)


def test_sparc_of_minimum_jerk_by_its_fourier_integral():
    """The spectrum of 30 tau^2 (1 - tau)^2 by quadrature, its length up to the last amplitude of 5 %."""
    f = np.linspace(0.0, 4.0, 1601)
    tau, w = np.polynomial.legendre.leggauss(80)
    tau, w = 0.5 * (tau + 1.0), 0.5 * w
    amplitude = np.abs((w * 30.0 * (tau * (1.0 - tau)) ** 2) @ np.exp(-2j * np.pi * np.outer(tau, f)))
    last = np.flatnonzero(amplitude >= 0.05)[-1] + 1
    expected = -np.hypot(np.diff(f[:last]) / f[last - 1], np.diff(amplitude[:last])).sum()
    motion = minimum_jerk([0.0, 0.0], [0.1, 0.3], 1.0)
    assert sparc(motion, padding=10, rate=2000.0) == pytest.approx(expected, abs=1e-3)
    assert sparc(motion) == pytest.approx(expected, abs=1e-2)


def test_length_and_straightness_of_reaches():
    assert path_length(REACH) == pytest.approx(0.5, rel=1e-12)
    assert straightness(REACH) == pytest.approx(1.0, rel=1e-14)
    half = Harmonic([[0.2], [0.2]], [[np.pi]] * 2, [[0.5 * np.pi], [0.0]])  # half a circle
    assert straightness(half) == pytest.approx(2.0 / np.pi, rel=1e-9)
    assert straightness(recorded(half, 500.0)) == pytest.approx(2.0 / np.pi, rel=1e-5)
    noisy = recorded(REACH, noise=1e-3)
    assert path_length(noisy) > 0.6
    assert path_length(noisy, cutoff=8.0) == pytest.approx(0.5, rel=0.05)


def test_distance_of_parallel_motions():
    shifted = minimum_jerk([0.1, 0.0, 0.25], [0.4, 0.4, 0.25], 2.0)
    for pairing in ("tau", "arc_length", "nearest"):
        assert rms_distance(REACH, shifted, pairing) == pytest.approx(0.05, rel=1e-9)
        assert rms_distance(REACH, recorded(REACH), pairing) < 1e-6


def test_nearest_points_of_segments():
    line = np.array(
        [[0.0, 0.0], *([1.0, 0.01 * k] for k in range(6)), [1.0, 2.0], [4.0, 2.0]]
    )  # a long one, short ones
    points = np.array([[0.6, -0.1], [0.9, 0.3], [1.2, 0.4], [1.1, -0.2], [3.0, 2.5], [-3.0, 4.0], [0.4, 0.1]])
    s = np.linspace(0.0, 1.0, 4001)[:, None]
    everywhere = np.vstack([a + s * (b - a) for a, b in itertools.pairwise(line)])
    expected = cKDTree(everywhere).query(points)[0]
    np.testing.assert_allclose(np.sqrt(_to_polyline(points, line)), expected, rtol=0, atol=1e-6)


def test_harmonic_ellipse_obeys_the_law_exactly():
    law = power_law(ellipse())
    assert law.exponent == pytest.approx(-1.0 / 3.0, abs=1e-12)
    assert law.angular_exponent == pytest.approx(2.0 / 3.0, abs=1e-12)
    assert law.r_squared == pytest.approx(1.0, abs=1e-12)
    # v^3 times the curvature is w^3 a b everywhere
    assert law.gain == pytest.approx(2 * np.pi * (0.2 * 0.1) ** (1 / 3), rel=1e-10)


@pytest.mark.parametrize("exponent", [-1 / 3, 0.0, -0.5])
def test_exponent_of_curves(exponent):
    for trial in power_law_curves(3, 0, exponent=exponent):
        law = power_law(trial, cutoff=CLEAN)
        assert law.exponent == pytest.approx(exponent, abs=2e-3)
        assert exponent == 0.0 or law.r_squared > 0.999
    noisy = [power_law(m, cutoff=10.0).exponent for m in power_law_curves(5, 0, exponent=exponent, noise=2e-4)]
    assert np.median(noisy) == pytest.approx(exponent, abs=0.04)


def gappy():
    x = REACH.position(np.linspace(0.0, 0.8, 50))
    x[10:13] = np.nan
    return Trial(np.linspace(0.0, 0.8, 50), x, ("x", "y", "z"))


def test_table_of_a_set_has_the_metrics_of_each_motion():
    motions = minimum_jerk_reaches(3, seed=2, noise=1e-4)
    rest = motions[0].with_values(np.zeros((len(motions[0]), 3)))
    columns = metrics.table([*motions, rest], cutoff=10.0).to_columns()
    for k, trial in enumerate(motions):
        expected = [mean_jerk(trial, cutoff=10.0), ldlj(trial, cutoff=10.0), path_length(trial, cutoff=10.0)]
        found = [columns[name][k] for name in ("mean jerk [m/s^3]", "LDLJ", "path length [m]")]
        assert found == pytest.approx(expected, rel=1e-12)
    assert columns["subject"][:3] == [trial.subject for trial in motions]
    assert [columns[name][3] for name in ("mean jerk [m/s^3]", "path length [m]", "speed peaks")] == [0.0, 0.0, 0]
    assert np.isnan([columns[name][3] for name in ("LDLJ", "SPARC", "straightness")]).all()
    reach = minimum_jerk([0.0], [1.0], 1.0)
    assert metrics.table([reach]).to_columns()["LDLJ"] == [ldlj(reach)]
    joint = Trial(motions[0].t, motions[0].x[:, :1], ["q1"])
    assert_refused(
        (lambda: metrics.table(motions), "cutoff must be given for a recording..."),
        (lambda: metrics.table([motions[0], joint], cutoff=10.0), "motions must share one unit, got m, rad; choose..."),
    )


def test_bad_input():
    assert_refused(
        (lambda: mean_jerk(recorded(REACH)), "...cutoff must be given for a recording..."),
        (lambda: mean_jerk(REACH, cutoff=10.0), "...cutoff must be None for a motion object, ... got 10..."),
        (lambda: mean_jerk(gappy(), cutoff=10.0), "...must have no gaps..."),
        (lambda: path_length(gappy()), "...must have no gaps..."),
        (lambda: mean_jerk(recorded(REACH), cutoff=150.0), "...above 1e-06 of the rate of the trial and below half..."),
        (lambda: mean_jerk(REACH, part="orientation"), "...part must be present ... got 'orientation' for dofs x, ..."),
        (lambda: mean_jerk(REACH, part="rotation"), "...part must be one of..."),
        (lambda: mean_jerk([1.0, 2.0]), "...a motion must be a Trial..."),
        (lambda: mean_jerk((np.arange(4.0), np.zeros((4, 3))), cutoff=CLEAN), "...six samples or more for ..."),
        (lambda: ldlj(REACH, scaling="speed"), "...scaling must be..."),
        (lambda: ldlj(minimum_jerk([0.0], [0.0], 1.0)), "...motion must move and have jerk..."),
        (lambda: sparc(minimum_jerk([0.0], [0.0], 1.0)), "...speed must be positive somewhere..."),
        (lambda: straightness(minimum_jerk([0.0], [0.0], 1.0)), "...motion must have a path of positive length..."),
        (lambda: sparc((np.cumsum(np.linspace(1, 2, 20)), np.zeros((20, 2))), cutoff=CLEAN), "...equal time steps..."),
        (lambda: rms_distance(REACH, REACH, "dtw"), "...pairing must be one of tau, arc_length, nearest, got 'dtw'..."),
        (lambda: rms_distance(REACH, ellipse()), "...a and b must have the same dofs..."),
        (lambda: power_law(minimum_jerk([0.0], [1.0], 1.0)), "...motion must have two or three dimensions..."),
        (lambda: power_law(REACH), "...ten moving samples on a curve or more, got 0..."),
        (lambda: power_law(ellipse(0.1, 0.1)), "...motion must have a varying curvature..."),
        (lambda: speed_peaks(REACH, prominence=2.0), "...prominence must be a number in [0, 1]..."),
    )


@pytest.mark.parametrize(("rate", "duration", "offset"), [(50, 0.5, 10.0), (50, 10.0, 0.0), (1000, 10.0, 10.0)])
def test_rounding_errors_are_no_jerk(rate, duration, offset):
    """Constant velocity and acceleration have no jerk; a reach of 22 mm far from the origin has that of a quintic."""
    t = np.arange(int(duration * rate) + 1) / rate
    for x in (np.outer(t, [0.2, 0.1, 0.0]), np.outer(t**2, [0.2, 0.1, 0.3])):
        with pytest.raises(ThunderError, match="motion must move and have jerk"):
            ldlj(Trial.from_positions(t, x + offset), cutoff=math.inf)
    s = t / duration
    reach = np.outer(10 * s**3 - 15 * s**4 + 6 * s**5, [0.02, 0.01, 0.0]) + offset
    assert ldlj(Trial.from_positions(t, reach), cutoff=math.inf) == pytest.approx(-math.log(1024 / 5), abs=0.1)


# --- Rank tests against enumeration and SciPy, effect size against its definition, intervals against their coverage ---
ALTERNATIVES = ["two-sided", "less", "greater"]


def samples(seed, n=7, m=9, shift=0.8, decimals=None):
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=n), rng.normal(shift, 1.0, m)
    return (a, b) if decimals is None else (np.round(a, decimals), np.round(b, decimals))


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("seed", [1])
def test_mannwhitneyu_without_ties_equals_scipy(seed, alternative):
    a, b = samples(seed)
    ours, theirs = mannwhitneyu(a, b, alternative=alternative), stats.mannwhitneyu(a, b, alternative=alternative)
    assert ours.method == "exact"
    assert ours.statistic == theirs.statistic
    assert ours.pvalue == pytest.approx(theirs.pvalue, rel=1e-12)
    assert ours.n == (7, 9)


def enumerated(sums, observed, alternative):
    less, greater = np.mean(sums <= observed), np.mean(sums >= observed)
    return {"less": less, "greater": greater, "two-sided": min(1.0, 2.0 * min(less, greater))}[alternative]


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_mannwhitneyu_with_ties_counts_every_choice(alternative):
    """SciPy's exact method ignores ties; here every choice of five of the eleven mid-ranks is listed."""
    a, b = samples(3, 5, 6, decimals=0)
    ranks = stats.rankdata(np.concatenate([a, b]))
    assert len(set(ranks)) < 8
    sums = [ranks[list(chosen)].sum() for chosen in itertools.combinations(range(11), 5)]
    expected = enumerated(np.array(sums), ranks[:5].sum(), alternative)
    assert mannwhitneyu(a, b, alternative=alternative).pvalue == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_large_samples_are_approximated(alternative):
    a, b = samples(5, 60, 70, 0.3, decimals=1)
    ours = mannwhitneyu(a, b, alternative=alternative)
    theirs = stats.mannwhitneyu(a, b, alternative=alternative, method="asymptotic")
    assert ours.method == "asymptotic"
    assert (ours.statistic, ours.pvalue) == pytest.approx((theirs.statistic, theirs.pvalue), rel=1e-12)


def test_small_p_values_reject():
    """D-28: a p-value below 0.01 rejects that two samples, jerk of two planners say, are alike; it does not fail to."""
    rng = np.random.default_rng(28)
    one, other = rng.lognormal(np.log(0.28), 0.3, 20), rng.lognormal(np.log(1.65), 0.3, 20)
    different, alike = mannwhitneyu(one, other), mannwhitneyu(one, rng.permutation(one))
    assert different.pvalue < 0.01
    assert different.rejects(0.01)
    assert alike.pvalue == 1.0
    assert not alike.rejects(0.01)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("seed", [2])
def test_wilcoxon_equals_scipy(seed, alternative):
    a, b = samples(seed, 12, 12, 0.5)
    ours = wilcoxon(a, b, alternative=alternative)
    theirs = stats.wilcoxon(a, b, alternative=alternative, method="exact")
    assert ours.method == "exact"
    assert ours.pvalue == pytest.approx(theirs.pvalue, rel=1e-12)
    assert ours.statistic == theirs.statistic
    assert wilcoxon(a - b, alternative=alternative) == ours


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_wilcoxon_with_ties_counts_every_sign(alternative):
    d = np.array([1.0, 1.0, -1.0, 2.0, 2.0, -2.0, 3.0, 0.0, 4.0, 4.0])
    kept = d[d != 0.0]
    ranks = stats.rankdata(np.abs(kept))
    sums = [np.dot(ranks, signs) for signs in itertools.product([0.0, 1.0], repeat=len(kept))]
    expected = enumerated(np.array(sums), ranks[kept > 0.0].sum(), alternative)
    ours = wilcoxon(d, alternative=alternative)
    assert ours.pvalue == pytest.approx(expected, rel=1e-12)
    assert ours.n == (9,)


def test_wilcoxon_of_many_pairs_and_of_none_that_differ():
    a, b = samples(2, 90, 90, 0.2, decimals=1)
    for alternative in ALTERNATIVES:
        theirs = stats.wilcoxon(a, b, alternative=alternative, method="asymptotic", correction=True)
        assert wilcoxon(a, b, alternative=alternative).pvalue == pytest.approx(theirs.pvalue, rel=1e-12)
    assert wilcoxon(a, a).pvalue == 1.0


def test_kruskal():
    groups = [*samples(1, 12, 12, 0.0), samples(2, 14, 5)[0]]
    ours = kruskal(*groups)
    ranks = np.split(stats.rankdata(np.concatenate(groups)), [12, 24])
    N = 38
    H = 12.0 / (N * (N + 1)) * sum(r.sum() ** 2 / len(r) for r in ranks) - 3.0 * (N + 1)
    assert ours.statistic == pytest.approx(H, rel=1e-12)
    assert ours.pvalue == pytest.approx(stats.chi2.sf(H, 2), rel=1e-12)
    assert ours.n == (12, 12, 14)
    assert kruskal(groups[0], groups[1] + 3.0).rejects(0.001)
    assert kruskal([1.0, 1.0], [1.0]).pvalue == 1.0


def test_friedman_compares_rows():
    rows = np.round(np.random.default_rng(4).normal([0.0, 0.3, 0.8], 1.0, (14, 3)), 1)  # some are tied
    ours, theirs = friedmanchisquare(*rows.T), stats.friedmanchisquare(*rows.T)
    assert (ours.statistic, ours.pvalue) == pytest.approx((theirs.statistic, theirs.pvalue), rel=1e-12)
    assert ours.n == (14,)
    different = rows + 100.0 * np.arange(14)[:, None]  # people differ, which must not count
    assert friedmanchisquare(*different.T).statistic == pytest.approx(ours.statistic, rel=1e-12)
    assert friedmanchisquare([1.0, 2.0], [1.0, 2.0], [1.0, 2.0]).pvalue == 1.0


def test_holm_is_the_closed_test_of_bonferroni():
    """The corrected p-value is the largest one of Bonferroni over all subsets with it (Marcus et al. 1976)."""
    p = np.random.default_rng(0).uniform(0.0, 0.2, 6)
    subsets = [list(chosen) for r in range(1, 7) for chosen in itertools.combinations(range(6), r)]
    closed = [max(min(1.0, len(s) * p[s].min()) for s in subsets if k in s) for k in range(6)]
    assert holm(p) == pytest.approx(closed, rel=1e-15)
    assert_refused((lambda: holm([0.1, 1.2]), "...pvalues must be a number in [0, 1], got 1.2..."))


def test_rank_biserial_is_the_size_of_wilcoxon():
    d = np.array([1.0, -1.0, 2.5, 0.0, 3.0, -0.5, 4.0, 4.0])
    n = 7
    greater = wilcoxon(d, alternative="greater").statistic
    assert rank_biserial(d) == pytest.approx(2.0 * greater / (n * (n + 1) / 2) - 1.0, abs=1e-15)
    assert rank_biserial([d, -d, 0.0 * d, np.abs(d)]).tolist() == [rank_biserial(d), -rank_biserial(d), 0.0, 1.0]
    interval = bootstrap_interval(np.random.default_rng(1).normal(0.8, 1.0, 12), rank_biserial)
    assert -1.0 <= interval.low < interval.statistic < interval.high <= 1.0


def test_cliffs_delta_is_its_definition():
    a, b = samples(6, 15, 11, decimals=0)
    effect = cliffs_delta(a, b, seed=3)
    assert effect.statistic == pytest.approx(np.sign(a[:, None] - b).mean(), abs=1e-15)
    assert effect.statistic == pytest.approx(2.0 * mannwhitneyu(a, b).statistic / (15 * 11) - 1.0, abs=1e-12)
    assert -1.0 <= effect.low < effect.statistic < effect.high <= 1.0
    assert cliffs_delta(a, b, seed=3) == effect
    assert cliffs_delta(b, a).statistic == -effect.statistic
    assert cliffs_delta([1.0, 2.0], [3.0, 4.0]).statistic == -1.0


@pytest.mark.parametrize("method", ["BCa", "percentile"])
def test_bootstrap_interval_covers(method):
    rng = np.random.default_rng(9)
    intervals = [bootstrap_interval(rng.normal(2.0, 1.0, 25), method=method, n_resamples=400) for _ in range(120)]
    assert 0.85 < np.mean([i.low < 2.0 < i.high for i in intervals]) < 1.0
    width = np.mean([i.high - i.low for i in intervals])
    assert width == pytest.approx(2.0 * 1.96 / 5.0, rel=0.12)


def test_bootstrap_interval_is_seeded_and_takes_any_statistic():
    x = np.random.default_rng(0).lognormal(size=40)
    first = bootstrap_interval(x, np.median, seed=5, n_resamples=500)
    assert first == bootstrap_interval(x, np.median, seed=5, n_resamples=500)
    assert first != bootstrap_interval(x, np.median, seed=6, n_resamples=500)
    assert first.statistic == np.median(x)
    constant = bootstrap_interval([2.0, 2.0, 2.0])
    assert (constant.low, constant.high) == (2.0, 2.0)


def test_bad_input_of_statistics():
    assert_refused(
        (lambda: mannwhitneyu([], [1.0]), "...x must hold one observation or more..."),
        (lambda: mannwhitneyu([1.0], [np.nan]), "...y must be finite..."),
        (lambda: mannwhitneyu([1.0], [2.0], alternative="both"), "...alternative must be..."),
        (lambda: wilcoxon([1.0, 2.0], [1.0]), "...y must have shape (2,)..."),
        (lambda: friedmanchisquare([1.0], [2.0]), "...at least 3 samples, got 2..."),
        (lambda: friedmanchisquare([1.0], [2.0], [3.0, 4.0]), "...sample 2 must have shape (1,)..."),
        (lambda: kruskal([1.0]), "...at least 2 samples, got 1..."),
        (
            lambda: cliffs_delta([1.0], [2.0], confidence_level=95),
            "...confidence_level must be...(0, 1), got 95...",
        ),
        (lambda: bootstrap_interval([1.0]), "...at least two observations, got 1..."),
        (lambda: bootstrap_interval([1.0, 2.0], method="basic"), "...method must be..."),
    )


def test_motions_that_start_later():
    class Later:
        start_time, duration = 7.0, REACH.duration

        def position(self, t, derivative=0):
            return REACH.position(np.asarray(t) - 7.0, derivative)

    assert mean_jerk(Later()) == pytest.approx(mean_jerk(REACH), rel=1e-9)
    assert sparc(Later()) == pytest.approx(sparc(REACH), rel=1e-9)
    assert straightness(Later()) == pytest.approx(1.0, rel=1e-12)
    assert rms_distance(Later(), REACH) < 1e-12


def test_orientation_jerk_does_not_depend_on_the_frame():
    trial = daily_living(1, 2)[0]
    turn = Rotation.from_rotvec([0.3, -0.8, 0.5])
    moved = Trial.from_poses(
        trial.t, turn.apply(trial.position.copy()), quaternion=(turn * trial.rotations).as_quat(), scalar_first=False
    )
    for part in ("translation", "orientation"):
        a, b = (mean_jerk(m, part=part, cutoff=CLEAN) for m in (trial, moved))
        assert a == pytest.approx(b, rel=1e-4)
        assert a > 0.1


def test_submovements_make_motions_less_smooth():
    t = np.linspace(0.0, 1.0, 201)
    one = 30.0 * (t * (1.0 - t)) ** 2
    two = np.where(t < 0.5, 30.0 * (2 * t * (1 - 2 * t)) ** 2, 30.0 * ((2 * t - 1) * (2 - 2 * t)) ** 2)
    assert spectral_arc_length(one, 200.0) > spectral_arc_length(two, 200.0) + 0.3
    x = np.cumsum(two)[:, None] * [[0.3, 0.4, 0.0]]
    assert speed_peaks((t, x), cutoff=CLEAN) == 2
    assert speed_peaks(REACH) == 1
    assert ldlj((t, x), cutoff=20.0) < ldlj((t, np.cumsum(one)[:, None] * [[0.3, 0.4, 0.0]]), cutoff=20.0)


def test_timing_counts_in_tau_only():
    """The same line at constant speed: the difference of 10 tau^3 - ... and tau over the length of the path."""

    class Uniform:
        duration = 3.0

        def position(self, t, derivative=0):
            return np.array([0.1, 0.0, 0.2]) + np.asarray(t)[..., None] / 3.0 * np.array([0.3, 0.4, 0.0])

    squared = lambda u: (10 * u**3 - 15 * u**4 + 6 * u**5 - u) ** 2  # noqa: E731
    expected = 0.5 * math.sqrt(integrate.quad(squared, 0.0, 1.0)[0])
    assert rms_distance(REACH, Uniform(), "tau", n=4000) == pytest.approx(expected, rel=1e-3)
    assert rms_distance(REACH, Uniform(), "arc_length") < 1e-9
    assert rms_distance(REACH, Uniform(), "nearest") < 1e-9


def test_distance_of_concentric_circles():
    small, large = ellipse(0.1, 0.1), ellipse(0.3, 0.3)
    assert rms_distance(small, large, "nearest") == pytest.approx(0.2, rel=1e-5)
    assert rms_distance(small, large, "arc_length") == pytest.approx(0.2, rel=1e-5)
    # from a part to the whole costs nothing, the other way round it does
    arc = Harmonic([[0.3], [0.3]], [[0.5 * np.pi]] * 2, [[0.5 * np.pi], [0.0]])
    assert rms_distance(arc, large, "nearest") < 1e-5
    assert rms_distance(large, arc, "nearest") > 0.1


def test_distance_of_orientations_is_an_angle():
    trial = daily_living(1, 0)[0]
    turned = Trial.from_poses(
        trial.t,
        trial.position,
        quaternion=(trial.rotations * Rotation.from_rotvec([0.0, 0.3, 0.0])).as_quat(),
        scalar_first=False,
    )
    assert rms_distance(trial, turned, part="orientation") == pytest.approx(0.3, rel=1e-6)
    assert rms_distance(trial, turned) == 0.0
