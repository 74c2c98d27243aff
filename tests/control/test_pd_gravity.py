"""PD control with gravity compensation: the formula, the Lyapunov identity, where motions end (lecture 31)."""

import numpy as np
import pytest

import thunder_py as th
from thunder_py.control import PDGravity
from thunder_py.reference import JointReference, SetPoint

from .arms import elbow
from .laws import ARMS, arm, random_state, rate, spd


@pytest.mark.parametrize("name", ARMS)
@pytest.mark.parametrize("gravity", ["actual", "desired"])
def test_equals_the_law_written_out(name: str, gravity: str) -> None:
    robot, rng = arm(name), np.random.default_rng(1)
    K_p, K_d = spd(robot.n, rng, 50.0), spd(robot.n, rng, 5.0)
    law = PDGravity(robot, K_p, K_d, gravity=gravity)  # type: ignore[arg-type]
    for _ in range(5):
        q, dq, d = random_state(robot.n, rng)
        G = robot.gravity_vector(q if gravity == "actual" else d.q)
        np.testing.assert_allclose(law.step(0.0, q, dq, d), K_p @ (d.q - q) + K_d @ (d.dq - dq) + G, atol=1e-10)


def energy_rate(robot: th.Robot, law: PDGravity, K_p: np.ndarray, rng: np.random.Generator) -> tuple[float, np.ndarray]:
    """V_dot of 1/2 dq' M dq + 1/2 e' K_p e at a random state, and the velocity there."""
    q, dq, d = random_state(robot.n, rng)
    goal = JointReference(d.q, 0 * d.q, 0 * d.q)
    ddq = robot.forward_dynamics(q, dq, law.step(0.0, q, dq, goal))

    def V(q: np.ndarray, dq: np.ndarray, dt: float) -> float:
        e = goal.q - q
        return 0.5 * float(dq @ robot.mass_matrix(q) @ dq + e @ K_p @ e)

    return rate(V, q, dq, ddq), dq


@pytest.mark.parametrize("name", ARMS)
def test_lyapunov_derivative(name: str) -> None:
    """V_dot = -dq' (K_d dq + friction); errata N-8: the printed line before it lacks a factor dq."""
    robot, rng = arm(name), np.random.default_rng(2)
    K_p, K_d = spd(robot.n, rng, 50.0), spd(robot.n, rng, 5.0)
    law = PDGravity(robot, K_p, K_d)
    for _ in range(5):
        V_dot, dq = energy_rate(robot, law, K_p, rng)
        assert V_dot == pytest.approx(-dq @ (K_d @ dq + robot.friction_torque(dq)), rel=1e-6)


def test_viscous_friction_acts_on_the_velocity() -> None:
    """Errata N-8: V_dot with -B(q) where -B(q) dq belongs is another number, and no quadratic form."""
    robot, rng = arm("rr_elbow_craig"), np.random.default_rng(3)
    K_p, K_d = spd(2, rng, 50.0), spd(2, rng, 5.0)
    viscous = robot.replace(
        friction=th.model.description.Friction(terms=("viscous",), coefficients=np.array([[2.0], [3.0]]))
    )
    V_dot, dq = energy_rate(viscous, PDGravity(viscous, K_p, K_d), K_p, rng)
    B = np.diag([2.0, 3.0])
    assert V_dot == pytest.approx(-dq @ (B + K_d) @ dq, rel=1e-6)
    assert abs(V_dot - (-dq @ B @ np.ones(2) - dq @ K_d @ dq)) > 0.1  # -B in the place of -B dq


def test_rest_anywhere_else_is_no_equilibrium() -> None:
    """LaSalle: dq = 0 for all time leaves K_p e = 0, and so e = 0 (errata N-8; the notes print q(t) = 0)."""
    rng, goal, zero = np.random.default_rng(5), np.array([0.4, -0.6]), np.zeros(2)
    K_p = spd(2, rng, 30.0)
    law = PDGravity(elbow(), K_p, 5.0)
    for _ in range(20):
        q = goal + rng.uniform(-3.0, 3.0, 2)
        ddq = elbow().forward_dynamics(q, zero, law.step(0.0, q, zero, SetPoint(goal)(0.0)))
        np.testing.assert_allclose(elbow().mass_matrix(q) @ ddq, K_p @ (goal - q), atol=1e-10)
        assert np.linalg.norm(ddq) > 1e-3
    at_goal = elbow().forward_dynamics(goal, zero, law.step(0.0, goal, zero, SetPoint(goal)(0.0)))
    np.testing.assert_allclose(at_goal, 0.0, atol=1e-12)
