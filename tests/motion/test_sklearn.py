"""Estimators follow scikit-learn's conventions: its clone, Pipeline, GridSearchCV and checks, and life without it."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest

from tests.motion.test_fpca import reaches
from thunder_py import errors
from thunder_py.errors import ThunderError, UnknownNameError
from thunder_py.motion import DMP, FPCA, ProMP, QuaternionDMP, RhythmicDMP, SplineBasis, turns_from_start
from thunder_py.recordings.synthetic import daily_living, minimum_jerk_reaches
from thunder_py.trajectory import minimum_jerk

sklearn = pytest.importorskip("sklearn")

from sklearn.base import clone  # noqa: E402
from sklearn.exceptions import NotFittedError  # noqa: E402
from sklearn.linear_model import LinearRegression  # noqa: E402
from sklearn.model_selection import GridSearchCV, cross_val_score  # noqa: E402
from sklearn.pipeline import Pipeline  # noqa: E402
from sklearn.preprocessing import FunctionTransformer, StandardScaler  # noqa: E402
from sklearn.utils import estimator_checks  # noqa: E402
from sklearn.utils.validation import check_is_fitted  # noqa: E402

#: components coordinate by coordinate, of the data alone
pytestmark = pytest.mark.filterwarnings("ignore::thunder_py.recordings.RecordingWarning")  # numbers without meaning

PLAIN = {"alignment": "none", "shrinkage": 0.0}

REACH = minimum_jerk([0.0, 0.0, 0.0], [0.4, 0.3, 0.25], 2.0)
WAVE = (np.linspace(0.0, 2.0, 80), np.sin(np.linspace(0.0, 14.0, 80)))
ESTIMATORS = {
    "FPCA": (FPCA(**PLAIN), reaches()),
    "FPCA, arguments": (
        FPCA(0.9, basis=SplineBasis(12), smoothing=1e-8, joint=True, shrinkage="auto", alignment="none"),
        reaches(),
    ),
    "ProMP": (ProMP(), reaches()),
    "ProMP, arguments": (ProMP(8, overlap=0.6, regularization=1e-6), reaches()),
    "DMP": (DMP(), REACH),
    "DMP, arguments": (DMP(15, basis="mollifier", fit="lwr", K=200.0, D=30.0), REACH),
    "RhythmicDMP": (RhythmicDMP(9, overlap=1.2, fit="lwr"), WAVE),
    "QuaternionDMP": (QuaternionDMP(fit="lwr"), daily_living(1, seed=0)[0]),
}
each = pytest.mark.parametrize(("estimator", "X"), ESTIMATORS.values(), ids=ESTIMATORS)


# --- scikit-learn's own checks ----------------------------------------------------------------------------------------

#: checks that need no data
OF_PARAMETERS = (
    "check_do_not_raise_errors_in_init_or_set_params",
    "check_estimator_cloneable",
    "check_estimator_repr",
    "check_estimator_tags_renamed",
    "check_get_params_invariance",
    "check_no_attributes_set_in_init",
    "check_parameters_default_constructible",
    "check_set_params",
    "check_valid_tag_types",
)
#: checks with an X (samples, features); see `Rows`
OF_FITS = (
    "check_dict_unchanged",
    "check_dont_overwrite_attributes",  # up to scikit-learn 1.5
    "check_dont_overwrite_parameters",
    "check_dtype_object",
    "check_estimators_dtypes",
    "check_estimators_fit_returns_self",
    "check_estimators_overwrite_params",
    "check_estimators_pickle",
    "check_estimators_unfitted",
    "check_f_contiguous_array_estimator",
    "check_fit_check_is_fitted",
    "check_fit_idempotent",
    "check_fit_score_takes_y",
    "check_methods_sample_order_invariance",
    "check_methods_subset_invariance",
    "check_pipeline_consistency",
    "check_readonly_memmap_input",
    "check_requires_y_none",
    "check_transformer_data_not_an_array",
    "check_transformer_preserve_dtypes",
    "check_transformers_unfitted",
)
#: and those that do not apply, with the reason
NOT_APPLICABLE = {
    "check_array_api_input": "NumPy alone",
    "check_complex_data": "complex X is refused with the message of thunder_py",
    "check_dataframe_column_names_consistency": "motions have no table of columns",
    "check_estimator_sparse_array": "motions are dense",
    "check_estimator_sparse_matrix": "motions are dense",
    "check_estimator_sparse_tag": "motions are dense",
    "check_estimators_empty_data_messages": "messages name motions, not samples and features",
    "check_estimators_nan_inf": "NaN marks gaps of a motion",
    "check_fit1d": "no motion is 1-D; refused with the message of thunder_py",
    "check_fit2d_1feature": "one sample is no motion",
    "check_fit2d_1sample": "one motion has no variance",
    "check_fit2d_predict1d": "no predict",
    "check_mixin_order": "no base class of scikit-learn",
    "check_n_features_in": "motions differ in their number of samples",
    "check_n_features_in_after_fitting": "motions differ in their number of samples",
    "check_positive_only_tag_during_fit": "coordinates have any sign",
    "check_set_output_transform": "scores have three axes, tables two",
    "check_transformer_general": "motions may have more or fewer samples than those fitted",
    "check_transformer_get_feature_names_out": "scores have three axes, tables two",
    "check_transformer_n_iter": "not iterative",
}


class Rows:
    """Rows of a matrix as motions of one coordinate: what the checks call samples and features."""

    def fit(self, X, y=None):
        return super().fit(np.asarray(X, dtype=float)[:, :, None], y)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = True
        return tags


class RowsFPCA(Rows, FPCA):
    """Functional components of rows."""

    def __init__(self, n_components=1, basis=None, smoothing=None):
        super().__init__(n_components, basis=basis, smoothing=smoothing, **PLAIN)

    def fit_transform(self, X, y=None):
        return self.fit(X, y).scores_[..., 0]

    def transform(self, X):
        return super().transform(np.asarray(X, dtype=float)[:, :, None])[..., 0]


class RowsProMP(Rows, ProMP):
    """Weights of rows."""

    def __init__(self, n_basis=4):
        super().__init__(n_basis)


def run(name, estimator):
    check = getattr(estimator_checks, name, None)
    if check is None:
        pytest.skip("not in this version of scikit-learn")
    if name.startswith("check_transformer_") and not hasattr(estimator, "transform"):
        pytest.skip("no transformer")
    check(type(estimator).__name__, estimator)


@each
@pytest.mark.parametrize("name", OF_PARAMETERS)
def test_checks_of_parameters(name, estimator, X):
    run(name, estimator)


@pytest.mark.parametrize("name", OF_FITS)
@pytest.mark.parametrize("estimator", [RowsFPCA(basis=SplineBasis(2, degree=1)), RowsProMP()], ids=["FPCA", "ProMP"])
def test_checks_of_fits(name, estimator):
    run(name, estimator)


@pytest.mark.filterwarnings("ignore:Estimator RowsFPCA does not inherit")
def test_all_checks_are_named():
    """Every check that scikit-learn yields for a transformer is run or has a reason not to."""
    if not sklearn.__version__.startswith("1.9."):
        pytest.skip("the names are those of scikit-learn 1.9")
    yielded = {getattr(c, "func", c).__name__ for c in estimator_checks._yield_all_checks(RowsFPCA(), legacy=True)}
    assert not yielded - {*OF_PARAMETERS, *OF_FITS, *NOT_APPLICABLE}


# --- clone, parameters ------------------------------------------------------------------------------------------------


@each
def test_clone_has_the_parameters_and_no_results(estimator, X):
    fitted = copy.deepcopy(estimator).fit(X)
    fresh = clone(fitted)
    assert type(fresh) is type(estimator)
    assert fresh.get_params() == estimator.get_params() == fitted.get_params()
    assert repr(fresh) == repr(estimator)
    assert not [name for name in vars(fresh) if name.endswith("_") and not name.startswith("_")]
    check_is_fitted(fitted)
    with pytest.raises(NotFittedError):
        check_is_fitted(fresh)


@each
def test_parameters_go_round(estimator, X):
    params = estimator.get_params()
    assert type(estimator)(**params).get_params() == params
    other = type(estimator)()
    assert other.set_params(**params) is other
    assert other.get_params() == params
    for name, value in params.items():
        if name != "fit":  # a method
            assert getattr(other, name) is value


@each
def test_fit_returns_the_estimator_and_takes_y(estimator, X):
    one = clone(estimator)
    assert one.fit(X, None) is one
    assert one.get_params() == estimator.get_params()


def test_new_parameters_act_at_the_next_fit():
    dmp = DMP().fit(REACH)
    before = dmp.rollout().x
    dmp.set_params(K=50.0, n_basis=9)
    np.testing.assert_array_equal(dmp.rollout().x, before)
    assert len(dmp.fit(REACH).weights_) == 9
    assert 2.0 * np.sqrt(50.0) == dmp.D_
    fpca = FPCA(3, **PLAIN).fit(reaches())
    assert fpca.set_params(n_components=2).n_components_ == 3
    assert fpca.fit(reaches()).n_components_ == 2


@pytest.mark.parametrize(
    ("estimator", "X", "wrong"),
    [(DMP(), REACH, {"D": -1.0}), (ProMP(), reaches(), {"n_basis": 0}), (FPCA(**PLAIN), reaches(), {"basis": 3})],
)
def test_a_fit_that_fails_keeps_the_results(estimator, X, wrong):
    fitted = {name: value for name, value in vars(clone(estimator).fit(X)).items() if name.endswith("_")}
    one = clone(estimator).fit(X).set_params(**wrong)
    with pytest.raises(ThunderError, match=next(iter(wrong))):
        one.fit(X)
    assert {name for name in vars(one) if name.endswith("_")} == set(fitted)
    np.testing.assert_equal(
        {name: getattr(one, name) for name in fitted if name != "basis_"},
        {name: value for name, value in fitted.items() if name != "basis_"},
    )


def test_unknown_parameters_are_refused():
    fpca = FPCA(**PLAIN)
    with pytest.raises(UnknownNameError, match=r"parameter must be one of .*, got 'shrink'; did you mean 'shrinkage'"):
        fpca.set_params(n_components=2, shrink=0.1)
    assert fpca.n_components is None


def test_text():
    assert repr(DMP(9, fit="lwr")) == "DMP(n_basis=9, fit='lwr')"
    assert repr(ProMP(overlap=0.9)) == "ProMP(overlap=0.9)"
    assert repr(QuaternionDMP()) == "QuaternionDMP()"


# --- pipelines and searches -------------------------------------------------------------------------------------------


def test_pipeline_forwards_and_back():
    motions = minimum_jerk_reaches(20, seed=1, noise=1e-4)
    flat = FunctionTransformer(lambda a: a.reshape(len(a), -1), lambda a: a.reshape(len(a), -1, 3))
    pipeline = Pipeline([("fpca", FPCA(3, **PLAIN)), ("flat", flat), ("scale", StandardScaler())])
    scores = pipeline.fit_transform(motions)
    assert scores.shape == (20, 9)
    np.testing.assert_allclose(pipeline.transform(motions), scores, atol=1e-9)
    direct = FPCA(3, **PLAIN).fit(motions)
    back = pipeline.inverse_transform(scores)
    np.testing.assert_allclose(back, direct.inverse_transform(direct.scores_), atol=1e-12)
    assert repr(clone(pipeline)) == repr(pipeline)
    assert "FPCA(n_components=3, alignment='none', shrinkage=0.0)" in repr(pipeline)
    assert "FPCA" in pipeline._repr_html_()
    assert pipeline.set_params(fpca__n_components=2).fit_transform(motions).shape == (20, 6)


def test_pipeline_of_poses_to_a_regression():
    """Durations from scores: turns about the start, components, a linear model."""
    motions = daily_living(30, seed=2)
    pipeline = Pipeline(
        [
            ("turns", FunctionTransformer(turns_from_start)),
            ("fpca", FPCA(2, joint=True, shrinkage=0.2, alignment="none")),
            ("model", LinearRegression()),
        ]
    )
    assert pipeline.fit(motions, motions.durations).predict(motions).shape == (30,)


def near(estimator, motions, y=None):
    """Negative RMS distance of motions and their projections."""
    part, tau = estimator.project(motions), np.linspace(0.0, 1.0, 50)
    back = estimator.inverse_transform(part.scores, part.offsets, tau=tau)
    exact = clone(estimator).set_params(n_components=None, shrinkage=0.1).fit(motions)
    x = exact.inverse_transform(exact.scores_, exact.offsets_, tau=tau)
    return -float(np.sqrt(((back - x) ** 2).mean()))


@pytest.mark.parametrize("motions", [reaches(noise=1e-3), minimum_jerk_reaches(12, seed=0)], ids=["array", "MotionSet"])
def test_grid_search(motions):
    grid = {"n_components": [1, 2, 4], "basis": [None, SplineBasis(8)]}
    search = GridSearchCV(FPCA(smoothing=1e-9, **PLAIN), grid, scoring=near, cv=3).fit(motions)
    assert search.best_params_["n_components"] == 4
    table = search.cv_results_["mean_test_score"].reshape(2, 3)  # bases, components
    assert (np.diff(table, axis=1) > 0.0).all()
    assert (table < 0.0).all()
    check_is_fitted(search.best_estimator_)


def test_cross_validation_of_primitives():
    def score(promp, motions, y=None):
        return -max(float(np.abs(promp.mean(0.5) - trial.x[len(trial) // 2]).max()) for trial in motions)

    scores = cross_val_score(ProMP(8), minimum_jerk_reaches(9, seed=0), scoring=score, cv=3)
    assert scores.shape == (3,)


# --- before fit, and without scikit-learn -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "use",
    [
        lambda: FPCA(**PLAIN).scores_,
        lambda: FPCA(**PLAIN).dofs,
        lambda: FPCA(**PLAIN).n_components_,
        lambda: FPCA(**PLAIN).transform(reaches()),
        lambda: ProMP().rollout(),
        lambda: ProMP().covariance_,
        lambda: DMP().rollout(),
        lambda: DMP().forcing([0.5]),
        lambda: QuaternionDMP().reset(),
    ],
)
def test_use_before_fit(use):
    with pytest.raises(NotFittedError, match=r"must be fitted before .*: call fit first") as theirs:
        use()
    assert isinstance(theirs.value, errors.NotFittedError)
    assert isinstance(theirs.value, (ValueError, AttributeError))
    assert type(pickle.loads(pickle.dumps(theirs.value))) is type(theirs.value)


def test_scikit_learn_is_not_imported():
    program = """if True:
        import sys
        from thunder_py.errors import NotFittedError
        from thunder_py.motion import DMP, FPCA, ProMP, QuaternionDMP
        for kind in (DMP, FPCA, ProMP, QuaternionDMP):
            estimator = kind().set_params(**kind().get_params())
            try:
                estimator.rollout() if hasattr(estimator, "rollout") else estimator.scores_
            except NotFittedError as error:
                assert type(error) is NotFittedError
            else:
                raise SystemExit("no error")
        assert not any(name.startswith("sklearn") for name in sys.modules)
    """
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
