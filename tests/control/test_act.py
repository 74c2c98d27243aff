import numpy as np
import pytest
from scipy.linalg import solve_continuous_lyapunov

import thunder_py as th
from tests.refusals import assert_refused
from thunder_py.control import ACT, NaturalAdaptation, Status
from thunder_py.reference import JointReference

from .arms import elbow, elbow_motion

K_P, K_V, DT = 25.0, 10.0, 1e-4


def wrong() -> th.Robot:
    return elbow().with_parameters(0.85 * elbow().parameters)


def lyapunov_gain(n: int, Q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """P and B."""
    eye, zero = np.eye(n), np.zeros((n, n))
    A = np.block([[zero, eye], [-K_P * eye, -K_V * eye]])
    return solve_continuous_lyapunov(A.T, -Q), np.vstack([zero, eye])


@pytest.mark.parametrize("seed", range(4))
def test_law_and_lyapunov_identity(seed: int) -> None:
    """V = x' P x + pitilde' Gamma pitilde falls as -x' Q x when the regressor is that of the acceleration."""
    rng = np.random.default_rng(seed)
    Q = np.diag([2.0, 1.0, 0.5, 1.0])
    law = ACT(wrong(), K_P, K_V, adaptation=2.0, Q=Q, cutoff=1e6)  # so high that the filter passes everything
    q, dq = rng.normal(size=2), rng.normal(size=2)
    d = JointReference(*(rng.normal(size=2) for _ in range(3)))
    tau = law.step(0.0, q, dq, d)
    e, e_dot = d.q - q, d.dq - dq
    y = d.ddq + K_V * e_dot + K_P * e
    np.testing.assert_allclose(tau, wrong().inverse_dynamics(q, dq, y), atol=1e-9)
    ddq = elbow().forward_dynamics(q, dq, tau)
    velocity = dq + DT * ddq
    law.step(DT, q, velocity, d)
    before = law.parameters
    law.step(2 * DT, q, velocity, d)
    rate = (law.parameters - before) / DT

    e_dot = d.dq - velocity
    P, B = lyapunov_gain(2, Q)
    x = np.concatenate([e, e_dot])
    W = elbow().regressor(q, dq + 0.5 * DT * ddq, ddq)
    M = wrong().mass_matrix(q)
    np.testing.assert_allclose(rate, W.T @ np.linalg.solve(M, B.T @ P @ x) / 2.0, rtol=1e-5, atol=1e-7)

    error = elbow().parameters - wrong().parameters
    Y = W  # of the motion that the law was at
    x_dot = np.concatenate([e_dot, -K_P * e - K_V * e_dot + np.linalg.solve(M, Y @ error)])
    V_dot = 2.0 * x @ P @ x_dot - 2.0 * error @ (2.0 * rate)
    assert V_dot == pytest.approx(-x @ Q @ x, rel=1e-3, abs=1e-3)


def test_impedance_form_is_the_printed_one() -> None:
    law = ACT(wrong(), K_p=K_P, K_d=K_V, adaptation=1.0)
    rng = np.random.default_rng(3)
    q, dq, d = rng.normal(size=2), rng.normal(size=2), JointReference(*(rng.normal(size=2) for _ in range(3)))
    expected = wrong().inverse_dynamics(q, dq, d.ddq) + K_V * (d.dq - dq) + K_P * (d.q - q)
    np.testing.assert_allclose(law.step(0.0, q, dq, d), expected, atol=1e-9)


@pytest.mark.filterwarnings("ignore:the run diverged:RuntimeWarning")
def test_singular_mass_matrix_ends_in_a_status() -> None:
    """What the paper holds against the law; and the natural law keeps the mass matrix definite."""
    robot = elbow().with_parameters(1e-9 * elbow().parameters)
    law = ACT(robot, K_P, K_V, adaptation=1e-9)
    run = th.simulate(elbow(), law, elbow_motion(), 1.0, q0=[2.0, 1.0])
    assert run.status[-1] == Status.diverged
    assert np.isfinite(run.tau).all()
    natural = ACT(physical_elbow(), K_P, K_V, adaptation=NaturalAdaptation(1.0))
    kept = th.simulate(physical_elbow(1.0), natural, elbow_motion(), 5.0)
    assert (np.linalg.eigvalsh(physical_elbow().with_parameters(kept.parameters[-1]).mass_matrix([0.3, 0.9])) > 0).all()


def physical_elbow(part: float = 0.7) -> th.Robot:
    """The elbow with bodies that have an extent in all directions."""
    parameters = elbow().parameters.copy().reshape(2, -1)
    parameters[:, 4] += 0.1
    parameters[:, [7, 9]] += 0.2
    return elbow().with_parameters(part * parameters.ravel())


def test_refusals() -> None:
    assert_refused(
        ({"K_0": 0.0}, "K_0 must be positive definite..."),
        ({"K_0": None, "K_1": None, "K_p": 30.0, "K_d": 0.0}, "K_d must be positive definite..."),
        ({"Q": -1.0}, "Q must be positive definite..."),
        ({"K_p": 30.0}, "gains must be K_0 and K_1, or K_p and K_d, got K_0 and K_1 and K_p"),
        ({"route": "other"}, "route must be one of..."),
        ({"cutoff": -1.0}, "cutoff must be positive..."),
        call=lambda **changes: ACT(elbow(), **{"K_0": 30.0, "K_1": 10.0, "adaptation": 1.0, **changes}),
    )
