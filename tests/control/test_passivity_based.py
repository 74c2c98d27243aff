"""Passivity-based control: the formula, its two Lyapunov identities, convergence (lecture 32)."""

from __future__ import annotations

import numpy as np
import pytest

import thunder_py as th
from thunder_py.control import PassivityBased
from thunder_py.reference import JointReference

from .arms import elbow, elbow_motion, panda
from .laws import ARMS, arm, moved, random_state, rate, spd


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


def test_is_slotine_li_that_does_not_adapt() -> None:
    robot, rng = arm("panda"), np.random.default_rng(2)
    ours = PassivityBased(robot, 4.0, 10.0)
    theirs = th.SlotineLi(robot, 4.0, 10.0, adaptation=None)
    q, dq, d = random_state(7, rng)
    np.testing.assert_allclose(ours.step(0.0, q, dq, d), theirs.step(0.0, q, dq, d), rtol=1e-10, atol=1e-9)


def s_of(Lambda: np.ndarray, q: np.ndarray, dq: np.ndarray, d: JointReference) -> np.ndarray:
    return d.dq - dq + Lambda @ (d.q - q)


@pytest.mark.parametrize("name", ARMS)
def test_lyapunov_derivatives(name: str) -> None:
    """1/2 s' M s falls as -s' K s; with e' Lambda K e added, as -de' K de - e' Lambda K Lambda e."""
    robot, rng = arm(name), np.random.default_rng(3)
    K = spd(robot.n, rng, 10.0)
    Lambda = K @ K / 100.0 + np.eye(robot.n)  # commutes with K, and is not diagonal
    law = PassivityBased(robot, Lambda, K)
    for _ in range(5):
        q, dq, d = random_state(robot.n, rng)
        ddq = robot.forward_dynamics(q, dq, law.step(0.0, q, dq, d))

        def W(q: np.ndarray, dq: np.ndarray, dt: float, d: JointReference = d) -> float:
            s = s_of(Lambda, q, dq, moved(d, dt))
            return 0.5 * float(s @ robot.mass_matrix(q) @ s)

        def V(q: np.ndarray, dq: np.ndarray, dt: float, d: JointReference = d) -> float:
            e = moved(d, dt).q - q
            return W(q, dq, dt, d) + float(e @ Lambda @ K @ e)

        s, e, e_dot = s_of(Lambda, q, dq, d), d.q - q, d.dq - dq
        assert rate(W, q, dq, ddq) == pytest.approx(-s @ K @ s, rel=1e-5)
        assert rate(V, q, dq, ddq) == pytest.approx(-e_dot @ K @ e_dot - e @ Lambda @ K @ Lambda @ e, rel=1e-5)


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


def test_converges_exponentially() -> None:
    start = elbow_motion()(0.0)
    law = PassivityBased(elbow(), 5.0, 15.0)
    run = th.simulate(elbow(), law, elbow_motion(), 6.0, 5e-4, q0=start.q + np.array([0.8, -0.6]))
    error = run.error_norm()
    assert error[-1] < 1e-3
    assert error[run.t > 4.0].max() < 2e-3 * error[0]


def test_panda_follows() -> None:
    motion = th.reference.Sinusoid([0.3] * 7, [0.3] * 7, center=[0.0, -0.3, 0.0, -2.0, 0.0, 1.8, 0.7])
    law = PassivityBased(panda(), 5.0, [10.0] * 4 + [2.0] * 3)
    run = th.simulate(panda(), law, motion, 5.0, q0=motion(0.0).q + 0.2)
    assert run.error_norm()[-1] < 2e-3


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
