"""Robust unit-vector control: the formula, the Lyapunov equation, payloads, chattering (SCARA report, section 4.1)."""

import numpy as np
import pytest
from scipy.linalg import solve_continuous_lyapunov

import thunder_py as th
from thunder_py.control import RobustUnitVector
from thunder_py.reference import JointReference

from .arms import elbow, elbow_motion
from .laws import ARMS, arm, moved, random_state, rate, rest, spd

PAYLOAD = th.Payload(1.0, com=(0.3, 0.0, 0.0))
RHO, EPSILON = 80.0, 0.05


def robust(epsilon: float = EPSILON) -> RobustUnitVector:
    """For the elbow; Q weighs positions, so that the layer is stiff as well as damped."""
    return RobustUnitVector(elbow(), 60.0, 15.0, RHO, epsilon, Q=[100.0, 100.0, 1.0, 1.0])


def lyapunov_matrix(K_0: np.ndarray, K_1: np.ndarray, Q: np.ndarray) -> np.ndarray:
    n = len(K_0)
    H = np.block([[np.zeros((n, n)), np.eye(n)], [-K_0, -K_1]])
    return np.asarray(solve_continuous_lyapunov(H.T, -Q))


@pytest.mark.parametrize("name", ARMS)
def test_equals_the_law_written_out(name: str) -> None:
    robot, rng = arm(name), np.random.default_rng(1)
    n = robot.n
    K_0, K_1, Q = spd(n, rng, 50.0), spd(n, rng, 5.0), spd(2 * n, rng)
    P = lyapunov_matrix(K_0, K_1, Q)
    states = [random_state(n, rng) for _ in range(6)]
    sizes = [np.linalg.norm(P[n:] @ np.r_[d.q - q, d.dq - dq]) for q, dq, d in states]
    epsilon = float(np.median(sizes))
    law = RobustUnitVector(robot, K_0, K_1, 3.0, epsilon, Q=Q)
    np.testing.assert_allclose(law.lyapunov_matrix, P, atol=1e-11)
    assert min(sizes) < epsilon < max(sizes)  # both branches
    for (q, dq, d), size in zip(states, sizes, strict=True):
        e, e_dot = d.q - q, d.dq - dq
        z = P[n:] @ np.r_[e, e_dot]
        w = 3.0 * z / (size if size >= epsilon else epsilon)
        tau = robot.mass_matrix(q) @ (d.ddq + K_1 @ e_dot + K_0 @ e + w) + rest(robot, q, dq)
        np.testing.assert_allclose(law.step(0.0, q, dq, d), tau, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(law.signals["z"], z, atol=1e-11)
        np.testing.assert_allclose(law.signals["w"], w, atol=1e-11)


def test_lyapunov_derivative() -> None:
    """xi' P xi falls as -xi' Q xi + 2 z' (eta - w), eta what the model's faults do; so it falls where rho > |eta|."""
    robot, rng = arm("rr_elbow_craig"), np.random.default_rng(2)
    nominal = robot.with_parameters(0.8 * robot.parameters)
    K_0, K_1, Q = spd(2, rng, 50.0), spd(2, rng, 5.0), spd(4, rng)
    P = lyapunov_matrix(K_0, K_1, Q)
    law = RobustUnitVector(nominal, K_0, K_1, 400.0, 1e-6, Q=Q)
    for _ in range(8):
        q, dq, d = random_state(2, rng)
        tau = law.step(0.0, q, dq, d)
        ddq, xi = robot.forward_dynamics(q, dq, tau), np.r_[d.q - q, d.dq - dq]
        z, w = law.signals["z"], law.signals["w"]
        eta = nominal.forward_dynamics(q, dq, tau) - ddq

        def V(q: np.ndarray, dq: np.ndarray, dt: float, d: JointReference = d) -> float:
            later = moved(d, dt)
            xi = np.r_[later.q - q, later.dq - dq]
            return float(xi @ P @ xi)

        V_dot = rate(V, q, dq, ddq)
        assert V_dot == pytest.approx(-xi @ Q @ xi + 2.0 * z @ (eta - w), rel=1e-5)
        if np.linalg.norm(eta) < 400.0:
            assert V_dot < 0.0


def tracking(law: th._core.JointController, dt: float = 1e-3) -> th.SimulationResult:
    start = elbow_motion()(0.0)
    return th.simulate(elbow(), law, elbow_motion(), 6.0, dt, q0=start.q, dq0=start.dq, payloads=[PAYLOAD])


def sign_changes(tau: np.ndarray) -> int:
    """Changes of the direction in which torques move, all joints together."""
    return int((np.diff(np.sign(np.diff(tau, axis=0)), axis=0) != 0).sum())


class LayerOnZ:
    """The report as printed: the layer redefines z, and w = rho z / |z| of that."""

    def __init__(self, robot: th.Robot) -> None:
        self.inner, self.robot = robust(), robot
        self.signals = {"error": np.zeros(2)}

    def step(self, t: float, q: np.ndarray, dq: np.ndarray, d: JointReference) -> np.ndarray:
        tau = self.inner.step(t, q, dq, d)
        z, w = self.inner.signals["z"], self.inner.signals["w"]
        size = np.linalg.norm(z)
        z = RHO * z / size if size >= EPSILON else RHO / EPSILON * z
        printed = RHO * z / np.linalg.norm(z) if size > 0 else 0 * z
        return np.asarray(tau + self.robot.mass_matrix(q) @ (printed - w))


def test_printed_layer_does_not_end_chattering() -> None:
    """Errata S-5: z is scaled, its direction, which is all that w takes, is not."""
    printed = tracking(LayerOnZ(elbow()), 2e-3)  # type: ignore[arg-type]
    ours = tracking(robust(), 2e-3)
    assert sign_changes(printed.tau[1000:]) > 500
    assert sign_changes(ours.tau[1000:]) < 40
