"""Functional components: identities, other ways to the same numbers, what turning motions does, bad input."""

import warnings
from functools import partial
from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy.integrate import simpson
from scipy.spatial.transform import Rotation

from tests.refusals import assert_refused
from thunder_py.errors import FileFormatError, ThunderError, ThunderWarning
from thunder_py.motion import FPCA, SplineBasis
from thunder_py.recordings import MotionSet, RecordingWarning, Trial
from thunder_py.recordings.synthetic import minimum_jerk_reaches

#: components coordinate by coordinate, of the data alone
PLAIN = {"alignment": "none", "shrinkage": 0.0}

BASIS = SplineBasis()
TAU = np.linspace(0.0, 1.0, 90)
FINE = np.linspace(0.0, 1.0, 2001)
STEP = 10.0 * TAU**3 - 15.0 * TAU**4 + 6.0 * TAU**5
WAYS = [
    {},
    {"joint": True},
    {"demean": False},
    {"joint": True, "demean": False},
    {"alignment": "path"},
    {"alignment": "path", "joint": True},
    {"shrinkage": 0.3},
    {"shrinkage": 0.3, "joint": True, "alignment": "path"},
    {"n_components": 4, "smoothing": "gcv"},
    {"n_components": 4, "smoothing": "gcv", "joint": True},
]


def reaches(count=25, seed=0, noise=0.0, d=3):
    """Reaches with random ends, bends and places, (count, 90, d)."""
    rng = np.random.default_rng(seed)

    def draw(scale):
        return scale * rng.normal(size=(count, 1, d))

    bends = [np.sin(np.pi * TAU) ** 2, np.sin(2.0 * np.pi * TAU), TAU**2 * (1.0 - TAU) ** 3, np.sin(3.0 * np.pi * TAU)]
    shape = sum(draw(0.1 / (i + 1)) * bend[:, None] for i, bend in enumerate(bends))
    return 0.5 * draw(1.0) + draw(0.3) * STEP[:, None] + shape + noise * rng.normal(size=(count, len(TAU), d))


def inner_products(fpca):
    """Integrals of products of components over a fine grid's exact quadrature."""
    nodes, weights = fpca.basis_.quadrature()
    S = fpca.components(nodes)
    return np.einsum("ntd,t,mtd->nm" if fpca.joint else "ntd,t,mtd->dnm", S, weights, S)


@pytest.mark.parametrize("way", WAYS, ids=repr)
def test_components_scores_and_derivatives(way):
    y = reaches(noise=1e-3)
    fpca = FPCA(**({"smoothing": None, "alignment": "none", "shrinkage": 0.0} | way)).fit(y)
    products = inner_products(fpca)
    np.testing.assert_allclose(products, np.broadcast_to(np.eye(products.shape[-1]), products.shape), atol=1e-12)
    p = fpca.project(y)
    np.testing.assert_allclose(p.scores, fpca.scores_, atol=1e-13)
    np.testing.assert_allclose(p.offsets, fpca.offsets_, atol=1e-13)
    assert (np.diff(fpca.explained_variance_, axis=0) <= 0.0).all()
    assert fpca.scores_.shape == (25, *fpca.explained_variance_.shape)
    if "shrinkage" not in way:
        np.testing.assert_allclose(fpca.scores_.mean(axis=0), 0.0, atol=1e-12)
        # variances that alignment takes away are zero to rounding
        np.testing.assert_allclose(fpca.scores_.var(axis=0, ddof=1), fpca.explained_variance_, rtol=1e-9, atol=1e-20)
    h, tau = 1e-6, np.linspace(0.02, 0.97, 30)
    for order in (1, 2, 3):
        for function in (fpca.mean, fpca.components):
            exact = function(tau, order)
            slope = (function(tau + h, order - 1) - function(tau - h, order - 1)) / (2.0 * h)
            np.testing.assert_allclose(exact, slope, atol=1e-6 * np.abs(exact).max())


@pytest.mark.parametrize("way", WAYS[:8], ids=repr)
def test_all_components_give_the_splines_back(way):
    way = {"smoothing": None, "alignment": "none"} | way | {"n_components": None, "shrinkage": 0.3}
    fpca, y = FPCA(**way).fit(reaches(noise=1e-3)), reaches(seed=1)
    p = fpca.project(y)
    free = FPCA(basis=fpca.basis_, smoothing=None, **PLAIN).fit(y)
    for derivative, atol in ((0, 1e-12), (1, 1e-10)):
        expected = free.inverse_transform(free.scores_, free.offsets_, tau=TAU, derivative=derivative)
        back = fpca.inverse_transform(p.scores, p.offsets, frames=p.frames, tau=TAU, derivative=derivative)
        np.testing.assert_allclose(back, expected, atol=atol)
    np.testing.assert_array_equal(fpca.transform(y), p.scores)


def test_offset_is_each_motions_own_mean():
    """x_bar of eq. (95): the integral over tau; mean and components then have none."""
    y = reaches()
    fpca = FPCA(smoothing=None, **PLAIN).fit(y)
    np.testing.assert_allclose(fpca.offsets_, simpson(y, x=TAU, axis=1), atol=1e-4)
    np.testing.assert_allclose(fpca.offset_mean_, fpca.offsets_.mean(axis=0), atol=1e-15)
    np.testing.assert_allclose(fpca.offset_variance_, fpca.offsets_.var(axis=0, ddof=1), rtol=1e-12)
    np.testing.assert_allclose(fpca.offset_covariance_, np.cov(fpca.offsets_.T), atol=1e-15)
    nodes, weights = BASIS.quadrature()
    np.testing.assert_allclose(weights @ fpca.mean(nodes), 0.0, atol=1e-14)
    np.testing.assert_allclose(np.einsum("t,ntd->nd", weights, fpca.components(nodes)), 0.0, atol=1e-13)


def test_the_mean_must_be_taken_off():
    """D-30: eqs. (96) to (100) as printed find the mean again, and not what varies about it."""
    bends = 0.01 * np.random.default_rng(0).normal(size=(25, 1)) * np.sin(np.pi * TAU) ** 2
    y = (0.3 * STEP + bends)[:, :, None]
    fpca = FPCA(1, smoothing=None, **PLAIN).fit(y)
    c = BASIS.evaluate(FINE) @ np.linalg.lstsq(BASIS.evaluate(TAU), y[:, :, 0].T, rcond=None)[0]
    c -= simpson(c, x=FINE, axis=0)
    printed = np.linalg.svd(c, full_matrices=False)[0][:, 0]  # maximizes the sum of squared integrals
    mean = fpca.mean(FINE)[:, 0]
    cosine = lambda f, g: abs(f @ g) / np.linalg.norm(f) / np.linalg.norm(g)  # noqa: E731
    assert cosine(printed, mean) > 0.999
    assert cosine(fpca.components(FINE)[0, :, 0], 0.5 - np.sin(np.pi * FINE) ** 2) > 0.999
    assert cosine(fpca.components(FINE)[0, :, 0], printed) < 0.1


@pytest.mark.parametrize("joint", [False, True])
def test_equals_components_of_dense_samples(joint):
    """Ordinary components of 2001 samples, weighted by Simpson's rule."""
    weights = np.where(np.arange(2001) % 2, 4.0, 2.0) / 6000.0
    weights[[0, -1]] *= 0.5
    fpca = FPCA(4, smoothing=None, joint=joint, **PLAIN).fit(reaches())
    y = FPCA(smoothing=None, **PLAIN).fit(reaches())
    x = y.inverse_transform(y.scores_, tau=FINE)
    x = x - np.einsum("t,rtd->rd", weights, x)[:, None]
    deviations = (x - x.mean(axis=0)) * np.sqrt(weights)[:, None]
    sets = [deviations.reshape(25, -1)] if joint else [deviations[:, :, k] for k in range(3)]
    tolerance = 1e-8
    for k, rows in enumerate(sets):
        _, sigma, Vt = np.linalg.svd(rows, full_matrices=False)
        ours = fpca.components(FINE) * np.sqrt(weights)[:, None]
        ours = ours.reshape(4, -1) if joint else ours[:, :, k]
        variances = fpca.explained_variance_ if joint else fpca.explained_variance_[:, k]
        np.testing.assert_allclose(sigma[:4] ** 2 / 24.0, variances, rtol=tolerance)
        np.testing.assert_allclose(np.abs((Vt[:4] * ours).sum(axis=1)), 1.0, atol=tolerance)


def test_joint_components_turn_with_the_motions():
    """Another world frame: S_0 and S_i turn, variances and scores stay, with smoothing found from noisy data."""
    y, R = reaches(noise=2e-3), Rotation.from_rotvec([0.7, -1.1, 0.4]).as_matrix()
    a = FPCA(6, joint=True, **PLAIN).fit(y)
    b = FPCA(6, joint=True, **PLAIN).fit(y @ R.T + np.array([1.0, 2.0, 3.0]))
    np.testing.assert_allclose(b.smoothing_, a.smoothing_, rtol=1e-4)
    np.testing.assert_allclose(b.mean(TAU), a.mean(TAU) @ R.T, atol=1e-8)
    np.testing.assert_allclose(b.components(TAU), a.components(TAU) @ R.T, atol=1e-6)
    np.testing.assert_allclose(b.scores_, a.scores_, atol=1e-8)
    np.testing.assert_allclose(b.explained_variance_, a.explained_variance_, rtol=1e-6)
    np.testing.assert_allclose(b.offset_covariance_, R @ a.offset_covariance_ @ R.T, atol=1e-9)


@pytest.mark.parametrize("joint", [False, True])
@pytest.mark.parametrize("shrinkage", [0.0, 0.4])
def test_aligned_components_know_no_place_direction_and_size(joint, shrinkage):
    y, rng = reaches(noise=1e-4), np.random.default_rng(8)
    moved = np.empty_like(y)
    for r, x in enumerate(y):
        Q = Rotation.from_rotvec([0.0, 0.0, rng.uniform(-3.0, 3.0)]).as_matrix()
        moved[r] = x @ Q.T + rng.normal(size=3)
    way = {"joint": joint, "alignment": "path", "shrinkage": shrinkage, "smoothing": 1e-9}
    a, b = FPCA(5, **way).fit(y), FPCA(5, **way).fit(moved)
    np.testing.assert_allclose(b.mean(TAU), a.mean(TAU), atol=1e-9)
    np.testing.assert_allclose(b.components(TAU), a.components(TAU), atol=1e-6)
    np.testing.assert_allclose(b.frames_.scale, a.frames_.scale, rtol=1e-10)
    ends = a.inverse_transform(a.scores_, a.offsets_, tau=[0.0, 1.0])
    every = FPCA(**way).fit(y)
    ends = every.inverse_transform(every.scores_, every.offsets_, tau=[0.0, 1.0])
    if shrinkage > 0.0:  # all components, and so all of each motion
        np.testing.assert_allclose(ends, np.broadcast_to([[0.0] * 3, [1.0, 0.0, 0.0]], ends.shape), atol=1e-10)


def test_paper():
    fpca = FPCA.paper(reaches(noise=1e-3))
    assert fpca.basis == SplineBasis(15, degree=4)
    assert (fpca.joint, fpca.alignment, fpca.demean, fpca.shrinkage_) == (False, "none", True, 0.0)
    np.testing.assert_array_equal(fpca.smoothing_, 0.0)
    assert fpca.n_components_ == 14  # of 15 splines, one direction is x_bar
    assert FPCA.paper(reaches(), 5).n_components_ == 5


def stretched(x, name="a", duration=1.0, **labels):
    return Trial.from_positions(np.linspace(0.0, duration, len(x)), x, name=name, **labels)


def returning(back, count, turn=0.0):
    """Straight motions out and, of each the part `back`, back; or around a circle, at equal speed or from rest."""
    angle = 2.0 * np.pi * (STEP if turn > 1.0 else TAU)
    if turn:
        x = 0.1 * np.column_stack([1.0 - np.cos(angle), np.sin(angle), 0.0 * TAU])
    else:
        way = 1.0 - np.abs(1.0 - (1.0 + back) * STEP)
        x = 0.3 * np.column_stack([way, 0.05 * STEP, 0.0 * TAU])
    return [stretched(x @ Rotation.from_rotvec([0.0, 0.0, k]).as_matrix().T, name=f"back {k}") for k in range(count)]


def session(points):
    """One motion of reaches from point to point, which ends away from its start."""
    points = np.array(points, dtype=float)
    x = np.vstack(points[:-1, None] + np.diff(points, axis=0)[:, None] * STEP[:, None])
    return [stretched(x, "session", len(points) - 1.0)]


class TestMotionsThatReturn:
    """The majority decides on the alignment; every other motion is told."""

    REACHES = tuple(minimum_jerk_reaches(12, seed=3, noise=1e-4))

    @pytest.mark.parametrize(
        ("others", "kind"),
        [
            (returning(0.9, 5), "out and back"),
            (returning(1.0, 1, 2.0), "loops"),
            (
                session([[0, 0, 0], [0.3, 0, 0], [0, 0.2, 0], [0.3, 0.2, 0], [0, 0.1, 0], [0.3, 0.1, 0]]),
                "several reaches, or winding",
            ),
        ],
    )
    def test_a_few_are_left_out(self, others, kind):
        """The components are those of the other motions alone, to the last digit."""
        alone, motions = FPCA(4, shrinkage=0.1).fit(self.REACHES), [*others, *self.REACHES]
        match = rf"{len(others)} of {len(motions)} motions return .*\({kind}: trial 0 \({others[0].name}\).* left out"
        with pytest.warns(ThunderWarning, match=match) as caught:
            fpca = FPCA(4, shrinkage=0.1).fit(motions)
        assert ("recordings.split_reaches" in str(caught[0].message)) == (kind != "loops")
        assert (fpca.alignment_, alone.alignment_) == ("path", "path")
        np.testing.assert_array_equal(fpca.support_, [False] * len(others) + [True] * 12)
        for name in ("mean_coefficients_", "component_coefficients_", "scores_", "smoothing_", "durations_"):
            np.testing.assert_array_equal(getattr(fpca, name), getattr(alone, name))

    @pytest.mark.filterwarnings("ignore:.* left out")
    def test_scores_of_those_left_out(self):
        fpca, few = FPCA(4, shrinkage=0.1), returning(0.9, 2)
        scores = fpca.fit_transform([*few, *self.REACHES])
        np.testing.assert_allclose(scores[2:], fpca.scores_, atol=1e-9)
        with pytest.raises(ThunderError, match=r"start and goal .* trial 0 \(back 0\).*split_reaches"):
            fpca.fit_transform([*returning(1.0, 1, 2.0), *self.REACHES])

    def test_noise_at_rest_is_no_reach(self):
        """Its displacement is 0.7 of its extent, and alignment would scale noise to the length of reaches."""
        drift = 1e-4 * (np.outer(TAU, [0.7, 0.0, 0.0]) + np.outer(np.sin(np.pi * TAU), [0.0, 1.0, 0.0]))
        with pytest.warns(ThunderWarning, match=r"1 of 13 motions .* \(hardly moving: trial 12 \(rest\)\) .* left out"):
            fpca = FPCA(4, shrinkage=0.1).fit([*self.REACHES, stretched(0.3 + drift, name="rest")])
        np.testing.assert_array_equal(fpca.scores_, FPCA(4, shrinkage=0.1).fit(self.REACHES).scores_)

    @pytest.mark.parametrize("turn", [0.0, 1.0, 2.0])
    def test_the_majority_is_not_aligned(self, turn):
        for others in ([], self.REACHES[:4]):
            motions = [*others, *returning(1.0, 5, turn)]
            match = rf"5 of {len(motions)} .*\({'loops' if turn else 'out and back'}: .* none is aligned"
            with pytest.warns(ThunderWarning, match=match):
                fpca = FPCA(2, shrinkage=0.1).fit(motions)
            assert fpca.alignment_ == "none"
            assert fpca.support_.all()

    def test_splines_that_miss_a_session(self):
        """Fifteen functions cannot follow a session of many reaches, with whatever alignment."""
        motions = session(np.random.default_rng(4).uniform(-0.3, 0.3, (41, 3)))
        with pytest.warns(ThunderWarning, match=r"functions miss \d\d% .* of x, y, z .* 15 functions; .*split_reaches"):
            FPCA(alignment="none").fit(motions)
        FPCA(alignment="none", basis=SplineBasis(160)).fit(motions)

    def test_who_chose_the_alignment_keeps_all(self):
        motions = [*self.REACHES, *returning(0.9, 2)]
        assert FPCA(2, alignment="none").fit(motions).support_.all()
        with pytest.warns(ThunderWarning, match=r'2 of 14 .* enlarged by alignment="path": .*split_reaches'):
            assert len(FPCA(2, alignment="path", shrinkage=0.1).fit(motions).scores_) == 14

    @pytest.mark.parametrize(("back", "expected"), [(0.0, 0), (0.3, 0), (0.7, 4), (1.0, 4)])
    def test_half_of_the_extent(self, back, expected):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            fpca = FPCA(2, shrinkage=0.1).fit([*self.REACHES, *returning(back, 4)])
        assert (~fpca.support_).sum() == expected
        assert len(caught) == (expected > 0)


def still():
    y = reaches(count=3)
    y[1] = 0.2 * np.sin(np.pi * TAU)[:, None]
    return y


def test_bad_arguments():
    y, plain, two, path = reaches(), FPCA(**PLAIN).fit, FPCA(2, **PLAIN).fit(reaches()), aligned()
    scores = np.zeros((1, 2, 3))
    assert_refused(
        (lambda: plain([]), "...at least one trial..."),
        (lambda: plain(reaches(count=1)), "...one demonstration has no variance, ... shrinkage..."),
        (lambda: FPCA(2, **PLAIN).fit(reaches(count=1)), "...one demonstration has no variance..."),
        (lambda: FPCA(5, **PLAIN).fit(reaches(count=4)), "...n_components must be at most 3 for 4 motions ... got ..."),
        (lambda: FPCA(15, **PLAIN).fit(reaches()), "...at most 14 for 25 motions..."),
        (lambda: FPCA(-1, **PLAIN).fit(reaches()), "...n_components must be..."),
        (lambda: FPCA(1.5, **PLAIN).fit(reaches()), "...n_components must be..."),
        (lambda: FPCA(basis=15, **PLAIN).fit(reaches()), "...basis must be a SplineBasis, got 15..."),
        (lambda: FPCA(alignment="goal", shrinkage=0.0).fit(reaches()), "...'goal'..."),
        (lambda: FPCA(shrinkage=1.5, alignment="none").fit(reaches()), "...shrinkage must lie in..."),
        (lambda: FPCA(shrinkage="most", alignment="none").fit(reaches()), "...shrinkage must lie in..."),
        (lambda: FPCA(smoothing="most", **PLAIN).fit(reaches()), "...smoothing must be 'gcv'..."),
        (lambda: FPCA(smoothing=-1.0, **PLAIN).fit(reaches()), "...smoothing must be 'gcv'..."),
        (lambda: FPCA(smoothing=np.nan, **PLAIN).fit(reaches()), "...smoothing must be 'gcv'..."),
        (lambda: FPCA(smoothing=True, **PLAIN).fit(reaches()), "...smoothing must be 'gcv'..."),
        (lambda: FPCA(smoothing=None, **PLAIN).fit(reaches()[:, ::8]), "...at least 15 samples ... got 12 in ..."),
        (lambda: FPCA(alignment="path", shrinkage=0.0).fit(still()), "...start and goal must differ by ... in ..."),
        (lambda: FPCA(alignment="path", shrinkage=0.0).fit(reaches(d=2)), "...dofs must include x, y and z, ..."),
        (lambda: plain(reaches()[0]), "...shape (trials, samples, dofs), got (90, 3)..."),
        (lambda: plain(reaches()[:, :1]), "t must hold two times or more, got 1, in trial 0"),
        (lambda: plain(np.full((2, 50, 3), np.inf)), "x must be finite, ... got infinity ..., in trial 0"),
        (lambda: plain(1e200 * reaches()), "...below 1e+100...got ...e+..."),
        (lambda: plain(3), "...motions must be trials or an array..."),
        (lambda: plain("recording.csv"), "...motions must be trials or an array..."),
        (lambda: plain([[["a"]]]), "...motions must be numbers..."),
        (
            lambda: plain(reaches(), dofs=("x", "x", "z")),
            "dofs must be ... distinct names, got ('x', 'x', 'z'), in trial 0",
        ),
        (lambda: plain([stretched(reaches()[0])], dofs=("a", "b", "c")), "...names of their own..."),
        (lambda: FPCA(smoothing=1e300, **PLAIN).fit(reaches()), "...smoothing must be..."),
        (lambda: two.inverse_transform("a"), "...scores must be numbers..."),
        (lambda: plain(reaches(), dofs=("x", "y")), "x must have shape (T, d) = (90, 2) of t and dofs, ..."),
        (lambda: plain([stretched(y[0]), stretched(y[1]).select(("x", "y"))]), "...trial 1 (a) with x [m], y [m]..."),
        (lambda: two.transform(reaches(d=2)), "...dofs..."),
        (lambda: two.save("a.txt"), "...path must end in .npz, got 'a.txt'..."),
        (lambda: two.inverse_transform(np.zeros((1, 2))), "...scores must have shape (R, 2, 3)..."),
        (lambda: two.inverse_transform(scores, [0.0]), "...offsets must have shape..."),
        (lambda: two.inverse_transform(scores, frames=path.frames_), "...frames must be PathFrames of..."),
        (lambda: path.inverse_transform(path.scores_[:1], frames=path.frames_), "...frames must be PathFrames of..."),
    )


def aligned():
    return FPCA(2, alignment="path", smoothing=None, shrinkage=0.0).fit(reaches(count=5))


#: coordinates of something like a Trial
ANGLE = {"dofs": ("q1",), "units": ("rad",)}


def test_objects_like_trials():
    y = reaches(count=4, d=1)
    fpca = FPCA(**PLAIN).fit([SimpleNamespace(t=TAU.tolist(), x=x.tolist(), **ANGLE) for x in y])
    np.testing.assert_array_equal(fpca.scores_, FPCA(**PLAIN).fit([Trial(TAU, x, ("q1",)) for x in y]).scores_)
    with pytest.warns(RecordingWarning, match=r"trial 0: angles up to 50 rad can hardly be right"):
        FPCA(0, **PLAIN).fit([SimpleNamespace(t=TAU, x=50.0 * STEP[:, None], **ANGLE)])
    for x in (y[0, :, 0], y[0, :30]):
        with pytest.raises(ThunderError, match=r"x must have (shape \(T, d\) = \(90, 1\)|2 dim).* in trial 0"):
            FPCA(**PLAIN).fit([SimpleNamespace(t=TAU, x=x, **ANGLE)])


def test_gaps_are_named():
    y = reaches(count=3, noise=1e-4)
    trials = [stretched(x, name=f"reach{i}", duration=0.5 + i) for i, x in enumerate(y)]
    gap = y[1].copy()
    gap[30:45] = np.nan
    with_gap = FPCA(2, **PLAIN).fit(MotionSet([trials[0], stretched(gap, name="reach1", duration=1.5), trials[2]]))
    whole = FPCA(2, **PLAIN).fit(MotionSet(trials))
    assert 0.0 < np.abs(with_gap.mean(TAU) - whole.mean(TAU)).max() < 5e-3
    np.testing.assert_allclose(whole.durations_, [0.5, 1.5, 2.5], rtol=1e-12)
    assert np.isnan(FPCA(2, **PLAIN).fit(y).durations_).all()
    gap[4:] = np.nan
    with pytest.raises(ThunderError, match=r"got 4 in trial 1 \(reach1\)"):
        FPCA(2, **PLAIN).fit([trials[0], stretched(gap, name="reach1")])


# --- against scikit-fda, where both define them: one coordinate, one basis, variances over R - 1 ---
RNG = np.random.default_rng(23)


def fda(module):
    """A module of scikit-fda, imported late: it takes seconds."""
    return pytest.importorskip(f"skfda.{module}")


def oracle_basis(basis):
    kind = fda("representation.basis").BSplineBasis
    return kind(domain_range=(0, 1), order=basis.degree + 1, knots=basis.breaks.tolist())


def oracle_components(basis, coefficients):
    oracle = fda("preprocessing.dim_reduction").FPCA(n_components=basis.n_functions - 1)
    return oracle, oracle.fit_transform(fda("representation").FDataBasis(oracle_basis(basis), coefficients))


@pytest.fixture(scope="module", params=[5, 4])
def motions(request):
    basis = SplineBasis(15, degree=request.param)
    c = RNG.normal(size=(40, 15, 2)).cumsum(axis=1)
    return basis, c, basis.evaluate(TAU) @ c


@pytest.mark.parametrize("demean", [False, True])
def test_components_scores_and_variances(motions, demean):
    basis, c, y = motions
    ours = FPCA(14, basis=basis, smoothing=None, demean=demean, alignment="none", shrinkage=0.0).fit(y)
    if demean:  # scikit-fda knows no x_bar; take it off before
        c = c - np.einsum("k,rkd->rd", basis.integrals(), c)[:, None]
    for k in range(2):
        oracle, scores = oracle_components(basis, c[:, :, k])
        theirs, mine = oracle.components_.coefficients, ours.component_coefficients_[:, :, k]
        signs = np.sign((theirs * mine).sum(axis=1))[:, None]
        np.testing.assert_allclose(signs * theirs, mine, atol=1e-8)
        np.testing.assert_allclose(scores * signs[:, 0], ours.scores_[:, :, k], atol=1e-8)
        np.testing.assert_allclose(oracle.explained_variance_, ours.explained_variance_[:, k], rtol=1e-8)
        np.testing.assert_allclose(oracle.explained_variance_ratio_, ours.explained_variance_ratio_[:, k], atol=1e-12)
        np.testing.assert_allclose(oracle.mean_.coefficients[0], ours.mean_coefficients_[:, k], atol=1e-12)


# --- Files and figures of functional components ---
@pytest.fixture
def saved(tmp_path):
    """A file, and a function that writes it again with some arrays changed or (None) left out."""
    first, path = tmp_path / "first.npz", tmp_path / "components.npz"
    FPCA(3, alignment="path", shrinkage="auto").fit(reaches(count=6)).save(first)

    def again(**changes):
        with np.load(first) as file:
            arrays = {name: file[name] for name in file.files} | changes
        np.savez(path, **{name: value for name, value in arrays.items() if value is not None})
        return path

    return again


def test_parameters_come_back(tmp_path):
    basis = SplineBasis(degree=4, knots=[*[0.0] * 5, 0.2, 0.5, 0.6, *[1.0] * 5])
    for way in (
        {"n_components": 0.9, "smoothing": 1e-7},
        {"smoothing": None, "joint": True, "shrinkage": 0.25},
        {"n_components": 2, "shrinkage": "auto", "alignment": "path", "demean": False},
    ):
        fpca = FPCA(basis=basis, **{"alignment": "path"} | way).fit(reaches())
        fpca.save(tmp_path / "a.npz")
        with np.load(tmp_path / "a.npz", allow_pickle=False) as file:
            assert all(file[name].dtype.kind in "fibU" for name in file.files)
        back = FPCA.load(tmp_path / "a.npz")
        assert repr(back) == repr(fpca)
        assert (back.dofs, back.units, back.shrinkage_) == (fpca.dofs, fpca.units, fpca.shrinkage_)
        assert vars(back).keys() == vars(fpca).keys()
        for name in (
            "explained_variance_ratio_",
            "offset_variance_",
            "component_coefficients_",
            "durations_",
            "support_",
        ):
            np.testing.assert_array_equal(getattr(back, name), getattr(fpca, name))
        np.testing.assert_array_equal(back.project(reaches(seed=2)).scores, fpca.project(reaches(seed=2)).scores)


def test_bad_files(saved):
    def load(**changes):
        return FPCA.load(saved(**changes))

    cases = (
        ({"thunder_fpca": None}, "thunder_fpca missing"),
        ({"thunder_fpca": np.array(1)}, "version 1 of FPCA.save, this package reads 2"),
        ({"explained_variance_": None}, "explained_variance_ missing"),
        ({"explained_variance_": np.zeros((2, 3))}, "explained_variance_ must have shape (3, 3), got (2, 3)"),
        ({"basis": np.zeros(4)}, "knots must be"),
        ({"frames.scale": None}, "frames.scale missing"),
        ({"shrinkage": np.array("import os")}, "Expecting value"),
        ({"basis": np.array("yes")}, "basis must be numbers"),
        ({"joint": np.array("yes")}, "Expecting value"),
        ({"support_": np.ones(5, dtype=bool)}, "support_ must be True for 6 motions"),
        ({"alignment_": np.array("none")}, 'alignment_ must be "path" or "none", as alignment'),
        ({"dofs": np.zeros(3)}, "dofs must be texts"),
        ({"dofs": np.array(["x", "x", "z"])}, "must name the same coordinates"),
        ({"units": np.array(["m"])}, "must name the same coordinates"),
        ({"mean_coefficients_": np.full((15, 3), np.nan)}, "mean_coefficients_ must be finite"),
        ({"mean_coefficients_": np.full((15, 3), 1j)}, "mean_coefficients_ must be real numbers"),
        ({"explained_variance_": np.full((3, 3), -1.0)}, "explained_variance_ must not be negative"),
        ({"total_variance_": np.zeros(2)}, "total_variance_ must have shape (3,), got (2,)"),
        ({"scores_": np.zeros(())}, "scores_ must have shape (6, 3, 3)"),
        ({"durations_": np.zeros(6)}, "durations_ must be positive"),
        ({"offset_covariance_": np.arange(9.0).reshape(3, 3)}, "must be symmetric"),
        ({"shrinkage_": np.array(7.0)}, "shrinkage_ must be a number in [0, 1]"),
        ({"frames.start": np.array("a")}, "frames.start must be real numbers"),
        ({"frames.rotation": np.zeros((6, 3, 3))}, "frames must have rotations"),
        ({"frames.scale": np.zeros(6)}, "positive scales"),
    )
    refused = ((partial(load, **changes), f"...components.npz: ...{message}...") for changes, message in cases)
    assert_refused(*refused, error=FileFormatError)


def test_a_file_that_is_cut_off_too_large_or_another(tmp_path, monkeypatch):
    path, nothing = tmp_path / "a.npz", "...no archive of plain arrays..."
    FPCA(np.int64(2), smoothing=np.float64(1e-7), shrinkage=np.float32(0.5), alignment="none").fit(reaches()).save(path)
    back = FPCA.load(path)
    assert (back.n_components, back.smoothing, back.shrinkage) == (2, 1e-7, 0.5)
    content = path.read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr("thunder_py.files.LARGEST_DATA", 1000)
        assert_refused((lambda: FPCA.load(path), "...must hold at most 1000 bytes..."), error=FileFormatError)
    for length in range(0, len(content), len(content) // 25):
        path.write_bytes(content[:length])
        assert_refused((lambda: FPCA.load(path), nothing), error=FileFormatError)
    np.savez(tmp_path / "b.npz", thunder_fpca=np.array([{}], dtype=object))
    assert_refused(
        (lambda: FPCA.load(tmp_path / "b.npz"), nothing, FileFormatError),
        (lambda: FPCA.load(tmp_path / "c.npz"), "...", FileNotFoundError),
    )


def test_figures():
    fpca, tau = FPCA(4, alignment="path").fit(reaches()), np.linspace(0.0, 1.0, 301)
    panels = fpca.plot(2, spread=2.0)
    assert list(panels) == ["x 1", "x 2", "y 1", "y 2", "z 1", "z 2"]
    mean, more, less = (line.get_ydata() for line in panels["y 1"].lines)
    deviation = np.sqrt(fpca.explained_variance_[0, 1])
    np.testing.assert_allclose(mean, fpca.offset_mean_[1] + fpca.mean(tau)[:, 1])
    np.testing.assert_allclose(more - mean, 2.0 * deviation * fpca.components(tau)[0, :, 1], atol=1e-12)
    np.testing.assert_allclose(more + less, 2.0 * mean, atol=1e-12)
    assert "distance" in panels["x 1"].get_ylabel()
    components = fpca.plot_components(3, derivative=1)
    np.testing.assert_allclose(components["z"].lines[1].get_ydata(), fpca.components(tau, 1)[1, :, 2])
    axis = fpca.plot_variance()
    ratio = fpca.explained_variance_ratio_.reshape(4, -1)[:, 0]
    np.testing.assert_allclose(axis.lines[0].get_ydata(), 100.0 * np.cumsum(ratio))
    plt.close("all")


def test_signs_do_not_depend_on_the_order_of_motions():
    y = reaches()
    for joint in (False, True):
        a, b = FPCA(4, joint=joint, **PLAIN).fit(y), FPCA(4, joint=joint, **PLAIN).fit(y[::-1])
        np.testing.assert_allclose(a.component_coefficients_, b.component_coefficients_, atol=1e-8)
        if not joint:
            S = a.components(np.linspace(0.0, 1.0, 201))
            largest = np.take_along_axis(S, np.abs(S).argmax(axis=1)[:, None], axis=1)
            assert (largest > 0.0).all()


def test_rotation_vectors_turn_with_the_path():
    y, Q = reaches(d=6), Rotation.from_rotvec([0.0, 0.0, 2.0]).as_matrix()
    moved = np.concatenate([y[..., :3] @ Q.T, y[..., 3:] @ Q.T], axis=-1)
    way = {"joint": True, "alignment": "path", "smoothing": None, "shrinkage": 0.0}
    a, b = FPCA(5, **way).fit(y), FPCA(5, **way).fit(moved)
    assert a.dofs == ("x", "y", "z", "rx", "ry", "rz")
    np.testing.assert_allclose(b.components(TAU), a.components(TAU), atol=1e-8)


def test_coordinates_that_do_not_move():
    """A plane motion: components along the normal are orthonormal, their variances zero."""
    y = reaches()
    y[..., 2] = 0.7
    for way in ({}, {"joint": True}):
        fpca = FPCA(smoothing=None, **PLAIN, **way).fit(y)
        np.testing.assert_allclose(fpca.inverse_transform(fpca.scores_, fpca.offsets_)[..., 2], 0.7, atol=1e-12)
    fpca = FPCA(smoothing=None, **PLAIN).fit(y)
    np.testing.assert_allclose(fpca.explained_variance_[:, 2], 0.0, atol=1e-25)
    assert np.isfinite(fpca.explained_variance_ratio_).all()
    assert (fpca.scores_[..., 2] ** 2).max() < 1e-25
