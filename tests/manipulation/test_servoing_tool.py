import numpy as np
import pytest
from scipy import stats
from scipy.spatial.transform import Rotation

from tests.refusals import assert_refused
from thunder_py.errors import ThunderError
from thunder_py.manipulation.servoing.tool_estimator import ToolEstimator, ToolVerdict
from thunder_py.spatial.single import exp, inverse, log, make_pose

NOMINAL = make_pose(np.eye(3), [0.0, 0.0, 0.25])
SPREAD, NOISE = (0.01, 0.14), (0.003, 0.035)
STILL = {"creep": 0.0, "angular_creep": 0.0}


def turned(T, rng, position, rotation):
    return make_pose(exp(rng.normal(0.0, rotation, 3)) @ T[:3, :3], T[:3, 3] + rng.normal(0.0, position, 3))


def hand_pose(rng):
    return make_pose(Rotation.random(rng=rng).as_matrix(), rng.uniform(-0.5, 0.5, 3))


def look(estimator, X, rng, t, outlier=0.0):
    """One picture, now and then far off."""
    H = hand_pose(rng)
    far = 15.0 if rng.random() < outlier else 1.0
    return estimator.observe(t, turned(H @ X, rng, far * NOISE[0], NOISE[1]), H)


def error_of(estimator, X):
    return np.r_[X[:3, 3] - estimator.pose[:3, 3], log(X[:3, :3] @ estimator.pose[:3, :3].T)]


def test_error_is_as_large_as_the_covariance_says():
    """NEES over 80 tools, from one picture to ten, chi-square with six degrees of freedom."""
    values = []
    for seed in range(80):
        rng = np.random.default_rng(seed)
        X = turned(NOMINAL, rng, *SPREAD)
        estimator = ToolEstimator(NOMINAL, *SPREAD, *NOISE, tail=np.inf, **STILL)
        for k in range(1 + seed % 10):
            look(estimator, X, rng, 0.1 * k)
        e = error_of(estimator, X)
        values.append(e @ np.linalg.solve(estimator.covariance, e))
    low, high = stats.chi2.ppf([0.0005, 0.9995], 6 * len(values)) / len(values)
    assert low < np.mean(values) < high


def test_position_is_the_weighted_mean():
    """Without rotation: precision adds up, the nominal pose counting as one more observation."""
    rng = np.random.default_rng(0)
    estimator = ToolEstimator(NOMINAL, 0.01, 1e-6, 0.003, 1e-3, tail=np.inf, **STILL)
    seen = NOMINAL[:3, 3] + rng.normal(0.0, 0.003, (8, 3))
    for k, p in enumerate(seen):
        estimator.observe(0.1 * k, make_pose(np.eye(3), p), np.eye(4))
    weights = np.r_[1.0 / 0.01**2, np.full(8, 1.0 / 0.003**2)]
    mean = weights @ np.vstack((NOMINAL[:3, 3], seen)) / weights.sum()
    np.testing.assert_allclose(estimator.pose[:3, 3], mean, atol=1e-9)
    np.testing.assert_allclose(np.diag(estimator.covariance)[:3], 1.0 / weights.sum(), rtol=1e-9)


def test_heavy_tails_pay_where_there_are_outliers():
    errors = {}
    for tail in (5.0, np.inf):
        squares = []
        for seed in range(15):
            rng = np.random.default_rng(seed)
            X = turned(NOMINAL, rng, *SPREAD)
            estimator = ToolEstimator(NOMINAL, *SPREAD, *NOISE, tail=tail, slip_level=1e-12, **STILL)
            for k in range(25):
                look(estimator, X, rng, 0.1 * k, outlier=0.15)
            squares.append(error_of(estimator, X)[:3] ** 2)
        errors[tail] = np.sqrt(np.mean(squares))
    assert errors[5.0] < 0.6 * errors[np.inf]
    assert errors[5.0] < 0.0015


def test_single_outliers_are_told_and_are_no_slip():
    rng = np.random.default_rng(1)
    estimator = ToolEstimator(NOMINAL, *SPREAD, *NOISE)
    for k in range(10):
        look(estimator, NOMINAL, rng, 0.1 * k)
    before = estimator.pose
    far = make_pose(NOMINAL[:3, :3], NOMINAL[:3, 3] + [0.1, 0.0, 0.0])
    assert estimator.observe(1.0, far, np.eye(4)) is ToolVerdict.outlier
    assert np.linalg.norm(estimator.pose[:3, 3] - before[:3, 3]) < 0.001
    assert estimator.slips == 0


def test_a_slip_is_found_within_the_window_and_followed():
    rng = np.random.default_rng(2)
    estimator = ToolEstimator(NOMINAL, *SPREAD, *NOISE, window=4)
    for k in range(15):
        look(estimator, NOMINAL, rng, 0.1 * k)
    slipped = make_pose(exp(np.array([0.0, 0.2, 0.0])), NOMINAL[:3, 3] + [0.015, 0.0, -0.01])
    verdicts = [look(estimator, slipped, rng, 1.5 + 0.1 * k) for k in range(12)]
    assert ToolVerdict.slipped in verdicts[:4]
    error = error_of(estimator, slipped)
    assert np.linalg.norm(error[:3]) < 0.005
    assert np.linalg.norm(error[3:]) < 0.05


def test_slips_are_hardly_ever_found_where_there_are_none():
    slips = 0
    for seed in range(24):
        rng = np.random.default_rng(seed)
        X = turned(NOMINAL, rng, *SPREAD)
        estimator = ToolEstimator(NOMINAL, *SPREAD, *NOISE)
        for k in range(25):
            look(estimator, X, rng, 0.1 * k)
        slips += estimator.slips
    assert slips <= 1  # of 600 pictures


def test_an_offset_of_the_camera_falls_out():
    """B shifts and turns all that the camera sees: the hand that puts tool on object is found all the same."""
    rng = np.random.default_rng(3)
    B = make_pose(exp(np.array([0.02, -0.01, 0.03])), [0.01, -0.005, 0.008])
    X, target = turned(NOMINAL, rng, *SPREAD), hand_pose(rng)
    H = target @ inverse(X)  # where the hand must be
    estimator = ToolEstimator(NOMINAL, 1.0, 1.0, 1e-4, 1e-4)
    for k in range(5):
        estimator.observe(0.1 * k, B @ H @ X, H)
    found = (B @ target) @ inverse(estimator.pose)
    np.testing.assert_allclose(found, H, atol=1e-6)


def test_creep_keeps_the_estimate_open():
    estimator = ToolEstimator(NOMINAL, *SPREAD, *NOISE, creep=1e-3, angular_creep=1e-2)
    estimator.observe(0.0, NOMINAL, np.eye(4))
    first = np.diag(estimator.covariance).copy()
    estimator.observe(100.0, None, np.eye(4))
    np.testing.assert_array_equal(np.diag(estimator.covariance), first)
    estimator.observe(100.0, NOMINAL, np.eye(4))
    assert (np.diag(estimator.covariance) < np.repeat([0.003**2, 0.035**2], 3)).all()
    estimator.observe(100.0, NOMINAL, np.eye(4))
    estimator.observe(99.0, NOMINAL, np.eye(4))  # late, and no reason to grow
    assert (np.diag(estimator.covariance) < 0.5 * np.repeat([0.003**2, 0.035**2], 3)).all()


def test_bad_options_are_refused():
    defaults = dict(zip(["position_spread", "rotation_spread", "position_noise", "rotation_noise"], [*SPREAD, *NOISE]))  # noqa: B905
    assert_refused(
        ({"nominal": np.eye(3)}, "...nominal..."),
        ({"position_spread": 0.0}, "...position_spread..."),
        ({"rotation_noise": -1.0}, "...rotation_noise..."),
        ({"creep": np.nan}, "...creep..."),
        ({"tail": 0.0}, "...tail..."),
        ({"tail": "heavy"}, "...tail..."),
        ({"window": 2}, "...window..."),
        ({"slip_level": 1.0}, "...slip_level..."),
        ({"slip_level": "low"}, "...slip_level..."),
        call=lambda **options: ToolEstimator(**{"nominal": NOMINAL, **defaults, **options}),
    )


def test_bad_hands_are_refused():
    with pytest.raises(ThunderError, match="hand"):
        ToolEstimator(NOMINAL, *SPREAD, *NOISE).observe(0.0, NOMINAL, np.full((4, 4), np.nan))
