"""Errors in the papers that no other test shows, and that docs/errata.md names tests which exist."""

import re

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import thunder_py as th
from tests.control.arms import Q0, elbow, panda
from tests.dynamics.numerics import assert_close
from tests.named_tests import ROOT, exists, named_tests
from thunder_py.identification import persistent_excitation

ERRATA = (ROOT / "docs" / "errata.md").read_text(encoding="utf-8")


def test_named_tests_exist():
    assert [(path, name) for path, name in named_tests(ERRATA) if not exists(path, name)] == []


def test_every_entry_names_a_test():
    entries = [row for row in ERRATA.splitlines() if re.match(r"\| \*\*[A-Z]-\d+\*\*", row)]
    assert len(entries) > 20
    for row in entries:
        assert "tests/" in row, row


def half_trace_minus_transpose(A):
    return 0.5 * (np.trace(A) * np.eye(3) - A.T)


def error_angle_after(start, law, duration=8.0, dt=5e-3):
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
    """T-10: K_p and Lambda positive definite, K_p Lambda + Lambda K_p not: V of the Panda grows where s = 0."""
    K_p, Lambda = np.eye(6), np.eye(6)
    K_p[1, 1], Lambda[:2, :2] = 100.0, [[1.0, 0.9], [0.9, 1.0]]
    values, vectors = np.linalg.eigh(K_p @ Lambda + Lambda @ K_p)
    assert np.linalg.eigvalsh(Lambda)[0] > 0.0
    assert values[0] < -30.0
    e = 0.01 * vectors[:, 0]  # of the position: L = 1
    T = panda().forward_kinematics(Q0)
    T[:3, 3] += e[:3]
    goal, law = th.reference.SetPose(T), th.Backstepping(panda(), 1.0, 1.0, 1.0, adaptation=None)
    dq = np.linalg.pinv(panda().jacobian(Q0)) @ Lambda @ e  # dq_r of these gains, so that s = 0

    def V(h):
        error = law.evaluate(Q0 + h * dq, dq, goal(0.0)).e
        return 0.5 * error @ K_p @ error

    np.testing.assert_allclose(law.evaluate(Q0, dq, goal(0.0)).e, e, atol=1e-12)
    rate = (V(1e-4) - V(-1e-4)) / 2e-4
    assert rate == pytest.approx(-e @ K_p @ Lambda @ e, rel=1e-3)
    assert rate > 0.0
    with pytest.raises(ValueError, match="K_p"):
        th.Backstepping(panda(), Lambda, K_p, 1.0, adaptation=None)


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


def test_storage_functions_are_radially_unbounded():
    """T-12: bounds of class K, such as arctan(|x|), bound nothing; those of V = s' M s / 2 are of class K_inf."""
    law = th.SlotineLi(elbow(), Lambda=5.0, K_d=8.0, adaptation=None)
    least = 0.5 * min(np.linalg.eigvalsh(elbow().mass_matrix([0.0, angle]))[0] for angle in np.linspace(-3.2, 3.2, 65))
    for size in (1.0, 1e2, 1e4):
        run = th.simulate(elbow(), law, th.reference.SetPoint([size, -size]), 1e-3, q0=[0.0, 0.0])
        assert run.lyapunov(law).V[0] >= least * 50.0 * size**2  # s = 5 e
    assert np.arctan(size) < np.pi / 2


def test_center_of_link_7():
    """T-7: Gaz's center of mass, 0.061597 m along z, seen from the flange at 0.107 m."""
    m, *c = th.model.inertia.dyn_from_reg(th.Robot.load("panda").inertial)[6, :4]
    assert m == pytest.approx(0.735522, abs=1e-12)
    np.testing.assert_allclose(c, [0.010517, -0.004252, 0.061597 - 0.107], atol=1e-12)


class Stopping:
    """A motion of the elbow that fades out after `last` seconds."""

    def __init__(self, last):
        self.last = last

    def __call__(self, t):
        slope = np.tanh(3.0 * (self.last - t))
        fade, rate = 0.5 * (1.0 + slope), -1.5 * (1.0 - slope**2)
        curvature = 6.0 * slope * rate
        w, phase = np.array([2.0, 3.0]), np.array([0.0, 0.4])
        q, dq, ddq = np.sin(w * t + phase), w * np.cos(w * t + phase), -(w**2) * np.sin(w * t + phase)
        return th.reference.JointReference(fade * q, fade * dq + rate * q, fade * ddq + 2 * rate * dq + curvature * q)


def test_excitation_must_last():
    """T-9: a motion that excited in the past and stops leaves the estimate where it was; a lasting one moves it."""
    nominal, errors, excited = elbow().with_parameters(0.7 * elbow().parameters), {}, {}
    base = elbow().base_parameters()
    for last in (2.0, np.inf):
        law = th.SlotineLi(nominal, Lambda=5.0, K_d=8.0, adaptation=1.0)
        start = Stopping(last)(0.0)
        run = th.simulate(elbow(), law, Stopping(last), 10.0, dt=5e-3, dq0=start.dq, log_every=8)
        at = np.searchsorted(run.t, [5.0, 10.0])
        off = (run.parameters - elbow().parameters) @ base.mapping.T
        errors[last] = np.linalg.norm(off[at], axis=1)
        motion = [Stopping(last)(t) for t in run.t]
        found = persistent_excitation(
            elbow(), *(np.array([getattr(x, name) for x in motion]) for name in ("q", "dq", "ddq")), run.t, 2.0
        )  # fmt: skip
        excited[last] = found.lower[0], found.l1
    assert excited[2.0][0] > 0.01  # for t < 0 of the printed condition, with the origin of time behind the motion
    assert excited[2.0][1] < 1e-6
    assert excited[np.inf][1] > 1e-3
    assert errors[2.0][1] == pytest.approx(errors[2.0][0], rel=0.01)
    assert errors[2.0][1] > 0.2
    assert errors[np.inf][1] < 0.75 * errors[np.inf][0]


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


def test_christoffel_symbol_of_the_elbow():
    """N-4: c_221 = 1/2 (2 d d_12 / d q_2 - d d_22 / d q_1); as printed it is half of that."""
    q = np.array([0.4, 0.9])
    D = elbow().mass_matrix_derivative(q)
    c_221 = elbow().christoffel_symbols(q)[0, 1, 1]
    assert c_221 == pytest.approx(0.5 * (2 * D[0, 1, 1] - D[1, 1, 0]), rel=1e-12)
    assert 0.5 * (D[0, 1, 0] + D[0, 1, 1] - D[1, 1, 0]) == pytest.approx(0.5 * c_221, rel=1e-12)
    assert c_221 == pytest.approx(elbow().christoffel_symbols(q)[0, 0, 1], rel=1e-12)  # = c_121, as they say


def two_links():
    """The arm of lecture 27 with center distances lc1, lc2 and inertias I1, I2 about the centers."""
    m1, m2, l1, lc1, lc2, I1, I2 = 1.3, 0.9, 0.5, 0.3, 0.2, 0.04, 0.03
    dyn = [[m1, lc1 - l1, 0, 0, 0, 0, 0, 0, 0, I1], [m2, lc2 - 0.4, 0, 0, 0, 0, 0, 0, 0, I2]]
    dh = [[l1, 0, 0, 0], [0.4, 0, 0, 0]]
    robot = th.Robot.from_dh(dh, convention="standard", inertial=dyn, gravity=[0, -9.81, 0])
    return robot, (m1, m2, l1, lc1, lc2, I1, I2)


def test_equations_of_lecture_27():
    """N-4: the matrices that the lecture ends with, D, C and G, are those of the arm."""
    robot, (m1, m2, l1, lc1, lc2, I1, I2) = two_links()
    (q1, q2), (v1, v2), g = q, dq, _ = np.array([0.4, 0.9]), np.array([0.7, -1.1]), 9.81
    d22 = m2 * lc2**2 + I2
    d12 = d22 + m2 * l1 * lc2 * np.cos(q2)
    d11 = m1 * lc1**2 + m2 * (l1**2 + lc2**2 + 2 * l1 * lc2 * np.cos(q2)) + I1 + I2
    h = -m2 * l1 * lc2 * np.sin(q2)
    weights = [(m1 * lc1 + m2 * l1) * g * np.cos(q1), m2 * lc2 * g * np.cos(q1 + q2)]
    assert_close(robot.mass_matrix(q), [[d11, d12], [d12, d22]])
    assert_close(robot.coriolis_matrix(q, dq), [[h * v2, h * (v1 + v2)], [-h * v1, 0.0]])
    assert_close(robot.gravity_vector(q), [weights[0] + weights[1], weights[1]])


def test_lagrangian_of_lecture_26_is_linear_in_the_masses():
    """N-1: with m^2 g l cos(phi) twice the masses would give four times the gravity; and there are two DH rows."""
    robot = th.Robot.load("cart_pendulum")
    heavy = robot.replace(inertial=2.0 * robot.inertial)
    q = [0.2, 0.4]
    assert_close(heavy.gravity_vector(q), 2.0 * robot.gravity_vector(q))
    assert_close(heavy.potential_energy(q), 2.0 * robot.potential_energy(q))
    assert robot.n == 2
    assert robot.joint_types == "PR"


@pytest.fixture(scope="module")
def rpr():
    dh = [[0.1, 0.4, 0.3, 0.2], [0.0, -0.7, 0.1, 0.5], [0.2, 0.3, -0.1, 0.1]]
    return th.Robot.from_dh(dh, convention="standard", joint_types="RPR"), np.array([0.4, 0.3, -0.8])


def test_rotation_into_frame_1(rpr):
    """N-7, lecture 4: w^1 = R_0^1 w^0; the printed R_1^1 is the identity and leaves w^0 as it is."""
    robot, q = rpr
    dq, h = np.array([0.5, -0.2, 0.9]), 1e-6
    R, before, after = (robot.forward_kinematics(q + s * h * dq)[:3, :3] for s in (0, -1, 1))
    S = R.T @ (after - before) / (2 * h)  # of the angular velocity in the moving frame
    w = robot.jacobian(q)[3:] @ dq
    np.testing.assert_allclose([S[2, 1], S[0, 2], S[1, 0]], R.T @ w, atol=1e-9)
    assert np.abs(R.T @ w - w).max() > 0.1


def test_angular_columns_have_a_factor_each(rpr):
    """N-7, lecture 13: J_w = dw/d(dq) = [rho_1 z_0, rho_2 z_1, ...], rho_j = 1 for a revolute joint j."""
    robot, q = rpr
    axes = [np.eye(4), *(robot.forward_kinematics(q, i) for i in (1, 2))]
    z = np.array([T[:3, 2] for T in axes]).T
    np.testing.assert_allclose(robot.jacobian(q)[3:], z * [1, 0, 1], atol=1e-14)
    assert np.abs(z * [1, 1, 1] - z * [1, 0, 1]).max() > 0.5  # printed: rho_1 z_1


def test_origin_is_the_sum_of_differences(rpr):
    """N-7, lecture 14: O_n = sum (O_i - O_{i-1}), from O_0 = 0."""
    robot, q = rpr
    origins = np.array([np.zeros(3), *(robot.forward_kinematics(q, i)[:3, 3] for i in (1, 2, 3))])
    np.testing.assert_allclose(np.diff(origins, axis=0).sum(axis=0), origins[3], atol=1e-15)
    assert np.abs(3 * (origins[3] - origins[2]) - origins[3]).max() > 0.1  # printed: sum (O_n - O_{n-1})


def test_linear_columns_follow_the_type_of_their_own_joint(rpr):
    """N-7, lecture 14: column j is z_{j-1} x (O_i - O_{j-1}) or z_{j-1} by the type of joint j, zero for j > i."""
    robot, q = rpr
    frames = [np.eye(4), *(robot.forward_kinematics(q, i) for i in (1, 2, 3))]
    for i in (1, 2, 3):
        columns = [
            frames[j][:3, 2]
            if robot.joint_types[j] == "P"
            else np.cross(frames[j][:3, 2], (frames[i] - frames[j])[:3, 3])
            for j in range(i)
        ]
        J_v = robot.jacobian(q, i)[:3]
        np.testing.assert_allclose(J_v[:, :i], np.column_stack(columns), atol=1e-14)
        np.testing.assert_array_equal(J_v[:, i:], np.zeros((3, 3 - i)))
    by_link = np.cross(frames[1][:3, 2], (frames[3] - frames[1])[:3, 3])  # column 2 by the type of link 3
    assert np.abs(by_link - robot.jacobian(q)[:3, 1]).max() > 0.1


def test_a_line_of_states_proves_nothing():
    """N-10: V' = e' de <= 0 on the line (e_1, 0, 0, 0), as printed, and the arm with a negative gain falls away."""
    goal, K_p = np.array([0.4, 0.8]), np.diag([60.0, -20.0])

    class Law:
        def step(self, t, q, dq, reference):
            return K_p @ (goal - q) - 8.0 * dq + elbow().gravity_vector(q)

    for e_1 in (-0.5, 0.5):
        assert np.array([e_1, 0.0]) @ np.zeros(2) <= 0.0  # V = (e'e + de'de) / 2 at rest
    ends = [
        np.abs(th.simulate(elbow(), Law(), th.reference.SetPoint(goal), 3.0, dt=5e-3, q0=goal + e).q[-1] - goal).max()
        for e in ([0.01, 0.0], [0.0, 0.01])
    ]
    assert max(ends) > 0.1


def test_wrist_center_is_d_6_before_the_end():
    """N-5, lecture 10: O_c = O - d_6 R z, where the notes have d_0 and d."""
    rows = [[0, 1.57, 0.4, 0], [0.5, 0, 0, 0], [0, 1.57, 0, 0], [0, -1.57, 0.45, 0], [0, 1.57, 0, 0], [0, 0, 0.1, 0]]
    arm, q = th.Robot.from_dh(rows, convention="standard"), np.array([0.2, 0.7, 1.9, 0.5, 0.9, -1.1])
    T = arm.forward_kinematics(q)
    for name, d in (("d_6", 0.1), ("d_0", 0.0), ("d_1", 0.4)):
        miss = np.abs(T[:3, 3] - d * T[:3, 2] - arm.forward_kinematics(q, 4)[:3, 3]).max()
        assert (miss < 1e-14) == (name == "d_6")


def test_rotation_stands_left_of_the_inertia():
    """S-3: the term of a body in B is J_w' R I R' J_w; with R I' R it is wrong unless all axes are parallel."""
    robot, q = panda(), Q0
    right, printed = np.zeros((7, 7)), np.zeros((7, 7))
    for i, (m, *c, xx, xy, xz, yy, yz, zz) in enumerate(th.model.inertia.dyn_from_reg(robot.inertial), start=1):
        T, J = robot.forward_kinematics(q, i), robot.jacobian(q, i)
        R, inertia = T[:3, :3], np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        J_v = J[:3] - np.cross(R @ c, J[3:], axisb=0, axisc=0)
        for total, middle in ((right, R @ inertia @ R.T), (printed, R @ inertia.T @ R)):
            total += m * J_v.T @ J_v + J[3:].T @ middle @ J[3:]
    assert_close(right, robot.mass_matrix(q))
    assert np.abs(printed - right).max() > 0.01


def test_bounds_hold_with_equality_at_rest():
    """D-9: properties 2 and 4 need <=, as |C dq| = c |dq|^2 = 0 and x' M x = lambda |x|^2 for some x."""
    M, q = panda().mass_matrix(Q0), Q0
    assert not np.linalg.norm(panda().coriolis_matrix(q, np.zeros(7)) @ np.zeros(7)) < 0.0
    values, vectors = np.linalg.eigh(M)
    x = vectors[:, 0]
    assert x @ M @ x == pytest.approx(values[0], rel=1e-9)


def test_ellipsoids_have_singular_values():
    """S-12: half axes are eigenvectors of J J' and singular values; at q_1 the eigenvalues of J are complex."""
    robot, q = th.Robot.load("scara"), np.array([0.0, 0.5 * np.pi, 0.0, 0.0])
    J = robot.jacobian(q)[:2, :2]
    assert np.abs(np.linalg.eigvals(J).imag).min() > 0.4
    for ellipsoid, power in (
        (robot.velocity_ellipsoid(q, rows=(0, 1)), 1),
        (robot.force_ellipsoid(q, rows=(0, 1)), -1),
    ):
        squares = ellipsoid.axes.T @ np.linalg.matrix_power(J @ J.T, power) @ ellipsoid.axes
        np.testing.assert_allclose(squares, np.diag(ellipsoid.lengths**2), atol=1e-12)
    np.testing.assert_allclose(robot.velocity_ellipsoid(q, rows=(0, 1)).lengths, np.linalg.svd(J)[1])
