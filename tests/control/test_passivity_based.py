"""Passivity-based control: the formula, its two Lyapunov identities, convergence (lecture 32)."""

import numpy as np
import pytest

from thunder_py.control import PassivityBased
from thunder_py.reference import JointReference

from .laws import ARMS, arm, random_state, spd


@pytest.mark.parametrize("name", ARMS)
def test_equals_the_law_written_out(name: str) -> None:
    robot, rng = arm(name), np.random.default_rng(1)
    Lambda, K = spd(robot.n, rng, 5.0), spd(robot.n, rng, 10.0)
    law = PassivityBased(robot, Lambda, K)
    for _ in range(5):
        q, dq, d = random_state(robot.n, rng)
        e, e_dot = d.q - q, d.dq - dq
        v, a = d.dq + Lambda @ e, d.ddq + Lambda @ e_dot
        C = np.einsum("ijk,k->ij", robot.christoffel_symbols(q), dq)
        expected = robot.mass_matrix(q) @ a + C @ v + robot.friction_torque(dq) + robot.gravity_vector(q) + K @ (v - dq)
        np.testing.assert_allclose(law.step(0.0, q, dq, d), expected, rtol=1e-10, atol=1e-9)
        np.testing.assert_allclose(law.signals["s"], v - dq, atol=1e-12)


def s_of(Lambda: np.ndarray, q: np.ndarray, dq: np.ndarray, d: JointReference) -> np.ndarray:
    return d.dq - dq + Lambda @ (d.q - q)


def test_closed_loop_is_of_first_order_in_s() -> None:
    """Errata N-8: M ds + (C + K) s = 0, where lecture 32 prints M dds."""
    robot, rng = arm("rr_elbow_craig"), np.random.default_rng(4)
    law = PassivityBased(robot, 3.0, 10.0)
    q, dq, d = random_state(2, rng)
    ddq = robot.forward_dynamics(q, dq, law.step(0.0, q, dq, d))
    s, Lambda = law.signals["s"], 3.0 * np.eye(2)
    s_dot = d.ddq - ddq + 3.0 * (d.dq - dq)
    M, C = robot.mass_matrix(q), robot.coriolis_matrix(q, dq)
    np.testing.assert_allclose(M @ s_dot + (C + 10.0 * np.eye(2)) @ s, 0.0, atol=1e-9)
    # and e = 0 leaves s = de, not q: the notes' equivalence of (e, s) = 0 and (e, de) = 0
    np.testing.assert_allclose(s_of(Lambda, d.q, dq, d), d.dq - dq)


def test_error_of_lecture_34_has_the_error_velocity() -> None:
    """Errata N-9: r = dq~ + Lambda q~ with q~ = q - q_d, our -s. Printed, dq + Lambda q~ brakes a perfect motion."""
    robot, rng = arm("rr_elbow_craig"), np.random.default_rng(5)
    _, _, d = random_state(2, rng)
    law = PassivityBased(robot, 3.0, 10.0)
    tau = law.step(0.0, d.q, d.dq, d)  # on the reference: nothing to correct
    np.testing.assert_allclose(robot.forward_dynamics(d.q, d.dq, tau), d.ddq, atol=1e-9)
    printed = tau - 10.0 * d.dq  # r = dq there; a = ddq_d and v = dq_d as before
    assert np.abs(robot.forward_dynamics(d.q, d.dq, printed) - d.ddq).max() > 1.0
    q, dq, d = random_state(2, rng)
    law.step(0.0, q, dq, d)
    np.testing.assert_allclose(-law.signals["s"], (dq - d.dq) + 3.0 * (q - d.q), atol=1e-12)
