import numpy as np
import pytest

from tests.kinematics.motions import PANDA_START, robot
from tests.refusals import assert_refused
from thunder_py.kinematics import joint_torque, wrench_from_torque

RNG = np.random.default_rng(3)


def test_power_is_the_same_at_the_joints_and_at_the_frame():
    panda = robot("panda")
    q, dq, F = RNG.normal(size=(5, 7)), RNG.normal(size=(5, 7)), RNG.normal(size=(5, 6))
    for frame in (None, 4):
        tau = joint_torque(panda, q, F, frame)
        xi = np.einsum("kij,kj->ki", panda.jacobian(q, frame), dq)
        np.testing.assert_allclose((tau * dq).sum(axis=1), (F * xi).sum(axis=1), rtol=1e-12)


def test_wrench_from_torque():
    panda, scara = robot("panda"), robot("scara")
    q, F = RNG.normal(size=(4, 3, 7)), RNG.normal(size=(4, 3, 6))
    np.testing.assert_allclose(wrench_from_torque(panda, q, joint_torque(panda, q, F)), F, atol=1e-9)
    tau = RNG.normal(size=7)  # not all of it is a wrench's: the rest is no further away
    best = wrench_from_torque(panda, PANDA_START, tau)
    rest = tau - joint_torque(panda, PANDA_START, best)
    np.testing.assert_allclose(panda.jacobian(PANDA_START) @ rest, 0.0, atol=1e-13)
    # the SCARA's joints feel no moment about x and y
    F = wrench_from_torque(scara, [0.2, 1.0, 0.1, 0.3], joint_torque(scara, [0.2, 1.0, 0.1, 0.3], [1, 2, 3, 4, 5, 6]))
    np.testing.assert_allclose(F, [1, 2, 3, 0, 0, 6], atol=1e-12)


@pytest.mark.parametrize("bend", [1e-4, 1e-6, 1e-8])
def test_next_to_a_singular_posture_the_wrench_still_comes_back(bend):
    """Errors grow as one over the bend of the elbow; at none the force along the stretched arm does not show."""
    scara, F = robot("scara"), np.array([1.0, 2.0, 3.0, 0.0, 0.0, 6.0])
    near, stretched = np.array([0.3, bend, 0.1, 0.2]), np.array([0.3, 0.0, 0.1, 0.2])
    tau = joint_torque(scara, near, F)
    back = wrench_from_torque(scara, near, tau)
    # what one rounding of the torques does, by the least of the four singular values
    rounding = np.finfo(float).eps * np.linalg.norm(tau) / np.linalg.svd(scara.jacobian(near), compute_uv=False)[3]
    assert rounding * bend == pytest.approx(1.33e-14, rel=0.01)
    np.testing.assert_allclose(back, F, rtol=0.0, atol=4.0 * rounding)
    along = scara.forward_kinematics(stretched)[:3, 3] * [1, 1, 0]
    along /= np.linalg.norm(along)
    held = wrench_from_torque(scara, stretched, joint_torque(scara, stretched, F))
    np.testing.assert_allclose(held[:3], F[:3] - along * (along @ F[:3]), atol=1e-12)
    assert held[5] == pytest.approx(6.0)


def test_batches_that_do_not_go_together():
    panda, q = robot("panda"), np.zeros((5, 7))
    assert_refused(
        (lambda: joint_torque(panda, q, np.zeros((4, 6))), "q and wrench must have batch axes that broadcast, got..."),
        (lambda: wrench_from_torque(panda, q, np.zeros((4, 7))), "q and tau must have batch axes that broadcast, g..."),
    )
    assert joint_torque(panda, q, np.zeros((4, 1, 6))).shape == (4, 5, 7)


def test_refusals():
    assert_refused(
        ([1.0, 2.0], "wrench must have shape (..., 6), got (2,)"),
        ([np.nan] * 6, "wrench must be finite, got..."),
        ("force", "wrench must be numbers..."),
        call=lambda wrench: joint_torque(robot("panda"), PANDA_START, wrench),
    )
