"""Independent joint control: the formula, the linear loop of decoupled joints, what gravity leaves (lecture 20)."""

import numpy as np
import pytest
from scipy.linalg import expm

import thunder_py as th
from tests.refusals import assert_refused
from thunder_py.control import IndependentJoint
from thunder_py.model.description import Friction
from thunder_py.reference import SetPoint

from .laws import ARMS, arm, random_state

OMEGA, ZETA = 6.0, 0.7


def gantry(damping: float = 3.0, gravity: float = 0.0) -> th.Robot:
    """Two prismatic joints at right angles, which do not feel each other: masses of 8 and 5 kg."""
    dyn = np.zeros((2, 10))
    dyn[:, 0] = 3.0, 5.0
    robot = th.Robot.from_dh(
        [[0, 0, 0, 0], [0, np.pi / 2, 0, 0]], joint_types="PP", inertial=dyn, gravity=[0, 0, -gravity]
    )
    return robot.replace(friction=Friction(terms=("viscous",), coefficients=np.full((2, 1), damping)))


@pytest.mark.parametrize("name", ARMS)
@pytest.mark.parametrize("feedforward", ["motor", "model"])
def test_equals_the_law_written_out(name: str, feedforward: str) -> None:
    robot, rng = arm(name), np.random.default_rng(1)
    J, B, K_p, K_d = rng.uniform(1.0, 3.0, (4, robot.n))
    law = IndependentJoint(robot, K_p, K_d, inertia=J, damping=B, feedforward=feedforward)  # type: ignore[arg-type]
    for _ in range(5):
        q, dq, d = random_state(robot.n, rng)
        motor = J * d.ddq + B * d.dq
        model = (
            robot.mass_matrix(d.q) @ d.ddq
            + robot.coriolis_matrix(d.q, d.dq) @ d.dq
            + robot.friction_torque(d.dq)
            + robot.gravity_vector(d.q)
        )
        expected = (motor if feedforward == "motor" else model) + K_p * (d.q - q) + K_d * (d.dq - dq)
        np.testing.assert_allclose(law.step(0.0, q, dq, d), expected, atol=1e-9)


def sampled(J: float, B: float, K_p: float, K_d: float, e0: float, dt: float, steps: int) -> np.ndarray:
    """Error of J dde + B de = -(K_p e + K_d de), the right side held over dt: exact, by matrix exponentials."""
    A = np.zeros((3, 3))
    A[0, 1], A[1, 1], A[1, 2] = 1.0, -B / J, 1.0 / J
    step = expm(A * dt)
    transition = step[:2, :2] - np.outer(step[:2, 2], [K_p, K_d])
    states = [np.array([e0, 0.0])]
    for _ in range(steps):
        states.append(transition @ states[-1])
    return np.array(states)[:, 0]


def test_decoupled_joints_are_linear_loops() -> None:
    """Set point: J dde + (B + K_d) de + K_p e = 0, to the last digits once sampling is in the formula."""
    M, goal = np.diag(gantry().mass_matrix([0.0, 0.0])), np.array([0.4, -0.3])
    law = IndependentJoint.with_poles(gantry(), OMEGA, ZETA, inertia=M, damping=3.0)
    run = th.simulate(gantry(), law, SetPoint(goal), 2.0, q0=[0.0, 0.0])
    for i in range(2):
        expected = sampled(M[i], 3.0, OMEGA**2 * M[i], 2 * ZETA * OMEGA * M[i] - 3.0, goal[i], 1e-3, len(run.t) - 1)
        np.testing.assert_allclose(run.error[:, i], expected, atol=1e-9)
        w = OMEGA * np.sqrt(1 - ZETA**2)
        analog = goal[i] * np.exp(-ZETA * OMEGA * run.t) * (np.cos(w * run.t) + ZETA * OMEGA / w * np.sin(w * run.t))
        np.testing.assert_allclose(run.error[:, i], analog, atol=3e-3)  # of poles placed in continuous time


def test_error_equation_has_velocities() -> None:
    """Errata N-8: (B/J) (dq_r - de), where lecture 20 prints (B/J) (ddq_r - dde)."""
    robot, rng = gantry(), np.random.default_rng(2)
    q, dq, d = random_state(2, rng)
    u = rng.normal(size=2)
    J, B = np.diag(robot.mass_matrix(q)), 3.0
    e_dot, e_ddot = d.dq - dq, d.ddq - robot.forward_dynamics(q, dq, u)
    np.testing.assert_allclose(e_ddot, d.ddq + B / J * (d.dq - e_dot) - u / J, atol=1e-12)
    assert np.abs(e_ddot - (d.ddq + B / J * (d.ddq - e_ddot) - u / J)).max() > 0.1


def test_refusals() -> None:
    assert_refused(
        (
            lambda: IndependentJoint.with_poles(gantry(), 1.0, 0.1, inertia=1.0, damping=3.0),
            "K_d must be positive definite...",
        ),
        (lambda: IndependentJoint.with_poles(gantry(), -1.0, inertia=1.0), "frequency must be positive..."),
    )
