import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import thunder_py as th
from tests.dynamics.numerics import assert_close
from tests.dynamics.random_chains import cases, few

SINGULAR = r"^the chosen rows of the Jacobian are singular at this state; choose fewer with rows=$"
task_rows = st.lists(st.integers(0, 5), min_size=1, max_size=6, unique=True).map(sorted)
planar = th.Robot.from_dh([[0, 0, 0, 0], [0.5, 0, 0, 0]], inertial=[[1.0, 0.2, 0, 0, 0, 0, 0, 0.1, 0, 0.1]] * 2,
                          tool=[[1, 0, 0, 0.4], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])  # fmt: skip


@few
@given(case=cases(10, joints="R"), rows=task_rows)
def test_operational_space_inertia(case, rows):
    robot, q, *_ = case
    rows = rows[: robot.n]
    for frame in (None, "camera"):
        J = robot.jacobian(q, frame)[rows]
        mobility = J @ np.linalg.solve(robot.mass_matrix(q), J.T)
        condition = np.linalg.cond(mobility)
        if condition < 1e9:  # else the choice of rows is singular: tested below
            Lambda = robot.operational_space_inertia(q, frame, rows=rows)
            expected = np.linalg.inv(mobility)
            tolerance = 1e-14 * (condition + np.linalg.cond(robot.mass_matrix(q)))
            np.testing.assert_allclose(Lambda, expected, rtol=0, atol=max(1e-11, tolerance) * np.abs(expected).max())


@pytest.mark.parametrize(
    ("q", "rows"), [([0.3, 0.4], None), ([0.3, 0.4], [2]), ([0.3, 0.0], [0, 1]), ([0.3, 0.4], [0, 1, 5])]
)
def test_singular_task(q, rows):
    with pytest.raises(ValueError, match=SINGULAR):
        planar.operational_space_inertia(q, rows=rows)


@few
@given(case=cases(10), rows=task_rows)
def test_manipulability(case, rows):
    robot, q, *_ = case
    rows = rows[: robot.n]
    for frame in (None, "camera", 1):
        lengths = np.linalg.svd(robot.jacobian(q, frame)[rows], compute_uv=False)
        if lengths[-1] > 1e-4:  # else the rows are singular: tested below
            assert robot.manipulability(q, frame, rows=rows) == pytest.approx(lengths.prod(), rel=1e-7)


def test_manipulability_of_dependent_rows_is_zero():
    tilted = np.eye(4)
    tilted[1:3, 1:3] = [[0.6, -0.8], [0.8, 0.6]]
    slider = th.Robot.from_dh([[0.5, 0.3, 0.0, 0.0]], joint_types="P", base=tilted)
    assert slider.manipulability([0.1]) == pytest.approx(0.0, abs=1e-12)


def test_manipulability_of_the_planar_arm():
    for q2 in (-2.0, 0.5, 1.5):
        assert planar.manipulability([0.7, q2], rows=[0, 1]) == pytest.approx(0.5 * 0.4 * abs(np.sin(q2)), rel=1e-12)
    assert planar.manipulability([0.7, 0.5]) < 1e-12  # it cannot move in all six


@few
@given(case=cases(10), rows=task_rows)
def test_ellipsoids(case, rows):
    robot, q, *_ = case
    J = robot.jacobian(q)[rows]
    m = len(rows)
    axes, lengths = robot.velocity_ellipsoid(q, rows=rows)
    assert_close(axes.T @ axes, np.eye(m), 1e-12)
    assert np.all(np.diff(lengths) <= 0.0)
    assert_close((axes * lengths**2) @ axes.T, J @ J.T)  # J J' = sum l^2 a a'
    force_axes, force_lengths = robot.force_ellipsoid(q, rows=rows)
    assert np.all(force_lengths[:-1] >= force_lengths[1:])
    assert_close(force_axes[:, ::-1], axes)
    regular = lengths > 1e-9
    assert_close(force_lengths[::-1][regular] * lengths[regular], np.ones(regular.sum()), 1e-12)


def test_ellipsoids_of_a_batch():
    q = np.random.default_rng(5).uniform(-2, 2, (2, 3, 2))
    for method in (planar.velocity_ellipsoid, planar.force_ellipsoid):
        axes, lengths = method(q, rows=[0, 1])
        assert (axes.shape, lengths.shape) == ((2, 3, 2, 2), (2, 3, 2))
        for index in np.ndindex(2, 3):
            one = method(q[index], rows=[0, 1])
            assert_close(axes[index], one.axes)
            assert_close(lengths[index], one.lengths)
