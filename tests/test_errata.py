"""Errors in the papers that no other test shows, and that docs/errata.md names tests which exist."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import thunder_py as th
from tests import truth
from tests.control.arms import Q0, elbow, panda
from tests.dynamics.numerics import assert_close

ROOT = Path(__file__).parents[1]
ERRATA = (ROOT / "docs" / "errata.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(("path", "name"), sorted(set(re.findall(r"(tests/[\w/]+\.py)::(\w+)", ERRATA))))
def test_named_tests_exist(path, name):
    assert f"def {name}(" in (ROOT / path).read_text(encoding="utf-8")


def test_every_entry_names_a_test():
    entries = [row for row in ERRATA.splitlines() if re.match(r"\| \*\*[A-Z]-\d+\*\*", row)]
    assert len(entries) > 20
    for row in entries:
        assert "tests/" in row, row


# --- T: the Thunder article -------------------------------------------------------------------------------------------


def half_trace_minus_transpose(A):
    return 0.5 * (np.trace(A) * np.eye(3) - A.T)


def error_angle_after(start, law, duration=8.0, dt=1e-3):
    """Angle that is left [deg] of an orientation error of `start` degrees under the angular velocity law(e, L)."""
    R_tilde = Rotation.from_rotvec(np.radians(start) * np.array([1.0, 2.0, 2.0]) / 3.0).as_matrix()
    for _ in range(round(duration / dt)):
        e = 0.5 * np.array(
            [R_tilde[2, 1] - R_tilde[1, 2], R_tilde[0, 2] - R_tilde[2, 0], R_tilde[1, 0] - R_tilde[0, 1]]
        )
        w = law(e, half_trace_minus_transpose(R_tilde))
        R_tilde = R_tilde @ Rotation.from_rotvec(-dt * w).as_matrix()
    return np.degrees(Rotation.from_matrix(R_tilde).magnitude())


def test_orientation_law_works_below_a_right_angle_only():
    """T-11: with the inverse of L the error falls below 90 degrees and grows to 180 above; without, it falls."""
    with_inverse = lambda e, L: np.linalg.solve(L, e)  # noqa: E731
    assert error_angle_after(85.0, with_inverse) < 0.1
    assert error_angle_after(95.0, with_inverse) > 179.0
    assert error_angle_after(150.0, lambda e, L: e) < 0.5


@pytest.mark.parametrize("degrees", [10.0, 60.0, 85.0])
def test_determinant_of_L(degrees):
    """T-11: det L_o = cos(theta) (1 + cos(theta)) / 2."""
    T = panda().forward_kinematics(Q0)
    T[:3, :3] = Rotation.from_rotvec(np.radians(degrees) * np.array([2.0, -1.0, 2.0]) / 3.0).as_matrix() @ T[:3, :3]
    law = th.Backstepping(panda(), 1.0, 1.0, 1.0, adaptation=None)
    L = law.evaluate(Q0, np.zeros(7), th.reference.SetPose(T)(0.0)).L
    cosine = np.cos(np.radians(degrees))
    assert np.linalg.det(L[3:, 3:]) == pytest.approx(0.5 * cosine * (1.0 + cosine), rel=1e-12)


def test_symmetric_gains_are_not_enough():
    """T-10: K_p and Lambda positive definite, K_p Lambda + Lambda K_p not: V grows where s = 0."""
    K_p, Lambda = np.diag([1.0, 100.0]), np.array([[1.0, 0.9], [0.9, 1.0]])
    values, vectors = np.linalg.eigh(K_p @ Lambda + Lambda @ K_p)
    assert np.linalg.eigvalsh(Lambda)[0] > 0.0
    e = vectors[:, 0]
    assert values[0] < -30.0
    assert -e @ K_p @ Lambda @ e > 0.0


def test_tracking_without_knowing():
    """T-12: at a set point e and s vanish, the estimate stays wrong: stability is not asymptotic in the estimate."""
    goal = [0.3, 0.8]
    nominal = elbow().with_parameters(0.5 * elbow().parameters)
    law = th.SlotineLi(nominal, Lambda=5.0, K_d=8.0, adaptation=0.1)
    run = th.simulate(elbow(), law, th.reference.SetPoint(goal), 20.0, q0=[0.0, 0.0])
    assert run.error_norm()[-1] < 1e-6
    assert np.abs(run.dq[-1]).max() < 1e-6
    off = np.abs(run.parameters[-1] - elbow().parameters) / np.abs(elbow().parameters).max()
    assert off.max() > 0.05


def test_center_of_link_7():
    """T-7: Gaz's center of mass, 0.061597 m along z, seen from the flange at 0.107 m."""
    m, *c = th.robot.inertia.dyn_from_reg(th.Robot.load("panda").inertial)[6, :4]
    assert m == pytest.approx(0.735522, abs=1e-12)
    np.testing.assert_allclose(c, [0.010517, -0.004252, 0.061597 - 0.107], atol=1e-12)


def test_excitation_must_last():
    """T-9: a regressor that is 1 until t = 1 excites "for all t < 0", and the estimate stops on its way; l_0 = 1."""
    dt = 1e-3
    t = np.arange(-5.0, 20.0, dt)
    y = np.where(t < 1.0, 1.0, 0.0)
    integral = np.cumsum(y**2) * dt
    ahead = round(1.0 / dt)
    excited = integral[ahead:] - integral[:-ahead] > 0.99
    assert excited[t[:-ahead] < 0.0].all()  # the condition as printed
    assert not excited[t[:-ahead] >= 0.0].all()  # the condition of the theorem
    # pitilde' = -y^2 pitilde from t = 0 on
    left = np.exp(-(y[t >= 0.0] ** 2).sum() * dt)
    assert left == pytest.approx(np.exp(-1.0), rel=1e-2)


# --- G: Gabiccini et al. ----------------------------------------------------------------------------------------------


def printed_link_2(state, g1_right, g2_right):
    """Block of link 2 in G, section 5.1: X_r_dot - W_r + Z, columns m, m c, I."""
    a1, a2, g = 0.5, 0.4, 9.81
    (q1, q2), (v1, v2), (r1, r2), (w1, w2) = (state[key] for key in ("q", "qd", "qdr", "qddr"))
    c2, s2, c12, s12 = np.cos(q2), np.sin(q2), np.cos(q1 + q2), np.sin(q1 + q2)
    b1, b2, b3, b4 = r2 * v1 + r1 * v2, r2 * v1 + (r1 + r2) * v2, 2 * w1 + w2, w1 + w2
    b5 = (2 * r1 + r2) * v1 + r1 * v2 if g2_right else b3 * v1 + w1 * v2
    b6, b7, b8, b9, b10 = a1 * a2 * s2, b1, a1 * a2 * c2, a1 * c2, a1 * s2
    Y = np.zeros((2, 10))
    Y[0, 0] = -b6 * b7 - b6 * r2 * v2 + a2**2 * b4 + a1**2 * w1 + (b3 if g1_right else b4) * b8
    Y[1, 0] = -b6 * b7 / 2 + b8 * w1 + a2**2 * b4 + a1 * a2 * s2 * b5 / 2
    Y[0, 1:3] = 2 * a2 * b4 + b9 * b3 - b10 * b2, -b9 * b2 - b10 * b3
    Y[1, 1] = b9 * w1 - b10 * b1 / 2 + 2 * a2 * b4 + a1 * s2 * b5 / 2
    Y[1, 2] = -b9 * b1 / 2 - b10 * w1 + a1 * c2 * b5 / 2
    Y[:, 9] = b4
    Y[:, 0] += g * (a1 * np.cos(q1) + a2 * c12), g * a2 * c12
    Y[:, 1:3] += g * np.array([c12, -s12])
    return Y


@pytest.mark.parametrize("state", truth.load("rr_elbow_distal")["states"], ids=lambda state: None)
def test_elbow_of_the_2009_paper(state):
    """G-1, G-2: the block of link 2 with the two corrections, and what it is without them."""
    robot = truth.robot_of("rr_elbow_distal")
    Y = robot.slotine_li_regressor(*(np.array(state[key]) for key in ("q", "qd", "qdr", "qddr")))[:, 10:]
    assert_close(printed_link_2(state, g1_right=True, g2_right=True), Y)
    error = printed_link_2(state, g1_right=False, g2_right=True) - Y
    assert error[0, 0] == pytest.approx(-0.5 * 0.4 * np.cos(state["q"][1]) * state["qddr"][0], rel=1e-9)
    assert np.abs(printed_link_2(state, g1_right=True, g2_right=False) - Y)[1, :3].max() > 1e-3


@pytest.fixture(scope="module")
def three_joints():
    rng = np.random.default_rng(4)
    dyn = np.hstack(
        [rng.uniform(1, 2, (3, 1)), rng.uniform(-0.3, 0.3, (3, 3)), np.tile([0.3, 0, 0, 0.4, 0, 0.5], (3, 1))]
    )
    robot = th.Robot.from_dh(rng.uniform(-1, 1, (3, 4)), convention="standard", inertial=dyn)
    return robot, *rng.uniform(-1, 1, (3, 3))


def test_transpose_of_the_fourth_order_tensor(three_joints):
    """G-4: with the index order n x n x p x n of G (53) it is T_1432; T_1324, printed, is wrong where it fits."""
    robot, q, dq, dq_r = three_joints
    columns = range(21, 24)  # m c of link 3: as many as there are joints, so that the printed transpose has a shape
    units = np.eye(robot.p)
    dX = np.stack([robot.with_parameters(units[k]).mass_matrix_derivative(q) for k in columns], axis=2)
    W = 0.5 * np.einsum("jkah,k,j->ha", dX, dq, dq_r)
    right, printed = (
        0.5 * np.einsum("hjak,k,j->ha", dX + dX.transpose(order), dq, dq_r) - W
        for order in ((0, 3, 2, 1), (0, 2, 1, 3))
    )
    expected = (robot.coriolis_blocks(q, dq) @ dq_r)[2, 1:4].T
    assert_close(right, expected)
    assert np.abs(printed - expected).max() > 1e-2


def test_contraction_of_the_mass_derivative_is_transposed(three_joints):
    """G-6: dq' dB/dq has indices (k, h); it multiplies dq after being transposed."""
    robot, q, dq, _ = three_joints
    contraction = np.einsum("j,jkh->kh", dq, robot.mass_matrix_derivative(q))
    M_dot = robot.mass_matrix_dot(q, dq)
    torque = robot.inverse_dynamics(q, dq, np.zeros(3)) - robot.gravity_vector(q)
    assert_close((M_dot - 0.5 * contraction.T) @ dq, torque)
    assert np.abs((M_dot - 0.5 * contraction) @ dq - torque).max() > 1e-2


# --- D: DARKO D4.2 ----------------------------------------------------------------------------------------------------


def test_order_of_the_task_gain():
    """D-1: J' L' K_p e gives V' = -s' K_d s - e' K_p Lambda e with the true parameters; J' K_p L' e does not."""
    K_p, Lambda, K_d = np.diag([100.0, 80, 60, 20, 10, 5]), np.diag([5.0, 4, 3, 4, 3, 2]), 10.0 * np.eye(7)
    T = panda().forward_kinematics(Q0)
    T[:3, :3] = Rotation.from_rotvec([0.3, -0.5, 0.4]).as_matrix() @ T[:3, :3]
    reference = th.reference.Lissajous.starting_at(T, (0.1, 0.1, 0.1), (0.2, 0.1, 0.4))(0.7)
    dq = np.linspace(-0.5, 0.4, 7)
    law = th.Backstepping(panda(), Lambda, K_p, K_d, adaptation=None)
    x = law.evaluate(Q0, dq, reference)
    J, M, C = panda().jacobian(Q0), panda().mass_matrix(Q0), panda().coriolis_matrix(Q0, dq)

    def V_dot(tau):
        s_dot = x.ddq_r - panda().forward_dynamics(Q0, dq, tau)
        return x.e @ K_p @ x.e_dot + x.s @ (M @ s_dot + C @ x.s)

    proof = -x.s @ K_d @ x.s - x.e @ K_p @ Lambda @ x.e
    assert V_dot(x.tau) == pytest.approx(proof, rel=1e-10)
    printed = x.tau - J.T @ x.L.T @ K_p @ x.e + J.T @ K_p @ x.L.T @ x.e
    assert abs(V_dot(printed) - proof) > 1e-3 * abs(proof)


# --- N: lecture notes -------------------------------------------------------------------------------------------------


def test_christoffel_symbol_of_the_elbow():
    """N-4: c_221 = 1/2 (2 d d_12 / d q_2 - d d_22 / d q_1); as printed it is half of that."""
    q = np.array([0.4, 0.9])
    D = elbow().mass_matrix_derivative(q)
    c_221 = elbow().christoffel_symbols(q)[0, 1, 1]
    assert c_221 == pytest.approx(0.5 * (2 * D[0, 1, 1] - D[1, 1, 0]), rel=1e-12)
    assert 0.5 * (D[0, 1, 0] + D[0, 1, 1] - D[1, 1, 0]) == pytest.approx(0.5 * c_221, rel=1e-12)
    assert c_221 == pytest.approx(elbow().christoffel_symbols(q)[0, 0, 1], rel=1e-12)  # = c_121, as they say
