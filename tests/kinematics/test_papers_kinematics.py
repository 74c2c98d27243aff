"""What the SCARA project and D4.2 say of kinematic control, and what is misprinted there."""

from contextlib import nullcontext

import numpy as np
import pytest

import thunder_py as th
from tests.kinematics.motions import (
    PANDA_START,
    REPORT_Q1,
    REPORT_Q2,
    SCARA_ROWS,
    SCARA_START,
    Swing,
    pose,
    robot,
)
from thunder_py.kinematics import CLIK
from thunder_py.reference import SetPose

Status = th._core.Status
ROWS = [0, 1, 2, 5]
OPTIONS = {"rows": SCARA_ROWS, "orientation": "rotation_vector"}
K_TR = np.array([2000.0, 1300.0, 400.0, 350.0])
K_P = np.array([1000.0, 1000.0, 2000.0, 1.0])
K_D = np.array([10.0, 10.0, 50.0, 1.0])


def test_damping_of_the_second_order_is_of_the_error():
    """S-5: K_D multiplies e'. Printed, it multiplies the velocity, and the error swings without end, or worse."""
    scara = robot("scara")
    reference = Swing(pose(SCARA_START, "scara"))
    q = SCARA_START + np.array([0.02, -0.02, 0.01, 0.0])
    clik = CLIK(scara, K_0=K_P, K_1=10 * K_D, method="inverse", **OPTIONS)
    result = clik.follow(reference, q, 3.0)
    assert result.ok
    assert np.abs(result.error[-1, :3]).max() < 1e-4
    dq, dt, late = np.zeros(4), 1e-3, []
    for k in range(3000):
        desired = reference(k * dt)
        clik.step(k * dt, q, desired, dq)
        e, J = clik.error.copy(), scara.jacobian(q)[ROWS]
        bias = scara.jacobian_dot(q, dq)[ROWS] @ dq
        printed = np.linalg.solve(J, desired.xi_dot[ROWS] + 10 * K_D * (J @ dq) + K_P * e - bias)
        q, dq = q + dt * dq, dq + dt * printed
        late.append(np.abs(e[:3]).max())
        if not late[-1] < 10.0:
            break
    assert not max(late[-500:]) < 0.1


@pytest.mark.parametrize(("q", "stable"), [(REPORT_Q1, False), (REPORT_Q2, False), ([0.0, 2.4, 0.1, 0.0], True)])
def test_transpose_gains_at_one_millisecond(q, stable):
    """S-6: Euler's rule is stable where dt times the largest eigenvalue of J J' K is below 2; not in these poses."""
    q = np.asarray(q)
    J = robot("scara").jacobian(q)[ROWS]
    largest = np.linalg.eigvals(J @ J.T @ np.diag(K_TR)).real.max()
    assert (1e-3 * largest < 2.0) == stable
    clik = CLIK(robot("scara"), K_TR, method="transpose", **OPTIONS)
    target = SetPose(pose(q + 0.01, "scara"))
    with nullcontext() if stable else pytest.warns(RuntimeWarning, match="Lambda of CLIK is too high"):
        at_1_ms = clik.follow(target, q, 3.0).error_norm()
    assert (at_1_ms[-300:].max() < 1e-4) == stable
    if not stable:
        assert at_1_ms[-300:].max() > 0.1
        assert clik.follow(target, q, 3.0, 1e-4).error_norm()[-1] < 1e-4  # ten times faster they work


def servo(degrees, law):
    T = pose(PANDA_START)
    target = Swing(T, axis=(1.0, 2.0, 2.0), offset=np.radians(degrees), angle=0.0, size=0.0)
    return law.follow(target, PANDA_START, 6.0, 5e-3)


def test_visual_servoing_law():
    """D4.2, eq. 124, written out; its error falls as exp(-K t) from below 90 degrees."""
    panda, K_p, K_o = robot("panda"), 2.0, np.array([1.0, 2.0, 3.0])
    clik = CLIK.visual_servoing(panda, K_p, K_o)
    reference = Swing(pose(PANDA_START + 0.1), axis=(1.0, 2.0, 2.0))(0.2)
    T = panda.forward_kinematics(PANDA_START)
    columns = zip(reference.R.T, T[:3, :3].T, strict=True)
    hat = lambda v: np.cross(np.eye(3), v).T  # noqa: E731
    pairs = list(columns)
    L = -0.5 * sum(hat(d) @ hat(a) for d, a in pairs)  # eq. 123
    e_o = 0.5 * sum(np.cross(a, d) for d, a in pairs)
    e = np.r_[reference.p - T[:3, 3], e_o]
    rate = np.r_[reference.xi[:3], L.T @ reference.xi[3:]] + np.r_[np.full(3, K_p), K_o] * e
    rate[3:] = np.linalg.solve(L, rate[3:])
    expected = np.linalg.pinv(panda.jacobian(PANDA_START)) @ rate
    np.testing.assert_allclose(clik.step(0.0, PANDA_START, reference), expected, rtol=1e-10)
    result = servo(70.0, CLIK.visual_servoing(panda, 2.0, 2.0, limits=False))
    assert result.ok
    assert result.error_norm()[-1] < 1e-4 * result.error_norm()[0]


def test_orientation_laws_beyond_a_right_angle():
    """D-28, as T-11: past 90 degrees L^-1 misleads, and the status says so; laws without it arrive."""
    panda = robot("panda")
    result = servo(100.0, CLIK.visual_servoing(panda, 2.0, 2.0))
    assert (result.status == Status.singular).all()
    assert (result.q == PANDA_START).all()
    for orientation in ("axis_angle_plain", "rotation_vector", "quaternion"):
        law = CLIK(panda, 2.0, orientation=orientation, method="damped", damping=0.05, threshold=0.1, limits=False)
        result = servo(100.0, law)
        assert result.ok
        assert result.error_norm()[-1] < 1e-2
