"""Modified adaptive computed torque: the law, its Lyapunov identity, and what the errata say of it."""

from typing import Any

import numpy as np
import pytest
from scipy.integrate import trapezoid

import thunder_py as th
from tests.refusals import assert_refused
from thunder_py.control import MACT, Status
from thunder_py.reference import JointReference, SetPoint, Sinusoid

from .arms import Q0, elbow, elbow_motion, panda

K_P, K_V = np.array([30.0, 30, 30, 30, 15, 15, 3]), np.array([15.0, 15, 15, 15, 7.5, 7.5, 1.5])
DT = 1e-6


def guess(robot: th.Robot, part: float = 0.85) -> th.Robot:
    return robot.with_parameters(part * robot.parameters)


def random_state(seed: int) -> tuple[np.ndarray, np.ndarray, JointReference]:
    rng = np.random.default_rng(seed)
    q, dq = rng.normal(size=7), rng.normal(size=7)
    return q, dq, JointReference(*(rng.normal(size=7) for _ in range(3)))


@pytest.mark.parametrize("seed", range(5))
def test_law_and_lyapunov_identity(seed: int) -> None:
    """V' = -e'' K_d e' for gamma = 0, whatever the state and the estimate (D4.2, eq. 67)."""
    robot, Gamma = panda(), np.linspace(1.0, 5.0, 70)
    law = MACT(guess(robot), K_P, K_V, adaptation=Gamma)
    q, dq, d = random_state(seed)
    e, e_dot = d.q - q, d.dq - dq
    tau = law.step(0.0, q, dq, d)
    assert law.status is Status.ok
    Y_r = robot.slotine_li_regressor(q, dq, d.dq, d.ddq)
    np.testing.assert_allclose(tau, Y_r @ law.parameters + K_V * e_dot + K_P * e, atol=1e-10)

    error = robot.parameters - law.parameters
    before = law.parameters
    law.step(DT, q, dq, d)
    rate = (law.parameters - before) / DT
    e_ddot = d.ddq - robot.forward_dynamics(q, dq, tau)
    C = robot.coriolis_matrix(q, dq)
    V_dot = e @ (K_P * e_dot) + e_dot @ robot.mass_matrix(q) @ e_ddot + 0.5 * e_dot @ (C + C.T) @ e_dot
    V_dot -= error @ (Gamma * rate)
    assert V_dot == pytest.approx(-e_dot @ (K_V * e_dot), rel=1e-5)


@pytest.mark.parametrize("route", ["regressor", "acceleration"])
def test_prediction_error_is_w_pitilde(route: str) -> None:
    """With the true parameters there is none; its share in V' is -gamma (W pitilde)' R_t (W pitilde)."""
    motion = Sinusoid(np.full(7, 0.3), np.linspace(0.2, 0.5, 7), center=Q0)
    sizes = []
    for dt in (2e-3, 1e-3):
        still = MACT(panda(), K_P, K_V, adaptation=1e12, gamma=1.0, route=route)
        run = th.simulate(panda(), still, motion, 2.0, dt=dt)
        sizes.append(np.abs(run.signals["prediction_error"]).max())
    torque = np.abs(run.tau).max()
    if route == "regressor":
        assert sizes[1] < 1e-4 * torque
        assert sizes[0] / sizes[1] > 3.0  # second order in dt: only the quadrature is left
    else:
        assert sizes[1] < 0.05 * torque  # the filter of a product is not the product of the filtered

    robot = guess(panda())
    law = MACT(robot, K_P, K_V, adaptation=50.0, gamma=2.0, R_t=0.5, route=route)
    run = th.simulate(panda(), law, motion, 1.0, dt=1e-3)
    for k in range(100, 900, 100):
        d = motion(run.t[k])
        e_dot = d.dq - run.dq[k]
        Y_r = panda().slotine_li_regressor(run.q[k], run.dq[k], d.dq, d.ddq)
        rate = (run.parameters[k + 1] - run.parameters[k]) / 1e-3
        error = panda().parameters - run.parameters[k]
        epsilon = run.signals["prediction_error"][k]
        share = error @ (50.0 * rate) - error @ Y_r.T @ e_dot
        assert share == pytest.approx(
            2.0 * 0.5 * epsilon @ epsilon, rel=1e-3 if route == "regressor" else 0.3, abs=1e-3
        )


def test_filtered_regressor_signs() -> None:
    """Errata D-13: by parts with the signs that D4.2 prints, y is not the filtered torque."""
    robot, lam = elbow(), 6.0
    run = th.simulate(robot, MACT(robot, 20.0, 5.0, adaptation=None), elbow_motion(), 1.5, dt=5e-4, q0=[0.9, 0.3])
    t, q, dq = run.t, run.q, run.dq
    phi = lam * np.exp(-lam * (t[-1] - t))
    M, C, G = robot.mass_matrix(q), robot.coriolis_matrix(q, dq), robot.gravity_vector(q)
    momentum = np.einsum("kij,kj->ki", M, dq)
    M_dot_dq = np.einsum("kij,kj->ki", C + C.transpose(0, 2, 1), dq)
    rest = np.einsum("kij,kj->ki", C, dq) + G

    def integral(values: np.ndarray) -> np.ndarray:
        return np.asarray(trapezoid(values, t, axis=0))

    torque = 0.5 * (run.tau + np.roll(run.tau, 1, axis=0))  # held over a period
    torque[0] = run.tau[0]
    y = integral(phi[:, None] * torque)
    ends = phi[-1] * momentum[-1] - phi[0] * momentum[0]
    ours = ends - integral(phi[:, None] * (lam * momentum + M_dot_dq - rest))
    printed = ends - integral(phi[:, None] * (-lam * momentum + M_dot_dq + rest))  # + and d/dt
    np.testing.assert_allclose(ours, y, atol=1e-2)
    assert np.abs(printed - y).max() > 10.0


@pytest.mark.parametrize("route", ["regressor", "acceleration"])
def test_set_point_needs_the_prediction_error(route: Any) -> None:
    """Errata D-9: at rest e' = 0 moves nothing; gamma > 0 removes the offset, with (y, W) of either route."""
    goal = np.array([0.8, 0.4])
    wrong = elbow().with_parameters(0.5 * elbow().parameters)
    offsets = []
    for gamma in (0.0, 1.0):
        law = MACT(wrong, 30.0, 10.0, adaptation=1.0, gamma=gamma, route=route)
        run = th.simulate(elbow(), law, SetPoint(goal), 30.0, q0=[0.3, 0.1], log_every=10)
        offsets.append(run.steady_state_error())
    assert offsets[0] > 0.05
    assert offsets[1] < 1e-3


def test_refusals() -> None:
    assert_refused(
        ({"K_p": -1.0}, "K_p must be positive definite..."),
        ({"K_d": [1.0, 2.0]}, "K_d must be a number, 7 numbers..."),
        ({"K_p": np.eye(7) + np.eye(7, k=1)}, "K_p must be symmetric..."),
        ({"gamma": -1.0}, "gamma must not be negative..."),
        ({"R_t": 0.0}, "R_t must be positive definite..."),
        ({"cutoff": 0.0}, "cutoff must be positive..."),
        ({"route": "magic"}, "route must be one of..."),
        ({"adaptation": "link7"}, "adaptation must be a GradientAdaptation..."),
        call=lambda **changes: MACT(panda(), **{"K_p": 30.0, "K_d": 10.0, "adaptation": 1.0, **changes}),
    )
