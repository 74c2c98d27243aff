"""Functional components: identities, other ways to the same numbers, what turning motions does, bad input."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.integrate import simpson
from scipy.spatial.transform import Rotation

from tests.refusals import assert_refused
from thunder_py.errors import NotFittedError, ThunderError
from thunder_py.motion import FPCA, SplineBasis
from thunder_py.recordings import MotionSet, RecordingWarning, Trial

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
class TestEveryWay:
    def fitted(self, way, **more):
        return FPCA(**({"smoothing": None, "alignment": "none", "shrinkage": 0.0} | way | more)).fit(
            reaches(noise=1e-3)
        )

    def test_components_are_orthonormal(self, way):
        products = inner_products(self.fitted(way))
        np.testing.assert_allclose(products, np.broadcast_to(np.eye(products.shape[-1]), products.shape), atol=1e-12)

    def test_all_components_give_the_splines_back(self, way):
        fpca = self.fitted(way, n_components=None, shrinkage=0.3)
        y = reaches(seed=1)
        p = fpca.project(y)
        free = FPCA(basis=fpca.basis_, smoothing=None, **PLAIN).fit(y)
        expected = free.inverse_transform(free.scores_, free.offsets_, tau=TAU)
        if way.get("smoothing", None) is None:
            back = fpca.inverse_transform(p.scores, p.offsets, frames=p.frames, tau=TAU)
            np.testing.assert_allclose(back, expected, atol=1e-12)
            slope = fpca.inverse_transform(p.scores, p.offsets, frames=p.frames, tau=TAU, derivative=1)
            expected = free.inverse_transform(free.scores_, free.offsets_, tau=TAU, derivative=1)
            np.testing.assert_allclose(slope, expected, atol=1e-10)
        np.testing.assert_array_equal(fpca.transform(y), p.scores)

    def test_scores_of_the_same_motions(self, way):
        fpca = self.fitted(way)
        p = fpca.project(reaches(noise=1e-3))
        np.testing.assert_allclose(p.scores, fpca.scores_, atol=1e-13)
        np.testing.assert_allclose(p.offsets, fpca.offsets_, atol=1e-13)
        assert (np.diff(fpca.variances_, axis=0) <= 0.0).all()
        assert fpca.scores_.shape == (25, *fpca.variances_.shape)
        if "shrinkage" not in way:
            np.testing.assert_allclose(fpca.scores_.mean(axis=0), 0.0, atol=1e-12)
            # variances that alignment takes away are zero to rounding
            np.testing.assert_allclose(fpca.scores_.var(axis=0, ddof=1), fpca.variances_, rtol=1e-9, atol=1e-20)

    def test_derivatives_are_finite_differences(self, way):
        fpca, h = self.fitted(way), 1e-6
        tau = np.linspace(0.02, 0.97, 30)
        for order in (1, 2, 3):
            for function in (fpca.mean, fpca.components):
                exact = function(tau, order)
                slope = (function(tau + h, order - 1) - function(tau - h, order - 1)) / (2.0 * h)
                np.testing.assert_allclose(exact, slope, atol=1e-6 * np.abs(exact).max())


# --- what the numbers are ---------------------------------------------------------------------------------------------


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
        variances = fpca.variances_ if joint else fpca.variances_[:, k]
        np.testing.assert_allclose(sigma[:4] ** 2 / 24.0, variances, rtol=tolerance)
        np.testing.assert_allclose(np.abs((Vt[:4] * ours).sum(axis=1)), 1.0, atol=tolerance)


def test_sampling_does_not_matter():
    """The same motions over uneven clocks, each its own, have the same components."""
    rng = np.random.default_rng(1)
    coefficients = np.linalg.lstsq(BASIS.evaluate(TAU), np.hstack(reaches()), rcond=None)[0].reshape(15, 25, 3)
    trials = []
    for r in range(25):
        tau = np.concatenate([[0.0], np.sort(rng.uniform(size=60 + r)) ** 1.2, [1.0]])
        x = BASIS.evaluate(tau) @ coefficients[:, r]
        trials.append(Trial.from_positions(2.0 + (1.0 + 0.1 * r) * tau, x, name=f"r{r}"))
    a, b = FPCA(5, smoothing=None, **PLAIN).fit(reaches()), FPCA(5, smoothing=None, **PLAIN).fit(MotionSet(trials))
    np.testing.assert_allclose(b.component_coefficients_, a.component_coefficients_, atol=1e-7)
    np.testing.assert_allclose(b.scores_, a.scores_, atol=1e-9)
    np.testing.assert_allclose(b.durations_, 1.0 + 0.1 * np.arange(25), rtol=1e-12)
    assert np.isnan(a.durations_).all()


# --- turning motions --------------------------------------------------------------------------------------------------


def test_joint_components_turn_with_the_motions():
    """Another world frame: S_0 and S_i turn, variances and scores stay, with smoothing found from noisy data."""
    y, R = reaches(noise=2e-3), Rotation.from_rotvec([0.7, -1.1, 0.4]).as_matrix()
    a = FPCA(6, joint=True, **PLAIN).fit(y)
    b = FPCA(6, joint=True, **PLAIN).fit(y @ R.T + np.array([1.0, 2.0, 3.0]))
    np.testing.assert_allclose(b.smoothing_, a.smoothing_, rtol=1e-4)
    np.testing.assert_allclose(b.mean(TAU), a.mean(TAU) @ R.T, atol=1e-8)
    np.testing.assert_allclose(b.components(TAU), a.components(TAU) @ R.T, atol=1e-6)
    np.testing.assert_allclose(b.scores_, a.scores_, atol=1e-8)
    np.testing.assert_allclose(b.variances_, a.variances_, rtol=1e-6)
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


# --- the paper's settings, text, errors -------------------------------------------------------------------------------


def test_paper():
    fpca = FPCA.paper(reaches(noise=1e-3))
    assert fpca.basis == SplineBasis(15, degree=4)
    assert (fpca.joint, fpca.alignment, fpca.demean, fpca.shrinkage_) == (False, "none", True, 0.0)
    np.testing.assert_array_equal(fpca.smoothing_, 0.0)
    assert fpca.n_components_ == 14  # of 15 splines, one direction is x_bar
    assert FPCA.paper(reaches(), 5).n_components_ == 5


def test_part_of_the_variance():
    for joint in (False, True):
        fpca = FPCA(0.95, joint=joint, **PLAIN).fit(reaches())
        explained = np.cumsum(fpca.explained_variance_ratio_, axis=0)
        assert (explained[-1] >= 0.95).all()
        assert (explained[-2] < 0.95).any()


def test_before_fit():
    fpca = FPCA(**PLAIN)
    assert_refused((lambda: fpca.variances_, "...FPCA must be fitted before variances_ is ..."), error=NotFittedError)
    for call in (lambda: fpca.transform(reaches()), lambda: fpca.mean(TAU), lambda: fpca.inverse_transform([[0.0]])):
        with pytest.raises(NotFittedError):
            call()
    assert not hasattr(fpca, "scores_")
    assert_refused((lambda: fpca.scored_, "...FPCA has no attribute 'scored_'..."), error=AttributeError)


def stretched(x, name="a", duration=1.0, **labels):
    return Trial.from_positions(np.linspace(0.0, duration, len(x)), x, name=name, **labels)


def still():
    y = reaches(count=3)
    y[1] = 0.2 * np.sin(np.pi * TAU)[:, None]
    return y


def test_bad_arguments():
    assert_refused(
        (lambda: FPCA(**PLAIN).fit([]), "...at least one trial..."),
        (lambda: FPCA(**PLAIN).fit(reaches(count=1)), "...one demonstration has no variance, ... shrinkage..."),
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
        (lambda: FPCA(smoothing=None, **PLAIN).fit(reaches()[:, ::8]), "...at least 15 samples ... got 12 in ..."),
        (lambda: FPCA(alignment="path", shrinkage=0.0).fit(still()), "...start and goal must differ by ... in ..."),
        (lambda: FPCA(alignment="path", shrinkage=0.0).fit(reaches(d=2)), "...dofs must include x, y and z with..."),
        (lambda: FPCA(**PLAIN).fit(reaches()[0]), "...shape (trials, samples, dofs), got (90, 3)..."),
        (lambda: FPCA(**PLAIN).fit(reaches()[:, :1]), "...at least 2 samples..."),
        (lambda: FPCA(**PLAIN).fit(np.full((2, 50, 3), np.inf)), "...got inf in trial 0..."),
        (lambda: FPCA(**PLAIN).fit(1e200 * reaches()), "...below 1e+100...got ...e+..."),
        (lambda: FPCA(**PLAIN).fit(3), "...motions must be trials or an array..."),
        (lambda: FPCA(**PLAIN).fit("recording.csv"), "...motions must be trials or an array..."),
        (lambda: FPCA(**PLAIN).fit([[["a"]]]), "...motions must be numbers..."),
        (lambda: FPCA(**PLAIN).fit(reaches(), dofs=("x", "x", "z")), "...dofs must be 3 different names..."),
        (lambda: FPCA(**PLAIN).fit([stretched(reaches()[0])], dofs=("a", "b", "c")), "...names of their own..."),
        (lambda: FPCA(smoothing=1e300, **PLAIN).fit(reaches()), "...smoothing must be..."),
        (lambda: FPCA(2, **PLAIN).fit(reaches()).inverse_transform("a"), "...scores must be numbers..."),
        (lambda: FPCA(**PLAIN).fit(reaches(), dofs=("x", "y")), "...dofs must be 3 different names..."),
        (
            lambda: FPCA(**PLAIN).fit([stretched(reaches()[0]), stretched(reaches()[1]).select(("x", "y"))]),
            "...trial 0 (a) with x [m], y [m], z [m], trial 1 (a) with x [m], y [m]...",
        ),
        (lambda: FPCA(2, **PLAIN).fit(reaches()).transform(reaches(d=2)), "...dofs..."),
        (lambda: FPCA(2, **PLAIN).fit(reaches()).inverse_transform(np.zeros((1, 2))), "...scores must have shape ..."),
        (
            lambda: FPCA(2, **PLAIN).fit(reaches()).inverse_transform(np.zeros((1, 2, 3)), [0.0]),
            "...offsets must have shape...",
        ),
        (
            lambda: FPCA(2, **PLAIN).fit(reaches()).inverse_transform(np.zeros((1, 2, 3)), frames=aligned().frames_),
            "...frames must be PathFrames of...",
        ),
        (
            lambda: aligned().inverse_transform(aligned().scores_[:1], frames=aligned().frames_),
            "...frames must be PathFrames of...",
        ),
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
        with pytest.raises(ThunderError, match=r"x must have shape \(T, d\) = \(90, 1\) .* in trial 0"):
            FPCA(**PLAIN).fit([SimpleNamespace(t=TAU, x=x, **ANGLE)])


def test_gaps_are_named():
    y = reaches(count=3, noise=1e-4)
    trials = [stretched(x, name=f"reach{i}", duration=0.5 + i) for i, x in enumerate(y)]
    gap = y[1].copy()
    gap[30:45] = np.nan
    with_gap = FPCA(2, **PLAIN).fit(MotionSet([trials[0], stretched(gap, name="reach1", duration=1.5), trials[2]]))
    whole = FPCA(2, **PLAIN).fit(MotionSet(trials))
    assert 0.0 < np.abs(with_gap.mean(TAU) - whole.mean(TAU)).max() < 5e-3
    gap[4:] = np.nan
    with pytest.raises(ThunderError, match=r"got 4 in trial 1 \(reach1\)"):
        FPCA(2, **PLAIN).fit([trials[0], stretched(gap, name="reach1")])


def test_mean_alone_of_one_demonstration():
    fpca = FPCA(0, smoothing=None, **PLAIN).fit(reaches(count=1))
    assert fpca.n_components_ == 0
    back = fpca.inverse_transform(fpca.scores_, fpca.offsets_, tau=TAU)
    c = np.linalg.lstsq(BASIS.evaluate(TAU), reaches(count=1)[0], rcond=None)[0]
    np.testing.assert_allclose(back[0], BASIS.evaluate(TAU) @ c, atol=1e-12)
