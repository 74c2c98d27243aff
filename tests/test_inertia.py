import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import thunder_py as th
from tests.refusals import assert_refused
from thunder_py.errors import ThunderError
from thunder_py.model.inertia import (
    dyn_from_reg,
    is_physical,
    log_cholesky_from_reg,
    nearest_physical,
    pseudo_inertia,
    reg_from_dyn,
    reg_from_log_cholesky,
    reg_from_pseudo_inertia,
)

TRUTH = Path(__file__).parent / "data" / "truth"
coordinate = st.floats(-2.0, 2.0, allow_nan=False)
theta_vectors = st.lists(coordinate, min_size=10, max_size=10).map(np.array)


def tensor(points, masses):
    """Inertia about the origin, summed point by point with cross-product matrices."""
    inertia = np.zeros((3, 3))
    for p, m in zip(points, masses, strict=True):
        S = np.array([[0, -p[2], p[1]], [p[2], 0, -p[0]], [-p[1], p[0], 0]])
        inertia += m * S.T @ S
    return inertia


def six(A):
    return np.array([A[0, 0], A[0, 1], A[0, 2], A[1, 1], A[1, 2], A[2, 2]])


def cloud(seed):
    rng = np.random.default_rng(seed)
    points, masses = rng.normal(size=(12, 3)) + rng.normal(size=3), rng.uniform(0.1, 2.0, 12)
    m = masses.sum()
    c = masses @ points / m
    reg = np.array([m, *(m * c), *six(tensor(points, masses))])
    dyn = np.array([m, *c, *six(tensor(points - c, masses))])
    P = sum(mass * np.outer([*p, 1.0], [*p, 1.0]) for p, mass in zip(points, masses, strict=True))
    return reg, dyn, P


@pytest.mark.parametrize("seed", range(5))
def test_point_clouds(seed):
    reg, dyn, P = cloud(seed)
    np.testing.assert_allclose(reg_from_dyn(dyn), reg, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(dyn_from_reg(reg), dyn, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(pseudo_inertia(reg), P, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(reg_from_pseudo_inertia(P), reg, rtol=1e-12, atol=1e-12)
    assert is_physical(reg)


@pytest.mark.parametrize(
    "name", ["panda", "rr_elbow_distal", "rr_elbow_craig", "random6_standard", "scara_with_motors"]
)
def test_truth_files(name):
    data = json.loads((TRUTH / f"{name}.json").read_text())
    np.testing.assert_allclose(reg_from_dyn(data["par_DYN"]), data["pi"], rtol=1e-14, atol=1e-16)


def test_batches_keep_their_shape():
    reg = np.array([[cloud(i)[0] for i in range(3)], [cloud(i)[0] for i in range(3, 6)]])
    assert dyn_from_reg(reg).shape == (2, 3, 10)
    assert pseudo_inertia(reg).shape == (2, 3, 4, 4)
    theta = log_cholesky_from_reg(reg)
    np.testing.assert_allclose(theta[1, 2], log_cholesky_from_reg(reg[1, 2]), rtol=0, atol=0)
    np.testing.assert_allclose(reg_from_log_cholesky(theta), reg, rtol=1e-12)
    assert is_physical(reg).all()
    assert is_physical(reg).shape == (2, 3)
    assert pseudo_inertia(np.zeros((0, 10))).shape == (0, 4, 4)
    assert reg_from_pseudo_inertia(np.zeros((0, 4, 4))).shape == (0, 10)


def explicit_log_cholesky(theta):
    """The matrix U of Rucker and Wensing, written out element by element."""
    alpha, d1, d2, d3, s12, s23, s13, t1, t2, t3 = theta
    e = np.exp
    return e(alpha) * np.array([[e(d1), s12, s13, t1], [0, e(d2), s23, t2], [0, 0, e(d3), t3], [0, 0, 0, 1]])


@given(theta_vectors)
def test_log_cholesky_is_the_published_factorization(theta):
    reg = reg_from_log_cholesky(theta)
    U = explicit_log_cholesky(theta)
    np.testing.assert_allclose(pseudo_inertia(reg), U @ U.T, rtol=1e-10, atol=1e-10)
    assert is_physical(reg)


@given(st.integers(0, 2**32 - 1))
def test_log_cholesky_round_trip(seed):
    reg = cloud(seed)[0]
    np.testing.assert_allclose(reg_from_log_cholesky(log_cholesky_from_reg(reg)), reg, rtol=1e-10, atol=1e-10)


def test_physical_means_a_body_with_volume():
    ball = np.array([2.0, 0.4, 0.0, 0.0, 0.1, 0.0, 0.0, 0.18, 0.0, 0.18])
    assert is_physical(ball)
    assert not is_physical(-ball)
    assert not is_physical(reg_from_dyn([20.0, -0.25, 0, 0, 0, 0, 0, 0, 0, 4.0]))  # Izz > Ixx + Iyy: no such body
    assert not is_physical(reg_from_dyn([10.0, 0.3, 0.2, 0.1, *np.zeros(6)]))  # a point mass
    assert not is_physical(np.zeros(10))
    broken = ball.copy()
    broken[9] = 5.0
    assert is_physical(np.array([ball, broken])).tolist() == [True, False]


def test_massless_body():
    reg = np.array([0.0, 0, 0, 0, 0, 0, 0, 0, 0, 1.0])
    np.testing.assert_array_equal(dyn_from_reg(reg), reg)
    reg[1] = 0.1
    with pytest.raises(ThunderError, match=r"^reg must have a non-zero mass where its first moment m c is not zero"):
        dyn_from_reg(reg)


def test_refusals():
    assert_refused(
        (lambda: reg_from_dyn(np.zeros(9)), "dyn must have shape (..., 10), got (9,)"),
        (lambda: reg_from_dyn(1.0), "dyn must have shape (..., 10), got ()"),
        (lambda: dyn_from_reg(["x"] * 10), "reg must be numbers of shape (..., 10), got ['x'..."),
        (lambda: pseudo_inertia([np.nan] * 10), "reg must be finite, got..."),
        (lambda: reg_from_pseudo_inertia(np.zeros((3, 3))), "P must have shape (..., 4, 4), got (3, 3)"),
        (lambda: reg_from_pseudo_inertia(np.full((4, 4), np.inf)), "P must be finite"),
        (lambda: reg_from_pseudo_inertia(np.triu(np.ones((4, 4)))), "P must be symmetric"),
        (lambda: log_cholesky_from_reg(np.zeros(10)), "reg must be physically consistent: ... not positive definite"),
        (lambda: reg_from_log_cholesky(np.zeros(4)), "theta must have shape (..., 10), got (4,)"),
    )


@given(st.integers(0, 2**32 - 1))
def test_nearest_physical_is_consistent_and_no_other_body_is_nearer(seed):
    """Mass and center of mass stay; no consistent second moment, such as those of clouds, is nearer."""
    rng = np.random.default_rng(seed)
    given_reg = reg_from_dyn([*rng.uniform(0.5, 3.0, 1), *rng.uniform(-0.3, 0.3, 3), *rng.normal(scale=0.1, size=6)])
    nearest = nearest_physical(given_reg)
    assert is_physical(nearest)
    np.testing.assert_allclose(nearest[:4], given_reg[:4], atol=1e-15)
    about_com = [reg_from_dyn([1, 0, 0, 0, *dyn_from_reg(reg)[4:]]) for reg in (given_reg, nearest)]
    wrong, repaired = (pseudo_inertia(reg)[:3, :3] for reg in about_com)
    distance = np.linalg.norm(repaired - wrong)
    if is_physical(given_reg):
        assert distance == 0.0
    for points in rng.normal(scale=0.1, size=(20, 6, 3)):
        # towards any consistent one the distance does not fall: the variational inequality of a projection
        assert np.sum((wrong - repaired) * (points.T @ points - repaired)) <= 1e-5 * np.linalg.norm(wrong) ** 2 + 1e-9


def test_bodies_without_positive_mass_become_massless():
    bodies = [[-0.1, 0, 0, 0, 0.1, 0, 0, 0.1, 0, 0.1], np.zeros(10)]
    np.testing.assert_array_equal(nearest_physical(bodies), np.zeros((2, 10)))


def test_distance_is_that_of_the_whole_pseudo_inertia():
    robot = th.Robot.load("elbow")
    reg = robot.inertial.copy()
    reg[0] = [-1.0, *np.zeros(9)]
    assert robot.replace(inertial=reg).nearest_physical().distance.tolist() == [1.0, 0.0]
    reg[0] = [0.0, 3.0, *np.zeros(8)]
    np.testing.assert_allclose(robot.replace(inertial=reg).nearest_physical().distance, [3.0 * 2**0.5, 0.0])
