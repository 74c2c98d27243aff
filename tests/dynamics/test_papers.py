"""The papers' own constructions and printed entries, and their errata that a computation can show.

T is the Thunder article (2025), G the regressors of Gabiccini et al. (2009); docs/errata.md has the list.
"""

import numpy as np
import pytest
from hypothesis import given

from tests.dynamics.numerics import assert_close
from tests.dynamics.random_chains import cases, few
from tests.truth import CHAINS, load, robot_of


@few
@given(case=cases())
def test_coriolis_by_matrix_algebra(case):
    """T (11): C = 1/2 ([B_q dq] + Q B_q - B_q' Q'), with Q = [I dq_1 | ... | I dq_n] and B_q as n n x n."""
    robot, q, dq, *_ = case
    n = robot.n
    B_q = robot.mass_matrix_derivative(q).transpose(1, 0, 2).reshape(n * n, n)
    Q = np.kron(dq, np.eye(n))
    by_hand = 0.5 * ((B_q @ dq).reshape(n, n).T + Q @ B_q - B_q.T @ Q.T)
    assert_close(robot.coriolis_matrix_algebra(q, dq), by_hand)
    assert_close(robot.coriolis_matrix_algebra(q, dq), robot.coriolis_matrix(q, dq))


@few
@given(case=cases())
def test_coriolis_by_christoffel_sums(case):
    """T (8)."""
    robot, q, dq, *_ = case
    assert_close(robot.coriolis_matrix_christoffel(q, dq), robot.coriolis_matrix(q, dq))


@few
@given(case=cases(rotors=False, armature=False))
def test_blocks_make_up_the_links(case):
    """T (14)-(17), (21): the sums of blocks and parameters are M, C and G."""
    robot, q, dq, *_ = case
    pi = robot.inertial
    assert_close(np.einsum("lkij,lk->ij", robot.mass_blocks(q), pi), robot.mass_matrix(q))
    assert_close(np.einsum("lkij,lk->ij", robot.coriolis_blocks(q, dq), pi), robot.coriolis_matrix(q, dq))
    assert_close(np.einsum("lki,lk->i", robot.gravity_blocks(q), pi[:, :4]), robot.gravity_vector(q))


@few
@given(case=cases(rotors=False, armature=False, friction=False))
def test_blocks_are_columns_of_the_regressor(case):
    """T (18)-(25): column k of link l is B_k ddq_r + C_k dq_r + Z_k."""
    robot, q, dq, _, dq_r, ddq_r = case
    columns = robot.mass_blocks(q) @ ddq_r + robot.coriolis_blocks(q, dq) @ dq_r
    columns[:, :4] += robot.gravity_blocks(q)
    assert_close(columns.reshape(robot.p, robot.n).T, robot.slotine_li_regressor(q, dq, dq_r, ddq_r))


class Elbow:
    """The printed terms of appendix D, with the signs that the text of the article lost."""

    def __init__(self, state):
        self.robot = robot_of("rr_elbow_distal")
        self.q, self.dq, self.dq_r, self.ddq_r = (np.array(state[key]) for key in ("q", "qd", "qdr", "qddr"))
        a1, a2, g = 0.5, 0.4, 9.81
        (q1, q2), (v1, v2), (r1, r2), (b1, b2) = self.q, self.dq, self.dq_r, self.ddq_r
        c1, s1, c2, s2, c12, s12 = np.cos(q1), np.sin(q1), np.cos(q2), np.sin(q2), np.cos(q1 + q2), np.sin(q1 + q2)
        sigma1, sigma2, sigma3, sigma4, sigma5 = b1 + b2, 2 * b1 + b2, v1 * r2 + v2 * r1, v2 * r2, v1 * r1
        gamma1, gamma2, gamma3, gamma4 = a1 * s2, a1 * a2 * c2, a1 * a2 * s2, a1 * c2
        none = [0.0, 0.0]
        # one row per parameter of a link: m; mcx, mcy, mcz; Ixx, Ixy, Ixz, Iyy, Iyz, Izz
        self.B = [
            [[a1**2 * b1, 0], [2 * a1 * b1, 0], none, none, *[none] * 5, [b1, 0]],
            [
                [a1**2 * b1 + a2**2 * sigma1 + gamma2 * sigma2, a2**2 * sigma1 + gamma2 * b1],
                [2 * a2 * sigma1 + gamma4 * sigma2, 2 * a2 * sigma1 + gamma4 * b1],
                [-gamma1 * sigma2, -gamma1 * b1],
                none,
                *[none] * 5,
                [sigma1, sigma1],
            ],
        ]
        self.C = [
            [none] * 10,
            [
                [-gamma3 * (sigma3 + sigma4), gamma3 * sigma5],
                [-gamma1 * (sigma3 + sigma4), gamma1 * sigma5],
                [-gamma4 * (sigma3 + sigma4), gamma4 * sigma5],
                *[none] * 7,
            ],
        ]
        self.Z_1 = [[a1 * g * c1, 0], [g * c1, 0], [-g * s1, 0], none]
        # T-4: printed as a copy of link 1
        self.Z_2 = [[g * (a1 * c1 + a2 * c12), g * a2 * c12], [g * c12, g * c12], [-g * s12, -g * s12], none]


@pytest.fixture(params=load("rr_elbow_distal")["states"])
def elbow(request):
    return Elbow(request.param)


def test_appendix_d_mass(elbow):
    assert_close(elbow.robot.mass_blocks(elbow.q) @ elbow.ddq_r, elbow.B)


def test_appendix_d_coriolis(elbow):
    assert_close(elbow.robot.coriolis_blocks(elbow.q, elbow.dq) @ elbow.dq_r, elbow.C)


def test_appendix_d_gravity_of_link_2_is_no_copy_of_link_1(elbow):
    """T-4."""
    Z = elbow.robot.gravity_blocks(elbow.q)
    assert_close(Z, [elbow.Z_1, elbow.Z_2])
    assert np.abs(Z[1] - elbow.Z_1).max() > 0.1


def test_appendix_d_derivative_of_the_mass_block(elbow):
    """T-5: B_q of block B_0 of link 2 is [0 -2 gamma_3; 0 -gamma_3; 0 -gamma_3; 0 0]."""
    only_m2 = elbow.robot.with_parameters(np.eye(20)[10])
    gamma3 = 0.5 * 0.4 * np.sin(elbow.q[1])
    expected = [[0, -2 * gamma3], [0, -gamma3], [0, -gamma3], [0, 0]]
    assert_close(only_m2.mass_matrix_derivative(elbow.q).reshape(4, 2), expected)


def test_appendix_d_needs_distal_frames(elbow):
    """T-6: with Craig's frames, in which the article writes its equation 2, the columns of m_1 vanish."""
    craig = robot_of("rr_elbow_craig")
    Y = craig.slotine_li_regressor(elbow.q, elbow.dq, elbow.dq_r, elbow.ddq_r)
    assert_close(Y[:, 0], np.zeros(2))
    distal = elbow.robot.slotine_li_regressor(elbow.q, elbow.dq, elbow.dq_r, elbow.ddq_r)
    assert_close(Y @ craig.parameters, distal @ elbow.robot.parameters)
    assert np.abs(distal[:, 0]).max() > 1e-3


@pytest.mark.parametrize("name", CHAINS[:2])
def test_regressor_multiplies_reg_not_dyn(name):
    """T-3: Y_r is linear in the inertia about the frame origin; that about the center of mass gives another torque."""
    data = load(name)
    robot, dyn = robot_of(name), np.array(data["par_DYN"])
    for state in data["states"]:
        Y_r = robot.slotine_li_regressor(*(np.array(state[key]) for key in ("q", "qd", "qdr", "qddr")))
        assert_close(Y_r @ robot.parameters, state["tau"])
        assert np.abs(Y_r @ dyn.ravel() - state["tau"]).max() > 0.1


def test_words_for_the_transpose_give_a_wrong_coriolis(elbow):
    """G-3: dB^T231 by the words of G (44) gives C = M_dot / 2: it passes the skew test and is wrong in C dq."""
    robot, q, dq = elbow.robot, elbow.q, elbow.dq
    D = robot.mass_matrix_derivative(q)
    by_formula = 0.5 * (D + D.transpose(0, 2, 1) - D.transpose(2, 0, 1)) @ dq
    by_words = 0.5 * (D + D.transpose(0, 2, 1) - D.transpose(1, 2, 0)) @ dq
    M_dot = robot.mass_matrix_dot(q, dq)
    assert_close(by_formula, robot.coriolis_matrix(q, dq))
    assert_close(by_words, 0.5 * M_dot)
    skew = M_dot - 2.0 * by_words
    assert_close(skew, -skew.T)
    torque = robot.inverse_dynamics(q, dq, np.zeros(2)) - robot.gravity_vector(q)
    assert_close(by_formula @ dq, torque)
    assert np.abs(by_words @ dq - torque).max() > 1e-3
