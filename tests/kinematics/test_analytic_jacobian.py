"""Analytic Jacobians of Euler angles: finite differences, CLIK in Euler angles, lecture 16."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import thunder_py as th
from tests.kinematics.motions import PANDA_START, SCARA_ROWS, SCARA_START, pose, robot
from tests.refusals import assert_refused
from thunder_py.kinematics import CLIK, analytic_jacobian, analytic_jacobian_dot, euler_pose

SEQUENCES = ("ZYZ", "ZYX")
#: the tool of PANDA_START points down: ZYZ angles are singular there
TILTED = PANDA_START + np.array([0.0, 0.1, 0.3, 0.2, 0.4, -0.5, 0.2])


def postures(name, sequence, count=20):
    """Random postures of an arm with regular angles."""
    arm, rng = robot(name), np.random.default_rng(3)
    q = rng.uniform(-1.5, 1.5, (200, arm.n))
    second = euler_pose(arm, q, sequence)[:, 4]
    regular = np.abs(np.sin(second) if sequence == "ZYZ" else np.cos(second)) > 0.2
    return q[regular][:count]


@pytest.mark.parametrize("sequence", SEQUENCES)
@pytest.mark.parametrize("frame", [None, 4])
def test_jacobian_by_finite_differences(sequence, frame):
    """x by SciPy's angles, J_a and J_a' by central differences; a batch at once."""
    arm, h = robot("panda"), 1e-6
    q = postures("panda", sequence)
    second = euler_pose(arm, q, sequence, frame)[:, 4]
    q = q[np.abs(np.sin(second) if sequence == "ZYZ" else np.cos(second)) > 0.2]
    T = arm.forward_kinematics(q, frame)
    x = euler_pose(arm, q, sequence, frame)
    np.testing.assert_array_equal(x[:, :3], T[:, :3, 3])
    np.testing.assert_allclose(Rotation.from_euler(sequence, x[:, 3:]).as_matrix(), T[:, :3, :3], atol=1e-12)
    dq = np.random.default_rng(4).normal(size=q.shape)
    ahead, behind = (euler_pose(arm, q + s * dq, sequence, frame) for s in (h, -h))
    rate = np.remainder(ahead - behind + np.pi, 2.0 * np.pi) - np.pi
    J = analytic_jacobian(arm, q, sequence, frame)
    np.testing.assert_allclose(np.einsum("kij,kj->ki", J, dq), rate / (2 * h), atol=1e-7)
    ahead, behind = (analytic_jacobian(arm, q + s * dq, sequence, frame) for s in (h, -h))
    J_dot = analytic_jacobian_dot(arm, q, dq, sequence, frame)
    np.testing.assert_allclose(J_dot, (ahead - behind) / (2 * h), atol=3e-7)


@pytest.mark.parametrize("sequence", SEQUENCES)
def test_clik_of_both_orders_uses_it(sequence):
    """dq = J_a^+ (x'_d + K e) and ddq = J_a^+ (x''_d + K_1 e' + K_0 e - J_a' dq) for a target at rest."""
    arm, q = robot("panda"), TILTED
    goal = arm.forward_kinematics(q + 0.1)
    target = th.reference.SetPose(goal)(0.0)
    e = euler_pose(arm, q + 0.1, sequence) - euler_pose(arm, q, sequence)
    J = analytic_jacobian(arm, q, sequence)
    clik = CLIK(arm, 3.0, orientation=sequence.lower())
    np.testing.assert_allclose(clik.step(0.0, q, target), np.linalg.pinv(J) @ (3.0 * e), atol=1e-12)
    np.testing.assert_allclose(clik.error, e, atol=1e-13)
    dq = np.linspace(-0.3, 0.4, 7)
    second = CLIK(arm, K_0=4.0, K_1=5.0, orientation=sequence.lower(), null_damping=0.0)
    bias = analytic_jacobian_dot(arm, q, dq, sequence) @ dq
    expected = np.linalg.pinv(J) @ (-5.0 * J @ dq + 4.0 * e - bias)
    np.testing.assert_allclose(second.step(0.0, q, target, dq), expected, atol=1e-11)


@pytest.mark.parametrize("sequence", SEQUENCES)
def test_inverse_kinematics_of_lecture_16(sequence):
    """The lecture's q' = J_a^+ K (x_d - x(q)), by SciPy, and the CLIK follow the same curve; e(t) = e(0) exp(-K t)."""
    arm, q0, K = robot("panda"), TILTED, 4.0
    goal = q0 + 0.15
    x_d = euler_pose(arm, goal, sequence)

    def rate(t, q):
        return np.linalg.pinv(analytic_jacobian(arm, q, sequence)) @ (K * (x_d - euler_pose(arm, q, sequence)))

    lecture = solve_ivp(rate, (0.0, 1.5), q0, rtol=1e-9, atol=1e-10)
    clik = CLIK(arm, K, orientation=sequence.lower())
    run = clik.follow(th.reference.SetPose(arm.forward_kinematics(goal)), q0, 1.5, 5e-3, integrator="rk4")
    assert run.ok
    np.testing.assert_allclose(run.q[-1], lecture.y[:, -1], atol=1e-7)
    e0 = x_d - euler_pose(arm, q0, sequence)
    np.testing.assert_allclose(run.error, np.exp(-K * run.t)[:, None] * e0, atol=1e-8)
    assert np.linalg.matrix_rank(analytic_jacobian(arm, run.q[-1], sequence)) == 6


def test_differences_of_angles_go_the_short_way():
    """N-11: across phi = pi the printed x_d - x is a whole turn too large; the CLIK's error is not."""
    arm, K = robot("panda"), 4.0
    q = TILTED.copy()
    phi = euler_pose(arm, q)[3]
    q[0] += np.pi - 0.1 - phi  # the first joint turns about the axis of phi
    goal = q.copy()
    goal[0] += 0.2
    printed = euler_pose(arm, goal)[3] - euler_pose(arm, q)[3]
    assert printed == pytest.approx(0.2 - 2.0 * np.pi, abs=1e-9)
    clik = CLIK(arm, K, orientation="zyz", limits=False)
    clik.step(0.0, q, th.reference.SetPose(arm.forward_kinematics(goal))(0.0))
    assert clik.error[3] == pytest.approx(0.2, abs=1e-9)


def test_scara_has_zyx_but_no_zyz_angles():
    """Its tool points down, so the second ZYZ angle is 180 degrees; the first ZYX angle is its yaw, where J_a = J."""
    scara = robot("scara")
    with pytest.raises(ValueError, match=r"^q must keep the second ZYZ angle away from 0 or 180 deg, .* got 180 deg$"):
        analytic_jacobian(scara, SCARA_START)
    J, J_a = scara.jacobian(SCARA_START), analytic_jacobian(scara, SCARA_START, "ZYX")
    np.testing.assert_allclose(J_a[[0, 1, 2, 3]], J[[0, 1, 2, 5]], atol=1e-14)
    np.testing.assert_allclose(J_a[4:], 0.0, atol=1e-14)
    rows = ("x", "y", "z", "rx")  # of Euler angles rx is the first
    clik = CLIK(scara, 20.0, rows=rows, orientation="zyx", method="inverse")
    yaw = CLIK(scara, 20.0, rows=SCARA_ROWS, orientation="rotation_vector", method="inverse")
    target = th.reference.SetPose(pose(SCARA_START + 0.2, "scara"))(0.0)
    np.testing.assert_allclose(clik.step(0.0, SCARA_START, target), yaw.step(0.0, SCARA_START, target), atol=1e-12)


def test_refusals():
    arm = robot("elbow")
    T = np.eye(4)
    T[:3, :3] = Rotation.from_euler("ZYX", [0.3, np.pi / 2, 0.0]).as_matrix()
    turned = arm.replace(base=T)
    assert_refused(
        (lambda: analytic_jacobian(turned, np.zeros(2), "ZYX"), "q must keep the second ZYX angle away from -90 or..."),
        (lambda: euler_pose("panda", TILTED), "robot must be a Robot, got str: 'panda'"),
        (
            lambda: analytic_jacobian(robot("panda"), TILTED, "XYZ"),
            "sequence must be one of ZYZ, ZYX, got 'XYZ'...",
        ),
        (lambda: analytic_jacobian_dot(robot("panda"), np.zeros(6), np.zeros(7)), "q must have shape..."),
    )
