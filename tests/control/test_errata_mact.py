"""What D4.2's proof of the modified adaptive computed torque prints wrong (errata D-6 to D-8, D-10)."""

import numpy as np
import pytest

import thunder_py as th
from thunder_py.control import MACT
from thunder_py.model.joint_data import Friction
from thunder_py.reference import JointReference, Sinusoid

from .arms import Q0, panda

MOTION = Sinusoid(np.full(7, 0.4), np.linspace(0.3, 0.8, 7), center=Q0, phase=np.arange(7.0))
T, H = 0.7, 1e-5


def jerk() -> np.ndarray:
    return (MOTION(T + H).ddq - MOTION(T - H).ddq) / (2 * H)


def torque(robot: th.Robot, t: float) -> np.ndarray:
    return robot.inverse_dynamics(*MOTION(t))


def rates(robot: th.Robot) -> tuple[np.ndarray, ...]:
    """M_dot, C, C_dot dq + G_dot and tau_dot along the motion."""
    now, before, after = MOTION(T), MOTION(T - H), MOTION(T + H)
    C = robot.coriolis_matrix(now.q, now.dq)
    C_dot = (robot.coriolis_matrix(after.q, after.dq) - robot.coriolis_matrix(before.q, before.dq)) / (2 * H)
    G_dot = (robot.gravity_vector(after.q) - robot.gravity_vector(before.q)) / (2 * H)
    tau_dot = (torque(robot, T + H) - torque(robot, T - H)) / (2 * H)
    return C + C.T, C, C_dot @ now.dq + G_dot, tau_dot


def test_third_derivative_of_q() -> None:
    """D-7: M_dot + C multiplies ddq; with the printed M_dot - C it is another jerk."""
    robot, now = panda(), MOTION(T)
    M_dot, C, rest, tau_dot = rates(robot)
    M = robot.mass_matrix(now.q)
    np.testing.assert_allclose(np.linalg.solve(M, tau_dot - (M_dot + C) @ now.ddq - rest), jerk(), atol=1e-3)
    assert np.abs(np.linalg.solve(M, tau_dot - (M_dot - C) @ now.ddq - rest) - jerk()).max() > 1.0


def regressor_error_rate(guess: th.Robot) -> np.ndarray:
    """d/dt of Y pitilde with constant pitilde."""
    error = panda().parameters - guess.parameters
    return (panda().regressor(*MOTION(T + H)) - panda().regressor(*MOTION(T - H))) @ error / (2 * H)


def test_rate_of_the_prediction_error() -> None:
    """D-8: the estimated M_dot + C multiplies ddq, not M + C."""
    guess, now = panda().with_parameters(0.7 * panda().parameters), MOTION(T)
    M_dot, C, rest, _ = rates(guess)
    tau_dot, M = rates(panda())[3], guess.mass_matrix(now.q)
    expected = regressor_error_rate(guess)
    np.testing.assert_allclose(tau_dot - (M @ jerk() + (M_dot + C) @ now.ddq + rest), expected, atol=1e-4)
    assert np.abs(tau_dot - (M @ jerk() + (M + C) @ now.ddq + rest) - expected).max() > 1.0


def test_second_derivative_of_the_lyapunov_function() -> None:
    """D-6: the second term of V'' has a factor of 2, as every derivative of a square."""
    guess = panda().with_parameters(0.7 * panda().parameters)
    error, R_t, gamma = panda().parameters - guess.parameters, np.diag(np.linspace(0.5, 2.0, 7)), 0.8
    u = np.sin(np.arange(error.size))  # any motion of the estimate

    def second_term(t: float) -> float:
        at = panda().regressor(*MOTION(t)) @ (error - (t - T) * u)
        return float(-gamma * at @ R_t @ at)

    Y = panda().regressor(*MOTION(T))
    printed = -gamma * error @ Y.T @ R_t @ (regressor_error_rate(guess) - Y @ u)
    rate = (second_term(T + H) - second_term(T - H)) / (2 * H)
    assert rate == pytest.approx(2.0 * printed, rel=1e-5)
    assert abs(rate - printed) > 0.1 * abs(rate)


def test_friction_at_the_actual_velocity() -> None:
    """D-10: Y_r pi of eq. 63 has D(dq); with D(dq_d) the error torque K_v e' + K_p e is not all there is."""
    robot = panda().replace(friction=Friction(terms=("viscous", "coulomb"), coefficients=np.full((7, 2), 0.8)))
    law = MACT(robot, 30.0, 10.0, adaptation=None)
    rng = np.random.default_rng(0)
    q, dq, d = rng.normal(size=7), rng.normal(size=7), JointReference(*(rng.normal(size=7) for _ in range(3)))
    e, e_dot = d.q - q, d.dq - dq
    e_ddot = d.ddq - robot.forward_dynamics(q, dq, law.step(0.0, q, dq, d))
    C = robot.coriolis_matrix(q, dq)
    V_dot = 30.0 * e @ e_dot + e_dot @ robot.mass_matrix(q) @ e_ddot + 0.5 * e_dot @ (C + C.T) @ e_dot
    assert V_dot == pytest.approx(-10.0 * e_dot @ e_dot, rel=1e-9)
    D_printed = robot.friction_regressor(d.dq) - robot.friction_regressor(dq)
    assert abs(e_dot @ D_printed @ robot.parameters) > 0.1  # what it would add to V'
    assert robot.friction_torque(dq).shape == (7,)  # D is a vector, not a matrix
