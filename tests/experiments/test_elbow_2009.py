"""The 2009 paper's elbow in symbols, its printed entries, and its tensors."""

import numpy as np
import pytest

from thunder_py import Robot
from thunder_py.papers.elbow_2009 import run as elbow_2009
from thunder_py.papers.elbow_2009 import tensors as elbow_2009_tensors
from thunder_py.papers.elbow_2009.printed import printed_symbols

sympy = pytest.importorskip("sympy")


@pytest.fixture(scope="module")
def elbow():
    return elbow_2009.run()


@pytest.fixture(scope="module")
def state():
    return np.random.default_rng(5).uniform(-1.5, 1.5, (4, 2))


@pytest.mark.release
def test_errata_repair_the_four_wrong_printed_entries(elbow):
    """G-1, G-2: b4 b8 in the mass column of row 1, b5 in three entries of row 2; nothing else is wrong."""
    wrong = [(e.name, e.row, e.parameter) for e in elbow.entries if not e.is_right("printed")]
    assert wrong == [
        ("X_0^(2)", 1, "m of link 2"),
        ("W_0^(2)", 2, "m of link 2"),
        ("W_1^(2)", 2, "m c_x of link 2"),
        ("W_1^(2)", 2, "m c_y of link 2"),
    ]
    assert len(elbow.entries) == 23
    assert all(e.is_right("corrected") for e in elbow.entries)


@pytest.mark.release
def test_difference_of_g_1(elbow):
    entry = next(e for e in elbow.entries if (e.name, e.row) == ("X_0^(2)", 1))
    _, q2, *_, ddq_r1, _, a1, a2, _ = printed_symbols()
    assert sympy.simplify(entry.printed - entry.recorded + a1 * a2 * sympy.cos(q2) * ddq_r1) == 0


def test_terms_make_up_the_regressor(elbow, state):
    """Y = X - W + Z of the recording is the recorded regressor, link by link."""
    model = elbow.model
    blocks = []
    for link in (1, 2):
        for j in range(3):
            block = elbow.terms["X", j, link] - elbow.terms["W", j, link]
            blocks.append(block + elbow.terms["Z", j, link] if j < 2 else block)
    f = model.function("sums", np.hstack(blocks), ["q", "dq", "dq_r", "ddq_r", "par_DHtable", "par_gravity"])
    d = model.robot.description
    expected = model.robot.slotine_li_regressor(*state)
    np.testing.assert_allclose(f(*state, d.dh.ravel(), d.gravity), expected, atol=1e-13)


def test_printed_regressor_with_the_errata_is_the_kernel_s(elbow, state):
    robot = elbow.model.robot
    Y = robot.slotine_li_regressor(*state)
    np.testing.assert_allclose(elbow.printed_regressor(True)(*state), Y, atol=1e-13)
    assert np.abs((elbow.printed_regressor(False)(*state) - Y) @ robot.parameters).max() > 1e-2
    q, dq, _, ddq = state
    classical = elbow.printed_regressor(True)(q, dq, dq, ddq)  # section 5.2
    np.testing.assert_allclose(classical, robot.regressor(q, dq, ddq), atol=1e-13)


def test_words_for_t_231_give_half_of_the_derivative_of_m(elbow):
    """G-3 in symbols."""
    half = 0.5 * elbow.model.mass_matrix_dot()
    difference = elbow_2009_tensors.coriolis_by_words(elbow.model) - half
    assert elbow.model.to_sympy(difference, simplify=True) == sympy.zeros(2, 2)


@pytest.fixture(scope="module")
def arm():
    return elbow_2009_tensors.three_joints(), *np.random.default_rng(7).uniform(-1.0, 1.0, (3, 3))


def test_transposes_fit_one_order_of_axes_each(arm):
    """G-3, G-4, T-13: wrong are T_231 by its words, T_1324 in G's order, G's transpose in T's order n x 3 x n x n."""
    right = {(c.axes, c.order): c.error < 1e-12 for c in elbow_2009_tensors.check_transposes(*arm)[2:]}
    assert right == {
        ("n n p n", "1324"): False,
        ("n n p n", "1432"): True,
        ("n n n p", "1324"): True,
        ("n p n n", "1243"): True,
        ("n p n n", "1432"): False,
    }
    formula, words = elbow_2009_tensors.check_transposes(*arm)[:2]
    assert formula.error < 1e-12
    assert words.error > 1e-2
    assert all(c.error > 1e-2 for c in elbow_2009_tensors.check_transposes(*arm) if c.error >= 1e-12)


def velocities(robot, q, dq, dq_r):
    """Velocities of the last frame and its rotation: v, w, v_r, w_r, R."""
    J = robot.jacobian(q)
    return *(np.concatenate([J @ dq, J @ dq_r]).reshape(4, 3)), robot.forward_kinematics(q)[:3, :3]


def test_rows_of_w_1_are_transposed_derivatives(arm):
    """G-5: eq. 24 and W_1r stack vectors d[...]/dq_h of three entries; W is n x 3 only with each of them as a row."""
    robot, q, dq, dq_r = arm

    def bracket(q):
        v, w, v_r, w_r, R = velocities(robot, q, dq, dq_r)
        return R.T @ (np.cross(v_r, w) - np.cross(w_r, v))

    h = 1e-6
    derivatives = [(bracket(q + h * e) - bracket(q - h * e)) / (2 * h) for e in np.eye(3)]
    dX = elbow_2009_tensors._first_moment_tensor(robot, q)
    W = 0.5 * np.einsum("jkah,k,j->ha", dX, dq, dq_r)
    np.testing.assert_allclose(0.5 * np.vstack(derivatives), W, atol=1e-8)
    printed = np.concatenate([d[:, None] for d in derivatives])  # one above the other, as they are
    assert printed.shape == (9, 1)
    assert np.abs(0.5 * np.column_stack(derivatives) - W).max() > 1e-2


def test_x_1_names_two_things(arm):
    """G-7: X_1, X_2 of eq. 19 are n x 3, n x 6 and contain a velocity; those of eq. 52 are n x n x 3, n x n x 6."""
    robot, q, dq, _ = arm
    v, w, _, _, R = velocities(robot, q, dq, dq)
    J_v, J_w = np.split(robot.jacobian(q), 2)

    def skew(x):
        return np.cross(x, np.eye(3)).T

    of_19 = (J_v.T @ skew(w) - J_w.T @ skew(v)) @ R
    of_52 = robot.mass_blocks(q)[-1, 1:4].transpose(1, 2, 0)
    assert (of_19.shape, of_52.shape) == ((3, 3), (3, 3, 3))
    np.testing.assert_allclose(np.einsum("ijk,j->ik", of_52, dq), of_19, atol=1e-12)
    x, y, z = R.T @ w
    of_19 = J_w.T @ R @ np.array([[x, y, z, 0, 0, 0], [0, x, 0, y, z, 0], [0, 0, x, 0, y, z]])  # I w by Ixx, Ixy, ...
    of_52 = robot.mass_blocks(q)[-1, 4:].transpose(1, 2, 0)
    assert (of_19.shape, of_52.shape) == ((3, 6), (3, 3, 6))
    np.testing.assert_allclose(np.einsum("ijk,j->ik", of_52, dq), of_19, atol=1e-12)


def test_a_link_has_ten_columns():
    """G-7: Y^(2) of section 5.1, printed as 2 x 8, is 2 x 10."""
    robot = Robot.load("elbow")
    Y = robot.slotine_li_regressor([0.3, 0.9], [0.4, -0.7], [0.2, 0.1], [1.0, -0.5])
    assert Y.shape == (2, 20)
    assert np.abs(Y[:, 19]).min() > 0.0  # of Izz, the tenth


def test_eight_parameters_act_on_the_elbow(state):
    """Section 5.2: m, m c_x, m c_y and I_zz of both links; the columns of the twelve others are zero."""
    q, dq, _, ddq = state
    columns = np.abs(Robot.load("elbow").regressor(q, dq, ddq)).max(axis=0)
    assert np.flatnonzero(columns).tolist() == [0, 1, 2, 9, 10, 11, 12, 19]
