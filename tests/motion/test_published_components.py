"""Components that others published, from samples and files."""

import numpy as np
import pytest
from scipy.io import savemat

from tests.refusals import assert_refused
from thunder_py.errors import FileFormatError, ThunderError, ThunderWarning, UnknownNameError
from thunder_py.motion import FPCA, HumanLikePlanner, SplineBasis

from .planner_models import fitted

TAU = np.linspace(0.0, 1.0, 201)
START, GOAL = [0.1, 0.2, 0.3], [0.5, 0.0, 0.4]


def republished(fpca, **options):
    return FPCA.from_components(
        fpca.components(TAU),
        fpca.mean(TAU),
        variances=fpca.explained_variance_,
        joint=fpca.joint,
        dofs=fpca.dofs,
        **options,
    )


@pytest.mark.parametrize(("kind", "mode"), [("paper", "paper"), ("plain", "map"), ("joint", "map"), ("aligned", "map")])
def test_plans_are_those_of_the_original(kind, mode, tmp_path) -> None:
    fpca = fitted(kind)
    theirs = republished(fpca, alignment=fpca.alignment_)
    assert theirs.basis_ == fpca.basis_  # degree 4 or 5, found by the residual
    assert theirs.residual_.max() < 1e-13
    t = np.linspace(0.0, 1.0, 21)
    expected = HumanLikePlanner(fpca, mode).plan(START, GOAL, 1.0)
    theirs.save(tmp_path / "a.npz")
    for one in (theirs, FPCA.load(tmp_path / "a.npz")):
        plan = HumanLikePlanner(one, mode).plan(START, GOAL, 1.0)
        np.testing.assert_allclose(plan.position(t), expected.position(t), rtol=0.0, atol=1e-9)
        assert plan.mahalanobis_distance == pytest.approx(expected.mahalanobis_distance, rel=1e-5)


@pytest.mark.parametrize("joint", [False, True])
def test_functions_that_are_not_orthonormal(joint) -> None:
    """A basis cut to a part of the motion: scores by least squares give the motions back."""
    rng, basis = np.random.default_rng(0), SplineBasis(12, degree=4)
    S = basis.evaluate(TAU) @ rng.normal(size=(4, 12, 3))
    fpca = FPCA.from_components(S, basis=basis, joint=joint, variances=np.arange(1.0, 5.0))
    scores = rng.normal(size=(6, *fpca.explained_variance_.shape))
    motions = fpca.inverse_transform(scores, np.zeros((6, 3)), tau=TAU)
    part = fpca.project(motions)
    back = fpca.inverse_transform(part.scores, part.offsets, tau=TAU)
    np.testing.assert_allclose(back, motions, atol=1e-6)


def test_a_bad_fit_is_told() -> None:
    S = np.repeat(np.sin(np.pi * np.arange(1, 6)[:, None] * TAU)[..., None], 3, axis=2)
    with pytest.warns(ThunderWarning, match=r"splines of SplineBasis\(15, degree=5\) differ .* more than 1e-06"):
        fpca = FPCA.from_components(S)
    left = S - fpca.components(TAU)
    np.testing.assert_allclose(fpca.residual_, np.sqrt((left**2).sum(axis=(0, 1)) / (6 * len(TAU))), rtol=1e-6)
    assert FPCA.from_components(S, tolerance=1e-2).residual_.max() > 1e-8
    assert FPCA.from_components(S, basis=SplineBasis(60)).residual_.max() < 1e-8


class TestFiles:
    def arrays(self):
        fpca = fitted("paper")
        return fpca, fpca.components(TAU)[:5], fpca.mean(TAU), fpca.explained_variance_[:5]

    @pytest.mark.parametrize("axes", ["ntd", "tnd", "dtn"])
    @pytest.mark.parametrize("kind", ["mat", "npz"])
    def test_one_variable(self, tmp_path, axes, kind) -> None:
        fpca, S, S0, variances = self.arrays()

        def ordered(value, letters):
            wanted = [letter for letter in axes if letter in letters]
            return value.transpose([letters.index(letter) for letter in wanted])

        stored = {"S": ordered(S, "ntd"), "S0": ordered(S0, "td"), "v": ordered(variances, "nd")}
        path = tmp_path / f"basis.{kind}"
        savemat(path, {"basis": stored}) if kind == "mat" else np.savez(
            path, **{f"basis.{k}": v for k, v in stored.items()}
        )
        theirs = FPCA.read_components(path, "basis.S", "basis.S0", "basis.v", axes=axes)
        np.testing.assert_allclose(theirs.components(TAU), S, atol=1e-12)
        np.testing.assert_allclose(theirs.mean(TAU), S0, atol=1e-12)
        np.testing.assert_allclose(theirs.explained_variance_, variances)
        assert theirs.basis_ == fpca.basis_

    def test_refusals(self, tmp_path) -> None:
        path = tmp_path / "basis.npz"
        np.savez(path, S=np.ones((5, 30)), text=np.array(["a"]))
        for names, error, message in (
            ("T", UnknownNameError, r"must hold 'T', has S, text"),
            ("text", FileFormatError, "text must be numbers"),
            (["S", "S"], ThunderError, None),
        ):
            with pytest.raises(error, match=message):
                FPCA.read_components(path, names, "S" if message is None else None)
        assert_refused((lambda: FPCA.read_components(path, "S", axes="tn"), '...axes must be the letters "t", "n" ...'))
        (tmp_path / "a.mat").write_bytes(b"MATLAB 7.3 MAT-file" + b"\0" * 200)
        assert_refused((lambda: FPCA.read_components(tmp_path / "a.mat", "S"), "...MATLAB..."), error=FileFormatError)


def test_bad_arguments() -> None:
    S = np.polynomial.legendre.legvander(np.linspace(-1.0, 1.0, 101), 5)[:, 1:].T

    def given(**change):
        return FPCA.from_components(**({"components": np.repeat(S[..., None], 3, axis=2)} | change))

    assert_refused(
        (lambda: given(components=np.zeros((5, 101))), "...components must have shape (n, n, n), got (5, 101)..."),
        (
            lambda: given(components=np.arange(3.0)[:, None, None] ** 2 * np.ones((3, 101, 3))),
            "...got zeros in all ... component 1",
        ),
        (lambda: given(components=np.zeros((5, 101, 3))), "...components must not be zero, got zeros in all ..."),
        (lambda: given(mean=np.zeros((100, 3))), "...mean must have shape (101, 3), got (100, 3)..."),
        (lambda: given(variances=np.zeros(4)), "...variances must have shape (5, 3), got (4,)..."),
        (lambda: given(variances=-np.ones(5)), "variances must not be negative..."),
        (lambda: given(mean=np.full((101, 3), np.nan)), "mean must be finite..."),
        (lambda: given(tau=np.linspace(0.0, 2.0, 101)), "...tau must be 101 increasing numbers from 0 to 1..."),
        (lambda: given(basis=15), "...basis must be a SplineBasis, got 15..."),
        (lambda: given(alignment="auto"), '...alignment must be "none" or "path", got \'auto\'...'),
    )
