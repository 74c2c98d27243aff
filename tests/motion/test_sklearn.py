"""Estimators follow scikit-learn's conventions: its clone, Pipeline, GridSearchCV and checks, and life without it."""

import copy
import pickle

import numpy as np
import pytest

from tests.motion.test_fpca import PLAIN, reaches
from tests.refusals import assert_refused
from thunder_py import errors
from thunder_py.errors import UnknownNameError
from thunder_py.motion import DMP, FPCA, ProMP, QuaternionDMP, RhythmicDMP, SplineBasis
from thunder_py.recordings.synthetic import daily_living, minimum_jerk_reaches
from thunder_py.trajectory import minimum_jerk

pytestmark = pytest.mark.filterwarnings("ignore::thunder_py.recordings.RecordingWarning")  # numbers without meaning

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
    "DMP, arguments": (DMP(15, basis="mollifier", regression="lwr", K=200.0, D=30.0), REACH),
    "RhythmicDMP": (RhythmicDMP(15, overlap=1.1, regression="lwr"), WAVE),
    "QuaternionDMP": (QuaternionDMP(regression="lwr"), daily_living(1, seed=0)[0]),
}
each = pytest.mark.parametrize(("estimator", "X"), ESTIMATORS.values(), ids=ESTIMATORS)


#: checks that need no data
OF_PARAMETERS = """
    do_not_raise_errors_in_init_or_set_params estimator_cloneable estimator_repr estimator_tags_renamed
    get_params_invariance no_attributes_set_in_init parameters_default_constructible set_params valid_tag_types
"""
#: checks with an X (samples, features); see `Rows`
OF_FITS = """
    dict_unchanged dont_overwrite_attributes dont_overwrite_parameters dtype_object estimators_dtypes
    estimators_fit_returns_self estimators_overwrite_params estimators_pickle estimators_unfitted
    f_contiguous_array_estimator fit_check_is_fitted fit_idempotent fit_score_takes_y methods_sample_order_invariance
    methods_subset_invariance pipeline_consistency readonly_memmap_input requires_y_none transformer_data_not_an_array
    transformer_preserve_dtypes transformers_unfitted
"""


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


def sk(module):
    """A module of scikit-learn, imported late: it takes seconds."""
    return pytest.importorskip(f"sklearn.{module}")


def run(names, estimator):
    checks = sk("utils.estimator_checks")
    for name in names.split():
        known = hasattr(checks, f"check_{name}")  # not in every version
        if known and (hasattr(estimator, "transform") or not name.startswith("transformer_")):
            getattr(checks, f"check_{name}")(type(estimator).__name__, estimator)


@each
def test_checks_of_parameters(estimator, X):
    run(OF_PARAMETERS, estimator)


@pytest.mark.filterwarnings("ignore:functions miss")
@pytest.mark.parametrize("estimator", [RowsFPCA(basis=SplineBasis(2, degree=1)), RowsProMP()], ids=["FPCA", "ProMP"])
def test_checks_of_fits(estimator):
    run(OF_FITS, estimator)


@each
def test_clone_has_the_parameters_and_no_results(estimator, X):
    fitted = copy.deepcopy(estimator)
    assert fitted.fit(X, None) is fitted
    fresh, check = sk("base").clone(fitted), sk("utils.validation").check_is_fitted
    assert type(fresh) is type(estimator)
    assert fresh.get_params() == estimator.get_params() == fitted.get_params()
    assert repr(fresh) == repr(estimator)
    assert not [name for name in vars(fresh) if name.endswith("_") and not name.startswith("_")]
    check(fitted)
    with pytest.raises(sk("exceptions").NotFittedError):
        check(fresh)
    other, params = type(estimator)(), estimator.get_params()
    assert other.set_params(**params) is other
    for name, value in params.items():
        assert getattr(other, name) is value


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


def test_unknown_parameters_are_refused():
    fpca = FPCA(**PLAIN)
    with pytest.raises(UnknownNameError, match=r"parameter must be one of .*, got 'shrink'; did you mean 'shrinkage'"):
        fpca.set_params(n_components=2, shrink=0.1)
    assert fpca.n_components is None


def test_pipeline_forwards_and_back():
    motions, preprocessing = minimum_jerk_reaches(20, seed=1, noise=1e-4), sk("preprocessing")
    flat = preprocessing.FunctionTransformer(lambda a: a.reshape(len(a), -1), lambda a: a.reshape(len(a), -1, 3))
    steps = [("fpca", FPCA(3, **PLAIN)), ("flat", flat), ("scale", preprocessing.StandardScaler())]
    pipeline = sk("pipeline").Pipeline(steps)
    scores = pipeline.fit_transform(motions)
    np.testing.assert_allclose(pipeline.transform(motions), scores, atol=1e-9)
    direct = FPCA(3, **PLAIN).fit(motions)
    np.testing.assert_allclose(pipeline.inverse_transform(scores), direct.inverse_transform(direct.scores_), atol=1e-12)
    assert "FPCA" in pipeline._repr_html_()
    assert pipeline.set_params(fpca__n_components=2).fit_transform(motions).shape == (20, 6)


@pytest.mark.parametrize("joint", [False, True])
def test_names_of_coordinates_and_scores(joint):
    fpca = FPCA(2, joint=joint, alignment="none", shrinkage=0.0).fit(reaches())
    assert (fpca.n_features_in_, fpca.feature_names_in_.tolist()) == (3, ["x", "y", "z"])
    names, frame = fpca.get_feature_names_out(), fpca.project(reaches()).to_pandas()
    assert names.dtype == object
    assert names.tolist() == ([f"score.{i}{end}" for i in (1, 2) for end in ([""] if joint else [".x", ".y", ".z"])])
    np.testing.assert_array_equal(frame[names], fpca.transform(reaches()).reshape(25, -1))
    np.testing.assert_array_equal(frame[["offset.x", "offset.y", "offset.z"]], fpca.project(reaches()).offsets)
    np.testing.assert_array_equal(fpca.get_feature_names_out(["x", "y", "z"]), names)
    assert_refused((lambda: fpca.get_feature_names_out(["x", "y"]), "input_features must be x, y, z, got ['x', 'y']"))


def test_use_before_fit():
    uses = (
        lambda: FPCA(**PLAIN).scores_,
        lambda: FPCA(**PLAIN).dofs,
        lambda: FPCA(**PLAIN).n_features_in_,
        lambda: FPCA(**PLAIN).get_feature_names_out(),
        lambda: FPCA(**PLAIN).transform(reaches()),
        lambda: ProMP().rollout(),
        lambda: DMP().forcing([0.5]),
        lambda: QuaternionDMP().reset(),
    )
    assert_refused(
        *((use, "...must be fitted before ...: call fit first...") for use in uses), error=errors.NotFittedError
    )
    with pytest.raises(sk("exceptions").NotFittedError) as theirs:
        uses[0]()
    assert isinstance(theirs.value, (ValueError, AttributeError))
    assert type(pickle.loads(pickle.dumps(theirs.value))) is type(theirs.value)
